"""Files that git ignores but gitrag indexes: identified by content, as git would."""

from __future__ import annotations

import os
import stat

from gitrag.git.conversion import read_file
from gitrag.git.repository import FILE_MODE, BlobError, Change, Repository
from gitrag.model import TreeEntry


def files_beside(
    repo: Repository, directory: str, suffix: str, *, most: int, max_bytes: int
) -> tuple[Change, ...]:
    """Return the regular files directly in a directory, hashed unconverted: git converts nothing it ignores.

    1,000 files of 2 KB take 20 ms, a missing directory 6 µs.

    Args:
        directory: The directory's path below it; links to directories are not followed.
        max_bytes: Larger ones are left out.
    """
    root = place = repo.root or repo.git_dir
    for part in directory.split("/"):
        place /= part
        try:
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                return ()
        except OSError:
            return ()
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(suffix))  # noqa: PTH208 - names
    except OSError:
        return ()
    changes = []
    for name in names[:most]:
        path = f"{directory}/{name}"
        try:
            data = read_file(root, path, max_bytes)
        except BlobError:
            continue
        changes.append(Change(path, TreeEntry(path, repo.blob_id(data), FILE_MODE)))
    return tuple(changes)
