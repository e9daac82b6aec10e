"""What ``gitrag init`` does to a repository besides indexing it: the entry in .gitignore."""

from __future__ import annotations

import stat
from pathlib import Path

from gitrag.errors import StoreError
from gitrag.machine import files

IGNORED = ".sdd/"
"""Where synced tracker issues lie: local copies, not to be committed."""


def with_entry(content: bytes | None) -> bytes | None:
    """Give a .gitignore with the entry, or None when it has it already. Pure.

    Args:
        content: What the file holds, or None when there is none.
    """
    entry = IGNORED.encode()
    if content is None:
        return entry + b"\n"
    if any(line.strip() == entry for line in content.split(b"\n")):
        return None
    separator = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + separator + entry + b"\n"


def ignore_local_files(root: Path) -> str:
    """Put the entry into a worktree's .gitignore; say what was done: created, added, or nothing.

    Raises:
        StoreError: The file cannot be written.
    """
    path = root / ".gitignore"
    if path.is_symlink():  # git reads no symbolic link here, and this one may point anywhere
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
