"""The clients that gitrag sets up: a table. Each lists its MCP servers under its own key of its own file.

Checked in November 2026 against their documentation (file and key; skills):

- claude: code.claude.com/docs/en/mcp; code.claude.com/docs/en/skills
- codex: developers.openai.com/codex/mcp (projects it trusts only); developers.openai.com/codex/skills
- cursor: cursor.com/docs/mcp; cursor.com/docs/skills
- vscode: code.visualstudio.com/docs/agents/reference/mcp-configuration;
  code.visualstudio.com/docs/agent-customization/agent-skills
- gemini: geminicli.com/docs/tools/mcp-server (folders it trusts only); geminicli.com/docs/cli/skills
- opencode: opencode.ai/v1/docs/mcp-servers; opencode.ai/docs/skills. OpenCode 2 keeps servers under
  ``mcp.servers`` but reads this form too (opencode.ai/docs/migrate-v1); OpenCode 1 refuses the other.

Tested: OpenCode 1.18 and Gemini CLI 0.61 connect with what is written, Codex and Claude Code list it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

SERVER = "gitrag"
"""The server's name in every client."""

_COMMAND = ("gitrag", "mcp")


class Form(StrEnum):
    """The format of a client's file."""

    JSON = "json"  # comments are accepted, but none are written
    TOML = "toml"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that runs agents.

    Attributes:
        name: What ``--agents`` calls it.
        file: The file that configures its servers for a project.
        table: The key that holds the servers.
        entry: The entry for our server.
        guide: The file of instructions that it reads at the start of a session.
        skills: The directory of its skills.
        traces: Files and directories that show that it is used here.
        form: The format of its file.
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
    remote: Mapping[str, object] = field(default_factory=dict, hash=False)

    def at(self, url: str, variable: str) -> Client:
        """Return the client with the entry for a server at a URL and the variable that holds its token."""
        return replace(self, entry=_filled(self.remote, {"URL": url, "NAME": variable}))

    def wrote(self, own: object) -> bool:
        """Return whether gitrag wrote an entry, for any URL and variable."""
        return own == self.entry or own == self._plain() or bool(self.remote and _alike(self.remote, own))

    def _plain(self) -> Mapping[str, object]:
        return next(client.entry for client in CLIENTS if client.name == self.name)


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


_PLAIN: Mapping[str, object] = {"command": _COMMAND[0], "args": list(_COMMAND[1:])}
_STDIO: Mapping[str, object] = {"type": "stdio", **_PLAIN}
_LOCAL: Mapping[str, object] = {"type": "local", "command": list(_COMMAND), "enabled": True}


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
        remote=_http("${NAME}", type="http", url="URL"),
    ),
    Client(
        "codex",
        ".codex/config.toml",
        "mcp_servers",
        _PLAIN,
        traces=(".codex",),
        form=Form.TOML,
        remote={"url": "URL", "bearer_token_env_var": "NAME"},
    ),
    Client(
        "cursor",
        ".cursor/mcp.json",
        "mcpServers",
        _STDIO,
        traces=(".cursor", ".cursorrules"),
        remote=_http("${env:NAME}", url="URL"),
    ),
    Client(
        "vscode",
        ".vscode/mcp.json",
        "servers",
        _STDIO,
        traces=(".vscode", ".github/copilot-instructions.md"),
        remote=_http("${env:NAME}", type="http", url="URL"),
    ),
    Client(
        "gemini",
        ".gemini/settings.json",
        "mcpServers",
        _PLAIN,
        guide="GEMINI.md",
        traces=(".gemini", "GEMINI.md"),
        remote=_http("$NAME", httpUrl="URL"),
    ),
    Client(
        "opencode",
        "opencode.json",
        "mcp",
        _LOCAL,
        traces=("opencode.json", "opencode.jsonc", ".opencode"),
        remote=_http("{env:NAME}", type="remote", url="URL", enabled=True),
    ),
)
"""Every client, in the order in which help lists them."""

ALTERNATIVES: Mapping[str, str] = {"opencode.json": "opencode.jsonc"}
"""Other names that a client's file may have; the existing file is used."""
