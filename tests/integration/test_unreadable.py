"""Files that cannot be read, and workers that fail: both are told, and nothing else is lost by them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gitrag.actions import catch_up
from gitrag.actions.doctor import examine
from gitrag.actions.graph import call_graph
from gitrag.actions.status import read_status
from gitrag.callgraph.answering import GraphQuestion
from gitrag.indexing.worker import Worker, last_failure, running
from gitrag.machine.locks import FileLock
from gitrag.store import vectors
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository

PATIENCE_S = 120.0


def nested(line: str, levels: int = 900) -> str:
    return "\n".join(
        [*(" " * level + line.format(level) for level in range(levels)), " " * levels + "go()", ""]
    )


MANY = "".join(f"def act{number}(): helper()\n" + "#\n" * 3 for number in range(100)) + "def helper(): pass\n"


DEEP = "x = " + "(\n" * 3_000 + ")\n" * 3_000
HEAVY = {
    "many.py": MANY,
    "defs.py": nested("def f{}():"),
    "ifs.py": nested("if x{}:"),
    "row.py": "class A0: pass\n" + "".join(f"class A{n}(A{n - 1}): pass\n" for n in range(1, 2_002)),
}


@pytest.fixture
def project(make_repository, model_dir) -> GitRepository:
    repo = make_repository({"many.py": MANY[:2_000], "deep.py": DEEP})
    repo.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return repo


def check_of(repo: GitRepository, name: str) -> tuple[str, str]:
    return next(
        (check.state.value, check.message)
        for check in examine(repo.path, repo.environment)
        if check.name == name
    )


def never() -> bool:
    return False


@pytest.mark.usefixtures("quick_model")
def test_files_that_cannot_be_read_cost_themselves_only(project):
    project.commit(HEAVY)
    workspace = open_app(project)
    catch_up.catch_up(workspace, never)
    found = read_status(workspace)
    assert found.view is not None
    assert found.view.embedded == found.view.texts
    assert [(each.path, each.stage, each.reason) for each in found.unread] == [
        ("deep.py", "calls", "its brackets nest too deep")
    ]
    assert check_of(project, "files") == (
        "warn",
        "could not be read in full: deep.py (calls: its brackets nest too deep)",
    )
    answer = call_graph(workspace, GraphQuestion(target="helper"))
    assert answer.error is None
    assert len(answer.graph.edges) == 100
    assert answer.remarks == ("Files that could not be read in full for the call graph: 1 (deep.py).",)


def test_a_file_that_changes_is_read_again(project):
    workspace = open_app(project)
    catch_up.catch_up(workspace, never)
    project.commit({"deep.py": "def shallow(): pass\n"})
    catch_up.catch_up(workspace, never)
    assert read_status(workspace).unread == ()
    assert check_of(project, "files")[0] == "ok"


def test_a_stage_that_fails_keeps_the_others_from_nothing(project, monkeypatch):
    """The fault is made by hand: none is known that a file can make."""

    def fail(*_args: object) -> None:
        raise RuntimeError("no calls today")

    workspace = open_app(project)
    with monkeypatch.context() as patch:
        patch.setattr(catch_up, "_make_facts", fail)
        with pytest.raises(catch_up.StageError):
            catch_up.run_worker(workspace)
    found = read_status(workspace)
    assert found.view.embedded == found.view.texts, "the vectors come all the same"
    assert found.failure == "reading who calls whom failed: RuntimeError: no calls today"
    assert check_of(project, "worker") == ("warn", f"the last one failed: {found.failure}")
    catch_up.run_worker(workspace)
    assert read_status(workspace).failure == ""


def test_any_failure_of_one_worktrees_work_leaves_the_others_theirs(tmp_path):
    worker, done = Worker(tmp_path), []

    def work(place, _asked):
        if place == tmp_path:
            (tmp_path / "worker.marks").write_bytes(os.fsencode(tmp_path / "..") + b"\0")
            raise ValueError("what nobody expects")
        done.append(place)

    with pytest.raises(ValueError, match="nobody expects"):
        worker.run(tmp_path, work)
    assert done == [tmp_path / ".."]
    assert last_failure(tmp_path) == "ValueError: what nobody expects"


def test_a_worker_that_begins_while_one_asks_has_not_failed(tmp_path):
    def work() -> None:
        for _ in range(300):
            Worker(tmp_path).run(tmp_path, lambda _path, _asked: None)

    thread = threading.Thread(target=work)
    thread.start()
    said = set()
    while thread.is_alive():
        said.add(last_failure(tmp_path))
    assert said == {""}


def test_a_worker_that_was_killed_is_told_of(project):
    workspace = open_app(project)
    workspace.update()
    lock = FileLock(workspace.store.directory / "lock")
    assert lock.try_acquire()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitrag", "-C", str(project.path), "hook", "run", "worker"],
        env=project.environment,
    )
    end = time.monotonic() + PATIENCE_S
    while running(workspace.store.directory) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    pid = running(workspace.store.directory).pid
    os.kill(pid, signal.SIGKILL)
    process.wait()
    lock.release()
    while not (told := read_status(workspace).failure):  # its helper ends after it, and holds the lock too
        assert time.monotonic() < end
    assert told in {f"process {pid} ended while {doing}" for doing in ("indexing", "cutting files")}
    assert check_of(project, "worker") == ("warn", f"the last one failed: {told}")


def test_what_a_dead_process_was_reading_is_read_apart(project):
    workspace = open_app(project)
    blob = project.git("rev-parse", "HEAD:many.py").strip()
    workspace.store.directory.mkdir(parents=True, exist_ok=True)
    note = workspace.store.directory / "reading.1.1"
    note.write_text(blob)
    workspace.update()
    assert not note.exists()
    assert (read_status(workspace).view.waiting, read_status(workspace).view.files) == (0, 2)


class Picky:
    """An encoder that some texts are too much for."""

    def __init__(self, encoder) -> None:
        self._encoder = encoder

    def encode(self, texts):
        if any("act7" in text for text in texts):
            raise RuntimeError("not this one")
        return self._encoder.encode(texts)


def test_a_text_that_cannot_be_embedded_keeps_its_draft(project):
    from gitrag.indexing.embed_texts import embed_pending

    workspace = open_app(project)
    workspace.update()
    done = embed_pending(workspace.store, Picky(workspace.encoder))
    found = read_status(workspace)
    assert found.view.embedded == found.view.texts
    assert done == found.view.texts
    with workspace.store.read() as db:
        assert vectors.count_pending(db) == 0
    assert ("many.py", "embedding", "RuntimeError: not this one") in [
        (each.path, each.stage, each.reason) for each in found.unread
    ]


def test_a_model_that_fails_with_any_text_is_no_fault_of_the_texts(project):
    class Broken:
        def encode(self, texts):
            raise RuntimeError("no model")

    from gitrag.indexing.embed_texts import embed_pending

    workspace: Workspace = open_app(project)
    workspace.update()
    with pytest.raises(RuntimeError, match="no model"):
        embed_pending(workspace.store, Broken())
    assert read_status(workspace).unread == ()
