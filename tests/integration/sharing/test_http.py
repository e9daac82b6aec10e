"""Packs from a web server: ranges, limits, redirects, no tokens."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from obstore.store import HTTPStore

from gitrag.actions.sharing import upkeep
from gitrag.errors import NetworkError
from gitrag.sharing import object_storage
from gitrag.sharing.object_storage import ObjectServer
from gitrag.sharing.place import GoneError, NoPlaceError, SharingError, TooLargeError
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
        damaged: How many more answers with vectors have a byte that is another one, each another byte.
        pause_s: How long it waits before each of the bytes that it sends one by one; 0: all at once.
        more: How many bytes it sends where it says that it sends 10.
    """

    root: Path
    url: str = ""
    asked: list[tuple[str, str | None, dict[str, str]]] = field(default_factory=list)
    ranges: bool = True
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    damaged: int = 0
    pause_s: float = 0.0
    more: int = 0


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
            if there.more:
                self.protocol_version = "HTTP/1.1"
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Range", "bytes 0-9/1000")
                self.send_header("Content-Length", "10")
                self.send_header("Transfer-Encoding", "chunked")  # which counts
                self.end_headers()
                with suppress(OSError):  # the client may have left
                    for _ in range(there.more >> 16):
                        self.wfile.write(b"10000\r\n" + bytes(1 << 16) + b"\r\n")
                    self.wfile.write(b"0\r\n\r\n")
                return
            path = there.root / name
            data = path.read_bytes() if path.is_file() else None
            status = 404 if data is None else 200
            data = data or b""
            if wanted and there.ranges and status == 200:
                first, last = map(int, wanted.removeprefix("bytes=").split("-"))
                size, data, status = len(data), data[first : last + 1], 206
            if there.damaged and name.endswith(".rows"):
                there.damaged -= 1
                place = there.damaged % len(data)
                data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            if status == 206:
                self.send_header("Content-Range", f"bytes {first}-{first + len(data) - 1}/{size}")
            self.end_headers()
            with suppress(OSError):  # the client may have left
                for part in (data[n : n + 1] for n in range(len(data))) if there.pause_s else (data,):
                    time.sleep(there.pause_s)
                    self.wfile.write(part)

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


@pytest.mark.usefixtures("quick_model")
def test_of_a_large_pack_only_ranges_are_fetched(web, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, web.root.as_uri(), count=600)
    ann = team.clone("ann")
    ann.embed()
    ann.push()
    bob = team.clone("bob")
    bob.git.commit({f"m{n}.py": None for n in range(1, 600)})
    bob.open().store.remove()
    bob.index()
    web.asked.clear()
    assert bob.waiting() == 2
    bob = Person(bob.git, web.url)
    assert bob.pull().texts == 2
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
    assert ObjectServer(web.url).list() == {}
    (_, _, headers), *_ = web.asked
    assert {name.lower() for name in headers} <= {
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "connection",
    }


def test_what_a_server_answers_instead_is_one_line(web):
    there = ObjectServer(web.url)
    with pytest.raises(NoPlaceError, match=r"has no packs.txt"):
        there.list()
    for status, kind in ((403, NoPlaceError), (401, NoPlaceError), (418, NetworkError), (500, NetworkError)):
        web.answers["packs.txt"] = (status, "")
        with pytest.raises(kind, match=str(status)):
            there.list()
    with pytest.raises(GoneError):
        there.get("x.keys", 10)
    (web.root / "x.keys").write_bytes(bytes(11))
    with pytest.raises(SharingError, match="larger than 10 bytes"):
        there.get("x.keys", 10)
    with pytest.raises(NetworkError, match="cannot be used"):
        ObjectServer("http://127.0.0.1:9").list()


def test_of_more_than_a_server_says_no_more_is_taken(web):
    web.more = 1 << 26
    there = ObjectServer(web.url)
    for wanted in (lambda: there.get("x.keys", 10), lambda: there.read("x.rows", 0, 10)):
        with pytest.raises(TooLargeError, match="larger than 10 bytes"):
            wanted()


def test_a_web_server_of_a_cloud_is_asked_as_any_other():
    """Its name makes no bucket of it, to which credentials would go."""
    assert isinstance(ObjectServer("https://team.s3.amazonaws.com/packs")._store(), HTTPStore)


def test_redirects_end(web):
    there = ObjectServer(web.url)
    web.answers["packs.txt"] = (302, f"{web.url}/packs.txt")
    with pytest.raises(NetworkError, match="error following redirect"):
        there.list()
    assert len(web.asked) < 20


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
    assert ObjectServer(web.url).list() == {}
    with pytest.raises(NoPlaceError, match="can only be read"):
        ObjectServer(web.url).change({}, [])


def test_what_is_damaged_on_the_way_is_fetched_again_and_held_against_no_pack(web, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, web.root.as_uri())
    ann, bob = team.clone("ann"), Person(team.clone("bob").git, web.url)
    ann.embed()
    ann.push()
    web.damaged = 1
    pulled = bob.pull()
    assert (pulled.texts, pulled.refused, pulled.skipped) == (40, [], [])

    eve = Person(team.clone("eve").git, web.url)
    web.damaged = 100
    pulled = eve.pull()
    assert (pulled.texts, pulled.refused, eve.vectors()) == (0, [], {})
    assert "(fetched 3 times)" in pulled.skipped[0].why
    assert eve.team().ledger.refused == {}
    web.damaged = 0
    there = Person(eve.git, team.address)
    assert upkeep.tidy(there.team(), really=True, damaged=True) == upkeep.Tidied(applied=True)
    assert eve.pull().texts == 40


def test_a_pack_that_is_listed_and_not_there_is_left_out(web, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, web.root.as_uri())
    ann, bob = team.clone("ann"), Person(team.clone("bob").git, web.url)
    ann.embed()
    ann.push()
    (name,) = ann.packs()
    gone = name[:-64] + "0" * 64
    with (web.root / "packs.txt").open("a") as listing:
        listing.write(f"{gone}.keys 100\n{gone}.rows 100\n")
    pulled = bob.pull()
    assert (pulled.texts, pulled.refused) == (40, [])
    assert [(each.pack, each.why) for each in pulled.skipped] == [(gone, "is listed, and not there")]
    assert upkeep.status(bob.team()).packs == 1
    assert upkeep.verify(bob.team()).packs == 1


def test_a_transfer_that_all_but_stands_still_is_given_up(web, monkeypatch):
    monkeypatch.setattr(object_storage, "_TIMEOUT", timedelta(seconds=0.5))
    web.pause_s = 0.02
    (web.root / "packs.txt").write_bytes(bytes(10_000))
    with pytest.raises(NetworkError, match="cannot be used"):
        ObjectServer(web.url).list()
