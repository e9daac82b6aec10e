from __future__ import annotations

import pytest

from gitrag.embedding.text import chunk_text, path_text, split_words, text_key
from gitrag.model import Chunk, Kind


def chunk(**changes) -> Chunk:
    fields = {
        "kind": Kind.METHOD,
        "name": "sendAll",
        "qualified_name": "HTTPAdapter.sendAll",
        "signature": "def sendAll(self, request):",
        "docstring": "Send a request.",
        "text": 'def sendAll(self,\n      request):\n    """Send a request."""\n    self.pool.go(request)',
        "line_start": 7,
        "line_end": 10,
    }
    return Chunk(**fields | changes)


def test_name_and_docstring_come_first_and_nothing_twice():
    assert chunk_text(
        chunk(text="def sendAll(self, request):\n    '''Send a request.'''\n    go(request)")
    ) == ("http adapter send all: Send a request. def sendAll(self, request):\ngo request")


def test_white_space_and_place_do_not_change_the_text():
    indented = chunk(text=chunk().text.replace("\n", "\n        "), line_start=90, line_end=93)
    assert chunk_text(indented) == chunk_text(chunk())


def test_a_comment_s_marks_do_not_hide_that_the_docstring_is_there_already():
    commented = chunk(
        docstring="Send it\nnow.", text="# Send it\n# now.\ndef sendAll(self, request):\n  go(1)"
    )
    assert chunk_text(commented) == "http adapter send all: Send it now. def sendAll(self, request):\ngo 1"


def test_prose_is_left_as_it_is():
    section = chunk(
        kind=Kind.SECTION,
        name="Usage",
        qualified_name="Guide > Usage",
        signature="",
        docstring="",
        text="## Usage\n\nRun it; that's *all*.",
    )
    assert chunk_text(section) == "guide usage:\n## Usage Run it; that's *all*."


def test_body_of_a_module_chunk_is_the_text():
    module = chunk(
        kind=Kind.MODULE, name="", qualified_name="", signature="", docstring="", text="LIMIT = 3\n\nMORE = 4"
    )
    assert chunk_text(module) == "limit 3 more 4"


def test_a_long_docstring_leaves_room_for_the_body():
    docstring = "word " * 2000
    text = chunk_text(chunk(docstring=docstring, text="def sendAll(self, request):\n    the_body()"))
    assert text.endswith("the body")
    assert len(text) < 500


def test_a_change_beyond_what_is_read_does_not_change_the_text():
    long = "a = 1\n" * 5000
    assert chunk_text(chunk(text=long + "b")) == chunk_text(chunk(text=long + "c"))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/flask/json/provider.py", "src flask json provider"),
        ("lib/HTTPServer.test.ts", "lib http server test"),
        (".github/workflows/ci.yml", "github workflows ci"),
        (".gitignore", "gitignore"),
        ("README", "readme"),
        ("docs/安装.md", "docs 安装"),
        ("-.-", ""),
    ],
)
def test_path_text_is_its_words(path, words):
    assert path_text(path) == words


def test_identifiers_are_split_into_words():
    assert split_words("parseHTTPResponse_v2 > IOError") == "parse http response v2 io error"


def test_key_is_128_bits_of_hex_and_tells_texts_apart():
    keys = {text_key(text) for text in ("", "a", "b", "a\udcff")}
    assert len(keys) == 4
    assert all(len(bytes.fromhex(key)) == 16 for key in keys)


def test_key_of_a_text_is_stable():
    """A new value means that every index is embedded anew: raise a version on purpose, then change this."""
    assert text_key("stable") == "21c7dd0ba7f03d7757b10a23dcceb7bb"
