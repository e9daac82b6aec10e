"""Small columns by hand, as the store would give them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gitrag.search.evidence import Collected, Evidence, gather
from gitrag.search.question import read
from gitrag.store.candidates import DefinitionSite, NameWords, Postings
from gitrag.store.nearby import Near
from gitrag.store.scopes import Files
from gitrag.words.path_traits import traits
from gitrag.words.terms import hashed


def make_files(
    *files: tuple[str, int, int], languages: Sequence[str] = (), contents: Sequence[int] = ()
) -> Files:
    """Files given as (path, chunks, length)."""
    count = len(files)
    return Files(
        path_id=np.arange(1, count + 1, dtype=np.int32),
        content_id=np.array(contents or range(1, count + 1), dtype=np.int32),
        language=np.array(languages or ["python"] * count, dtype=object),
        traits=np.array([traits(path) for path, *_ in files], dtype=np.uint8),
        top=np.array([hashed(path.partition("/")[0]) for path, *_ in files], dtype=np.uint64),
        name_terms=np.array([1] * count, dtype=np.uint8),
        chunks=np.array([chunks for _, chunks, _ in files], dtype=np.int32),
        length=np.array([length for *_, length in files], dtype=np.int32),
    )


def make_postings(*rows: tuple[int, int, int, int, bool, int]) -> Postings:
    """Postings given as (term, chunk, file, frequency, whether in a name, the chunk's length)."""
    term, chunk, file, frequency, in_name, length = zip(*rows, strict=True) if rows else [()] * 6
    numbers = (np.array(column, dtype=np.int32) for column in (term, chunk, file, frequency))
    return Postings(*numbers, np.array(in_name, dtype=bool), np.array(length, dtype=np.int32))


def make_near(*rows: tuple[int, int, float]) -> Near:
    """Chunks given as (chunk, file, cosine)."""
    chunk, file, cosine = zip(*rows, strict=True) if rows else [()] * 3
    return Near(
        np.array(chunk, dtype=np.int32), np.array(file, dtype=np.int32), np.array(cosine, dtype=np.float32)
    )


def make_name_words(*rows: tuple[int, int]) -> NameWords:
    """Words of files' names given as (term, file)."""
    term, file = zip(*rows, strict=True) if rows else [()] * 2
    return NameWords(np.array(term, dtype=np.int32), np.array(file, dtype=np.int32))


def evidence_of(
    files: Files,
    question: str = "open door",
    *,
    postings: Sequence[tuple[int, int, int, int, bool, int]] = (),
    near: Sequence[tuple[int, int, float]] = (),
    definitions: Sequence[DefinitionSite] = (),
    name_words: Sequence[tuple[int, int]] = (),
    verbatim: Sequence[int] = (),
) -> Evidence:
    """Gather evidence from rows."""
    collected = Collected(
        files,
        make_postings(*postings),
        make_near(*near),
        list(definitions),
        make_name_words(*name_words),
        np.array(verbatim, dtype=np.int32),
    )
    return gather(read(question), collected)
