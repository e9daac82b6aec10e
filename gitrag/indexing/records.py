"""Turn contents and paths into what the store keeps of them. Pure, so that processes can share the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from gitrag.chunking import chunk, decode, language_in, outlined
from gitrag.chunking.notebooks import NOTEBOOK
from gitrag.embedding.draft import drafter
from gitrag.embedding.text import KEY_BYTES, chunk_text, path_text, text_key
from gitrag.git import content_skip
from gitrag.late import late_re, np
from gitrag.machine.isolation import reason_of
from gitrag.model import Chunk, Skip
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.vectors import shrink
from gitrag.store.views import PathRecord
from gitrag.words import terms
from gitrag.words.path_traits import traits
from gitrag.words.terms import parts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS_ONLY = frozenset(
    {"cassette", "csv", "fluent", "gettext", "json", "qt-translation", "sql-dump", "word-list", "xml"}
)
"""Data formats, found by keywords only, without vectors. Of django's 63,000 chunks 10,400 are
translations; embedding them would take two minutes and put foreign sentences among the answers."""

_STANDS_FOR_ITS_FOLDER = late_re(r"(^|/)(__init__\.pyi?|_?index\.\w+|init\.lua|mod\.(rs|ts|zig))$")
"""Files that a language or a web server looks up by folder, so the folder's name is theirs. Worth 0.004 in
cross-validation on source folders, 0.012 on questions about architecture."""

_MINIFIED_SUFFIXES = {"css": ".css", "javascript": ".js"}
"""Languages checked for minified content, each with a suffix that marks it. The path's own suffix is not
used: equal content in the same language is read once, whatever its paths."""

OUTLINE = -1
"""In place of a limit in bytes: only the outline is wanted, since the file is larger than the limit."""

Job: TypeAlias = tuple[int, bytes, str | None, int | None, bytes]


def prepare_all(jobs: Sequence[Job], model: str = "") -> list[ContentRecord]:
    """Cut contents into chunks, with their postings, the keys of their texts, and draft vectors.

    A content that fails is left out, with the reason.

    Args:
        jobs: For each content the store's id, its bytes, what its path says of its language (``key_of``), and
            the size in bytes above which it is left out (None for no limit, or `OUTLINE`),
            and the keys, one after the other, of texts that the store has, which are not drafted again.
        model: The user's own, whose texts' keys and drafts they are; empty for ours.
    """
    try:
        return _prepare(jobs, model)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - one bad file must not stop the others; status reports it
        if len(jobs) == 1:
            return [failed_record(jobs[0], reason_of(error))]
        return [record for job in jobs for record in prepare_all([job], model)]


def _prepare(jobs: Sequence[Job], model: str) -> list[ContentRecord]:
    cut = [_cut(data, language_in(said, data), max_bytes) for _, data, said, max_bytes, _ in jobs]
    texts = [
        ["" if language in WORDS_ONLY or chunk.words_only else chunk_text(chunk) for chunk in chunks]
        for language, _, chunks in cut
    ]
    keys = [tuple(_key(text, model) if text else b"" for text in own) for own in texts]
    new = [_undrafted(job[4], *own) for job, own in zip(jobs, zip(keys, texts, strict=True), strict=True)]
    drafts = shrink(drafter(model).draft([text for own in new for text in own.values()]))
    records = []
    end = 0
    for (content_id, *_), (language, skip, chunks), own, drafted in zip(jobs, cut, keys, new, strict=True):
        counted = terms.count([(c.text, c.qualified_name) for c in chunks])
        start, end = end, end + len(drafted)
        records.append(
            ContentRecord(
                content_id=content_id,
                state=skip.value if skip else INDEXED,
                chunks=chunks,
                text_keys=own,
                terms=counted[0],
                frequencies=counted[1],
                term_counts=counted[2],
                lengths=counted[3],
                drafts=drafts[start:end],
                drafted=tuple(drafted),
                language=language or "",
            )
        )
    return records


def _cut(
    data: bytes, language: str | None, max_bytes: int | None
) -> tuple[str | None, Skip | None, tuple[Chunk, ...]]:
    if language == NOTEBOOK:  # what is not read of it does not count
        data = decode(data, language).encode()
    limit = len(data) if max_bytes == OUTLINE else max_bytes
    skip = content_skip(data, _MINIFIED_SUFFIXES.get(language or "", ""), limit)
    if skip or max_bytes != OUTLINE:
        return language, skip, () if skip else tuple(chunk(data, language))
    chunks = tuple(outlined(data, language))
    return language, None if chunks else Skip.TOO_LARGE, chunks


def _undrafted(known: bytes, keys: Sequence[bytes], texts: Sequence[str]) -> dict[bytes, str]:
    """Return the texts whose keys are not known."""
    there = {known[at : at + KEY_BYTES] for at in range(0, len(known), KEY_BYTES)}
    return {key: text for key, text in zip(keys, texts, strict=True) if key and key not in there}


def _key(text: str, model: str) -> bytes:
    return bytes.fromhex(text_key(text, model))


def failed_record(job: Job, reason: str) -> ContentRecord:
    """Build the record of a content that failed: it is retried only after it, or the recipe, changes."""
    return left_out_record(job[0], f"{Skip.UNREADABLE}: {reason}")


def left_out_record(content_id: int, state: str) -> ContentRecord:
    """Build the record of a content that is left out unread.

    Args:
        state: The reason: a ``Skip``, optionally followed by a colon and details.
    """
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


def prepare_paths(paths: Sequence[str], model: str = "") -> list[PathRecord]:
    """Build the records of paths: the kind of file, the words as terms, and the words as embedded."""
    texts = [path_text(path) for path in paths]
    drafts = shrink(drafter(model).draft(texts))
    return [
        _path(path, _key(text, model), draft) for path, text, draft in zip(paths, texts, drafts, strict=True)
    ]


def _path(path: str, key: bytes, draft: NDArray[np.int8]) -> PathRecord:
    folder, _, file = path.rpartition("/")
    name = file[: file.rfind(".")] if file.rfind(".") > 0 else file
    if folder and _STANDS_FOR_ITS_FOLDER.search(path):
        name = folder.rpartition("/")[2]
    return PathRecord(
        path=path,
        text_key=key,
        draft=draft,
        traits=traits(path),
        top=terms.hashed(path.partition("/")[0] if folder else ""),
        name_terms=tuple(map(terms.hashed, parts_of(name))),
    )
