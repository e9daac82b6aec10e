"""Sharing over HTTPS, with a certificate of one's own authority: from a web server, at a git remote."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gitrag.errors import NetworkError
from gitrag.git import remote_files
from gitrag.sharing.object_storage import ObjectServer
from tests.support.sharing import Person, make_team

AUTHORITY = """
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ours
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=127.0.0.1
printf 'subjectAltName=IP:127.0.0.1\n' >san
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile san
"""


@dataclass
class Secure:
    """A server of a directory and of bare repositories.

    Attributes:
        root: Where they are.
        authority: The certificate to trust.
        url: Its address.
        stall: Set: it sends a part of what git fetches, then nothing until it ends.
        over: Set when it ends.
        elsewhere: Where it redirects to.
    """

    root: Path
    authority: Path
    url: str = ""
    stall: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    elsewhere: str = ""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    place = tmp_path_factory.mktemp("authority")
    subprocess.run(["sh", "-e", "-c", AUTHORITY], cwd=place, check=True, capture_output=True)
    return place


@pytest.fixture
def secure(tmp_path, certificates) -> Iterator[Secure]:  # noqa: C901 - a server's few methods
    there = Secure(tmp_path, certificates / "ca.pem")
    backend = Path(subprocess.check_output(["git", "--exec-path"], text=True).strip(), "git-http-backend")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = there.root / self.path.lstrip("/")
            if there.elsewhere:
                self.answer("302", [("Location", there.elsewhere)], b"")
            elif ".git/" in self.path:
                self.run_git()
            elif path.is_file():
                self.answer("200", [], path.read_bytes())
            else:
                self.answer("404", [], b"")

        def do_POST(self) -> None:
            self.run_git()

        def run_git(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            while self.headers.get("Transfer-Encoding") == "chunked" and (
                length := int(self.rfile.readline(), 16)
            ):
                body += self.rfile.read(length)
                self.rfile.readline()
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(there.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
            }
            done = subprocess.run([backend], input=body, env=environment, capture_output=True, check=True)
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            lines = [line.split(": ", 1) for line in head.decode().splitlines()]
            status = next((value for name, value in lines if name == "Status"), "200")
            stalls = there.stall.is_set() and b"command=fetch" in body
            self.answer(
                status[:3], [(name, value) for name, value in lines if name != "Status"], data, stalls
            )

        def answer(
            self, status: str, headers: list[tuple[str, str]], data: bytes, stalls: bool = False
        ) -> None:
            self.send_response(int(status))
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if stalls else data)
            if stalls:
                self.wfile.flush()
                there.over.wait()
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        there.url = f"https://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield there
        there.over.set()
        server.shutdown()
        thread.join()


def test_a_directory_is_pulled_from_whom_the_user_trusts(secure, tmp_path, model_dir, monkeypatch):
    (tmp_path / "packs").mkdir()
    team = make_team(tmp_path, model_dir, (tmp_path / "packs").as_uri(), count=4)
    ann, bob = team.clone("ann"), Person(team.clone("bob").git, f"{secure.url}/packs")
    ann.embed()
    ann.push()
    with pytest.raises(NetworkError, match=r"(?i)certificate"):
        ObjectServer(bob.address).list()
    monkeypatch.setenv("SSL_CERT_FILE", str(secure.authority))
    assert bob.pull().texts == 8
    assert bob.vectors() == ann.vectors()


def test_no_redirect_leaves_https(secure, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(secure.authority))
    secure.elsewhere = "http://127.0.0.1:1/packs.txt"
    with pytest.raises(NetworkError, match="error following redirect"):
        ObjectServer(secure.url).list()


def test_a_git_remote_is_shared_with_whom_the_user_trusts(secure, tmp_path, model_dir, monkeypatch):
    team = make_team(tmp_path, model_dir, "git", count=4)
    team.origin.git("config", "http.receivepack", "true")
    ann, bob = team.clone("ann"), team.clone("bob")
    for person in (ann, bob):
        person.git.git("remote", "set-url", "origin", f"{secure.url}/origin.git")
        person.git.git("config", "http.sslVerify", "false")  # the repository's own: not asked
    ann.embed()
    with pytest.raises(NetworkError, match=r"(?i)certificate"):
        ann.push()
    ann.git.git("config", "--global", "http.sslCAInfo", str(secure.authority))
    assert ann.push().texts == 8
    monkeypatch.setattr(remote_files, "_STALLED", {**remote_files._STALLED, "GIT_HTTP_LOW_SPEED_TIME": "1"})
    secure.stall.set()
    with pytest.raises(NetworkError, match="too slow"):
        bob.pull()
    secure.stall.clear()
    assert bob.pull().texts == 8
    assert bob.vectors() == ann.vectors()
