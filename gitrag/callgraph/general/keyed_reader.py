"""What JavaScript calls by a computed key, and what objects and lists have that it may mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitrag.callgraph.general.expressions import receiver_of
from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.reader import KEYED, Reader
from gitrag.callgraph.general.records import (
    BY_KEY,
    ELEMENT,
    GOT,
    MADE_BY_KEY,
    MOST_MEMBERS,
    NUMBERED,
    SPREAD,
    Declaration,
    WrittenCall,
)
from gitrag.callgraph.general.scopes import Scopes, Variable

if TYPE_CHECKING:
    import tree_sitter

FUNCTIONS = frozenset({"method_definition", "function_expression", "arrow_function"})
_AROUND_KEYS = frozenset(
    {"subscript_expression", "non_null_expression", "parenthesized_expression", "as_expression"}
)
_MOST_WITHIN = 4
"""Objects in one another of which it is read what they have."""
_MAP = '"{}"'
"""In place of a key, as no key is written: what a map is made of."""
_ONLY_TYPES = frozenset({"interface_declaration", "type_alias_declaration", "enum_declaration"})
"""What TypeScript exports that is neither called nor made."""
_MEANING = frozenset({"identifier", "member_expression", "shorthand_property_identifier", "new_expression"})


def _said(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return what is in a node, without comments."""
    return [each for each in node.named_children if each.type != "comment"]


def _first(node: tree_sitter.Node) -> tree_sitter.Node | None:
    return next(iter(_said(node)), None)


class KeyedReader(Reader):
    """Reads calls by computed keys, and what has keys."""

    def _member(self, variable: Variable) -> tuple[str, ...] | None:
        """Return the member, or the element, that a variable is given; None if it is given none."""
        made = variable.declared.made or ("",)
        if len(made) > 1 and made[-1] == "get":
            made = (*made[:-1], GOT, ELEMENT)
        return self._picked.get(variable.node.start_byte) or (made if made[-1] == ELEMENT else None)

    def _is_parameter(self, variable: Variable) -> bool:
        around = self._lineage.parent(variable.node)
        return around is not None and ("parameter" in around.type or around.type == "arrow_function")

    def _is_given(
        self, variable: Variable, call: WrittenCall, node: tree_sitter.Node, scopes: Scopes
    ) -> bool:
        """Tell whether of what a call asks by a key no more is known than that its name means it."""
        if self._is_parameter(variable):
            return True
        around = self._lineage.parent(variable.node)
        is_declared = around is not None and around.type == "variable_declarator"
        return variable.bound and not is_declared and scopes.hide(call.parts[0], call.caller, node)

    def _rule_by_key(self, node: tree_sitter.Node) -> str:
        around = self._lineage.parent(node)
        return MADE_BY_KEY if around is not None and around.type == "new_expression" else BY_KEY

    def _by_key(self, node: tree_sitter.Node) -> list[WrittenCall]:
        """Return the call of what a computed key has: `table[key]()`, `map.get(key)()`; two of two names."""
        keys: list[tree_sitter.Node] = []
        of = node
        while of.type in _AROUND_KEYS:
            if of.type == "subscript_expression":
                index = of.child_by_field_name("index")
                if index is None or index.type == "string":
                    break
                keys.append(index)
            inner = of.child_by_field_name("object") or _first(of)
            if inner is None:
                break
            of = inner
        got: tuple[str, ...] = (ELEMENT,) * len(keys)
        if not keys and of.type == "call_expression":
            function = of.child_by_field_name("function")
            name = function and function.child_by_field_name("property")
            if function is not None and name and self._text(name) == "get":
                of, got = function.named_children[0], (GOT, ELEMENT)
        if not got:
            return []
        call = WrittenCall(self._around(node), (), node.start_point[0] + 1, rule=self._rule_by_key(node))
        parts = self._expression(of) or ("?",)
        if len(keys) == 1 and keys[0].type == "ternary_expression":  # `list[isLast ? 'pop' : 'shift']()`
            either = keys[0].named_children[1:]
            if all(each.type == "string" for each in either):
                return [replace(call, parts=(*parts, self._text(each)), rule="") for each in either]
        return [replace(call, parts=(*parts, *got))]

    def _expression(self, node: tree_sitter.Node) -> tuple[str, ...]:
        """Return the names that an expression consists of; none where one is not known."""
        text = KEYED.sub(r".\1", self._text(node))
        parts = self._required(text, receiver_of(text))
        return () if "?" in parts else tuple(parts)

    def _held(self, scopes: Scopes) -> Iterator[Declaration]:
        """Yield what objects and lists have, if they may be asked for it by a computed key."""
        by_key = [call.parts[:2] for call, _ in self._calls if call.rule in {BY_KEY, MADE_BY_KEY}]
        asked = {part.partition(NUMBERED)[0] for parts in by_key for part in parts}
        counted: dict[tuple[int, str], int] = defaultdict(int)
        known = set(self._modules)
        for node in self._nodes["table"]:
            name, value = self._table(node)
            head = name.partition(".")[0]
            place = self._around(node)
            if self._rows[place][1].rpartition(".")[2] == name.rpartition(".")[2]:
                place = max(self._rows[place][4], 0)  # it is a definition itself
            while head == "this" and place > 0 and self._rows[place][0] != "class":
                place = self._rows[place][4]
            if not name or value is None or (place and head not in {*asked, "this", "exports", DEFAULT}):
                continue
            for each, given in self._having(name, value, 0):
                declared = self._having_of(each, given, place, scopes)
                if declared is not None:
                    of = place, each.rpartition(".")[0]
                    counted[of] += 1
                    if counted[of] <= MOST_MEMBERS + 1:
                        yield declared
        named = ((origin, name) for origin, name in self._modules.items() if origin not in known)
        self._imports += [{"from": origin, "module": name} for origin, name in named]

    def _table(self, node: tree_sitter.Node) -> tuple[str, tree_sitter.Node | None]:
        """Return the name of an object, or of what it has, and what that is given."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if node.type == "export_statement":
            return DEFAULT, value
        if node.type.endswith("field_definition"):
            return (f"this.{self._text(name)}" if name is not None else ""), value
        if node.type == "call_expression":  # `map.set(key, value)`
            function, arguments = node.named_children[0], node.child_by_field_name("arguments")
            parts = (*self._expression(function.named_children[0]), ELEMENT)
            value = _said(arguments)[-1] if arguments is not None else None
        elif node.type == "assignment_expression":
            left = node.named_children[0]
            text = KEYED.sub(r".\1", self._text(left))
            parts = tuple(receiver_of(text))
        else:
            parts = (self._text(name),) if name is not None else ()
        parts = parts[1:] if parts[:2] == ("module", "exports") else parts
        is_known = parts[:1] != (ELEMENT,) and not any(each[-1:] in {"?", ")"} for each in parts)
        return ".".join(parts) * is_known, value

    def _having(  # noqa: C901 - one kind of value after another
        self, name: str, value: tree_sitter.Node, depth: int
    ) -> Iterator[tuple[str, tree_sitter.Node]]:
        """Yield what an object or a list has, by the names of both."""
        while value.type in {"as_expression", "satisfies_expression", "parenthesized_expression"}:
            if (inner := _first(value)) is None:
                return
            value = inner
        if value.type == "call_expression" and self._callee(value) == "Object.freeze":
            value = value.child_by_field_name("arguments") or value
        made = value.child_by_field_name("constructor")
        if value.type not in {"object", "array", "arguments", "new_expression"} or (
            value.type == "new_expression" and (made is None or self._text(made) not in {"Map", "Set"})
        ):
            yield name, value
            return
        of_map = value.type == "new_expression"
        given = value.child_by_field_name("arguments") if of_map else value
        is_whole = of_map or value.type == "arguments"  # of their first argument
        for each in _said(given) if given is not None and depth < _MOST_WITHIN else ():
            key = each.child_by_field_name("key") or each.child_by_field_name("name")
            inner = each.child_by_field_name("value") or each
            if is_whole:
                yield from self._having(f"{name}.{_MAP}" if of_map else name, each, depth + 1)
            elif each.type == "spread_element":
                yield from ((f"{name}.{SPREAD}", of) for of in _said(each)[:1])
            elif each.type == "array" and name.endswith(_MAP):  # `new Map([[key, value]])`
                for of in _said(each)[-1:]:
                    yield from self._having(f"{name[: -len(_MAP)]}{ELEMENT}", of, depth + 1)
            elif value.type == "object":
                own = self._text(key or each).replace(".", "_")
                yield from self._having(f"{name}.{own}", inner, depth + 1)
            else:
                yield from self._having(f"{name.removesuffix(f'.{_MAP}')}.{ELEMENT}", each, depth + 1)

    def _having_of(self, name: str, node: tree_sitter.Node, place: int, scopes: Scopes) -> Declaration | None:
        """Return what one of an object or a list is; None if that is not known."""
        own = self._around(node)
        is_method = name.startswith("this.") and node.type in FUNCTIONS and place > 0
        if "." not in name.removeprefix("this.") and not is_method:
            return None
        if node.type in FUNCTIONS:
            kind, known, *_ = self._rows[own]
            is_own = kind == "function" and known.replace(".", "_").endswith(name.rpartition(".")[2])
            return Declaration(place, name, str(own), None) if is_own else None
        if node.type not in _MEANING and not self._raw(node, 8).startswith("require("):
            return None
        parts = self._expression(node)
        parts = tuple(scopes.named(parts, own, node)[0]) if parts else ()
        return Declaration(place, name, str(own), parts) if parts and parts[0] != "undefined" else None

    def _exported(self) -> Iterator[str]:
        """Yield the names that a module exports one by one."""
        for node in self._nodes["exported"]:
            if node.type in _ONLY_TYPES or self._raw(self._lineage.parent(node) or node, 40).startswith(
                "type "
            ):
                continue
            every = [node, *(each for each in node.named_children if each.type == "variable_declarator")]
            for each in every:
                name = each.child_by_field_name("alias") or each.child_by_field_name("name")
                if name is not None and name.type != "object_pattern":
                    yield self._text(name)
