"""Where a repository's index is: in its git directory, or in the user's cache where that cannot be written.

On a disk mounted read-only, and in a repository of another user that git trusts (`safe.directory`), it
is kept beside. One's own directory without the permission is no such case: one command mends it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

SETTING = "gitrag.indexplace"
VARIABLE = "GITRAG_INDEX_PLACE"

NAME = "gitrag"
"""The directory in the git directory."""


def index_place(common_dir: Path, wanted: str) -> Path:
    """Return the directory of a repository's index.

    Args:
        wanted: The setting ``index_place``: ``auto``, ``repository`` or ``cache``.
    """
    own = common_dir / NAME
    if wanted == "cache" or (wanted != "repository" and _is_out_of_reach(common_dir, own)):
        import platformdirs

        digest = hashlib.sha256(_identity(common_dir.resolve())).hexdigest()[:16]
        return platformdirs.user_cache_path("gitrag") / "indexes" / digest
    return own


def _identity(common_dir: Path) -> bytes:
    """Return what tells a repository from another one, of another disk, at the same path."""
    found = b"%d %d" % (os.statvfs(common_dir).f_fsid, common_dir.stat().st_ino)
    return os.fsencode(common_dir) + b"\0" + found


def _is_out_of_reach(common_dir: Path, own: Path) -> bool:
    if _is_writable(common_dir) or _is_writable(own):
        return False
    try:
        is_read_only = bool(os.statvfs(common_dir).f_flag & os.ST_RDONLY)
        return is_read_only or common_dir.stat().st_uid != os.geteuid()
    except OSError:
        return False


def _is_writable(directory: Path) -> bool:
    return os.access(directory, os.W_OK | os.X_OK)
