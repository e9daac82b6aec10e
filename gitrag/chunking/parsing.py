"""Parse sources into syntax trees and run a language's queries on them: the only user of tree-sitter.

A tree parsed once serves every reader: a second query over the same ``Tree`` costs a
fraction of the parse.
"""

from __future__ import annotations

import time
from functools import cache
from importlib import resources
from itertools import pairwise
from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.languages import Language

# The parser calls back every hundred operations, about once per 200 bytes of ordinary source. A budget of
# calls bounds pathological input and, unlike seconds, gives the same result on every machine. The costliest
# of 22,000 real files took 0.018 calls per byte.
PARSE_STEPS = 1_500
PARSE_STEPS_PER_BYTE = 0.05

# Limit on a parse's processor time. One step may read to the end of the file, as each unclosed `/*` in Go
# does: 10 s for a megabyte, where source written by people takes a tenth of a second.
PARSE_S = 1.0
PARSE_S_PER_BYTE = 1e-5

# How much a query's text predicates read at a time; identifiers are shorter.
TEXT_BYTES = 256

MOST_LEVELS = 200
"""Of a tree with more, such as a chain of calls, parents are noted in one walk, which takes longer than
asking some hundred nodes of another tree."""

# States that a query may hold at once; beyond it the oldest are dropped. (The binding's progress callback for
# queries crashes the process in 0.26.1.)
MATCH_LIMIT = 20_000

# A query that looks for neighbours among an error node's children takes time quadratic in
# their number: 0.1 s for this many, 87 s for a megabyte of `* & * &` in C.
MAX_ERROR_CHILDREN = 10_000

# A query stores depth in 16 bits: from depth 65,535 on, as in a chain of that many calls, it returns wrong
# matches and may never end; on some chains its time is quadratic, 2 s for 12,000 calls in Ruby.
# Of 6,638 sources the deepest has 1,974.
MAX_DEPTH = 10_000

_parsers = local()


class GrammarError(RuntimeError):
    """A source is too costly to parse, or its tree too costly to query."""


def parse(source: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of UTF-8 ``source``.

    Raises:
        GrammarError: Parsing takes far longer than for any real source of this size.
    """
    started_s = time.thread_time()
    if not source.endswith(b"\n"):
        source += b"\n"  # some grammars need a line end, not just the end of the file
    most_s = PARSE_S + len(source) * PARSE_S_PER_BYTE
    left = PARSE_STEPS + int(len(source) * PARSE_STEPS_PER_BYTE)
    # The binding (0.26.1) accepts a progress callback only with a read callback, and never frees what that
    # returns: so the parser gets memory views, which are released afterwards. The query's text predicates
    # use the callback later, too, and need bytes.
    whole = memoryview(source)
    views = [whole]
    parsing = True

    def read(offset: int, _point: tree_sitter.Point) -> memoryview | bytes | None:
        if offset >= len(source):
            return None
        if not parsing:
            return source[offset : offset + TEXT_BYTES]
        views.append(whole[offset:])
        return views[-1]

    def spent(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0 or time.thread_time() - started_s > most_s

    parser = _parser(language.grammar)
    try:
        return parser.parse(read, progress_callback=spent)
    except ValueError as error:
        parser.reset()
        why = "took too many steps" if left < 0 else f"took longer than {most_s:.0f} s"
        raise GrammarError(f"parsing {language.name} {why}") from error
    finally:
        parsing = False
        for view in reversed(views):
            view.release()


def matches(
    tree: tree_sitter.Tree, language: Language
) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
    """Return the matches of the language's definition query: pattern index, and captured nodes by name.

    Raises:
        GrammarError: Too many errors in one place, or the tree is too deep.
    """
    from tree_sitter import QueryCursor

    if _errs_widely(tree.root_node):
        raise GrammarError(f"too much of {language.name} did not parse")
    if is_deep(tree.root_node, MAX_DEPTH):
        raise GrammarError(f"its expressions nest more than {MAX_DEPTH:,} deep")
    cursor = QueryCursor(definition_query(language), match_limit=MATCH_LIMIT)
    return cursor.matches(tree.root_node)


def _errs_widely(root: tree_sitter.Node) -> bool:
    """Return whether an error node has too many children for a query."""
    pending = [root] if root.has_error else []
    while pending:
        node = pending.pop()
        if node.is_error and node.child_count > MAX_ERROR_CHILDREN:
            return True
        pending += [child for child in node.children if child.has_error]
    return False


def is_deep(root: tree_sitter.Node, most: int) -> bool:
    """Return whether a tree has more levels than some; walks only what has enough nodes for that."""
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > most:
            return True
        if depth + node.descendant_count > most:
            pending += [(child, depth + 1) for child in node.children]
    return False


class Lineage:
    """Tells a node's parent, and the named node after it."""

    def __init__(self, tree: tree_sitter.Tree) -> None:
        self._parents: dict[int, tree_sitter.Node] = {}
        self._after: dict[int, tree_sitter.Node] = {}
        waiting = [tree.root_node] if is_deep(tree.root_node, MOST_LEVELS) else []
        while waiting:
            node = waiting.pop()
            children = node.children
            self._parents.update((each.id, node) for each in children)
            named = (each for each in children if each.is_named)
            self._after.update((each.id, after) for each, after in pairwise(named))
            waiting += children

    def parent(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the node around a node; None around all."""
        return self._parents.get(node.id) if self._parents else node.parent

    def after(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the named node that follows a named node in the same one."""
        return self._after.get(node.id) if self._parents else node.next_named_sibling


@cache
def definition_query(language: Language) -> tree_sitter.Query:
    """Return the compiled ``queries/*.scm`` of a language, with an added capture for parse errors."""
    from tree_sitter import Query

    folder = resources.files("gitrag.chunking") / "queries"
    text = "".join((folder / f"{name}.scm").read_text("utf-8") for name in language.queries.split())
    return Query(load_grammar(language.grammar), text + "\n(ERROR) @error\n")


@cache
def pattern_settings(language: Language) -> tuple[dict[str, str | None], ...]:
    """Return the ``#set!`` directives of each pattern of a language's query."""
    query = definition_query(language)
    return tuple(query.pattern_settings(index) for index in range(query.pattern_count))


@cache
def load_grammar(name: str) -> tree_sitter.Language:
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type]  # a literal of 173 names


def _parser(grammar: str) -> tree_sitter.Parser:
    """Return this thread's parser: a parser has state while it calls back into Python."""
    from tree_sitter import Parser

    held: dict[str, tree_sitter.Parser] = _parsers.__dict__.setdefault("by_grammar", {})
    if grammar not in held:
        held[grammar] = Parser(load_grammar(grammar))
    return held[grammar]
