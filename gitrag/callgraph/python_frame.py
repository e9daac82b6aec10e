"""What is known of one body while Python files are evaluated."""

from __future__ import annotations

from gitrag.callgraph.python_values import NOTHING, Values
from gitrag.callgraph.python_world import Id

FUNCTIONS = ("function", "async")
"""Kinds of definition that are called."""


class Frame:
    """What is known of one definition's body.

    Attributes:
        own: The definition.
        names: What its names may be.
        returns: What it may return.
        yields: What it may yield.
        done: The pass that read it last.
    """

    __slots__ = ("done", "names", "own", "returns", "yields")

    def __init__(self, own: Id) -> None:
        self.own = own
        self.names: dict[str, Values] = {}
        self.returns: Values = NOTHING
        self.yields: Values = NOTHING
        self.done = 0
