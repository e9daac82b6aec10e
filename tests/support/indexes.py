"""What an index holds, read whole, so that one can be compared with another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from duckdb import DuckDBPyConnection

from gitrag.indexing.known import known
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import look
from gitrag.store import scopes
from gitrag.store.columns import decode_path, run
from gitrag.store.scopes import SearchScope
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository, create_repository, isolated_environment


@dataclass(frozen=True, slots=True)
class Logical:
    """An index without its ids: what any index of the same state must hold.

    Attributes:
        chunks: Of each chunk in a search's scope: path, language, text key, postings with their frequencies
            as stored, and every column.
        paths: Of each path in the scope: the key of its text, what kind of file it is, its words and where
            they are.
        left_out: Paths that are not indexed, and why; of those with uncommitted changes only the ones whose
            content was read.
        collections: Paths that are indexed, and which collection each is in.
    """

    chunks: list[tuple[Any, ...]] = field(repr=False)
    paths: list[tuple[Any, ...]]
    left_out: list[tuple[str, str]]
    collections: list[tuple[str, str]]

    @property
    def names(self) -> set[str]:
        """The paths in the scope."""
        return {path for path, *_ in self.paths}

    def lines(self, path: str) -> set[tuple[int, str]]:
        """The lines of a path's chunks, numbered, without blank ones."""
        return {
            (first + i, line)
            for where, *_, first, _last, _length, text in self.chunks
            if where == path
            for i, line in enumerate(text.split("\n"))
            if line
        }


def embedded_app(home: Path, model_dir: Path, files: Mapping[str | bytes, str]) -> Workspace:
    """Make a repository of files, ``parcelwatch``, and its index, vectors included."""
    environment = isolated_environment(home) | {"GITRAG_MODEL_DIR": str(model_dir)}
    return asked_often(create_repository(home / "parcelwatch", environment, files), embed=True)


def of_texts(home: Path, texts: Mapping[str, str]) -> Workspace:
    """Make a repository of texts, which may be indented as a whole, and its index, not embedded."""
    files = {path: dedent(text).lstrip() for path, text in texts.items()}
    return asked_often(create_repository(home / "p", isolated_environment(home / "home"), files))


def asked_often(repository: GitRepository, *, embed: bool = False) -> Workspace:
    """Index a repository, and keep the index in memory: for many tests that ask, and change nothing."""
    opened = Workspace.open(repository.path, environ=repository.environment, resident=True)
    opened.update()
    if embed:
        opened.embed()
    return opened


@contextmanager
def scoped(workspace: Workspace) -> Iterator[tuple[DuckDBPyConnection, SearchScope, list[str]]]:
    """Open all that a search may find, and give its files' paths, each at its number."""
    view = workspace.update().refreshed.view
    file = Workspace.open(workspace.place, environ=workspace.environ)  # what is kept in memory lacks tables
    with file.store.read() as db:
        scope = scopes.open_scope(db, view.view_id)
        ids = scope.files.path_id.tolist()
        paths = scopes.read_paths(db, ids)
        yield db, scope, [paths[path_id] for path_id in ids]


def open_app(
    repository: GitRepository, directory: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> Workspace:
    """Open gitrag on a repository; with a directory, on an index of its own there."""
    return Workspace.open(repository.path, environ=repository.environment, say=say, store_directory=directory)


def logical(workspace: Workspace) -> Logical:
    """Bring an index up to date and read what a search would find its answer in."""
    now = look(workspace.repo, workspace.options)
    refresh(workspace.store, now)
    with workspace.store.read() as db:
        refreshed = known(db, now)
        assert refreshed is not None, "the view is not of what git says now"
        assert not refreshed.waiting, f"{refreshed.waiting} contents are not read"
        files = scopes.open_scope(db, refreshed.view.view_id, refreshed.overlay).files
        columns = [files.path_id, files.content_id]
        run(
            db,
            columns,
            "CREATE TEMP TABLE scope AS SELECT column0 AS path_id, column1 AS content_id FROM columns",
        )
        chunks = db.execute(
            """
            WITH counted AS (
                SELECT chunk_id, string_agg(term || ':' || tf, ' ' ORDER BY term) AS terms
                FROM postings GROUP BY chunk_id
            )
            SELECT path, language, hex(key), terms, chunks.* EXCLUDE (chunk_id, content_id, text_id, text),
                text
            FROM scope JOIN chunks USING (content_id) JOIN contents USING (content_id)
            JOIN paths USING (path_id) LEFT JOIN counted USING (chunk_id)
            LEFT JOIN texts ON texts.text_id = chunks.text_id ORDER BY ALL
            """
        ).fetchall()
        paths = db.execute(
            """
            WITH words AS (
                SELECT path_id, list(term ORDER BY term) AS terms
                FROM name_postings GROUP BY path_id
            )
            SELECT path, hex(key), traits, top, name_terms, terms, contents.chunks, contents.length
            FROM scope JOIN contents USING (content_id) JOIN paths USING (path_id)
            JOIN texts USING (text_id) LEFT JOIN words USING (path_id) ORDER BY ALL
            """
        ).fetchall()
        held = db.execute(
            "SELECT path_id, content_id, skip, collection FROM entries WHERE view_id = ?",
            [refreshed.view.view_id],
        ).fetchall()
        overlay = refreshed.overlay
        masked = set(overlay.masked)
        held = [row for row in held if row[0] not in masked]
        held += [
            (path_id, content_id, "", collection)
            for (path_id, content_id), collection in zip(overlay.entries, overlay.collections, strict=True)
        ]
        states = dict(db.execute("SELECT content_id, state FROM contents").fetchall())
        names = scopes.read_paths(db, [path_id for path_id, *_ in held])
        every = [
            (names[path_id], skip or states[content_id], collection)
            for path_id, content_id, skip, collection in held
        ]
        return Logical(
            [(decode_path(path), *rest) for path, *rest in chunks],
            [(decode_path(path), *rest) for path, *rest in paths],
            sorted((path, why) for path, why, _ in every if why != "indexed"),
            sorted((path, collection) for path, why, collection in every if why == "indexed"),
        )
