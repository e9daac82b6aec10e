"""A repository that has something to ask for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client

from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
from tests.support.command import Project, indexed_project, user_environment
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


@dataclass(frozen=True, slots=True)
class Asked(Project):
    """A repository with a server in this process.

    Attributes:
        use: Does something with the server's client.
    """

    use: Callable[[Callable[[Client], Any]], Any]


@pytest.fixture(scope="module")
def _asked(
    with_decision: Project, tmp_path_factory: pytest.TempPathFactory, model_dir: Path
) -> Iterator[Asked]:
    place = tmp_path_factory.mktemp("asked")
    copied = with_decision.copied(place / "project", user_environment(place / "home", model_dir))
    client = Client(build(Workbench(copied.path, copied.gitrag.environment)))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Asked(copied.git, copied.gitrag, lambda steps: portal.call(steps, client))


@pytest.fixture
def asked(_asked: Asked) -> Iterator[Asked]:
    """The like of ``own`` with one server for a module's tests: what they write is removed, none commits."""
    yield _asked
    _asked.git.git("clean", "-dffq")
    _asked.git.git("checkout", "-q", ".")
    shutil.rmtree(_asked.path.parent / "home" / ".gitrag", ignore_errors=True)
