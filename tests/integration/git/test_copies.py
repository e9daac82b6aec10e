"""Bare copies of a remote's last commit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gitrag.actions.repositories.elsewhere import Elsewhere
from gitrag.git import copies

MEBIBYTE = 1 << 20


@pytest.fixture
def remote(make_repository):
    repo = make_repository({"a.py": "def weigh(parcel):\n    return parcel.weight\n"}, name="remote")
    repo.git("config", "uploadpack.allowFilter", "true")
    return repo


class Silent:
    def update(self, done: int, total: int | None = None) -> None:
        pass

    def status(self, text: str) -> None:
        pass


@contextmanager
def silent(_label: str, _total: int | None) -> Iterator[Silent]:
    yield Silent()


def noise(remote, name: str, size: int) -> None:
    (remote.path / name).write_bytes(os.urandom(size))
    remote.git("add", "--all")
    remote.git("commit", "-m", name)


def test_what_is_too_large_is_refused_and_leaves_nothing(remote, tmp_path, monkeypatch, git_environment):
    monkeypatch.setattr(copies, "MOST_BYTES", MEBIBYTE)
    noise(remote, "noise.bin", MEBIBYTE + MEBIBYTE // 2)
    copy = tmp_path / "copy.git"
    with pytest.raises(copies.CopyTooLargeError, match="holds more than"):
        copies.fetch_head(f"file://{remote.path}", copy, git_environment)
    assert not list(copy.glob("objects/pack/tmp_*"))
    assert copies.size_of(copy) < MEBIBYTE


def test_only_what_a_fetch_brings_counts(remote, tmp_path, monkeypatch, git_environment):
    copy = tmp_path / "copy.git"
    noise(remote, "noise.bin", MEBIBYTE)
    copies.fetch_head(f"file://{remote.path}", copy, git_environment)
    (copy / "index.duckdb").write_bytes(b"x" * MEBIBYTE)
    monkeypatch.setattr(copies, "MOST_BYTES", MEBIBYTE // 2)
    monkeypatch.setattr(copies, "_LOOK_S", 0.01)
    said: list[copies.CopyTooLargeError] = []

    def watch(look: Callable[[], None]) -> None:
        try:
            look()
        except copies.CopyTooLargeError as error:
            said.append(error)

    with copies._bounded(copy, "file:///x") as look:
        watching = threading.Thread(target=watch, args=(look,))
        watching.start()
        watching.join(0.5)
        assert not said
        (copy / "objects/pack/tmp_pack_x").write_bytes(b"x" * MEBIBYTE)
        watching.join(60)
    assert said


def test_a_copy_is_asked_where_its_remote_has_grown_too_large(remote, tmp_path, monkeypatch, git_environment):
    heard: list[str] = []
    elsewhere = Elsewhere(git_environment, heard.append, silent, tmp_path / "copies")
    url = f"file://{remote.path}"
    first = elsewhere.of_url(url)
    monkeypatch.setattr("gitrag.actions.repositories.elsewhere.FRESH_S", -1.0)
    monkeypatch.setattr(copies, "MOST_BYTES", MEBIBYTE)
    noise(remote, "noise.bin", MEBIBYTE + MEBIBYTE // 2)
    assert elsewhere.of_url(url) == first
    assert [line for line in heard if "holds more than" in line and "The copy of today is asked." in line]
