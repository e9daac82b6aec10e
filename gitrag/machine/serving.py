"""Listen on this machine alone; serve HTTP with bounds on connections, which uvicorn lacks at arrival."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gitrag.errors import UsageError

ARRIVAL_S = 10.0
"""Seconds that a request, its body included, may take to arrive: what is sent comes from this machine."""

_MOST = 256
_SHARE = 4
"""Connections, and the part of the process's descriptors that they may take; the index needs some too."""

_BACKLOG = 16
"""Connections that are accepted at once, before the oldest can make way."""


def config(app: Any, **options: Any) -> uvicorn.Config:
    """Return a configuration whose connections are bounded in number, and each request in time."""
    return uvicorn.Config(app, http=_Bounded, log_config=None, access_log=False, backlog=_BACKLOG, **options)


def most_connections() -> int:
    """Return how many connections a server holds at most."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(_MOST, soft // _SHARE))


class _Bounded(H11Protocol):
    """A connection that ends if its request does not arrive; the oldest such makes way for a new one."""

    arriving: asyncio.TimerHandle | None = None
    """Ends it; None where a request is being answered."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > most_connections():
            waiting = {each.arriving.when(): each for each in self._others() if each.arriving}
            if waiting:
                waiting[min(waiting)].give_way()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def give_way(self) -> None:
        """End the connection at once."""
        self._stop_waiting()
        self.transport.abort()

    def _others(self) -> Iterator[_Bounded]:
        return (each for each in self.connections if isinstance(each, _Bounded))

    def _wait(self) -> None:
        if self.arriving is None and not self.transport.is_closing():
            self.arriving = self.loop.call_later(ARRIVAL_S, self.give_way)

    def _stop_waiting(self) -> None:
        if self.arriving is not None:
            self.arriving.cancel()
            self.arriving = None


ADDRESS = "127.0.0.1"
_WAITING = 64
"""Connections that may wait to be accepted."""


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine's own address."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
        listening.listen(_WAITING)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"Cannot serve at {ADDRESS}:{port}: {error.strerror}.", "Choose another port, or 0."
        ) from error
    return listening
