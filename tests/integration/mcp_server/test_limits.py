"""What a client sends keeps nobody waiting: it is bounded, and a ping is answered meanwhile."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from gitrag.mcp_server.binding import MOST_MESSAGE_BYTES, MOST_TEXT_CHARS, MOST_VALUES, too_much
from tests.support.command import program

pytestmark = pytest.mark.filterwarnings("ignore:ping is removed")  # of the protocol's next version

PATIENCE_S = 120.0
SILENCE_S = 10.0
"""A second is promised; the machine that tests run on has others to serve."""


@pytest.fixture
def server(make_repository, git_environment, model_dir) -> StdioServerParameters:
    sources = {f"m{n}.py": f"def f{n}(x):\n    return f{(n + 1) % 60}(x)\n" for n in range(60)}
    repository = make_repository(sources)
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    return StdioServerParameters(
        command=str(program(environment)), args=["mcp"], cwd=str(repository.path), env=environment
    )


async def asked_while_pinged(client: Client, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Call tools at once, and see to it that pings are answered until all have come back."""
    answers: list[Any] = []

    async def ask(tool: str, arguments: dict[str, Any]) -> None:
        try:
            answers.append(await client.call_tool(tool, arguments))
        except MCPError as error:
            answers.append(error)

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as group:
            for tool, arguments in calls:
                group.start_soon(ask, tool, arguments)
            while len(answers) < len(calls):
                with anyio.fail_after(SILENCE_S):
                    await client.send_ping()
                await anyio.sleep(0.05)
    return answers


def said(answer: Any) -> str:
    return str(answer) if isinstance(answer, MCPError) else answer.content[0].text


def use(server: StdioServerParameters, calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
    async def run() -> list[str]:
        async with Client(server, mode="legacy") as client:
            await client.call_tool("index_code", {})
            return [said(answer) for answer in await asked_while_pinged(client, calls)]

    return anyio.run(run)


def test_a_message_that_is_too_large_is_answered(server):
    [answer] = use(server, [("search_code", {"query": "a." * 3_000_000})])
    assert "is too large" in answer
    assert f"{MOST_MESSAGE_BYTES:,} are allowed" in answer


def test_a_text_that_is_too_long_is_refused_with_its_length(server):
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_code", {"query": "aä_b " * 200_000}),
        ("call_graph", {"target": "a." * 300_000}),
        ("explore", {"title": "t", "goals": "goal " * 100_000}),
        ("related", {"text": "foo bar " * 100_000}),
        ("search_code", {"query": "x", "more": "y" * 200_000}),
    ]
    answers = use(server, calls)
    for tool, arguments in calls:
        length = max(len(value) for value in arguments.values())
        wanted = f"has a text of {length:,} characters; {MOST_TEXT_CHARS:,} are allowed"
        assert any(wanted in answer for answer in answers), (tool, answers)


def test_the_longest_texts_are_answered_while_others_ping(server):
    longest = "aä_b." * (MOST_TEXT_CHARS // 5)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_code", {"query": longest}),
        ("search", {"query": longest, "graph": True}),
        ("call_graph", {"filter": "(.|.)" * 34 + "~"}),
        ("call_graph", {"filter": ".?" * 34 + "~"}),
        ("call_graph", {"target": longest}),
        ("get", {"what": longest}),
        ("check", {"target": longest}),
        ("memory_search", {"query": longest}),
        ("prime", {"topic": longest}),
        ("index_code", {"path": longest}),
    ]
    for answer in use(server, calls):
        assert "hit a bug" not in answer, answer[:500]


def test_more_calls_than_threads_leave_the_input_read(server):
    answers = use(server, [("search_code", {"query": f"f{number}"}) for number in range(20)])
    assert len(answers) == 20


def test_arguments_are_counted():
    assert too_much("reindex", {"files": ["a.py"] * (MOST_VALUES - 1)}) == ""
    assert f"more than {MOST_VALUES:,} values" in too_much("reindex", {"files": [["a"] * MOST_VALUES]})
    assert "a text of" in too_much("x", {"a": [{"b": {"c" * (MOST_TEXT_CHARS + 1): 1}}]})
