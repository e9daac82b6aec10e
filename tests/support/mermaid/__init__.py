"""Mermaid itself, asked whether it can read what was drawn."""

from __future__ import annotations

import atexit
import functools
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
    parser = _parser()
    if parser.stdin is None or parser.stdout is None:
        raise AssertionError("its streams are pipes")
    parser.stdin.write(json.dumps(list(blocks)) + "\n")
    parser.stdin.flush()
    answer = parser.stdout.readline()
    assert answer, f"mermaid's parser has ended: {parser.wait()}"
    assert json.loads(answer) == []


@functools.cache
def _parser() -> subprocess.Popen[str]:
    """Start it, once for all tests of this process: that takes 2 s."""
    parser = subprocess.Popen(
        ["node", str(_HERE / "parse.mjs"), NODE_DIR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(parser.communicate)
    return parser
