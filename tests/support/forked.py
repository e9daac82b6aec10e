"""Commands forked from a process that has loaded what they load.

Most of what a command costs in a small repository is starting Python and loading its libraries, and the tests
run a thousand of them. A forked command is a process like any other: it has its own arguments, environment,
directory, streams and exit status, and runs gitrag's own entry point. What it lacks is the start and the end
of the interpreter, so a command whose interpreter is to start in another way than the server's is not forked
(``can_fork``), nor is any in a test that is about the start (``Gitrag.forks``).

Who starts a command himself (an MCP client, a test that holds its streams) starts ``ForkServer.program``: a
process that hands its streams to a forked command, passes signals on, and ends as that does.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import duckdb

import gitrag
from gitrag.actions import catch_up, doctor
from gitrag.chunking.languages import LANGUAGES
from gitrag.chunking.parsing import definition_query
from gitrag.cli import resident_helper
from gitrag.embedding.encoder import keep_open
from gitrag.errors import ModelError
from gitrag.late import late_re
from gitrag.store import engine

_LIBRARIES = "httpx2 tenacity"
_NOT_LOADED = ("gitrag.__main__", "gitrag.mcp_server", "gitrag.web")
"""What few commands load, and servers."""
_LOADED_FOR = {
    "mcp": ("gitrag.mcp_server.server",),
    "hub": ("psycopg",),
    "web": ("gitrag.web.server", "gitrag.machine.serving", "uvicorn", "starlette.applications"),
}
_AT_START = ("PYTHON", "LC_", "LD_", "MALLOC_", "OMP_", "OPENBLAS_")
"""What these begin is read when a program is started, or a library is loaded."""
_ALSO_AT_START = {"LANG", "TZ", "VIRTUAL_ENV"}
_HEAD = struct.Struct("!Q")
_STATUS = struct.Struct("!i")
_PIPE_BYTES = 1 << 16
"""What a pipe holds while nobody reads it."""
_MOST_BYTES = 1 << 28
"""What a command may print: one that never ends would take all of the machine's memory."""
_PROGRAM = """#!{python} -IS
import json, os, signal, socket, struct, sys

streams = [0, 1, 2, *map(int, os.environ.get("GITRAG_START", "").split())]  # which a hook has opened
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = dict(args=[{gitrag!r}, *sys.argv[1:]], place=os.getcwd(), environment=dict(os.environ), umask=-1)
asked["python"] = {own_python!r}
message = json.dumps(asked).encode()
socket.send_fds(server, [struct.pack("!Q", len(message))], streams)
server.sendall(message)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, lambda number, _frame: server.send(bytes([number])))
for stream in streams:
    os.close(stream)
ended = server.recv({size})
status = struct.unpack({format!r}, ended)[0] if ended else 70
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def can_fork(environment: Mapping[str, str], stdin: bytes) -> bool:
    """Tell whether a command with this environment and standard input can be forked."""
    if sys.platform != "linux" or len(stdin) > _PIPE_BYTES:  # elsewhere the libraries do not survive a fork
        return False
    return _at_start(environment) == _at_start(_server_environment())


_PYTHON = """#!/bin/sh
case "$1 $2 $3" in "-P -m gitrag") shift 3; exec '{program}' "$@" ;; esac
exec '{python}' "$@"
"""


class ForkServer:
    """The process that commands are forked from."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._space = tempfile.TemporaryDirectory(prefix="gitrag-fork-")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{self._space.name}/socket")
        listener.listen()
        with theirs, listener:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno()), str(listener.fileno())],
                env=_server_environment(),
                stdin=subprocess.PIPE,  # pipes, as a command's streams will be
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno(), listener.fileno()],
            )
        self._socket = ours
        self._lock = threading.Lock()

    @classmethod
    @functools.cache
    def shared(cls) -> ForkServer:
        """Return the one of this process, which ends with it."""
        server = cls()
        atexit.register(server.close)
        return server

    @functools.cached_property
    def program(self) -> Path:
        """A program that starts quickly and behaves as ``gitrag``; called so, in a directory of its own."""
        path = Path(self._space.name, "gitrag")
        gitrag = Path(sys.executable).with_name("gitrag")
        values = {"python": sys.executable, "gitrag": str(gitrag), "address": f"{self._space.name}/socket"}
        values["own_python"] = f"{self._space.name}/python"
        path.write_text(_PROGRAM.format(**values, size=_STATUS.size, format=_STATUS.format))
        path.chmod(0o755)
        return path

    @functools.cached_property
    def python(self) -> Path:
        """What the background worker of a forked command is started with: it is forked too."""
        path = Path(self._space.name, "python")
        path.write_text(_PYTHON.format(program=self.program, python=sys.executable))
        path.chmod(0o755)
        return path

    def run(
        self,
        args: Sequence[str],
        *,
        place: Path,
        environment: Mapping[str, str],
        stdin: bytes = b"",
        umask: int = -1,
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end.

        Args:
            args: Its arguments, the first of which is the program's path.
            place: The directory that it runs in.
            environment: All of its environment.
            stdin: What it can read.
            umask: Permissions that are taken from what it makes; negative: as this process has it.

        Returns:
            Its status (negative for a signal), and what it and all that it left running wrote to standard
            output and to standard error.
        """
        from tests.support.costs import command_name, counted  # not in the server

        pipes = [os.pipe() for _ in range(3)]
        (read_in, write_in), (read_out, write_out), (read_err, write_err) = pipes
        ours, theirs = socket.socketpair()
        with ours, counted(f"{command_name(args)}, forked"):
            os.write(write_in, stdin)
            os.close(write_in)
            asked = {
                "args": args,
                "place": str(place),
                "environment": dict(environment),
                "umask": umask,
                "python": str(self.python),
            }
            message = json.dumps(asked).encode()
            handed = [read_in, write_out, write_err, theirs.fileno()]
            with self._lock:
                socket.send_fds(self._socket, [_HEAD.pack(len(message))], handed)
                self._socket.sendall(message)
            for descriptor in handed[:-1]:
                os.close(descriptor)
            theirs.close()
            out, err = _read_all(read_out, read_err)
            ended = ours.recv(_STATUS.size)
        assert ended, f"the process that commands are forked from has ended: {self._process.communicate()}"
        return _STATUS.unpack(ended)[0], out, err

    def processor_s(self) -> float:
        """Return what the server and the commands that have ended have used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.communicate()
        self._space.cleanup()


def _read_all(*descriptors: int) -> list[bytes]:
    """Read pipes to their ends, all at once, and close them."""
    read = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, _PIPE_BYTES)
                read[key.fd] += data
                assert len(read[key.fd]) < _MOST_BYTES, read[key.fd][:1000]
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [bytes(data) for data in read.values()]


@functools.cache
def _server_environment() -> dict[str, str]:
    from tests.support.repository import isolated_environment

    return isolated_environment(Path(os.devnull))


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_AT_START) or name in _ALSO_AT_START
    }


# the server


def _serve(control: socket.socket, listener: socket.socket) -> None:
    """Fork a command for each request, and answer with its status once it has ended.

    Requests come over ``control``, with a socket to answer to, and over each connection to ``listener``,
    which is answered itself: what it sends later are signals, and its end is the command's.
    """
    selector = selectors.DefaultSelector()
    children: dict[socket.socket, int] = {}  # process ids, of those that have a connection of their own
    selector.register(control, selectors.EVENT_READ)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        ended_last = sorted(selector.select(), key=lambda event: isinstance(event[0].fileobj, int))
        for key, _ in ended_last:  # which closes sockets
            source = key.fileobj
            if source is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif source is control:
                if _fork(control, selector) is None:
                    return
            elif not isinstance(source, socket.socket):
                _answer(key, selector, children)
            elif source in children:
                os.kill(children[source], _signal_of(source))
            else:
                child = _fork(source, selector, reply=source)
                if child is None:
                    selector.unregister(source)
                    source.close()
                else:
                    children[source] = child


def _signal_of(connection: socket.socket) -> int:
    """Read which signal a program has got; where it is gone, it was killed."""
    with suppress(ConnectionResetError):
        return (connection.recv(1) or bytes([signal.SIGKILL]))[0]
    return signal.SIGKILL


def _answer(
    key: selectors.SelectorKey, selector: selectors.BaseSelector, children: dict[socket.socket, int]
) -> None:
    """Tell how a command has ended."""
    child, reply = key.data
    _, status = os.waitpid(child, 0)
    selector.unregister(key.fd)
    os.close(key.fd)
    if children.pop(reply, None):
        selector.unregister(reply)
    with suppress(BrokenPipeError):  # whoever asked has been killed
        reply.sendall(_STATUS.pack(os.waitstatus_to_exitcode(status)))
    reply.close()


def _keep() -> None:
    """Keep what is loaded out of garbage collections, each of which would copy its pages in a command."""
    gc.collect()
    gc.freeze()


def _fork(
    source: socket.socket, selector: selectors.BaseSelector, reply: socket.socket | None = None
) -> int | None:
    """Fork the command that is asked for next, and return its process id; None if there is none any more."""
    head, handed, _, _ = socket.recv_fds(source, _HEAD.size, 4)
    if not head:
        return None
    message = source.recv(_HEAD.unpack(head)[0], socket.MSG_WAITALL)
    asked = json.loads(message)
    for word in {"mcp", "doctor", "hub", "web"} & set(asked["args"]):
        _load_for(word)
    _keep_model(asked["environment"].get("GITRAG_MODEL_DIR"))
    if reply is None:
        reply = socket.socket(fileno=handed.pop())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads; those of numpy survive a fork
        child = os.fork()
    if not child:
        sockets = [key.fileobj for key in selector.get_map().values()]
        sockets += [reply, *(key.data[1] for key in selector.get_map().values() if key.data)]
        selector.close()
        for descriptor in {each if isinstance(each, int) else each.fileno() for each in sockets}:
            os.close(descriptor)
        _be_command(asked, handed)
    for descriptor in handed:
        os.close(descriptor)
    selector.register(os.pidfd_open(child), selectors.EVENT_READ, (child, reply))
    return child


def _be_command(asked: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """Run gitrag as the installed command does, and exit as the interpreter does."""
    from gitrag.cli import main

    status: object = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        started = asked["environment"].get("GITRAG_START", "").split()[: len(streams) - 3]
        for number, descriptor in zip([0, 1, 2, *map(int, started)], streams, strict=True):
            if number != descriptor:
                os.dup2(descriptor, number)
                os.close(descriptor)
        os.chdir(asked["place"])
        if asked["umask"] >= 0:
            os.umask(asked["umask"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv[:] = asked["args"]
        own = SimpleNamespace(executable=asked["python"], platform=sys.platform)
        catch_up.sys = own  # type: ignore[attr-defined]
        engine.start = functools.partial(_start_kept, [_started()], engine.start)
        main()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else error.code is not None
    except BaseException:  # noqa: BLE001 - printed, as by the interpreter
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            status = 120
        os._exit(int(status))  # type: ignore[call-overload]


def _load() -> None:
    """Load what commands load."""
    ours = (module.name for module in pkgutil.walk_packages(gitrag.__path__, "gitrag."))
    for name in (*_LIBRARIES.split(), *(name for name in ours if not name.startswith(_NOT_LOADED))):
        importlib.import_module(name)
    for language in LANGUAGES:
        if language.name == "python":  # most tests have some
            definition_query(language)
    for each in gc.get_objects():
        if type(each) is late_re:
            _ = each.flags  # compiles it
    resident_helper._load(model_dir=None)
    _started()


@functools.cache
def _started() -> duckdb.DuckDBPyConnection:
    """Start DuckDB for those that are forked; without threads, which do not survive that."""
    return duckdb.connect(":memory:", config={**engine.CONFIG, "async_threads": 0})


def _start_kept(
    kept: list[duckdb.DuckDBPyConnection],
    start: Callable[[Path, Iterable[Path]], duckdb.DuckDBPyConnection],
    directory: Path,
    beside: Iterable[Path] = (),
) -> duckdb.DuckDBPyConnection:
    """Take the DuckDB that is started, with the threads that any has; later ones are started."""
    try:
        db = kept.pop()  # several threads may start one
    except IndexError:
        return start(directory, beside)
    db.execute("RESET async_threads")
    return engine.confined(db, directory, beside)


@functools.cache
def _load_for(command: str) -> None:
    """Load as much as for all the others, for what few tests ask for."""
    if command == "doctor":
        doctor._grammars()
    else:
        for module in _LOADED_FOR[command]:
            importlib.import_module(module)
    _keep()


@functools.cache
def _keep_model(directory: str | None) -> None:
    """Open a model for those that are forked; most tests have the same one."""
    if directory is not None:
        with suppress(ModelError):  # a command says what is wrong with it
            keep_open(Path(directory))
            _keep()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load()
    _serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
