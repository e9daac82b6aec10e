"""A Python module, from tree-sitter's tree to the records of its scopes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from gitrag.callgraph.python.expression_reader import OPERATORS, ExpressionReader
from gitrag.callgraph.python.mentions import attributes_assigned
from gitrag.callgraph.python.patterns import bound_by, classes_of
from gitrag.callgraph.python.records import (
    AGAIN,
    BRANCH,
    BREAK,
    CONTINUE,
    FOREVER,
    HANDLER,
    JOIN,
    LOOP,
    OTHER,
    RETURN,
    TRY,
    AnnotatedAssign,
    Assign,
    Attribute,
    AugmentedAssign,
    Constant,
    Define,
    Delete,
    Draft,
    Evaluate,
    Except,
    Expression,
    For,
    Import,
    ImportFrom,
    Name,
    Proven,
    Raise,
    Return,
    Scope,
    Statement,
    Subscript,
    Test,
    TupleDisplay,
    With,
    decorator_name,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SILENT = frozenset(
    "comment pass_statement break_statement continue_statement"
    " future_import_statement type_alias_statement identifier".split()
)


_OVERLOAD = re.compile(r"@\s*(?:\w+\s*\.\s*)*overload\s*")


class _Place(NamedTuple):
    """Where a statement stands: the scope, its number, and the branches of it that are around."""

    draft: Draft
    number: int
    branches: int

    def add(self, *statements: Statement) -> None:
        """Add statements; where they may lead only in a function, which alone is read in order."""
        is_function = self.draft.kind == "function"
        self.draft.body += [each for each in statements if is_function or not _is_of_order(each)]


def _is_of_order(statement: Statement) -> bool:
    return type(statement) is int or (
        type(statement) is Evaluate and type(statement.value) is Proven and statement.value.value is None
    )


class _Step(NamedTuple):
    """A node that is still to be read."""

    read: Callable[[Node, _Place], Iterable[_Step]]
    node: Node
    place: _Place


_Steps = Iterable[_Step]
_NONE: _Steps = ()


class ModuleReader:
    """Reads one module, without recursion however deep its blocks nest.

    Args:
        source: Its bytes, as they were parsed.
    """

    def __init__(self, source: bytes) -> None:
        self._expressions = ExpressionReader(source)
        self._drafts: list[Draft] = []

    def read(self, root: Node) -> list[Scope]:
        """Return the module's scopes in the order of the source; the first is the module itself."""
        module = Draft("module", "", 1, root.end_point[0] + 1, -1)
        self._drafts.append(module)
        waiting = [_Step(self._block, root, _Place(module, 0, 0))]
        while waiting:
            step = waiting.pop()
            inner = step.read(step.node, step.place)
            if inner:
                waiting.extend(reversed(list(inner)))
        for number, draft in enumerate(self._drafts):
            above = self._drafts[draft.parent]
            if draft.kind == "function" and above.kind == "class":
                names = {name for statement in draft.body for name in attributes_assigned(statement)}
                for name in sorted(names):
                    above.assigners.setdefault(name, []).append(number)
        return [draft.scope() for draft in self._drafts]

    def _block(self, node: Node | None, place: _Place) -> list[_Step]:
        if node is None:
            return []
        return [_Step(self._statement, child, place) for child in self._without_stubs(node.named_children)]

    def _without_stubs(self, statements: list[Node]) -> list[Node]:
        """Leave out the overloads of functions that are defined after them: nothing calls those."""
        if not any(each.type == "decorated_definition" for each in statements):
            return statements
        kept: list[Node] = []
        defined: set[str] = set()
        for each in reversed(statements):
            definition = each.child_by_field_name("definition") or each
            named = definition.child_by_field_name("name")
            if definition.type == "function_definition" and named is not None:
                name = self._expressions.text(named)
                marks = (
                    self._expressions.text(mark) for mark in each.named_children if mark.type == "decorator"
                )
                if not any(_OVERLOAD.fullmatch(mark) for mark in marks):
                    defined.add(name)
                elif name in defined:
                    continue
            kept.append(each)
        return kept[::-1]

    def _statement(self, node: Node, place: _Place) -> _Steps:
        reader = self._READERS.get(node.type)
        if reader is not None:
            return reader(self, node, place)
        if node.type not in _SILENT:
            self._evaluated(node, place)
        return _NONE

    def _evaluated(self, node: Node, place: _Place) -> None:
        """Read an expression that stands alone; a bare name or constant calls nothing."""
        value = self._expressions.read(node)
        if value is not None and type(value) is not Name and type(value) is not Constant:
            place.add(Evaluate(_line(node), value))

    def _expression_statement(self, node: Node, place: _Place) -> _Steps:
        steps: list[_Step] = []
        for child in node.named_children:
            reader = self._READERS.get(child.type)
            if reader is not None:
                steps += reader(self, child, place)
            else:
                self._evaluated(child, place)
        return steps

    def _assignment(self, node: Node, place: _Place) -> _Steps:
        read = self._expressions.read
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        annotation = node.child_by_field_name("type")
        targets = [left]
        while right is not None and right.type == "assignment" and annotation is None:
            targets.append(right.child_by_field_name("left"))
            right = right.child_by_field_name("right")
        value = read(right)
        if annotation is not None:
            declared = self._expressions.annotation(annotation)
            place.add(AnnotatedAssign(_line(node), read(left), declared, value))
            return _NONE
        for target in targets:
            place.add(Assign(_line(node), read(target), value))
        return _NONE

    def _augmented(self, node: Node, place: _Place) -> _Steps:
        operator = node.child_by_field_name("operator")
        name = OPERATORS.get(self._expressions.text(operator)[:-1], "") if operator else ""
        left = self._expressions.read(node.child_by_field_name("left"))
        right = self._expressions.read(node.child_by_field_name("right"))
        place.add(AugmentedAssign(_line(node), left, right, name))
        return _NONE

    def _return(self, node: Node, place: _Place) -> _Steps:
        value = self._expressions.only(node)
        place.add(RETURN if value is None else Return(_line(node), value))
        return _NONE

    def _jump(self, node: Node, place: _Place) -> _Steps:
        place.add(BREAK if node.type == "break_statement" else CONTINUE)
        return _NONE

    def _outer(self, node: Node, place: _Place) -> _Steps:
        names = tuple(map(self._expressions.text, node.named_children))
        place.draft.outer += names
        above = self._drafts[place.draft.parent]
        while node.type == "nonlocal_statement" and above.kind == "function":
            above.shared += names
            above = self._drafts[above.parent]
        return _NONE

    def _proved(self, condition: Node | None, *, when: bool) -> list[Statement]:
        """Return statements of what holds where a condition does, or does not."""
        proofs = self._expressions.proofs(condition, when=when)
        return [Evaluate(_line(condition), each) for each in proofs] if condition is not None else []

    def _for(self, node: Node, place: _Place) -> _Steps:
        left = self._expressions.read(node.child_by_field_name("left"))
        right = self._expressions.read(node.child_by_field_name("right"))
        place.add(LOOP, For(_line(node), left, right))
        return [
            *self._block(node.child_by_field_name("body"), place),
            _after(node, place, AGAIN),
            *self._last(node.child_by_field_name("alternative"), place),
        ]

    def _while(self, node: Node, place: _Place) -> _Steps:
        condition = node.child_by_field_name("condition")
        place.add(LOOP)
        inside = place._replace(branches=place.branches + 1)
        if condition is not None:
            self._tested(condition, place)
            place.add(*self._proved(condition, when=True))
        is_endless = condition is not None and condition.type == "true"
        return [
            *self._block(node.child_by_field_name("body"), inside),
            _after(node, place, FOREVER if is_endless else AGAIN),
            *self._last(node.child_by_field_name("alternative"), inside),
        ]

    def _last(self, clause: Node | None, place: _Place) -> list[_Step]:
        """Read the ``else`` of a loop, which what breaks the loop does not reach."""
        if clause is None:
            return []
        inside = self._block(clause.child_by_field_name("body"), place)
        return [_after(clause, place, BRANCH), *inside, _after(clause, place, OTHER, JOIN)]

    def _with(self, node: Node, place: _Place) -> _Steps:
        swallows = False
        for clause in node.named_children:
            if clause.type != "with_clause":
                continue
            for item in clause.named_children:
                value = item.child_by_field_name("value") or item
                target = None
                if value.type == "as_pattern":
                    target = self._alias(value)
                    value = value.named_children[0]
                context = self._expressions.read(value)
                place.add(With(_line(item), context, target))
                swallows = swallows or decorator_name(context) == "suppress"
        body = self._block(node.child_by_field_name("body"), place)
        if not swallows:
            return body
        return [_after(node, place, TRY), *body, _after(node, place, HANDLER, JOIN)]

    def _alias(self, pattern: Node) -> Expression | None:
        alias = pattern.child_by_field_name("alias")
        return self._expressions.only(alias) if alias is not None else None

    def _if(self, node: Node, place: _Place) -> _Steps:
        inside = place._replace(branches=place.branches + 1)
        steps: list[_Step] = []
        clauses = [node, *node.children_by_field_name("alternative")]
        depth = 0
        for clause in clauses:
            condition = clause.child_by_field_name("condition")
            if condition is not None:
                steps.append(_Step(self._condition, condition, place))
                depth += 1
            body = clause.child_by_field_name("consequence") or clause.child_by_field_name("body")
            steps += self._block(body, inside)
            if condition is not None:
                steps.append(_after(clause, place, OTHER, *self._proved(condition, when=False)))
        steps.append(_after(node, place, *[JOIN] * depth))
        return steps

    def _condition(self, node: Node, place: _Place) -> _Steps:
        """Read a condition, and begin the branch where it holds."""
        self._tested(node, place)
        place.add(BRANCH, *self._proved(node, when=True))
        return _NONE

    def _tested(self, node: Node, place: _Place) -> None:
        value = self._expressions.read(node)
        if value is not None and type(value) is not Constant:
            place.add(Test(_line(node), value))

    def _try(self, node: Node, place: _Place) -> _Steps:
        """Read ``try``; what nothing was raised before follows it, whatever stands between."""
        clauses: dict[str, list[Node]] = {}
        for child in node.named_children:
            clauses.setdefault(child.type.replace("_group", ""), []).append(child)
        steps = [_after(node, place, TRY if "except_clause" in clauses else BRANCH)]
        for body in clauses.get("block", ()):
            steps += self._block(body, place)
        for clause in clauses.get("else_clause", ()):
            steps += self._block(clause.child_by_field_name("body"), place)
        for number, clause in enumerate(clauses.get("except_clause", ())):
            steps.append(_after(clause, place, OTHER if number else HANDLER))
            steps.append(_Step(self._except, clause, place._replace(branches=place.branches + 1)))
        steps.append(_after(node, place, JOIN))
        for clause in clauses.get("finally_clause", ()):
            steps += self._block(
                next((each for each in clause.named_children if each.type == "block"), None), place
            )
        return steps

    def _except(self, node: Node, place: _Place) -> _Steps:
        read = self._expressions.read
        steps: list[_Step] = []
        for child in node.named_children:
            if child.type == "block":
                steps += self._block(child, place)
            elif child.type == "as_pattern":
                place.add(Except(_line(child), self._alias(child), read(child.named_children[0])))
            elif child.type != "comment":
                alias = node.child_by_field_name("alias")
                if alias is None or alias != child:
                    place.add(Except(_line(child), read(alias), read(child)))
        return steps

    def _raise(self, node: Node, place: _Place) -> _Steps:
        for number, child in enumerate(node.named_children):
            value = self._expressions.read(child)
            # The second is what it comes from.
            place.add(Evaluate(_line(node), value) if number else Raise(_line(node), value))
        return _NONE

    def _delete(self, node: Node, place: _Place) -> _Steps:
        value = self._expressions.only(node)
        for each in value.parts if type(value) is TupleDisplay else (value,):
            if type(each) is Attribute or type(each) is Subscript:
                place.add(Delete(_line(node), each))
        return _NONE

    def _assert(self, node: Node, place: _Place) -> _Steps:
        for child in node.named_children:
            self._tested(child, place)
        place.add(*self._proved(node.named_children[0] if node.named_children else None, when=True))
        return _NONE

    def _match(self, node: Node, place: _Place) -> _Steps:
        subjects = node.children_by_field_name("subject")
        for subject in subjects:
            value = self._expressions.read(subject)
            if value is not None:
                place.add(Evaluate(_line(subject), value))
        only = self._expressions.read(subjects[0]) if len(subjects) == 1 else None
        name = only.name if type(only) is Name else ""
        place.add(BRANCH)
        body = node.child_by_field_name("body")
        cases = body.named_children if body is not None else ()

        def case(node: Node, place: _Place) -> _Steps:
            return self._case(node, place, name)

        return [*(_Step(case, each, place) for each in cases), _after(node, place, JOIN)]

    def _case(self, node: Node, place: _Place, subject: str) -> _Steps:
        """Read a case, which binds the names of its pattern."""
        steps: list[_Step] = []
        patterns = [child for child in node.named_children if child.type == "case_pattern"]
        for child in patterns:
            place.add(*bound_by(child, self._expressions))
            classes = classes_of(child, self._expressions)
            if subject and classes and len(patterns) == 1:
                place.add(Evaluate(_line(child), Proven(subject, TupleDisplay(classes), None)))
        for child in node.named_children:
            if child.type == "block":
                steps += self._block(child, place)
            elif child.type == "if_clause":
                self._tested(child.named_children[0], place)
                place.add(*self._proved(child.named_children[0], when=True))
        steps.append(_after(node, place, OTHER))
        return steps

    def _import(self, node: Node, place: _Place) -> _Steps:
        text = self._expressions.text
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                module, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
                if module is not None and alias is not None:
                    place.add(Import(_line(node), text(module), text(alias)))
            else:
                place.add(Import(_line(node), text(name), None))
        return _NONE

    def _import_from(self, node: Node, place: _Place) -> _Steps:
        text = self._expressions.text
        module = node.child_by_field_name("module_name")
        origin = "".join(text(module).split()) if module is not None else ""
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                imported, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
                if imported is not None and alias is not None:
                    place.add(ImportFrom(_line(node), origin, text(imported), text(alias)))
            else:
                place.add(ImportFrom(_line(node), origin, text(name), text(name)))
        if any(child.type == "wildcard_import" for child in node.children):
            place.add(ImportFrom(_line(node), origin, "*", "*"))
        return _NONE

    # definitions

    def _decorated(self, node: Node, place: _Place) -> _Steps:
        decorators = [child for child in node.named_children if child.type == "decorator"]
        definition = node.child_by_field_name("definition")
        return self._define(definition, place, decorators, _line(node)) if definition is not None else _NONE

    def _define(
        self,
        node: Node,
        place: _Place,
        decorators: Sequence[Node] = (),
        line: int | None = None,
    ) -> _Steps:
        named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if named is None:
            return _NONE
        outer, name = place.draft.name, self._expressions.text(named)
        draft = Draft(
            "class" if node.type == "class_definition" else "function",
            f"{outer}.{name}" if outer else name,
            line or _line(node),
            node.end_point[0] + 1,
            place.number,
            tuple(map(self._expressions.only, decorators)),
            decorated=tuple(map(_line, decorators)),
        )
        if draft.kind == "class":
            given = node.child_by_field_name("superclasses")
            inside = given.named_children if given is not None else ()
            keywords = [each for each in inside if each.type == "keyword_argument"]
            draft.keywords = tuple([self._expressions.keyword(each) for each in keywords])
            bases = [each for each in inside if each.type != "keyword_argument"]
            draft.bases = tuple([self._expressions.read(each) for each in bases])
        else:
            draft.parameters = tuple(self._expressions.parameters(node.child_by_field_name("parameters")))
            returns = node.child_by_field_name("return_type")
            draft.returns = self._expressions.annotation(returns) if returns is not None else None
        number = len(self._drafts)
        self._drafts.append(draft)
        place.add(Define(_line(node), number, place.branches))
        return self._block(body, _Place(draft, number, 0))

    _READERS: ClassVar[Mapping[str, Callable[[ModuleReader, Node, _Place], _Steps]]] = {
        "expression_statement": _expression_statement,
        "assignment": _assignment,
        "augmented_assignment": _augmented,
        "return_statement": _return,
        "for_statement": _for,
        "while_statement": _while,
        "global_statement": _outer,
        "nonlocal_statement": _outer,
        "break_statement": _jump,
        "continue_statement": _jump,
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


def _after(node: Node, place: _Place, *statements: Statement) -> _Step:
    """Return a step that adds statements where what comes before it has been read."""

    def add(_node: Node, place: _Place) -> _Steps:
        place.add(*statements)
        return _NONE

    return _Step(add, node, place)


def _line(node: Node) -> int:
    return node.start_point[0] + 1
