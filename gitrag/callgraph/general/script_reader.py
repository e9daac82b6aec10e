"""What only JavaScript has: ``this``, classes made of objects, stores, what functions give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from gitrag.callgraph.general.expressions import receiver_of
from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.keyed_reader import FUNCTIONS, KeyedReader
from gitrag.callgraph.general.reader import BY_REF, IMPORTING, KEYED, NAME_BYTES, Captures
from gitrag.callgraph.general.records import (
    ANY_OF,
    EXPORTED,
    GIVEN_TO,
    LISTED,
    MORE,
    MOST_MORE,
    OBJECT,
    PROVIDED,
    SAME,
    UNSURE,
    Declaration,
    WrittenCall,
)
from gitrag.callgraph.general.scopes import Scopes, Variable, above
from gitrag.callgraph.general.traits import SCRIPTS
from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter


_GIVEN_THIS = late_re(rb"\s*\)?\s*\.\s*bind\s*\(\s*this\b|\s*,\s*this\s*\)")
"""What follows a function of JavaScript that has the ``this`` around it."""
_MAPPED = {
    "mapActions": "actions",
    "mapMutations": "mutations",
    "mapGetters": "getters",
    "mapState": "state",
    "inject": PROVIDED,
}
"""Of what a component has what these list: an object of a store of Vuex, or what those around it provide."""
_IN_BRACES = frozenset({"statement_block", "switch_body", "for_statement", "for_in_statement"})
_CLASS = late_re(rb"[^{]{0,400}?\b(?:class|interface|enum)\b")
"""How what is no object of JavaScript begins."""
_MADE_OF = late_re(
    rb"(?:\b(?P<by>extend|define(?:Nuxt)?Component|defineStore|createStore|createApp|component|Store|Vue)"
    rb"\s*\(\s*(?:[\"'][^\"'\s]*[\"']\s*,\s*)?"
    rb"|\b(?:assign|extend|mixin)\s*\(\s*(?:[\w$.]+\.(?P<to>prototype)|\{\s*\})\s*,\s*(?:[\w$.]+\s*,\s*){0,4})\Z"
)
"""What stands before an object of which a class is made, or whose members a prototype is given."""


_MOST_KINDS = 100
"""Classes of what is put into one list; of more it is not said what a call of an element may call."""
_CONTAINERS = frozenset("Array Map Set WeakMap WeakSet".split())


def many_of(types: Iterable[str]) -> str:
    """Return the type of a list that may have something of each of several types."""
    return f"{UNSURE}{LISTED}{ANY_OF.join(types)}"


class ScriptReader(KeyedReader):
    """Reads what only JavaScript and TypeScript have."""

    def _called_in_markup(self) -> Iterator[WrittenCall]:
        """Yield what markup calls; note which components it gives names, by which its script has them."""
        picked = {
            each.declared.name: member
            for each in self._variables
            if self._is_of_component(each.declared.owner)
            and (member := self._picked.get(each.node.start_byte))
        }
        for each in self._named:
            if not (each.handed and each.parts[0] in self._watchers):
                parts = (*picked.get(each.parts[0], each.parts[:1]), *each.parts[1:])
                yield msgspec.structs.replace(each, parts=parts)

    def _declared_in(self, scopes: Scopes) -> Iterator[Declaration]:
        """Yield the variables; those by which the markup has a component are of that."""
        for each in scopes.declarations():
            name = each.made[1] if each.made and each.made[0] == BY_REF else each.name
            of = self._is_of_component(each.owner) and self._refs.get(name)
            yield msgspec.structs.replace(each, type_name=of) if of else each

    def _is_of_component(self, own: int) -> bool:
        return self._rows[own][1] in {"", "setup", "default.setup"}

    def pick(self, captures: Captures, key: str) -> None:
        """Note a member that has a name of its own, of what a variable holds or a function is given."""
        node, value = captures[key][0], captures.get("picked.of", [None])[0]
        of = [GIVEN_TO] if value is None else self._picked_of(value)
        if not of:
            return
        is_by_key = value is not None and value.type == "subscript_expression"
        member = tuple(of) if is_by_key else (*of, self._text(captures.get("picked.name", [node])[0]))
        self._picked[node.start_byte] = member
        if value is not None:
            declared = Declaration(self._around(node), self._text(node), "", (*member, SAME))
            self._variables.append(Variable(declared, node, value.end_byte, assigned=False))

    def put(self, captures: Captures, key: str) -> None:
        """Note what is put into a list, by the variable or the member that has it."""
        is_field, many = "field" in captures, captures[key][0]
        node = captures["field" if is_field else "var"][0]
        place = self._class_around(node) if is_field else self._around(node)
        for each in [many] if many.type == "new_expression" else many.named_children:
            made = each.child_by_field_name("constructor")
            if made is not None and (type_ := self._type(made)):
                self._put[place, self._text(node), is_field][type_] = None

    def _list(self) -> None:
        """Say of lists what they may have: of a variable where it is declared.

        What is known to be something else is none: ``scene.add(new Mesh())``.
        """
        places: dict[tuple[int, str], Variable] = {}
        for each in self._variables if self._put else ():
            places.setdefault((each.declared.owner, each.declared.name), each)
        held: dict[tuple[int, str], dict[str, None]] = {}
        known = {
            (each.owner, each.name)
            for each in (self._fields if self._put else ())
            if each.made or each.type_name not in {"", *_CONTAINERS}
        }
        listed: set[tuple[int, str]] = set()
        for (written, name, is_field), types in self._put.items():
            place = written
            if is_field:
                if (place, name) not in known and len(types) <= _MOST_KINDS:
                    listed.add((place, name))
                    self._fields.append(Declaration(place, name, many_of(types), None))
                continue
            while place > 0 and (place, name) not in places:
                place = self._rows[place][4]
            held.setdefault((place, name), {}).update(types)
        self._fields = [
            each
            for each in self._fields
            if each.type_name not in _CONTAINERS or (each.owner, each.name) not in listed
        ]
        said = {
            each.node.start_byte
            for each in (self._variables if held else ())
            if each.declared.made or each.declared.type_name not in {"", *_CONTAINERS}
        }
        found = {
            places[key].node.start_byte: Declaration(*key, many_of(types), None)
            for key, types in held.items()
            if key in places and places[key].node.start_byte not in said and len(types) <= _MOST_KINDS
        }
        self._variables = [
            each._replace(declared=found[each.node.start_byte], bound=False)
            if each.node.start_byte in found
            else each
            for each in self._variables
        ]

    def _picked_of(self, value: tree_sitter.Node) -> list[str]:
        """Return what a member is picked from, which may be a call's result."""
        if value.type != "call_expression":
            return receiver_of(KEYED.sub(r".\1", self._text(value)))
        parts = self._made(value.child_by_field_name("function")) or ("",)
        return [*parts[:-1], f"{parts[-1]}()"] if parts[0] not in {"", *IMPORTING} else []

    def map_store(self, captures: Captures, key: str) -> None:
        """Note what a component has of a store: ``...mapActions('cart', { put: 'add' })``."""
        rule = self._text(captures["_maps"][0])
        before = ["?", _MAPPED[rule]]
        node = captures[key][0]
        for given in [node] if node.type == "array" else node.named_children:
            if given.type == "string":
                before += self._text(given).split("/")[-1:]
            elif given.type == "identifier":
                before = [f"{self._text(given)}()"]
            for each in given.named_children if given.type in {"array", "object"} else ():
                name = each.child_by_field_name("key") or each
                value = each.child_by_field_name("value") or each
                module, _, last = self._text(value).rpartition("/")
                if value.type == "string":
                    parts = (*before, *module.split("/")[-1:] * bool(module), last)
                    own = self._class_around(each), self._text(name).rpartition("/")[2]
                    self._fields.append(Declaration(*own, "", (*parts, SAME)))
                    line = each.start_point[0] + 1
                    call = WrittenCall(self._around(each), parts, line, handed=True, rule=rule)
                    self._calls.append((call, each))

    def _held_in_script(self) -> list[Declaration]:
        """Return what members of JavaScript's classes hold: of several things none surely.

        Nothing is held of a call of a local variable.
        """
        bound = {(each.declared.owner, each.declared.name) for each in self._variables}
        local = []
        for each, written in self._resulting:
            name, place = (each.made or ("",))[0].removesuffix("()"), written
            while place > each.owner and (place, name) not in bound:
                place = self._rows[place][4]
            local += [each] if place > each.owner else []
        held: dict[tuple[int, str], dict[Declaration, None]] = {}
        for each in self._fields:
            held.setdefault((each.owner, each.name), {})[each] = None
        found: list[Declaration] = []
        for every in held.values():
            typed = [each for each in every if each.type_name]
            if len(every) > 1 and self._language.name == "javascript":
                typed = [
                    msgspec.structs.replace(each, type_name=f"{UNSURE}{each.type_name}") for each in typed
                ]
            made = [each for each in every if each.made or self._language.name != "javascript"]
            made = [each for each in made if each not in local]
            if len(every) > 1 and self._language.name == "javascript":
                known = [*typed, *(each for each in made if each.made)]
                found += [
                    msgspec.structs.replace(each, name=each.name + MORE * at)
                    for at, each in enumerate(known[:MOST_MORE], 1)
                ]
            found += typed or [each for each in made if len(every) == 1]
        return found

    def _passed_on(self) -> list[dict[str, str]]:
        """Return the imports; of what an object has by its own name only what stands outside its function."""
        outside = {name for _, name, *_, parent in self._rows if not parent}
        for each in self._imports:
            if "local" not in each:
                outside |= {each[key] for key in ("alias", "name", "default", "module") if key in each}
        return [
            each
            for each in self._of_wholes()
            if each.get("local") != each.get("alias", "") or each["local"] in outside
        ]

    def _of_wholes(self) -> list[dict[str, str]]:
        """Return the imports; of others that a file exports whole the last spread first, whose names hold.

        Of two that it may export as its own, as the environment says, neither is surely meant.
        """
        others = [each for each in self._imports if not {"all", "public"} <= each.keys()]
        every = [each for each in self._imports if {"all", "public"} <= each.keys()]
        spread = [each for each in every if each["public"].startswith("...")]
        wholes = {each["all"]: each for each in every if not each["public"].startswith("...")}
        found = [*reversed(spread), *(wholes.values() if len(wholes) == 1 else ())]
        return [*others, *({"all": each["all"]} for each in found)]

    def _given_anew(self) -> set[str]:
        """Return the names of modules that variables have which are given something else later."""
        modules = {each["module"] for each in self._imports if "module" in each}
        own = {(each.declared.owner, each.declared.name) for each in self._variables if each.bound}
        every = [each.declared for each in self._variables if each.assigned and each.declared.name in modules]
        return {each.name for each in every if not each.owner or (each.owner, each.name) not in own}

    def _doubted(self) -> Iterator[Declaration]:
        """Yield a mark for each function in whose place another may be: a method, where `setup` has one."""
        names = {name: own for own, (_, name, *_) in enumerate(self._rows)}
        before = "default.setup."  # any other `setup` may be a function of its own
        beside = (name.replace("setup.", "", 1) for name in names if name.startswith(before))
        doubted = {names[name] for name in (*self._replaced, *beside) if name in names}
        last: dict[int, tree_sitter.Node] = {}  # of each object what is spread in it last
        for node in self._nodes["spread"]:
            last[(self._lineage.parent(node) or node).start_byte] = node
        exported: set[int] = set()
        for node in last.values():
            for each in (self._lineage.parent(node) or node).named_children:
                value = each.child_by_field_name("value") or each
                is_before = each.start_byte < node.start_byte
                if is_before and value.type in FUNCTIONS:
                    doubted.add(self._around(value))
                elif is_before and self._text(value) in names and self._is_only_exported(value, 0):
                    exported.add(names[self._text(value)])
        for own in sorted(doubted):
            yield Declaration(own, UNSURE, "", None)
        for own in sorted(exported):
            yield Declaration(own, EXPORTED, "", None)

    def _given_in_script(
        self,
        node: tree_sitter.Node,
        place: int,
        held: Mapping[tuple[int, str], str],
        places: Mapping[tuple[int, str], Mapping[int, tree_sitter.Node]],
    ) -> tuple[str, bool]:
        """Return the type of what a function of JavaScript returns, and whether it is surely of that."""
        if node.type == "new_expression":
            made = node.child_by_field_name("constructor")
            type_ = self._type(made) if made is not None else ""
            return type_, (place, type_) not in places
        if node.type == "this":
            return "this", True
        if node.type == "identifier":
            key = place, self._text(node)
            given = list(places[key].values()) if key in held else []
            return held.get(key) or f"{OBJECT}{key[1]}", len(given) == 1 and self._is_known(given[0], node)
        is_object = node.type in {"object", "parenthesized_expression"} and "{" in self._raw(node, 2)
        around = self._rows[place][1].rpartition(".")[2]  # the name of what holds its members
        return f"{OBJECT}{around}" * is_object, False

    def _is_known(self, variable: tree_sitter.Node, node: tree_sitter.Node) -> bool:
        """Tell whether something stands in the block of a variable of JavaScript."""
        if variable.start_byte not in self._braces:
            blocks = (each for each in above(variable, 0, len(self._source) + 1) if each.type in _IN_BRACES)
            self._braces[variable.start_byte] = next(blocks, None)
        around = self._braces[variable.start_byte]
        return around is None or around.start_byte <= node.start_byte < around.end_byte

    def _is_own(self, node: tree_sitter.Node, place: int) -> bool:
        """Tell whether a definition of JavaScript returns what is returned, not a function inside it."""
        functions: list[tree_sitter.Node] = []
        at, (start, end) = self._block_around(node), self._spans[place]
        while at >= 0 and len(functions) < 2 and start <= (block := self._blocks[at])[0].start_byte:
            functions += [block[0]] if block[0].end_byte <= end else []
            at = block[1]
        return len(functions) == 1 and not any(each.type == "*" for each in functions[0].children)

    def _this_around(self, node: tree_sitter.Node) -> int:
        """Return the block of JavaScript whose ``this`` a node has: no arrow function."""
        at = self._block_around(node)
        while at >= 0 and self._blocks[at][0].type == "arrow_function":
            at = self._blocks[at][1]
        return at

    def _is_lost(self, node: tree_sitter.Node) -> bool:
        """Tell whether JavaScript's ``this`` is that of a plain function in a method, not the method's."""
        at = self._this_around(node)
        if at < 0 or self._blocks[at][0].type == "method_definition":
            return False
        end = self._blocks[at][0].end_byte
        while at >= 0 and self._blocks[at][0].type != "method_definition":
            at = self._blocks[at][1]
        return at >= 0 and not _GIVEN_THIS.match(self._source, end)

    def _outer_this(self, own: int, node: tree_sitter.Node) -> str:
        """Return the class whose ``this`` an arrow function in an object of JavaScript has; empty if none."""
        while own > 0 and self._rows[own][0] != "class":
            own = self._rows[own][4]
        if own <= 0 or self._language.name not in SCRIPTS or _CLASS.match(self._source, self._spans[own][0]):
            return ""
        at = self._this_around(node)
        around = self._class_around(self._blocks[at][0]) if at >= 0 else 0
        return self._rows[around][1].rpartition(".")[2] if around and around < own else ""

    def _give_members(self, node: tree_sitter.Node) -> None:
        """Note the functions in an object that a call is given: ``$.ajax({ success() {} })``."""
        values = [each.child_by_field_name("value") or each for each in node.named_children]
        values = [each for each in values if each.type in FUNCTIONS]
        arguments = self._lineage.parent(node) if values else None
        call = self._lineage.parent(arguments) if arguments is not None else None
        function = call and (call.child_by_field_name("function") or call.child_by_field_name("constructor"))
        parts = self._made(function) if function else None
        for each in values if parts else ():
            own = self._around(each)
            kind, name, line, _, parent = self._rows[own]
            if kind == "function" and self._spans[own][0] >= node.start_byte and parts:
                rule = ".".join(part for part in parts[-2:] if part.strip("()"))
                last = name.rpartition(".")[2]
                given = WrittenCall(parent, (GIVEN_TO, last), line, handed=True, rule=rule)
                self._calls.append((given, each))
                self._gifts.append((Declaration(own, GIVEN_TO, "", parts), node))

    def _made_of(self, node: tree_sitter.Node) -> Captures:
        """Return the name, and the base, of the class of JavaScript that a call makes of an object."""
        found = _MADE_OF.search(self._source[max(node.start_byte - NAME_BYTES, 0) : node.start_byte])
        arguments = self._lineage.parent(node) if found else None
        call = self._lineage.parent(arguments) if arguments is not None else None
        around = self._lineage.parent(call) if call is not None else None
        if found is None or call is None or around is None:
            return {}
        name = around.child_by_field_name("name") or around.child_by_field_name("left")
        if around.type == "assignment_expression" and (outer := self._lineage.parent(around)) is not None:
            name = outer.child_by_field_name("name") or name
        elif around.type == "export_statement":
            name = next((each for each in around.children if each.type == DEFAULT), None)
        if found["to"] or around.type == "expression_statement":  # of a prototype, or named by a string
            name = arguments.named_children[0] if arguments is not None else None
        if name is None or name == node or name.type.endswith("pattern"):
            return {}
        function = call.child_by_field_name("function")
        base = function and function.child_by_field_name("object") if found["by"] == b"extend" else None
        return {"value": [node], "value.name": [name], **({"base": [base]} if base is not None else {})}

    def _is_only_exported(self, node: tree_sitter.Node, place: int) -> bool:
        """Tell whether an object only lists what a file exports, or what a component's markup may name."""
        around = first = self._lineage.parent(node)
        while around is not None and around.type in {"pair", "object"}:
            around = self._lineage.parent(around)
        if around is None or around == first:
            return False
        if around.type == "return_statement":
            name = self._rows[place][1]
            return name == "default.setup" or (bool(self._named) and name.rpartition(".")[2] == "setup")
        is_export = around.type == "export_statement"
        return is_export or self._raw(around).startswith(("module.exports", "exports"))
