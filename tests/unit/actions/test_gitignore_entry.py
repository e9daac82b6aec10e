"""The entry in .gitignore."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.actions.gitignore_entry import IGNORED, ignore_local_files, with_entry, without_entry
from gitrag.errors import StoreError
from gitrag.git import Repository

ENTRY = IGNORED.encode()
LINES = st.sampled_from(
    [b"", b"*.pyc", b"build/", b"\xff\xfe", b".sdd", b"!.sdd/", b"# .sdd/", b"x\r", b"a\0b"]
)
CONTENTS = st.one_of(st.binary(max_size=60), st.lists(LINES | st.just(ENTRY), max_size=6).map(b"\n".join))


def entries(content: bytes) -> int:
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return sum(line.removesuffix(b"\r").rstrip(b" ") == ENTRY for line in lines)


@given(CONTENTS)
def test_the_entry_is_added_once_and_every_other_byte_kept(content: bytes):
    changed = with_entry(content, ignored=True)
    if entries(content):
        assert changed is None
    else:
        assert changed is not None
        missing_end = b"" if not content or content.endswith(b"\n") else b"\n"
        assert changed == content + missing_end + ENTRY + b"\n"
        assert entries(changed) == 1


@given(CONTENTS)
def test_doing_it_again_changes_nothing(content: bytes):
    assert with_entry(with_entry(content, ignored=True) or content, ignored=True) is None


@given(CONTENTS)
def test_what_was_added_is_taken_out_again(content: bytes):
    changed = with_entry(content, ignored=False)
    assert changed is not None
    missing_end = b"" if not content or content.endswith(b"\n") else b"\n"
    assert without_entry(changed) == ((content + missing_end) or None)


@pytest.fixture
def place(make_repository):
    """Put the entry into a repository's .gitignore."""
    git = make_repository({"a.py": "a = 1\n"})

    def put_in() -> str:
        return ignore_local_files(Repository.discover(git.path), git.path)

    return git, git.path / ".gitignore", put_in


@pytest.mark.parametrize(
    "content",
    [b".sdd/", b"a\n.sdd/\nb", b"a\r\n.sdd/\r\n", b".sdd/  \n", b"\xef\xbb\xbf.sdd/\n", b".sdd/\n.sdd\n"],
)
def test_an_entry_anywhere_is_left_alone(place, content: bytes):
    _git, path, put_in = place
    path.write_bytes(content)
    assert put_in() == ""
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content",
    [b"  .sdd/", b".sdd/\t\n", b".sdd/\n!.sdd/\n", b"# .sdd/\n", b"\\.sdd/x\n", b".sdd/\r\r\n", b".sdd"],
)
def test_git_is_asked_not_the_text(place, content: bytes):
    """What only looks like the entry keeps no private issue out of a commit."""
    git, path, put_in = place
    path.write_bytes(content)
    assert put_in() == "added"
    assert path.read_bytes() == content + (b"" if content.endswith(b"\n") else b"\n") + b".sdd/\n"
    assert put_in() == ""
    git.write({".sdd/issues/1.md": "private\n"})
    git.git("add", "--all")
    assert ".sdd" not in git.git("ls-files")


def test_where_the_entry_is_of_no_use_it_is_not_added_again_and_again(place, tmp_path):
    git, path, put_in = place
    (git.path / ".sdd").symlink_to(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"git does not ignore \.sdd/"):
            put_in()
    assert path.read_bytes() == b".sdd/\n"


def test_the_file_is_made_then_left_byte_for_byte(place):
    _git, path, put_in = place
    assert put_in() == "created"
    assert path.read_bytes() == b".sdd/\n"
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino
    assert put_in() == ""
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_a_file_that_is_added_to_keeps_its_mode(place):
    _git, path, put_in = place
    path.write_bytes(b"*.pyc\xff")
    path.chmod(0o600)
    assert put_in() == "added"
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"*.pyc\xff\n.sdd/\n", 0o600)


def test_a_symbolic_link_is_not_followed(place, tmp_path: Path):
    _git, path, put_in = place
    target = tmp_path / "elsewhere"
    target.write_bytes(b"mine\n")
    path.symlink_to(target)
    with pytest.raises(StoreError, match="symbolic link"):
        put_in()
    assert target.read_bytes() == b"mine\n"


def test_a_directory_in_its_place_is_an_error_with_a_way_out(place):
    _git, path, put_in = place
    path.mkdir()
    with pytest.raises(StoreError, match="Cannot write") as caught:
        put_in()
    assert IGNORED in caught.value.hint
