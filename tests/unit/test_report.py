from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gitrag.app import Answer
from gitrag.model import Chunk, Kind
from gitrag.report import as_json, as_markdown, as_text, cleaned
from gitrag.search.engine import Hit, Place
from gitrag.search.snippet import Line

SEND = Chunk(
    Kind.METHOD,
    "send",
    "Session.send",
    "def send(self, request)",
    "Send a request. And wait.",
    "    def send(self, request):\n        return retry(request)",
    10,
    11,
)
HIT = Hit(
    path="src/session.py",
    chunk=SEND,
    score=0.98765432,
    lines=(
        Line(10, "    def send(self, request):", matches=False),
        Line(11, "        return 1", matches=True),
    ),
    also=(Place(20, 24, "Session.close"), Place(1, 3, "")),
    bm25=7.25,
    cosine=0.5,
    reasons=(("bm25", 0.866), ("test", -2.917)),
)
ANSWER = Answer("how to send", (HIT,), commit="c", dirty=0, drafts=0, waiting=0, model=True)
EMPTY = replace(ANSWER, hits=())
NOTHING = "No relevant ADRs, specs, or code found for 'how to send'. Try a broader search term."


def test_json_has_exactly_the_promised_keys():
    found = json.loads(as_json(ANSWER))
    assert list(found) == ["query", "adr_matches", "spec_matches", "code_snippets", "call_graphs"]
    assert found["query"] == "how to send"
    assert found["code_snippets"] == [
        {
            "path": "src/session.py",
            "score": 0.9877,
            "snippet": SEND.text,
            "name": "Session.send",
            "kind": "method",
            "line_start": 10,
            "line_end": 11,
        }
    ]


def test_json_without_hits_has_the_same_keys_and_empty_lists():
    assert json.loads(as_json(EMPTY)) == {
        "query": "how to send",
        "adr_matches": [],
        "spec_matches": [],
        "code_snippets": [],
        "call_graphs": [],
    }


@pytest.mark.parametrize("render", [as_json, as_markdown, as_text])
def test_the_same_answer_gives_the_same_bytes(render):
    again = replace(ANSWER, hits=(replace(HIT, chunk=replace(HIT.chunk), lines=(*HIT.lines,)),))
    assert render(ANSWER) == render(again)


@pytest.mark.parametrize("render", [as_json, as_markdown, as_text])
def test_a_path_that_is_not_utf8_is_shown_as_valid_text(render):
    path = b"src/caf\xe9.py".decode("utf-8", "surrogateescape")
    shown = render(replace(ANSWER, hits=(replace(HIT, path=path),)))
    assert "src/caf\N{REPLACEMENT CHARACTER}.py" in shown
    shown.encode()


@pytest.mark.parametrize("render", [as_markdown, as_text])
def test_nothing_found_is_said_in_the_promised_words(render):
    assert render(EMPTY) == NOTHING


def test_markdown_gives_path_score_lines_and_what_the_code_does():
    assert as_markdown(ANSWER).split("\n") == [
        "## Search Results: how to send",
        "",
        "### Relevant Code Snippets",
        "",
        "- **src/session.py** (score: 0.99) lines 10-11",
        "  `def send(self, request)` — Send a request.",
        "  also 20-24 Session.close",
        "  also 1-3",
    ]


def test_text_is_a_block_a_file():
    assert as_text(ANSWER).split("\n") == [
        "src/session.py:10-11  method Session.send  0.99",
        "  10      def send(self, request):",
        "  11          return 1",
        "  also 20-24 Session.close, 1-3",
    ]


def explained(hit: Hit) -> str:
    return as_text(replace(ANSWER, hits=(hit,)), explain=True).split("\n")[-1]


def test_a_hit_can_be_explained():
    assert explained(HIT) == "  why: cosine 0.50, BM25 7.2, bm25 +0.87, test -2.92"
    assert explained(replace(HIT, cosine=-1.0, reasons=())) == "  why: BM25 7.2"


def test_a_style_is_given_each_role():
    roles: set[str] = set()

    def style(text: str, role: str) -> str:
        roles.add(role)
        return f"<{text}>"

    assert as_text(ANSWER, style).startswith("<src/session.py><:10-11>  method <Session.send>  <0.99>")
    assert roles == {"path", "number", "name", "score", "match", "dim"}


def test_every_text_of_an_answer_is_cleaned():
    shown = as_text(cleaned(ANSWER, str.upper)) + as_text(cleaned(EMPTY, str.upper))
    for part in ("SRC/SESSION.PY", "SESSION.SEND", "DEF SEND(", "SESSION.CLOSE", "HOW TO SEND"):
        assert part in shown


def test_a_chunk_of_one_line_has_one_number():
    one = replace(HIT, chunk=replace(SEND, kind=Kind.MODULE, qualified_name="", line_end=10))
    assert as_text(replace(ANSWER, hits=(one,))).startswith("src/session.py:10  module  0.99")
