"""Packs in a directory: written whole or not at all, read as anything that others may have put there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitrag.errors import DiskFullError
from gitrag.sharing.catalogue import FOLDER
from gitrag.sharing.directory import LISTING, Directory
from gitrag.sharing.packs import KEYS, ROWS
from gitrag.sharing.place import GoneError, NoPlaceError, SharingError
from tests.support.sharing import Team, make_team

NAME = "v1-" + "0" * 16 + "-" + "a" * 64


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "packs").mkdir()
    return tmp_path / "packs"


@pytest.fixture
def team(tmp_path, model_dir, place) -> Team:
    return make_team(tmp_path, model_dir, place.as_uri())


def test_files_are_listed_for_readers_over_http(place):
    there = Directory(place)
    there.change({NAME + ROWS: b"rows", NAME + KEYS: b"keys."}, [])
    assert there.list() == {NAME + ROWS: 4, NAME + KEYS: 5}
    assert (place / LISTING).read_text() == f"{NAME}.keys 5\n{NAME}.rows 4\n"
    there.change({}, [NAME + ROWS, NAME + KEYS, NAME + "x"])
    assert [path.name for path in place.iterdir()] == [LISTING]
    assert (place / LISTING).read_text() == ""


def test_whoever_may_read_the_directory_may_read_its_files(place):
    for mode, expected in ((0o755, 0o644), (0o750, 0o640), (0o700, 0o600)):
        place.chmod(mode)
        Directory(place).change({NAME + KEYS: bytes(mode)}, [])
        assert (place / (NAME + KEYS)).stat().st_mode & 0o777 == expected


def test_a_file_that_was_cut_short_is_written_again(place):
    (place / (NAME + KEYS)).write_bytes(b"ke")
    Directory(place).change({NAME + KEYS: b"keys"}, [])
    assert Directory(place).get(NAME + KEYS, 4) == b"keys"


def test_what_is_no_file_is_neither_listed_nor_waited_for(place, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (place / (NAME + KEYS)).symlink_to(tmp_path / "secret")
    os.mkfifo(place / (NAME + ROWS))
    (place / "notes.txt").write_text("mine")
    there = Directory(place)
    assert there.list() == {}
    with pytest.raises(NoPlaceError):
        there.get(NAME + KEYS, 100)
    with pytest.raises(SharingError, match="is not a file"):
        there.get(NAME + ROWS, 100)
    with pytest.raises(GoneError):
        there.get("v1", 100)


def test_what_is_too_large_is_not_read(place):
    (place / (NAME + KEYS)).write_bytes(bytes(101))
    with pytest.raises(SharingError, match="larger than 100 bytes"):
        Directory(place).get(NAME + KEYS, 100)


def test_a_directory_that_is_not_there_is_said(tmp_path):
    with pytest.raises(NoPlaceError, match="There is no directory"):
        Directory(tmp_path / "missing").list()
    (tmp_path / "file").touch()
    with pytest.raises(NoPlaceError, match="There is no directory"):
        Directory(tmp_path / "file").change({NAME + KEYS: b"x"}, [])


def test_a_full_directory_is_said_and_nothing_is_half_written(tmp_path):
    """A disk of 64 kB, in a namespace of its own."""
    script = f"""
import sys
from pathlib import Path
from gitrag.errors import DiskFullError
from gitrag.sharing.directory import Directory
place = Path({str(tmp_path)!r})
there = Directory(place)
there.change({{"{NAME}.keys": bytes(10)}}, [])
try:
    there.change({{"{NAME}.rows": bytes(1 << 20)}}, [])
except DiskFullError as error:
    print(error, [path.name for path in place.iterdir() if path.name != "packs.txt"])
"""
    python = str(Path(os.sys.executable))
    mount = f'mount -t tmpfs -o size=64k none "$0" && exec "{python}" -c "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, tmp_path, script],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no disk of one's own can be mounted here")
    assert done.stdout.strip() == f"No space left on the disk that holds {tmp_path}. ['{NAME}.keys']", (
        done.stderr
    )
    assert DiskFullError.exit_code == 75


def stems(place: Path) -> set[str]:
    return {path.name.rpartition(".")[0] for path in place.glob("v*")}


def test_damaged_packs_are_refused_and_the_others_used(team, place):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    (name,) = stems(place)
    rows = place / (name + ROWS)
    good = rows.read_bytes()
    rows.write_bytes(good[:-1])
    (refusal,) = bob.pull().refused
    assert "bytes of vectors" in refusal.why
    bob.team().ledger.path.unlink()
    rows.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert "damaged" in bob.pull().refused[0].why
    bob.team().ledger.path.unlink()
    (bob.open().store.directory / FOLDER / (name + KEYS)).unlink()
    (place / (name + KEYS)).write_bytes(b"x")
    assert "cut short" in bob.pull().refused[0].why
    assert bob.vectors() == {}
