"""Serve the page to this machine until it is interrupted, or nobody has used it for an hour."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gitrag.machine.serving import ADDRESS, listen
from gitrag.web.application import application
from gitrag.web.desk import Desk
from gitrag.web.guard import Guard
from gitrag.web.repositories import Repositories

if TYPE_CHECKING:
    import uvicorn

IDLE_S = 3600.0
"""Seconds without a request after which the page ends by itself."""

_LOOK_S = 5.0
_LEAST_S = 0.01
_TOKEN_BYTES = 32
_CLOSING_S = 2
"""Seconds that answers have to be finished once the page ends."""


def serve(desk: Desk, port: int, ready: Callable[[str], None], *, idle_s: float = IDLE_S) -> bool:
    """Serve a page, and return once nobody uses it any more.

    Args:
        desk: What it shows.
        port: The port; 0 for one that is free.
        ready: Called with the address, token included, once it can be opened.
        idle_s: Seconds without a request after which it ends.

    Returns:
        Whether it ended because nobody used it.

    Raises:
        UsageError: The port is taken.
        KeyboardInterrupt: It was interrupted.
    """
    listening = listen(port)
    own_port = listening.getsockname()[1]
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    guard = Guard(application(Repositories(desk)), token, own_port)
    is_idle = False

    async def run() -> None:
        nonlocal is_idle
        server = _server(guard, lambda: ready(f"http://{ADDRESS}:{own_port}/?token={token}"))
        warming = asyncio.create_task(asyncio.to_thread(desk.warm))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not serving.done():
            left = guard.last_used + idle_s - time.monotonic()
            if left <= 0:
                is_idle = server.should_exit = True
            await asyncio.wait([serving], timeout=min(max(left, _LEAST_S), _LOOK_S))
        await serving
        await warming

    with listening:
        asyncio.run(run())
    return is_idle


def _server(guard: Guard, started: Callable[[], None]) -> uvicorn.Server:
    """Return a server that says when it has started; an interruption from then on ends it as it should."""
    import uvicorn

    from gitrag.machine.serving import config

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            self.telling = asyncio.create_task(asyncio.to_thread(started))

    options = {"server_header": False, "lifespan": "off", "timeout_graceful_shutdown": _CLOSING_S}
    return Server(config(guard, log_level="critical", **options))
