"""The store with a real DuckDB file and real processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from gitrag.errors import BusyError, DiskFullError, StoreError
from gitrag.machine.locks import StoreLock
from gitrag.store import content, engine, schema, views
from gitrag.store.columns import integers
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.memo import Memo
from tests.integration.store.filling import BLOB, OTHER, fill, open_store


def test_reading_a_missing_store_says_so(tmp_path: Path):
    with pytest.raises(StoreMissingError), open_store(tmp_path).read():
        pass


def test_a_failed_transaction_leaves_nothing(tmp_path: Path):
    store = open_store(tmp_path)

    def fail() -> None:
        with store.write("test") as db:
            content.add(db, [(BLOB, "python")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.write("test") as db:
        assert content.look_up(db, [(BLOB, "python")]) == {}


def test_a_content_is_a_blob_in_a_language(tmp_path: Path):
    store = open_store(tmp_path)
    with store.write("test") as db:
        added = content.add(db, [(BLOB, "python"), (BLOB, None), (OTHER, "go")])
        found = content.look_up(db, [(BLOB, "python"), (BLOB, None), (BLOB, "go"), (OTHER, None)])
    assert len(set(added.values())) == 3
    assert found == {key: added[key] for key in [(BLOB, "python"), (BLOB, None)]}


def test_a_line_of_several_chunks_is_read_whole(tmp_path: Path):
    store = open_store(tmp_path)
    parts = [("a", "first, ", [1]), ("b", "second, ", [2]), ("c", "third", [3])]
    fill(store, {"a.py": BLOB}, {BLOB: parts})
    with store.read() as db:
        (content_id,) = content.look_up(db, [(BLOB, "python")]).values()
        assert content.read_texts(db, [content_id]) == {content_id: "first, second, third"}
        every = {chunk_id for (chunk_id,) in db.execute("SELECT chunk_id FROM chunks").fetchall()}
        assert set(content.of_split_lines(db, Memo()).tolist()) == every  # what is sought may lie across two
        own = integers([content_id])
        assert content.containing(db, own, "st, ").tolist() == content.matching(db, own, "^f.*t").tolist()
        assert content.matching(db, own, "nowhere$").tolist() == []
        assert content.containing(db, integers([]), "first").tolist() == []


def test_postings_are_sorted_a_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each batch once, also of an index that has never been sorted; none is lost."""
    store = open_store(tmp_path)
    blobs = [f"{number:040x}" for number in range(1, 9)]
    pieces = {blob: [(f"f{i}", f"text {i} {blob}", [9, i + 1, 5])] for i, blob in enumerate(blobs)}
    for blob in blobs[:6]:
        fill(store, {f"{blob}.py": blob}, {blob: pieces[blob]})

    def rows() -> list[tuple[int, int, int]]:
        with store.read() as db:
            return db.execute("SELECT term, chunk_id, tf FROM postings ORDER BY rowid").fetchall()

    written = rows()
    assert written == sorted(written, key=lambda row: (row[1], row[0]))
    monkeypatch.setattr(content, "_RUN", 6)
    for blob in blobs[6:]:
        fill(store, {f"{blob}.py": blob}, {blob: pieces[blob]})
    with store.write("test") as db:
        content.merge_postings(db, 1)
    found = rows()
    assert len(found) == 24
    assert set(written) <= set(found)
    terms = [term for term, _chunk, _tf in found]
    assert sum(before > after for before, after in pairwise(terms)) < 4
    with store.write("test") as db:
        content.merge_postings(db, 1)
    assert rows() == found


def test_views_that_no_worktree_uses_are_dropped(tmp_path: Path):
    """A new .gitattributes makes a new view; dropping the old one failed, and with it every command."""
    store = open_store(tmp_path)
    with store.write("test") as db:
        db.execute("INSERT INTO views VALUES (1, 'tree', '', NULL, now())")
        views.drop_unused(db)
        assert db.execute("SELECT count(*) FROM views").fetchone() == (0,)


@pytest.mark.parametrize("noise", [b"not a database", b"SQLite format 3\0" + b"\0" * 5000])
def test_a_foreign_file_is_moved_aside_and_said(tmp_path: Path, noise: bytes):
    said: list[str] = []
    store = open_store(tmp_path, said)
    store.path.write_bytes(noise)
    with pytest.raises(StoreMissingError), store.read():
        pass
    assert len(said) == 1
    assert [path.read_bytes() for path in tmp_path.glob("damaged-*.duckdb")] == [noise]
    with store.write("test") as db:
        content.add(db, [(BLOB, "python")])
    assert len(said) == 1


@pytest.mark.parametrize("size", [0, 4096, 8192])
def test_a_file_whose_making_was_cut_off_is_no_index_and_no_damage(tmp_path: Path, size: int):
    """Killed just then, a process leaves as many of the three headers as it had written."""
    with duckdb.connect(str(tmp_path / "other.duckdb")):
        pass
    said: list[str] = []
    store = open_store(tmp_path, said)
    store.path.write_bytes((tmp_path / "other.duckdb").read_bytes()[:size])
    assert not store.exists()
    with pytest.raises(StoreMissingError, match="no index"), store.read():
        pass
    with store.write("test") as db:
        content.add(db, [(BLOB, "python")])
    assert store.exists()
    assert (said, list(tmp_path.glob("damaged-*"))) == ([], [])


def test_a_database_of_something_else_is_moved_aside(tmp_path: Path):
    with duckdb.connect(str(tmp_path / "index.duckdb")) as db:
        db.execute("CREATE TABLE mine AS SELECT 42 AS answer")
    said: list[str] = []
    with open_store(tmp_path, said).write("test") as db:
        content.add(db, [(BLOB, "python")])
    assert len(said) == 1
    [aside] = tmp_path.glob("damaged-*.duckdb")
    with duckdb.connect(str(aside)) as db:
        assert db.execute("SELECT answer FROM mine").fetchall() == [(42,)]


def test_a_directory_in_the_indexs_place_is_moved_aside(tmp_path: Path):
    said: list[str] = []
    store = open_store(tmp_path, said)
    store.path.mkdir()
    with store.write("test") as db:
        content.add(db, [(BLOB, "python")])
    assert [line.partition(";")[0] for line in said] == ["The index was damaged (a directory)"]


def test_only_the_last_damaged_index_is_kept(tmp_path: Path):
    store = open_store(tmp_path)
    (tmp_path / "damaged-20000101-000000.duckdb").write_bytes(b"old")
    store.path.write_bytes(b"new")
    with store.write("test"):
        pass
    assert [path.read_bytes() for path in tmp_path.glob("damaged-*")] == [b"new"]


def test_removing_takes_what_was_moved_aside_too(tmp_path: Path):
    store = open_store(tmp_path)
    (tmp_path / "damaged-20000101-000000.duckdb").write_bytes(b"12345")
    (tmp_path / "log").write_bytes(b"stays")
    store.path.write_bytes(b"1234567")
    assert store.remove() == 12
    assert store.remove() == 0
    assert not store.exists()
    assert not list(tmp_path.glob("*.duckdb"))
    assert (tmp_path / "log").exists()


def test_a_file_in_the_directorys_place_is_told(tmp_path: Path):
    (tmp_path / "gitrag").write_bytes(b"a file")
    with (
        pytest.raises(StoreError, match="it is not a directory"),
        open_store(tmp_path / "gitrag").write("test"),
    ):
        pass


def test_what_rests_on_an_index_makes_no_new_one(tmp_path: Path):
    """Vectors that come after ``gitrag index remove``."""
    with pytest.raises(StoreMissingError), open_store(tmp_path).write("test", make=False):
        pass
    assert not open_store(tmp_path).exists()


def test_a_reader_of_a_damaged_index_leaves_the_next_one_alone(tmp_path: Path):
    said: list[str] = []
    store = open_store(tmp_path, said)
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "t", [1])]})

    def read_and_fail() -> None:
        with store.read() as db:
            (tmp_path / "index.duckdb").replace(tmp_path / "damaged-by-another.duckdb")
            (tmp_path / "index.duckdb").write_bytes(b"the next one")
            db.execute("SELECT error('Corrupt database file')")

    with pytest.raises(StoreMissingError):
        read_and_fail()
    assert (store.path.read_bytes(), said) == (b"the next one", [])


@pytest.mark.parametrize(
    "words",
    [  # of blocks that lay in each other's place, as DuckDB 2.0 put it
        "Corrupted bitpacking segment: offset is outside the segment",
        "Corrupted RLE segment: run counts do not cover the segment row count",
        "Failed to scan DICT_FSST string segment: Database file appears to be corrupted.",
        "Cannot read database file: DuckDB's compiled vector size is 2048 bytes, but the file has a …",
    ],
)
def test_what_says_that_the_index_is_corrupt_moves_it_aside(tmp_path: Path, words: str):
    said: list[str] = []
    store = open_store(tmp_path, said)
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "t", [1])]})
    with pytest.raises(StoreMissingError), store.read() as db:
        db.execute("SELECT error(?)", [words])
    assert said[0].startswith("The index was damaged (corrupt); it has been moved aside")


def test_a_long_statement_draws_nothing_into_the_result(tmp_path: Path):
    """DuckDB draws a progress bar after two seconds."""
    fill(open_store(tmp_path), {"a.py": BLOB}, {BLOB: [("f", "t", [1])]})
    with open_store(tmp_path).read() as db:
        shown = db.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert shown == (False,)


@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_a_damaged_store_is_moved_aside_and_built_again(tmp_path: Path, damage: str):
    said: list[str] = []
    store = open_store(tmp_path, said)
    fill(store, {"a.py": BLOB}, {BLOB: [(f"f{i}", f"t{i}", [i]) for i in range(500)]})
    data = bytearray(store.path.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    else:
        data[4096:12288] = os.urandom(8192)
    store.path.write_bytes(data)
    with pytest.raises(StoreMissingError), store.read() as db:
        db.execute("SELECT * FROM chunks").fetchall()
    assert len(said) == 1
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "t", [1])]})


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path):
    store = open_store(tmp_path)
    with store.write("test") as db:
        schema.put(db, "schema", str(schema.SCHEMA_VERSION + 1))
    before = store.path.read_bytes()
    with pytest.raises(StoreError, match="schema") as caught, store.read():
        pass
    assert "Upgrade gitrag" in caught.value.hint
    with pytest.raises(StoreError), store.write("test"):
        pass
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    ("made_with", "newer"),
    [
        ("chunker 3, terms 8", True),
        ("chunker 3, terms 7, layout 1", True),
        ("chunker 2, terms 7", False),
        ("chunker 3, terms 6", False),
        ("chunker 4, terms 6", False),
        ("chunker 3", False),
        ("anything", False),
    ],
)
def test_an_index_of_a_newer_recipe_is_left_alone(tmp_path: Path, made_with: str, newer: bool):
    """Of two gitrags in use at once, the older would undo all that the newer does, and back again."""
    with Store(tmp_path, recipe=made_with).write("a test") as db:
        db.execute("CREATE TABLE kept (a INTEGER)")
    own = Store(tmp_path, recipe="chunker 3, terms 7")
    if newer:
        for operation in (own.read, lambda: own.write("a test")):
            with pytest.raises(StoreError, match="made by a newer gitrag"), operation():
                pass
        with Store(tmp_path, recipe=made_with).read() as db:
            assert db.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    else:
        with own.write("a test"):
            pass
        with own.read() as db, pytest.raises(duckdb.CatalogException):
            db.execute("SELECT count(*) FROM kept")


def test_another_recipe_builds_anew_and_says_so(tmp_path: Path):
    fill(open_store(tmp_path), {"a.py": BLOB}, {BLOB: [("f", "t", [1])]})
    said: list[str] = []
    newer = Store(tmp_path, recipe="other", say=said.append)
    with pytest.raises(StoreMissingError), newer.read():
        pass
    with newer.write("test") as db:
        assert views.current(db, "") is None
    assert len(said) == 1


def test_a_lock_held_too_long_names_its_holder(tmp_path: Path):
    with open_store(tmp_path).write("first"):
        pass
    script = (
        "import sys, time; from pathlib import Path; from gitrag.machine.locks import StoreLock\n"
        "with StoreLock(Path(sys.argv[1]), 5).exclusive('writing chunks'):\n"
        "    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with (
            pytest.raises(BusyError, match=rf"process {holder.pid} \(writing chunks\)"),
            open_store(tmp_path, lock_timeout_s=0.2).read(),
        ):
            pass
        holder.kill()
    with open_store(tmp_path, lock_timeout_s=5).read():
        pass


def test_a_writer_gets_in_between_overlapping_readers(tmp_path: Path):
    with open_store(tmp_path).write("first"):
        pass
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    readers = [context.Process(target=_read_until, args=(tmp_path, stop)) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for i in range(5):
            with open_store(tmp_path, lock_timeout_s=20).write("test") as db:
                content.add(db, [(f"{i:040x}", "python")])
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert [reader.exitcode for reader in readers] == [0, 0, 0]


def _read_until(directory: Path, stop: object) -> None:
    while not stop.is_set():  # type: ignore[attr-defined]
        with Store(directory, recipe="test", lock_timeout_s=20).read() as db:
            db.execute("SELECT count(*) FROM contents").fetchall()
            time.sleep(0.01)


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.1])
def test_a_killed_writer_loses_only_its_transaction(tmp_path: Path, delay_s: float):
    with open_store(tmp_path).write("first") as db:
        content.add(db, [(BLOB, "python")])
    script = (
        "import sys; from pathlib import Path; from gitrag.store.connection import Store\n"
        "from gitrag.store import content\n"
        "for n in range(10**6):\n"
        "    with Store(Path(sys.argv[1]), recipe='test').write('x') as db:\n"
        "        content.add(db, [(f'{n:020x}{i:020x}', 'go') for i in range(200)])\n"
        "    if n == 2: print('going', flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay_s)
        writer.send_signal(signal.SIGKILL)
    said: list[str] = []
    with open_store(tmp_path, said).read() as db:
        [(count,)] = db.execute("SELECT count(*) FROM contents").fetchall()
        assert content.look_up(db, [(BLOB, "python")])
    assert count % 200 == 1
    assert said == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", small], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        store = open_store(small / "gitrag")
        with store.write("test") as db:
            content.add(db, [(BLOB, "python")])
        wanted = [(os.urandom(20).hex(), "python") for _ in range(300_000)]
        with pytest.raises(DiskFullError) as caught, store.write("test") as db:
            content.add(db, wanted)
        assert caught.value.exit_code == 75
        with store.read() as db:
            assert len(content.look_up(db, [(BLOB, "python"), *wanted[:10]])) == 1
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_an_unwritable_directory_is_said(tmp_path: Path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with (
        pytest.raises(StoreError, match="Cannot write the index"),
        open_store(tmp_path / "locked" / "x").write("t"),
    ):
        pass


def test_an_index_removed_while_a_reader_waits_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not taken for a damaged one, nor made anew, empty."""
    said: list[str] = []
    store = open_store(tmp_path, said)
    with store.write("test") as db:
        content.add(db, [(BLOB, "python")])
    shared = StoreLock.shared

    def waits(self: StoreLock, **patience: float | None):
        open_store(tmp_path).remove()
        return shared(self, **patience)

    monkeypatch.setattr(StoreLock, "shared", waits)
    with pytest.raises(StoreMissingError, match="There is no index"), store.read():
        pass
    assert (said, store.exists(), list(tmp_path.glob("damaged*"))) == ([], False, [])


@pytest.mark.parametrize(("least", "threads"), [(1 << 30, 1), (1, os.cpu_count())])
def test_only_a_large_index_is_read_by_several_threads(tmp_path: Path, monkeypatch, least, threads):
    store = open_store(tmp_path)
    with store.write("test"):
        pass
    store.close()
    monkeypatch.setattr(engine, "_LEAST_SHARED_BYTES", least)
    with store.read() as db:
        assert db.execute("SELECT current_setting('threads')").fetchone() == (threads,)
        (left_out,) = db.execute("SELECT current_setting('disabled_optimizers')").fetchone()
    assert ("join_order" in left_out, "filter_pushdown" in left_out.split(",")) == (least > 1, False)
