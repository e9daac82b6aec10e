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
    Except,
    Expression,
    For,
    ImportFrom,
    ListDisplay,
    Name,
    Record,
    Starred,
    Statement,
    TupleDisplay,
    With,
)


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
            waiting.extend(astuple(each))


def _is_super(expression: Expression | None) -> bool:
    return type(expression) is Call and expression.function == Name("super")


def bound_in(target: Expression | None) -> Iterator[str]:
    """Yield the names that a target binds."""
    for each in _leaves(target):
        if type(each) is Name:
            yield each.name


def attributes_assigned(statement: Statement) -> Iterator[str]:
    """Yield the attributes that an assignment, a loop or ``with`` assigns to."""
    if type(statement) is not Except:
        for each in _leaves(target_of(statement)):
            if type(each) is Attribute:
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
