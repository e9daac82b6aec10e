"""What a dependency that is installed may have us read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitrag.actions.repositories import elsewhere
from gitrag.actions.repositories.elsewhere import Dependency
from gitrag.errors import UsageError

SITE = ".venv/lib/python3.11/site-packages"


def find(name: str, start: Path) -> Dependency:
    return elsewhere.find(name, start, {})


def installed(place: Path, name: str, record: str) -> Path:
    (place / ".venv").mkdir(parents=True, exist_ok=True)
    (place / ".venv/pyvenv.cfg").write_text("home = /usr\n")
    info = place / SITE / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text(record)
    (place / SITE / f"{name}.py").write_text(f"def {name}():\n    pass\n")
    return info


def test_who_describes_itself_in_links_or_pipes_is_no_dependency(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("Metadata-Version: 2.1\nName: leaked\nVersion: 1.0\n")
    project = tmp_path / "project"
    linked = installed(project, "linked", "linked.py,,\n")
    (linked / "METADATA").unlink()
    (linked / "METADATA").symlink_to(outside)
    assert find_nothing("leaked", project) == 'No dependency "leaked" is installed here.'
    assert "leaked" not in find_nothing("leakd", project)
    piped = installed(project, "piped", "")
    (piped / "RECORD").unlink()
    os.mkfifo(piped / "RECORD")
    large = installed(project, "large", "large.py,,\n")
    os.truncate(large / "METADATA", 17 << 20)
    odd = installed(project, "odd", "odd.py,,\n")
    (odd / "METADATA").write_bytes(b"Name: \xff\n")
    (odd / "RECORD").write_text("x" * 200_000)
    installed(project, "plain", "plain.py,,\n")
    assert find("plain", project).paths == ("plain.py",)
    assert find_nothing("large", project).startswith('No dependency "large"')


def find_nothing(name: str, start: Path) -> str:
    with pytest.raises(UsageError) as told:
        find(name, start)
    return str(told.value)


def test_packages_of_python_outside_of_the_environment_are_not_looked_at(tmp_path):
    installed(tmp_path / "theirs", "secrets_", "secrets_.py,,\n")
    (tmp_path / "project/.venv").mkdir(parents=True)
    (tmp_path / "project/.venv/pyvenv.cfg").write_text("home = /usr\n")
    (tmp_path / "project/.venv/lib").symlink_to(tmp_path / "theirs/.venv/lib")
    assert find_nothing("secrets_", tmp_path / "project").startswith("No dependency")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.venv").symlink_to(tmp_path / "theirs/.venv")
    assert find("secrets_", tmp_path / "linked").paths == ("secrets_.py",)


@pytest.mark.parametrize("is_repository", [True, False])
def test_a_link_of_npm_leads_to_another_place_of_the_project_only(tmp_path, is_repository):
    project = tmp_path / "project"
    modules = project / "node_modules"
    modules.mkdir(parents=True)
    if is_repository:
        (project / ".git").mkdir()
    for place in (tmp_path / "outside", project / "packages/inside"):
        place.mkdir(parents=True)
        (place / "package.json").write_text("{}")
        (place / "index.js").write_text("export const x = 1;\n")
        (modules / place.name).symlink_to(place)
    (modules / "loop").symlink_to(modules / "loop")
    assert find("inside", project / "packages").paths == ("index.js", "package.json")
    for name in ("outside", "loop"):
        assert find_nothing(name, project).startswith(f'No dependency "{name}"')


def test_a_package_is_walked_through_to_a_limited_depth(tmp_path):
    root = tmp_path / "node_modules/deep"
    place = root.joinpath(*["d"] * 100)
    place.mkdir(parents=True)
    (place / "index.js").write_text("export const x = 1;\n")
    (root / "package.json").write_text("{}")
    assert find("deep", tmp_path).paths == ("package.json",)
