from __future__ import annotations

from gitrag.model import Chunk, Kind
from gitrag.search.question import read
from gitrag.search.snippet import lines_at, snippet


def test_the_definition_and_the_matching_lines_are_shown_in_order():
    text = "def send(self):\n    prepare()\n    retry_with_backoff()\n\n    return 1"
    chunk = Chunk(Kind.FUNCTION, "send", "Session.send", "def send(self)", "", text, 10, 14)
    lines = snippet(chunk, read("retry backoff"))
    assert [(line.number, line.matches) for line in lines] == [(10, False), (12, True)]


def test_a_chunk_without_a_matching_line_shows_its_first():
    chunk = Chunk(Kind.MODULE, "", "", "", "", "\nimport os\nimport sys", 1, 3)
    assert [line.number for line in snippet(chunk, read("zebra"))] == [2]


def test_of_a_very_long_line_the_beginning_is_shown_and_that_it_is_one():
    data = '{"zebra": "' + "a" * 900 + '"}'
    chunk = Chunk(Kind.MODULE, "", "", "", "", f"{data}\n{'b' * 400}", 1, 2)
    [line] = snippet(chunk, read("zebra"))
    assert line.text == data[:399] + "…"
    assert [line.text for line in lines_at(chunk, 1, 2)] == [data[:399] + "…", "b" * 400]
