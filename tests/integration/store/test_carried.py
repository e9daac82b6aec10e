"""Vectors are carried over to the index of another recipe: real files, and processes that end early."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest

from gitrag.indexing import recipe
from gitrag.store import garbage, shared, vectors
from gitrag.store.connection import Store, StoreMissingError
from gitrag.store.garbage import Keep
from tests.integration.store.filling import BLOB, OTHER, copy_filled, fill, key, unit
from tests.support.indexes import open_app

OLD, NEW = (f"chunker {number}, encoder small/1, layout 1" for number in (1, 2))
PIECES = [("f", "first", [1]), ("g", "second", [2]), ("h", "third", [3])]


def open_store(directory: Path, recipe: str = NEW, said: list[str] | None = None) -> Store:
    return Store(directory, recipe=recipe, say=(lambda _: None) if said is None else said.append)


def embedded(directory: Path, recipe: str = OLD) -> Store:
    """An index of which two texts have vectors, one of them a pack's, and one could not be embedded."""
    copy_filled(_fill, directory, recipe)
    return open_store(directory, recipe)


def _fill(store: Store) -> None:
    fill(store, {"a.py": BLOB}, {BLOB: PIECES})
    with store.write("test") as db:
        ids = [
            text_id for (text_id,) in db.execute("SELECT text_id FROM chunks ORDER BY chunk_id").fetchall()
        ]
        vectors.write(db, ids[:1], unit(1, 7))
        shared.take(db, np.array(ids[1:2], np.int32), vectors.shrink(unit(1, 8)), "pack")
        vectors.settle_for_drafts(db, {ids[2]: "too odd"})


def known(store: Store) -> dict[bytes, bytes]:
    with store.read() as db:
        return dict(db.execute("SELECT key, vector FROM texts JOIN vectors USING (text_id)").fetchall())


def expected() -> dict[bytes, bytes]:
    return {
        key(text): vectors.shrink(unit(1, seed)).tobytes() for text, seed in (("first", 7), ("second", 8))
    }


def test_only_what_the_model_computed_is_carried_over(tmp_path: Path):
    embedded(tmp_path)
    said: list[str] = []
    store = open_store(tmp_path, said=said)
    with store.write("test") as db:
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (0,)
    assert known(store) == expected()
    assert said == [
        "The index was made by another version of gitrag; building it again; its vectors are kept."
    ]
    assert [path.name for path in tmp_path.glob("*.duckdb*")] == ["index.duckdb"]


def test_a_text_that_is_cut_again_has_its_vector_and_no_draft(tmp_path: Path):
    embedded(tmp_path)
    store = open_store(tmp_path)
    fill(store, {"b.py": OTHER}, {OTHER: [*PIECES, ("i", "fourth", [4])]})
    with store.read() as db:
        rows = db.execute(
            "SELECT key FROM drafts JOIN texts USING (text_id) WHERE key NOT IN (SELECT ?)", [key("pb.py")]
        )
        assert sorted(own for (own,) in rows.fetchall()) == sorted([key("third"), key("fourth")])
        given = db.execute("SELECT key, pack FROM taken JOIN texts USING (text_id)").fetchall()
    assert given == [(key("second"), "pack")]
    assert expected().items() <= known(store).items()


def test_what_nothing_has_is_kept_as_long_as_anything_is(tmp_path: Path):
    """A worktree that is not looked at until later may have it."""
    embedded(tmp_path)
    store = open_store(tmp_path)
    fill(store, {"b.py": OTHER}, {OTHER: [PIECES[0]]})
    left = [expected(), {key("first"): expected()[key("first")]}]
    for since_s, kept in zip((time.time() - 60, time.time() + 60), left, strict=True):
        with store.write("test") as db:
            garbage.mark(db, Keep([""], "", since_s))
            garbage.sweep(db, Keep([""], "", since_s))
        assert known(store) == kept


def test_versions_that_are_used_in_turn_keep_each_others_vectors(tmp_path: Path):
    embedded(tmp_path)
    for turn in range(4):
        mine, other = (
            f"chunker {1 + own}, encoder small/1, layout {2 - own}" for own in (turn % 2, 1 - turn % 2)
        )
        store = open_store(tmp_path, mine)
        fill(store, {"b.py": OTHER}, {OTHER: [(mine, mine, [1])]})
        with store.write("test") as db:
            rows = db.execute(
                "SELECT text_id FROM drafts JOIN texts USING (text_id) WHERE key = ?", [key(mine)]
            )
            ids = [text_id for (text_id,) in rows.fetchall()]
            assert len(ids) == (turn < 2)
            vectors.write(db, ids, unit(len(ids), 9))
    assert {*expected(), key(mine), key(other)} <= known(store).keys()


@pytest.mark.parametrize("recipe", ["chunker 2, encoder large/1, layout 1", "chunker 2", "anything"])
def test_vectors_of_another_encoder_are_not_carried_over(tmp_path: Path, recipe: str):
    embedded(tmp_path)
    said: list[str] = []
    with open_store(tmp_path, recipe, said).write("test"):
        pass
    assert known(open_store(tmp_path, recipe)) == {}
    assert said == ["The index was made by another version of gitrag; building it again."]


ODD = {
    "a vector cut short": ("UPDATE vectors SET vector = vector[:383] WHERE text_id = 2", 1),
    "no vector": ("UPDATE vectors SET vector = NULL WHERE text_id = 2", 1),
    "no signs": ("UPDATE vectors SET b5 = NULL WHERE text_id = 2", 1),
    "a short key": ("UPDATE texts SET key = 'a'::BLOB WHERE text_id = 2", 1),
    "two vectors": ("INSERT INTO vectors FROM vectors WHERE text_id = 2", 1),
    "a key twice": ("INSERT INTO texts SELECT 99, key FROM texts", 2),
    "an id that no text has": (
        "UPDATE texts SET text_id = -3 WHERE text_id = 3; UPDATE vectors SET text_id = -3 WHERE text_id = 3",
        2,
    ),
    "more than the file has room for": (
        "INSERT INTO vectors SELECT range, '', 0, 0, 0, 0, 0, 0 FROM range(90000)",
        0,
    ),
    "a view": ("ALTER TABLE vectors RENAME TO other; CREATE VIEW vectors AS FROM other", 0),
    "no table": ("DROP TABLE taken", 0),
    "other columns": ("ALTER TABLE vectors DROP b5", 0),
    "text": ("ALTER TABLE texts ALTER key TYPE VARCHAR USING 'a'", 0),
}


@pytest.mark.parametrize("harm", ODD)
def test_what_an_older_file_has_is_not_believed(tmp_path: Path, harm: str):
    embedded(tmp_path)
    sql, count = ODD[harm]
    with duckdb.connect(tmp_path / "index.duckdb") as db:
        db.execute(sql)
    store = open_store(tmp_path)
    fill(store, {"b.py": OTHER}, {OTHER: PIECES})
    found = known(store)
    assert len(found) == count
    assert found.items() <= expected().items()
    with store.read() as db:
        assert db.execute("SELECT min(text_id) > 0 AND max(text_id) < 9 FROM texts").fetchone() == (True,)


def test_a_file_with_overwritten_blocks_is_built_from_nothing(tmp_path: Path):
    store = embedded(tmp_path)
    with store.write("test") as db:
        ids = [*range(1000, 4000)]
        db.executemany("INSERT INTO texts VALUES (?, ?)", [(each, key(str(each))) for each in ids])
        vectors.write(db, ids, unit(len(ids), 1))
    data = bytearray(store.path.read_bytes())
    for start in range(256 << 10, len(data) - (256 << 10), 4096):
        data[start : start + 64] = os.urandom(64)
    store.path.write_bytes(data)
    fill(open_store(tmp_path), {"b.py": OTHER}, {OTHER: PIECES})
    assert known(open_store(tmp_path)) == {}


KILLED = """
import os, signal, sys
from pathlib import Path
from gitrag.store import connection

def dying(function, first):
    def act(*given):
        if not first:
            function(*given)
        os.kill(os.getpid(), signal.SIGKILL)
    return act

name = sys.argv[2]
owner = Path if name == "replace" else connection
setattr(owner, name, dying(getattr(owner, name), sys.argv[3] == "before"))
with connection.Store(Path(sys.argv[1]), recipe=sys.argv[4]).write("test"):
    pass
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["carry", "put_on_disk", "replace"])
def test_a_process_that_is_killed_meanwhile_loses_no_vector(tmp_path: Path, step: str, moment: str):
    embedded(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path, step, moment, NEW], check=False)
    assert killed.returncode == -signal.SIGKILL
    store = open_store(tmp_path)
    fill(store, {"b.py": OTHER}, {OTHER: PIECES})
    assert expected().items() <= known(store).items()
    assert [path.name for path in tmp_path.glob("*.duckdb*")] == ["index.duckdb"]


WRITES = """
import sys
from pathlib import Path
from gitrag.store.connection import Store
with Store(Path(sys.argv[1]), recipe=sys.argv[2]).write("test") as db:
    print(db.execute("SELECT count(*) FROM vectors").fetchone()[0])
"""


def test_processes_at_once_carry_over_once(tmp_path: Path):
    embedded(tmp_path)
    command = [sys.executable, "-c", WRITES, tmp_path, NEW]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == ["2\n"] * 3
    assert known(open_store(tmp_path)) == expected()


def test_the_vectors_of_an_index_that_is_only_read_are_carried_over(tmp_path: Path):
    seed, own = tmp_path / "seed", tmp_path / "own"
    embedded(seed)
    before = (seed / "index.duckdb").read_bytes()
    store = Store(own, recipe=NEW, seed=seed)
    with pytest.raises(StoreMissingError), store.read():
        pass
    fill(store, {"b.py": OTHER}, {OTHER: PIECES})
    assert expected().items() <= known(store).items()
    assert (seed / "index.duckdb").read_bytes() == before


@pytest.mark.parametrize("harm", [None, "ALTER TABLE vectors DROP b5"])
def test_an_index_that_is_held_in_memory_has_the_vectors_too(tmp_path: Path, harm: str | None):
    embedded(tmp_path)
    if harm:
        with duckdb.connect(tmp_path / "index.duckdb") as db:
            db.execute(harm)
    store = open_store(tmp_path)
    assert store.hold()
    assert known(store) == ({} if harm else expected())


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_where_the_disk_has_no_room_for_both_the_older_one_makes_room(tmp_path: Path):
    store = embedded(tmp_path / "large")
    with store.write("test") as db:
        db.execute("INSERT INTO texts SELECT range, md5(range::VARCHAR)[:16]::BLOB FROM range(1000, 11000)")
        vectors.write(db, range(1000, 11000), unit(10_000, 1))
    small = tmp_path / "small"
    small.mkdir()
    size = f"size={store.path.stat().st_size + (1 << 20)}"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", small], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        (small / "index.duckdb").write_bytes(store.path.read_bytes())
        fill(open_store(small), {"b.py": OTHER}, {OTHER: PIECES})
        assert known(open_store(small)) == {}
        assert [path.name for path in small.glob("*.duckdb*")] == ["index.duckdb"]
    finally:
        subprocess.run(["umount", small], check=True)


def test_an_upgrade_embeds_only_what_is_new_in_any_worktree(
    make_repository, model_dir, monkeypatch, tmp_path
):
    project = make_repository(
        {"a.py": "def lift_anchor():\n    return chain\n", "b.py": "def fold_map(): pass\n"}
    )
    project.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    project.git("worktree", "add", "-b", "side", str(tmp_path / "side"))
    side = type(project)(tmp_path / "side", project.environment, project.ticks)
    side.commit({"c.py": "def ring_bell(): pass\n"})
    counted = []
    for version in range(2):
        monkeypatch.setattr(recipe, "CHUNKER_VERSION", recipe.CHUNKER_VERSION + version)
        for tree in (project, side):
            opened = open_app(tree)
            opened.update()
            counted.append(opened.embed())
    project.commit({"b.py": "def fold_map(): pass\n\n\ndef draw_map(): pass\n"})
    monkeypatch.setattr(recipe, "CHUNKER_VERSION", recipe.CHUNKER_VERSION + 1)
    opened = open_app(project)
    opened.update()
    assert counted[0] > counted[1] > 0
    assert (counted[2:], opened.embed()) == ([0, 0], 1)


def damage(path: Path, table: str) -> None:
    """Overwrite a part of a block that only the texts of a table are in."""
    with duckdb.connect(path, read_only=True) as db:
        tables = [name for (name,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        of = {
            name: {
                block
                for (block,) in db.execute(
                    "SELECT block_id FROM pragma_storage_info(?) WHERE block_id >= 0", [name]
                ).fetchall()
            }
            for name in tables
        }
    [block, *_] = of[table].difference(*(blocks for name, blocks in of.items() if name != table))
    with path.open("r+b") as file:
        file.seek(3 * 4096 + block * (1 << 18) + 1000)
        file.write(os.urandom(64))


def large(directory: Path) -> Store:
    """An index with two vectors, and chunks that take several blocks of the file."""
    store = embedded(directory, NEW)
    fill(store, {"b.py": OTHER}, {OTHER: [(f"f{i}", os.urandom(3000).hex(), [i]) for i in range(200)]})
    return store


@pytest.mark.parametrize("found_by", ["read", "write"])
def test_of_a_damaged_index_the_vectors_are_kept(tmp_path: Path, found_by: str):
    damage(large(tmp_path).path, "chunks")
    said: list[str] = []
    store = open_store(tmp_path, said=said)
    with (
        pytest.raises(StoreMissingError),
        store.read() if found_by == "read" else store.write("test") as db,
    ):
        db.execute("SELECT max(text) FROM chunks").fetchall()
    [line] = said
    assert line.startswith("The index was damaged (its checksums do not match)")
    assert line.endswith("; its vectors are kept.")
    assert known(open_store(tmp_path)) == expected()


def test_of_an_index_whose_vectors_are_damaged_nothing_is_kept(tmp_path: Path):
    store = large(tmp_path)
    with store.write("test") as db:
        ids = [text_id for (text_id,) in db.execute("SELECT text_id FROM drafts").fetchall()]
        vectors.write(db, ids, unit(len(ids), 9))
    damage(store.path, "vectors")
    said: list[str] = []
    store = open_store(tmp_path, said=said)
    with pytest.raises(StoreMissingError), store.read() as db:
        db.execute("SELECT max(vector) FROM vectors").fetchall()
    assert (said[0].endswith(".duckdb."), store.exists()) == (True, False)
