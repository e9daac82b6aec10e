"""What is recorded of vectors over time: little, and nothing that makes a reader fail."""

from __future__ import annotations

import os

import pytest

from gitrag.indexing import coverage
from gitrag.indexing.coverage import NAME, Coverage, note, read

MOST = 40


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """A tenth of what is kept elsewhere: each moment writes all of them again."""
    monkeypatch.setattr(coverage, "MOST", coverage.MOST // 10)
    assert coverage.MOST == MOST


def test_moments_are_read_back_in_order(tmp_path):
    assert read(tmp_path, "") == ()
    moments = [Coverage(1000.0, 12, 10, 0), Coverage(1060.0, 12, 10, 10)]
    for each in moments:
        note(tmp_path, "", each)
    assert read(tmp_path, "") == tuple(moments)
    assert [each.share for each in moments] == [0.0, 1.0]
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_where_nothing_changes_only_the_first_moment_is_kept(tmp_path):
    for at in range(50):
        note(tmp_path, "", Coverage(float(at), 5, 4, 4))
    assert [each.at for each in read(tmp_path, "")] == [0.0]


def test_very_many_moments_become_fewer_and_the_first_and_last_stay(tmp_path):
    for at in range(MOST * 4):
        note(tmp_path, "", Coverage(float(at), 5, MOST * 4, at))
    held = [each.at for each in read(tmp_path, "")]
    assert len(held) <= MOST
    assert (held[0], held[-1]) == (0.0, MOST * 4 - 1.0)
    assert held == sorted(held)
    assert (tmp_path / NAME).stat().st_size * 10 < 65_536


def test_what_makes_no_sense_is_left_out(tmp_path):
    note(tmp_path, "", Coverage(5.0, 6, 7, 7))
    good = (tmp_path / NAME).read_text("ascii").strip()
    main = good.split()[0]
    lines = [
        "",
        "x",
        "1 2 3 3",
        f"{main} 1 2 3",
        f"{main} 1 2 3 4",
        f"{main} -1 2 3 3",
        "9" * 400,
        good,
        f"{main} ٣ 1 1 1",
        f"{main} {'9' * 12} 1 1 1",
        f"{main} nan 1 1 1",
        f"{main.upper()}z 1 1 1 1",
    ]
    (tmp_path / NAME).write_text("\n".join(lines), "utf-8")
    assert read(tmp_path, "") == (Coverage(5.0, 6, 7, 7),)
    (tmp_path / NAME).write_bytes(b"\xff" * 100_000)
    assert read(tmp_path, "") == ()
    (tmp_path / NAME).unlink()
    os.mkfifo(tmp_path / NAME)
    assert read(tmp_path, "") == ()
    note(tmp_path / "no such directory", "", Coverage(1.0, 1, 1, 1))


def test_worktrees_that_take_turns_are_told_apart(tmp_path):
    for at in range(0, MOST * 4, 2):
        note(tmp_path, "", Coverage(float(at), 7, 7, 7))
        note(tmp_path, "wt\udcff x\n", Coverage(at + 1.0, 4, 4, 0))
    assert [(each.at, each.chunks) for each in read(tmp_path, "")] == [(0.0, 7)]
    assert [(each.at, each.chunks) for each in read(tmp_path, "wt\udcff x\n")] == [(1.0, 4)]
    assert read(tmp_path, "other") == ()


def test_what_a_wrong_clock_has_recorded_goes_when_the_clock_is_right(tmp_path):
    note(tmp_path, "", Coverage(1000.0, 5, 4, 1))
    note(tmp_path, "", Coverage(4e9, 5, 4, 2))
    note(tmp_path, "", Coverage(1060.0, 5, 4, 3))
    assert [each.at for each in read(tmp_path, "")] == [1000.0, 1060.0]


def test_where_moments_become_fewer_every_worktree_keeps_some(tmp_path):
    for at in range(0, MOST * 2, 2):
        note(tmp_path, "", Coverage(float(at), 5, MOST * 4, at))
        note(tmp_path, "wt", Coverage(at + 1.0, 5, MOST * 4, at))
    assert (read(tmp_path, "")[0].at, read(tmp_path, "wt")[0].at) == (0.0, 1.0)
    for number in range(MOST * 3):
        note(tmp_path, f"wt{number}", Coverage(MOST * 2.0 + number, 5, 5, 5))
    assert len((tmp_path / NAME).read_text("ascii").splitlines()) <= MOST


def test_two_moments_within_a_second_are_both_kept(tmp_path):
    note(tmp_path, "", Coverage(1000.7, 5, 4, 1))
    note(tmp_path, "", Coverage(1000.9, 5, 4, 2))
    assert [each.refined for each in read(tmp_path, "")] == [1, 2]
