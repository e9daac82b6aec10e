"""Which file a Python module's dotted name means, by the layout of the paths."""

from __future__ import annotations

import sys
from collections.abc import Iterator

_SOURCE_ROOTS = frozenset({"src", "lib", "python"})
"""Directories that hold packages without being one."""


class Packages:
    """Which file a module's dotted name means, by the layout of the paths.

    A package's root is the topmost directory of an unbroken chain with ``__init__.py``; a directory without
    one may be a package too (PEP 420), unless Python itself has a package of that name.

    Args:
        paths: The view's Python files.
    """

    def __init__(self, paths: list[str]) -> None:
        self._initialised = {
            path.rpartition("/")[0] for path in paths if path.rpartition("/")[2].startswith("__init__.")
        }
        self._by_name: dict[str, list[str]] = {}
        self._by_place: dict[str, str] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._namespaces: set[str] = set()
        for path in sorted(paths):
            place = path.rpartition(".")[0].removesuffix("/__init__")
            known = self._by_place.get(place)
            if known is None or known.endswith(".pyi"):
                self._by_place[place] = path
            for name in self._dotted(place):
                self._by_name.setdefault(name, []).append(path)
                self._namespaces.add(name.partition(".")[0])

    def _dotted(self, place: str) -> Iterator[str]:
        parts = place.split("/")
        folder = parts[:-1] if place not in self._initialised else parts
        start = len(folder)
        while start > 0 and "/".join(folder[:start]) in self._initialised:
            start -= 1
        regular = min(start, len(parts) - 1)
        for first in range(regular + 1):
            after_root = first == 0 or parts[first - 1] in _SOURCE_ROOTS
            if first == regular or after_root or parts[first] not in sys.stdlib_module_names:
                yield ".".join(parts[first:])

    def is_namespace(self, name: str) -> bool:
        """Tell whether the names of modules begin with a name."""
        return name in self._namespaces

    def find(self, dotted: str, importer: str) -> str | None:
        """Find the file of a module that another file imports, by absolute or relative name."""
        key = (dotted, importer)
        if key not in self._found:
            self._found[key] = self._find(dotted, importer)
        return self._found[key]

    def _find(self, dotted: str, importer: str) -> str | None:
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            folder = importer.split("/")[:-1]
            folder = folder[: len(folder) - level + 1] if level > 1 else folder
            rest = dotted[level:].split(".") if dotted[level:] else []
            return self._by_place.get("/".join([*folder, *rest]))
        found = self._by_name.get(dotted)
        if found:
            return max(found, key=lambda path: (_shared(path, importer), not path.endswith(".pyi")))
        beside = "/".join([*importer.split("/")[:-1], *dotted.split(".")])
        return self._by_place.get(beside)

    def inside(self, package: str, name: str) -> str | None:
        """Find the file of a package's submodule."""
        return self._by_place.get(f"{package.rpartition('/')[0]}/{name}".lstrip("/"))


def _shared(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
