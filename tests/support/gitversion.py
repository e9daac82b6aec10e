"""Which git the tests run with: the one on PATH."""

from __future__ import annotations

import subprocess

import pytest

from gitrag.machine.prerequisites import version_of

_SAID = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.strip()
GIT_VERSION = version_of(_SAID)


def needs_git(major: int, minor: int, what: str) -> pytest.MarkDecorator:
    """Skip a test under a git older than this; ``what`` says what it lacks."""
    return pytest.mark.skipif(
        (major, minor) > GIT_VERSION, reason=f"git {major}.{minor} or later {what}; this is {_SAID}"
    )
