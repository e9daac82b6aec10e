"""What does the list of tools cost an agent, before it has asked anything?

    .venv/bin/python scripts/bench/agent_tokens.py [REPOSITORY]

Starts `gitrag mcp` as a client does, with all tools and with `--tools core`, and counts the reply to
`tools/list`, as it is sent. A token is four characters, as in `scripts/bench/agent.py`. Printed are, of each
tool, its description, the schema of its arguments, that of its output and its hints; then the whole list, and
the server's instructions. REPOSITORY is any git repository, this one by default; it is not indexed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
from agent import tokens_of
from mcp import Client, StdioServerParameters
from mcp_types import Tool

PARTS = ("description", "inputSchema", "outputSchema", "annotations")
GITRAG = Path(sys.executable).with_name("gitrag")
HERE = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print the tables."""
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for arguments in ((), ("--tools", "core")):
        tools, instructions = anyio.run(listed, place, arguments)
        print(" ".join(["gitrag mcp", *arguments]))
        print(f"{'':18}" + "".join(f"{part:>14}" for part in (*PARTS, "all")))
        for tool in tools:
            counts = [tokens_of(text_of(tool.get(part))) for part in PARTS]
            print(
                f"{tool['name']:18}" + "".join(f"{count:14}" for count in (*counts, tokens_of(text_of(tool))))
            )
        print(f"{len(tools)} tools: {tokens_of(text_of({'tools': tools}))} tokens")
        print(f"instructions: {tokens_of(instructions)} tokens\n")


async def listed(place: Path, arguments: Sequence[str]) -> tuple[list[dict[str, object]], str]:
    """Return a server's tools, as they are sent, and its instructions."""
    server = StdioServerParameters(command=str(GITRAG), args=["mcp", *arguments], cwd=str(place))
    async with Client(server) as client:
        found: list[Tool] = (await client.list_tools()).tools
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found]
        return tools, client.instructions or ""


def text_of(value: object) -> str:
    """Write a part of the reply as the server does."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    main()
