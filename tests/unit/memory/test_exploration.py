from __future__ import annotations

import itertools

import pytest

from gitrag.errors import UsageError
from gitrag.memory.exploration import given_sections, is_exploration, saved_text, sections_text, topic_key
from gitrag.memory.observations import Identity, Observation

TITLES = (
    "C",
    "C#",
    "C++",
    "用户认证",
    "用户授权",
    "ユーザー認証",
    "Аутентификация",
    "авторизация",
    "مصادقة المستخدم",
    "कि",
    "की",
    "การยืนยันตัวตน",
    "🚀",
    "🔥",
    "!!!",
    "???",
    "a" * 100,
    "a" * 101,
    "café",
    "cafe",
)


def test_titles_in_any_script_have_distinct_keys():
    """Equal keys would merge two topics."""
    keys = {title: topic_key(title) for title in TITLES if title != "???"}
    assert len(set(keys.values())) == len(keys)
    assert all(key.startswith("explore/") and len(key) > len("explore/") for key in keys.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User auth system", "  user-auth SYSTEM! "),
        ("Straße", "STRASSE"),
        ("\uff21\uff22\uff23", "abc"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_case_width_and_punctuation_do_not_count(one: str, other: str):
    assert topic_key(one) == topic_key(other)


def test_a_title_in_words_has_a_readable_key():
    """People type it."""
    assert topic_key("User auth system") == "explore/user-auth-system"


@pytest.mark.parametrize("title", ["", "  \n"])
def test_a_title_is_required(title: str):
    """The topic is found again by it."""
    with pytest.raises(UsageError, match="title is required"):
        given_sections(title, {"goals": "x"})


@pytest.mark.parametrize("sections", [{}, {"goals": ""}, {"goals": " \n", "context": None}])
def test_some_section_is_required(sections: dict[str, str | None]):
    """A save without content is a mistake of the caller."""
    with pytest.raises(UsageError) as caught:
        given_sections("Title", sections)
    assert str(caught.value) == (
        "At least one context field (goals, constraints, preferences, unknowns, decisions, context)"
        " is required"
    )


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(UsageError, match="goals is not valid"):
        given_sections("Title", {"goals": "\ud800"})


@pytest.mark.parametrize(
    ("kind", "is_one"),
    [
        (None, True),
        ("explore", True),
        ("Exploration", True),
        ("context", True),
        ("discuss", True),
        ("bug", False),
    ],
)
def test_the_family_of_explorations(kind: str | None, is_one: bool):
    """Agents use several names for it."""
    assert is_exploration(kind) == is_one


def test_sections_come_in_their_order_whatever_the_order_given():
    """Readers find them in the same place."""
    names = ["goals", "constraints", "preferences", "unknowns", "decisions", "context"]
    for given in itertools.islice(itertools.permutations(names), 0, 720, 71):
        text = sections_text({name: f"{name}." for name in given})
        assert text == "\n\n".join(f"## {name.title()}\n{name}." for name in names)


def test_empty_sections_are_left_out():
    """A heading without text says nothing."""
    assert sections_text({"context": "x", "goals": ""}) == "## Context\nx"


def saved_with(goals: str) -> Observation:
    return Observation(
        observation_id=7,
        kind="explore",
        identity=Identity("explore/user-auth", "shop", "project"),
        title="User auth",
        session_id="s",
        revision=3,
        created="",
        updated="",
        sections={"decisions": "no passwords", "goals": goals},
    )


def test_what_was_saved_is_told_word_for_word():
    """Agents recognise these headings."""
    saved = saved_with("fix a small bug")
    lines = saved_text(saved, created=False).splitlines()
    assert lines[:13] == [
        "## Exploration Context Saved",
        "",
        "**Title:** User auth",
        "**Topic Key:** explore/user-auth",
        "**Action:** Updated (revision #3)",
        "**ID:** 7",
        "",
        "### Captured Context",
        "",
        "## Goals",
        "fix a small bug",
        "",
        "## Decisions",
    ]
    steps = lines.index("### Suggested Next Steps")
    suggestion = lines.index("### Type/Size Suggestion")
    assert [line[:2] for line in lines[steps + 2 : suggestion - 1]] == ["- "] * 3
    assert lines[suggestion + 2 :] == [
        '- **Suggested type:** fix — because of "fix"',
        '- **Suggested size:** small — because of "small"',
    ]
    assert "**Action:** Created" in saved_text(saved, created=True)


def test_a_size_is_suggested_also_where_no_word_speaks_for_one():
    """Seed 002: the default, with the note that little is known."""
    lines = saved_text(saved_with("users want a page"), created=True).splitlines()
    assert lines[-2:] == [
        f"- **Suggested {guess} — Based on limited context — adjust as needed"
        for guess in ("type:** feature", "size:** medium")
    ]
