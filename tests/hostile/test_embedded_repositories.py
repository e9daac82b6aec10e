"""A git directory that may have come with a clone is not entered, however deep it lies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import anyio
import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.mcp_client import over_stdio, text_of
from tests.support.repository import GitRepository, create_repository
from tests.support.traces import Traces

EMPTY_INDEX = b"DIRC\0\0\0\2\0\0\0\0"
PARENTS = {
    "bare": "[core]\n\tbare = true\n",
    "with a working tree": "[core]\n\tbare = false\n\tworktree = .\n",
    "broken": "[core\n",
    "a newer format": "[core]\n\trepositoryformatversion = 99\n",
    "without configuration": None,
}
"""What stands above the innermost, as its configuration says."""


def planted(place: str, traces: Traces) -> dict[str, str | bytes]:
    """Return the files of a repository that runs something as soon as git looks at its files."""
    command = traces.script(place.replace("/", "_")).replace('"', '\\"')
    return {
        f"{place}/HEAD": "ref: refs/heads/main\n",
        f"{place}/objects/x": "",
        f"{place}/refs/heads/x": "",
        f"{place}/index": EMPTY_INDEX + hashlib.sha1(EMPTY_INDEX).digest(),  # noqa: S324 - git's
        f"{place}/config": f'[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{command}"\n',
        f"{place}/sub/file.py": "x = 1\n",
    }


def above(place: str, config: str | None) -> dict[str, str]:
    files = {f"{place}/HEAD": "ref: refs/heads/main\n", f"{place}/objects/x": "", f"{place}/refs/heads/x": ""}
    return files | ({f"{place}/config": config} if config is not None else {})


PLACES = ("a/b", "a/b/sub", "a/b/refs", "a/x/y/deep/b", "plain/b/sub")
COMMANDS = (("search", "x"), ("status",), ("index",), ("init",), ("doctor",), ("hook", "run", "worker"))


@pytest.mark.parametrize("parent", PARENTS)
def test_it_is_refused_whatever_stands_above(tmp_path, model_dir, traces, parent):
    environment = user_environment(tmp_path / "home", model_dir)
    files = {**above("a", PARENTS[parent]), **above("a/x/y", PARENTS[parent])}
    for place in ("a/b", "a/x/y/deep/b", "plain/b"):
        files |= planted(place, traces)
    git = create_repository(tmp_path / "project", environment, {**files, "client.py": "x = 1\n"})
    for place in PLACES:
        gitrag = Gitrag(git.path / place, environment)
        for command in (
            COMMANDS if (place, parent) in {("a/b", "bare"), ("plain/b/sub", "bare")} else COMMANDS[:2]
        ):
            done = gitrag(*command)
            if command[0] not in {"doctor", "hook"}:
                assert done.status == 78, (place, command, done)
                assert "looks like a git repository, and lies in another" in done.err, (place, command, done)
            assert traces.found() == [], (place, command)
    assert not list(git.path.rglob("gitrag"))


def test_an_agent_cannot_have_it_opened(tmp_path, model_dir, traces):
    environment = user_environment(tmp_path / "home", model_dir)
    files = {**above("a", "[core\n"), **planted("a/b", traces), "client.py": "x = 1\n"}
    git = create_repository(tmp_path / "project", environment, files)

    async def ask() -> list[str]:
        async with over_stdio(Project(git, Gitrag(git.path, environment))) as client:
            paths = ("a/b", "a/b/sub", "a/b/sub/file.py", "a/b/../b")
            return [text_of(await client.call_tool("index_code", {"path": path})) for path in paths]

    for answer in anyio.run(ask):
        assert "looks like a git repository" in answer
    assert traces.found() == []


def test_git_would_run_what_it_configures(tmp_path, git_environment, traces):
    git = create_repository(tmp_path / "project", git_environment, planted("a/b", traces))
    place = git.path / "a" / "b"
    GitRepository(place, git_environment).git("--git-dir", place, "--work-tree", place, "status")
    assert traces.found() == ["a_b"]


@pytest.mark.parametrize(
    "place",
    [
        "tool.git",
        "tool.git/refs",
        "group/.bare",
        "project/.git/modules/m",
        "project/.git",
        "main/.git/worktrees/w",
    ],
)
def test_honest_repositories_are_entered(tmp_path, git_environment, place):
    """A bare one, one that a .git file beside it names, a submodule's, and parts of any."""
    top = tmp_path / Path(place).parts[0]
    match place.split("/"):
        case ["tool.git", *_]:
            create_repository(top, git_environment, bare=True)
        case ["group", _]:
            create_repository(top / ".bare", git_environment, bare=True)
            (top / ".git").write_text("gitdir: ./.bare\n")
        case ["main", *_]:
            create_repository(top, git_environment, {"a": "1\n"}).worktree(tmp_path / "w", "-b", "w")
        case _:
            create_repository(top, git_environment, {"a": "1\n"})
            create_repository(top / ".git" / "modules" / "m", git_environment, bare=True)

    from gitrag.git import Repository

    Repository.discover(tmp_path / place, git_environment)


def test_who_trusts_it_names_it(tmp_path, model_dir, traces):
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, planted("a/b", traces))
    named = {"GIT_DIR": str(git.path / "a" / "b"), "GIT_WORK_TREE": str(git.path / "a" / "b")}

    done = Gitrag(git.path / "a" / "b", environment)("status", env=named)

    assert "looks like a git repository" not in done.err
    assert traces.found() == [], "and even then git runs nothing of its configuration"
