"""A forked command, which most tests run, does what the installed one does, which users run."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tests.support.command import Done, Gitrag, Project
from tests.support.forked import can_fork

CHANGING = re.compile(r"\b[\d.]+ (m?s|GB free)\b|just now")
"""How long something took or how long ago it was, and what others leave of the disk."""

COMMANDS = [
    (),
    ("--version",),
    ("status",),
    ("status", "--json"),
    ("search", "retry with backoff", "--output", "json", "--explain"),
    ("search", "nothing of the kind", "--output", "text"),
    ("search",),
    ("serch",),
    ("graph", "retry_with_backoff", "--callers"),
    ("check", "client.py"),
    ("check", "--push"),
    ("related", "retry with backoff"),
    ("prime",),
    ("core", "suggest"),
    ("explore", "list"),
    ("memory", "search", "retry"),
    ("issues", "list"),
    ("config",),
    ("hooks", "status"),
    ("model", "status"),
    ("doctor",),
    ("index", "status", "--json"),
    ("index", "update", "--no-embed"),
    ("index", "embed", "--foreground"),
    ("gc",),
    ("completion", "bash"),
    ("mcp", "--http", "0.0.0.0:0"),
]


@pytest.fixture(scope="module")
def both(indexed: Project) -> tuple[Gitrag, Gitrag]:
    if not can_fork(indexed.gitrag.environment, b""):
        pytest.skip("commands are not forked on this system")
    return indexed.gitrag, dataclasses.replace(indexed.gitrag, forks=False)


def lasting(done: Done) -> Done:
    """Leave out what differs from one time to the next."""
    return dataclasses.replace(done, out=CHANGING.sub("…", done.out), err=CHANGING.sub("…", done.err))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_the_same(both, command):
    """So each is started as users start it at least once."""
    forked, started = both
    assert lasting(forked(*command)) == lasting(started(*command))
