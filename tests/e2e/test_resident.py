"""The helper that a search leaves behind: what it answers, and all that may come between."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

import gitrag
from gitrag.cli import resident
from gitrag.machine.locks import FileLock
from tests.support.acts import ACTS, FILES, Actor
from tests.support.command import GITRAG, PATIENCE_S, Done, Gitrag, Project, wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a helper"),
]

CLIENT = """
import os, sys
from gitrag.cli import main
try:
    main()
finally:
    with open(os.environ["LOADED"], "w") as file:
        file.write(" ".join(sys.modules))
"""
MOST_KB = 400_000
HEAVY = {
    "click",
    "rich",
    "duckdb",
    "numpy",
    "onnxruntime",
    "pygit2",
    "json",
    "socket",
    "subprocess",
    "pathlib",
}

COMMAND_LINES = [
    ("search", "retry"),
    ("search", "-o", "text", "--graph", "--explain", "retry with backoff"),
    ("search", "-o", "json", "invoices are sent"),
    ("search", "--ref", "HEAD", "retry"),
    ("search", "--ref", "nosuch", "retry"),
    ("search", "-n", "0", "retry"),
    ("search", "--min-score", "0.99", "zebra"),
    ("search",),
    ("search", "--help"),
    ("search", "--nosuch"),
    ("search", "-"),
    ("--color", "always", "search", "-o", "text", "retry"),
    ("-C", "nosuch", "search", "retry"),
    ("-C", "..", "search", "retry"),
    ("graph", "retry_with_backoff"),
    ("graph", "--format", "json"),
    ("graph", "nosuch"),
    ("graph", "--callers"),
]
"""Each reaches the helper, or ends, in a way of its own."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """A user's commands, one after another, that may leave a helper behind.

    Attributes:
        run: Runs a command, whether or not a helper answers.
        sockets: Where the helper's socket is.
        space: What belongs to this test alone.
    """

    run: Gitrag
    sockets: Path
    space: Path

    def __call__(self, *args: str, before: str = "", **options: object) -> tuple[Done, bool]:
        """Run a command, after some Python in its process; also return whether a helper answered."""
        with tempfile.TemporaryDirectory() as space:
            loaded = Path(space) / "loaded"
            done = subprocess.run(
                [sys.executable, "-P", "-c", before + CLIENT, *args],
                cwd=options.get("place", self.run.place),
                env={**self.run.environment, "LOADED": str(loaded), **options.get("env", {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            answered = not HEAVY & set(loaded.read_text().split())
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode()), answered

    def is_answered(self, **options: object) -> bool:
        """Tell whether a helper answers; a command as short as this leaves none behind."""
        done, answered = self("search", "--help", **options)
        assert done.status == 0
        return answered

    def warm(self) -> int:
        """Leave a helper behind, and return its process id."""
        if not self.helpers():
            self.run("search", "retry")
        self.wait_for_one()
        [helper] = self.helpers()
        return helper

    def wait_for_one(self) -> None:
        """Wait until a helper that was started listens."""
        wait_until(lambda: any(each.is_socket() for each in self.sockets.glob("*")), "no helper listens")
        wait_until(lambda: not list(self.sockets.glob("*.started")), "the helper does not listen")

    def helpers(self) -> list[int]:
        """Return the process ids of this sitting's helpers."""
        return [
            pid
            for pid, line in _command_lines()
            if b"gitrag.cli.resident_helper" in line
            and os.fsencode(self.space) in line
            and not _is_forked(pid)
        ]


def _command_lines() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if line.startswith(os.fsencode(sys.executable)):
                yield int(entry.name), line


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _is_forked(pid: int) -> bool:
    try:
        return b"resident_helper" in Path(f"/proc/{_parent(pid)}/cmdline").read_bytes()
    except OSError:
        return False


def _forked_of(helper: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{helper}/task/{helper}/children").read_text().split()]


def _taken_over(helper: int, file: str, target: Path) -> int:
    """Wait until a process that a helper forked has a file of its ``/proc`` lead somewhere; return its id.

    One that was forked for an earlier question may still be there, or end meanwhile.
    """
    there: list[int] = []

    def one_has() -> bool:
        for pid in _forked_of(helper):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/{file}").readlink() == target:
                    there.append(pid)
        return bool(there)

    wait_until(one_has, "none has taken over")
    return there[0]


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _is_there(pid: int) -> bool:
    try:
        return _state(pid) != "Z"
    except OSError:
        return False


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Callable[..., Sitting]]:
    """A factory of sittings; their helpers end with the test."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    made: list[Sitting] = []

    def make(project: Project, **environment: str) -> Sitting:
        made.append(_sitting(project, tmp_path, {"XDG_RUNTIME_DIR": str(runtime), **environment}))
        return made[-1]

    yield make
    _end(*made)


@pytest.fixture(scope="module")
def _kept(tmp_path_factory: pytest.TempPathFactory, indexed: Project) -> Iterator[Sitting]:
    place = tmp_path_factory.mktemp("kept")
    (place / "run").mkdir(mode=0o700)
    sitting = _sitting(indexed, place, {"XDG_RUNTIME_DIR": str(place / "run")})
    yield sitting
    _end(sitting)


@pytest.fixture
def kept(_kept: Sitting) -> Callable[[Project], Sitting]:
    """A factory of sittings that have one helper, for tests that leave it as it was."""
    same = {name: _kept.run.environment[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")}
    return lambda project: _sitting(project, _kept.space, same)


def _sitting(project: Project, space: Path, environment: dict[str, str]) -> Sitting:
    own = {"GITRAG_RESIDENT": "on", **environment}
    run = Gitrag(project.path, {**project.gitrag.environment, **own}, forks=False)
    return Sitting(run, Path(own["XDG_RUNTIME_DIR"]) / "gitrag", space)


def _end(*sittings: Sitting) -> None:
    for each in sittings:
        for helper in each.helpers():
            os.kill(helper, signal.SIGKILL)


def test_it_answers_as_the_command_does_without_it(indexed, kept, some):
    sitting = kept(indexed)
    helper = sitting.warm()
    assert not sitting(*COMMAND_LINES[0], env={"GITRAG_RESIDENT": "off"})[1]
    for args in some(COMMAND_LINES, keep=4):
        done, answered = sitting(*args)
        assert done == indexed.gitrag(*args), args
        assert answered, args
    assert sitting.helpers() == [helper]


def test_it_answers_on_a_terminal_as_the_command_does_without_it(indexed, kept):
    sitting = kept(indexed)
    sitting.warm()
    done = sitting.run.on_terminal("search", "retry", columns=60)
    assert done == sitting.run.on_terminal("search", "retry", columns=60, env={"GITRAG_RESIDENT": "off"})
    assert "\x1b[" in done.out
    assert "\x1b[" not in sitting.run.on_terminal("search", "retry", env={"NO_COLOR": "1"}).out


def test_it_sees_what_has_changed_since_the_last_question(ready, kept):
    sitting = kept(ready)
    sitting.warm()
    for name in ("smash_pane", "sweep_floor", "paint_wall"):
        (ready.path / "client.py").write_text(f"def {name}(hammer):\n    return hammer\n")
        done, answered = sitting("search", name)
        assert (done.status, answered) == (0, True)
        assert f"def {name}" in done.out
    ready.git.git("checkout", "-q", "client.py")
    assert sitting("search", "paint_wall")[0] == ready.gitrag("search", "paint_wall")


def test_it_runs_a_command_where_the_caller_is_and_with_what_he_has(ready, make_project, kept):
    sitting = kept(ready)
    sitting.warm()
    other = make_project({"b.py": "def b():\n    return 1\n"}, name="other")
    done, answered = sitting("search", "b", place=other.path)
    assert answered
    assert "other" in done.err
    done, answered = sitting("search", "retry", env={"GITRAG_LIMIT": "x"})
    assert answered
    assert "GITRAG_LIMIT" in done.err


def test_one_that_is_killed_is_told_and_not_done_again(ready, kept):
    """Who ended it may have had to: a search that takes all memory would take it again."""
    sitting = kept(ready)
    helper = sitting.warm()
    lock = FileLock(ready.store / "lock")
    assert lock.try_acquire(), "the helper holds the index's lock while it is idle"
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(sitting, "search", "retry")
        os.kill(_taken_over(helper, "cwd", ready.path), signal.SIGKILL)
        done, answered = asked.result()
    lock.release()
    message = "The process that was answering has been ended before it was done.\nhint: Ask again.\n"
    assert (done, answered) == (Done(75, "", message), True)


def _asking_stdin(sitting: Sitting) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gitrag", "search", "-"],
        cwd=sitting.run.place,
        env=sitting.run.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _unread(pipe: IO[bytes]) -> int:
    """Return how many bytes in a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_ctrl_c_ends_the_command_and_not_the_helper(ready, kept):
    sitting = kept(ready)
    helper = sitting.warm()
    with _asking_stdin(sitting) as asking:
        forked = _taken_over(helper, "fd/0", Path(f"/proc/{asking.pid}/fd/0").readlink())
        asking.stdin.write(b"retry")
        asking.stdin.flush()
        wait_until(lambda: not _unread(asking.stdin), "the command does not read")
        asking.send_signal(signal.SIGINT)
        out, said = asking.communicate()
        assert (out, said.strip()) == (b"", b"")  # a line end, unless it had only begun to read
    assert asking.returncode == 130
    wait_until(lambda: not _is_there(forked), "the command goes on")
    assert sitting("search", "retry")[1]
    assert sitting.helpers() == [helper]


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_helper_that_is_dead_or_hangs_is_done_without(ready, sit, how):
    sitting = sit(ready)
    helper = sitting.warm()
    os.kill(helper, how)
    done, answered = sitting("search", "retry")
    assert not answered
    assert done == ready.gitrag("search", "retry")
    sitting.wait_for_one()
    wait_until(sitting.is_answered, "no other answers")
    assert set(sitting.helpers()) - {helper}


def test_another_version_takes_its_place(ready, sit, tmp_path):
    """A new release is put where the old one was, as an installer does."""
    copy = tmp_path / "packages" / "gitrag"
    shutil.copytree(Path(gitrag.__file__).parent, copy)
    sitting = sit(ready, PYTHONPATH=str(copy.parent))
    helper = sitting.warm()
    assert sitting.is_answered()
    os.utime(copy / "errors.py")
    assert not sitting("search", "retry")[1]
    wait_until(lambda: helper not in sitting.helpers(), "the old one is still there")
    wait_until(sitting.is_answered, "no new one answers")
    init = copy / "__init__.py"
    init.write_text(init.read_text().replace('__version__ = "', '__version__ = "9.'))
    assert not sitting.is_answered()


def test_off_is_off(ready, sit, kept):
    sitting = sit(ready)
    sitting("search", "retry", env={"GITRAG_RESIDENT": "off"})
    sitting("search", "retry", env={"GITRAG_RESIDENT": "auto", "CI": "1"})
    assert sitting.helpers() == []
    assert not sitting.sockets.exists()
    sitting = kept(ready)
    sitting.warm()
    expected, answered = sitting("search", "retry")
    assert answered
    del sitting.run.environment["GITRAG_RESIDENT"]
    ready.git.git("config", "gitrag.resident", "off")
    assert sitting("search", "retry") == (expected, False)


def test_it_ends_when_nobody_asks(ready, sit):
    sitting = sit(ready)
    sitting.sockets.mkdir(mode=0o700)
    module = [sys.executable, "-P", "-m", "gitrag.cli.resident_helper"]
    subprocess.run([*module, str(sitting.sockets), "", "0.2"], check=True, timeout=100)
    assert not list(sitting.sockets.iterdir())


def test_it_ends_when_its_socket_is_gone_and_a_command_outlives_it(ready, sit):
    sitting = sit(ready)
    helper = sitting.warm()
    with _asking_stdin(sitting) as asking:
        _taken_over(helper, "fd/0", Path(f"/proc/{asking.pid}/fd/0").readlink())
        shutil.rmtree(sitting.sockets)
        wait_until(lambda: not _is_there(helper), "it is still there")
        out, _ = asking.communicate(b"retry")
    assert asking.returncode == 0
    assert b"retry_with_backoff" in out


def test_ten_at_once_are_answered_by_one_helper(ready, sit):
    sitting = sit(ready)
    expected = ready.gitrag("search", "retry")
    with ThreadPoolExecutor(10) as pool:
        first = list(pool.map(lambda _: sitting("search", "retry")[0], range(2)))
        sitting.warm()
        then = list(pool.map(lambda _: sitting("search", "retry"), range(10)))
    assert first == [expected] * 2
    assert [done for done, _ in then] == [expected] * 10
    assert sum(answered for _, answered in then) > 7
    wait_until(lambda: len(sitting.helpers()) == 1, "more than one helper is left")
    [helper] = sitting.helpers()  # another than the first, where a busy machine had one given up
    wait_until(lambda: not _forked_of(helper), "something is left of the commands")
    status = dict(line.split(":", 1) for line in Path(f"/proc/{helper}/status").read_text().splitlines())
    assert int(status["VmHWM"].split()[0]) < MOST_KB
    assert int(status["Threads"]) == 1


def test_nobody_else_can_connect(ready, kept):
    sitting = kept(ready)
    sitting.warm()
    assert stat.S_IMODE(sitting.sockets.stat().st_mode) == 0o700
    for path in sitting.sockets.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_directory_that_others_could_have_made_is_not_used(ready, sit, tmp_path):
    sitting = sit(ready)
    helper = sitting.warm()

    sitting.sockets.chmod(0o750)
    assert not sitting.is_answered()
    sitting.sockets.chmod(0o700)
    if os.geteuid() == 0:  # only the superuser can give a directory away
        os.chown(sitting.sockets, 12345, -1)
        assert not sitting.is_answered()
        os.chown(sitting.sockets, 0, -1)
    assert sitting.is_answered()
    sitting.sockets.rename(tmp_path / "elsewhere")
    sitting.sockets.symlink_to(tmp_path / "elsewhere")
    done, answered = sitting("search", "retry")
    assert (done.status, answered) == (0, False)
    assert set(sitting.helpers()) <= {helper}


def test_no_repository_names_the_socket_or_a_module(ready, sit):
    """What is at relative places, in the current directory, is the repository's."""
    for name in ("gitrag", "_socket", "marshal", "resource", "subprocess", "click"):
        (ready.path / f"{name}.py").write_text("raise SystemExit('a module of the repository was loaded')\n")
    sitting = sit(ready)
    assert resident.directory_of({"XDG_RUNTIME_DIR": "run", "HOME": ""}) is None
    home = str(ready.path)
    assert resident.directory_of({"XDG_RUNTIME_DIR": ".", "HOME": home}) == f"{home}/.cache/gitrag/resident"
    sitting.warm()
    done, answered = sitting("search", "retry")
    assert (done.status, answered) == (0, True)


PAGER = """
trap 'echo pager-interrupted' INT
cat >/dev/null
echo $$ >"$0.pid"
echo pager-up
for _ in 1 2 3; do
    if IFS= read -r line </dev/tty; then
        echo "pager-read-$line"
        exit
    fi
done
"""


class Shell:
    """bash on a terminal of its own, with job control."""

    def __init__(self, place: Path, environment: dict[str, str]) -> None:
        self.said = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(place)
            bash = ["bash", "--norc", "--noprofile", "-i"]
            os.execvpe(bash[0], bash, environment | {"TERM": "xterm"})  # noqa: S606  # the shell is the program
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 80, 0, 0))

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self.terminal, keys.encode())

    def expect(self, text: str) -> str:
        """Wait until the terminal shows a text; return what it showed since the last one, up to that."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.said:
            assert time.monotonic() < end, f"{text!r} is not in {self.said!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.said += os.read(self.terminal, 65536).decode("utf-8", "replace")
        before, _, self.said = self.said.partition(text)
        return before

    def close(self) -> None:
        """Hang up."""
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell() -> Iterator[Callable[[Sitting], Shell]]:
    """A factory of shells in which the sitting's commands can be typed."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    made: list[Shell] = []

    def make(sitting: Sitting, **environment: str) -> Shell:
        path = f"{GITRAG.parent}:{os.environ['PATH']}"
        made.append(Shell(sitting.run.place, {**sitting.run.environment, "PATH": path, **environment}))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize(
    ("form", "options"), [("markdown", ""), ("text", "--full")], ids=["found out late", "known before"]
)
def test_the_keys_reach_a_pager(ready, kept, shell, tmp_path, form, options):
    (tmp_path / "pager").write_text(PAGER)
    sitting = kept(ready)
    helper = sitting.warm()
    bash = shell(sitting, GIT_PAGER=f"sh {tmp_path}/pager", GITRAG_OUTPUT=form)
    bash.press(f"gitrag search {options} retry\n")
    bash.expect("pager-up")
    # a signal just before `sh` waits for a line is heeded only after that line
    pager = int((tmp_path / "pager.pid").read_text())
    wait_until(lambda: _state(pager) == "S", "the pager does not wait for a line")
    bash.press("\x03")
    bash.expect("pager-interrupted")
    bash.press("\x1a")
    bash.expect("Stopped")
    # bash says so of the process that it knows; until the pager too is stopped, it may read what is typed
    wait_until(lambda: _state(pager) == "T", "the pager goes on")
    bash.press("echo $((40+2))\n")
    bash.expect("42")
    bash.press("fg\n")
    bash.press("a-line\n")
    bash.expect("pager-read-a-line")
    bash.press("echo status=$?\n")
    bash.expect("status=0")
    wait_until(lambda: not _forked_of(helper), "something is left of the command")


def test_an_editor_has_the_terminal(ready, kept, shell, tmp_path):
    (tmp_path / "editor").write_text("echo editor-up >/dev/tty\n")
    sitting = kept(ready)
    sitting.warm()
    bash = shell(sitting, VISUAL=f"sh {tmp_path}/editor")
    bash.press("gitrag search --open retry; echo status=$?\n")
    bash.expect("status=$?")
    assert "editor-up" in bash.expect("status=0")


def test_ctrl_c_leaves_the_terminal_as_it_was(ready, make_project, kept, shell):
    """An index is made, which shows a bar and hides the cursor, and has to wait for its lock."""
    sitting = kept(ready)
    helper = sitting.warm()
    other = make_project({"a.py": "def a():\n    return 1\n"}, name="other")
    other.store.mkdir(mode=0o700)
    lock = FileLock(other.store / "lock")
    assert lock.try_acquire()
    bash = shell(sitting)
    bash.press(f"gitrag -C {other.path} search --index retry; echo status=$?\n")
    bash.expect("status=$?")
    bash.expect("\x1b[?25l")
    [_] = _forked_of(helper)
    bash.press("\x03")
    assert "\x1b[?25h" in bash.expect("status=130")
    wait_until(lambda: not _forked_of(helper), "something is left of the command")
    lock.release()


def test_one_of_another_version_does_not_answer(ready, sit):
    """A release is put in the place of another while a search of that runs, which leaves a helper behind."""
    sitting = sit(ready)
    other = "import gitrag; gitrag.__version__ = '0.0.1'"
    sitting("search", "retry", before=other)
    wait_until(lambda: any(each.is_socket() for each in sitting.sockets.iterdir()), "no helper listens")
    assert not sitting("search", "retry", before=other)[1]
    wait_until(sitting.is_answered, "nor does it answer its own")


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("how", ["environment too large", "no process", "no memory"])
def test_what_hinders_a_helper_does_not_hinder_the_search(ready, sit, how):
    sitting = sit(ready)
    expected = ready.gitrag("search", "retry")
    raised = {"no process": "BlockingIOError(11, 'no more processes')", "no memory": "MemoryError"}.get(how)
    # as the kernel refuses it
    hook = f"""
import sys
def refuse(event, values):
    if event == "subprocess.Popen" and values[0] == "/bin/sh":
        raise {raised}
sys.addaudithook(refuse)
"""
    large = {"PYTHONNOTHING": "x" * 100_000}
    done, _ = sitting("search", "retry", **({"before": hook} if raised else {"env": large}))
    assert done == expected


def test_another_session_of_the_user_has_the_same_one(ready, sit):
    """And only two are there at a time, whatever their shells differ in."""
    sitting = sit(ready)
    helper = sitting.warm()
    assert sitting.is_answered(env={"XDG_SESSION_ID": "7"})
    assert sitting.helpers() == [helper]
    for number in "12":
        changed = {"NPY_NUMBER": number}
        sitting("search", "retry", env=changed)
        wait_until(lambda changed=changed: sitting.is_answered(env=changed), "no other answers")
    wait_until(lambda: helper not in sitting.helpers(), "the first is still there")
    wait_until(lambda: len(sitting.helpers()) == 2, "there are more than two")
    assert sum(each.is_socket() for each in sitting.sockets.iterdir()) == 2


def test_none_is_started_in_vain(ready, sit, tmp_path):
    sitting = sit(ready)
    sitting("search", "retry", env={"OMP_NUM_THREADS": "2"})
    assert not sitting.sockets.exists()
    copy = tmp_path / "packages" / "gitrag"
    shutil.copytree(Path(gitrag.__file__).parent, copy)
    (copy / "cli" / "resident_helper.py").write_text(f"open('{tmp_path}/starts', 'a').write('x')\n")
    sitting = sit(ready, PYTHONPATH=str(copy.parent))
    starts = tmp_path / "starts"
    sitting("search", "retry")
    wait_until(starts.exists, "none was started")
    sitting("search", "retry")
    [mark] = sitting.sockets.iterdir()
    os.utime(mark, (0, 0))  # a good while ago
    sitting("search", "retry")
    wait_until(lambda: starts.read_text() == "xx", "it was not started twice")


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("how", ["missing", "another user's"])
def test_no_directory_is_made_but_below_one_of_the_users_own(ready, sit, tmp_path, how):
    runtime, home = tmp_path / "elsewhere", tmp_path / "own"
    home.mkdir()
    if how == "another user's":
        if os.geteuid() != 0:
            pytest.skip("only the superuser can give a directory away")
        runtime.mkdir(mode=0o700)
        os.chown(runtime, 12345, -1)
    sitting = sit(ready, XDG_RUNTIME_DIR=str(runtime), HOME=str(home), XDG_CACHE_HOME=str(tmp_path / "none"))
    sitting("search", "retry")
    wait_until(sitting.is_answered, "none answers")
    assert (home / ".cache" / "gitrag" / "resident").is_dir()
    assert not (tmp_path / "none" / "gitrag" / "resident").exists()
    assert not (list(runtime.iterdir()) if runtime.exists() else [])


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is one processor"
)
def test_one_on_other_processors_does_not_answer(ready, sit):
    sitting = sit(ready)
    sitting.warm()
    one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    assert not sitting.is_answered(before=one)


class Walk(Actor):
    """Does anything to a repository, and asks."""


@pytest.mark.timeout(900)
def test_whatever_happened_it_answers_as_without_it(make_project, kept, tmp_path):
    project = make_project(FILES)
    sitting = kept(project)
    assert project.gitrag("index", "update", "--no-embed").status == 0
    space = tmp_path / "space"
    space.mkdir()
    walk = Walk(project.git, random.Random(7), space)
    sitting.warm()
    asked = ("search", "-o", "json", "--min-score", "0", "-n", "50", "--no-graph", "alpha beta value return")
    by_it = 0
    for _ in range(6):
        tree = walk.chance.choice(walk.trees)
        walk.chance.choices(list(ACTS), list(ACTS.values()))[0](walk, tree)
        place = (tree if tree in walk.trees else walk.repo).path
        still = {"GITRAG_REFINE_S": "0"}
        done, answered = sitting(*asked, place=place, env=still)
        expected = Gitrag(place, {**project.gitrag.environment, **still})(*asked)
        assert (done.status, done.out) == (expected.status, expected.out)
        by_it += answered
    assert by_it > 3
