"""SECURITY.md names tests; they are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_line_on_how_something_is_held_has_its_test():
    rows = [
        line
        for line in (ROOT / "SECURITY.md").read_text("utf-8").split("## How it is held")[1].splitlines()
        if line.startswith("|") and not line.startswith(("| what ", "|---"))
    ]
    assert len(rows) > 15
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for path, test in named:
            tree = ast.parse((ROOT / path).read_text("utf-8"))
            assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
