"""The command line: it reads what the user typed and prints what gitrag answers; no logic lives here."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing takes as long to load as the rest of this
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130  # 128 + SIGINT, as shells count


def main() -> NoReturn:
    """Run the command line, and exit."""
    try:
        from gitrag.cli.boundary import run

        status = run(sys.argv[1:], os.environ)
    except KeyboardInterrupt:  # before the boundary stands: modules are being loaded
        status = INTERRUPTED
    sys.exit(status)
