"""A repository that has something to ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Project, indexed_project
from tests.support.mcp_client import ADR


@pytest.fixture(scope="session")
def with_decision(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """What ``own`` is copied from."""
    decision = {"docs/adrs/ADR-0001-retries.md": ADR}
    return indexed_project(tmp_path_factory.mktemp("decision"), model_dir, decision)


@pytest.fixture
def own(with_decision: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    """A repository of the test's own, indexed and embedded."""
    return with_decision.copied(tmp_path / "project", environment)
