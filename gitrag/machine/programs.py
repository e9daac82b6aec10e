"""Run a program within limits: on how long it takes, and on how much it prints."""

from __future__ import annotations

import math
import os
import select
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

_BLOCK_BYTES = 1 << 16
_SAID_BYTES = 1 << 20
"""How much of the end of stderr is kept: a line for each of ten thousand files. The rest is read and dropped,
since a full pipe would block the program."""

_SEND_BYTES = getattr(select, "PIPE_BUF", 0)
"""A pipe that is ready takes at least so much without blocking (pipe(7)). On Windows none can be waited for
beside others: each has a thread there."""


class ProgramError(Exception):
    """A program exceeded a limit and was killed; the text says which, as the end of the sentence "It …".

    Attributes:
        out: What it had printed until then.
    """

    def __init__(self, message: str, out: bytes) -> None:
        super().__init__(message)
        self.out = out


class TookTooLongError(ProgramError):
    """A program exceeded its time limit."""


class PrintedTooMuchError(ProgramError):
    """A program exceeded the limit on its output."""


class Limits(NamedTuple):
    """How long a program may take, and how many bytes it may print; None for any number."""

    seconds: float
    most_bytes: int | None = None


def run_program(
    command: Sequence[str | bytes | Path],
    environ: Mapping[str, str],
    limits: Limits,
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    look_after_s: float = 0.0,
    look: Callable[[], None] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[bytes]:
    """Run a program; kill it if it exceeds a limit.

    Args:
        look_after_s: When to call ``look``, if the program has not ended by then.
        look: Called in another thread, meanwhile output is read. If it raises, the program is killed.

    Raises:
        FileNotFoundError: The program is not installed.
        OSError: It cannot be started.
        TookTooLongError: It exceeded the time limit.
        PrintedTooMuchError: It printed more than it may.
        Exception: What ``look`` raised.
    """
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environ,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=pass_fds,
    ) as program:
        try:
            with _watched(program, look_after_s, look):
                follow = _followed if _SEND_BYTES else _followed_by_threads
                return follow(program, stdin, limits)
        except BaseException:
            program.kill()
            raise


def _followed(
    program: subprocess.Popen[bytes], stdin: bytes, limits: Limits
) -> subprocess.CompletedProcess[bytes]:
    """Write to a program and read from it until it has ended."""
    end = time.monotonic() + limits.seconds
    out, said = bytearray(), bytearray()
    unsent = memoryview(stdin)
    pipes: list[tuple[IO[bytes] | None, int, bytearray | None]] = [
        (program.stdin, selectors.EVENT_WRITE, None),
        (program.stdout, selectors.EVENT_READ, out),
        (program.stderr, selectors.EVENT_READ, said),
    ]
    with selectors.DefaultSelector() as ready:
        for pipe, event, kept in pipes:
            if pipe is not None:
                ready.register(pipe, event, kept)
        while ready.get_map():
            found = ready.select(max(0.0, end - time.monotonic()))
            if time.monotonic() >= end:
                raise TookTooLongError(f"took longer than {limits.seconds:g} s", bytes(out))
            for key, _events in found:
                if key.data is None:
                    unsent = unsent[_send(key.fd, unsent) :]
                    over = not unsent
                else:
                    block = os.read(key.fd, _BLOCK_BYTES)
                    over = not block
                    key.data.extend(block)
                if over:
                    ready.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # a pipe, as registered
            del said[:-_SAID_BYTES]
            if limits.most_bytes is not None and len(out) > limits.most_bytes:
                raise PrintedTooMuchError(f"printed more than {limits.most_bytes} bytes", bytes(out))
    try:
        status = program.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise TookTooLongError(f"took longer than {limits.seconds:g} s", bytes(out)) from error
    return subprocess.CompletedProcess(program.args, status, bytes(out), bytes(said))


def _followed_by_threads(
    program: subprocess.Popen[bytes], stdin: bytes, limits: Limits
) -> subprocess.CompletedProcess[bytes]:
    """Do the same with a thread for each pipe."""
    end = time.monotonic() + limits.seconds
    out, said = bytearray(), bytearray()
    most = math.inf if limits.most_bytes is None else limits.most_bytes
    over = threading.Event()
    threads = [
        # A descriptor of its own: the program's are closed where its time is over.
        threading.Thread(target=_drain, args=(os.dup(pipe.fileno()), kept, *bounds, over), daemon=True)
        for pipe, kept, bounds in (
            (_pipe(program.stdout), out, (most, 0)),
            (_pipe(program.stderr), said, (math.inf, _SAID_BYTES)),
        )
    ]
    if program.stdin is not None:
        threads.append(threading.Thread(target=_fill, args=(program.stdin, stdin), daemon=True))
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
            if len(out) > most:
                raise PrintedTooMuchError(f"printed more than {limits.most_bytes} bytes", bytes(out))
        status = program.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise TookTooLongError(f"took longer than {limits.seconds:g} s", bytes(out)) from error
    finally:
        over.set()
    if any(thread.is_alive() for thread in threads):
        raise TookTooLongError(f"took longer than {limits.seconds:g} s", bytes(out))
    return subprocess.CompletedProcess(program.args, status, bytes(out), bytes(said))


def _drain(descriptor: int, kept: bytearray, most: float, last: int, over: threading.Event) -> None:
    """Read what a program prints, all of it up to a limit or its last bytes, until nobody waits for it.

    What the program has started may go on for ever.
    """
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while not over.is_set() and len(kept) <= most and (block := pipe.read(_BLOCK_BYTES)):
            kept.extend(block)
            if last:
                del kept[:-last]


def _fill(pipe: IO[bytes], data: bytes) -> None:
    with suppress(OSError), pipe:  # it reads no more
        pipe.write(data)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("a pipe was asked for")
    return stream


def _send(pipe: int, unsent: memoryview) -> int:
    """Write a part of the input; return how much: all of it if the program reads no more."""
    try:
        return os.write(pipe, unsent[:_SEND_BYTES])
    except BrokenPipeError:
        return len(unsent)


@contextmanager
def _watched(
    program: subprocess.Popen[bytes], after_s: float, look: Callable[[], None] | None
) -> Iterator[None]:
    """Look whether a program is blocked, once it has run for some time; kill it if so."""
    if look is None:
        yield
        return
    found: list[Exception] = []

    def watch() -> None:
        try:
            look()
        except Exception as error:  # noqa: BLE001 - raised below
            found.append(error)
            program.kill()

    timer = threading.Timer(after_s, watch)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if found:
        raise found[0]
