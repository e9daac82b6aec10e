"""The wheel, built and installed as a user gets it: whatever gitrag reads at run time is in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import click
import pytest

from tests.support.command import PATIENCE_S, SOURCES, user_environment
from tests.support.repository import create_repository

TOP = Path(__file__).parents[2]


def pip(*args: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, args)]
    subprocess.run(command, check=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, TOP)
    [built] = directory.glob("*.whl")
    return built


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path):
    source = {
        path.relative_to(TOP).as_posix()
        for path in (TOP / "gitrag").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    hooks = {f"gitrag/hooking/scripts/{path.name}" for path in (TOP / "hooks").iterdir()}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in packed if ".dist-info/" not in name} == source | hooks


def test_what_is_installed_from_it_works_alone(wheel: Path, tmp_path: Path, model_dir: Path):
    """In an environment of its own, which borrows only the dependencies."""
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    pip("--python", place / "bin" / "python", "install", "--no-deps", "--no-index", wheel)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{Path(click.__file__).parents[1]}\n")
    environment = user_environment(tmp_path / "home", model_dir)
    environment["PATH"] = f"{place / 'bin'}:{os.environ['PATH']}"
    sources = {**SOURCES, "jobs.go": "package jobs\n\nfunc Send() { post() }\n\nfunc post() {}\n"}
    git = create_repository(tmp_path / "project", environment, sources)

    def gitrag(*args: str) -> tuple[str, str]:
        command = [place / "bin" / "gitrag", *args]
        done = subprocess.run(
            command, cwd=git.path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    assert "written .agents/skills/gitrag-search/SKILL.md" in gitrag("init", "--agents", "all", "--write")[0]
    assert "Hooks: post-commit" in gitrag("init", "--skip-embed")[0]
    assert f"{place}" in (git.path / ".git" / "hooks" / "post-commit").read_text()
    found, said = gitrag("search", "post", "--lang", "go", "--limit", "1", "--output", "json")
    [hit] = json.loads(found)["code_snippets"]
    assert (hit["name"], hit["kind"]) == ("post", "function")
    assert "on draft vectors" in said
    assert "Send" in gitrag("graph", "post")[0]
