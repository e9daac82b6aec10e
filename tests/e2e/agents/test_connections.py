"""How clients reach `gitrag mcp`, over standard streams and over HTTP, and what ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from gitrag.mcp_server.server import CORE
from tests.support import node
from tests.support.command import GITRAG, PATIENCE_S, Project, program
from tests.support.mcp_client import CALLS, TOOLS, data_of, use


def message(number: int | None, method: str, **params: Any) -> bytes:
    """Write a message as a client does that is not the SDK's."""
    said = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(said if number is None else said | {"id": number}).encode() + b"\n"


HELLO = message(
    0,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)
ACCEPTS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@contextmanager
def started(project: Project, *args: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server of which only its streams are known."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [program(project.gitrag.environment), "mcp", *args],
        cwd=project.path,
        env=project.gitrag.environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def test_every_tool_answers_and_only_the_protocol_is_on_stdout(own: Project):
    """The messages are written and read here, line by line, without the SDK's client."""

    with started(own) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None

        def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
            server.stdin.write(HELLO if method == "initialize" else message(number, method, **params))
            server.stdin.flush()
            while (answer := json.loads(server.stdout.readline())).get("id") != number:
                assert answer["jsonrpc"] == "2.0"
            return answer

        hello = ask(0, "initialize")
        assert hello["result"]["serverInfo"]["name"] == "gitrag"
        server.stdin.write(message(None, "notifications/initialized"))
        listed = ask(1, "tools/list")["result"]["tools"]
        assert [tool["name"] for tool in listed] == TOOLS
        for number, name in enumerate(TOOLS, start=2):
            result = ask(number, "tools/call", name=name, arguments=CALLS[name])["result"]
            assert not result.get("isError"), result
            assert result["structuredContent"]
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait() == 0
        assert b"Traceback" not in server.stderr.read()


@pytest.mark.parametrize("ends", [socket.socketpair, os.pipe])
def test_a_client_that_goes_before_its_answer_ends_the_server_quietly(
    indexed: Project, tmp_path: Path, ends: Callable[[], tuple[Any, Any]]
):
    """Node's clients talk over sockets, others over pipes."""
    ours, theirs = (end if isinstance(end, int) else end.detach() for end in ends())
    with (tmp_path / "stderr").open("w+b") as said:
        server = subprocess.Popen(
            [program(indexed.gitrag.environment), "mcp"],
            cwd=indexed.path,
            env=indexed.gitrag.environment,
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=said,
        )
        os.close(theirs)
        assert server.stdin is not None
        server.stdin.write(HELLO)
        server.stdin.flush()
        assert os.read(ours, 65536)
        os.close(ours)
        server.stdin.write(message(None, "notifications/initialized") + message(1, "tools/list"))
        server.stdin.flush()
        with suppress(subprocess.TimeoutExpired):  # until it has tried to answer
            server.wait(3)
        server.stdin.close()
        assert server.wait(PATIENCE_S) in {0, 141}
        assert said.tell() == 0


def assert_interrupted(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    assert server.wait(PATIENCE_S) in {-signal.SIGINT, 130}
    assert server.stderr is not None
    assert b"Traceback" not in server.stderr.read()


def test_an_interrupt_ends_the_server_though_its_client_is_there(indexed: Project):
    with started(indexed) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(HELLO)
        server.stdin.flush()
        assert server.stdout.readline()
        assert_interrupted(server)


def test_an_interrupt_ends_the_server_though_a_client_listens(indexed: Project):
    with started(indexed, "--http", "127.0.0.1:0") as server, httpx2.Client(headers=ACCEPTS) as client:
        assert server.stderr is not None
        place = server.stderr.readline().split()[-1].decode()
        client.headers["Authorization"] = f"Bearer {server.stderr.readline().split()[-1].decode()}"
        session = client.post(place, content=HELLO, timeout=PATIENCE_S).headers["mcp-session-id"]
        with client.stream("GET", place, headers={"Mcp-Session-Id": session}, timeout=PATIENCE_S) as stream:
            assert stream.status_code == 200
            assert_interrupted(server)


def test_calls_at_once_are_all_answered(own: Project):
    async def steps(client: Client) -> None:
        answers: list[CallToolResult] = []

        async def ask(number: int) -> None:
            name = core[number % 3]
            answers.append(await client.call_tool(name, CALLS[name]))

        core = [tool.name for tool in (await client.list_tools()).tools]
        assert set(core) == CORE
        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(ask, number)
        assert [answer.is_error for answer in answers] == [False] * 12

    use(own, steps, "--tools", "core")


def test_outside_a_repository_it_says_so_and_goes(tmp_path: Path, environment: dict[str, str]):
    done = subprocess.run(
        [program(environment), "mcp"],
        cwd=tmp_path,
        env=environment,
        input=b"",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (78, b"")


# HTTP


@contextmanager
def served(project: Project, *options: str, **environment: str) -> Iterator[tuple[str, str]]:
    """A server over HTTP on a free port: its address, and what else it says at its start."""
    with subprocess.Popen(
        [program(project.gitrag.environment), "mcp", "--http", "127.0.0.1:0", *options],
        cwd=project.path,
        env={**project.gitrag.environment, **environment},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[-1]
        try:
            yield address, server.stderr.readline() if "--token-env" not in options else ""
        finally:
            server.terminate()
            server.wait()


def asked(address: str, **headers: str) -> httpx2.Response:
    return httpx2.post(address, content=HELLO, headers={**ACCEPTS, **headers}, timeout=PATIENCE_S)


def test_it_answers_over_http_who_has_the_token(own: Project):
    async def run(address: str, token: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            for name, arguments in CALLS.items():
                data_of(await client.call_tool(name, arguments))

    with served(own) as (address, line):
        anyio.run(run, address, line.split()[-1])


def test_nobody_else_is_let_in_over_http(indexed: Project):
    with served(indexed) as (address, line):
        token = line.split()[-1]
        assert len(token) >= 43  # 32 bytes in base64
        refused = [
            asked(address),
            asked(address, Authorization=token),
            asked(address, Authorization=f"Basic {token}"),
            asked(address, Authorization=f"Bearer {token[:-1]}"),
            asked(address, Authorization=f"Bearer {token}x"),
            asked(address, Authorization="Bearer"),
            asked(f"{address}?token={token}"),
            httpx2.get(address.replace("/mcp", "/"), timeout=PATIENCE_S),
        ]
        for answer in refused:
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert "`gitrag mcp --http` printed" in answer.json()["error_description"]
        assert asked(address, Authorization=f"Bearer {token}").status_code == 200
    with served(indexed) as (_, line):
        assert line.split()[-1] != token, "each start has its own"


def test_a_token_of_the_user_s_own_is_asked_for_and_not_printed(indexed: Project):
    own = "a-token-of-my-own-0123456789"
    with served(indexed, "--token-env", "MY_TOKEN", MY_TOKEN=own) as (address, _):
        assert asked(address).status_code == 401
        assert asked(address, Authorization=f"bearer {own}").status_code == 200
    for held in ("", "short", "with a space in it that is long"):
        done = indexed.gitrag(
            "mcp", "--http", "127.0.0.1:0", "--token-env", "MY_TOKEN", env={"MY_TOKEN": held}
        )
        assert done.status == 2
        assert "MY_TOKEN is to hold the token" in done.err
        assert not held or held not in done.err


def test_without_a_token_it_warns(indexed: Project):
    with served(indexed, "--no-token") as (address, line):
        assert "Every user of this machine can read this repository" in line
        assert asked(address).status_code == 200


@pytest.mark.parametrize(
    "options",
    [("--no-token",), ("--token-env", "X"), ("--http", "127.0.0.1:0", "--no-token", "--token-env", "X")],
)
def test_options_on_tokens_that_make_no_sense_are_refused(indexed: Project, options: tuple[str, ...]):
    assert indexed.gitrag("mcp", *options).status == 2


def test_other_hosts_and_origins_are_refused(indexed: Project):
    """A browser that was led here has no token; were it let in, its page would still be none of ours."""
    with served(indexed, "--no-token") as (address, _):
        for headers, status in [
            ({"Host": "evil.example:80"}, 421),
            ({"Host": "127.0.0.1:1"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "http://localhost:1"}, 403),
            ({"Origin": "null"}, 403),
        ]:
            assert asked(address, **headers).status_code == status, headers


@pytest.mark.parametrize(
    "place", ["0.0.0.0:0", "example.com:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":80"]
)
def test_it_is_served_to_this_machine_only(indexed: Project, place: str):
    done = indexed.gitrag("mcp", "--http", place)
    assert (done.status, done.out) == (2, "")
    assert "it must be 127.0.0.1:PORT" in done.err


# a client that is not ours


INSPECTOR = node.program("mcp-inspector-cli", ".bin/mcp-inspector-cli")


@pytest.mark.sweep(keep=0)
@pytest.mark.skipif(INSPECTOR is None, reason="no MCP inspector: scripts/test --all installs it")
def test_the_inspector_can_use_it(own: Project):
    def ask(*args: str) -> dict[str, Any]:
        done = subprocess.run(
            [str(INSPECTOR), "--cli", str(GITRAG), "-C", str(own.path), "mcp", *args],
            env={**own.gitrag.environment, "PATH": os.environ["PATH"]},
            capture_output=True,
            check=True,
            text=True,
        )
        return json.loads(done.stdout)

    assert [tool["name"] for tool in ask("--method", "tools/list")["tools"]] == TOOLS
    found = ask(
        *("--method", "tools/call", "--tool-name", "search_code"),
        *("--tool-arg", "query=call again after a failure"),
    )
    assert found["structuredContent"]["results"][0]["path"] == "client.py"
    lists = ask("--method", "resources/list")
    assert {each["uri"] for each in lists["resources"]} == {"gitrag://core", "gitrag://adrs"}
