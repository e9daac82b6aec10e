"""Python's expressions, from tree-sitter's nodes to records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from gitrag.callgraph.python.records import (
    Alternatives,
    Attribute,
    BinaryOperation,
    Call,
    Clause,
    Comprehension,
    Constant,
    DictDisplay,
    Expression,
    FormattedName,
    FormattedText,
    Keyword,
    Lambda,
    ListDisplay,
    Name,
    NamedExpression,
    Parameter,
    Proven,
    Starred,
    Subscript,
    TupleDisplay,
    Untyped,
    Yield,
    YieldFrom,
)

if TYPE_CHECKING:
    from tree_sitter import Node

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

_TEMPLATE = re.compile(r"([A-Za-z_]\w*)(?:%s|%\(|\{)")
"""What ``"visit_%s" % name`` and ``"visit_{}".format(name)`` begin with."""

_CLASS_OF_APP = re.compile(r"[A-Za-z_]\w*\.[A-Z]\w*")
"""How Django names a model of an application: ``"users.User"``."""

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

_PROVING = frozenset(
    "boolean_operator conditional_expression list_comprehension set_comprehension generator_expression"
    " dictionary_comprehension string".split()
)
"""What has proofs within. In a proof it would be read twice, and what is in it four times."""
_MOST_CONDITIONS = 10
"""Conditions within one another that are looked into for what they prove."""
_SAMENESS = {"is": True, "==": True, "is not": False, "!=": False}
"""Comparisons that a class of a name proves, by whether they hold."""


class ExpressionReader:
    """Reads expressions.

    Args:
        source: The module's bytes, as they were parsed.
        depth: How deep the source lies in expressions of another: a quoted annotation within one.
        above: Lines of the file above it.
    """

    def __init__(self, source: bytes, depth: int = 0, above: int = 0) -> None:
        self._source = source
        self._above = above
        self._depth = depth
        self._other_depth = depth

    def text(self, node: Node) -> str:
        """Return a node's source."""
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _line(self, node: Node) -> int:
        return node.start_point[0] + 1 + self._above

    def parameters(self, node: Node | None) -> Iterator[Parameter]:
        for child in node.named_children if node is not None else ():
            kind = child.type
            if kind == "keyword_separator":
                yield Parameter("*")
                continue
            if kind == "positional_separator":
                yield Parameter("/")
                continue
            if kind == "comment":
                continue
            annotation = child.child_by_field_name("type")
            name = child.child_by_field_name("name")
            if name is None:
                name = child.named_children[0] if kind == "typed_parameter" else child
            yield Parameter(
                "".join(self.text(name).split()),
                self.annotation(annotation) if annotation is not None else None,
                self.read(child.child_by_field_name("value")),
            )

    def keyword(self, node: Node) -> Keyword:
        name = node.child_by_field_name("name")
        value = self.read(node.child_by_field_name("value"))
        return Keyword(self.text(name) if name is not None else None, value)

    def annotation(self, node: Node) -> Expression | None:
        """Read an annotation, where strings are expressions too."""
        inner = node.named_children[0] if node.type == "type" and node.named_children else node
        return self.read(inner, typed=True)

    def quoted(self, root: Node) -> Expression | None:
        """Read the expression that the text of a quoted annotation is."""
        inner = root.named_children[0] if root.named_children else None
        if inner is not None and inner.type == "expression_statement":
            inner = inner.named_children[0] if inner.named_children else None
        return self.read(inner, typed=True)

    def only(self, node: Node) -> Expression | None:
        return self._inner(node, typed=False)

    def read(self, node: Node | None, *, typed: bool = False) -> Expression | None:
        """Read an expression.

        Args:
            typed: Whether it is an annotation, or part of one.
        """
        if node is None or self._depth > _MAX_DEPTH or self._other_depth > _MAX_DEPTH:
            return None
        kind = node.type
        if kind == "identifier":
            return Name(self.text(node))
        reader = self._READERS.get(kind)
        if reader is None:
            return self._other(node, kind, typed=typed)
        self._depth += 1
        value = reader(self, node, typed)
        self._depth -= 1
        return value

    def _other(self, node: Node, kind: str, *, typed: bool) -> Expression | None:
        """Read a constant, a string, or what has no record of its own."""
        constant = _CONSTANTS.get(kind)
        if constant:
            return Constant(constant, "")
        self._other_depth += 1
        if kind == "string":
            value = self._string(node, typed=typed)
        elif kind == "type":
            value = self.annotation(node)
        else:
            inner = self._all(node)
            value = Untyped(inner) if inner else None
        self._other_depth -= 1
        return value

    def _all(self, node: Node) -> tuple[Expression, ...]:
        found = [self.read(child) for child in node.named_children if child.type != "comment"]
        return tuple([value for value in found if value is not None])

    def _called_by(self, template: str, above: int) -> tuple[Expression, ...]:
        """Return the calls that a template in a string may make, which has so many lines above it."""
        from gitrag.callgraph.templates import python_of
        from gitrag.chunking.languages import BY_NAME
        from gitrag.chunking.parsing import parse

        source = python_of(template).encode()
        if not source.strip():
            return ()
        inner = ExpressionReader(source, max(self._depth, self._other_depth) + 1, above)
        called = [inner.read(each) for each in parse(source, BY_NAME["python"]).root_node.named_children]
        return tuple([each for each in called if each is not None])

    def _string(self, node: Node, *, typed: bool) -> Expression | None:
        held = [child for child in node.named_children if child.type == "interpolation"]
        text = self.text(node)
        if held:
            values = tuple([value for child in held for value in self._all(child)])
            prefix = text.lstrip("rRuUbBfF").lstrip("\"'").partition("{")[0]
            return FormattedName(prefix, values) if prefix.isidentifier() else FormattedText(values)
        plain = text.lstrip("rRuUbBfF").strip("\"' \n")
        above = self._line(node) - 1 + text.count("\n", 0, text.find(plain))
        if typed and plain:
            from gitrag.chunking.languages import BY_NAME
            from gitrag.chunking.parsing import parse

            source = plain.encode()
            depth = max(self._depth, self._other_depth) + 1
            return ExpressionReader(source, depth, above).quoted(parse(source, BY_NAME["python"]).root_node)
        if "{{" in plain or "{%" in plain:
            called = self._called_by(plain, above)
            if called:
                return FormattedText(called)
        template = _TEMPLATE.match(plain)
        if template is not None:
            return FormattedName(template[1], ())
        kind = "bytes" if text[:2].lower().find("b") >= 0 else "str"
        is_name = plain.isidentifier() or _CLASS_OF_APP.fullmatch(plain)
        return Constant(kind, plain if len(plain) <= _TEXT_CHARS and is_name else "")

    def _attribute(self, node: Node, typed: bool) -> Expression | None:
        name = node.child_by_field_name("attribute")
        base = self.read(node.child_by_field_name("object"), typed=typed)
        return Attribute(base, self.text(name), self._line(name)) if name is not None else base

    def _call(self, node: Node, _typed: bool) -> Expression:
        function = self.read(node.child_by_field_name("function"))
        given = node.child_by_field_name("arguments")
        positional: list[Expression | None] = []
        keywords: list[Keyword] = []
        if given is not None and given.type == "generator_expression":
            positional.append(self.read(given))
        elif given is not None:
            for child in given.named_children:
                if child.type == "keyword_argument":
                    keywords.append(self.keyword(child))
                elif child.type == "dictionary_splat":
                    keywords.append(Keyword(None, self.only(child)))
                elif child.type != "comment":
                    positional.append(self.read(child))
        return Call(function, tuple(positional), tuple(keywords), self._line(node))

    def _subscript(self, node: Node, typed: bool) -> Expression:
        base = self.read(node.child_by_field_name("value"), typed=typed)
        return Subscript(
            base, _index([self.read(each, typed=typed) for each in node.children_by_field_name("subscript")])
        )

    def _generic(self, node: Node, _typed: bool) -> Expression:
        base = self.read(node.named_children[0], typed=True)
        inside = [
            self.read(child, typed=True) for part in node.named_children[1:] for child in part.named_children
        ]
        return Subscript(base, _index(inside))

    def _binary(self, node: Node, typed: bool) -> Expression:
        left = self.read(node.child_by_field_name("left"), typed=typed)
        right = self.read(node.child_by_field_name("right"), typed=typed)
        if typed:
            return Alternatives((left, right))
        operator = node.child_by_field_name("operator")
        name = OPERATORS.get(operator.type if operator is not None else "", "")
        return BinaryOperation(f"__{name}__", left, right)

    def _union(self, node: Node, _typed: bool) -> Expression:
        return Alternatives(tuple([self.read(child, typed=True) for child in node.named_children]))

    def _boolean(self, node: Node, _typed: bool) -> Expression:
        left = node.child_by_field_name("left")
        proofs = self.proofs(left, when=self._is_and(node))
        right = self.read(node.child_by_field_name("right"))
        return Alternatives((self.read(left), _where(proofs, right)))

    def _conditional(self, node: Node, _typed: bool) -> Expression:
        children = [child for child in node.named_children if child.type != "comment"]
        parts = [self.read(child) for child in children]
        if len(parts) < 3:
            return Alternatives(tuple(parts))
        proofs = self.proofs(children[1], when=True), self.proofs(children[1], when=False)
        return Alternatives((_where(proofs[0], parts[0]), _where(proofs[1], parts[2]), Untyped((parts[1],))))

    def proofs(self, node: Node | None, *, when: bool, depth: int = 0) -> list[Proven]:
        """Return what holds where a condition does, or does not: which names are instances of what."""
        kind = node.type if node is not None else ""
        inner = (
            [child for child in node.named_children if child.type != "comment"] if node is not None else []
        )
        if node is None or not inner or depth > _MOST_CONDITIONS:
            return []
        if kind == "boolean_operator":
            left = self.proofs(inner[0], when=when, depth=depth + 1)
            right = self.proofs(inner[-1], when=when, depth=depth + 1)
            if self._is_and(node) == when:
                return left + right
            if len(left) == len(right) == 1 and left[0].name == right[0].name:
                return [Proven(left[0].name, TupleDisplay((left[0].classes, right[0].classes)), None)]
        elif kind in {"not_operator", "parenthesized_expression"}:
            return self.proofs(inner[0], when=when != (kind == "not_operator"), depth=depth + 1)
        elif kind == "call" and when and self.text(inner[0]) == "isinstance" and _is_plain(node):
            return _proof(*self._given(node))
        elif kind == "comparison_operator" and inner[0].type == "call" and len(inner) == 2:
            operator = node.children_by_field_name("operators")[0].type
            is_same = _SAMENESS.get(operator) == when
            if is_same and self.text(inner[0].named_children[0]) == "type" and _is_plain(node):
                return _proof(*self._given(inner[0]), self.read(inner[1]))
        return []

    def _is_and(self, node: Node) -> bool:
        operator = node.child_by_field_name("operator")
        return operator is not None and operator.type == "and"

    def _given(self, call: Node) -> tuple[Expression | None, ...]:
        read = self.read(call)
        return read.positional if type(read) is Call else ()

    def _comparison(self, node: Node, _typed: bool) -> Expression:
        operands = [self.read(child) for child in node.named_children if child.type != "comment"]
        operators = [child.type for child in node.children_by_field_name("operators")]
        parts: list[Expression | None] = []
        for left, operator, right in zip(operands, operators, operands[1:], strict=False):
            name = _COMPARISONS.get(operator)
            if name == "__contains__":
                parts.append(BinaryOperation(name, right, left))
            elif name is not None:
                parts.append(BinaryOperation(name, left, right))
            else:
                parts += [left, right]
        return Untyped(tuple(parts))

    def _unary(self, node: Node, _typed: bool) -> Expression | None:
        operator = node.child_by_field_name("operator")
        name = _UNARY.get(operator.type if operator is not None else "")
        inner = self.read(node.child_by_field_name("argument"))
        if not name or inner is None:
            return inner
        return Call(Attribute(inner, name, self._line(node)), (), (), self._line(node))

    def _lambda(self, node: Node, _typed: bool) -> Expression:
        parameters = tuple(self.parameters(node.child_by_field_name("parameters")))
        return Lambda(parameters, self.read(node.child_by_field_name("body")))

    def _comprehension(self, node: Node, _typed: bool) -> Expression:
        element: Expression | None = None
        clauses: list[Clause] = []
        proofs: list[Proven] = []
        is_dict = False
        for child in node.named_children:
            if child.type == "for_in_clause":
                left = self.read(child.child_by_field_name("left"))
                iterable = _where(proofs, self.read(child.child_by_field_name("right")))
                clauses.append(Clause(left, iterable, ()))
            elif child.type == "if_clause" and clauses:
                last = clauses[-1]
                conditions = [_where(proofs, each) for each in self._all(child)]
                clauses[-1] = Clause(last.target, last.iterable, (*last.conditions, *conditions))
                proofs += self.proofs(child.named_children[0] if child.named_children else None, when=True)
            elif child.type == "pair":
                is_dict = True
                key = self.read(child.child_by_field_name("key"))
                element = DictDisplay((self.read(child.child_by_field_name("value")),), (key,))
            elif child.type != "comment" and element is None:
                element = self.read(child)
        return Comprehension(is_dict, _where(proofs, element), tuple(clauses))

    def _dictionary(self, node: Node, _typed: bool) -> Expression:
        values: list[Expression | None] = []
        keys: list[Expression | None] = []
        for child in node.named_children:
            if child.type == "pair":
                values.append(self.read(child.child_by_field_name("value")))
                keys.append(self.read(child.child_by_field_name("key")))
            elif child.type == "dictionary_splat":
                values.append(Starred(self.only(child)))
        kept = [key for key in keys if key is not None and type(key) is not Constant]
        return DictDisplay(tuple(values), tuple(kept))

    def _list(self, node: Node, _typed: bool) -> Expression:
        return ListDisplay(self._all(node))

    def _tuple(self, node: Node, _typed: bool) -> Expression:
        return TupleDisplay(self._all(node))

    def _starred(self, node: Node, _typed: bool) -> Expression:
        return Starred(self.only(node))

    def _not(self, node: Node, _typed: bool) -> Expression:
        return Untyped((self.only(node),))

    def _walrus(self, node: Node, _typed: bool) -> Expression | None:
        name = node.child_by_field_name("name")
        value = self.read(node.child_by_field_name("value"))
        return NamedExpression(self.text(name), value) if name is not None else value

    def _yield(self, node: Node, _typed: bool) -> Expression:
        delegates = any(child.type == "from" for child in node.children)
        return YieldFrom(self.only(node)) if delegates else Yield(self.only(node))

    def _inner(self, node: Node, typed: bool) -> Expression | None:
        first = next((child for child in node.named_children if child.type != "comment"), None)
        return self.read(first, typed=typed)

    def _concatenated(self, node: Node, _typed: bool) -> Expression:
        inner = [value for value in self._all(node) if type(value) is FormattedText]
        return FormattedText(tuple([part for value in inner for part in value.parts]))

    _READERS: ClassVar[Mapping[str, Callable[[ExpressionReader, Node, bool], Expression | None]]] = {
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
        "list": _list,
        "set": _list,
        "tuple": _tuple,
        "expression_list": _tuple,
        "pattern_list": _tuple,
        "tuple_pattern": _tuple,
        "list_pattern": _tuple,
        "await": _inner,
        "list_splat": _starred,
        "list_splat_pattern": _starred,
        "not_operator": _not,
        "parenthesized_expression": _inner,
        "with_item": _inner,
        "keyword_argument": _inner,
    }


def _is_plain(node: Node) -> bool:
    """Tell whether nothing in an expression has proofs of its own."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type in _PROVING:
            return False
        waiting.extend(each.named_children)
    return True


def _proof(*given: Expression | None) -> list[Proven]:
    """Return that a name is an instance of a class, if these are a name and a class."""
    if len(given) == 2 and (type(given[0]) is Name or type(given[0]) is NamedExpression):
        return [Proven(given[0].name, given[1], None)]
    return []


def _where(proofs: list[Proven], value: Expression | None) -> Expression | None:
    """Return an expression that is only read where something holds."""
    for each in proofs[-_MOST_CONDITIONS:] if value is not None else ():
        value = Proven(each.name, each.classes, value)
    return value


def _index(inside: list[Expression | None]) -> Expression | None:
    return inside[0] if len(inside) == 1 else TupleDisplay(tuple(inside))
