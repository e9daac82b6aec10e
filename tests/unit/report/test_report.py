from __future__ import annotations

import json
import subprocess
import sys

import pytest
from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.hit_lines import with_passages
from gitrag.callgraph.filtering import matching
from gitrag.callgraph.graph import Node
from gitrag.corpus.documents import Document, DocumentLink
from gitrag.corpus.layout import CollectionKind
from gitrag.mcp_server.replies import freshness_line, of_answer
from gitrag.model import CallGraph, Chunk, Kind
from gitrag.report.markdown import as_markdown
from gitrag.report.parts import kind_of
from gitrag.report.places import as_paths, as_vimgrep, relative_to
from gitrag.report.text import as_text
from gitrag.report.told import json_text as as_json
from gitrag.search.engine import Hit
from gitrag.search.graph_filter import graph_filter
from gitrag.search.sections import AnswerSection
from gitrag.search.snippet import Line
from gitrag.words.control_characters import printable


def place(first: int, last: int, name: str) -> Chunk:
    return Chunk(Kind.METHOD, name, name, "", "", "", first, last)


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
    snippet=(
        Line(10, "    def send(self, request):", matches=False),
        Line(11, "        return 1", matches=True),
    ),
    also=((place(20, 24, "Session.close"), 0.0), (place(1, 3, ""), 0.0)),
    bm25=7.25,
    cosine=0.5,
    reasons=(("bm25", 0.866), ("test_or_doc", -2.917)),
)


def answer_of(*code: Hit, adrs: tuple[Hit, ...] = (), specs: tuple[Hit, ...] = ()) -> Answer:
    sections = (
        AnswerSection(CollectionKind.ADRS, adrs),
        AnswerSection(CollectionKind.SPECS, specs),
        AnswerSection(CollectionKind.CODE, code),
    )
    return Answer("how to send", sections, commit="c", dirty=0, drafts=0, waiting=0, model=True)


ANSWER = answer_of(HIT)
EMPTY = answer_of()
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
    again = answer_of(replace(HIT, chunk=replace(HIT.chunk), snippet=(*HIT.snippet,)))
    assert render(ANSWER) == render(again)


@pytest.mark.parametrize(
    ("render", "name"),
    [(as_json, "caf\N{REPLACEMENT CHARACTER}"), (as_markdown, r"caf\xe9"), (as_text, r"caf\xe9")],
)
def test_a_path_that_is_not_utf8_is_shown_as_valid_text(render, name):
    path = b"src/caf\xe9.py".decode("utf-8", "surrogateescape")
    shown = printable(render(answer_of(replace(HIT, path=path))))
    assert f"src/{name}.py" in shown
    shown.encode()


@pytest.mark.parametrize("render", [as_markdown, as_text])
def test_nothing_found_is_said_in_the_promised_words(render):
    assert render(EMPTY) == NOTHING


DECISION = replace(
    HIT,
    path="docs/adrs/ADR-0007-retries.md",
    chunk=Chunk(Kind.SECTION, "Decision", "Retries > Decision", "", "", "## Decision\n\nRetry.", 5, 7),
    score=0.8,
    snippet=(Line(7, "Retry.", matches=True),),
    also=(),
    document=Document("docs/adrs/ADR-0007-retries.md", "ADR-0007", "Retries", "accepted"),
    note="Retry with backoff. Three times at most.",
)
REQUIREMENT = replace(
    DECISION,
    path="docs/specs/sending/spec.md",
    score=0.75,
    document=Document("docs/specs/sending/spec.md", "SPEC-0002", "Sending"),
    note="A request SHALL be sent once.",
)
FULL = answer_of(HIT, adrs=(DECISION,), specs=(REQUIREMENT,))
GRAPH = CallGraph("session|send", "graph TD\n    a[send] --> b[retry]\n", None, 2, ("One note.",))


def test_markdown_is_the_whole_report():
    """To the letter: agents read its sections by their titles."""
    assert as_markdown(replace(FULL, graph=GRAPH), date="2024-05-06").split("\n") == [
        "## Search Results: how to send",
        "",
        'Found 1 ADRs, 1 specs, 1 code snippets for "how to send".',
        "",
        "### 1. Matching ADRs",
        "",
        "- **ADR-0007: Retries** (score: 0.80)",
        "  Retry with backoff. Three times at most.",
        "  `docs/adrs/ADR-0007-retries.md` lines 5-7, accepted",
        "",
        "### 2. Matching Specs",
        "",
        "- **SPEC-0002: Sending** (score: 0.75)",
        "  A request SHALL be sent once.",
        "  `docs/specs/sending/spec.md` lines 5-7",
        "",
        "### 3. Relevant Code Snippets",
        "",
        "- **src/session.py** (score: 0.99) lines 10-11",
        "  ```",
        "  10: def send(self, request):",
        "  11:     return 1",
        "  ```",
        "  also 20-24 Session.close, 1-3",
        "",
        "### 4. Call Graphs",
        "",
        "> One note.",
        "<!-- Call graph: session|send, generated 2024-05-06 -->",
        "```mermaid",
        "graph TD",
        "    a[send] --> b[retry]",
        "```",
        "",
        "### 5. Summary",
        "",
        "| Collection | Matches |",
        "| --- | --- |",
        "| ADRs | 1 |",
        "| Specs | 1 |",
        "| Code | 1 |",
        "| Call graph nodes | 2 |",
        "",
        "Refine the call graph with: `gitrag graph --filter 'session|send'`",
    ]


def test_markdown_shows_a_whole_passage_where_there_is_one():
    """With the numbers of its lines, without blank ones, and fenced by more backquotes than it has."""
    texts = ["    def send(self, request):", "", "        return `x` or ```y```"]
    lines = tuple(Line(10 + at, text, matches=at == 2) for at, text in enumerate(texts))
    whole = replace(HIT, chunk=replace(SEND, line_end=12), snippet=lines)
    text = as_markdown(answer_of(whole))
    assert (
        "- **src/session.py** (score: 0.99) lines 10-12\n"
        "  ````\n  10: def send(self, request):\n  12:     return `x` or ```y```\n  ````\n"
        "  also 20-24 Session.close, 1-3\n"
    ) in text


def test_markdown_gives_only_the_place_of_what_is_likely_beside_the_question():
    longer = replace(HIT, chunk=replace(SEND, line_end=90))
    text = as_markdown(answer_of(longer, replace(HIT, path="src/far.py", score=0.1)))
    assert "lines 10-90\n  `def send(self, request)` — Send a request.\n  11: `return 1`\n  also 20" in text
    assert "lines 10-11, nearest\n  `def send(self, request)` — Send a request.\n\n### 4." in text


def test_a_filter_of_very_many_names_is_cut_where_it_is_read():
    """The JSON has all of it."""
    graph = replace(GRAPH, filter="|".join(f"name{i}" for i in range(30)))
    shown = "|".join(f"name{i}" for i in range(12))
    assert f"<!-- Call graph: {shown}|…, generated today -->" in as_markdown(
        replace(FULL, graph=graph), date="today"
    )
    assert json.loads(as_json(replace(FULL, graph=graph)))["call_graphs"][0]["filter"] == graph.filter


def test_markdown_says_which_sections_are_empty():
    """Each empty section has its sentence; a graph that failed is a line, and no number."""
    graph = CallGraph("send", None, "Call graph generation failed: no grammar")
    lines = as_markdown(replace(answer_of(adrs=(DECISION,)), graph=graph)).split("\n")
    assert "No matching specs found." in lines
    assert "No relevant code found." in lines
    assert "Call graph generation failed: no grammar" in lines
    assert "| Call graph nodes | unavailable |" in lines
    assert lines[-1] == "Generate a focused call graph with: `gitrag graph --filter 'send'`"
    assert "No matching ADRs found." in as_markdown(ANSWER).split("\n")


def test_an_unfiltered_graph_says_so():
    """The reader knows that it is not about the question only."""
    graph = replace(GRAPH, filter=None)
    assert "<!-- Call graph: unfiltered, generated today -->" in as_markdown(
        replace(FULL, graph=graph), date="today"
    )
    assert json.loads(as_json(replace(FULL, graph=graph)))["call_graphs"][0]["filter"] is None


def test_json_gives_documents_and_graphs_as_promised():
    """Programs rely on these keys."""
    found = json.loads(as_json(replace(FULL, graph=GRAPH)))
    assert found["adr_matches"] == [
        {
            "id": "ADR-0007",
            "title": "Retries",
            "path": "docs/adrs/ADR-0007-retries.md",
            "score": 0.8,
            "snippet": "## Decision\n\nRetry.",
        }
    ]
    assert [match["id"] for match in found["spec_matches"]] == ["SPEC-0002"]
    assert found["call_graphs"] == [{"filter": "session|send", "mermaid": GRAPH.mermaid, "error": None}]
    failed = json.loads(as_json(replace(FULL, graph=CallGraph("send", None, "Failed."))))
    assert failed["call_graphs"] == [{"filter": "send", "mermaid": None, "error": "Failed."}]


def test_a_superseded_decision_says_by_what():
    document = Document(
        "a.md", "ADR-0007", "Retries", "superseded", (DocumentLink("superseded-by", "ADR-0009"),)
    )
    old = answer_of(adrs=(replace(DECISION, document=document),))
    assert "lines 5-7, superseded by ADR-0009" in as_markdown(old)
    assert "ADR-0007: Retries (superseded by ADR-0009)  0.80" in as_text(old)


def test_issues_are_reported_and_counted_where_they_were_searched():
    issue = replace(DECISION, path=".sdd/issues/7.md", document=Document(".sdd/issues/7.md", "7", "Retries"))
    asked = replace(FULL, sections=(*FULL.sections, AnswerSection(CollectionKind.ISSUES, (issue,))))
    assert [each["id"] for each in json.loads(as_json(asked))["issue_matches"]] == ["7"]
    lines = as_markdown(asked).split("\n")
    assert lines[2:4] == ['Found 1 ADRs, 1 specs, 1 code snippets for "how to send".', "Found 1 issues."]
    assert lines[lines.index("#### Matching Issues") + 2] == "- **7: Retries** (score: 0.80)"
    parts = [line.split(".")[0] for line in lines if line.startswith("### ")]
    assert parts == [f"### {number}" for number in range(1, 6)]
    assert "| Issues | 1 |" in lines
    assert "issue_matches" not in json.loads(as_json(FULL))
    assert "ssues" not in as_markdown(FULL)


def test_text_shows_only_the_sections_that_have_any():
    """A terminal has few lines."""
    assert as_text(FULL).split("\n") == [
        "Decisions",
        "docs/adrs/ADR-0007-retries.md:5-7  ADR-0007: Retries (accepted)  0.80",
        "  7  Retry.",
        "",
        "Specifications",
        "docs/specs/sending/spec.md:5-7  SPEC-0002: Sending  0.75",
        "  7  Retry.",
        "",
        "Code",
        "src/session.py:10-11  method Session.send  0.99",
        "  10      def send(self, request):",
        "  11          return 1",
        "  also 20-24 Session.close, 1-3",
    ]
    assert "Specifications" not in as_text(answer_of(HIT, adrs=(DECISION,)))


def test_a_terminal_shows_the_call_graph_as_lines_within_its_width():
    """A terminal cannot draw Mermaid."""
    calls = (("web/http.py", "send", ("retry", "Session.open")), ("web/retry.py", "retry", ("sleep",)))
    graph = replace(GRAPH, calls=calls)
    assert as_text(replace(FULL, graph=graph)).split("\n\n")[-1].split("\n") == [
        "Call graph",
        "One note.",
        "web/http.py  send → retry, Session.open",
        "web/retry.py  retry → sleep",
    ]
    narrow = as_text(replace(FULL, graph=graph), columns=37).split("\n")
    assert narrow[-2:] == ["web/http.py  send → retry, Session.o…", "web/retry.py  retry → sleep"]
    assert as_text(replace(FULL, graph=GRAPH)).endswith(
        "\n2 definitions, no call found between those looked at"
    )


def test_a_section_that_was_not_searched_says_so():
    """With -c code, "No matching ADRs found." alone says something of ADRs that nobody asked."""
    code = replace(ANSWER, sections=ANSWER.sections[2:])
    text = as_markdown(code)
    assert "No matching ADRs found.\n\nNone were searched.\n" in text
    assert "None were searched." not in as_markdown(ANSWER)


def test_texts_without_any_vector_are_not_called_drafts():
    answer = replace(ANSWER, drafts=7, drafted=False)
    line = freshness_line(of_answer(answer, None, []))
    assert "7 chunks unembedded — vector/hybrid search disabled" in line
    assert "draft" not in line


def test_the_filter_of_a_graph_comes_from_the_code_hits():
    """Path stem, parent directory and symbols, escaped; each once."""
    odd = replace(HIT, path="src/a+b.test.py", chunk=replace(SEND, name="operator()"), also=())
    assert graph_filter("how to send", (HIT, odd)) == (
        r"session|src|send|Session\.close|a\+b\.test|operator\(\)"
    )


def test_without_code_the_filter_of_a_graph_is_the_questions_words():
    """Without articles and prepositions, which match everything."""
    asked = "The state of a parcel, for the Depot (and to C++) in an urn with or without lid"
    assert graph_filter(asked, ()) == "state|parcel|depot|c|urn|without|lid"


def test_text_is_a_block_a_file():
    assert as_text(ANSWER).split("\n") == [
        "src/session.py:10-11  method Session.send  0.99",
        "  10      def send(self, request):",
        "  11          return 1",
        "  also 20-24 Session.close, 1-3",
    ]


def explained(hit: Hit) -> str:
    return as_text(answer_of(hit), explain="all").split("\n")[-1]


def test_a_hit_can_be_explained():
    assert explained(HIT) == "  why: cosine 0.50, BM25 7.2, bm25 +0.87, test_or_doc -2.92"
    assert explained(replace(HIT, cosine=None, reasons=())) == "  why: BM25 7.2"


def test_a_hit_can_be_explained_in_sentences():
    """For people; the numbers are for whoever fits them."""
    lines = as_text(answer_of(HIT), explain="words").split("\n")[-3:]
    assert lines == [
        '  It has "send" of the question.',
        (
            "  For it counts most that its text has the question's words; against it, that"
            " it is a test, an example or a document."
        ),
        "  It is 99 % likely to answer.",
    ]
    looked_up = replace(HIT, reasons=(), chunk=replace(SEND, text="", qualified_name="x"), path="x.py")
    assert as_text(answer_of(looked_up), explain="words").split("\n")[-3:-1] == [
        "  It has no word of the question.",
        "  It was looked up by its name.",
    ]


def test_a_style_is_given_each_role():
    roles: set[str] = set()

    def style(text: str, role: str) -> str:
        roles.add(role)
        return f"<{text}>"

    assert as_text(ANSWER, style).startswith("<src/session.py><:10-11>  method <Session.send>  <0.99>")
    assert roles == {"path", "number", "name", "score", "match", "dim"}


@pytest.mark.parametrize("path", ["src/session.py", "src/" * 15 + "session.py"])
def test_a_score_stays_in_one_piece_at_the_edge_of_the_screen(path):
    named = replace(SEND, qualified_name=f"Session.{'send' * 15}")
    lines = as_text(answer_of(replace(HIT, path=path, chunk=named, snippet=(), also=())), columns=60).split(
        "\n"
    )
    assert lines[0].startswith(f"{path}:10-11")
    assert lines[-1].endswith("…  0.99")
    assert max(map(len, lines)) <= max(60, len(f"{path}:10-11"))


@pytest.mark.parametrize("form", [as_text, as_markdown, as_paths, as_vimgrep])
def test_a_line_end_in_a_name_begins_no_line(form):
    named = replace(SEND, name="\nforged", qualified_name="\nforged", signature="\nforged")
    hit = replace(HIT, repository="\nforged", path="\nforged", chunk=named, note="\nforged")
    shown = form(answer_of(replace(hit, variants=("\nforged",))))
    assert "\\nforged" in shown
    assert "\nforged" not in shown


def test_a_chunk_of_one_line_has_one_number():
    one = replace(HIT, chunk=replace(SEND, kind=Kind.MODULE, qualified_name="", line_end=10))
    assert as_text(answer_of(one)).startswith("src/session.py:10  module  0.99")


def test_a_graph_filter_of_a_long_question_is_one_that_may_be_asked():
    """A pasted log is no error."""
    filtered = graph_filter(" ".join(f"word{number}" for number in range(5_000)), ())
    assert filtered.startswith("word0|word1|")
    assert matching(filtered, [Node("a.py", "word7", 1, 1), Node("a.py", "other", 1, 1)]) == [True, False]


def test_where_several_repositories_were_asked_each_hit_names_its_own():
    there = replace(HIT, repository="shop")
    record = replace(there, path="docs/adr/1.md", document=Document("ADR-1", "Retry", "docs/adr/1.md"))
    answer = answer_of(there, HIT, adrs=(record,))
    found = json.loads(as_json(answer))
    assert [each.get("repository") for each in found["code_snippets"]] == ["shop", None]
    assert found["adr_matches"][0]["repository"] == "shop"
    assert {each["path"] for each in found["code_snippets"]} == {"src/session.py"}
    for text in (as_text(answer), as_markdown(answer)):
        assert "shop:src/session.py" in text
        assert "shop:docs/adr/1.md" in text
    assert as_paths(answer).split("\n") == ["shop:docs/adr/1.md", "shop:src/session.py", "src/session.py"]
    assert "\nshop:src/session.py:11:" in as_vimgrep(answer)


def test_paths_from_a_directory_are_not_those_of_another_repository():
    answer = relative_to(answer_of(replace(HIT, repository="shop"), HIT), "src")
    assert [hit.path for hit in answer.hits] == ["src/session.py", "session.py"]


def test_what_is_said_of_an_index_loads_no_search():
    """`gitrag status` needs none."""
    code = "import gitrag.actions.status, sys\nassert 'gitrag.search.engine' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True)


FAR = replace(HIT, path="src/far.py", score=0.29, also=())
NONE_LIKELY = "othing scores 0.30 or more; nearest:"


@pytest.mark.parametrize("render", [as_text, as_markdown])
def test_what_hardly_answers_is_shown_as_nearest(render):
    """Each such file says so, and the head where there is no other; in JSON too."""
    lines = render(answer_of(HIT, FAR)).split("\n")
    assert [line.split()[0] for line in lines if line.endswith("nearest")] in (["src/far.py:10-11"], ["-"])
    assert NONE_LIKELY not in "".join(lines)
    assert NONE_LIKELY in render(answer_of(FAR))
    assert "earest" not in render(ANSWER)
    found = json.loads(as_json(answer_of(HIT, FAR)))["code_snippets"]
    assert [each.get("nearest") for each in found] == [None, True]


def test_what_is_nearest_takes_two_lines():
    shown = with_passages(answer_of(HIT, FAR))
    assert as_text(shown).split("\n")[-2:] == [
        "src/far.py:10-11  method Session.send  0.29 nearest",
        "  11          return 1",
    ]
    assert "lines 10-11, nearest\n  `def send(self, request)` — Send a request.\n\n###" in as_markdown(shown)


@pytest.mark.parametrize(
    ("signature", "name", "expected"),
    [
        ("class Door(Base)", "Door", "class"),
        ("public static abstract class Door", "Door", "class"),
        ("data class Door(val key: Key)", "Door", "class"),
        ("typedef struct", "door_t", "struct"),
        ("pub enum Door", "Door", "enum"),
        ("CREATE OR REPLACE VIEW doors AS", "doors", "view"),
        ('output "door_arn"', "door_arn", "output"),
        ('resource "aws_door" "front"', "front", "resource"),
        ("locals", "locals", "block"),
        ("", "Door", "class"),
    ],
)
def test_a_type_is_called_by_its_languages_word(signature: str, name: str, expected: str):
    assert kind_of(replace(place(1, 2, name), kind=Kind.CLASS, signature=signature)) == expected
