"""Cut lines and definitions into chunks: which definitions become chunks, where they begin and end.

Every non-blank row is in exactly one chunk (a line too long for one chunk, in several).
Rows are 0-based and inclusive.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gitrag.chunking.line_pieces import MAX_CHUNK_CHARS, is_closing, is_comment, split, trim
from gitrag.model import Chunk, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitrag.chunking.outline import Definition

# Nested definitions are distinguished to this depth; generated nesting can be unbounded, names must not be.
MAX_DEPTH = 16

# A run of at least this many one-line definitions becomes a single chunk: forward declarations, accessors,
# exception types.
MIN_RUN_OF_LINES = 4

# A minor definition of fewer rows (comments above included) stays with the code around it.
MIN_MINOR_ROWS = 3

# An inner class without methods stays with its outer class below this size (Django's Meta, a small enum).
MIN_INNER_CLASS_CHARS = 400

# A nested function gets its own chunk, if the outer one is too long for a chunk, only from this size on.
MIN_INNER_FUNCTION_CHARS = 300

# A comment that stands alone between definitions is a heading of what follows, below this size.
MAX_DIVIDER_CHARS = 80

# Leftovers between the methods of a class join a neighbour below this size: an embedding of ``private:``
# or ``class << self`` has no meaning. Fields are longer.
MIN_GAP_CHARS = 20


class _DefinitionNode(Struct):
    """A definition in the tree, with the rows assigned to it where neighbours overlap."""

    definition: Definition
    parent: _DefinitionNode | None
    depth: int
    first: int
    last: int
    children: int = 0
    is_chunk: bool = False
    previous: _DefinitionNode | None = None  # the last child so far
    qualified_name: str = ""
    kind: Kind = field(default=Kind.FUNCTION)


class _Segment(Struct):
    node: _DefinitionNode | None
    first: int
    last: int
    is_head: bool


def cut(
    lines: Sequence[str], definitions: Sequence[Definition], *, merge_clauses: bool = False
) -> list[Chunk]:
    """Return the chunks of a parsed file, in order.

    Args:
        definitions: Its definitions by start, outer before inner.
        merge_clauses: Whether neighbouring definitions of the same name form one.
    """
    ends = [0, *accumulate(len(line) + 1 for line in lines)]
    nodes = _place(lines, definitions, ends, merge_clauses=merge_clauses)
    _choose(lines, nodes, ends)
    segments = _segments(lines, [node for node in nodes if node.is_chunk])
    return [chunk for segment in _absorb(lines, segments) for chunk in _chunks(lines, segment)]


def _place(
    lines: Sequence[str], definitions: Sequence[Definition], ends: Sequence[int], *, merge_clauses: bool
) -> list[_DefinitionNode]:
    """Nest the definitions, and assign each row to one: the first that begins on it.

    A definition that begins on the row where another begins or ends (minified code) becomes part of that one.
    """
    nodes: list[_DefinitionNode] = []
    stack: list[_DefinitionNode] = []
    before: _DefinitionNode | None = None  # last one at top level
    for each in definitions:
        while stack and stack[-1].definition.end <= each.start:
            stack.pop()
        parent = stack[-1] if stack else None
        floor = parent.definition.row + 1 if parent else 0
        if each.row < floor:
            continue
        sibling = parent.previous if parent else before
        if sibling is not None:
            if each.row <= sibling.last:
                sibling.last = max(sibling.last, min(each.last, parent.last if parent else each.last))
                continue
            floor = max(floor, sibling.last + 1)
        first = max(each.first, floor)
        if merge_clauses and sibling is not None and _continues(lines, sibling, each, first, ends):
            sibling.last = each.last
            continue
        node = _DefinitionNode(each, parent, parent.depth + 1 if parent else 0, first, each.last)
        if parent:
            parent.children += 1
            parent.previous = node
            node.last = min(node.last, parent.last)
        else:
            before = node
        nodes.append(node)
        stack.append(node)
    return nodes


def _continues(
    lines: Sequence[str], sibling: _DefinitionNode, each: Definition, first: int, ends: Sequence[int]
) -> bool:
    held = sibling.definition
    return (
        held.kind is each.kind is not Kind.CLASS
        and held.name == each.name
        and held.owners == each.owners
        and ends[each.last + 1] - ends[sibling.first] <= MAX_CHUNK_CHARS
        and not any(line.strip() for line in lines[sibling.last + 1 : first])
    )


def _choose(lines: Sequence[str], nodes: Sequence[_DefinitionNode], ends: Sequence[int]) -> None:
    """Decide which definitions become chunks of their own, and name those.

    An overload or a prototype of a function that is defined beside it is none: whoever asks for the function
    would be shown what only declares it. Its lines stay with the code around.
    """
    run: list[_DefinitionNode] = []
    defined = {_identity(node) for node in nodes if _has_a_body(node.definition)}

    def dissolve() -> None:
        if len(run) >= MIN_RUN_OF_LINES:
            for each in run:
                each.is_chunk = False
        run.clear()

    for node in nodes:
        if not _stands_alone(node, ends) or (node.definition.stub and _identity(node) in defined):
            continue
        node.is_chunk = True
        held, parent = node.definition, node.parent
        in_class = parent is not None and parent.kind is Kind.CLASS
        is_method = held.kind is Kind.FUNCTION and (in_class or bool(held.owners))
        node.kind = Kind.METHOD if is_method else held.kind
        names = (*((parent.qualified_name,) if parent else ()), *held.owners, held.name)
        node.qualified_name = ".".join(name for name in names if name)
        if node.first != node.last:
            dissolve()
            continue
        if run and (
            run[-1].parent is not parent or any(map(str.strip, lines[run[-1].last + 1 : node.first]))
        ):
            dissolve()
        run.append(node)
    dissolve()


def _identity(node: _DefinitionNode) -> tuple[int, tuple[str, ...], str]:
    return id(node.parent), node.definition.owners, node.definition.name


def _has_a_body(definition: Definition) -> bool:
    return not (definition.stub or definition.minor) and definition.kind is not Kind.CLASS


def _stands_alone(node: _DefinitionNode, ends: Sequence[int]) -> bool:
    held, parent = node.definition, node.parent
    if held.minor and node.last - node.first + 1 < MIN_MINOR_ROWS:
        return False
    if parent is None or held.is_apart:
        return True
    if not parent.is_chunk or node.depth > MAX_DEPTH:
        return False
    size = ends[node.last + 1] - ends[node.first]
    if parent.kind is Kind.CLASS:
        return held.kind is not Kind.CLASS or node.children > 0 or size >= MIN_INNER_CLASS_CHARS
    return size >= MIN_INNER_FUNCTION_CHARS and ends[parent.last + 1] - ends[parent.first] > MAX_CHUNK_CHARS


def _segments(lines: Sequence[str], nodes: Sequence[_DefinitionNode]) -> list[_Segment]:
    """Return runs of rows with the innermost definition that is a chunk, blank rows trimmed."""
    segments: list[_Segment] = []
    stack: list[_DefinitionNode] = []
    row = 0

    def emit(node: _DefinitionNode | None, stop: int) -> None:
        nonlocal row
        first, last = trim(lines, row, stop)
        if first <= last and lines[first].strip():
            segments.append(_Segment(node, first, last, is_head=node is not None and row == node.first))
        row = max(row, stop + 1)

    for node in nodes:
        while stack and stack[-1].last < node.first:
            done = stack.pop()
            emit(done, done.last)
        emit(stack[-1] if stack else None, node.first - 1)
        stack.append(node)
    while stack:
        done = stack.pop()
        emit(done, done.last)
    emit(None, len(lines) - 1)
    return segments


def _absorb(lines: Sequence[str], segments: list[_Segment]) -> list[_Segment]:
    """Merge pieces between definitions that are too small for a chunk with the piece before or after."""
    kept: list[_Segment] = []
    for index, segment in enumerate(segments):
        after = segments[index + 1] if index + 1 < len(segments) else None
        if not segment.is_head:
            stripped = [line.strip() for line in lines[segment.first : segment.last + 1]]
            closing = all(map(is_closing, stripped))
            size = sum(map(len, stripped))
            if (
                after is not None
                and size <= MAX_DIVIDER_CHARS
                and all(map(is_comment, filter(None, stripped)))
            ):
                after.first = segment.first
                continue
            if closing or (segment.node is not None and size < MIN_GAP_CHARS):
                before = kept[-1] if kept else None
                if after is not None and not closing:
                    touches_before = before is not None and before.last + 1 == segment.first
                    if before is None or (after.first == segment.last + 1 and not touches_before):
                        before = None
                if before is not None:
                    before.last = segment.last
                    continue
                if after is not None:
                    after.first = segment.first
                    continue
        kept.append(segment)
    return kept


def _chunks(lines: Sequence[str], segment: _Segment) -> Iterator[Chunk]:
    node = segment.node
    for piece, (text, first, last) in enumerate(split(lines, segment.first, segment.last)):
        if node is None:
            yield Chunk(Kind.MODULE, "", "", "", "", text, first + 1, last + 1)
        else:
            held = node.definition
            yield Chunk(
                node.kind,
                held.name,
                node.qualified_name,
                held.signature,
                held.docstring,
                text,
                first + 1,
                last + 1,
                continued=piece > 0 or not segment.is_head,
            )
