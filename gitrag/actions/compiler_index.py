"""The index that a compiler has made of the repository, as far as it is of the files as they are now."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gitrag.callgraph.facts import Facts
from gitrag.callgraph.scip import CompiledCalls, ScipError, documents_of
from gitrag.chunking import decode
from gitrag.git import BlobError, read_file
from gitrag.indexing.snapshot import Snapshot
from gitrag.machine.files import within

NAME = "index.scip"
"""What indexers call it, at the top of the repository."""

_MOST_BYTES = 128 << 20


def compiled_calls(
    named: Path | None,
    now: Snapshot,
    files: Mapping[str, tuple[str, Facts]],
    blobs: Mapping[str, str],
    check: Callable[[], None],
) -> CompiledCalls | None:
    """Return the calls that a compiler's index has; None if there is no index.

    Args:
        named: The index; None for the one at the top of the repository.
        blobs: Their contents' ids, by path.
    """
    root = now.repo.root
    if root is None or not os.path.lexists(named or root / NAME):
        return None
    place = named or root / NAME
    try:
        documents = documents_of(read_file(place.parent, place.name, _MOST_BYTES))
    except (BlobError, ScipError) as error:
        return CompiledCalls({}, {}, lambda _path: None, note=f"{place.name} is not used: {error}")
    is_newer = _newer(now, root, place)

    def lines_of(path: str) -> Sequence[str] | None:
        if not is_newer(path):
            with suppress(BlobError):
                return decode(now.reader.read(blobs[path]), files[path][0]).split("\n")
        return None

    return CompiledCalls(documents, files, lines_of, check)


def _newer(now: Snapshot, root: Path, place: Path) -> Callable[[str], bool]:
    """Return what tells whether a file has changed since the index was made.

    Of one that is committed as it is, by history, since a checkout gives files any time; else by their times.
    """
    inside = within(root, place)
    commit = b""
    if inside is not None:
        commit = now.repo.git("log", "-1", "--format=%H", "HEAD", "--", f":(literal){inside}").stdout.strip()
    if commit:
        changed = now.repo.git("diff-index", "-z", "--name-only", "--no-renames", os.fsdecode(commit), "--")
        paths = {os.fsdecode(path) for path in changed.stdout.split(b"\0")}
        if changed.returncode == 0 and inside not in paths:
            return lambda path: path in paths or not (root / path).is_file()
    made = place.lstat().st_mtime_ns

    def is_newer(path: str) -> bool:
        try:
            found = (root / path).lstat()
        except OSError:
            return True
        return found.st_mtime_ns > made or not stat.S_ISREG(found.st_mode)

    return is_newer
