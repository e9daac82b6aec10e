"""DuckDB is started once and holds the index only for as long as an operation takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.errors import StoreError
from gitrag.machine.locks import FileLock
from gitrag.store import schema
from gitrag.store.connection import Store
from gitrag.store.engine import duckdb


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each start of DuckDB, whether the store's lock was free meanwhile."""
    while others := Store(tmp_path, recipe="one")._idle:  # which tests share
        others.pop().stop()
    free: list[bool] = []
    begin = duckdb.connect

    def connect(*args, **kwargs):
        lock = FileLock(tmp_path / "lock")
        free.append(lock.try_acquire())
        lock.release()
        return begin(*args, **kwargs)

    monkeypatch.setattr(duckdb, "connect", connect)
    return free


def put(store: Store, value: str) -> None:
    with store.write("a test") as db:
        schema.put(db, "word", value)


def word(store: Store) -> str:
    with store.read() as db:
        return schema.read_meta(db)["word"]


def test_duckdb_is_started_once_and_before_the_lock_is_taken(tmp_path: Path, starts: list[bool]):
    store = Store(tmp_path, recipe="one")
    for value in ("a", "b", "c"):
        put(store, value)
        assert word(store) == value
    assert starts == [True]


def test_a_reader_within_a_reader_has_its_own(tmp_path: Path, starts: list[bool]):
    store = Store(tmp_path, recipe="one")
    put(store, "a")
    with store.read() as db:
        assert word(store) == "a"
        assert schema.read_meta(db)["word"] == "a"
    assert len(starts) == 2


def test_between_operations_the_file_is_free(tmp_path: Path):
    one, other = Store(tmp_path, recipe="one"), Store(tmp_path, recipe="one")
    put(one, "a")
    put(other, "b")
    assert word(one) == "b"
    with pytest.raises(ZeroDivisionError), one.write("a failing test") as db:
        schema.put(db, "word", str(1 // 0))
    with pytest.raises(ZeroDivisionError), one.read():
        raise ZeroDivisionError
    put(other, "c")
    assert (word(one), word(other)) == ("c", "c")


def test_an_error_of_duckdb_leaves_no_file_open(tmp_path: Path):
    one, other = Store(tmp_path, recipe="one"), Store(tmp_path, recipe="one")
    put(one, "a")
    with pytest.raises(duckdb.BinderException), one.read() as db:
        db.execute("SELECT nothing")
    put(other, "b")
    assert word(one) == "b"


@pytest.mark.parametrize("name", ["it's", "sp ace", "文"])
def test_an_index_may_lie_anywhere(tmp_path: Path, name: str):
    store = Store(tmp_path / name, recipe="one")
    put(store, "a")
    assert word(store) == "a"


def test_a_newer_index_is_refused_and_let_go_of(tmp_path: Path):
    store = Store(tmp_path, recipe="one")
    put(store, "a")
    with store.write("a newer gitrag") as db:
        schema.put(db, "schema", str(schema.SCHEMA_VERSION + 1))
    for operation in (store.read, lambda: store.write("a test")):
        with pytest.raises(StoreError, match="is of schema"), operation():
            pass
    with duckdb.connect(str(store.path)) as db:  # nobody holds it
        assert schema.read_meta(db)["word"] == "a"
