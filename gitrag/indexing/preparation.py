"""Contents and paths turned into what the store keeps of them. Pure, so that processes can share the work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from gitrag.chunking import chunk
from gitrag.embedding.draft import drafter
from gitrag.embedding.text import chunk_text, path_text, text_key
from gitrag.git import content_skip
from gitrag.machine.isolation import reason_of
from gitrag.model import Chunk, Skip
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.vectors import shrink
from gitrag.store.views import PathRecord
from gitrag.words import terms
from gitrag.words.path_traits import traits
from gitrag.words.terms import parts_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME_WEIGHT = 3
"""How often a term of the qualified name counts beyond its place in the text: names say what a chunk is
about."""


WORDS_ONLY = frozenset({"csv", "gettext", "json", "xml"})
"""Languages of data: found by their words, not by their meaning. Of django's 63,000 chunks 10,400 are
translations; embedding them would take two minutes and put foreign sentences beside answers."""


_STANDS_FOR_ITS_FOLDER = re.compile(r"(^|/)(__init__\.pyi?|_?index\.\w+|init\.lua|mod\.(rs|ts|zig))$")
"""Files that a language or a web server finds by their folder's name, which is theirs too. Worth 0.004 in
cross-validation on source folders, 0.012 on questions about architecture."""

_MINIFIED_SUFFIXES = {"css": ".css", "javascript": ".js"}
"""Languages that are looked at for minified content, and a suffix that says so. Not the suffix of a path that
holds the content: equal content in the same language is read once, whatever its paths."""


Job: TypeAlias = tuple[int, bytes, str | None, int]


def prepare_all(jobs: Sequence[Job]) -> list[ContentRecord]:
    """Cut contents into chunks, with their postings, the keys of their texts, and drafts of their vectors.

    One that fails is left out, with the reason.

    Args:
        jobs: Of each content the store's id, its bytes, the language it is read in, and the number of bytes
            beyond which it is left out.
    """
    try:
        return _prepare(jobs)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one file does, the others are read; status tells of it
        if len(jobs) == 1:
            return [failed_record(jobs[0], reason_of(error))]
        return [record for job in jobs for record in prepare_all([job])]


def _prepare(jobs: Sequence[Job]) -> list[ContentRecord]:
    cut = [_cut(data, language, max_bytes) for _, data, language, max_bytes in jobs]
    texts = [
        [] if language in WORDS_ONLY else [chunk_text(chunk) for chunk in chunks]
        for (_, _, language, _), (_, chunks) in zip(jobs, cut, strict=True)
    ]
    drafts = shrink(drafter().draft([text for own in texts for text in own]))
    records = []
    end = 0
    for (content_id, *_), (skip, chunks), own in zip(jobs, cut, texts, strict=True):
        counted = terms.count([((c.text, 1, False), (c.qualified_name, NAME_WEIGHT, True)) for c in chunks])
        start, end = end, end + len(own)
        records.append(
            ContentRecord(
                content_id=content_id,
                state=skip.value if skip else INDEXED,
                chunks=chunks,
                text_keys=tuple(map(_key, own)) if own else (b"",) * len(chunks),
                terms=counted[0],
                frequencies=counted[1],
                term_counts=counted[2],
                lengths=counted[3],
                drafts=drafts[start:end],
            )
        )
    return records


def _cut(data: bytes, language: str | None, max_bytes: int) -> tuple[Skip | None, tuple[Chunk, ...]]:
    skip = content_skip(data, _MINIFIED_SUFFIXES.get(language or "", ""), max_bytes)
    return skip, () if skip else tuple(chunk(data, language))


def _key(text: str) -> bytes:
    return bytes.fromhex(text_key(text))


def failed_record(job: Job, reason: str) -> ContentRecord:
    """Make the record of a content that cannot be cut: not tried again before it, or the recipe, changes."""
    return left_out_record(job[0], f"{Skip.UNREADABLE}: {reason}")


def left_out_record(content_id: int, state: str) -> ContentRecord:
    """Make the record of a content that is left out unread.

    Args:
        content_id: Which.
        state: Why: a ``Skip``, and behind a colon more about it.
    """
    import numpy as np

    nothing = np.array([], dtype=np.uint64)
    counts = nothing.astype(np.int64)
    return ContentRecord(
        content_id,
        state,
        (),
        (),
        nothing,
        nothing.astype(np.uint16),
        counts,
        counts,
        shrink(drafter().draft([])),
    )


def prepare_paths(paths: Sequence[str]) -> list[PathRecord]:
    """Make records of paths: what kind of file each names, its words as terms and as they are embedded."""
    texts = [path_text(path) for path in paths]
    drafts = shrink(drafter().draft(texts))
    return [_path(path, text, draft) for path, text, draft in zip(paths, texts, drafts, strict=True)]


def _path(path: str, text: str, draft: NDArray[np.int8]) -> PathRecord:
    folder, _, file = path.rpartition("/")
    name = file[: file.rfind(".")] if file.rfind(".") > 0 else file
    if folder and _STANDS_FOR_ITS_FOLDER.search(path):
        name = folder.rpartition("/")[2]
    return PathRecord(
        path=path,
        text_key=_key(text),
        draft=draft,
        traits=traits(path),
        top=terms.hashed(path.partition("/")[0] if folder else ""),
        name_terms=tuple(map(terms.hashed, parts_of(name))),
    )
