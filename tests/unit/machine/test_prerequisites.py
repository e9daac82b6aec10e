from __future__ import annotations

import os
import re
import tomllib
from importlib import metadata
from pathlib import Path

from gitrag.machine.prerequisites import PACKAGES, CheckState, check_packages, check_writable

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"

NOT_LOOKED_FOR = {"click", "pip"}  # without the one there is no command line; the other is run, not imported


def test_the_packages_looked_for_are_those_declared():
    declared = {
        re.split(r"[<>=~! \[]", line)[0]
        for line in tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    }
    by_import = metadata.packages_distributions()
    looked_for = {by_import[name][0].lower().replace("_", "-") for name in PACKAGES}
    assert looked_for == declared - NOT_LOOKED_FOR


def test_nothing_is_missing_here():
    """The environment of the tests has every package that gitrag needs."""
    assert check_packages().state is CheckState.OK


def test_a_file_that_goes_while_it_is_looked_at_is_no_hindrance(tmp_path: Path, monkeypatch):
    """Another process's note of what it does with the index goes at any moment."""
    note = tmp_path / "lock.holder"
    note.touch()
    access = os.access

    def late(path: Path, mode: int) -> bool:
        if path == note:
            note.unlink()
        return access(path, mode)

    monkeypatch.setattr(os, "access", late)
    assert check_writable(tmp_path).state is CheckState.OK
    assert not note.exists()
