"""Objects read by libgit2, in this process: those of repositories with SHA-1 ids, as it reads no others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import ConfigLevel, RepositoryOpenFlag

from gitrag.errors import RepositoryError

# libgit2 1.9 refuses some of these though they do not change how objects are read: a partial clone only lacks
# objects, and each missing object is handled when it is read. git reads references, in files or reftables.
_HARMLESS_EXTENSIONS = (
    "noop",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "submodulepathconfig",
    "worktreeconfig",
)


class Libgit2Objects:
    """The objects of a repository.

    Attributes:
        errors: What its methods raise where an object is missing or damaged.
    """

    errors = (pygit2.GitError, LookupError, ValueError)

    def __init__(self, git_dir: Path) -> None:
        # git has already checked the owner, with the user's full configuration; libgit2 reads part of it
        pygit2.settings.owner_validation = False
        pygit2.settings.set_extensions(list(_HARMLESS_EXTENSIONS))
        for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
            pygit2.settings.search_path[level] = ""  # only the repository's own configuration is needed here
        try:
            self._repository = pygit2.Repository(os.fsencode(git_dir), RepositoryOpenFlag.NO_SEARCH)
        except pygit2.GitError as error:
            raise RepositoryError(
                f"libgit2 cannot open {git_dir}: {error}.",
                "It uses a feature that libgit2 lacks; look at: git config --list --local",
            ) from error

    def __contains__(self, oid: str) -> bool:
        return oid in self._repository

    def size(self, blob: str) -> int:
        """Return a blob's size, reading only its header."""
        _, size = self._odb.read_header(blob)
        return int(size)

    def read(self, blob: str) -> bytes:
        """Return a blob's content."""
        _, data = self._repository.read(blob)
        return bytes(data)

    def tree(self, oid: str) -> Iterable[Any]:
        """Return the entries of a tree; those that are trees can be iterated like it."""
        found = self._repository[oid]
        if not isinstance(found, pygit2.Tree):
            raise pygit2.GitError(f"{oid} is no tree")
        return found

    def leaves(self, tree: str) -> Iterator[tuple[bytes, str, int]]:
        """Yield path, id and mode of all that is in a tree but trees, in git's order.

        libgit2's diff against the empty tree walks in C: 18 ms for 20,000 files, where walking trees from
        Python takes 30 ms and `git ls-tree` 25 ms; building the entries takes another 30 ms.
        """
        diff = self.tree(tree).diff_to_tree(swap=True)  # type: ignore[attr-defined]  # with the empty tree
        for delta in diff.deltas:
            file = delta.new_file
            yield file.raw_path, str(file.id), int(file.mode)

    @cached_property
    def _odb(self) -> pygit2.Odb:
        return self._repository.odb
