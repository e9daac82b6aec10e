"""Serve the tools over standard streams, or over HTTP to this machine only."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
import anyio.to_thread
from anyio.abc import ObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from gitrag import __version__
from gitrag.actions.hub.push import OFF
from gitrag.errors import UsageError
from gitrag.machine.serving import listen
from gitrag.mcp_server import memory_tools, question_tools, tools
from gitrag.mcp_server.bearer import RequireToken
from gitrag.mcp_server.binding import MOST_MESSAGE_BYTES, Hints, Reply, bind
from gitrag.mcp_server.resources import add_resources
from gitrag.mcp_server.workbench import Workbench
from gitrag.words.control_characters import sanitise_line

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_ID = re.compile(rb'"id"\s{0,9}:\s{0,9}(?:(\d{1,18})|"([^"\\]{1,99})")\s{0,9}[,}]')
"""The id of a request, searched for at the beginning and the end of the message."""

_LOOKED_AT_BYTES = 400
_PART_BYTES = 64 * 1024


class _InputLines:
    """The lines of a stream; one that is too long or no message is answered with an error and skipped."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.answers: ObjectSendStream[SessionMessage] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._stream.readline, MOST_MESSAGE_BYTES):
            if line.endswith(b"\n") or len(line) < MOST_MESSAGE_BYTES:
                text = line.decode("utf-8", "replace")
                if problem := _problem(text):
                    await self._refuse(line, b"", problem)
                else:
                    yield text
                continue
            size, end = await anyio.to_thread.run_sync(self._skip)
            said = (
                f"A message of {len(line) + size:,} bytes is too large: {MOST_MESSAGE_BYTES:,} are allowed."
            )
            await self._refuse(line, end, f"{said} Send less at a time.")

    def _skip(self) -> tuple[int, bytes]:
        """Skip the rest of a line; return its length in bytes, and its last bytes."""
        size, end = 0, b""
        while part := self._stream.readline(_PART_BYTES):
            size, end = size + len(part), (end + part)[-_LOOKED_AT_BYTES:]
            if part.endswith(b"\n"):
                break
        return size, end

    async def _refuse(self, line: bytes, rest: bytes, said: str) -> None:
        start, end = line[:_LOOKED_AT_BYTES], (line + rest)[-_LOOKED_AT_BYTES:]
        found = _ID.search(start.partition(b'"params"')[0]) or next(reversed([*_ID.finditer(end)]), None)
        if self.answers is None or found is None:  # a notification, or a request without a recognisable id
            return
        number, name = found.groups()
        error = JSONRPCError(
            jsonrpc="2.0",
            id=int(number) if number else name.decode("utf-8", "replace"),
            error=ErrorData(code=INVALID_REQUEST, message=said),
        )
        await self.answers.send(SessionMessage(error))


def _problem(text: str) -> str:
    """Return why a line is no message, for which the SDK would be silent; empty if it is one."""
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        said = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
        hint = " Half of a character (a surrogate) must not stand alone." if "hex escape" in said else ""
        return f"The message is not JSON-RPC 2.0: {said}.{hint}"
    return ""


async def _serve(server: MCPServer) -> None:
    """Serve over standard input and output until the input ends; child processes get an empty input."""
    private = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    # not closed: a thread may still be reading from it at the end
    lines = _InputLines(os.fdopen(private, "rb", closefd=False))
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
        lines.answers = write
        low = server._lowlevel_server  # noqa: SLF001 - the SDK has no other way to its own streams
        await low.run(read, write, low.create_initialization_options())


_ORDER = (
    "Order of preference in this git repository, for subagents too:"
    "\n1. search_code: where something is, how it works, whether it exists (semantic, vector embedding)."
    "\n2. get: its line ranges, once it says sufficient; never whole files."
    "\n3. call_graph before you change what others call, check before you change a file, related before you"
    " write what may be there, prime at the start."
    "\n4. grep: for an exact string alone.\n"
)
"""First, since a client may show only the first lines."""

INSTRUCTIONS = (
    f"{_ORDER}Answers are of the files as they are now. search and prime also know decisions (ADRs) and"
    " specifications. explore remembers what a discussion brought up, memory_search finds it again."
)

_READS = Hints()
_ASKS = Hints(needs_index=True)
_ASKS_SEVERAL = Hints(needs_index=True, asks_several=True)
_ASKS_TRACKER = Hints(needs_index=True, reaches_out=True)
_ADDS = Hints(reads_only=False)
_REPLACES = Hints(reads_only=False, replaces=True)

TOOLS: tuple[tuple[Callable[..., Reply], Hints], ...] = (
    (tools.search_code, _ASKS_SEVERAL),
    (tools.search, _ASKS),
    (tools.get, _READS),
    (tools.call_graph, _ASKS),
    (tools.index_code, _ADDS),
    (tools.reindex, _ADDS),
    (tools.status, _READS),
    (tools.continuity_status, _READS),
    (tools.prime, _ASKS),
    (question_tools.check, _ASKS_TRACKER),
    (question_tools.related, _ASKS_TRACKER),
    (question_tools.history, _ASKS),
    (memory_tools.explore, Hints(reads_only=False, replaces=True, repeatable=False)),
    (memory_tools.memory_search, _READS),
    (memory_tools.mark_core, _REPLACES),
    (memory_tools.list_core, _READS),
    (memory_tools.unmark_core, _REPLACES),
)
"""Every tool, in the order in which clients list them."""

HUB_TOOLS: tuple[tuple[Callable[..., Reply], Hints], ...] = (
    (question_tools.search_hub, Hints(reaches_out=True)),
)
"""Further tools where the user has set a hub."""

CORE = frozenset({"search_code", "get", "call_graph", "related", "check", "prime"})
"""The tools that agents use most; ``gitrag mcp --tools core`` has only these."""

_LOOPBACK = ("127.0.0.1", "localhost")


class _ToolServer(MCPServer):
    """A server that repeats nothing raw of the name of a tool that it does not have."""

    async def call_tool(self, name: str, *arguments: Any, **options: Any) -> Any:
        tools = [tool.name for tool in await self.list_tools()]
        if name not in tools:
            raise ToolError(f"Unknown tool: {sanitise_line(name[:60])}. There is {', '.join(tools)}.")
        return await super().call_tool(name, *arguments, **options)


def build(bench: Workbench, *, core_only: bool = False) -> MCPServer:
    """Return the server, with every tool or the core ones.

    It has no prompts: the skills of ``gitrag init --agents`` take their place. Clients offer skills to the
    user by name, like prompts, and also to the model.
    """
    has_hub = bench.workspace.config.hub != OFF
    server = _ToolServer(
        "gitrag",
        title="gitrag",
        instructions=_ORDER.strip() if core_only else INSTRUCTIONS,
        version=__version__,
        tools=[
            bind(bench, function, hints, core=function.__name__ in CORE)
            for function, hints in (*TOOLS, *(HUB_TOOLS if has_hub else ()))
            if not core_only or function.__name__ in CORE
        ],
        log_level="ERROR",
    )
    add_resources(server, bench)
    return server


def serve_stdio(bench: Workbench, *, core_only: bool = False) -> None:
    """Serve over standard input and output until the input ends.

    Raises:
        BrokenPipeError: The client disconnected while an answer was being written.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C waits for the thread that reads the input
    try:
        anyio.run(_serve, build(bench, core_only=core_only))
    except ExceptionGroup as group:
        _gone, others = group.split((BrokenPipeError, ConnectionResetError))
        if others is not None:
            raise
        raise BrokenPipeError(errno.EPIPE, "the client has gone") from group


def serve_http(
    bench: Workbench,
    place: str,
    ready: Callable[[str], None],
    token: str | None,
    *,
    core_only: bool = False,
) -> None:
    """Serve over HTTP to this machine.

    Requests must name this machine as their host and come from no other origin, so that no web page reaches
    the server through the user's browser (DNS rebinding). Other users of this machine can reach the port, so
    each request needs the token.

    Args:
        place: ``127.0.0.1:PORT``; port 0 picks a free one.
        ready: Called with the URL once the server is listening.
        token: The token that requests need; None to accept all.
    """
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_of_one_who_stayed)
    listening = _listen(place)
    port = listening.getsockname()[1]
    hosts = [f"{name}:{port}" for name in _LOOPBACK]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"http://{host}" for host in hosts],
    )
    workspace: ASGIApp = build(bench, core_only=core_only).streamable_http_app(
        transport_security=security, max_request_body_size=MOST_MESSAGE_BYTES
    )
    if token is not None:
        workspace = RequireToken(workspace, token)

    async def serve() -> None:
        import uvicorn

        from gitrag.machine.serving import config

        await uvicorn.Server(config(workspace, log_level="error")).serve(sockets=[listening])

    ready(f"http://127.0.0.1:{port}/mcp")
    with listening:
        anyio.run(serve)


def _is_of_one_who_stayed(record: logging.LogRecord) -> bool:
    """Return whether a log record is about anything but a client that disconnected during a request."""
    from starlette.requests import ClientDisconnect

    return record.exc_info is None or not isinstance(record.exc_info[1], ClientDisconnect)


def _listen(place: str) -> socket.socket:
    host, _, port = place.rpartition(":")
    if host not in _LOOPBACK or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise UsageError(
            f"Cannot serve at {place[:60]}: it must be 127.0.0.1:PORT.",
            "What is said is not encrypted, so only this machine may reach it.",
        )
    return listen(int(port))
