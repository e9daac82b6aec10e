"""A tracker's server that never comes to an end: each way is left after a while, and what came is kept."""

from __future__ import annotations

import functools
import gzip
import threading
import time
from itertools import count

import pytest

from tests.support.command import wait_until
from tests.support.tracker_fakes import Fault, GitHubFake, GitLabFake, JiraFake, LinearFake, Ticket

TRY_AGAIN = 75
BOMB_BYTES = 257 * 1024 * 1024


@pytest.fixture
def make_tracked(make_tracked):
    """With processes: what still waits for an answer ends with its own."""
    return functools.partial(make_tracked, here=False)


def same_page_for_ever(fake):
    """Let every page be the first one, with another one to follow."""
    answer, number, first = fake.answer, count(1), {}

    def stuck(asked):
        if asked.path not in first:
            first[asked.path] = answer(asked)
        status, headers, data = first[asked.path]
        if isinstance(data, dict) and "issues" in data:  # Jira
            data = {**data, "total": 10**9}
            if "nextPageToken" in data:
                data["nextPageToken"] = f"t{next(number)}"
        if isinstance(data, dict) and "issues" in data.get("data", {}):  # Linear
            data["data"]["issues"]["pageInfo"]["endCursor"] = f"c{next(number)}"
        return status, headers, data

    fake.answer = stuck


def new_pages_for_ever(fake, new_id):
    """Put more issues on the server each time it is asked."""
    answer = fake.answer

    def growing(asked):
        there = len(fake.tickets)
        for number in range(there + 1, there + 5):
            fake.put(Ticket(new_id(number), "T", "x", minute=number))
        return answer(asked)

    fake.answer = growing
    return answer


@pytest.mark.sweep(keep=3)
def test_the_same_page_for_ever_is_left_and_told(tracked):
    tracked.fill(9)
    same_page_for_ever(tracked.fake)
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == TRY_AGAIN
    assert f"{tracked.fake.name} gives the same issues again and again: " in done.err
    assert len(tracked.ids()) == 3
    assert not tracked.meta["complete"]
    assert not tracked.meta["synced"]


def test_a_page_of_known_issues_is_no_end_of_the_listing(make_tracked):
    """Three pages of one second, then more: the walk lists that second again before it gets further."""
    tracked = make_tracked(GitHubFake)
    for number in range(1, 41):
        tracked.fake.put(Ticket(str(number), "T", "x", minute=1 if number <= 36 else number))
    tracked.sync()
    assert len(tracked.ids()) == 40


def test_pages_of_pull_requests_alone_are_no_end_of_the_listing(make_tracked):
    tracked = make_tracked(GitHubFake)
    for number in range(1, 61):
        tracked.fake.put(Ticket(str(number), "T", "x", minute=number, pull=number < 60))
    tracked.sync()
    assert tracked.ids() == ["60"]


@pytest.mark.sweep(keep=3)
def test_ever_new_pages_are_left_after_so_many_and_the_next_sync_goes_on(tracked):
    git = tracked.project.git
    answer = new_pages_for_ever(tracked.fake, tracked.id)
    git.git("config", "--global", "gitrag.trackerMaxPages", "4")
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == TRY_AGAIN
    assert f"{tracked.fake.name} has more than 4 pages." in done.err
    assert "tracker_max_pages is 4; to raise it: `git config gitrag.trackerMaxPages NUMBER`." in done.err
    assert 1 < len(tracked.ids()) < len(tracked.fake.tickets)
    assert not tracked.meta["complete"]
    tracked.fake.answer = answer
    git.git("config", "--global", "gitrag.trackerMaxPages", "100")
    tracked.sync()
    assert len(tracked.ids()) == len(tracked.fake.tickets)
    assert tracked.meta["complete"]


@pytest.mark.sweep(keep=2)
def test_ever_new_pages_are_left_after_a_while(tracked):
    new_pages_for_ever(tracked.fake, tracked.id)
    done = tracked.project.gitrag("issues", "sync", env={"GITRAG_TRACKER_SYNC_TIMEOUT_S": "3"})
    assert done.status == TRY_AGAIN
    assert f"{tracked.fake.name} took longer than 3 s." in done.err
    assert "tracker_sync_timeout_s is 3; to raise it: `git config gitrag.trackerSyncTimeoutS " in done.err
    assert not tracked.meta["complete"]


@pytest.mark.parametrize("setting", ["tracker_max_pages: 7", "tracker_sync_timeout_s: 7"])
def test_a_repository_cannot_raise_the_bounds(make_tracked, setting):
    tracked = make_tracked(GitHubFake)
    tracked.fill(1)
    tracked.project.git.commit({".gitrag.yaml": f"{setting}\n"})
    assert (
        f".gitrag.yaml sets {setting.split(':')[0]}, which only you may set: ignored." in tracked.sync().err
    )


def drip(request, begin, then):
    """Send the beginning, and then something every tenth of a second until the other side is gone."""
    try:
        request.wfile.write(begin)
        for _ in range(600):
            request.wfile.write(then)
            request.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass
    request.close_connection = True


DRIPS = {
    "body": (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n[", b" "),
    "chunked body": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "headers": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "more headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "status line": (b"HTTP/1.1 200 ", b"O"),
    "answers before the answer": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "redirect's body": (b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 99999\r\n\r\n", b" "),
}


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("where", DRIPS)
def test_a_server_that_drips_is_left_after_a_while(make_tracked, where):
    tracked = make_tracked(GitHubFake)
    tracked.fake.handle = lambda request: drip(request, *DRIPS[where])
    done = tracked.project.gitrag("issues", "sync", env={"GITRAG_TRACKER_SYNC_TIMEOUT_S": "1"})
    assert done.status == TRY_AGAIN
    ends = ("github took longer than 1 s.", "redirects more than 5 times")
    assert any(end in done.err for end in ends), done.err


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("where", DRIPS)
def test_a_server_that_drips_holds_no_thread_for_ever(make_tracked, where, monkeypatch):
    """Of a process that lives long, such as the server of an agent."""
    from gitrag.machine import receiving
    from gitrag.trackers.base import TrackerError, TrackerPlace, TrackerSetting
    from gitrag.trackers.detection import TRACKERS
    from gitrag.trackers.folder import IssueFolder
    from gitrag.trackers.sync import Bound, SyncDeadline, sync

    monkeypatch.setattr(receiving, "WINDOW_S", 0.5)
    tracked = make_tracked(GitHubFake)
    tracked.fake.handle = lambda request: drip(request, *DRIPS[where])
    place = TrackerPlace("github", tracked.fake.url, tracked.fake.project)
    folder = IssueFolder(tracked.project.path)
    folder.make()
    tracker = TRACKERS["github"].open(TrackerSetting(place, folder.root, {}, None, lambda _text: None))
    with pytest.raises(TrackerError):
        sync(tracker, place, folder, deadline=SyncDeadline(whole_s=Bound(1.0, "x", "y")))
    tracker.close()
    wait_until(lambda: not [each for each in threading.enumerate() if each.name == "fetch"], "a thread stays")


@pytest.mark.parametrize("kind", [GitHubFake, LinearFake])
def test_a_redirect_to_itself_is_left(make_tracked, kind):
    """Where it is followed, and where it is not: the one is asked with GET, the other with POST."""
    tracked = make_tracked(kind)
    tracked.fake.redirect_to = tracked.fake.url
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == TRY_AGAIN


@pytest.mark.sweep(keep=5)
@pytest.mark.parametrize("kind", [GitHubFake, GitLabFake, JiraFake, LinearFake])
@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "99999999999999999999"},
        {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 15},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9999-12-31T23:59:59Z"},
    ],
    ids=lambda headers: next(reversed(headers.values())),
)
def test_an_absurd_pause_ends_the_sync_and_is_told_with_its_day(make_tracked, kind, headers):
    tracked = make_tracked(kind)
    tracked.fill(1)
    tracked.fake.faults = [Fault(429, headers)] * 9
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == TRY_AGAIN
    assert f"{tracked.fake.name} allows no more requests until 2" in done.err
    assert len(tracked.fake.asked) <= 2  # Jira is asked what it is first


def test_pauses_that_are_short_each_end_with_the_whole_time(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fake.faults = [Fault(429, {"Retry-After": "50"})] * 9
    done = tracked.project.gitrag("issues", "sync", env={"GITRAG_TRACKER_SYNC_TIMEOUT_S": "2"})
    assert (done.status, "github took longer than 2 s." in done.err) == (TRY_AGAIN, True)


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("total", ["9" * 5000, "\xb2", "-1", ""])
def test_a_count_that_is_none_is_left_out(tracked, total):
    tracked.fill(4)
    answer = tracked.fake.answer

    def odd(asked):
        status, headers, data = answer(asked)
        return status, {**headers, "X-Total": total, "X-Total-Count": total}, data

    tracked.fake.answer = odd
    tracked.sync()
    assert len(tracked.ids()) == 4


def test_a_body_that_unfolds_for_ever_is_left(make_tracked):
    tracked = make_tracked(GitHubFake)
    bomb = gzip.compress(b"[" + b" " * BOMB_BYTES, 1)
    tracked.fake.faults = [Fault(200, {"Content-Encoding": "gzip"}, bomb)]
    done = tracked.project.gitrag("issues", "sync")
    assert (done.status, "github answered with over 268435456 bytes." in done.err) == (TRY_AGAIN, True)
    layered = gzip.compress(gzip.compress(b"[]"))
    tracked.fake.faults = [Fault(200, {"Content-Encoding": "gzip, gzip"}, layered)] * 4
    done = tracked.project.gitrag("issues", "sync")
    assert done.status == TRY_AGAIN
    assert 'packs its answer as "gzip, gzip", which was not asked for, 4 times in a row.' in done.err
    assert not tracked.ids()


def test_an_answer_may_be_packed(make_tracked):
    tracked = make_tracked(GitHubFake)
    tracked.fake.faults = [Fault(200, {"Content-Encoding": "gzip"}, gzip.compress(b"[]"))]
    assert "Synced 0 issues" in tracked.sync().out
    cut = Fault(200, {"Content-Encoding": "gzip"}, gzip.compress(b"[]")[:-4])
    tracked.fake.faults = [cut]
    tracked.sync()
    assert len(tracked.fake.asked) == 3  # asked again
