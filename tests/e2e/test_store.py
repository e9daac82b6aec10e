"""An index that cannot be written or read: one message, the right exit status, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import duckdb
import pytest

from tests.support.command import SOURCES, Gitrag, Project, as_plain_user, user_environment
from tests.support.repository import GitRepository, create_repository

QUESTION = ("search", "retry", "with", "backoff", "--output", "text")


@pytest.fixture(scope="module")
def text_index(tmp_path_factory, model_dir) -> Project:
    """What ``updated`` is copied from."""
    directory = tmp_path_factory.mktemp("updated")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, SOURCES)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    return made


@pytest.fixture
def updated(text_index, tmp_path, environment) -> Project:
    """A repository with a text index."""
    return text_index.copied(tmp_path / "project", environment)


def change(project, statement):
    """Change an index as another gitrag would have written it."""
    with duckdb.connect(str(project.store / "index.duckdb")) as db:
        db.execute(statement)


def answers(project):
    done = project.gitrag(*QUESTION)
    assert done.out.startswith("client.py:"), done
    return done


# unwritable


def permissions(project, change):
    subprocess.run(["chmod", "-R", change, project.path / ".git"], check=True)


def test_an_unwritable_git_directory_is_told_before_anything_is_written(project):
    permissions(project, "a-w")
    for command in (("init",), ("index",)):
        done = project.gitrag(*command, wrapper=as_plain_user())
        assert (done.status, done.out) == (78, "")
        assert done.said == [
            f"Prerequisite missing (git directory): {project.path}/.git is not writable.",
            f"hint: chmod -R u+rwX {project.path}/.git",
        ]
    done = project.gitrag("hooks", "install", wrapper=as_plain_user())
    assert (done.status, done.said[1]) == (78, "hint: Check its permissions and the disk.")
    assert project.gitrag("doctor", wrapper=as_plain_user()).status == 1
    permissions(project, "u+w")
    assert project.gitrag("index", "update", "--no-embed").status == 0


def test_an_unwritable_index_is_still_searched(updated):
    assert updated.gitrag("index", "embed", "--foreground").status == 0
    permissions(updated, "a-w")
    done = updated.gitrag(*QUESTION, wrapper=as_plain_user())
    assert (done.status, done.said) == (0, [])
    assert done.out.startswith("client.py:")
    for command in (("index",), ("index", "remove")):
        done = updated.gitrag(*command, wrapper=as_plain_user())
        assert (done.status, done.out, len(done.said)) == (78, "", 2)
    updated.git.write({"client.py": "def changed(): pass\n"})
    done = updated.gitrag("search", "changed", "--output", "text", wrapper=as_plain_user())
    assert (done.status, done.out.startswith("client.py:")) == (0, True)
    assert "what is newer was read for this answer alone" in done.said[0]
    permissions(updated, "u+w")


def test_a_text_index_that_cannot_be_embedded_is_still_searched(updated):
    permissions(updated, "a-w")
    done = updated.gitrag(*QUESTION, wrapper=as_plain_user())
    permissions(updated, "u+w")
    assert done.status == 0
    assert done.out.startswith("client.py:")
    assert done.said[-1] == "4 texts on draft vectors — `gitrag index embed` refines them"


def test_a_file_in_the_way_is_told(project):
    project.store.write_text("not ours\n")
    done = project.gitrag("init")
    assert (done.status, done.out) == (78, "")
    assert done.said == [
        f"Prerequisite missing (git directory): {project.store} is not a directory.",
        f"hint: mv {project.store} {project.store}.old",
    ]
    assert project.gitrag(*QUESTION).status == 78
    assert project.gitrag("index", "remove").out == "There is no index to remove.\n"
    assert project.store.read_text() == "not ours\n"


# full


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 6 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", place]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(small_disk, environment):
    git = GitRepository(small_disk, environment)
    git.git("init", "--quiet", "--initial-branch=main", "--template=")
    git.commit(SOURCES)
    project = Project(git, Gitrag(small_disk, environment))
    filler = small_disk / ".git" / "filler"
    filler.touch()  # a directory's first entry needs space too

    def fill():
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)

    fill()
    done = project.gitrag("index", "update", "--no-embed")
    assert (done.status, done.out) == (75, ""), done
    assert done.said[0].startswith(("No space left on the disk", "Cannot write the index"))
    os.truncate(filler, 0)
    assert project.gitrag("index", "update", "--no-embed").status == 0
    git.write({f"more{i}.txt": f"words that are new: {i}\n" * 20 for i in range(40)})
    fill()
    done = project.gitrag("index", "update", "--no-embed")
    assert (done.status, done.out) == (75, ""), done
    assert "No space left on the disk" in answers(project).err
    os.truncate(filler, 0)
    git.write({f"more{i}.txt": None for i in range(40)})
    answers(project)


# damaged, foreign, another version's


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.write_bytes(b"not a database\n"), "no DuckDB database"),
        (lambda path: os.truncate(path, 20_000), "cut short"),
        (lambda path: path.write_bytes(path.read_bytes()[:12288] + os.urandom(2_000_000)), ""),
        (lambda path: (path.unlink(), path.mkdir()), "a directory"),
        (lambda path: path.write_bytes(path.read_bytes()[:4096] + path.read_bytes()), "corrupt"),
    ],
    ids=["text", "cut short", "overwritten", "directory", "shifted"],
)
def test_a_damaged_index_is_moved_aside_and_built_again(updated, damage, words):
    damage(updated.store / "index.duckdb")
    done = answers(updated)
    [said] = [line for line in done.said if "damaged" in line]
    assert said.startswith(f"The index was damaged ({words}")
    assert len(list(updated.store.glob("damaged-*.duckdb"))) == 1
    assert "damaged" not in answers(updated).err


def test_a_database_of_something_else_is_moved_aside(updated):
    (updated.store / "index.duckdb").unlink()
    change(updated, "CREATE TABLE mine (a INTEGER)")
    done = updated.gitrag("doctor")
    assert done.status == 0
    assert "warn  store         The index was damaged (a database of something else);" in done.out
    assert "→ gitrag index\n" in done.out
    assert updated.gitrag("index", "update", "--no-embed").status == 0
    answers(updated)


def test_an_index_of_a_newer_gitrag_is_left_alone(updated):
    change(updated, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    before = (updated.store / "index.duckdb").read_bytes()
    advice = "hint: Upgrade gitrag, or run `gitrag index remove` and `gitrag index`."
    for command in (QUESTION, ("status",), ("index",), ("index", "embed"), ("init",)):
        done = updated.gitrag(*command)
        assert (done.status, done.out) == (78, "")
        assert done.said == ["The index is of schema 99; this gitrag knows up to 4.", advice]
    assert not (updated.path / ".git" / "hooks").exists()
    assert not (updated.path / ".gitignore").exists()
    done = updated.gitrag("doctor")
    assert (done.status, "fail  store" in done.out) == (1, True)
    assert (updated.store / "index.duckdb").read_bytes() == before
    assert updated.gitrag("index", "remove").status == 0
    assert updated.gitrag("index", "update", "--no-embed").status == 0
    answers(updated)


def test_an_index_of_another_gitrag_is_built_again(updated):
    change(updated, "UPDATE meta SET value = 'old' WHERE key = 'recipe'")
    assert "index       made by another version of gitrag\n" in updated.gitrag("status").out
    counted = updated.gitrag("index", "status")
    assert (counted.status, counted.out) == (78, "")
    assert counted.said[-1] == "hint: The next search, or `gitrag index`, brings it up to date."
    assert "The index was made by another version of gitrag; building it again." in answers(updated).said


# in use


HOLD = """
import sys
from pathlib import Path
from gitrag.machine.locks import StoreLock
with StoreLock(Path(sys.argv[1]), 10).exclusive("testing"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_an_index_in_use_for_too_long_names_who_uses_it(updated):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, updated.store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        done = updated.gitrag(*QUESTION, env={"GITRAG_LOCK_TIMEOUT_S": "0.1"})
        assert (done.status, done.out) == (75, "")
        assert done.said == [
            f"The index was in use by process {holder.pid} (testing) for more than 0.1 s.",
            "hint: Try again; `gitrag doctor` shows who holds the lock.",
        ]
        done = updated.gitrag("doctor", env={"GITRAG_LOCK_TIMEOUT_S": "0.1"})
        assert f"held by process {holder.pid} (testing) at this moment" in done.out
        holder.stdin.close()
    answers(updated)


# removed


def test_removing_the_index_frees_it_and_says_what_would_build_it_again(updated):
    (updated.store / "damaged-20000101-000000.duckdb").write_bytes(b"x")
    done = updated.gitrag("index", "remove")
    assert (done.status, done.said) == (0, [])
    assert done.out.startswith("Removed the index (")
    assert not list(updated.store.glob("*.duckdb"))
    assert updated.gitrag(*QUESTION).status == 78
    assert updated.gitrag("index", "remove").out == "There is no index to remove.\n"
    assert "index       none\n" in updated.gitrag("status").out
