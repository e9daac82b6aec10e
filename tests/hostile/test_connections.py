"""Connections that another program of this machine opens to gitrag's servers and never uses."""

from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import uvicorn

from gitrag.machine import serving
from gitrag.machine.serving import listen
from tests.support.command import GITRAG, PATIENCE_S
from tests.support.indexes import open_app

MOST_FILES = 256
"""Of the server's; a shell gives 1,024."""

HALF = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("said", [b"", HALF[:30], HALF], ids=["idle", "half of a head", "half of a body"])
@pytest.mark.parametrize("command", ["mcp --http 127.0.0.1:0", "web --no-browser"])
def test_a_server_answers_however_many_connections_say_nothing(make_repository, command: str, said: bytes):
    """The oldest that has not finished its request makes way: neither death nor silence."""
    repository = make_repository({"a.py": "A = 1\n"})
    open_app(repository).update()
    with ExitStack() as held:
        server = held.enter_context(
            subprocess.Popen(
                ["sh", "-c", f'ulimit -n {MOST_FILES}; exec "$@"', "sh", GITRAG, *command.split()],
                cwd=repository.path,
                env=repository.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        held.callback(server.kill)
        assert server.stdout is not None
        address = urlsplit(next(line.split()[-1] for line in server.stdout if "http://" in line))
        for _ in range(MOST_FILES + 50):
            connection = held.enter_context(socket.create_connection((address.hostname, address.port)))
            connection.sendall(said)
        asking = http.client.HTTPConnection("127.0.0.1", address.port, timeout=PATIENCE_S)
        asking.request("GET", "/nothing")
        assert asking.getresponse().status in {401, 403}
        assert server.poll() is None


def test_a_request_that_does_not_arrive_is_given_up(monkeypatch):
    """A head or a body sent byte by byte would hold its connection for ever; an answer may take its time."""
    monkeypatch.setattr(serving, "ARRIVAL_S", 0.2)

    async def answer(scope, receive, send):
        await receive()
        await asyncio.sleep(0.5)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def ask(port: int, said: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        try:
            return await reader.read(12)
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    async def run() -> list[bytes]:
        with listen(0) as listening:
            server = uvicorn.Server(serving.config(answer, lifespan="off", log_level="critical"))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            port = listening.getsockname()[1]
            whole = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            answers = await asyncio.gather(*(ask(port, said) for said in (whole, b"", HALF[:30], HALF)))
            server.should_exit = True
            await running
            return answers

    assert asyncio.run(run()) == [b"HTTP/1.1 200", b"", b"", b""]
