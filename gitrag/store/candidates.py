"""Rows that are evidence for a question: postings of its terms, definitions, files, values and re-exports.

All functions work on a *scope* (`gitrag/store/scopes.py`). Rows come as NumPy columns, joined here with its
own. The ranker weighs them (`gitrag/search`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.late import np
from gitrag.store.columns import hashes, integers, matches, objects, run, runs
from gitrag.store.content import kept_chunks
from gitrag.store.memo import Memo, Recent
from gitrag.store.scopes import LOOKS, SearchScope
from gitrag.words.control_characters import in_whole_characters
from gitrag.words.declarations import BEGINS, LANGUAGES, handed_on
from gitrag.words.terms import IN_NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

POSTINGS = frozenset({"postings", "name_postings", "message_postings"})
"""Tables that map terms to where they occur."""

_FEW_TERMS = 64
"""Terms that are looked up one by one in a large index; of a longer text all are, in one pass."""

_TERMS_BYTES = 32 << 20
"""Maximum size of the postings that are kept of the terms asked last: 6 bytes for each chunk that has one."""

_MOST_LONGER = 20
"""Maximum number of definitions; a word in more names, such as ``get``, is too common."""


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
    if memo.vectors is None or memo.count("names") < LOOKS:
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


_MATCHING = """
    WITH few AS MATERIALIZED (
        SELECT chunk_id, kind, text FROM chunks SEMI JOIN columns ON chunk_id = column0
        WHERE kind IN ('module', 'class')
    )
    SELECT chunk_id, regexp_matches(text, ?) AS given, kind = 'class' AND regexp_matches(text, ?) AS member
    FROM few WHERE given OR member
"""
"""Materialized, because DuckDB would otherwise match every text of the index first."""


def texts_of(
    db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], memo: Memo | None = None
) -> dict[int, str]:
    """Read the texts of chunks."""
    found = {own: chunk.text for own, chunk in kept_chunks(db, chunk_ids, memo).items()}
    if len(found) < len(chunk_ids):
        columns = [integers(each for each in chunk_ids.tolist() if each not in found)]
        sql = "SELECT chunk_id, text FROM chunks SEMI JOIN columns ON chunk_id = column0"
        found.update(run(db, columns, sql).fetchall())
    return found


def giving_a_value(
    db: DuckDBPyConnection, chunk_ids: NDArray[np.int32], given: str, member: str
) -> list[tuple[int, bool, bool]]:
    """Find the modules and classes among some chunks whose texts match; ``member`` counts in classes only.

    Args:
        chunk_ids: int32, the chunks.
        given: An expression (RE2) for a name that is given a value.
        member: One for a member of a class.
    """
    return run(db, [chunk_ids], _MATCHING, [given, member]).fetchall()


def reexporting(db: DuckDBPyConnection, names: Sequence[str], memo: Memo | None = None) -> list[int]:
    """Find the chunks that re-export one of some names, matching case."""
    every = (memo or Memo()).get("reexports", lambda: _reexports(db))
    return [chunk for name in names for chunk in every.get(name, ())]


def _reexports(db: DuckDBPyConnection) -> dict[str, list[int]]:
    """Read which chunks re-export each name: 30 ms for an index of 29,000 chunks."""
    rows = db.execute(
        # Materialized, because DuckDB would otherwise match the texts of all languages first.
        "WITH few AS MATERIALIZED (SELECT chunk_id, text FROM chunks SEMI JOIN"
        " (FROM contents WHERE language IN (SELECT unnest(?))) USING (content_id) WHERE kind = 'module')"
        " FROM few WHERE regexp_matches(text, ?)",
        [sorted(LANGUAGES), BEGINS],
    ).fetchall()
    found: dict[str, list[int]] = {}
    for chunk_id, text in rows:
        for name in handed_on(text):
            found.setdefault(name, []).append(chunk_id)
    return found
