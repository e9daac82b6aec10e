"""Expressions of Python files: what each may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.call_expressions import CallExpressions
from gitrag.callgraph.python.evaluation import Evaluation
from gitrag.callgraph.python.names import Names
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import (
    Alternatives,
    Attribute,
    Await,
    BinaryOperation,
    Call,
    Comprehension,
    Constant,
    DictDisplay,
    Expression,
    FormattedName,
    FormattedText,
    Lambda,
    ListDisplay,
    Name,
    NamedExpression,
    Starred,
    Subscript,
    TupleDisplay,
    Untyped,
    Yield,
    YieldFrom,
)
from gitrag.callgraph.python.targets import Targets
from gitrag.callgraph.python.values import (
    MAX_DEPTH,
    NOTHING,
    YIELDED,
    Annotation,
    Argument,
    BuiltinInstance,
    ClassObject,
    Instance,
    LambdaFunction,
    ListOf,
    Outside,
    Text,
    TupleOf,
    Value,
    Values,
    depth,
    dict_of,
    elements,
    items,
    limited,
    list_of,
)

_LONGEST_TUPLE = 8
"""Of longer tuples it is not known which item is which."""

_GENERIC = ("typing", "collections.abc")
"""Modules whose names are types when they are subscripted."""

_STRING = BuiltinInstance("str")


class Expressions:
    """Evaluates expressions.

    Args:
        program: The files.
        names: Looks names up.
        annotations: Reads types of ``typing``.
        attributes: Reads attributes and calls operators.
        targets: Assigns to the targets of comprehensions.
        calls: Evaluates calls.
        whole: What evaluates the expressions within.
    """

    def __init__(
        self,
        program: Program,
        names: Names,
        annotations: Annotations,
        attributes: Attributes,
        targets: Targets,
        calls: CallExpressions,
        whole: Evaluation,
    ) -> None:
        self._program = program
        self._names = names
        self._annotations = annotations
        self._attributes = attributes
        self._targets = targets
        self._calls = calls
        self._whole = whole

    def readers(self) -> Mapping[type[Expression], Callable[..., Values]]:
        """Return what evaluates an expression, by its kind: called with it, its frame and its line."""
        return {
            Name: self._name,
            Attribute: self._attribute,
            Call: self._calls.value,
            Subscript: self._subscript,
            Alternatives: self._alternatives,
            ListDisplay: self._list,
            TupleDisplay: self._tuple,
            DictDisplay: self._dict,
            Constant: self._constant,
            BinaryOperation: self._operation,
            Untyped: self._untyped,
            FormattedText: self._text,
            FormattedName: self._formatted_name,
            Lambda: self._lambda,
            Comprehension: self._comprehension,
            NamedExpression: self._named,
            Await: self._inner,
            Starred: self._inner,
            Yield: self._yield,
            YieldFrom: self._yield_from,
        }

    def _name(self, expression: Name, frame: Frame, _line: int) -> Values:
        return self._names.lookup(expression.name, frame)

    def _attribute(self, expression: Attribute, frame: Frame, line: int) -> Values:
        base = self._whole.value(expression.base, frame, line)
        return self._attributes.read(base, expression.name, frame, line)

    def _subscript(self, expression: Subscript, frame: Frame, line: int) -> Values:
        base = self._whole.value(expression.base, frame, line)
        if any(type(value) is Outside and value.name.startswith(_GENERIC) for value in base):
            return frozenset([Annotation(self._annotations.described(expression, frame))])
        index = self._whole.value(expression.index, frame, line)
        got = self._attributes.operator(base, ("__getitem__", "__class_getitem__"), [index], frame, line)
        self._attributes.hashed(base, index, frame, line)
        return limited(got | items(base) | {value for value in base if type(value) is ClassObject})

    def _alternatives(self, expression: Alternatives, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.parts:
            found |= self._whole.value(each, frame, line)
        return limited(found)

    def _list(self, expression: ListDisplay | TupleDisplay, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.parts:
            if type(each) is Starred:
                found |= self._iterated(each.value, frame, line)
            else:
                found |= self._whole.value(each, frame, line)
        return list_of(found)

    def _tuple(self, expression: TupleDisplay, frame: Frame, line: int) -> Values:
        if len(expression.parts) > _LONGEST_TUPLE or any(type(each) is Starred for each in expression.parts):
            return self._list(expression, frame, line)
        parts = tuple([self._whole.value(each, frame, line) for each in expression.parts])
        if all(depth(part) < MAX_DEPTH for part in parts):
            return frozenset([TupleOf(parts)])
        return list_of(NOTHING.union(*parts))

    def _dict(self, expression: DictDisplay, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.values:
            if type(each) is Starred:
                found |= items(self._whole.value(each.value, frame, line))
            else:
                found |= self._whole.value(each, frame, line)
        for key in expression.keys:
            self._whole.value(key, frame, line)
        return dict_of(found)

    def _constant(self, expression: Constant, _frame: Frame, _line: int) -> Values:
        made: Value = BuiltinInstance(expression.type_name)
        return frozenset([made, Text(expression.text, whole=True)] if expression.text else [made])

    def _operation(self, expression: BinaryOperation, frame: Frame, line: int) -> Values:
        left = self._whole.value(expression.left, frame, line)
        right = self._whole.value(expression.right, frame, line)
        method = expression.method
        found = self._attributes.operator(left, (method,), [right], frame, line)
        if not found and not any(type(value) is Instance for value in left):
            reflected = "__r" + method.removeprefix("__")
            found = self._attributes.operator(right, (reflected,), [left], frame, line)
        if method == "__contains__":
            self._attributes.hashed(left, right, frame, line)
            held = elements(value for value in left if type(value) is not Argument)
            self._attributes.compared(held, right, frame, line)
        if method == "__mod__" and _STRING in left:
            self._attributes.formatted(right | elements(right), frame, line)
        if method == "__add__":
            kept = (ListOf, TupleOf, BuiltinInstance)
            found |= frozenset(value for value in left | right if type(value) in kept)
            found |= frozenset(Text(value.text, whole=False) for value in left if type(value) is Text)
        return found

    def _untyped(self, expression: Untyped, frame: Frame, line: int) -> Values:
        for each in expression.parts:
            self._whole.value(each, frame, line)
        return NOTHING

    def _text(self, expression: FormattedText | FormattedName, frame: Frame, line: int) -> Values:
        for each in expression.parts:
            value = self._whole.value(each, frame, line)
            self._attributes.operator(value, ("__format__", "__str__", "__repr__"), [], frame, line)
        return frozenset([_STRING])

    def _formatted_name(self, expression: FormattedName, frame: Frame, line: int) -> Values:
        return self._text(expression, frame, line) | {Text(expression.prefix, whole=False)}

    def _lambda(self, expression: Lambda, frame: Frame, line: int) -> Values:
        place = self._program.lambda_place(expression, frame)
        for parameter in expression.parameters:
            frame.names.setdefault(parameter.name, NOTHING)
        self._whole.value(expression.body, frame, line)
        return frozenset([LambdaFunction(place)])

    def _comprehension(self, expression: Comprehension, frame: Frame, line: int) -> Values:
        for clause in expression.clauses:
            self._targets.assign(clause.target, self._iterated(clause.iterable, frame, line), frame, line)
            for condition in clause.conditions:
                self._attributes.tested(self._whole.value(condition, frame, line), frame, line)
        element = self._whole.value(expression.element, frame, line)
        return dict_of(items(element)) if expression.is_dict else list_of(element)

    def _named(self, expression: NamedExpression, frame: Frame, line: int) -> Values:
        value = self._whole.value(expression.value, frame, line)
        frame.bind(expression.name, value)
        return value

    def _yield(self, expression: Yield, frame: Frame, line: int) -> Values:
        value = self._whole.value(expression.value, frame, line)
        frame.yields = limited(frame.yields | value | {YIELDED})
        return NOTHING

    def _yield_from(self, expression: YieldFrom, frame: Frame, line: int) -> Values:
        value = self._iterated(expression.value, frame, line)
        frame.yields = limited(frame.yields | value | {YIELDED})
        return NOTHING

    def _inner(self, expression: Await | Starred, frame: Frame, line: int) -> Values:
        return self._whole.value(expression.value, frame, line)

    def _iterated(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        return self._attributes.iterated(self._whole.value(expression, frame, line), frame, line)
