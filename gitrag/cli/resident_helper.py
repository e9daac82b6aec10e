"""The resident helper: has the libraries loaded, and forks a process for each command.

It opens no index and asks git nothing: what it forks does, for each command anew. So it holds no lock on an
index, and nothing of it could become stale but the libraries; when a file of those changes, it ends.
See `gitrag.cli.resident` for the other side.
"""

from __future__ import annotations

import atexit
import gc
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from gitrag.cli import resident, run_here
from gitrag.cli.exit_codes import INTERRUPTED
from gitrag.machine.environment import forget_relative_paths, multiply_in_one_thread

IDLE_S = 300.0
"""How long it waits for the next command before it ends."""

_LOOK_S = 10.0
"""How often it looks whether its socket is still there."""

_BACKLOG = 64
_ENDING_S = 5.0
"""How long a command has to end itself after its caller has gone, or has been interrupted."""

_LIBRARIES = "duckdb numpy numpy.ma pygit2 re2 tokenizers tree_sitter yaml msgspec platformdirs resource"
_BUG = 70

_ROOMS = """
cli.boundary cli.graph cli.search cli.several
actions.catch_up actions.current_view actions.graph actions.graph_answer
actions.hit_lines actions.prime actions.references actions.search actions.status
actions.repositories.ask actions.repositories.calls actions.repositories.chosen actions.repositories.elsewhere
memory.registry
callgraph.answering callgraph.drawing callgraph.loading callgraph.published callgraph.resolution
embedding.draft embedding.encoder git.libgit2 indexing.refresh indexing.embed_texts
report report.call_tree report.beside_calls report.prime
search.engine search.report_evidence search.rewording search.sections search.variants
machine.prerequisites store.connection workspace
"""
"""Modules that a command loads, and which load the others."""


def serve(place: str, model_dir: Path | None, idle_s: float = IDLE_S) -> None:
    """Fork a process for each command that is asked for, until none was for a while.

    Args:
        model_dir: Where the model lies; None to leave it to the commands.
    """
    identity = resident.identity()
    directory = resident.open_directory(place)
    if identity is None or directory is None:
        return
    begin = time.time_ns()
    _load(model_dir)
    if any(state is not None and state[2] >= begin for state in _sources().values()):
        return  # gitrag is being installed: some of what is loaded may be older than the rest
    own = Path(f"/proc/self/fd/{directory}") / resident.socket_name(identity)  # short, whatever the place is
    _listen(own, identity, idle_s)


def _load(model_dir: Path | None) -> None:
    """Load what commands need, and keep it out of garbage collections, which would copy its pages."""
    from gitrag.embedding.draft import drafter
    from gitrag.embedding.encoder import keep_open
    from gitrag.errors import ModelError
    from gitrag.search import everyday

    for name in (*_LIBRARIES.split(), *(f"gitrag.{room}" for room in _ROOMS.split())):
        import_module(name)
    drafter().draft(["The first multiplication makes room for all."])
    everyday.rows()
    if model_dir is not None:
        with suppress(ModelError):  # a command says what is wrong with it
            keep_open(model_dir)
    gc.collect()
    gc.freeze()


def _listen(own: Path, identity: bytes, idle_s: float) -> None:
    """Answer at a socket until it is gone, the sources change, or nobody was answered for a while.

    Args:
        own: The socket's path. Its time is that of the last answer.
        identity: What clients must have in common with this process.
        idle_s: How long to wait for a command.
    """
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        return  # a thread of a library's: what is forked would lack it
    sources = _sources()
    new = own.with_suffix(".new")  # clients are to find it once it listens
    new.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        umask = os.umask(0o177)
        listening.bind(str(new))
        os.umask(umask)
        listening.listen(_BACKLOG)
        made = new.lstat()
        new.replace(own)
        listening.settimeout(min(_LOOK_S, idle_s))
        _tidy(own)
        while (found := _state(own, made)) and time.time() - found.st_mtime < idle_s:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection:
                if _sources() != sources:
                    break
                if resident.is_ours(connection) and not os.fork():
                    listening.close()
                    _be_command(connection, identity, own)
        if _state(own, made):
            own.unlink()


def _state(own: Path, made: os.stat_result) -> os.stat_result | None:
    """Return the state of a socket; None if it is no more the one that was made."""
    try:
        found = own.lstat()
    except OSError:
        return None
    return found if os.path.samestat(found, made) else None


def _tidy(own: Path) -> None:
    """Remove the mark that this helper is started, and all but the last used of the others' sockets.

    Two shells may differ in what a helper has one value of. Whoever lacks his socket ends.
    """
    with suppress(OSError):
        own.with_name(resident.mark_name(own.name)).unlink(missing_ok=True)
        others = [each for each in own.parent.iterdir() if each.name != own.name]
        for each in sorted(others, key=lambda each: (each.is_socket(), each.lstat().st_mtime))[:-1]:
            each.unlink(missing_ok=True)


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
    return name == "__main__" or name.partition(".")[0] == "gitrag"


def _be_command(connection: socket.socket, identity: bytes, own: Path) -> NoReturn:
    """Run the command that is asked for as the installed one does, and exit as the interpreter does."""
    status = _BUG
    try:
        for ignored in (signal.SIGCHLD, signal.SIGQUIT):  # the latter by the shell that started the helper
            signal.signal(ignored, signal.SIG_DFL)
        connection.sendall(resident.ACCEPTED)
        _take_over(connection, identity)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        resident.State.serving = True
        status = run_here()
    except KeyboardInterrupt:  # just before
        status = INTERRUPTED
    except resident.DeclinedError:
        with suppress(OSError):
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
        with suppress(OSError):  # the helper may have ended
            os.utime(own)
        with suppress(OSError):
            connection.sendall(status.to_bytes(resident.STATUS_BYTES, "big", signed=True))
        os._exit(status & 0xFF)


def _take_over(connection: socket.socket, identity: bytes) -> None:
    """Become the process that a client asks for.

    Raises:
        DeclinedError: The client has gone, or is none of this helper's.
    """
    import marshal

    head, handed, _, _ = socket.recv_fds(connection, 8, 4)
    if len(head) != 8 or len(handed) != 4:
        raise resident.DeclinedError
    with connection.makefile("rb") as reading:
        body = reading.read(int.from_bytes(head, "big"))
    try:
        wanted, args, environment, encodings, umask = marshal.loads(body)  # noqa: S302 - of this user's
    except (EOFError, ValueError, TypeError) as error:
        raise resident.DeclinedError from error
    if wanted != identity:
        raise resident.DeclinedError
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
    into, out, err = encodings
    sys.stdin = os.fdopen(0, encoding=into, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=out, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, err, "backslashreplace", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _end_with(connection: socket.socket) -> None:
    """Interrupt this process when its caller has gone or was interrupted, and end it if that does not."""
    with suppress(OSError):
        connection.recv(1)  # it says nothing more
    gone = select.poll()
    gone.register(connection, 0)  # which leaves POLLHUP: one who was interrupted still listens
    if is_alone := bool(gone.poll(0)):
        _forget_terminal()
    os.kill(os.getpid(), signal.SIGINT)
    if not is_alone and gone.poll(1000 * _ENDING_S):
        _forget_terminal()
    time.sleep(_ENDING_S)
    os._exit(_BUG)


def _forget_terminal() -> None:
    """Write no more to where the caller did: it may be somebody else's now."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)


if __name__ == "__main__":
    forget_relative_paths()
    multiply_in_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # commands that have ended leave nothing behind
    _place, _model, *_idle = sys.argv[1:]
    serve(_place, Path(_model) if _model else None, *map(float, _idle))
