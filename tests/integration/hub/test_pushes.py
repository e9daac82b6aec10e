"""What a push changes for those who search meanwhile, and for the pushes after it."""

from pathlib import Path

import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.errors import BusyError
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
