"""`gitrag agents install`: what it writes starts, which `gitrag doctor` tries."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support import node
from tests.support.command import Project

TOP = Path(__file__).parents[3]
CLAUDE = node.program("claude", "@anthropic-ai/claude-code-*/claude")
GEMINI = node.program("gemini", ".bin/gemini")
LISTS = {  # Amp starts no server without an account; Gemini and Qwen wait for one for five seconds only
    "amp": (node.program("amp", "@ampcode/cli-*/amp"), "gitrag  command"),
    "claude": (CLAUDE, "✔ Connected"),
    "codex": (node.program("codex", ".bin/codex"), "enabled"),
    "gemini": (GEMINI, "(stdio)"),
    "opencode": (node.program("opencode", "opencode-*/bin/opencode"), "connected"),
    "qwen": (node.program("qwen", ".bin/qwen"), "(stdio)"),
}
"""Clients that list their servers without a model, and what they say of one that starts."""


def check_of(project: Project) -> dict[str, str]:
    [check] = [row for row in json.loads(project.gitrag("doctor", "--json").out) if row["name"] == "agents"]
    return check


def home_of(project: Project) -> Path:
    return Path(project.gitrag.environment["HOME"])


def test_what_is_written_starts_and_answers(project: Project):
    """The repository was never indexed: the server says so, which is an answer."""
    assert "gitrag agents install" in check_of(project)["message"]
    done = project.gitrag("agents", "install", "--user", "claude", "zed")
    assert done.out == "written ~/.claude.json\nwritten ~/.config/zed/settings.json\n"
    assert project.gitrag("agents", "install", "cursor").status == 0
    entry = json.loads((home_of(project) / ".claude.json").read_text())["mcpServers"]["gitrag"]
    assert Path(entry["command"]).is_absolute()
    check = check_of(project)
    said, _, clients = check.pop("message").partition(", for ")
    assert check == {"name": "agents", "state": "ok", "mend": ""}
    assert said == "the server starts and answers"
    assert sorted(clients.split(", ")) == ["claude (user)", "cursor (project)", "zed (user)"]
    assert not (project.store / "index.duckdb").exists()
    assert project.gitrag("agents", "remove", "--user", "claude", "zed").status == 0
    assert not (home_of(project) / ".claude.json").exists()


def test_the_repository_s_files_are_set_up_and_given_back(project: Project):
    shown = project.gitrag("agents", "install", "--dry-run", "cursor")
    assert '+    "gitrag": {' in shown.out
    assert project.git.git("status", "--porcelain") == ""
    assert "written .cursor/mcp.json" in project.gitrag("agents", "install", "cursor").out
    assert project.gitrag("agents", "install", "cursor").out == "Nothing to do for cursor.\n"
    assert "removed .cursor/mcp.json" in project.gitrag("agents", "remove", "cursor").out
    assert project.git.git("status", "--porcelain") == ""


def test_a_command_that_does_not_start_is_told(project: Project):
    (home_of(project) / ".claude.json").write_text(
        json.dumps({"mcpServers": {"gitrag": {"type": "stdio", "command": "/gone/gitrag", "args": ["mcp"]}}})
    )
    check = check_of(project)
    assert check["state"] == "fail"
    assert "/gone/gitrag does not start: No such file or directory" in check["message"]
    assert check["mend"] == "gitrag agents install --user"
    assert project.gitrag("agents", "install", "--user", "claude").out == "changed ~/.claude.json\n"


def test_a_program_of_the_repository_is_not_started(project: Project):
    """Whoever wrote the repository could have doctor run anything."""
    program = project.path / "gitrag"
    program.write_text(f"#!/bin/sh\ntouch {project.path}/ran\n")
    program.chmod(0o755)
    (project.path / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"gitrag": {"type": "stdio", "command": str(program), "args": ["mcp"]}}})
    )
    check = check_of(project)
    assert (check["state"], "was not started" in check["message"]) == ("warn", True)
    assert not (project.path / "ran").exists()


def test_a_client_without_a_file_of_a_project_is_told_what_to_do(project: Project):
    done = project.gitrag("agents", "install", "windsurf")
    assert (done.status, done.said) == (
        2,
        [
            "windsurf reads its servers from the user's file only.",
            "hint: gitrag agents install --user windsurf",
        ],
    )


def said_by(program: str | None, environment: dict[str, str], place: Path, *arguments: str) -> str:
    """Run a client of others; skip the test where it is not here."""
    if program is None:
        pytest.skip("the client is not here (scripts/test installs some of them)")
    done = subprocess.run(
        [program, *arguments],
        cwd=place,
        env={**environment, "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", LISTS)
def test_a_client_lists_what_was_written_and_connects(project: Project, name: str):
    program, says = LISTS[name]
    assert project.gitrag("agents", "install", "--user", name).status == 0
    said = said_by(program, project.gitrag.environment, project.path, "mcp", "list")
    assert "gitrag" in said
    assert says in said


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (CLAUDE, ("plugin", "validate", "--strict", ".claude-plugin/plugin.json")),
        (CLAUDE, ("plugin", "validate", "--strict", ".")),
        (GEMINI, ("extensions", "validate", ".")),
    ],
    ids=["plugin", "marketplace", "extension"],
)
def test_a_client_takes_its_plugin(program: str | None, arguments: tuple[str, ...], environment):
    said_by(program, environment, TOP, *arguments)
