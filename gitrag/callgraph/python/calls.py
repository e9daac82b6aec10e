"""Calls of Python files: whom they call, what the parameters are given, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitrag.callgraph.python.attributes import (
    ABSTRACT,
    MANY,
    MANY_OVERRIDES,
    MAX_OVERRIDES,
    ONE_OF_MANY,
    OVERRIDDEN,
    PICKED,
    Keywords,
)
from gitrag.callgraph.python.classes import decorator_name
from gitrag.callgraph.python.library import Library
from gitrag.callgraph.python.values import (
    CERTAIN,
    NOTHING,
    Value,
    Values,
    elements,
    limited,
    listed,
    ordered,
    substituted,
)
from gitrag.callgraph.python.world import Id

if TYPE_CHECKING:
    from gitrag.callgraph.python.frame import Frame

_ADDING = {"append": "L", "add": "L", "insert": "L", "appendleft": "L", "setdefault": "D"}


class Calls(Library):
    """What calls come down to."""

    def expression(self, expression: Any, frame: Frame) -> Values:
        """Evaluate a call as it is written."""
        inference = self._inference
        _, function, positional, named, line = expression
        if function and function[0] == "N" and function[1] == "super":
            return self._super(positional, frame)
        called = inference.value(function, frame, line)
        if function == ["N", "getattr"] and len(positional) > 1:
            return self._getattr(positional, frame, line)
        arguments: list[Values] = []
        starred = NOTHING
        for each in positional:
            if each and each[0] == "*":
                starred |= inference.iterated(each[1], frame, line)
            else:
                arguments.append(inference.value(each, frame, line))
        keywords = [(name, inference.value(each, frame, line)) for name, each in named]
        if function and function[0] == "A" and function[2] in _ADDING and arguments:
            kept = listed(arguments[-1], _ADDING[function[2]])
            inference.store(function[1], kept, frame, line)
        if function and function[0] == "N" and function[1] == "isinstance" and len(positional) == 2:
            self._narrow(positional[0], arguments, frame)
        return self.call(called, arguments, keywords, frame, line, starred=starred)

    def _getattr(self, positional: list[Any], frame: Frame, line: int) -> Values:
        inference = self._inference
        bases, names, *rest = (inference.value(each, frame, line) for each in positional)
        found = rest[0] if rest else NOTHING
        for name in ordered(names):
            if name[0] == "q" and name[2]:
                found |= self.attribute(bases, name[1], frame, line)
            elif name[0] == "q":
                found |= self._beginning(bases, name[1])
        return limited(found)

    def _beginning(self, bases: Values, prefix: str) -> Values:
        """Give the methods whose names begin like this."""
        inference = self._inference
        found: set[Value] = set()
        for base in bases:
            if base[0] not in "ic":
                continue
            for cls in [*inference.classes.order(base[1]), *inference.classes.heirs(base[1])]:
                module = inference.modules[cls[0]]
                for name, statements in module.bindings(cls[1]).items():
                    if name.startswith(prefix) and statements[-1][0] == "d":
                        found.add(("f", (cls[0], statements[-1][2]), base))
        return frozenset([("G", frozenset(found))]) if found else NOTHING

    def _narrow(self, tested: Any, arguments: list[Values], frame: Frame) -> None:
        if tested and tested[0] == "N" and len(arguments) == 2:
            known = frame.names.get(tested[1])
            if known is not None and not any(value[0] == "i" for value in known):
                self._inference.bind(frame, tested[1], self._inference.instances(arguments[1]))

    def _super(self, positional: list[Any], frame: Frame) -> Values:
        inference = self._inference
        own = frame.own
        while own[1] > 0 and inference.classes.owner(own) is None:
            own = (own[0], inference.row(own)[4])
        cls = inference.classes.owner(own) if own[1] > 0 else None
        if cls is None:
            return NOTHING
        if len(positional) == 2:
            for value in ordered(inference.value(positional[0], frame)):
                if value[0] == "c":
                    cls = value[1]
        first = inference.classes.first_parameter(own)
        return frozenset(("S", cls, bound) for bound in first or [("c", cls)])

    # calling

    def call(  # noqa: C901, PLR0912 - a branch a kind of value
        self,
        called: Values,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        *,
        starred: Values = NOTHING,
    ) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, give the results."""
        found: set[Value] = set()
        before = self.ceiling
        if len({value[1] for value in called if value[0] in "ci"}) > MANY:
            self.ceiling = ONE_OF_MANY
        functions = any(value[0] in "fR" for value in called)
        for value in ordered(called):
            kind = value[0]
            if kind == "i" and functions and not value[2]:
                continue  # of a union, what is called is rather the function
            if kind == "f":
                found |= self._function(value, arguments, keywords, frame, line, starred)
            elif kind == "c":
                found |= self._make(value[1], arguments, keywords, frame, line, starred)
            elif kind == "i":
                method = self.attribute(frozenset([value]), "__call__", frame, line, special=True)
                found |= self.call(method, arguments, keywords, frame, line, starred=starred)
            elif kind == "R":
                found |= value[1]
            elif kind == "F":
                found |= self._lambda(value[1], arguments, frame, line)
            elif kind == "p":
                flowing = self._inference.flows.get((value[1], value[2]), NOTHING)
                found |= self.call(
                    frozenset(v for v in flowing if v[0] in "fcF"), arguments, keywords, frame, line
                )
            elif kind in "xX":
                found |= self._outside(value, arguments, keywords, frame, line)
            elif kind == "M":
                self.ceiling = ONE_OF_MANY
                found |= self.call(value[1], arguments, keywords, frame, line, starred=starred)
                self.ceiling = before
            elif kind == "G":
                self.ceiling = PICKED
                for each in ordered(value[1]):
                    found |= self._function(each, arguments, keywords, frame, line, starred)
                self.ceiling = before
        self.ceiling = before
        return limited(found)

    def _function(
        self,
        value: Value,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        starred: Values,
    ) -> Values:
        _, own, bound = value
        inference = self._inference
        abstract = bound is not None and inference.classes.is_abstract(own)
        inference.edge(frame, own, line, ABSTRACT if abstract else CERTAIN)
        given = self._given(own, bound, arguments, keywords, starred)
        for (_, name), values in given.items():
            inference.flow(own, name, values)
        if bound is not None and bound[0] == "i" and not bound[2]:
            name = inference.row(own)[1].rpartition(".")[2]
            others = inference.classes.overriding(bound[1], name)[:MAX_OVERRIDES]
            likely = OVERRIDDEN if len(others) <= MANY_OVERRIDES else ONE_OF_MANY
            for other in others:
                if other != own:
                    inference.edge(frame, other, line, likely)
                    for (_, parameter), values in given.items():
                        inference.flow(other, parameter, values)
        return self.result(own, given, bound)

    def _given(  # noqa: C901 - the rules of Python's calls
        self,
        own: Id,
        bound: Value | None,
        arguments: Sequence[Values],
        keywords: Keywords,
        starred: Values,
    ) -> dict[tuple[Id, str], Values]:
        """Match arguments with parameters."""
        parameters = self._inference.row(own)[6]
        given: dict[tuple[Id, str], Values] = {}
        positional: list[Values] = list(arguments)
        if bound is not None:
            positional.insert(0, frozenset([bound]))
        names = [parameter[0] for parameter in parameters if parameter[0] != "/"]
        for place, name in enumerate(names):
            if name.startswith("*"):
                if not name.startswith("**") and name != "*":
                    rest = frozenset().union(*positional[place:], starred)
                    given[own, name[1:]] = rest
                break
            if place < len(positional):
                given[own, name] = positional[place]
            elif starred:
                given[own, name] = starred
        catching = next((name[2:] for name in names if name.startswith("**")), None)
        for key, values in keywords:
            if key is None:
                continue
            if key in names:
                given[own, key] = values
            elif catching is not None:
                given[own, catching] = given.get((own, catching), NOTHING) | values
        return given

    def result(self, own: Id, given: Mapping[tuple[Id, str], Values], bound: Value | None = None) -> Values:
        """Give what calling a function of the view gives: by its annotation, else by what it returns."""
        inference = self._inference
        row = inference.row(own)
        scope = inference.frame((own[0], row[4]))
        values = inference.annotated(row[7], scope) if row[7] else NOTHING
        if bound is not None and bound[0] in "ic":
            values = self._selves(row[7], values, bound)
        if inference.classes.is_manager(own):
            inner = elements(values) or inference.evaluate(own).yields
            return frozenset([("W", own, substituted(inner, given))])
        callable_ = any(value[0] == "R" or self._is_called(value) for value in values)
        if not callable_ and any(value[0] in "icfTDL" and value[-1] != NOTHING for value in values):
            return values
        frame = inference.evaluate(own)
        if callable_:  # which one is more than its annotation says
            functions = frozenset(value for value in frame.returns if value[0] in "fFpG")
            rest = frozenset(value for value in values if value[0] != "R" and not self._is_called(value))
            return substituted(functions, given) | rest if functions else values
        if frame.yields:
            return listed(substituted(self._own(frame.yields, given), given))
        return substituted(self._own(frame.returns, given), given) | values

    def _is_called(self, value: Value) -> bool:
        """Tell whether a value is any function that looks like a protocol's ``__call__``."""
        classes = self._inference.classes
        return (
            value[0] == "i"
            and classes.is_protocol(value[1])
            and classes.find(value[1], "__call__") is not None
        )

    def _own(self, values: Values, given: Mapping[tuple[Id, str], Values]) -> Values:
        """Leave out what other callers gave to a parameter that is handed back: this caller gave its own."""
        for value in values:
            if value[0] == "p" and (value[1], value[2]) in given:
                values -= self._inference.flows.get((value[1], value[2]), NOTHING)
        return values

    def _selves(self, annotation: Any, values: Values, bound: Value) -> Values:
        if annotation and decorator_name(annotation) == "Self":
            return frozenset([("i", bound[1], bound[0] == "i" and bound[2])])
        return values

    def _make(
        self,
        cls: Id,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        starred: Values,
    ) -> Values:
        """Make an instance."""
        inference = self._inference
        made: Value = ("i", cls, True)
        instance = frozenset([made])
        metaclass = inference.classes.metaclass(cls)
        if metaclass is not None:
            found = inference.classes.find(metaclass, "__call__")
            if found is not None:
                bound = self._bind(found[1], ("i", metaclass, True), frame, line)
                self.call(bound, arguments, keywords, frame, line, starred=starred)
                frame = inference.frame(next((v[1] for v in ordered(bound) if v[0] == "f"), frame.own))
        for name, receiver in (("__new__", ("c", cls)), ("__init__", made), ("__post_init__", made)):
            found = inference.classes.find(cls, name)
            if found is None or (name == "__post_init__" and not self._is_dataclass(cls)):
                continue
            bound = frozenset(("f", v[1], receiver) for v in found[1] if v[0] == "f")
            given = arguments if name != "__post_init__" else []
            result = self.call(bound, given, keywords, frame, line, starred=starred)
            if name == "__new__":
                instance = frozenset(v for v in result if v[0] == "i") or instance
        return instance

    def _is_dataclass(self, cls: Id) -> bool:
        inference = self._inference
        return any("dataclass" in inference.classes.kinds(each) for each in inference.classes.order(cls))

    def _lambda(self, place: int, arguments: Sequence[Values], frame: Frame, line: int) -> Values:
        expression, scope = self._inference.lambdas[place]
        for parameter, values in zip(expression[1], arguments, strict=False):
            name = parameter[0].lstrip("*")
            useful = frozenset(v for v in values if v[0] not in "xbpq")
            if useful:
                self._inference.bind(scope, name, useful)
        body = expression[2]
        if body and body[0] == "C":
            inner = self._inference.value(body[1], scope, line)
            del frame
            return limited(r for v in ordered(inner) if v[0] == "f" for r in self.result(v[1], {}, v[2]))
        return NOTHING
