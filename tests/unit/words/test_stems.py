from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.words.stems import stem
from gitrag.words.terms import query_terms


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("register registers registered registering", "regist"),
        ("retry retries retried retrying", "retri"),
        ("query queries queried querying", "queri"),
        ("cache caches cached caching", "cach"),
        ("match matches matched matching", "match"),
        ("box boxes boxed boxing", "box"),
        ("emit emits emitted emitting emitter", "emit"),
        ("press presses pressed pressing", "press"),
        ("process processes processed processing processor", "process"),
        ("class classes", "class"),
        ("validate validates validated validating validator validation", "valid"),
        ("configure configures configured configuration configurable", "configur"),
        ("organize organizes organized organization", "organ"),
        ("connect connects connected connection connections", "connect"),
        ("handle handles handled handling handler handlers", "handl"),
        ("quick quickly quickness", "quick"),
        ("key keys", "key"),
    ],
    ids=lambda value: value.split()[0],
)
def test_forms_of_a_word_have_one_stem(words: str, expected: str):
    assert {word: stem(word) for word in words.split()} == dict.fromkeys(words.split(), expected)


@pytest.mark.parametrize(
    "word", ["", "a", "us", "bed", "ing", "ring", "string", "bring", "status", "analysis"]
)
def test_what_only_looks_like_an_ending_stays(word: str):
    assert stem(word) == word


@pytest.mark.parametrize(
    "word", ["utf8s", "snake_cases", "naïves", "файлами", "配置加载", "don't", "Ⅷs", "\ud800s"]
)
def test_what_is_no_english_word_stays(word: str):
    assert stem(word) == word


@pytest.mark.parametrize(
    ("one", "other"),
    [("string", "strip"), ("class", "clause"), ("user", "usage"), ("rating", "ration"), ("index", "indent")],
)
def test_other_words_have_other_stems(one: str, other: str):
    assert stem(one) != stem(other)


@given(st.text())
def test_any_text_has_a_stem(text: str):
    assert len(stem(text)) <= len(text)
    assert bool(stem(text)) is bool(text)


@given(st.from_regex(r"[a-z]{4,30}", fullmatch=True))
def test_the_stem_of_a_word_is_a_word_that_begins_like_it(word: str):
    found = stem(word)
    assert found.isascii()
    assert found.isalpha()
    assert found[:2] == word[:2]
    assert len(found) >= 2


@given(st.from_regex(r"[a-z]{3,20}[bdfgklmnprtvw]", fullmatch=True))
def test_one_and_many_meet(word: str):
    assert stem(word + "s") == stem(word)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_text_has_ascii_terms(text: str):
    assert all(term.isascii() for term in query_terms(text))
