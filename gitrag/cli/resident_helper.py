"""The resident helper: has the libraries loaded, and forks a process for each command.

It opens no index and asks git nothing: what it forks does, for each command anew. So it holds no lock on an
index, and nothing of it could become stale but the libraries; when a file of those changes, it ends.
See `gitrag.cli.resident` for the other side.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from gitrag.cli import resident
from gitrag.machine.environment import forget_relative_paths, multiply_in_one_thread

IDLE_S = 300.0
"""How long it waits for the next command before it ends."""

_LOOK_S = 10.0
"""How often it looks whether its socket is still there."""

_BACKLOG = 64
_ENDING_S = 5.0
"""How long a command has to end itself after its caller has gone."""

_LIBRARIES = (
    "duckdb numpy numpy.ma pygit2 re2 tokenizers tree_sitter yaml msgspec portalocker platformdirs resource"
)
_BUG = 70

_ROOMS = """
cli.boundary cli.graph cli.search
actions.catch_up actions.current_view actions.first_index actions.graph actions.hit_lines actions.references
actions.search actions.status
callgraph.answering callgraph.drawing callgraph.loading callgraph.resolution
embedding.draft embedding.encoder indexing.refresh indexing.embed_texts
report report.call_tree report.reference_lines
search.engine search.meant_variant search.report_evidence search.rewording search.sections search.variants
machine.prerequisites search.language_filter store.connection workspace
"""
"""Modules that a command loads, and which load the others."""


def serve(place: str, identity: bytes, model_dir: Path | None, idle_s: float = IDLE_S) -> None:
    """Fork a process for each command that is asked for, until none was for a while.

    Args:
        place: The directory of the sockets.
        identity: What its clients have in common with it.
        model_dir: Where the model lies; None to leave it to the commands.
        idle_s: How long to wait for a command.
    """
    from gitrag.machine.files import open_private
    from gitrag.machine.locks import CannotLockError, try_lock

    directory = resident.open_directory(place)
    if directory is None:
        return
    own = Path(f"/proc/self/fd/{directory}") / resident.socket_name(identity)  # short, whatever the place is
    with open_private(own.with_suffix(".lock"), "a+") as alone, suppress(CannotLockError):
        if try_lock(alone):  # else another one is there, or is about to be
            begin = time.time_ns()
            _load(model_dir)
            if any(state is not None and state[2] >= begin for state in _sources().values()):
                return  # gitrag is being installed: some of what is loaded may be older than the rest
            _listen(own, identity, idle_s, [directory, alone.fileno()])


def _load(model_dir: Path | None) -> None:
    """Load what commands need, and keep it out of garbage collections, which would copy its pages."""
    from gitrag.embedding.draft import drafter
    from gitrag.embedding.encoder import keep_open
    from gitrag.errors import ModelError

    for name in (*_LIBRARIES.split(), *(f"gitrag.{room}" for room in _ROOMS.split())):
        import_module(name)
    drafter()
    if model_dir is not None:
        with suppress(ModelError):  # a command says what is wrong with it
            keep_open(model_dir)
    gc.collect()
    gc.freeze()


def _listen(own: Path, identity: bytes, idle_s: float, descriptors: list[int]) -> None:
    """Answer at a socket until it is gone, the sources change, or nobody has asked for a while.

    Args:
        own: The socket's path.
        identity: What clients must have in common with this process.
        idle_s: How long to wait for a command.
        descriptors: Open files that no command may inherit.
    """
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        return  # a thread of a library's: what is forked would lack it
    sources = _sources()
    own.unlink(missing_ok=True)  # left by one that was killed
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        umask = os.umask(0o177)
        listening.bind(str(own))
        os.umask(umask)
        made = own.lstat()
        listening.listen(_BACKLOG)
        listening.settimeout(min(_LOOK_S, idle_s))
        last = time.monotonic()
        while time.monotonic() - last < idle_s and _is_same(own, made):
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            last = time.monotonic()
            with connection:
                if _sources() != sources:
                    break
                if resident.is_ours(connection) and not os.fork():
                    for descriptor in (*descriptors, listening.fileno()):
                        os.close(descriptor)
                    _be_command(connection, identity)
        if _is_same(own, made):
            own.unlink()


def _is_same(own: Path, made: os.stat_result) -> bool:
    try:
        found = own.lstat()
    except OSError:
        return False
    return (found.st_ino, found.st_dev) == (made.st_ino, made.st_dev)


def _sources() -> dict[str, tuple[int, int, int] | None]:
    """Return the state of every file that gitrag was loaded from, and of the directories of packages."""
    files = [getattr(module, "__file__", None) for name, module in sys.modules.items() if _is_own(name)]
    found: dict[str, tuple[int, int, int] | None] = {}
    packages = [each for each in sys.path if each.endswith("-packages")]
    for path in (*filter(None, files), *packages):
        try:
            state = os.stat(path)  # noqa: PTH116 - a hundred of them, in 0.3 ms
        except OSError:
            found[path] = None
        else:
            found[path] = state.st_mtime_ns, state.st_ino, state.st_ctime_ns
    return found


def _is_own(name: str) -> bool:
    return name.partition(".")[0] == "gitrag"


def _be_command(connection: socket.socket, identity: bytes) -> NoReturn:
    """Run the command that is asked for as the installed one does, and exit as the interpreter does."""
    status = _BUG
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        connection.settimeout(None)
        connection.sendall(resident.ACCEPTED)
        if not _take_over(connection, identity):
            os._exit(0)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        status = _run()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except resident.DeclinedError:
        connection.sendall(resident.DECLINED)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - printed, as by the interpreter
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        with suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as at the interpreter's end
            atexit._run_exitfuncs()  # noqa: SLF001
            sys.stdout.flush()
            sys.stderr.flush()
        with suppress(OSError):
            connection.sendall(resident.ENDED + status.to_bytes(resident.STATUS_BYTES, "big", signed=True))
        os._exit(status & 0xFF)


def _run() -> int:
    from gitrag.cli.boundary import run

    resident.State.serving = True
    return run(sys.argv[1:], os.environ)


def _take_over(connection: socket.socket, identity: bytes) -> bool:
    """Become the process that a client asks for; False if it has gone, or is none of this helper's."""
    import marshal

    head, handed, _, _ = socket.recv_fds(connection, 8, 4)
    if len(head) != 8 or len(handed) != 4:
        return False
    with connection.makefile("rb") as reading:
        body = reading.read(int.from_bytes(head, "big"))
    try:
        wanted, args, environment, encodings, umask = marshal.loads(body)  # noqa: S302 - of this user's
    except (EOFError, ValueError, TypeError):
        return False
    if wanted != identity:
        connection.sendall(resident.DECLINED)
        return False
    *streams, place = handed
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.fchdir(place)
    os.close(place)
    os.umask(umask)
    os.environb.clear()
    os.environb.update(environment)
    tempfile.tempdir = None  # where TMPDIR says
    time.tzset()
    sys.argv[:] = args

    told = False

    def tell() -> None:
        nonlocal told
        if not told:
            told = True
            connection.sendall(resident.PRINTED)

    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encodings[0])
    sys.stdout = _stream(1, encodings[1], tell)
    sys.stderr = _stream(2, encodings[2], tell)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return True


class _Telling(io.FileIO):
    """A file that calls a function before anything is written to it."""

    def __init__(self, descriptor: int, tell: Callable[[], None]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._tell = tell

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        self._tell()
        return super().write(data)


def _stream(descriptor: int, encoding: str, tell: Callable[[], None]) -> io.TextIOWrapper:
    raw = _Telling(descriptor, tell)
    is_line_buffered = descriptor == 2 or raw.isatty()
    errors = "backslashreplace" if descriptor == 2 else "strict"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors=errors, line_buffering=is_line_buffered)


def _end_with(connection: socket.socket) -> None:
    """Interrupt this process when its caller has gone, and end it if that does not."""
    with suppress(OSError):
        while connection.recv(1):
            pass
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):  # the terminal is somebody else's now
        os.dup2(null, descriptor)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_ENDING_S)
    os._exit(_BUG)


if __name__ == "__main__":
    forget_relative_paths()
    multiply_in_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # commands that have ended leave nothing behind
    _place, _hex, _model, *_idle = sys.argv[1:]
    serve(_place, bytes.fromhex(_hex), Path(_model) if _model else None, *map(float, _idle))
