from __future__ import annotations

import pytest

from gitrag.memory.exploration import SIZES, TYPES, suggest


@pytest.mark.parametrize(
    ("value", "word"), [(value, word) for value, words in TYPES.items() for word in words]
)
def test_each_word_speaks_for_its_type(value: str, word: str):
    """In any case, as whole words or at their start."""
    found = suggest(f"We want to {word.upper()} it", "", "")[0]
    assert found == (value, word)


@pytest.mark.parametrize(
    ("value", "word"), [(value, word) for value, words in SIZES.items() for word in words]
)
def test_each_word_speaks_for_its_size(value: str, word: str):
    """In any case, as whole words or at their start."""
    found = suggest("", f"it is {word}, they say", "")[1]
    assert found == (value, word)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two crashes since Monday", "fix"),
        ("refactoring of the parser", "refactor"),
        ("clean  up the tests", "refactor"),
        ("improving the latency", "enhancement"),
        ("an optimization", "enhancement"),
        ("implementation of tags", "feature"),
    ],
)
def test_words_count_by_their_starts(text: str, value: str):
    """So that plurals and other endings match."""
    assert suggest("", "", text)[0][0] == value
    assert suggest("", "", text)[0][1]


@pytest.mark.parametrize("text", ["debug the prefix", "a renewed ladder", "terror, unbroken"])
def test_the_middle_of_a_word_does_not_count(text: str):
    """ "debug" is not "bug"."""
    assert suggest(text, "", "")[0][1] == ""


def test_the_first_type_in_the_table_wins_wherever_its_word_stands():
    """A text that asks for a fix is about a fix, whatever else it mentions."""
    assert suggest("add a new page", "", "later, fix the old one")[0][0] == "fix"


def test_small_wins_over_large():
    """One text may hold words for both."""
    assert suggest("a big idea, a small change", "", "")[1][0] == "small"


def test_without_a_word_the_defaults_say_so():
    """The reader sees that it is a default and not a finding."""
    assert suggest("users want it", "", "") == (("feature", ""), ("medium", ""))
