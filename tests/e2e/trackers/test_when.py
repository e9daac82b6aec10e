"""When issues are synced without being asked to: before they are read, and with the index."""

from __future__ import annotations

import fcntl
import json
import time
from datetime import UTC, datetime
from threading import Event
from urllib.parse import urlsplit

import anyio
import pytest
from mcp_types import CallToolResult

from tests.support.mcp_client import over_stdio
from tests.support.tracker_fakes import FAKES, NOON, Fault, GiteaFake, GitHubFake, JiraFake, Ticket

DEGRADED = "Issues sync failed — degrading to live tracker queries for this run"


@pytest.fixture
def tracked(make_tracked):
    found = make_tracked(GitHubFake)
    found.fill(3, labels=("bug",))
    return found


@pytest.fixture
def own_process(make_tracked):
    """The like for what still waits for an answer when it has ended."""
    found = make_tracked(GitHubFake, here=False)
    found.fill(3, labels=("bug",))
    return found


def age(tracked, seconds):
    """Let the last sync be that much longer ago."""
    note = {**tracked.meta, "synced": tracked.meta["synced"] - seconds}
    (tracked.folder / "_meta.json").write_text(json.dumps(note))


def test_reading_syncs_first_unless_that_was_done_in_the_last_five_minutes(tracked):
    done = tracked.project.gitrag("issues", "list")
    assert done.said == ["Syncing 3 issues from github…"]
    assert [line.split() for line in done.out.splitlines()] == [
        [str(number), "open", "Issue", str(number), "[bug]"] for number in (1, 2, 3)
    ]
    asked = len(tracked.fake.asked)
    age(tracked, 290)
    done = tracked.project.gitrag("issues", "list")
    assert (done.err, len(tracked.fake.asked)) == ("", asked)
    tracked.fake.touch("1", 9, closed=True)
    age(tracked, 20)
    done = tracked.project.gitrag("issues", "show", "#1")
    assert done.said == ["Syncing 2 issues from github…"]  # the newest of before, and what changed
    assert "status: closed" in done.out


def test_an_issue_of_a_clock_that_is_ahead_hides_no_later_change(tracked):
    tracked.fake.touch("3", 60 * 24 * 36_500)
    tracked.sync()
    tracked.fake.touch("1", (datetime.now(UTC) - NOON).total_seconds() / 60 + 1, closed=True)
    tracked.sync()
    assert "status: closed" in tracked.project.gitrag("issues", "show", "#1", "--no-sync").out


def test_a_failed_sync_is_told_and_blocks_nothing(tracked):
    tracked.sync()
    age(tracked, 400)
    tracked.fake.faults = [Fault(401)]
    done = tracked.project.gitrag("issues", "list")
    assert done.status == 0
    assert done.said[0] == DEGRADED
    assert done.said[-1] == "The 3 copies here answer, synced 7 min ago; no live query was made."
    assert len(done.out.splitlines()) == 3
    tracked.project.git.git("config", "--global", "gitrag.trackerUrl", "http://127.0.0.1:9")
    done = tracked.project.gitrag("issues", "show", "2")
    assert (done.status, done.said[0]) == (0, DEGRADED)
    assert done.said[1].startswith("Network unreachable — sync skipped. No way to 127.0.0.1: ")
    age(tracked, 3 * 3600)
    done = tracked.project.gitrag(
        "check", "signing.py"
    )  # where a server cannot be reached, nor can its search
    assert done.said[2] == "The 3 copies here answer, synced 3 h ago; no live query was made."


def without_listing(fake):
    """Let a tracker's listing fail, and its search work."""
    answer = fake.answer

    def searching(asked):
        said = str((asked.query, asked.body))
        if asked.path.endswith(("/search/issues", "/serverInfo")) or any(
            each in said for each in ("'q'", "'search'", "text ~", "searchIssues(")
        ):
            return answer(asked)
        return 503, {"Retry-After": "3600"}, {}

    fake.answer = searching


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("kind", FAKES)
def test_where_a_listing_fails_and_copies_are_old_the_trackers_search_is_asked(make_tracked, kind):
    """Requirement 3.8."""
    tracked = make_tracked(kind)
    tracked.fill(3)
    tracked.project.gitrag("index", "update", "--no-embed")
    tracked.fake.put(Ticket(tracked.id(4), "Rotate the signing\n\x1b]52;c;a\x07key", "Every month", minute=9))
    without_listing(tracked.fake)
    search = ["search", "--no-graph", "-c", "issues", "when do we rotate signing keys?"]
    age(tracked, 400)
    assert "live: " not in tracked.project.gitrag(*search).err
    age(tracked, 3 * 3600)
    done = tracked.project.gitrag(*search)
    assert done.said[0] == DEGRADED
    assert f"The 3 copies here answer, synced 3 h ago; {kind.name}'s own search finds 1." in done.said
    (live,) = [line for line in done.said if line.startswith("live: ")]
    assert live.startswith(f"live: {tracked.id(4)}  Rotate the signing ")
    assert "\x1b" not in live
    assert tracked.ids() == sorted(tracked.id(number) for number in (1, 2, 3))


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("kind", FAKES)
def test_of_a_long_text_a_few_words_are_told(make_tracked, kind):
    tracked = make_tracked(kind)
    tracked.project.gitrag("index", "update", "--no-embed")
    without_listing(tracked.fake)
    age(tracked, 3 * 3600)
    words = [f"{letter}{number}word" for letter in "abcdefgh" for number in range(50)]
    tracked.project.gitrag("related", "--for", "plan", " ".join(words))
    asked = [str((each.query, each.body)) for each in tracked.fake.asked]
    assert 1 <= max(sum(word in each for word in words) for each in asked) <= 6


def test_what_one_looks_for_is_told_to_no_host_that_only_the_repository_names(tracked):
    git = tracked.project.git
    git.git("config", "--global", "--unset", "gitrag.trackerUrl")
    git.git("remote", "add", "origin", f"{tracked.fake.url}/team/project.git")
    tracked.project.gitrag("index", "update", "--no-embed")
    assert len(tracked.ids()) == 3
    without_listing(tracked.fake)
    age(tracked, 3 * 3600)
    done = tracked.project.gitrag("search", "--no-graph", "-c", "issues", "signing keys")
    assert done.said[0] == DEGRADED
    assert any("is asked for nothing in particular" in line for line in done.said), done.err
    assert not any("signing" in str(each) for each in tracked.fake.asked)


@pytest.mark.parametrize(
    ("command", "is_found"),
    [
        (["check", "signing.py"], True),
        (["related", "--for", "plan", "signing"], True),
        (["related", "--duplicates", "signing"], True),
        (["related", "--for", "plan", "nothing like it"], False),
        (["related", "--diff", "HEAD"], None),
    ],
)
def test_who_reads_issues_for_something_asks_the_search_for_that(tracked, command, is_found):
    tracked.project.git.commit({"signing.py": "def sign(): return 1\n"})
    tracked.project.gitrag("index", "update", "--no-embed")
    tracked.fake.put(Ticket("4", "Rotate the signing key", minute=9))
    without_listing(tracked.fake)
    age(tracked, 3 * 3600)
    done = tracked.project.gitrag(*command)
    ends = {True: "github's own search finds 1.", False: "finds none.", None: "no live query was made."}
    assert any(line.endswith(ends[is_found]) for line in done.said), done.err
    assert any(line.startswith("live: 4  ") for line in done.said) == bool(is_found)


def test_a_search_that_fails_or_hangs_is_told(own_process):
    tracked = own_process
    tracked.project.git.git("config", "--global", "gitrag.trackerTimeoutS", "0.5")
    tracked.fake.faults = [Fault(401)] * 4
    search = ["search", "--no-graph", "-c", "issues", "signing"]
    tracked.project.gitrag("index", "update", "--no-embed")
    done = tracked.project.gitrag(*search)
    assert any(
        line.startswith(
            "There is no copy of an issue here to answer from; github's own search failed, too: Tracker"
        )
        for line in done.said
    ), done.err
    over, answer = Event(), tracked.fake.answer
    tracked.fake.answer = lambda asked: over.wait(600) and answer(asked)
    done = tracked.project.gitrag(*search)
    over.set()
    assert any(line.endswith("; github's own search took longer than 5 s.") for line in done.said)


@pytest.fixture
def hanging(own_process):
    """A tracker that was synced some time ago, answers no more, and may be waited for a second."""
    tracked = own_process
    tracked.sync()
    age(tracked, 400)
    tracked.project.git.git("config", "--global", "gitrag.trackerTimeoutS", "1")
    over, answer = Event(), tracked.fake.answer
    tracked.fake.answer = lambda asked: over.wait(600) and answer(asked)
    yield tracked
    over.set()


@pytest.mark.parametrize("command", [["list"], ["show", "2"], ["status"]], ids=lambda command: command[0])
def test_a_server_that_hangs_does_not_hold_who_reads(hanging, command):
    done = hanging.project.gitrag("issues", *command)
    assert (done.status, bool(done.out)) == (0, True)
    if command != ["status"]:
        assert done.said[0] == DEGRADED
        assert done.said[1].startswith("github took longer than 1 s. ")


def test_links_that_do_not_come_do_not_hold_who_reads(make_tracked):
    tracked = make_tracked(GiteaFake, here=False)
    tracked.fill(3)
    tracked.project.git.git("config", "--global", "gitrag.trackerTimeoutS", "1")
    over, answer = Event(), tracked.fake.answer
    tracked.fake.answer = lambda asked: (
        (not asked.path.endswith("s/1/blocks") or over.wait(20)) and answer(asked)
    )
    begin = time.monotonic()
    done = tracked.project.gitrag("issues", "list")
    took_s = time.monotonic() - begin
    over.set()
    assert done.said[1].startswith("gitea took longer than 1 s. ")
    assert took_s < 15


def test_a_server_that_hangs_does_not_hold_an_update_of_the_index(hanging):
    done = hanging.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert "warning: github took longer than 1 s." in done.err
    assert "Indexed " in done.out


def test_a_long_listing_does_not_hold_who_reads_and_what_came_is_kept(own_process):
    tracked = own_process
    tracked.project.git.git("config", "--global", "gitrag.trackerTimeoutS", "3")
    answer = tracked.fake.answer

    def endless(asked):
        count = len(tracked.fake.tickets)
        for number in range(count + 1, count + 5):
            tracked.fake.put(Ticket(str(number), "T", "x", minute=number))
        return answer(asked)

    tracked.fake.answer = endless
    done = tracked.project.gitrag("issues", "list")
    while not tracked.ids():  # a busy machine may not get to the first page so soon
        done = tracked.project.gitrag("issues", "list")
    assert DEGRADED in done.said
    assert done.out.startswith("1 ")
    assert tracked.meta["cursor"] > "2026-01-01T12:01"
    tracked.fake.answer = answer
    tracked.sync()
    assert len(tracked.ids()) == len(tracked.fake.tickets)


def test_an_interrupt_leaves_what_the_next_sync_goes_on_from(tracked):
    tracked.fill(9)
    over, answer = Event(), tracked.fake.answer

    def stuck(asked):
        if len(tracked.fake.asked) > 1:
            over.wait(600)
        return answer(asked)

    tracked.fake.answer = stuck
    done = tracked.project.gitrag.on_terminal("issues", "sync", interrupt_after=".sdd/issues/1.md")
    over.set()
    assert done.status == 130
    tracked.fake.answer = answer
    assert 0 < len(tracked.ids()) < 9
    assert not list(tracked.folder.glob(".gitrag.*"))
    assert (tracked.meta["complete"], tracked.meta["synced"]) == (False, 0.0)
    assert tracked.project.gitrag("issues", "sync").status == 0
    assert len(tracked.ids()) == 9


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize(
    "command",
    [
        ["search", "--no-graph", "-c", "issues", "key"],
        ["related", "--duplicates", "key"],
        ["related", "--diff", "HEAD"],
        ["check", "."],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_that_reads_issues_syncs_first(tracked, command):
    tracked.project.gitrag("index", "update", "--no-embed")
    age(tracked, 400)
    assert tracked.project.gitrag(*command).said[0].startswith("Syncing ")


def test_another_sync_does_not_hold_who_reads_for_longer_than_the_tracker_may(tracked):
    tracked.sync()
    age(tracked, 400)
    for key in ("trackerTimeoutS", "lockTimeoutS"):
        tracked.project.git.git("config", f"gitrag.{key}", "0.5" if key == "trackerTimeoutS" else "3600")
    with (tracked.folder / "_lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = tracked.project.gitrag("issues", "list")
    assert done.said == [
        DEGRADED,
        "Another gitrag is syncing these issues. Try again when it is done.",
        "The 3 copies here answer, synced 7 min ago; no live query was made.",
    ]
    assert len(done.out.splitlines()) == 3


def test_no_sync_leaves_the_tracker_alone(tracked):
    tracked.sync()
    age(tracked, 400)
    asked = len(tracked.fake.asked)
    assert tracked.project.gitrag("issues", "list", "--no-sync", "--json").status == 0
    assert len(tracked.fake.asked) == asked


def test_an_update_of_the_index_syncs_too(tracked):
    done = tracked.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert done.out.startswith("Synced 3 issues from github: 3 written in ")
    assert tracked.ids() == ["1", "2", "3"]


def test_a_failed_sync_does_not_fail_the_update_of_the_index(tracked):
    tracked.project.git.git("config", "--global", "gitrag.trackerUrl", "http://127.0.0.1:9")
    done = tracked.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert "warning: Network unreachable — sync skipped." in done.err
    assert "Indexed " in done.out


@pytest.mark.parametrize("setting", ["none", "auto"])
def test_an_update_of_the_index_asks_no_server_that_nobody_chose(tracked, setting):
    git = tracked.project.git
    git.git("config", "--global", "gitrag.tracker", setting)
    git.git("config", "--global", "--unset", "gitrag.trackerUrl")
    git.git("remote", "add", "origin", f"{tracked.fake.url}/team/project.git")
    done = tracked.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert not tracked.fake.asked
    assert not tracked.folder.exists()


def test_a_token_at_hand_is_no_wish_for_all_issues_of_a_server(tracked):
    """The first download is asked for: by a sync, a reading command or the setting; later ones come along."""
    git, gitrag = tracked.project.git, tracked.project.gitrag
    for key in ("tracker", "trackerUrl", "trackerProject"):
        git.git("config", "--global", "--unset", f"gitrag.{key}")
    git.git("remote", "add", "origin", f"{tracked.fake.url}/team/project.git")
    known = {"GH_HOST": urlsplit(tracked.fake.url).netloc}
    done = gitrag("index", "update", "--no-embed", env=known)
    assert not tracked.fake.asked
    assert (
        "hint: `gitrag issues sync` fetches the issues of github team/project;"
        " from then on `gitrag index` keeps them fresh" in done.said
    )
    assert "hint:" not in gitrag("index", "update", "--no-embed", env=known).err
    assert gitrag("issues", "sync", env=known).status == 0
    asked = len(tracked.fake.asked)
    tracked.fake.touch("1", 9, title="New")
    assert "1 written in " in gitrag("index", "update", "--no-embed", env=known).out
    assert len(tracked.fake.asked) > asked


def test_who_reads_issues_wants_them_fetched(tracked):
    git = tracked.project.git
    for key in ("tracker", "trackerUrl", "trackerProject"):
        git.git("config", "--global", "--unset", f"gitrag.{key}")
    git.git("remote", "add", "origin", f"{tracked.fake.url}/team/project.git")
    done = tracked.project.gitrag("issues", "list", env={"GH_HOST": urlsplit(tracked.fake.url).netloc})
    assert len(done.out.splitlines()) == 3


def test_copies_that_git_would_take_for_the_users_are_not_made_in_passing(tracked):
    tracked.project.git.commit({".gitignore": "other\n"})
    assert tracked.project.gitrag("index", "update", "--no-embed").status == 0
    assert not tracked.folder.exists()


def test_hooks_sync_nothing(tracked, model_dir):
    own = {"GITRAG_MODEL_DIR": str(model_dir)}  # else it is fetched
    assert tracked.project.gitrag("hook", "run", "worker", env=own).status == 0
    assert not tracked.fake.asked


def test_what_is_missing_is_told_with_the_way_out(tracked):
    git, gitrag = tracked.project.git, tracked.project.gitrag
    git.commit({".gitignore": "other\n"})
    not_ignored = "hint: once git ignores .sdd/ (`gitrag init`), issues are synced when they are read"
    assert not_ignored in gitrag("issues", "status").said
    done = gitrag("issues", "list")
    assert done.said == ["There are no issues here yet.", "hint: gitrag issues sync"]
    git.git("config", "--global", "gitrag.tracker", "none")
    chosen = "hint: git config gitrag.tracker github   (or gitea, gitlab, jira, linear, beads, tasks-md)"
    assert chosen in gitrag("issues", "status").said
    assert chosen in gitrag("issues", "list").said
    git.git("config", "--global", "gitrag.tracker", "github")
    git.commit({".gitignore": ".sdd/\n"})
    assert "hint" not in gitrag("issues", "status").err
    done = gitrag("issues", "list", "--label", "nothing")
    assert done.said[-2:] == [
        "None of the 3 issues here matches.",
        "hint: `gitrag issues list --status all` shows them all",
    ]


def test_a_terminal_shows_each_issue_in_one_line(tracked):
    tracked.fake.touch("2", 9, title="word " * 40)
    done = tracked.project.gitrag("issues", "list")
    assert "word " * 39 in done.out
    shown = tracked.project.gitrag.on_terminal("issues", "list", columns=60, env={"NO_COLOR": "1"})
    rows = shown.out.splitlines()[-3:]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[1].endswith("… [bug]")
    assert len(rows[1]) <= 60


def test_pull_requests_are_not_counted_as_issues(tracked):
    tracked.fake.put(Ticket("9", "PR", "", pull=True, minute=9))
    tracked.fake.page_size = 10
    assert "Syncing 3 issues from github…" in tracked.sync().err


def test_the_list_can_be_narrowed(tracked):
    tracked.fake.touch("2", 8, closed=True)
    tracked.fake.touch("3", 9, labels=("bug", "auth"))
    gitrag = tracked.project.gitrag
    assert gitrag("issues", "list", "--status", "closed").out.split()[0] == "2"
    assert gitrag("issues", "list", "--label", "auth").out.split()[0] == "3"
    assert gitrag("issues", "list", "--label", "nothing").status == 1
    assert [each["id"] for each in json.loads(gitrag("issues", "list", "--status=all", "--json").out)] == [
        "1",
        "2",
        "3",
    ]
    assert gitrag("issues", "show", "99").status == 2
    assert gitrag("issues", "show", "../../secret").status == 2


@pytest.mark.parametrize(("kind", "form"), [(GitHubFake, "#{}"), (JiraFake, "PROJ-{}")])
def test_an_id_finds_its_issue_before_those_that_begin_alike(make_tracked, kind, form):
    tracked = make_tracked(kind)
    tracked.fill(13)
    tracked.project.gitrag("index", "update", "--no-embed")
    for number in (1, 12):
        done = tracked.project.gitrag(
            "search", "--output", "json", "--no-graph", "-c", "issues", form.format(number)
        )
        assert [row["id"] for row in json.loads(done.out)["issue_matches"]][:1] == [tracked.id(number)]


def test_what_was_synced_is_found_at_once_and_a_search_of_issues_syncs_first(tracked):
    """Requirements 3.5 and 3.8: nobody has to index the copies."""
    search = ["search", "--output", "json", "--no-graph", "-c", "issues"]
    tracked.project.gitrag("index", "update", "--no-embed")
    tracked.fill(5, labels=("bug",))
    age(tracked, 400)
    done = tracked.project.gitrag(*search, "#5")
    assert done.said[0].startswith("Syncing ")
    assert [row["id"] for row in json.loads(done.out)["issue_matches"]][:1] == ["5"]
    asked = len(tracked.fake.asked)
    assert tracked.project.gitrag(*search, "#4").status == 0
    assert len(tracked.fake.asked) == asked
    assert tracked.project.gitrag("search", "--output", "json", "--no-graph", "key").status in {0, 1}
    assert len(tracked.fake.asked) == asked


@pytest.mark.parametrize("asked", [{"diff": "HEAD"}, {"text": "issue 5", "mode": "duplicates"}])
def test_an_agent_that_asks_what_is_related_is_told_of_issues_as_they_are(tracked, asked):
    """Both read issues."""
    tracked.project.gitrag("index", "update", "--no-embed")
    tracked.fill(5, labels=("bug",))
    age(tracked, 400)
    tracked.project.git.write({"fresh.py": "def fresh(): return 'issue 5'\n"})

    async def ask() -> CallToolResult:
        async with over_stdio(tracked.project) as client:
            return await client.call_tool("related", asked)

    result = anyio.run(ask)
    assert not result.is_error, result.content
    assert result.structured_content["freshness"]["notes"][0].startswith("Syncing ")
    assert tracked.ids() == ["1", "2", "3", "4", "5"]
