"""The entry that ``gitrag init`` adds to .gitignore."""

from __future__ import annotations

import stat
from pathlib import Path

from gitrag.errors import StoreError
from gitrag.machine import files

IGNORED = ".sdd/"
"""Directory of the synced tracker issues: local copies, not to be committed."""


def with_entry(content: bytes | None) -> bytes | None:
    """Return the .gitignore with the entry added, or None when it is there already. Pure.

    Args:
        content: The content of the file, or None when there is none.
    """
    entry = IGNORED.encode()
    if content is None:
        return entry + b"\n"
    if any(line.strip() == entry for line in content.split(b"\n")):
        return None
    separator = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + separator + entry + b"\n"


def ignore_local_files(root: Path) -> str:
    """Put the entry into a worktree's .gitignore; return what was done: created, added, or nothing.

    Raises:
        StoreError: The file cannot be written.
    """
    path = root / ".gitignore"
    if path.is_symlink():  # git ignores a .gitignore that is a symbolic link, and the link may point anywhere
        raise StoreError(f"{path} is a symbolic link.", f"Make it a file and add the line {IGNORED} to it.")
    try:
        content = files.read_regular(path) if path.exists() else None
        changed = with_entry(content)
        if changed is None:
            return ""
        files.replace(path, changed, 0o644 if content is None else stat.S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise StoreError(
            f"Cannot write {path}: {error.strerror}.",
            f"Make it writable, or add the line {IGNORED} yourself.",
        ) from error
    return "created" if content is None else "added"
