"""What names and expressions of Python files may be, and so what their calls call.

An abstract interpreter over the facts, in the manner of a context-insensitive flow analysis (0-CFA) with
annotations as its first source: bodies are read statement by statement without regard to their order in
loops and branches, values only ever gather, and a second and third pass see what the ones before have found
out about parameters and attributes. Works on demand, so that a part of a view can be resolved alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import ClassVar

from gitrag.callgraph.edges import Edges, Id, Limits
from gitrag.callgraph.python import models
from gitrag.callgraph.python.confidence import HANDED_ON, IN_CONTAINER
from gitrag.callgraph.python.expressions import Expressions
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.names import Names, is_known_decorator
from gitrag.callgraph.python.records import (
    RETURN,
    AnnotatedAssign,
    Assign,
    Attribute,
    AugmentedAssign,
    Call,
    Constant,
    Define,
    Delete,
    Evaluate,
    Except,
    Expression,
    For,
    Import,
    ImportFrom,
    ListDisplay,
    Name,
    Parameter,
    Raise,
    Return,
    Statement,
    Subscript,
    Test,
    TupleDisplay,
    With,
    bare_name,
    decorator_name,
    written_name,
)
from gitrag.callgraph.python.values import (
    CERTAIN,
    NO_ARGUMENTS,
    NOTHING,
    WRAPPED,
    Argument,
    Arguments,
    ClassObject,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    OutsideWith,
    Property,
    Returning,
    TupleOf,
    Value,
    Values,
    dict_of,
    is_wrapped,
    limited,
    list_of,
    ordered,
)

_TELLING = frozenset({ClassObject, Function, ListOf, TupleOf, DictOf, LambdaFunction})
"""Kinds of value of which an annotation tells all."""

_MORE_EXACT = frozenset({Instance, ClassObject, ListOf, DictOf, TupleOf, Function, LambdaFunction})
"""Kinds of value that say more than the annotation of the name that they are assigned to."""

_MADE = frozenset({Function, ClassObject, Instance, LambdaFunction, Property, Returning})
"""Kinds of value that a decorator may make of a definition."""


class Evaluator(Expressions):
    """The values and calls of a view's Python files."""

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
        self._calling = 0
        self._depth = 0
        self._program.ceiling = CERTAIN
        self._program.taker = "", None

    def forget(self) -> None:
        """Drop all that is known, which holds itself: the collector need not walk it."""
        self.__dict__.clear()

    def evaluate(self, own: Id) -> Frame:
        """Read a body, once a pass."""
        program, nesting = self._program, self._nesting
        frame = program.frames.get(own) or program.frame(own)
        if frame.done >= program.turn or nesting.is_full():
            return frame
        frame.done = program.turn
        nesting.bodies += 1
        ceiling, program.ceiling = program.ceiling, CERTAIN
        frame.begin()
        if frame.is_function:
            self._enter(frame)
        for place, statement in enumerate(frame.scope.body):
            if type(statement) is int:
                frame.step(statement, place)
            else:
                self.execute(statement, frame, visible=True)
        frame.end()
        nesting.bodies -= 1
        program.ceiling = ceiling
        return frame

    def execute(self, statement: Statement, frame: Frame, *, visible: bool) -> None:
        """Do what a statement does; an invisible one only for the names that it binds."""
        if type(statement) is Define:
            self._define(statement, frame, visible=visible)
        else:
            self._DOERS[type(statement)](self, statement, frame)

    def _enter(self, frame: Frame) -> None:
        """Bind the parameters of a function."""
        first = self.first_parameter(frame.own)
        for place, parameter in enumerate(frame.scope.parameters):
            name = parameter.name
            if not name or name == "/":
                continue
            if place == 0 and first is not None:
                frame.rebind(name, first)
            else:
                around = frame.parent or frame
                frame.names[name] = frame.now[name] = self._parameter(frame.own, parameter, around)

    def _parameter(self, own: Id, parameter: Parameter, scope: Frame) -> Values:
        """Return what a parameter may be: by its annotation, or what is given to it, and its default."""
        argument = Argument(own, parameter.name)
        values = self.described(parameter.annotation, scope)
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
            return not self.is_protocol(value.cls)
        return type(value) in _TELLING

    # statements

    def _assign(self, statement: Assign, frame: Frame) -> None:
        line, target = statement.line, statement.target
        value = self.value(statement.value, frame, line)
        if self._program.is_last_pass and type(target) is not Name:
            self.named_as_value(statement.value, value, frame, line, written_name(target) or IN_CONTAINER)
        elif self._program.is_last_pass and frame.scope.kind == "class" and type(target) is Name:
            self._note_members(target.name, statement.value, frame, line)
        self.assign(target, value, frame, line)

    def _note_members(self, name: str, value: Expression | None, frame: Frame, line: int) -> None:
        """Note the methods of a class that strings in its body name, or a convention."""
        given, rule, names = [value], name, [""]
        if type(value) is Call:
            given, rule = [*value.positional, *(each.value for each in value.keywords)], written_name(value)
            names = [models.METHOD_OF_FIELD.get(bare_name(value.function), "").format(name)]
        listed = (each.parts for each in given if type(each) is ListDisplay or type(each) is TupleDisplay)
        names += [each.text for each in chain(given, *listed) if type(each) is Constant]
        for own in chain.from_iterable(self.defined(frame.own, each) for each in names):
            if self._program.scope(own).kind == "function":
                self._program.edge(frame, own, line, HANDED_ON, rule)

    def _annotated_assign(self, statement: AnnotatedAssign, frame: Frame) -> None:
        declared = self.described(statement.annotation, frame)
        value = self.value(statement.value, frame, statement.line)
        exact = frozenset(each for each in value if type(each) in _MORE_EXACT)
        self.assign(statement.target, declared | exact, frame, statement.line)

    def _augmented_assign(self, statement: AugmentedAssign, frame: Frame) -> None:
        line, operator = statement.line, statement.operator
        value = self.value(statement.value, frame, line)
        left = self.value(statement.target, frame, line)
        methods = (f"__i{operator}__", f"__{operator}__")
        result = self.operator(left, methods, [value], frame, line)
        kept = value if operator == "add" else NOTHING
        self.assign(statement.target, left | result | kept, frame, line)

    def _return(self, statement: Return, frame: Frame) -> None:
        frame.returns = limited(frame.returns | self.value(statement.value, frame, statement.line))
        frame.step(RETURN, 0)

    def _evaluate(self, statement: Evaluate, frame: Frame) -> None:
        self.value(statement.value, frame, statement.line)

    def _test(self, statement: Test, frame: Frame) -> None:
        value = self.value(statement.value, frame, statement.line)
        self.tested(value, frame, statement.line)

    def _for(self, statement: For, frame: Frame) -> None:
        line = statement.line
        iterable = self.value(statement.iterable, frame, line)
        self.assign(statement.target, self.iterated(iterable, frame, line), frame, line)

    def _with(self, statement: With, frame: Frame) -> None:
        line = statement.line
        context = self.value(statement.context, frame, line)
        self.assign(statement.target, self.entered(context, frame, line), frame, line)

    def _except(self, statement: Except, frame: Frame) -> None:
        caught = self.value(statement.caught, frame, statement.line)
        self.assign(statement.target, self.instances(caught), frame, statement.line)

    def _raise(self, statement: Raise, frame: Frame) -> None:
        raised = self.value(statement.value, frame, statement.line)
        if type(statement.value) is not Call:  # `raise Error` makes one
            classes = frozenset(value for value in raised if type(value) is ClassObject)
            self.call(classes, NO_ARGUMENTS, frame, statement.line)
        frame.step(RETURN, 0)

    def _delete(self, statement: Delete, frame: Frame) -> None:
        if type(statement.value) is Subscript:
            base = self.value(statement.value.base, frame, statement.line)
            index = self.value(statement.value.index, frame, statement.line)
            self.operator(base, ("__delitem__",), [index], frame, statement.line)
            self.hashed(base, index, frame, statement.line)
        elif type(statement.value) is Attribute:
            base = self.value(statement.value.base, frame, statement.line)
            self.delete_attribute(base, statement.value.name, frame, statement.line)

    # definitions

    def _define(self, statement: Define, frame: Frame, *, visible: bool) -> None:
        """Bind a definition's name; read the body of a visible class."""
        own = (frame.own[0], statement.scope)
        scope = self._program.scope(own)
        name, is_function = scope.own_name, scope.kind == "function"
        values = self._values(own, frame)
        is_accessor = self.is_accessor(own)
        if frame.is_function:
            frame.rebind(name, values)
        elif statement.branches and "overload" not in self.decorators(own):
            frame.bind(name, values)
        elif is_function and not is_accessor:
            frame.names[name] = values  # the last of several counts
        elif name not in frame.names or not is_accessor:
            frame.bind(name, values)
        if visible and not is_function:
            self._note_creation(own, self.evaluate(own), frame)

    def _is_own_decorator(self, value: Value) -> bool:
        """Tell whether all that a decorator does is in the view."""
        if type(value) is Instance or type(value) is ClassObject:
            return self.is_all_known(value.cls)
        return type(value) is Function or type(value) is LambdaFunction

    def _note_creation(self, own: Id, body: Frame, frame: Frame) -> None:
        """Note what creating a class calls: hooks of its metaclass, its bases and the values in its body."""
        metaclass = self.metaclass(own)
        members = [self.find(own, "__init_subclass__", after=own)]
        if metaclass is not None:
            members += [self.find(metaclass, name) for name in ("__new__", "__init__")]
        made = {value.cls for values in body.names.values() for value in values if type(value) is Instance}
        members += [self.find(cls, "__set_name__") for cls in sorted(made)]
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
        itself: Value = ClassObject(own) if scope.kind == "class" else Function(own, None)
        values: Values = frozenset([itself])
        self._defined[own] = (turn, known[1] if known else values)
        self._nesting.enter_decorators()
        for decorator, line in zip(reversed(scope.decorators), reversed(scope.decorated), strict=True):
            if type(decorator) is Call and decorator_name(decorator) == "wraps":
                for each in decorator.positional[:1]:
                    given = self.value(each, frame, line)
                    values |= {OutsideWith(WRAPPED, frozenset(v for v in given if type(v) is Argument))}
            if decorator is None or is_known_decorator(decorator):
                continue
            function = self.value(decorator, frame, line)
            if not any(map(self._is_own_decorator, function)):
                self._program.handed_out.add(own)
            before, self._program.taker = self._program.taker, ("@", decorator)
            made = self.call(function, Arguments([values]), frame, line)
            self._program.taker = before
            values = frozenset(value for value in made if type(value) in _MADE or is_wrapped(value)) or values
        self._nesting.leave_decorators()
        if itself not in values and type(itself) is Function:
            values |= {OutsideWith(WRAPPED, frozenset([itself]))}
            if self.is_property(own):
                values = frozenset([Property(values, NOTHING, NOTHING)])
        self._defined[own] = (turn, values)
        return values

    _DOERS: ClassVar[Mapping[type[Statement], Callable[..., None]]] = {
        Assign: _assign,
        AnnotatedAssign: _annotated_assign,
        AugmentedAssign: _augmented_assign,
        Return: _return,
        Evaluate: _evaluate,
        Test: _test,
        For: _for,
        With: _with,
        Except: _except,
        Raise: _raise,
        Delete: _delete,
        Import: Names.execute_import,
        ImportFrom: Names.execute_import_from,
    }
    """What executes a statement, but a definition, by its kind."""
