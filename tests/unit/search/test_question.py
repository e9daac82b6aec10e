from __future__ import annotations

import pytest

from gitrag.search.question import MOST_TERMS, read


def test_words_that_only_ask_do_not_count():
    assert read("where are retries with backoff implemented").words == ("retries", "backoff", "implemented")


def test_a_question_of_stop_words_keeps_them():
    assert read("how does it work").words == ("how", "does", "it", "work")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Blueprint", ("Blueprint",)),
        ("where is url_for defined", ("url_for",)),
        ("how does Session.send redirect", ("Session.send",)),
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
