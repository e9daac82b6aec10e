"""One content cut into what the store keeps of it. Pure, so that processes can share the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gitrag import terms
from gitrag.chunking import chunk
from gitrag.embedding.text import chunk_text, path_text, text_key
from gitrag.git import content_skip
from gitrag.model import Chunk, Skip
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.views import PathRecord

NAME_WEIGHT = 3
"""How often a term of the qualified name counts beyond its place in the text: names say what a chunk is
about."""

_HIGHEST_FREQUENCY = 65_535


def prepare(content_id: int, data: bytes, language: str | None, path: str, max_bytes: int) -> ContentRecord:
    """Cut a content into chunks, with their postings and the keys of their texts.

    Args:
        content_id: The store's id for it.
        data: Its bytes.
        language: The language it is read in.
        path: A path that holds it, for evidence that only a name gives.
        max_bytes: Larger contents are left out.
    """
    import numpy as np

    skip = content_skip(data, path, max_bytes)
    chunks = () if skip else tuple(chunk(data, language))
    counters = [_count(piece) for piece in chunks]
    return ContentRecord(
        content_id=content_id,
        state=skip.value if skip else INDEXED,
        chunks=chunks,
        text_keys=tuple(bytes.fromhex(text_key(chunk_text(piece))) for piece in chunks),
        lengths=tuple(sum(counter.values()) for counter in counters),
        terms=np.array([term for counter in counters for term in counter], dtype=np.uint64),
        frequencies=np.array(
            [min(n, _HIGHEST_FREQUENCY) for counter in counters for n in counter.values()], dtype=np.uint16
        ),
        term_counts=tuple(map(len, counters)),
    )


def prepare_all(jobs: Sequence[tuple[int, bytes, str | None, str, int]]) -> list[ContentRecord]:
    """Prepare several contents, given as the arguments of ``prepare``."""
    return [prepare(*job) for job in jobs]


def left_out_record(content_id: int, skip: Skip) -> ContentRecord:
    """Make the record of a content that is left out unread."""
    import numpy as np

    nothing = np.array([], dtype=np.uint64)
    return ContentRecord(content_id, skip.value, (), (), (), nothing, nothing.astype(np.uint16), ())


def prepare_path(path: str) -> PathRecord:
    """Make the record of a path: its words as terms, and the key of their text."""
    words = path_text(path)
    return PathRecord(path, bytes.fromhex(text_key(words)), tuple(terms.count(path)))


def _count(piece: Chunk) -> Counter[int]:
    counts = terms.count(piece.text)
    return terms.count(piece.qualified_name, NAME_WEIGHT, counts)
