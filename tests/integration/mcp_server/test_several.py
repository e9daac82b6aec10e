"""Several repositories, asked by the server."""

from __future__ import annotations

import logging

import pytest

from gitrag.actions.search import SearchOptions
from gitrag.mcp_server.workbench import ToolCall, Workbench
from gitrag.workspace import Workspace


@pytest.fixture(autouse=True)
def own_log():
    yield
    log = logging.getLogger("gitrag")  # the server's log is the process's: other tests have their own
    for handler in list(log.handlers):
        log.removeHandler(handler)
        handler.close()


def test_the_servers_own_repository_is_opened_anew(make_repository, git_environment):
    repo = make_repository({"a.py": "def weigh(parcel):\n    return parcel.weight\n"}, name="parcels")
    Workspace.open(repo.path, environ=repo.environment).update()
    bench = Workbench(repo.path, git_environment)
    bench.several(ToolCall(), [str(repo.path)])("weigh", SearchOptions(limit=3))
    found = bench._several.find("parcels")
    assert found is not None
    assert found is not bench.workspace  # a thread that is late may be at it still
