"""What may be in a file's place: a circle of links, a FIFO, a socket, a directory, a device."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.support.command import Project, as_plain_user

PLACES = {
    "settings": [".gitrag.yaml"],
    "rules": [".gitignore", ".gitattributes", ".gitragignore", ".git/info/exclude"],
    "others": [
        ".mcp.json",
        "CLAUDE.md",
        "AGENTS.md",
        ".claude/skills/gitrag-search/SKILL.md",
        ".sdd/issues/1.md",
        ".beads/issues.jsonl",
        "docs/specs/one/tasks.md",
        ".git/hooks/post-commit",
    ],
}
COMMANDS = (
    ("agents", "install", "all"),
    ("init", "--skip-embed"),
    ("search", "retry"),
    ("hooks", "status"),
    ("issues", "list"),
)


def plant(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "circle":
        path.symlink_to(path.name)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))  # a socket's path must be short
    else:
        path.write_text("x")
        path.chmod(0)


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("kind", ["circle", "fifo", "directory", "device", "socket", "unreadable"])
def test_what_is_no_file_is_said_and_never_waited_for(project: Project, kind, places, monkeypatch):
    monkeypatch.chdir(project.path)
    for place in PLACES[places]:
        plant(Path(place), kind)
    for command in COMMANDS:
        done = project.gitrag(*command, wrapper=as_plain_user() if kind == "unreadable" else [])
        assert done.status in {0, 1, 2, 75, 78}, (command, done)
