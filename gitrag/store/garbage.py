"""Find and drop what no view needs any more.

Ids are never reused while another process may still hold them: the newest content, text and path
stay, because the next id is counted from them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.store import carried, histories
from gitrag.store.columns import integers, run
from gitrag.store.views import drop_unused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ALWAYS_KEPT = 2_000
"""Chunks (3 MB) that are kept until they expire, however few are needed: an empty branch is soon left."""


_OWNERS = (("contents", "content_id"), ("chunks", "chunk_id"), ("paths", "path_id"), ("texts", "text_id"))
"""Rows of other tables that refer to one of these are dropped too, in this order."""

_NOT_OWNED = ("entries", "paths", "changed_paths")
"""Views decide which of their entries are needed; paths refer to texts; commits keep what they changed."""


class Keep(Struct, frozen=True):
    """What to keep.

    Attributes:
        worktrees: Slots whose views are needed.
        passing: The slot of revisions, needed if it was used recently.
        since_s: What was needed since then, Unix seconds, is kept too: up to as many chunks, and paths,
            as are needed now.
        entries: Pairs of path id and content id on top of the views.
    """

    worktrees: Collection[str]
    passing: str
    since_s: float
    entries: Sequence[tuple[int, int]] = ()


class Garbage(Struct, frozen=True):
    """What no view needs, beyond what is kept for a while.

    Attributes:
        views: Views.
        contents: Contents.
        chunks: Their chunks.
        texts: Texts, each with a vector or a draft.
        paths: Paths.
        commits: Commits that lead to no view's commit.
    """

    views: int
    contents: int
    chunks: int
    texts: int
    paths: int
    all_chunks: int
    commits: int = 0

    def __bool__(self) -> bool:
        return any((self.views, self.contents, self.texts, self.paths, self.commits))


def mark(db: DuckDBPyConnection, keep: Keep) -> Garbage:
    """Find what can be dropped; reading is enough. The connection is then ready for ``sweep``."""
    columns = [
        integers(path_id for path_id, _ in keep.entries),
        integers(content_id for _, content_id in keep.entries),
    ]
    db.execute(
        "CREATE OR REPLACE TEMP TABLE kept_slots AS SELECT worktree, view_id FROM worktrees"
        " JOIN views USING (view_id) WHERE worktree IN (SELECT unnest(?))"
        " OR (worktree = ? AND updated >= to_timestamp(?))",
        [list(keep.worktrees), keep.passing, keep.since_s],
    )
    run(
        db,
        columns,
        "CREATE OR REPLACE TEMP TABLE held AS SELECT path_id, content_id FROM entries"
        " WHERE view_id IN (SELECT view_id FROM kept_slots) UNION ALL SELECT column0, column1 FROM columns",
    )
    for table, key, weight in (("contents", "content_id", "chunks"), ("paths", "path_id", "1")):
        db.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE doomed_{table} AS
            WITH needed AS (SELECT DISTINCT {key} FROM held), idle AS (
                SELECT {key}, left_at, sum({weight}) OVER (ORDER BY left_at DESC, {key} DESC) AS newer
                FROM {table} ANTI JOIN needed USING ({key})
                WHERE {key} <> (SELECT max({key}) FROM {table})
            )
            SELECT {key} FROM idle WHERE left_at < to_timestamp(?) OR newer > (
                SELECT greatest(coalesce(sum({weight}), 0), ?) FROM {table} SEMI JOIN needed USING ({key})
            )
            """,
            [keep.since_s, _ALWAYS_KEPT],
        )
    db.execute(f"""
        CREATE OR REPLACE TEMP TABLE doomed_texts AS
        SELECT text_id FROM texts WHERE text_id <> (SELECT max(text_id) FROM texts) AND text_id NOT IN (
            SELECT text_id FROM chunks ANTI JOIN doomed_contents USING (content_id)
            UNION ALL SELECT text_id FROM paths ANTI JOIN doomed_paths USING (path_id)
        ) AND text_id > {carried.kept(db, keep.since_s)}
    """)
    row = db.execute("""
        SELECT (SELECT count(*) FROM views WHERE view_id NOT IN (SELECT view_id FROM kept_slots)),
            (SELECT count(*) FROM doomed_contents),
            (SELECT count(*) FROM chunks SEMI JOIN doomed_contents USING (content_id)),
            (SELECT count(*) FROM doomed_texts), (SELECT count(*) FROM doomed_paths),
            (SELECT count(*) FROM chunks)
    """).fetchone()
    found = Garbage(*(row or (0, 0, 0, 0, 0, 0)))
    return replace(found, commits=histories.count_unneeded(db, keep.since_s))


def sweep(db: DuckDBPyConnection, keep: Keep) -> None:
    """Drop what was marked on this connection; needs a writing connection."""
    db.execute("DELETE FROM worktrees WHERE worktree NOT IN (SELECT worktree FROM kept_slots)")
    drop_unused(db)
    histories.drop_unneeded(db, keep.since_s)
    for table, key in (("contents", "content_id"), ("paths", "path_id"), ("texts", "text_id")):
        db.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM doomed_{table})")
    for owner, key in _OWNERS:
        for (table,) in db.execute(
            "SELECT table_name FROM duckdb_columns()"
            " WHERE column_name = ? AND database_name = current_database()"
            " AND table_name NOT IN (SELECT unnest(?))",
            [key, [owner, *_NOT_OWNED]],
        ).fetchall():
            if (table, key) != ("chunks", "text_id"):
                db.execute(f"DELETE FROM {table} WHERE {key} NOT IN (SELECT {key} FROM {owner})")
    db.execute("UPDATE changed_paths SET path_id = 0 WHERE path_id NOT IN (SELECT path_id FROM paths)")
