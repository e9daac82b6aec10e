"""Commands run in this process: at half the price of one that is forked.

A command has its own arguments, environment, directory, umask and standard streams, down to the descriptors,
and runs what the installed command runs. It shares what the process has loaded; the background worker that it
starts is forked (``tests/support/forked.py``). What is killed, interrupted, run beside another or started in
another way is a process (``Gitrag.forks``, ``program``).
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socketserver import BaseServer
from types import SimpleNamespace
from typing import Any

from gitrag import cli
from gitrag.actions import catch_up
from gitrag.embedding import manifest
from gitrag.machine.environment import forget_relative_paths, multiply_in_one_thread
from gitrag.machine.log import close_log
from tests.support.costs import command_name, counted

SERVERS = {"lsp", "mcp", "try", "web"}
"""What sets how signals are taken, or goes on until it is ended."""

_STREAMS = (("stdin", "r", "surrogateescape"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace"))


def _log_error(_server: BaseServer, _request: Any, _client: Any) -> None:
    """Log an error in a server of the test's, as where a client hangs up: standard error is the command's."""
    logging.getLogger("tests").warning("in a server", exc_info=sys.exception())


BaseServer.handle_error = _log_error  # type: ignore[method-assign]

_hash = functools.cache(lambda path, _stat, compute=manifest.sha256: compute(path))


def _hash_once(path: Path) -> str:
    """Hash a file of the model once, as long as it is the same: every status reads all 23 MB."""
    stat = path.stat()
    return _hash(path, (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))


manifest.sha256 = _hash_once


def can_run(args: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a command can run here; a resident helper answers processes only."""
    if threading.current_thread() is not threading.main_thread() or not SERVERS.isdisjoint(args):
        return False
    return environment.get("GITRAG_RESIDENT") == "off" and "_GITRAG_COMPLETE" not in environment


def run(
    args: Sequence[str],
    *,
    place: Path,
    environment: Mapping[str, str],
    python: Path,
    stdin: bytes = b"",
    umask: int = -1,
) -> tuple[int, bytes, bytes]:
    """Run a command to its end.

    Args:
        args, place, environment, stdin, umask: As of `ForkServer.run`.
        python: What a background worker is started with.

    Returns:
        Its status, and what it wrote to standard output and to standard error.
    """
    with ExitStack() as stack:
        stack.enter_context(counted(f"{command_name(args)}, here"))
        streams = [stack.enter_context(_stream(number)) for number in range(3)]
        os.pwrite(streams[0], stdin, 0)
        stack.enter_context(_as_a_process(list(args), place, environment, python, umask))
        status = cli.run_here()
        close_log()
        sys.stdout.flush()
        sys.stderr.flush()
        return status, *(os.pread(each, os.fstat(each).st_size, 0) for each in streams[1:])


@contextmanager
def _stream(number: int) -> Iterator[int]:
    """Have a file in memory in the place of a standard stream; give another descriptor of it."""
    kept, made = os.dup(number), os.memfd_create("stream")
    name, mode, errors = _STREAMS[number]
    before = getattr(sys, name)
    os.dup2(made, number)
    try:
        with open(number, mode, encoding="utf-8", errors=errors, closefd=False) as stream:
            setattr(sys, name, stream)
            yield made
    finally:
        setattr(sys, name, before)
        os.dup2(kept, number)
        os.close(kept)
        os.close(made)


@contextmanager
def _as_a_process(
    args: list[str], place: Path, environment: Mapping[str, str], python: Path, umask: int
) -> Iterator[None]:
    before = os.open(".", os.O_PATH), sys.argv, catch_up.sys  # type: ignore[attr-defined]
    masked = os.umask(umask) if umask >= 0 else -1
    try:
        os.chdir(place)
        sys.argv = args
        catch_up.sys = SimpleNamespace(executable=str(python), platform=sys.platform)  # type: ignore[attr-defined]
        with of_the_process(environment):
            forget_relative_paths()
            multiply_in_one_thread()
            yield
    finally:
        directory, sys.argv, catch_up.sys = before  # type: ignore[attr-defined]
        os.fchdir(directory)
        os.close(directory)
        if masked >= 0:
            os.umask(masked)


@contextmanager
def of_the_process(environment: Mapping[str, str]) -> Iterator[None]:
    """Make an environment that of this process."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
