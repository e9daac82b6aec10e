"""What was done to the index, as data for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gitrag.actions.embed import EmbeddedHere, EmbeddingInBackground
from gitrag.report.documents import IndexedDocument, VectorsDocument
from gitrag.workspace import Indexed


def indexed_document(indexed: Indexed) -> IndexedDocument:
    """Return what an update of the text did."""
    counts = indexed.counts
    return IndexedDocument(
        files=counts.files,
        chunks=counts.chunks,
        new=indexed.refreshed.cut,
        dirty=indexed.refreshed.dirty,
        left_out=dict(counts.skipped),
        seconds=round(indexed.seconds, 3),
    )


def vectors_document(steps: Iterable[object], waiting: int = 0) -> VectorsDocument:
    """Return what was done for the vectors; ``waiting``: how many had only drafts where nothing was done."""
    document = VectorsDocument(0, waiting, in_background=False, seconds=0.0)
    for step in steps:
        match step:
            case EmbeddedHere(texts, seconds, left):
                document = VectorsDocument(texts, left, in_background=left > 0, seconds=round(seconds, 3))
            case EmbeddingInBackground(texts):
                document = VectorsDocument(0, texts, in_background=True, seconds=0.0)
            case _:
                pass
    return document
