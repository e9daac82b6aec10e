"""Reindexing that fails is only logged."""

from __future__ import annotations

import subprocess

from gitrag.mcp_server import tools
from gitrag.mcp_server.workbench import ToolCall, Workbench


def test_a_worker_that_cannot_start_is_only_logged(make_repository, git_environment, monkeypatch):
    bench = Workbench(make_repository({"a.py": "A = 1\n"}).path, git_environment)

    def full(*_args, **_options):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", full)
    answer = tools.reindex(bench, ToolCall(), ["a.py"])
    assert answer.text == "Reindexing 1 changed file in the background."
    assert bench.log_path is not None
    assert "reindex could not start the worker" in bench.log_path.read_text()
