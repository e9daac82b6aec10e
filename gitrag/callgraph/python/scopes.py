"""Definitions of Python files as they are evaluated: what is known of each body, and where names lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gitrag.callgraph.python.calls import Calls
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.frame import FUNCTIONS, Frame
from gitrag.callgraph.python.values import CERTAIN, MOST, NOTHING, Value, Values, limited, listed, ordered
from gitrag.callgraph.python.world import Id, Module, Packages

_MAX_NESTING = 3
"""Bodies read for one another's sake; what lies deeper is left for the next pass. With two passes 3 finds on
click what 24 finds, in django in a quarter of the time."""
_MAX_LOOKUPS = 30
"""Names looked up for one another's sake: imports of imports."""


class Scopes:
    """The values and calls of a view's Python files.

    Args:
        modules: The files, by path; asked only for those that are needed.
        paths: All paths.
        subclasses_of: Names the classes that may have a base of this name.
    """

    def __init__(
        self,
        modules: Mapping[str, Module],
        paths: Iterable[str],
        subclasses_of: Callable[[str], Iterable[Id]],
    ) -> None:
        self.modules = modules
        self.packages = Packages(list(paths))
        self.classes = Classes(self, subclasses_of)
        self.calls = Calls(self)
        self.turn = 1
        self.flows: dict[tuple[Id, str], Values] = {}
        self.attributes: dict[tuple[Id, str], Values] = {}
        self.edges: dict[tuple[Id, Id], tuple[float, int]] = {}
        self.lambdas: list[tuple[Any, Frame]] = []
        self._lambda_places: dict[tuple[int, Id], int] = {}
        self.frames: dict[Id, Frame] = {}
        self._bound: dict[tuple[Id, int], int] = {}
        self._defined: dict[Id, tuple[int, Values]] = {}
        self._nesting = 0
        self._decorating = 0
        self._lookups = 0

    # definitions

    def row(self, own: Id) -> list[Any]:
        """Give the facts of a definition."""
        found = self.frames.get(own)
        return self.frame(own).row if found is None else found.row

    def frame(self, own: Id) -> Frame:
        """Give what is known of a body so far."""
        found = self.frames.get(own)
        if found is None:
            path, index = own
            module = self.modules[path]
            row = module.row(index)
            parent = self.frame((path, row[4])) if row[4] >= 0 else None
            bindings = {} if row[0] in FUNCTIONS else module.bindings(index)
            found = self.frames[own] = Frame(own, row, parent, bindings)
        return found

    def evaluate(self, own: Id) -> Frame:
        """Read a body, once a pass."""
        frame = self.frame(own)
        if frame.done >= self.turn or self._nesting >= _MAX_NESTING:
            return frame
        frame.done = self.turn
        self._nesting += 1
        ceiling, self.calls.ceiling = self.calls.ceiling, CERTAIN
        if frame.row[0] in FUNCTIONS:
            self._enter(frame)
        for statement in frame.row[8]:
            self.execute(statement, frame)
        self._nesting -= 1
        self.calls.ceiling = ceiling
        return frame

    def _enter(self, frame: Frame) -> None:
        """Bind the parameters of a function."""
        own = frame.own
        row = self.row(own)
        first = self.classes.first_parameter(own)
        for place, parameter in enumerate(row[6]):
            name = parameter[0].lstrip("*")
            if not name or name == "/":
                continue
            if place == 0 and first is not None:
                frame.names[name] = frame.names.get(name, NOTHING) | first
                continue
            frame.names[name] = self.parameter(own, parameter)

    def parameter(self, own: Id, parameter: list[Any]) -> Values:
        """Give what a parameter may be: by its annotation, or what is given to it, and its default."""
        written, annotation, default = (*parameter, None, None)[:3]
        name = written.lstrip("*")
        scope = self.frame((own[0], self.row(own)[4]))
        values = self.annotated(annotation, scope) if annotation else NOTHING
        if written.startswith("**"):
            return listed(values | self.flows.get((own, name), NOTHING), "D")
        if written.startswith("*"):
            return listed(values | self.flows.get((own, name), NOTHING))
        if not any(self.says_enough(value) for value in values):
            values |= self.flows.get((own, name), NOTHING) | {("p", own, name)}
            if default:
                values |= self.value(default, scope)
        return values

    def says_enough(self, value: Value) -> bool:
        """Tell whether an annotation that gives a value need not be looked behind; a protocol is anything."""
        return value[0] in "cfLTDF" or (value[0] == "i" and not self.classes.is_protocol(value[1]))

    def flow(self, own: Id, name: str, values: Values) -> None:
        """Note what a parameter is given; of too much the first that comes, since nothing is taken back."""
        known = self.flows.get((own, name), NOTHING)
        room = MOST - len(known)
        useful = [value for value in ordered(values - known) if value[0] not in "xbpq"]
        if useful and room:
            self.flows[own, name] = known | frozenset(useful[:room])

    def edge(self, frame: Frame, callee: Id, line: int, confidence: float = 1.0) -> None:
        """Note a call, made by the function that a frame lies in."""
        while frame.row[0] == "class" and frame.parent is not None:
            frame = frame.parent
        caller = frame.own
        confidence = min(confidence, self.calls.ceiling)
        known = self.edges.get((caller, callee))
        if known is None or known[0] < confidence:
            self.edges[caller, callee] = (confidence, line if known is None else min(line, known[1]))

    # names

    def lookup(self, name: str, frame: Frame) -> Values:
        """Find what a name may be, from a body outwards."""
        scope: Frame | None = frame
        while scope is not None:
            kind = scope.row[0]
            if kind in FUNCTIONS:
                found = scope.names.get(name)
                if found is None and scope is not frame and name in self._bindings(scope.own):
                    found = self.evaluate(scope.own).names.get(name)
                if found is not None:
                    return found
            elif kind == "module" or scope is frame:
                found = self.member(scope.own, name)
                if found is not None:
                    return found
            scope = scope.parent
        return frozenset([("x", f"builtins.{name}")])

    def _bindings(self, own: Id) -> dict[str, list[list[Any]]]:
        return self.modules[own[0]].bindings(own[1])

    def member(self, own: Id, name: str) -> Values | None:
        """Find what a name of a module's or class's body may be; None where it has none of that name."""
        frame = self.frames.get(own) or self.frame(own)
        if frame.settled.get(name) == self.turn:
            return frame.names.get(name, NOTHING)
        statements = frame.bindings.get(name)
        if statements is None:
            found = frame.names.get(name)
            return found or (self._starred(own, name, frame.bindings) if "*" in frame.bindings else None)
        last = self._last_function(own, statements) if len(statements) > 1 else 0
        settled = True
        for place, statement in enumerate(statements):
            key = (own, id(statement))
            if self._bound.get(key, 0) >= self.turn:
                continue
            if self._lookups > _MAX_LOOKUPS:
                settled = False
            else:
                self._bound[key] = self.turn
                if place < last and self._is_function(own, statement):
                    continue  # an overload, or another platform's
                self._lookups += 1
                ceiling, self.calls.ceiling = self.calls.ceiling, CERTAIN
                self.execute(statement, frame, visible=False)
                self.calls.ceiling = ceiling
                self._lookups -= 1
        if settled:
            frame.settled[name] = self.turn
        return frame.names.get(name, NOTHING)

    def _last_function(self, own: Id, statements: list[list[Any]]) -> int:
        places = (place for place, statement in enumerate(statements) if self._is_function(own, statement))
        return max(places, default=-1)

    def _is_function(self, own: Id, statement: list[Any]) -> bool:
        if statement[0] != "d":
            return False
        inner = (own[0], statement[2])
        return self.row(inner)[0] in FUNCTIONS and not self.classes.is_accessor(inner)

    def _starred(self, own: Id, name: str, bindings: Mapping[str, list[list[Any]]]) -> Values | None:
        if name.startswith("_"):
            return None
        for statement in bindings.get("*", ()):
            path = self.packages.find(statement[2], own[0])
            if path is not None and path != own[0]:
                found = self.member((path, 0), name)
                if found is not None:
                    return found
        return None

    def in_module(self, path: str, name: str) -> Values:
        """Find what ``module.name`` may be."""
        found = self.member((path, 0), name)
        if found:
            return found
        if self.modules[path].is_package:
            inside = self.packages.inside(path, name)
            if inside is not None:
                return frozenset([("m", inside)])
        return found or NOTHING

    def imports(self, statement: list[Any], frame: Frame) -> None:
        """Bind what an import statement imports."""
        path = frame.own[0]
        if statement[0] == "i":
            dotted, alias = statement[2], statement[3]
            wanted = dotted if alias else dotted.partition(".")[0]
            found = self.packages.find(wanted, path)
            value = ("m", found) if found else ("x", wanted)
            self.bind(frame, alias or wanted, frozenset([value]))
            return
        origin, name, alias = statement[2:5]
        if name == "*":
            return
        found = self.packages.find(origin, path)
        if found is None:
            dotted = f"{origin.rstrip('.')}.{name}" if origin.strip(".") else f"{origin}{name}"
            submodule = self.packages.find(dotted, path)
            value = ("m", submodule) if submodule else ("x", f"{origin}.{name}")
            self.bind(frame, alias, frozenset([value]))
        elif found == path:  # `from . import name` in a package's own __init__
            inside = self.packages.inside(found, name)
            if inside is not None:
                self.bind(frame, alias, frozenset([("m", inside)]))
        else:
            self.bind(frame, alias, self.in_module(found, name))

    def bind(self, frame: Frame, name: str, values: Values) -> None:
        """Let a name of a body be one of these, too."""
        known = frame.names.get(name)
        frame.names[name] = values if known is None else limited(known | values)

    # what the rest of the inference does

    def execute(self, statement: list[Any], frame: Frame, *, visible: bool = True) -> None:
        """Do what a statement does; invisible ones only for the names that they bind."""
        raise NotImplementedError

    def value(self, expression: Any, frame: Frame, line: int = 0) -> Values:
        """Give what an expression may be, noting the calls that it makes."""
        raise NotImplementedError

    def iterated(self, expression: Any, frame: Frame, line: int) -> Values:
        """Give what iterating over an expression gives."""
        raise NotImplementedError

    def store(self, target: Any, values: Values, frame: Frame, line: int) -> None:
        """Let a container that a name or attribute holds hold these, too."""
        raise NotImplementedError

    def annotated(self, annotation: Any, frame: Frame) -> Values:
        """Give what an annotation says that something is."""
        raise NotImplementedError

    def instances(self, values: Values, frame: Frame | None = None) -> Values:
        """Give instances of classes."""
        raise NotImplementedError
