"""Python's expressions to the lists of `python_syntax`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from tree_sitter import Node

Expression = Any

OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
}
_COMPARISONS = {
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    "in": "__contains__",
    "not in": "__contains__",
}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}

_TEXT_CHARS = 40
"""A string constant that is a name, such as ``getattr`` takes, is kept up to this length."""

_MAX_DEPTH = 60
"""Expressions nested deeper are data, not code."""


_CONSTANTS = {
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "None",
    "ellipsis": "None",
}


class ExpressionReader:
    """Reads expressions.

    Args:
        source: The module's bytes, as they were parsed.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._depth = 0

    def annotation(self, root: Node) -> Expression:
        """Give the expression that a quoted annotation is."""
        inner = root.named_children[0] if root.named_children else None
        if inner is not None and inner.type == "expression_statement":
            inner = inner.named_children[0] if inner.named_children else None
        return self._expression(inner, typed=True)

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _parameters(self, node: Node) -> Iterator[list[Any]]:
        """Give ``[name, annotation, default]``; the name begins with ``*`` or ``**`` where the source's does.

        A lone ``*`` or ``/`` is given as ``["*"]`` or ``["/"]``.
        """
        for child in node.named_children:
            kind = child.type
            annotation = child.child_by_field_name("type")
            default = child.child_by_field_name("value")
            if kind == "keyword_separator":
                yield ["*"]
                continue
            if kind == "positional_separator":
                yield ["/"]
                continue
            if kind == "comment":
                continue
            name = child.child_by_field_name("name")
            if name is None:
                name = child.named_children[0] if kind == "typed_parameter" else child
            yield [
                "".join(self._text(name).split()),
                self._annotation(annotation) if annotation is not None else None,
                self._expression(default),
            ]

    def _annotation(self, node: Node) -> Expression:
        inner = node.named_children[0] if node.type == "type" and node.named_children else node
        return self._expression(inner, typed=True)

    def _one(self, node: Node) -> Expression:
        children = [child for child in node.named_children if child.type != "comment"]
        return self._expression(children[0]) if children else None

    def _all(self, node: Node) -> list[Expression]:
        found = (self._expression(child) for child in node.named_children if child.type != "comment")
        return [value for value in found if value is not None]

    def _expression(self, node: Node | None, *, typed: bool = False) -> Expression:
        if node is None or self._depth > _MAX_DEPTH:
            return None
        kind = node.type
        if kind == "identifier":
            return ["N", self._text(node)]
        if kind == "type":
            return self._annotation(node)
        if kind == "string":
            return self._string(node, typed=typed)
        method = self._EXPRESSIONS.get(kind)
        if method is None:
            constant = _CONSTANTS.get(kind)
            if constant:
                return ["K", constant, ""]
            inner = self._all(node)
            return ["V", *inner] if inner else None
        self._depth += 1
        value = method(self, node, typed)
        self._depth -= 1
        return value

    def _string(self, node: Node, *, typed: bool) -> Expression:
        held = [child for child in node.named_children if child.type == "interpolation"]
        text = self._text(node)
        if held:
            values = [value for child in held for value in self._all(child)]
            prefix = text.lstrip("rRuUbBfF").lstrip("\"'").partition("{")[0]
            return ["P", prefix, *values] if prefix.isidentifier() else ["S", *values]
        plain = text.lstrip("rRuUbBfF").strip("\"' \n")
        if typed and plain:
            from gitrag.chunking.languages import BY_NAME
            from gitrag.chunking.parsing import parse

            source = plain.encode()
            root = parse(source, BY_NAME["python"]).root_node
            return ExpressionReader(source).annotation(root)
        kind = "bytes" if text[:2].lower().find("b") >= 0 else "str"
        return ["K", kind, plain if len(plain) <= _TEXT_CHARS and plain.isidentifier() else ""]

    def _attribute(self, node: Node, typed: bool) -> Expression:
        name = node.child_by_field_name("attribute")
        base = self._expression(node.child_by_field_name("object"), typed=typed)
        return ["A", base, self._text(name)] if name is not None else base

    def _call(self, node: Node, _typed: bool) -> Expression:
        function = self._expression(node.child_by_field_name("function"))
        given = node.child_by_field_name("arguments")
        positional: list[Expression] = []
        keywords: list[list[Any]] = []
        if given is not None and given.type == "generator_expression":
            positional.append(self._expression(given))
        elif given is not None:
            for child in given.named_children:
                if child.type == "keyword_argument":
                    name = child.child_by_field_name("name")
                    value = self._expression(child.child_by_field_name("value"))
                    keywords.append([self._text(name) if name is not None else None, value])
                elif child.type == "dictionary_splat":
                    keywords.append([None, self._one(child)])
                elif child.type != "comment":
                    positional.append(self._expression(child))
        return ["C", function, positional, keywords, node.start_point[0] + 1]

    def _subscript(self, node: Node, typed: bool) -> Expression:
        base = self._expression(node.child_by_field_name("value"), typed=typed)
        inside = [self._expression(c, typed=typed) for c in node.children_by_field_name("subscript")]
        return ["I", base, inside[0] if len(inside) == 1 else ["T", *inside]]

    def _generic(self, node: Node, _typed: bool) -> Expression:
        base = self._expression(node.named_children[0], typed=True)
        inside = [
            self._expression(child, typed=True)
            for part in node.named_children[1:]
            for child in part.named_children
        ]
        return ["I", base, inside[0] if len(inside) == 1 else ["T", *inside]]

    def _binary(self, node: Node, typed: bool) -> Expression:
        left = self._expression(node.child_by_field_name("left"), typed=typed)
        right = self._expression(node.child_by_field_name("right"), typed=typed)
        operator = node.child_by_field_name("operator")
        name = OPERATORS.get(operator.type if operator is not None else "", "")
        return ["U", left, right] if typed else ["B", f"__{name}__", left, right]

    def _union(self, node: Node, _typed: bool) -> Expression:
        return ["U", *[self._expression(child, typed=True) for child in node.named_children]]

    def _boolean(self, node: Node, _typed: bool) -> Expression:
        left = self._expression(node.child_by_field_name("left"))
        return ["U", left, self._expression(node.child_by_field_name("right"))]

    def _conditional(self, node: Node, _typed: bool) -> Expression:
        parts = [self._expression(child) for child in node.named_children if child.type != "comment"]
        if len(parts) < 3:
            return ["U", *parts]
        return ["U", parts[0], parts[2], ["V", parts[1]]]

    def _comparison(self, node: Node, _typed: bool) -> Expression:
        operands = [self._expression(child) for child in node.named_children if child.type != "comment"]
        operators = [child.type for child in node.children_by_field_name("operators")]
        value: list[Any] = ["V"]
        for left, operator, right in zip(operands, operators, operands[1:], strict=False):
            name = _COMPARISONS.get(operator)
            if name == "__contains__":
                value.append(["B", name, right, left])
            elif name is not None:
                value.append(["B", name, left, right])
            else:
                value += [left, right]
        return value

    def _unary(self, node: Node, _typed: bool) -> Expression:
        operator = node.child_by_field_name("operator")
        name = _UNARY.get(operator.type if operator is not None else "")
        inner = self._expression(node.child_by_field_name("argument"))
        return ["C", ["A", inner, name], [], [], node.start_point[0] + 1] if name and inner else inner

    def _lambda(self, node: Node, _typed: bool) -> Expression:
        parameters = node.child_by_field_name("parameters")
        given = list(self._parameters(parameters)) if parameters is not None else []
        return ["F", given, self._expression(node.child_by_field_name("body"))]

    def _comprehension(self, node: Node, _typed: bool) -> Expression:
        element: Expression = None
        clauses: list[list[Any]] = []
        kind = "L"
        for child in node.named_children:
            if child.type == "for_in_clause":
                left = self._expression(child.child_by_field_name("left"))
                clauses.append([left, self._expression(child.child_by_field_name("right")), []])
            elif child.type == "if_clause" and clauses:
                clauses[-1][2] += self._all(child)
            elif child.type == "pair":
                kind = "D"
                key = self._expression(child.child_by_field_name("key"))
                element = ["D", [self._expression(child.child_by_field_name("value"))], [key]]
            elif child.type != "comment" and element is None:
                element = self._expression(child)
        return ["G", kind, element, clauses]

    def _dictionary(self, node: Node, _typed: bool) -> Expression:
        values: list[Expression] = []
        keys: list[Expression] = []
        for child in node.named_children:
            if child.type == "pair":
                values.append(self._expression(child.child_by_field_name("value")))
                keys.append(self._expression(child.child_by_field_name("key")))
            elif child.type == "dictionary_splat":
                values.append(["*", self._one(child)])
        return ["D", values, [key for key in keys if key and key[0] != "K"]]

    def _walrus(self, node: Node, _typed: bool) -> Expression:
        name = node.child_by_field_name("name")
        value = self._expression(node.child_by_field_name("value"))
        return ["=", self._text(name), value] if name is not None else value

    def _yield(self, node: Node, _typed: bool) -> Expression:
        delegates = any(child.type == "from" for child in node.children)
        return ["YF" if delegates else "Y", self._one(node)]

    def _inner(self, node: Node, typed: bool) -> Expression:
        children = [child for child in node.named_children if child.type != "comment"]
        return self._expression(children[0], typed=typed) if children else None

    def _concatenated(self, node: Node, _typed: bool) -> Expression:
        inner = [value for value in self._all(node) if value[0] == "S"]
        return ["S", *[part for value in inner for part in value[1:]]]

    _EXPRESSIONS: ClassVar[Mapping[str, Callable[[Any, Node, bool], Expression]]] = {
        "attribute": _attribute,
        "member_type": _attribute,
        "call": _call,
        "subscript": _subscript,
        "generic_type": _generic,
        "union_type": _union,
        "binary_operator": _binary,
        "boolean_operator": _boolean,
        "conditional_expression": _conditional,
        "comparison_operator": _comparison,
        "unary_operator": _unary,
        "lambda": _lambda,
        "list_comprehension": _comprehension,
        "set_comprehension": _comprehension,
        "generator_expression": _comprehension,
        "dictionary_comprehension": _comprehension,
        "dictionary": _dictionary,
        "named_expression": _walrus,
        "yield": _yield,
        "concatenated_string": _concatenated,
        "list": lambda self, node, _typed: ["L", *self._all(node)],
        "set": lambda self, node, _typed: ["L", *self._all(node)],
        "tuple": lambda self, node, _typed: ["T", *self._all(node)],
        "expression_list": lambda self, node, _typed: ["T", *self._all(node)],
        "pattern_list": lambda self, node, _typed: ["T", *self._all(node)],
        "tuple_pattern": lambda self, node, _typed: ["T", *self._all(node)],
        "list_pattern": lambda self, node, _typed: ["T", *self._all(node)],
        "await": lambda self, node, _typed: ["W", self._one(node)],
        "list_splat": lambda self, node, _typed: ["*", self._one(node)],
        "list_splat_pattern": lambda self, node, _typed: ["*", self._one(node)],
        "not_operator": lambda self, node, _typed: ["V", self._one(node)],
        "parenthesized_expression": _inner,
        "with_item": _inner,
        "keyword_argument": _inner,
    }
