"""Whatever a clone's files, names, commits and issues hold, a terminal, a page and an agent get text."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from gitrag.cli.root import root
from tests.support.command import Project
from tests.support.planted import EVIL, LINE, SCRIPT, faults, plant

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
    "agents install": [["--client", LINE]],
    "agents remove": [["--client", LINE]],
    "explore save": [[f"Retry {EVIL}", "--goals", f"fewer {EVIL}"]],
    "explore show": [["1"], [LINE]],
    "explore list": [[]],
    "explore search": [["retry"]],
    "explore export": [[f"notes{EVIL}"]],
    "explore import": [[f"notes{EVIL}"]],
    "explore delete": [["1"], [LINE]],
    "core mark": [[f"pkg/{SCRIPT}", LINE], [LINE]],
    "core list": [[]],
    "core suggest": [[]],
    "core unmark": [[f"pkg/{SCRIPT}"], [LINE]],
    "check": [["client.py"], [f"pkg/{SCRIPT}"], ["."], [LINE], ["--push"]],
    "history": [[QUESTION], [LINE]],
    "why": [["client.py"], [f"pkg/{SCRIPT}:4"], [LINE]],
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
    "index remove": [[]],
    LINE: [[]],
}
ELSEWHERE = {
    "web": "below: a page",
    "ui": "tests/unit/cli/test_picker.py",
    "mcp": "below: an agent",
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


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", WALKED)
def test_no_command_lets_a_clone_command_the_terminal(planted, name):
    words = name.split(" ") if name in EVERY else [name]
    for arguments in WALKED[name]:
        for form in forms_of(EVERY.get(name)):
            done = planted.gitrag("--color", "always", *words, *arguments, *form)
            assert done.status not in {70, None}, done
            assert faults(done.out) == [], (name, arguments, form)
            assert faults(done.err) == [], (name, arguments, form)
