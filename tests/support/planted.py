"""A repository in which every field that somebody else writes tries to command a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import create_repository

EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[7m\x9b31m\x85\x08\r\u202e\u2066\u200f\u2028"
"""Put something on the clipboard, clear the screen, turn colours round, and the direction of reading."""

LINE = f"{EVIL}\nforged line"
"""The same where one line is meant: what begins a line of its own is taken for gitrag's."""

_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORGED = re.compile(r"^[\W\d]*forged line", re.MULTILINE)
_OURS = re.compile(r"\x1b\[(?:0|[1245]|3[125])(?:;(?:[1245]|3[125]))*m")
"""What `Terminal.style` writes; nothing planted looks like it."""

NAME = f"sr{EVIL.replace('/', '')}\nforged line"
SCRIPT = f"{NAME}.py"
ADR = f"docs/adr/ADR-0003-{NAME}.md"

_SOURCE = f'''"""Calls other services {EVIL}."""


def retry_with_backoff(call):
    """Call again after a failure {EVIL}, waiting longer each time.

    See ADR-0001 and SPEC-0001.
    """
    for attempt in range(3):  # again {EVIL}
        return call(attempt)
'''
_ISSUE = {
    "title": f"Retry with backoff {LINE}",
    "description": f"Calls are retried with backoff {EVIL}. See ADR-0001.",
    "status": "open",
    "labels": [f"on{LINE}"],
    "assignee": f"bob{LINE}",
    "created_by": f"ada{LINE}",
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-02T03:04:05Z",
}


def _front(**fields: object) -> str:
    """Return front matter; JSON's strings are YAML's."""
    return "".join(["---\n", *(f"{name}: {json.dumps(said)}\n" for name, said in fields.items()), "---\n"])


def files() -> dict[str | bytes, str]:
    """Return what a stranger commits."""
    said = f"Calls are retried with backoff {EVIL}, waiting longer each time."
    head = {"status": f"accepted {LINE}", "supersedes": [f"ADR-0009{LINE}"], "requires": [f"SPEC-0001{LINE}"]}
    return {
        ".gitignore": ".sdd/\n",
        "client.py": _SOURCE,
        f"pkg/{SCRIPT}": _SOURCE,
        f"pkg/test_{SCRIPT}": "from client import retry_with_backoff\n\n\n"
        "def test_retry():\n    retry_with_backoff(1)\n",
        "caller.js": 'import { again } from "./again.js";\n'
        f'describe("retry {EVIL}", () => {{ again(); }});\n'
        f'class Retry {{ "with backoff {EVIL}"() {{ again(); }} }}\n',
        "again.js": "export function again() { return 1; }\n",
        "docs/adr/ADR-0001-retry.md": _front(title=f"Retry with backoff {LINE}", **head)
        + f"\n# Retry {EVIL}\n\n## Decision {EVIL}\n\n{said}\n\nIt governs client.py.\n",
        "docs/adr/ADR-0002-heading.md": f"# ADR-0002: Retry {EVIL}\n\n* Status: accepted {EVIL}\n\n{said}\n",
        ADR: _front(id=f"ADR-0003{LINE}", title=LINE) + f"\n{said}\n",
        "docs/specs/retry/spec.md": f"# SPEC-0001: Retry with backoff {EVIL}\n\n"
        f"## Requirements {EVIL}\n\n{said}\n",
        "docs/specs/other/spec.md": _front(title=f"Retries {LINE}", **head) + f"\n{said}\n",
        "README.md": f"# Retry {EVIL}\n\n## With backoff {EVIL}\n\n{said}\n",
        "Makefile": f"test:\n\tpytest {EVIL}\n",
        "package.json": json.dumps(
            {"name": LINE, "bin": {LINE: f"bin/{LINE}"}, "main": LINE, "scripts": {"test": f"jest {LINE}"}}
        ),
        "pyproject.toml": f'[project]\nname = "x"\n[project.scripts]\n{json.dumps(NAME)} = "client:retry"\n',
        ".beads/issues.jsonl": "".join(
            json.dumps({"id": own, **_ISSUE}) + "\n" for own in ("bd-a1b2", "bd-a1b3")
        ),
        ".gitrag.yaml": json.dumps({LINE: LINE, "modules": [LINE], "exclude": [f"gone{LINE}"]}),
        ".gitmodules": f'[submodule "m{EVIL[:4]}"]\n\tpath = m{EVIL[:4]}\n\turl = ./m\n',
    }


def plant(place: Path, model_dir: Path) -> Project:
    """Make the repository, with commits by a hostile author, and an index of it."""
    environment = user_environment(place / "home", model_dir)
    environment |= {"GITRAG_PRE_PUSH": "warn", "GITRAG_AUTO_INDEX": "off"}
    git = create_repository(place / f"project{NAME}", environment, {"client.py": "A = 1\n"})
    git.git("config", "user.name", f"ada {EVIL.replace(chr(13), '')}")
    git.git("checkout", "--quiet", "-b", "retry-\x9b31m\u202e")
    git.write(files())
    git.commit({}, message=f"Retry with backoff {EVIL}\n\nBecause calls failed {EVIL}. Closes bd-a1b2.\n")
    git.commit({"client.py": _SOURCE + "\n\nretry_with_backoff(print)\n"}, message=f"Call {EVIL}")
    git.write({f"new{NAME}.py": _SOURCE})
    made = Project(git, Gitrag(git.path, environment))
    done = made.gitrag("index", "update", "--no-embed")
    assert done.status == 0, done
    assert made.gitrag("index", "embed", "--foreground").status == 0
    return made


def faults(text: str) -> list[str]:
    """Return what in a text would command a terminal, or passes for a line of gitrag's."""
    plain = _OURS.sub("", text)
    return [repr(plain[max(found.start() - 60, 0) : found.end() + 20]) for found in _RAW.finditer(plain)][
        :3
    ] + [repr(plain[max(found.start() - 60, 0) : found.end() + 20]) for found in _FORGED.finditer(plain)][:3]
