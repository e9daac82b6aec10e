"""A repository whose hooks call a stand-in for the gitrag command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.hooked import STAND_IN, Hooked, StandIn


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A recorder at a path that needs quoting."""
    directory = tmp_path / 'it\'s a "bin" $(no)\nfolder'
    directory.mkdir()
    path = directory / "gitrag"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    return StandIn(path)


@pytest.fixture
def hooked(make_repository, stand_in: StandIn) -> Hooked:
    """A repository with one commit, whose hooks are yet to be installed."""
    return Hooked(make_repository({"a.py": "a = 1\n"}, name='it\'s "a" $(repo)\nof mine'), stand_in)
