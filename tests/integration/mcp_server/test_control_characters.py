"""What files hold comes to an agent as text, with nothing in it that a terminal obeys or that reorders it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client

from gitrag.mcp_server.server import build
from gitrag.mcp_server.workbench import Workbench

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200f\x00"
FAITHFUL = "\tdef größe(π, 名前): return '👩\u200d💻 — ok'"
SOURCE = f"def widget():\n    # {HOSTILE}\n{FAITHFUL}\n"
RAW = {char for char in HOSTILE if not char.isprintable()} - set("\t\n")


@pytest.fixture
def bench(make_repository, git_environment, tmp_path) -> Workbench:
    sources = {
        "widget.py": SOURCE.replace("\x00", ""),
        "long.py": "".join(f"def f{i}(a='{HOSTILE[:4]}'):\n    pass\n" for i in range(99)),
        "docs/adrs/ADR-0001-x.md": f"# ADR-0001: X{HOSTILE[:4]}\n",
    }
    repository = make_repository(sources)
    return Workbench(repository.path, git_environment | {"GITRAG_HOME": str(tmp_path / "home")})


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) else []


def test_control_characters_reach_no_agent_raw(bench: Workbench):
    calls: list[tuple[str, dict[str, Any]]] = [
        ("index_code", {}),
        ("get", {"what": "widget.py"}),
        ("search_code", {"query": "widget"}),
        ("search", {"query": "widget"}),
        ("search_code", {"query": f"widget {HOSTILE}"}),
        ("get", {"what": f"no {HOSTILE}"}),
        ("mark_core", {"path": "widget.py", "summary": f"It {HOSTILE} is"}),
        ("list_core", {}),
        ("prime", {}),
        ("continuity_status", {}),
        ("call_graph", {"filter": f"({HOSTILE}"}),
        ("status", {f"x{HOSTILE}": 1}),
        (f"no {HOSTILE}", {}),
        ("search_code", {"query": "widget", "project": HOSTILE}),
        ("search_code", {"query": "widget", "kind": HOSTILE}),
        ("index_code", {"path": HOSTILE}),
        ("index_code", {"path": ".", "project": f"x{HOSTILE}"}),
        ("search_code", {"query": "widget", "project": f"x{HOSTILE}"}),
        ("get", {"what": "long.py"}),
    ]

    async def run() -> None:
        async with Client(build(bench)) as client:
            for tool, arguments in calls:
                answer = await client.call_tool(tool, arguments)
                given = [answer.content[0].text, *texts_of(answer.structured_content)]
                for text in given:
                    assert not RAW & set(text), (tool, text)
                if arguments == {"what": "widget.py"}:
                    for text in (answer.content[0].text, answer.structured_content["text"]):
                        assert FAITHFUL in text
                        assert r"# \x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200f" in text
            for address in (
                "gitrag://core",
                "gitrag://core/widget.py",
                "gitrag://adrs",
                "gitrag://adrs/ADR-0001",
            ):
                read = await client.read_resource(address)
                assert not RAW & set(read.contents[0].text), address

    anyio.run(run)
