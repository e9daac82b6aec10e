"""Serve the page to this machine until it is interrupted, or nobody has used it for an hour."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from gitrag.machine.serving import ADDRESS, listen
from gitrag.web.application import application
from gitrag.web.desk import Desk
from gitrag.web.repositories import Repositories

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No inline script or style, nothing from elsewhere, no framing, and no script of ours can parse HTML."""

_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_FROM_OTHER_SITES = frozenset({b"cross-site", b"same-site"})
_NAMES = ("127.0.0.1", "localhost")

_LOCKED = "This page needs its token: open the address that `gitrag web` printed when it was started."
_OTHER_HOST = "This page answers to 127.0.0.1 alone."
_OTHER_ORIGIN = "This page answers to itself alone, not to other pages."
_READS_ONLY = "This page can only be read: GET or HEAD."


class Guard:
    """Pass on requests of the user who knows the token, made by the page itself or typed in; refuse the rest.

    The token comes once in the address and then as a cookie. Cookies hold for all ports of a host, so its
    name has the port: two pages of gitrag do not take each other's.

    Attributes:
        last_used: When the last request was passed on, by the clock; those of an open page that looks for
            news by itself do not count.
    """

    def __init__(
        self, inner: ASGIApp, token: str, port: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._inner = inner
        self._token = token.encode()
        self._cookie = f"gitrag-{port}"
        self._hosts = frozenset(f"{name}:{port}".encode() for name in _NAMES)
        self._clock = clock
        self.last_used = clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        shows_token = self._is_token(_query(scope).get("token", [""])[-1])
        refusal = self._refusal(scope, shows_token=shows_token)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        if _headers(scope, b"x-gitrag-live") == []:
            self.last_used = self._clock()

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [*_HEADERS]
                if shows_token:
                    value = f"{self._cookie}={self._token.decode()}; Path=/; HttpOnly; SameSite=Strict"
                    added.append((b"set-cookie", value.encode()))
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self._inner(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, *, shows_token: bool) -> tuple[int, str] | None:
        """Return status and reason where a request is refused."""
        hosts = _headers(scope, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 403, _OTHER_HOST
        origins = _headers(scope, b"origin")
        if any(origin.lower() != b"http://" + hosts[0].lower() for origin in origins):
            return 403, _OTHER_ORIGIN
        is_navigation = _headers(scope, b"sec-fetch-dest") == [b"document"]
        if not is_navigation and _FROM_OTHER_SITES.intersection(_headers(scope, b"sec-fetch-site")):
            return 403, _OTHER_ORIGIN
        if scope["method"] not in {"GET", "HEAD"}:
            return 405, _READS_ONLY
        if not (shows_token or any(map(self._is_token, self._shown_cookies(scope)))):
            return 401, _LOCKED
        return None

    def _is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), self._token)

    def _shown_cookies(self, scope: Scope) -> list[str]:
        found = []
        for header in _headers(scope, b"cookie"):
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(header.decode("latin-1"))
            except CookieError:
                continue
            if self._cookie in cookies:
                found.append(cookies[self._cookie].value)
        return found


def _headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _query(scope: Scope) -> dict[str, list[str]]:
    try:
        return parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=100)
    except ValueError:
        return {}


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = reason.encode() + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # its body is not read
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


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
        ready: Called with the address, token included, once it can be opened.
        idle_s: Seconds without a request after which it ends.

    Returns:
        Whether it ended because nobody used it.

    Raises:
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

    class PageServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            self.telling = asyncio.create_task(asyncio.to_thread(started))

    options = {"server_header": False, "lifespan": "off", "timeout_graceful_shutdown": _CLOSING_S}
    return PageServer(config(guard, log_level="critical", **options))
