"""What reading the facts of one file has at hand: its text, its definitions, and what was found so far."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from gitrag.callgraph.general.expressions import parts_of, type_written
from gitrag.callgraph.general.markup import REF
from gitrag.callgraph.general.records import (
    INSTANCE,
    UNSURE,
    Declaration,
    Result,
    Signature,
    WrittenCall,
)
from gitrag.callgraph.general.scopes import Variable
from gitrag.callgraph.general.traits import SCRIPTS
from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.callgraph.general.markup import Named
    from gitrag.chunking.languages import Language
    from gitrag.chunking.parsing import Lineage

DefinitionKind = Literal["module", "function", "class"]

TEXT_BYTES = 400
NAME_BYTES = 80
COMMENT_BYTES = 8_000
_INSTANCE = late_re(r"[\w.]+\[[*\s]*(\w+(?:\.\w+)?)\]")
WORD = late_re(r"\w+")
IMPORTING = frozenset({"require", "import"})
_REQUIRE = "require:"
"""How the name of a module begins that is called, or asked for something, where it is required."""
_REQUIRED = late_re(
    r"(?:require|\(\s*await\s+import)\(\s*(?:[\"']([^\"'\s]+)[\"']|`([^`\s]+)`)(?:\s*\+[^()]*)?\s*\)"
)
KEYED = late_re(r"\[[\"'](\w+)[\"']\]")
"""A member of JavaScript by its name in a string."""
BY_REF = "ref:"
"""Before the name by which markup has what a variable is."""
Captures = dict[str, "list[tree_sitter.Node]"]
Call = tuple[WrittenCall, "tree_sitter.Node"]


class Reader:
    """Knows the text of one file, where its definitions are, and what was found.

    Args:
        source: Its bytes, as parsed.
        language: Its language.
        named: What its markup names, where it is a component's.
    """

    _lineage: Lineage
    _rows: list[tuple[DefinitionKind, str, int, int, int]]
    """Of each definition its kind, name, first and last line, and the place of the one around it."""
    _spans: list[tuple[int, int]]
    _values: set[int]

    def __init__(self, source: bytes, language: Language, named: Sequence[Named] = ()) -> None:
        self._source = source
        self._named = [
            WrittenCall(0, each.parts, each.line, handed=bool(each.rule), rule=each.rule)
            for each in named
            if each.rule != REF
        ]
        self._refs = {each.parts[0]: f"{UNSURE}{each.parts[1]}" for each in named if each.rule == REF}
        self._language = language
        self._blocks: list[tuple[tree_sitter.Node, int]] = []
        self._braces: dict[int, tree_sitter.Node | None] = {}
        self._given: dict[int, tuple[tuple[str, ...], list[str] | None]] = {}
        self._called: dict[int, tuple[str, ...]] = {}
        self._modules: dict[str, str] = {}
        self._picked: dict[int, tuple[str, ...]] = {}
        self._routes: list[tuple[int, dict[str, str]]] = []
        self._groups: list[tuple[int, int, str]] = []
        self._put: dict[tuple[int, str, bool], dict[str, None]] = defaultdict(dict)
        self._replaced: set[str] = set()
        self._reassigned: set[str] = set()
        self._gifts: list[tuple[Declaration, tree_sitter.Node]] = []
        self._resulting: list[tuple[Declaration, int]] = []
        self._calls: list[Call] = []
        self._nodes: dict[str, list[tree_sitter.Node]] = defaultdict(list)
        self._marks: dict[str, list[int]] = defaultdict(list)
        self._needs: list[Declaration] = []
        self._variables: list[Variable] = []
        self._fields: list[Declaration] = []
        self._ivars: dict[tuple[int, str], list[tree_sitter.Node | None]] = {}
        self._watchers: set[str] = set()
        self._results: list[Result] = []
        self._bases: list[tuple[int, str]] = []
        self._mixed: list[tuple[int, str]] = []
        self._signatures: dict[int, Signature] = {}
        self._imports: list[dict[str, str]] = []
        self._imported: set[int] = set()

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

    def _required(self, text: str, parts: list[str]) -> list[str]:
        """Name the module of JavaScript that an expression begins with: ``require('./a')(b)``."""
        found = _REQUIRED.match(text) if self._language.name in SCRIPTS else None
        if found is None or not parts:
            return parts
        origin = found[1] or found[2]
        self._modules[origin] = f"{_REQUIRE}{origin}"
        return [self._modules[origin], *parts[1:]]

    def _between(self, start: int, end: int) -> str:
        return self._source[max(start, end - TEXT_BYTES) : end].decode("utf-8", "replace")

    def _nest(self, found: Sequence[tree_sitter.Node]) -> None:
        for node in sorted(found, key=lambda each: (each.start_byte, -each.end_byte)):
            self._blocks.append((node, self._block_around(node)))

    def _block_around(self, node: tree_sitter.Node) -> int:
        """Return the place of the innermost block around a node; -1 if there is none."""
        place = bisect_right(self._blocks, node.start_byte, key=lambda block: block[0].start_byte) - 1
        while place >= 0:
            block, outer = self._blocks[place]
            if block.end_byte >= node.end_byte and block.byte_range != node.byte_range:
                break
            place = outer
        return place

    def _made(self, made: tree_sitter.Node | None) -> tuple[str, ...] | None:
        """Return the call that makes what a variable is given; in Go with the type that it is called with."""
        if made is None:
            return None
        text = self._callee(made)
        if self._refs and text == "useTemplateRef" and (call := self._lineage.parent(made)) is not None:
            return (BY_REF, self._text(call.named_children[-1]).strip("()\"'"))
        if self._language.name == "dart" and made.parent is not None:
            text = self._between(made.start_byte, made.parent.end_byte)
        if made.type == "generic_type" and (given := _INSTANCE.fullmatch(text)):
            return (*parts_of(text), f"{INSTANCE}{given[1]}")
        return tuple(self._required(self._text(made), parts_of(text)))

    def _callee(self, call: tree_sitter.Node) -> str:
        """Return what is called, without its arguments, which may be long."""
        arguments = call.child_by_field_name("arguments")
        end = call.end_byte if arguments is None else arguments.start_byte
        return self._source[call.start_byte : min(end, call.start_byte + TEXT_BYTES)].decode(
            "utf-8", "replace"
        )

    def _raw(self, node: tree_sitter.Node, most: int = TEXT_BYTES) -> str:
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + most)]
        return text.decode("utf-8", "replace")

    def _text(self, node: tree_sitter.Node, most: int = TEXT_BYTES) -> str:
        return self._raw(node, most).strip("\"'`")

    def _comment(self, node: tree_sitter.Node) -> str:
        return self._raw(node, COMMENT_BYTES)

    def _type(self, node: tree_sitter.Node) -> str:
        after = node.next_named_sibling if self._language.name == "dart" else None
        if after is not None and after.type == "type_arguments":
            return type_written(self._between(node.start_byte, after.end_byte), self._language.name)
        return type_written(self._text(node), self._language.name)
