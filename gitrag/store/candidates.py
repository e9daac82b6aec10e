"""Candidates for a question: the files it may find, and the rows that are evidence for them.

All functions work on a *scope*: the files that the question may find (those of a view and its overlay,
filtered) and their chunks. So filters apply before any limit. Rows come as NumPy columns, joined here:
the columns of a scope serve every statement, and the next question too if the index is kept in memory.
The ranker weighs them (`gitrag/search`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store import vectors
from gitrag.store.columns import (
    decode_path,
    distinct,
    encode_path,
    ends,
    hashes,
    integers,
    joined_at,
    matches,
    objects,
    pairs,
    run,
    runs,
)
from gitrag.store.content import IS_OUTLINED, WHY
from gitrag.store.held_texts import read_chunk_columns
from gitrag.store.memo import Memo, Recent
from gitrag.store.views import ViewOverlay
from gitrag.words.control_characters import in_whole_characters
from gitrag.words.path_traits import NAMED_LIKE_PACKAGES, Trait, as_package, traits_within
from gitrag.words.terms import IN_NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_T = TypeVar("_T")

SURPLUS = 16
"""How many times the requested number of chunks the sign bits preselect, for their vectors to decide.

Chosen while differing signs alone preselected: in 107,503 chunks the first ten files, unlikely ones too,
equalled those of the exact comparison for 96 of 100 questions; with 32 for 100, with 8 for 86, with 4 for 61
(`scripts/bench/scale.py`).
"""

PATH_WEIGHT = 0.5
"""A question is compared with normalise(chunk + 0.5 · path): one result per file, NDCG@10 0.836 with vectors
alone, against 0.722 without the path and 0.803 with the path's words in the embedded text."""


class Filters(Struct, frozen=True):
    """The limits of a question.

    Attributes:
        kinds: Kinds of chunk; empty means all.
        languages: Languages; empty means all.
        globs: Patterns of paths as in .gitignore; empty means all.
        collections: Names of collections, without the repository's slug; None means all.
    """

    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    collections: tuple[str, ...] | None = None


NO_FILTERS = Filters()
POSTINGS = frozenset({"postings", "name_postings", "message_postings"})
"""Tables that map terms to where they occur."""
NO_OVERLAY = ViewOverlay()

_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - set("\"'\\")
"""Bytes that DuckDB does not escape where it casts a BLOB to text."""

_FEW_TERMS = 64
"""Terms that are looked up one by one in a large index; of a longer text all are, in one pass."""

_TERMS_BYTES = 32 << 20
"""Maximum size of the postings that are kept of the terms asked last: 6 bytes for each chunk that has one."""

_AT_A_TIME = 1 << 16
"""Rows of a scope whose signs are compared at a time."""

_LENGTHS = 3
"""From so many questions of the same vectors on all lengths are kept: one asks before and after refining."""

_LOOKS = 8
"""Number of times that all names of a large index are looked through before their hashes are kept: so often
takes as long as reading and sorting these, of 1.4 million chunks 0.025 s and 0.18 s."""

_MOST_LONGER = 20
"""Maximum number of definitions; a word in more names, such as ``get``, is too common."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a scope, in columns of equal length; a file's number is its index in them.

    Attributes:
        path_id: int32.
        content_id: int32.
        language: str, empty if unknown.
        traits: uint8, ``gitrag.words.path_traits.Trait``.
        top: uint64, hash of the top-level directory.
        name_terms: uint8, number of words in the file's name.
        chunks: int32, number of chunks.
        length: int32, weighted number of terms.
    """

    path_id: NDArray[np.int32]
    content_id: NDArray[np.int32]
    language: NDArray[Any]
    traits: NDArray[np.uint8]
    top: NDArray[np.uint64]
    name_terms: NDArray[np.uint8]
    chunks: NDArray[np.int32]
    length: NDArray[np.int32]
    memo: Memo = field(default_factory=lambda: Memo(lasting=True), repr=False, compare=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.path_id)

    def among(self, is_meant: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Tell of each file whether its language is meant; asked once a language."""
        names, language = self.memo.get("languages", self._languages)
        return np.array([is_meant(name) for name in names] or [False])[language]

    def _languages(self) -> tuple[list[str], NDArray[np.intp]]:
        """Return the languages, and each file's index in them; sorting the names would take far longer."""
        every = self.language.tolist()
        place = {name: number for number, name in enumerate(dict.fromkeys(every))}
        return [*map(str, place)], np.fromiter(map(place.__getitem__, every), np.intp, len(every))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The files that a question may find, and their chunks; a chunk of several files has a row for each.

    Attributes:
        files: The files, by ascending path id.
        path_text: int32, one row per file: the text of its path's words.
        chunk_id: int32, ascending.
        file: int32, number of the file.
        text_id: int32, the text that is embedded for the chunk; 0 for none.
        length: int32, the chunk's weighted number of terms.
        of_index: Cache of what is computed from the index, whatever the scope.
    """

    files: Files
    path_text: NDArray[np.int32]
    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    text_id: NDArray[np.int32]
    length: NDArray[np.int32]
    memo: Memo = field(default_factory=lambda: Memo(lasting=True), repr=False, compare=False, kw_only=True)
    of_index: Memo = field(default_factory=Memo, repr=False, compare=False, kw_only=True)

    def places_of(self, chunk_ids: Collection[int] | NDArray[np.int32]) -> list[tuple[int, int]]:
        """Return (file, chunk id) of some chunks, in order; chunks outside the scope are left out."""
        wanted = integers(dict.fromkeys(map(int, chunk_ids)))
        _row, place = self.rows_of(wanted)
        return sorted(zip(self.file[place].tolist(), self.chunk_id[place].tolist(), strict=True))

    def rows_of(self, chunk_ids: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Join: return each pair of indices in ``chunk_ids`` and in the scope with the same chunk."""
        return joined_at(self.memo.get("ends", lambda: ends(self.chunk_id)), chunk_ids)


class Postings(Struct, frozen=True):
    """Where a question's terms occur, in columns of equal length.

    Attributes:
        term: int32, index of the term in the question.
        chunk_id: int32.
        file: int32, number of the file in the scope.
        frequency: int32, weighted.
        length: int32, the chunk's weighted number of terms.
    """

    term: NDArray[np.int32]
    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    frequency: NDArray[np.int32]
    in_name: NDArray[np.bool_]
    length: NDArray[np.int32]


class Near(Struct, frozen=True):
    """The chunks nearest to a question by vector, best first.

    Attributes:
        chunk_id: int32.
        file: int32, number of the file in the scope.
        cosine: float32, of the question with normalise(chunk + 0.5 · path).
    """

    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    cosine: NDArray[np.float32]


class DefinitionSite(Struct, frozen=True):
    """A definition of a requested name.

    Attributes:
        file: Number of the file in the scope.
        exact: Whether the case matches too.
        parts: Number of parts of the longest name it matches: two for ``Session.send``, one for ``send``.
    """

    chunk_id: int
    file: int
    exact: bool
    parts: int = 1


class NameWords(Struct, frozen=True):
    """Question terms that occur in file names: columns of equal length, one row per term and file."""

    term: NDArray[np.int32]
    file: NDArray[np.int32]


def open_scope(
    db: DuckDBPyConnection,
    view_id: int | None,
    overlay: ViewOverlay = NO_OVERLAY,
    filters: Filters = NO_FILTERS,
    *,
    path_ids: Sequence[int] | None = None,
    memo: Memo | None = None,
) -> SearchScope:
    """Read which files a question may find, and their chunks.

    Args:
        view_id: The view; None for the overlay alone.
        filters: Languages, collections and kinds of chunk.
        path_ids: The only paths allowed; None for all.
    """
    only = None if path_ids is None else tuple(path_ids)
    return (memo or Memo()).get(
        ("scope", view_id, overlay, filters, only),
        lambda: _read_scope(db, view_id, overlay, filters, only, memo or Memo()),
    )


def _weigh_packages(
    db: DuckDBPyConnection, view_id: int | None, path_id: NDArray[np.int32], found: NDArray[np.uint8]
) -> None:
    """Correct the traits of files below packages that a manifest names, where their names gave them."""
    import numpy as np

    every = db.execute("SELECT directory FROM modules WHERE view_id = ?", [view_id]).fetchall()
    packages = [each for each in (decode_path(row[0]) for row in every) if as_package(each) != f"{each}/"]
    if not packages:
        return
    # "0" follows the slash. All at once, the innermost last: there may be thousands, and far more files.
    ends = [objects(encode_path(each) + end for each in packages) for end in (b"/", b"0")]
    below = run(
        db,
        [*ends, integers(map(len, packages))],
        "SELECT path_id, path, traits, column2 FROM columns JOIN paths ON path >= column0 AND path < column1"
        " ORDER BY column2",
    ).fetchall()
    innermost = {number: (decode_path(path), Trait(own), size) for number, path, own, size in below}
    for row in np.flatnonzero(found & NAMED_LIKE_PACKAGES.value).tolist():
        if of := innermost.get(int(path_id[row])):
            path, own, size = of
            found[row] = traits_within(path, path[:size], own)


def _read_scope(
    db: DuckDBPyConnection,
    view_id: int | None,
    overlay: ViewOverlay,
    filters: Filters,
    path_ids: Sequence[int] | None,
    memo: Memo,
) -> SearchScope:
    files, path_text = _read_files(db, view_id, overlay, filters, path_ids)
    if filters.kinds or filters.collections is not None:
        kinds = "kind IN (SELECT unnest(?))" if filters.kinds else "true"
        chunks = run(
            db,
            [distinct(files.content_id)],
            "SELECT chunk_id, content_id, text_id, length FROM chunks"
            f" SEMI JOIN columns ON content_id = column0 WHERE {kinds} ORDER BY chunk_id",
            [list(filters.kinds)] if filters.kinds else [],
        ).fetchnumpy()
    else:  # a whole view has nearly all chunks
        chunks = read_chunk_columns(db, memo)
    order = np.argsort(files.content_id, kind="stable")
    chunk, place = matches(files.content_id[order], chunks["content_id"])
    return SearchScope(
        files,
        path_text,
        chunks["chunk_id"][chunk],
        order[place].astype(np.int32),
        chunks["text_id"][chunk],
        chunks["length"][chunk],
        of_index=memo,
    )


def _read_files(
    db: DuckDBPyConnection,
    view_id: int | None,
    overlay: ViewOverlay,
    filters: Filters,
    path_ids: Sequence[int] | None,
) -> tuple[Files, NDArray[np.int32]]:
    """Read the files that may be found, and the texts of their paths."""
    wanted = filters.collections
    changed = [
        entry
        for entry, collection in zip(overlay.entries, overlay.collections or repeat("code"), strict=False)
        if wanted is None or collection in wanted
    ]
    columns: list[NDArray[Any]] = [
        integers(path for path, _ in changed),
        integers(content for _, content in changed),
    ]
    languages = "language IN (SELECT unnest(?))" if filters.languages else "true"
    collections = "true" if wanted is None else "collection IN (SELECT unnest(?))"
    rows = run(
        db,
        columns,
        "SELECT path_id, content_id, language, traits, top, name_terms, contents.chunks, length,"
        " text_id AS path_text, on_top"
        " FROM (SELECT path_id, content_id, false AS on_top FROM entries"
        f" WHERE view_id = ? AND content_id <> 0 AND {collections}"
        " UNION ALL SELECT column0, column1, true FROM columns)"
        " JOIN contents USING (content_id) JOIN paths USING (path_id)"
        f" WHERE contents.chunks > 0 AND {languages} ORDER BY path_id",
        [
            view_id,
            *([] if wanted is None else [list(wanted)]),
            *([list(filters.languages)] if filters.languages else []),
        ],
    ).fetchnumpy()
    _weigh_packages(db, view_id, rows["path_id"], rows["traits"])
    on_top = rows.pop("on_top")
    kept = on_top | ~np.isin(rows["path_id"], integers(overlay.masked))
    if path_ids is not None:
        kept &= np.isin(rows["path_id"], integers(path_ids))
    path_text = rows.pop("path_text")[kept]
    columns_of_files: dict[str, Any] = {name: column[kept] for name, column in rows.items()}
    return Files(**columns_of_files), path_text


def postings(
    db: DuckDBPyConnection, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None
) -> Postings:
    """Find the scope's chunks that contain a question's terms, hashed, of which one may be twice."""
    found = with_terms(db, "postings", terms, memo or Memo())
    row, place = scope.rows_of(found["chunk_id"])
    frequency = found["tf"][row].astype("int32")
    return Postings(
        found["place"][row],
        scope.chunk_id[place],
        scope.file[place],
        frequency & (IN_NAME - 1),
        (frequency & IN_NAME) > 0,
        scope.length[place],
    )


def joined(postings: Postings, also: Postings, stands_for: Sequence[int]) -> Postings:
    """Add the postings of other forms of a question's terms, as those of the terms that they stand for."""
    term = integers(stands_for)[also.term]
    columns = (
        np.concatenate([getattr(postings, name), term if name == "term" else getattr(also, name)])
        for name in ("term", "chunk_id", "file", "frequency", "in_name", "length")
    )
    return Postings(*columns)


def read_postings(db: DuckDBPyConnection, table: str) -> dict[str, NDArray[Any]]:
    """Read a table of postings in full, as columns, by term."""
    return db.execute(f"FROM {table} ORDER BY term").fetchnumpy()


def with_terms(
    db: DuckDBPyConnection, table: str, terms: Sequence[int], memo: Memo
) -> dict[str, NDArray[Any]]:
    """Read the postings rows of some terms, with each term's index in the question: ``place``."""
    wanted, places = hashes(terms), integers(range(len(terms)))
    if not memo.whole and (table == "postings" or not memo.lasting):
        if memo.vectors is not None and 0 < len(terms) <= _FEW_TERMS:
            return _of_few_terms(db, table, terms, memo)
        columns: list[NDArray[Any]] = [wanted, places]
        sql = f"SELECT {table}.*, column1 AS place FROM {table} JOIN columns ON term = column0"
        return run(db, columns, sql).fetchnumpy()
    every = memo.get(table, lambda: read_postings(db, table))
    first = np.searchsorted(every["term"], wanted, "left")
    found = np.searchsorted(every["term"], wanted, "right") - first
    rows = runs(first, found)
    return {name: column[rows] for name, column in every.items()} | {"place": np.repeat(places, found)}


def _of_few_terms(
    db: DuckDBPyConnection, table: str, terms: Sequence[int], memo: Memo
) -> dict[str, NDArray[Any]]:
    """Read the postings of some terms in a large index, where those of the terms asked last are kept."""
    recent: Recent[dict[str, NDArray[Any]]] = memo.get(("terms", table), lambda: Recent(_TERMS_BYTES))
    found = {term: columns for term in terms if (columns := recent.get(term)) is not None}
    unread = list(dict.fromkeys(term for term in terms if term not in found))
    if unread:
        # Sorted in parts, so that each term is in few row groups; a join would read them all.
        one = f"SELECT *, ?::INTEGER AS place FROM {table} WHERE term = ?::UBIGINT"
        values = [value for pair in enumerate(unread) for value in pair]
        rows = db.execute(" UNION ALL ".join([one] * len(unread)), values).fetchnumpy()
        place = rows.pop("place")
        del rows["term"]
        for number, term in enumerate(unread):
            own = np.flatnonzero(place == number)
            found[term] = {name: column[own] for name, column in rows.items()}
            recent.put(term, found[term])
    every = [found[term] for term in terms]
    columns = {name: np.concatenate([each[name] for each in every]) for name in every[0]}
    sizes = [len(next(iter(each.values()))) for each in every]
    return {
        "term": np.repeat(hashes(terms), sizes),
        **columns,
        "place": np.repeat(integers(range(len(terms))), sizes),
    }


def nearest(
    db: DuckDBPyConnection,
    scope: SearchScope,
    question: NDArray[np.float32],
    limit: int,
    memo: Memo | None = None,
) -> Near:
    """Find the scope's chunks nearest to a question by vector.

    Where there are many, the sign bits of all vectors preselect chunks, whose vectors then decide. If the
    signs of two vectors differ in h of n components, the angle is about πh/n (Charikar, 2002).

    Args:
        question: float32 (384,), L2-normalised.
    """
    memo = memo or Memo()
    if np.count_nonzero(scope.text_id) > SURPLUS * limit:
        rows = _likeliest(db, scope, question, SURPLUS * limit, memo)
    else:
        rows = np.flatnonzero(scope.text_id)
    path_text = scope.path_text[scope.file[rows]]
    known = vectors.read(db, distinct(np.concatenate([scope.text_id[rows], path_text])), memo)
    there, place = known.find(scope.text_id[rows])
    rows, place, path_text = rows[there], place[there], path_text[there]
    with_path, path_place = known.find(path_text)
    paths, own = np.unique(path_place, return_inverse=True)
    weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
    near, apart = known.compare_both(question, place, path_place)
    near += weight * known.compare_with(question, paths)[own]
    cosine = near / np.sqrt(1 + weight * (weight + 2 * apart))
    chunk_id, file = scope.chunk_id[rows], scope.file[rows]
    order = np.lexsort((chunk_id, file, -cosine))[:limit]
    return Near(chunk_id[order], file[order], cosine[order].astype(np.float32))


def similarities(
    db: DuckDBPyConnection,
    scope: SearchScope,
    chunk_ids: NDArray[np.int32],
    questions: NDArray[np.float32],
    memo: Memo | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Compare some chunks with several questions.

    Args:
        questions: float32 (m, 384), each L2-normalised.

    Returns:
        Of each place (n) of these chunks that has a vector: the chunk, the number of the file, and its
        cosines float32 (n, m) as in ``nearest``.
    """
    rows = np.flatnonzero(np.isin(scope.chunk_id, chunk_ids) & (scope.text_id != 0))
    path_text = scope.path_text[scope.file[rows]]
    known = vectors.read(db, distinct(np.concatenate([scope.text_id[rows], path_text])), memo or Memo())
    there, place = known.find(scope.text_id[rows])
    rows, place, path_text = rows[there], place[there], path_text[there]
    with_path, path_place = known.find(path_text)
    weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
    both = known.small[place].astype(np.float32) * known.scale[place][:, None]
    paths, own = np.unique(path_place, return_inverse=True)
    both += weight[:, None] * (known.small[paths].astype(np.float32) * known.scale[paths][:, None])[own]
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-9)
    return scope.chunk_id[rows], scope.file[rows], (both @ questions.T).astype(np.float32)


def _likeliest(
    db: DuckDBPyConnection,
    scope: SearchScope,
    question: NDArray[np.float32],
    many: int,
    memo: Memo,
) -> NDArray[np.intp]:
    """Preselect rows of a scope by the signs of their texts' vectors: ``many``, and those like the last.

    The first pass counts the signs that differ from the question's; the second, of those that are left, sums
    the question's components by them, which comes nearer to the cosine.
    """
    text_ids, signs = vectors.read_signs(db, memo)
    of_text, of_path = _of_index(scope, "places", text_ids, lambda: _look_up(scope, text_ids))
    if not len(text_ids):
        return np.flatnonzero(scope.text_id)
    table = vectors.sign_sums(question)
    with_path = of_path < len(text_ids)
    last = len(text_ids) - 1
    by_path = vectors.estimated(signs[:, np.minimum(of_path, last)], table) * np.float32(PATH_WEIGHT)
    by_path[~with_path] = 0
    rows = np.arange(len(of_text))
    about = np.append(_cosines(), np.array([-1, -np.inf], np.float32))  # no vector, no text
    wide = round(math.sqrt(len(rows) * many))
    if len(rows) > wide:
        differing = vectors.differing(signs, vectors.signs(question.reshape(1, -1))[0])
        differing = np.append(differing, np.array([DIMENSIONS + 1, DIMENSIONS + 2], np.uint16))
        # All these indices are valid; where NumPy has to see to that, it copies them first.
        near = np.take(about, np.take(differing, of_text, mode="clip"), mode="clip")
        near += np.take(np.maximum(by_path, 0), scope.file, mode="clip")
        rows = _best(near, wide)
    text, file = of_text[rows], scope.file[rows]

    def lengths(rows: NDArray[np.intp]) -> NDArray[np.float32]:
        return _lengths(signs, of_text[rows], of_path[scope.file[rows]])

    near = (
        vectors.estimated(np.take(signs, np.minimum(text, last), axis=1, mode="clip"), table) + by_path[file]
    )
    if scope.memo.count(("lengths", id(signs))) < _LENGTHS:
        near /= lengths(rows)
    else:
        near /= _of_index(scope, "lengths", signs, lambda: lengths(np.arange(len(of_text))))[rows]
    without = np.flatnonzero(text > last)
    near[without] = about[DIMENSIONS + 1 :][text[without] - len(text_ids)]
    return rows[_best(near, many)]


def _cosines() -> NDArray[np.float32]:
    """Return the cosines of two vectors by how many of their signs differ, about."""
    angles: NDArray[np.float32] = np.pi / DIMENSIONS * np.arange(DIMENSIONS + 1, dtype=np.float32)
    return np.cos(angles)


def _lengths(
    signs: NDArray[np.uint64], of_text: NDArray[np.int32], of_path: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Estimate the length of chunk + 0.5 · path by the signs of both, whose places among them are given."""
    about, last = _cosines(), signs.shape[1] - 1
    weight = np.where(of_path <= last, np.float32(PATH_WEIGHT), np.float32(0))
    found = np.empty(len(of_text), np.float32)
    for start in range(0, len(found), _AT_A_TIME):
        block = slice(start, start + _AT_A_TIME)
        own, path = (signs[:, np.minimum(each[block], last)] for each in (of_text, of_path))
        apart = about[vectors.count_differing(own, path)]
        found[block] = np.sqrt(1 + weight[block] * (weight[block] + 2 * apart))
    return found


def _best(values: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    """Return the indices of the highest values, ascending: so many, and those like the lowest of them."""
    if many >= len(values):
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, len(values) - many)[len(values) - many])


def _of_index(scope: SearchScope, key: str, column: NDArray[Any], make: Callable[[], _T]) -> _T:
    """Return what a scope keeps of an index with this column, made anew where the index has changed since."""
    of, kept = scope.memo.get(key, lambda: (column, make()))
    if of is not column:
        scope.memo.forget(key)
        of, kept = scope.memo.get(key, lambda: (column, make()))
    return kept if of is column else make()


def _look_up(scope: SearchScope, text_ids: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the texts of a scope's chunks and of its files' paths are among some texts.

    The number of texts stands for one that is not among them, and one more for no text.
    """
    last = max(int(column.max(initial=0)) for column in (text_ids, scope.text_id, scope.path_text))
    place = np.full(1 + last, len(text_ids), dtype=np.int32)
    place[text_ids] = np.arange(len(text_ids), dtype=np.int32)
    place[0] = len(text_ids) + 1
    return place[scope.text_id], place[scope.path_text]


def definitions(db: DuckDBPyConnection, scope: SearchScope, names: Sequence[str]) -> list[DefinitionSite]:
    """Find the scope's definitions by name or qualified name, ignoring case.

    Of a definition split into several chunks, return the first, with the signature. Headings define nothing.
    """
    if not names:
        return []
    keys = list(dict.fromkeys(name.rpartition(".")[2].casefold() for name in names))
    named = _chunks_named(db, keys, scope.of_index)
    if named is not None and not len(named):
        return []
    columns: list[NDArray[Any]] = [
        objects(names),
        objects(name.casefold() for name in names),
        objects(name.rpartition(".")[2].casefold() for name in names),
        integers(name.count(".") + 1 for name in names),
    ]
    # Materialized, because DuckDB would otherwise read the names of all chunks first.
    few = "named AS MATERIALIZED (FROM chunks WHERE chunk_id IN (SELECT unnest(?::INTEGER[])))"
    found = run(
        db,
        columns,
        f"""
        {"" if named is None else f"WITH {few}"}
        SELECT min(chunk_id) AS chunk_id, max(column3) AS parts,
            bool_or(name = column0 OR ends_with('.' || qualified_name, '.' || column0)) AS exact
        FROM {"chunks" if named is None else "named"} JOIN columns ON name_key = column2
        WHERE (column1 = column2 OR ends_with('.' || lower(qualified_name), '.' || column1))
            AND kind <> 'section'
        GROUP BY qualified_name, content_id
        """,
        [] if named is None else [named],
    ).fetchnumpy()
    row, place = scope.rows_of(found["chunk_id"])
    columns = [scope.file[place], scope.chunk_id[place], found["exact"][row], found["parts"][row]]
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
    return [DefinitionSite(chunk_id, file, exact, parts) for file, chunk_id, exact, parts in rows]


def _chunks_named(db: DuckDBPyConnection, keys: Sequence[str], memo: Memo) -> NDArray[np.int32] | None:
    """Find the chunks that may have names, case folded: all that have, and those of equal hashes.

    Most words of questions name nothing: so the names' hashes are kept where names are looked up often enough
    for it to pay, which one question does not. None where they are not kept.
    """
    if memo.vectors is None or memo.count("names") < _LOOKS:
        return None
    own, chunk_id = memo.get("names", lambda: _read_names(db))
    given = [*map(in_whole_characters, keys)]
    asked = db.execute("SELECT hash(unnest(?::VARCHAR[])) AS own", [given]).fetchnumpy()["own"]
    first = np.searchsorted(own, asked)
    return chunk_id[runs(first, np.searchsorted(own, asked, "right") - first)]


def _read_names(db: DuckDBPyConnection) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Read the hashes of the chunks' names, ascending, and their chunks."""
    sql = "SELECT hash(name_key) AS own, chunk_id FROM chunks WHERE name_key <> ''"
    found = db.execute(sql).fetchnumpy()
    order = np.argsort(found["own"])
    return found["own"][order], found["chunk_id"][order]


class NamedSite(Struct, frozen=True):
    """A definition of a name, with its qualified name; ``chunk_id`` is its first chunk."""

    chunk_id: int
    file: int
    name: str
    qualified_name: str


def named(db: DuckDBPyConnection, scope: SearchScope, names: Collection[str]) -> list[NamedSite]:
    """Find the scope's definitions that are called exactly so, headings left out."""
    columns: list[NDArray[Any]] = [objects(names), objects(name.casefold() for name in names)]
    found = run(
        db,
        columns,
        """
        SELECT min(chunk_id) AS chunk_id, name, qualified_name FROM chunks
        JOIN columns ON name_key = column1 AND name = column0
        WHERE kind <> 'section' GROUP BY name, qualified_name, content_id
        """,
    ).fetchnumpy()
    row, place = scope.rows_of(found["chunk_id"])
    columns = [scope.file[place], scope.chunk_id[place], found["name"][row], found["qualified_name"][row]]
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
    return [NamedSite(chunk_id, file, name, qualified) for file, chunk_id, name, qualified in rows]


def longer_names(db: DuckDBPyConnection, scope: SearchScope, name: str) -> list[DefinitionSite]:
    """Find the scope's definitions whose names contain another name in any case and style; none if many."""
    letters = name.casefold().replace("_", "")
    if not letters:
        return []
    found = run(
        db,
        [],
        """
        SELECT min(chunk_id) AS chunk_id FROM chunks
        WHERE contains(replace(name_key, '_', ''), ?) AND kind NOT IN ('section', 'module')
        GROUP BY qualified_name, content_id
        """,
        [letters],
    ).fetchnumpy()["chunk_id"]
    places = scope.places_of(found)
    if len(places) > _MOST_LONGER:
        return []
    return [DefinitionSite(chunk, file, exact=False) for file, chunk in places]


def name_words(
    db: DuckDBPyConnection, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None
) -> NameWords:
    """Find the scope's files whose names contain one of some terms."""
    found = with_terms(db, "name_postings", terms, memo or Memo())
    row, file = matches(scope.files.path_id, found["path_id"])
    return NameWords(found["place"][row], file.astype("int32"))


def contents_with(db: DuckDBPyConnection, letters: str) -> NDArray[np.int32]:
    """Find the contents that have some letters anywhere in their texts, ignoring case: ids, int32.

    It reads every text of the index: 0.1 s for 50 MB. Upper and lower case are compared as in ``(?i)``.
    """
    sql = "SELECT DISTINCT content_id FROM chunks WHERE regexp_matches(text, ?)"
    found: NDArray[np.int32] = run(db, [], sql, ["(?i)" + re.escape(letters)]).fetchnumpy()["content_id"]
    return found


def contents_with_word(db: DuckDBPyConnection, word: str) -> NDArray[np.int32]:
    """Find the contents that may have a word, its case as given: ids, int32.

    Letters beyond ASCII count as no part of a word here, so that there may be a few too many.
    """
    sql = "SELECT DISTINCT content_id FROM chunks WHERE contains(text, ?) AND regexp_matches(text, ?)"
    pattern = rf"(^|\W){re.escape(word)}(\W|$)"
    found: NDArray[np.int32] = run(db, [], sql, [word, pattern]).fetchnumpy()["content_id"]
    return found


def words_like(
    db: DuckDBPyConnection, word: str, content_ids: Sequence[int], most: int
) -> list[tuple[str, int, int]]:
    """Find the words in definitions' names that differ from another word in few letters.

    Args:
        word: The other word, in lower case.
        most: Maximum Damerau-Levenshtein distance: letters wrong, missing, too many or exchanged.

    Returns:
        Each word, how many names have it, and its distance.
    """
    rows = run(
        db,
        [integers(content_ids)],
        """
        WITH names AS MATERIALIZED (
            SELECT DISTINCT name FROM chunks SEMI JOIN columns ON content_id = column0
            WHERE name <> '' AND kind <> 'section'
        ), parts AS (
            SELECT unnest(string_split(lower(regexp_replace(spaced, '[^A-Za-z]+', '_', 'g')), '_')) AS part
            FROM (SELECT regexp_replace(name, '([a-z0-9])([A-Z])', '\\1_\\2', 'g') AS spaced FROM names)
        ), counted AS (
            SELECT part, count(*) AS often FROM parts
            WHERE abs(length(part) - length(?)) <= ? AND length(part) >= 4 GROUP BY part
        )
        SELECT part, often, damerau_levenshtein(part, ?) AS distance FROM counted
        WHERE distance BETWEEN 1 AND ? ORDER BY part
        """,
        [word, most, word, most],
    ).fetchall()
    return [(part, int(often), int(distance)) for part, often, distance in rows]


def contents_by_term(
    db: DuckDBPyConnection, hashed: Sequence[int], content_ids: Sequence[int], memo: Memo | None = None
) -> dict[int, int]:
    """Count in how many of some contents each of some distinct hashed terms occurs, by its place."""
    found = with_terms(db, "postings", hashed, memo or Memo())
    rows = run(
        db,
        [found["chunk_id"], found["place"]],
        "SELECT column1, count(DISTINCT content_id) FROM chunks JOIN columns ON chunk_id = column0"
        " WHERE content_id IN (SELECT unnest(?::INTEGER[])) GROUP BY column1",
        [list(content_ids)],
    ).fetchall()
    return dict(rows)


_NO_TEXT = ("binary", "symlink", "submodule")
"""Reasons to leave a path out of which none hides words (``model.Skip``)."""


def unsearched(
    db: DuckDBPyConnection, view_id: int | None, overlay: ViewOverlay, collections: Sequence[str] | None
) -> tuple[int, int]:
    """Count the files that no question can find.

    Of some collections those not read yet or not readable; and of all those left out as text.
    """
    columns = [
        *pairs(overlay.entries),
        objects(overlay.collections or repeat("code", len(overlay.entries))),
    ]
    row = run(
        db,
        columns,
        f"""
        WITH held AS (
            SELECT content_id, skip, collection FROM entries
            WHERE view_id = ? AND NOT list_contains(?, path_id)
            UNION ALL SELECT column1, '', column2 FROM columns
        ), reasons AS (
            SELECT {WHY} AS reason,
                ? IS NULL OR collection IN (SELECT unnest(?)) AS asked, contains(state, ': ') AS failed
            FROM held LEFT JOIN contents USING (content_id)
        )
        SELECT count(*) FILTER (asked AND (reason = 'pending' OR failed)),
            count(*) FILTER (reason NOT IN ('indexed', 'pending', '') AND NOT coalesce(failed, false)
                AND NOT list_contains(?, reason))
        FROM reasons
        """,
        [
            view_id,
            list(overlay.masked),
            None if collections is None else 1,
            list(collections or ()),
            list(_NO_TEXT),
        ],
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


LeftOutRow: TypeAlias = tuple[str, str, bool, str]


def outlined(db: DuckDBPyConnection, content_ids: Iterable[int], memo: Memo | None = None) -> dict[int, str]:
    """Return those of some contents of which only the outline is indexed, with their blobs."""
    every = (memo or Memo()).get("outlined", lambda: _outlined(db))
    return {each: every[each] for each in content_ids if each in every}


def _outlined(db: DuckDBPyConnection) -> dict[int, str]:
    sql = f"SELECT content_id, lower(hex(blob)) FROM contents WHERE {IS_OUTLINED}"
    return dict(db.execute(sql).fetchall())


def left_out(
    db: DuckDBPyConnection, view_id: int | None, overlay: ViewOverlay, among: Sequence[str] = ()
) -> list[LeftOutRow]:
    """List the paths of a view that are left out, and those of which only the outline is indexed.

    Args:
        among: Only these paths; none means all.

    Returns:
        A path, why (``model.Skip``, as text), whether it is hidden (left out for its path, and changed or
        removed since), and its content's blob; empty where that was not looked at.
    """
    rows = run(
        db,
        [*pairs(overlay.entries)],
        f"""
        WITH held AS (
            SELECT path_id, content_id, skip, path_id IN (SELECT unnest(?::INTEGER[])) AS hidden FROM entries
            WHERE view_id = ? AND path_id NOT IN (SELECT column0 FROM columns) AND (NOT hidden OR skip <> '')
            UNION ALL SELECT column0, column1, '', false FROM columns
        )
        SELECT path, {WHY} AS why, hidden, coalesce(lower(hex(blob)), '')
        FROM held LEFT JOIN contents USING (content_id) JOIN paths USING (path_id)
        WHERE why NOT IN ('indexed', 'pending', '') AND (? OR path IN (SELECT unnest(?::BLOB[])))
        ORDER BY path
        """,
        [list(overlay.masked), view_id, not among, list(map(encode_path, among))],
    ).fetchall()
    return [(decode_path(path), *row) for path, *row in rows]


def files_matching(db: DuckDBPyConnection, scope: SearchScope, pattern: str) -> list[tuple[int, str]]:
    """Find the scope's files whose paths match a pattern (``path_pattern``): number and path, by number.

    One pass of the database over the paths, 8 ms for 50,000: their last parts have no index that ``__init__``
    is in (``name_postings`` has the directory's name for it).
    """
    rows = db.execute(
        "SELECT path_id, path FROM paths WHERE regexp_matches(path::VARCHAR, ?) ORDER BY path_id", [pattern]
    ).fetchall()
    path_ids = integers(path_id for path_id, _ in rows)
    if not len(scope.files):
        return []
    place = np.minimum(np.searchsorted(scope.files.path_id, path_ids), len(scope.files) - 1)
    there = np.flatnonzero(scope.files.path_id[place] == path_ids)
    return [
        (number, decode_path(rows[at][1])) for number, at in zip(place[there].tolist(), there, strict=True)
    ]


def path_pattern(path: str) -> str:
    """Return the pattern (RE2) of a path as the database writes bytes as text: all but plain ones escaped."""
    written = (chr(byte) if chr(byte) in _PLAIN else f"\\x{byte:02X}" for byte in encode_path(path))
    return re.escape("".join(written))


def read_paths(db: DuckDBPyConnection, path_ids: Sequence[int], memo: Memo | None = None) -> dict[int, str]:
    if memo is not None and (memo.whole or (memo.lasting and memo.count("paths") > _LOOKS)):
        every = memo.get("paths", lambda: dict(all_paths(db)))
        return {path_id: every[path_id] for path_id in path_ids}
    columns = [integers(path_ids)]
    rows = run(
        db, columns, "SELECT path_id, path FROM paths SEMI JOIN columns ON path_id = column0"
    ).fetchall()
    return {path_id: decode_path(path) for path_id, path in rows}


def all_paths(db: DuckDBPyConnection) -> list[tuple[int, str]]:
    """List every recorded path, for filters that only Python can evaluate."""
    return [(i, decode_path(path)) for i, path in db.execute("SELECT path_id, path FROM paths").fetchall()]
