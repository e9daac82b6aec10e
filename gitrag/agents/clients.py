"""The clients that gitrag sets up: a table. Each lists its MCP servers under its own key of its own files.

Checked in November 2026 against their documentation (files and key; skills):

- claude: code.claude.com/docs/en/mcp; code.claude.com/docs/en/skills
- codex: developers.openai.com/codex/mcp (projects it trusts only); developers.openai.com/codex/skills
- cursor: cursor.com/docs/mcp; cursor.com/docs/skills
- vscode: code.visualstudio.com/docs/agents/reference/mcp-configuration;
  code.visualstudio.com/docs/agent-customization/agent-skills
- gemini: geminicli.com/docs/tools/mcp-server (folders it trusts only); geminicli.com/docs/cli/skills
- opencode: opencode.ai/v1/docs/mcp-servers; opencode.ai/docs/skills. OpenCode 2 keeps servers under
  ``mcp.servers`` but reads this form too (opencode.ai/docs/migrate-v1); OpenCode 1 refuses the other.
- windsurf: docs.windsurf.com/windsurf/cascade/mcp (the user's file only)
- zed: zed.dev/docs/ai/mcp; zed.dev/docs/configuring-zed (settings of a project, of the user)
- qwen: qwenlm.github.io/qwen-code-docs/en/users/features/mcp
- goose: block.github.io/goose/docs/getting-started/using-extensions (the user's file only)
- crush: github.com/charmbracelet/crush (README: Configuration, MCPs)
- amp: ampcode.com/manual (Configuration, MCP)

Tested: Claude Code 2.1, OpenCode 1.18 and Qwen Code 0.24 connect with what is written, Codex 0.171, Gemini
CLI 0.61 and Amp of September 2026 list it. Cursor, VS Code, Windsurf, Zed, Goose and Crush were not run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

from gitrag.machine.environment import safe_environment

PLAIN = ("gitrag", "mcp")
BY_UVX = ("uvx", "gitrag", "mcp")

_CACHED = ("archive-v", "environments-v", "builds-v")
"""Beginnings of the folders in uv's cache that hold the environments of `uvx`: they may go at any time."""


def command_for(environ: Mapping[str, str], *, shared: bool) -> tuple[str, ...]:
    """Return the command for a client's file.

    Args:
        shared: Whether others read the file, who have gitrag elsewhere: then no path of this machine is in
            it, unless nothing else starts here. A file of the user's own gets absolute paths: programs with
            a window often have another PATH than terminals.
    """
    path = safe_environment(environ)["PATH"]
    on_path = _lasting(shutil.which("gitrag", path=path))
    own = _lasting(str(Path(sys.executable).with_name("gitrag")))
    uvx = shutil.which("uvx", path=path)
    if shared and on_path:
        return PLAIN
    if shared and uvx:
        return BY_UVX
    if place := on_path or own:
        return (place, *PLAIN[1:])
    return (uvx, *BY_UVX[1:]) if uvx else BY_UVX


def is_ours(command: tuple[str, ...]) -> bool:
    """Return whether a command is one that `command_for` returns here or elsewhere."""
    if command in {PLAIN, BY_UVX}:
        return True
    program = Path(command[0]) if command else Path()
    return program.is_absolute() and (program.name, *command[1:]) in {PLAIN, BY_UVX}


def _lasting(program: str | None) -> str | None:
    """Return a program unless it is missing, or in an environment that uv made for one run."""
    if program is None or not os.access(program, os.X_OK):
        return None
    folders = Path(program).absolute().parts
    return None if any(each.startswith(_CACHED) for each in folders) else program


SERVER = "gitrag"
"""The server's name in every client."""


class Form(StrEnum):
    """The format of a client's file."""

    JSON = "json"  # comments are accepted, but none are written
    TOML = "toml"
    YAML = "yaml"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that runs agents.

    Attributes:
        name: What ``--agents`` calls it.
        file: The file that configures its servers for a project; empty if only the user's can.
        table: The key that holds the servers.
        guide: The file of instructions that it reads at the start of a session.
        traces: Files and directories that show that it is used here.
        user_file: The file that configures them for a user, relative to the home directory, where it is by
            default: ``XDG_CONFIG_HOME`` is not looked at.
        remote: The entry for a server at a URL, with the placeholders ``URL``, and ``NAME`` for the
            environment variable that holds the token.
    """

    name: str
    file: str
    table: str
    entry: Mapping[str, object] = field(hash=False)
    guide: str = "AGENTS.md"
    skills: str = ".agents/skills"
    traces: tuple[str, ...] = ()
    form: Form = Form.JSON
    user_file: str = ""
    remote: Mapping[str, object] = field(default_factory=dict, hash=False)

    def at(self, url: str, variable: str) -> Client:
        """Return the client with the entry for a server at a URL and the variable that holds its token."""
        return replace(self, entry=_filled(self.remote, {"URL": url, "NAME": variable}))

    def started_by(self, command: Sequence[str]) -> Client:
        """Return the client with the entry for a server that it starts with a command."""
        entry = dict(self._plain())
        key = "cmd" if "cmd" in entry else "command"
        whole = isinstance(entry[key], list)
        entry[key] = list(command) if whole else command[0]
        return replace(self, entry=entry if whole else {**entry, "args": list(command[1:])})

    def command_in(self, own: object) -> tuple[str, ...]:
        """Return the command of an entry that gitrag wrote; empty for any other entry."""
        if not isinstance(own, Mapping):
            return ()
        program = own.get("cmd", own.get("command"))
        parts = program if isinstance(program, list) else [program, *_list(own.get("args"))]
        command = tuple(part for part in parts if isinstance(part, str))
        return command if is_ours(command) and own == self.started_by(command).entry else ()

    def wrote(self, own: object) -> bool:
        """Return whether gitrag wrote an entry, for any command, URL and variable."""
        ours = own == self.entry or bool(self.command_in(own))
        return ours or bool(self.remote and _alike(self.remote, own))

    def _plain(self) -> Mapping[str, object]:
        return next(client.entry for client in CLIENTS if client.name == self.name)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _filled(form: Mapping[str, object], values: Mapping[str, str]) -> dict[str, object]:
    filled: dict[str, object] = {}
    for key, value in form.items():
        if isinstance(value, Mapping):
            filled[key] = _filled(value, values)
        elif isinstance(value, str):
            for mark, text in values.items():
                value = value.replace(mark, text)  # noqa: PLW2901 - one after the other
            filled[key] = value
        else:
            filled[key] = value
    return filled


def _alike(form: object, own: object) -> bool:
    if isinstance(form, Mapping):
        return (
            isinstance(own, Mapping)
            and form.keys() == own.keys()
            and all(_alike(value, own[key]) for key, value in form.items())
        )
    if isinstance(form, str) and isinstance(own, str):
        pattern = re.escape(form).replace("URL", r"http://\S+").replace("NAME", r"[A-Za-z_]\w*")
        return re.fullmatch(pattern, own) is not None
    return form == own


_PLAIN: Mapping[str, object] = {"command": PLAIN[0], "args": list(PLAIN[1:])}
_STDIO: Mapping[str, object] = {"type": "stdio", **_PLAIN}
_LOCAL: Mapping[str, object] = {"type": "local", "command": list(PLAIN), "enabled": True}
_GOOSE: Mapping[str, object] = {
    "name": SERVER,
    "type": "stdio",
    "enabled": True,
    "cmd": PLAIN[0],
    "args": list(PLAIN[1:]),
    "timeout": 300,
}

_CODE_USER = "Library/Application Support/Code/User" if sys.platform == "darwin" else ".config/Code/User"


def _http(variable: str, **rest: object) -> Mapping[str, object]:
    return {**rest, "headers": {"Authorization": f"Bearer {variable}"}}


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude",
        ".mcp.json",
        "mcpServers",
        _STDIO,
        guide="CLAUDE.md",
        skills=".claude/skills",
        traces=(".claude", "CLAUDE.md", ".mcp.json"),
        user_file=".claude.json",
        remote=_http("${NAME}", type="http", url="URL"),
    ),
    Client(
        "codex",
        ".codex/config.toml",
        "mcp_servers",
        _PLAIN,
        traces=(".codex",),
        user_file=".codex/config.toml",
        form=Form.TOML,
        remote={"url": "URL", "bearer_token_env_var": "NAME"},
    ),
    Client(
        "cursor",
        ".cursor/mcp.json",
        "mcpServers",
        _STDIO,
        traces=(".cursor", ".cursorrules"),
        user_file=".cursor/mcp.json",
        remote=_http("${env:NAME}", url="URL"),
    ),
    Client(
        "vscode",
        ".vscode/mcp.json",
        "servers",
        _STDIO,
        traces=(".vscode", ".github/copilot-instructions.md"),
        user_file=f"{_CODE_USER}/mcp.json",
        remote=_http("${env:NAME}", type="http", url="URL"),
    ),
    Client(
        "gemini",
        ".gemini/settings.json",
        "mcpServers",
        _PLAIN,
        guide="GEMINI.md",
        traces=(".gemini", "GEMINI.md"),
        user_file=".gemini/settings.json",
        remote=_http("$NAME", httpUrl="URL"),
    ),
    Client(
        "opencode",
        "opencode.json",
        "mcp",
        _LOCAL,
        traces=("opencode.json", "opencode.jsonc", ".opencode"),
        user_file=".config/opencode/opencode.json",
        remote=_http("{env:NAME}", type="remote", url="URL", enabled=True),
    ),
    Client(
        "windsurf",
        "",
        "mcpServers",
        _PLAIN,
        traces=(".windsurf", ".windsurfrules"),
        user_file=".codeium/windsurf/mcp_config.json",
    ),
    Client(
        "zed",
        ".zed/settings.json",
        "context_servers",
        _PLAIN,
        traces=(".zed",),
        user_file=".config/zed/settings.json",  # no variable may stand in the headers of a remote server
    ),
    Client(
        "qwen",
        ".qwen/settings.json",
        "mcpServers",
        _PLAIN,
        guide="QWEN.md",
        skills=".qwen/skills",
        traces=(".qwen", "QWEN.md"),
        user_file=".qwen/settings.json",
        remote=_http("$NAME", httpUrl="URL"),
    ),
    Client(
        "goose",
        "",
        "extensions",
        _GOOSE,
        traces=(".goosehints",),
        form=Form.YAML,
        user_file=".config/goose/config.yaml",
    ),
    Client(
        "crush",
        "crush.json",
        "mcp",
        _STDIO,
        traces=("crush.json", ".crush.json", ".crush", "CRUSH.md"),
        user_file=".config/crush/crush.json",
        remote=_http("$NAME", type="http", url="URL"),
    ),
    Client(
        "amp",
        ".amp/settings.json",
        "amp.mcpServers",
        _PLAIN,
        traces=(".amp",),
        user_file=".config/amp/settings.json",
        remote=_http("${NAME}", url="URL"),
    ),
)
"""Every client, in the order in which help lists them."""

ALTERNATIVES: Mapping[str, str] = {
    "opencode.json": "opencode.jsonc",
    ".config/opencode/opencode.json": ".config/opencode/opencode.jsonc",
    "crush.json": ".crush.json",
}
"""Other names that a client's file may have; the existing file is used."""


_LIMIT_S = 60.0
"""For a start on a loaded machine; `uvx` may have to install first."""

_MOST_BYTES = 1 << 20

_INITIALISE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "gitrag doctor", "version": "1"},
}


class TrialError(Exception):
    """The server does not start, or gives no answer; the text says why."""


def ask_server(command: Sequence[str], place: Path, environ: Mapping[str, str]) -> str:
    """Start a server on standard streams, ask it for the status of the index, and end it.

    Returns:
        The first line of its answer.

    Raises:
        TrialError: There is none.
    """
    try:
        running = subprocess.Popen(
            list(command),
            cwd=place,
            env=safe_environment(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise TrialError(f"{command[0]} does not start: {error.strerror}") from error
    late = threading.Timer(_LIMIT_S, running.kill)
    late.daemon = True
    late.start()
    try:
        with running:
            return _asked(running)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise TrialError(f"{' '.join(command)} gives no answer") from error
    finally:
        late.cancel()
        running.kill()


def _asked(running: subprocess.Popen[bytes]) -> str:
    assert running.stdin is not None  # noqa: S101 - a pipe, as opened
    assert running.stdout is not None  # noqa: S101 - likewise
    _send(running.stdin, {"id": 1, "method": "initialize", "params": _INITIALISE})
    _answer(running.stdout, 1)
    _send(running.stdin, {"method": "notifications/initialized"})
    _send(running.stdin, {"id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}})
    text = _answer(running.stdout, 2)["content"][0]["text"]
    running.stdin.close()
    return str(text).partition("\n")[0]


def _send(pipe: IO[bytes], message: Mapping[str, object]) -> None:
    pipe.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    pipe.flush()


def _answer(pipe: IO[bytes], number: int) -> dict[str, list[dict[str, str]]]:
    while line := pipe.readline(_MOST_BYTES):
        message = json.loads(line)
        if message.get("id") == number:
            result: dict[str, list[dict[str, str]]] = message["result"]
            return result
    raise OSError(os.strerror(32))  # it has ended
