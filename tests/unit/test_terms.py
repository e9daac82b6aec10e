from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitrag import terms


def test_identifier_yields_itself_and_its_parts():
    assert terms.split("parseHTTPResponse2") == ("parsehttpresponse2", "parse", "http", "response", "2")
    assert terms.split("__snake_case_") == ("snake_case", "snake", "case")


def test_plain_word_yields_itself_once():
    assert terms.split("Retry") == ("retry",)


def test_chinese_text_yields_overlapping_pairs():
    assert terms.split("配置加载") == ("配置", "置加", "加载")


def test_mixed_script_word_yields_both():
    assert terms.split("load配置") == ("load", "配置")


def test_long_words_are_kept_whole():
    word = "aB" * 100
    assert terms.split(word) == (word.casefold(),)


def test_punctuation_alone_has_no_terms():
    assert terms.query_terms("?!... --- ___") == []


def test_identifiers_keep_dotted_names():
    assert terms.identifiers("where is Session.send or http::Client") == [
        "Session.send",
        "http.Client",
        "where",
        "is",
        "Session",
        "send",
        "or",
        "http",
        "Client",
    ]


def test_weight_multiplies_counts():
    counts = terms.count("send send", 3)
    assert counts == {terms.hashed("send"): 6}


@given(st.text())
def test_a_text_is_found_by_each_of_its_own_terms(text: str):
    counts = terms.count(text)
    assert {terms.hashed(term) for term in terms.query_terms(text)} == set(counts)


@given(st.text(min_size=1))
def test_hash_is_an_unsigned_64_bit_integer(text: str):
    assert 0 <= terms.hashed(text) < 2**64
