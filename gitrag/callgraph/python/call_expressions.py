"""Calls as they are written in Python files: their arguments, ``super()``, ``getattr``, ``isinstance``."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.confidence import ONE_OF_SEVERAL
from gitrag.callgraph.python.evaluation import Arguments, Evaluation
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import Attribute, Call, Expression, Name, Starred, written_name
from gitrag.callgraph.python.targets import Targets
from gitrag.callgraph.python.values import (
    NOTHING,
    ClassObject,
    Function,
    Instance,
    PickedByPrefix,
    Super,
    Text,
    Value,
    Values,
    dict_of,
    limited,
    list_of,
    ordered,
)

_ADDING_TO_LIST = frozenset({"append", "add", "insert", "appendleft"})
_ADDING_TO_DICT = frozenset({"setdefault"})


class CallExpressions:
    """Evaluates calls.

    Args:
        program: The files.
        methods: Knows what ``super()`` is bound to.
        classes: Finds methods by the beginning of their name.
        annotations: Knows what ``isinstance`` narrows to.
        attributes: Reads what ``getattr`` reads.
        targets: Keeps what is added to containers.
        whole: What evaluates arguments, and calls.
    """

    def __init__(
        self,
        program: Program,
        methods: Methods,
        classes: Classes,
        annotations: Annotations,
        attributes: Attributes,
        targets: Targets,
        whole: Evaluation,
    ) -> None:
        self._program = program
        self._methods = methods
        self._classes = classes
        self._annotations = annotations
        self._attributes = attributes
        self._targets = targets
        self._whole = whole

    def value(self, expression: Call, frame: Frame, _line: int) -> Values:
        """Return what a call may return."""
        function, line = expression.function, expression.line
        named = function.name if type(function) is Name else ""
        if named == "super":
            return self._super(expression.positional, frame)
        called = self._whole.value(function, frame, line)
        if named in {"getattr", "hasattr"} and len(expression.positional) > 1:
            found = self._getattr(expression.positional, frame, line)
            return found if named == "getattr" else NOTHING
        arguments = self._arguments(expression, frame, line)
        if type(function) is Attribute and arguments.positional:
            if function.name in _ADDING_TO_LIST:
                self._targets.store(function.base, list_of(arguments.positional[-1]), frame, line)
            elif function.name in _ADDING_TO_DICT:
                self._targets.store(function.base, dict_of(arguments.positional[-1]), frame, line)
        if named == "isinstance" and len(expression.positional) == 2:
            self._narrow(expression.positional[0], arguments.positional, frame)
        if type(function) is Attribute and function.name == "format" and not called:
            given = [*arguments.positional, *(values for _, values in arguments.keywords)]
            self._attributes.formatted(NOTHING.union(*given), frame, line)
        if named == "setattr" and len(arguments.positional) == 3:
            self._setattr(arguments.positional, frame, line)
        before = self._program.ceiling, self._program.taker
        self._program.taker = written_name(function)
        if self._is_handed_down(function, called, frame):
            self._program.ceiling = min(before[0], ONE_OF_SEVERAL)
        found = self._whole.call(called, arguments, frame, line)
        self._program.ceiling, self._program.taker = before
        return found

    def _is_handed_down(self, function: Expression | None, called: Values, frame: Frame) -> bool:
        """Tell whether a method calls itself, but of another object: of what it wraps, most often.

        That has the method under the same name, and need not be an instance of the same class.
        """
        if type(function) is Attribute and type(function.base) is Name:
            first = frame.scope.parameters[:1]
            if first and first[0].name == function.base.name:
                return False
        return any(
            type(value) is Function and value.function == frame.own and value.bound for value in called
        )

    def _setattr(self, given: Sequence[Values], frame: Frame, line: int) -> None:
        for name in ordered(given[1]):
            if type(name) is Text and name.whole:
                self._attributes.set(given[0], name.text, given[2], frame, line)

    def _arguments(self, expression: Call, frame: Frame, line: int) -> Arguments:
        value = self._whole.value
        positional: list[Values] = []
        starred = NOTHING
        for each in expression.positional:
            if type(each) is Starred:
                starred |= self._attributes.iterated(value(each.value, frame, line), frame, line)
            else:
                positional.append(value(each, frame, line))
        keywords = [(keyword.name, value(keyword.value, frame, line)) for keyword in expression.keywords]
        is_open = any(type(each) is Starred for each in expression.positional)
        return Arguments(positional, keywords, starred, is_open)

    def _getattr(self, positional: Sequence[Expression | None], frame: Frame, line: int) -> Values:
        bases, names, *rest = (self._whole.value(each, frame, line) for each in positional)
        found = rest[0] if rest else NOTHING
        for name in ordered(names):
            if type(name) is Text and name.whole:
                found |= self._attributes.read(bases, name.text, frame, line)
            elif type(name) is Text:
                found |= self._beginning(bases, name.text)
        if not any(type(name) is Text for name in names):
            self._attributes.read_unnamed(bases, frame, line)
        return limited(found)

    def _beginning(self, bases: Values, prefix: str) -> Values:
        """Return the methods whose names begin like this."""
        found: set[Value] = set()
        for base in bases:
            if type(base) is Instance or type(base) is ClassObject:
                found.update(Function(own, base) for own in self._classes.beginning(base.cls, prefix))
        return frozenset([PickedByPrefix(frozenset(found))]) if found else NOTHING

    def _narrow(self, tested: Expression | None, arguments: Sequence[Values], frame: Frame) -> None:
        if type(tested) is Name and len(arguments) == 2:
            known = frame.names.get(tested.name)
            if known is None:
                return
            classes = [value.cls for value in known if type(value) is Instance]
            told = self._annotations.instances(arguments[1])
            if classes:  # one related to them says what kind of them it is, not what else
                told = frozenset(
                    value
                    for value in told
                    if type(value) is Instance
                    and not any(self._classes.are_related(value.cls, each) for each in classes)
                )
            frame.bind(tested.name, told)

    def _super(self, positional: Sequence[Expression | None], frame: Frame) -> Values:
        """Return ``super()``: of the method around, or of the class that it is given."""
        method: Frame | None = frame
        while method is not None and (method.parent is None or method.parent.scope.kind != "class"):
            method = method.parent
        if method is None or method.parent is None:
            return NOTHING
        cls: Id = method.parent.own
        if len(positional) == 2:
            for value in ordered(self._whole.value(positional[0], frame, 0)):
                if type(value) is ClassObject:
                    cls = value.cls
        receivers: Values = self._methods.first_parameter(method.own) or frozenset([ClassObject(cls)])
        return frozenset(Super(cls, receiver) for receiver in receivers)
