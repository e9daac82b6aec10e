"""What is recorded of vectors over time: little, and nothing that makes a reader fail."""

from __future__ import annotations

import os

from gitrag.indexing.coverage import MOST, NAME, Coverage, note, read


def test_moments_are_read_back_in_order(tmp_path):
    assert read(tmp_path) == ()
    moments = [Coverage(1000.0, 12, 10, 0), Coverage(1060.0, 12, 10, 10)]
    for each in moments:
        note(tmp_path, each)
    assert read(tmp_path) == tuple(moments)
    assert [each.share for each in moments] == [0.0, 1.0]
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_where_nothing_changes_only_the_first_and_the_last_moment_are_kept(tmp_path):
    for at in range(50):
        note(tmp_path, Coverage(float(at), 5, 4, 4))
    assert [each.at for each in read(tmp_path)] == [0.0, 49.0]


def test_very_many_moments_become_fewer_and_the_first_and_last_stay(tmp_path):
    for at in range(MOST * 4):
        note(tmp_path, Coverage(float(at), 5, MOST * 4, at))
    held = [each.at for each in read(tmp_path)]
    assert len(held) <= MOST
    assert (held[0], held[-1]) == (0.0, MOST * 4 - 1.0)
    assert held == sorted(held)
    assert (tmp_path / NAME).stat().st_size < 65_536


def test_what_makes_no_sense_is_left_out(tmp_path):
    lines = [
        "",
        "x",
        "1 2 3",
        "1 2 3 4",
        "-1 2 3 3",
        "9" * 400,
        "5 6 7 7",
        "٣ 1 1 1",
        "9" * 12 + " 1 1 1",
        "nan 1 1 1",
    ]
    (tmp_path / NAME).write_text("\n".join(lines), "utf-8")
    assert read(tmp_path) == (Coverage(5.0, 6, 7, 7),)
    (tmp_path / NAME).write_bytes(b"\xff" * 100_000)
    assert read(tmp_path) == ()
    (tmp_path / NAME).unlink()
    os.mkfifo(tmp_path / NAME)
    assert read(tmp_path) == ()
    note(tmp_path / "no such directory", Coverage(1.0, 1, 1, 1))
