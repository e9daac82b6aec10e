"""What names and expressions of Python files may be, and so what their calls call.

An abstract interpreter over the facts, in the manner of a context-insensitive flow analysis (0-CFA) with
annotations as its first source: bodies are read statement by statement without regard to their order in
loops and branches, values only ever gather, and a second and third pass see what the ones before have found
out about parameters and attributes. Works on demand, so that a part of a view can be resolved alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.frame import FUNCTIONS, Frame
from gitrag.callgraph.python.values import (
    MAX_DEPTH,
    NOTHING,
    Value,
    Values,
    depth,
    elements,
    items,
    limited,
    listed,
    ordered,
)
from gitrag.callgraph.python.world import Id

_MAX_DECORATING = 4
"""Decorators applied for one another's sake that may read bodies as if nothing else were being read."""


class Inference(Annotations):
    """The values and calls of a view's Python files."""

    # statements

    def execute(self, statement: list[Any], frame: Frame, *, visible: bool = True) -> None:
        """Do what a statement does; invisible ones only for the names that they bind."""
        if statement[0] == "d":
            self._define(statement, frame, visible=visible)
        else:
            self._STATEMENTS[statement[0]](self, statement, frame, statement[1])

    def _define(self, statement: list[Any], frame: Frame, *, visible: bool) -> None:
        own = (frame.own[0], statement[2])
        kind, name = self.row(own)[0], self.row(own)[1].rpartition(".")[2]
        values = self.defined(own, frame)
        accessor = self.classes.is_accessor(own)
        if statement[3] and self.row(frame.own)[0] in FUNCTIONS:
            self.bind(frame, name, values)
        elif kind in FUNCTIONS and not accessor:
            frame.names[name] = values  # the last of several counts
        elif name not in frame.names or not accessor:
            self.bind(frame, name, values)
        if visible and kind == "class":
            self.evaluate(own)

    def _imported(self, statement: list[Any], frame: Frame, _line: int) -> None:
        self.imports(statement, frame)

    def _assigned(self, statement: list[Any], frame: Frame, line: int) -> None:
        self.assign(statement[2], self.value(statement[3], frame, line), frame, line)

    def _declared(self, statement: list[Any], frame: Frame, line: int) -> None:
        values = self.annotated(statement[3], frame)
        exact = frozenset(each for each in self.value(statement[4], frame, line) if each[0] in "icLDTfF")
        self.assign(statement[2], values | exact, frame, line)

    def _augmented(self, statement: list[Any], frame: Frame, line: int) -> None:
        value = self.value(statement[3], frame, line)
        left = self.value(statement[2], frame, line)
        method = statement[4]
        result = self.calls.operator(left, (f"__i{method}__", f"__{method}__"), [value], frame, line)
        self.assign(statement[2], result | (value if method == "add" else NOTHING), frame, line)

    def _returned(self, statement: list[Any], frame: Frame, line: int) -> None:
        frame.returns = limited(frame.returns | self.value(statement[2], frame, line))

    def _evaluated(self, statement: list[Any], frame: Frame, line: int) -> None:
        self.value(statement[2], frame, line)

    def _tested(self, statement: list[Any], frame: Frame, line: int) -> None:
        tested = self.value(statement[2], frame, line)
        self.calls.operator(tested, ("__bool__", "__len__"), [], frame, line)

    def _looped(self, statement: list[Any], frame: Frame, line: int) -> None:
        self.assign(statement[2], self.iterated(statement[3], frame, line), frame, line)

    def _entered(self, statement: list[Any], frame: Frame, line: int) -> None:
        entered = self.calls.entered(self.value(statement[2], frame, line), frame, line)
        self.assign(statement[3], entered, frame, line)

    def _caught(self, statement: list[Any], frame: Frame, line: int) -> None:
        self.assign(statement[2], self.instances(self.value(statement[3], frame, line)), frame, line)

    def _raised(self, statement: list[Any], frame: Frame, line: int) -> None:
        raised = self.value(statement[2], frame, line)
        if statement[2] and statement[2][0] != "C":  # `raise Error` makes one
            self.calls.call(frozenset(v for v in raised if v[0] == "c"), [], [], frame, line)

    def _deleted(self, statement: list[Any], frame: Frame, line: int) -> None:
        if statement[2][0] == "I":
            base = self.value(statement[2][1], frame, line)
            self.calls.operator(base, ("__delitem__",), [], frame, line)

    def assign(  # noqa: C901 - a branch a kind of target
        self, target: Any, values: Values, frame: Frame, line: int
    ) -> None:
        """Let a target be one of these."""
        if not target:
            return
        kind = target[0]
        if kind == "N":
            self.bind(frame, target[1], values)
        elif kind in "TL":
            for place, each in enumerate(target[1:]):
                parts: set[Value] = set(elements(v for v in values if v[0] != "T"))
                for value in ordered(values):
                    if value[0] == "T" and place < len(value[1]):
                        parts |= value[1][place]
                    elif value[0] == "i":
                        parts |= self.calls.iterate(frozenset([value]), frame, line)
                self.assign(each, frozenset(parts), frame, line)
        elif kind == "*":
            self.assign(target[1], listed(values), frame, line)
        elif kind == "A":
            self.calls.set_attribute(self.value(target[1], frame, line), target[2], values, frame, line)
        elif kind == "I":
            base = self.value(target[1], frame, line)
            self.calls.operator(base, ("__setitem__",), [NOTHING, values], frame, line)
            if any(value[0] in "LD" for value in base) and target[1]:
                held = "D" if any(value[0] == "D" for value in base) else "L"
                self.store(target[1], listed(values, held), frame, line)

    def store(self, target: Any, values: Values, frame: Frame, line: int) -> None:
        """Let a container that a name or attribute holds hold these, too."""
        if target[0] == "N" and target[1] in frame.names:
            self.bind(frame, target[1], values)
        elif target[0] == "A":
            self.assign(target, values, frame, line)

    def defined(self, own: Id, frame: Frame) -> Values:
        """Give what a definition binds its name to: itself, or what its decorators make of it."""
        known = self._defined.get(own)
        if known is not None and known[0] >= self.turn:
            return known[1]
        row = self.row(own)
        values: Values = frozenset([("c", own)]) if row[0] == "class" else frozenset([("f", own, None)])
        self._defined[own] = (self.turn, known[1] if known else values)
        nesting = self._nesting
        if self._decorating < _MAX_DECORATING:
            self._nesting = 0
        self._decorating += 1
        for decorator in reversed(row[5]):
            if not decorator or self.classes.is_known_decorator(decorator):
                continue
            applied = self.calls.call(self.value(decorator, frame, row[2]), [values], [], frame, row[2])
            useful = frozenset(value for value in applied if value[0] in "fciFR")
            values = useful or values
        self._decorating -= 1
        self._nesting = nesting
        self._defined[own] = (self.turn, values)
        return values

    # expressions

    def value(self, expression: Any, frame: Frame, line: int = 0) -> Values:
        """Give what an expression may be, noting the calls that it makes."""
        if not expression:
            return NOTHING
        method = self._EXPRESSIONS.get(expression[0])
        return method(self, expression, frame, line) if method is not None else NOTHING

    def _name(self, expression: Any, frame: Frame, _line: int) -> Values:
        return self.lookup(expression[1], frame)

    def _attribute(self, expression: Any, frame: Frame, line: int) -> Values:
        return self.calls.attribute(self.value(expression[1], frame, line), expression[2], frame, line)

    def _subscript(self, expression: Any, frame: Frame, line: int) -> Values:
        base = self.value(expression[1], frame, line)
        if any(value[0] == "x" and value[1].startswith(("typing", "collections.abc")) for value in base):
            return frozenset([("A", self.annotated(expression, frame))])
        index = self.value(expression[2], frame, line)
        found = self.calls.operator(base, ("__getitem__", "__class_getitem__"), [index], frame, line)
        return limited(found | items(base) | {value for value in base if value[0] == "c"})

    def _union(self, expression: Any, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression[1:]:
            found |= self.value(each, frame, line)
        return limited(found)

    def _many(self, expression: Any, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression[1:]:
            if each and each[0] == "*":
                found |= self.iterated(each[1], frame, line)
            else:
                found |= self.value(each, frame, line)
        return listed(found)

    def _tuple(self, expression: Any, frame: Frame, line: int) -> Values:
        if len(expression) > 9 or any(each and each[0] == "*" for each in expression[1:]):
            return self._many(expression, frame, line)
        parts = tuple(self.value(each, frame, line) for each in expression[1:])
        return (
            frozenset([("T", parts)])
            if all(depth(part) < MAX_DEPTH for part in parts)
            else listed(frozenset().union(*parts))
        )

    def _dictionary(self, expression: Any, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression[1]:
            if each and each[0] == "*":
                found |= items(self.value(each[1], frame, line))
            else:
                found |= self.value(each, frame, line)
        for key in expression[2]:
            self.value(key, frame, line)
        return listed(found, "D")

    def _read(self, expression: Any, frame: Frame, line: int) -> Values:
        for each in expression[1:]:
            self.value(each, frame, line)
        return NOTHING

    def _text(self, expression: Any, frame: Frame, line: int) -> Values:
        for each in expression[1 if expression[0] == "S" else 2 :]:
            value = self.value(each, frame, line)
            self.calls.operator(value, ("__format__", "__str__", "__repr__"), [], frame, line)
        made: Values = frozenset([("b", "str")])
        return made | {("q", expression[1], False)} if expression[0] == "P" else made

    def _operation(self, expression: Any, frame: Frame, line: int) -> Values:
        left = self.value(expression[2], frame, line)
        right = self.value(expression[3], frame, line)
        found = self.calls.operator(left, (expression[1],), [right], frame, line)
        if not found and not any(v[0] == "i" for v in left):
            reflected = "__r" + expression[1][2:]
            found = self.calls.operator(right, (reflected,), [left], frame, line)
        if expression[1] == "__add__":
            found |= frozenset(value for value in left | right if value[0] in "LTb")
            found |= frozenset(("q", value[1], False) for value in left if value[0] == "q")
        return found

    def _constant(self, expression: Any, _frame: Frame, _line: int) -> Values:
        made: Values = frozenset([("b", expression[1])])
        return made | {("q", expression[2], True)} if expression[2] else made

    def _lambda(self, expression: Any, frame: Frame, line: int) -> Values:
        key = (id(expression), frame.own)
        if key not in self._lambda_places:
            self._lambda_places[key] = len(self.lambdas)
            self.lambdas.append((expression, frame))
        for parameter in expression[1]:
            frame.names.setdefault(parameter[0].lstrip("*"), NOTHING)
        self.value(expression[2], frame, line)
        return frozenset([("F", self._lambda_places[key])])

    def _comprehension(self, expression: Any, frame: Frame, line: int) -> Values:
        for target, iterable, conditions in expression[3]:
            self.assign(target, self.iterated(iterable, frame, line), frame, line)
            for condition in conditions:
                tested = self.value(condition, frame, line)
                self.calls.operator(tested, ("__bool__", "__len__"), [], frame, line)
        element = self.value(expression[2], frame, line)
        return listed(items(element), "D") if expression[1] == "D" else listed(element)

    def _walrus(self, expression: Any, frame: Frame, line: int) -> Values:
        value = self.value(expression[2], frame, line)
        self.bind(frame, expression[1], value)
        return value

    def _yielded(self, expression: Any, frame: Frame, line: int) -> Values:
        value = self.value(expression[1], frame, line)
        if expression[0] == "YF":
            value = self.calls.iterate(value, frame, line)
        frame.yields = limited(frame.yields | value | {("b", "yielded")})
        return NOTHING

    def _inner(self, expression: Any, frame: Frame, line: int) -> Values:
        return self.value(expression[1], frame, line)

    def _call(self, expression: Any, frame: Frame, _line: int) -> Values:
        return self.calls.expression(expression, frame)

    def iterated(self, expression: Any, frame: Frame, line: int) -> Values:
        """Give what iterating over an expression gives."""
        return self.calls.iterate(self.value(expression, frame, line), frame, line)

    _STATEMENTS: ClassVar[Mapping[str, Callable[[Any, list[Any], Frame, int], None]]] = {
        "i": _imported,
        "m": _imported,
        "=": _assigned,
        ":": _declared,
        "+": _augmented,
        "r": _returned,
        "x": _evaluated,
        "b": _tested,
        "f": _looped,
        "w": _entered,
        "e": _caught,
        "g": _raised,
        "D": _deleted,
    }

    _EXPRESSIONS: ClassVar[Mapping[str, Callable[[Any, Any, Frame, int], Values]]] = {
        "N": _name,
        "A": _attribute,
        "C": _call,
        "I": _subscript,
        "U": _union,
        "L": _many,
        "T": _tuple,
        "D": _dictionary,
        "K": _constant,
        "B": _operation,
        "V": _read,
        "S": _text,
        "P": _text,
        "F": _lambda,
        "G": _comprehension,
        "=": _walrus,
        "W": _inner,
        "*": _inner,
        "Y": _yielded,
        "YF": _yielded,
    }
