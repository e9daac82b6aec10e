"""What a push meets, with a real remote: all four policies, and every kind of ref."""

from __future__ import annotations

import subprocess
import time

import pytest

from gitrag.machine.locks import StoreLock
from tests.support.command import SOURCES, Project, program

ADVICE = "hint: `gitrag index` catches up"
REFUSED = "hint: gitrag.prePush is block; `GITRAG=0 git push` pushes all the same"


@pytest.fixture
def remote(project, environment, tmp_path):
    """A bare repository that the project pushes to, and the hook that looks."""
    project.git.clone(tmp_path / "remote.git", "--bare")
    project.git.git("remote", "add", "origin", tmp_path / "remote.git")
    assert project.gitrag("hooks", "install").status == 0
    project.let_hooks_run(program(environment))  # here and below but for one test
    return tmp_path / "remote.git"


def push(project: Project, *args, policy=""):
    done = subprocess.run(
        ["git", "push", "--porcelain", "origin", *args],
        cwd=project.path,
        env={**project.git.environment, **({"GITRAG_PRE_PUSH": policy} if policy else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def gitrags(done):
    """What gitrag said, without git's own lines."""
    return [line for line in done.stderr.splitlines() if line.startswith(("warning: the search", "hint:"))]


def catch_up(project, env=None):
    assert project.gitrag("index", "update", "--no-embed", env=env).status == 0
    assert project.gitrag("index", "embed", "--foreground", env=env).status == 0


def commit(project, files, *args):
    project.git.write(files)
    project.git.git("add", "--all")
    project.git.git("commit", "--quiet", "--message", "Change", *args, env={"GITRAG": "0"})


def on_remote(project, name):
    return project.git.git("ls-remote", "origin", name).partition("\t")[0]


def test_warn_is_the_default_and_lets_the_push_through(project, remote):
    commit(project, {"new.py": "def new(): pass\n"})
    done = push(project, "main")
    assert done.returncode == 0
    assert gitrags(done) == ["warning: the search index is behind main: 3 files not indexed", ADVICE]
    assert on_remote(project, "main") == project.git.git("rev-parse", "main")
    catch_up(project)
    commit(project, {"new.py": "def newer(): pass\n"})
    assert gitrags(push(project, "main"))[0] == (
        "warning: the search index is behind main: 1 file not indexed"
    )


def test_block_refuses_until_the_index_has_caught_up(project, remote):
    assert project.gitrag("hooks", "install").status == 0  # which runs the command that is installed
    project.git.git("config", "gitrag.prePush", "block")
    commit(project, {"new.py": "def new(): pass\n"})
    before = on_remote(project, "main")
    done = push(project, "main")
    assert done.returncode == 1
    assert gitrags(done) == ["warning: the search index is behind main: 3 files not indexed", ADVICE, REFUSED]
    assert on_remote(project, "main") == before

    assert project.gitrag("index", "update", "--no-embed").status == 0
    done = push(project, "main")  # drafts are searched: nothing is behind
    assert (done.returncode, gitrags(done)) == (0, [])
    assert on_remote(project, "main") == project.git.git("rev-parse", "main")


def test_block_says_so_by_its_own_exit_status(project, remote):
    commit(project, {"new.py": "def new(): pass\n"})
    tip = project.git.git("rev-parse", "main")
    refs = f"refs/heads/main {tip} refs/heads/main {'0' * 40}\n".encode()
    done = project.gitrag("check", "--push", stdin=refs, env={"GITRAG_PRE_PUSH": "block"})
    assert (done.status, done.out) == (3, "")
    assert done.said == ["warning: the search index is behind main: 3 files not indexed", ADVICE, REFUSED]
    assert project.gitrag("check", "--push", stdin=refs).status == 0
    for nonsense in (b"", b"\n", b"a b\n", b"\xff\xfe\n", refs.replace(tip.encode(), b"1" * 40)):
        done = project.gitrag("check", "--push", stdin=nonsense, env={"GITRAG_PRE_PUSH": "block"})
        assert (done.status, done.out, done.err) == (0, "", "")


def test_update_catches_up_by_itself(project, remote):
    commit(project, {"new.py": "def new(): pass\n"})
    done = push(project, "main", policy="update")
    assert (done.returncode, gitrags(done)) == (0, [])
    done = push(project, "main", policy="block")
    assert (done.returncode, gitrags(done)) == (0, [])


def test_update_without_a_model_indexes_the_text(project, remote, tmp_path):
    project.git.git("config", "--global", "gitrag.modelDir", str(tmp_path / "none"))
    del project.git.environment["GITRAG_MODEL_DIR"]
    commit(project, {"new.py": "def new(): pass\n"})
    done = push(project, "main", policy="update")
    assert (done.returncode, gitrags(done)) == (0, [])
    assert "The model" not in done.stderr
    assert is_silent(check(project, {"GITRAG_PRE_PUSH": "block"}))


def test_commit_and_push_at_once_says_nothing(project, remote):
    """The hook that the commit has started is at work, or about to be."""
    now = {"GIT_COMMITTER_DATE": f"{int(time.time())} +0000"}
    project.git.write({"new.py": "def new(): pass\n"})
    project.git.git("add", "--all")
    project.git.git("commit", "--quiet", "--message", "Change", env=now)
    done = push(project, "main")
    assert (done.returncode, gitrags(done)) == (0, [])
    assert on_remote(project, "main") == project.git.git("rev-parse", "main")


def test_a_push_waits_for_nobody_who_works_on_the_index(project, remote, unopened):
    """Whoever holds the lock is about to index: there is nothing to say, and nothing to wait for."""
    catch_up(project)
    commit(project, {"new.py": "def new(): pass\n"})
    with StoreLock(project.store, 10.0).exclusive("testing"):
        assert is_silent(check(project, {"GITRAG_PRE_PUSH": "warn", "GITRAG_LOCK_TIMEOUT_S": "3600"}))
    assert not is_silent(check(project, {"GITRAG_PRE_PUSH": "warn"}))


@pytest.fixture
def unopened(tmp_path):
    """An environment in which nobody can open an index."""
    place = tmp_path / "without duckdb"
    place.mkdir()
    for name in ("_duckdb.py", "duckdb.py"):
        (place / name).write_text("raise ImportError('the index was opened')\n")
    return {"PYTHONPATH": str(place), "GITRAG_PRE_PUSH": "block"}


def check(project, env, name="main"):
    tip = project.git.git("rev-parse", name)
    refs = f"refs/heads/main {tip} refs/heads/main {'0' * 40}\n".encode()
    return project.gitrag("check", "--push", stdin=refs, env=env)


def is_silent(done):
    return (done.status, done.out, done.err) == (0, "", "")


def test_what_was_found_fresh_is_not_looked_for_again(project, remote, unopened):
    catch_up(project)
    assert not is_silent(check(project, unopened)), "nobody has looked yet"
    assert is_silent(check(project, {"GITRAG_PRE_PUSH": "block"}))
    assert is_silent(check(project, unopened))
    commit(project, {"new.py": "def new(): pass\n"})
    assert not is_silent(check(project, unopened)), "another commit"
    assert is_silent(check(project, unopened, "main~"))
    catch_up(project)
    assert not is_silent(check(project, unopened, "main~")), "another content of the index"
    assert is_silent(check(project, {"GITRAG_PRE_PUSH": "block"}))
    assert is_silent(check(project, unopened))


def test_the_background_worker_finds_it_fresh_for_every_worktree(project, remote, unopened, tmp_path):
    project.git.git("worktree", "add", "--quiet", "-b", "side", tmp_path / "side", env={"GITRAG": "0"})
    assert project.gitrag("-C", str(tmp_path / "side"), "index", "update", "--no-embed").status == 0
    commit(project, {"new.py": "def new(): pass\n"})
    assert project.gitrag("hook", "run", "post-commit").status == 0
    assert is_silent(check(project, unopened))
    assert is_silent(check(project, unopened, "side"))


def test_what_was_found_fresh_does_not_outlive_what_it_rests_on(project, remote):
    (project.path / "long.py").write_text("def long():\n" + "    step()\n" * 50)
    commit(project, {})
    small = {"GITRAG_MAX_FILE_BYTES": "400", "GITRAG_PRE_PUSH": "block"}
    catch_up(project, small)
    assert is_silent(check(project, small))
    done = check(project, {"GITRAG_PRE_PUSH": "block"})
    assert (done.status, done.said[0]) == (
        3,
        "warning: the search index is behind main: 1 file not indexed",
    )
    assert is_silent(check(project, small))
    note = (project.store / "fresh.json").read_bytes()
    assert project.gitrag("index", "remove").status == 0
    project.store.mkdir(exist_ok=True)
    (project.store / "fresh.json").write_bytes(note)
    assert check(project, small).status == 3
    for noise in (b"", b"null", b"[]", b'{"of": 1}', b"\xff" * 99):
        (project.store / "fresh.json").write_bytes(noise)
        assert check(project, small).status == 3


def test_off_is_silent(project, remote):
    done = push(project, "main:other", policy="off")
    assert (done.returncode, gitrags(done)) == (0, [])


def test_every_kind_of_ref(project, remote):
    """Only tips that hold files count; what is pushed twice is named once."""
    catch_up(project)
    git = project.git.git
    git("branch", "same")
    git("tag", "light")
    git("tag", "--annotate", "--message", "A tag", "heavy")
    git("tag", "blob", project.git.blob("client.py"))
    git("tag", "tree", "main^{tree}")
    done = push(project, "same", "light", "heavy", "blob", "tree", policy="block")
    assert (done.returncode, gitrags(done)) == (0, [])

    git("checkout", "--quiet", "-b", "stale", env={"GITRAG": "0"})
    commit(project, {"new.py": "def new(): pass\n"})
    git("tag", "--annotate", "--message", "A tag", "staletag")
    git("checkout", "--quiet", "-b", "staler", env={"GITRAG": "0"})
    commit(project, {"newer.py": "def newer(): pass\n"})
    done = push(project, "stale", "staletag", "staler", policy="block")
    assert done.returncode == 1
    assert gitrags(done) == [
        "warning: the search index is behind stale: 1 file not indexed",
        "warning: the search index is behind staletag: 1 file not indexed",
        "warning: the search index is behind staler: 2 files not indexed",
        ADVICE,
        REFUSED,
    ]
    done = push(project, "main:main", ":same", "--delete", policy="block")
    done = push(project, "--delete", "same", "light", policy="block")
    assert (done.returncode, gitrags(done)) == (0, [])
    assert push(project, "same", policy="block").returncode == 0
    done = push(project, "same", policy="block")  # nothing to push
    assert (done.returncode, gitrags(done)) == (0, [])


def test_a_push_goes_through_whatever_is_wrong_with_gitrag(project, remote):
    """Only ``block`` may stop it, and only for the index's sake."""
    commit(project, {"new.py": "def new(): pass\n"})
    (project.path / ".gitrag.yaml").write_text("limit: nonsense\n")
    done = push(project, "main", policy="block")
    assert done.returncode == 0
    assert 'limit is "nonsense" (.gitrag.yaml)' in done.stderr
    (project.path / ".gitrag.yaml").unlink()
    project.store.mkdir(exist_ok=True)
    (project.store / "index.duckdb").write_bytes(b"not a database")
    commit(project, SOURCES | {"more.py": "x = 1\n"})
    done = push(project, "main")
    assert done.returncode == 0
    assert "The index was damaged (no DuckDB database)" in done.stderr
