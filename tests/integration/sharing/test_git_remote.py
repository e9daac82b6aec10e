"""Packs at a git remote: in a ref that nobody else meets, by a repository that has only our configuration."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gitrag.errors import NetworkError
from gitrag.git import remote_files
from gitrag.git.remote_files import REF
from gitrag.sharing.git_remote import FOLDER
from gitrag.sharing.packs import ROWS
from gitrag.sharing.place import NoPlaceError, SharingError
from tests.support.repository import GitRepository, create_repository
from tests.support.sharing import Person, Team, make_team, poisoned, sources


@pytest.fixture
def team(tmp_path, model_dir) -> Team:
    return make_team(tmp_path, model_dir, "git", count=4)


def side_of(person: Person) -> GitRepository:
    """The repository that keeps what is known of the ref."""
    return GitRepository(person.open().store.directory / FOLDER, person.git.environment)


def pushed(team: Team, name: str = "ann") -> Person:
    person = team.clone(name)
    person.embed()
    person.push()
    return person


def test_a_users_own_fetch_and_clone_get_nothing_of_it(team):
    ann = pushed(team)
    assert team.origin.git("for-each-ref", "--format=%(refname)") == f"{REF}\nrefs/heads/main"
    assert team.origin.git("rev-list", "--count", REF) == "1"
    later = team.clone("later")
    later.git.git("fetch", "--quiet")
    later.pull()
    for person in (ann, later):
        assert "gitrag" not in person.git.git("for-each-ref")
        assert "gitrag" not in person.git.git("log", "--all", "--format=%an")
        assert person.git.git("fsck", "--unreachable") == ""
        assert person.git.git("status", "--porcelain") == ""


def test_of_a_remote_that_filters_only_what_is_needed_is_fetched(team):
    team.origin.git("config", "uploadpack.allowFilter", "true")
    ann = pushed(team)
    ann.git.commit(sources(100, 4))
    ann.embed()
    ann.push()
    eve, bob = team.clone("eve"), team.clone("bob")
    eve.git.commit(sources(200, 2))
    eve.pull()
    eve.embed()
    eve.push()  # without the vectors that it has not fetched
    bob.pull()
    assert bob.waiting() == 0
    place = bob.team().place
    sizes = [size for name, size in place.list().items() if name.endswith(ROWS)]
    assert sorted(map(bool, sizes)) == [False, False, True], "packs of texts that are not here stay there"
    bob.merge(ann)
    bob.merge(eve)
    bob.pull()
    assert bob.waiting() <= 1, "but the tree of the merge has no text of its own"
    assert bob.vectors().keys() >= ann.vectors().keys() | eve.vectors().keys()


def test_what_is_here_is_known_whatever_is_asked_for_with_it(team):
    """Asked for single objects, git ends at the first that is not here and may not be fetched."""
    team.origin.git("config", "uploadpack.allowFilter", "true")
    pushed(team)
    bob = team.clone("bob")
    url, side = f"file://{team.origin.path}", side_of(bob).path
    files = remote_files.RemoteFiles(url, url, side, bob.git.environment)
    one, other = files.look()[1].values()
    files.fetch({one: 100_000})
    assert files.sizes([one, other]).keys() == files.sizes([other, one]).keys() == {one}


def test_a_damaged_pack_is_as_one_that_is_not_here(team):
    team.origin.git("config", "uploadpack.allowFilter", "true")
    pushed(team)
    bob = team.clone("bob")
    bob.pull()
    largest = max((side_of(bob).path / "objects/pack").glob("*.pack"), key=lambda pack: pack.stat().st_size)
    largest.chmod(0o600)
    largest.write_bytes(largest.read_bytes()[:200])
    sizes = bob.team().place.list().values()
    assert len(sizes) == 2
    assert 0 in sizes, "git may end there, before it has named the others"


def test_a_server_that_lets_no_ref_be_replaced_is_pushed_to(team):
    team.origin.git("config", "receive.denyNonFastForwards", "true")
    ann = pushed(team)
    for number in (100, 101):
        ann.git.commit(sources(number, 1))
        ann.embed()
        ann.push()
    bob = team.clone("bob")
    bob.merge(ann)
    bob.pull()
    assert bob.vectors() == ann.vectors()


def test_a_server_that_takes_nothing_is_said_and_nothing_changes(team):
    ann = team.clone("ann")
    ann.embed()
    team.origin.hook("pre-receive", "echo 'only on Sundays' >&2\nexit 1\n")
    with pytest.raises(NoPlaceError, match=r"only on Sundays; pre-receive hook declined") as error:
        ann.push()
    assert "rights" in error.value.hint
    assert team.origin.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("/nowhere/at/all.git", "does not exist|does not appear"),
        ("ext::sh -c touch% /tmp/evil", "transport 'ext' not allowed"),
        ("http://127.0.0.1:9/x.git", "transport 'http' not allowed"),
        ("git://127.0.0.1:9/x.git", "transport 'git' not allowed"),
        ("https://user:secret@127.0.0.1:9/x.git", "unable to access"),
    ],
)
def test_a_remote_that_cannot_be_used_is_one_line(team, url, problem):
    ann = team.clone("ann")
    ann.git.git("remote", "set-url", "origin", url)
    with pytest.raises(Exception, match=problem) as error:  # which kind it is says the exit status
        ann.pull()
    assert error.value.exit_code in {75, 78}
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value) + error.value.hint


def test_a_remote_that_is_not_there_is_said(team):
    ann = team.clone("ann")
    with pytest.raises(NoPlaceError, match="has no remote upstream"):
        Person(ann.git, "git:upstream").team()
    ann.git.git("remote", "rename", "origin", "upstream")
    assert Person(ann.git, "git:upstream").team().place.list() == {}


def test_a_remote_that_came_with_the_repository_is_refused(team, tmp_path):
    """Its hooks would run: git drops our guards where it starts the other side of a path."""
    ann = team.clone("ann")
    evil, mark = ann.git.path / "evil.git", tmp_path / "ran"
    ann.git.git("init", "--quiet", "--bare", str(evil))
    for hook in (evil / "hooks" / "pre-receive", ann.git.path / ".git" / "hooks" / "pre-receive"):
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    ann.embed()
    here = ann.git.path
    for url in ("../origin.git", "./evil.git", ".", "", f"{here}/evil.git", f"file://{here}/evil.git"):
        ann.git.git("remote", "set-url", "origin", url)
        with pytest.raises(NoPlaceError):
            ann.push()
        assert not mark.exists(), url


@pytest.mark.parametrize("url", ["me@host:{}", "ssh://me@host{}"])
def test_a_remote_over_ssh_is_pushed_to_and_pulled_from(team, tmp_path, url):
    """git's own protocol; what stands in for ssh runs the command here."""
    (tmp_path / "ssh").write_text(
        f'#!/bin/sh\necho "$*" >>{tmp_path}/log\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    (tmp_path / "ssh").chmod(0o755)
    ann, bob = team.clone("ann"), team.clone("bob")
    for person in (ann, bob):
        person.git.environment["GIT_SSH_COMMAND"] = str(tmp_path / "ssh")
        person.git.environment["GIT_SSH_VARIANT"] = "simple"
        person.git.git("remote", "set-url", "origin", url.format(team.origin.path))
    ann.embed()
    ann.push()
    assert bob.pull().texts == len(ann.vectors())
    assert "me@host git-receive-pack" in (tmp_path / "log").read_text()


def test_what_else_is_at_the_ref_is_refused_or_left_alone(team):
    ann = pushed(team)
    bob = team.clone("bob")
    tree = team.origin.git("mktree", stdin=b"")
    team.origin.git("update-ref", REF, tree)
    with pytest.raises(SharingError, match=r"is a tree, not a commit|not"):
        bob.pull()
    blob = team.origin.git("hash-object", "-w", "--stdin", stdin=b"x")
    lines = f"100644 blob {blob}\tnotes.txt\n120000 blob {blob}\t{poisoned(ann, 0).index.name}.keys\n"
    tree = team.origin.git("mktree", stdin=lines.encode())
    team.origin.git("update-ref", REF, team.origin.git("commit-tree", tree, "-m", "mine"))
    assert bob.team().place.list() == {}
    ann.push()
    assert "notes.txt" in team.origin.git("ls-tree", "--name-only", REF)
    assert bob.pull().texts > 0


LEFT = (
    "refs/gitrag/vectors.lock",
    "packed-refs.lock",
    "shallow.lock",
    "objects/pack/tmp_pack_x",
    "index.lock",
)
"""What a git that was killed may leave."""


def leave(person: Person) -> list[Path]:
    left = [side_of(person).path / name for name in LEFT]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return left


def test_what_a_killed_git_left_is_removed_once_nobody_works_there(team):
    ann, bob = pushed(team), team.clone("bob")
    bob.pull()
    ann.git.commit(sources(100, 1))
    ann.embed()
    ann.push()
    bob.merge(ann)
    left = leave(bob)
    lock = side_of(bob).path.with_name("share.lock")
    script = (
        "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 1); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(SharingError, match="lock"):
            bob.pull()
        assert all(path.exists() for path in left), "another process may work there"
        other.kill()
    assert bob.pull().texts == 2
    assert not any(path.exists() for path in left)


def test_links_in_the_packs_repository_are_not_followed(team, tmp_path):
    pushed(team)
    bob = team.clone("bob")
    bob.team().place.list()
    side = side_of(bob).path
    for name in ("refs/gitrag", "objects/pack"):
        (tmp_path / name).mkdir(parents=True)
        shutil.rmtree(side / name, ignore_errors=True)
        (side / name).symlink_to(tmp_path / name)
    assert bob.pull().texts == 8
    assert not (side / "refs" / "gitrag").is_symlink()
    assert [path for path in tmp_path.glob("[ro]*/*/*") if path.parts[-3] in {"refs", "objects"}] == []


@pytest.mark.parametrize("empty", [True, False])
def test_a_remote_with_sha256_ids_is_shared_with(team, tmp_path, empty):
    environment = dict(team.environment)
    other = create_repository(tmp_path / "vectors.git", environment, bare=True, object_format="sha256")
    if not empty:
        tree = other.git("mktree", stdin=b"")
        other.git("update-ref", "refs/heads/main", other.git("commit-tree", tree, "-m", "x"))
    people = [Person(team.clone(name).git, "git:vectors") for name in ("ann", "bob")]
    for person in people:
        person.git.git("remote", "add", "vectors", str(other.path))
    ann, bob = people
    ann.embed()
    assert ann.push().texts == 8
    assert bob.pull().texts == 8
    assert len(other.git("rev-parse", REF)) == 64
    assert Person(bob.git, "git").push().texts == 0, "the same directory serves another remote"


def test_a_remote_that_sends_too_much_is_stopped(team, monkeypatch):
    """A giant in place of a pack's keys costs as much as keys may have, and the others are used."""
    team.origin.git("config", "uploadpack.allowFilter", "true")
    ann, bob = pushed(team), team.clone("bob")
    giant = team.origin.git("hash-object", "-w", "--stdin", stdin=random.Random(3).randbytes(12_000_000))
    (good,) = ann.packs()
    name = good[:-64] + "a" * 64
    blob = team.origin.git("rev-parse", f"{REF}:{good}{ROWS}")
    lines = (
        team.origin.git("ls-tree", REF)
        + f"\n100644 blob {giant}\t{name}.keys\n100644 blob {blob}\t{name}.rows\n"
    )
    tree = team.origin.git("mktree", stdin=lines.encode())
    team.origin.git("update-ref", REF, team.origin.git("commit-tree", tree, "-m", "mine"))
    pulled = bob.pull()
    assert (pulled.texts, pulled.refused) == (8, [])
    assert [(each.pack, each.why) for each in pulled.skipped] == [(name, "is larger than a pack may be")]
    objects = side_of(bob).path / "objects"
    assert sum(path.stat().st_size for path in objects.rglob("*") if path.is_file()) < 100_000

    team.origin.git("config", "uploadpack.allowFilter", "false")
    eve = team.clone("eve")
    monkeypatch.setattr(remote_files, "_MOST_FETCHED_BYTES", 1_000_000)
    with pytest.raises(SharingError, match="sends more than 1,000,000 bytes"):
        eve.pull()
    left = [path for path in (side_of(eve).path / "objects").rglob("*") if path.is_file()]
    assert left == []


def test_a_server_that_says_nothing_is_left_after_a_while(team, monkeypatch):
    monkeypatch.setattr(remote_files, "_LOOK_S", 1.0)
    ann = team.clone("ann")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ann.git.git("remote", "set-url", "origin", f"https://127.0.0.1:{silent.getsockname()[1]}/x.git")
        with pytest.raises(NetworkError, match="timed out, nothing for 1 s"):
            ann.pull()
