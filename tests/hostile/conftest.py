"""A place where whatever a repository has gitrag run leaves a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.traces import Traces


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    directory = tmp_path / "traces"
    directory.mkdir()
    return Traces(directory)
