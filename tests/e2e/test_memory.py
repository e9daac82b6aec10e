"""A limit on memory: one clear line, whatever part of gitrag or of a library it is refused to."""

from __future__ import annotations

import sys

import pytest

from tests.support.command import Project

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on the address space are Linux's")

TRY_AGAIN = 75
COMMANDS = (("init", "--skip-embed"), ("index", "update", "--no-embed"), ("search", "retry"), ("graph", "x"))


def limited(kib: int) -> list[str]:
    return ["sh", "-c", f'ulimit -v {kib} && exec "$@"', "sh"]


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("kib", [200_000, 400_000, 800_000])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_too_low_a_limit_is_said_before_anything_is_done(project: Project, command, kib):
    done = project.gitrag(*command, wrapper=limited(kib))
    assert (done.status, done.out) == (TRY_AGAIN, ""), done
    assert done.said == [
        f"The address space of a process is limited to {kib * 1024 / 1e6:.0f} MB; gitrag needs 1074 MB.",
        "hint: Raise the limit: ulimit -v unlimited",
    ]
    assert not project.store.exists()


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("kib", [25_000, 30_000, 40_000])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_where_python_itself_is_refused_memory_it_is_said(project: Project, command, kib):
    done = project.gitrag(*command, wrapper=limited(kib))
    assert (done.status, done.out) == (TRY_AGAIN, ""), done
    assert "memory" in done.err or "address space" in done.err
    assert len(done.said) <= 2


def test_enough_is_enough(project: Project):
    done = project.gitrag("index", "update", "--no-embed", wrapper=limited(3_000_000))
    assert (done.status, done.err) == (0, "")
