"""Python's syntax trees to facts: every definition with what its body binds, calls and gives back.

A body is a list of statements, an expression a list, both plain enough for JSON. The first item says what it
is; ``None`` stands for what no value flows through.

Expressions::

    ["N", name]                          a name
    ["A", base, attribute]
    ["C", function, arguments, keywords, line]   keywords: [name or None, value]
    ["I", base, index]
    ["U", expression, …]                 one of them
    ["L", expression, …]                 a list, set or generator of them
    ["T", expression, …]                 a tuple
    ["D", values, keys]
    ["K", type, text]                    a constant
    ["B", method, left, right]           an operator
    ["V", expression, …]                 read, but of no type that matters
    ["S", expression, …]                 put into a string
    ["P", prefix, expression, …]         put into a string that begins like a name
    ["F", parameters, body]              a lambda
    ["G", kind, element, [[target, iterable, conditions], …]]   a comprehension; kind: L or D
    ["=", name, value]                   an assignment expression
    ["W", expression]                    await
    ["Y", expression], ["YF", expression]        yield, yield from
    ["*", expression]                    unpacked

Statements, each with its line in the second place::

    ["=", line, target, value]           [":", line, target, annotation, value]
    ["+", line, target, value, method]   ["r", line, value]
    ["x", line, value]                   ["b", line, tested]
    ["f", line, target, iterable]        ["w", line, context, target]
    ["e", line, target, type]            ["g", line, raised]
    ["d", line, definition, branches that it stands in]
    ["D", line, deleted]
    ["i", line, module, name or None]    ["m", line, module, imported, name]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from gitrag.callgraph.python.expressions import OPERATORS, Expression, ExpressionReader

if TYPE_CHECKING:
    from tree_sitter import Node

Statement = list[Any]
_SILENT = frozenset(
    "comment pass_statement break_statement continue_statement global_statement nonlocal_statement"
    " future_import_statement type_alias_statement identifier".split()
)


class Reader(ExpressionReader):
    """Reads one module.

    Args:
        source: Its bytes, as they were parsed.
    """

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.definitions: list[list[Any]] = []
        self._body: list[Statement] = []
        self._index = 0
        self._branches = 0

    def read(self, root: Node) -> list[list[Any]]:
        """Give the module's definitions; the first one is the module itself.

        Each is ``[kind, qualified name, first line, last line, parent, decorators, parameters or bases,
        return annotation or None, body]``; kind is ``module``, ``function``, ``async`` or ``class``. A class
        has its methods' places behind, by the attributes that they assign to.
        """
        end = root.end_point[0] + 1
        module: list[Any] = ["module", "", 1, end, -1, [], [], None, []]
        self.definitions.append(module)
        self._scope(0, root)
        for index, row in enumerate(self.definitions):
            above = self.definitions[row[4]]
            if row[0] in {"function", "async"} and above[0] == "class":
                found = (name for each in row[8] if each[0] in "=:+fw" for name in _assigned(each))
                for name in sorted(set(found)):
                    above[9].setdefault(name, []).append(index)
        return self.definitions

    def _scope(self, index: int, block: Node) -> None:
        outer, self._body = self._body, []
        before, branches = self._index, self._branches
        self._index, self._branches = index, 0
        self._block(block)
        self.definitions[index][8] = self._body
        self._body, self._index, self._branches = outer, before, branches

    def _block(self, node: Node | None) -> None:
        if node is not None:
            for child in node.named_children:
                self._statement(child)

    def _add(self, node: Node, kind: str, *rest: Any) -> None:
        self._body.append([kind, node.start_point[0] + 1, *rest])

    # statements

    def _statement(self, node: Node) -> None:
        method = self._STATEMENTS.get(node.type)
        if method is not None:
            method(self, node)
        elif node.type not in _SILENT:
            value = self._expression(node)
            if value is not None and value[0] not in "NK":
                self._add(node, "x", value)

    def _expression_statement(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in self._STATEMENTS:
                self._statement(child)
            else:
                value = self._expression(child)
                if value is not None and value[0] not in "NK":
                    self._add(child, "x", value)

    def _assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        annotation = node.child_by_field_name("type")
        targets = [left]
        while right is not None and right.type == "assignment" and annotation is None:
            targets.append(right.child_by_field_name("left"))
            right = right.child_by_field_name("right")
        value = self._expression(right)
        if annotation is not None:
            self._add(node, ":", self._expression(left), self._annotation(annotation), value)
            return
        for target in targets:
            self._add(node, "=", self._expression(target), value)

    def _augmented(self, node: Node) -> None:
        operator = node.child_by_field_name("operator")
        name = OPERATORS.get(self._text(operator)[:-1], "") if operator else ""
        left = self._expression(node.child_by_field_name("left"))
        self._add(node, "+", left, self._expression(node.child_by_field_name("right")), name)

    def _return(self, node: Node) -> None:
        value = self._one(node)
        if value is not None:
            self._add(node, "r", value)

    def _for(self, node: Node) -> None:
        left = self._expression(node.child_by_field_name("left"))
        self._add(node, "f", left, self._expression(node.child_by_field_name("right")))
        self._block(node.child_by_field_name("body"))
        self._clause(node.child_by_field_name("alternative"))

    def _with(self, node: Node) -> None:
        for clause in node.named_children:
            if clause.type != "with_clause":
                continue
            for item in clause.named_children:
                value = item.child_by_field_name("value") or item
                target = None
                if value.type == "as_pattern":
                    target = self._alias(value)
                    value = value.named_children[0]
                self._add(item, "w", self._expression(value), target)
        self._block(node.child_by_field_name("body"))

    def _alias(self, pattern: Node) -> Expression:
        alias = pattern.child_by_field_name("alias")
        return self._one(alias) if alias is not None else None

    def _if(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self._tested(condition)
        self._branches += 1
        self._block(node.child_by_field_name("consequence") or node.child_by_field_name("body"))
        for child in node.children_by_field_name("alternative"):
            self._clause(child)
        self._branches -= 1

    def _clause(self, node: Node | None) -> None:
        if node is None:
            return
        if node.type == "elif_clause":
            self._if(node)
        else:
            self._block(node.child_by_field_name("body"))

    def _tested(self, node: Node) -> None:
        value = self._expression(node)
        if value is not None and value[0] != "K":
            self._add(node, "b", value)

    def _try(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in {"except_clause", "except_group_clause"}:
                self._except(child)
            elif child.type == "block":
                self._block(child)
            elif child.type != "comment":
                self._block(next((c for c in child.named_children if c.type == "block"), None))

    def _except(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "block":
                self._block(child)
            elif child.type == "as_pattern":
                self._add(child, "e", self._alias(child), self._expression(child.named_children[0]))
            elif child.type != "comment":
                alias = node.child_by_field_name("alias")
                if alias is not None and alias == child:
                    continue
                target = self._expression(alias) if alias is not None else None
                self._add(child, "e", target, self._expression(child))

    def _raise(self, node: Node) -> None:
        for place, child in enumerate(node.named_children):  # the second is what it comes from
            self._add(node, "x" if place else "g", self._expression(child))

    def _delete(self, node: Node) -> None:
        value = self._one(node)
        for each in value[1:] if value and value[0] == "T" else [value]:
            if each and each[0] in "AI":
                self._add(node, "D", each)

    def _assert(self, node: Node) -> None:
        for child in node.named_children:
            self._tested(child)

    def _match(self, node: Node) -> None:
        for subject in node.children_by_field_name("subject"):
            value = self._expression(subject)
            if value is not None:
                self._add(subject, "x", value)
        body = node.child_by_field_name("body")
        for case in body.named_children if body is not None else ():
            for child in case.named_children:
                if child.type == "block":
                    self._block(child)
                elif child.type == "if_clause":
                    self._tested(child.named_children[0])

    def _import(self, node: Node) -> None:
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                module, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
                if module is not None and alias is not None:
                    self._add(node, "i", self._text(module), self._text(alias))
            else:
                self._add(node, "i", self._text(name), None)

    def _import_from(self, node: Node) -> None:
        module = node.child_by_field_name("module_name")
        origin = "".join(self._text(module).split()) if module is not None else ""
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                imported, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
                if imported is not None and alias is not None:
                    self._add(node, "m", origin, self._text(imported), self._text(alias))
            else:
                self._add(node, "m", origin, self._text(name), self._text(name))
        if any(child.type == "wildcard_import" for child in node.children):
            self._add(node, "m", origin, "*", "*")

    # definitions

    def _decorated(self, node: Node) -> None:
        decorators = [self._one(child) for child in node.named_children if child.type == "decorator"]
        definition = node.child_by_field_name("definition")
        if definition is not None:
            self._define(definition, decorators, node.start_point[0] + 1)

    def _define(self, node: Node, decorators: list[Any] | None = None, line: int | None = None) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        parent = self._index
        outer = self.definitions[parent][1]
        qualified = f"{outer}.{self._text(name)}" if outer else self._text(name)
        first = line or node.start_point[0] + 1
        index = len(self.definitions)
        if node.type == "class_definition":
            row = ["class", qualified, first, node.end_point[0] + 1, parent, decorators or [], [], None, []]
            row.append({})
            bases = node.child_by_field_name("superclasses")
            row[6] = [self._argument(child) for child in bases.named_children] if bases is not None else []
        else:
            kind = "async" if node.children and node.children[0].type == "async" else "function"
            row = [kind, qualified, first, node.end_point[0] + 1, parent, decorators or [], [], None, []]
            parameters = node.child_by_field_name("parameters")
            row[6] = list(self._parameters(parameters)) if parameters is not None else []
            returns = node.child_by_field_name("return_type")
            row[7] = self._annotation(returns) if returns is not None else None
        self.definitions.append(row)
        self._add(node, "d", index, self._branches)
        if body is not None:
            self._scope(index, body)

    def _argument(self, node: Node) -> Any:
        """Give a base class, or a class keyword as ``[name, value]``."""
        if node.type == "keyword_argument":
            name = node.child_by_field_name("name")
            value = self._expression(node.child_by_field_name("value"))
            return ["=", self._text(name) if name is not None else "", value]
        return self._expression(node)

    _STATEMENTS: ClassVar[Mapping[str, Callable[[Any, Node], None]]] = {
        "expression_statement": _expression_statement,
        "assignment": _assignment,
        "augmented_assignment": _augmented,
        "return_statement": _return,
        "for_statement": _for,
        "while_statement": _if,
        "with_statement": _with,
        "if_statement": _if,
        "try_statement": _try,
        "raise_statement": _raise,
        "assert_statement": _assert,
        "delete_statement": _delete,
        "match_statement": _match,
        "import_statement": _import,
        "import_from_statement": _import_from,
        "decorated_definition": _decorated,
        "function_definition": _define,
        "class_definition": _define,
        "block": _block,
        "ERROR": _block,
    }


def _assigned(statement: Statement) -> Iterator[str]:
    """Give the attributes that an assignment, a loop or ``with`` assigns to."""
    waiting = [statement[3 if statement[0] == "w" else 2]]
    while waiting:
        each = waiting.pop()
        if each and each[0] == "A":
            yield each[2]
        elif each and each[0] in "TL*":
            waiting += each[1:]
