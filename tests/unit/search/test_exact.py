"""Where an exact pattern is found in a line, and which lines a file's chunks have."""

import pytest

from gitrag.errors import UsageError
from gitrag.model import Chunk, Kind
from gitrag.search.exact import Pattern, _lines


def found(pattern: str, line: str, *, is_regex: bool = False) -> list[str]:
    return [line[first:last] for first, last in Pattern(pattern, is_regex).spans(line)]


def chunk(text: str, first: int, last: int) -> Chunk:
    return Chunk(Kind.MODULE, "", "", "", "", text, first, last)


@pytest.mark.parametrize(
    ("word", "line", "times"),
    [
        ("open", "reopen(open_, open) # open", 2),
        ("retry", "retry_count = retry", 1),
        ("$x", "y$x + $xs", 1),  # before $ anything may stand
        ("->run", "self->run(); self->runs", 1),
        ("naïve", "naïveté, naïve", 1),
        ("é", "été é", 1),
        ("名", "名前 名", 1),
        ("aa", "aaa aa", 1),
        ("a.b", "a.b axb", 1),
        ("Open", "open", 0),
    ],
)
def test_a_word_is_found_whole_and_as_it_is_written(word, line, times):
    assert found(word, line) == [word] * times


def test_an_expression_is_re2s():
    assert found(r"\bdef (\w+)", "def open(): def shut():", is_regex=True) == ["def open", "def shut"]
    assert found(r"é.", "xéy", is_regex=True) == ["éy"]
    with pytest.raises(UsageError, match="no regular expression that RE2 knows"):
        found(r"(?<=x)y", "xy", is_regex=True)
    assert found(r"(a*)*b", "a" * 30_000, is_regex=True) == []  # hangs where an engine backtracks


def test_each_line_is_read_once_and_whole():
    chunks = [
        chunk("one\n\ntwo", 1, 3),
        chunk("two\nthree", 3, 4),  # windows overlap
        chunk("long ", 5, 5),  # one line in three chunks
        chunk("longer ", 5, 5),
        chunk("longest", 5, 5),
        chunk("six", 6, 6),
        chunk("six", 6, 6),
    ]
    texts = [(line.number, line.text) for _, line in _lines(chunks[:-1], "")]
    assert texts == [(1, "one"), (3, "two"), (4, "three"), (5, "long longer longest"), (6, "six")]
    for needed in (
        "t",
        "o",
        "ee",
        "absent",
    ):  # what is a line by itself may be a part of one, and is not asked
        having = [(line.number, line.text) for _, line in _lines(chunks[:-1], needed)]
        assert having == [each for each in texts if needed in each[1] or each[0] in (5, 6)]
