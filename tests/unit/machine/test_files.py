"""Files that may not be what they seem."""

from __future__ import annotations

import os

import pytest

from gitrag.git import BlobError
from gitrag.git.conversion import read_file
from gitrag.machine.files import read_regular


def test_what_is_no_regular_file_is_refused_and_closed(tmp_path):
    """A process that asks often would run out of descriptors."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"content")
    free = os.dup(0)
    os.close(free)
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(OSError, match=r"Is a directory|Not a regular file"):
            read_regular(place)
    with pytest.raises(BlobError):
        read_file(tmp_path.parent, tmp_path.name)
    assert read_regular(tmp_path / "file", 4) == b"cont"
    last = os.dup(0)
    os.close(last)
    assert last == free
