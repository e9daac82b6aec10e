from __future__ import annotations

import re
from collections import Counter

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


def counted(*texts: list[tuple[str, int]]) -> list[Counter[int]]:
    """What `terms.count` says, as one counter a text."""
    found, frequencies, sizes, lengths = terms.count(texts)
    ends = sizes.cumsum()
    counters = [
        Counter(
            dict(zip(found[end - size : end].tolist(), frequencies[end - size : end].tolist(), strict=True))
        )
        for end, size in zip(ends, sizes, strict=True)
    ]
    assert [sum(counter.values()) for counter in counters] == lengths.tolist()
    return counters


def counted_slowly(pieces: list[tuple[str, int]]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for text, weight in pieces:
        for word in re.findall(r"\w+", text):
            for term in terms.split(word):
                counts[terms.hashed(term)] += weight
    return Counter({term: min(n, 65_535) for term, n in counts.items()})


def test_weight_multiplies_counts():
    assert counted([("send sendAll", 3), ("send", 1)]) == [
        Counter({terms.hashed("send"): 7, terms.hashed("sendall"): 3, terms.hashed("all"): 3})
    ]


def test_frequencies_stop_at_what_the_store_holds():
    assert counted([("x " * 70_000, 1)]) == [Counter({terms.hashed("x"): 65_535})]


@given(st.lists(st.lists(st.tuples(st.text(), st.integers(1, 5)), max_size=3), max_size=5))
def test_counting_many_texts_at_once_equals_counting_each_slowly(texts: list[list[tuple[str, int]]]):
    assert counted(*texts) == [counted_slowly(pieces) for pieces in texts]


@given(st.text())
def test_a_text_is_found_by_each_of_its_own_terms(text: str):
    [counts] = counted([(text, 1)])
    assert {terms.hashed(term) for term in terms.query_terms(text)} == set(counts)


@given(st.text(min_size=1))
def test_hash_is_an_unsigned_64_bit_integer(text: str):
    assert 0 <= terms.hashed(text) < 2**64
