"""What a question about calls is about: a definition, a class with its methods, a file, a directory. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from gitrag.callgraph.filtering import module_place
from gitrag.callgraph.graph import Node
from gitrag.words.path_traits import Trait, traits

_TEST_MODULES = frozenset({"test", "tests"})
"""Modules within a file that hold its tests, as Rust has them."""

_TEST_MARK = re.compile(r"(?P<indent>[ \t]*)#\[(?:cfg\(test\)|(?:\w+::)*test(?:\(.*\))?)\]")

_TEST_FOLDER = "t/"
"""Where Perl's projects, and some of Python's, have their tests."""


class Subject(Struct, frozen=True):
    """One thing asked about; calls among its own members are its own affair.

    Attributes:
        name: A qualified name, or a path.
        kind: ``function``, ``class``, ``module``, ``file`` or ``directory``.
        members: The definitions that it stands for; the first is its own.
    """

    name: str
    kind: str
    members: tuple[Node, ...]

    @property
    def own(self) -> Node:
        """The definition that it is, or the first one in it."""
        return self.members[0]

    @property
    def is_compound(self) -> bool:
        """Whether it has parts that are called by name."""
        return self.kind in {"class", "file", "directory"}

    def part(self, node: Node) -> str:
        """Return the name of a member as seen from here: ``send`` of ``Session``."""
        return node.name.removeprefix(f"{self.name}.") if self.kind == "class" else node.name


def subjects(matches: Iterable[Node], target: str | None) -> list[Subject]:
    """Group the definitions that match a question by what was asked for, in the order of files.

    Args:
        target: What was asked for; None for a filter, whose matches stand for themselves.
    """
    nodes = sorted(matches, key=lambda node: (node.path, node.line_start, -node.line_end, node.name))
    place = (target or "").removeprefix("./").rstrip("/").casefold()
    if place and nodes and not _lies_in(nodes[0].path, place):
        place = module_place(place, {node.path for node in nodes}).casefold() or place
    if place and nodes and all(_lies_in(node.path, place) for node in nodes):
        is_file = nodes[0].path.casefold() == place
        name = nodes[0].path if is_file else nodes[0].path[: len(place)]
        return [Subject(name, "file" if is_file else "directory", tuple(nodes))]
    classes = {(node.path, node.name) for node in nodes if node.kind == "class"}
    beside = {(_folder(path), name): (path, name) for path, name in sorted(classes, reverse=True)}
    grouped: dict[tuple[str, str] | Node, list[Node]] = {}
    for node in nodes if target is not None else ():
        grouped.setdefault(_class_of(node, classes, beside) or node, []).append(node)
    if target is None:
        grouped = {node: [node] for node in nodes}
    found = []
    for members in grouped.values():
        members.sort(
            key=lambda node: (node.kind != "class", node.name.count(".") if node.kind == "class" else 0)
        )
        found.append(Subject(members[0].name, members[0].kind, tuple(members)))
    return found


def is_test(node: Node) -> bool:
    """Tell whether a definition is a test's, by its file's path, its module (in Rust) or its name."""
    parts = node.name.split(".")
    return (
        bool(traits(node.path) & Trait.TEST)
        or node.path.startswith(_TEST_FOLDER)
        or parts[-1].startswith("test_")
        or (len(parts) > 1 and parts[0] in _TEST_MODULES)
    )


def tests_within(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last line of each of a Rust file's tests: ``#[cfg(test)] mod``, ``#[test] fn``."""
    found: list[tuple[int, int]] = []
    for number, line in enumerate(lines, 1):
        marked = _TEST_MARK.match(line)
        if marked and (not found or number > found[-1][1]):
            end = f"{marked['indent']}}}"
            last = next((n for n in range(number, len(lines)) if lines[n].rstrip() == end), number)
            found.append((number, last + 1))
    return found


def _class_of(
    node: Node, classes: set[tuple[str, str]], beside: dict[tuple[str, str], tuple[str, str]]
) -> tuple[str, str] | None:
    """Return the outermost class asked for that contains a definition, here or in a file beside it."""
    parts = node.name.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        if (node.path, name) in classes:
            return node.path, name
        if end < len(parts) and (_folder(node.path), name) in beside:
            return beside[_folder(node.path), name]
    return None


def _lies_in(path: str, place: str) -> bool:
    return path.casefold() == place or path.casefold().startswith(f"{place}/")


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
