"""What PHP's docblocks declare: types of variables, parameters, results and members."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter

_ONE = r"(?:[^\s<$*|]|<[^<>]*>)++"
_TAG = re.compile(
    r"@(?:phpstan-|psalm-)?(?P<tag>var|param|return|property)(?:-read|-write)?\s+"
    rf"(?P<type>\$this|(?>{_ONE}(?:\s*\|\s*{_ONE})*)(?!\s*\|))(?:\s+&?(?:\.\.\.)?\$(?P<name>\w+))?"
)
TEMPLATE = re.compile(r"@(?:(?:phpstan-|psalm-)?template[\w-]*|(?:phpstan|psalm)-(?:import-)?type)\s+(\w+)")
"""A name that stands for a type of others in what comments declare: it is no class."""
ROUTE_NAMED = late_re(
    r"@(?:[A-Za-z]\w*\\)?Route\((?>[^()\"@]|\"[^\"@]*\"|\([^()@]*\))*?\bname\s*=\s*\"([^\"\s]+)\""
)
"""The name of a route of Symfony, as comments have it."""
_FUNCTIONS = frozenset({"method_declaration", "function_definition"})
_MOST_LOOKED_AT = 100
"""Nodes of a statement among which the variable is looked for that a docblock before it is about."""


_Documented = tuple[Literal["var", "field", "returns"], str, str, "tree_sitter.Node"]
"""Of what a docblock declares the type (a variable, a member, or what a function returns), its name, the type
as written, and where: the variable, or what the member or the result is of."""


def documented(  # noqa: C901 - a branch a tag
    comment: tree_sitter.Node, text: Callable[[tree_sitter.Node], str]
) -> Iterator[_Documented]:
    """Yield what a comment declares of what follows it.

    Args:
        text: Gives a node's text.
    """
    written, after = text(comment), comment.next_named_sibling
    if not (written.startswith("/**") and written.endswith("*/")) or after is None:
        return
    parameters = after.child_by_field_name("parameters") if after.type in _FUNCTIONS else None
    by_name = {
        text(node): (each, node)
        for each in (parameters.named_children if parameters is not None else ())
        if (node := each.child_by_field_name("name")) is not None
    }
    for found in _TAG.finditer(written):
        tag, type_, name = found["tag"], found["type"], found["name"] or ""
        if tag == "return" and after.type in _FUNCTIONS:
            yield ("returns", "", type_, after)
        elif tag == "property" and name:
            body = after.child_by_field_name("body")
            if body is not None:
                yield ("field", name, type_, body)
        elif tag == "param" and f"${name}" in by_name:
            each, own_name = by_name[f"${name}"]
            is_field = each.type == "property_promotion_parameter"
            yield ("field" if is_field else "var", name, type_, own_name)
        elif tag == "var" and after.type == "property_declaration":
            for each in after.named_children:
                node = each.child_by_field_name("name") if each.type == "property_element" else None
                if node is not None:
                    yield ("field", text(node).lstrip("$"), type_, node)
        elif tag == "var":
            node = _given(after, name and f"${name}", text)
            if node is not None or name:
                own = name or text(node or comment).lstrip("$")
                yield ("var", own, type_, node or comment)


def _given(
    statement: tree_sitter.Node, name: str, text: Callable[[tree_sitter.Node], str]
) -> tree_sitter.Node | None:
    """Find the variable that a statement gives something: the left one, or what a loop goes over."""
    if not name:  # said of what the statement itself gives
        statement = next(iter(statement.named_children), statement)
    waiting = [statement]
    for _ in range(_MOST_LOOKED_AT):
        if not waiting:
            return None
        each = waiting.pop(0)
        if each.type == "assignment_expression":
            left = each.child_by_field_name("left")
            every = left.named_children if left is not None and left.type == "list_literal" else [left]
            for node in every:
                if node is not None and node.type == "variable_name" and (not name or text(node) == name):
                    return node
        elif each.type == "foreach_statement":
            inner = [it for node in each.named_children[1:] for it in (node, *node.named_children[:2])]
            return next(
                (it for it in inner if name and it.type == "variable_name" and text(it) == name), None
            )
        waiting += each.named_children if name else ()
    return None
