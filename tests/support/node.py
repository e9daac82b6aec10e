"""Others' programs, from npm: `scripts/test` installs them, so that nothing is skipped there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

NODE_DIR = os.environ.get("GITRAG_TEST_NODE_DIR")  # read here: tests run in an environment of their own
"""Where ``node_modules`` is."""


def program(name: str, pattern: str) -> str | None:
    """Find a program: where a pattern below ``NODE_DIR/node_modules`` says, else on PATH."""
    installed = sorted(Path(NODE_DIR, "node_modules").glob(pattern)) if NODE_DIR else []
    return str(installed[0]) if installed else shutil.which(name)
