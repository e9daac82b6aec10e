"""The addresses of pages. A path is in them byte for byte, whatever its encoding."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote, unquote_to_bytes, urlencode

from msgspec import Struct

FILES = "/file/"
REPOSITORY = "repo"
"""What names another repository in an address."""


class Addresses(Struct, frozen=True):
    """The addresses of a repository's pages.

    Attributes:
        repository: The name of the repository; empty for the one that the page was started in.
    """

    repository: str = ""

    def file(self, path: str, line: int = 0, revision: str = "", *, blame: bool = False) -> str:
        """Return the address of a file, at a line, in a revision; empty for the working tree."""
        asked = self._asked([("rev", revision), ("blame", "1" if blame else "")])
        return FILES + quote(os.fsencode(path)) + asked + (f"#L{line}" if line else "")

    def beside(self, path: str) -> str:
        """Return the address of what is said beside a file; the script puts what that is in its gap."""
        return "/beside//" + quote(os.fsencode(path)) + self._asked([])

    def graph(self, target: str, depth: int = 0) -> str:
        """Return the address of the calls around a target."""
        return self.page("/calls", [("target", target), ("depth", str(depth) if depth else "")])

    def files(self, folder: str = "") -> str:
        """Return the address of the files in a folder."""
        return self.page("/files", [("in", folder)])

    def references(self, target: str) -> str:
        """Return the address of where a target is named."""
        return self.page("/references", [("target", target)])

    def map_of(self, by: str, folder: str = "", query: str = "") -> str:
        """Return the address of the map of a folder, coloured by something."""
        return self.page("/map", [("by", by), ("in", folder), ("q", query)])

    def page(self, path: str, values: Sequence[tuple[str, str]] = ()) -> str:
        return path + self._asked(values)

    def _asked(self, values: Sequence[tuple[str, str]]) -> str:
        return _asked([*values, (REPOSITORY, self.repository)])


def path_of(raw_path: bytes, before: str = FILES) -> str:
    return os.fsdecode(unquote_to_bytes(raw_path.partition(b"?")[0]))[len(before) :]


def search(query: str, chosen: Sequence[tuple[str, str]] = (), most: int = 0) -> str:
    """Return the address of an answer.

    Args:
        chosen: Names and values of facets.
        most: The most files of a kind; 0 for as many as usual.
    """
    return "/search" + _asked([("q", query), *chosen, ("n", str(most) if most else "")])


def _asked(values: Sequence[tuple[str, str]]) -> str:
    given = [(name, value.encode("utf-8", "surrogateescape")) for name, value in values if value]
    return f"?{urlencode(given)}" if given else ""
