"""Facts of languages other than Python, by queries: calls, declared types, bases and imports.

The captures that a file in ``queries/`` may use, in addition to ``@_…`` for its own predicates:

- ``@call``: the called expression; or ``@receiver`` and ``@name``; or ``@sent``: a call with
  fields ``receiver``, ``method`` and ``arguments``, which the query does not have to match.
- ``@var`` or ``@field``: a variable, or a member of the enclosing class; with ``@type``, its declared type,
  ``@made``, the call whose result it holds, ``@each``, the type of each of many that it holds, or
  ``@ranged``, many of which it holds one.
- ``@returns``: the return type of the enclosing function.
- ``@parameters``: its parameters, in languages with overloads.
- ``@needed``: a method that the enclosing interface lists; with ``@type``, its result's type.
- ``@handed``: a name that may be a function's, which is not called here but handed on.
- ``@tokens``: tokens that are not parsed, a Rust macro's, in which calls are looked for.
- ``@value``, with ``@value.name``: a variable that is called like a function; a definition of its own.
- ``@base``: a base class of the enclosing class.
- ``@bare``: a name that calls a method of its own object, unless it is ``@taken`` (part of something else) or
  ``@local`` in the enclosing definition (a variable). What is local is not handed on as a function either.
- ``@import.from``, ``@import.package``, ``@import.path``, ``@import.use``: the module; with ``@import.name``,
  ``@import.alias``, ``@import.default``, ``@import.module``, ``@import.all``: the name, and its alias;
  ``@import.public`` where others may import it from here. ``@import.local``: a name of this file that it
  exports by another, ``@import.alias``, or as its main one. ``@import.inner``: a module inside the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

import msgspec

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.parameters import OVERLOADING, given_to, signature
from gitrag.callgraph.general.records import (
    ELEMENT,
    SCOPED,
    Body,
    Declaration,
    ImportRow,
    Result,
    Signature,
    WrittenCall,
)
from gitrag.model import Kind

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.languages import Language
    from gitrag.chunking.outline import Definition

QUERIES = {
    "javascript": "javascript javascript-classes jsx",
    "typescript": "javascript typescript",
    "tsx": "javascript typescript jsx",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "c cpp",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "swift": "swift",
    "scala": "scala",
    "solidity": "solidity",
}
"""Files of ``queries/`` by language."""

_TEXT_BYTES = 400
_ARGUMENTS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_GENERICS = re.compile(r"(?:::)?<[^<>()]*>")
_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"\?\.|!\.|\.|->|::|\\")
_NAME = re.compile(r"[@$A-Za-z_\u0080-\uffff][\w$?!\u0080-\uffff]*")
_WRAPPERS = frozenset(
    "Option Box Rc Arc RefCell Promise Optional CompletableFuture unique_ptr shared_ptr"
    " Result Mutex RwLock Pin Cow OnceCell Weak Future".split()
)
_MOST_WRAPPERS = 4
_OUTER = re.compile(r"(?:[\w:]+::|[\w.]+\.)?(\w+)\s*<(.+)>\s*\??$", re.DOTALL)
_QUALIFIED = re.compile(r"\s*(?:::)?\w+(?:<[^<>()]*>)?::")
_OF_ANOTHER = re.compile(r"\[\s*(?:[\"']|\d*$)")
"""An array of a named type, ``T[3]``, or a member's type, TypeScript's ``T["name"]``; up to the bracket."""
_SCRIPT_MANY = re.compile(
    r"(?:readonly\s+)?([\w.]+)\[\]|(?:Readonly)?(?:Array|Set|Iterable|IterableIterator)<([\w.]+)>"
)
_MANY = {
    "go": re.compile(r"(?:\[[^\[\]]*\]|map\[[^\[\]]*\])\*?([\w.]+)()"),
    "typescript": _SCRIPT_MANY,
    "tsx": _SCRIPT_MANY,
}
"""Types of what has many of a type, by language."""
_CONTAINERS = frozenset("vector list deque set unordered_set multiset array span initializer_list".split())
"""Containers of C++ that a loop takes elements from."""
_INFERRED = frozenset("var auto let val".split())
_MIXES = frozenset({"include", "prepend"})
_NO_PART = frozenset(
    "new await async mut dyn impl const final static readonly ref struct class typename".split()
)


_ROUND = ord("(")
_JOINING = frozenset({"::", "."})
_IN_PATHS = frozenset({"identifier", "self", "super", "crate", "primitive_type", "metavariable"})

_Kind = Literal["module", "function", "class"]

_SUITE = re.compile(rb"(?:\w+\.)?(?:describe|context|suite|feature)\b")
"""How a block of tests begins, in JavaScript and Ruby."""


class QueryReader:
    """Extracts the facts of one file.

    Args:
        source: Its bytes, as parsed.
        language: Its language.
    """

    def __init__(self, source: bytes, language: Language) -> None:
        self._source = source
        self._language = language

    def read(self, tree: tree_sitter.Tree) -> Facts:  # noqa: C901, PLR0912 - a branch per kind of match
        """Return the facts of the file."""
        found = self._outlined()  # first: it refuses a tree that is too deep for a query
        matches = self._matches(tree)
        self._place(tree, found, [each for each in matches if "value" in each])
        calls: list[WrittenCall] = []
        handed: list[tree_sitter.Node] = []
        needs: list[Declaration] = []
        declared: dict[str, list[Declaration]] = {"var": [], "field": []}
        results: list[Result] = []
        bases: list[tuple[int, str]] = []
        signatures: dict[int, Signature] = {}
        imports: list[dict[str, str]] = []
        names: dict[str, list[tree_sitter.Node]] = {"bare": [], "taken": [], "local": []}
        for captures in matches:
            if "handed" in captures:
                handed += captures["handed"]
            elif "tokens" in captures:
                calls += self._calls_in_tokens(captures["tokens"][0])
            elif "needed" in captures:
                needs += self._needed(captures)
            elif "value" in captures:
                continue
            elif "sent" in captures:
                self._read_sent(captures["sent"][0], calls, names["taken"], bases)
            elif "call" in captures or "name" in captures:
                calls += self._call(captures)
            elif not names.keys().isdisjoint(captures):
                for key, nodes in captures.items():
                    names[key] += nodes
            elif "returns" in captures:
                node = captures["returns"][0]
                if type_ := self._type(node):  # of several results the first; each has a pattern of its own
                    results.append(Result(self._around(node), type_))
            elif "parameters" in captures:
                node = captures["parameters"][0]
                signatures.setdefault(self._around(node), signature(self._around(node), node, self._text))
            elif "base" in captures:
                bases += [(self._class_around(node), self._type(node)) for node in captures["base"]]
            elif any(key.startswith("import") for key in captures):
                imports.append(
                    {key[7:]: self._text(nodes[0]) for key, nodes in captures.items() if key[0] != "_"}
                )
            else:
                kind = "field" if "field" in captures else "var"
                declared[kind] += self._declarations(captures, kind)
        calls += self._bare_calls(**names)
        calls += self._handed_on(handed, names["local"])
        above: dict[int, list[str]] = {own: [] for own, _ in bases}
        for own, type_ in bases:
            above[own] += [type_] if type_ else []
        definitions = tuple(
            DefinitionFacts(kind, name, first, last, tuple(above.get(i, ())))
            for i, (kind, name, first, last, _) in enumerate(self._rows)
        )
        body = Body(
            tuple([parent for *_, parent in self._rows]),
            tuple(calls),
            tuple(declared["var"]),
            tuple(declared["field"]),
            tuple(results),
            tuple([msgspec.convert(each, ImportRow) for each in imports]),
            tuple(needs),
            tuple(signatures.values()),
        )
        return Facts(definitions, _mentions(calls, imports), packed_body(body))

    def _outlined(self) -> list[Definition]:
        from gitrag.chunking.outline import outline

        lines = self._source.decode("utf-8", "replace").split("\n")
        return outline(self._source, lines, self._language) or []

    def _place(
        self,
        tree: tree_sitter.Tree,
        found: Sequence[Definition],
        values: Sequence[dict[str, list[tree_sitter.Node]]],
    ) -> None:
        """Order the definitions, each with its parent; also variables that are called like functions."""
        rows: list[tuple[int, int, _Kind, str, int, int]] = []
        for each in found:
            if each.minor and (each.kind is Kind.FUNCTION or _SUITE.match(self._source, each.start)):
                continue  # a prototype, or tests under a heading, which nobody calls
            name = ".".join([*each.owners, each.name])
            kind: _Kind = "class" if each.kind is Kind.CLASS else "function"
            rows.append((each.start, each.end, kind, name, each.row + 1, each.last + 1))
        taken = {(start, end) for start, end, *_ in rows}
        for captures in values:
            node, name = captures["value"][0], self._text(captures["value.name"][0])
            if node.byte_range not in taken:
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                rows.append((*node.byte_range, "function", name, first, last))
                taken.add(node.byte_range)
        self._values = {captures["value.name"][0].start_byte for captures in values}
        self._rows: list[tuple[_Kind, str, int, int, int]] = [
            ("module", "", 1, tree.root_node.end_point[0] + 1, -1)
        ]
        self._spans = [(0, len(self._source) + 1)]
        for start, end, kind, name, first, last in sorted(rows, key=lambda row: (row[0], -row[1])):
            parent = self._innermost(start, end)
            outer = self._rows[parent][1]
            self._rows.append((kind, f"{outer}.{name}" if outer else name, first, last, parent))
            self._spans.append((start, end))

    def _innermost(self, start: int, end: int) -> int:
        place = bisect_right(self._spans, start, key=lambda span: span[0]) - 1
        while place > 0 and self._spans[place][1] < end:
            place = self._rows[place][4]
        return place

    def _around(self, node: tree_sitter.Node) -> int:
        return self._innermost(node.start_byte, node.end_byte)

    def _class_around(self, node: tree_sitter.Node) -> int:
        place = self._around(node)
        while place > 0 and self._rows[place][0] != "class":
            place = self._rows[place][4]
        return place

    def _matches(self, tree: tree_sitter.Tree) -> list[dict[str, list[tree_sitter.Node]]]:
        from tree_sitter import QueryCursor

        from gitrag.chunking.parsing import MATCH_LIMIT

        cursor = QueryCursor(
            _query(self._language.grammar, QUERIES[self._language.name]), match_limit=MATCH_LIMIT
        )
        return [captures for _, captures in cursor.matches(tree.root_node)]

    def _call(self, captures: dict[str, list[tree_sitter.Node]]) -> list[WrittenCall]:
        if "call" in captures:
            node = captures["call"][0]
            parts = parts_of(self._text(node))
        else:
            node = captures["name"][0]
            receiver = captures.get("receiver")
            text = self._text(node)
            own = [text] if _NAME.fullmatch(text) else parts_of(text)  # names in Ruby may end in ? or !
            parts = [*(parts_of(self._text(receiver[0])) or ["?"]), *own] if receiver else own
        if not parts or (self._language.name == "cpp" and _DESTRUCTOR.search(self._text(node))):
            return []  # `A::~A() = default;`, which the grammar takes for an assignment to a call
        if self._language.name == "cpp" and "call" in captures and len(parts) > 1:
            parts = _scoped(self._text(captures["call"][0]), parts)
        given = None
        if self._language.name in OVERLOADING and node.parent is not None:
            given = given_to(node.parent, self._text)
        return [WrittenCall(self._around(node), tuple(parts), node.start_point[0] + 1, given=given)]

    def _read_sent(
        self,
        node: tree_sitter.Node,
        calls: list[WrittenCall],
        taken: list[tree_sitter.Node],
        bases: list[tuple[int, str]],
    ) -> None:
        """Add a Ruby call; a query that matched its parts would keep states for a whole chain of calls."""
        method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
        if method is None:
            return
        calls += self._call({"name": [method], **({"receiver": [receiver]} if receiver else {})})
        if method.type == "identifier":
            taken.append(method)
            bases += self._mixed_in(node, method)

    def _mixed_in(self, call: tree_sitter.Node, method: tree_sitter.Node) -> list[tuple[int, str]]:
        """Return what Ruby's ``include`` and ``prepend`` add to the enclosing class."""
        arguments = call.child_by_field_name("arguments")
        if arguments is None or self._text(method) not in _MIXES:
            return []
        return [(self._class_around(node), self._type(node)) for node in arguments.named_children]

    def _bare_calls(
        self,
        bare: list[tree_sitter.Node],
        taken: list[tree_sitter.Node],
        local: list[tree_sitter.Node],
    ) -> Iterator[WrittenCall]:
        """Yield the calls that consist of a name only."""
        elsewhere = {node.start_byte for node in taken}
        variables = {(self._around(node), self._text(node)) for node in local}
        for node in bare:
            place, name = self._around(node), self._text(node)
            if node.start_byte not in elsewhere and (place, name) not in variables:
                yield WrittenCall(place, ("self", name), node.start_point[0] + 1)

    def _handed_on(
        self, handed: list[tree_sitter.Node], local: list[tree_sitter.Node]
    ) -> Iterator[WrittenCall]:
        """Yield the functions that are handed on by their names; a variable is none."""
        variables = {(self._around(node), self._text(node)) for node in local}
        for node in handed:
            place, parts = self._around(node), tuple(parts_of(self._text(node)))
            scope = place
            while parts and scope > 0 and (scope, parts[0]) not in variables:
                scope = self._rows[scope][4]
            if parts and parts[0] != "?" and (scope <= 0 or len(parts) > 1):
                yield WrittenCall(place, parts, node.start_point[0] + 1, handed=True)

    def _calls_in_tokens(self, tokens: tree_sitter.Node) -> Iterator[WrittenCall]:
        """Yield the calls among tokens: a name, or names joined by dots or colons, before a bracket."""
        waiting = [tokens]
        while waiting:
            children = waiting.pop().children
            start = -1
            joined = True
            for place, node in enumerate(children):
                if node.type == "token_tree":
                    waiting.append(node)
                    if self._source[node.start_byte] != _ROUND:
                        start = -1
                    elif start >= 0 and not joined:
                        text = self._source[start : node.start_byte][-_TEXT_BYTES:].decode("utf-8", "replace")
                        parts = tuple(parts_of(text))
                        if parts:
                            yield WrittenCall(
                                self._around(node), parts, children[place - 1].start_point[0] + 1
                            )
                elif node.type in _JOINING:
                    joined = True
                elif node.type in _IN_PATHS and not (start >= 0 and not joined):
                    start, joined = (node.start_byte if start < 0 else start), False
                elif node.type in _IN_PATHS:
                    start, joined = node.start_byte, False
                else:
                    start, joined = -1, True

    def _needed(self, captures: dict[str, list[tree_sitter.Node]]) -> Iterator[Declaration]:
        node = captures["needed"][0]
        result = captures.get("type")
        type_ = self._type(result[0]) if result else ""
        yield Declaration(self._class_around(node), self._text(node), type_, None)

    def _declarations(self, captures: dict[str, list[tree_sitter.Node]], kind: str) -> list[Declaration]:
        if "type" in captures and self._text(captures["type"][0]) in _INFERRED:
            return []  # another pattern gives the module
        return [self._declared(node, captures, kind) for node in captures.get(kind, [])]

    def _declared(
        self, node: tree_sitter.Node, captures: dict[str, list[tree_sitter.Node]], kind: str
    ) -> Declaration:
        place = self._class_around(node) if kind == "field" else self._around(node)
        if node.start_byte in self._values and place > 0 and self._spans[place][0] == node.start_byte:
            place = self._rows[place][4]
        name = self._text(node).lstrip("@$")
        if "type" in captures:
            return Declaration(place, name, self._type(captures["type"][0]), None)
        if "each" in captures:
            element = self._type(captures["each"][0])
            return Declaration(place, name, f"{ELEMENT}{element}" if element else "", None)
        if "ranged" in captures:
            text = self._text(captures["ranged"][0])
            parts = parts_of(text)
            if parts and text.endswith(")"):
                parts[-1] += "()"
            return Declaration(place, name, "", (*parts, ELEMENT) if parts else None)
        return Declaration(place, name, "", tuple(parts_of(self._text(captures["made"][0]))))

    def _text(self, node: tree_sitter.Node) -> str:
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + _TEXT_BYTES)]
        return text.decode("utf-8", "replace").strip("\"'`")

    def _type(self, node: tree_sitter.Node) -> str:
        text = self._text(node).lstrip(":*&?( ")
        many = _MANY.get(self._language.name)
        found = many.fullmatch(text.strip()) if many else None
        if found:
            parts = parts_of(found[1] or found[2])
            return f"{ELEMENT}{'.'.join(parts)}" if parts and "?" not in parts else ""
        if self._language.name == "cpp":
            outer = _OUTER.match(text.removeprefix("const "))
            if outer and outer[1] in _CONTAINERS:
                element = self._type_of(_first_argument(outer[2]).lstrip("*&? "))
                return f"{ELEMENT}{element}" if element else ""
        return self._type_of(text)

    def _type_of(self, text: str) -> str:
        for _ in range(_MOST_WRAPPERS):
            wrapped = _OUTER.match(text)
            if not wrapped or wrapped[1] not in _WRAPPERS:
                break
            text = _first_argument(wrapped[2]).lstrip("*&? ")
        inside = text.rstrip().removesuffix("?").rstrip().removesuffix("]").rstrip()
        if text.startswith(("[", "map[", "func")) or _OF_ANOTHER.search(inside):
            return ""
        parts = parts_of(text)
        return ".".join(parts) if parts and "?" not in parts else ""


def parts_of(text: str) -> list[str]:
    """Split an expression at its dots: ``a.b(c)->d`` becomes a, b(), d; what is not a name becomes ?.

    The last part is the one called; earlier parts that are called end in ``()``.
    """
    return list(_parts_of(text))


_DESTRUCTOR = re.compile(r"~\s*\w+$")


def _scoped(text: str, parts: list[str]) -> list[str]:
    """Mark what begins with the name of a namespace or a class: ``a::b(c).d`` is ``::``, a, b(), d."""
    return [SCOPED, *parts] if _QUALIFIED.match(text) else parts


@lru_cache(maxsize=4_096)  # the calls of a long chain share their beginning, and only that much is read
def _parts_of(text: str) -> tuple[str, ...]:
    for _ in range(6):
        shorter = _GENERICS.sub("", _ARGUMENTS.sub("\0", text))
        if shorter == text:
            break
        text = shorter
    words = [word for word in text.split() if word not in _NO_PART]
    text = "".join(words)
    parts: list[str] = []
    for part in _SEPARATOR.split(text):
        bare = part.replace("\0", "").strip("*&?!~(")
        if not bare:
            if "\0" in part and not parts:
                parts.append("?")  # `(a as B).f()`: what is in brackets is not known
            continue
        named = _NAME.fullmatch(bare)
        parts.append((bare.lstrip("$") + ("()" if "\0" in part else "")) if named else "?")
    if parts:
        parts[-1] = parts[-1].removesuffix("()")
    return () if not parts or parts[-1] == "?" else tuple(parts)


def _first_argument(text: str) -> str:
    """Return the first of several type arguments: ``Vec<A>, B`` gives ``Vec<A>``."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            return text[:place]
    return text


@cache
def _query(grammar_name: str, files: str) -> tree_sitter.Query:
    from tree_sitter import Query

    from gitrag.chunking.parsing import load_grammar

    folder = resources.files("gitrag.callgraph.general") / "queries"
    text = "".join((folder / f"{name}.scm").read_text("utf-8") for name in files.split())
    return Query(load_grammar(grammar_name), text)


def _mentions(calls: Sequence[WrittenCall], imports: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """Return the words by which a file may name what it calls."""
    found = {part.removesuffix("()") for call in calls for part in call.parts}
    found |= {value for each in imports for value in each.values()}
    found |= {word for each in imports for word in _WORD.findall(each.get("use", ""))}
    found |= {DEFAULT for each in imports if not each.keys().isdisjoint({"default", "module"})}
    return frozenset(" ".join(found).split())
