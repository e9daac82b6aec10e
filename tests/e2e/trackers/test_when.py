"""When issues are synced without being asked to: before they are read, and with the index."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp_types import CallToolResult

from tests.e2e.agents.client import over_stdio
from tests.e2e.trackers.fakes import Fault, GitHubFake

DEGRADED = "Issues sync failed — degrading to live tracker queries for this run"


@pytest.fixture
def tracked(make_tracked):
    found = make_tracked(GitHubFake)
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


def test_a_failed_sync_is_told_and_blocks_nothing(tracked):
    tracked.sync()
    age(tracked, 400)
    tracked.fake.faults = [Fault(401)]
    done = tracked.project.gitrag("issues", "list")
    assert done.status == 0
    assert done.said[0] == DEGRADED
    assert len(done.out.splitlines()) == 3
    tracked.project.git.git("config", "gitrag.trackerUrl", "http://127.0.0.1:9")
    done = tracked.project.gitrag("issues", "show", "2")
    assert (done.status, done.said[0]) == (0, DEGRADED)
    assert done.said[1].startswith("Network unreachable — sync skipped. No way to 127.0.0.1: ")


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
    tracked.project.git.git("config", "gitrag.trackerUrl", "http://127.0.0.1:9")
    done = tracked.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert "warning: Network unreachable — sync skipped." in done.err
    assert "Indexed " in done.out


@pytest.mark.parametrize("setting", ["none", "auto"])
def test_an_update_of_the_index_asks_no_server_that_nobody_chose(tracked, setting):
    git = tracked.project.git
    git.git("config", "gitrag.tracker", setting)
    git.git("config", "--unset", "gitrag.trackerUrl")
    git.git("remote", "add", "origin", f"{tracked.fake.url}/team/project.git")
    done = tracked.project.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert not tracked.fake.asked
    assert not tracked.folder.exists()


def test_copies_that_git_would_take_for_the_users_are_not_made_in_passing(tracked):
    tracked.project.git.commit({".gitignore": "other\n"})
    assert tracked.project.gitrag("index", "update", "--no-embed").status == 0
    assert not tracked.folder.exists()


def test_hooks_sync_nothing(tracked):
    assert tracked.project.gitrag("hook", "run", "worker").status == 0
    assert not tracked.fake.asked


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
    """§3.8: both read issues."""
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


def test_what_covers_a_text_is_looked_for_in_issues_as_they_are(tracked):
    tracked.project.gitrag("index", "update", "--no-embed")
    age(tracked, 400)
    done = tracked.project.gitrag("related", "--duplicates", "an issue")
    assert done.said[0].startswith("Syncing ")
