"""The directories that a client says it works in: its roots, in the words of the protocol.

Versions of the protocol from 2026-07-28 on have none; clients of earlier ones are asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult

_PATIENCE_S = 2.0
"""How long a client may take to say its roots, before it is answered without."""

_MOST = 64


async def client_roots(context: Context[Any, Any]) -> tuple[Path, ...]:
    """Ask the client for its roots; none where it has none, or does not say in time."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return ()
    try:
        with anyio.move_on_after(_PATIENCE_S):
            found = await context.session.send_request(ListRootsRequest(), ListRootsResult)
            return tuple(path for each in found.roots[:_MOST] if (path := directory_of(str(each.uri))))
    except (MCPError, ValueError):  # it cannot be asked, refuses, or says what the protocol has not
        return ()
    return ()


def directory_of(uri: str) -> Path | None:
    """Return the directory that a ``file:`` URI names; None where it names none of this machine."""
    try:
        parts = urlsplit(uri)
        path = Path(unquote(parts.path))
        is_here = parts.scheme == "file" and parts.netloc in {"", "localhost"} and path.is_absolute()
        return path if is_here and path.is_dir() else None
    except (OSError, ValueError):
        return None
