"""Where vectors are computed: here on a GPU, in the background on a CPU, never with a question."""

from __future__ import annotations

import time

import pytest

from gitrag.actions.embed import embed_waiting
from gitrag.actions.status import read_status
from gitrag.indexing.worker import running
from gitrag.workspace import Workspace
from tests.support.command import Gitrag
from tests.support.progress import no_progress
from tests.support.repository import GitRepository


@pytest.fixture
def own(make_repository, git_environment, model_dir) -> GitRepository:
    git_environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return make_repository({"a.py": "def open_door():\n    return 1\n"}, indexed=True)


def embed(own: GitRepository, *args: str) -> str:
    done = Gitrag(own.path, own.environment)("index", "embed", *args)  # whatever is asked gets no answer
    assert done.status == 0, done
    return done.out


def test_skip_says_so_and_does_nothing(own):
    """Users who embed later can skip it; the texts then wait."""
    assert embed(own, "--skip") == "Embed skipped per --skip flag\n"
    assert Workspace.open(own.path, environ=own.environment).count_unembedded() > 0


def test_foreground_reports_count_and_time(own):
    assert embed(own, "--foreground").startswith("Embedded 2 texts in ")
    assert embed(own, "--foreground") == "Every chunk is embedded.\n"


def test_not_every_chunk_is_embedded_while_uncommitted_text_waits(own):
    """ "Every chunk is embedded." was said with 928 chunks of issues waiting."""
    embed(own, "--foreground")
    own.write({"b.py": "def close_window():\n    return 2\n"})
    assert embed(own, "--foreground") == "No indexed chunk waits for its vector.\n"
    workspace = Workspace.open(own.path, environ=own.environment)
    workspace.update()
    found = read_status(workspace)
    assert (found.unembedded, found.whole) == (2, True)
    assert embed(own, "--foreground").startswith("Embedded 2 texts in ")
    assert embed(own, "--foreground") == "Every chunk is embedded.\n"


def test_an_index_by_other_settings_is_not_up_to_date(own):
    assert read_status(Workspace.open(own.path, environ=own.environment)).fresh
    own.git("config", "gitrag.exclude", "a.py")
    found = read_status(Workspace.open(own.path, environ=own.environment))
    assert (found.fresh, found.behind) == (False, "the settings")


def test_on_a_cpu_it_goes_on_in_the_background_and_the_log_is_named(own):
    """The log lies in the store's directory."""
    workspace = Workspace.open(own.path, environ=own.environment)
    assert embed(own) == f"Embedding 2 texts in the background; log: {workspace.store.directory / 'log'}\n"
    deadline = time.monotonic() + 60
    while workspace.count_unembedded() or running(workspace.store.directory):
        assert time.monotonic() < deadline, "the worker has not embedded anything"
        time.sleep(0.1)


def test_on_a_gpu_it_is_done_here(own, monkeypatch):
    monkeypatch.setattr(Workspace, "embeds_on_gpu", lambda _self: True)
    workspace = Workspace.open(own.path, environ=own.environment)
    (step,) = embed_waiting(workspace, workspace.count_unembedded(), no_progress, foreground=False)
    assert (step.texts, step.left) == (2, 0)
    assert workspace.count_unembedded() == 0


def test_what_there_is_no_time_for_is_left_to_the_worker(own):
    workspace = Workspace.open(own.path, environ=own.environment)
    started: list[Workspace] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitrag.actions.embed.start_worker", started.append)
        (step,) = embed_waiting(workspace, 2, no_progress, foreground=True, seconds=-1.0)
    assert (step.texts, step.left, started) == (0, 2, [workspace])
