from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from gitrag.prerequisites import PACKAGES, State, check_packages

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

NOT_LOOKED_FOR = {"click", "pip"}  # without the one there is no command line; the other is run, not imported


def test_the_packages_looked_for_are_those_declared():
    declared = {
        re.split(r"[<>=~! \[]", line)[0]
        for line in tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    }
    by_import = metadata.packages_distributions()
    looked_for = {by_import[name][0].lower() for name in PACKAGES}
    assert looked_for == declared - NOT_LOOKED_FOR


def test_nothing_is_missing_here():
    """§3.2."""
    assert check_packages().state is State.OK
