"""Mermaid itself, asked whether it can read what was drawn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_DIRECTORY = os.environ.get("GITRAG_MERMAID_DIR")  # read here: tests run in an environment of their own


def assert_parses(blocks: Iterable[str]) -> None:
    """Let the real parser read diagrams; skip where node or the npm package is not there.

    ``scripts/test`` installs the package and sets ``GITRAG_MERMAID_DIR``, so that nothing is skipped there.
    """
    if not _DIRECTORY or shutil.which("node") is None:
        pytest.skip("no node with mermaid (scripts/test installs it)")
    done = subprocess.run(
        ["node", str(_HERE / "parse.mjs"), _DIRECTORY],
        input=json.dumps(list(blocks)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
