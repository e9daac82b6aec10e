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
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

from gitrag.mcp_server.limits import MOST_MESSAGE_BYTES

_ID = re.compile(rb'"id"\s{0,9}:\s{0,9}(?:(\d{1,18})|"([^"\\]{1,99})")\s{0,9}[,}]')
"""The id of a request, searched for at the beginning and the end of the message."""

_LOOKED_AT_BYTES = 400
_PART_BYTES = 64 * 1024


class _InputLines:
    """The lines of a stream; one that is too long is answered with an error and skipped."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.answers: ObjectSendStream[SessionMessage] | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._stream.readline, MOST_MESSAGE_BYTES):
            if line.endswith(b"\n") or len(line) < MOST_MESSAGE_BYTES:
                yield line.decode("utf-8", "replace")
                continue
            size, end = await anyio.to_thread.run_sync(self._skip)
            await self._refuse(line[:_LOOKED_AT_BYTES], (line + end)[-_LOOKED_AT_BYTES:], len(line) + size)

    def _skip(self) -> tuple[int, bytes]:
        """Skip the rest of a line; return its length in bytes, and its last bytes."""
        size, end = 0, b""
        while part := self._stream.readline(_PART_BYTES):
            size, end = size + len(part), (end + part)[-_LOOKED_AT_BYTES:]
            if part.endswith(b"\n"):
                break
        return size, end

    async def _refuse(self, start: bytes, end: bytes, size: int) -> None:
        found = _ID.search(start.partition(b'"params"')[0]) or next(reversed([*_ID.finditer(end)]), None)
        if self.answers is None or found is None:  # a notification, or a request without a recognisable id
            return
        number, name = found.groups()
        said = (
            f"A message of {size:,} bytes is too large: {MOST_MESSAGE_BYTES:,} are allowed."
            " Send less at a time."
        )
        error = JSONRPCError(
            jsonrpc="2.0",
            id=int(number) if number else name.decode("utf-8", "replace"),
            error=ErrorData(code=INVALID_REQUEST, message=said),
        )
        await self.answers.send(SessionMessage(error))


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
