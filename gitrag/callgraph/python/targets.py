"""Targets of assignments in Python files: names, attributes, items, and tuples of them."""

from __future__ import annotations

from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.evaluation import Evaluation
from gitrag.callgraph.python.program import Frame
from gitrag.callgraph.python.records import (
    Attribute,
    Expression,
    ListDisplay,
    Name,
    Starred,
    Subscript,
    TupleDisplay,
)
from gitrag.callgraph.python.values import (
    DictOf,
    Instance,
    ListOf,
    TupleOf,
    Value,
    Values,
    dict_of,
    elements,
    list_of,
    ordered,
)


class Targets:
    """Assigns to targets.

    Args:
        attributes: Sets attributes and calls special methods.
        whole: What evaluates the expressions in targets.
    """

    def __init__(self, attributes: Attributes, whole: Evaluation) -> None:
        self._attributes = attributes
        self._whole = whole

    def assign(self, target: Expression | None, values: Values, frame: Frame, line: int) -> None:
        """Let a target be one of these."""
        if type(target) is Name:
            frame.bind(target.name, values)
        elif type(target) is Attribute:
            base = self._whole.value(target.base, frame, line)
            self._attributes.set(base, target.name, values, frame, line)
        elif type(target) is TupleDisplay or type(target) is ListDisplay:
            for place, each in enumerate(target.parts):
                self.assign(each, self._part(values, place, frame, line), frame, line)
        elif type(target) is Starred:
            self.assign(target.value, list_of(values), frame, line)
        elif type(target) is Subscript:
            base = self._whole.value(target.base, frame, line)
            index = self._whole.value(target.index, frame, line)
            self._attributes.operator(base, ("__setitem__",), [index, values], frame, line)
            self._attributes.hashed(base, index, frame, line)
            if target.base is None:
                return
            if any(type(value) is DictOf for value in base):
                self.store(target.base, dict_of(values), frame, line)
            elif any(type(value) is ListOf for value in base):
                self.store(target.base, list_of(values), frame, line)

    def _part(self, values: Values, place: int, frame: Frame, line: int) -> Values:
        """Return what unpacking gives to one of several targets."""
        parts: set[Value] = set(elements(value for value in values if type(value) is not TupleOf))
        for value in ordered(values):
            if type(value) is TupleOf and place < len(value.parts):
                parts |= value.parts[place]
            elif type(value) is Instance:
                parts |= self._attributes.iterated(frozenset([value]), frame, line)
        return frozenset(parts)

    def store(self, target: Expression | None, values: Values, frame: Frame, line: int) -> None:
        """Let a container that a name or attribute holds hold these, too."""
        if type(target) is Attribute:
            self.assign(target, values, frame, line)
        elif type(target) is Name and target.name in frame.names:
            frame.bind(target.name, values)
        elif type(target) is Subscript:  # a container in one
            self.store(target.base, dict_of(values), frame, line)
