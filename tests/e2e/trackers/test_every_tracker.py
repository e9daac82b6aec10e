"""What holds for every tracker that speaks HTTP, through the real command: one table, each tracker a row."""

from __future__ import annotations

import re
import socket
import subprocess
from itertools import zip_longest

import pytest

from tests.support.command import GITRAG, everything_in
from tests.support.tracked import Tracked
from tests.support.tracker_fakes import TOKEN, Fault, GitHubFake, Ticket

pytestmark = pytest.mark.sweep(keep=2)
"""Of the trackers, for each test others."""

FIRST_ANSWER = {"JiraFake": 1, "JiraCloudFake": 1}
"""Calls before the listing: Jira says first what it is."""


def listing(tracked: Tracked, *faults: Fault | None) -> None:
    """Let faults happen from the first page of the next listing on."""
    tracked.fake.faults = [None] * FIRST_ANSWER.get(type(tracked.fake).__name__, 0) + list(faults)


# what is written


def test_every_issue_becomes_a_file_whatever_the_number_of_pages(tracked):
    tracked.fill(8)
    done = tracked.sync()
    assert tracked.ids() == [tracked.id(number) for number in range(1, 9)]
    assert done.out.startswith(f"Synced 8 issues from {tracked.fake.name}: 8 written in ")
    assert re.search(
        rf"^Syncing (?:\d+\+?|up to \d+) issues from {tracked.fake.name}…$", done.err, re.MULTILINE
    )


def test_the_front_matter_is_canonical(tracked):
    tracked.fake.put(
        Ticket(
            tracked.id(1),
            "Sign sessions",
            "See SPEC-0019 and ADR-0007.\n\nBlocks: #4, PROJ-9\nBlocked by: #2\n",
            closed=True,
            labels=("bug", "auth"),
            assignee="bob",
            minute=5,
        )
    )
    tracked.sync()
    head = tracked.head(1)
    assert list(head) == [
        *("id", "title", "status", "labels", "assignees", "author", "created", "updated", "closed", "url"),
        *("tracker", "references"),
    ]
    assert head["id"] == tracked.id(1)
    assert (head["title"], head["status"]) == ("Sign sessions", "closed")
    assert (head["labels"], head["assignees"], head["author"]) == (["bug", "auth"], ["bob"], "ada")
    assert head["created"] == "2026-01-01T12:00:00Z"
    assert head["updated"] == head["closed"] == "2026-01-01T12:05:00Z"
    assert head["tracker"] == tracked.fake.name
    assert str(head["url"]).endswith(f"/{tracked.id(1)}")
    references = head["references"]
    assert (references["specs"], references["adrs"]) == (["SPEC-0019"], ["ADR-0007"])
    assert {"4", "PROJ-9"} <= set(references["blocks"])
    assert references["blocked_by"] == ["2"]
    assert tracked.body(1) == "See SPEC-0019 and ADR-0007.\n\nBlocks: #4, PROJ-9\nBlocked by: #2\n"


TITLES = [
    *("a: b # c", "two\nlines", "null", "---", "🦆 ✓", "- [x] 'quoted' \"twice\" \\", "\x07bell\u202e"),
    *(" spaced ", "", "%&*!|>@`", "a\n---\nb"),
]


LABELS = ("on", "1.10", "null", "~", "0x10", "2026-01-01", "a: b", "#1")


BODIES = [
    *("a\r\nb\r\n", "---\nid: 2\n---\n", "x" * 1_000_000, "no end", "\n\nlines before", "🦆\x00", "", None),
    "\n",
]


def test_hostile_titles_labels_and_bodies_survive_the_round_trip(tracked):
    for number, (title, body) in enumerate(zip_longest(TITLES, BODIES, fillvalue="x"), 1):
        tracked.fake.put(Ticket(tracked.id(number), title, body, labels=LABELS, minute=number))
    tracked.sync()
    numbers = range(1, len(tracked.fake.tickets) + 1)
    assert [tracked.head(number)["title"] for number in numbers][: len(TITLES)] == TITLES
    assert [tracked.body(number) for number in numbers][: len(BODIES)] == [body or "" for body in BODIES]
    assert {tuple(tracked.head(number)["labels"]) for number in numbers} == {LABELS}
    before = tracked.stamps()
    tracked.sync("--full")
    assert tracked.stamps() == before


HOSTILE = ["../x", "a/b", "CON", "nul.txt", "x" * 300, ".hidden", "a.", "_meta", "a\nb"]


def test_hostile_ids_write_no_file_and_are_told(tracked):
    tracked.fill(2)
    for number, bad in enumerate(HOSTILE):
        tracked.fake.put(Ticket(bad, "evil", "x", minute=number / 10))

    def outside() -> set[str]:
        names = set(everything_in(tracked.project.path.parent))
        return {name for name in names if "/.sdd" not in name and "/.git/" not in name}

    before = outside()
    done = tracked.sync()
    assert tracked.ids() == [tracked.id(1), tracked.id(2)]
    assert done.err.count("warning: left out, its id is no file name: ") == 5
    assert f"warning: {len(HOSTILE) - 5} more were left out" in done.err
    assert outside() == before


# again


def test_an_unchanged_sync_leaves_every_byte_and_time_stamp_alone(tracked):
    tracked.fill(5)
    tracked.sync()
    before = tracked.stamps()
    assert ": 0 written in " in tracked.sync().out
    assert tracked.stamps() == before


def test_an_incremental_sync_asks_from_the_cursor_and_writes_what_changed(tracked):
    tracked.fill(8)
    tracked.sync()
    before = tracked.stamps()
    tracked.fake.touch(tracked.id(2), 20, body="New", closed=True)
    tracked.fake.put(Ticket(tracked.id(9), "Nine", "x", minute=21))
    tracked.fake.asked.clear()
    done = tracked.sync()
    assert ": 2 written in " in done.out
    changed = {name for name, stamp in tracked.stamps().items() if before.get(name) != stamp}
    assert changed == {f"{tracked.id(2)}.md", f"{tracked.id(9)}.md"}
    assert (tracked.body(2), tracked.head(2)["status"]) == ("New", "closed")
    assert tracked.meta["cursor"] == "2026-01-01T12:21:00Z"


def test_what_changes_in_the_cursors_second_after_the_sync_is_not_missed(tracked):
    tracked.fill(4)
    tracked.sync()
    tracked.fake.touch(tracked.id(1), 4, body="Late")  # the same minute and second as the newest
    tracked.sync()
    assert tracked.body(1) == "Late"


def test_a_page_of_one_time_stamp_does_not_stop_the_walk(tracked):
    for number in range(1, 12):
        tracked.fake.put(Ticket(tracked.id(number), "T", "x", minute=7))
    tracked.sync()
    assert len(tracked.ids()) == 11


def test_a_full_sync_removes_what_is_gone_and_an_incremental_one_does_not(tracked):
    tracked.fill(6)
    tracked.sync()
    (tracked.folder / "README.md").write_text("mine")
    tracked.fake.drop(tracked.id(2), tracked.id(5))
    tracked.sync()
    assert tracked.file(2).exists()
    done = tracked.sync("--full")
    assert ": 0 written, 2 removed in " in done.out
    assert not tracked.file(2).exists()
    assert not tracked.file(5).exists()
    assert (tracked.folder / "README.md").read_text() == "mine"


def test_a_damaged_note_means_a_full_sync(make_tracked):
    tracked = make_tracked(GitHubFake)
    for number, damage in enumerate(["", "[]", '{"version": 1}', "\x00"], 3):
        tracked.fill(2)
        tracked.fake.put(Ticket(tracked.id(number), "T", "x", minute=number))
        tracked.sync()
        assert tracked.file(number).exists()
        tracked.fake.drop(tracked.id(number))
        (tracked.folder / "_meta.json").write_text(damage)
        tracked.sync()
        assert not tracked.file(number).exists()
        assert tracked.meta["complete"] is True


def test_since_asks_for_less_and_leaves_the_cursor_behind_what_was_not_asked_for(tracked):
    tracked.fill(6)
    tracked.sync("--since", "2026-01-01T12:04:00Z")
    assert (
        tracked.ids() == [tracked.id(number) for number in (4, 5, 6)] or "Jira" in type(tracked.fake).__name__
    )
    assert tracked.meta["cursor"] == ""
    tracked.sync()
    assert len(tracked.ids()) == 6


def test_syncs_at_once_take_turns(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(8)
    gitrag = tracked.project.gitrag
    running = [
        subprocess.Popen(
            [GITRAG, "issues", "sync"],
            cwd=gitrag.place,
            env=dict(gitrag.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    outs = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], outs
    assert sum(b": 8 written" in out for out, _ in outs) == 1
    assert len(tracked.ids()) == 8


# what goes wrong


@pytest.mark.parametrize(
    "fault", [Fault(429, {"Retry-After": "0"}), Fault(503, {"Retry-After": "0"})], ids=str
)
def test_a_busy_server_is_asked_again(tracked, fault):
    tracked.fill(5)
    listing(tracked, fault)
    tracked.sync()
    assert len(tracked.ids()) == 5


def test_three_failures_and_then_success_is_success(tracked):
    tracked.fill(5)
    listing(tracked, *[Fault(502, {"Retry-After": "0"})] * 3)
    tracked.sync()
    assert len(tracked.ids()) == 5


def test_four_failures_are_a_failure_and_the_cursor_stays(tracked):
    tracked.fill(5)
    tracked.sync()
    before, note = tracked.stamps(), (tracked.folder / "_meta.json").read_bytes()
    tracked.fake.touch(tracked.id(1), 30)
    listing(tracked, *[Fault(500, {"Retry-After": "0"})] * 4)
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 75
    assert f"{tracked.fake.name} answered 500, 4 times in a row." in done.err
    assert "Synced" not in done.out
    assert (tracked.stamps(), (tracked.folder / "_meta.json").read_bytes()) == (before, note)
    tracked.sync()
    assert tracked.head(1)["updated"] == "2026-01-01T12:30:00Z"


def test_a_failure_on_a_later_page_is_no_success_and_the_next_sync_completes_it(tracked):
    tracked.fill(8, closed=True)  # of open ones, Gitea is asked for links
    listing(tracked, None, *[Fault(500, {"Retry-After": "0"})] * 4)
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 75
    assert 0 < len(tracked.ids()) < 8
    assert (tracked.meta["complete"], tracked.meta["synced"]) == (False, 0.0)
    tracked.sync()
    assert len(tracked.ids()) == 8
    assert tracked.meta["complete"] is True


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_told_with_the_command_that_looks_at_it(tracked, status):
    tracked.fill(1)
    tracked.fake.faults = [Fault(status)]
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 78
    checks = {"github": "gh auth status", "gitlab": "glab auth status", "gitea": "tea login list"}
    command = checks.get(tracked.fake.name, "gitrag issues status")
    assert done.said[0] == f"Tracker authentication failed — check `{command}`."
    assert len(tracked.fake.asked) == 1  # not tried again


def test_a_403_that_is_a_rate_limit_is_waited_for(tracked):
    tracked.fill(2)
    listing(tracked, Fault(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}))
    tracked.sync()
    assert len(tracked.ids()) == 2


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429, {"Retry-After": "3600"}),
        Fault(503, {"Retry-After": "3600"}),
        Fault(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"}),
    ],
    ids=["429", "503", "reset"],
)
def test_a_long_rate_limit_ends_the_sync_at_once_and_says_until_when(tracked, fault):
    tracked.fill(2)
    listing(tracked, fault)
    asked = len(tracked.fake.faults)
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 75
    assert re.search(
        rf"{tracked.fake.name} allows no more requests until (?:\d{{4}}-\d\d-\d\d )?\d\d:\d\d UTC\.", done.err
    )
    assert len(tracked.fake.asked) == asked


def test_without_a_way_to_the_server_the_sync_is_skipped(tracked):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    tracked.project.git.git("config", "--global", "gitrag.trackerUrl", f"http://127.0.0.1:{port}")
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 75
    assert done.said[0] == "Network unreachable — sync skipped."


@pytest.mark.parametrize("cut", ["connection", "json"])
def test_a_page_that_is_cut_short_is_asked_for_again(tracked, cut):
    tracked.fill(5)
    listing(tracked, Fault(cut=cut))
    tracked.sync()
    assert len(tracked.ids()) == 5


def test_an_answer_of_another_kind_is_told(tracked):
    for answer in (b'{"a": 1}', b'[{"number": {}, "iid": {}}]'):
        listing(tracked, Fault(200, body=answer))
        done = tracked.project.gitrag("issues", "sync")
        assert done.status == 75
        assert "answered with something else than issues" in done.err


def test_a_project_that_is_not_there_is_told(tracked):
    tracked.fake.project = "other/place" if "/" in tracked.fake.project else "OTHER"
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 78, done.err
    assert "no issues of" in done.err or "no team" in done.err


# tokens


def test_the_token_goes_to_the_server_the_user_named_and_nowhere_else(tracked):
    tracked.fill(4)
    done = tracked.sync()
    assert all(TOKEN in asked.authorization for asked in tracked.fake.asked)
    for status in (401, 500, 404):
        listing(tracked, *[Fault(status, {"Retry-After": "0"}, body=TOKEN.encode())] * 4)
        failed = tracked.project.gitrag("issues", "sync")
        assert TOKEN not in failed.out + failed.err
    assert TOKEN not in done.out + done.err
    told = tracked.project.gitrag("issues", "status")
    assert tracked.fake.variable in told.out
    for content in everything_in(tracked.project.path.parent).values():  # its log, and the home directory
        assert TOKEN.encode() not in (content if isinstance(content, bytes) else content.encode())


def test_a_redirect_to_another_host_does_not_get_the_token(tracked, make_tracked):
    other = make_tracked(type(tracked.fake))
    other.fill(4)
    tracked.fake.redirect_to = other.fake.url
    tracked.project.gitrag("issues", "sync")
    assert tracked.fake.asked
    assert all(asked.authorization == "" for asked in other.fake.asked)
    if tracked.fake.name != "linear":  # a question sent by POST is not sent elsewhere at all
        assert other.fake.asked
