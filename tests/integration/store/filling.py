"""Stores filled by hand: chunks, words and directions that a test can tell apart."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gitrag.model import Chunk, Kind
from gitrag.store import content, scopes, views
from gitrag.store.connection import Store
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.memo import Memo
from gitrag.store.scopes import NO_FILTERS, Filters, SearchScope
from gitrag.store.vectors import shrink
from gitrag.store.views import Difference, EntryRecord, PathRecord, View, ViewOverlay
from gitrag.words.path_traits import traits
from gitrag.words.terms import IN_NAME

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

BLOB = "a" * 40
OTHER = "b" * 40
NO_OVERLAY = ViewOverlay()


def open_store(directory: Path, said: list[str] | None = None, **options: object) -> Store:
    say = (lambda _line: None) if said is None else said.append
    return Store(directory, recipe="test", say=say, **options)  # type: ignore[arg-type]


@functools.cache
def _made(fill_store: Callable[[Store], None], recipe: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="gitrag-store-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    fill_store(Store(place, recipe=recipe, say=lambda _line: None))
    return place


def copy_filled(fill_store: Callable[[Store], None], directory: Path, recipe: str = "test") -> None:
    """Have what a function fills a store with in a directory: it is filled once, and copied."""
    shutil.copytree(_made(fill_store, recipe), directory, dirs_exist_ok=True)


def unit(count: int, seed: int) -> np.ndarray:
    """Random directions, float32 (count, 384), L2-normalised."""
    found = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def key(text: str) -> bytes:
    return text.encode().ljust(16, b"\0")[:16]


def draft(text: str) -> np.ndarray:
    """A direction of a text's own."""
    return unit(1, int.from_bytes(key(text), "little"))[0]


def record(content_id: int, *chunks: tuple[str, str, list[int]]) -> ContentRecord:
    """A record of chunks given as (name, text, terms); each term occurs once, the first also in the name."""
    counts = [len(terms) for *_, terms in chunks]
    return ContentRecord(
        content_id,
        INDEXED,
        tuple(Chunk(Kind.FUNCTION, name, name, f"def {name}()", "", text, 1, 1) for name, text, _ in chunks),
        tuple(key(text) for _, text, _ in chunks),
        np.array([term for *_, terms in chunks for term in terms], dtype=np.uint64),
        np.array([1 + IN_NAME * (i == 0) for count in counts for i in range(count)], dtype=np.uint16),
        np.array(counts),
        np.array(counts),
        shrink(np.stack([draft(text) for _, text, _ in chunks])),
        drafted=tuple(key(text) for _, text, _ in chunks),
    )


def path_record(path: str) -> PathRecord:
    """A path whose name's letters are its terms."""
    folder, _, name = path.rpartition("/")
    return PathRecord(
        path,
        key(f"p{path}"),
        shrink(draft(f"p{path}").reshape(1, -1))[0],
        int(traits(path)),
        len(folder),
        tuple(map(ord, name.partition(".")[0])),
    )


def fill(store: Store, entries: dict[str, str], chunks: dict[str, list[tuple[str, str, list[int]]]]) -> None:
    """Index a view of {path: blob} with the chunks of each blob."""
    with store.write("test") as db:
        paths = views.record_paths(db, [path_record(path) for path in entries])
        contents = content.add(db, [(blob, "python") for blob in dict.fromkeys(entries.values())])
        views.replace(
            db,
            "",
            View(0, "t1", "r", "c1"),
            Difference(added=tuple(EntryRecord(path, blob, "python") for path, blob in entries.items())),
            views.Ids(paths, contents),
            base=None,
            rule_files={},
        )
        content.write(db, [record(contents[blob, "python"], *pieces) for blob, pieces in chunks.items()])


def open_scope(
    db: Connection,
    overlay: ViewOverlay = NO_OVERLAY,
    filters: Filters = NO_FILTERS,
    paths: list[int] | None = None,
    memo: Memo | None = None,
) -> SearchScope:
    view = views.current(db, "")
    assert view is not None
    return scopes.open_scope(db, view.view_id, overlay, filters, path_ids=paths, memo=memo)


def names_of(db: Connection, chunk_ids: np.ndarray) -> list[str]:
    stored = content.read_chunks(db, chunk_ids.tolist())
    return [stored[chunk_id].name for chunk_id in chunk_ids.tolist()]


def paths_of(db: Connection, scope: SearchScope) -> list[str]:
    """The paths of a scope, by number of the file."""
    ids = scope.files.path_id.tolist()
    known = scopes.read_paths(db, ids)
    return [known[path_id] for path_id in ids]
