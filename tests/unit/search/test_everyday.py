"""Words that code may use for what people say."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from gitrag.search.everyday import meant
from gitrag.search.question import STOP_WORDS, read
from gitrag.words.stems import stem


def words_for(question: str) -> list[set[str]]:
    return [set(words) for words in meant(read(question))]


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("where do uploaded pictures go", "imag"),
        ("nobody may guess a password", "bruteforc"),  # words apart, another form
        ("tell another program of it", "notifi"),
        ("the color of each app", "palett"),  # the table has "colour"
    ],
)
def test_what_people_say_has_codes_words(question, word):
    assert any(word in words for words in words_for(question))


def test_words_of_the_question_are_not_meant_again():
    assert not any("imag" in words for words in words_for("is a picture an image"))


@pytest.mark.parametrize(
    "question",
    [
        "how does it work",  # no worker
        "how is it done",
        "why don't they stay",
        "customized information",  # no customer is informed
        "conversion of directives",  # no conversation, no direction
        "pip completions of a load balancer",
        "null pointer from a module to a port",
    ],
)
def test_a_word_is_not_what_another_of_its_stem_means(question):
    assert words_for(question) == []


def test_a_word_is_what_its_own_forms_mean():
    (cipher,) = words_for("encrypt it")
    for word in ("encrypts", "encrypted", "encrypting", "encryption"):
        assert words_for(f"{word} of it") == [cipher]


def test_part_of_a_phrase_counts_less_than_the_phrase():
    (words,) = (words for words in meant(read("guess a password")) if "lockout" in words)
    assert words["bruteforc"] == 1.0
    assert max(words["predict"], words["estim"]) <= 0.5


def test_words_that_mean_nothing_else_and_endless_texts_are_read():
    assert words_for("frobnicate the quuxlet") == []
    assert len(words_for("pictures " * 100_000 + "password")) == 1


def test_each_row_has_plain_lower_case_words_once():
    lines = resources.files("gitrag.words").joinpath("people.tsv").read_text("utf-8").splitlines()[1:]
    said = [line.split("\t")[0] for line in lines]
    assert said == sorted(set(said))
    for line in lines:
        own, code = line.split("\t")
        assert own == own.lower().strip()
        assert len(own.split()) > 2 or not {stem(word) for word in own.split()} <= STOP_WORDS
        assert all(re.fullmatch("[a-z0-9]+", word) for word in code.split())
        assert len(set(code.split())) == len(code.split())
