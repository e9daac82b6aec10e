"""The calls that are found while a graph is resolved."""

from __future__ import annotations

from typing import TypeAlias

Id: TypeAlias = tuple[str, int]
"""A definition, or a scope: the path of its file, and its place among those of the file."""

Edges: TypeAlias = dict[tuple[Id, Id, str], tuple[float, frozenset[int]]]
"""Highest confidence and lines of each call, by caller, callee and rule: what is expected to call the callee,
which the caller only names; empty where the caller calls it."""

_NONE: tuple[float, frozenset[int]] = 0.0, frozenset()


def note(edges: Edges, caller: Id, callee: Id, confidence: float, line: int, rule: str = "") -> None:
    """Note a call on a line; of several between the same two the surest says how sure they are."""
    sure, lines = edges.get((caller, callee, rule), _NONE)
    if sure < confidence or line not in lines:
        edges[caller, callee, rule] = max(sure, confidence), lines | {line}
