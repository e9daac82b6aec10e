"""Messages over standard streams, one per line, of limited length."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from typing import BinaryIO, cast

import anyio
import anyio.to_thread
from anyio.abc import ObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from gitrag.mcp_server.limits import MOST_MESSAGE_BYTES

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


async def serve(server: MCPServer) -> None:
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
