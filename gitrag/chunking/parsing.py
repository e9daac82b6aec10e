"""Sources to syntax trees, and trees to what a language's query captures: the only user of tree-sitter.

What is parsed once here serves every reader of the tree: a second query over the same ``Tree`` costs a
fraction of the parse.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.languages import Language

# The parser calls back every hundred operations, about once in 200 bytes of ordinary source. A budget of calls
# bounds pathological input (error recovery is quadratic) and, unlike seconds, gives the same result on every
# machine.
PARSE_STEPS = 10_000
PARSE_STEPS_PER_BYTE = 0.1

# What the parser reads at a time. A query's text predicates read through the same callback, so it is small.
READ_BYTES = 4_096

# States a query may hold at once; beyond it the oldest are dropped. (The binding's progress callback for
# queries crashes the process in 0.26.1.)
MATCH_LIMIT = 20_000

_parsers = local()


class GrammarError(RuntimeError):
    """A source was too costly to parse."""


def parse(source: bytes, language: Language) -> tree_sitter.Tree:
    """Return the syntax tree of UTF-8 ``source``.

    Raises:
        GrammarError: If parsing would take far longer than it does for any source of this size.
    """
    if not source.endswith(b"\n"):
        source += b"\n"  # without it Perl's scanner does not return from a comment on the last line
    left = PARSE_STEPS + int(len(source) * PARSE_STEPS_PER_BYTE)

    def read(offset: int, _point: tree_sitter.Point) -> bytes | None:
        return source[offset : offset + READ_BYTES] or None

    def spent(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    parser = _parser(language.grammar)
    try:
        return parser.parse(read, progress_callback=spent)
    except ValueError as error:
        parser.reset()
        raise GrammarError(f"parsing {language.name} took too many steps") from error


def matches(
    tree: tree_sitter.Tree, language: Language
) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
    """Return the matches of the language's definition query: pattern index, and captured nodes by name."""
    from tree_sitter import QueryCursor

    cursor = QueryCursor(definition_query(language), match_limit=MATCH_LIMIT)
    return cursor.matches(tree.root_node)


@cache
def definition_query(language: Language) -> tree_sitter.Query:
    """Return the compiled ``queries/*.scm`` of a language, with a capture for what did not parse."""
    from tree_sitter import Query

    folder = resources.files("gitrag.chunking") / "queries"
    text = "".join((folder / f"{name}.scm").read_text("utf-8") for name in language.queries.split())
    return Query(_grammar(language.grammar), text + "\n(ERROR) @error\n")


@cache
def pattern_settings(language: Language) -> tuple[dict[str, str | None], ...]:
    """Return the ``#set!`` directives of each pattern of a language's query."""
    query = definition_query(language)
    return tuple(query.pattern_settings(index) for index in range(query.pattern_count))


@cache
def _grammar(name: str) -> tree_sitter.Language:
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type]  # a literal of 173 names


def _parser(grammar: str) -> tree_sitter.Parser:
    """Return this thread's parser: one keeps state while it calls back into Python."""
    from tree_sitter import Parser

    held: dict[str, tree_sitter.Parser] = _parsers.__dict__.setdefault("by_grammar", {})
    if grammar not in held:
        held[grammar] = Parser(_grammar(grammar))
    return held[grammar]
