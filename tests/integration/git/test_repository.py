"""HEAD, revisions, trees, blobs and configuration of real repositories."""

from __future__ import annotations

import itertools
import os
import threading
import time

import pytest

from gitrag.errors import RepositoryError, UsageError
from gitrag.git import EMPTY_TREE, BlobError, Change, Repository
from gitrag.git.identity import name_of_url
from gitrag.model import Head, TreeEntry
from tests.support.gitversion import needs_git
from tests.support.repository import Link, blob_id

ODD = [b"caf\xe9", b"new\nline", b" space ", b'quo"te', b"-dash", b"tab\t", "sn\u2603w".encode()]


def discover(repository) -> Repository:
    return Repository.discover(repository.path)


def test_head_on_a_branch_detached_and_unborn(make_repository):
    repository = make_repository({"a": "x\n"})
    commit, tree = repository.git("rev-parse", "HEAD"), repository.tree()

    assert discover(repository).head() == Head(commit, tree, "main")
    repository.git("checkout", "-q", "-b", "topic/of-mine")
    assert discover(repository).head() == Head(commit, tree, "topic/of-mine")
    repository.git("pack-refs", "--all")
    assert discover(repository).head() == Head(commit, tree, "topic/of-mine")
    repository.git("checkout", "-q", "--detach")
    assert discover(repository).head() == Head(commit, tree, None)
    repository.git("checkout", "-q", "--orphan", "fresh")
    assert discover(repository).head() == Head(None, EMPTY_TREE, "fresh")


@needs_git(2, 45, "keeps references in tables")
def test_references_kept_in_tables(make_repository, tmp_path):
    """HEAD, the file, then says refs/heads/.invalid to whoever does not know of them."""
    repository = make_repository(ref_format="reftable")
    assert discover(repository).head() == Head(None, EMPTY_TREE, "main")
    commit = repository.commit({"a": "x\n"})
    tree = repository.tree()
    found = discover(repository)
    assert found.head() == Head(commit, tree, "main")
    assert [(entry.path, found.read_blob(entry.blob)) for entry in found.entries(tree)] == [("a", b"x\n")]
    linked = repository.worktree(tmp_path / "linked", "-b", "topic/of-mine")
    assert discover(linked).head() == Head(commit, tree, "topic/of-mine")
    linked.git("checkout", "-q", "--detach")
    assert discover(linked).head() == Head(commit, tree, None)
    (repository.path / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    with pytest.raises(RepositoryError, match="is damaged"):
        found.head()


def test_head_of_a_branch_whose_name_is_not_utf8(make_repository):
    repository = make_repository({"a": "x\n"})
    repository.git("checkout", "-q", "-b", b"caf\xe9")

    assert discover(repository).head().branch == "caf\udce9"


def test_head_that_is_a_symbolic_link(make_repository):
    """As old versions of git made it, and core.preferSymlinkRefs still does."""
    repository = make_repository({"a": "x\n"})
    repository.git("config", "core.preferSymlinkRefs", "true")
    repository.git("symbolic-ref", "HEAD", "refs/heads/main")
    assert (repository.path / ".git" / "HEAD").is_symlink()
    found = discover(repository)
    assert found.head() == Head(repository.git("rev-parse", "HEAD"), repository.tree(), "main")

    repository.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert found.head() == Head(None, EMPTY_TREE, "unborn")


def test_a_branch_that_stands_for_another_one_is_named_as_git_names_it(make_repository):
    repository = make_repository({"a.py": "a = 1\n"})
    repository.git("symbolic-ref", "refs/heads/other", "refs/heads/main")
    repository.git("symbolic-ref", "HEAD", "refs/heads/other")
    said = repository.git("status", "--porcelain=v2", "--branch").splitlines()
    assert "# branch.head main" in said
    assert discover(repository).head().branch == "main"


def test_a_branch_whose_commit_is_gone_is_not_taken_for_unborn(make_repository):
    repository = make_repository({"a": "x\n"})
    commit = repository.git("rev-parse", "HEAD")
    repository.git("pack-refs", "--all")
    (repository.path / ".git" / "objects" / commit[:2] / commit[2:]).unlink()

    with pytest.raises(RepositoryError, match="is damaged"):
        discover(repository).head()


def test_head_follows_the_repository_while_it_is_open(make_repository):
    repository = make_repository({"a": "x\n"})
    found = discover(repository)
    found.head()
    list(found.entries(found.head().tree))

    commit = repository.commit({"b": "y\n"})
    repository.git("gc", "-q")
    assert found.head().commit == commit
    assert [entry.path for entry in found.entries(found.head().tree)] == ["a", "b"]


def test_replaced_commits_are_seen_as_they_are(make_repository):
    """libgit2 knows no refs/replace; git must not, either, or the two would see different trees."""
    repository = make_repository({"a": "1\n"})
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit({"a": "2\n"})
    tree = repository.tree()
    repository.git("replace", second, first)

    found = discover(repository)
    assert found.head() == Head(second, tree, "main")


@pytest.mark.parametrize("rev", ["HEAD", "main", "HEAD~1", "v1", "HEAD^{/First}", "refs/heads/main", "@"])
def test_resolve_names_what_git_names(make_repository, rev):
    repository = make_repository({"a": "1\n"})
    repository.git("tag", "-a", "-m", "one", "v1")
    repository.commit({"a": "2\n"})

    expected = Head(repository.git("rev-parse", f"{rev}^{{commit}}"), repository.tree(rev), None)
    assert discover(repository).resolve(rev) == expected


def test_resolve_a_commit_whose_tree_was_never_fetched(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    repository.commit({"a": "2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = repository.clone(tmp_path / "clone", "--filter=tree:0")
    repository.path.rename(tmp_path / "gone")

    with pytest.raises(RepositoryError, match="lacks objects of 'HEAD~1'"):
        discover(clone).resolve("HEAD~1")


def test_resolve_a_tree(make_repository):
    repository = make_repository({"d/a": "1\n"})

    assert discover(repository).resolve("HEAD:d") == Head(None, repository.git("rev-parse", "HEAD:d"), None)


@pytest.mark.parametrize(
    "rev", ["", "nope", "HEAD~9", "a b", "-x", "--help", "\0", "HEAD:a", "caf\udce9", "0" * 40]
)
def test_resolve_refuses_what_is_no_revision(make_repository, rev):
    repository = make_repository({"a": "1\n"})

    with pytest.raises(UsageError, match="has no revision"):
        discover(repository).resolve(rev)


def test_entries_are_all_leaves_with_their_modes(make_repository):
    repository = make_repository({b"dir/" + name: b"content of " + name for name in ODD})
    repository.write({"run": "#!/bin/sh\n", "link": Link("run")})
    repository.file("run").chmod(0o755)
    repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * len(blob_id(b''))},sub")
    repository.git("commit", "-q", "-m", "Submodule")

    expected = []
    for record in repository.git("ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]:
        facts, _, path = record.partition("\t")
        mode, _, oid = facts.split()
        expected.append(TreeEntry(path, oid, int(mode, 8)))
    assert list(discover(repository).entries(repository.tree())) == expected
    assert {entry.mode for entry in expected} == {0o100644, 0o100755, 0o120000, 0o160000}


def test_old_group_writable_modes_are_normal_files(make_repository):
    repository = make_repository({"a": "x\n"})
    blob = repository.blob("a")
    raw = b"100664 a\0" + bytes.fromhex(blob)
    tree = repository.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)

    assert list(discover(repository).entries(tree)) == [TreeEntry("a", blob, 0o100644)]


def test_the_empty_tree_has_no_entries(make_repository):
    assert list(discover(make_repository()).entries(EMPTY_TREE)) == []


def applied(found: Repository, tree: str, changes: list[Change]) -> dict[str, TreeEntry]:
    entries = {entry.path: entry for entry in found.entries(tree)}
    for change in changes:
        if change.entry is None:
            del entries[change.path]
        else:
            assert entries.get(change.path) != change.entry
            entries[change.path] = change.entry
    return entries


STEPS = [
    {b"dir/" + name: name for name in ODD} | {"a": "1\n", "b": "1\n", "d/e/f": "1\n"},
    {"a": "2\n"},
    {"a": None, "z": "2\n"},  # a rename
    {"b": Link("z")},
    {"b": "1\n", "d": "a file now\n"},
    {"d": None, "d/e": "a directory again\n", b"dir/caf\xe9": "changed"},
    {"Z": "case only\n", "z": None},
    {b"dir/" + name: None for name in ODD},
]


def test_a_diff_applied_to_one_tree_gives_the_other(make_repository):
    repository = make_repository()
    trees = [EMPTY_TREE]
    for step in STEPS:
        repository.commit(step)
        trees.append(repository.tree())
    found = discover(repository)

    for old in trees:
        for new in trees:
            changes = list(found.diff(old, new))
            assert len({change.path for change in changes}) == len(changes)
            assert applied(found, old, changes) == {entry.path: entry for entry in found.entries(new)}


def test_a_mode_change_is_a_change(make_repository):
    repository = make_repository({"a": "x\n"})
    old = repository.tree()
    repository.file("a").chmod(0o755)
    repository.commit()

    expected = [Change("a", TreeEntry("a", repository.blob("a"), 0o100755))]
    assert list(discover(repository).diff(old, repository.tree())) == expected


def test_a_diff_reads_only_what_differs(make_repository):
    """Subtrees that both sides share may even be missing."""
    repository = make_repository({"same/a": "x\n", "other/b": "y\n"})
    old = repository.tree()
    repository.commit({"other/b": "z\n"})
    shared = repository.git("rev-parse", "HEAD:same")
    (repository.path / ".git/objects" / shared[:2] / shared[2:]).unlink()

    found = discover(repository)
    assert [change.path for change in found.diff(old, repository.tree())] == ["other/b"]
    with pytest.raises(RepositoryError):
        list(found.entries(old))


def test_a_tree_that_was_pruned(make_repository):
    repository = make_repository({"a": "x\n"})
    found = discover(repository)

    assert found.has_object(repository.tree())
    assert not found.has_object("1" * 40)
    with pytest.raises(RepositoryError, match="cannot be read"):
        list(found.diff("1" * 40, repository.tree()))


def test_blobs(make_repository):
    repository = make_repository({"a": b"\0\xff\n", "empty": ""})
    found = discover(repository)

    assert found.read_blob(repository.blob("a")) == b"\0\xff\n"
    assert found.blob_size(repository.blob("a")) == 3
    assert found.read_blob(repository.blob("empty")) == b""
    repository.git("gc", "-q")
    assert discover(repository).blob_size(repository.blob("a")) == 3


def test_a_blob_that_is_missing_or_damaged_is_one_blobs_trouble(make_repository):
    repository = make_repository({"a": "x\n", "b": "y\n"})
    found = discover(repository)
    missing = found.git_dir / "objects" / repository.blob("a")[:2] / repository.blob("a")[2:]
    damaged = found.git_dir / "objects" / repository.blob("b")[:2] / repository.blob("b")[2:]
    ids = [repository.blob("a"), repository.blob("b"), "no object id"]
    missing.unlink()
    damaged.chmod(0o644)
    damaged.write_bytes(b"garbage")

    for blob in ids:
        with pytest.raises(BlobError, match="Cannot read blob"):
            found.read_blob(blob)
        with pytest.raises(BlobError, match="Cannot read blob"):
            found.blob_size(blob)


def test_partial_clone_lacks_blobs_and_does_not_fetch_them(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    old = repository.blob("a")
    repository.commit({"a": "2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = repository.clone(tmp_path / "clone", "--filter=blob:none")

    found = discover(clone)
    assert found.read_blob(clone.blob("a")) == b"2\n"
    assert [entry.path for entry in found.entries(found.resolve("HEAD~1").tree)] == ["a"]
    with pytest.raises(BlobError):
        found.read_blob(old)
    # by an older git neither, which does not know that it should not
    older = {"GIT_NO_LAZY_FETCH": "0"}
    assert found.git("cat-file", "-e", old, environment=older).returncode != 0
    clone.git("cat-file", "-e", old)


def test_objects_of_an_alternate_are_found(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    borrower = repository.clone(tmp_path / "clone", "--reference", str(repository.path), "--shared")

    assert discover(borrower).read_blob(repository.blob("a")) == b"1\n"


def test_config_has_every_scope_and_include(make_repository, tmp_path):
    repository = make_repository()
    repository.git("config", "--global", "gitrag.global", "g")
    repository.git("config", "--global", "gitrag.prePush", "warn")
    repository.git("config", "gitrag.prePush", "block")
    repository.git("config", "gitrag.sub.Section.Key", "two\nlines = x")
    repository.git("config", "other.key", "no")
    repository.git("config", "gitragged.key", "no")
    (tmp_path / "more").write_text("[gitrag]\n\tincluded = i\n\tbare\n")
    repository.git("config", "include.path", str(tmp_path / "more"))
    repository.git("config", "extensions.worktreeConfig", "true")
    repository.git("config", "--worktree", "gitrag.here", "w")

    assert discover(repository).config("gitrag") == {
        "gitrag.global": "g",
        "gitrag.prepush": "block",
        "gitrag.sub.Section.key": "two\nlines = x",
        "gitrag.included": "i",
        "gitrag.bare": "true",
        "gitrag.here": "w",
    }


def test_config_given_on_gits_command_line_counts(make_repository):
    """`git -c gitrag.prePush=off push` reaches a hook as GIT_CONFIG_PARAMETERS."""
    repository = make_repository()
    environ = repository.environment | {"GIT_CONFIG_PARAMETERS": "'gitrag.prepush'='off'"}

    assert Repository.discover(repository.path, environ).config("gitrag") == {"gitrag.prepush": "off"}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/team/project.git", "project"),
        ("https://user:pass@example.org/team/project/", "project"),
        ("git@example.org:team/project.git", "project"),
        ("git@example.org:project", "project"),
        ("ssh://git@example.org:2222/~user/project.git/", "project"),
        ("/srv/git/project.git", "project"),
        ("../project", "project"),
        ("/srv/project/.git", "project"),
        ("file:///srv/project.git", "project"),
        ("", None),
        ("https://", None),
    ],
)
def test_name_of_a_remote(url, name):
    assert name_of_url(url) == name


def test_remote_name(make_repository):
    repository = make_repository()
    assert discover(repository).remote_name() is None

    repository.git("remote", "add", "origin", "git@example.org:team/Tool.git")
    assert discover(repository).remote_name() == "Tool"


def test_hooks_dir_is_gits(make_repository, tmp_path):
    repository = make_repository({"sub/a": "x\n"})
    linked = repository.worktree(tmp_path / "linked")

    assert discover(repository).hooks_dir() == repository.path / ".git/hooks"
    assert discover(linked).hooks_dir() == repository.path / ".git/hooks"
    repository.git("config", "core.hooksPath", ".githooks")
    assert Repository.discover(repository.file("sub")).hooks_dir() == repository.path / ".githooks"
    assert discover(linked).hooks_dir() == linked.path / ".githooks"
    repository.git("config", "core.hooksPath", "~/hooks")
    assert discover(repository).hooks_dir() == tmp_path / "home/hooks"


def test_operations_in_progress(make_repository):
    repository = make_repository({"a": "1\n"})
    found = discover(repository)
    repository.git("checkout", "-q", "-b", "other")
    theirs = repository.commit({"a": "theirs\n"})
    repository.git("checkout", "-q", "main")
    ours = repository.commit({"a": "ours\n"})

    assert found.operation_in_progress() is None
    for start, stop, name in (
        (("merge", "other"), ("merge", "--abort"), "merge"),
        (("rebase", "other"), ("rebase", "--abort"), "rebase"),
        (("rebase", "--apply", "other"), ("rebase", "--abort"), "rebase"),
        (("cherry-pick", theirs), ("cherry-pick", "--abort"), "cherry-pick"),
        (("revert", f"{ours}~1"), ("revert", "--abort"), "revert"),
        (("bisect", "start"), ("bisect", "reset"), "bisect"),
    ):
        repository.git(*start, check=False)
        assert found.operation_in_progress() == name
        repository.git(*stop)
        assert found.operation_in_progress() is None


def test_an_object_can_be_read_with_a_broken_personal_configuration_of_libgit2(make_repository, tmp_path):
    repository = make_repository({"a": "x\n"})
    (tmp_path / "home/.config/git").mkdir(parents=True)
    (tmp_path / "home/.config/git/config").write_text("[broken\n")  # git reads GIT_CONFIG_GLOBAL instead

    assert discover(repository).read_blob(repository.blob("a")) == b"x\n"
    assert os.environ["HOME"] == str(tmp_path / "home")


def test_head_is_of_one_commit_though_another_one_is_made_meanwhile(make_repository):
    """Its branch, a pipe here, says something else each time that it is read."""
    repo = make_repository({"a.py": "a = 1\n"})
    trees = {}
    for number in range(2):
        repo.commit({"a.py": f"a = {number + 2}\n"})
        trees[repo.git("rev-parse", "HEAD")] = repo.git("rev-parse", "HEAD^{tree}")
    repository = Repository.discover(repo.path, repo.environment)
    branch = repo.path / ".git" / "refs" / "heads" / "main"
    branch.unlink()
    os.mkfifo(branch)

    def feed() -> None:
        for commit in itertools.cycle(trees):
            with branch.open("w") as pipe:
                if over:
                    return
                pipe.write(f"{commit}\n")
            time.sleep(0.05)  # else a reader gets two at once

    over: list[bool] = []
    feeder = threading.Thread(target=feed)
    feeder.start()
    head = repository.head()
    over.append(True)
    branch.read_text()
    feeder.join()
    assert head.commit in trees
    assert head.tree == trees[head.commit]
