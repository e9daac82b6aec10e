"""Messages of JSON-RPC as clients write them to an MCP server, and as none should. Pure."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

from tests.fuzz.mutation import as_json, deep, odd, size, worsen, worsen_json

ACCEPTED = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
VERSION = "2025-06-18"

_CALLS: dict[str, dict[str, Any]] = {
    "search_code": {"query": "canary", "project": "", "limit": 5},
    "search": {"query": "canary", "module": "", "limit": 8, "graph": True, "unfiltered": False},
    "get": {"what": "canary/singing.py:1-3", "project": ""},
    "call_graph": {"target": "sing_at_dawn", "filter": "", "direction": "both", "depth": 2, "limit": 50,
    "draw": True, "project": ""},
    "index_code": {"path": ".", "project": ""},
    "reindex": {"files": ["canary/singing.py"]},
    "status": {"project": ""},
    "continuity_status": {"project": ""},
    "prime": {"topic": "canary"},
    "check": {"target": "canary/singing.py", "purpose": "check"},
    "related": {"text": "canary", "diff": "", "mode": "edges", "threshold": 0.7},
    "explore": {"title": "Canaries", "goals": "sing", "constraints": "", "context": "", "project": "x",
    "scope": "project", "session_id": "s"},
    "memory_search": {"query": "canary", "type": "", "project": "", "limit": 5},
    "mark_core": {"path": "canary/singing.py", "summary": "It sings."},
    "list_core": {"project": ""},
    "unmark_core": {"path": "canary/singing.py"},
}  # fmt: skip
_TEXTS = ("(a+)+$", "(.|.)" * 34 + "~", ".?" * 34 + "~", "[" * 1000, "(" * 1000, "\\", "(?P<a>",
          "a{9999}{9999}", "canary/singing.py:9-1",
          "canary/singing.py:0", "canary/singing.py:99999999999999999999", ":", "..", "/", "/etc",
          "/etc/passwd:1", "../outside/x",
          ".git/config", "HEAD", "--output=x", "HEAD~1..HEAD", "-h", "@{u}", "a..b..c", "\x1b[2J", "\u202e",
          "x " * 5000, "ADR-0001")  # fmt: skip
_METHODS = ("ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list",
            "prompts/get", "resources/subscribe",
            "completion/complete", "logging/setLevel", "sampling/createMessage", "roots/list",
            "elicitation/create", "tasks/list",
            "notifications/initialized", "notifications/cancelled", "notifications/progress",
            "notifications/roots/list_changed",
            "initialize", "shutdown", "exit", "", "rpc.discover", "tools/call/x")  # fmt: skip
_URIS = ("gitrag://status", "gitrag://", "file:///etc/passwd", "canary", "gitrag://core/../..", "")
_PATHS = (
    "/mcp",
    "/mcp",
    "/mcp",
    "/",
    "/mcp/",
    "/mcp/../x",
    "//",
    "*",
    "/sse",
    "/%00",
    "/" + "a" * 9000,
    "http://evil/mcp",
    "/mcp?x=%ff",
)
_VERBS = ("POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS", "CONNECT", "PRI", "", "post", "X" * 3000)


def hello() -> dict[str, Any]:
    """Return what a client says first."""
    return {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}


def message(number: str | int | None, method: str, **params: Any) -> bytes:
    """Write a message as it should be; without a number it wants no answer."""
    said = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(said if number is None else {**said, "id": number}).encode() + b"\n"


def messages(dice: Random) -> list[bytes]:
    """Write some lines."""
    return [_line(dice) for _ in range(dice.choice((1, 1, 2, 5, 20)))]


def _line(dice: Random) -> bytes:
    kind = dice.random()
    if kind < 0.05:
        return dice.randbytes(size(dice, 20_000))
    if kind < 0.1:
        return b"[" * size(dice, 200_000)
    if kind < 0.15:
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": deep(dice)}).encode()
    if kind < 0.2:
        return json.dumps([_said(dice) for _ in range(size(dice, 50))]).encode()
    return _one(dice)


def _one(dice: Random) -> bytes:
    said: Any = _said(dice)
    for _ in range(dice.choice((0, 1, 1, 3))):
        said = worsen_json(dice, said)
    return as_json(dice, said).replace(b"\n", b" ")


def _said(dice: Random) -> dict[str, Any]:
    number: Any = dice.randrange(5) if dice.random() < 0.9 else odd(dice)
    said: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
    kind = dice.random()
    if kind < 0.7:
        name = dice.choice(sorted(_CALLS))
        arguments = deepcopy(_CALLS[name])
        for key in list(arguments):
            if dice.random() < 0.4:
                arguments[key] = dice.choice(_TEXTS) if dice.random() < 0.6 else odd(dice)
        return said | {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
    if kind < 0.8:
        uri = dice.choice(_URIS) if dice.random() < 0.7 else str(odd(dice))
        return said | {"method": "resources/read", "params": {"uri": uri}}
    if kind < 0.85:
        return {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": number, "reason": "x"},
        }
    return said | {"method": dice.choice(_METHODS), "params": hello() if dice.random() < 0.3 else {}}


def requests(dice: Random) -> bytes:
    """Write a request of HTTP: ``HOST`` stands for where to, ``AUTHORIZED`` for what lets a client in."""
    body = _line(dice)
    headers = ACCEPTED | {"Host": "HOST", "Content-Length": str(len(body))}
    for _ in range(dice.choice((0, 0, 1, 3))):
        key = dice.choice((*headers, "Mcp-Session-Id", "Origin", "Transfer-Encoding", "Mcp-Protocol-Version",
            "Last-Event-ID", "Upgrade",
                           "Expect", "Authorization", "Content-Encoding", "X" * 5000))  # fmt: skip
        value = dice.choice(("HOST", "chunked", "evil.example", "null", "text/html", "*/*", "-1", "9" * 30,
            "100-continue", "websocket",
                             "gzip", "http://evil", "0", "é", "\x00", "Bearer x", "a" * 70_000))  # fmt: skip
        headers[key] = value if dice.random() < 0.8 else str(odd(dice))
    version = dice.choice(("1.1", "1.1", "1.1", "1.0", "2.0", "9"))
    first = f"{dice.choice(_VERBS)} {dice.choice(_PATHS)} HTTP/{version}\r\n"
    head = first + "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    data = (
        head.encode("utf-8", "replace") + (b"AUTHORIZED\r\n" if dice.random() < 0.9 else b"") + b"\r\n" + body
    )
    return worsen(dice, data) if dice.random() < 0.3 else data
