"""The part of GitHub's and GitLab's API that keeps comments, on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

BOT = {"user": {"type": "Bot"}, "author_association": "NONE", "author": {"id": 7}}
STRANGER = {"user": {"type": "User"}, "author_association": "NONE", "author": {"id": 8}}


class Forge:
    """Comments as they are kept, and each request with the headers it had."""

    def __init__(self) -> None:
        self.address = ""
        self.comments: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.status = 200

    def answer(self, method: str, path: str, body: dict[str, Any]) -> object:
        if path.endswith("/user"):
            return {"id": 7}
        if method == "GET":
            return self.comments if path.endswith("page=1") else []
        if method == "POST":
            self.comments.append({"id": len(self.comments), **BOT, **body})
        else:
            self.comments[int(path.rpartition("/")[2])].update(body)
        return {}

    def github(self, folder: Path) -> dict[str, str]:
        """The environment that its runner gives a job for request 5."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 5}}))
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.address,
            "GITHUB_REPOSITORY": "team/shop",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_TOKEN": "secret",
        }

    def gitlab(self, _folder: Path) -> dict[str, str]:
        request = {"CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "5"}
        return {"GITLAB_CI": "true", "CI_API_V4_URL": self.address, "GITLAB_TOKEN": "secret", **request}


@contextmanager
def forge() -> Iterator[Forge]:
    kept = Forge()

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kept.requests.append((self.command, self.path, dict(self.headers)))
            self.send_response(kept.status)
            if kept.status == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()
            said = kept.answer(self.command, self.path, json.loads(body or "{}"))
            self.wfile.write(json.dumps(said).encode())

        do_GET = do_POST = do_PATCH = do_PUT = handle_one  # noqa: N815

        def log_message(self, *_said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.address = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield kept
        server.shutdown()
