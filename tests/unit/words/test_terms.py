from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gitrag.words import terms


def test_identifier_yields_itself_and_its_parts():
    assert terms.split("parsedHTTPResponse2") == ("parsedhttpresponse2", "pars", "http", "respons", "2")
    assert terms.split("__snake_case_") == ("snake_case", "snak", "cas")


def test_plain_word_yields_its_stem_once():
    assert terms.split("Retries") == terms.split("retry") == terms.split("retrying") == ("retri",)


def test_parts_are_stems_without_whole_identifiers():
    assert terms.parts_of("src/httpClient retry_all retries") == ["src", "http", "client", "retri", "all"]
    assert terms.stems_of("httpClient") == ("http", "client")
    assert terms.stems_of("Clients") == ("client",)


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


def counted(*texts: tuple[str, str]) -> list[Counter[int]]:
    """What `terms.count` says of frequencies, as one counter a text."""
    return [counter for counter, _in_name in counted_with_names(*texts)]


def counted_with_names(*texts: tuple[str, str]) -> list[tuple[Counter[int], set[int]]]:
    """What `terms.count` says, for each text the frequencies and the terms that are in a name."""
    found, frequencies, sizes, lengths = terms.count(texts)
    ends = sizes.cumsum()
    of_each = [
        dict(zip(found[end - size : end].tolist(), frequencies[end - size : end].tolist(), strict=True))
        for end, size in zip(ends, sizes, strict=True)
    ]
    both = [
        (
            Counter({term: n & (terms.IN_NAME - 1) for term, n in counts.items()}),
            {term for term, n in counts.items() if n & terms.IN_NAME},
        )
        for counts in of_each
    ]
    assert [sum(counter.values()) for counter, _in_name in both] == lengths.tolist()
    return both


def counted_slowly(text: str, name: str) -> tuple[Counter[int], set[int]]:
    counts: Counter[int] = Counter()
    in_name: set[int] = set()
    for words, weight, is_name in ((text, 1, False), (name, terms.NAME_WEIGHT, True)):
        for word in re.findall(r"\w+", words):
            for term in terms.split(word):
                counts[terms.hashed(term)] += weight
                in_name |= {terms.hashed(term)} if is_name else set()
    return Counter({term: min(n, 32_767) for term, n in counts.items()}), in_name


def test_what_is_in_the_name_counts_three_times():
    assert counted(("send", "send sendAll")) == [
        Counter({terms.hashed("send"): 7, terms.hashed("sendall"): 3, terms.hashed("all"): 3})
    ]


def test_frequencies_stop_at_what_the_store_holds():
    """A frequency at its most leaves the bit that tells of names alone."""
    x = terms.hashed("x")
    for often in (32_767, 32_768, 40_000, 70_000):
        assert counted_with_names(("x " * often, "")) == [(Counter({x: 32_767}), set())]
        assert counted_with_names(("x " * often, "x")) == [(Counter({x: 32_767}), {x})]


def test_a_term_of_a_name_is_marked_and_counts_as_weighted():
    [(counts, in_name)] = counted_with_names(("send mail", "Door.send"))
    send, mail, door = map(terms.hashed, ("send", "mail", "door"))
    assert counts == {send: 4, mail: 1, door: 3}
    assert in_name == {send, door}


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_counting_many_texts_at_once_equals_counting_each_slowly(texts: list[tuple[str, str]]):
    assert counted_with_names(*texts) == [counted_slowly(*pair) for pair in texts]


@given(st.text())
def test_a_text_is_found_by_each_of_its_own_terms(text: str):
    """The parts of a word with accents aside, which no question asks for."""
    [counts] = counted((text, ""))
    asked = {terms.hashed(term) for term in terms.query_terms(text)}
    assert asked == set(counts) or (asked < set(counts) and not text.isascii())


@given(st.text(min_size=1))
def test_hash_is_an_unsigned_64_bit_integer(text: str):
    assert 0 <= terms.hashed(text) < 2**64
