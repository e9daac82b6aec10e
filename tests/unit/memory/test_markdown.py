from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.errors import UsageError
from gitrag.memory.exploration import SECTIONS, file_name, from_markdown, to_markdown, topic_key
from gitrag.memory.observations import Identity, Observation


def observation(title: str = "User auth", **sections: str) -> Observation:
    identity = Identity(topic_key(title), "shop", "project")
    return Observation(
        3,
        "explore",
        identity,
        title,
        "s1",
        2,
        "2026-01-01T00:00:00+00:00",
        "2026-01-02T00:00:00+00:00",
        sections,
    )


AWKWARD = (
    "## Goals\nnot the goals\n",
    "<!-- gitrag:goals -->\nx\n<!-- /gitrag:goals -->",
    "<!-- gitrag-1:goals -->\n<!-- gitrag:goals -->",
    "---\nid: 9\n---\n",
    "\n\nx\n\n\n",
    "a\r\nb\rc",
    "tab\t, nul \0, separator \u2028, emoji 🚀",
    "x" * 200_000,
    "<!-- ",
)


@pytest.mark.parametrize("text", AWKWARD)
def test_every_text_comes_back_byte_for_byte(text: str):
    there = observation(goals=text, context=text, decisions="short")
    assert from_markdown(to_markdown(there), "x.md") == there


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(st.sampled_from(SECTIONS), texts, min_size=1), texts)
def test_any_text_comes_back(sections: dict[str, str], title: str):
    there = observation(title, **sections)
    assert from_markdown(to_markdown(there), "x.md") == there


@pytest.mark.parametrize(
    "title", ["on", "1.10", "a: #b", "- x", "'", '"', "null", "~", "two\nlines", "!x", "*y", "\x85", "a\x85b"]
)
def test_titles_that_mean_something_in_yaml_come_back(title: str):
    assert from_markdown(to_markdown(observation(title, goals="x")), "x.md").title == title


def test_an_edited_file_is_read():
    text = to_markdown(observation(goals="old")).replace("old", "## New\nnew")
    assert from_markdown(text, "x.md").sections == {"goals": "## New\nnew"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# no front matter",
        "---\nid: 1\n---\n",
        "---\n: [\n---\n<!-- gitrag:goals -->\nx\n<!-- /gitrag:goals -->\n",
        "---\ntype: explore\ntitle: x\ntopic_key: explore/x\n---\n<!-- gitrag:goals -->\nx\n",
        (
            "---\ntype: explore\ntitle: [x]\ntopic_key: explore/x\n---\n"
            "<!-- gitrag:goals -->\nx\n<!-- /gitrag:goals -->"
        ),
    ],
)
def test_what_is_no_export_is_refused(text: str):
    with pytest.raises(UsageError):
        from_markdown(text, "x.md")


@pytest.mark.parametrize("title", ["../../etc/passwd", "用" * 300, "🚀", "a/b\\c"])
def test_a_file_name_is_safe_and_short(title: str):
    name = file_name(observation(title, goals="x"))
    assert "/" not in name
    assert len(name.encode()) <= 255
    assert name.startswith("3-")
