from __future__ import annotations

import pytest

from gitrag.search.question import MOST_TERMS, read
from gitrag.words.path_traits import Trait
from gitrag.words.terms import hashed


def test_words_that_only_ask_do_not_count():
    assert read("where are retries with backoff implemented").words == ("retri", "backoff", "impl")


def test_a_question_of_stop_words_keeps_them():
    assert read("how does it work").words == ("how", "doe", "it", "work")


def test_whole_identifiers_are_told_from_stems():
    question = read("where is parseDates used")
    assert dict(zip(question.words, question.is_part, strict=True)) == {
        "parsedates": False,
        "pars": True,
        "dat": True,
    }


def shorts(text: str) -> dict[str, list[str]]:
    """What some short forms stand for in a question."""
    question = read(text)
    known = {hashed(word): word for word in "auth authen ws sse ctx param door doors".split()}
    return {
        known[short]: [question.words[place] for place in places]
        for short, places in question.shorts
        if short in known
    }


def test_a_words_beginning_and_the_initials_of_several_are_short_forms():
    assert shorts("authentication") == {"auth": ["authentic"], "authen": ["authentic"]}
    assert shorts("WebSocket adapter") == {"ws": ["web", "socket"]}
    assert shorts("how server-sent events are parsed") == {"sse": ["serv", "sent", "event"]}
    assert shorts("open the doors") == {}  # `door` is the word itself


def test_a_pasted_file_has_a_bounded_number_of_short_forms():
    assert len(read(" ".join(f"{'ab' * 200}{i:03} word{i:03}x" for i in range(5000))).shorts) < 5000


@pytest.mark.parametrize(
    ("text", "is_name"),
    [("Blueprint", True), (" url_for ", True), ("Session.send", True), ("url for", False), ("", False)],
)
def test_a_single_word_may_be_a_name(text: str, is_name: bool):
    assert read(text).is_name is is_name


@pytest.mark.parametrize(
    ("text", "asks_for"),
    [
        ("open a session", Trait(0)),
        ("Tests of the session", Trait.TEST),
        ("an example of a session", Trait.EXAMPLE),
        ("documentation of the benchmarks", Trait.DOCUMENT | Trait.EXAMPLE),
        ("why are sessions closed", Trait.DOCUMENT),
        ("How do I close a session", Trait.DOCUMENT),
        ("what happens when a session ends", Trait.DOCUMENT),
        ("how does a session end", Trait(0)),
        ("the latest contest", Trait(0)),
    ],
)
def test_a_question_may_ask_for_a_kind_of_file(text: str, asks_for: Trait):
    assert read(text).asks_for == asks_for


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Blueprint", ("Blueprint",)),
        ("where is url_for defined", ("url_for",)),
        ("how does Session.send redirect", ("Session.send", "Session")),
        ("the Session is closed", ("Session",)),
        ("Where is url_for defined", ("url_for",)),
        ("How are routes registered?", ()),
        ("Session of a user", ("Session",)),
        ("where is Get called", ("Get",)),
        ("Where", ("Where",)),
        ("how are routes registered", ()),
        ("parseHTTP errors", ("parseHTTP",)),
    ],
)
def test_names_are_told_from_words(text: str, names: tuple[str, ...]):
    assert read(text).names == names


def test_a_pasted_file_is_cut_to_its_first_terms():
    question = read(" ".join(f"word{i}" for i in range(3000)))
    assert len(question.words) == MOST_TERMS
    assert question.words[0] == "word0"


def test_a_pasted_word_of_a_megabyte_is_read():
    """In linear time: a quadratic reader would not come back."""
    assert read("x" * 1_000_000).words == ("x" * 1_000_000,)


@pytest.mark.parametrize("text", ["", "   ", "?!", "\n\t"])
def test_no_words_no_terms(text: str):
    assert read(text).words == ()
