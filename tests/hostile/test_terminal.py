"""Whatever a clone's files, names, commits and issues hold, a terminal, a page and an agent get text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import anyio
import click
import pytest
from mcp import Client

from gitrag.cli import picker
from gitrag.cli.root import root
from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench
from tests.support.command import Gitrag, Project
from tests.support.mcp_client import CALLS
from tests.support.planted import ADR, EVIL, LINE, SCRIPT, faults, plant
from tests.support.web import served

QUESTION = "retry with backoff"
WALKED: dict[str, list[list[str]]] = {
    "init": [["--skip-embed"]],
    "search": [
        [QUESTION],
        [QUESTION, "--explain"],
        [QUESTION, "--explain-all", "--unfiltered"],
        [QUESTION, "--full"],
        [QUESTION, "--context", "1"],
        [QUESTION, "-c", "issues"],
        [QUESTION, "--submodules"],
        [f"{LINE} nothing", "--min-score", "1"],
        ["--word", "retry_with_backoff"],
        ["--regex", "Retry.*"],
        ["--word", f"x{EVIL}"],
        [QUESTION, "-c", "history"],
        [QUESTION, "--ref", "HEAD"],
        [QUESTION, "--lang", LINE],
        [QUESTION, "--path", f"*{LINE}"],
    ],
    "prime": [[], ["retry"], ["--since"], [LINE]],
    "graph": [
        ["retry_with_backoff"],
        ["--filter", "retry"],
        ["again", "--references"],
        [LINE],
        ["--filter", f"({LINE}"],
    ],
    "similar": [["client.py:4"], [f"pkg/{SCRIPT}:4"], [LINE]],
    "status": [[]],
    "index update": [["--no-embed"]],
    "index embed": [["--foreground"]],
    "index status": [[]],
    "repos list": [[]],
    "repos add": [["."], [LINE]],
    "repos group": [[f"g{EVIL}", "."], [LINE]],
    "gc": [[]],
    "share push": [[]],
    "share pull": [[]],
    "share status": [[]],
    "share verify": [[]],
    "share gc": [[]],
    "issues sync": [[]],
    "issues status": [[]],
    "issues list": [[]],
    "issues show": [["bd-a1b2"], [LINE]],
    "agents install": [["--dry-run", "all"], [LINE]],
    "agents remove": [["all"], [LINE]],
    "explore save": [[f"Retry {LINE}", "--goals", f"fewer {EVIL}"]],
    "explore show": [["1"], [LINE]],
    "explore list": [[]],
    "explore search": [["retry"]],
    "explore export": [[f"notes{EVIL}"]],
    "explore import": [[f"notes{EVIL}"]],
    "explore adopt": [["1"], [LINE]],
    "explore delete": [["1"], [LINE]],
    "core mark": [[f"pkg/{SCRIPT}", "--summary", LINE], [LINE]],
    "core list": [[]],
    "core adopt": [[LINE]],
    "core suggest": [[]],
    "core unmark": [[f"pkg/{SCRIPT}"], [LINE]],
    "check": [["client.py"], [f"pkg/{SCRIPT}"], ["."], [LINE], ["--push"]],
    "history": [[QUESTION], [LINE]],
    "why": [["client.py"], [f"pkg/{SCRIPT}:4"], [LINE]],
    "measure": [["--list"], ["-n", LINE]],
    "impact": [["HEAD~1..HEAD"], ["HEAD~2..HEAD"], [LINE]],
    "related": [
        [QUESTION],
        [LINE],
        ["--for", "spec", QUESTION],
        ["--for", "plan", QUESTION],
        ["--duplicates", QUESTION],
        ["--diff", "HEAD~1..HEAD"],
        ["--diff", "HEAD~2..HEAD"],
    ],
    "model status": [[]],
    "doctor": [[]],
    "hooks install": [[]],
    "hooks status": [[]],
    "hooks uninstall": [[]],
    "config": [[], ["limit"], ["modules"], [LINE], ["set", "limit", LINE], ["set", LINE, "1"]],
    "schema": [[LINE]],
    "completion": [[LINE]],
    "repos forget": [["."], [LINE]],
    "uninstall": [[]],
    "index remove": [[]],
    LINE: [[]],
}
REFUSED = {"core adopt", "schema", "completion", "repos group", "repos forget", LINE} | {
    f"share {name}" for name in ("status", "push", "pull", "verify", "gc")
}
"""Commands that only refuse what they are given here."""

CHANGES = {"uninstall", "index remove", "hooks uninstall"}
"""Commands that would leave the others nothing."""

FIRST = {f"explore {name}": ["explore save"] for name in ("show", "adopt", "delete")} | {
    "explore import": ["explore save", "explore export"]
}
"""What a command needs that another made: cases of a day are any, in any process."""

ELSEWHERE = {
    "web": "below: a page",
    "ui": "below: a screen",
    "mcp": "below: an agent",
    "lsp": "e2e/test_lsp.py: an editor",
    "model fetch": "says nothing of a repository",
    "hook run": "prints nothing",
    "hub": "below: a hub",
}


def leaves(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, by its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{before} {name}".strip()
        if isinstance(command, click.Group):
            yield from leaves(command, words)
        else:
            yield words, command


EVERY = dict(leaves(root))


def forms_of(command: click.Command | None) -> Iterator[list[str]]:
    """Yield the options that choose a form, one after another, and none for the default."""
    yield []
    for option in command.params if command is not None else ():
        if isinstance(option.type, click.Choice) and {"-o", "--output", "--format"} & set(option.opts):
            yield from ([option.opts[-1], form] for form in option.type.choices)


@pytest.fixture(scope="module")
def planted(tmp_path_factory, model_dir) -> Project:
    return plant(tmp_path_factory.mktemp("planted"), model_dir)


def test_every_command_is_walked():
    walked = {*WALKED, *ELSEWHERE}
    assert [name for name in EVERY if not {name, name.partition(" ")[0]} & walked] == []


@pytest.mark.sweep(keep=4)
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", WALKED)
def test_no_command_lets_a_clone_command_the_terminal(planted, name, tmp_path):
    words = name.split(" ") if name in EVERY else [name]
    project = planted.copied(tmp_path / "copy", planted.gitrag.environment) if name in CHANGES else planted
    for before in FIRST.get(name, ()):
        project.gitrag(*before.split(), *WALKED[before][0])
    ended = set()
    for number, arguments in enumerate(WALKED[name]):
        for form in forms_of(EVERY.get(name)) if number == 0 else [[]]:
            done = project.gitrag("--color", "always", *words, *arguments, *form)
            assert done.status not in {70, None}, done
            assert faults(done.out) == [], (name, arguments, form)
            assert faults(done.err) == [], (name, arguments, form)
            ended.add(done.status)
    assert ended & {0, 1} or name in REFUSED, f"nothing of {name} was shown: {ended}"


def test_json_is_exact(planted):
    found = json.loads(planted.gitrag("prime", "--json").out)["documents"]
    own = next(each for each in found if each["id"] == "ADR-0001")
    assert own["title"].startswith(f"Retry with backoff {EVIL[:10]}")
    assert ADR in {each["path"] for each in found}


def test_no_page_shows_what_a_clone_commands(planted):
    with served(planted.path, planted.gitrag.environment) as site:
        for page in (
            f"/search?{urlencode({'q': QUESTION})}",
            f"/search?{urlencode({'q': LINE})}",
            f"/search?{urlencode({'q': QUESTION, 'path': LINE})}",
            f"/calls?{urlencode({'target': 'retry_with_backoff'})}",
            f"/calls?{urlencode({'target': LINE})}",
            "/map",
            f"/map?{urlencode({'q': QUESTION, 'by': LINE})}",
            "/state",
            "/repositories",
            "/file/client.py",
            f"/file/{quote(ADR)}",
            f"/file/pkg/{quote(SCRIPT)}",
            f"/file/{quote(EVIL)}",
            *(f"/beside/{what}/client.py" for what in ("history", "documents", "calls")),
            f"/beside/documents/{quote(ADR)}",
            f"/{quote(LINE)}",
        ):
            got = site.get(page)
            assert got.status < 500, (page, got.text)
            assert faults(got.text.replace("\nforged", " forged")) == [], page


def test_no_answer_to_an_agent_has_what_a_clone_commands(planted):
    bench = Workbench(planted.path, dict(planted.gitrag.environment))
    asked = [
        *CALLS.items(),
        ("explore", {"title": f"Retry {LINE}", "goals": f"fewer {EVIL}"}),
        ("mark_core", {"path": "client.py", "summary": f"Retries {LINE}"}),
        ("memory_search", {"query": "retry"}),
        ("list_core", {}),
        ("continuity_status", {}),
        ("search_code", {"query": LINE}),
        ("search", {"query": QUESTION, "graph": True}),
        ("get", {"what": ADR}),
        ("get", {"what": f"pkg/{SCRIPT}:1-4"}),
        ("get", {"what": LINE}),
        ("prime", {"topic": QUESTION}),
        ("check", {"target": f"pkg/{SCRIPT}"}),
        ("check", {"target": LINE}),
        ("related", {"text": QUESTION, "mode": "duplicates"}),
        ("related", {"diff": "HEAD~2..HEAD"}),
        ("history", {"query": QUESTION}),
        ("call_graph", {"target": LINE}),
        (LINE, {}),
    ]

    said: list[str] = []

    async def ask() -> None:
        async with Client(build(bench)) as client:
            for tool, arguments in asked:
                said.append((await client.call_tool(tool, arguments)).content[0].text)

    anyio.run(ask)
    for (tool, arguments), text in zip(asked, said, strict=True):
        assert faults(text) == [], (tool, arguments)
        assert "hit a bug" not in text, (tool, arguments)


def test_a_hub_lets_no_clone_command_the_terminal(planted, hub_address):
    hub = Gitrag(planted.path, {**planted.gitrag.environment, "GITRAG_HUB": hub_address})
    shop = ("--repository", "shop")
    for command in (
        ("hub", "push", *shop),
        ("hub", "push", "--repository", LINE),
        ("hub", "push", *shop, "--branch", f"b{EVIL}"),
        ("hub", "status"),
        ("hub", "search", QUESTION),
        ("hub", "search", QUESTION, "-o", "text"),
        ("hub", "search", QUESTION, "-o", "json"),
        ("search", "--hub", QUESTION, "-o", "text"),
        ("hub", "search", LINE),
        ("hub", "search", QUESTION, "--repository", LINE),
        ("hub", "grant", LINE, "shop"),
        ("hub", "branch", "shop", LINE),
        ("hub", "drop", "shop", LINE),
        ("hub", "place", LINE, LINE),
        ("hub", "gc"),
        ("hub", "drop", "shop"),
    ):
        done = hub("--color", "always", *command)
        assert done.status != 70, done
        assert faults(done.out) == [], command
        assert faults(done.err) == [], command


def test_a_screen_shows_parts_without_control_characters():
    made = picker._safe(lambda: [("class:path", LINE), ("", "\n"), ("", EVIL)])()
    assert [text == "\n" for _style, text in made] == [False, True, False]
    assert [faults(text) for _style, text in made] == [[], [], []]
