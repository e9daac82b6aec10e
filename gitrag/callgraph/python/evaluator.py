"""What names and expressions of Python files may be, and so what their calls call.

An abstract interpreter over the facts, in the manner of a context-insensitive flow analysis (0-CFA) with
annotations as its first source: bodies are read statement by statement without regard to their order in
loops and branches, values only ever gather, and a second and third pass see what the ones before have found
out about parameters and attributes. Works on demand, so that a part of a view can be resolved alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gitrag.callgraph.edges import Edges, Id
from gitrag.callgraph.limits import Limits
from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.call_expressions import CallExpressions
from gitrag.callgraph.python.calls import CallEvaluator
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.definitions import Definitions
from gitrag.callgraph.python.evaluation import Arguments
from gitrag.callgraph.python.expressions import Expressions
from gitrag.callgraph.python.library import Library
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.modules import PythonModule
from gitrag.callgraph.python.names import Names
from gitrag.callgraph.python.nesting import Nesting
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import Define, Expression, Parameter, Statement
from gitrag.callgraph.python.statements import Statements
from gitrag.callgraph.python.targets import Targets
from gitrag.callgraph.python.values import (
    CERTAIN,
    NOTHING,
    Argument,
    ClassObject,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    TupleOf,
    Value,
    Values,
    dict_of,
    list_of,
)

_MAX_DEPTH = 120
"""Expressions evaluated for one another's sake, across bodies. In django and sympy they are 30 at most."""

_TELLING = frozenset({ClassObject, Function, ListOf, TupleOf, DictOf, LambdaFunction})
"""Kinds of value of which an annotation tells all."""


class Evaluator:
    """The values and calls of a view's Python files.

    Args:
        modules: The files, by path; asked only for those that are needed.
        paths: All paths.
        subclasses_of: Names the classes that may have a base of this name.
        methods_named: Finds the methods of a name; None if too many classes have one, or a built-in type.
    """

    def __init__(
        self,
        modules: Mapping[str, PythonModule],
        paths: Iterable[str],
        subclasses_of: Callable[[str], Iterable[Id]],
        methods_named: Callable[[str], tuple[Id, ...] | None],
    ) -> None:
        program = self._program = Program(modules, paths, methods_named)
        self._nesting = Nesting()
        self._depth = 0
        methods = self._methods = Methods(program)
        names = Names(program, methods, self)
        classes = self._classes = Classes(program, methods, names, self, subclasses_of)
        annotations = self._annotations = Annotations(methods, self)
        attributes = Attributes(program, methods, names, classes, self)
        targets = Targets(attributes, self)
        library = Library(program, attributes, annotations)
        self._calls = CallEvaluator(program, methods, classes, annotations, attributes, library, self)
        written = CallExpressions(program, methods, classes, annotations, attributes, targets, self)
        expressions = Expressions(program, names, annotations, attributes, targets, written, self)
        self._definitions = Definitions(program, classes, methods, self._nesting, self)
        # Tables of bound methods are kept here alone: in the objects that they are bound to they would be
        # circles, which `forget` could not open.
        self._readers = expressions.readers()
        self._doers = Statements(names, annotations, attributes, targets, self).doers()

    @property
    def edges(self) -> Edges:
        """The calls that were found."""
        return self._program.edges

    @property
    def limits(self) -> Limits:
        """What was not looked at so far."""
        return self._program.limits

    def begin_pass(self, *, is_last: bool, reads_all: bool) -> None:
        """Say whether bodies will be read again, and whether all of the view are."""
        self._nesting.reads_all = reads_all
        self._program.begin_pass(is_last=is_last)

    def end_pass(self) -> None:
        """Let bodies be read again, with what is known by now."""
        self._program.turn += 1

    def recover(self) -> None:
        """Begin anew after a body that was left in the middle."""
        self._nesting.reset()
        self._calls.reset()
        self._depth = 0
        self._program.ceiling = CERTAIN
        self._program.taker = ""

    def forget(self) -> None:
        """Drop all that is known, which holds itself: the collector need not walk it."""
        self.__dict__.clear()

    def evaluate(self, own: Id) -> Frame:
        """Read a body, once a pass."""
        program, nesting = self._program, self._nesting
        frame = program.frame(own)
        if frame.done >= program.turn or nesting.is_full():
            return frame
        frame.done = program.turn
        nesting.bodies += 1
        ceiling, program.ceiling = program.ceiling, CERTAIN
        if frame.is_function:
            self._enter(frame)
        for statement in frame.scope.body:
            self.execute(statement, frame, visible=True)
        nesting.bodies -= 1
        program.ceiling = ceiling
        return frame

    def execute(self, statement: Statement, frame: Frame, *, visible: bool) -> None:
        """Do what a statement does; an invisible one only for the names that it binds."""
        if type(statement) is Define:
            self._definitions.execute(statement, frame, visible=visible)
        else:
            self._doers[type(statement)](statement, frame)

    def value(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        """Return what an expression may be, noting the calls that it makes."""
        if expression is None or self._depth >= _MAX_DEPTH:
            return NOTHING
        self._depth += 1
        found = self._readers[type(expression)](expression, frame, line)
        self._depth -= 1
        return found

    def call(self, called: Values, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, return the results."""
        return self._calls.call(called, arguments, frame, line)

    def _enter(self, frame: Frame) -> None:
        """Bind the parameters of a function."""
        first = self._methods.first_parameter(frame.own)
        for place, parameter in enumerate(frame.scope.parameters):
            name = parameter.name
            if not name or name == "/":
                continue
            if place == 0 and first is not None:
                frame.names[name] = frame.names.get(name, NOTHING) | first
            else:
                frame.names[name] = self._parameter(frame.own, parameter)

    def _parameter(self, own: Id, parameter: Parameter) -> Values:
        """Return what a parameter may be: by its annotation, or what is given to it, and its default."""
        scope = self._program.around(own)
        argument = Argument(own, parameter.name)
        values = self._annotations.described(parameter.annotation, scope)
        given = self._program.flows.get(argument, NOTHING)
        if parameter.written.startswith("**"):
            return dict_of(values | given)
        if parameter.written.startswith("*"):
            return list_of(values | given)
        if not any(map(self._says_enough, values)):
            values |= given | {argument}
            values |= self.value(parameter.default, scope, 0)
        return values

    def _says_enough(self, value: Value) -> bool:
        """Tell whether an annotation that says this need not be looked behind; a protocol is anything."""
        if type(value) is Instance:
            return not self._methods.is_protocol(value.cls)
        return type(value) in _TELLING
