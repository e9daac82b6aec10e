"""The sentence or two of a document that say why it matched."""

from __future__ import annotations

import pytest

from gitrag.search.passages import relevance
from gitrag.search.question import read

DECISION = """## Decision

A login gives a [token](x.md): the account's name, signed with **HMAC**. The service keeps nothing. Keys are a
list, so that a new one can be added first.

- Old tokens stay valid

```
keys = rotate(keys)
```
"""


def note(text: str, question: str, instead: str = "") -> str:
    return relevance(text, frozenset(read(question).words), instead)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("new keys", "Keys are a list, so that a new one can be added first. Old tokens stay valid"),
        (
            "login token",
            "A login gives a token: the account's name, signed with HMAC. The service keeps nothing.",
        ),
        ("valid tokens", "Old tokens stay valid"),
        (
            "nothing of this",
            "The service keeps nothing. Keys are a list, so that a new one can be added first.",
        ),
    ],
)
def test_the_sentence_with_most_of_the_questions_words_and_the_next(question, expected):
    assert note(DECISION, question) == expected


def test_headings_code_tables_and_front_matter_are_no_sentences():
    text = "---\nid: ADR-1\n---\n# Title here\n\nStatus: accepted\n\n| a | b c |\n\n```\nsome code\n```\n"
    assert note(text, "title") == ""
    assert note(text, "title", "# Title\n\nThe whole says it.") == "The whole says it."


def test_a_long_sentence_is_cut():
    assert len(note("word " * 500, "word")) <= 240
