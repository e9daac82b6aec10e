"""A pool of processes that share CPU-bound work.

Not ``multiprocessing``: its processes look for modules in the current directory first, which is somebody's
repository, and import the main script again, which a library user would have to guard against. Here a
process is Python with our own entry point and two pipes; a thread of the pool sends it one call at a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeVar

import gitrag
from gitrag.machine.environment import safe_environment

if TYPE_CHECKING:
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")

_BEGIN = "import sys; sys.path.append(sys.argv[1]); from gitrag.machine.processes import serve; serve()"
_LENGTH_BYTES = 8
_ENDING_S = 5.0
"""Time for a process to end after its pipes are closed, before it is killed."""


class ProcessDiedError(Exception):
    """A process of a pool died before it answered.

    Attributes:
        status: Its exit status, negative for a signal; None where it was never started.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Pool:
    """Runs functions in processes.

    A process is started when a call needs it. If one dies, its current call fails, and
    another is started for the next call.

    Args:
        processes: How many calls run at the same time.
    """

    def __init__(self, processes: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="gitrag-pool")
        self._own = threading.local()
        self._lock = threading.Lock()
        self._started: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call a function in one of the processes.

        Args:
            function: A module-level function of gitrag.

        Returns:
            A future. It raises `ProcessDiedError` if the process died.
        """
        return self._threads.submit(self._call, function, args, kwargs)

    def kill(self) -> None:
        """Kill the processes; their calls fail, and others are started for later ones."""
        with self._lock:
            for process in self._started:
                process.kill()

    def close(self) -> None:
        """End the processes, even in the middle of a call."""
        with self._lock:
            self._closed = True
            for process in self._started:
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._started:
            _end(process)

    def _call(self, function: Callable[..., T], args: tuple[object, ...], kwargs: dict[str, object]) -> T:
        try:
            process = self._process()
        except OSError as error:
            raise ProcessDiedError(f"It cannot be started: {error.strerror}.") from error
        try:
            _write(_pipe(process.stdin), (function, args, kwargs))
            succeeded, result = _read(_pipe(process.stdout))
        except (OSError, EOFError) as error:
            self._own.process = None
            with self._lock:
                self._started.discard(process)
            with suppress(subprocess.TimeoutExpired):  # its own exit status says more than that it was killed
                process.wait(_ENDING_S)
            _end(process)
            message = f"It ended with status {process.returncode}."
            raise ProcessDiedError(message, process.returncode) from error
        if not succeeded:
            raise result
        returned: T = result
        return returned

    def _process(self) -> subprocess.Popen[bytes]:
        """Return the calling thread's process, starting it if needed."""
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            with self._lock:
                if self._closed:
                    raise ProcessDiedError("The pool is closed.")
                process = self._own.process = _start()
                self._started.add(process)
        return process


def serve() -> None:
    """Run as a process of a pool: answer calls until the pool closes the pipe, or dies."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):  # what a library prints must not be taken for a reply
        os.dup2(null, standard)
    os.close(null)
    waiting = _following(requests)
    while True:
        function, args, kwargs = waiting()
        try:
            reply = True, function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - raised again in the calling process
            error.add_note(f"In a process of the pool:\n{traceback.format_exc()}")
            reply = False, error
        try:
            _write(replies, reply)
        except OSError:
            return
        except Exception:  # noqa: BLE001 - it cannot be pickled
            _write(replies, (False, RuntimeError(f"No reply can be made of {reply!r:.1000}")))


def _following(requests: IO[bytes]) -> Callable[[], Any]:
    """Read requests in a thread, so that a process whose parent was killed ends at once."""
    from queue import SimpleQueue

    waiting: SimpleQueue[Any] = SimpleQueue()

    def read() -> None:
        with suppress(OSError, EOFError):
            while True:
                waiting.put(_read(requests))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return waiting.get


def _start() -> subprocess.Popen[bytes]:
    environment = safe_environment(os.environ)
    environment["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy loads: there is a process per core
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    root = str(Path(gitrag.__path__[0]).absolute().parent)
    return subprocess.Popen(
        [sys.executable, "-P", *utf8, "-c", _BEGIN, root],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,  # Ctrl-C in a terminal is for whoever started the pool
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # unwritten output is lost with it
            _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - all are pipes
    return pipe


def _write(pipe: IO[bytes], message: object) -> None:
    import pickle

    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH_BYTES))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> Any:
    import pickle

    length = int.from_bytes(_exactly(pipe, _LENGTH_BYTES))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301 - from a process of ours


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
