"""Packs in a bucket, of a server on this machine that speaks S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gitrag.errors import NetworkError
from gitrag.sharing.object_storage import Bucket
from gitrag.sharing.packs import KEYS, ROWS
from gitrag.sharing.place import GoneError, NoPlaceError, SharingError
from tests.support.sharing import make_team, poisoned

NAME = "v1-" + "0" * 16 + "-" + "a" * 64


@pytest.fixture
def bucket(monkeypatch) -> Iterator[str]:
    """The address of an empty bucket."""
    server_module = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3").create_bucket(Bucket="team")
    yield "s3://team/vectors"
    server.stop()


def test_files_are_put_listed_read_and_removed(bucket):
    there = Bucket(bucket, allow_http=True)
    there.change({NAME + ROWS: b"rows", NAME + KEYS: b"keys."}, [])
    there.change({NAME + ROWS: b"rows"}, [NAME + "x"])
    assert Bucket(bucket, allow_http=True).list() == {NAME + ROWS: 4, NAME + KEYS: 5}
    assert there.get(NAME + KEYS, 5) == b"keys."
    assert there.read(NAME + KEYS, 1, 3) == b"eys"
    assert there.received == 8
    with pytest.raises(SharingError, match="larger than 4 bytes"):
        there.get(NAME + KEYS, 4)
    there.change({}, [NAME + ROWS, NAME + KEYS])
    assert there.list() == {}
    with pytest.raises(GoneError):
        there.get(NAME + KEYS, 5)


def test_what_one_has_embedded_the_other_pulls_and_what_is_wrong_is_refused(bucket, tmp_path, model_dir):
    team = make_team(tmp_path, model_dir, bucket, count=10)
    mallory, ann, bob = (team.clone(name) for name in ("mallory", "ann", "bob"))
    mallory.embed()
    mallory.put(poisoned(mallory, 1.0))
    (refusal,) = bob.pull().refused
    assert refusal.origin == bucket
    ann.embed()
    assert ann.push().texts == 20
    assert bob.pull().texts == 20
    assert bob.vectors() == ann.vectors()


def test_what_cannot_be_used_is_one_line(bucket, monkeypatch):
    with pytest.raises((NoPlaceError, NetworkError), match="s3://nobody/vectors") as error:
        Bucket("s3://nobody/vectors", allow_http=True).list()
    assert "\n" not in str(error.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(NetworkError, match="cannot be used"):
        Bucket(bucket, allow_http=True).list()
