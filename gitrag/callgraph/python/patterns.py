"""The patterns of Python's ``case``: which names they bind, and to what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitrag.callgraph.python.records import (
    Alternatives,
    AnnotatedAssign,
    Assign,
    Attribute,
    Expression,
    Name,
    Statement,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitrag.callgraph.python.expression_reader import ExpressionReader


def bound_by(pattern: Node, reader: ExpressionReader) -> Iterator[Statement]:
    """Yield the assignments that a pattern makes."""
    waiting = [pattern]
    while waiting:
        each = waiting.pop()
        children = each.named_children
        bound: list[Node] = []
        classes: tuple[Expression, ...] = ()
        if each.type == "as_pattern" and len(children) > 1:
            bound, classes, children = children[-1:], classes_of(children[0], reader), children[:1]
        elif each.type in {"class_pattern", "keyword_pattern"}:
            children = children[1:]
        elif each.type == "splat_pattern" or (each.type == "dotted_name" and len(children) == 1):
            bound, children = children[:1], []
        for name in bound:
            target, line = Name(reader.text(name)), name.start_point[0] + 1
            if classes:
                yield AnnotatedAssign(line, target, Alternatives(classes), None)
            else:
                yield Assign(line, target, None)
        waiting.extend(children)


def classes_of(pattern: Node, reader: ExpressionReader) -> tuple[Expression, ...]:
    """Return the classes that what matches a pattern is of one of; none where it may be of any."""
    while pattern.type in {"case_pattern", "as_pattern"} and pattern.named_children:
        pattern = pattern.named_children[0]
    every = pattern.named_children if pattern.type == "union_pattern" else [pattern]
    named = [each.named_children[0] for each in every if each.type == "class_pattern"]
    return tuple([_dotted(each, reader) for each in named]) if len(named) == len(every) else ()


def _dotted(node: Node, reader: ExpressionReader) -> Expression:
    first, *rest = node.named_children
    found: Expression = Name(reader.text(first))
    for each in rest:
        found = Attribute(found, reader.text(each), each.start_point[0] + 1)
    return found
