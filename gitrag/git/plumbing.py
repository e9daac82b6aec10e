"""Objects read by git itself: those of repositories whose ids are not SHA-1, which libgit2 cannot read.

One `git cat-file` waits for the next question: an answer takes a twentieth of what starting a process does.
"""

from __future__ import annotations

import hashlib
import os
import select
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gitrag.git.environment import TIMEOUT_S, message_of, not_run, run_git, time_limit_s

_CONTENT, _HEADER = "--batch", "--batch-check"
_HEX = frozenset(b"0123456789abcdef")
_PIPE_BYTES = 1 << 16
_PAUSE_MS = 100
"""Between two parts of a content; then git is to end, which costs less than to wait for what never comes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a tree, named as pygit2 names them; one that is a tree can be iterated like it."""

    raw_name: bytes
    id: str
    filemode: int
    _objects: GitObjects = field(repr=False, compare=False)

    def __iter__(self) -> Iterator[Entry]:
        return self._objects.tree(self.id)


class GitObjects:
    """The objects of a repository, as `gitrag.git.libgit2.Libgit2Objects` has them. Threads may share it.

    Args:
        object_format: What ids are: the name of a digest.
        unconfigured: Provides an environment for git, which has the objects and no configuration: neither can
            that run anything, nor does git before 2.44 end at the first object that a partial clone lacks.
    """

    errors = (LookupError, ValueError, OSError)

    def __init__(
        self,
        common_dir: Path,
        object_format: str,
        unconfigured: Callable[[], AbstractContextManager[Mapping[str, str]]],
    ) -> None:
        self._common_dir = common_dir
        self._format = object_format
        self._id_bytes = hashlib.new(object_format).digest_size
        self._unconfigured = unconfigured
        self._limit_s = TIMEOUT_S
        self._lock = threading.Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        weakref.finalize(self, _end_all, self._running)

    def __contains__(self, oid: str) -> bool:
        try:
            self.size(oid)
        except self.errors:
            return False
        return True

    def size(self, oid: str) -> int:
        """Return an object's size, reading only its header."""
        return self._asked(_HEADER, oid)[1]

    def read(self, oid: str) -> bytes:
        """Return an object's content."""
        return self._asked(_CONTENT, oid)[2]

    def tree(self, oid: str) -> Iterator[Entry]:
        kind, _, data = self._asked(_CONTENT, oid)
        if kind != b"tree":
            raise ValueError(f"{oid} is no tree")
        place = 0
        while place < len(data):
            end = data.index(b"\0", place)
            mode, _, name = data[place:end].partition(b" ")
            place = end + 1 + self._id_bytes
            yield Entry(name, data[end + 1 : place].hex(), int(mode, 8), self)

    def leaves(self, tree: str) -> Iterator[tuple[bytes, str, int]]:
        """Yield path, id and mode of all that is in a tree but trees, in git's order."""
        with self._unconfigured() as environment:
            listed = ("ls-tree", "-r", "-z", "--full-tree", tree)
            done = run_git(listed, cwd=self._common_dir, environment=environment)
        if done.returncode:
            raise ValueError(message_of(done))
        for record in done.stdout.split(b"\0")[:-1]:
            facts, _, path = record.partition(b"\t")
            mode, _, oid = facts.split(b" ")
            yield path, oid.decode("ascii"), int(mode, 8)

    def _asked(self, what: str, oid: str) -> tuple[bytes, int, bytes]:
        """Return an object's type and size, and its content where that is asked for."""
        name = oid.encode("ascii", "replace")
        if len(name) != 2 * self._id_bytes or not _HEX.issuperset(name):  # git takes others for revisions
            raise LookupError(f"{oid!r} is no id of an object")
        with self._lock:
            found = self._running.get(what)
            if found is not None and found.poll() is not None:
                _end(self._running.pop(what))
                found = None
            found = found or self._started(what)
            answer = self._answer(what, found, name)
            if found.stdin is None or found.stdin.closed:
                _end(self._running.pop(what))
        if answer is None:
            raise LookupError(f"git has no object {oid}")
        return answer

    def _started(self, what: str) -> subprocess.Popen[bytes]:
        with self._unconfigured() as environment:
            try:
                started = subprocess.Popen(
                    ["git", "cat-file", what],
                    cwd=self._common_dir,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise not_run(error, self._common_dir) from error
            self._running[what] = started
            self._limit_s = time_limit_s(environment)
            self._answer(what, started, b"0" * 2 * self._id_bytes)  # then it has read its configuration
        return started

    def _answer(
        self, what: str, process: subprocess.Popen[bytes], name: bytes
    ) -> tuple[bytes, int, bytes] | None:
        """Return what git answers; None if it has no such object.

        Raises:
            ValueError: It has ended, or did not answer in time: an object may be a named pipe.
        """
        try:
            return _answer(process, name, self._limit_s, self._format if what == _CONTENT else None)
        except BaseException:  # what comes next from it would be taken for another answer
            _end(self._running.pop(what))
            raise


def _answer(
    process: subprocess.Popen[bytes], name: bytes, limit_s: float, content_format: str | None
) -> tuple[bytes, int, bytes] | None:
    if process.stdin is None or process.stdout is None:  # both are pipes
        raise ValueError
    process.stdin.write(name + b"\n")
    process.stdin.flush()
    answers = select.poll()
    answers.register(process.stdout, select.POLLIN)
    data = bytearray()
    while (end := data.find(b"\n")) < 0:
        data += _part(answers, limit_s)
    header = data[:end].split()
    if header == [name, b"missing"]:
        return None
    if len(header) != len(("name", "type", "size")) or header[0] != name:
        raise ValueError(f"git cannot read {name.decode()}")
    kind, size = bytes(header[1]), int(header[2])
    if content_format is None:
        return kind, size, b""
    del data[: end + 1]
    while len(data) <= size:  # a line end follows
        if not answers.poll(_PAUSE_MS):
            process.stdin.close()  # it ends after this answer, even if there is less than the header says
        data += _part(answers, limit_s)
    content = bytes(data[:size])
    digest = hashlib.new(content_format, b"%b %d\0" % (kind, size), usedforsecurity=False)
    digest.update(content)
    if data[size:] != b"\n" or digest.hexdigest().encode() != name:  # git does not look, as libgit2 does
        raise ValueError(f"{name.decode()} is damaged")
    return kind, size, content


def _part(answers: select.poll, limit_s: float) -> bytes:
    ready = answers.poll(limit_s * 1000)
    if not ready:
        raise ValueError(f"git has not answered for {limit_s:g} s")
    part = os.read(ready[0][0], _PIPE_BYTES)
    if not part:
        raise ValueError("git has ended without an answer")
    return part


def _end_all(running: dict[str, subprocess.Popen[bytes]]) -> None:
    while running:
        _end(running.popitem()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(OSError), process:  # closes the pipes, and waits
        pass
