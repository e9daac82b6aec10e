"""Packs in a directory: written whole or not at all, read as anything that others may have put there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitrag.actions.sharing import upkeep
from gitrag.errors import DiskFullError
from gitrag.sharing.catalogue import FOLDER
from gitrag.sharing.directory import Directory
from gitrag.sharing.packs import KEYS, LISTING, ROWS
from gitrag.sharing.place import GoneError, NoPlaceError, SharingError
from tests.support.sharing import Team, make_team, sources

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
from gitrag.actions.sharing import upkeep
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


@pytest.mark.parametrize("where", ["short", "changed", "keys"])
def test_a_damaged_pack_is_left_out_and_put_right_by_who_has_its_texts(team, place, where):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    (name,) = stems(place)
    keys, rows = place / (name + KEYS), place / (name + ROWS)
    good = keys.read_bytes(), rows.read_bytes()
    match where:
        case "short":
            rows.write_bytes(good[1][:-1])
        case "changed":
            rows.write_bytes(good[1][:-1] + bytes([good[1][-1] ^ 1]))
        case _:
            keys.write_bytes(b"x" * len(good[0]))
    pulled = bob.pull()
    assert (pulled.refused, pulled.texts, bob.vectors()) == ([], 0, {})
    (left_out,) = pulled.skipped
    assert left_out.damaged
    assert (left_out.pack, "(fetched 2 times)" in left_out.why) == (name, True)
    assert upkeep.tidy(bob.team(), really=True) == upkeep.Tidied(applied=True)
    assert stems(place) == {name}, "it may have been the way: nobody removes it for that"
    if where == "changed":
        assert ann.push().replaced == 0, "its size is right"
        assert [each.pack for each in upkeep.verify(ann.team()).skipped] == [name]
    pushed = ann.push()
    assert (pushed.texts, pushed.replaced) == (40, 1)
    assert (keys.read_bytes(), rows.read_bytes()) == good
    assert bob.pull().texts == 40
    assert ann.push().replaced == 0


def test_a_damaged_pack_goes_when_others_have_all_that_it_has(team, place):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    (old,) = stems(place)
    (place / (old + ROWS)).write_bytes(b"")
    bob.pull()
    bob.git.commit(sources(300, 1))
    bob.embed()
    pushed = bob.push()
    assert (pushed.texts, pushed.replaced) == (42, 1)
    assert old not in stems(place)
    (new,) = stems(place)
    (place / (new + KEYS)).write_bytes(b"x")
    assert upkeep.tidy(ann.team(), really=True).damaged == 0
    assert upkeep.tidy(ann.team(), really=True, damaged=True).damaged == 1
    assert stems(place) == set()


def test_a_pusher_that_is_killed_leaves_no_name_in_the_listing_without_its_file(place):
    there = Directory(place)
    names = [f"v1-{'0' * 16}-{letter * 64}" for letter in "abc"]
    there.change({name + end: b"x" for name in names[:2] for end in (ROWS, KEYS)}, [])
    script = f"""
import os, signal
from pathlib import Path
from gitrag.sharing.directory import Directory
real, left = Path.unlink, [2]
def unlink(path, missing_ok=False):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    real(path, missing_ok=missing_ok)
Path.unlink = unlink
drop = [name + end for name in {names[:2]!r} for end in (".rows", ".keys")]
Directory(Path({str(place)!r})).change({{"{names[2]}.rows": b"y", "{names[2]}.keys": b"y"}}, drop)
"""
    done = subprocess.run([os.sys.executable, "-c", script], check=False)
    assert done.returncode == -9
    listed = [line.split()[0] for line in (place / LISTING).read_text().splitlines()]
    assert set(listed) <= {path.name for path in place.iterdir()}
    assert names[2] + KEYS in listed


def test_a_link_in_place_of_the_kept_keys_is_not_followed(team, place, tmp_path):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / (NAME + KEYS)).write_text("somebody's")
    (bob.open().store.directory / FOLDER).symlink_to(theirs)
    assert bob.pull().texts == 40
    assert {path.name: path.read_text() for path in theirs.iterdir()} == {NAME + KEYS: "somebody's"}
