"""What background work waits for: mains power, and a machine that is not busy."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.indexing.turn import EmbeddingTurn, Strain, is_on_battery

BATTERY = {"type": "Battery", "status": "Discharging"}


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, False),
        ({"BAT0": BATTERY}, True),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "0"}}, True),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "1"}}, False),  # more is used than it gives
        ({"BAT0": BATTERY, "ucsi": {"type": "USB", "online": "1"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Charging"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Full"}, "BAT1": BATTERY}, True),
        ({"hidpp_battery_0": BATTERY | {"scope": "Device"}}, False),
        ({"BAT0": {"status": "Discharging"}}, False),
    ],
)
def test_what_the_system_lists_says_whether_a_battery_is_used_up(supplies, expected, tmp_path):
    for name, facts in supplies.items():
        (tmp_path / name).mkdir()
        for fact, said in facts.items():
            (tmp_path / name / fact).write_text(said + "\n")
    assert is_on_battery(tmp_path) is expected


def test_where_the_system_lists_nothing_there_is_no_battery(tmp_path):
    assert not is_on_battery(tmp_path / "none")


def test_a_busy_machine_is_waited_for_but_not_for_ever(tmp_path):
    loads = [1.9, 2.0, 1.9]
    strain = Strain(tmp_path, load=lambda: loads.pop(0))
    assert [strain(), strain(), strain()] == ["", "while the machine is busy", ""]
    assert Strain(tmp_path, load=lambda: 9.0, patience_s=0.0)() == ""


def test_a_turn_ends_where_the_machine_is_strained_and_is_not_taken(tmp_path: Path):
    said = [""]
    turn = EmbeddingTurn(tmp_path / "turn", "own", lambda: said[0])
    assert turn.take(lambda: False, pytest.fail)
    assert not turn.must_end()
    said = ["for mains power"]
    assert turn.must_end()
    turn.release()
    heard: list[str] = []
    assert not turn.take(lambda: bool(heard), heard.append)
    assert heard == ["for mains power"]


def test_who_waits_for_the_machine_is_in_nobodys_way_till_then(tmp_path: Path):
    said, heard = ["for mains power"], []
    waits = EmbeddingTurn(tmp_path, "waits", lambda: said[0])
    commits = EmbeddingTurn(tmp_path, "commits", str)
    waits.ask()

    def meanwhile(what: str) -> None:
        heard.append(what)
        if said[0]:
            assert commits.take(lambda: False, pytest.fail)
            assert not commits.must_end()
            said[0] = ""
        else:
            assert commits.must_end()
            commits.release()

    assert waits.take(lambda: False, meanwhile)
    waits.release()
    assert heard == ["for mains power", "until commits is refined"]
