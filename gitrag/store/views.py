"""Views: which path has which content, in the trees that worktrees have checked out, and on top of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace as replaced

from gitrag.late import np
from gitrag.store import content, vectors
from gitrag.store.columns import hashes, integers, next_id, objects, run
from gitrag.store.content import ContentKey
from gitrag.store.paths import decode_path, encode_path

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


class View(Struct, frozen=True):
    """An indexed tree.

    Attributes:
        tree: The tree's object id.
        rules: Hash of the rules by which its paths were chosen.
        commit: The commit at which it was indexed, for messages; None before the first commit.
    """

    view_id: int
    tree: str
    rules: str
    commit: str | None


class PathRecord(Struct, frozen=True):
    """A path with its derived data.

    Attributes:
        draft: Their draft vector, int8 (384,).
        traits: What kind of file it is by name (``gitrag.words.path_traits``).
        top: Hash of its top-level directory.
        name_terms: Hashed stems of the file's name.
    """

    path: str
    text_key: bytes
    draft: NDArray[np.int8]
    traits: int
    top: int
    name_terms: tuple[int, ...]


class EntryRecord(Struct, frozen=True):
    """What a path has: a content (blob, and language by name) or why it is left out; and its collection."""

    path: str
    blob: str
    language: str | None
    skip: str = ""
    collection: str = "code"

    @property
    def content(self) -> ContentKey:
        """Its content, unless it is left out."""
        return self.blob, self.language


class Difference(Struct, frozen=True):
    """What differs between two views.

    Attributes:
        added: Paths that are new or changed, with what they hold or why they are left out.
    """

    removed: tuple[str, ...] = ()
    added: tuple[EntryRecord, ...] = ()


class Ids(Struct, frozen=True):
    """Ids of paths and contents; what is not recorded has none."""

    paths: Mapping[str, int]
    contents: Mapping[ContentKey, int]


class ViewOverlay(Struct, frozen=True):
    """The changes on top of a view: ids of the paths hidden, and of the entries that replace them.

    Attributes:
        commit: The commit of which the view is read: views belong to trees, and several commits can have the
            same one, but each has its own history. None where history does not matter.
    """

    masked: tuple[int, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    collections: tuple[str, ...] = ()
    commit: str | None = None


def current(db: DuckDBPyConnection, worktree: str) -> View | None:
    row = db.execute(
        "SELECT view_id, tree, rules, commit_id FROM views JOIN worktrees USING (view_id) WHERE worktree = ?",
        [worktree],
    ).fetchone()
    return None if row is None else View(*row)


def updated_at(db: DuckDBPyConnection, worktree: str) -> float | None:
    """Return when the view that a worktree points to was last brought up to date, Unix seconds."""
    row = db.execute(
        "SELECT epoch(updated) FROM views JOIN worktrees USING (view_id) WHERE worktree = ?", [worktree]
    ).fetchone()
    return None if row is None else float(row[0])


def find(db: DuckDBPyConnection, tree: str, rules: str) -> View | None:
    """Find a view of a tree under the same rules."""
    row = db.execute(
        "SELECT view_id, tree, rules, commit_id FROM views WHERE tree = ? AND rules = ? ORDER BY view_id",
        [tree, rules],
    ).fetchone()
    return None if row is None else View(*row)


def nearest(db: DuckDBPyConnection, rules: str) -> View | None:
    """Find the most recently updated view under the same rules, as a base for another one."""
    row = db.execute(
        "SELECT view_id, tree, rules, commit_id FROM views WHERE rules = ?"
        " ORDER BY updated DESC, view_id LIMIT 1",
        [rules],
    ).fetchone()
    return None if row is None else View(*row)


def point(db: DuckDBPyConnection, worktree: str, view: View) -> None:
    """Point a worktree at a view; drop the previous view if no worktree uses it."""
    db.execute("DELETE FROM worktrees WHERE worktree = ?", [worktree])
    db.execute("INSERT INTO worktrees VALUES (?, ?)", [worktree, view.view_id])
    db.execute(
        "UPDATE views SET commit_id = ?, updated = now() WHERE view_id = ?", [view.commit, view.view_id]
    )
    drop_unused(db)


def replace(
    db: DuckDBPyConnection,
    worktree: str,
    wanted: View,
    difference: Difference,
    ids: Ids,
    *,
    base: View | None,
    rule_files: Mapping[str, bytes],
    modules: Sequence[tuple[str, str]] = (),
) -> View:
    """Build the view of a tree from a base view and the difference, and point a worktree at it.

    Args:
        db: An open connection, writing.
        wanted: The view; until now the worktree's is of its id, 0 for none.
        difference: What it differs in from the base.
        ids: The ids of the paths that differ, and of what is added.
        base: The view to start from; None to start from nothing.
        rule_files: The tree's rule files, path and content.
        modules: The tree's modules, name and directory.
    """
    added = difference.added
    view = replaced(wanted, view_id=_start(db, worktree, base))
    changed = {entry.collection for entry in added if not entry.skip}
    differing = [*difference.removed, *(entry.path for entry in added)]
    columns = [integers(ids.paths[path] for path in differing if path in ids.paths)]
    changed |= {
        name
        for (name,) in run(
            db,
            columns,
            "SELECT DISTINCT collection FROM entries"
            " WHERE view_id = ? AND content_id <> 0 AND path_id IN (SELECT column0 FROM columns)",
            [view.view_id],
        ).fetchall()
    }
    going = "view_id = ? AND path_id IN (SELECT column0 FROM columns)"
    _leave(db, columns, going, view.view_id)
    run(db, columns, f"DELETE FROM entries WHERE {going}", [view.view_id])
    columns = [
        integers(ids.paths[entry.path] for entry in added),
        integers(0 if entry.skip else ids.contents[entry.content] for entry in added),
        objects(entry.skip for entry in added),
        objects(entry.collection for entry in added),
    ]
    if added:
        run(db, columns, "INSERT INTO entries SELECT ?, * FROM columns", [view.view_id])
    db.execute(
        "UPDATE views SET tree = ?, rules = ? WHERE view_id = ?", [wanted.tree, wanted.rules, view.view_id]
    )
    _list(db, "rule_files", view, map(encode_path, rule_files), rule_files.values())
    _list(db, "modules", view, (name for name, _ in modules), (encode_path(place) for _, place in modules))
    if base is None and wanted.view_id:
        changed = _differing(db, wanted.view_id, view.view_id)
        _copy_touched(db, wanted.view_id, view.view_id)
    _touch(db, view.view_id, changed)
    point(db, worktree, view)
    return view


def _list(
    db: DuckDBPyConnection, table: str, view: View, names: Iterable[bytes | str], values: Iterable[bytes]
) -> None:
    """Replace what a view has in a table of pairs."""
    db.execute(f"DELETE FROM {table} WHERE view_id = ?", [view.view_id])
    columns = [objects(names), objects(values)]
    if len(columns[0]):
        run(db, columns, f"INSERT INTO {table} SELECT ?, * FROM columns", [view.view_id])


def _start(db: DuckDBPyConnection, worktree: str, base: View | None) -> int:
    """Return the id of a view to change: the base if no other worktree uses it, else a copy of it."""
    if (
        base is not None
        and not db.execute(
            "SELECT 1 FROM worktrees WHERE view_id = ? AND worktree <> ?", [base.view_id, worktree]
        ).fetchone()
    ):
        return base.view_id
    view_id = next_id(db, "views", "view_id")
    db.execute("INSERT INTO views VALUES (?, '', '', NULL, now())", [view_id])
    if base is not None:
        db.execute(
            "INSERT INTO entries SELECT ?, * EXCLUDE (view_id) FROM entries WHERE view_id = ?",
            [view_id, base.view_id],
        )
        _copy_touched(db, base.view_id, view_id)
    return view_id


def _copy_touched(db: DuckDBPyConnection, source: int, target: int) -> None:
    db.execute(
        "INSERT INTO touched SELECT ?, collection, updated FROM touched WHERE view_id = ?", [target, source]
    )


def _touch(db: DuckDBPyConnection, view_id: int, collections: Iterable[str]) -> None:
    """Record that these collections of a view changed now; forget those that are empty."""
    columns = [objects(sorted(collections))]
    run(
        db,
        columns,
        "DELETE FROM touched WHERE view_id = ? AND collection IN (SELECT column0 FROM columns)",
        [view_id],
    )
    run(
        db,
        columns,
        "INSERT INTO touched SELECT DISTINCT view_id, collection, now() FROM entries"
        " SEMI JOIN columns ON collection = column0 WHERE view_id = ? AND content_id <> 0",
        [view_id],
    )


def _differing(db: DuckDBPyConnection, one: int, other: int) -> set[str]:
    """Name the collections whose contents differ between two views."""
    own = "SELECT path_id, content_id, collection FROM entries WHERE content_id <> 0 AND view_id = ?"
    rows = db.execute(
        f"SELECT DISTINCT collection FROM (({own} EXCEPT {own}) UNION ALL ({own} EXCEPT {own}))",
        [one, other, other, one],
    ).fetchall()
    return {name for (name,) in rows}


def drop_unused(db: DuckDBPyConnection) -> None:
    """Drop the views that no worktree uses."""
    unused = "view_id NOT IN (SELECT view_id FROM worktrees)"
    if not db.execute(f"SELECT 1 FROM views WHERE {unused}").fetchone():
        return
    _leave(db, [integers(())], unused)
    for table in ("entries", "rule_files", "modules", "touched", "views"):
        db.execute(f"DELETE FROM {table} WHERE {unused}")


def _leave(db: DuckDBPyConnection, columns: list[NDArray[Any]], which: str, *values: object) -> None:
    """Record that entries are dropped now, before they are deleted."""
    for table, key in (("contents", "content_id"), ("paths", "path_id")):
        leaving = f"SELECT {key} FROM entries WHERE {which}"
        run(db, columns, f"UPDATE {table} SET left_at = now() WHERE {key} IN ({leaving})", values)


def forget_worktrees(db: DuckDBPyConnection, there: Iterable[str]) -> None:
    """Drop the views of worktrees that no longer exist."""
    recorded = {name for (name,) in db.execute("SELECT worktree FROM worktrees").fetchall()}
    gone = sorted(recorded - set(there))
    if gone:
        db.execute("DELETE FROM worktrees WHERE worktree IN (SELECT unnest(?))", [gone])
        drop_unused(db)


def rule_files(db: DuckDBPyConnection, view: View) -> dict[str, bytes]:
    """Read the rule files of a view, path and content."""
    rows = db.execute("SELECT path, content FROM rule_files WHERE view_id = ?", [view.view_id]).fetchall()
    return {decode_path(path): data for path, data in rows}


def modules(db: DuckDBPyConnection, view: View) -> tuple[tuple[str, str], ...]:
    """Read the modules of a view, name and directory, by directory."""
    rows = db.execute(
        "SELECT name, directory FROM modules WHERE view_id = ? ORDER BY directory", [view.view_id]
    ).fetchall()
    return tuple((name, decode_path(directory)) for name, directory in rows)


def held(db: DuckDBPyConnection, view_id: int, among: Iterable[int] | None = None) -> dict[int, int]:
    """Read a view's content ids by path id, without what is left out.

    Args:
        among: Only these path ids; None for all.
    """
    sql = "SELECT path_id, content_id FROM entries WHERE view_id = ? AND content_id <> 0"
    if among is None:
        return dict(db.execute(sql, [view_id]).fetchall())
    columns = [integers(among)]
    return dict(run(db, columns, f"{sql} AND path_id IN (SELECT column0 FROM columns)", [view_id]).fetchall())


def look_up(
    db: DuckDBPyConnection, view_id: int, overlay: ViewOverlay, paths: Sequence[str]
) -> dict[str, int]:
    """Look up the content ids of paths in a view and its overlay; paths without one are left out."""
    ids = path_ids(db, paths)
    found = held(db, view_id, ids.values())
    for path_id in overlay.masked:
        found.pop(path_id, None)
    found |= dict(overlay.entries)
    return {path: found[path_id] for path, path_id in ids.items() if path_id in found}


def count_worktrees(db: DuckDBPyConnection, view_id: int) -> int:
    row = db.execute("SELECT count(*) FROM worktrees WHERE view_id = ?", [view_id]).fetchone()
    return int(row[0]) if row else 0


def name_commit(db: DuckDBPyConnection, worktree: str, tree: str, commit: str) -> None:
    """Record at which commit a worktree's view is now: another one of the same tree."""
    db.execute(
        "UPDATE views SET commit_id = ? WHERE tree = ? AND commit_id IS DISTINCT FROM ?"
        " AND view_id IN (SELECT view_id FROM worktrees WHERE worktree = ?)",
        [commit, tree, commit, worktree],
    )


def touch(db: DuckDBPyConnection, view: View) -> None:
    """Record that a view, with its overlay, has been updated now."""
    db.execute("UPDATE views SET updated = now() WHERE view_id = ?", [view.view_id])


def touched(db: DuckDBPyConnection, view_id: int) -> dict[str, float]:
    """Name the collections with documents in a view, and when each last changed, in Unix seconds."""
    rows = db.execute(
        "SELECT collection, epoch(updated) FROM touched WHERE view_id = ? ORDER BY collection", [view_id]
    ).fetchall()
    return dict(rows)


def overlay(ids: Ids, removed: Sequence[str], added: Sequence[EntryRecord]) -> ViewOverlay:
    """Make an overlay of changes; what is not recorded is left out.

    Args:
        added: Paths that are new or changed.
    """
    paths = [*removed, *(entry.path for entry in added)]
    there = [
        entry
        for entry in added
        if not entry.skip and entry.path in ids.paths and entry.content in ids.contents
    ]
    return ViewOverlay(
        tuple(sorted({ids.paths[path] for path in paths if path in ids.paths})),
        tuple((ids.paths[entry.path], ids.contents[entry.content]) for entry in there),
        tuple(entry.collection for entry in there),
    )


def ids_of(db: DuckDBPyConnection, removed: Sequence[str], added: Sequence[EntryRecord]) -> Ids:
    """Look up the ids of the paths of changes, and of the contents that are added."""
    paths = dict.fromkeys([*removed, *(entry.path for entry in added)])
    contents = dict.fromkeys(entry.content for entry in added if not entry.skip)
    return Ids(path_ids(db, list(paths)), content.look_up(db, list(contents)))


def path_ids(db: DuckDBPyConnection, paths: Sequence[str]) -> dict[str, int]:
    """Look up paths; unknown ones are left out."""
    if not paths:
        return {}
    columns = [objects(encode_path(path) for path in paths)]
    rows = run(db, columns, "SELECT path, path_id FROM paths SEMI JOIN columns ON path = column0").fetchall()
    return {decode_path(path): path_id for path, path_id in rows}


def record_paths(db: DuckDBPyConnection, records: Sequence[PathRecord]) -> dict[str, int]:
    """Add paths that are not recorded yet, with their words' postings and text; return their ids."""
    if not records:
        return {}

    text_ids = content.ensure_texts(db, [record.text_key for record in records])
    vectors.write_drafts(db, text_ids, np.stack([record.draft for record in records]))
    first = next_id(db, "paths", "path_id")
    columns = [
        integers(range(first, first + len(records))),
        objects(encode_path(record.path) for record in records),
        integers(text_ids),
        integers(record.traits for record in records),
        hashes([record.top for record in records]),
        integers(min(len(record.name_terms), 255) for record in records),
    ]
    run(db, columns, "INSERT INTO paths SELECT *, now() FROM columns ORDER BY column0")
    postings = [(term, first + i) for i, record in enumerate(records) for term in record.name_terms]
    if postings:
        columns = [
            hashes([term for term, _ in postings]),
            integers(path_id for _, path_id in postings),
        ]
        run(db, columns, "INSERT INTO name_postings SELECT * FROM columns ORDER BY column0, column1")
    db.execute(
        "UPDATE changed_paths SET path_id = paths.path_id FROM paths"
        " WHERE changed_paths.path = paths.path AND paths.path_id >= ?",
        [first],
    )
    return {record.path: first + i for i, record in enumerate(records)}
