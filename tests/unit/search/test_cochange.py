"""What changes together: from the commits that changed the files given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gitrag.search.cochange import companions
from gitrag.store.histories import PastChanges


def past(*commits: Sequence[str]) -> PastChanges:
    """Return commits, newest first, each with its paths."""
    names = sorted({path for own in commits for path in own})
    rows = [(age, names.index(path)) for age, own in enumerate(commits) for path in own]
    age, path = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(2))
    return PastChanges(age, path.astype(np.int32), names, len(commits))


def told(found: PastChanges, *given: str) -> list[tuple[str, str, int, int, bool]]:
    return [
        (each.path, each.beside, each.together, each.of, each.is_usual) for each in companions(found, given)
    ]


def test_what_changed_most_regularly_with_a_file_comes_first_and_is_counted():
    found = past(*[["a", "b"]] * 5, ["a", "c"])
    assert told(found, "a") == [("b", "a", 5, 6, True), ("c", "a", 1, 6, False)]


def test_a_file_that_is_given_is_not_missed():
    found = past(*[["a", "b"]] * 5)
    assert told(found, "a", "b") == []


def test_few_commits_are_no_usage():
    found = past(*[["a", "b"]] * 4)
    assert told(found, "a") == [("b", "a", 4, 4, False)]


def test_a_commit_of_many_files_says_less_of_each():
    found = past(["a", "b"], ["a", *(f"m{number}" for number in range(30))])
    assert told(found, "a")[0][0] == "b"


def test_of_two_given_files_the_one_that_says_more_is_named():
    found = past(["a", "c"], ["a"], ["a"], ["b", "c"])
    assert told(found, "a", "b") == [("c", "b", 1, 1, False)]


def test_only_the_last_fifty_commits_are_counted():
    found = past(*[["a"]] * 50, *[["a", "b"]] * 100)
    assert told(found, "a") == [("b", "a", 0, 50, False)]


def test_what_is_unknown_has_no_companions():
    assert told(past(["a", "b"]), "new") == []
    assert told(past(), "new") == []
