"""The names in records: what a scope mentions, what a statement binds, what it assigns to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import astuple

from gitrag.callgraph.python.records import (
    AnnotatedAssign,
    Assign,
    Attribute,
    AugmentedAssign,
    Call,
    Constant,
    Evaluate,
    Except,
    Expression,
    For,
    ImportFrom,
    ListDisplay,
    Name,
    Record,
    Scope,
    Starred,
    Statement,
    Subscript,
    TupleDisplay,
    With,
    bare_name,
    decorator_name,
)

_GETATTR = Name("getattr")

ADDING_TO_LIST = frozenset({"append", "add", "insert", "appendleft"})
ADDING_TO_DICT = frozenset({"setdefault"})
ADDING = ADDING_TO_LIST | ADDING_TO_DICT

GIVING = frozenset(
    "filters globals template_filter template_global app_template_filter app_template_global".split()
)
"""What holds the functions that templates of Jinja call, and Flask's decorators for them."""


def names_in(record: Record, *, inherited: bool = True) -> Iterator[str]:
    """Yield the names that a record reads, calls or imports.

    Args:
        record: A scope, statement or expression.
        inherited: Whether those that it reads of ``super()`` are among them.
    """
    waiting: list[object] = [record]
    while waiting:
        each = waiting.pop()
        if type(each) is str or type(each) is int or each is None:
            continue
        if type(each) is tuple:
            waiting.extend(each)
        elif type(each) is Name:
            yield each.name
        elif type(each) is Attribute:
            if inherited or not _is_super(each.base):
                yield each.name
            waiting.append(each.base)
        elif type(each) is ImportFrom:
            yield each.imported
        elif isinstance(each, Record):
            if type(each) is Call and each.function == _GETATTR:
                yield from (
                    name.text for name in each.positional[1:2] if type(name) is Constant and name.text
                )
            waiting.extend(astuple(each))


def _is_super(expression: Expression | None) -> bool:
    return type(expression) is Call and expression.function == Name("super")


def bound_in(target: Expression | None) -> Iterator[str]:
    """Yield the names that a target binds."""
    for each in _leaves(target):
        if type(each) is Name:
            yield each.name


def attributes_assigned(statement: Statement) -> Iterator[str]:
    """Yield the attributes that a statement assigns to, or that it puts something into."""
    targets: list[Expression | None] = []
    if type(statement) is not Except:
        targets.extend(_leaves(target_of(statement)))
    if type(statement) is Evaluate and type(statement.value) is Call:
        function = statement.value.function
        if type(function) is Attribute and function.name in ADDING:
            targets.append(function.base)
    while targets:
        each = targets.pop()
        if type(each) is Subscript:
            targets.append(each.base)
        elif type(each) is Attribute:
            yield each.name


def target_of(statement: Statement) -> Expression | None:
    """Return what a statement assigns to; None for one that assigns nothing."""
    if (
        type(statement) is Assign
        or type(statement) is AnnotatedAssign
        or type(statement) is AugmentedAssign
        or type(statement) is For
        or type(statement) is With
        or type(statement) is Except
    ):
        return statement.target
    return None


def _leaves(target: Expression | None) -> Iterator[Expression]:
    """Yield what a target consists of, from left to right."""
    waiting = [target]
    while waiting:
        each = waiting.pop()
        if type(each) is TupleDisplay or type(each) is ListDisplay:
            waiting.extend(reversed(each.parts))
        elif type(each) is Starred:
            waiting.append(each.value)
        elif each is not None:
            yield each


def given_to_templates(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield what a scope gives to templates of Jinja: under which name, and by which name of its own."""
    for decorator in scope.decorators:
        if decorator_name(decorator) in GIVING:
            key = decorator.positional[0] if type(decorator) is Call and decorator.positional else None
            yield (key.text if type(key) is Constant and key.text else scope.own_name), scope.own_name
    for statement in scope.body:
        if type(statement) is Assign and type(statement.target) is Subscript:
            base, key, value = statement.target.base, statement.target.index, statement.value
            if bare_name(base) in GIVING and type(key) is Constant and type(value) is Name:
                yield key.text, value.name
        elif type(statement) is Evaluate and type(statement.value) is Call:
            function = statement.value.function
            base = function.base if type(function) is Attribute and function.name == "update" else None
            if bare_name(base) in GIVING:
                for each in statement.value.keywords:
                    if each.name and type(each.value) is Name:
                        yield each.name, each.value.name
