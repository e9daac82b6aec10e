"""`gitrag related`."""

from __future__ import annotations

import re
import time

import pytest
from msgspec.structs import replace

from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.governance.related import Duplicates, Related, duplicates, related, relation_to
from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.documents import Document, DocumentLink
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.report import governance
from gitrag.report.told import plain_data
from gitrag.search.sections import Wanted
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.indexes import asked_often
from tests.support.repository import GitRepository, create_repository, isolated_environment

ISSUE = (
    "---\nid: 12\ntitle: Token bucket forgets clients at restart\nstatus: open\n---\n"
    "The token bucket of the rate limit forgets every client at a restart.\n"
)

HELPER = '''

def as_duration(text):
    """Turn 90s, 15m or 2h into seconds."""
    units = {"s": 1, "m": 60, "h": 3600}
    return int(text[:-1]) * units[text[-1]]
'''

COPY = '''

def parse_period(value):
    """Turn 90s, 15m, 2h into a number of seconds."""
    units = {"s": 1, "m": 60, "h": 3600}
    amount = int(value[:-1])
    return amount * units[value[-1]]
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> GitRepository:
    home = tmp_path_factory.mktemp("home")
    files = decided_project() | {"service/periods.py": HELPER.lstrip()}
    return create_repository(home / "parcelwatch", isolated_environment(home), files)


@pytest.fixture(scope="module")
def workspace(own, model_dir) -> Workspace:
    own.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return asked_often(own, embed=True)


# authoring


def test_a_decision_that_replaces_another_is_offered_to_supersede_it(workspace):
    """ "Switch from REST to gRPC" supersedes "Use REST"."""
    text = "Replace the token bucket by a sliding window to limit calls per client"
    (first, *_) = related(workspace, text, ["adr"]).documents
    assert (first.document.id, first.relation) == ("ADR-0004", "supersedes")
    markdown = governance.related_markdown(Related("x", (first,)))
    assert "**supersedes: ADR-0004** Limit calls per client with a token bucket (score: " in markdown


def test_beside_a_proposal_nothing_is_told_to_be_nearest_with_no_score(workspace):
    (first, *_) = related(workspace, "Replace the token bucket by a sliding window", ["adr"]).documents
    known, unlike = replace(first, score=0.21), replace(first, score=0.001)
    said = governance.nearest_lines(Related("x", (first,), (known, unlike)).hinted)
    assert [line.partition(" (")[2].partition(")")[0] for line in said] == ["0.21"]
    assert len(governance.nearest_lines(Related("x", (), (known, unlike)).hinted)) == 2


def test_a_specification_is_offered_those_that_it_may_require(workspace):
    """Specifications require or extend each other; only decisions are superseded."""
    text = "Signing in with a code by mail, in place of a password"
    found = related(workspace, text, ["spec"]).documents
    assert "SPEC-0002" in {each.document.id for each in found}
    assert {each.relation for each in found} <= {"requires", "extends"}


def test_of_few_documents_the_nearest_are_shown_as_nearest(workspace):
    """An author reads three titles sooner than a programme learns what they mean."""
    found = related(workspace, "Pick a video transcoding library")
    assert (found.documents, found.are_few) == ((), True)
    assert all(each.score < 0.3 for each in found.nearest)
    found = replace(found, nearest=tuple(replace(each, score=0.01) for each in found.nearest))
    rows = governance.related_markdown(found).split("\n")[2:]
    assert [row.endswith(", nearest") for row in rows if row.startswith("- **")] == [True] * 3
    data = plain_data(found)
    assert (data["edges"], len(data["nearest"])) == ([], 3)


def test_a_title_of_one_word_is_offered_the_specification_beside_it(own, tmp_path, model_dir):
    """ "Authentication" names nothing of "Token Validation"."""
    specs = {
        f"docs/specs/{slug}/spec.md": f"---\nid: SPEC-{number:04}\n---\n# {title}\n\n{text}\n"
        for number, slug, title, text in (
            (14, "tokens", "Token Validation", "A bearer token SHALL be checked against the signing key."),
            (15, "mail", "Mail Templates", "Each mail SHALL be rendered in the language of its reader."),
            (16, "export", "Nightly Export", "Rows SHALL be written as CSV."),
            (17, "maps", "Map Tiles", "Tiles SHALL be cached by zoom level."),
        )
    }
    repository = create_repository(tmp_path / "few", own.environment, specs)
    few = Workspace.open(repository.path, environ=own.environment | {"GITRAG_MODEL_DIR": str(model_dir)})
    few.update()
    found = related(few, "Authentication", ["spec"])
    assert "**requires: SPEC-0014** Token Validation (score: " in governance.related_markdown(found)


def test_nothing_related_is_said_in_the_promised_words(workspace):
    """Agents recognise this sentence: of many documents, where none has the least score."""
    found = replace(related(workspace, "Pick a video transcoding library"), are_few=False)
    told = governance.related_markdown(found)
    assert told == "No related artifacts found — drafting from scratch"
    assert len(governance.nearest_lines(found.nearest)) == 3


def test_that_there_is_no_document_to_compare_with_is_said(make_repository):
    repository = make_repository({"a.py": "A = 1\n", "docs/adr/0001-a.md": "# 1. Keep a\n\nAccepted.\n"})
    workspace = Workspace.open(repository.path, environ=repository.environment)
    workspace.update()
    found = related(workspace, "Pick a video transcoding library", ("spec",))
    assert (found.documents, found.nearest) == ((), ())
    first, second = governance.related_markdown(found).split("\n")
    assert first == "No related artifacts found — drafting from scratch"
    assert second == "No spec is indexed here, so there was nothing to compare with."
    assert related(workspace, "Pick a video transcoding library").lacking == ""


@pytest.mark.parametrize(
    ("document", "score", "text", "relation"),
    [
        (Document("", "ADR-0001", "a"), 0.9, "switch to b", "supersedes"),
        (Document("", "ADR-0001", "a"), 0.9, "add b", "extends"),
        (Document("", "ADR-0001", "a"), 0.4, "switch to b", "related"),
        (Document("", "ADR-0001", "a", "rejected"), 0.9, "switch to b", "related"),
        (
            Document("", "ADR-0001", "a", edges=(DocumentLink("superseded-by", "ADR-2"),)),
            0.9,
            "drop",
            "related",
        ),
    ],
)
def test_a_relation_is_of_the_score_the_words_and_the_status(document, score, text, relation):
    assert relation_to(CollectionKind.ADRS, document, score, text) == relation


# collections


@pytest.mark.parametrize("query", ["limit calls", "signing in", "delivery of parcels"])
def test_a_collection_finds_alone_what_it_finds_among_all(workspace, query):
    """The same documents with the same scores: code is their background whether it is asked or not."""

    def found(*kinds: CollectionKind) -> dict[str, float]:
        answer = search(workspace, query, SearchOptions(wanted=Wanted(kinds), min_score=0.01))
        return {
            hit.path: hit.score
            for section in answer.sections
            if section.kind is CollectionKind.ADRS
            for hit in section.hits
        }

    every = found(CollectionKind.ADRS, CollectionKind.SPECS, CollectionKind.CODE)
    assert found(CollectionKind.ADRS) == pytest.approx(every)
    assert every


# duplicates


def test_what_covers_a_text_is_listed_by_its_cosine(workspace):
    """The least cosine is 0.7 by default."""
    text = "as_duration: turn 90s, 15m or 2h into seconds"
    found = list(duplicates(workspace, text).chunks)
    assert (found[0].path, found[0].chunk.name) == ("service/periods.py", "as_duration")
    assert all(each.cosine >= 0.7 for each in found)
    none = duplicates(workspace, text, found[0].cosine + 0.01)
    assert none.chunks == ()
    assert len(duplicates(workspace, text, 0.3).chunks) > len(found)
    near = list(none.nearest)
    every = list(duplicates(workspace, text, -1).chunks)
    assert near == found[: len(near)] + every[len(found) : len(near)]
    told = governance.duplicates_markdown(replace(none, threshold=0.99))
    no_chunk = "No chunk has a cosine of 0.99 or more to it"
    assert told.startswith(
        f"{no_chunk}; the nearest, which may cover it in other words:\n- **service/periods.py**"
    )
    empty = governance.duplicates_markdown(Duplicates("x", 0.99, (), ()))
    assert empty == f"{no_chunk}: there is none to compare with."
    assert plain_data(found)[0]["name"] == "as_duration"


# changes


@pytest.fixture
def changed(own):
    """Let a test commit, and take it back."""
    head = own.git("rev-parse", "HEAD").strip()
    yield own
    own.git("reset", "--quiet", "--hard", head)
    own.git("clean", "-fdqx", "-e", ".git")


def asked(workspace: Workspace, span: str = "HEAD~1..HEAD") -> list[str]:
    return [each.asks for each in change_impact(workspace, reviewing(span)).documents]


WINDOW = '''

class SlidingWindow:
    """Limits the calls of a client in a window."""

    def allow(self, client):
        return self.calls[client] < self.most
'''
RATE = {"service/rate_limit.py": WINDOW}


def grown(own: GitRepository, extra: dict[str, str]) -> dict[str, str]:
    return {path: own.file(path).read_text() + text for path, text in extra.items()}


def test_a_change_is_asked_for_the_decision_that_it_touches(workspace, changed):
    """`Should this PR reference {ADR}?`, with the section."""
    changed.commit(grown(changed, RATE), message="Limit clients by a window")
    found = change_impact(workspace, reviewing("HEAD~1..HEAD"))
    (question, *_) = found.documents
    assert question.asks == "Should this PR reference ADR-0004?"
    assert question.section.startswith("ADR-0004: Limit calls per client")
    assert "**Should this PR reference ADR-0004?**" in governance.review_markdown(found)
    on_a_terminal = governance.review_markdown(found, lambda text, _role: text)
    assert not re.search(r"\*\*|^#|^- `|^  `", on_a_terminal, re.MULTILINE)
    (row, *_) = plain_data(found)["questions"]
    assert (row["question"], row["touched_by"]) == (
        "Should this PR reference ADR-0004?",
        "service/rate_limit.py",
    )


@pytest.mark.parametrize("where", ["message", "comment"])
def test_a_change_that_names_the_decision_is_not_asked(workspace, changed, where):
    """In its body or in a governing comment."""
    files = grown(changed, RATE)
    if where == "comment":
        files = {path: f"# Governing: ADR-0004\n{text}" for path, text in files.items()}
    changed.commit(
        files, message="Limit clients\n\nAs ADR-0004 says." if where == "message" else "Limit clients"
    )
    assert "Should this PR reference ADR-0004?" not in asked(workspace)


def test_a_change_is_asked_for_the_issue_that_it_touches(workspace, changed):
    """Naming the issue in the commit's message answers the question."""
    changed.commit(grown(changed, RATE), message="Keep the token bucket of clients at a restart")
    changed.write({".sdd/issues/12.md": ISSUE})
    assert "Should this PR reference #12?" in asked(workspace)
    changed.git("commit", "--quiet", "--amend", "-m", "Keep the token bucket of clients at a restart (#12)")
    assert "Should this PR reference #12?" not in asked(workspace)


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "in the working tree"])
def test_a_helper_like_one_that_exists_is_found(workspace, changed, committed):
    """Existing helpers like those a change adds."""
    changed.write({"service/reports.py": COPY.lstrip()})
    changed.git("add", "--intent-to-add", "service/reports.py")
    if committed:
        changed.commit()
    (added,) = change_impact(workspace, reviewing("HEAD~1..HEAD" if committed else "HEAD")).added
    assert (added.path, added.chunk.name) == ("service/reports.py", "parse_period")
    assert (added.existing[0].path, added.existing[0].chunk.name) == ("service/periods.py", "as_duration")
    text = governance.review_markdown(
        change_impact(workspace, reviewing("HEAD~1..HEAD" if committed else "HEAD"))
    )
    assert "`parse_period` (service/reports.py:1) is like:" in text
    assert "**service/periods.py** lines 1-4 `as_duration` (cosine: " in text


def test_a_review_says_what_was_asked_and_compared(workspace, changed):
    """It said "The change names what it touches." where nothing had scored enough."""
    zebra = (
        "def paint(zebra):\n    for stripe in zebra.stripes:\n        stripe.colour = zebra.next_colour()\n"
    )
    changed.commit({"service/zebra.py": zebra}, message="Paint the zebra")
    text = governance.review_markdown(change_impact(workspace, reviewing("HEAD~1..HEAD", 0.999)))
    assert "Asked by the commits' messages and 1 of 1 changed file." in text
    assert "Nothing scores 0.40 or more among 8 ADRs. The nearest:\n- ADR-" in text
    assert "No definition outside tests has a cosine of 1.00 or more to 1 definition that it adds." in text
    changed.commit({"notes.txt": "zebra\n"}, message="Paint another zebra")
    text = governance.review_markdown(change_impact(workspace, reviewing("HEAD~1..HEAD")))
    assert "It adds no definition that is compared: tests, moved and very short ones are not." in text


def test_what_a_review_calls_nearest_scores_less_than_what_it_asks_for(workspace, changed):
    """A search scores decisions on another scale than a review does."""
    changed.commit({"service/zebra.py": "def paint(zebra):\n    return zebra.stripes\n"}, message="Zebra")
    near = change_impact(workspace, reviewing("HEAD~1..HEAD")).unreached
    assert near is not None
    assert len(near.nearest) == 3
    assert all(each.score < near.least for each in near.nearest)


def test_what_bore_on_a_deleted_file_is_asked_for(workspace, changed):
    changed.commit({"service/rate_limit.py": None}, message="Drop it")
    asked = {
        each.document.id: each.touched_by
        for each in change_impact(workspace, reviewing("HEAD~1..HEAD")).documents
    }
    assert asked["ADR-0004"] == "service/rate_limit.py"


def test_what_only_moved_adds_nothing(workspace, changed):
    changed.commit({"service/periods.py": None, "service/durations.py": HELPER.lstrip()})
    assert change_impact(workspace, reviewing("HEAD~1..HEAD")).added == ()


@pytest.mark.parametrize("span", ["", "--output=x", "nothing..HEAD", "no such"])
def test_what_is_no_range_is_refused(workspace, span):
    with pytest.raises(UsageError):
        change_impact(workspace, reviewing(span))


def test_an_old_index_is_refreshed_first_and_that_is_said(own, model_dir, changed):
    """`gitrag related` refreshes a stale index, too."""
    heard: list[str] = []
    environment = own.environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    later = Workspace.open(
        own.path, environ=environment, say=heard.append, clock=lambda: time.time() + 121 * 60 + 30
    )
    changed.commit({"new.py": "A = 1\n"})
    duplicates(later, "seconds of a period")
    assert heard[0] == "Index was 2h1m stale — refreshed before running."
