"""What a push changes for those who search meanwhile, and for the pushes after it."""

from pathlib import Path

import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.errors import BusyError, UsageError
from gitrag.hub.source import HubSource
from gitrag.workspace import Workspace
from tests.support.hubs import SAMPLE, opened, pushed, rows


def test_a_search_answers_from_the_state_that_it_began_with(
    hub_address: str, make_repository, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    git = make_repository(SAMPLE)
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
    git = make_repository(SAMPLE)
    pushed(git, hub_address, model_dir)
    used = rows(hub_address, "SELECT last_value FROM gitrag.path_ids")
    pushed(git, hub_address, model_dir)
    assert rows(hub_address, "SELECT last_value FROM gitrag.path_ids") == used == [(len(SAMPLE),)]
    git.commit({"src/added.py": "added = True\n"})
    pushed(git, hub_address, model_dir)
    assert rows(hub_address, "SELECT last_value FROM gitrag.path_ids") == [(len(SAMPLE) + 1,)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.entries") == [(len(SAMPLE) + 1,)]


def test_no_drafts_are_pushed(
    hub_address: str, make_repository, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    workspace = opened(make_repository(SAMPLE), hub_address, model_dir)
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
    git = make_repository(SAMPLE)
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


def test_an_older_commit_does_not_put_a_branch_back_unless_forced(
    hub_address: str, make_repository, model_dir: Path
):
    git = make_repository(SAMPLE)
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
    git = make_repository(SAMPLE)
    pushed(git, hub_address, model_dir)
    rows(hub_address, "UPDATE gitrag.views SET commit_id = %s", there)
    done = pushed(git, hub_address, model_dir)
    assert (done.replaced, done.is_compared) == (there, False)


def test_a_push_says_which_branch_is_searched(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE)
    first = pushed(git, hub_address, model_dir, branch="one")
    assert (first.branch, first.searched, first.replaced, first.is_compared) == ("one", "one", None, True)
    other = pushed(git, hub_address, model_dir, branch="two")
    assert (other.branch, other.searched) == ("two", "one")
