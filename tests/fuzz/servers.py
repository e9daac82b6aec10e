"""What clients send to the MCP server, over standard streams and HTTP, and what it still answers."""

from __future__ import annotations

import http.client
import itertools
import json
import queue
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.messages import ACCEPTED, hello, message, messages, requests
from tests.fuzz.places import CANARY, QUESTION, Mine
from tests.fuzz.target import MOST_BYTES, Input

_GITRAG = Path(sys.executable).with_name("gitrag")
_SERVING = re.compile(r"http://127\.0\.0\.1:(\d+)")
_TOKEN = re.compile(r"Token.*: (\S+)")
_MOST_READ = 64 << 20
_INPUTS_OF_A_SESSION = 20


class Streams:
    """Lines to a server's standard input. After each input it must answer a ping and a search."""

    def __init__(self, space: Path) -> None:
        self._mine = Mine(space)
        self._said = space.parent / "server.err"
        self._numbers = itertools.count()
        self._server = _started(self._mine, self._said)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self._ask("initialize", **hello())
        self._send(message(None, "notifications/initialized"))

    def make(self, dice: Random) -> Input:
        return {"lines": b"\n".join(messages(dice))}

    def check(self, made: Input, dice: Random) -> str:
        del dice
        try:
            self._send(made["lines"] + b"\n")
            self._ask("ping")
            found = self._ask("tools/call", name="search_code", arguments={"query": QUESTION})
        except (OSError, ValueError) as error:
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(1)
            return f"{error}\nthe server's status is {self._server.poll()}\n{_tail(self._said)}"
        return _found(found) or _sound(self._server, self._said) or self._mine.harm()

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        self._mine.close()

    def _read(self) -> None:
        """Read while an input is written, as clients do: the server waits for whoever lets answers lie."""
        assert self._server.stdout is not None
        while line := self._server.stdout.readline(_MOST_READ):
            self._lines.put(line)
        self._lines.put(b"")

    def _send(self, data: bytes) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(data)
        self._server.stdin.flush()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and read what the server says until that is answered; the watch ends a wait for ever."""
        number = f"asked {next(self._numbers)}"
        self._send(message(number, method, **params))
        while line := self._lines.get():
            answer = json.loads(line)
            if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0":
                raise ValueError(f"it said {line[:300]!r}")
            if answer.get("id") == number:
                return answer
        raise ValueError("it says nothing more")


class Requests:
    """Requests to the server over HTTP. After each input it must answer another session."""

    def __init__(self, space: Path) -> None:
        self._mine = Mine(space)
        self._said = space.parent / "server.err"
        self._numbers = itertools.count()
        self._server = _started(self._mine, self._said, "--http", "127.0.0.1:0")
        while not (serving := _SERVING.search(said := _tail(self._said))):
            if self._server.poll() is not None:
                raise RuntimeError(said)
            time.sleep(0.05)
        self._port = int(serving[1])
        time.sleep(0.2)  # what follows the address
        token = _TOKEN.search(_tail(self._said))
        self._known = {"Authorization": f"Bearer {token[1]}"} if token else {}
        self._theirs = self._begin()
        self._headers = self._begin()
        self._taken = 0

    def make(self, dice: Random) -> Input:
        return {"request": requests(dice)}

    def check(self, made: Input, dice: Random) -> str:
        del dice
        self._taken += 1
        if self._taken % _INPUTS_OF_A_SESSION == 0:  # an input may end the one it is in
            ours = self._headers
            self._theirs, self._headers = self._begin(), ours
        headers = "".join(f"{key}: {value}\r\n" for key, value in self._theirs.items() if key not in ACCEPTED)
        data = made["request"].replace(b"HOST", f"127.0.0.1:{self._port}".encode())
        data = data.replace(b"AUTHORIZED\r\n", headers.encode())
        try:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 10) as to:
                to.settimeout(0.5)
                to.sendall(data)
                to.recv(65536)
            self._ask("ping")
            found = self._ask("tools/call", name="search_code", arguments={"query": QUESTION})
        except (OSError, ValueError, http.client.HTTPException) as error:
            status = f"the server's status is {self._server.poll()}"
            return f"{type(error).__name__}: {error}\n{status}\n{_tail(self._said)}"
        return _found(found) or _sound(self._server, self._said) or self._mine.harm()

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        self._mine.close()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = f"asked {next(self._numbers)}"
        for line in self._post(message(number, method, **params)).splitlines():
            data = line.removeprefix(b"data:").strip()
            if data.startswith(b"{"):
                answer: dict[str, Any] = json.loads(data)
                if answer.get("id") == number:
                    return answer
        raise ValueError(f"{method} was not answered")

    def _begin(self) -> dict[str, str]:
        """Begin a session, and return the headers of its requests."""
        self._headers = ACCEPTED | self._known
        self._ask("initialize", **hello())
        self._post(message(None, "notifications/initialized"))
        return self._headers

    def _post(self, body: bytes) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            connection.request("POST", "/mcp", body, self._headers)
            answer = connection.getresponse()
            if session := answer.getheader("Mcp-Session-Id"):
                self._headers["Mcp-Session-Id"] = session
            return answer.read()
        finally:
            connection.close()


def _started(mine: Mine, said: Path, *args: str) -> subprocess.Popen[bytes]:
    with said.open("wb") as file:
        return subprocess.Popen(
            [_GITRAG, "mcp", *args],
            cwd=mine.path,
            env=mine.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
        )


def _found(answer: dict[str, Any]) -> str:
    results = (answer.get("result") or {}).get("structuredContent") or {}
    paths = [each["path"] for each in results.get("results", [])]
    return "" if CANARY in paths[:1] else f"search_code found {paths}: {json.dumps(answer)[:1000]}"


def _sound(server: subprocess.Popen[bytes], said: Path) -> str:
    told = _tail(said)
    if "Traceback" in told:
        return f"{told}\na traceback"
    status = Path(f"/proc/{server.pid}/status")
    if status.exists() and (peak := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return f"it took {peak[1]} kB of memory" if int(peak[1]) * 1024 > MOST_BYTES else ""
    return ""


def _tail(path: Path) -> str:
    return path.read_bytes()[-4_000:].decode("utf-8", "replace")
