"""A repository that has something to ask for."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Project

ADR = "# ADR-0001: Retry with backoff\n\n## Status\n\nAccepted\n\n## Decision\n\nCalls are retried.\n"


@pytest.fixture
def own(project: Project) -> Project:
    project.git.commit({"docs/adrs/ADR-0001-retries.md": ADR})
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert project.gitrag("index", "embed", "--foreground").status == 0
    return project
