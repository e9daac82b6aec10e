"""The record of packs: written and read back; one that somebody else wrote counts as empty."""

from __future__ import annotations

import json
import os

import pytest

from gitrag.sharing.ledger import NAME, Ledger

PACK = "v1-" + "0" * 16 + "-" + "a" * 64


def test_what_is_recorded_is_read_back(tmp_path):
    ledger = Ledger.load(tmp_path)
    ledger.checked |= {PACK, PACK.replace("a", "b")}
    ledger.refuse(PACK, "origin (/x)", "is damaged")
    ledger.asked["origin (/x)"] = 12.5
    ledger.pushed["origin (/x)"] = "tree"
    ledger.failure = "no network"
    ledger.save()
    assert Ledger.load(tmp_path) == ledger
    assert ledger.checked == {PACK.replace("a", "b")}
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b'{"refused": 3}',
        json.dumps({"refused": [["../x", "y", "z"], [1]], "checked": [], "asked": {}, "pushed": {}}).encode(),
        json.dumps({"refused": [], "checked": [], "asked": {"x": "y"}, "pushed": {}, "failure": ""}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_record_of_nonsense_counts_as_empty(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    assert Ledger.load(tmp_path) == Ledger(tmp_path / NAME)


def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / NAME)
    assert Ledger.load(tmp_path) == Ledger(tmp_path / NAME)
