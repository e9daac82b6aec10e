"""Call facts, one packed record per content: extracted when a graph is first asked for, then stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.store.columns import decode_path, integers, objects, pairs, run
from gitrag.store.content import INDEXED
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LANGUAGE = (
    "CASE WHEN language = 'html' AND path::VARCHAR LIKE '%.erb' THEN 'erb'"
    " WHEN regexp_matches(path::VARCHAR, '(?i)[.]jspf?$') THEN 'jsp'"
    " WHEN regexp_matches(path::VARCHAR, '(?i)[.](cshtml|razor)$') THEN 'razor'"
    " WHEN path::VARCHAR LIKE '%.twig' THEN 'twig' WHEN path::VARCHAR LIKE '%.blade.php' THEN 'blade'"
    " ELSE language END"
)
"""The language that a file's calls are in: templates are HTML, or of no language, for all else."""


class FileFacts(Struct, frozen=True):
    """A file of a view, with the call facts of its content.

    Attributes:
        blob: The content's object id.
        data: The packed facts; None if not extracted yet.
    """

    path: str
    content_id: int
    blob: str
    language: str
    data: bytes | None


def of_view(
    db: DuckDBPyConnection,
    view_id: int,
    overlay: ViewOverlay,
    languages: Sequence[str],
    collection: str | None = None,
    *,
    missing_only: bool = False,
) -> list[FileFacts]:
    """Read the files of a view and its overlay in some languages, by path."""
    columns = [
        *pairs(overlay.entries),
        objects(overlay.collections or [""] * len(overlay.entries)),
    ]
    rows = run(
        db,
        columns,
        f"SELECT path, content_id, lower(hex(blob)), {_LANGUAGE}, data FROM"
        " (SELECT path_id, content_id, collection FROM entries WHERE view_id = ? AND content_id <> 0"
        " AND path_id NOT IN (SELECT unnest(?::INTEGER[])) UNION ALL FROM columns)"
        " JOIN contents USING (content_id) JOIN paths USING (path_id) LEFT JOIN facts USING (content_id)"
        f" WHERE state = ? AND {_LANGUAGE} IN (SELECT unnest(?)) AND (?::VARCHAR IS NULL OR collection = ?)"
        " AND (NOT ? OR data IS NULL) ORDER BY path",
        [view_id, list(overlay.masked), INDEXED, list(languages), collection, collection, missing_only],
    ).fetchall()
    return [FileFacts(decode_path(path), *rest) for path, *rest in rows]


def not_in_view(
    db: DuckDBPyConnection,
    view_id: int,
    overlay: ViewOverlay,
    languages: Sequence[str],
    collection: str | None = None,
) -> list[tuple[str, str, str]]:
    """Read the files of a view and its overlay that `of_view` leaves out.

    Args:
        languages: The languages of `of_view`.

    Returns:
        Path, language (empty if not known), and the content's state or why the file is left out.
    """
    columns = [
        *pairs(overlay.entries),
        objects(overlay.collections or [""] * len(overlay.entries)),
    ]
    rows = run(
        db,
        columns,
        "SELECT path, coalesce(language, ''), coalesce(nullif(skip, ''), state, '') FROM"
        " (SELECT path_id, content_id, collection, skip FROM entries WHERE view_id = ?"
        " AND path_id NOT IN (SELECT unnest(?::INTEGER[]))"
        " UNION ALL SELECT column0, column1, column2, '' FROM columns)"
        " LEFT JOIN contents USING (content_id) JOIN paths USING (path_id)"
        f" WHERE NOT coalesce(state = ? AND {_LANGUAGE} IN (SELECT unnest(?)), false)"
        " AND (?::VARCHAR IS NULL OR collection = ?) ORDER BY path",
        [view_id, list(overlay.masked), INDEXED, list(languages), collection, collection],
    ).fetchall()
    return [(decode_path(path), language, state) for path, language, state in rows]


def of_names(
    db: DuckDBPyConnection, view_id: int, overlay: ViewOverlay, names: Sequence[str]
) -> list[tuple[str, str]]:
    """Read the files of a view and its overlay that have some names: path and blob, by path."""
    columns = pairs(overlay.entries)
    rows = run(
        db,
        columns,
        "SELECT path, lower(hex(blob)) FROM"
        " (SELECT path_id, content_id FROM entries WHERE view_id = ? AND content_id <> 0"
        " AND path_id NOT IN (SELECT unnest(?::INTEGER[])) UNION ALL FROM columns)"
        " JOIN contents USING (content_id) JOIN paths USING (path_id)"
        " WHERE regexp_extract(path::VARCHAR, '[^/]*$') IN (SELECT unnest(?)) ORDER BY path",
        [view_id, list(overlay.masked), list(names)],
    ).fetchall()
    return [(decode_path(path), blob) for path, blob in rows]


def write(db: DuckDBPyConnection, made: Sequence[tuple[int, bytes]]) -> None:
    """Store the packed facts of contents, replacing earlier ones."""
    columns = [integers(content_id for content_id, _ in made), objects(data for _, data in made)]
    run(db, columns, "DELETE FROM facts WHERE content_id IN (SELECT column0 FROM columns)")
    run(db, columns, "INSERT INTO facts SELECT * FROM columns ORDER BY column0")
