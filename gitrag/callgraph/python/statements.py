"""Statements of Python files: what each binds, returns and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.evaluation import NO_ARGUMENTS, Evaluation
from gitrag.callgraph.python.names import Names
from gitrag.callgraph.python.program import Frame
from gitrag.callgraph.python.records import (
    AnnotatedAssign,
    Assign,
    Attribute,
    AugmentedAssign,
    Call,
    Delete,
    Evaluate,
    Except,
    For,
    Import,
    ImportFrom,
    Raise,
    Return,
    Statement,
    Subscript,
    Test,
    With,
)
from gitrag.callgraph.python.targets import Targets
from gitrag.callgraph.python.values import (
    NOTHING,
    ClassObject,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    TupleOf,
    limited,
)

_MORE_EXACT = frozenset({Instance, ClassObject, ListOf, DictOf, TupleOf, Function, LambdaFunction})
"""Kinds of value that say more than the annotation of the name that they are assigned to."""


class Statements:
    """Executes statements, but definitions.

    Args:
        names: Imports.
        annotations: Knows what a name is declared to be.
        attributes: Calls special methods.
        targets: Assigns.
        whole: What evaluates the expressions in statements.
    """

    def __init__(
        self,
        names: Names,
        annotations: Annotations,
        attributes: Attributes,
        targets: Targets,
        whole: Evaluation,
    ) -> None:
        self._names = names
        self._annotations = annotations
        self._attributes = attributes
        self._targets = targets
        self._whole = whole

    def doers(self) -> Mapping[type[Statement], Callable[..., None]]:
        """Return what executes a statement, but a definition, by its kind: called with it and its frame."""
        return {
            Assign: self._assign,
            AnnotatedAssign: self._annotated_assign,
            AugmentedAssign: self._augmented_assign,
            Return: self._return,
            Evaluate: self._evaluate,
            Test: self._test,
            For: self._for,
            With: self._with,
            Except: self._except,
            Raise: self._raise,
            Delete: self._delete,
            Import: self._names.execute_import,
            ImportFrom: self._names.execute_import_from,
        }

    def _assign(self, statement: Assign, frame: Frame) -> None:
        value = self._whole.value(statement.value, frame, statement.line)
        self._targets.assign(statement.target, value, frame, statement.line)

    def _annotated_assign(self, statement: AnnotatedAssign, frame: Frame) -> None:
        declared = self._annotations.described(statement.annotation, frame)
        value = self._whole.value(statement.value, frame, statement.line)
        exact = frozenset(each for each in value if type(each) in _MORE_EXACT)
        self._targets.assign(statement.target, declared | exact, frame, statement.line)

    def _augmented_assign(self, statement: AugmentedAssign, frame: Frame) -> None:
        line, operator = statement.line, statement.operator
        value = self._whole.value(statement.value, frame, line)
        left = self._whole.value(statement.target, frame, line)
        methods = (f"__i{operator}__", f"__{operator}__")
        result = self._attributes.operator(left, methods, [value], frame, line)
        kept = value if operator == "add" else NOTHING
        self._targets.assign(statement.target, result | kept, frame, line)

    def _return(self, statement: Return, frame: Frame) -> None:
        frame.returns = limited(frame.returns | self._whole.value(statement.value, frame, statement.line))

    def _evaluate(self, statement: Evaluate, frame: Frame) -> None:
        self._whole.value(statement.value, frame, statement.line)

    def _test(self, statement: Test, frame: Frame) -> None:
        value = self._whole.value(statement.value, frame, statement.line)
        self._attributes.tested(value, frame, statement.line)

    def _for(self, statement: For, frame: Frame) -> None:
        line = statement.line
        iterable = self._whole.value(statement.iterable, frame, line)
        self._targets.assign(statement.target, self._attributes.iterated(iterable, frame, line), frame, line)

    def _with(self, statement: With, frame: Frame) -> None:
        line = statement.line
        context = self._whole.value(statement.context, frame, line)
        self._targets.assign(statement.target, self._attributes.entered(context, frame, line), frame, line)

    def _except(self, statement: Except, frame: Frame) -> None:
        caught = self._whole.value(statement.caught, frame, statement.line)
        self._targets.assign(statement.target, self._annotations.instances(caught), frame, statement.line)

    def _raise(self, statement: Raise, frame: Frame) -> None:
        raised = self._whole.value(statement.value, frame, statement.line)
        if type(statement.value) is not Call:  # `raise Error` makes one
            classes = frozenset(value for value in raised if type(value) is ClassObject)
            self._whole.call(classes, NO_ARGUMENTS, frame, statement.line)

    def _delete(self, statement: Delete, frame: Frame) -> None:
        if type(statement.value) is Subscript:
            base = self._whole.value(statement.value.base, frame, statement.line)
            index = self._whole.value(statement.value.index, frame, statement.line)
            self._attributes.operator(base, ("__delitem__",), [index], frame, statement.line)
            self._attributes.hashed(base, index, frame, statement.line)
        elif type(statement.value) is Attribute:
            base = self._whole.value(statement.value.base, frame, statement.line)
            self._attributes.delete(base, statement.value.name, frame, statement.line)
