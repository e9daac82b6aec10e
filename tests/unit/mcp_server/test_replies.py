"""What an answer says it rests on."""

from __future__ import annotations

import pytest

from gitrag.actions.search_code import Cascade, Snippet, Via
from gitrag.mcp_server.replies import Freshness, code_text, freshness_line


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


@pytest.mark.parametrize("scores", [(0.3, 0.29), (0.29, 0.1), (0.9, None)], ids=str)
def test_what_is_only_near_is_marked_and_the_head_says_so_where_all_is(scores: tuple[float | None, ...]):
    snippets = tuple(
        Snippet(f"{place}.py", 1, 1, "f", "", "function", "python", score, Via.SEMANTIC, "f")
        for place, score in enumerate(scores)
    )
    near = [score is not None and score < 0.3 for score in scores]
    assert [each.is_nearest for each in snippets] == near
    lines = str(
        code_text(Cascade("q", snippets, False, None), Freshness("0" * 40, uncommitted_included=True))
    ).splitlines()
    assert ["(0." in line and " nearest " in line for line in lines if ".py:1-1" in line] == near
    assert (lines[0] == "nothing scores 0.30 or more; nearest:") == all(near)
