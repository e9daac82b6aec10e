"""How many letters two words differ in."""

import pytest

from gitrag.words.spelling import distance


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("config", "config", 0),
        ("confg", "config", 1),
        ("clinet", "client", 1),  # two exchanged
        ("retires", "retries", 1),
        ("rotuer", "router", 1),
        ("parser", "parse", 1),
        ("sever", "server", 1),
        ("cofnigs", "config", 2),
        ("", "ab", 2),
    ],
)
def test_letters_wrong_missing_too_many_or_exchanged_count_one_each(one: str, other: str, expected: int):
    assert distance(one, other, 2) == expected
    assert distance(other, one, 2) == expected


def test_what_is_farther_than_asked_is_only_said_to_be_farther():
    assert distance("connection", "zygomorph", 2) > 2
