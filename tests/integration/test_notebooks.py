"""Notebooks in an index: their code is found, read and called like any other."""

from __future__ import annotations

import pytest

from gitrag.actions.exact_search import search_exactly
from gitrag.actions.file_view import view_file
from gitrag.actions.graph import call_graph
from gitrag.actions.lines import read_outline, read_range
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.why import why
from gitrag.callgraph.answering import GraphQuestion
from gitrag.errors import UsageError
from gitrag.search.exact import Pattern
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often
from tests.support.notebooks import code, image, markdown, notebook, printed
from tests.support.repository import create_repository, isolated_environment

HAZARD = 'def weibull_hazard(k, t):\n    """The rate at which customers leave."""\n    return grow(k) * t\n'

FILES = {
    "churn/helpers.py": "def grow(k):\n    return k - 1\n",
    "churn/churn.ipynb": notebook(
        markdown("# Churn\n\nSurvival of customers."),
        code("%matplotlib inline\nfrom helpers import grow\n!pip install lifelines"),
        code(HAZARD, image(1_600_000), printed("Concordance 0.8131\n")),
        code("weibull_hazard(2, 3)"),
    ),
    "kaggle.ipynb": notebook(code("def submit(path):\n    upload(path)\n"), indent=None),
    "fares.qmd": "# Fares\n\n```{python}\ndef fare(km):\n    base()\n\ndef base():\n    return 2\n```\n",
    "rides.py": (
        "# Databricks notebook source\n# MAGIC %md\n# MAGIC # Rides\n# COMMAND ----------\n"
        "def clean(rides):\n    return rides\n# COMMAND ----------\nclean([])\n"
    ),
    "web/api.ts": "export function send(order: Order) {\n  return fetch(order.url)\n}\n",
    "web/Cart.vue": (
        '<script lang="ts">\nimport { send } from "./api"\nfunction buy() {\n  send(order)\n}\n</script>\n'
    ),
}
NOTEBOOK = "churn/churn.ipynb"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, model_dir) -> Workspace:
    place = tmp_path_factory.mktemp("notebooks")
    environment = isolated_environment(place / "home") | {"GITRAG_MODEL_DIR": str(model_dir)}
    return asked_often(create_repository(place / "p", environment, FILES))


def line_of(text: str, path: str = NOTEBOOK) -> int:
    return next(number for number, line in enumerate(FILES[path].split("\n"), 1) if text in line)


@pytest.mark.parametrize("query", ["weibull_hazard", "rate at which customers leave"])
def test_code_of_a_notebook_is_found_where_it_is_in_the_file(workspace, query):
    """Its image of 1.6 MB neither leaves it out nor is in a chunk."""
    hit = search(workspace, query).hits[0]
    first = line_of("def weibull_hazard")
    assert (hit.path, hit.chunk.name, hit.chunk.line_start) == (NOTEBOOK, "weibull_hazard", first - 1)
    assert hit.chunk.text == "# %% cell 3 [python]\n" + HAZARD.rstrip()


def test_a_line_of_a_notebook_is_looked_up_by_its_number(workspace):
    hit = search(workspace, f"churn.ipynb:{line_of('return grow')}").hits[0]
    assert hit.chunk.name == "weibull_hazard"


def test_what_a_notebook_printed_is_found_by_its_words(workspace):
    hit = search(workspace, "concordance 0.8131", SearchOptions(min_score=0.0)).hits[0]
    assert (hit.path, hit.chunk.line_end) == (NOTEBOOK, line_of("0.8131"))


def test_lines_of_a_notebook_are_read_as_its_cells(workspace):
    line = line_of("def weibull_hazard")
    assert read_range(workspace, f"{NOTEBOOK}:{line}-{line + 2}").text == HAZARD.rstrip()
    found = search_exactly(workspace, Pattern("weibull_hazard", is_regex=False))
    assert [(each.number, each.text) for hit in found.answer.hits for each in hit.snippet] == [
        (line, "def weibull_hazard(k, t):"),
        (line_of('"weibull_hazard(2, 3)"'), "weibull_hazard(2, 3)"),
    ]
    outline = read_outline(workspace, NOTEBOOK)
    assert outline is None or [first for first, *_ in outline.parts][-1] == line - 1


def test_a_notebook_on_one_line_is_numbered_as_it_is_shown(workspace):
    """git, which has no such lines, is not asked about them."""
    assert search(workspace, "submit").hits[0].chunk.line_start == 1
    assert read_range(workspace, "kaggle.ipynb:2").text == "def submit(path):"
    assert view_file(workspace, "kaggle.ipynb").uncommitted == frozenset()
    with pytest.raises(UsageError, match="several lines of its cells on one"):
        why(workspace, workspace.repo.root, "kaggle.ipynb:2")


def test_json_around_the_cells_is_not_found(workspace):
    assert not search_exactly(workspace, Pattern("execution_count", is_regex=False)).answer.hits


@pytest.mark.parametrize(
    ("target", "edges"),
    [
        ("grow", {"churn/churn.ipynb:weibull_hazard -> churn/helpers.py:grow"}),
        (
            "weibull_hazard",
            {
                "churn/churn.ipynb:weibull_hazard -> churn/helpers.py:grow",
                "churn/churn.ipynb:<module> -> churn/churn.ipynb:weibull_hazard",
            },
        ),
        ("base", {"fares.qmd:fare -> fares.qmd:base"}),
        ("clean", {"rides.py:<module> -> rides.py:clean"}),
        ("send", {"web/Cart.vue:buy -> web/api.ts:send"}),
    ],
)
def test_calls_lead_out_of_and_into_parts(workspace, target, edges):
    graph = call_graph(workspace, GraphQuestion(target)).graph
    shown = {f"{e.caller.path}:{e.caller.name} -> {e.callee.path}:{e.callee.name}" for e in graph.edges}
    assert shown == edges
