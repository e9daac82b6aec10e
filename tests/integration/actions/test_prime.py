"""`gitrag prime`, and what readers of the index say of its age."""

from __future__ import annotations

import time

import pytest

from gitrag.actions.catch_up import refresh_after_write
from gitrag.actions.documents import indexed_documents
from gitrag.actions.prime import prime
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import read_status
from gitrag.cli.root import root
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.draft import drafter
from gitrag.errors import NotSetUpError
from gitrag.report.prime import as_markdown
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.repository import GitRepository


class Clock:
    """A clock that is ahead."""

    ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def own(make_repository) -> GitRepository:
    return make_repository(decided_project(), name="parcelwatch")


@pytest.fixture
def workspace(own, git_environment, model_dir, clock, heard) -> Workspace:
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    opened = Workspace.open(own.path, environ=environment, say=heard.append, clock=clock)
    opened.update()
    return opened


def stale(heard: list[str]) -> list[str]:
    return [line for line in heard if "stale" in line]


# prime


def test_a_session_hears_of_changes_once(workspace, own, clock):
    """An update, silent but for what it did."""
    own.commit(
        {
            "docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n",
            "docs/adrs/ADR-0001-event-history.md": "# ADR-0001: Changed\n",
            "docs/adrs/ADR-0005-poll-for-updates.md": None,
        }
    )
    clock.ahead_s = 61
    line = "Refreshed index (1 added, 1 updated, 1 removed across this repo's collections)"
    assert prime(workspace).notes[0] == line
    clock.ahead_s = 122
    assert not any("Refreshed" in note for note in prime(workspace).notes)


def test_uncommitted_documents_count_once(workspace, own, clock):
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n", "service/app.py": "A = 1\n"})
    clock.ahead_s = 61
    assert prime(workspace).notes[0].startswith("Refreshed index (1 added, 1 updated, 0 removed")
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: Newer\n"})
    clock.ahead_s = 122
    assert prime(workspace).notes[0].startswith("Refreshed index (1 added, 0 updated, 0 removed")


def test_a_session_right_after_another_skips_the_update(workspace, own, clock):
    """Touched under 60 s ago, and no output of it."""
    own.commit({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    clock.ahead_s = 50
    primed = prime(workspace)
    assert not any("Refreshed" in note for note in primed.notes)
    assert "ADR-0009" not in {entry.document.id for entry in primed.entries}
    clock.ahead_s = 61
    assert "ADR-0009" in {entry.document.id for entry in prime(workspace).entries}


def test_a_clock_that_was_ahead_holds_no_update_back(workspace, own, clock):
    own.commit({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    clock.ahead_s = -86_400
    assert "ADR-0009" in {entry.document.id for entry in prime(workspace).entries}


def test_a_session_hears_of_chunks_without_vectors(workspace):
    """With the time it would take, so that the reader can decide to embed them."""
    note = prime(workspace).notes[-1]
    unembedded = sum(each.unembedded for each in read_status(workspace).collections)
    assert note.startswith(f"{unembedded} chunks unembedded — run `gitrag index embed` (≈")
    assert note.endswith("s on this machine)")
    workspace.embed()
    assert prime(workspace).notes == ()


def test_without_a_topic_every_decision_and_specification_has_a_line(workspace):
    """An overview: which documents exist, and their status."""
    text = as_markdown(prime(workspace))
    assert "## ADRs (8)" in text
    assert "## Specs (6)" in text
    assert "| ADR-0005 | The web client polls | superseded by ADR-0007 | docs/adrs/ADR-0005-" in text
    design = "docs/specs/parcel-state/design.md"  # has no id of its own
    assert f"| SPEC-0001 | Parcel state |  | {design} |" in text
    assert "| SPEC-0003 | Notifications | draft | docs/specs/notifications/spec.md |" in text


def test_with_a_topic_its_documents_are_given_in_full(workspace, own):
    """The top ones only."""
    primed = prime(workspace, "signing keys")
    assert {entry.document.id for entry in primed.entries} == {"ADR-0003", "SPEC-0002"}
    whole = own.file("docs/adrs/ADR-0003-signed-tokens.md").read_text()
    assert whole.strip() in as_markdown(primed)


def test_a_topic_of_nothing_is_said_so(workspace):
    assert "No relevant ADRs or specs found for 'video transcoding'." in as_markdown(
        prime(workspace, "video transcoding")
    )


def test_a_repository_of_code_alone_has_nothing_on_any_topic(make_repository, git_environment):
    """Nothing is missing there, and no index to be made."""
    repository = make_repository({"a.py": "A = 1\n"}, name="bare")
    workspace = Workspace.open(repository.path, environ=git_environment)
    workspace.update()
    assert "No relevant ADRs or specs found for 'signing keys'." in as_markdown(
        prime(workspace, "signing keys")
    )


def test_priming_needs_an_index(make_repository):
    repository = make_repository({"a.py": "A = 1\n"}, name="bare")
    with pytest.raises(NotSetUpError, match="No gitrag collections found for bare"):
        prime(Workspace.open(repository.path, environ=repository.environment))


def test_prime_is_a_command():
    assert "prime" in root.list_commands(None)


# readers


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(119, []), (121, ["Index was 2h1m stale — refreshed before running."])],
)
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "dirty file"])
def test_a_reader_says_that_it_refreshed_an_old_index(workspace, own, clock, heard, minutes, said, committed):
    """HEAD's tree or a dirty file not indexed means refresh; older than 120 minutes, a line."""
    change = {"service/app.py": "def open_window():\n    return 1\n"}
    own.write(change)
    if committed:
        own.commit()
    clock.ahead_s = 60 * minutes + 30
    search(workspace, "window")
    assert stale(heard) == said
    search(workspace, "window")
    assert stale(heard) == said


def test_a_reader_of_an_index_that_has_everything_says_nothing(workspace, clock, heard):
    """However old."""
    clock.ahead_s = 10 * 24 * 3600
    search(workspace, "window")
    assert stale(heard) == []


@pytest.mark.parametrize(("minutes", "lines"), [(30, 0), (32, 1)])
def test_the_threshold_is_configured(own, git_environment, model_dir, clock, heard, minutes, lines):
    """`staleness_threshold`."""
    own.commit({".gitrag.yaml": "staleness_threshold: 30m\n"})
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    workspace = Workspace.open(own.path, environ=environment, say=heard.append, clock=clock)
    workspace.update()
    own.commit({"new.py": "A = 1\n"})
    clock.ahead_s = 60 * minutes - 30
    search(workspace, "window")
    assert len(stale(heard)) == lines


# writers


def test_after_a_write_the_collection_is_refreshed_silently(workspace, own, heard):
    """Success is expected; only a failure needs a line."""
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: Frobnication\n"})
    assert refresh_after_write(workspace, CollectionKind.ADRS)
    assert heard == []
    assert "ADR-0009" in {
        document.id for _kind, document, _text in indexed_documents(workspace, [CollectionKind.ADRS])
    }


def test_a_refresh_that_fails_is_one_line(workspace, own, heard):
    """And the write still counts."""
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    own.file(".git/index").write_bytes(b"damaged")
    assert not refresh_after_write(workspace, CollectionKind.ADRS)
    assert heard == ["Index refresh failed for parcelwatch-adrs — run `gitrag index update` manually"]


def test_what_is_on_drafts_is_counted(workspace):
    """Hybrid from the start, and the answer says how many are drafts."""
    assert drafter() is not None
    answer = search(workspace, "signing keys", SearchOptions())
    assert answer.drafts > 0
    assert all(hit.cosine > -1 for hit in answer.hits)
