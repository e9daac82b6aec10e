"""Every command prints JSON, and what it prints is what `gitrag schema` says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import psycopg
import pytest
from jsonschema import Draft202012Validator

from gitrag.cli.root import COMMANDS, root
from gitrag.report.schema import DOCUMENTS, schema_id
from tests.support.command import Gitrag, Project, user_environment
from tests.support.postgres import make_server, system
from tests.support.recorded import assert_recorded, keys_of
from tests.support.repository import create_repository

NO_JSON = {"completion", "lsp", "mcp", "hook run", "ui", "web"}
"""They print a script, speak a protocol, show a screen or a page, or nothing at all."""

FILES = {
    "shop/client.py": '''def retry(call):
    """Call again after a failure."""
    return call() or again(call)


def again(call):
    # Governing: ADR-0001
    return retry(call)


LIMIT = 3
''',
    "docs/adrs/ADR-0001-retries.md": "# Retry what fails\n\n## Status\n\nAccepted\n\nCalls are retried.\n",
    "docs/specs/retries/spec.md": "# SPEC-0001: Retries\n\n## Requirement: Retry\n\nCalls are retried.\n",
    "docs/specs/retries/tasks.md": "# Tasks\n\n- [ ] 1.1 Retry a failed call\n- [x] 1.2 Write about it\n",
    "large.bin": b"\0\1\2",
}

CHANGE = {
    "shop/again.py": '''from shop.client import retry


def retry_once_more(call):
    """Call again after a failure."""
    return call() or retry(call)
''',
    "tests/test_client.py": "from shop.client import retry\n\n\ndef test_retry():\n    retry(int)\n",
    "shop/client.py": FILES["shop/client.py"].replace("after a failure", "after any failure"),
}

RUNS = [
    ("init", ["--skip-embed"]),
    ("init", ["--agents", "claude", "--skip-embed"]),
    ("init", ["--agents", "--remove"]),
    ("issues sync", []),
    ("index embed", ["--foreground"]),  # what follows does not depend on a worker's progress
    ("search", ["where are retries"]),
    ("search", ["where are retries", "--graph", "-c", "issues", "-c", "code", "-c", "adrs"]),
    ("search", ["--word", "retry"]),
    ("search", ["--regex", "nothing like it"]),
    ("similar", ["client.py:1"]),
    ("history", ["servers are slow"]),
    ("why", ["client.py:1-2"]),
    ("why", ["client.py"]),
    ("measure", ["--list"]),
    ("impact", ["HEAD"]),
    ("impact", ["HEAD~1..HEAD"]),
    ("prime", []),
    ("prime", ["retries"]),
    ("prime", ["--since=30d"]),
    ("graph", ["retry"]),
    ("graph", ["LIMIT"]),
    ("graph", ["uncommitted"]),
    ("graph", []),
    ("status", []),
    ("index", []),
    ("index update", []),
    ("index embed", ["--skip"]),
    ("index embed", []),
    ("index status", []),
    ("gc", []),
    ("gc", ["--apply"]),
    ("issues status", []),
    ("issues list", ["--status", "all"]),
    ("issues show", ["tasks-retries-1.1"]),
    ("agents install", ["claude"]),
    ("agents install", ["claude", "--dry-run"]),
    ("agents remove", ["claude"]),
    ("explore save", ["Retries", "--goals", "fewer failures"]),
    ("explore show", ["Retries"]),
    ("explore list", []),
    ("explore search", ["failures"]),
    ("explore export", ["notes"]),
    ("explore import", ["notes"]),
    ("explore adopt", ["1"]),
    ("explore delete", ["1"]),
    ("core mark", ["shop/client.py", "-s", "calls"]),
    ("core list", []),
    ("core mark", ["shop/client.py", "--project", "old"]),
    ("core adopt", ["old"]),
    ("core suggest", []),
    ("core unmark", ["shop/client.py"]),
    ("check", ["shop/client.py"]),
    ("check", ["--push"]),
    ("related", ["retry what fails"]),
    ("related", ["--duplicates", "call again after a failure"]),
    ("related", ["--diff", "HEAD~1..HEAD"]),
    ("share push", []),
    ("share pull", []),
    ("share status", []),
    ("share verify", []),
    ("share gc", []),
    ("hub init", []),
    ("hub push", []),
    ("hub search", ["retries"]),
    ("hub status", []),
    ("hub grant", ["owner", "project"]),
    ("hub grant", []),
    ("hub place", ["project", "front"]),
    ("hub branch", ["project", "main"]),
    ("hub drop", ["project", "main"]),
    ("hub gc", []),
    ("hub try", ["--stop"]),
    ("repos add", []),
    ("repos group", ["work", "project"]),
    ("repos list", []),
    ("search", ["where are retries", "--repo", "project"]),
    ("graph", ["retry", "--repo", "project"]),
    ("repos forget", ["project"]),
    ("model fetch", []),
    ("model status", []),
    ("doctor", []),
    ("hooks install", []),
    ("hooks status", []),
    ("hooks uninstall", []),
    ("config", []),
    ("config", ["pre_push"]),
    ("config", ["set", "pre_push", "block"]),
    ("config", ["unset", "pre_push"]),
    ("schema", []),
    ("index remove", []),
    ("uninstall", []),
]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it."""
    for name in COMMANDS:
        command = root.get_command(click.Context(root), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {own}", each) for own, each in command.commands.items())
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield name, command


def test_every_command_has_json_a_schema_and_a_run():
    there = {name: command for name, command in commands() if name not in NO_JSON}
    assert set(there) == set(DOCUMENTS)
    without = [name for name, each in there.items() if not any("--json" in own.opts for own in each.params)]
    assert without == []
    assert {name for name, _ in RUNS} | {"hub add-server"} == set(DOCUMENTS)


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_dir, postgres) -> Project:
    directory = tmp_path_factory.mktemp("schemas")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = Project(git, Gitrag(git.path, environment))
    git.commit(CHANGE, "Retry once more, since servers are slow (#7, ADR-0001)")
    git.git("config", "gitrag.tracker", "tasks-md")
    (directory / "shared").mkdir()
    git.git("config", "--global", "gitrag.share", (directory / "shared").as_uri())
    git.git("config", "--global", "gitrag.hub", postgres.address())
    (git.path / "shop" / "new.py").write_text("def uncommitted():\n    return 1\n")
    return made


def test_what_every_command_prints_is_what_its_schema_says_and_what_is_recorded(shop, postgres):
    """In one go and in this order: later commands need what earlier ones made."""
    validators, schemas, printed = {}, {}, []
    for name in DOCUMENTS:
        done = shop.gitrag("schema", *name.split())
        schema = json.loads(done.out)
        Draft202012Validator.check_schema(schema)
        assert (schema["$id"], schema["version"]) == (schema_id(name), 1)
        validators[name], schemas[name] = Draft202012Validator(schema), "\n".join(keys_of(schema))
    for name, args in RUNS:
        done = shop.gitrag(*name.split(), *args, "--json", stdin=b"")
        assert done.out, (name, args, done)
        document = json.loads(done.out)
        problems = [error.message for error in validators[name].iter_errors(document)]
        assert problems == [], (name, args, document)
        assert done.status in {0, 1}, (name, args, done)
        printed.append((" ".join([name, *args]), done.out))
    assert_recorded("schemas", schemas.items())
    places = [shop.path.parent, Path(shop.gitrag.environment["GITRAG_MODEL_DIR"]), postgres.sockets]
    assert_recorded("commands", printed, *places)


def test_a_server_that_was_added_is_printed_as_its_schema_says(shop):
    programs = system()
    if programs is None:
        pytest.skip("no PostgreSQL 15 of the system's, which has postgres_fdw")
    server = make_server(programs)
    server.start()
    try:
        with psycopg.connect(server.address(), autocommit=True) as db:
            db.execute("CREATE DATABASE another")
        gitrag = Gitrag(shop.git.path, shop.git.environment | {"GITRAG_HUB": server.address()})
        assert gitrag("hub", "init").status == 0
        done = gitrag("hub", "add-server", "db2", server.address(database="another"), "--json")
        schema = json.loads(gitrag("schema", "hub", "add-server").out)
        assert list(Draft202012Validator(schema).iter_errors(json.loads(done.out))) == []
    finally:
        server.stop()
        shutil.rmtree(server.sockets, ignore_errors=True)


def test_a_schema_describes_its_keys_and_takes_no_others(shop):
    schema = json.loads(shop.gitrag("schema", "search").out)
    match = schema["$defs"]["Match"]
    assert match["properties"]["line"] == {"type": "integer", "description": "Its number, 1-based."}
    validator = Draft202012Validator(schema)
    good = {"query": "x", "adr_matches": [], "spec_matches": [], "code_snippets": [], "call_graphs": []}
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "more": 1})
    assert not validator.is_valid({**good, "query": 1})
    assert not validator.is_valid({"query": "x"})


def test_what_has_no_schema_is_said(shop):
    done = shop.gitrag("schema", "serach")
    assert done.status == 2
    assert done.said == [
        'There is no schema of "serach". Did you mean "search"?',
        "hint: `gitrag schema` lists the commands that have one.",
    ]
