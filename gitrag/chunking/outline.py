"""The definitions of a source, as a language's query captures them: rows, names, signatures and docstrings.

The captures that a query file may use:

- ``@definition.class``, ``@definition.function``, ``@definition.method``: a definition's node.
- ``@minor.…``: the same, but a chunk only if long enough: an alias, a prototype.
- ``@stub``: beside one of them: it only declares a function, and is none where the file defines it.
- ``@name``: its name, possibly with owners before it (``Foo::bar``); or ``(#set! name "init")``.
- ``@owner``: an owner written elsewhere (Go's receiver).
- ``@body``: where the signature ends; if outside the definition's node, it extends the definition.
- ``@doc``: a docstring inside the definition.
- ``@comment``, ``@lead``: comments and attributes; those directly above a definition belong to it.
- ``@decorator``: text at a definition's start that is not part of its signature.
- ``@wrapper``: a node around a definition, ending where it ends (``template <…>``), that belongs to it.
- ``@_…``: for the query's own predicates.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.chunking.parsing import matches, parse, pattern_settings
from gitrag.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tree_sitter

    from gitrag.chunking.languages import Language

# Only a summary is shown and embedded; the whole comment is in the chunk's text.
DOCSTRING_CHARS = 1_000

_OPENING = re.compile(
    r"""\s*(?:
        /\*\*?!?|//[/!]?<?|\#'|\#\[\[|\#+!?|--\[=*\[|---?\s?\|?|--|;+|%+|\(\*\*?|\{-\|?|"{3}|<\#|'{3}
        |@(?:doc|typedoc|moduledoc)\s*(?:~[sS])?"{0,3}
    )[ \t]?""",
    re.VERBOSE,
)
_CONTINUING = re.compile(r"\s*(?:\*(?![*/])|//[/!]?<?|\#'|\#+|---?|;+|%+)?[ \t]?")
_CLOSING = re.compile(r"""(?:(?<!\*)\*+[/)]|-\}|\]=*\]|\#>|"{3})$""")
_RULE = re.compile(r"[-=*#/_~+]{4,}")
_XML_TAG = re.compile(
    r"</?(?:summary|remarks|para|param|returns|see|c|code|value|exception|typeparam)\b[^<>]*>"
)
_PREFIXED_QUOTES = re.compile(r"""[A-Za-z]{0,2}("{3}|'{3}|"|')""")


def comment_text(comment: str) -> str:
    """Return the prose of one comment, or of several line comments joined by line ends."""
    lines = comment.split("\n")
    last = lines[-1].rstrip()
    if closing := _CLOSING.search(last):
        lines[-1] = last[: closing.start()].rstrip()
    kept = []
    inside = False
    for line in lines:
        mark = None if inside else _OPENING.match(line)
        if mark:
            kept.append(line[mark.end() :])
            inside = line.lstrip().startswith(("/*", "(*", "{-", "<#", "--[", '"""', "@"))
        else:
            kept.append(_CONTINUING.sub("", line, count=1))
        inside = inside and not _CLOSING.search(line.rstrip())
    text = _shorten(inspect.cleandoc(_XML_TAG.sub("", _RULE.sub("", "\n".join(kept)))))
    return "" if text == "false" else text  # Elixir's @doc false: no documentation


def docstring_text(literal: str) -> str:
    """Return the prose of a docstring: a string literal of any kind, or a documentation attribute."""
    found = _PREFIXED_QUOTES.match(literal)
    if not found:
        return comment_text(literal)
    quotes = found[1]
    body = literal[found.end() :]
    return _shorten(inspect.cleandoc(body.removesuffix(quotes)))


def _shorten(text: str) -> str:
    return text.strip()[:DOCSTRING_CHARS].rstrip()


# A signature is one line of a result; the rest of a longer one is in the chunk's text.
SIGNATURE_CHARS = 300

# How much of a comment and of a name is read; generated ones can be unbounded, and the rest would be cut off.
COMMENT_BYTES = 4_000
NAME_BYTES = 200

# Above this share of unparsed bytes outside definitions, and below this share inside definitions, the tree
# is useless.
MAX_ERROR_SHARE = 0.5
MIN_DEFINED_SHARE = 0.2

# Sizes of the probe at the start of a source (two, since a cut within a comment causes errors), and how
# many error nodes in it mean another language. Foreign text gives 10 to 1,700, a damaged source 1 or 2, C
# with macros 100.
PROBE_BYTES = (8_000, 16_000)
MAX_PROBE_ERRORS = 200
MAX_PROBE_ERRORS_WARY = 20

# Parts of a dotted name that JavaScript assigns to and that are not owners.
_NO_OWNERS = frozenset({"exports", "module", "prototype", "this", "self"})

_KINDS = {
    f"{weight}.{kind}": (Kind(kind), weight == "minor")
    for weight in ("definition", "minor")
    for kind in ("class", "function", "method")
}
_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_PATH = re.compile(r"[^\s.:]+(?:(?:::|\.|:)[^\s.:]+)*")
_SEPARATOR = re.compile(r"::|\.|:")
_OTHER_CODE = re.compile(rb"[{};)@]")
_OPENS_BODY = re.compile(r"\s*(?:[:{]|=>|=|\bdo|\bbegin|\bis)$")


class Definition(Struct, kw_only=True):
    """A definition in the source; rows are 0-based and inclusive.

    Attributes:
        kind: FUNCTION also for functions whose position will make them methods.
        minor: Whether it becomes a chunk only if long enough.
        stub: Whether it only declares what is defined elsewhere: an overload, a prototype.
        owners: Owners written with the name, outermost first.
        end: Byte after its node and body.
        first: First row, with the comments above.
        row: Row where its node starts.
        signature: The text up to its body, on one line.
        is_apart: Whether it is in a string, in another language, and never stays with the code around it.
    """

    kind: Kind
    minor: bool = False
    stub: bool = False
    owners: tuple[str, ...] = ()
    name: str
    start: int
    end: int
    first: int
    row: int
    last: int
    signature: str
    docstring: str = ""
    is_apart: bool = False


class _Captured(Struct):
    """The nodes of one definition, collected from every match with the same name node."""

    kind: Kind
    minor: bool
    stub: bool
    name: tuple[int, int] | str
    owner: tuple[int, int] | None
    node: tree_sitter.Node
    body: tree_sitter.Node | None
    doc: tree_sitter.Node | None


def outline(  # noqa: C901 (one loop over the captures)
    source: bytes, lines: Sequence[str], language: Language
) -> list[Definition] | None:
    """Return the definitions by start, outer ones first; None if most of the source did not parse.

    Args:
        source: The source in UTF-8.

    Raises:
        GrammarError: The source is too costly to parse.
    """
    tree = parse(source, language)
    found: dict[int, _Captured] = {}
    leads: dict[
        int, tuple[int, tree_sitter.Node | None]
    ] = {}  # by last row: first row, the node if a comment
    decorators: dict[int, int] = {}
    wrappers: dict[int, tree_sitter.Node] = {}
    comments: list[tuple[int, int]] = []
    errors: list[tree_sitter.Node] = []
    settings = pattern_settings(language)
    for pattern, captures in matches(tree, language):
        for key, nodes in captures.items():
            if key in _KINDS:
                _gather(found, nodes[0], key, captures, settings[pattern].get("name"))
                break
            if key == "comment" or key == "lead":  # noqa: PLR1714 (the hottest line)
                node = nodes[0]
                if key == "comment":
                    comments.append(node.byte_range)
                row, column = node.start_point
                line = lines[row]
                if not line[:column].strip():
                    leads[_last_row(node)] = row, node if key == "comment" else None
            elif key == "decorator":
                decorators[nodes[0].start_byte] = nodes[0].end_byte
            elif key == "wrapper":
                wrappers.setdefault(nodes[0].end_byte, nodes[0])
            elif key == "error":
                errors.append(nodes[0])
    comments.sort()
    definitions = [
        _define(
            source, language, each, leads=leads, comments=comments, decorators=decorators, wrappers=wrappers
        )
        for each in found.values()
    ]
    definitions.sort(key=lambda each: (each.start, -each.end))
    if errors and _mostly_errors(errors, definitions, len(source)):
        return None
    return definitions


def is_foreign(source: bytes, language: Language) -> bool:
    """Return whether a source's first lines are clearly in another language.

    Raises:
        GrammarError: They are too costly to parse.
    """
    most = MAX_PROBE_ERRORS_WARY if language.wary else MAX_PROBE_ERRORS
    for size in PROBE_BYTES:
        head = source[: source.rfind(b"\n", 0, size) + 1]
        found = matches(parse(head, language), language)
        if sum("error" in captures for _, captures in found) <= most:
            return False
    return True


def _gather(
    found: dict[int, _Captured],
    node: tree_sitter.Node,
    key: str,
    captures: dict[str, list[tree_sitter.Node]],
    set_name: str | None,
) -> None:
    """Add a match to the definitions found so far; matches with the same name node are one definition."""
    names, bodies, docs, owners = (captures.get(each) for each in ("name", "body", "doc", "owner"))
    if names:
        identity = names[0].start_byte
    elif set_name:
        identity = -1 - node.start_byte
    else:
        return
    body = bodies[0] if bodies else None
    held = found.get(identity)
    if held is None:
        kind, minor = _KINDS[key]
        owner = owners[0].byte_range if owners else None
        name = names[0].byte_range if names else set_name or ""
        doc = docs[0] if docs else None
        found[identity] = _Captured(kind, minor, "stub" in captures, name, owner, node, body, doc)
        return
    kind, minor = _KINDS[key]
    held.stub = held.stub or "stub" in captures
    if held.minor and not minor:
        held.kind, held.minor = kind, minor
    held.body = held.body or body
    held.doc = held.doc or (docs[0] if docs else None)
    if held.owner is None and owners:
        held.owner = owners[0].byte_range
    if node.end_byte - node.start_byte > held.node.end_byte - held.node.start_byte:
        held.node = node


def _define(
    source: bytes,
    language: Language,
    found: _Captured,
    *,
    leads: dict[int, tuple[int, tree_sitter.Node | None]],
    comments: Sequence[tuple[int, int]],
    decorators: dict[int, int],
    wrappers: dict[int, tree_sitter.Node],
) -> Definition:
    node, body = found.node, found.body
    start, end = node.start_byte, node.end_byte
    row, last = node.start_point[0], _last_row(node)
    if body is not None and body.end_byte > end:
        end, last = body.end_byte, max(last, _last_row(body))
    wrapper = wrappers.get(end)
    if wrapper is not None and wrapper.start_byte < start:
        start, row = wrapper.start_byte, wrapper.start_point[0]

    first, above = row, []
    while first - 1 in leads:
        first, comment = leads[first - 1]
        if comment is not None:
            above.append(comment)
    if found.doc is not None:
        start_doc, end_doc = found.doc.byte_range
        docstring = docstring_text(_text(source, start_doc, min(end_doc, start_doc + COMMENT_BYTES)))
    elif above:
        docstring = _comments_text(source, above)
    else:
        docstring = ""

    owners: tuple[str, ...] = ()
    if isinstance(found.name, str):
        name = found.name
    else:
        opens, closes = found.name
        owners, name = _name_parts(
            _text(source, opens, min(closes, opens + NAME_BYTES)), language.owner_parts
        )
    if found.owner is not None:
        owners = (_text(source, *found.owner)[:NAME_BYTES], *owners)
    return Definition(
        kind=found.kind,
        minor=found.minor,
        stub=found.stub,
        owners=owners,
        name=name,
        start=start,
        end=end,
        first=first,
        row=row,
        last=last,
        signature=_signature(source, start, end, found, comments, decorators),
        docstring=docstring,
    )


def _comments_text(source: bytes, above: Sequence[tree_sitter.Node]) -> str:
    """Return the text of the comments above a definition, given nearest first."""
    texts: list[str] = []
    left = COMMENT_BYTES
    for comment in reversed(above):
        start, end = comment.byte_range
        texts.append(_text(source, start, min(end, start + left)).rstrip())
        left -= end - start
        if left <= 0:
            break
    return comment_text("\n".join(texts))


def _signature(
    source: bytes,
    start: int,
    end: int,
    found: _Captured,
    comments: Sequence[tuple[int, int]],
    decorators: dict[int, int],
) -> str:
    """Return the source from the definition's own first line to its body, comments and line ends removed."""
    while start in decorators:
        start = decorators[start]
        while source[start : start + 1].isspace():
            start += 1
    if found.body is not None and found.body.start_byte > start:
        stop = found.body.start_byte
    elif found.minor:
        stop = end
    else:
        stop = source.find(b"\n", start, end)
        stop = end if stop < 0 else stop
    line_start = source.rfind(b"\n", 0, start) + 1
    if not _OTHER_CODE.search(source, line_start, start):
        start = line_start
    stop = min(stop, start + 4 * SIGNATURE_CHARS)
    parts = []
    for index in range(bisect_left(comments, (start, 0)), len(comments)):
        opens, closes = comments[index]
        if opens >= stop:
            break
        parts.append(source[start:opens])
        start = closes
    parts.append(source[start:stop])
    text = " ".join(b" ".join(parts).decode("utf-8", "replace").split())
    return _OPENS_BODY.sub("", text[:SIGNATURE_CHARS])


def _name_parts(written: str, most_owners: int) -> tuple[tuple[str, ...], str]:
    """Split a name as written into its owners and the bare identifier."""
    if written.isidentifier():
        return (), written
    if written[:1] in "\"'`" and written:
        return (), written.strip("\"'`")
    name = " ".join(written.split())
    if most_owners == 0:
        return (), name
    if "operator" in name:
        head, _, tail = name.partition("operator")
        owners = [part for part in _SEPARATOR.split(_without_arguments(head)) if part]
        return tuple(owners[-most_owners:]), "operator" + tail
    plain = _without_arguments(name)
    if not _PATH.fullmatch(plain):
        return (), name
    *owners, last = _SEPARATOR.split(plain)
    return tuple([part for part in owners if part not in _NO_OWNERS][-most_owners:]), last


def _without_arguments(name: str) -> str:
    """Remove type arguments and subscripts, inner ones first; a name has few."""
    for _ in range(8):
        shorter = _ARGUMENTS.sub("", name)
        if shorter == name or not shorter:
            break
        name = shorter
    return name


def _mostly_errors(errors: Sequence[tree_sitter.Node], definitions: Sequence[Definition], size: int) -> bool:
    """Return whether errors outside definitions make up most of a source, and definitions little of it."""
    spans = sorted(
        [(node.start_byte, 1, node.end_byte) for node in errors] + [(d.start, 0, d.end) for d in definitions]
    )
    wrong = defined = 0
    defined_to = wrong_to = 0
    # Error nodes and definitions are nested or disjoint; a definition inside an error was parsed.
    for start, is_error, end in spans:
        if is_error:
            from_ = max(start, defined_to, wrong_to)
            wrong += max(0, end - from_)
            wrong_to = max(wrong_to, end)
        else:
            from_ = max(start, defined_to)
            wrong -= max(0, min(end, wrong_to) - from_)
            defined += max(0, end - from_)
            defined_to = max(defined_to, end)
    return wrong > MAX_ERROR_SHARE * size and defined < MIN_DEFINED_SHARE * size


def _last_row(node: tree_sitter.Node) -> int:
    """Return the last row of a node with text; some grammars include the line end in comments and blocks."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")
