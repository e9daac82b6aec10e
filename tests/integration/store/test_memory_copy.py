"""An index kept in memory answers as the file does, for as long as that is unchanged."""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
import weakref
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gitrag.model import Chunk
from gitrag.store import candidates, content, held_texts, nearby, scopes, vectors
from gitrag.store import memo as memo_module
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.engine import _ParsingOnce
from gitrag.store.memo import Memo
from gitrag.store.scopes import Filters
from gitrag.store.vector_cache import VectorCache
from tests.integration.store.filling import (
    BLOB,
    OTHER,
    copy_filled,
    draft,
    fill,
    open_scope,
    open_store,
)

CHUNKS = {BLOB: [("send", "one", [1, 2]), ("recv", "two", [2, 3])], OTHER: [("close", "three", [4, 2])]}


def filled(directory: Path) -> Store:
    copy_filled(_fill, directory)
    return open_store(directory)


def _fill(store: Store) -> None:
    fill(store, {"a.py": BLOB, "b.py": OTHER, "sub/c.py": OTHER}, CHUNKS)


def answer(store: Store, filters: Filters = scopes.NO_FILTERS) -> list[list[object]]:
    """All that a search reads."""
    with store.read() as db:
        scope = open_scope(db, filters=filters, memo=store.memo)
        words = candidates.postings(db, scope, [9, 2, 4], store.memo)
        near = nearby.nearest(db, scope, draft("two"), 10, store.memo)
        paths = candidates.name_words(db, scope, [ord("a"), ord("s")], store.memo)
        names = scopes.read_paths(db, scope.files.path_id.tolist(), store.memo)
        rows = [
            sorted(
                zip(*(getattr(part, name).tolist() for name in part.__slots__ if name != "memo"), strict=True)
            )
            for part in (scope.files, words, paths)
        ]
        cosines = [(*pair, round(cosine, 5)) for *pair, cosine in zip(
            near.chunk_id.tolist(), near.file.tolist(), near.cosine.tolist(), strict=True
        )]  # fmt: skip
        return [*rows, cosines, sorted(names.items()), candidates.definitions(db, scope, ["send"])]


@pytest.mark.parametrize("surplus", [8, 0])
def test_a_kept_index_answers_as_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surplus: int):
    """Also where the signs choose among the chunks: with no surplus, all but none."""
    if not surplus:
        monkeypatch.setattr(nearby, "SURPLUS", 0.2)
        monkeypatch.setattr(nearby, "_likeliest", exactly(nearby._likeliest))
    store = filled(tmp_path)
    resident = open_store(tmp_path, resident=True)
    expected = answer(store)
    assert [answer(resident) for _ in range(4)] == [expected] * 4
    assert resident.memo.lasting
    functions = Filters(kinds=("class",), languages=("python",))
    assert answer(resident, functions) == answer(store, functions) != expected


def exactly(likeliest):
    def choose(db, scope, question, many, memo):
        return likeliest(db, scope, question, int(many), memo)

    return choose


def test_what_another_process_writes_is_seen_at_once(tmp_path: Path):
    """It can write while the copy is kept, and each write is another state."""
    store = filled(tmp_path)
    resident = open_store(tmp_path, resident=True)
    for i in range(4):
        for _ in range(3):
            answer(resident)
        assert resident.memo.lasting
        with store.write("test") as db:
            [(text_id,)] = db.execute("SELECT min(text_id) FROM drafts").fetchall()
            vectors.write(db, [text_id], np.eye(384, dtype=np.float32)[i : i + 1])
        assert answer(resident) == answer(store)
        assert not resident.memo.lasting


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "another process writes"])
@pytest.mark.parametrize("surplus", [8, 0])
@pytest.mark.parametrize("is_large", [False, True], ids=["copied", "large"])
def test_what_is_kept_of_an_index_outlives_the_vectors_that_are_written(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, surplus: int, beside: bool, is_large: bool
):
    """A question that refines what it finds would read all of it again, and so would the next one."""
    if not surplus:
        monkeypatch.setattr(nearby, "SURPLUS", 0.2)
        monkeypatch.setattr(nearby, "_likeliest", exactly(nearby._likeliest))
    store, resident = large
    if not is_large:
        resident = open_store(store.directory, resident=True)
    before = [answer(resident) for _ in range(3)]
    one, two, three = text_ids(store)
    for number, (text_id, failures) in enumerate([(one, {}), (two, {three: "too odd"})], 3):
        kept = resident.memo
        if beside:
            with store.write("test") as db:
                vectors.write(db, [three], np.eye(384, dtype=np.float32)[:1])
                db.execute("INSERT INTO meta VALUES (?, '')", [f"test {number}"])
        resident.write_vectors([text_id], np.eye(384, dtype=np.float32)[number : number + 1], failures)
        for _ in range(4):
            assert answer(resident) == answer(store) != before[0]
            assert (resident.memo is kept) != beside
        assert vectors_left(resident) == vectors_left(store)


def test_a_store_that_is_closed_keeps_nothing_of_an_index(tmp_path: Path):
    filled(tmp_path)
    resident = open_store(tmp_path, resident=True)
    before = [answer(resident) for _ in range(3)]
    kept = weakref.ref(resident.memo)
    resident.write_vectors(text_ids(resident)[:1], np.eye(384, dtype=np.float32)[:1], {})
    with resident.read():
        assert resident.memo is kept()
    resident.close()
    gc.collect()
    assert kept() is None
    assert answer(resident) != before[0]


def test_copying_one_index_after_another_keeps_no_statement(tmp_path: Path):
    """A process that answers of a thousand would have no room for those that are asked again."""
    counts = set()
    for name in "abc":
        filled(tmp_path / name)
        resident = open_store(tmp_path / name, resident=True)
        assert [answer(resident) for _ in range(3)]
        counts.add(len(_ParsingOnce.parsed))
    assert len(counts) == 1


def test_a_large_index_is_held_as_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With all that DuckDB can do to a statement, and by all processors."""
    monkeypatch.setattr("gitrag.store.engine._LEAST_SHARED_BYTES", 1)
    store = filled(tmp_path)
    assert store.hold()
    with store.read() as db:
        assert db.execute("SELECT current_setting('disabled_optimizers')").fetchone() == ("",)


def text_ids(store: Store) -> list[int]:
    with store.read() as db:
        return [text_id for (text_id,) in db.execute("SELECT text_id FROM chunks ORDER BY 1").fetchall()]


def vectors_left(store: Store) -> int:
    with store.read() as db:
        return vectors.count_pending(db, memo=store.memo)


def test_what_is_kept_of_a_large_index_is_dropped_where_vectors_are_not_written(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    store, resident = large
    expected = answer(resident)
    assert answer(resident) == expected

    def fail(_db: object, _ids: object, memo: Memo) -> None:
        memo.forget("signs")
        raise OSError("no disk")

    monkeypatch.setattr(vectors, "renew", fail)
    with pytest.raises(OSError, match="no disk"):
        resident.write_vectors(text_ids(store)[:1], np.eye(384, dtype=np.float32)[:1], {})
    assert answer(resident) == answer(store) == expected


def test_a_removed_index_is_missed(tmp_path: Path):
    store = filled(tmp_path)
    resident = open_store(tmp_path, resident=True)
    for _ in range(3):
        answer(resident)
    store.remove()
    with pytest.raises(StoreMissingError):
        answer(resident)
    filled(tmp_path)
    assert answer(resident) == answer(store)


def test_a_damaged_index_is_noticed(tmp_path: Path):
    filled(tmp_path)
    said: list[str] = []
    resident = open_store(tmp_path, said, resident=True)
    for _ in range(3):
        answer(resident)
    resident.path.write_bytes(b"noise" * 5000)
    with pytest.raises(StoreMissingError):
        answer(resident)
    assert "moved aside" in said[0]


def test_an_index_of_another_version_is_not_kept(tmp_path: Path):
    filled(tmp_path)
    other = Store(tmp_path, recipe="another", resident=True)
    for _ in range(3):
        with pytest.raises(StoreMissingError):
            answer(other)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Store, Store]:
    """An index opened as a small one, and as one too large to be copied."""
    store = filled(tmp_path)
    resident = open_store(tmp_path, resident=True)
    monkeypatch.setattr(resident, "is_large", lambda: True)
    monkeypatch.setattr(resident, "_current_copy", lambda: None)
    return store, resident


@pytest.mark.parametrize("surplus", [8, 0])
def test_a_large_index_answers_as_a_small_one(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, surplus: int
):
    """It is opened for each question, and its scope, signs and vectors are kept beside."""
    if not surplus:
        monkeypatch.setattr(nearby, "SURPLUS", 0.2)
        monkeypatch.setattr(nearby, "_likeliest", exactly(nearby._likeliest))
    store, resident = large
    functions = Filters(kinds=("class",), languages=("python",))
    for _ in range(3):
        assert answer(resident) == answer(store)
        assert answer(resident, functions) == answer(store, functions)
    assert resident.memo.lasting
    assert not resident.memo.whole
    with resident.read() as db:
        texts = db.execute("SELECT max(text_id) FROM texts").fetchone()
    assert texts == (resident.vector_cache.end() - 1,)


@pytest.mark.parametrize("spoil", [b"", b"\x07" * 384 * 4, b"\x07" * 400], ids=["lost", "stale", "torn"])
def test_a_lost_torn_or_stale_cache_of_vectors_changes_no_answer(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, spoil: bytes
):
    monkeypatch.setattr(vectors, "_MANY", 0)
    store, resident = large
    expected = answer(store)
    assert answer(resident) == expected
    cache = resident.path.with_name(f"{resident.path.name}.vectors")
    before = cache.read_bytes()
    cache.write_bytes(spoil + before[len(spoil) :] if spoil else b"")
    assert answer(resident) == expected
    assert cache.read_bytes()[384:] == before[384:]  # no text has the id 0
    with store.write("test") as db:
        vectors.write(db, [1], np.eye(384, dtype=np.float32)[:1])
    assert answer(resident) == answer(store)
    assert cache.read_bytes() != before


def test_a_cache_that_ends_within_a_vector_has_none_of_it(tmp_path: Path):
    cache = VectorCache(tmp_path / "vectors")
    ids, rows = np.arange(4, dtype=np.int32), np.full((4, 384), 7, np.int8)
    for there, length in ((4, 4 * 384), (2, 2 * 384 + 100), (0, 383), (0, 0)):
        assert cache.write(ids, rows, extend=True)
        os.truncate(tmp_path / "vectors", length)
        assert (cache.read(ids) == rows * (ids < there)[:, None]).all()


def test_where_no_vector_can_be_cached_the_answer_is_the_same(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vectors, "_MANY", 0)
    store, resident = large
    resident.path.with_name(f"{resident.path.name}.vectors").mkdir()
    assert answer(resident) == answer(store)


def test_the_cache_of_vectors_goes_with_the_index(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vectors, "_MANY", 0)
    _store, resident = large
    without = resident.size_bytes()
    answer(resident)
    assert resident.size_bytes() > without
    resident.forget_vectors()
    assert resident.size_bytes() == without
    answer(resident)
    assert resident.remove() > without
    assert not list(resident.directory.glob("index*"))


def chunks_of(store: Store, ids: list[int]) -> dict[int, Chunk]:
    with store.read() as db:
        return content.read_chunks(db, ids, store.memo)


def in_cache(store: Store) -> dict[int, Chunk]:
    """What the cache has of the first chunks, as the index is now."""
    with store.read() as db:
        return store.chunk_cache.read(content._marks_of(db, np.arange(1, 9, dtype=np.int32), store.memo))


def test_chunks_are_read_from_the_file_beside_a_large_index(large: tuple[Store, Store]):
    store, resident = large
    expected = chunks_of(store, [3, 1, 2, 9])
    assert len(expected) == 3
    without = resident.size_bytes()
    assert in_cache(resident) == {}
    resident.cache_chunks()
    assert resident.size_bytes() > without
    assert in_cache(resident) == chunks_of(resident, [2, 9, 3, 1, 2]) == expected
    with store.write("test") as db:  # the same ids of another index
        db.execute("UPDATE meta SET value = 'another' WHERE key = 'identity'")
        db.execute("UPDATE chunks SET text = 'another'")
    assert in_cache(resident) == {}
    assert {chunk.text for chunk in chunks_of(resident, [1, 2, 3]).values()} == {"another"}
    resident.cache_chunks()
    assert in_cache(resident) == chunks_of(store, [1, 2, 3])
    assert resident.remove() > without
    assert not list(resident.directory.glob("index*"))


def test_chunks_are_written_bit_by_bit(large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch):
    store, resident = large
    with store.write("test") as db:
        db.execute("INSERT INTO chunks SELECT * REPLACE (100 AS chunk_id) FROM chunks WHERE chunk_id = 1")
    monkeypatch.setattr(content, "_AT_A_TIME", 16)
    with resident.read() as db:
        marks = content._marks_of(db, np.array([1, 2, 3, 100], np.int32), resident.memo)
    resident.cache_chunks(lambda: True)  # asked to stop, it writes the first part
    assert resident.chunk_cache.read(marks) == chunks_of(store, [1, 2, 3])
    resident.cache_chunks()
    assert resident.chunk_cache.read(marks) == chunks_of(store, [1, 2, 3, 100])


def test_a_later_content_is_added_to_the_chunks_beside_an_index(large: tuple[Store, Store]):
    store, resident = large
    resident.cache_chunks()
    with store.write("test") as db:
        db.execute("INSERT INTO contents SELECT * REPLACE (9 AS content_id) FROM contents LIMIT 1")
        db.execute("INSERT INTO chunks SELECT * REPLACE (7 AS chunk_id, 9 AS content_id) FROM chunks LIMIT 1")
        db.execute("UPDATE chunks SET content_id = 9 WHERE chunk_id = 1")  # as if its id were used again
    assert sorted(in_cache(resident)) == [2, 3]
    resident.cache_chunks()
    assert in_cache(resident) == chunks_of(store, [1, 2, 3, 7])


@pytest.mark.parametrize(
    "spoil",
    [
        "cut",
        "zeros",
        "noise",
        "bytes",
        "bomb",
        "nest",
        "below",
        "view",
        "text",
        "wide",
        "directory",
        "link",
        "pipe",
    ],
)
def test_a_spoilt_file_of_chunks_costs_no_answer(large: tuple[Store, Store], spoil: str, tmp_path: Path):
    store, resident = large
    resident.cache_chunks()
    expected = chunks_of(store, [1, 2, 3])
    path = resident.path.with_name(f"{resident.path.name}.chunks")
    raw, aside = path.read_bytes(), tmp_path / "aside"
    packed = {
        "bomb": lambda: zlib.compress(bytes(1 << 28)),  # which takes a second
        "nest": lambda: zlib.compress(b"\x91\x93\x01\x02\x81\xa1x" + b"\x91" * 100_000 + b"\x01"),
        "text": lambda: "packed",
        "wide": lambda: zlib.compress(msgspec.msgpack.encode([(1, 2), "three", {"four": 5}])),
    }
    if spoil in packed:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE chunks SET packed = ?", [packed[spoil]()])
    elif spoil == "below":  # to go on from there would take for ever
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE chunks SET number = ?", [-(1 << 60)])
    elif spoil == "view":
        endless = "WITH RECURSIVE own(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM own) SELECT n, n FROM own"
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DROP TABLE chunks")
            db.execute(f"CREATE VIEW chunks(number, packed) AS {endless}")
    elif spoil in ("directory", "link", "pipe"):
        path.unlink()
        {"directory": path.mkdir, "link": lambda: path.symlink_to(aside), "pipe": lambda: os.mkfifo(path)}[
            spoil
        ]()
    else:
        own = {
            "cut": raw[: len(raw) // 2],
            "zeros": bytes(len(raw)),
            "noise": raw[:100] + bytes(range(256)) * 99,
            "bytes": raw.replace(b"metameta", b"met\xffmeta"),
        }
        path.write_bytes(own[spoil])
    assert in_cache(resident) == {}
    assert chunks_of(resident, [1, 2, 3]) == expected
    for _ in range(2):  # the first one may only drop it
        resident.cache_chunks()
    assert chunks_of(resident, [1, 2, 3]) == expected
    assert not aside.exists()


def test_a_python_built_without_sqlite_reads_chunks_from_the_index(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    store, resident = large
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    resident.cache_chunks()
    assert in_cache(resident) == {}
    assert chunks_of(resident, [1, 2, 3]) == chunks_of(store, [1, 2, 3])


def test_what_is_deleted_while_it_is_written_is_written_anew(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    """Else it would begin in the middle, and what comes before would never be written."""
    store, resident = large
    with store.write("test") as db:
        db.execute("INSERT INTO chunks SELECT * REPLACE (100 AS chunk_id) FROM chunks WHERE chunk_id = 1")
    monkeypatch.setattr(content, "_AT_A_TIME", 16)
    with resident.read() as db:
        place = content.fill_cache(db, resident.chunk_cache)
        resident.path.with_name(f"{resident.path.name}.chunks").unlink()
        assert place is not None
        assert content.fill_cache(db, resident.chunk_cache, place) is None
    resident.cache_chunks()
    assert in_cache(resident) == chunks_of(store, [1, 2, 3])


def test_chunks_are_written_anew_where_duckdb_hashes_otherwise(
    large: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
):
    store, resident = large
    with store.write("test") as db:
        db.execute("INSERT INTO chunks SELECT * REPLACE (100 AS chunk_id) FROM chunks WHERE chunk_id = 1")
    resident.cache_chunks()
    for sql in ("_MARK", "_INDEX"):
        monkeypatch.setattr(content, sql, getattr(content, sql).replace("hash(", "hash(1, "))
    assert in_cache(resident) == {}
    resident.cache_chunks()
    assert in_cache(resident) == chunks_of(store, [1, 2, 3])


@pytest.mark.skipif(os.name == "nt", reason="pipes")
def test_a_link_or_pipe_in_the_place_of_vectors_is_left_alone(large: tuple[Store, Store], tmp_path: Path):
    store, resident = large
    expected = answer(store)
    place, aside = resident.path.with_name(f"{resident.path.name}.vectors"), tmp_path / "aside"
    aside.write_bytes(b"own" * 1000)
    for make in (lambda: place.symlink_to(aside), lambda: os.mkfifo(place)):
        make()
        assert [answer(resident) for _ in range(2)] == [expected] * 2
        resident.cache_vectors()
        place.unlink()
    assert aside.read_bytes() == b"own" * 1000


def test_a_memo_that_lasts_keeps_what_was_asked_for_last():
    made: list[int] = []

    def ask(memo: Memo, key: int) -> int:
        return memo.get(key, lambda: made.append(key) or key)

    short = Memo()
    assert [ask(short, 1), ask(short, 1), made] == [1, 1, [1, 1]]
    made.clear()
    lasting = Memo(lasting=True)
    for key in [*range(32), 0, 32, 0, 1]:
        assert ask(lasting, key) == key
    assert made == [*range(33), 1]


def test_a_memo_of_a_large_index_is_bounded_by_its_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memo_module, "_MOST_BYTES", 2_000)
    memo = Memo(lasting=True, vectors=VectorCache(Path("none")))
    made: list[int] = []
    for key in (1, 2, 1, 3, 1, 2):
        memo.get(
            key, lambda key=key: made.append(key) or (np.zeros(900, np.int8), {"a": np.zeros(50, np.int8)})
        )
    assert made == [1, 2, 3, 2]


def test_what_is_pinned_stays():
    memo = Memo(lasting=True)
    memo.pin("a", 1)
    for key in range(100):
        memo.get(key, object)
    assert memo.get("a", lambda: 2) == 1


@pytest.mark.parametrize("few", [0, 8])
def test_texts_of_groups_are_counted_alike_one_by_one_and_all_at_once(tmp_path, monkeypatch, few):
    monkeypatch.setattr(held_texts, "_FEW_GROUPS", few)
    files = {"a.py": BLOB, "b.py": OTHER, "sub/c.py": OTHER}
    store = filled(tmp_path)
    with store.read() as db:
        rows = db.execute(
            "SELECT path, path_id, content_id FROM entries JOIN paths USING (path_id)"
        ).fetchall()
        assert sorted(path.decode() for path, *_ in rows) == sorted(files)
        rows.sort()
        paths, contents = (np.array([row[place] for row in rows], np.int32) for place in (1, 2))
        groups = np.array([0, 1, 2], np.intp)
        every = np.array([0, 1, 1, 1, 1, 1, 1], bool)
        for counted, expected in ((every, [3, 2, 2]), (every[:2], [3, 2, 2]), (~every, [0, 0, 0])):
            found = held_texts.count_by_group(db, paths, contents, groups, counted, Memo())
            assert found.tolist() == expected
        assert held_texts.count_by_group(db, paths[:0], contents[:0], groups[:0], every, Memo()).size == 0
