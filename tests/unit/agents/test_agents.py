"""Setting agents up: what is written into each client's files, and taken out again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitrag import __version__
from gitrag.agents import jsonc, text_blocks
from gitrag.agents.clients import CLIENTS, SERVER, Client, Form, command_for, is_ours
from gitrag.agents.setup import (
    SKILLS,
    apply,
    chosen,
    chosen_of_user,
    commands_set_up,
    plan,
    plan_of_user,
)
from gitrag.agents.text_blocks import HASH, MARKDOWN, DamagedMarksError, has_block, with_block, without_block
from gitrag.errors import StoreError, UsageError
from gitrag.mcp_server.server import INSTRUCTIONS

TOP = Path(__file__).parents[3]
PUBLISHED = (".claude-plugin/plugin.json", "gemini-extension.json", ".github/server.json")

SERVER_SCHEMA = {
    "additionalProperties": False,
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$", "maxLength": 255},
        "packages": {
            "items": {
                "additionalProperties": False,
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"enum": ["pypi"]},
                    "identifier": {"type": "string"},
                    "version": {"type": "string", "minLength": 1, "not": {"const": "latest"}},
                    "runtimeHint": {"type": "string"},
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {
                        "items": {
                            "required": ["type", "value"],
                            "properties": {"type": {"enum": ["positional"]}, "value": {"type": "string"}},
                        }
                    },
                },
            }
        },
    },
}
"""What the schema of the address above, read in November 2026, says of what we use; of nothing else."""

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_HEADERS = {"type": "object", "additionalProperties": _TEXT}


def _only(*required: str, **known: object) -> dict[str, Any]:
    return {"required": list(required), "properties": known, "additionalProperties": False}


SERVER_SCHEMAS = {
    # microsoft/vscode: src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts, which the editor has built in
    # (vscode://schemas/mcp); nowhere else
    "vscode": {
        "oneOf": [
            _only("command", type={"enum": ["stdio"]}, command=_TEXT, args=_TEXTS),
            _only(
                "url",
                type={"enum": ["http", "sse"]},
                url={**_TEXT, "pattern": "^https?://.+"},
                headers=_HEADERS,
            ),
        ]
    },
    # google-gemini/gemini-cli: schemas/settings.schema.json, MCPServerConfig
    "gemini": _only(command=_TEXT, args=_TEXTS, httpUrl=_TEXT, headers=_HEADERS),
    # openai/codex: codex-rs/core/config.schema.json, RawMcpServerConfig
    "codex": _only(command=_TEXT, args=_TEXTS, url=_TEXT, bearer_token_env_var=_TEXT),
    # charmbracelet/crush: schema.json, MCPConfig
    "crush": _only(
        "type",
        type={"enum": ["stdio", "sse", "http"]},
        command=_TEXT,
        args=_TEXTS,
        url={**_TEXT, "format": "uri"},
        headers=_HEADERS,
    ),
}
"""What the clients' own schemas, read in November 2026, say of the keys that we write; all refuse others."""

ENTRY = {"command": "gitrag", "args": ["mcp"]}

OF_PROJECTS = [client for client in CLIENTS if client.file]
OF_USERS = [client for client in CLIENTS if client.user_file]
REMOTE = [client for client in OF_PROJECTS if client.remote]

FILES = [
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    '{"a": 1}',
    '{\n  "a": 1\n}\n',
    '{\n  "a": [1, 2],\n  "t": {}\n}',
    '{"t": {}}',
    '{"t": {\n}}',
    '{"t": { }, "b": null}',
    '{"t": {"x": {"command": "y"}}}',
    '{\n\t"t": {\n\t\t"x": {"command": "y"}\n\t}\n}\n',
    '{\n  "t": {\n    "x": {"command": "y"} // why\n    /* and\n more */\n  }\n}\n',
    '{\n  "t": {\n    "x": {"command": "y"}, // trailing\n  },\n}\n',
    '{\r\n    "t": {\r\n        "x": 1\r\n    },\r\n    "z": "}"\r\n}\r\n',
    "// head\n{\n  // nothing yet\n}\n// foot\n",
    '{\n  "t": {\n    // nothing yet\n  }\n}\n',
    '{"t": {"x": 1,}}',
    '{"t": {"a\\"}b": "// no comment", "c": "/*"}}',
]


@pytest.mark.parametrize("text", FILES)
def test_a_member_is_added_and_taken_out_byte_for_byte(text):
    """The file is the user's: comments and layout stay."""
    after = jsonc.with_member(text, "t", SERVER, ENTRY)
    before = jsonc.parse(text)
    assert jsonc.parse(after) == {**before, "t": {**before.get("t", {}), SERVER: ENTRY}}
    assert jsonc.without(after, "t", SERVER) == text


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_file_that_was_made_goes_again(text):
    after = jsonc.with_member(text, "t", SERVER, ENTRY)
    assert json.loads(after) == {"t": {SERVER: ENTRY}}
    assert jsonc.without(after, "t", SERVER) is None


def test_what_others_added_after_ours_stays():
    text = '{\n  "t": {\n    "gitrag": {},\n    "later": 1\n  }\n}\n'
    assert jsonc.parse(jsonc.without(text, "t", SERVER)) == {"t": {"later": 1}}


def test_strict_json_stays_strict():
    for text in FILES:
        try:
            json.loads(text)
        except ValueError:
            continue
        json.loads(jsonc.with_member(text, "t", SERVER, ENTRY))


@pytest.mark.parametrize(
    "text",
    ["[]", "1", '{"t": 1}', "{", '{"a" 1}', '{"a": 1 "b": 2}', "{} {}", '{"a": tru}', "[" * 200, "{,}"],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(jsonc.NotJsonError):
        jsonc.with_member(text, "t", SERVER, ENTRY)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(), _JSON, max_size=3),
    st.dictionaries(st.text().filter(lambda key: key != SERVER), _JSON, max_size=3) | st.none(),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_json_is_given_back(content, table, indent):
    content.pop("t", None)
    if table is not None:
        content["t"] = table
    text = json.dumps(content, indent=indent)
    after = jsonc.with_member(text, "t", SERVER, ENTRY)
    assert json.loads(after) == {**content, "t": {**(table or {}), SERVER: ENTRY}}
    assert jsonc.without(after, "t", SERVER) == text


# blocks


@pytest.mark.parametrize("text", ["", "a\n", "a", "a\n\n", "a\r\nb\r\n", "a\r\nb", "\n", "a\n\n\n"])
@pytest.mark.parametrize("marks", [MARKDOWN, HASH])
def test_a_block_is_added_and_taken_out_byte_for_byte(text, marks):
    after = with_block(text, marks, "one\ntwo\n")
    assert has_block(after, marks)
    assert with_block(after, marks, "one\ntwo\n") == after
    assert without_block(after, marks) == text


def test_a_block_is_replaced_where_it_stands():
    text = with_block("before\n", HASH, "old") + "after\n"
    changed = with_block(text, HASH, "new\nlines")
    assert changed == text.replace("old", "new\nlines")
    assert without_block(changed, HASH) == "before\nafter\n"


@pytest.mark.parametrize("text", [HASH[0], HASH[1], f"{HASH[1]}\n{HASH[0]}", f"{HASH[0]}\n" * 2 + HASH[1]])
def test_damaged_marks_are_left_alone(text):
    with pytest.raises(DamagedMarksError):
        with_block(text, HASH, "new")


# the whole


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def entry_of(root: Path, client: Client, file: str = "") -> object:
    text = (root / (file or client.file)).read_text()
    read = {Form.TOML: tomllib.loads, Form.YAML: yaml.safe_load, Form.JSON: jsonc.parse}[client.form](text)
    return read[client.table][SERVER]


@pytest.mark.parametrize("client", OF_PROJECTS, ids=lambda client: client.name)
def test_a_client_is_set_up_and_the_repository_is_given_back(client, tmp_path):
    """Its entry, the block, the skills, the strategy; idempotent; removable."""
    (tmp_path / "README.md").write_text("# Project\n")
    before = contents(tmp_path)
    apply(tmp_path, plan(tmp_path, [client]))
    assert entry_of(tmp_path, client) == client.entry
    assert "gitrag search" in (tmp_path / client.guide).read_text()
    for skill in SKILLS:
        text = (tmp_path / client.skills / f"gitrag-{skill}" / "SKILL.md").read_text()
        head = yaml.safe_load(text.split("---")[1])
        assert head["name"] == f"gitrag-{skill}"
        assert 20 < len(head["description"]) <= 1024
    strategy = yaml.safe_load((tmp_path / ".gitrag.yaml").read_text())["search_strategy"]
    assert strategy == {"mode": "hybrid", "rag": {"mcp_tool": "search_code", "reindex_tool": "reindex"}}
    assert not any(step.changes for step in plan(tmp_path, [client]))
    apply(tmp_path, plan(tmp_path, [client], remove=True))
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


SDD = "schema: spec-driven\nstrict_tdd: true\ncontext: |\n  Python\n"


@pytest.mark.parametrize(
    ("text", "mode"),
    [(SDD, "hybrid"), (SDD + "search_strategy:\n  mode: grep\n", "grep"), ("a: &b 1\nc: {\n", None)],
    ids=["silent", "decided", "broken"],
)
def test_a_project_of_specifications_gets_the_strategy_where_its_phases_look(tmp_path: Path, text, mode):
    """What it has decided itself stays, and a file that is no YAML; removed, each is what it was."""
    config = tmp_path / "openspec" / "config.yaml"
    config.parent.mkdir()
    config.write_text(text)
    apply(tmp_path, plan(tmp_path, OF_PROJECTS[:2]))
    if mode is None:
        assert config.read_text() == text
    else:
        read = yaml.safe_load(config.read_text())
        assert read["search_strategy"]["mode"] == mode
        assert read["strict_tdd"] is True
        assert read["context"] == "Python\n"
    apply(tmp_path, plan(tmp_path, OF_PROJECTS[:2], remove=True))
    assert contents(tmp_path) == {"openspec/config.yaml": text.encode()}


@pytest.mark.parametrize("gone", OF_PROJECTS, ids=lambda client: client.name)
def test_what_other_clients_share_stays_when_one_is_taken_out(gone, tmp_path):
    """As if it had never been set up, and after the last one nothing is left."""
    others = [client for client in OF_PROJECTS if client != gone]
    without, both = tmp_path / "without", tmp_path / "both"
    for root, clients in ((without, others), (both, OF_PROJECTS)):
        root.mkdir()
        apply(root, plan(root, clients))
    apply(both, plan(both, [gone], remove=True))
    assert contents(both) == contents(without)
    for client in others:
        apply(both, plan(both, [client], remove=True))
    assert contents(both) == {}


def test_one_file_under_two_names_stays_for_the_other_client(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    claude, codex = chosen(["claude,codex"], tmp_path)
    apply(tmp_path, plan(tmp_path, [claude, codex]))
    apply(tmp_path, plan(tmp_path, [claude], remove=True))
    assert MARKDOWN[0] in (tmp_path / "AGENTS.md").read_text()
    apply(tmp_path, plan(tmp_path, [codex], remove=True))
    assert (tmp_path / "AGENTS.md").read_text() == "# Rules\n"


def test_existing_files_are_given_back_byte_for_byte(tmp_path):
    """With comments, another indentation, no last line end."""
    given = {
        ".mcp.json": '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}',
        ".vscode/mcp.json": '{\n\t// ours\n\t"servers": {\n\t\t"a": {"command": "b"}, // a\n\t},\n}\n',
        ".codex/config.toml": 'model = "m" # best\n\n[mcp_servers.a]\ncommand = "b"',
        ".gemini/settings.json": '\ufeff{"theme": "x"}\r\n',
        "opencode.jsonc": '{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
        "AGENTS.md": "# Rules\n\nBe brief.",
        ".gitrag.yaml": "limit: 5 # enough\n",
    }
    for path, text in given.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    before = contents(tmp_path)
    steps = plan(tmp_path, CLIENTS)
    assert contents(tmp_path) == before  # planning writes nothing
    assert "opencode.json" not in {step.path for step in steps}
    apply(tmp_path, steps)
    assert not any(step.changes for step in plan(tmp_path, CLIENTS))
    assert b"// a" in contents(tmp_path)[".vscode/mcp.json"]
    codex = tomllib.loads((tmp_path / ".codex/config.toml").read_text())
    assert codex == {"model": "m", "mcp_servers": {"a": {"command": "b"}, "gitrag": ENTRY}}
    apply(tmp_path, plan(tmp_path, CLIENTS, remove=True))
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (".mcp.json", '{"mcpServers": {"gitrag": {"command": "mine"}}}', "has an entry gitrag of its own"),
        (".mcp.json", "{", "line 1"),
        (".mcp.json", "[]", "no object"),
        (".codex/config.toml", "mcp_servers = {}\n", "nothing can be added"),
        (".codex/config.toml", "= 1\n", "no TOML"),
        (".gitrag.yaml", "search_strategy: {mode: grep}\n", "says search_strategy itself"),
        (".gitrag.yaml", "{limit: 5}\n", "nothing can be added"),
        ("AGENTS.md", "<!-- gitrag:start -->\n", "marks"),
        (".agents/skills/gitrag-search/SKILL.md", "mine\n", "not gitrag's"),
    ],
)
def test_what_is_not_ours_to_change_is_left_alone_and_said(tmp_path, path, text, why):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    for remove in (False, True):
        steps = {step.path: step for step in plan(tmp_path, CLIENTS, remove=remove)}
        assert not steps[path].changes
        if not remove:
            assert why in steps[path].note
    apply(tmp_path, plan(tmp_path, CLIENTS))
    assert (tmp_path / path).read_text() == text


def test_a_link_between_guides_is_followed_once(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    apply(tmp_path, plan(tmp_path, CLIENTS))
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert (tmp_path / "AGENTS.md").read_text().count(MARKDOWN[0]) == 1


def test_no_link_leads_out_of_the_repository(tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "repo"
    outside.mkdir()
    root.mkdir()
    (root / ".cursor").symlink_to(outside)
    steps = plan(root, CLIENTS)
    apply(root, steps)
    assert list(outside.iterdir()) == []
    assert {step.note for step in steps if step.path == ".cursor/mcp.json"} == {
        "it leads out of the repository"
    }


def test_clients_are_chosen_by_name_or_by_their_traces(tmp_path):
    def names(*given: str) -> list[str]:
        return [client.name for client in chosen(given, tmp_path)]

    every = [client.name for client in OF_PROJECTS]
    assert names("all") == every
    assert names() == []
    assert names("codex,claude", "gemini") == ["claude", "codex", "gemini"]
    (tmp_path / ".cursor").mkdir()
    assert names() == ["cursor"]
    with pytest.raises(UsageError, match="no agent"):
        names("emacs")
    with pytest.raises(UsageError, match="from the user's file only"):
        names("goose")


def test_the_block_is_ten_lines_and_begins_with_an_order():
    """It is short: every session reads it."""
    guide = (TOP / "gitrag/agents/texts/guide.md").read_text()
    assert len(with_block("", MARKDOWN, guide).strip().split("\n")) <= 12
    for text in (guide, INSTRUCTIONS):
        first = text.partition("\n")[0]
        assert "rder of preference" in first
        assert "subagents" in first
        assert text.index("search_code") < text.index("check") < text.index("grep")


# what is published for clients; `tests/e2e/agents/test_install.py` gives it to those that are here


def published(name: str) -> Any:
    return json.loads((TOP / name).read_text())


def test_what_is_published_is_of_this_version_and_names_files_that_are_there():
    plugin, extension, server = map(published, PUBLISHED)
    versions = [plugin["version"], extension["version"], server["version"], server["packages"][0]["version"]]
    assert versions == [__version__] * 4
    assert {path.name for path in (TOP / plugin["skills"]).glob("*/SKILL.md")} == {"SKILL.md"}
    assert (TOP / extension["contextFileName"]).is_file()
    (offered,) = published(".claude-plugin/marketplace.json")["plugins"]
    assert (TOP / offered["source"] / ".claude-plugin/plugin.json").is_file()
    for each in (plugin, extension):
        assert is_ours((each["mcpServers"][SERVER]["command"], *each["mcpServers"][SERVER]["args"]))


def test_the_registry_takes_what_is_said_of_the_server():
    jsonschema.validate(published(".github/server.json"), SERVER_SCHEMA)


@pytest.mark.parametrize("name", SERVER_SCHEMAS)
def test_a_client_takes_what_is_written_of_the_server(name: str):
    (client,) = (each for each in CLIENTS if each.name == name)
    at = client.at("http://127.0.0.1:8377/mcp", "TOKEN")
    started = client.started_by(["/usr/bin/gitrag", "mcp"])
    for each in (client, at, started):
        jsonschema.validate(each.entry, SERVER_SCHEMAS[name], format_checker=jsonschema.FormatChecker())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**client.entry, "cmd": "gitrag"}, SERVER_SCHEMAS[name])


def test_a_session_begins_with_what_is_primed_and_never_fails(tmp_path: Path):
    (start,) = published(".claude-plugin/plugin.json")["hooks"]["SessionStart"]
    (hook,) = start["hooks"]
    program = tmp_path / "gitrag"
    program.write_text('#!/bin/sh\necho "$*"\necho trouble >&2\nexit 78\n')
    program.chmod(0o755)
    for place, said in ((tmp_path, "prime\n"), (tmp_path / "empty", "")):
        path = f"{place}{os.pathsep}/usr/bin{os.pathsep}/bin"
        done = subprocess.run(
            ["sh", "-c", hook["command"]], env={"PATH": path}, capture_output=True, text=True, check=True
        )
        assert (done.stdout, done.stderr) == (said, "")


def test_a_hint_before_grep_is_given_only_to_who_wants_it():
    (before,) = published(".claude-plugin/plugin.json")["hooks"]["PreToolUse"]
    (hook,) = before["hooks"]
    assert before["matcher"] == "Grep"
    for wanted, said in (
        ({}, False),
        ({"GITRAG_GREP_HINT": "off"}, False),
        ({"GITRAG_GREP_HINT": "on"}, True),
    ):
        done = subprocess.run(
            ["sh", "-c", hook["command"]], env=wanted, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        if said:
            own = json.loads(done.stdout)["hookSpecificOutput"]
            assert own["hookEventName"] == "PreToolUse"
            assert "search_code" in own["additionalContext"]
        else:
            assert done.stdout == ""


@pytest.mark.parametrize("client", REMOTE, ids=lambda client: client.name)
def test_a_client_is_given_an_address_and_the_name_of_its_token_s_variable(client: Client, tmp_path: Path):
    """The file is the project's, and shared: the token itself is never in it."""
    remote = client.at("http://127.0.0.1:8377/mcp", "MY_TOKEN")
    apply(tmp_path, plan(tmp_path, [remote]))
    text = (tmp_path / client.file).read_text()
    assert "http://127.0.0.1:8377/mcp" in text
    assert "MY_TOKEN" in text
    assert not [step for step in plan(tmp_path, [remote]) if step.changes]
    apply(tmp_path, plan(tmp_path, [client], remove=True))
    assert not (tmp_path / client.file).exists(), "it is known for ours without its address"


# the user's own files

COMMANDS = [
    ("gitrag", "mcp"),
    ("/opt/bin/gitrag", "mcp"),
    ("uvx", "gitrag", "mcp"),
    ("/b/uvx", "gitrag", "mcp"),
]


@pytest.mark.parametrize("client", OF_USERS, ids=lambda client: client.name)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_user_s_file_gets_our_entry_alone_and_is_given_back(client: Client, command, tmp_path: Path):
    (tmp_path / "notes").write_text("mine")
    before = contents(tmp_path)
    own = client.started_by(command)
    apply(tmp_path, plan_of_user(tmp_path, [own]), private=True)
    assert contents(tmp_path).keys() == {"notes", client.user_file}
    assert entry_of(tmp_path, client, client.user_file) == own.entry
    assert client.command_in(own.entry) == command
    assert commands_set_up(None, tmp_path) == [(f"{client.name} (user)", command)]
    assert stat.S_IMODE((tmp_path / client.user_file).stat().st_mode) == 0o600
    assert not any(step.changes for step in plan_of_user(tmp_path, [own]))
    apply(tmp_path, plan_of_user(tmp_path, [client], remove=True), private=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("client", OF_USERS, ids=lambda client: client.name)
def test_an_entry_of_ours_gets_the_command_of_today(client: Client, tmp_path: Path):
    """gitrag has moved since."""
    for command in COMMANDS:
        apply(tmp_path, plan_of_user(tmp_path, [client.started_by(command)]))
        assert entry_of(tmp_path, client, client.user_file) == client.started_by(command).entry


USERS_FILES = {
    ".claude.json": '{"numStartups": 7, "mcpServers": {"a": {"command": "b"}}, "projects": {"/p": {}}}',
    ".codex/config.toml": 'model = "m"\n',
    ".config/zed/settings.json": '// mine\n{\n  "theme": "One Dark", // dark\n  "context_servers": {},\n}\n',
    ".config/amp/settings.json": '{\n\t"amp.url": "x"\n}',
    ".config/goose/config.yaml": "GOOSE_MODEL: m # best\nextensions:\n    x:\n        enabled: true\n",
    ".qwen/settings.json": '{"mcpServers": {}}\r\n',
}


def test_a_user_s_files_keep_every_other_byte_link_and_permission(tmp_path: Path):
    home, dotfiles = tmp_path / "home", tmp_path / "home" / "dotfiles"
    for path, text in USERS_FILES.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
        (home / path).chmod(0o640)
    dotfiles.mkdir()
    (home / ".codex/config.toml").rename(dotfiles / "codex.toml")
    (home / ".codex/config.toml").symlink_to("../dotfiles/codex.toml")
    before = contents(home)
    found = chosen_of_user([], home)
    assert {client.user_file for client in found} == USERS_FILES.keys()
    apply(home, plan_of_user(home, found), private=True)
    for client in found:
        assert entry_of(home, client, client.user_file) == client.entry
        assert stat.S_IMODE((home / client.user_file).stat().st_mode) == 0o640
    assert (home / ".codex/config.toml").is_symlink()
    assert b"// dark" in contents(home)[".config/zed/settings.json"]
    assert b"# best" in contents(home)[".config/goose/config.yaml"]
    apply(home, plan_of_user(home, found, remove=True), private=True)
    assert contents(home) == before


def test_no_link_leads_out_of_the_home_directory(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "elsewhere.json").write_text("{}")
    (home / ".claude.json").symlink_to(tmp_path / "elsewhere.json")
    [step] = plan_of_user(home, chosen_of_user(["claude"], home))
    assert (step.changes, step.note) == (False, "it leads out of your home directory")


def test_what_was_written_meanwhile_is_not_lost(tmp_path: Path):
    """Clients write their files too."""
    steps = plan_of_user(tmp_path, chosen_of_user(["claude"], tmp_path))
    (tmp_path / ".claude.json").write_text('{"numStartups": 8}')
    with pytest.raises(StoreError, match="changed by another program"):
        apply(tmp_path, steps)
    assert (tmp_path / ".claude.json").read_text() == '{"numStartups": 8}'


def test_without_any_client_one_must_be_named(tmp_path: Path):
    with pytest.raises(UsageError, match="No client's configuration is found"):
        chosen_of_user([], tmp_path)
    assert [client.name for client in chosen_of_user(["zed"], tmp_path)] == ["zed"]


YAML_FILES = [
    "",
    "a: 1\n",
    "a: 1",
    "extensions:\n",
    "extensions:\n  x:\n    enabled: true\nb: 2\n",
    "# head\nextensions: # ours\n\n    # first\n    x: {enabled: true}\n",
    "b:\r\n  - 1\r\nextensions:\r\n  x:\r\n    n: 1\r\n",
    "extensions:\n  x: 1",
    "text: |\n  extensions:\n    no\nextensions:\n  x: 1\n",
]


@pytest.mark.parametrize("text", YAML_FILES)
def test_a_yaml_entry_is_added_and_taken_out_byte_for_byte(text: str):
    after = text_blocks.with_entry(text, "extensions", SERVER, {"cmd": "gitrag", "args": ["mcp"]})
    before = yaml.safe_load(text) or {}
    table = {**(before.get("extensions") or {}), SERVER: {"cmd": "gitrag", "args": ["mcp"]}}
    assert yaml.safe_load(after) == {**before, "extensions": table}
    assert text_blocks.with_entry(after, "extensions", SERVER, {"cmd": "x"}) != after
    assert text_blocks.without_entry(after) == text


@pytest.mark.parametrize("text", ["extensions: {x: 1}\n", "- 1\n", "a: [\n", "{extensions: {}}\n"])
def test_yaml_that_takes_no_line_is_refused(text: str):
    with pytest.raises(text_blocks.NotYamlError):
        text_blocks.with_entry(text, "extensions", SERVER, {"cmd": "x"})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".codex/config.toml", "a = " + "[" * 30_000),
        (".mcp.json", '{"mcpServers": ' + "[" * 30_000),
        (".mcp.json", '{"mcpServers": {"gitrag": {"type": "stdio", "command": ["x"], "args": 3}}}'),
        (".mcp.json", '{"mcpServers": {"gitrag": {"type": "stdio", "command": "sh", "args": ["-c", "x"]}}}'),
        (
            ".zed/settings.json",
            '{"context_servers": {"gitrag": {"command": "gitrag", "args": ["mcp"], "env": {}}}}',
        ),
        (".config/goose/config.yaml", "a: " + "[" * 3_000),
        (".config/goose/config.yaml", "extensions: {gitrag: {cmd: gitrag}}"),
    ],
)
def test_what_a_stranger_wrote_starts_nothing(tmp_path: Path, path: str, text: str):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    assert commands_set_up(tmp_path, tmp_path) == []
    for client in CLIENTS:  # and what cannot be read is left alone
        steps = plan(tmp_path, [client]) if client.file else plan_of_user(tmp_path, [client])
        assert not any(step.changes for step in steps if step.path == path)


# the command


def program(place: Path, name: str) -> str:
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("#!/bin/sh\n")
    (place / name).chmod(0o755)
    return str(place)


def test_the_command_is_one_that_starts(tmp_path: Path):
    """On PATH by its name where others read the file; uvx's own environments do not last."""
    own = str(Path(sys.executable).with_name("gitrag"))
    bin_, uv = program(tmp_path / "bin", "gitrag"), program(tmp_path / "uv", "uvx")
    cached = program(tmp_path / "cache" / "archive-v0" / "x" / "bin", "gitrag")

    def both(*places: str) -> list[tuple[str, ...]]:
        environ = {"PATH": os.pathsep.join(places)}
        return [command_for(environ, shared=shared) for shared in (True, False)]

    assert both(bin_, uv) == [("gitrag", "mcp"), (f"{bin_}/gitrag", "mcp")]
    assert both(cached, uv) == [("uvx", "gitrag", "mcp"), (own, "mcp")]
    assert both("/nowhere") == [(own, "mcp")] * 2
    assert all(map(is_ours, [*both(bin_), *both(cached, uv), *both("/nowhere")]))


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("gitrag",),
        ("sh", "-c", "x"),
        ("./gitrag", "mcp"),
        ("/x/gitrag", "mcp", "--http"),
        ("/x/y", "mcp"),
    ],
)
def test_another_command_is_not_ours(command: tuple[str, ...]):
    """`gitrag doctor` starts none of these."""
    assert not is_ours(command)
