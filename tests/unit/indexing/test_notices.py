"""Thresholds of the index's age, each from both sides, and the exact lines that report its state."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitrag.indexing.notices import failed_line, prime_updates, refreshed_line, stale_line, unembedded_line

TWO_HOURS = timedelta(minutes=120)


@pytest.mark.parametrize(
    ("age", "threshold", "line"),
    [
        (TWO_HOURS, TWO_HOURS, None),
        (TWO_HOURS + timedelta(seconds=1), TWO_HOURS, "Index was 2h stale — refreshed before running."),
        (timedelta(minutes=133), TWO_HOURS, "Index was 2h13m stale — refreshed before running."),
        (timedelta(minutes=30), timedelta(minutes=30), None),
        (timedelta(minutes=31), timedelta(minutes=30), "Index was 31m stale — refreshed before running."),
        (timedelta(hours=4), timedelta(hours=4), None),
        (timedelta(seconds=2), timedelta(seconds=1), "Index was 2s stale — refreshed before running."),
        (timedelta(0), timedelta(0), None),
    ],
)
def test_an_index_older_than_the_threshold_is_said_to_be(age, threshold, line):
    """An index exactly as old as the threshold is still fresh."""
    assert stale_line(age, threshold) == line


@pytest.mark.parametrize(
    ("age", "updates"),
    [
        (timedelta(0), False),
        (timedelta(seconds=59.9), False),
        (timedelta(seconds=60), True),
        (timedelta(days=9), True),
        (None, True),
    ],
)
def test_a_session_that_begins_right_after_another_updates_nothing(age, updates):
    """Skipped when the index was updated less than 60 s ago, since sessions often start back to back."""
    assert prime_updates(age) is updates


def test_what_a_silent_update_did_is_said_only_if_it_did_something():
    """An agent's context should hold no line without news."""
    assert refreshed_line(0, 0, 0) is None
    assert refreshed_line(1, 2, 3) == (
        "Refreshed index (1 added, 2 updated, 3 removed across this repo's collections)"
    )


def test_what_waits_for_its_vector_is_said_with_the_time_it_takes():
    """The estimate helps to decide whether to embed now."""
    assert unembedded_line(0, 50.0) is None
    line = "847 chunks unembedded — run `gitrag index embed` (≈17s on this machine)"
    assert unembedded_line(847, 17.4) == line
    assert unembedded_line(1, 0.001) == (
        "1 chunks unembedded — run `gitrag index embed` (≈1s on this machine)"
    )


def test_a_failed_refresh_names_the_collection():
    """The write itself succeeded: the line says which collection is now out of date, and what to run."""
    line = "Index refresh failed for parcels-adrs — run `gitrag index update` manually"
    assert failed_line("parcels-adrs") == line
