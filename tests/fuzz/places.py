"""A repository for what strangers wrote, beside files that must be found whatever lies there."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from tests.fuzz.commands import Commands
from tests.fuzz.processes import marked
from tests.support.repository import create_repository, isolated_environment

CANARY = "canary/singing.py"
QUESTION = "where does the canary sing at dawn"
FILES: Mapping[str | bytes, str] = {
    CANARY: 'def sing_at_dawn(canary):\n    """The canary sings at dawn."""\n    return breathe(canary)\n\n\n'
    "def breathe(canary):\n    return canary.air\n",
    "docs/adrs/ADR-0001-canary.md": "# ADR-0001: Keep a canary\n\n"
    "## Status\n\nAccepted\n\n## Decision\n\nIt sings at dawn.\n",
    "docs/specs/canary/spec.md": "# SPEC-0001: Canary\n\n"
    "## Requirements\n\n### Requirement: Dawn\n\nIt SHALL sing at dawn.\n",
    "README.md": "# Mine\n\nA mine has a canary.\n",
}


def user(home: Path) -> dict[str, str]:
    """Return the environment of a user without a model, tokens, or a network."""
    home.mkdir(parents=True, exist_ok=True)
    kept = isolated_environment(home)
    return {
        key: value for key, value in kept.items() if "TOKEN" not in key and "_proxy" not in key.lower()
    } | {
        "GIT_CEILING_DIRECTORIES": str(home.parent),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "GITRAG_MODEL_DIR": str(home / "no-model"),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "PIP_NO_INDEX": "1",
    }


class Mine:
    """A repository with a canary, indexed, and commands in it.

    Args:
        space: An empty directory; beside the repository, ``outside`` and ``traces`` are to stay as they are.
    """

    def __init__(self, space: Path) -> None:
        self.space = space
        self._mark = f"FUZZED_IN={space}"
        self.environment = user(space / "home") | {"FUZZED_IN": str(space)}
        self._outside = space / "outside"
        self._outside.mkdir()
        (self._outside / "x").write_text("a secret\n")
        (space / "traces").mkdir()
        self.git = create_repository(space / "project", self.environment, FILES)
        self.path = self.git.path
        self.commands = Commands(self.path, self.environment, space)
        done = self.commands("index", "update", "--no-embed")
        if done.status:
            raise RuntimeError(done)
        self.base = self.git.git("rev-parse", "HEAD")
        self.around = self.look_around()

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files of an input; names that cannot be are left out."""
        for name, data in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def settle(self) -> None:
        """Let the processes end that commands have left in the background; the watch ends a wait for ever.

        To look is work itself, so that it would never see seconds in which nothing runs: ever more seldom.
        """
        pause_s = 0.05
        while set(marked(self._mark)) - {self.commands.pid}:
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.2, 5)

    def clean(self) -> None:
        """Put the repository back as it was; rules of the input no longer hold while git does so."""
        for path in self.path.rglob(".git[ai]*"):
            path.unlink()
        self.git.git("reset", "--quiet", "--hard", self.base)
        self.git.git("clean", "-ffdxq")

    def harm(self) -> str:
        """Say what ran or was written outside, or what the canary's file suffered."""
        around = self.look_around()
        if around != self.around:
            return f"outside was {self.around}, is {around}"
        return ""

    def silent(self) -> str:
        """Say whether a search no longer finds the canary."""
        done = self.commands("search", QUESTION, "--output", "json", "--no-graph")
        wrong = done.wrong("search (of the canary)")
        if wrong or done.status:
            return wrong or f"the canary's search ended with status {done.status}: {done.err}"
        found = [each["path"] for each in json.loads(done.out)["code_snippets"]]
        return "" if CANARY in found[:1] else f"the canary's search found {found}"

    def close(self) -> None:
        self.commands.close()
        self.settle()
        shutil.rmtree(self.space, ignore_errors=True)

    def look_around(self) -> dict[str, str]:
        """Return what lies outside the repository."""
        found = {}
        for path in (*self._outside.rglob("*"), *(self.space / "traces").rglob("*"), *self.space.iterdir()):
            if not path.name.startswith("command."):
                found[str(path.relative_to(self.space))] = path.read_text() if path.is_file() else ""
        return found
