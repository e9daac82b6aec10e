"""The background worker, as real processes: alone, together, and killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

import pytest

from gitrag.actions import catch_up as catching_up
from gitrag.actions.catch_up import catch_up
from gitrag.actions.current_view import INLINE_TEXTS
from gitrag.actions.search import search
from gitrag.actions.status import read_status
from gitrag.indexing import coverage, embed_texts
from gitrag.indexing.turn import EmbeddingTurn, Strain
from gitrag.indexing.worker import Worker, ask_to_end, processors, running
from gitrag.machine.locks import FileLock, Holder, read_holder
from gitrag.store import inspection, vectors
from gitrag.workspace import Workspace
from tests.support.command import program
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository, without_progress

PATIENCE_S = 120.0
"""For a busy machine; what is waited for takes a second or two."""

NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "PIP_NO_INDEX": "1",
}


FILES = 20


def sources(generation: int, count: int = FILES) -> dict[str | bytes, str]:
    return {
        f"src/part{number}.py": f'def act_{number}_{generation}(x):\n    """Do {number} of {generation}."""\n'
        for number in range(count)
    }


@pytest.fixture
def project(make_repository, model_dir) -> GitRepository:
    repo = make_repository(sources(0))
    repo.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return repo


def start(repo: GitRepository, *args: str, itself: bool = False) -> subprocess.Popen[str]:
    """Start gitrag, as the hooks and the user do; ``itself`` where its process is to be met."""
    command = [sys.executable, "-P", "-m", "gitrag"] if itself else [program(repo.environment)]
    return subprocess.Popen(
        [*command, "-C", str(repo.path), *args],
        env=repo.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_worker(repo: GitRepository, *, itself: bool = False) -> subprocess.Popen[str]:
    return start(repo, "hook", "run", "worker", itself=itself)


def finish(*processes: subprocess.Popen[str]) -> None:
    """Wait for processes that must end well and have said nothing."""
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out, err) == (0, "", "")


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def log(repo: GitRepository) -> str:
    """What went wrong in the background; that a worker is done is no trouble."""
    path = open_app(repo).store.directory / "log"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return "".join(line for line in lines if not line.rstrip().endswith(": done"))


def assert_complete(repo: GitRepository, directory: Path) -> None:
    """The index equals one built from nothing, and every text has its vector, the model's own."""
    workspace = open_app(repo)
    fresh = open_app(repo, directory)
    assert logical(workspace) == logical(fresh)
    fresh.embed()
    assert workspace.count_unembedded() == 0
    expected = _vectors(fresh)
    assert {key: vector for key, vector in _vectors(workspace).items() if key in expected} == expected


def _vectors(workspace: Workspace) -> dict[bytes, tuple[int, ...]]:
    with workspace.store.read() as db:
        twice = db.execute("SELECT count(*) - count(DISTINCT text_id) FROM vectors").fetchone()
        assert twice == (0,)
        return dict(db.execute("SELECT key, vector FROM texts JOIN vectors USING (text_id)").fetchall())


# together


def calm() -> str:
    return ""


def test_of_two_repositories_one_embeds_at_a_time_the_one_asked_for_last(project, tmp_path):
    """Whoever waits keeps nobody from searching or committing, and says what for."""
    cache = Path(project.environment["HOME"]) / ".cache" / "gitrag" / "turn"
    other = EmbeddingTurn(cache, "elsewhere", calm)
    assert other.take(lambda: False, lambda _name: None)
    own = start_worker(project)
    workspace = open_app(project)
    wait_until(lambda: (running(workspace.store.directory) or Holder(0, "", 0)).purpose.startswith("waiting"))
    holder = running(workspace.store.directory)
    assert holder is not None
    assert holder.purpose == "waiting until elsewhere is refined"
    assert workspace.count_unembedded() > 0
    assert other.is_wanted()
    assert search(workspace, "act 7").sections
    project.commit({"new.py": "def new():\n    return 1\n"})
    finish(start_worker(project))  # leaves a mark
    other.release()
    finish(own)
    assert not other.is_wanted()
    assert_complete(project, tmp_path / "fresh")


def test_who_waits_for_a_turn_is_next_after_whoever_asked_later(tmp_path):
    held, first, last = (EmbeddingTurn(tmp_path / "turn", name, calm) for name in ("held", "first", "last"))
    tries = iter([False, True])

    def once() -> bool:
        return next(tries)

    assert held.take(lambda: False, lambda _name: None)
    first.ask()
    assert held.is_wanted()
    heard: list[str] = []
    assert not first.take(once, heard.append)
    assert heard == ["until held is refined"]
    assert not held.is_wanted()  # it gave up
    first.ask()
    last.ask()
    held.release()
    tries = iter([False, True])
    assert not first.take(once, heard.append)
    assert last.take(lambda: False, heard.append)
    assert not last.is_wanted()
    last.release()
    assert first.take(lambda: False, heard.append)
    first.release()


def test_who_gives_up_a_wish_just_as_another_one_makes_way_leaves_nothing_undone(
    project, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wishes = chain([False, True, False] * 2, repeat(False))  # before a turn, in its first round, after it
    monkeypatch.setattr(EmbeddingTurn, "is_wanted", lambda _turn: next(wishes))
    workspace = open_app(project)
    catch_up(workspace, lambda: False)
    assert workspace.count_unembedded() == 0


def test_where_no_turn_can_be_taken_each_embeds(tmp_path):
    (tmp_path / "file").touch()
    assert EmbeddingTurn(tmp_path / "file" / "turn", "a", calm).take(lambda: False, lambda _name: None)


@pytest.mark.parametrize(
    ("strained", "calm_again", "what"),
    [
        ({"status": "Discharging"}, {"status": "Charging"}, "for mains power"),
        ({"load": "9.0"}, {"load": "0.1"}, "while the machine is busy"),
    ],
)
def test_more_than_a_commits_vectors_wait_for_the_machine_and_say_so(
    strained, calm_again, what, project, tmp_path, monkeypatch
):
    battery = tmp_path / "supplies" / "BAT0"
    battery.mkdir(parents=True)

    def machine_is(facts: dict[str, str]) -> None:
        for name, said in ({"type": "Battery", "load": "0"} | facts).items():
            (battery / name).write_text(said + "\n")

    machine_is(strained)
    strain = Strain(battery.parent, load=lambda: float((battery / "load").read_text()))
    monkeypatch.setattr(catching_up, "_FEW_TEXTS", 0)
    workspace = open_app(project)
    heard = []

    def asked() -> bool:
        doing = running(workspace.store.directory)
        if doing is not None and doing.purpose.startswith("waiting"):
            heard.append((doing.purpose, workspace.count_unembedded() > 0))
            assert search(workspace, "act 7").sections
            machine_is(calm_again)
        return False

    Worker(workspace.store.directory).run(
        project.path, lambda _place, _asked: catch_up(workspace, asked, strain)
    )
    assert set(heard) == {(f"waiting {what}", True)}
    assert workspace.count_unembedded() == 0


def test_a_busy_machine_is_waited_for_once_however_often_a_worker_is_asked(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catching_up, "_FEW_TEXTS", 0)
    machine = Strain(tmp_path / "none", load=lambda: 9.0)
    monkeypatch.setattr(catching_up, "_MACHINE", machine)
    workspace = Workspace.open(project.path, environ=project.environment | {"GITRAG_EMBED_WHEN": "auto"})

    def asked() -> bool:
        doing = running(workspace.store.directory)
        return doing is not None and doing.purpose.startswith("waiting")

    def work(_place: Path, _asked: Callable[[], bool]) -> None:
        catch_up(workspace, asked)
        assert workspace.count_unembedded() > 0
        machine._patience_s = 0.0
        catch_up(workspace, asked)

    Worker(workspace.store.directory).run(project.path, work)
    assert workspace.count_unembedded() == 0


def test_the_setting_ends_the_wait_for_the_machine_at_once(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catching_up, "_FEW_TEXTS", 0)
    monkeypatch.setattr(catching_up, "_MACHINE", Strain(tmp_path / "none", load=lambda: 9.0))
    unset = {key: value for key, value in project.environment.items() if key != "GITRAG_EMBED_WHEN"}
    workspace = Workspace.open(project.path, environ=unset)
    heard = []

    def asked() -> bool:
        doing = running(workspace.store.directory)
        if doing is not None and doing.purpose.startswith("waiting"):
            heard.append(doing.purpose)
            project.git("config", "gitrag.embedWhen", "always")
        return len(heard) > 1

    Worker(workspace.store.directory).run(project.path, lambda _place, _asked: catch_up(workspace, asked))
    assert heard == ["waiting while the machine is busy"]
    assert workspace.count_unembedded() == 0


def test_only_more_than_a_commits_texts_are_said_to_wait(project, monkeypatch):
    workspace = Workspace.open(project.path, environ=project.environment | {"GITRAG_EMBED_WHEN": "auto"})
    monkeypatch.setattr("gitrag.indexing.turn.is_on_battery", lambda _supplies: True)
    assert catching_up.awaited(workspace, catching_up._FEW_TEXTS + 1) == "for mains power"
    assert catching_up.awaited(workspace, catching_up._FEW_TEXTS) == ""


def test_workers_started_at_once_do_the_work_once(project, tmp_path):
    finish(*[start_worker(project) for _ in range(3)])
    assert_complete(project, tmp_path / "fresh")
    assert log(project) == ""
    counts = _counts(open_app(project))
    assert (counts.contents, counts.chunks) == (FILES, FILES)


def test_what_a_worker_has_refined_is_recorded(project):
    workspace = open_app(project)
    workspace.update()
    finish(start_worker(project))
    first, *_, last = coverage.read(workspace.store.directory, "")
    assert (first.refined, first.share, last.share) == (0, 0.0, 1.0)
    assert first.chunks == last.chunks == FILES
    assert first.at <= last.at


def test_what_is_refined_is_not_recorded_while_others_write_and_nobody_waits_for_them(project, monkeypatch):
    workspace = open_app(project)
    workspace.update()
    (workspace.store.directory / coverage.NAME).unlink()
    script = (
        "import sys; from pathlib import Path; from gitrag.machine.locks import StoreLock\n"
        "with StoreLock(Path(sys.argv[1]), 5).exclusive('holding'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, workspace.store.directory]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with monkeypatch.context() as patch:
            patch.setattr("gitrag.machine.locks.time.sleep", lambda _s: pytest.fail("it waits"))
            workspace.note_coverage()
    assert coverage.read(workspace.store.directory, "") == ()
    workspace.note_coverage()
    assert len(coverage.read(workspace.store.directory, "")) == 1


def _counts(workspace: Workspace) -> inspection.StoreCounts:
    with workspace.store.read() as db:
        return inspection.count_store(db)


def test_who_finds_a_worker_at_work_leaves_a_mark_and_goes(project, tmp_path):
    linked = project.worktree(tmp_path / "linked", "-b", "topic")
    linked.commit({"only.py": "def linked(): pass\n"})
    directory = open_app(project).store.directory
    directory.mkdir()
    lock = FileLock(directory / "worker.lock")
    assert lock.try_acquire()
    try:
        finish(start_worker(project), start_worker(linked), start_worker(linked))
    finally:
        lock.release()
    assert not open_app(project).store.exists()
    asked = (directory / "worker.marks").read_bytes().split(b"\0")[:-1]
    assert sorted(asked) == sorted(os.fsencode(path) for path in (project.path, linked.path, linked.path))
    finish(start_worker(project))
    assert not (directory / "worker.marks").exists()
    assert_complete(project, tmp_path / "fresh")
    assert_complete(linked, tmp_path / "fresh-linked")


def test_indexing_twice_at_once_ends_well_both_times(project, tmp_path):
    both = [start(project, "index", "update", "--no-embed") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, f"Indexed {FILES} chunks from {FILES} files" in out) == (0, True), err
    assert logical(open_app(project)) == logical(open_app(project, tmp_path / "fresh"))


def test_a_search_during_indexing_is_answered(project, monkeypatch):
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda _workspace: None)
    open_app(project).update()
    project.commit(sources(1, 150))
    indexer = start(project, "index", "update", "--no-embed")
    answers = 0
    while indexer.poll() is None or not answers:
        answer = search(open_app(project), "act_7_1")
        assert answer.waiting or answer.hits[0].path == "src/part7.py"
        answers += 1
    assert indexer.communicate()[1] == ""


def wait_for_worker(repo: GitRepository) -> None:
    """Wait until a worker, started before, has done its work and gone."""
    workspace = open_app(repo)
    wait_until(
        lambda: (
            running(workspace.store.directory) is None
            and workspace.store.exists()
            and workspace.count_unembedded() == 0
        )
    )


# started by a search


def test_a_search_leaves_what_is_much_to_the_worker(project, tmp_path):
    workspace = open_app(project)
    workspace.update()
    assert workspace.count_unembedded() > INLINE_TEXTS
    assert search(workspace, "act_7_0").drafts > 0
    wait_for_worker(project)
    assert search(workspace, "act_7_0").drafts == 0
    assert_complete(project, tmp_path / "fresh")


def test_uncommitted_files_are_embedded_too(project):
    finish(start_worker(project))
    project.write(sources(1))
    finish(start_worker(project))
    answer = search(open_app(project), "act_7_1")
    assert (answer.dirty, answer.drafts, answer.hits[0].path) == (FILES, 0, "src/part7.py")


@pytest.mark.parametrize("few", [True, False])
def test_a_commits_vectors_come_before_the_call_graph_and_this_before_all_others(project, monkeypatch, few):
    if not few:
        monkeypatch.setattr("gitrag.actions.catch_up._FEW_TEXTS", 10)
    workspace = open_app(project)

    def has_facts() -> bool:
        with workspace.store.read() as db:
            return bool(db.execute("SELECT 1 FROM facts LIMIT 1").fetchone())

    catch_up(workspace, has_facts)  # somebody asks as soon as there are facts: then nothing is embedded
    assert has_facts()
    assert (workspace.count_unembedded() == 0) is few


def test_a_failure_in_one_worktree_does_not_keep_others_waiting(project, tmp_path):
    linked = project.worktree(tmp_path / "linked", "--detach")
    linked.write({".gitrag.yaml": "limit: nonsense\n"})
    directory = open_app(project).store.directory
    directory.mkdir()
    (directory / "worker.marks").write_bytes(os.fsencode(linked.path) + b"\0")
    finish(start_worker(project))
    assert "nonsense" in log(project)
    assert_complete(project, tmp_path / "fresh")


# killed


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("stage", ["updating the view", "writing chunks", "writing vectors"])
def test_a_worker_killed_in_the_middle_of_writing_loses_nothing(project, tmp_path, stage):
    kill_during(project, stage)
    finish(start_worker(project))
    assert_complete(project, tmp_path / "fresh")
    assert not list(open_app(project).store.directory.glob("damaged*"))


def kill_during(repo: GitRepository, stage: str) -> None:
    """Give a worker work and kill it in a stage; again where it was too quick."""
    note = open_app(repo).store.directory / "lock.holder"
    for attempt in range(20):
        number = 100 + attempt
        much = f"word{number},\n" * 40_000 if stage == "writing chunks" else ""  # else the view brings them
        repo.commit(sources(number) | {"much.csv": much})
        note.unlink(missing_ok=True)
        worker = start_worker(repo, itself=True)
        while worker.poll() is None:
            holder = read_holder(note)
            if holder and (holder.pid, holder.purpose) == (worker.pid, stage):
                break
        worker.kill()
        worker.communicate()
        if worker.returncode == -signal.SIGKILL:
            return
    raise AssertionError(f"no worker was met {stage}")


@pytest.mark.sweep(keep=0)  # of the moments that matter each has its day above
def test_a_worker_killed_at_any_time_leaves_an_index_that_works(project, tmp_path):
    finish(start_worker(project))
    for generation, delay in enumerate((0.1, 0.4, 0.8), 1):
        project.commit(sources(generation))  # few enough for the search to embed what is left
        worker = start_worker(project, itself=True)
        time.sleep(delay)
        worker.kill()
        worker.communicate()
        found = search(open_app(project), f"act_7_{generation}")
        assert (found.waiting, found.drafts) == (0, 0)
        assert found.hits[0].chunk.name == f"act_7_{generation}"
    assert_complete(project, tmp_path / "fresh")


def test_what_a_killed_worker_was_asked_for_is_done_by_the_next(project, tmp_path):
    linked = project.worktree(tmp_path / "linked", "-b", "topic")
    linked.commit({"only.py": "def linked(): pass\n"})
    directory = open_app(project).store.directory
    directory.mkdir()
    (directory / "worker.taken").write_bytes(os.fsencode(linked.path) + b"\0")
    finish(start_worker(project))
    assert_complete(linked, tmp_path / "fresh-linked")
    assert not (directory / "worker.taken").exists()


LARGE = {
    f"big/m{file}.py": "".join(f"def f{file}_{n}(a):\n    return {'word ' * 250!r}\n\n\n" for n in range(16))
    for file in range(200)
}
"""More source than one process cuts alone."""

needs_a_pool = pytest.mark.skipif(os.cpu_count() == 1, reason="one processor: nothing is shared")


@needs_a_pool
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_that_share_the_work_end_with_the_worker(project, number):
    project.commit(LARGE)
    project.environment["GITRAG_THREADS"] = str(os.cpu_count())  # on a busy machine it would use half
    worker = start_worker(project, itself=True)
    children: set[int] = set()

    def pool_is_at_work() -> bool:
        children.update(_readers_of(worker.pid))
        return len(children) >= (os.cpu_count() or 1) - 1  # it reads too

    wait_until(pool_is_at_work)
    worker.send_signal(number)
    worker.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not [pid for pid in children if _is_running(pid)])
    assert read_status(open_app(project)).worker is None


@needs_a_pool
def test_the_work_of_a_killed_process_is_done_by_the_one_that_waits_for_it(project):
    project.commit(LARGE)
    indexer = start(project, "index", "update", "--no-embed", itself=True)
    wait_until(lambda: _readers_of(indexer.pid))  # it reads too: there is one fewer than processors
    os.kill(_readers_of(indexer.pid)[-1], signal.SIGKILL)
    out, err = indexer.communicate(timeout=PATIENCE_S)
    assert (indexer.returncode, without_progress(err)) == (0, "")
    assert f"from {len(LARGE) + FILES} files" in out


def _readers_of(parent: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = (line.split(None, 2) for line in listed.splitlines() if "gitrag.machine.processes" in line)
    return [int(pid) for pid, above, _args in rows if int(above) == parent]


def _is_running(wanted: int) -> bool:
    return any(pid == wanted and not state.startswith("Z") for pid, _above, state in _processes())


def _processes() -> list[tuple[int, int, str]]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    return [(int(pid), int(above), state) for pid, above, state in map(str.split, listed.splitlines())]


def test_a_worker_that_is_asked_to_end_ends_cleanly(project, tmp_path):
    project.commit(sources(1, 60))
    directory = open_app(project).store.directory
    worker = start_worker(project, itself=True)
    wait_until((directory / "worker.holder").exists)
    worker.terminate()
    out, err = worker.communicate(timeout=PATIENCE_S)
    assert (worker.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert log(project) == ""
    assert running(directory) is None
    assert not (directory / "worker.holder").exists()
    finish(start_worker(project))
    assert_complete(project, tmp_path / "fresh")


LOWERED = """
import os, subprocess
from gitrag.indexing import worker
worker.lower_priority()
ionice = subprocess.run(["ionice", "-p", str(os.getpid())], capture_output=True, text=True)
print(os.getpriority(os.PRIO_PROCESS, 0), ionice.stdout.strip())
"""


@pytest.mark.skipif(shutil.which("ionice") is None, reason="no ionice to look with")
def test_the_worker_lets_others_go_first_at_processors_and_disks():
    done = subprocess.run([sys.executable, "-c", LOWERED], capture_output=True, text=True, check=True)
    nice, io_class = done.stdout.split()
    assert int(nice) == max(10, os.nice(0))
    assert io_class == "idle"


SHARED_OUT = """
import sys
from pathlib import Path
from gitrag.actions.run_hook import detach
from gitrag.indexing import worker
from gitrag.store.connection import Store
said = lambda: Path("/proc/self/autogroup").read_text().split()[-1]
detach()
worker.lower_priority()
store = Store(Path(sys.argv[1]), recipe="any")
store.while_locked(worker.in_turn)
told = [said()]
with store.write("a test"):
    told.append(said())
print(*told)
"""


def shares_out_among_sessions() -> bool:
    with suppress(OSError):
        return Path("/proc/sys/kernel/sched_autogroup_enabled").read_text().strip() == "1"
    return False


@pytest.mark.skipif(not shares_out_among_sessions(), reason="processes share processors, not sessions")
def test_the_workers_session_goes_last_but_while_others_wait_for_it(tmp_path):
    """Where sessions share processors, a nice process in a session of its own has as much as all others."""
    command = [sys.executable, "-c", SHARED_OUT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "10 0\n"


def test_a_session_that_is_not_the_workers_stays_as_it_is():
    with suppress(OSError):
        before = Path("/proc/self/autogroup").read_text()
        subprocess.run([sys.executable, "-c", LOWERED], capture_output=True, check=True)
        assert Path("/proc/self/autogroup").read_text() == before


@pytest.mark.parametrize(("load", "used"), [(0.1, 8), (2.5, 4), (50.0, 4)])
def test_the_worker_uses_half_of_the_processors_where_others_work(monkeypatch, load, used):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert processors() == used


# without the model


def test_a_model_that_cannot_be_fetched_is_not_asked_for_again_soon(project, tmp_path):
    project.environment |= NO_NETWORK | {"GITRAG_MODEL_DIR": str(tmp_path / "no-model")}
    finish(start_worker(project))
    failed = open_app(project).store.directory / "model.failed"
    assert failed.exists()
    assert log(project).count("Could not get the model") == 1
    finish(start_worker(project))
    assert log(project).count("Could not get the model") == 1
    two_hours_ago = time.time() - 7200
    os.utime(failed, (two_hours_ago, two_hours_ago))
    finish(start_worker(project))
    assert log(project).count("Could not get the model") == 2
    assert failed.stat().st_mtime > two_hours_ago + 3600


def test_without_the_model_search_goes_by_drafts_and_says_so(project, tmp_path):
    project.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    open_app(project).update()
    searching = start(project, "search", "act_7_0")
    out, err = searching.communicate(timeout=PATIENCE_S)
    assert searching.returncode == 0
    assert "src/part7.py" in out
    assert f"{2 * FILES} texts on draft vectors — `gitrag index embed` refines them" in err


# the marks


def test_work_that_comes_up_meanwhile_is_done_before_the_worker_goes(tmp_path):
    worker, other = Worker(tmp_path), Worker(tmp_path)
    done: list[Path] = []

    def work(place: Path, asked: Callable[[], bool]) -> None:
        done.append(place)
        if place == tmp_path:
            later = tmp_path / "later"
            later.mkdir()
            assert not asked()
            assert other.run(later, work) is False
            assert asked()

    assert worker.run(tmp_path, work) is True
    assert done == [tmp_path, tmp_path / "later"]
    assert _left(tmp_path) == ["later", "worker.lock"]


def _left(directory: Path) -> Sequence[str]:
    return sorted(path.name for path in directory.iterdir())


def test_newest_texts_are_embedded_first(project):
    workspace = open_app(project)
    workspace.update()
    project.commit({"new.py": "def newest(): pass\n"})
    workspace.update()
    with workspace.store.read() as db:
        waiting = vectors.pending(db, 2)
    assert [getattr(text[1], "name", text[1]) for text in waiting] == ["newest", "new.py"]


def test_a_mark_left_while_the_lock_is_let_go_is_seen(tmp_path, monkeypatch):
    """Who leaves it has found the lock taken, a moment before it was free."""
    worker, done = Worker(tmp_path), []
    release = FileLock.release
    late = iter([tmp_path / "late"])

    def let_go(self: FileLock) -> None:
        if self.path.name == "worker.lock":
            for path in late:
                path.mkdir()
                assert not Worker(tmp_path).run(path, lambda *_: pytest.fail("two workers"))
        release(self)

    monkeypatch.setattr(FileLock, "release", let_go)
    assert worker.run(tmp_path, lambda path, _asked: done.append(path))
    assert done == [tmp_path, tmp_path / "late"]


def test_who_is_told_to_end_leaves_what_others_have_asked_for(tmp_path):
    worker, worked = Worker(tmp_path), list[Path]()

    def work(place: Path, _asked: Callable[[], bool]) -> None:
        worked.append(place)
        if len(worked) == 1:
            worker.mark(place)
            ask_to_end(tmp_path)

    assert worker.run(tmp_path, work)
    assert worked == [tmp_path]


@pytest.mark.usefixtures("quick_model")
@pytest.mark.parametrize(("seconds", "most"), [(0.0, 4), (1000.0, 8)])
def test_who_embeds_slowly_has_short_rounds(project, monkeypatch, seconds, most):
    monkeypatch.setattr(embed_texts, "_TELLING", 4)
    monkeypatch.setattr(embed_texts, "_ROUND", 8)
    monkeypatch.setattr(embed_texts, "_ROUND_S", seconds)
    workspace, rounds = open_app(project), list[int]()
    workspace.update()
    done = embed_texts.embed_pending(workspace.store, workspace.encoder, advance=rounds.append)
    assert (done, rounds[0], max(rounds)) == (sum(rounds), 4, most)
