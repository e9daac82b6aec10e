"""Edits of a file that people write too: what they wrote stays, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.errors import ConfigError
from gitrag.memory.core_text import CannotEditError, with_entry, without_entries
from gitrag.words.bounded_yaml import parse_mapping
from tests.support.sweeps import examples

MOST = 1 << 20
HAND_EDITED = """\
# What we look at first.   Kept by hand.

shop:   # the web shop
  # the beginning of everything
  - path: "src/app.py"     # an application
    summary:   'Puts the parts   together.'
    owner: ada             # a key of our own

  -   path: src/db.py
      tags: [a,  b ]
  - {path: src/old.py,   summary: old}   # to go
  # the end of the shop

bank:
- path: x.py
  summary: |
    Two
    lines.

# what follows is nobody's
"empty one": []
none:
"""


def mark(text: str, project: str, path: str, summary: str) -> str:
    return with_entry(text.encode(), "core", MOST, project, path, summary).decode()


def unmark(text: str, project: str, path: str) -> str:
    return without_entries(text.encode(), "core", MOST, project, path).decode()


def only_change(before: str, after: str) -> tuple[str, str]:
    """Return what was taken out and what was put in, all else being the same."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


@pytest.mark.parametrize(
    ("project", "path", "old", "new"),
    [
        ("shop", "src/app.py", "'Puts the parts   together.'", "New."),
        ("shop", "src/old.py", "old}", "New.}"),
        ("bank", "x.py", "|\n    Two\n    lines.", "New."),
    ],
)
def test_a_new_summary_changes_the_summary_alone(project, path, old, new):
    assert mark(HAND_EDITED, project, path, "New.") == (
        HAND_EDITED.replace("summary: " + old, "summary: " + new).replace(
            "summary:   " + old, "summary:   " + new
        )
    )


def test_an_entry_without_a_summary_gets_one():
    assert mark(HAND_EDITED, "shop", "src/db.py", "New.") == HAND_EDITED.replace(
        "      tags: [a,  b ]\n", "      tags: [a,  b ]\n      summary: New.\n"
    )
    assert mark("p: [{path: a}]", "p", "a", "x, y") == "p: [{path: a, summary: 'x, y'}]"
    assert mark("p:\n- path: a\n  summary:\n", "p", "a", "x") == "p:\n- path: a\n  summary: x\n"
    assert mark("p:\n- path: a\n  summary: # why\n", "p", "a", "x") == "p:\n- path: a\n  summary: x # why\n"


def test_a_new_entry_comes_after_the_last_one_in_its_form():
    assert mark(HAND_EDITED, "shop", "new.py", "N") == HAND_EDITED.replace(
        "# to go\n", "# to go\n  - path: new.py\n    summary: N\n"
    )
    assert mark(HAND_EDITED, "bank", "new.py", "N") == HAND_EDITED.replace(
        "    lines.\n", "    lines.\n- path: new.py\n  summary: N\n"
    )
    assert mark(HAND_EDITED, "empty one", "new.py", "N") == HAND_EDITED.replace(
        "[]", "[{path: new.py, summary: N}]"
    )
    assert mark(HAND_EDITED, "none", "new.py", "N") == HAND_EDITED + "- path: new.py\n  summary: N\n"
    assert mark(HAND_EDITED, "other", "n", "") == HAND_EDITED + "other:\n- path: n\n  summary: ''\n"


def test_an_entry_goes_with_its_lines_and_leaves_the_others():
    assert unmark(HAND_EDITED, "shop", "src/app.py") == HAND_EDITED.replace(
        HAND_EDITED[HAND_EDITED.index('  - path: "src') : HAND_EDITED.index("\n  -   path")], ""
    )
    assert unmark(HAND_EDITED, "shop", "src/old.py") == HAND_EDITED.replace(
        "  - {path: src/old.py,   summary: old}   # to go\n", ""
    )
    assert unmark(HAND_EDITED, "bank", "x.py") == HAND_EDITED.replace(
        "bank:\n- path: x.py\n  summary: |\n    Two\n    lines.\n", ""
    )
    shop = unmark(
        unmark(unmark(HAND_EDITED, "shop", "src/app.py"), "shop", "src/db.py"), "shop", "src/old.py"
    )
    assert "shop: []   # the web shop\n  # the beginning of everything\n" in shop
    assert "# the end of the shop" in shop


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("p: [{path: a}, {path: b}, {path: c}]\n", {"a": "p: [{path: b}, {path: c}]\n"}),
        ("p: [{path: a}, {path: b}]\n", {"b": "p: [{path: a}]\n", "a": "p: [{path: b}]\n"}),
        ("p: [{path: a}, {path: b}, {path: b}]\n", {"b": "p: [{path: a}]\n"}),
        ("p: [{path: a}, {path: b}, {path: a}]\n", {"a": "p: [{path: b}]\n"}),
        ("p: [{path: a}]\n", {"a": "p: []\n"}),
        ("{p: [{path: a}], q: []}", {"a": "{p: [], q: []}"}),
        (
            "p:\n-\n  path: a\n- # why\n  path: b\n",
            {"a": "p:\n- # why\n  path: b\n", "b": "p:\n-\n  path: a\n"},
        ),
        ("p:\n- path: a\n- path: b\n- path: a\n", {"a": "p:\n- path: b\n"}),
        ("p:\n- path: a\n", {"a": "{}\n"}),
        ("p:\n- path: a", {"a": "{}\n"}),
        ("# mine\np:\n- path: a\n", {"a": "# mine\n"}),
    ],
)
def test_what_is_taken_out_in_each_form(text, left):
    for path, expected in left.items():
        assert unmark(text, "p", path) == expected


def test_two_entries_of_one_path_stay_and_the_one_that_counts_is_changed():
    text = "p:\n- path: a\n  summary: one # first\n- path: a\n  summary: two # second\n"
    assert mark(text, "p", "a", "three") == text.replace("two", "three")


@pytest.mark.parametrize("begin", ["", "\ufeff"], ids=["", "BOM"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "ended"])
def test_line_ends_the_mark_of_order_and_a_last_line_without_an_end_stay(begin, newline, end):
    lines = ["p:", "- path: a", "  summary: one # why", "- path: b"]
    text = begin + newline.join(lines) + end.replace("\n", newline)
    marked = mark(text, "p", "c", "x")
    added = newline.join(["", "- path: c", "  summary: x"])
    assert marked == begin + newline.join(lines) + added + end.replace("\n", newline)
    assert mark(text, "p", "a", "two") == text.replace("one", "two")
    if end:
        assert unmark(marked, "p", "c") == text
    assert unmark(text, "p", "a") == begin + newline.join(["p:", "- path: b"]) + end.replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    ["", "# mine\n", "# mine", "{}", "{}\n", "---\n", "---\n# mine\n", "\ufeff", "\ufeff# mine\r\n"],
)
def test_a_file_with_nothing_in_it_gets_its_first_entry(text):
    marked = mark(text, "p", "a", "x")
    assert parse_mapping(marked.encode(), "core", MOST) == {"p": [{"path": "a", "summary": "x"}]}
    assert "# mine" not in text or marked.startswith(text.rstrip())


def test_anchors_that_nobody_uses_stay_and_aliases_are_refused():
    text = "p: &all\n- &one path: a\n  summary: &two x\n"
    assert "&all" in mark(text, "p", "b", "y")
    with pytest.raises(ConfigError, match="aliases are not allowed"):
        mark("p: &all\n- path: a\nq: *all\n", "p", "b", "y")


@pytest.mark.parametrize(
    "text", ["p: [", "~", "p:\n- path: a\np:\n- path: b\n", "\xff\xfe", "p: !x y", "a: b"]
)
def test_what_cannot_be_read_is_refused(text):
    content = text.encode("latin-1")
    with pytest.raises((ConfigError, CannotEditError)):
        with_entry(content, "core", MOST, "p", "c", "x")


NAMES = st.text(min_size=1, max_size=12)
ACTS = st.lists(st.tuples(st.booleans(), st.sampled_from("pqr"), NAMES, NAMES.map(str.strip)), max_size=8)


@pytest.mark.slow
@examples(keep=25, of=50)
@given(
    begin=st.sampled_from(["", HAND_EDITED, "{}", "p: [{path: a}, {path: b}]\n", "p:\n  - path: a"]),
    acts=ACTS,
)
def test_whatever_is_marked_and_unmarked_is_read_back(begin, acts):
    text = begin.encode()
    for marks, project, path, summary in acts:
        before = parse_mapping(text, "core", MOST).get(project) or []
        if marks or not any(each["path"] == path for each in before):
            text = with_entry(text, "core", MOST, project, path, summary)
            found = [each for each in parse_mapping(text, "core", MOST)[project] if each["path"] == path]
            assert (found[-1]["summary"] or "") == summary
        else:
            text = without_entries(text, "core", MOST, project, path)
            assert not any(
                each["path"] == path for each in parse_mapping(text, "core", MOST).get(project) or []
            )
    if begin == HAND_EDITED:
        for comment in ("# What we look", "# the beginning", "# an application", "# the end of", "nobody's"):
            assert comment in text.decode()
