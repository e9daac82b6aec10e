"""Counts and failures of the store, for status and doctor."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.model import Skip
from gitrag.store import views
from gitrag.store.columns import decode_path, next_id, objects, pairs, run
from gitrag.store.content import INDEXED, PENDING, WHY
from gitrag.store.held_texts import count_by_group, flags, held_texts
from gitrag.store.memo import Memo
from gitrag.store.vectors import UNEMBEDDED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from gitrag.store.views import View, ViewOverlay


_BLOCK_BYTES = 1 << 18
"""A block of a DuckDB file."""


class Stage(StrEnum):
    """A step that a file may fail at."""

    CUTTING = "cutting"
    CALLS = "calls"
    EMBEDDING = "embedding"


class Unread(Struct, frozen=True):
    """A file that could not be read in full.

    Attributes:
        path: The file.
        stage: Where it failed: a file not cut is not found at all, one without calls is in no call graph, one
            not fully embedded is found in part only by its words and its draft vector.
        reason: Why.
    """

    path: str
    stage: Stage
    reason: str


class ViewCounts(Struct, frozen=True):
    """What a view holds.

    Attributes:
        files: Indexed paths.
        waiting: Paths whose content is not cut yet.
        skipped: Reasons and the number of paths left out for each, most frequent first.
        chunks: Chunks.
        languages: Languages and their number of files, most frequent first.
        texts: Distinct texts of its chunks and paths.
        embedded: How many of them have a vector.
    """

    files: int
    waiting: int
    skipped: tuple[tuple[str, int], ...]
    chunks: int
    languages: tuple[tuple[str, int], ...]
    texts: int
    embedded: int


class CollectionCounts(Struct, frozen=True):
    """What a collection holds.

    Attributes:
        name: Its name without the repository's slug.
        documents: Files.
        chunks: Their chunks.
        unembedded: Distinct texts of its chunks and paths without a model vector (drafts do not count).
        updated: When it last changed, Unix seconds; None if it has only uncommitted files.
    """

    name: str
    documents: int
    chunks: int
    unembedded: int
    updated: float | None


class MappedFile(Struct, frozen=True):
    """What a map shows of an indexed file.

    Attributes:
        lines: Lines, up to the last one that is not blank.
        drafts: How many of them have a draft vector as yet.
        commits: How many of the commits that were read change it under this name.
        changed: When the newest of them was written, Unix seconds; None without one.
    """

    path: str
    language: str
    lines: int
    texts: int
    drafts: int
    commits: int
    changed: int | None


TableSize = tuple[str, int, int]
"""A table's name, its rows, and the bytes of the blocks that it has a part in; several may share one."""


class StoreCounts(Struct, frozen=True):
    """Counts of the whole store."""

    views: int
    worktrees: int
    contents: int
    chunks: int
    vectors: int


def count_view(db: DuckDBPyConnection, view: View, memo: Memo | None = None) -> ViewCounts:
    memo = memo or Memo()
    states: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for why, language, is_indexed, files in db.execute(
        f"SELECT {WHY}, language, coalesce(state = ?, false), count(*) FROM entries"
        " LEFT JOIN contents USING (content_id) WHERE view_id = ? GROUP BY ALL",
        [INDEXED, view.view_id],
    ).fetchall():
        states[why] += files
        if is_indexed:
            languages[language or "other"] += files
    held = db.execute(
        "SELECT path_id, content_id, contents.chunks FROM entries JOIN contents USING (content_id)"
        " WHERE view_id = ?",
        [view.view_id],
    ).fetchnumpy()
    texts = held_texts(db, held["path_id"], held["content_id"], memo)
    _ids, once = np.unique(held["content_id"], return_index=True)
    chunks = int(held["chunks"][once].sum())
    embedded = int(np.count_nonzero(texts & _embedded(db, len(texts), memo)))
    files = states.pop(INDEXED, 0) + states[Skip.OUTLINED]
    waiting = states.pop(PENDING, 0)
    left_out, named = (
        tuple(sorted(each.items(), key=lambda item: (-item[1], item[0]))) for each in (states, languages)
    )
    return ViewCounts(files, waiting, left_out, chunks, named, int(texts.sum()), embedded)


def _embedded(db: DuckDBPyConnection, size: int, memo: Memo) -> NDArray[np.bool_]:
    """Tell of each text id below a size whether it has a vector of the model's."""
    sql = "SELECT text_id FROM vectors"
    return flags(memo.get("embedded", lambda: db.execute(sql).fetchnumpy())["text_id"], size)


_HELD = """
        WITH held AS MATERIALIZED (
            SELECT path_id, content_id FROM entries
            WHERE view_id = ? AND content_id <> 0 AND NOT list_contains(?, path_id)
            UNION ALL SELECT column0, column1 FROM columns
        )"""
"""What a view and the overlay in ``columns`` hold; parameters are the view and the paths that are hidden."""


def outlines(
    db: DuckDBPyConnection, view_id: int, overlay: ViewOverlay, name: str, within: str
) -> list[tuple[str, str, int, bool, bool]]:
    """Read what is known at a glance of each indexed file of a view and its overlay, by path.

    Its path, its language, its lines up to the last one that is not blank, whether it defines a function or
    method ``name``, which is in lower case, and whether it has the text ``within``.
    """
    columns = pairs(overlay.entries)
    rows = run(
        db,
        columns,
        _HELD
        + """
        SELECT path, coalesce(language, ''), max(line_end),
            bool_or(name_key = ? AND kind IN ('function', 'method')), bool_or(contains(chunks.text, ?))
        FROM held JOIN contents USING (content_id) JOIN chunks USING (content_id) JOIN paths USING (path_id)
        GROUP BY path, language ORDER BY path
        """,
        [view_id, list(overlay.masked), name, within],
    ).fetchall()
    return [(decode_path(path), *rest) for path, *rest in rows]


def count_left_out(db: DuckDBPyConnection, view_id: int, reason: str) -> int:
    """Count the files of a view whose content was left out when it was read, for a reason."""
    row = db.execute(
        "SELECT count(*) FROM entries JOIN contents USING (content_id) WHERE view_id = ? AND state = ?",
        [view_id, reason],
    ).fetchone()
    return int(row[0]) if row else 0


def unread(db: DuckDBPyConnection, view: View, overlay: ViewOverlay, mark: bytes) -> list[Unread]:
    """List the files of a view and its overlay that could not be read, by path.

    Args:
        mark: Prefix of the facts of a content that could not be read; the reason follows.
    """
    columns = pairs(overlay.entries)
    failed = """, failed AS (
            SELECT path_id, 'cutting' AS stage, substr(state, instr(state, ': ') + 2) AS reason
            FROM held JOIN contents USING (content_id) WHERE contains(state, ': ')
            UNION ALL SELECT path_id, 'calls', decode(data[?:]) FROM held JOIN facts USING (content_id)
            WHERE data >= ? AND data < ?"""
    parameters = [view.view_id, list(overlay.masked), len(mark) + 1, mark, mark + b"\xff"]
    if db.execute("SELECT 1 FROM meta WHERE starts_with(key, ?) LIMIT 1", [UNEMBEDDED]).fetchone():
        failed += """
            UNION ALL SELECT path_id, 'embedding', min(value) FROM meta
            JOIN texts ON meta.key = ? || lower(hex(texts.key)) JOIN (
                SELECT path_id, text_id FROM held JOIN chunks USING (content_id)
                UNION ALL SELECT path_id, text_id FROM held JOIN paths USING (path_id)
            ) USING (text_id) GROUP BY path_id"""
        parameters.append(UNEMBEDDED)
    rows = run(
        db,
        columns,
        f"{_HELD}{failed}) SELECT path, stage, reason FROM failed JOIN paths USING (path_id)"
        " ORDER BY path, stage",
        parameters,
    ).fetchall()
    return [Unread(decode_path(path), Stage(stage), reason) for path, stage, reason in rows]


def count_collections(
    db: DuckDBPyConnection, view: View, overlay: ViewOverlay, memo: Memo | None = None
) -> list[CollectionCounts]:
    """Count the contents of each collection of a view and its overlay, by name."""
    columns = [*pairs(overlay.entries), objects(overlay.collections)]
    held = run(
        db,
        columns,
        """
        SELECT path_id, content_id, collection, state = ? AS indexed, contents.chunks FROM (
            SELECT path_id, content_id, collection FROM entries
            WHERE view_id = ? AND content_id <> 0 AND NOT list_contains(?, path_id)
            UNION ALL SELECT column0, column1, column2 FROM columns
        ) JOIN contents USING (content_id)
        """,
        [INDEXED, view.view_id, list(overlay.masked)],
    ).fetchnumpy()
    names = sorted(set(held["collection"].tolist()))
    place = {name: number for number, name in enumerate(names)}
    group = np.array([place[name] for name in held["collection"].tolist()], dtype=np.intp)
    memo = memo or Memo()
    lacking = ~_embedded(db, next_id(db, "texts", "text_id"), memo)
    waiting = count_by_group(db, held["path_id"], held["content_id"], group, lacking, memo)
    indexed = held["indexed"]
    documents = np.bincount(group[indexed], minlength=len(names))
    chunks = np.bincount(group[indexed], held["chunks"][indexed], len(names))
    updated = views.touched(db, view.view_id)
    return [
        CollectionCounts(name, int(documents[i]), int(chunks[i]), int(waiting[i]), updated.get(name))
        for i, name in enumerate(names)
        if documents[i]
    ]


def count_store(db: DuckDBPyConnection) -> StoreCounts:
    """Count the contents of the whole store."""
    worktrees = "worktrees WHERE worktree NOT LIKE ':%'"  # a slot with a colon is a revision's
    tables = ("views", worktrees, "contents", "chunks", "vectors")
    counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]
    return StoreCounts(*(int(row[0]) if row else 0 for row in counts))


def mapped(db: DuckDBPyConnection, view: View, overlay: ViewOverlay) -> list[MappedFile]:
    """Read what a map of a view and its overlay shows of each indexed file, by path."""
    rows = run(
        db,
        pairs(overlay.entries),
        _HELD
        + """, own AS (
            SELECT path_id, max(line_end) AS lines, count(DISTINCT chunks.text_id) AS texts,
                count(DISTINCT drafts.text_id) AS drafts
            FROM held JOIN chunks USING (content_id) LEFT JOIN drafts ON drafts.text_id = chunks.text_id
            GROUP BY path_id
        ), told AS (
            SELECT path_id, count(*) AS times, max(authored) AS last FROM commit_paths
            JOIN changed_paths USING (changed_path) JOIN commits USING (commit_number) GROUP BY path_id
        )
        SELECT path, coalesce(language, ''), lines, texts, drafts, coalesce(times, 0), last
        FROM own JOIN held USING (path_id) JOIN contents USING (content_id) JOIN paths USING (path_id)
        LEFT JOIN told USING (path_id) ORDER BY path
        """,
        [view.view_id, list(overlay.masked)],
    ).fetchall()
    return [MappedFile(decode_path(path), *rest) for path, *rest in rows]


def table_sizes(db: DuckDBPyConnection) -> list[TableSize]:
    """Return how much room each table takes in the file, the largest first."""
    found = []
    for name, rows in db.execute("SELECT table_name, estimated_size FROM duckdb_tables()").fetchall():
        blocks = db.execute(
            "SELECT count(DISTINCT block_id) FROM pragma_storage_info(?) WHERE block_id >= 0", [name]
        ).fetchone()
        found.append((name, int(rows), (int(blocks[0]) if blocks else 0) * _BLOCK_BYTES))
    return sorted(found, key=lambda each: (-each[2], each[0]))
