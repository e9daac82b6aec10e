from __future__ import annotations

from gitrag.model import Chunk, Kind
from gitrag.search.question import read
from gitrag.search.snippet import snippet


def test_the_definition_and_the_matching_lines_are_shown_in_order():
    text = "def send(self):\n    prepare()\n    retry_with_backoff()\n\n    return 1"
    chunk = Chunk(Kind.FUNCTION, "send", "Session.send", "def send(self)", "", text, 10, 14)
    lines = snippet(chunk, read("retry backoff"))
    assert [(line.number, line.matches) for line in lines] == [(10, False), (12, True)]


def test_a_chunk_without_a_matching_line_shows_its_first():
    chunk = Chunk(Kind.MODULE, "", "", "", "", "\nimport os\nimport sys", 1, 3)
    assert [line.number for line in snippet(chunk, read("zebra"))] == [2]
