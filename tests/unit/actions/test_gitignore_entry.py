"""The entry in .gitignore."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.actions.gitignore_entry import IGNORED, ignore_local_files, with_entry
from gitrag.errors import StoreError

ENTRY = IGNORED.encode()
LINES = st.sampled_from(
    [b"", b"*.pyc", b"build/", b"\xff\xfe", b".sdd", b"!.sdd/", b"# .sdd/", b"x\r", b"a\0b"]
)
CONTENTS = st.one_of(st.binary(max_size=60), st.lists(LINES | st.just(ENTRY), max_size=6).map(b"\n".join))


def entries(content: bytes) -> int:
    return sum(line.strip() == ENTRY for line in content.split(b"\n"))


@given(CONTENTS)
def test_the_entry_is_added_once_and_every_other_byte_kept(content: bytes):
    changed = with_entry(content)
    if entries(content):
        assert changed is None
    else:
        assert changed is not None
        missing_end = b"" if not content or content.endswith(b"\n") else b"\n"
        assert changed == content + missing_end + ENTRY + b"\n"
        assert entries(changed) == 1


@given(CONTENTS)
def test_doing_it_again_changes_nothing(content: bytes):
    assert with_entry(with_entry(content) or content) is None


def test_without_a_file_the_file_is_exactly_the_entry():
    assert with_entry(None) == b".sdd/\n"


@pytest.mark.parametrize("content", [b".sdd/", b"a\n.sdd/\nb", b"a\r\n.sdd/\r\n", b"  .sdd/  \n"])
def test_an_entry_anywhere_is_left_alone(content: bytes):
    assert with_entry(content) is None


def test_the_file_is_made_then_left_byte_for_byte(tmp_path: Path):
    path = tmp_path / ".gitignore"
    assert ignore_local_files(tmp_path) == "created"
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino
    assert ignore_local_files(tmp_path) == ""
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_added_to_keeps_its_mode(tmp_path: Path):
    path = tmp_path / ".gitignore"
    path.write_bytes(b"*.pyc\xff")
    path.chmod(0o600)
    assert ignore_local_files(tmp_path) == "added"
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"*.pyc\xff\n.sdd/\n", 0o600)


def test_a_symbolic_link_is_not_followed(tmp_path: Path):
    target = tmp_path / "elsewhere"
    target.write_bytes(b"mine\n")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".gitignore").symlink_to(target)
    with pytest.raises(StoreError, match="symbolic link"):
        ignore_local_files(tmp_path / "repo")
    assert target.read_bytes() == b"mine\n"


def test_a_directory_in_its_place_is_an_error_with_a_way_out(tmp_path: Path):
    (tmp_path / ".gitignore").mkdir()
    with pytest.raises(StoreError, match="Cannot write") as caught:
        ignore_local_files(tmp_path)
    assert IGNORED in caught.value.hint
