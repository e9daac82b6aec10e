"""The overlay on HEAD's tree equals what `git add --all` on a copy of the index would write."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gitrag.errors import RepositoryError
from gitrag.git import Repository, overlay
from gitrag.git.overlay import working_state
from tests.support.repository import GitRepository, Link, noting_git

BASE = {
    "a.py": "a = 1\n",
    "b.py": "b = 1\n",
    "dir/c.py": "c = 1\n",
    "dir/sub/d.py": "d = 1\n",
    "run.sh": "#!/bin/sh\n",
    "link": Link("a.py"),
    ".gitignore": "*.log\nout/\n",
}


def listing(repository: GitRepository, tree: str) -> dict[str, tuple[int, str]]:
    found = {}
    for record in repository.git("ls-tree", "-r", "-z", "--full-tree", tree).split("\0")[:-1]:
        facts, _, path = record.partition("\t")
        mode, _, oid = facts.split(" ")
        found[path] = int(mode, 8), oid
    return found


def truth(repository: GitRepository) -> tuple[dict[str, tuple[int, str]], dict[str, bytes]]:
    """What `git add --all` makes of the working tree, on a copy of the index; and the contents."""
    git_dir = Path(repository.git("rev-parse", "--absolute-git-dir"))
    index = {"GIT_INDEX_FILE": str(git_dir / "oracle-index")}
    if (git_dir / "index").exists():
        # with its time: an entry no older than the index is looked at again
        shutil.copy2(git_dir / "index", index["GIT_INDEX_FILE"])
    repository.git("add", "--all", "--sparse", env=index)
    tree = listing(repository, repository.git("write-tree", env=index))
    contents = {
        path: repository.git("cat-file", "-p", oid).encode("utf-8", "surrogateescape")
        for path, (mode, oid) in tree.items()
        if mode != 0o160000
    }
    return tree, contents


def applied(repository: GitRepository) -> tuple[dict[str, tuple[int, str]], dict[str, bytes]]:
    """HEAD's tree with the overlay on it; and the contents the overlay reads."""
    # the overlay first: the oracle writes objects that would hide a missing conversion
    found = Repository.discover(repository.path)
    layer = overlay(found)
    tree = {entry.path: (entry.mode, entry.blob) for entry in found.entries(layer.head.tree)}
    contents = {}
    for change in layer.changes:
        if change.entry is None:
            tree.pop(change.path, None)
        else:
            assert change.skip is None
            was, now = tree.get(change.path), (change.entry.mode, change.entry.blob)
            # of a path in conflict git does not say what HEAD has
            assert now != was or repository.git("ls-files", "-u", "--", change.path), (
                f"{change.path} is HEAD's"
            )
            tree[change.path] = now
            if change.entry.mode != 0o160000:
                contents[change.path] = layer.read(change.entry).removesuffix(b"\n")
    return tree, contents


def assert_exact(repository: GitRepository) -> None:
    tree, contents = applied(repository)
    true_tree, true_contents = truth(repository)
    assert tree == true_tree
    assert contents == {path: true_contents[path] for path in contents}


def clean(repository):
    pass


def modified(repository):
    repository.write({"a.py": "a = 2\n", "dir/sub/d.py": ""})


def staged(repository):
    repository.write({"a.py": "a = 2\n", "new.py": "n\n"})
    repository.git("add", "--all")


def staged_and_modified_again(repository):
    staged(repository)
    repository.write({"a.py": "a = 3\n", "new.py": "m\n"})


def staged_and_reverted(repository):
    staged(repository)
    repository.write({"a.py": "a = 1\n"})


def staged_and_deleted(repository):
    staged(repository)
    repository.write({"a.py": None, "new.py": None})


def deleted(repository):
    repository.write({"a.py": None, "dir": None})


def removed(repository):
    repository.git("rm", "-q", "a.py", "dir/c.py")


def removed_from_the_index_only(repository):
    repository.git("rm", "-q", "--cached", "a.py", "dir/c.py")
    repository.write({"dir/c.py": "other\n"})


def removed_from_the_index_and_ignored(repository):
    repository.git("rm", "-q", "--cached", "a.py")
    repository.write({".gitignore": "a.py\n"})


def renamed(repository):
    repository.git("mv", "a.py", "z.py")
    repository.git("mv", "dir", "folder")


def untracked(repository):
    repository.write(
        {"new/deep/x.py": "x\n", "y.log": "no\n", "out/z": "no\n", "empty": "", "l": Link("gone")}
    )


def executable(repository):
    repository.file("run.sh").chmod(0o755)
    repository.write({"tool": "#!/bin/sh\n"})
    repository.file("tool").chmod(0o755)


def modes_not_trusted(repository):
    repository.git("config", "core.fileMode", "false")
    executable(repository)


def file_to_link(repository):
    repository.write({"a.py": Link("b.py"), "link": "a file\n"})


def file_to_directory(repository):
    repository.write({"a.py/inner.py": "x\n", "dir": "a file\n"})


def directory_to_link(repository):
    repository.write({"dir": None, "elsewhere/c.py": "c = 1\n"})
    repository.write({"dir": Link("elsewhere")})


def case_only_rename(repository):
    repository.git("mv", "a.py", "A.py")
    repository.file("b.py").rename(repository.file("B.py"))


def intent_to_add(repository):
    repository.write({"new.py": "n\n", "gone.py": "g\n"})
    repository.git("add", "-N", "new.py", "gone.py")
    repository.write({"gone.py": None})


def assumed_unchanged(repository):
    repository.git("update-index", "--assume-unchanged", "a.py")
    repository.write({"a.py": "a = 2\n"})


def skipped_worktree(repository):
    repository.git("update-index", "--skip-worktree", "a.py")
    repository.write({"a.py": None})


def sparse(repository):
    repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/dir/")
    repository.write({"b.py": "b = 2\n"})


def sparse_with_something_staged_outside(repository):
    oid = repository.git("hash-object", "-w", "--stdin", stdin=b"staged, not checked out\n")
    sparse(repository)
    repository.git("update-index", "--cacheinfo", f"100644,{oid},dir/c.py")
    repository.git("update-index", "--skip-worktree", "dir/c.py")


def sparse_but_there_and_changed(repository):
    sparse(repository)
    repository.write({"dir/c.py": "c = 2\n"})


def sparse_index(repository):
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "dir")
    repository.write({"dir/c.py": "c = 2\n"})


def split_index(repository):
    repository.git("update-index", "--split-index")
    modified(repository)


def odd_names(repository):
    names = [
        b" leading",
        b"trailing ",
        b"-dash",
        b"caf\xe9",
        b'quo"te',
        b'"quoted"',
        b"new\nline",
        b"tab\t",
        b"cr\r",
    ]
    repository.write({name: b"content of " + name for name in names})
    repository.git("add", "--", ":(literal)-dash", b"caf\xe9", b"new\nline")
    repository.write(
        {b"caf\xe9": "changed\n", b"new\nline": "changed\n", "back\\slash": "b\n", "sn\u2603w": "s\n"}
    )


def merge_conflict(repository):
    repository.git("checkout", "-q", "-b", "other")
    repository.commit({"a.py": "a = 'other'\n", "b.py": None, "added.py": "theirs\n"})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.py": "a = 'main'\n", "b.py": "b = 'main'\n", "added.py": "ours\n"})
    repository.git("merge", "-q", "other", check=False)


def merge_conflict_resolved_in_the_tree_only(repository):
    merge_conflict(repository)
    repository.write({"a.py": "a = 'both'\n", "b.py": None})


def empty_repository_with_files(repository):
    repository.git("checkout", "-q", "--orphan", "fresh")
    repository.git("rm", "-q", "-r", "--cached", ".")


def crlf_and_text_auto(repository):
    repository.write({".gitattributes": "* text=auto\n*.bat eol=crlf\n*.bin -text\n"})
    repository.write(dict.fromkeys(("a.py", "n.txt", "x.bat", "y.bin", "l\nf"), b"one\r\ntwo\r\n"))
    repository.write({"mixed": b"one\r\ntwo\n", "z": b"nul\0\r\n"})


def crlf_by_configuration(repository):
    repository.git("config", "core.autocrlf", "true")
    repository.write({"a.py": b"a = 2\r\n", "n.txt": b"n\r\n"})


def crlf_committed_before_text_auto(repository):
    repository.commit({"old.txt": b"one\r\ntwo\r\n"})
    repository.git("config", "core.autocrlf", "true")
    repository.write({"old.txt": b"one\r\ntwo\r\nthree\r\n", "b.py": b"b = 2\r\n"})


def crlf_and_safecrlf(repository):
    repository.write({".gitattributes": "*.txt text\n", "n.txt": b"one\r\ntwo\n", "a.py": "2\n"})


def changed_within_the_clocks_tick(repository):
    """Same size, same time, and only the index's own time tells git to look again."""
    repository.git("config", "core.autocrlf", "true")
    repository.git("config", "core.trustCtime", "false")
    tick = (1_700_000_000, 1_700_000_000)
    repository.write({"a.py": b"a = 2\r\n"})
    os.utime(repository.file("a.py"), tick)
    repository.git("add", "a.py")
    repository.file("a.py").write_bytes(b"a = 3\r\n")
    os.utime(repository.file("a.py"), tick)
    os.utime(repository.path / ".git/index", tick)


def ident(repository):
    repository.write(
        {".gitattributes": "*.py ident\n", "a.py": "# $Id: 0123456789 $\n", "n.py": "$Id: x $\n"}
    )


def encoding(repository):
    text = "één\n".encode("utf-16")
    repository.write({".gitattributes": "*.u16 working-tree-encoding=UTF-16\n", "n.u16": text})


def clean_filter(repository):
    repository.git("config", "--global", "filter.upper.clean", "tr a-z A-Z")
    repository.write(
        {".gitattributes": "*.up filter=upper\na.py filter=upper\n", "a.py": "x\n", "n.up": "n\n"}
    )


STATES = [
    clean,
    modified,
    staged,
    staged_and_modified_again,
    staged_and_reverted,
    staged_and_deleted,
    deleted,
    removed,
    removed_from_the_index_only,
    removed_from_the_index_and_ignored,
    renamed,
    untracked,
    executable,
    modes_not_trusted,
    file_to_link,
    file_to_directory,
    directory_to_link,
    case_only_rename,
    intent_to_add,
    assumed_unchanged,
    skipped_worktree,
    sparse,
    sparse_with_something_staged_outside,
    sparse_but_there_and_changed,
    sparse_index,
    split_index,
    odd_names,
    merge_conflict,
    merge_conflict_resolved_in_the_tree_only,
    empty_repository_with_files,
    crlf_and_text_auto,
    crlf_by_configuration,
    crlf_committed_before_text_auto,
    crlf_and_safecrlf,
    changed_within_the_clocks_tick,
    ident,
    encoding,
    clean_filter,
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_overlay_equals_what_git_would_add(make_repository, state):
    repository = make_repository(BASE)

    state(repository)

    assert_exact(repository)


def test_overlay_of_an_unborn_branch_is_everything(make_repository):
    repository = make_repository()
    repository.write({"a.py": "x\n", "b.py": "y\n"})
    repository.git("add", "a.py")

    assert_exact(repository)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_one_process_tells_of_a_new_commit_and_what_differs(
    make_repository, tmp_path, monkeypatch, object_format
):
    """A commit that is packed, or whose file is not what its name says, is asked for."""
    git = make_repository({"a.py": "a = 1\n"}, object_format=object_format)
    linked = git.worktree(tmp_path / "linked", "-b", "other")
    linked.commit({"b.py": "b = 1\n"}, message="x" * 100_000)  # too long to be read whole
    commit = git.git("rev-parse", "HEAD")
    file = git.path / ".git/objects" / commit[:2] / commit[2:]
    directory, asked = noting_git(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")

    for of, spoil, processes in (
        (git, lambda: None, ["status"]),
        (linked, lambda: None, ["status", "rev-list"]),
        (git, lambda: git.git("repack", "-adq"), ["status", "rev-list"]),
        (
            git,
            lambda: (file.parent.mkdir(exist_ok=True), file.write_bytes(b"no commit")),
            ["status", "rev-list"],
        ),
    ):
        spoil()
        asked()
        found = Repository.discover(of.path)
        head, _ = working_state(found)
        assert asked() == ["rev-parse", "config", *processes]
        assert head == found.head()


def test_head_is_the_same_where_its_tree_is_known(make_repository):
    """Only `git status` is asked where HEAD's commit has a file of its own, or was seen before."""
    git = make_repository({"a.py": "a = 1\n"})
    kept = Repository.discover(git.path)
    moves = [
        (),
        ("checkout", "-q", "-b", "other"),
        ("checkout", "-q", "--detach"),
        ("checkout", "-q", "-b", "(detached)"),
        ("checkout", "-q", "main"),
        ("commit", "-q", "--allow-empty", "-m", "more"),
        ("commit", "-q", "--amend", "--allow-empty", "-m", "most"),
        ("checkout", "-q", "--detach", "other"),
        ("checkout", "-q", "--orphan", "new"),
        ("checkout", "-q", "-f", "main"),
        ("update-ref", "refs/other/one", "main"),
        ("symbolic-ref", "HEAD", "refs/other/one"),  # which git status calls (null)
        ("checkout", "-q", "-f", "main"),
    ]
    for move in moves:
        if move:
            git.git(*move)
        for _ in range(2):
            assert working_state(kept)[0] == Repository.discover(git.path).head(), move
    (git.path / ".git/refs/heads/main").write_text("0" * 39 + "1\n")
    with pytest.raises(RepositoryError, match=r"HEAD of .* is damaged"):
        working_state(kept)
