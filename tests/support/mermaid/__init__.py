"""Mermaid itself, asked whether it can read what was drawn."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.node import NODE_DIR

_HERE = Path(__file__).parent


def assert_parses(blocks: Iterable[str]) -> None:
    """Let the real parser read diagrams; skip where node or the npm package is not there."""
    if not NODE_DIR or shutil.which("node") is None:
        pytest.skip("no node with mermaid (scripts/test installs it)")
    done = subprocess.run(
        ["node", str(_HERE / "parse.mjs"), NODE_DIR],
        input=json.dumps(list(blocks)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
