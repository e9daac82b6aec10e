"""Packs from a web server: ranges, limits, redirects, no tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gitrag.errors import NetworkError
from gitrag.sharing.http import Server
from gitrag.sharing.place import GoneError, NoPlaceError, SharingError
from tests.support.sharing import Person, make_team, poisoned


@dataclass
class Web:
    """A server of a directory.

    Attributes:
        root: The directory.
        url: Its address.
        asked: Each request: path, range, and all headers.
        ranges: Whether it knows ranges.
        answers: What it answers to a path instead: a status, and where to.
    """

    root: Path
    url: str = ""
    asked: list[tuple[str, str | None, dict[str, str]]] = field(default_factory=list)
    ranges: bool = True
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)


@pytest.fixture
def web(tmp_path) -> Iterator[Web]:
    (tmp_path / "packs").mkdir()
    there = Web(tmp_path / "packs")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            there.asked.append((self.path, wanted, dict(self.headers)))
            name = self.path.rpartition("/")[2]
            if name in there.answers:
                status, place = there.answers[name]
                self.send_response(status)
                self.send_header("Location", place)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path = there.root / name
            data = path.read_bytes() if path.is_file() else None
            status = 404 if data is None else 200
            data = data or b""
            if wanted and there.ranges and status == 200:
                first, last = map(int, wanted.removeprefix("bytes=").split("-"))
                data, status = data[first : last + 1], 206
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        there.url = f"http://127.0.0.1:{server.server_port}/team"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield there
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("ranges", [True, False])
def test_what_was_pushed_to_the_directory_is_pulled_over_http(web, tmp_path, model_dir, ranges):
    web.ranges = ranges
    team = make_team(tmp_path, model_dir, web.root.as_uri(), count=90)
    ann, bob = team.clone("ann"), Person(team.clone("bob").git, web.url)
    ann.embed()
    ann.push()
    assert bob.pull().texts == len(ann.vectors())
    assert bob.vectors() == ann.vectors()
    bob.git.commit({"new.py": "def unheard_of():\n    return 'of'\n"})
    bob.index()
    ann.merge(bob)
    ann.embed()
    ann.push()
    web.asked.clear()
    assert bob.pull().texts == 2
    assert len([path for path, *_ in web.asked if path.endswith(".rows")]) == 1


def test_of_a_large_pack_only_ranges_are_fetched(web, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, web.root.as_uri(), count=600)
    ann = team.clone("ann")
    ann.embed()
    ann.push()
    bob = team.clone("bob")
    bob.git.commit({f"m{n}.py": None for n in range(3, 600)})
    bob.open().store.remove()
    bob.index()
    web.asked.clear()
    assert bob.waiting() == 6
    bob = Person(bob.git, web.url)
    assert bob.pull().texts == 6
    parts = [wanted for path, wanted, _ in web.asked if path.endswith(".rows")]
    assert all(parts)
    sizes = [int(part[6:].split("-")[1]) - int(part[6:].split("-")[0]) + 1 for part in parts if part]
    assert sum(sizes) <= 0.6 * 1200 * 384 + 64 * 384


def test_nothing_of_the_users_is_sent(web, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    (web.root / "packs.txt").write_text("")
    assert Server(web.url).list() == {}
    (_, _, headers), *_ = web.asked
    assert {name.lower() for name in headers} <= {
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "connection",
    }


def test_what_a_server_answers_instead_is_one_line(web):
    there = Server(web.url)
    with pytest.raises(NoPlaceError, match=r"has no packs.txt"):
        there.list()
    for status, kind in ((403, NoPlaceError), (401, NoPlaceError), (418, SharingError), (500, NetworkError)):
        web.answers["packs.txt"] = (status, "")
        with pytest.raises(kind, match=str(status)):
            there.list()
    with pytest.raises(GoneError):
        there.get("x.keys", 10)
    (web.root / "x.keys").write_bytes(bytes(11))
    with pytest.raises(SharingError, match="larger than 10 bytes"):
        there.get("x.keys", 10)
    with pytest.raises(NetworkError, match="cannot be reached"):
        Server("http://127.0.0.1:9").list()


def test_redirects_lead_to_no_other_scheme_and_end(web):
    there = Server(web.url)
    web.answers["packs.txt"] = (302, "http://example.invalid/packs.txt")
    with pytest.raises(SharingError, match=r"redirects to http://example\.invalid"):
        there.list()
    web.answers["packs.txt"] = (302, f"{web.url}/packs.txt")
    web.asked.clear()
    with pytest.raises(SharingError, match="redirects more than 5 times"):
        there.list()
    assert len(web.asked) == 6


def test_a_poisoned_pack_of_a_server_is_refused(web, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, web.root.as_uri())
    mallory, bob = team.clone("mallory"), Person(team.clone("bob").git, web.url)
    mallory.embed()
    mallory.put(poisoned(mallory, 1.0))
    (refusal,) = bob.pull().refused
    assert refusal.origin == web.url
    assert bob.vectors() == {}


def test_a_listing_of_nonsense_is_no_pack(web):
    (web.root / "packs.txt").write_bytes(b"\xff\0\n../../etc/passwd 10\nv1-x.keys 3\n" + b"a" * 1000)
    assert Server(web.url).list() == {}
    with pytest.raises(NoPlaceError, match="can only be read"):
        Server(web.url).change({}, [])
