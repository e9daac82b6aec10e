"""What gitrag makes is for its user alone, whatever the umask, unless git says the repository is shared."""

from __future__ import annotations

import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.command import GITRAG, Gitrag, Project, user_environment, wait_until
from tests.support.repository import create_repository
from tests.support.tracked import Tracked
from tests.support.tracker_fakes import TOKEN, GitHubFake

SECRET = "the password is hunter2"  # noqa: S105
OPEN, USUAL, CLOSED = 0, 0o022, 0o077
"""What the umask takes from what a process makes."""


@pytest.fixture
def private(project: Project) -> Project:
    """A project with a file that git does not know and nobody else may read."""
    project.git.write({"notes.py": f'"""{SECRET}"""\n'})
    project.git.file("notes.py").chmod(0o600)
    return project


def modes(directory: Path) -> dict[str, int]:
    """Return the permissions of a directory and of all in it, by name."""
    found = {}
    for path in [directory, *directory.rglob("*")]:
        with suppress(FileNotFoundError):  # the worker's log of writes has gone meanwhile
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                found[str(path.relative_to(directory.parent))] = stat.S_IMODE(mode)
    return found


def open_to_others(directory: Path) -> list[str]:
    """List what others may read, write or enter, of a directory and what is in it."""
    return [f"{name}: {mode:o}" for name, mode in modes(directory).items() if mode & 0o077]


def assert_nothing_stays_open(directory: Path, what: object) -> None:
    """Assert that a directory is closed to others now, and soon all in it.

    A file that DuckDB has just made has the umask's permissions for a moment: the worker may still write.
    """
    assert not stat.S_IMODE(directory.stat().st_mode) & 0o077, what
    wait_until(lambda: open_to_others(directory) == [], f"open to others after {what}")


COMMANDS = [
    ["init"],
    ["agents", "install", "all"],
    ["index"],
    ["index", "update"],
    ["index", "embed", "--foreground"],
    ["index", "status"],
    ["search", "password", "--output", "text"],
    ["search", "password", "-c", "issues"],
    ["check", "client.py"],
    ["check", "--push"],
    ["related", "retry with backoff"],
    ["graph", "retry"],
    ["issues", "sync"],
    ["issues", "list"],
    ["explore", "save", "Backoff", "--goals", "wait longer"],
    ["explore", "list"],
    ["memory", "search", "backoff"],
    ["core", "mark", "client.py"],
    ["core", "unmark", "client.py"],
    ["prime"],
    ["status"],
    ["doctor"],
    ["gc", "--apply"],
    ["hook", "run", "post-commit"],
    ["hook", "run", "worker"],
    ["model", "status"],
    ["hooks", "status"],
    ["hooks", "uninstall"],
]


MAKING = [
    ["init"],
    ["agents", "install", "all"],
    ["index"],
    ["issues", "sync"],
    ["core", "mark", "client.py"],
]
"""What makes the files that are looked for at the end."""


@pytest.mark.timeout(900)  # twenty-eight commands
def test_after_every_command_nothing_is_open_to_others(tmp_path, model_dir, some):
    environment = user_environment(tmp_path / "home", model_dir) | {"GITHUB_TOKEN": TOKEN}
    fake = GitHubFake()
    git = create_repository(tmp_path / "project", environment, {"client.py": "def retry(): pass\n"})
    git.git("config", "--global", "gitrag.tracker", "github")
    git.git("config", "--global", "gitrag.trackerUrl", fake.url)
    git.git("config", "--global", "gitrag.trackerProject", fake.project)
    project = Project(git, Gitrag(git.path, environment))
    Tracked(project, fake).fill(3)
    git.write({"notes.py": f'"""{SECRET}"""\n'})
    home, state = tmp_path / "home" / ".gitrag", tmp_path / "home" / ".local" / "state" / "gitrag"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    made: set[str] = set()
    others = some([each for each in COMMANDS if each not in MAKING], keep=8)
    for command in (each for each in COMMANDS if each in MAKING or each in others):
        project.gitrag(*command, umask=OPEN, env={"TMPDIR": str(temporary)})
        for directory in (project.store, home, state, project.path / ".sdd"):
            if directory.exists():
                assert_nothing_stays_open(directory, command)
                made |= modes(directory).keys()
        assert not list(temporary.iterdir()), command
    fake.close()
    wanted = {
        "gitrag/index.duckdb",
        "gitrag/lock",
        "gitrag/log",
        ".gitrag/core_files.yaml",
        ".sdd/issues/1.md",
        ".sdd/issues/_meta.json",
    }
    assert wanted <= made, sorted(made)
    agents = project.path / ".mcp.json"
    assert stat.S_IMODE(agents.stat().st_mode) == 0o644


def test_a_commits_hook_makes_nothing_that_others_may_read(private: Project):
    git = private.git
    assert private.gitrag("init", umask=OPEN).status == 0
    command = ["git", "commit", "--quiet", "--allow-empty", "--message", "Next"]
    for _ in range(4):
        subprocess.run(command, cwd=git.path, env=git.environment, check=True, umask=OPEN)
    wait_until((private.store / "worker.lock").exists, "no worker")
    notes = [private.store / f"worker.{name}" for name in ("marks", "taken", "holder")]
    wait_until(lambda: not any(note.exists() for note in notes), "the worker does not end")
    subprocess.run(command, cwd=git.path, env=git.environment, check=True)  # now there is a lock to look at
    wait_until((private.store / "worker.start").exists, "no start")
    wait_until(lambda: not any(note.exists() for note in notes), "the worker does not end")
    assert open_to_others(private.store) == []


def test_marks_that_a_hook_leaves_a_running_worker_are_private(private: Project):
    private.gitrag("init")
    lock = private.store / "worker.lock"
    lock.touch(0o600)
    held = subprocess.Popen(["flock", lock, "sleep", "60"])
    try:
        wait_until(
            lambda: subprocess.run(["flock", "-n", lock, "true"], check=False).returncode != 0, "no lock"
        )
        command = ["git", "commit", "--quiet", "--allow-empty", "--message", "Next"]
        subprocess.run(command, cwd=private.path, env=private.git.environment, check=True, umask=OPEN)
        wait_until((private.store / "worker.marks").exists, "no marks")
        wait_until((private.store / "worker.start").exists, "no start")
        assert open_to_others(private.store) == []
    finally:
        held.kill()
        held.wait()


def test_an_index_of_an_earlier_version_is_closed_with_the_next_write(private: Project):
    private.gitrag("index", "update", "--no-embed")
    aside = private.store / "damaged-20250101-000000.duckdb"
    aside.write_bytes(b"x")
    for path in (private.store, *private.store.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    private.git.commit({"more.py": "def more(): pass\n"})
    private.gitrag("index", "update", "--no-embed")
    assert open_to_others(private.store) == []


def test_an_index_that_is_damaged_is_put_aside_closed(private: Project):
    private.gitrag("index", "update", "--no-embed")
    (private.store / "index.duckdb").write_bytes(b"no database")
    assert private.gitrag("index", "update", "--no-embed", umask=OPEN).status == 0
    assert list(private.store.glob("damaged-*.duckdb"))
    assert open_to_others(private.store) == []


def test_what_a_killed_process_left_is_in_a_closed_directory(private: Project):
    """While DuckDB is at work its own files have what the umask leaves; nobody gets to them."""
    process = subprocess.Popen(
        [GITRAG, "index", "update", "--no-embed"],
        cwd=private.path,
        env=private.git.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        umask=OPEN,
    )
    while process.poll() is None:
        if private.store.exists():
            assert stat.S_IMODE(private.store.stat().st_mode) == 0o700
            if (private.store / "index.duckdb").exists():
                process.kill()
    process.wait()
    assert stat.S_IMODE(private.store.stat().st_mode) == 0o700


SHARED = {
    "group": (0o660, 0o2770),
    "all": (0o664, 0o2775),
    "0640": (0o640, 0o2750),
    "umask": (0o600, 0o700),
}
"""What other values mean is in ``tests/unit/git/test_sharing.py``."""


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("value", SHARED)
@pytest.mark.parametrize("umask", [OPEN, CLOSED], ids=["open", "closed"])
def test_a_shared_repository_shares_its_index_as_git_shares_its_own(project: Project, value, umask):
    project.git.git("config", "core.sharedRepository", value)
    assert project.gitrag("index", "update", "--no-embed", umask=umask).status == 0
    project.gitrag("search", "retry", umask=umask)
    file_mode, directory_mode = SHARED[value]
    found = modes(project.store)
    assert found.pop("gitrag") == directory_mode
    assert {name: f"{mode:o}" for name, mode in found.items() if mode != file_mode} == {}
    if directory_mode & stat.S_ISGID:  # what git itself makes, under the same umask
        (project.path / "new.txt").write_text(value)
        subprocess.run(
            ["git", "add", "new.txt"], cwd=project.path, env=project.git.environment, check=True, umask=umask
        )
        index = stat.S_IMODE((project.path / ".git" / "index").stat().st_mode)
        assert index | file_mode == (file_mode if umask is CLOSED else index)


def test_a_repository_that_is_shared_no_longer_is_closed(project: Project):
    project.git.git("config", "core.sharedRepository", "all")
    project.gitrag("index", "update", "--no-embed")
    project.git.git("config", "--unset", "core.sharedRepository")
    project.git.commit({"more.py": "def more(): pass\n"})
    project.gitrag("index", "update", "--no-embed")
    found = {mode & 0o777 for mode in modes(project.store).values()}
    assert found == {0o700, 0o600}


def test_a_link_in_the_directory_is_not_followed(private: Project, tmp_path):
    other = tmp_path / "other"
    other.write_text("x")
    other.chmod(0o666)
    private.gitrag("index", "update", "--no-embed")
    (private.store / "link").symlink_to(other)
    private.git.commit({"more.py": "def more(): pass\n"})
    private.gitrag("index", "update", "--no-embed")
    assert stat.S_IMODE(other.stat().st_mode) == 0o666


def test_what_users_are_given_has_the_usual_permissions(project: Project):
    assert project.gitrag("agents", "install", "all", umask=USUAL).status == 0
    assert stat.S_IMODE((project.path / "CLAUDE.md").stat().st_mode) == 0o644
    assert stat.S_IMODE((project.path / ".claude").stat().st_mode) == 0o755
