"""A file that people write too: what they wrote, its link and itself outlast every write of ours."""

from __future__ import annotations

import errno
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import GITRAG, Project, as_plain_user

MINE = (
    "# what I know of it\ngithub.com/me/project:\n"
    "- path: client.py   # calls others\n  summary: old\n  owner: ada\n"
)
NEW = MINE.replace("old", "new")


@pytest.fixture(scope="session")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("needs Linux and a C compiler")
    made = tmp_path_factory.mktemp("kills") / "kills.so"
    source = Path(__file__).with_name("kills.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


@pytest.fixture
def core(project: Project, tmp_path: Path) -> Path:
    """A core_files.yaml of the user's own, a link to where they keep such files."""
    project.git.git("remote", "add", "origin", "https://github.com/me/project.git")
    home, kept = tmp_path / "home" / ".gitrag", tmp_path / "dotfiles"
    home.mkdir(mode=0o700, parents=True)
    kept.mkdir()
    (kept / "core.yaml").write_text(MINE)
    (kept / "core.yaml").chmod(0o640)
    path = home / "core_files.yaml"
    path.symlink_to(kept / "core.yaml")
    return path


def mark(project: Project, **options):
    return project.gitrag("core", "mark", "client.py", "--summary", "new", **options)


def test_a_mark_leaves_comments_other_keys_the_link_and_the_permissions(project: Project, core: Path):
    assert mark(project).status == 0
    assert core.is_symlink()
    assert (core.read_text(), stat.S_IMODE(core.stat().st_mode)) == (NEW, 0o640)
    project.git.write({"other.py": "x = 1\n"})
    assert project.gitrag("core", "mark", "other.py").status == 0
    assert core.read_text() == NEW + "- path: other.py\n  summary: ''\n"
    assert project.gitrag("core", "unmark", "other.py").status == 0
    assert core.read_text() == NEW
    assert core.is_symlink()


def test_a_mark_that_changes_nothing_writes_nothing(project: Project, core: Path):
    before = core.stat()
    assert project.gitrag("core", "mark", "client.py").status == 0
    assert project.gitrag("core", "mark", "client.py", "--summary", "old").status == 0
    assert (core.stat().st_ino, core.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "what", ["a syntax error", "an alias", "a key twice", "a loop of links", "a directory"]
)
def test_what_cannot_be_edited_is_told_and_left(project: Project, core: Path, what):
    real = core.resolve()
    content = {
        "a syntax error": "p: [",
        "an alias": "p: &x []\nq: *x\n",
        "a key twice": "p: []\np: []\n",
    }.get(what)
    if content is not None:
        real.write_text(content)
    else:
        core.unlink()
        if what == "a loop of links":
            core.symlink_to(core)
        else:
            core.mkdir()
    done = mark(project)
    assert done.status not in {0, 1}
    assert "core_files.yaml" in done.err
    if content is not None:
        assert real.read_text() == content


@pytest.mark.parametrize("what", ["the file", "the directory behind the link"])
def test_what_may_not_be_written_is_told_and_left(project: Project, core: Path, what):
    closed = core.resolve() if what == "the file" else core.resolve().parent
    closed.chmod(0o555 if closed.is_dir() else 0o444)
    done = mark(project, wrapper=as_plain_user())
    closed.chmod(0o755)
    assert (done.status, "Permission denied" in done.err) == (78, True), done.err
    assert core.read_text() == MINE
    assert core.is_symlink()
    assert [each.name for each in core.resolve().parent.iterdir()] == ["core.yaml"]


def test_it_is_on_the_disk_before_it_takes_the_place_of_the_old_one(project: Project, core, kills, tmp_path):
    trace = tmp_path / "trace"
    env = {"LD_PRELOAD": str(kills), "KILL_IN": str(core.resolve().parent), "KILL_TRACE": str(trace)}
    assert mark(project, env=env).status == 0
    calls = trace.read_text().split()
    place = calls.index("rename")
    assert "fsync" in calls[calls.index("write") : place]
    assert "fsync" in calls[place:]  # the directory


def test_a_kill_before_any_call_leaves_the_old_or_the_new(project: Project, core: Path, kills, tmp_path):
    place = core.resolve().parent
    trace = tmp_path / "trace"
    env = {"LD_PRELOAD": str(kills), "KILL_IN": str(place), "KILL_TRACE": str(trace)}
    mark(project, env=env)
    many = len(trace.read_text().split())
    assert many >= 5
    seen = set()
    for at in range(1, many + 1):
        (place / "core.yaml").write_text(MINE)
        done = subprocess.run(
            [GITRAG, "core", "mark", "client.py", "--summary", "new"],
            cwd=project.path,
            env={**project.gitrag.environment, **env, "KILL_AT": str(at)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, at
        seen.add(core.read_text())
        assert core.is_symlink()
    assert seen == {MINE, NEW}
    assert mark(project).status == 0  # whatever was left, it goes on
    assert core.read_text() == NEW


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["full", "failing"])
def test_a_disk_that_is_full_or_fails_is_told_and_nothing_is_lost(project, core, kills, tmp_path, number):
    place = core.resolve().parent
    trace = tmp_path / "trace"
    env = {"LD_PRELOAD": str(kills), "KILL_IN": str(place), "KILL_TRACE": str(trace)}
    mark(project, env=env)
    calls = trace.read_text().split()
    for at in (calls.index("write") + 1, calls.index("fsync") + 1, calls.index("rename") + 1):
        (place / "core.yaml").write_text(MINE)
        done = mark(project, env=env | {"KILL_AT": str(at), "KILL_ERRNO": str(number)})
        assert (done.status, "Cannot write" in done.err) == (78, True), done.err
        assert core.read_text() == MINE
        assert [each.name for each in place.iterdir()] == ["core.yaml"]
