"""A disk without room: the records and logs that work needs least do not end it, nor say anything."""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from gitrag.machine.isolation import Journal
from gitrag.machine.log import logged


@contextmanager
def no_room() -> Iterator[None]:
    """Let every write to a file fail, as where there is no space; opening one works."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_is_read_without_a_record_is_read_all_the_same(tmp_path):
    with no_room(), Journal(tmp_path).reading(["one", "two"]):
        read = True
    assert read
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_written_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stderr", said := io.StringIO())
    with no_room(), logged(tmp_path) as log:
        log.warning("no room for this")
    assert said.getvalue() == ""
