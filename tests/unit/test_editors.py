"""What is published for editors is of this version, and offers what its code has."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from gitrag import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def test_the_extension_is_of_this_version_and_has_the_commands_and_settings_that_it_offers():
    package = json.loads((EXTENSION / "package.json").read_text())
    code = "".join(path.read_text("utf-8") for path in sorted((EXTENSION / "src").glob("*.js")))
    assert package["version"] == __version__
    assert code.count("\n") < 400
    offered = {each["command"] for each in package["contributes"]["commands"]}
    assert {*re.findall(r'register\("([\w.]+)"', code)} == {*offered, "gitrag.callers"}
    assert {each["command"] for each in package["contributes"]["menus"]["editor/context"]} <= offered
    settings = package["contributes"]["configuration"]["properties"]
    assert {*re.findall(r'settings\(\)\.get\("(\w+)"\)', code)} == {
        each.partition(".")[2] for each in settings
    }
    assert settings["gitrag.command"]["scope"] == "machine"  # no workspace chooses the program
    assert (EXTENSION / package["files"][1]).is_file()


def test_what_builds_it_is_what_the_tests_build_it_with():
    needed = json.loads((EXTENSION / "package.json").read_text())["devDependencies"]
    assert all(f"{name}@{version}" in (ROOT / "scripts/test").read_text() for name, version in needed.items())


def test_no_part_of_it_is_in_the_wheel():
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["gitrag"]
    assert not [each for each in targets["wheel"]["force-include"] if each.startswith("editors")]
