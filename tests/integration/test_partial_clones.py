"""Clones that lack something: it is named, with the command that fetches it, and never denied."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from gitrag.actions.doctor import examine
from gitrag.actions.exact_search import search_exactly
from gitrag.actions.graph import call_graph
from gitrag.actions.search import SearchOptions, search
from gitrag.callgraph.answering import GraphQuestion, NoMatchError
from gitrag.cli import boundary
from gitrag.errors import UsageError
from gitrag.git.difference import changed_lines
from gitrag.indexing.notices import FETCH
from gitrag.search.exact import Pattern
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository

ABSENT = f"3 files are not in this partial clone: {FETCH}"
ASKED = {
    "a question": lambda workspace: search(workspace, "beta_2"),
    "a path": lambda workspace: search(workspace, "b/m2.py"),
    "a word": lambda workspace: search_exactly(workspace, Pattern("beta_2", is_regex=False)),
    "of a revision": lambda workspace: search(workspace, "old_door", SearchOptions(ref="v1")),
    "of a revision, with hits": lambda workspace: search(workspace, "new_door", SearchOptions(ref="HEAD")),
    "calls": lambda workspace: call_graph(workspace, GraphQuestion("beta_2")),
}


@pytest.fixture
def origin(make_repository) -> GitRepository:
    repo: GitRepository = make_repository(
        {"a/door.py": "def old_door(): pass\n", **{f"b/m{n}.py": f"def beta_{n}(): pass\n" for n in range(3)}}
    )
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.git("tag", "v1")
    repo.commit({"a/door.py": "def new_door(): pass\n"})
    return repo


@pytest.fixture
def sparse(origin, tmp_path) -> GitRepository:
    """A clone that has fetched one directory."""
    clone = origin.clone(tmp_path / "sparse", "--filter=blob:none", "--no-checkout")
    clone.git("-c", "protocol.file.allow=always", "sparse-checkout", "set", "a")
    clone.git("-c", "protocol.file.allow=always", "checkout", "--quiet", "main")
    opened(clone, []).update()
    return clone


def opened(repo: GitRepository, said: list[str]) -> Workspace:
    environment = repo.environment | {"GITRAG_MODEL_DIR": str(repo.path / "no-model")}
    return Workspace.open(repo.path, environ=environment, say=said.append)


@pytest.mark.parametrize("asked", ASKED)
def test_an_answer_without_what_was_not_fetched_says_so(sparse, asked):
    said: list[str] = []
    with suppress(NoMatchError):
        ASKED[asked](opened(sparse, said))
    assert [line for line in said if "partial clone" in line] == [
        ABSENT.replace("3", "4") if asked == "of a revision" else ABSENT
    ]


def test_an_answer_that_was_found_says_nothing_of_it(sparse):
    said: list[str] = []
    search(opened(sparse, said), "new_door")
    assert not any("partial" in line for line in said)


def test_status_and_doctor_name_the_cause(sparse, capfd):
    assert boundary.run(["-C", str(sparse.path), "status"], sparse.environment) == 0
    done = capfd.readouterr()
    assert "left out    3 not in this clone\n" in done.out
    assert f"hint: {ABSENT}\n" in done.err
    [files] = [check for check in examine(sparse.path, sparse.environment) if check.name == "files"]
    assert (f"{files.message}: {files.fix}", files.state.value) == (ABSENT, "warn")


def test_what_it_names_fetches_them(sparse):
    sparse.git("config", "fetch.unpackLimit", "1")  # into a pack, as what is not as small comes anyway
    sparse.git("-c", "protocol.file.allow=always", *FETCH.split()[1:], "--quiet")
    said: list[str] = []
    workspace = opened(sparse, said)
    assert search(workspace, "beta_2").hits[0].path == "b/m2.py"
    assert search(workspace, "old_door", SearchOptions(ref="v1")).hits[0].path == "a/door.py"
    assert not any("partial" in line for line in said)


def test_a_damaged_object_is_not_put_down_to_the_clone(make_repository):
    repo = make_repository({"a.py": "a = 1\n", "b.py": "b = 1\n"})
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    Path(repo.path, ".git", "objects", blob[:2], blob[2:]).unlink()
    opened(repo, []).update()
    [files] = [check for check in examine(repo.path, repo.environment) if check.name == "files"]
    assert (files.state.value, files.fix) == ("warn", "git fsck")


def test_a_shallow_clone_says_what_fetches_the_rest(origin, tmp_path):
    shallow = origin.clone(tmp_path / "shallow", "--depth=1")
    workspace = opened(shallow, [])
    workspace.update()
    for ask in (
        lambda: search(workspace, "old_door", SearchOptions(ref="v1")),
        lambda: changed_lines(workspace.repo, "HEAD~1"),
    ):
        with pytest.raises(UsageError) as caught:
            ask()
        assert caught.value.hint == "The clone is shallow: git fetch --unshallow --tags"
    shallow.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--unshallow", "--tags")
    assert search(workspace, "old_door", SearchOptions(ref="v1")).hits[0].path == "a/door.py"
