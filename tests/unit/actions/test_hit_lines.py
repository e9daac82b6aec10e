"""Passages in a budget: which are chosen, and at what cost."""

from __future__ import annotations

from gitrag.actions.hit_lines import packed
from gitrag.model import Chunk, Kind
from gitrag.search.engine import FurtherHit, Hit
from tests.support.steps import counted


def chunk(first: int, last: int) -> Chunk:
    return Chunk(Kind.FUNCTION, "f", "f", "f()", "", "\n".join(["line"] * (last - first + 1)), first, last)


def hit(path: str, *also: FurtherHit, repository: str = "") -> Hit:
    return Hit(path, chunk(1, 5), 0.5, (), also, 1.0, 0.5, (), repository=repository)


def calls_to_pack(files: int) -> int:
    """Count the calls of Python's functions that choosing makes, generators' steps included."""
    hits = [hit(f"{number}.py") for number in range(files)]
    with counted("call") as taken:
        found = packed(hits, 100_000)
    assert len(found) == files
    return taken["call"]


def test_choosing_takes_calls_in_proportion_to_the_files():
    assert calls_to_pack(400) <= 2.2 * calls_to_pack(200)


def test_lines_of_a_file_are_given_once_and_the_same_lines_of_others_too():
    beside = chunk(4, 9), 0.3
    after = chunk(6, 9), 0.3
    hits = [hit("a.py", beside, after), hit("b.py"), hit("a.py", repository="other")]
    found = [(own.repository, own.path, each.line_start) for own, each, _ in packed(hits, 1_000)]
    assert found == [("", "a.py", 1), ("", "a.py", 6), ("", "b.py", 1), ("other", "a.py", 1)]
