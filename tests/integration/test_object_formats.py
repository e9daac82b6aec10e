"""A repository with SHA-256 ids answers every command as its twin with SHA-1 ids does."""

from __future__ import annotations

import os
import random
import re
import shutil
import zlib
from pathlib import Path

import pytest

from gitrag.actions.hub.search import search as search_hub
from gitrag.cli import boundary
from gitrag.errors import RepositoryError
from gitrag.git import EMPTY_TREE, BlobError, Change, Repository, overlay
from gitrag.git.copies import fetch_head
from gitrag.git.repository import SYMLINK_MODE
from gitrag.workspace import Workspace
from tests.support.acts import FILES as WALKED
from tests.support.command import SOURCES, user_environment
from tests.support.hubs import opened, pushed
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository, Link, create_repository
from tests.support.walk import Walk

FILES = SOURCES | {
    "orders.py": "from client import retry_with_backoff\n\n\ndef bill(order):\n"
    '    """Send the invoice of an order."""\n    return retry_with_backoff(order.send)\n',
    "docs/adr/0001-retry.md": "# 1. Retry with backoff\n\n## Status\n\nAccepted\n\n## Decision\n\nAgain.\n",
    "pkg/deep/link": Link("../../client.py"),
}
UNCOMMITTED = {"orders.py": FILES["orders.py"] + "\n\ndef refund(order):\n    return order.back()\n"}
ASKED = """
search retry with backoff
search refund an order
search refund --output json
search --word refund
search --ref HEAD~1 first invoice
search --ref topic what is on the branch
search orders.py:4
similar orders.py:4-6
related retry calls
related --diff HEAD
graph retry_with_backoff
why orders.py:4
history retry
history --all topic
impact
impact HEAD~1..HEAD
check orders.py
prime
status
index status
doctor
gc
""".strip().splitlines()
_OWN = re.compile(
    r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{10,12})\b|\b\d+(?:\.\d+)? (?:s|ms|min|h|GB|MB|kB)\b(?: ago)?"
)
"""Ids, times and sizes."""


def made(directory: Path, model_dir: Path, object_format: str) -> GitRepository:
    """Make a repository with a history, a branch and an index, and edit it."""
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "shop", environment, SOURCES, object_format=object_format)
    git.git("switch", "--quiet", "--create", "topic")
    git.commit({"topic.py": "def what_is_on_the_branch(): pass\n"}, "Add the topic")
    git.git("switch", "--quiet", "main")
    git.commit(FILES, "Retry what is sent, since the bank hangs up")
    git.commit({"orders.py": FILES["orders.py"].replace("Send", "Mail")}, "Mail invoices")
    git.git("repack", "-adq")
    workspace = Workspace.open(git.path, environ=environment)
    workspace.update()
    workspace.embed()
    git.write(UNCOMMITTED)
    return git


@pytest.fixture(scope="module")
def twins(tmp_path_factory, model_dir) -> list[GitRepository]:
    return [made(tmp_path_factory.mktemp(each), model_dir, each) for each in ("sha1", "sha256")]


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("asked", ASKED)
def test_every_command_answers_as_with_sha1_ids(twins, capfd, asked):
    told = []
    for git in twins:
        status = boundary.run(["-C", str(git.path), *asked.split()], git.environment)
        done = capfd.readouterr()
        said = [_OWN.sub("…", each).replace(str(git.path.parent), "") for each in (done.out, done.err)]
        told.append((status, said))
    assert told[1] == told[0]
    assert told[1][0] == 0
    assert told[1][1][0], "nothing was said"


@pytest.mark.sweep(keep=0)  # that answers are the same is held every day by the test of commands
def test_the_same_steps_lead_to_the_same_index(tmp_path, model_dir):
    """A walk of git's and its users' steps ends in what its twin ends in."""
    ends = []
    for object_format in ("sha1", "sha256"):
        environment = user_environment(tmp_path / object_format / "home", model_dir)
        place = tmp_path / object_format / "project"
        git = create_repository(place, environment, WALKED, object_format=object_format)
        walk = Walk(git, random.Random(4), tmp_path / object_format)
        walk.go(6, compare_every=6)
        ends.append((walk.done, logical(open_app(git))))
    assert ends[0] == ends[1]


def test_a_hub_has_it_beside_others(hub_address, twins, model_dir, tmp_path):
    git = twins[1].clone(tmp_path / "clone")
    first = pushed(git, hub_address, model_dir)
    git.commit({"new.py": "def added(): pass\n"})
    assert (first.contents, pushed(git, hub_address, model_dir).contents) == (4, 1)
    workspace = opened(git, hub_address, model_dir)
    found = search_hub(hub_address, "retry with backoff", workspace.config, encoder=workspace.encoder)
    assert "client.py" in {each.path for each in found.hits}


# What reads the objects


@pytest.fixture
def git(make_repository) -> GitRepository:
    return make_repository({"a.py": "a = 1\n", "d/b.py": "b = 1\n", "d/e/c.py": ""}, object_format="sha256")


def test_trees_and_blobs_are_read(git):
    repo, old = Repository.discover(git.path), git.tree()
    git.commit({"a.py": None, "d/e/c.py": "c = 1\n", "link": Link("d"), "d/run": "#!/bin/sh\n"})
    found = {entry.path: entry for entry in repo.entries(git.tree())}
    assert list(found) == ["d/b.py", "d/e/c.py", "d/run", "link"]
    assert found["link"].mode == SYMLINK_MODE
    assert [repo.read_blob(each.blob) for each in found.values()] == [
        b"b = 1\n",
        b"c = 1\n",
        b"#!/bin/sh\n",
        b"d",
    ]
    assert [repo.blob_size(each.blob) for each in found.values()] == [6, 6, 10, 1]
    assert {each.path for each in repo.diff(old, git.tree())} == {"a.py", "d/e/c.py", "d/run", "link"}
    assert Change("a.py", None) in repo.diff(old, git.tree())
    assert sorted(repo.diff(old, EMPTY_TREE), key=str) == sorted(
        (Change(path, None) for path in ("a.py", "d/b.py", "d/e/c.py")), key=str
    )
    assert repo.top_names(git.tree()) == {"d", "link"}


def test_a_changed_file_has_the_id_that_git_gives_it(git):
    git.write({".gitattributes": "*.txt eol=crlf\n*.u16 working-tree-encoding=UTF-16LE\n"})
    git.write(
        {"a.py": "a = 2\n", "l.txt": "1\r\n2\r\n", "w.u16": "ü\n".encode("utf-16-le"), "link": Link("d")}
    )
    found = overlay(Repository.discover(git.path))
    read = {each.path: found.read(each.entry) for each in found.changes}
    git.git("add", "--all")
    listed = (line.split() for line in git.git("ls-files", "--stage").splitlines())
    staged = {path: oid for _mode, oid, _stage, path in listed}
    assert {each.path: each.entry.blob for each in found.changes} == {path: staged[path] for path in read}
    assert (read["l.txt"], read["w.u16"], read["link"]) == (b"1\n2\n", "ü\n".encode(), b"d")


@pytest.mark.parametrize("oid", ["", "HEAD", "0" * 64, "1" * 40, "HEAD\nHEAD", "G" * 64, "é" * 64])
def test_what_is_no_id_is_no_object(git, oid):
    repo = Repository.discover(git.path)
    assert not repo.has_object(oid)
    with pytest.raises(BlobError, match="Cannot read blob"):
        repo.read_blob(oid)
    with pytest.raises(RepositoryError, match="cannot be read"):
        repo.diff(oid, git.tree())
    assert repo.has_object(git.tree())
    with pytest.raises(RepositoryError, match="not a tree"):
        repo.top_names(git.blob("a.py"))


def test_objects_that_come_and_git_that_goes_are_noticed(git):
    repo = Repository.discover(git.path)
    assert repo.has_object(git.tree())
    blob = repo.blob_id(b"later\n")
    assert not repo.has_object(blob)
    git.commit({"later": "later\n"})
    git.git("gc", "-q")
    assert repo.has_object(blob)
    assert repo.read_blob(blob) == b"later\n"
    for process in repo._objects._running.values():
        process.kill()
        process.wait()
    assert repo.read_blob(blob) == b"later\n"
    running = list(repo._objects._running.values())
    del repo
    assert all(process.returncode is not None for process in running), "git ends with the last use"


def test_a_damaged_or_absent_object_is_one_files_trouble(git, tmp_path):
    for blob, content in ((git.blob("a.py"), b"damaged"), (git.blob("d/b.py"), None)):
        file = git.path / ".git" / "objects" / blob[:2] / blob[2:]
        file.unlink()
        if content is not None:
            file.write_bytes(content)
    repo = Repository.discover(git.path)
    for path in ("a.py", "d/b.py"):
        with pytest.raises(BlobError):
            repo.read_blob(git.blob(path))
    assert repo.read_blob(git.blob("d/e/c.py")) == b""
    os.mkfifo(git.path / ".git" / "objects" / blob[:2] / blob[2:])
    waiting = Repository.discover(git.path, git.environment | {"GITRAG_GIT_TIMEOUT_S": "1"})
    with pytest.raises(BlobError, match="git has not answered for 1 s"):
        waiting.read_blob(blob)
    tree = git.git("rev-parse", "HEAD:d/e")
    (git.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(RepositoryError, match="git fsck"):
        list(repo.entries(git.tree()))


@pytest.mark.parametrize(
    "header", ["blob 100", "blob 2", "blob 629145600", f"blob {2**63 - 2}", "tree 3", f"tree {10**13}"]
)
def test_an_object_whose_header_is_untrue_is_damaged_and_soon(git, header):
    oid = git.blob("a.py")
    file = git.path / ".git" / "objects" / oid[:2] / oid[2:]
    file.unlink()
    file.write_bytes(zlib.compress(header.encode() + b"\0abc"))
    repo = Repository.discover(git.path)
    with pytest.raises(BlobError, match="Cannot read blob"):
        repo.read_blob(oid)
    with pytest.raises(RepositoryError, match="cannot be read"):
        repo.top_names(oid)
    assert repo.read_blob(git.blob("d/b.py")) == b"b = 1\n"


def test_what_a_partial_clone_lacks_is_not_fetched(git, tmp_path):
    git.git("config", "uploadpack.allowFilter", "true")
    clone = git.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    repo = Repository.discover(clone.path)
    entries = list(repo.entries(clone.tree()))
    for entry in entries:
        with pytest.raises(BlobError):
            repo.read_blob(entry.blob)
    assert len(entries) == 3
    assert not list((clone.path / ".git" / "objects").glob("pack/*.keep"))
    [running] = repo._objects._running.values()
    assert running.poll() is None, "one git has answered for all"


def test_a_remote_that_gets_other_ids_is_copied_anew(make_repository, tmp_path, git_environment):
    for object_format in ("sha256", "sha1", "sha256"):
        remote = make_repository({"a.py": object_format}, name="remote", object_format=object_format)
        fetch_head(f"file://{remote.path}", tmp_path / "copy.git", git_environment)
        copy = Repository.discover(tmp_path, {"GIT_DIR": str(tmp_path / "copy.git")})
        read = [copy.read_blob(entry.blob) for entry in copy.entries(copy.head().tree)]
        assert read == [object_format.encode()]
        shutil.rmtree(remote.path)
