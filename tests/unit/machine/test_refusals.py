"""The remedy where a permission is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.machine.refusals import permission_fix


@pytest.mark.parametrize("path", ["project/.git/gitrag/lock", "bare.git/gitrag", ".cache/gitrag/indexes/0a"])
def test_what_is_gits_or_ours_is_given_back_by_a_command(tmp_path, path):
    there = tmp_path / path
    there.parent.mkdir(parents=True)
    assert permission_fix(there) == f"chmod -R u+rwX {there.parent}"


@pytest.mark.parametrize("missing", ["/.gitrag-nowhere/gitrag", "/.gitrag-nowhere"])
def test_no_command_takes_over_all_that_is_beside_what_is_missing(missing):
    """As where HOME is `/`, in a container: `sudo chown -R "$USER" /` would be the end of it."""
    assert permission_fix(Path(missing)) == "Let your user read and write /."


def test_a_file_that_is_there_is_given_back_alone(tmp_path):
    file = tmp_path / "notes.txt"
    file.touch()
    assert permission_fix(file) == f"chmod -R u+rwX {file}"
