"""A server of embeddings as OpenAI's API has them: a vector is drawn for each word of a text."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


class EmbeddingServer:
    """It answers, until `faults` say otherwise: (status, body) each for one request, first in first out.

    Attributes:
        longest: Of a text with more words it says 413; 0 for no limit.
    """

    def __init__(self, dimensions: int, key: str = "", port: int = 0) -> None:
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.faults: list[tuple[int, bytes]] = []
        self.longest = 0
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                told = self.headers.get("Authorization", "")
                fake.asked.append((self.path, body, told))
                if fake.faults:
                    status, content = fake.faults.pop(0)
                elif key and told != f"Bearer {key}":
                    status, content = 401, b'{"error": {"message": "Incorrect API key\\u001b[31m provided"}}'
                elif fake.longest and any(len(text.split()) > fake.longest for text in body["input"]):
                    status, content = 413, b"too long"
                else:
                    vectors = [vector_of(text, dimensions).tolist() for text in body["input"]]
                    rows = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
                    status, content = 200, json.dumps({"object": "list", "data": rows[::-1]}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                if status // 100 == 3:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.model = f"http://127.0.0.1:{self.port}/v1#small"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def vector_of(text: str, dimensions: int) -> np.ndarray:
    words = "".join(each if each.isalnum() else " " for each in text.lower()).split()
    drawn = [
        np.random.default_rng(list(word.encode())).standard_normal(dimensions) for word in words or ["-"]
    ]
    return np.mean(drawn, axis=0)
