"""Facts of languages other than Python, by queries: calls, declared types, bases and imports.

The captures that a file in ``queries/`` may use, in addition to ``@_…`` for its own predicates:

- ``@call``: the called expression; or ``@receiver`` and ``@name``; or ``@sent``: a call with
  fields ``receiver``, ``method`` and ``arguments``, which the query does not have to match.
- ``@var`` or ``@field``: a variable, or a member of the enclosing class; with ``@type``, its declared type,
  or ``@made``, the call whose result it holds.
- ``@returns``: the return type of the enclosing function.
- ``@parameters``: its parameters, in languages with overloads.
- ``@base``: a base class of the enclosing class.
- ``@bare``: a name that calls a method of its own object, unless it is ``@taken`` (part of something else) or
  ``@local`` in the enclosing definition (a variable).
- ``@import.from``, ``@import.package``, ``@import.path``, ``@import.use``: the module; with ``@import.name``,
  ``@import.alias``, ``@import.default``, ``@import.module``, ``@import.all``: the name, and its alias.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

import msgspec

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.general.parameters import OVERLOADING, given_to, signature
from gitrag.callgraph.general.records import (
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

QUERIES = {
    "javascript": "javascript javascript-classes",
    "typescript": "javascript typescript",
    "tsx": "javascript typescript",
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
_SEPARATOR = re.compile(r"\?\.|!\.|\.|->|::|\\")
_NAME = re.compile(r"[@$A-Za-z_\u0080-\uffff][\w$?!\u0080-\uffff]*")
_WRAPPERS = frozenset(
    "Option Box Rc Arc RefCell Promise Optional CompletableFuture unique_ptr shared_ptr".split()
)
_OUTER = re.compile(r"(?:[\w:]+::|[\w.]+\.)?(\w+)\s*<(.+)>\s*\??$", re.DOTALL)
_QUALIFIED = re.compile(r"\s*(?:::)?\w+(?:<[^<>()]*>)?::")
_OF_ANOTHER = re.compile(r"\[\s*(?:[\"']|\d*$)")
"""An array of a named type, ``T[3]``, or a member's type, TypeScript's ``T["name"]``; up to the bracket."""
_INFERRED = frozenset("var auto let val".split())
_MIXES = frozenset({"include", "prepend"})
_NO_PART = frozenset(
    "new await async mut dyn impl const final static readonly ref struct class typename".split()
)


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

    def read(self, tree: tree_sitter.Tree) -> Facts:  # noqa: C901 - one branch per capture
        """Return the facts of the file."""
        self._place(tree)
        calls: list[WrittenCall] = []
        declared: dict[str, list[Declaration]] = {"var": [], "field": []}
        results: list[Result] = []
        bases: list[tuple[int, str]] = []
        signatures: dict[int, Signature] = {}
        imports: list[dict[str, str]] = []
        names: dict[str, list[tree_sitter.Node]] = {"bare": [], "taken": [], "local": []}
        for captures in self._matches(tree):
            if "sent" in captures:
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
        above: dict[int, list[str]] = {own: [] for own, _ in bases}
        for own, type_ in bases:
            above[own] += [type_] if type_ else []
        definitions = tuple(
            DefinitionFacts(kind, name, first, last, tuple(above.get(i, ())))
            for i, (kind, name, first, last, _) in enumerate(self._rows)
        )
        mentions = {part.removesuffix("()") for call in calls for part in call.parts}
        mentions |= {value for each in imports for value in each.values()}
        body = Body(
            tuple([parent for *_, parent in self._rows]),
            tuple(calls),
            tuple(declared["var"]),
            tuple(declared["field"]),
            tuple(results),
            tuple([msgspec.convert(each, ImportRow) for each in imports]),
            tuple(signatures.values()),
        )
        return Facts(definitions, frozenset(" ".join(mentions).split()), packed_body(body))

    def _place(self, tree: tree_sitter.Tree) -> None:
        """Order the definitions, each with its parent."""
        from gitrag.chunking.outline import outline

        lines = self._source.decode("utf-8", "replace").split("\n")
        found = outline(self._source, lines, self._language) or []
        self._rows: list[tuple[_Kind, str, int, int, int]] = [
            ("module", "", 1, tree.root_node.end_point[0] + 1, -1)
        ]
        self._spans = [(0, len(self._source) + 1)]
        for each in found:
            if each.minor and (each.kind is Kind.FUNCTION or _SUITE.match(self._source, each.start)):
                continue  # a prototype, or tests under a heading, which nobody calls
            parent = self._innermost(each.start, each.end)
            outer = self._rows[parent][1]
            own = ".".join([*each.owners, each.name])
            name = f"{outer}.{own}" if outer else own
            kind: _Kind = "class" if each.kind is Kind.CLASS else "function"
            self._rows.append((kind, name, each.row + 1, each.last + 1, parent))
            self._spans.append((each.start, each.end))

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
        if not parts:
            return []
        if self._language.name == "cpp" and "call" in captures and len(parts) > 1:
            parts = _scoped(self._text(captures["call"][0]), parts)
        given = None
        if self._language.name in OVERLOADING and node.parent is not None:
            given = given_to(node.parent, self._text)
        return [WrittenCall(self._around(node), tuple(parts), node.start_point[0] + 1, given)]

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

    def _declarations(self, captures: dict[str, list[tree_sitter.Node]], kind: str) -> list[Declaration]:
        if "type" in captures and self._text(captures["type"][0]) in _INFERRED:
            return []  # another pattern gives the module
        return [self._declared(node, captures, kind) for node in captures.get(kind, [])]

    def _declared(
        self, node: tree_sitter.Node, captures: dict[str, list[tree_sitter.Node]], kind: str
    ) -> Declaration:
        place = self._class_around(node) if kind == "field" else self._around(node)
        name = self._text(node).lstrip("@$")
        if "type" in captures:
            return Declaration(place, name, self._type(captures["type"][0]), None)
        return Declaration(place, name, "", tuple(parts_of(self._text(captures["made"][0]))))

    def _text(self, node: tree_sitter.Node) -> str:
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + _TEXT_BYTES)]
        return text.decode("utf-8", "replace").strip("\"'`")

    def _type(self, node: tree_sitter.Node) -> str:
        text = self._text(node).lstrip(":*&?( ")
        wrapped = _OUTER.match(text)
        if wrapped and wrapped[1] in _WRAPPERS:
            text = wrapped[2].lstrip("*&? ")
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
    parts = []
    for part in _SEPARATOR.split(text):
        bare = part.replace("\0", "").strip("*&?!~(")
        if not bare:
            continue
        named = _NAME.fullmatch(bare)
        parts.append((bare.lstrip("$") + ("()" if "\0" in part else "")) if named else "?")
    if parts:
        parts[-1] = parts[-1].removesuffix("()")
    return () if not parts or parts[-1] == "?" else tuple(parts)


@cache
def _query(grammar_name: str, files: str) -> tree_sitter.Query:
    from tree_sitter import Query

    from gitrag.chunking.parsing import load_grammar

    folder = resources.files("gitrag.callgraph.general") / "queries"
    text = "".join((folder / f"{name}.scm").read_text("utf-8") for name in files.split())
    return Query(load_grammar(grammar_name), text)
