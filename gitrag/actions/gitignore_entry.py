"""The entry that ``gitrag init`` adds to .gitignore."""

from __future__ import annotations

import stat
from pathlib import Path

from gitrag.errors import StoreError
from gitrag.git import Repository
from gitrag.machine import files

IGNORED = ".sdd/"
"""Directory of the synced tracker issues: local copies, not to be committed."""

_ENTRY = IGNORED.encode()


def is_ignored(repo: Repository) -> bool:
    """Return whether git ignores the copies, so that they cannot be committed by accident."""
    return repo.git("check-ignore", "--quiet", "--no-index", f"{IGNORED}issues/1.md").returncode == 0


def with_entry(content: bytes | None, *, ignored: bool) -> bytes | None:
    """Return the .gitignore with the entry added, or None when it is there and git ignores the copies. Pure.

    Args:
        ignored: What git says: a line that looks like the entry may be none, and another may take it back.
    """
    if content is None:
        return _ENTRY + b"\n"
    if ignored and _ENTRY in _lines(content):
        return None
    separator = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + separator + _ENTRY + b"\n"


def without_entry(content: bytes) -> bytes | None:
    """Return the .gitignore without its last entry; None if nothing else is in it. Pure."""
    lines = content.split(b"\n")
    last = max(
        (at for at, line in enumerate(lines) if line.removesuffix(b"\r") == _ENTRY), default=len(lines)
    )
    return b"\n".join(lines[:last] + lines[last + 1 :]) or None


def ignore_local_files(repo: Repository, root: Path) -> str:
    """Put the entry into a worktree's .gitignore; return what was done: created, added, or nothing.

    Raises:
        StoreError: The file cannot be written, or git does not heed it.
    """
    path = root / ".gitignore"
    if path.is_symlink():  # git ignores a .gitignore that is a symbolic link, and the link may point anywhere
        raise StoreError(f"{path} is a symbolic link.", f"Make it a file and add the line {IGNORED} to it.")
    try:
        content = files.read_regular(path) if path.exists() else None
        changed = with_entry(content, ignored=is_ignored(repo))
        if changed is None:
            return ""
        if not _is_last(content):
            mode = 0o644 if content is None else stat.S_IMODE(path.stat().st_mode)
            files.replace(path, changed, mode)
    except OSError as error:
        raise StoreError(
            f"Cannot write {path}: {error.strerror}.",
            f"Make it writable, or add the line {IGNORED} yourself.",
        ) from error
    if not is_ignored(repo):
        raise StoreError(
            f"git does not ignore {IGNORED}, though {path} ends with it.",
            f"Is {IGNORED} a link? Does something follow from: git check-ignore -v {IGNORED}issues/1.md",
        )
    return "created" if content is None else "added"


def _is_last(content: bytes | None) -> bool:
    """Return whether the entry is the last line: then it would not help to add it."""
    return content is not None and _lines(content.removesuffix(b"\n"))[-1] == _ENTRY


def _lines(content: bytes) -> list[bytes]:
    """Return the lines as git reads them: without a mark of UTF-8, CR, and spaces at their ends."""
    plain = content.removeprefix(b"\xef\xbb\xbf")
    return [line.removesuffix(b"\r").rstrip(b" ") for line in plain.split(b"\n")]
