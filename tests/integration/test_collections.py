"""Collections: what each holds, how they are asked, what updates them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitrag.actions.exact_search import search_exactly
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import collection_names, read_status
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NOT_SET_UP, NotSetUpError
from gitrag.search.exact import Pattern
from gitrag.search.sections import Wanted
from gitrag.workspace import Workspace
from tests.support.command import Done, Gitrag
from tests.support.indexes import asked_often, open_app
from tests.support.repository import GitRepository, Link, create_repository, isolated_environment

FILES = {
    "docs/adr/0001-keep-scans.md": "# 1. Keep scans\n\n## Status\n\nAccepted\n\n## Decision\n\nKeep it.\n",
    "docs/specs/scans/spec.md": "# SPEC-0001: Scans\n\n### Requirement: Kept\n\nScans SHALL be kept.\n",
    "src/scans.py": "def keep_scan(scan):\n    return scan\n",
    ".gitignore": ".sdd/\n",
}
ISSUE = "---\nid: 12\ntitle: Scans are lost at night\nstatus: open\n---\nThe scanner loses scans at night.\n"
IN_MODULES = {
    "pyproject.toml": '[tool.uv.workspace]\nmembers = ["services/*"]\n',
    "services/api/pyproject.toml": "",
    "services/api/scan.py": "def keep_scan_of_api():\n    pass\n",
    "services/api/docs/adr/0001-api.md": "# 1. Scans of the API\n",
}
ALL_KINDS = Wanted(tuple(CollectionKind))


@pytest.fixture
def own(make_repository, model_dir, git_environment) -> GitRepository:
    git_environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return make_repository(FILES, name="Parcel Watch", indexed=True)


@pytest.fixture(scope="module")
def in_modules(tmp_path_factory) -> Workspace:
    """A workspace, for tests that leave it as it was."""
    home = tmp_path_factory.mktemp("modules")
    return asked_often(
        create_repository(home / "Parcel Watch", isolated_environment(home / "home"), FILES | IN_MODULES)
    )


def held(workspace: Workspace) -> dict[str, int]:
    """Documents by collection."""
    return {each.name: each.documents for each in read_status(workspace).collections}


def updated(workspace: Workspace) -> dict[str, float | None]:
    return {each.name: each.updated for each in read_status(workspace).collections}


def found(workspace: Workspace, query: str, wanted: Wanted = ALL_KINDS) -> dict[str, list[str]]:
    answer = search(workspace, query, SearchOptions(wanted=wanted, min_score=0.0))
    return {section.kind.value: [hit.path for hit in section.hits] for section in answer.sections}


def gitrag(repository: GitRepository, *args: str) -> Done:
    return Gitrag(repository.path, repository.environment)(*args)


def test_each_kind_is_a_collection_and_asked_on_its_own(own):
    """Decisions, specifications and code are scored separately, or one kind would crowd out the others."""
    workspace = open_app(own)
    workspace.update()
    assert held(workspace) == {"adrs": 1, "specs": 1, "code": 2}
    assert (
        found(workspace, "keep scans")
        == {
            "adrs": ["docs/adr/0001-keep-scans.md"],
            "specs": ["docs/specs/scans/spec.md"],
            "code": ["src/scans.py", ".gitignore"],
        }
        or found(workspace, "keep scans")["code"][0] == "src/scans.py"
    )


def test_only_the_collection_that_changed_is_touched(own):
    """An update does not change the others' time."""
    workspace = open_app(own)
    workspace.update()
    before = updated(workspace)
    own.commit({"docs/adr/0001-keep-scans.md": "# 1. Keep no scan\n"})
    workspace.update()
    after = updated(workspace)
    assert {name for name in after if after[name] != before[name]} == {"adrs"}
    own.commit({"docs/adr/0001-keep-scans.md": None, "src/new.py": "A = 1\n"})
    workspace.update()
    assert updated(workspace).keys() == {"specs", "code"}
    assert updated(workspace)["specs"] == before["specs"]


def test_other_rules_touch_only_what_they_change(own):
    """The whole view is planned again, but compared collection by collection."""
    workspace = open_app(own)
    workspace.update()
    before = updated(workspace)
    own.commit({".gitragignore": "docs/specs/\n"})
    workspace.update()
    assert held(workspace).keys() == {"adrs", "code"}
    assert updated(workspace)["adrs"] == before["adrs"]


def test_uncommitted_documents_are_in_their_collections(own):
    workspace = open_app(own)
    workspace.update()
    own.write({"docs/adr/0002-drop-scans.md": "# 2. Drop old scans\n\nAfter a year.\n"})
    assert "docs/adr/0002-drop-scans.md" in found(workspace, "drop old scans")["adrs"]
    assert "docs/adr/0002-drop-scans.md" not in found(workspace, "drop old scans")["code"]
    assert held(workspace)["adrs"] == 2


def test_globs_of_the_configuration_are_heeded_at_once(own):
    """In git config and in .gitrag.yaml."""
    workspace = open_app(own)
    workspace.update()
    own.git("config", "gitrag.specs", "src/*.py")
    again = open_app(own)
    assert found(again, "keep scan")["specs"] == ["src/scans.py"]
    own.write({".gitrag.yaml": "adrs: [docs/specs/**]\n"})
    assert found(open_app(own), "keep scan")["adrs"] == ["docs/specs/scans/spec.md"]


# modules


def test_a_workspaces_modules_have_collections_of_their_own(own):
    """In a workspace each module can be searched alone."""
    own.commit(IN_MODULES)
    workspace = open_app(own)
    workspace.update()
    assert list(held(workspace)) == ["adrs", "specs", "code", "api-adrs", "api-code"]
    assert (
        "services/api/scan.py" in found(workspace, "keep scan")["code"]
    )  # of every module, where none is named
    assert found(workspace, "keep scan", Wanted(module="api")) == {
        "adrs": ["services/api/docs/adr/0001-api.md"],
        "code": ["services/api/scan.py"],
    }


@pytest.mark.parametrize(
    ("name", "module", "expected"),
    [
        ("code", "", {"src/scans.py", "services/api/scan.py"}),
        ("code", "api", {"services/api/scan.py"}),
        ("parcel-watch-code", "", {"src/scans.py"}),
        ("api-code", "", {"services/api/scan.py"}),
        ("parcel-watch-api-code", "", {"services/api/scan.py"}),
        ("adrs", "", {"docs/adr/0001-keep-scans.md", "services/api/docs/adr/0001-api.md"}),
        ("parcel-watch-adrs", "", {"docs/adr/0001-keep-scans.md"}),
    ],
)
def test_a_kind_is_all_of_it_and_a_name_one_collection(in_modules, name, module, expected):
    wanted = Wanted.of([name], module)
    answer = search(in_modules, "scan", SearchOptions(wanted=wanted, min_score=0.0))
    paths = {hit.path for hit in answer.hits}
    assert paths - {".gitignore", "pyproject.toml"} == expected
    lines = search_exactly(in_modules, Pattern("(?i)scan", is_regex=True), SearchOptions(wanted=wanted))
    assert {hit.path for hit in lines.answer.hits} == expected


def test_a_manifest_that_names_other_modules_counts_from_its_commit_on(own):
    workspace = open_app(own)
    workspace.update()
    own.commit({"web/package.json": "{}", "web/scan.ts": "export const scan = 1\n"})
    workspace.update()
    assert "web-code" not in held(workspace)
    own.commit({"package.json": '{"workspaces": ["web"]}'})
    workspace.update()
    assert held(workspace)["web-code"] == 2
    own.commit({"package.json": '{"workspaces": []}'})
    workspace.update()
    assert "web-code" not in held(workspace)


def test_an_uncommitted_manifest_names_modules_like_a_committed_one(own):
    workspace = open_app(own)
    own.commit({"web/package.json": "{}", "web/scan.ts": "export const keepScan = 1\n"})
    workspace.update()
    own.write({"package.json": '{"workspaces": ["web", "api"]}', "api/package.json": "{}", "api/scan.ts": ""})
    workspace.update()
    assert (held(workspace)["web-code"], held(workspace)["api-code"]) == (2, 2)
    assert found(workspace, "keep scan", Wanted(module="web"))["code"] == ["web/scan.ts"]
    own.commit()
    workspace.update()
    committed = held(workspace)
    own.write({"package.json": '{"workspaces": ["api"]}'})
    workspace.update()
    assert "web-code" not in held(workspace)
    own.write({"package.json": '{"workspaces": ["web", "api"]}'})
    workspace.update()
    assert held(workspace) == committed


def test_a_broken_uncommitted_manifest_is_a_note(own):
    workspace = open_app(own)
    workspace.update()
    own.write({"package.json": "{"})
    assert read_status(workspace).notes[0].startswith("package.json names no modules: ")


def test_an_index_from_nothing_has_the_collections_of_one_that_grew(own, tmp_path):
    workspace = open_app(own)
    workspace.update()
    own.commit({"go.work": "use ./a\n", "a/go.mod": "module a\n", "a/main.go": "package a\n"})
    own.write({"a/new.go": "package a\n"})
    workspace.update()
    fresh = open_app(own, tmp_path / "fresh")
    fresh.update()
    assert held(workspace) == held(fresh)


def test_a_broken_manifest_is_a_note_and_no_error(own):
    own.commit({"package.json": "{"})
    workspace = open_app(own)
    workspace.update()
    assert read_status(workspace).notes[0].startswith("package.json names no modules: ")


# names


def test_a_collection_is_named_exactly(own):
    """With the repository's slug or without, never by a part of the name."""
    workspace = open_app(own)
    workspace.update()
    assert workspace.name == "parcel-watch"
    assert collection_names(workspace) == ["parcel-watch-adrs", "parcel-watch-specs", "parcel-watch-code"]
    for name in ("parcel-watch-adrs", "adrs"):
        assert found(workspace, "scans", Wanted.of([name])).keys() == {"adrs"}
    for name in ("adr", "watch-adrs", "not-parcel-watch-adrs", "parcel-watch"):
        with pytest.raises(NotSetUpError):
            search(workspace, "scans", SearchOptions(wanted=Wanted.of([name])))


def test_a_missing_collection_leaves_the_rest(own):
    """A repository without specifications is still searched for decisions."""
    own.commit({"docs/specs/scans/spec.md": None})
    workspace = open_app(own)
    workspace.update()
    assert found(workspace, "scans", Wanted.of(["specs", "adrs"])).keys() == {"adrs"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "cod"], 'There is no collection "cod" in parcel-watch. Did you mean "code"?'),
        (["-c", "nothing-adrs"], 'There is no collection "nothing-adrs" in parcel-watch.'),
        (["--module", "nothing"], 'There is no module "nothing" in parcel-watch.'),
        (["-c", "issues"], "parcel-watch-issues is empty: no indexed file is the copy of an issue."),
    ],
)
def test_a_collection_that_is_mistyped_or_empty_is_not_called_an_index_to_be_made(own, arguments, said):
    """It was told to run `gitrag index`, which it had."""
    open_app(own).update()
    done = gitrag(own, "search", *arguments, "scans")
    assert done.status == NOT_SET_UP
    assert said in done.err
    assert "gitrag index`" not in done.err
    assert "parcel-watch-code" in done.err


def test_a_search_that_just_indexed_the_module_finds_it(own):
    """What is not there at the first look may be there after the catch-up."""
    open_app(own).update()
    own.commit({"go.work": "use ./a\n", "a/go.mod": "module a\n", "a/main.go": "package a\n"})
    assert found(open_app(own), "package a", Wanted(module="a"))["code"]


def test_index_status_lists_each_collection(own):
    """Each with its own counts and time of change."""
    open_app(own).update()
    lines = gitrag(own, "index", "status").out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "collection",
        "parcel-watch-adrs",
        "parcel-watch-specs",
        "parcel-watch-code",
    ]
    assert [line.split()[1] for line in lines[1:]] == ["1", "1", "2"]


# issues


def test_issues_are_indexed_though_git_ignores_them(own):
    """`.sdd/issues/*.md`, by content, from the working tree."""
    workspace = open_app(own)
    workspace.update()
    own.write({".sdd/issues/12.md": ISSUE})
    answer = search(workspace, "scans lost at night", SearchOptions(wanted=ALL_KINDS, min_score=0.0))
    issue = answer.sections[-1].hits[0]
    assert (issue.path, issue.document.id, issue.document.status) == (".sdd/issues/12.md", "12", "open")
    assert answer.dirty == 0
    workspace.update()
    assert held(workspace)["issues"] == 1
    own.write({".sdd/issues/12.md": ISSUE.replace("night", "noon")})
    answer = search(workspace, "scans lost at noon", SearchOptions(wanted=ALL_KINDS, min_score=0.0))
    assert "noon" in answer.sections[-1].hits[0].chunk.text


def test_a_search_finds_issues_too_and_json_lists_them_where_they_are_asked_for(own):
    """Programs rely on five keys; a sixth appears only where somebody asked for it."""
    workspace = open_app(own)
    own.write({".sdd/issues/12.md": ISSUE})
    workspace.update()
    for form, said in (("text", "12: Scans are lost at night"), ("markdown", "Found 1 issues")):
        assert said in gitrag(own, "search", "scans lost at night", "--output", form).out
    usual = json.loads(gitrag(own, "search", "scans lost at night", "--output", "json").out)
    assert list(usual) == ["query", "adr_matches", "spec_matches", "code_snippets", "call_graphs"]
    arguments = ("search", "scans lost at night", "-c", "issues", "--output", "json")
    assert [each["id"] for each in json.loads(gitrag(own, *arguments).out)["issue_matches"]] == ["12"]


@pytest.mark.parametrize("embedded", [True, False])
def test_a_collection_finds_among_all_what_it_finds_alone_with_the_same_score(own, embedded):
    own.commit(
        {
            "docs/adr/0002-back-off.md": "# 2. Back off\n\n## Decision\n\nWe honour Retry-After.\n",
            "docs/adr/0003-database.md": "# 3. Use PostgreSQL\n\n## Decision\n\nAll data is in PostgreSQL.\n",
            "src/client.py": "def get(session, url):\n    return session.get(url).headers['Retry-After']\n",
            "src/retries.py": "def wait(retry_after):\n    return 'Retry-After'\n",
        }
    )
    own.write({".sdd/issues/12.md": ISSUE, ".sdd/issues/13.md": ISSUE.replace("lost", "kept")})
    workspace = asked_often(own, embed=embedded)
    for query in ("Retry-After", "which database do we use", "scans lost at night", "keep a scan"):
        together = search(workspace, query, SearchOptions(wanted=ALL_KINDS, min_score=0.0)).sections
        assert [section.kind for section in together] == list(CollectionKind)
        for section in together:
            wanted = Wanted.of([section.kind.value])
            (alone,) = search(workspace, query, SearchOptions(wanted=wanted, min_score=0.0)).sections
            scores = [[(hit.path, hit.score) for hit in each.hits] for each in (section, alone)]
            assert scores[0]
            assert scores[0] == scores[1]


@pytest.mark.parametrize("query", ["Retry-After", "which database do we use"])
def test_what_a_decision_says_is_found_beside_code_that_says_it_too(own, query):
    """The decision chooses PostgreSQL and never says "database"; of the other one code is full."""
    own.commit(
        {
            "docs/adr/0002-back-off.md": "# 2. Back off\n\n## Decision\n\nWe honour Retry-After.\n",
            "docs/adr/0003-store.md": (
                "# 3. Use PostgreSQL\n\n## Context\n\nOrders and customers are queried with joins.\n\n"
                "## Decision\n\nWe use PostgreSQL 15 for all persistent data. SQLite was considered.\n"
            ),
            **{
                f"src/client{i}.py": f"def get_{i}(answer):\n    return answer['Retry-After']\n"
                for i in range(9)
            },
        }
    )
    workspace = open_app(own)
    workspace.update()
    workspace.embed()
    wanted = "0002-back-off" if query == "Retry-After" else "0003-store"
    decisions = search(workspace, query).sections[0]
    assert [Path(hit.path).stem for hit in decisions.hits] == [wanted]


def test_issues_that_git_lists_are_issues_too(own):
    own.commit({".gitignore": None, ".sdd/issues/12.md": ISSUE})
    own.write({".sdd/issues/13.md": ISSUE})
    workspace = open_app(own)
    workspace.update()
    assert held(workspace)["issues"] == 2


def test_no_link_leads_out_of_the_issues(own, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("the secret word is frobnicate\n")
    own.write({".sdd": Link(str(tmp_path))})
    (tmp_path / "issues").symlink_to(outside)
    workspace = open_app(own)
    workspace.update()
    assert "issues" not in held(workspace)
    Path(own.path / ".sdd").unlink()
    own.write({".sdd/issues/1.md": Link(str(outside / "secret.md"))})
    workspace.update()
    assert "issues" not in held(workspace)
