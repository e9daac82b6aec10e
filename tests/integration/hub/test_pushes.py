"""What a push changes for those who search meanwhile, and for the pushes after it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.errors import BusyError, NotSetUpError, UsageError
from gitrag.hub.source import HubSource
from gitrag.workspace import Workspace
from tests.support.command import wait_until
from tests.support.hubs import SAMPLE, opened, pushed, rows


def test_a_search_answers_from_the_state_that_it_began_with(
    hub_address: str, make_repository, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, hub_address, model_dir)
    workspace = opened(git, hub_address, model_dir)
    question = "retry with backoff"

    def search() -> hub_search.HubAnswer:
        return hub_search.search(hub_address, question, workspace.config, encoder=workspace.encoder)

    before = search()
    read_paths = HubSource.read_paths
    moved = []

    def push_first(*arguments):
        if not moved:
            moved.append(git.commit(dict.fromkeys(SAMPLE) | {"other.py": "x = 1\n"}))
            pushed(git, hub_address, model_dir)
        return read_paths(*arguments)

    monkeypatch.setattr(HubSource, "read_paths", push_first)
    assert search() == before
    assert moved
    assert before.files == len(SAMPLE)
    assert search().files == 1


def test_a_push_of_the_same_files_uses_up_no_path_ids(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, hub_address, model_dir)
    used = rows(hub_address, "SELECT last_value FROM gitrag.path_ids")
    pushed(git, hub_address, model_dir)
    assert rows(hub_address, "SELECT last_value FROM gitrag.path_ids") == used == [(len(SAMPLE) - 1,)]
    git.commit({"src/added.py": "added = True\n"})
    pushed(git, hub_address, model_dir)
    assert rows(hub_address, "SELECT last_value FROM gitrag.path_ids") == [(len(SAMPLE),)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.entries") == [(len(SAMPLE) + 1,)]


def test_no_drafts_are_pushed(
    hub_address: str, make_repository, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    workspace = opened(make_repository(SAMPLE, indexed=True), hub_address, model_dir)
    workspace.update()
    monkeypatch.setattr(Workspace, "embed", lambda *_arguments, **_options: 0)
    with pytest.raises(BusyError, match=r"^HEAD has moved"):
        push_head(workspace)
    assert rows(hub_address, "SELECT count(*) FROM gitrag.vectors") == [(0,)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.repositories") == [(0,)]
    monkeypatch.undo()
    assert push_head(workspace).contents == len(SAMPLE)


def test_a_commit_made_during_a_push_is_not_half_in_it(
    hub_address: str, make_repository, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    git = make_repository(SAMPLE, indexed=True)
    workspace = opened(git, hub_address, model_dir)
    workspace.update()
    embed = Workspace.embed

    def commit_then(*arguments, **options):
        done = embed(*arguments, **options)
        git.commit({"src/late.py": "late = True\n"})
        return done

    monkeypatch.setattr(Workspace, "embed", commit_then)
    with pytest.raises(BusyError, match=r"^HEAD has moved"):
        push_head(workspace)
    assert rows(hub_address, "SELECT count(*) FROM gitrag.entries") == [(0,)]


@contextmanager
def held_up(address: str) -> Iterator[Callable[[], None]]:
    """Keep the hub from taking contents; yields what waits until a push waits for that."""
    with psycopg.connect(address) as holder:
        holder.execute("LOCK TABLE gitrag.sent_chunks IN ACCESS EXCLUSIVE MODE")

        def until_waiting() -> None:
            waiting = (
                "SELECT count(*) FROM pg_locks"
                " WHERE NOT granted AND relation = 'gitrag.sent_chunks'::regclass"
            )
            wait_until(lambda: rows(address, waiting) == [(1,)], "the push waits for the table")

        yield until_waiting


def test_the_index_is_free_while_a_push_sends(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE, indexed=True)
    workspace = opened(git, hub_address, model_dir)
    workspace.update()
    head = git.git("rev-parse", "HEAD")
    with ThreadPoolExecutor(1) as threads:
        with held_up(hub_address) as until_waiting:
            pushing = threads.submit(push_head, workspace)
            until_waiting()
            git.commit({"src/late.py": "late = True\n"})
            with opened(git, hub_address, model_dir).store.write("a test", patience_s=1.0):
                pass
            opened(git, hub_address, model_dir).update()
        assert pushing.result().files == len(SAMPLE)
    assert rows(hub_address, "SELECT commit_id FROM gitrag.views") == [(head,)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.chunks") == [(13,)]


def test_an_index_made_anew_while_a_push_sends_ends_it(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE, indexed=True)
    workspace = opened(git, hub_address, model_dir)
    workspace.update()
    with ThreadPoolExecutor(1) as threads:
        with held_up(hub_address) as until_waiting:
            pushing = threads.submit(push_head, workspace)
            until_waiting()
            anew = opened(git, hub_address, model_dir)
            anew.store.remove()
            anew.update()  # with drafts
        with pytest.raises(BusyError, match="The index has changed meanwhile"):
            pushing.result()
    assert rows(hub_address, "SELECT count(*) FROM gitrag.repositories") == [(0,)]


def test_an_older_commit_does_not_put_a_branch_back_unless_forced(
    hub_address: str, make_repository, model_dir: Path
):
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, hub_address, model_dir)
    older = git.git("rev-parse", "HEAD")
    git.commit({"src/late.py": "late = True\n"})
    newer = git.git("rev-parse", "HEAD")
    assert pushed(git, hub_address, model_dir).replaced == older
    git.git("reset", "--quiet", "--hard", older)
    with pytest.raises(UsageError, match=f"has a later commit of project [a-z]+, {newer[:12]}") as refused:
        pushed(git, hub_address, model_dir)
    assert "--force" in refused.value.hint
    assert rows(hub_address, "SELECT commit_id FROM gitrag.views") == [(newer,)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.sent_entries") == [(0,)]
    git.commit({"src/other.py": "other = True\n"})  # beside it, not before it
    done = pushed(git, hub_address, model_dir)
    assert (done.replaced, done.is_compared) == (newer, True)
    git.git("reset", "--quiet", "--hard", older)
    assert pushed(git, hub_address, model_dir, force=True).files == len(SAMPLE)
    assert rows(hub_address, "SELECT commit_id FROM gitrag.views") == [(older,)]


@pytest.mark.parametrize("there", ["0" * 40, "--help", ""])
def test_a_commit_that_is_not_here_is_said_not_to_be_compared(
    hub_address: str, make_repository, model_dir: Path, there: str
):
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, hub_address, model_dir)
    rows(hub_address, "ALTER TABLE gitrag.views DROP CONSTRAINT views_commit_id_check")  # on a hostile server
    rows(hub_address, "UPDATE gitrag.views SET commit_id = %s", there)
    done = pushed(git, hub_address, model_dir)
    assert (done.replaced, done.is_compared) == (there, False)


def test_a_push_says_which_branch_is_searched(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE, indexed=True)
    first = pushed(git, hub_address, model_dir, branch="one")
    assert (first.branch, first.searched, first.replaced, first.is_compared) == ("one", "one", None, True)
    other = pushed(git, hub_address, model_dir, branch="two")
    assert (other.branch, other.searched) == ("two", "one")


def test_of_chunks_as_near_the_same_are_taken_each_time(hub_address: str, make_repository, model_dir: Path):
    pushed(make_repository(SAMPLE, indexed=True), hub_address, model_dir)
    rows(hub_address, "UPDATE gitrag.cuts SET signs = repeat('0', 384)::bit(384)")
    every = rows(hub_address, "SELECT chunk_id FROM gitrag.cuts ORDER BY 1")
    asked = "SELECT n.chunk_id FROM gitrag.nearest_of((SELECT array_agg(view_id) FROM gitrag.views), %s, 5) n"
    for chunk_id in every:  # whichever row was written last
        rows(hub_address, "UPDATE gitrag.cuts SET length = length WHERE chunk_id = %s", *chunk_id)
        found = rows(hub_address, asked.replace("%s", "repeat('1', 384)::bit(384)"))
        assert sorted(found) == every[:5]


def test_a_name_that_another_repository_has_is_refused(hub_address: str, make_repository, model_dir: Path):
    """Its branch would be replaced: of two repositories called ``api``, or of a fork."""
    git = make_repository(SAMPLE, indexed=True, name="api")
    git.git("remote", "add", "origin", "https://me:secret@git.example.com/orgA/api.git")
    pushed(git, hub_address, model_dir)
    other = make_repository({"b.py": "b = 1\n"}, name="other/api")
    other.git("remote", "add", "origin", "git@git.example.com:orgB/api.git")
    before = rows(
        hub_address,
        "SELECT name, branch, commit_id FROM gitrag.repositories JOIN gitrag.views USING (repository_id)",
    )
    with pytest.raises(UsageError, match=r"has git\.example\.com/orgA/api under the name api") as refused:
        pushed(other, hub_address, model_dir)
    assert "--repository" in refused.value.hint
    assert before == rows(
        hub_address,
        "SELECT name, branch, commit_id FROM gitrag.repositories JOIN gitrag.views USING (repository_id)",
    )
    assert pushed(other, hub_address, model_dir, repository="api-b").files == 1
    clone = git.clone(git.path.parent / "elsewhere")
    clone.git("remote", "set-url", "origin", "ssh://git@git.example.com:22/orgA/api")
    assert pushed(clone, hub_address, model_dir).files == len(SAMPLE)
    git.git("remote", "set-url", "origin", "https://git.example.com/orgC/api")
    with pytest.raises(UsageError, match="orgA/api"):
        pushed(git, hub_address, model_dir, force=True)
    assert pushed(git, hub_address, model_dir, moved=True).files == len(SAMPLE)
    assert pushed(git, hub_address, model_dir).files == len(SAMPLE)


def test_without_a_remote_the_first_commit_tells_repositories_apart(
    hub_address: str, make_repository, model_dir: Path
):
    """No path of this machine is told to the hub."""
    git = make_repository(SAMPLE, indexed=True, name="api")
    pushed(git, hub_address, model_dir)
    with pytest.raises(UsageError, match="another repository under the name api"):
        pushed(make_repository({"b.py": "b = 1\n"}, name="other/api"), hub_address, model_dir)
    copy = git.clone(git.path.parent / "third/api")
    copy.git("remote", "remove", "origin")
    assert pushed(copy, hub_address, model_dir).files == len(SAMPLE)
    git.git("remote", "add", "origin", "https://git.example.com/orgA/api")
    assert pushed(git, hub_address, model_dir).files == len(SAMPLE)
    assert rows(hub_address, "SELECT origin FROM gitrag.repositories") == [("git.example.com/orgA/api",)]


def test_a_shallow_clone_is_told_by_its_remote_or_not_at_all(
    hub_address: str, make_repository, model_dir: Path, tmp_path: Path
):
    """Where it ends is no first commit: with each push it is another."""
    git = make_repository(SAMPLE, indexed=True, name="api")
    git.commit({"added.py": "added = True\n"})
    clone = git.clone(tmp_path / "shallow/api", "--depth", "1")
    with pytest.raises(NotSetUpError, match="shallow") as refused:
        pushed(clone, hub_address, model_dir)
    assert "--unshallow" in refused.value.hint
    assert rows(hub_address, "SELECT origin FROM gitrag.repositories") == []
    clone.git("remote", "set-url", "origin", "https://git.example.com/orgA/api")
    assert pushed(clone, hub_address, model_dir).files == len(SAMPLE) + 1
