"""What an answer says it rests on."""

from __future__ import annotations

import pytest

from gitrag.mcp_server.replies import Freshness, freshness_line


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "with uncommitted changes of 1 file, 1 text on draft vectors, 1 file not indexed yet"),
        (2, "with uncommitted changes of 2 files, 2 texts on draft vectors, 2 files not indexed yet"),
    ],
)
def test_one_is_said_as_one(number: int, expected: str):
    freshness = Freshness(
        "0123456789abcdef",
        uncommitted_included=True,
        uncommitted_files=number,
        unembedded=number,
        waiting_files=number,
    )
    assert freshness_line(freshness) == f"commit 0123456789, {expected}: ask again later"
