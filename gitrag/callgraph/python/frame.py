"""What is known of one body while Python files are evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitrag.callgraph.python.values import NOTHING, Values
from gitrag.callgraph.python.world import Id

FUNCTIONS = ("function", "async")
"""Kinds of definition that are called."""


class Frame:
    """What is known of one definition's body.

    Attributes:
        own: The definition.
        row: What its facts are.
        parent: What it lies in; None for a module.
        bindings: The statements that bind a name, by name; of a function none.
        settled: The pass in which each name's statements were all read last.
        names: What its names may be.
        returns: What it may return.
        yields: What it may yield.
        done: The pass that read it last.
    """

    __slots__ = ("bindings", "done", "names", "own", "parent", "returns", "row", "settled", "yields")

    def __init__(
        self, own: Id, row: list[Any], parent: Frame | None, bindings: Mapping[str, list[list[Any]]]
    ) -> None:
        self.own = own
        self.row = row
        self.parent = parent
        self.bindings = bindings
        self.settled: dict[str, int] = {}
        self.names: dict[str, Values] = {}
        self.returns: Values = NOTHING
        self.yields: Values = NOTHING
        self.done = 0
