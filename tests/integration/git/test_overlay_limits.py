"""What an overlay leaves out, survives and notices."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gitrag.errors import RepositoryError
from gitrag.git import BlobError, Change, Repository, Rules, overlay, working_state
from gitrag.model import Skip, TreeEntry
from tests.support.gitversion import needs_git
from tests.support.repository import blob_id

FILE = 0o100644


def look(repository, **options):
    return overlay(Repository.discover(repository.path), **options)


def change(path, content):
    return Change(path, TreeEntry(path, blob_id(content), FILE))


def test_a_bare_repository_has_no_overlay(make_repository):
    assert look(make_repository(bare=True)).changes == ()


def test_overlays_of_worktrees_are_their_own(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    linked = repository.worktree(tmp_path / "linked")
    linked.write({"a": "2\n"})

    assert look(repository).changes == ()
    assert look(linked).changes == (change("a", b"2\n"),)


def test_seen_from_a_subdirectory_and_whatever_the_users_configuration(make_repository):
    repository = make_repository({"a": "1\n", "sub/b": "1\n"})
    repository.write({"a": "2\n", "sub/new": "n\n", "sub/b": None})
    for key, value in {
        "status.showUntrackedFiles": "no",
        "status.relativePaths": "true",
        "status.renames": "copies",
        "status.branch": "true",
        "core.quotePath": "true",
        "color.status": "always",
    }.items():
        repository.git("config", key, value)

    found = overlay(Repository.discover(repository.file("sub")))
    assert found.changes == (change("a", b"2\n"), Change("sub/b", None), change("sub/new", b"n\n"))


def test_files_over_the_limit_are_not_hashed(make_repository):
    repository = make_repository({"a": "1\n"})
    repository.write({"a": "x" * 11, "b": "y" * 11, "c": "z" * 10})

    found = look(repository, is_too_large=lambda _path, size: size > 10)
    assert found.changes == (
        Change("a", TreeEntry("a", "", FILE), Skip.TOO_LARGE),
        Change("b", TreeEntry("b", "", FILE), Skip.TOO_LARGE),
        change("c", b"z" * 10),
    )
    with pytest.raises(BlobError, match="no content"):
        found.read(found.changes[0].entry)


def test_what_the_rules_leave_out_is_not_hashed(make_repository):
    repository = make_repository({"a.py": "1\n"})
    repository.write({"node_modules/x/index.js": "x\n", "a.py": "2\n", "yarn.lock": "l\n"})

    assert look(repository, skip=Rules.build({}).skip).changes == (
        change("a.py", b"2\n"),
        Change("node_modules/x/index.js", TreeEntry("node_modules/x/index.js", "", FILE), Skip.VENDORED),
        Change("yarn.lock", TreeEntry("yarn.lock", "", FILE), Skip.LOCK_FILE),
    )


def test_a_file_that_cannot_be_read_does_not_stop_the_others(make_repository):
    repository = make_repository({"a": "1\n", "b": "1\n", "c": "1\n"})
    repository.write({"a": "2\n", "b": "longer\n", "c": "2\n", "new": "n\n"})
    repository.file("b").chmod(0)
    if os.access(repository.file("b"), os.R_OK):
        # root reads everything; a filter that must succeed and fails is refused by git in the same way
        repository.git("config", "--global", "filter.broken.clean", "false")
        repository.git("config", "--global", "filter.broken.required", "true")
        repository.write({".git/info/attributes": "b filter=broken\n"})

    assert look(repository).changes == (
        change("a", b"2\n"),
        Change("b", TreeEntry("b", "", FILE), Skip.UNREADABLE),
        change("c", b"2\n"),
        change("new", b"n\n"),
    )


def test_a_nested_repository_is_not_descended_into(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    nested = make_repository({"inner": "x\n"}, name="project/nested")
    nested.write({"dirty": "d\n"})

    assert look(repository).changes == ()


def test_a_submodule_counts_only_when_its_commit_differs(make_repository):
    inner = make_repository({"x": "1\n"}, name="inner")
    repository = make_repository({"a": "1\n"})
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "inner"
    )
    repository.commit()

    repository.write({"inner/x": "2\n", "inner/new": "n\n"})
    assert look(repository).changes == ()

    repository.git("-C", "inner", "add", "-A")
    repository.git("-C", "inner", "commit", "-q", "-m", "Inner")
    commit = repository.git("-C", "inner", "rev-parse", "HEAD")
    assert look(repository).changes == (Change("inner", TreeEntry("inner", commit, 0o160000)),)


def test_pipes_and_sockets_are_passed_over(make_repository):
    repository = make_repository({"a": "1\n"})
    os.mkfifo(repository.file("pipe"))
    repository.write({"a": None})
    os.mkfifo(repository.file("a"))

    assert look(repository).changes == (Change("a", None),)


def test_a_file_changed_since_is_noticed_when_it_is_read(make_repository):
    repository = make_repository({"a": "1\n", "b": "1\n", "c": "1\n", "d": "1\n"})
    repository.write(dict.fromkeys("abcd", "2\n"))
    found = look(repository)
    repository.write({"a": "3\n", "b": None, "c/x": "a directory\n"})
    repository.write({"d": None})
    os.mkfifo(repository.file("d"))

    for changed in found.changes:
        with pytest.raises(BlobError, match="has changed since"):
            found.read(changed.entry)


def test_content_committed_since_is_still_read(make_repository):
    repository = make_repository({"a": "1\n"})
    repository.write({"a": "2\n"})
    found = look(repository)
    repository.commit()
    repository.write({"a": "3\n"})

    assert found.read(found.changes[0].entry) == b"2\n"


def test_a_link_swapped_in_is_not_followed(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    (tmp_path / "secret").write_text("2\n")
    repository.write({"a": "2\n"})
    found = look(repository)
    repository.file("a").unlink()
    repository.file("a").symlink_to(tmp_path / "secret")

    with pytest.raises(BlobError):
        found.read(found.changes[0].entry)


def test_nothing_is_written(make_repository):
    """Neither objects nor the index: a look leaves the repository as it was, conversions included."""
    repository = make_repository({"a": "1\n", "b": "1\n"})
    repository.git("config", "core.autocrlf", "true")
    repository.write({"a": b"2\r\n", "b": b"$Id$\r\n", ".gitattributes": "b ident\n"})
    os.utime(repository.file("a"), (1, 1))
    before = sorted((path, path.stat().st_mtime_ns) for path in repository.path.rglob("*"))

    found = look(repository)
    assert [found.read(changed.entry) for changed in found.changes[1:]] == [b"2\n", b"$Id$\n"]
    assert sorted((path, path.stat().st_mtime_ns) for path in repository.path.rglob("*")) == before


def test_no_hook_and_no_program_of_the_working_tree_runs(make_repository):
    repository = make_repository({"a": "1\n"})
    for hook in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        repository.hook(hook, "touch ran\n")
    attributes = "* text filter=undefined diff=x merge=y\n"
    repository.write({"a": b"2\r\n", "b": "b\n", ".gitattributes": attributes})

    assert [changed.path for changed in look(repository).changes] == [".gitattributes", "a", "b"]
    assert not repository.file("ran").exists()


@needs_git(2, 55, "can switch all configured hooks of an event off")
def test_no_configured_hook_runs(make_repository):
    """They run whatever core.hooksPath says."""
    repository = make_repository({"a": "1\n"})
    repository.git("config", "hook.theirs.command", "touch ran")
    repository.git("config", "hook.theirs.event", "post-index-change")
    repository.write({"a": b"2\r\n", ".gitattributes": "* text\n"})

    assert [changed.path for changed in look(repository).changes] == [".gitattributes", "a"]
    assert not repository.file("ran").exists()


def test_a_look_does_without_libgit2(make_repository):
    """Importing pygit2 takes longer than all the rest of a search on a fresh index."""
    repository = make_repository({"a": "1\n"})
    repository.write({"a": b"2\n", "b": "b\n"})
    script = """
import sys
from pathlib import Path
from gitrag.git import Repository, Rules, content_skip, overlay
found = Repository.discover(Path(sys.argv[1]))
layer = overlay(found, skip=Rules.build({}).skip)
print([content_skip(layer.read(change.entry), change.path, 100) for change in layer.changes])
print("pygit2" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, repository.path], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[None, None]\nFalse\n"


def test_a_damaged_index_is_an_error_that_says_so(make_repository):
    repository = make_repository({"a": "1\n"})
    (repository.path / ".git/index").write_bytes(b"DIRC garbage")

    with pytest.raises(RepositoryError, match="git status fails"):
        look(repository)


def test_a_commit_between_reading_head_and_the_status_is_noticed(make_repository):
    repository = make_repository({"a": "1\n"})
    found = Repository.discover(repository.path)
    head = found.head()
    repository.commit({"a": "2\n"})
    repository.write({"a": "3\n"})

    state = working_state(found, head)
    assert state[0].tree == repository.tree()
    assert overlay(found, state).changes == (change("a", b"3\n"),)


def test_changes_tell_states_apart(make_repository):
    repository = make_repository({"a": "1\n", "b": "1\n"})
    seen = [look(repository).changes]
    for step in ({"a": "2\n"}, {"a": "3\n"}, {"b": None}, {"new": "n\n"}, {"a": "1\n"}):
        repository.write(step)
        seen.append(look(repository).changes)
    repository.file("new").chmod(0o755)
    seen.append(look(repository).changes)

    assert len(set(seen)) == len(seen)
    assert look(repository).changes == seen[-1]


def test_a_thousand_untracked_files_with_odd_names(make_repository):
    repository = make_repository({"a": "1\n"})
    names = [b"d%d/\xff%d \n'%d" % (n % 7, n, n) for n in range(1000)]
    repository.write({name: name for name in names})

    expected = {os.fsdecode(name): blob_id(name) for name in names}
    assert {changed.path: changed.entry.blob for changed in look(repository).changes} == expected
