"""The calls that are found while a graph is resolved."""

from __future__ import annotations

from typing import TypeAlias

Id: TypeAlias = tuple[str, int]
"""A definition, or a scope: the path of its file, and its place among those of the file."""

Edges: TypeAlias = dict[tuple[Id, Id], tuple[float, frozenset[int]]]
"""Highest confidence and lines of each call, by caller and callee."""

_NONE: tuple[float, frozenset[int]] = 0.0, frozenset()


def note(edges: Edges, caller: Id, callee: Id, confidence: float, line: int) -> None:
    """Note a call on a line; of several between the same two the surest says how sure they are."""
    sure, lines = edges.get((caller, callee), _NONE)
    if sure < confidence or line not in lines:
        edges[caller, callee] = max(sure, confidence), lines | {line}
