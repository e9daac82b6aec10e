from __future__ import annotations

import pytest

from gitrag.embedding.draft import WordPieces

VOCABULARY = ["[PAD]", "[UNK]", "token", "##ize", "##r", "a", "#", "_", "図", "é", "e", "ß", "b", "ab", "?"]


@pytest.fixture
def cut():
    pieces = WordPieces(VOCABULARY)
    return lambda text, limit=100: [VOCABULARY[number] for number in pieces.cut(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", []),
        ("Tokenizer", ["token", "##ize", "##r"]),
        ("a_b", ["a", "_", "b"]),
        ("aé", ["[UNK]"]),
        ("é", ["e"]),
        ("e\u0301", ["e"]),
        ("a図b", ["a", "図", "b"]),
        ("a\x00b", ["ab"]),
        ("a\x0bb", ["ab"]),
        ("a\u200bb", ["ab"]),
        ("a\u00a0b", ["a", "b"]),
        ("a\udc80b", ["a", "?", "b"]),
        ("a" * 101, ["[UNK]"]),
    ],
)
def test_a_text_is_cut_as_the_model_cuts_it(cut, text, expected):
    assert cut(text) == expected


def test_no_more_pieces_than_wanted_are_given(cut):
    assert cut("tokenizer a", 2) == ["token", "##ize"]
