"""Where the definitions of one class are: those in a file, and those nearest to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.general.imports import ImportedName

PassedOn = tuple[dict[str, int], dict[str, list[tuple[str, ImportedName]]]]
"""What a file passes on of others: the files of which it does all names, the nearest first; and by a name the
imports of those that pass on that one, with their file."""


class Places:
    """The definitions of a class, of which Ruby's and Swift's may have thousands, by file and directory.

    Args:
        every: All of them, those of a file in its order.

    Attributes:
        those: The same.
    """

    def __init__(self, every: Sequence[Id]) -> None:
        self.every = every
        self.those = frozenset(every)
        self._of_file: dict[str, list[Id]] = {}
        for own in every:
            self._of_file.setdefault(own[0], []).append(own)
        self._files = sorted(path.split("/") for path in self._of_file)
        self._beside: dict[str, list[str]] = {}
        for path in self._of_file:
            self._beside.setdefault(path.rpartition("/")[0], []).append(path)

    def here(self, path: str) -> list[Id]:
        return self._of_file.get(path, [])

    def elsewhere(self, path: str) -> list[Id]:
        """Return the nearest in another file: in the same directory, else in most of the same directories.

        None if several files are as near.
        """
        near = [each for each in self._beside.get(path.rpartition("/")[0], ())[:3] if each != path]
        if not near:
            at = bisect_left(self._files, path.split("/"))  # in their order the nearest are neighbours
            near = ["/".join(each) for each in self._files[max(at - 2, 0) : at + 3]]
            near = [each for each in near if each != path]
            most = max((shared(each, path) for each in near), default=0)
            near = [each for each in near if shared(each, path) == most]
        return self._of_file[near[0]] if len(near) == 1 else []

    def nearest(self, path: str) -> list[Id]:
        """Return those in a file, else the nearest."""
        return self.here(path) or self.elsewhere(path)
