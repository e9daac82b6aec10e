"""Require a token over HTTP: other users of the machine can reach the port, too.

The SDK's own authorisation is OAuth: it needs an issuer, which does not exist here, and its answer cannot say
where to get the token.
"""

from __future__ import annotations

import hmac
import json
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_TOKEN_BYTES = 32
SHORTEST_TOKEN_CHARS = 16
"""Shortest token that a user may choose: shorter ones can be guessed by a program on the same machine."""

_REFUSED = json.dumps(
    {
        "error": "invalid_token",
        "error_description": (
            "This server wants the header `Authorization: Bearer TOKEN`, with the token that"
            " `gitrag mcp --http` printed when it was started, or that its --token-env names."
        ),
    }
).encode()


def new_token() -> str:
    """Return a random token that cannot be guessed, of letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class RequireToken:
    """Pass on what shows a token; answer 401 to all else."""

    def __init__(self, workspace: ASGIApp, token: str) -> None:
        self._app = workspace
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] == "lifespan" or self._shows_token(scope):
            await self._app(scope, receive, send)
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(_REFUSED)).encode()),
            (b"www-authenticate", b'Bearer realm="gitrag", error="invalid_token"'),
            (b"connection", b"close"),  # its body is not read
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": _REFUSED})

    def _shows_token(self, scope: Scope) -> bool:
        shown = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._expected)
