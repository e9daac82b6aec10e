"""The clients that gitrag sets up: a table. Each keeps its servers under its own key of its own file.

Checked in November 2026 against their documentation (file and key; skills):

- claude: code.claude.com/docs/en/mcp; code.claude.com/docs/en/skills
- codex: developers.openai.com/codex/mcp (projects it trusts only); developers.openai.com/codex/skills
- cursor: cursor.com/docs/mcp; cursor.com/docs/skills
- vscode: code.visualstudio.com/docs/agents/reference/mcp-configuration;
  code.visualstudio.com/docs/agent-customization/agent-skills
- gemini: geminicli.com/docs/tools/mcp-server (folders it trusts only); geminicli.com/docs/cli/skills
- opencode: opencode.ai/v1/docs/mcp-servers; opencode.ai/docs/skills. OpenCode 2 keeps servers under
  ``mcp.servers`` but reads this form too (opencode.ai/docs/migrate-v1); OpenCode 1 refuses the other.

Run as well: OpenCode 1.18 and Gemini CLI 0.61 connect with what is written, Codex and Claude Code list it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SERVER = "gitrag"
"""What the server is called in every client."""

_COMMAND = ("gitrag", "mcp")


class Form(StrEnum):
    """How a client's file is written."""

    JSON = "json"  # comments are tolerated in reading; none are written
    TOML = "toml"


@dataclass(frozen=True, slots=True)
class Client:
    """An agent's host.

    Attributes:
        name: What ``--agents`` calls it.
        file: Its project's configuration of servers.
        table: The key that they are under.
        entry: What is written for ours.
        guide: The file of instructions that it reads at a session's start.
        skills: The directory of skills that it looks into.
        traces: Files and directories that tell that it is used here.
        form: How its file is written.
    """

    name: str
    file: str
    table: str
    entry: Mapping[str, object] = field(hash=False)
    guide: str = "AGENTS.md"
    skills: str = ".agents/skills"
    traces: tuple[str, ...] = ()
    form: Form = Form.JSON


_PLAIN: Mapping[str, object] = {"command": _COMMAND[0], "args": list(_COMMAND[1:])}
_STDIO: Mapping[str, object] = {"type": "stdio", **_PLAIN}
_LOCAL: Mapping[str, object] = {"type": "local", "command": list(_COMMAND), "enabled": True}

CLIENTS: tuple[Client, ...] = (
    Client(
        "claude",
        ".mcp.json",
        "mcpServers",
        _STDIO,
        guide="CLAUDE.md",
        skills=".claude/skills",
        traces=(".claude", "CLAUDE.md", ".mcp.json"),
    ),
    Client("codex", ".codex/config.toml", "mcp_servers", _PLAIN, traces=(".codex",), form=Form.TOML),
    Client("cursor", ".cursor/mcp.json", "mcpServers", _STDIO, traces=(".cursor", ".cursorrules")),
    Client(
        "vscode", ".vscode/mcp.json", "servers", _STDIO, traces=(".vscode", ".github/copilot-instructions.md")
    ),
    Client(
        "gemini",
        ".gemini/settings.json",
        "mcpServers",
        _PLAIN,
        guide="GEMINI.md",
        traces=(".gemini", "GEMINI.md"),
    ),
    Client(
        "opencode", "opencode.json", "mcp", _LOCAL, traces=("opencode.json", "opencode.jsonc", ".opencode")
    ),
)
"""Every client, in the order of help."""

ALTERNATIVES: Mapping[str, str] = {"opencode.json": "opencode.jsonc"}
"""Another name that a client's file may have; the one that is there is used."""
