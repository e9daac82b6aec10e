"""A repository that has something to ask for."""

from __future__ import annotations

import pytest

from tests.support.command import Project
from tests.support.mcp_client import ADR


@pytest.fixture
def own(project: Project) -> Project:
    project.git.commit({"docs/adrs/ADR-0001-retries.md": ADR})
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert project.gitrag("index", "embed", "--foreground").status == 0
    return project
