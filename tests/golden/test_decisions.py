"""Questions a developer asks of a project that keeps decisions and specifications."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.graph import graph_of
from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.layout import CollectionKind
from gitrag.report.markdown import as_markdown
from gitrag.report.text import as_text
from gitrag.report.told import json_text as as_json
from gitrag.search.sections import Wanted
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.indexes import embedded_app
from tests.support.mermaid import assert_parses

ADRS, SPECS, CODE = CollectionKind.ADRS, CollectionKind.SPECS, CollectionKind.CODE

QUESTIONS: dict[str, tuple[str | None, str | None, str | None]] = {
    "how are signing keys rotated": ("ADR-0003", "SPEC-0002", "service/auth.py"),
    "why do we not use redis": ("ADR-0006", None, None),
    "which database do we use": ("ADR-0002", None, None),
    "limit calls per client": ("ADR-0004", None, "service/rate_limit.py"),
    "token bucket": ("ADR-0004", None, "service/rate_limit.py"),
    "push updates to the browser": ("ADR-0007", None, None),
    "why was polling replaced": ("ADR-0005", None, None),
    "can a token be revoked": ("ADR-0003", None, None),
    "what happens when power is cut": (None, "SPEC-0004", "agent/spool.go"),
    "password hashing": (None, "SPEC-0002", "service/accounts.py"),
    "when are mails not sent": (None, "SPEC-0003", "service/notifications.py"),
    "quiet hours at night": (None, "SPEC-0003", None),
    "late scans": (None, "SPEC-0001", "agent/scanner.go"),
    "barcode check digit": (None, "SPEC-0004", "agent/scanner.go"),
    "ADR-0006": ("ADR-0006", None, None),
    "SPEC-0003": (None, "SPEC-0003", None),
    "TokenBucket": (None, None, "service/rate_limit.py"),
}
"""The decision, the requirement's specification and the code that come first; None where any may."""

ABSENT = [
    "GraphQL subscription resolver",
    "kafka consumer group rebalancing",
    "chess opening book",
    "video transcoding",
    "machine learning model training",
    "LDAP authentication backend",
]

NEAREST = {"memcached eviction": "memcached"}
"""What is absent too, by the word that says so, where something comes near enough to be shown."""

PAGE = 3
"""Of eight decisions and five specifications so many at most answer a question of the table."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, model_dir) -> Workspace:
    """The project with its decisions, indexed, vectors included."""
    return embedded_app(tmp_path_factory.mktemp("home"), model_dir, decided_project())


class _Answers(dict[str, Answer]):
    """Answers to questions, each asked once a test wants it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace

    def __missing__(self, question: str) -> Answer:
        return self.setdefault(question, search(self._workspace, question))


@pytest.fixture(scope="module")
def answers(workspace) -> _Answers:
    return _Answers(workspace)


@pytest.mark.parametrize("question", QUESTIONS)
def test_decision_requirement_and_code_come_first_each_in_its_section(answers, question):
    first = [next(iter(answers[question].of(kind)), None) for kind in (ADRS, SPECS, CODE)]
    found = [hit and (hit.document.id if hit.document else hit.path) for hit in first]
    for own, expected in zip(found, QUESTIONS[question], strict=True):
        assert expected in (None, own), found


@pytest.mark.parametrize("question", [question for question in QUESTIONS if not question.startswith("SPEC-")])
def test_documents_that_do_not_answer_are_left_out(answers, question):
    """Each document's score is its own relevance; a small collection does not raise it."""
    for kind in (ADRS, SPECS):
        assert len(answers[question].of(kind)) <= PAGE


@pytest.mark.parametrize("question", ABSENT)
def test_nothing_anywhere_is_said_in_the_promised_words(answers, question):
    """Agents recognise this sentence, so it is the same in every format."""
    said = f"No relevant ADRs, specs, or code found for '{question}'. Try a broader search term."
    assert as_markdown(answers[question]) == as_text(answers[question]) == said


@pytest.mark.parametrize("question", NEAREST)
def test_what_comes_near_what_is_absent_is_said_to_be_only_that(answers, question):
    answer = answers[question]
    assert all(hit.score < 0.5 for hit in answer.hits)
    first = as_text(answer).partition("\n")[0]
    assert first.startswith(f'no file contains "{NEAREST[question]}"')
    assert first.endswith("nearest:")


def test_code_hits_hold_no_decisions_or_specifications(answers):
    for answer in map(answers.__getitem__, QUESTIONS):
        for hit in answer.of(CODE):
            assert not hit.path.startswith(("docs/adrs/ADR-", "docs/specs/"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_note_is_a_sentence_or_two_of_the_document(answers, question):
    """A reader sees why a document came up without opening it."""
    for kind in (ADRS, SPECS):
        for hit in answers[question].of(kind):
            assert 0 < len(hit.note) <= 240


def test_a_requirement_is_found_with_its_heading_path(answers):
    """Each requirement and scenario is a chunk of its own."""
    hit = answers["quiet hours at night"].of(SPECS)[0]
    assert hit.chunk.qualified_name.startswith(
        "SPEC-0003: Notifications > Requirements > Requirement: Quiet hours"
    )


def test_reports_are_the_same_bytes_each_time(workspace, answers):
    """A report that differs means that the repository differs."""
    question = "how are signing keys rotated"
    again = search(workspace, question)
    for render in (as_json, as_markdown, as_text):
        assert render(answers[question]) == render(again)


def test_the_report_in_markdown(answers):
    """Agents read its sections by their titles; here of a real answer."""
    lines = as_markdown(answers["how are signing keys rotated"]).split("\n")
    assert lines[0] == "## Search Results: how are signing keys rotated"
    assert lines[6].startswith("- **ADR-0003: Signed tokens instead of server-side sessions** (score: ")
    assert "Rotating the key is a change of configuration" in lines[7]
    assert [line for line in lines if line.startswith("#")][1:] == [
        "### 1. Matching ADRs",
        "### 2. Matching Specs",
        "### 3. Relevant Code Snippets",
        "### 4. Call Graphs",
        "### 5. Summary",
    ]


def test_the_report_in_json(answers):
    """Programs rely on these keys."""
    found = json.loads(as_json(answers["how are signing keys rotated"]))
    assert list(found) == ["query", "adr_matches", "spec_matches", "code_snippets", "call_graphs"]
    assert list(found["adr_matches"][0]) == ["id", "title", "path", "score", "snippet"]
    assert found["spec_matches"][0]["id"] == "SPEC-0002"


def test_the_report_draws_the_calls_around_what_it_found(workspace, answers):
    """Filtered by the code hits, with a pattern that mermaid accepts; no graph where nothing is found."""
    answer = answers["token bucket"]
    graph = graph_of(workspace, answer)
    assert graph is not None
    assert (graph.error, graph.notes) == (None, ())
    assert "TokenBucket" in (graph.filter or "").split("|")
    assert_parses([graph.mermaid or ""])
    lines = as_markdown(replace(answer, graph=graph), date="2026-01-02").split("\n")
    start = lines.index("### 4. Call Graphs")
    names = (graph.filter or "").split("|")
    shown = "|".join(names[:12] + ["…"] * (len(names) > 12))
    assert lines[start + 2 : start + 5] == [
        f"<!-- Call graph: {shown}, generated 2026-01-02 -->",
        "```mermaid",
        "graph TD",
    ]
    assert f"| Call graph nodes | {graph.nodes} |" in lines
    named = "|".join(names[:6])
    assert lines[-1] == f"Refine the call graph with: `gitrag graph --filter '{named}'`"
    [drawn] = json.loads(as_json(replace(answer, graph=graph)))["call_graphs"]
    assert drawn == {"filter": graph.filter, "mermaid": graph.mermaid, "error": None}
    assert graph_of(workspace, answer) == graph
    assert graph_of(workspace, answers[ABSENT[0]]) is None


def test_an_unfiltered_graph_is_of_everything_and_says_so(workspace, answers):
    """Its size may surprise, so there is a warning."""
    graph = graph_of(workspace, answers["token bucket"], unfiltered=True)
    assert graph is not None
    assert (graph.filter, graph.notes) == (None, ("Generating unfiltered call graph — output may be large.",))
    assert graph.nodes > 3
    assert_parses([graph.mermaid or ""])


def test_without_code_the_questions_words_are_the_filter(workspace):
    """There are no hits in code to take names from."""
    answer = search(workspace, "why do we not use redis", SearchOptions(wanted=Wanted.of(["adrs"])))
    graph = graph_of(workspace, answer)
    assert graph is not None
    assert graph.filter == "why|do|we|not|use|redis"
