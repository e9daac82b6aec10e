"""The parts of the layer that need no server: waits, pages, origins, documents, check boxes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from gitrag.trackers import http
from gitrag.trackers.base import Secret, TrackerPlace, TrackerSetupError
from gitrag.trackers.detection import (
    TRACKERS,
    Wishes,
    find_place,
    find_secret,
    may_have,
    of_host,
    read_origin,
)
from gitrag.trackers.github import api_of
from gitrag.trackers.http import Walk
from gitrag.trackers.jira import to_markdown
from gitrag.trackers.tasks_md import parse_tasks, to_issues

NOW = 1_700_000_000.0


# waits


def test_waits_double_from_a_second_on_unless_the_server_says():
    def after(attempt: int, error: Exception) -> float:
        outcome = SimpleNamespace(exception=lambda: error)
        return http.wait_s(SimpleNamespace(outcome=outcome, attempt_number=attempt))  # type: ignore[arg-type]

    assert [after(attempt, http._Passing("x")) for attempt in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert after(1, http._Passing("x", 17.0)) == 17.0


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({}, None),
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:14:00 GMT"}, 40.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000060"}, 60.0),
        ({"x-ratelimit-remaining": "7", "x-ratelimit-reset": "1700000060"}, None),
        ({"ratelimit-reset": "1700000060"}, 60.0),
        ({"x-ratelimit-requests-reset": "1700000060000"}, 60.0),
        ({"x-ratelimit-reset": "2023-11-14T22:14:20Z"}, 60.0),
        ({"x-ratelimit-reset": "x" * 9}, None),
        ({"ratelimit-remaining": "599", "ratelimit-reset": "1700000060"}, None),
        ({"x-ratelimit-requests-remaining": "9", "x-ratelimit-requests-reset": "1700000060000"}, None),
        (
            {
                "x-ratelimit-requests-remaining": "9",
                "x-ratelimit-requests-reset": "1700000900000",
                "x-ratelimit-complexity-remaining": "0",
                "x-ratelimit-complexity-reset": "1700000060000",
            },
            60.0,
        ),
    ],
)
def test_a_server_says_how_long_to_leave_it_alone(headers, pause):
    assert http.pause_s(headers, NOW) == pause


def test_the_header_link_is_read():
    header = '<https://h/x?page=2&per_page=9>; rel="next", <https://h/x?page=7>; rel="last"'
    answer = http.ServerResponse(None, {"link": header})
    assert answer.link("next") == {"page": "2", "per_page": "9"}
    assert answer.link("last") == {"page": "7"}
    assert answer.link("prev") is None


def test_a_walk_goes_on_by_time_and_counts_pages_only_within_one_second():
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    first = Walk.start(noon, None)
    assert (first.bound, first.page) == ("2026-01-01T11:59:59Z", 1)
    same = Walk.start(noon, first.next("2026-01-01T12:00:01Z"))
    assert (same.since, same.page) == (noon, 2)
    later = Walk.start(noon, same.next("2026-01-01T12:00:05.5Z"))
    assert (later.since, later.page) == (noon + timedelta(seconds=5.5), 1)
    assert later.bound == "2026-01-01T12:00:04Z"
    assert Walk.start(None, None).bound is None
    oldest = datetime(1, 1, 1, tzinfo=UTC)
    assert Walk.start(oldest, None).bound == "1969-12-31T23:59:59Z"
    assert Walk.start(oldest, Walk(oldest).next("0001-01-01T00:00:00Z")).page == 2
    assert Walk.start(noon, first.next("2026-01-01T12:00:01Z", "x")).after == "x"
    assert Walk.start(noon, first.next("2026-01-01T12:00:05Z", "x")).after == ""


# which tracker


@pytest.mark.parametrize(
    ("url", "base", "path"),
    [
        ("https://github.com/o/r.git", "https://github.com", "o/r"),
        ("https://user:tok@github.com/o/r", "https://github.com", "o/r"),
        ("git@github.com:o/r.git", "https://github.com", "o/r"),
        ("ssh://git@gitlab.example.com:2222/g/s/r.git", "https://gitlab.example.com", "g/s/r"),
        ("https://git.example.com:8443/o/r/", "https://git.example.com:8443", "o/r"),
        ("http://git.example.com/o/r", "https://git.example.com", "o/r"),
        ("http://127.0.0.1:3000/o/r", "http://127.0.0.1:3000", "o/r"),
        ("ssh://git@[::1]:22/o/r", "https://[::1]", "o/r"),
    ],
)
def test_an_origin_names_a_server_and_a_project(url, base, path):
    found = read_origin(url)
    assert found is not None
    assert (found[0], found[2]) == (base, path)


@pytest.mark.parametrize(
    "url",
    ["/srv/git/r.git", "../r", "file:///srv/r.git", "", "https://github.com/o/../../x", "https://github.com/r",
     "https://github.com:port/o/r", "https://[::1/o/r", "ext::sh -c x", "https://github.com/o/r?x=1#/../.."],
)  # fmt: skip
def test_an_origin_that_names_none(url):
    found = read_origin(url)
    assert found is None or found[2] == "o/r"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("github.com", "github"), ("github.example.com", "github"), ("gitlab.com", "gitlab"),
        ("gitlab.example.com", "gitlab"), ("codeberg.org", "gitea"), ("forgejo.example.com", "gitea"),
        ("notgithub.com", ""), ("example.com", ""), ("my-gitlab.example.com", ""), ("github", ""),
        ("git.example.com", "gitlab"),
    ],
)  # fmt: skip
def test_a_host_tells_its_tracker_whole_or_by_its_leading_label(host, name):
    assert of_host(host, {"GITLAB_HOST": "https://git.example.com"}) == name


def test_what_is_asked_first_wins(tmp_path):
    origin = read_origin("https://github.com/o/r")
    assert find_place(Wishes(), origin, tmp_path, {}) == TrackerPlace("github", "https://github.com", "o/r")
    assert find_place(Wishes("none"), origin, tmp_path, {}) is None
    jira = Wishes("jira", "https://jira.example.com", "PROJ")
    assert find_place(jira, origin, tmp_path, {}) == TrackerPlace(
        "jira", "https://jira.example.com", "PROJ", trusted=True
    )
    unknown = read_origin("https://example.com/o/r")
    asked: list[str] = []

    def probe(base: str) -> str:
        asked.append(base)
        return "gitea"

    assert find_place(Wishes(), unknown, tmp_path, {}) is None
    assert find_place(Wishes(), unknown, tmp_path, {}, remembered="gitlab") == TrackerPlace(
        "gitlab", unknown[0], "o/r"
    )
    assert find_place(Wishes(), unknown, tmp_path, {}, remembered="no such") is None
    assert find_place(Wishes(), unknown, tmp_path, {}, probe=probe) == TrackerPlace(
        "gitea", "https://example.com", "o/r"
    )
    (tmp_path / "specs" / "a").mkdir(parents=True)
    (tmp_path / "specs" / "a" / "tasks.md").write_text("- [ ] x\n")
    assert find_place(Wishes(), unknown, tmp_path, {}) == TrackerPlace("tasks-md")
    (tmp_path / ".beads").mkdir()
    assert find_place(Wishes(), unknown, tmp_path, {}, probe=probe) == TrackerPlace("beads")
    assert find_place(Wishes(), origin, tmp_path, {}) == TrackerPlace("github", "https://github.com", "o/r")
    assert asked == ["https://example.com"]


@pytest.mark.parametrize(
    "wishes",
    [Wishes("jira"), Wishes("jira", "https://j.example.com"), Wishes("linear", project="a/b"),
     Wishes("github", project="owner"), Wishes("github", project="o/.."), Wishes("github")],
)  # fmt: skip
def test_settings_that_are_not_enough_are_told(wishes, tmp_path):
    with pytest.raises(TrackerSetupError) as caught:
        find_place(wishes, None, tmp_path, {})
    assert caught.value.hint.startswith(("git config gitrag.tracker", "git config --global gitrag.tracker"))


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ("ssh://git@altssh.gitlab.com:443/o/r.git", TrackerPlace("gitlab", "https://gitlab.com", "o/r")),
        ("ssh://git@ssh.github.com:443/o/r.git", TrackerPlace("github", "https://github.com", "o/r")),
        ("https://www.github.com/o/r", TrackerPlace("github", "https://github.com", "o/r")),
    ],
)
def test_a_vendors_other_names_are_its_one_server(tmp_path, origin, place):
    """Over port 443 git speaks to a host of its own, which answers no requests."""
    assert find_place(Wishes(), read_origin(origin), tmp_path, {}) == place


@pytest.mark.parametrize(
    ("base", "api"),
    [
        ("https://github.com", "https://api.github.com"),
        ("https://ghe.example.com", "https://ghe.example.com/api/v3"),
        ("https://ghe.example.com/api/v3", "https://ghe.example.com/api/v3"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com"),
    ],
)
def test_githubs_interface_has_an_address_of_its_own(base, api):
    assert api_of(base) == api


def test_the_environment_may_name_a_jira_server(tmp_path):
    place = find_place(Wishes("jira", project="P"), None, tmp_path, {"JIRA_URL": "j.example.com"})
    assert place == TrackerPlace("jira", "https://j.example.com", "P", trusted=True)
    with pytest.raises(TrackerSetupError, match="JIRA_URL is no server's address"):
        find_place(Wishes("jira", project="P"), None, tmp_path, {"JIRA_URL": "http://j.example.com"})


# tokens


def test_the_environments_token_goes_to_the_vendor_or_to_whom_the_user_named():
    github, gitea = TRACKERS["github"], TRACKERS["gitea"]
    environ = {
        "GITHUB_TOKEN": "a",
        "GITEA_TOKEN": "b",
        "GH_HOST": "ghe.example.com",
        "GH_ENTERPRISE_TOKEN": "c",
    }
    environ["PATH"] = ""
    assert find_secret(github, TrackerPlace("github", "https://github.com"), environ, None) == Secret(
        "a", "GITHUB_TOKEN"
    )
    enterprise = find_secret(github, TrackerPlace("github", "https://ghe.example.com"), environ, None)
    assert enterprise == Secret("c", "GH_ENTERPRISE_TOKEN")
    for host in ("github.evil.example", "github.com.evil.example", "evil.example"):
        assert find_secret(github, TrackerPlace("github", f"https://{host}"), environ, None) is None
        assert not may_have(gitea, TrackerPlace("gitea", f"https://{host}"), environ)
    named = find_secret(gitea, TrackerPlace("gitea", "https://git.example.com", trusted=True), environ, None)
    assert named == Secret("b", "GITEA_TOKEN")
    assert (
        find_secret(
            github, TrackerPlace("github", "https://github.com"), {"GH_TOKEN": "a\nb", "PATH": ""}, None
        )
        is None
    )


def test_a_token_shows_nowhere():
    assert "abc" not in repr(Secret("abc", "GH_TOKEN")) + str(Secret("abc", "GH_TOKEN"))


# documents and check boxes


def test_a_document_is_markdown():
    def text(value: str, *marks: dict[str, object]) -> dict[str, object]:
        return {"type": "text", "text": value, "marks": list(marks)}

    def paragraph(*content: dict[str, object]) -> dict[str, object]:
        return {"type": "paragraph", "content": list(content)}

    def item(*content: dict[str, object], kind: str = "listItem") -> dict[str, object]:
        return {"type": kind, "content": list(content)}

    link = {"type": "link", "attrs": {"href": "https://h"}}
    inner = {"type": "bulletList", "content": [item(paragraph(text("deep")))]}
    cells = [{"type": "tableCell", "content": [paragraph(text(value))]} for value in ("a|b", "c")]
    document = {
        "type": "doc",
        "content": [
            paragraph(text("see "), text("this", link), {"type": "hardBreak"}, text("x", {"type": "code"})),
            {
                "type": "orderedList",
                "content": [item(paragraph(text("one")), inner), item(paragraph(text("two")))],
            },
            {"type": "codeBlock", "attrs": {"language": "py"}, "content": [text("a = 1")]},
            {"type": "panel", "content": [paragraph(text("careful"))]},
            {"type": "rule"},
            {"type": "table", "content": [{"type": "tableRow", "content": cells}]},
            {
                "type": "taskList",
                "content": [{"type": "taskItem", "attrs": {"state": "DONE"}, "content": [text("t")]}],
            },
            paragraph(
                {"type": "mention", "attrs": {"text": "@ada"}}, {"type": "unknown", "content": [text("!")]}
            ),
            {"type": "mediaSingle", "content": [{"type": "media", "attrs": {"id": "1"}}]},
        ],
    }
    assert to_markdown(document).split("\n\n") == [
        "see [this](https://h)\n`x`",
        "1. one\n   - deep\n2. two",
        "```py\na = 1\n```",
        "> careful",
        "---",
        "| a\\|b | c |\n| --- | --- |",
        "- [x] t",
        "@ada!",
    ]


def test_a_document_without_bottom_ends():
    node: dict[str, object] = {"type": "paragraph", "content": []}
    for _ in range(500):
        node = {"type": "panel", "content": [node]}
    assert isinstance(to_markdown({"type": "doc", "content": [node, None, 3]}), str)
    assert to_markdown(None) == to_markdown([]) == ""


def test_check_boxes_in_a_code_block_are_none():
    found = list(parse_tasks("```\n- [ ] no\n```\n* [X] **T001** yes\n\n  body\n- [~] struck\n- [] no\n"))
    assert found == [
        ("T001", "yes", True, "  body"),
        ("", "struck", True, ""),
    ]


def test_an_origin_is_what_it_says():
    assert read_origin("git@host.example:o/r") == ("https://host.example", "host.example", "o/r")


@pytest.mark.parametrize(
    ("line", "blocked_by"),
    [
        ("Blocked by: 1.2", ("tasks-SPEC-0007-login-1.2",)),
        ("Blocked by: 1.1 and PROJ-9.", ("PROJ-9", "tasks-SPEC-0007-login-1.1")),
        ("Blocked by: tasks-SPEC-0007-login-1.2", ("tasks-SPEC-0007-login-1.2",)),
        ("Blocked by: 1.2.3", ("tasks-SPEC-0007-login-1.2",)),
        ("Blocked by: 2, 7.1, ADR-0001", ()),
    ],
)  # fmt: skip
def test_a_task_names_others_by_their_numbers(line, blocked_by):
    """A subtask stands for the task it is part of; a number of no task, or its own, for nothing."""
    text = f"- [x] 1.1 Do it\n- [ ] 1.2 Then\n  - [ ] 1.2.3 Part\n- [ ] 2 Last\n  {line}\n"
    assert to_issues(text, "SPEC-0007-login", "tasks.md")[-1].references.blocked_by == blocked_by


def test_tasks_without_numbers_of_their_own_are_named_by_place():
    issues = to_issues("- [ ] a\n- [ ] b\n  Blocks: 1\n", "login", "tasks.md")
    assert issues[1].references.blocks == ("tasks-login-1",)
    issues = to_issues("- [ ] 1 a\n- [ ] 1 b\n- [ ] 2 c\n  Blocks: 1\n", "login", "tasks.md")
    assert issues[2].references.blocks == ()  # two have that number
