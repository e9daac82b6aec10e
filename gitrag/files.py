"""Files of the user's that gitrag writes to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all, in one step: nobody reads, or runs, half of it.

    Args:
        path: The file; its directory is there.
        content: What it shall hold.
        mode: Its permissions.

    Raises:
        OSError: It cannot be written; it is as it was.
    """
    descriptor, name = tempfile.mkstemp(prefix=".gitrag.", dir=path.parent)
    written = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        written.chmod(mode)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
