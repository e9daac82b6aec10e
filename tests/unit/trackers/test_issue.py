"""What an issue names, its file and its order."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.trackers.folder import is_file_name
from gitrag.trackers.issue import (
    Issue,
    IssueLinks,
    IssueState,
    by_number,
    find_references,
    moment,
    parse,
    render,
)


@pytest.mark.parametrize(
    ("line", "blocks", "blocked_by"),
    [
        ("Blocks: #12, #3", ("3", "12"), ()),
        ("blocked by: PROJ-9 and PROJ-10", (), ("PROJ-9", "PROJ-10")),
        ("**Blocked by:** #4", (), ("4",)),
        ("- Blocked-by: bd-a1b2.3", (), ("bd-a1b2.3",)),
        ("> Blocks: https://host/o/r/issues/77.", ("77",), ()),
        ("Blocks: other/repo#5", (), ()),
        ("Blocks: SPEC-0001, ADR-0002", (), ()),
        ("Blocks: #1", (), ()),
        ("it blocks: #5", (), ()),
        ("Blocks: #5\r\nBlocked by: #6\r\n", ("5",), ("6",)),
        ("Blocks:\n#5", (), ()),
    ],
)
def test_lines_of_dependencies_are_read(line, blocks, blocked_by):
    found = find_references("1", "T", f"before\n{line}\nafter")
    assert (found.blocks, found.blocked_by) == (blocks, blocked_by)


def test_specs_and_adrs_are_named_whole_and_once():
    found = find_references("1", "SPEC-0002", "SPEC-0001 SPEC-0002 SPEC-00031 XSPEC-0001 (ADR-0001), ADR-12")
    assert (found.specs, found.adrs) == (("SPEC-0001", "SPEC-0002"), ("ADR-0001",))


def test_a_trackers_own_links_come_beside_the_lines():
    found = find_references("A-1", "T", "Blocks: A-3", blocks=["A-2", "A-1"], blocked_by=["A-4"])
    assert found == IssueLinks(blocks=("A-2", "A-3"), blocked_by=("A-4",))


def test_ids_sort_as_people_count():
    ids = ["PROJ-10", "PROJ-9", "10", "9", "ENG-2", "bd-a1.10", "bd-a1.9"]
    assert sorted(ids, key=by_number) == ["9", "10", "ENG-2", "PROJ-9", "PROJ-10", "bd-a1.9", "bd-a1.10"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.000+0100", "2026-01-02T02:04:05Z"),
        ("2026-01-02T03:04:05.123456789-07:00", "2026-01-02T10:04:05.123456Z"),
        ("", ""),
    ],
)
def test_time_stamps_are_utc(given, expected):
    assert moment(given) == expected


@pytest.mark.parametrize("text", ["2026-01-02T03:04:05", "yesterday", "0"])
def test_what_is_no_time_stamp_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        moment(text)


@pytest.mark.parametrize("good", ["142", "PROJ-123", "bd-a1b2.3", "tasks-SPEC-0001-x-1.2", "a" * 100])
def test_an_id_that_names_a_file(good):
    assert is_file_name(good)


@pytest.mark.parametrize(
    "bad",
    ["", ".", "..", "../x", "a/b", "a\\b", "CON", "con.md", "LPT1", "x" * 101, ".a", "a.", "a b", "ä",
     "_meta", "a:b", "a\n", "-x"],
)  # fmt: skip
def test_an_id_that_must_not(bad):
    assert not is_file_name(bad)


TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)


@given(
    st.builds(
        Issue,
        id=st.text(string.ascii_letters + string.digits, min_size=1, max_size=8),
        title=TEXT,
        status=st.sampled_from(IssueState),
        labels=TEXTS,
        assignees=TEXTS,
        author=TEXT,
        created=st.sampled_from(["2026-01-02T03:04:05Z", ""]),
        updated=TEXT,
        closed=TEXT,
        url=TEXT,
        tracker=TEXT,
        references=st.builds(IssueLinks, TEXTS, TEXTS, TEXTS, TEXTS),
        body=TEXT,
    )
)
def test_an_issue_survives_its_file(issue):
    assert parse(render(issue)) == issue


def test_half_of_a_surrogate_pair_does_not_stop_the_sync():
    issue = Issue(
        "1", "\ud83d", IssueState.OPEN, ("\ud83d",), (), "", "", "", "", "", "x", IssueLinks(), "a\udc00"
    )
    assert parse(render(issue)).title == "?"
    assert render(issue).endswith(b"\na?")
