"""The calls that are found while a graph is resolved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

ANCESTORS = "of what a class inherits from, only the nearest {most:,} classes"
SUBCLASSES = "of a class's subclasses, only {most:,}"
DIRECT = "no subclasses of a class with more than {most:,} direct ones"
OVERRIDES = "of the overrides of a method, only {most:,}"
MEMBERS = "nothing of what a computed key gives of over {most:,}"
EXPORTS = "of the files that pass a file's names on, only {most:,}"

_MOST_NAMED = 3


class Limits:
    """Which limits were reached so far, and for what."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def reached(self, what: str, most: int, name: str) -> None:
        """Record that a limit was reached.

        Args:
            what: What was looked at: one of this file's phrases, with a place for the number.
            name: The class, method or file for which it was.
        """
        self._names.setdefault(what.format(most=most), set()).add(name)

    @staticmethod
    def notes(every: Iterable[Limits]) -> tuple[str, ...]:
        """Return a sentence for each limit that was reached."""
        names: dict[str, set[str]] = {}
        for limits in every:
            for what, own in limits._names.items():  # noqa: SLF001 - its own class
                names.setdefault(what, set()).update(own)
        said = []
        for what, own in sorted(names.items()):
            named = [*sorted(own)[:_MOST_NAMED], *["…"] * (len(own) > _MOST_NAMED)]
            said.append(f"Looked at: {what} ({', '.join(named)}).")
        return tuple(said)


Id: TypeAlias = tuple[str, int]
"""A definition, or a scope: the path of its file, and its place among those of the file."""

Edges: TypeAlias = dict[tuple[Id, Id, str], tuple[float, frozenset[int]]]
"""Highest confidence and lines of each call, by caller, callee and rule: what is expected to call the callee,
which the caller only names, or that a computed key gives it; empty where the caller calls it by its name."""

_NONE: tuple[float, frozenset[int]] = 0.0, frozenset()


def note(edges: Edges, caller: Id, callee: Id, confidence: float, line: int, rule: str = "") -> None:
    """Note a call on a line; of several between the same two the surest says how sure they are."""
    sure, lines = edges.get((caller, callee, rule), _NONE)
    if sure < confidence or line not in lines:
        edges[caller, callee, rule] = max(sure, confidence), lines | {line}
