"""A client that breaks off in the middle of a request is nobody's error."""

from __future__ import annotations

import re
import socket
import subprocess
import time

import httpx2

from tests.support.command import program, wait_until

ACCEPTS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def test_a_request_that_is_broken_off_leaves_no_traceback(indexed, tmp_path):
    log = tmp_path / "stderr"

    def said(pattern):
        return re.search(pattern, log.read_text())

    with log.open("wb") as stderr, subprocess.Popen(
        [program(indexed.gitrag.environment), "mcp", "--http", "127.0.0.1:0"],
        cwd=indexed.path,
        env=indexed.gitrag.environment,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    ) as server:  # fmt: skip
        wait_until(lambda: said(r"127\.0\.0\.1:\d+/mcp\n"), "it serves")
        port = int(said(r"127\.0\.0\.1:(\d+)/mcp")[1])

        def headers():
            token = said(r"Token.*: (\S+)")
            return {**ACCEPTS, **({"Authorization": f"Bearer {token[1]}"} if token else {})}

        def refused():  # for its origin alone
            evil = {**headers(), "Origin": "http://evil"}
            return httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=evil).status_code == 403

        wait_until(refused, "it lets this client in")
        sent = {"Host": f"127.0.0.1:{port}", "Content-Length": "999", **headers()}
        lines = "".join(f"{key}: {value}\r\n" for key, value in sent.items())
        with socket.create_connection(("127.0.0.1", port)) as to:
            to.sendall(f'POST /mcp HTTP/1.1\r\n{lines}\r\n{{"jsonrpc":'.encode())
            time.sleep(0.5)  # until it waits for the rest
        wait_until(refused, "it answers the next one")
        time.sleep(0.5)  # until it has noticed
        server.terminate()
        server.wait()
    assert "ERROR" not in log.read_text()
    assert "Traceback" not in log.read_text()
