"""The modules and classes of a view's Python files: which file an import names, what a class inherits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gitrag.callgraph.facts import Facts

Id = tuple[str, int]
"""A definition: the path of its file, and its place among the file's definitions."""

_SOURCE_ROOTS = frozenset({"src", "lib", "python"})
"""Directories that hold packages without being one."""


class Module:
    """One file.

    Args:
        path: Its path.
        facts: What it says.
    """

    def __init__(self, path: str, facts: Facts) -> None:
        self.path = path
        self._outline = facts.definitions
        self._texts = facts.read_rows()
        self._rows: dict[int, list[Any]] = {}
        self._bindings: dict[int, dict[str, list[list[Any]]]] = {}

    def row(self, index: int) -> list[Any]:
        """Give what `python_syntax.Reader.read` gave of a definition."""
        found = self._rows.get(index)
        if found is None:
            found = self._rows[index] = json.loads(self._texts[index])
        return found

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a package."""
        return self.path.rpartition("/")[2].startswith("__init__.")

    def mentioning(self, names: Iterable[str]) -> Iterator[int]:
        """Give the places of definitions whose text has one of the names, in whatever part."""
        quoted = [f'"{name}"' for name in names]
        for index, text in enumerate(self._texts):
            if any(each in text for each in quoted):
                yield index

    def bindings(self, index: int) -> dict[str, list[list[Any]]]:
        """Give the statements of a definition's body that bind a name, by name."""
        found = self._bindings.get(index)
        if found is None:
            found = self._bindings[index] = {}
            for statement in self.row(index)[8]:
                for name in self._bound(statement):
                    found.setdefault(name, []).append(statement)
        return found

    def _bound(self, statement: list[Any]) -> Iterator[str]:
        kind = statement[0]
        if kind == "d":
            yield self._outline[statement[2]].name.rpartition(".")[2]
        elif kind == "i":
            yield statement[3] or statement[2].partition(".")[0]
        elif kind == "m":
            yield statement[4]
        elif kind in "=:+fe":
            yield from _names(statement[2])
        elif kind == "w":
            yield from _names(statement[3])


def _names(target: Any) -> Iterator[str]:
    if not target:
        return
    if target[0] == "N":
        yield target[1]
    elif target[0] in "TL*":
        for each in target[1:]:
            yield from _names(each)


class Packages:
    """Which file a module's dotted name means, by the layout of the paths.

    A package's root is the topmost directory of an unbroken chain with ``__init__.py``; below a source root,
    or the top, a directory without one is a package too (PEP 420).

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
        for path in sorted(paths):
            place = path.rpartition(".")[0].removesuffix("/__init__")
            known = self._by_place.get(place)
            if known is None or known.endswith(".pyi"):
                self._by_place[place] = path
            for name in self._dotted(place):
                self._by_name.setdefault(name, []).append(path)

    def _dotted(self, place: str) -> Iterator[str]:
        parts = place.split("/")
        folder = parts[:-1] if place not in self._initialised else parts
        start = len(folder)
        while start > 0 and "/".join(folder[:start]) in self._initialised:
            start -= 1
        starts = {min(start, len(parts) - 1), 0}
        starts.update(i + 1 for i, part in enumerate(parts[:-1]) if part in _SOURCE_ROOTS)
        for first in starts:
            yield ".".join(parts[first:])

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


def linearise(own: Id, lines: list[list[Id]]) -> list[Id]:
    """Give a class's method resolution order by those of its bases (C3); where there is none, a near one.

    Args:
        own: The class.
        lines: Its bases' orders, and the bases themselves in order.
    """
    if len(lines) == 2 and lines[0][:1] == lines[1] and own not in lines[0]:
        return [own, *lines[0]]  # one base
    order = [own]
    lines = [line for line in ([each for each in line if each != own] for line in lines) if line]
    while lines:
        behind = {each for line in lines for each in line[1:]}
        head = next((line[0] for line in lines if line[0] not in behind), lines[0][0])
        order.append(head)
        lines = [line for line in ([each for each in line if each != head] for line in lines) if line]
    return order
