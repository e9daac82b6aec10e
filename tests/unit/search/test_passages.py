from __future__ import annotations

import pytest

from gitrag.model import Chunk, Kind
from gitrag.search.passages import MOST_LINES, shares, values, window


def chunk(name: str, lines: int = 10, *, kind: Kind = Kind.FUNCTION, before: str = "") -> Chunk:
    text = f"{before}fn {name}() {{" + "\n    work();" * (lines - 1)
    return Chunk(kind, name, name, f"fn {name}()", "", text, 1, lines)


def best(chunks: list[Chunk], worth: list[float], cosine: list[float], *, of_tests: bool = False) -> str:
    found = values(chunks, worth, cosine, of_tests=of_tests)
    return chunks[found.index(max(found))].name


def test_what_does_the_work_comes_before_a_getter_with_the_same_words():
    assert best([chunk("url", 3), chunk("resolve_url", 40)], [1.5, 1.4], [0.5, 0.5]) == "resolve_url"
    assert best([chunk("url", 3), chunk("resolve_url", 40)], [2.5, 1.4], [0.5, 0.5]) == "url"


@pytest.mark.parametrize("attribute", ["#[test]\n", "#[tokio::test(flavor = 'multi_thread')]\n"])
@pytest.mark.parametrize(("of_tests", "first"), [(False, "chunk_text"), (True, "keeps_overlap")])
def test_a_test_beside_what_it_tests_is_shown_to_those_who_ask_for_it(attribute, of_tests, first):
    chunks = [chunk("keeps_overlap", before=attribute), chunk("chunk_text")]
    assert best(chunks, [1.9, 1.2], [0.6, 0.5], of_tests=of_tests) == first


def test_the_later_part_of_a_long_test_is_a_test_as_well():
    part = Chunk(Kind.FUNCTION, "keeps_overlap", "keeps_overlap", "", "", "    work();", 60, 80)
    assert best(
        [chunk("keeps_overlap", before="#[test]\n"), part, chunk("chunk_text")], [1, 1.9, 1.2], [0.5] * 3
    ) == ("chunk_text")


def test_an_unknown_cosine_is_not_taken_for_the_worst_there_can_be():
    assert best([chunk("read"), chunk("parse")], [0.5, 2.0], [0.5, -1.0]) == "parse"


def test_shares_add_up_and_follow_the_values():
    found = shares([1.0, 2.0, 1.0])
    assert sum(found) == pytest.approx(1.0)
    assert found[1] > found[0] == found[2]


def test_of_a_long_chunk_the_lines_that_say_most_are_shown():
    lines = [f"    step_{number}()" for number in range(100)]
    lines[0] = "def follow(self):"
    lines[70:73] = ["    location = response.headers", "    redirect(location)", "    retry(redirect)"]
    long = Chunk(Kind.FUNCTION, "follow", "follow", "def follow(self)", "", "\n".join(lines), 11, 110)
    shown = window(long, {"redirect": 2.0, "locat": 1.0})
    assert shown.line_end - shown.line_start + 1 == MOST_LINES
    assert shown.line_start <= 82 <= shown.line_end
    assert shown.text.split("\n") == lines[shown.line_start - 11 : shown.line_end - 10]
    assert (shown.name, shown.signature) == (long.name, long.signature)


def test_a_short_chunk_is_shown_whole_and_of_equal_windows_the_first():
    short, long = chunk("read", MOST_LINES), chunk("read", MOST_LINES + 20)
    assert window(short, {"work": 1.0}) is short
    assert window(long, {}).line_start == 1
