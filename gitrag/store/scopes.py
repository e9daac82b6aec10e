"""The scope of a question: the files that it may find, their chunks and paths, and what it cannot find.

Its files are those of a view and its overlay, filtered: so filters apply before any limit. Rows come as NumPy
columns: they serve every statement, and the next question too if the index is kept in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from gitrag.late import np
from gitrag.store.columns import (
    decode_path,
    distinct,
    encode_path,
    ends,
    integers,
    joined_at,
    matches,
    objects,
    pairs,
    run,
)
from gitrag.store.content import IS_OUTLINED, WHY
from gitrag.store.held_texts import read_chunk_columns
from gitrag.store.memo import Memo
from gitrag.store.views import ViewOverlay
from gitrag.words.path_traits import NAMED_LIKE_PACKAGES, Trait, as_package, traits_within

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


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
NO_OVERLAY = ViewOverlay()

_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - set("\"'\\")
"""Bytes that DuckDB does not escape where it casts a BLOB to text."""

LOOKS = 8
"""Number of times that all names of a large index are looked through before their hashes are kept: so often
takes as long as reading and sorting these, of 1.4 million chunks 0.025 s and 0.18 s."""


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
    if memo is not None and (memo.whole or (memo.lasting and memo.count("paths") > LOOKS)):
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
