"""Commands forked from a process that has loaded what they load.

Most of what a command costs in a small repository is starting Python and loading its libraries, and the tests
run a thousand of them. A forked command is a process like any other: it has its own arguments, environment,
directory, streams and exit status, and runs gitrag's own entry point. What it lacks is the start and the end
of the interpreter, so a command whose interpreter is to start in another way than the server's is not forked
(``can_fork``), nor is any in a test that is about the start (``Gitrag.forks``).
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

_COMMANDS = "boundary check config core doctor explore gc graph index init issues prime related search status"
_LIBRARIES = "duckdb httpx2 numpy pygit2 tenacity tokenizers tree_sitter yaml"
_ACTIONS = "governance.check graph issues search"
_SERVER = "gitrag.mcp_server.server"  # as much as all the others, and asked for by few tests
_AT_START = ("PYTHON", "LC_", "LD_", "MALLOC_", "OMP_", "OPENBLAS_")
"""What these begin is read when a program is started, or a library is loaded."""
_ALSO_AT_START = {"LANG", "TZ", "VIRTUAL_ENV"}
_HEAD = struct.Struct("!Q")
_STATUS = struct.Struct("!id")
"""A command's exit status, and its processor seconds."""
_PIPE_BYTES = 1 << 16
"""What a pipe holds while nobody reads it."""


def can_fork(environment: Mapping[str, str], stdin: bytes) -> bool:
    """Tell whether a command with this environment and standard input can be forked."""
    if sys.platform != "linux" or len(stdin) > _PIPE_BYTES:  # elsewhere the libraries do not survive a fork
        return False
    return _at_start(environment) == _at_start(_server_environment())


class ForkServer:
    """The process that commands are forked from."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                env=_server_environment(),
                stdin=subprocess.PIPE,  # pipes, as a command's streams will be
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
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
        from tests.support.costs import command_name, note  # not in the server

        start = time.perf_counter()
        pipes = [os.pipe() for _ in range(3)]
        (read_in, write_in), (read_out, write_out), (read_err, write_err) = pipes
        ours, theirs = socket.socketpair()
        with ours:
            os.write(write_in, stdin)
            os.close(write_in)
            asked = {
                "args": args,
                "place": str(place),
                "environment": dict(environment),
                "umask": umask,
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
        status, processor_s = _STATUS.unpack(ended)
        note(f"{command_name(args)}, forked", time.perf_counter() - start, processor_s)
        return status, out, err

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.communicate()


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


def _serve(control: socket.socket) -> None:
    """Fork a command for each request, and answer with its status once it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for names, prefix in ((_COMMANDS, "gitrag.cli."), (_LIBRARIES, ""), (_ACTIONS, "gitrag.actions.")):
        for name in names.split():
            importlib.import_module(prefix + name)
    _keep()
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is control:
                if not _fork(control, selector):
                    return
            else:
                child, reply = key.data
                _, status, used = os.wait4(child, 0)
                ended = _STATUS.pack(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
                selector.unregister(key.fd)
                os.close(key.fd)
                reply.sendall(ended)
                reply.close()


def _keep() -> None:
    """Keep what is loaded out of garbage collections, each of which would copy its pages in a command."""
    gc.collect()
    gc.freeze()


def _fork(control: socket.socket, selector: selectors.BaseSelector) -> bool:
    """Fork the command that is asked for next; False if there is none any more."""
    head, handed, _, _ = socket.recv_fds(control, _HEAD.size, 4)
    if not head:
        return False
    with control.makefile("rb", buffering=0) as reading:
        message = bytearray()
        while len(message) < _HEAD.unpack(head)[0]:
            message += reading.read(_HEAD.unpack(head)[0] - len(message))
    asked = json.loads(message)
    if "mcp" in asked["args"] and _SERVER not in sys.modules:
        importlib.import_module(_SERVER)
        _keep()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads; those of numpy survive a fork
        child = os.fork()
    if not child:
        others = [key.fd for key in selector.get_map().values()]
        others += [key.data[1].fileno() for key in selector.get_map().values() if key.data]
        selector.close()
        for descriptor in (*others, handed.pop()):
            os.close(descriptor)
        _be_command(asked, handed)
    reply = socket.socket(fileno=handed.pop())
    for descriptor in handed:
        os.close(descriptor)
    selector.register(os.pidfd_open(child), selectors.EVENT_READ, (child, reply))
    return True


def _be_command(asked: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """Run gitrag as the installed command does, and exit as the interpreter does."""
    from gitrag.cli import main

    status: object = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(asked["place"])
        if asked["umask"] >= 0:
            os.umask(asked["umask"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv[:] = asked["args"]
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


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
