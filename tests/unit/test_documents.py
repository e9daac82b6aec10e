"""What the documents name is there: files, tests, rooms, tables, benchmarks."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from gitrag.actions import issues
from gitrag.actions.repositories import elsewhere
from gitrag.config.keys import Config
from gitrag.embedding import fetching
from gitrag.git import remote_files
from gitrag.memory import core_files, observations, registry

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "scripts/bench/README.md"),
    *("docs/figures.md", "docs/hub.md", "docs/situations.md", "docs/storage.md"),
]
PATH = re.compile(
    r"(?<![\w./<>{}$~-])(?:(?:\.ci|gitrag|hooks|scripts|tests|docs)/[\w./*-]*[\w*/]|[A-Z]+\.md|pyproject\.toml)"
)
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)\)|src=\"([^\"]+)\"")
README_PATH = re.compile(
    r"(?<![\w./<>{}$~-])(?:(?:gitrag|scripts)/[\w./*-]*[\w*/]|docs/\w+\.md|(?!AGENTS)[A-Z]+\.md)"
)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def text_of(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def missing(paths: list[str]) -> list[str]:
    return [path for path in paths if not next(ROOT.glob(path.rstrip("/")), None)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_in_a_document_is_there(document: str):
    named = PATH.findall(text_of(document))
    assert named
    assert missing(named) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_and_link_of_a_page_leads_to_a_file(page: str):
    text = text_of(page)
    assert missing(README_PATH.findall(text)) == []
    links = [link or picture for link, picture in LINK.findall(text)]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).is_file()] == []


def test_the_readme_is_short_and_leads_to_every_page():
    readme = text_of("README.md")
    # A package index shows the README alone, where such a link leads nowhere: so its text is the path.
    linked = re.findall(r"\[([^\]]+)\]\(\1\)", readme)
    assert {*PAGES} - {*linked} == {"README.md", "docs/storage.md"}  # what is kept is told to developers
    assert len(readme.splitlines()) <= 150
    assert len(text_of("ARCHITECTURE.md").splitlines()) <= 200


def test_the_seconds_we_wait_for_locks_are_those_of_the_code():
    row = re.compile(r"\| (\d+)[^|]*\| [^|]*`((?:gitrag|hooks)/[\w/.-]+)` \|\n")
    said = [(place, float(seconds)) for seconds, place in row.findall(text_of("docs/storage.md"))]
    (of_hooks,) = re.findall(r"flock -w (\d+)", text_of("hooks/post-commit"))
    assert said == [
        ("gitrag/config/keys.py", Config().lock_timeout_s),
        ("gitrag/actions/issues.py", issues._LOCK_TIMEOUT_S),
        ("gitrag/config/keys.py", Config().lock_timeout_s),
        ("gitrag/embedding/fetching.py", fetching._LOCK_TIMEOUT_S),
        ("gitrag/memory/core_files.py", core_files._LOCK_TIMEOUT_S),
        ("gitrag/memory/registry.py", registry._LOCK_TIMEOUT_S),
        ("gitrag/actions/repositories/elsewhere.py", elsewhere._LOCK_TIMEOUT_S),
        ("gitrag/memory/observations.py", observations.BUSY_TIMEOUT_S),
        ("gitrag/git/remote_files.py", remote_files._SWEEPING_S),
        ("hooks/post-commit", float(of_hooks)),
    ]


def test_every_room_is_on_the_map():
    text = text_of("ARCHITECTURE.md")
    rooms = [
        f"`gitrag/{path.name}`" if path.is_file() else f"`gitrag/{path.name}/`"
        for path in (ROOT / "gitrag").iterdir()
        if (path.suffix == ".py" and not path.name.startswith("__")) or (path / "__init__.py").exists()
    ]
    assert len(rooms) > 20
    assert [room for room in rooms if room not in text] == []


def test_the_floors_on_the_map_are_those_of_the_contract():
    text = text_of("ARCHITECTURE.md").split("## What may import what")[1].split("```")[1]
    drawn = [sorted(line.split()) for line in text.splitlines() if line and not line.startswith("text")]
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    assert drawn == [sorted(re.findall(r"\w+", layer)) for layer in layers]


def test_the_top_level_has_no_more_than_was_agreed():
    """What is tracked, dot files aside; the last three a forge or a client looks for there alone."""
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no clone")
    agreed = "gitrag hooks tests scripts docs pyproject.toml README.md LICENSE CHANGELOG.md ARCHITECTURE.md"
    agreed += " editors CONTRIBUTING.md SECURITY.md RELEASING.md action.yml gemini-extension.json templates"
    assert {name for name in listed.stdout.split() if not name.startswith(".")} == set(agreed.split())


def test_every_table_of_the_index_is_described():
    text = text_of("docs/storage.md")
    tables = re.findall(r"CREATE TABLE (\w+)", text_of("gitrag/store/schema.py"))
    assert len(tables) > 10
    assert [table for table in tables if f"`{table}`" not in text] == []


def test_every_benchmark_and_every_training_script_has_its_question():
    text = text_of("scripts/bench/README.md")
    scripts = [path.relative_to(ROOT).as_posix() for path in (ROOT / "scripts").glob("*/*.py")]
    assert len(scripts) > 20
    assert [script for script in scripts if f"`{script}`" not in text] == []
    headings = re.findall(r"(?m)^## (.+)$", text_of("docs/figures.md"))
    assert set(re.findall(r'(?m)\| "([^"|]+)" \|$', text)) == set(headings)


def test_what_scripts_import_from_the_product_is_there():
    for script in sorted((ROOT / "scripts").rglob("*.py")):
        for node in ast.parse(script.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "gitrag":
                exec(compile(ast.Module([node], []), str(script), "exec"), {})  # noqa: S102  # our own scripts


def test_every_line_on_how_something_is_held_has_its_test():
    rows = [
        line
        for line in text_of("SECURITY.md").split("## How it is held")[1].splitlines()
        if line.startswith("|") and not line.startswith(("| what ", "|---"))
    ]
    assert len(rows) > 15
    for row in rows:
        named = TEST.findall(row)
        assert named, row
        for path, test in named:
            tree = ast.parse(text_of(path))
            assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
