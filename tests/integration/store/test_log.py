"""What a killed writer leaves in the index's log: read from there, or done without."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gitrag.store import schema
from gitrag.store.connection import Store, StoreMissingError

KILLED = """
import os, sys
from pathlib import Path
from gitrag.store import schema
from gitrag.store.connection import Store
with Store(Path(sys.argv[1]), recipe="one").write("a test") as db:
    schema.put(db, "word", "late")
    db.execute("COMMIT")
    os._exit(9)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of an index whose writer was killed before the log was put into the file."""
    with Store(tmp_path, recipe="one").write("a test") as db:
        schema.put(db, "word", "early")
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    log = tmp_path / "index.duckdb.wal"
    assert log.stat().st_size > 0
    return log


def words(directory: Path) -> tuple[str | None, str | None, list[str]]:
    """What is read, what is read after a write of something else, and what was said."""
    said: list[str] = []
    store = Store(directory, recipe="one", say=said.append)
    found = []
    for _ in range(2):
        word = None
        with suppress(StoreMissingError), store.read() as db:
            word = schema.read_meta(db).get("word")
        found.append(word)
        with store.write("a test") as db:
            schema.put(db, "other", "x")
    return found[0], found[1], said


def test_what_was_committed_is_there(log):
    assert words(log.parent) == ("late", "late", [])


@pytest.mark.parametrize("resident", [False, True])
def test_it_is_there_for_one_that_only_reads(log, resident):
    store = Store(log.parent, recipe="one", resident=resident)
    for _ in range(3):
        with store.read() as db:
            assert schema.read_meta(db)["word"] == "late"


def test_without_its_log_an_index_is_as_old_as_its_file(log):
    log.unlink()
    assert words(log.parent) == ("early", "early", [])


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize(
    "damage",
    [
        lambda log: log.write_bytes(b""),
        lambda log: log.write_bytes(os.urandom(5000)),
        lambda log: log.write_bytes(log.read_bytes()[: log.stat().st_size // 2]),
        lambda log: log.write_bytes(log.read_bytes()[:-8] + b"\xff" * 8),
        lambda log: (log.unlink(), log.mkdir()),
    ],
    ids=["empty", "noise", "cut short", "another end", "a directory"],
)
def test_with_a_damaged_log_the_next_one_works(log: Path, damage: Callable[[Path], object]):
    """As old as the file, or moved aside and made anew: said once, and never again."""
    damage(log)
    first, second, said = words(log.parent)
    assert (first, second) in {("early", "early"), (None, None)}
    assert len(said) == (first is None)
    assert words(log.parent)[2] == []
