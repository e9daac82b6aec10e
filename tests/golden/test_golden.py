"""Questions a developer asks of a small project, and the file each should lead to."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.search.engine import Hit
from gitrag.workspace import Workspace
from tests.support.golden_project import project
from tests.support.indexes import embedded_app

QUESTIONS = {
    "where do we retry failed requests with exponential backoff": "web/src/api.ts",
    "limit how many calls a client can make per second": "service/rate_limit.py",
    "how are passwords stored": "service/accounts.py",
    "check that a login token is not forged or too old": "service/auth.py",
    "evict the least recently used entry": "service/cache.py",
    "database connection pool": "service/database.py",
    "roll back when an exception is raised": "service/database.py",
    "compute the current state of a parcel from its history": "service/parcels.py",
    "send an email to subscribers": "service/notifications.py",
    "read configuration from environment variables": "service/settings.py",
    "upgrade the database schema": "service/migrations.py",
    "map url and method to a handler": "service/app.py",
    "wait until the user stops typing": "web/src/debounce.ts",
    "show a relative time like 3 hours ago": "web/src/dates.ts",
    "react component that lists parcels": "web/src/ParcelList.tsx",
    "persist followed parcels in the browser": "web/src/storage.ts",
    "validate a barcode's check digit": "agent/scanner.go",
    "write to disk durably so that a crash loses nothing": "agent/spool.go",
    "post scans to the service in batches": "agent/uploader.go",
    "graceful shutdown on a signal": "agent/main.go",
    "delete old backups": "scripts/backup.sh",
    "how do I rotate the signing key": "docs/runbook.md",
    "why are scans never updated in place": "docs/adrs/ADR-0001-event-history.md",
    "tests for late scans": "tests/test_parcels.py",
    "TokenBucket": "service/rate_limit.py",
    "Notifier.parcel_changed": "service/notifications.py",
    "verify_token": "service/auth.py",
    "what happens when the service cannot be reached": "docs/architecture.md",
}
ABSENT = [
    "GraphQL subscription resolver",
    "LDAP authentication backend",
    "how the service renders PDF invoices",
    "video transcoding",
    "Kafka consumer group rebalancing",
    "route optimisation for delivery vans",
    "how are photosynthesis rates computed",
    "tax brackets for married couples",
    "why do tides depend on the moon",
    "frobnicate the quuxlet",
    "krumpetify",
    "FizzwopFactoryBean",
    "render_template",
    "stream_with_context",
]
"""Questions that the project has nothing on."""

FIRST = 0.8
"""Share of the questions whose file comes first; every file is among the first three."""

SHOWN = 0.9
"""Share of the questions whose file scores high enough to be shown."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, model_dir) -> Workspace:
    """The project, indexed, vectors included."""
    return embedded_app(tmp_path_factory.mktemp("home"), model_dir, project())


@pytest.fixture(scope="module")
def hits(workspace) -> dict[str, tuple[Hit, ...]]:
    options = SearchOptions(limit=50, min_score=0.0)
    return {question: search(workspace, question, options).hits for question in QUESTIONS}


@pytest.fixture(scope="module")
def ranks(hits) -> dict[str, int | None]:
    """For each question the rank of its file, from 1; None when it is not among the hits."""
    found = {}
    for question, path in QUESTIONS.items():
        paths = [hit.path for hit in hits[question]]
        found[question] = paths.index(path) + 1 if path in paths else None
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_file_is_among_the_first_three(ranks, question):
    assert ranks[question] in (1, 2, 3)


def test_most_files_come_first(ranks):
    later = {question: rank for question, rank in ranks.items() if rank != 1}
    assert len(later) <= (1 - FIRST) * len(ranks), later


def test_most_files_are_shown(workspace):
    hidden = [
        question
        for question, path in QUESTIONS.items()
        if path not in [hit.path for hit in search(workspace, question).hits]
    ]
    assert len(hidden) <= (1 - SHOWN) * len(QUESTIONS), hidden


@pytest.mark.parametrize("question", ABSENT)
def test_a_question_without_an_answer_has_no_likely_hit(workspace, question):
    assert [hit.path for hit in search(workspace, question).hits if hit.score >= 0.15] == []


@pytest.mark.parametrize("question", ["TokenBucket", "Notifier.parcel_changed", "verify_token"])
def test_a_defined_name_is_nearly_certain(workspace, question):
    assert search(workspace, question).hits[0].score > 0.95


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_never_rise_down_the_list(hits, question):
    scores = [hit.score for hit in hits[question]]
    assert scores == sorted(scores, reverse=True)
