"""A command run here or forked, as most tests do, does what the installed one does, which users run."""

from __future__ import annotations

import dataclasses
import re
import signal
import subprocess
from contextlib import contextmanager

import pytest

from tests.support.command import GITRAG, Done, Gitrag, Project, program
from tests.support.forked import can_fork

CHANGING = re.compile(r"\b[\d.]+ (m?s|min|GB free)\b|just now")
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
def ways(indexed: Project) -> tuple[Gitrag, ...]:
    if not can_fork(indexed.gitrag.environment, b""):
        pytest.skip("commands are not forked on this system")
    return tuple(
        dataclasses.replace(indexed.gitrag, **way) for way in ({}, {"here": False}, {"forks": False})
    )


def lasting(done: Done) -> Done:
    """Leave out what differs from one time to the next."""
    return dataclasses.replace(done, out=CHANGING.sub("…", done.out), err=CHANGING.sub("…", done.err))


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_the_same(ways, command):
    """So each is started as users start it at least once."""
    run_here, forked, started = (lasting(way(*command)) for way in ways)
    assert run_here == forked == started


@contextmanager
def serving(project: Project):
    """A server that listens, started by the program that stands for the command, and its address."""
    quick = program(project.gitrag.environment)
    assert quick != GITRAG
    with subprocess.Popen(
        [quick, "mcp", "--http", "127.0.0.1:0"],
        cwd=project.path,
        env=project.gitrag.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stderr is not None
        assert b"http://127.0.0.1:" in server.stderr.readline()
        yield server


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -9)]
)
def test_a_command_that_a_program_stands_for_gets_its_signals(ways, indexed, number, status):
    """Also the one that the program cannot pass on."""
    with serving(indexed) as server:
        server.send_signal(number)
        server.stderr.read()  # to its end: nobody has it open any more
        assert server.wait() == status


def test_it_reads_and_writes_the_program_s_streams_and_ends_as_the_command(ways, indexed):
    for args in (("search", "-", "-o", "json"), ("search", "--nosuch")):
        expected, found = (
            subprocess.run(
                [command, *args],
                cwd=indexed.path,
                env=indexed.gitrag.environment,
                input=b"retry with backoff",
                capture_output=True,
                check=False,
            )
            for command in (GITRAG, program(indexed.gitrag.environment))
        )
        assert (found.returncode, found.stdout) == (expected.returncode, expected.stdout)
