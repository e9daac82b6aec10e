"""The record of packs: written and read back; one that somebody else wrote counts as empty."""

from __future__ import annotations

import json
import os

import pytest

from gitrag.sharing.ledger import MOST_REFUSED, NAME, Ledger

PACK = "v1-" + "0" * 16 + "-" + "a" * 64


def test_what_is_recorded_is_read_back(tmp_path):
    ledger = Ledger.load(tmp_path)
    ledger.checked |= {PACK, PACK.replace("a", "b")}
    ledger.compare(PACK.replace("a", "b"), 5, enough=False)
    ledger.damaged.add(PACK.replace("a", "c"))
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


def test_refusals_are_not_forgotten_while_their_packs_are_listed(tmp_path):
    names = [f"v1-{'0' * 16}-{number:064x}" for number in range(MOST_REFUSED + 10)]
    ledger = Ledger.load(tmp_path)
    for name in names[:5_000]:
        ledger.refuse(name, "origin", "has other vectors")
    ledger.save()
    assert Ledger.load(tmp_path).refused.keys() == set(names[:5_000])
    ledger = Ledger.load(tmp_path)
    ledger.see(names[:3])
    for name in names[5_000:]:
        ledger.refuse(name, "origin", "has other vectors" * 1000)
    ledger.save()
    kept = Ledger.load(tmp_path).refused
    assert len(kept) == MOST_REFUSED
    assert set(names[:3]) <= kept.keys()
    assert not set(names[3:13]) & kept.keys()
