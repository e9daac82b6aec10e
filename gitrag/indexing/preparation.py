"""One content cut into what the store keeps of it. Pure, so that processes can share the work."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag import terms
from gitrag.chunking import chunk
from gitrag.embedding.text import chunk_text, path_text, text_key
from gitrag.git import content_skip
from gitrag.model import Chunk, Skip
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.views import PathRecord

PREPARATION_VERSION = 1  # raise when anything below changes: every index is then built again

NAME_WEIGHT = 3
"""How often a term of the qualified name counts beyond its place in the text: names say what a chunk is
about."""


WORDS_ONLY = frozenset({"csv", "gettext", "json", "xml"})
"""Languages of data: found by their words, not by their meaning. Of django's 63,000 chunks 10,400 are
translations; embedding them would take two minutes and put foreign sentences beside answers."""


_MINIFIED_SUFFIXES = {"css": ".css", "javascript": ".js"}
"""Languages that are looked at for minified content, and a suffix that says so. Not the suffix of a path that
holds the content: equal content in the same language is read once, whatever its paths."""


def prepare(content_id: int, data: bytes, language: str | None, max_bytes: int) -> ContentRecord:
    """Cut a content into chunks, with their postings and the keys of their texts.

    Args:
        content_id: The store's id for it.
        data: Its bytes.
        language: The language it is read in.
        max_bytes: Larger contents are left out.
    """
    skip = content_skip(data, _MINIFIED_SUFFIXES.get(language or "", ""), max_bytes)
    chunks = () if skip else tuple(chunk(data, language))
    counted = terms.count([((piece.text, 1), (piece.qualified_name, NAME_WEIGHT)) for piece in chunks])
    return ContentRecord(
        content_id=content_id,
        state=skip.value if skip else INDEXED,
        chunks=chunks,
        text_keys=tuple(_key(piece, language) for piece in chunks),
        terms=counted[0],
        frequencies=counted[1],
        term_counts=counted[2],
        lengths=counted[3],
    )


def _key(piece: Chunk, language: str | None) -> bytes:
    return b"" if language in WORDS_ONLY else bytes.fromhex(text_key(chunk_text(piece)))


def prepare_all(jobs: Sequence[tuple[int, bytes, str | None, int]]) -> list[ContentRecord]:
    """Prepare several contents, given as the arguments of ``prepare``."""
    return [prepare(*job) for job in jobs]


def left_out_record(content_id: int, skip: Skip) -> ContentRecord:
    """Make the record of a content that is left out unread."""
    import numpy as np

    nothing = np.array([], dtype=np.uint64)
    counts = nothing.astype(np.int64)
    return ContentRecord(content_id, skip.value, (), (), nothing, nothing.astype(np.uint16), counts, counts)


def prepare_path(path: str) -> PathRecord:
    """Make the record of a path: its words as terms, and the key of their text."""
    words = path_text(path)
    return PathRecord(
        path, bytes.fromhex(text_key(words)), tuple(terms.hashed(term) for term in terms.query_terms(path))
    )
