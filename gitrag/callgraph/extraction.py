"""A blob's facts: parsed once, by the same parser and under the same limits as for its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitrag.callgraph.facts import EMPTY, Facts, pack
from gitrag.callgraph.general.syntax import QUERIES

LANGUAGES = frozenset({"python", *QUERIES})
"""Languages whose calls are known."""

_MAX_BYTES = 1 << 20
"""Larger sources are generated; their calls are nobody's question."""


def extract(data: bytes, language: str) -> Facts:
    """Return the facts of a blob; none where it cannot be parsed.

    Args:
        data: Its bytes.
        language: One of ``LANGUAGES``.
    """
    from gitrag.chunking import decode
    from gitrag.chunking.chunker import is_hopelessly_nested
    from gitrag.chunking.languages import BY_NAME
    from gitrag.chunking.parsing import GrammarError, parse

    if len(data) > _MAX_BYTES:
        return EMPTY
    source = decode(data).encode()
    if is_hopelessly_nested(source):
        return EMPTY
    try:
        tree = parse(source, BY_NAME[language])
    except GrammarError:
        return EMPTY
    if language == "python":
        from gitrag.callgraph.python.facts import python_facts
        from gitrag.callgraph.python.module_reader import ModuleReader

        return python_facts(ModuleReader(source).read(tree.root_node))
    from gitrag.callgraph.general.syntax import Reader

    try:
        return Reader(source, BY_NAME[language]).read(tree)
    except GrammarError:
        return EMPTY


def extract_all(jobs: Sequence[tuple[int, bytes, str]]) -> list[tuple[int, bytes]]:
    """Return the packed facts of contents, by the ids that came with them."""
    return [(content_id, pack(extract(data, language))) for content_id, data, language in jobs]


def unsupported(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the paths of those files that are programs in a language whose calls are not known.

    Args:
        files: Path and language; an empty one goes by the path.
    """
    from gitrag.chunking.languages import is_code, language_of

    for path, known in dict.fromkeys(files):
        language = known or language_of(path) or ""
        if is_code(language) and language not in LANGUAGES:
            yield path
