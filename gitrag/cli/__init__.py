"""The command line: it reads what the user typed and prints what gitrag answers; no logic lives here."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, and exit."""
    from gitrag.cli.boundary import run

    sys.exit(run(sys.argv[1:], os.environ))
