"""Files of a page that are nearly the same: shown as one, the one that is meant first."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp import Client

from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.search_code import search_code
from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
from gitrag.report.markdown import as_markdown
from gitrag.report.text import as_text
from gitrag.report.told import json_text as as_json
from tests.support.command import Gitrag
from tests.support.indexes import of_texts, open_app
from tests.support.repository import GitRepository

QUESTION = "parse parcels from a label"

PARSER = '''
    def parse_parcels(label):
        """Parse parcels from a label."""
        return [open_parcel(part) for part in split_label(label)]


    def split_label(label):
        """Cut a label{how}."""
        return label.split({mark!r})


    def open_parcel(part):
        return {{"parcel": part}}
'''


def parser(mark: str) -> str:
    return PARSER.format(mark=mark, how=f" at every {mark}")


VARIANTS = {"src/v3/parse.py": parser(";"), "src/v4/parse.py": parser(","), "src/mini/parse.py": parser("|")}
OTHERS = {f"src/shelf{number}.py": f"def shelf{number}():\n    return 'parcels'\n" for number in range(4)}


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def first(answer: Answer) -> tuple[str, tuple[str, ...]]:
    return answer.hits[0].path, answer.hits[0].variants


ALL = SearchOptions(min_score=0.0)
GROUPED = SearchOptions(min_score=0.0, grouped=True)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return of_texts(tmp_path_factory.mktemp("variants"), VARIANTS | OTHERS)


def test_variants_are_one_hit_where_that_is_asked(workspace):
    each, grouped = search(workspace, QUESTION, ALL), search(workspace, QUESTION, GROUPED)

    assert set(paths(each)[:3]) == set(VARIANTS)
    assert not any(hit.variants for hit in each.hits)
    path, others = first(grouped)
    assert [path, *others] == paths(each)[:3]
    assert paths(grouped) == [path, *paths(each)[3:]]


def test_the_limit_counts_groups(workspace):
    options = SearchOptions(min_score=0.0, grouped=True, limit=2)

    found = search(workspace, QUESTION, options).hits

    assert [len(hit.variants) for hit in found] == [2, 0]
    assert found[1].path in OTHERS


def test_translations_of_a_text_are_named_and_fill_no_page(tmp_path):
    text = "parcels = 'parse parcels from a label'\nlabel = 'label of parcels'\n"
    translations = {
        f"src/locale/{code}/parcels.py": text + f"code = '{code}'\n" for code in ("de", "fr", "uk")
    }
    workspace = of_texts(tmp_path, VARIANTS | OTHERS | translations)

    first_ones = paths(search(workspace, QUESTION, ALL))[: len(VARIANTS) + 1]
    assert sum(path in translations for path in first_ones) == 1
    grouped = search(workspace, QUESTION, GROUPED).hits
    named = [{hit.path, *hit.variants} for hit in grouped if hit.path in translations]
    assert named == [set(translations)]


@pytest.mark.parametrize(("word", "folder"), [("v3", "v3"), ("mini", "mini"), ("V4", "v4")])
def test_the_variant_that_the_question_names_is_first(tmp_path, word, folder):
    workspace = of_texts(tmp_path, VARIANTS)
    for options in (ALL, GROUPED):
        assert search(workspace, f"{QUESTION} in {word}", options).hits[0].path == f"src/{folder}/parse.py"


@pytest.mark.parametrize("folder", ["v3", "v4", "mini"])
def test_the_variant_that_the_package_offers_is_first(tmp_path, folder):
    entry = f"from src.{folder}.parse import parse_parcels as parse_parcels\n"
    workspace = of_texts(tmp_path, VARIANTS | {"src/__init__.py": entry})
    assert first(search(workspace, QUESTION, GROUPED))[0] == f"src/{folder}/parse.py"


def test_the_variant_that_is_worked_on_is_first(make_repository, tmp_path):
    repository = make_repository(VARIANTS)
    for mark in "/-_:":
        repository.commit({"src/mini/parse.py": parser(mark)}, "Go on")
    assert _first_of(repository, tmp_path) == "src/mini/parse.py"


def test_a_variant_that_is_worked_on_elsewhere_is_not(make_repository, tmp_path):
    repository = make_repository(VARIANTS)
    before = _first_of(repository, tmp_path)
    repository.git("checkout", "-q", "-b", "other")
    for mark in "/-_:":
        repository.commit({"src/mini/parse.py": parser(mark)}, "Go on")
    assert _first_of(repository, tmp_path) == "src/mini/parse.py"
    repository.git("checkout", "-q", "-")
    assert _first_of(repository, tmp_path) == before != "src/mini/parse.py"


def _first_of(repository: GitRepository, tmp_path) -> str:
    repository.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    workspace = open_app(repository)
    workspace.update()
    search(workspace, QUESTION, GROUPED)  # reads the history
    return search(workspace, QUESTION, GROUPED).hits[0].path


def test_a_copy_with_the_same_content_is_named_too(tmp_path):
    copies = {"src/v3/parse.py": parser(";"), "mirror/v3/parse.py": parser(";")}
    workspace = of_texts(tmp_path, copies | OTHERS)

    assert sum(path in copies for path in paths(search(workspace, QUESTION, ALL))) == 1
    path, others = first(search(workspace, QUESTION, GROUPED))
    assert {path, *others} == set(copies)


def test_a_file_that_is_asked_for_by_path_is_not_named_again(workspace):
    found = search(workspace, "src/v3/parse.py", GROUPED).hits
    assert found[0].path == "src/v3/parse.py"
    assert all("src/v3/parse.py" not in hit.variants for hit in found)


def test_screens_name_the_variants_and_json_keeps_its_keys(workspace):
    answer = search(workspace, QUESTION, GROUPED)
    named = f"also: {', '.join(answer.hits[0].variants)}"

    assert f"  {named}\n" in as_text(answer)
    assert f"  {named}\n" in as_markdown(answer)
    assert all(
        item.keys() - {"nearest"} == {"path", "score", "snippet", "name", "kind", "line_start", "line_end"}
        for item in json.loads(as_json(answer))["code_snippets"]
    )


def test_the_command_groups_all_forms_but_json(make_repository, tmp_path):
    repository = make_repository(VARIANTS | OTHERS)
    repository.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    open_app(repository).update()

    def said(*options: str) -> str:
        command = Gitrag(repository.path, repository.environment)
        done = command("search", *QUESTION.split(), "--min-score", "0", *options)
        assert done.status == 0, done
        return done.out

    for form in ("text", "markdown"):
        assert said("--output", form, "--no-graph").count("also: src/") == 1
    items = json.loads(said("--output", "json", "--no-graph"))["code_snippets"]
    assert set(VARIANTS) < {item["path"] for item in items}


def test_an_agent_reads_one_variant_and_the_names_of_the_others(make_repository, git_environment, tmp_path):
    repository = make_repository(VARIANTS | OTHERS)
    bench = Workbench(repository.path, git_environment | {"GITRAG_HOME": str(tmp_path / "home")})

    async def run() -> None:
        async with Client(build(bench)) as client:
            await client.call_tool("index_code", {})
            found = await client.call_tool("search_code", {"query": QUESTION})
            best = found.structured_content["results"][0]
            assert {best["path"], *best["variants"]} == set(VARIANTS)
            assert f"\nalso: {', '.join(best['variants'])}\n" in found.content[0].text
            found = await client.call_tool("search", {"query": QUESTION})
            assert found.structured_content["variants"] == {best["path"]: best["variants"]}
            assert f"also: {', '.join(best['variants'])}\n" in found.content[0].text

    anyio.run(run)
    assert search_code(of_texts(tmp_path / "again", VARIANTS), QUESTION).snippets[0].variants
