"""Run programs, with limits on their time and output."""

from __future__ import annotations

import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_BLOCK_BYTES = 1 << 16
_SAID_BYTES = 1 << 16
"""How much of stderr is kept; the rest is read and dropped, so that the program does not block."""


class ProgramError(Exception):
    """A program gave no answer; the text says why, as the end of the sentence "It …"."""


@dataclass(frozen=True, slots=True)
class Printed:
    """The result of a program.

    Attributes:
        status: Its exit status.
        out: Its stdout.
        said: Its stderr, shortened.
    """

    status: int
    out: bytes
    said: bytes


def ask(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    limit_s: float,
    most_bytes: int,
    cwd: Path | None = None,
    stdin: bytes = b"",
) -> Printed:
    """Run a program; kill it if it exceeds a limit.

    Args:
        command: The program and its arguments.
        environ: Its environment.
        limit_s: Time limit.
        most_bytes: Most bytes it may print.
        cwd: Its working directory.
        stdin: Its input; must fit into a pipe's buffer.

    Raises:
        FileNotFoundError: The program is not installed.
        OSError: It cannot be started.
        ProgramError: It took too long or printed too much, and was killed.
    """
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        try:
            if program.stdin is not None:
                with suppress(BrokenPipeError):
                    program.stdin.write(stdin)
                    program.stdin.close()
            return _followed(program, time.monotonic() + limit_s, limit_s, most_bytes)
        except BaseException:
            program.kill()
            raise


def _followed(program: subprocess.Popen[bytes], deadline: float, limit_s: float, most_bytes: int) -> Printed:
    out, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as ready:
        for pipe, kept in ((program.stdout, out), (program.stderr, said)):
            if pipe is not None:
                ready.register(pipe, selectors.EVENT_READ, kept)
        while ready.get_map():
            found = ready.select(max(0.0, deadline - time.monotonic()))
            if not found and time.monotonic() >= deadline:
                raise ProgramError(f"took longer than {limit_s:g} s")
            for key, _events in found:
                _take(ready, key, said)
            if len(out) > most_bytes:
                raise ProgramError(f"printed more than {most_bytes} bytes")
    try:
        status = program.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise ProgramError(f"took longer than {limit_s:g} s") from error
    return Printed(status, bytes(out), bytes(said))


def _take(ready: selectors.BaseSelector, key: selectors.SelectorKey, said: bytearray) -> None:
    pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]  # what has been registered
    block = pipe.read1(_BLOCK_BYTES)  # type: ignore[attr-defined]  # a buffered reader's
    if not block:
        ready.unregister(pipe)
    key.data.extend(block)
    if key.data is said:
        del said[:-_SAID_BYTES]
