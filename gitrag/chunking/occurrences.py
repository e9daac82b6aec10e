"""Find where a name stands in a source, and what it does there: read from the syntax tree, not resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.chunking.containers import container_of, parts_of
from gitrag.chunking.languages import BY_NAME, is_code
from gitrag.chunking.parsing import GrammarError, parse

if TYPE_CHECKING:
    import tree_sitter

_MOST_BYTES = 1 << 20
"""Larger sources are generated; they are not parsed."""

_MOST_PARENTS = 24
"""Enclosing nodes that are looked at; a statement has fewer."""

_TEXTS = re.compile(r"comment|string|heredoc|char_literal|character_literal|raw_text|jsx_text")
_CODE_IN_TEXT = re.compile(r"interpolation|substitution|format_expression|embedded")
_IMPORTS = re.compile(
    r"import|use_declaration|using_directive|namespace_use|preproc_include|require|package_clause"
)
_GIVES = re.compile(
    r"preproc_def|preproc_function_def|assign|definition|declarat|_spec$|_item$|enumerator|enum_constant|const_|type_alias|signature"
)
_GIVEN = ("name", "left", "declarator", "pattern")
"""Fields of what is defined or assigned, in tree-sitter's grammars."""

_LONGEST_STATEMENT = 2_000


class Use(StrEnum):
    """What a name does where it stands."""

    DEFINED = "defined"
    CODE = "used"
    IMPORTED = "imported"
    TEXT = "text"


class Occurrence(Struct, frozen=True):
    """A place where a name stands as a whole word.

    Attributes:
        line: The line, 1-based.
        use: What it does there; in prose and data ``text``.
        statement: Of an import, its text: it says from where.
        qualified: Of a definition that the outline has, its name with those around it.
    """

    line: int
    use: Use
    statement: str = ""
    qualified: str = ""


def occurrences(text: str, language: str, name: str) -> list[Occurrence]:
    """Find a name in a source as a whole word, the case as given; one place a line, the most telling.

    Args:
        language: Its language; empty if unknown.
    """
    container = container_of(text, language)
    if container is None:
        return _in_one_language(text, language, name)
    parts = parts_of(text.split("\n"), container)
    found = {each.line: each for each in _in_one_language(text, "" if parts else language, name)}
    for part in parts:
        for each in _in_one_language("\n".join(part.read), part.language, name):
            found[each.line + part.first] = replace(each, line=each.line + part.first)
    if language in _BY_LINE:
        found |= {
            line: Occurrence(line, Use.DEFINED, qualified=name) for line, _ in _defined(text, language, name)
        }
    return [found[line] for line in sorted(found)]


def _in_one_language(text: str, language: str, name: str) -> list[Occurrence]:
    source = text.encode("utf-8", "replace")
    word = re.compile(
        rb"(?<![\w\x80-\xff])" + re.escape(name.encode("utf-8", "replace")) + rb"(?![\w\x80-\xff])"
    )
    places = [found.start() for found in word.finditer(source)]
    if not places:
        return []
    root = _tree(source, language)
    found: dict[int, Occurrence] = {}
    line, before = 1, 0
    for place in places:
        line += source.count(b"\n", before, place)
        before = place
        use, statement = Use.TEXT, ""
        if root is not None:
            use, statement = _use(root, place, place + len(name.encode()))
        elif is_code(language):
            use = Use.CODE
        known = found.get(line)
        if known is None or _TELLING.index(use) < _TELLING.index(known.use):
            found[line] = Occurrence(line, use, statement)
    for number, qualified in _defined(text, language, name):
        if number in found:
            found[number] = Occurrence(number, Use.DEFINED, qualified=qualified)
    return list(found.values())


_SELECTOR = r"^(?:[^{{}};]*[\s,>+~])?[.#]?{name}(?![\w-])[^;{{}}]*(?:\{{|,\s*$)"
_BY_LINE = {
    "make": r"^(?:[^\s#:=][^#:=]*\s)?{name}(?:\s[^:=]*)?::?(?!=)",
    **dict.fromkeys(["css", "scss", "less", "sass"], _SELECTOR),
}
"""How a line defines a name, in languages without an outline."""


def _defined(text: str, language: str, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines on which definitions of a name begin, with their qualified names."""
    from gitrag.chunking.outline import outline

    lines = text.split("\n")
    if language in _BY_LINE:
        pattern = re.compile(_BY_LINE[language].format(name=re.escape(name)))
        yield from ((number, name) for number, line in enumerate(lines, 1) if pattern.search(line))
        return
    row, source = BY_NAME.get(language), text.encode("utf-8", "replace")
    if row is None or not row.grammar or len(source) > _MOST_BYTES:
        return
    try:
        found = outline(source, lines, row) or []
    except GrammarError:
        return
    for each in found:
        if each.name == name:
            # The name may stand below an annotation, or the first line of what is given.
            rows = (number for number in range(each.row, each.last + 1) if name in lines[number])
            yield next(rows, each.row) + 1, ".".join([*each.owners, each.name])


_TELLING = (Use.DEFINED, Use.IMPORTED, Use.CODE, Use.TEXT)


def _tree(source: bytes, language: str) -> tree_sitter.Node | None:
    row = BY_NAME.get(language)
    if row is None or not row.grammar or not is_code(language) or len(source) > _MOST_BYTES:
        return None
    try:
        return parse(source, row).root_node
    except GrammarError:
        return None


def _use(root: tree_sitter.Node, start: int, end: int) -> tuple[Use, str]:
    """Return what the name at a place does, by the nodes around it."""
    node, below = root.descendant_for_byte_range(start, end), None
    for _ in range(_MOST_PARENTS):
        if node is None:
            break
        if _CODE_IN_TEXT.search(node.type):
            return Use.CODE, ""
        if _TEXTS.search(node.type):
            return Use.TEXT, ""
        if _IMPORTS.search(node.type):
            return Use.IMPORTED, _statement(node)
        is_giving = below is not None and below.end_byte == end and _GIVES.search(node.type)
        if is_giving and any(node.child_by_field_name(field) == below for field in _GIVEN):
            return Use.DEFINED, ""
        below, node = node, node.parent
    return Use.CODE, ""


def _statement(node: tree_sitter.Node) -> str:
    """Return the text of the outermost import that a node lies in."""
    outer: tree_sitter.Node | None = node
    for _ in range(_MOST_PARENTS):
        outer = outer.parent if outer is not None else None
        if outer is not None and _IMPORTS.search(outer.type):
            node = outer
    return (node.text or b"")[:_LONGEST_STATEMENT].decode("utf-8", "replace")
