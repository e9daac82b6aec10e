"""Searching a revision that is not checked out, and what others do to the index meanwhile."""

from __future__ import annotations

import pytest

from gitrag.actions.catch_up import catch_up
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import read_status
from gitrag.errors import UsageError
from gitrag.indexing.known import lacking
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import look, look_at
from gitrag.store import content, inspection, views
from gitrag.store.connection import Store, StoreMissingError
from gitrag.workspace import Workspace
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository, made_once

ALL = SearchOptions(min_score=0.0, limit=1000)


@pytest.fixture
def history(make_repository, git_environment, tmp_path) -> GitRepository:
    """Three commits; ``gone.py`` is in the first only."""
    git_environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")

    def make() -> GitRepository:
        files = {"gone.py": "def vanished():\n    return 1\n", "kept.py": "def kept(): pass\n"}
        repo = make_repository(files)
        repo.git("tag", "-a", "-m", "first", "v1")
        repo.commit({"gone.py": None, "new.py": "def appeared(): pass\n"})
        repo.git("branch", "side", "v1")
        repo.commit({"newest.py": "def newest(): pass\n"})
        open_app(repo).update()
        return repo

    return made_once("revisions", tmp_path / "project", git_environment, make)


def paths(workspace: Workspace, **options: object) -> set[str]:
    found = search(workspace, "def", SearchOptions(min_score=0.0, limit=1000, **options))
    return {hit.path for hit in found.hits}


@pytest.mark.parametrize("revision", ["v1", "side", "HEAD~2", "v1^{tree}"])
def test_a_revision_is_searched_as_it_was(history, revision):
    history.write({"kept.py": "def edited(): pass\n"})
    before = history.git("status", "--porcelain")
    answer = search(open_app(history), "def", SearchOptions(min_score=0.0, ref=revision))
    assert {hit.path for hit in answer.hits} == {"gone.py", "kept.py"}
    assert "edited" not in "".join(hit.chunk.text for hit in answer.hits)
    commit = None if revision.endswith("}") else history.git("rev-parse", f"{revision}^{{commit}}")
    assert (answer.commit, answer.dirty, answer.waiting) == (commit, 0, 0)
    assert history.git("status", "--porcelain") == before
    assert paths(open_app(history)) == {"kept.py", "new.py", "newest.py"}


def test_a_merge_base_is_a_revision(history):
    base = history.git("merge-base", "HEAD", "side")
    assert paths(open_app(history), ref=base) == {"gone.py", "kept.py"}


def test_what_is_no_revision_is_refused(history):
    with pytest.raises(UsageError, match="no revision 'nonsense'"):
        search(open_app(history), "def", SearchOptions(ref="nonsense"))


def test_views_of_revisions_do_not_pile_up(history):
    workspace = open_app(history)
    for revision in ("v1", "HEAD~1", "v1", "HEAD", "HEAD~1"):
        search(workspace, "def", SearchOptions(ref=revision))
    with workspace.store.read() as db:
        assert inspection.count_store(db).views == 2


def test_a_revision_is_no_worktree(history):
    workspace = open_app(history)
    search(workspace, "def", SearchOptions())
    search(workspace, "def", SearchOptions(ref="v1"))
    assert read_status(workspace).store.worktrees == 1


def test_a_revision_asked_again_costs_no_work(history, monkeypatch):
    workspace = open_app(history)
    search(workspace, "def", SearchOptions(ref="v1"))
    monkeypatch.setattr(Store, "write", None)
    assert paths(workspace, ref="v1") == {"gone.py", "kept.py"}


def test_a_long_lived_process_keeps_revisions_and_worktree_apart(history):
    workspace = Workspace.open(history.path, environ=history.environment, resident=True)
    for _ in range(3):
        assert paths(workspace, ref="v1") == {"gone.py", "kept.py"}
        assert paths(workspace) == {"kept.py", "new.py", "newest.py"}
        assert paths(workspace, ref="HEAD") == {"kept.py", "new.py", "newest.py"}


def test_what_a_search_of_a_revision_had_no_time_for_is_done_by_the_worker(history, monkeypatch):
    monkeypatch.setattr("gitrag.indexing.refresh._BATCH_BYTES", 1)  # a file a batch; the first is always cut
    history.git("config", "gitrag.catchUpS", "0")
    workspace = open_app(history)
    history.commit({f"m{n}.py": f"def m{n}(): pass\n" for n in range(3)})
    commit = history.git("rev-parse", "HEAD")
    history.git("reset", "--quiet", "--hard", "HEAD~1")
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda _: None)  # not beside this test
    assert search(workspace, "def", SearchOptions(ref=commit)).waiting == 2
    catch_up(workspace, lambda: False)
    assert {"m0.py", "m1.py", "m2.py"} < paths(workspace, ref=commit)


# meanwhile


def test_an_answer_is_of_what_git_said_though_another_process_moves_the_view_back(history, monkeypatch):
    """A worker that looked before the commit may write after the search has caught up."""
    workspace = open_app(history)
    old = look(workspace.repo, workspace.options)
    history.commit({"latest.py": "def latest(): pass\n", "new.py": None})
    late = iter([old])

    def overtaken(*args, **kwargs):
        refreshed = refresh(*args, **kwargs)
        for snapshot in late:
            refresh(open_app(history).store, snapshot)
        return refreshed

    monkeypatch.setattr("gitrag.actions.current_view.refresh", overtaken)
    assert paths(workspace) == {"kept.py", "latest.py", "newest.py"}
    assert next(late, None) is None


def test_an_index_removed_meanwhile_is_built_again(history, monkeypatch):
    workspace = open_app(history)
    history.commit({"latest.py": "def latest(): pass\n"})
    late = iter([0])

    def removed(*args, **kwargs):
        refreshed = refresh(*args, **kwargs)
        for _ in late:
            workspace.store.remove()
        return refreshed

    monkeypatch.setattr("gitrag.actions.current_view.refresh", removed)
    assert paths(workspace) == {"kept.py", "latest.py", "new.py", "newest.py"}


def test_what_was_cut_for_one_index_is_not_written_into_another(history, tmp_path):
    """The ids of a new index are of other contents."""
    workspace, other = open_app(history), open_app(history)
    with workspace.store.read() as db:
        assert content.pending(db, [], None) == []
    other.store.remove()
    history.commit({"a.py": "def a(): pass\n"})
    other.update()
    with (
        pytest.raises(StoreMissingError, match="built anew"),
        workspace.store.write("writing chunks", make=False),
    ):
        raise AssertionError("it must not come to this")
    with workspace.store.write("writing chunks", make=False):
        pass
    assert logical(workspace) == logical(open_app(history, tmp_path / "fresh"))


def test_what_is_lacking_of_a_tree_is_the_same_with_a_view_of_it_and_without(history, monkeypatch):
    history.commit({f"more{number}.py": f"def more{number}(): pass\n" for number in range(3)})
    monkeypatch.setattr("gitrag.indexing.refresh._BATCH_BYTES", 0)
    workspace = open_app(history)
    refresh(
        workspace.store, workspace.snapshot(), budget_s=0
    )  # a view with two contents that are not read yet
    now = look_at(workspace.repo, workspace.options, "HEAD")
    with workspace.store.read() as db:
        assert views.find(db, now.head.tree, now.rules_key) is not None
        entries, missing = lacking(db, now)
        monkeypatch.setattr(views, "find", lambda *_: None)
        alone, missing_too = lacking(db, now)
    assert (sorted(entries), missing) == (sorted(alone), missing_too)
    assert missing == 2
