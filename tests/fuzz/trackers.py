"""What trackers answer, from a server on this machine: other JSON, headers, statuses, plain noise."""

from __future__ import annotations

import itertools
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutation import as_json, odd, size, worsen, worsen_json
from tests.fuzz.places import Mine
from tests.fuzz.target import Input
from tests.support.tracker_fakes import FAKES, TOKEN, Asked, Fake, Ticket

_STATUSES = (
    200,
    201,
    204,
    206,
    301,
    302,
    307,
    400,
    401,
    403,
    404,
    408,
    410,
    418,
    422,
    425,
    429,
    500,
    502,
    503,
    599,
    999,
    99,
    0,
)
_HEADERS = ("Link", "X-Total", "X-Total-Count", "X-Next-Page", "Retry-After", "Date",
            "X-RateLimit-Remaining", "X-RateLimit-Reset",
            "RateLimit-Remaining", "RateLimit-Reset", "Content-Type", "Content-Encoding", "Content-Length",
            "Transfer-Encoding",
            "Location", "Set-Cookie", "X", "", "X-RateLimit-Requests-Remaining",
            "X-RateLimit-Requests-Reset")  # fmt: skip
_VALUES = ("0", "1", "-1", "1.5", "²", "٣", "9" * 20, "9" * 5000, "1" * 400, "Mon, 23 Nov 2026 04:08:55 GMT",
           "Mon, 99 Foo 0000 99:99:99",
           "Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359", "2026-01-01T00:00:00Z",
           "0001-01-01T00:00:00+14:00",
           '<http://x/?page=2>; rel="next"',
           '<http://x/?page=²&after=%ff>; rel="next", <?page=99999999999999999999>; rel="last"',
           '<http://[x/?page=2>; rel="next"', "<" * 5000, "gzip", "br", "identity", "chunked", "text/html",
           "application/json; charset=utf-16",
           "http://127.0.0.1:9/x", "file:///etc/passwd", "http://[", "//x", "/", "?", "\x1b[2J",
           "x\r\nX-Y: z", "é")  # fmt: skip
_READ_ONLY: tuple[tuple[str, ...], ...] = (
    ("issues", "list"),
    ("search", "canary at dawn", "-c", "issues"),
    ("prime", "canary"),
)
_SYNCS: tuple[tuple[str, ...], ...] = (("issues", "sync"), ("issues", "sync"), ("issues", "sync", "--full"))


class Trackers:
    """Replies of each tracker that speaks HTTP, in the order they are asked for."""

    def __init__(self, space: Path) -> None:
        self._mine = Mine(space)
        (self._mine.path / ".git" / "info").mkdir(exist_ok=True)
        (self._mine.path / ".git" / "info" / "exclude").write_text(".sdd/\n")
        self._kinds = {kind.__name__: kind for kind in FAKES}
        self._replies = {name: self._record(kind) for name, kind in self._kinds.items()}
        self._server = _Server()

    def make(self, dice: Random) -> Input:
        name = dice.choice(sorted(self._kinds))
        replies = json.loads(json.dumps(self._replies[name]))
        damaged = dice.random() < 0.15
        command = dice.choice(_READ_ONLY if damaged or dice.random() < 0.3 else _SYNCS)
        made = {"tracker": name.encode(), "command": json.dumps(command).encode()}
        if dice.random() < 0.02:
            made["endless"] = b"all over again"
        if dice.random() < 0.3:
            replies = dice.choices(replies, k=size(dice, 20))
        worst = {dice.randrange(len(replies)) for _ in range(dice.choice((1, 1, 2, 4)))}
        for number, (status, headers, data) in enumerate(replies):
            raw = (
                _raw(dice, status, headers, data)
                if number in worst
                else _written(status, headers, json.dumps(data).encode())
            )
            made[f"reply {number:03}"] = worsen(dice, raw) if damaged and number in worst else raw
        return made

    def check(self, made: Input, dice: Random) -> str:
        del dice
        kind = self._kinds[made["tracker"].decode()]
        command = json.loads(made["command"])
        replies = [made[name] for name in sorted(made) if name.startswith("reply")]
        self._server.replies = iter(itertools.cycle(replies) if "endless" in made else replies)
        mine = self._mine
        try:
            done = mine.commands(*command, env=self._environment(kind, self._server.url))
            if wrong := done.wrong(" ".join(command)):
                return wrong
            if wrong := mine.silent():
                return wrong
            return mine.harm() or _strange(mine.path)
        finally:
            mine.clean()

    def close(self) -> None:
        self._server.shutdown()
        self._mine.close()

    def _environment(self, kind: type[Fake], url: str) -> dict[str, str]:
        return {
            "GITRAG_TRACKER": kind.name,
            "GITRAG_TRACKER_URL": url,
            "GITRAG_TRACKER_PROJECT": kind.project,
            "JIRA_EMAIL": "a@example.com",
            kind.variable: TOKEN,
        }

    def _record(self, kind: type[Fake]) -> list[Any]:
        """Let a tracker answer as it should, and note what."""
        fake, noted = kind(), []
        answer = fake.answer

        def note(asked: Asked) -> tuple[int, Mapping[str, str], Any]:
            noted.append(answer(asked))
            return noted[-1]

        fake.answer = note  # type: ignore[method-assign]
        key = "" if "/" in fake.project else f"{fake.project}-"
        for number in range(1, 8):
            fake.put(Ticket(f"{key}{number}", f"Sing {number} ADR-0001", "Closes #1\nBlocks: #2", number > 5,
                ("a",), "ada", minute=number,
                            pull=number == 6, merged=True))  # fmt: skip
        done = self._mine.commands("issues", "sync", env=self._environment(kind, fake.url))
        fake.close()
        self._mine.clean()
        if done.status:
            raise RuntimeError(done)
        return noted


class _Server(socketserver.ThreadingTCPServer):
    """Sends one reply after the other, whatever is asked; then that there is nothing."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: Iterator[bytes] = iter(())
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has gone."""


class _Handler(socketserver.StreamRequestHandler):
    server: _Server
    timeout = 10

    def handle(self) -> None:
        length = 0
        while (line := self.rfile.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        self.rfile.read(length)
        self.wfile.write(next(self.server.replies, _written(404, {}, b"{}")))


def _raw(dice: Random, status: int, headers: dict[str, str], data: Any) -> bytes:
    """Write a reply that is not as it should be."""
    kind = dice.random()
    for _ in range(dice.choice((1, 1, 2, 5)) if kind < 0.75 else 0):
        data = worsen_json(dice, data)
    if kind > 0.6:
        for _ in range(dice.choice((1, 2, 4))):
            value = dice.choice(_VALUES) if dice.random() < 0.8 else str(odd(dice))[:3000]
            headers[dice.choice(_HEADERS)] = value
    if kind > 0.9:
        status = dice.choice(_STATUSES)
    if status != 200 and dice.random() < 0.9:
        headers["Retry-After"] = "0"
    return _written(status, headers, as_json(dice, data) if kind < 0.9 else json.dumps(data).encode())


def _written(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    all_of_them = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {status} X", *(f"{key}: {value}" for key, value in all_of_them.items())]
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body


def _strange(root: Path) -> str:
    """Say what a sync wrote that it should not."""
    for path in root.rglob("*"):
        own = path.relative_to(root)
        if (
            own.parts[0] == ".sdd"
            and len(own.parts) == 3
            and (path.suffix == ".md" or own.name.startswith("_"))
        ):
            continue
        if path.is_file() and own.parts[0] not in {".git", "canary", "docs", "README.md"}:
            return f"it wrote {own}"
    return ""
