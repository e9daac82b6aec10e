"""What is particular to a tracker, through the real command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from threading import Event
from typing import Any

import pytest

from gitrag.trackers import http
from gitrag.trackers.base import TrackerError, TrackerPlace, TrackerSetting
from gitrag.trackers.github import GitHub
from tests.support.tracked import Tracked
from tests.support.tracker_fakes import (
    TOKEN,
    Asked,
    Fault,
    GiteaFake,
    GitHubFake,
    GitLabFake,
    JiraCloudFake,
    JiraFake,
    LinearFake,
    Ticket,
)

# GitHub, Gitea


@pytest.mark.parametrize("kind", [GitHubFake, GiteaFake])
def test_a_pull_request_is_no_issue_and_a_merged_one_makes_its_issue_merged(make_tracked, kind):
    tracked = make_tracked(kind)
    for number in range(1, 7):
        tracked.fake.put(Ticket(str(number), "T", "x", closed=number != 6, minute=number))
    tracked.fake.put(
        Ticket("20", "PR", "Fixes #1, closes team/project#2.", pull=True, merged=True, minute=1.5)
    )
    tracked.fake.put(Ticket("21", "PR", "Fixes #3", pull=True, closed=True, minute=30))
    tracked.fake.put(Ticket("22", "PR", "Resolves other/project#4", pull=True, merged=True, minute=31))
    tracked.fake.put(Ticket("23", "PR", None, pull=True, merged=True, minute=32))
    tracked.fake.put(Ticket("24", "PR", "fix: #6", pull=True, merged=True, minute=33))
    tracked.sync()
    assert tracked.ids() == ["1", "2", "3", "4", "5", "6"]
    states = [tracked.head(number)["status"] for number in range(1, 7)]
    assert states == ["merged", "merged", "closed", "closed", "closed", "open"]
    before = tracked.stamps()
    tracked.sync("--full")
    assert tracked.stamps() == before


def test_a_pull_request_merged_later_mends_the_file_and_later_updates_keep_it(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(3, closed=True)
    tracked.sync()
    tracked.fake.put(
        Ticket(
            "9", "PR", f"Closes {tracked.fake.url}/team/project/issues/2", pull=True, merged=True, minute=9
        )
    )
    tracked.sync()
    assert tracked.head(2)["status"] == "merged"
    tracked.fake.touch("2", 12, title="Renamed")
    tracked.sync()
    assert (tracked.head(2)["title"], tracked.head(2)["status"]) == ("Renamed", "merged")
    tracked.fake.touch("2", 13, closed=False)
    tracked.sync()
    assert tracked.head(2)["status"] == "open"


def shift_after_first_page(tracked: Tracked) -> None:
    """Let the first issue be updated as soon as the first page has been given."""
    answer = tracked.fake.answer

    def shifting(asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        found = answer(asked)
        if len([one for one in tracked.fake.asked if "serverInfo" not in one.path]) == 1:
            tracked.fake.touch(tracked.id(1), 60)
        return found

    tracked.fake.answer = shifting  # type: ignore[method-assign]


def test_an_issue_updated_while_it_is_listed_shifts_no_other_one_out(make_tracked):
    """Numbered pages in order of update: the first page's issue moves to the end, all others move up."""
    for kind in (GitHubFake, GitLabFake, JiraFake):
        tracked = make_tracked(kind)
        tracked.fill(9)
        shift_after_first_page(tracked)
        tracked.sync()
        assert len(tracked.ids()) == 9, kind
        assert tracked.head(1)["updated"] == "2026-01-01T13:00:00Z"


def test_a_ghost_author_is_empty(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fake.put(Ticket("1", "T", "x", author=""))
    tracked.sync()
    assert tracked.head(1)["author"] == ""


def test_what_is_waited_for_is_said_until_it_comes(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    tracked.fake.faults = [Fault(429, {"Retry-After": "0"})]
    said: list[str] = []
    place = TrackerPlace("github", tracked.fake.url, tracked.fake.project)
    with closing(GitHub(TrackerSetting(place, tracked.project.path, {}, None, said.append))) as tracker:
        tracker.fetch(None, None)
        assert said == ["github answered 429: too many requests; again in 0 s", ""]
        tracker.fetch(None, None)
    assert len(said) == 2


def test_a_server_that_does_not_answer_in_time_is_asked_four_times(make_tracked, monkeypatch):
    monkeypatch.setattr(http, "_READ_TIMEOUT_S", 0.1)
    monkeypatch.setattr(http, "_FIRST_WAIT_S", 0.0)
    tracked, over = make_tracked(GitHubFake), Event()
    answer = tracked.fake.answer
    tracked.fake.answer = lambda asked: over.wait(600) and answer(asked)
    place = TrackerPlace("github", tracked.fake.url, tracked.fake.project)
    late = pytest.raises(TrackerError, match=r"^github did not answer in time, 4 times in a row\.")
    with (
        closing(GitHub(TrackerSetting(place, tracked.project.path, {}, None, lambda _text: None))) as tracker,
        late,
    ):
        tracker.fetch(None, None)
    over.set()


def test_an_imported_issue_keeps_its_author(make_tracked):
    tracked = make_tracked(GiteaFake)
    tracked.fill(1, author="Ghost")
    one = tracked.fake.one
    tracked.fake.one = lambda ticket: {**one(ticket), "original_author": "grace"}
    tracked.sync()
    assert tracked.head(1)["author"] == "grace"


def test_a_secondary_rate_limit_is_waited_for(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    tracked.fake.faults = [Fault(403, {"Retry-After": "0", "x-ratelimit-remaining": "4000"})]
    tracked.sync()
    assert tracked.ids() == ["1"]


def test_a_secondary_rate_limit_that_no_header_tells_is_no_matter_of_the_token(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    said = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}'
    tracked.fake.faults = [Fault(403, {"x-ratelimit-remaining": "4000"}, body=said)]
    tracked.sync()
    assert tracked.ids() == ["1"]


def test_a_large_listing_is_walked_by_what_its_links_say(make_tracked):
    """Page numbers end somewhere, and nothing says how many there are."""
    tracked = make_tracked(GitHubFake)
    tracked.fake.large = True
    for number in range(1, 12):
        tracked.fake.put(Ticket(str(number), "T", "x", minute=7))
    done = tracked.sync()
    assert len(tracked.ids()) == 11
    assert "Syncing 3+ issues from github…" in done.err


def test_pages_of_issues_and_pull_requests_are_not_counted_as_issues(make_tracked):
    """GitHub says how many pages there are: `Syncing 300 issues` was said of 248."""
    tracked = make_tracked(GitHubFake)
    for number in range(1, 8):
        tracked.fake.put(Ticket(str(number), "T", "x", minute=number, pull=number == 2))
    done = tracked.sync()
    assert "Syncing up to 300 issues from github…" in done.err
    assert "Synced 6 issues from github" in done.out


def test_githubs_own_links_between_issues_are_kept(make_tracked):
    """Asked only where the listing counts some; an issue of another repository has no file here."""
    tracked = make_tracked(GitHubFake)
    tracked.fake.put(Ticket("1", "One", "x", minute=1))
    tracked.fake.put(Ticket("2", "Two", "Blocked by: #9", minute=2, blocked_by=("1", "other/project#3")))
    tracked.fake.put(Ticket("3", "Three", "x", minute=3))
    tracked.sync()
    assert tracked.head(1)["references"]["blocks"] == ["2"]
    assert tracked.head(2)["references"]["blocked_by"] == ["1", "9"]
    asked = [each.path.partition("/issues/")[2] for each in tracked.fake.asked if "/issues/" in each.path]
    assert asked == ["1/dependencies/blocking", "2/dependencies/blocked_by"]


def test_giteas_links_between_open_issues_are_kept(make_tracked):
    tracked = make_tracked(GiteaFake)
    tracked.fake.put(Ticket("1", "One", "x", minute=1))
    tracked.fake.put(Ticket("2", "Two", "Blocked by: #9", minute=2, blocked_by=("1", "other/project#3")))
    tracked.fake.put(Ticket("3", "Three", "x", minute=3, closed=True, blocked_by=("1",)))
    tracked.sync()
    assert tracked.head(1)["references"]["blocks"] == ["2", "3"]
    assert tracked.head(2)["references"]["blocked_by"] == ["1", "9"]
    asked = sorted(
        each.path.partition("/issues/")[2] for each in tracked.fake.asked if "/issues/" in each.path
    )
    assert asked == ["1/blocks", "1/dependencies", "2/blocks", "2/dependencies"]


def test_giteas_links_that_came_before_a_sync_failed_are_kept_and_not_asked_for_again(make_tracked):
    """Else a first sync of hundreds, in a command that waits for it only so long, would never end."""
    tracked = make_tracked(GiteaFake)
    tracked.fake.page_size = 50
    tracked.fill(30)
    tracked.fake.put(Ticket("29", "Blocked", "x", minute=29, blocked_by=("7",)))
    answer = tracked.fake.answer

    def refuse(asked):
        return (418, {}, {}) if asked.path.endswith("/issues/1/blocks") else answer(asked)

    def linked():
        return {each.path.split("/")[-2] for each in tracked.fake.asked if each.path.endswith("/blocks")}

    tracked.fake.answer = refuse
    assert tracked.project.gitrag("issues", "sync").status == 75
    kept = set(tracked.ids())
    assert {"29"} < kept < {str(number) for number in range(1, 31)}
    tracked.fake.answer = answer
    tracked.fake.asked.clear()
    tracked.sync()
    assert linked() == set(tracked.ids()) - kept
    assert tracked.head(29)["references"]["blocked_by"] == ["7"]
    tracked.fake.asked.clear()
    tracked.sync("--full")
    assert len(linked()) == 30


@pytest.mark.parametrize("status", [403, 404])
def test_issues_whose_links_gitea_does_not_list_are_kept_without_them(make_tracked, status):
    """Gitea before 1.20 lists none, though its settings allow them."""
    tracked = make_tracked(GiteaFake)
    tracked.fake.put(Ticket("1", "One", "x", minute=1))
    tracked.fake.put(Ticket("2", "Two", "Blocked by: #9", minute=2, blocked_by=("1",)))
    tracked.fake.faults = [None, None, *[Fault(status)] * 4]
    tracked.sync()
    assert tracked.ids() == ["1", "2"]
    assert tracked.head(2)["references"]["blocked_by"] == ["9"]


@pytest.mark.parametrize("answer", [None, Fault(403), Fault(404)], ids=str)
def test_gitea_is_asked_for_no_links_where_there_are_none_or_who_asks_may_not_know(make_tracked, answer):
    tracked = make_tracked(GiteaFake)
    tracked.fake.has_links = False
    tracked.fake.faults = [None, answer]
    tracked.fill(7)
    tracked.sync()
    assert [each.path for each in tracked.fake.asked if not each.path.endswith("/issues")] == [
        "/api/v1/repos/team/project"
    ]


# Jira


@pytest.mark.parametrize("kind", [JiraFake, JiraCloudFake])
def test_jira_issues_keep_their_keys_links_and_wiki_text(make_tracked, kind):
    tracked = make_tracked(kind)
    tracked.fake.put(Ticket("PROJ-1", "One", "h1. Title\n{code}x{code}", minute=1))
    tracked.fake.put(Ticket("PROJ-2", "Two", "Blocked by: PROJ-7", minute=2, closed=True))
    tracked.sync()
    assert (tracked.head(1)["id"], tracked.head(1)["status"]) == ("PROJ-1", "open")
    assert tracked.body(1) == "h1. Title\n{code}x{code}"
    assert tracked.head(1)["references"]["blocks"] == ["PROJ-2"]
    assert tracked.head(2)["references"]["blocked_by"] == ["PROJ-1", "PROJ-7"]
    assert tracked.head(2)["url"] == f"{tracked.fake.url}/browse/PROJ-2"


def test_a_total_that_is_no_number_is_told(make_tracked):
    tracked = make_tracked(JiraFake)
    tracked.fake.faults = [None, Fault(200, body=b'{"issues": [], "total": "many"}')]
    done = tracked.project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (
        75,
        "jira answered with something else than issues: total is no number.",
    )


def test_jiras_document_format_becomes_markdown(make_tracked):
    tracked = make_tracked(JiraCloudFake)
    text = {"type": "text", "text": "bold", "marks": [{"type": "strong"}]}
    document = {
        "type": "doc",
        "version": 1,
        "content": [
            {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "See ADR-0003"}]},
            {"type": "paragraph", "content": [text, {"type": "hardBreak"}, {"type": "text", "text": "next"}]},
        ],
    }
    tracked.fake.description = lambda _ticket: document
    tracked.fill(1)
    tracked.sync()
    assert tracked.body(1) == "## See ADR-0003\n\n**bold**\nnext"
    assert tracked.head(1)["references"]["adrs"] == ["ADR-0003"]


def test_a_listing_that_goes_round_in_circles_is_left(make_tracked):
    """Seen of nextPageToken; a sync without end would be worse than one that fails."""
    tracked = make_tracked(JiraCloudFake)
    tracked.fill(4)
    tracked.fake.search = lambda asked, found: {
        "issues": [tracked.fake.one(found[0])],
        "nextPageToken": "same",
    }
    done = tracked.project.gitrag("issues", "sync")
    assert (done.status, done.said[-2]) == (75, "The tracker gives the same page again and again.")
    assert tracked.meta["complete"] is False


def test_a_cookie_beyond_ascii_does_not_end_the_sync(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fill(4)  # two pages
    answer = tracked.fake.answer

    def with_cookie(asked):
        status, headers, data = answer(asked)
        return status, {**headers, "Set-Cookie": "seen=\xe9"}, data

    tracked.fake.answer = with_cookie
    tracked.sync()
    assert tracked.ids() == ["1", "2", "3", "4"]


def test_jira_cloud_gets_account_and_token(make_tracked):
    tracked = make_tracked(JiraCloudFake, token=False)
    tracked.fill(1)
    tracked.sync(env={"JIRA_EMAIL": "a@example.com", "JIRA_API_TOKEN": "abc"})
    assert {asked.authorization for asked in tracked.fake.asked} == {"Basic YUBleGFtcGxlLmNvbTphYmM="}


def test_jira_cloud_without_an_account_says_what_is_missing(make_tracked):
    tracked = make_tracked(JiraCloudFake)
    tracked.fake.faults = [None, Fault(401)]
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == 78
    assert done.said[0] == "Tracker authentication failed — check `gitrag issues status`."
    assert "Jira Cloud wants the token's account, too: set JIRA_EMAIL." in done.err
    tracked.fake.faults = [None, Fault(401)]
    done = tracked.project.gitrag("issues", "sync", env={"JIRA_EMAIL": "a@example.com"})
    assert "JIRA_EMAIL" not in done.err


# Linear


def test_linear_says_in_the_body_what_went_wrong(make_tracked):
    tracked = make_tracked(LinearFake)
    tracked.fill(2)

    def errors(code: str) -> bytes:
        return json.dumps({"errors": [{"message": "no", "extensions": {"code": code}}]}).encode()

    tracked.fake.faults = [Fault(400, {"Retry-After": "0"}, errors("RATELIMITED"))]
    tracked.sync()
    tracked.fake.faults = [Fault(200, {}, errors("AUTHENTICATION_ERROR"))]
    done = tracked.project.gitrag("issues", "sync")
    assert done.said[0] == "Tracker authentication failed — check `gitrag issues status`."
    tracked.fake.faults = [Fault(200, {}, errors("INVALID_INPUT"))]
    assert "linear refuses the question: no." in tracked.project.gitrag("issues", "sync").err


def test_linears_trash_holds_no_issues(make_tracked):
    tracked = make_tracked(LinearFake)
    tracked.fill(3)
    tracked.fake.touch("ENG-2", 5, trashed=True)
    tracked.sync()
    assert tracked.ids() == ["ENG-1", "ENG-3"]
    tracked.fake.touch("ENG-3", 9, trashed=True)
    done = tracked.sync()
    assert ", 1 removed in " in done.out
    assert tracked.ids() == ["ENG-1"]


# where it is written


def test_copies_are_for_the_user_alone_and_git_is_told_to_leave_them(make_tracked):
    tracked: Tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    assert "hint:" not in tracked.sync().err
    assert tracked.file(1).stat().st_mode & 0o777 == 0o600
    tracked.project.git.commit({".gitignore": "other\n"})
    assert "hint: git does not ignore .sdd/ yet; `gitrag init` sets that up" in tracked.sync().said


def test_the_token_variable_is_what_is_sent(make_tracked):
    tracked: Tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    tracked.sync()
    assert tracked.fake.asked[0].authorization == f"Bearer {TOKEN}"
