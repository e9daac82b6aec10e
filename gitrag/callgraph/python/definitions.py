"""What a definition in a Python file binds its name to: itself, or what its decorators make of it."""

from __future__ import annotations

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.evaluation import Arguments, Evaluation
from gitrag.callgraph.python.methods import Methods, is_known_decorator
from gitrag.callgraph.python.nesting import Nesting
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import Define, written_name
from gitrag.callgraph.python.values import (
    ClassObject,
    Function,
    Instance,
    LambdaFunction,
    Property,
    Returning,
    Values,
    ordered,
)

_MADE = frozenset({Function, ClassObject, Instance, LambdaFunction, Property, Returning})
"""Kinds of value that a decorator may make of a definition."""


class Definitions:
    """Binds definitions.

    Args:
        program: The files.
        classes: Knows what creating a class calls.
        methods: Knows which definitions are accessors of a property.
        nesting: How deep bodies are being read.
        whole: What calls decorators.
    """

    def __init__(
        self, program: Program, classes: Classes, methods: Methods, nesting: Nesting, whole: Evaluation
    ) -> None:
        self._program = program
        self._classes = classes
        self._methods = methods
        self._nesting = nesting
        self._whole = whole
        self._defined: dict[Id, tuple[int, Values]] = {}

    def execute(self, statement: Define, frame: Frame, *, visible: bool) -> None:
        """Bind a definition's name; read the body of a visible class."""
        own = (frame.own[0], statement.scope)
        scope = self._program.scope(own)
        name, is_function = scope.own_name, scope.kind == "function"
        values = self._values(own, frame)
        is_accessor = self._methods.is_accessor(own)
        if statement.branches and (frame.is_function or "overload" not in self._methods.decorators(own)):
            frame.bind(name, values)
        elif is_function and not is_accessor:
            frame.names[name] = values  # the last of several counts
        elif name not in frame.names or not is_accessor:
            frame.bind(name, values)
        if visible and not is_function:
            self._note_creation(own, self._whole.evaluate(own), frame)

    def _note_creation(self, own: Id, body: Frame, frame: Frame) -> None:
        """Note what creating a class calls: hooks of its metaclass, its bases and the values in its body."""
        classes = self._classes
        metaclass = classes.metaclass(own)
        members = [classes.find(own, "__init_subclass__", after=own)]
        if metaclass is not None:
            members += [classes.find(metaclass, name) for name in ("__new__", "__init__")]
        made = {value.cls for values in body.names.values() for value in values if type(value) is Instance}
        members += [classes.find(cls, "__set_name__") for cls in sorted(made)]
        for member in members:
            for value in ordered(member[1]) if member is not None else ():
                if type(value) is Function:
                    self._program.edge(frame, value.function, body.scope.line_start)

    def _values(self, own: Id, frame: Frame) -> Values:
        turn = self._program.turn
        known = self._defined.get(own)
        if known is not None and known[0] >= turn:
            return known[1]
        scope = self._program.scope(own)
        values: Values = frozenset([ClassObject(own) if scope.kind == "class" else Function(own, None)])
        self._defined[own] = (turn, known[1] if known else values)
        self._nesting.enter_decorators()
        for decorator in reversed(scope.decorators):
            if decorator is None or is_known_decorator(decorator):
                continue
            function = self._whole.value(decorator, frame, scope.line_start)
            before, self._program.taker = self._program.taker, f"@{written_name(decorator)}".rstrip("@")
            made = self._whole.call(function, Arguments([values]), frame, scope.line_start)
            self._program.taker = before
            values = frozenset(value for value in made if type(value) in _MADE) or values
        self._nesting.leave_decorators()
        self._defined[own] = (turn, values)
        return values
