"""What earlier changes say of files, by hand-made messages."""

from __future__ import annotations

import numpy as np
import pytest

from gitrag.search.history import message_features
from gitrag.search.question import read
from gitrag.store.commit_evidence import Messages

YEAR_S = 365 * 24 * 3600
QUESTION = read("exponential patience")


def messages(
    commits: list[tuple[list[int], dict[int, int]]],
    files: int,
    *,
    changed: list[int] | None = None,
    ages_s: list[int] | None = None,
) -> Messages:
    """Make messages of ten terms each: of each commit its files, and how often it has each term."""
    counts = [len(own) for own, _ in commits]
    postings = [
        (term, commit, often) for commit, (_, said) in enumerate(commits) for term, often in said.items()
    ]
    owner = np.repeat(np.arange(len(commits)), counts)
    file = np.array([each for own, _ in commits for each in own], dtype=np.int32)
    spread = np.array(changed or counts)
    return Messages(
        term=np.array([term for term, _, _ in postings], dtype=np.int32),
        commit=np.array([commit for _, commit, _ in postings], dtype=np.int32),
        frequency=np.array([often for _, _, often in postings], dtype=np.int32),
        age_s=np.array(ages_s or [0] * len(commits), dtype=np.int64),
        changed=spread.astype(np.int32),
        length=np.full(len(commits), 10, dtype=np.int32),
        first=np.cumsum(counts) - counts,
        files=np.array(counts, dtype=np.int64),
        file=file,
        file_length=np.bincount(file, (10 / np.sqrt(spread))[owner], files).astype(np.float32),
        telling=100,
        mean_length=10.0,
        meaning=np.empty(0, dtype=np.float32),
        meant=np.empty(0, dtype=np.int32),
    )


def test_the_file_of_the_message_that_says_most_has_most():
    found = message_features(messages([([0], {0: 1, 1: 1}), ([1], {0: 1})], 3), 3, QUESTION)

    for column in found.values():
        assert column[0] == pytest.approx(1.0)
        assert 0 < column[1] < 1
        assert column[2] == 0


def test_a_commit_of_many_files_says_less_of_each():
    told = messages([([0], {0: 1}), ([1], {0: 1})], 2, changed=[1, 20])

    for column in message_features(told, 2, QUESTION).values():
        assert column[1] < column[0] == pytest.approx(1.0)


def test_what_was_done_long_ago_counts_less_as_a_change_alike():
    told = messages([([0], {0: 1}), ([1], {0: 1})], 2, ages_s=[20 * YEAR_S, 0])

    like = message_features(told, 2, QUESTION)["like"]

    assert like == pytest.approx([0.25, 1.0])


def test_of_a_question_that_is_asked_only_the_words_count():
    told = messages([([0], {0: 1, 1: 1})], 2)

    found = message_features(told, 2, read("how is exponential patience done"))

    assert found["history"][0] == pytest.approx(1.0)
    assert not found["like"].any()


def test_without_history_nothing_counts():
    for told in (None, messages([], 2), messages([([0], {})], 2)):
        for column in message_features(told, 2, QUESTION).values():
            assert column.tolist() == [0, 0]


def test_times_of_any_size_are_numbers():
    told = messages([([0], {0: 1}), ([1], {0: 1})], 2, ages_s=[1 << 41, 0])

    assert np.isfinite(message_features(told, 2, QUESTION)["like"]).all()
