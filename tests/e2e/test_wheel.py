"""The distributions, built and installed as users get them: what gitrag reads at run time is in them."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import pytest

from gitrag import __version__
from tests.support.command import PATIENCE_S, SOURCES, user_environment
from tests.support.repository import create_repository, isolated_environment

TOP = Path(__file__).parents[2]


def pip(*args: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, args)]
    subprocess.run(command, check=True, timeout=PATIENCE_S)


def built(what: str, directory: Path) -> Path:
    """Build the sdist or the wheel into a directory, as `scripts/release` does; an index would take it.

    The long description renders, and no field is malformed.
    """
    command = [sys.executable, "-m", "hatchling", "build", "--target", what, "-d", directory]
    subprocess.run(command, cwd=TOP, check=True, timeout=PATIENCE_S, capture_output=True)
    [made] = directory.iterdir()
    command = [sys.executable, "-m", "twine", "check", "--strict", made]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert checked.returncode == 0, checked.stdout
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("dist"))


def test_an_index_would_take_the_wheel(wheel: Path):
    assert wheel.name == f"gitrag-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        for page in ("gitrag.1", "git-gitrag.1"):
            place = f"gitrag-{__version__}.data/data/share/man/man1/{page}"
            assert archive.read(place) == (TOP / "docs" / page).read_bytes()
        metadata = email.message_from_bytes(archive.read(f"gitrag-{__version__}.dist-info/METADATA"))
    assert metadata["Author"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "uvx gitrag" in str(metadata.get_payload())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tag", "v0.0.0"], f"The tag is v0.0.0 and gitrag/__init__.py says {__version__}"),
        (["--tag"], "--tag needs a tag"),
        (["--publish"], "There is no option --publish"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(arguments: list[str], said: str):
    done = subprocess.run(
        [TOP / "scripts" / "release", *arguments],
        env=os.environ | {"GITRAG_VENV": sys.prefix},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode != 0, said in done.stderr) == (True, True), done.stderr


@pytest.mark.sweep(keep=0)
def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path):
    sdist = built("sdist", tmp_path / "dist")
    assert sdist.name == f"gitrag-{__version__}.tar.gz"
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, sdist)
    [again] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(again) as own, zipfile.ZipFile(wheel) as expected:
        assert {each.filename: each.CRC for each in own.infolist()} == {
            each.filename: each.CRC for each in expected.infolist()
        }


def test_the_wheel_is_small(wheel: Path):
    """16.5 MB (15.7 MiB) in November 2026, 13.9 of them the table of draft vectors, 1.3 the tuning."""
    assert wheel.stat().st_size <= 17_000_000


LARGEST_ENVIRONMENT_BYTES = 520_000_000
"""508 MB in November 2026: the grammars 192, onnxruntime 76, DuckDB 69, NumPy 60, cryptography 15 (for mcp),
gitrag 17, tokenizers with what it requires 30."""


@pytest.fixture(scope="module")
def uvx(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Run a program as uvx does, in an environment with nothing but gitrag and what it depends on.

    The package index is a directory, filled from the one that pip is configured for.
    """
    place = tmp_path_factory.mktemp("uvx")
    pip("download", "--only-binary=:all:", "--dest", place / "index", wheel)
    environment = isolated_environment(place) | {
        "UV_CACHE_DIR": str(place / "cache"),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_OFFLINE": "1",
    }
    uv = Path(sys.executable).with_name("uv")

    def run(program: str, *args: str | Path, cwd: Path = place, env: Mapping[str, str] | None = None) -> str:
        options = ("--no-index", "--find-links", place / "index", "--python", sys.executable)
        done = subprocess.run(
            [uv, "tool", "run", *options, "--from", "gitrag", program, *args],
            cwd=cwd,
            env=environment | dict(env or {}),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S * 2,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield run
    shutil.rmtree(place)  # a gigabyte


@pytest.mark.sweep(keep=0)
def test_uvx_runs_it_in_an_empty_environment(uvx: Callable[..., str], tmp_path: Path, model_dir: Path):
    assert uvx("gitrag", "--version") == f"gitrag {__version__}\n"
    environment = user_environment(tmp_path / "home", model_dir)
    git = create_repository(tmp_path / "project", environment, SOURCES)
    uvx("gitrag", "index", "update", "--no-embed", cwd=git.path, env=environment)
    found = uvx("gitrag", "search", "--output", "json", "retries with backoff", cwd=git.path, env=environment)
    assert json.loads(found)["code_snippets"][0]["path"] == "client.py"


@pytest.mark.sweep(keep=0)
def test_an_environment_is_no_larger_than_it_was(uvx: Callable[..., str]):
    """Neither onnx nor pip is in it, which were used once."""
    rows = uvx("python", TOP / "scripts" / "bench" / "installed_size.py").splitlines()
    sizes = {row.split()[1]: float(row.split()[0]) for row in rows[:-1]}
    assert "tokenizers" in sizes
    assert not {"onnx", "pip"} & sizes.keys()
    assert sum(sizes.values()) * 1e6 <= LARGEST_ENVIRONMENT_BYTES, "\n".join(rows)


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path):
    source = {
        path.relative_to(TOP).as_posix()
        for path in (TOP / "gitrag").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    hooks = {f"gitrag/hooking/scripts/{path.name}" for path in (TOP / "hooks").iterdir()}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in packed if not re.search(r"\.(?:dist-info|data)/", name)} == source | hooks


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment of its own with the wheel in it, which borrows only the dependencies."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(place, with_pip=False)
    pip("--python", place / "bin" / "python", "install", "--no-deps", "--no-index", wheel)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{Path(click.__file__).parents[1]}\n")
    return place


CLIENT = """
import gitrag
from gitrag import GitragError, Hit, SearchOptions


def places(path: str) -> list[tuple[str, int]]:
    with gitrag.open(path, say=print) as repo:
        answer = repo.search("where are retries", SearchOptions(limit=3, languages=["python"]))
        calls = repo.graph("Session.send", direction="callers")
        reveal_type(repo)
        reveal_type(answer)
        reveal_type(answer.hits)
        reveal_type(answer.hits[0].lines)
        reveal_type(answer.hits[0].snippet[0].matches)
        reveal_type(repo.duplicates("retry").chunks[0].cosine)
        reveal_type(repo.review("main...").added[0].existing)
        reveal_type(calls.edges[0].caller.path)
        reveal_type(repo.check("a.py").documents[0].line)
        reveal_type(repo.update().files)
        reveal_type(repo.status().updated)
        return [(hit.path, hit.lines[0]) for hit in answer.hits]


def told(error: GitragError, hit: Hit) -> str:
    return hit.score  # wrong


def wrong() -> None:
    gitrag.open("x").search(3)
    gitrag.open("x").graph("f", direction="up")
    gitrag.Workspace
    gitrag.unknown
"""
KNOWN_TYPES = [
    "gitrag.api.Workspace",
    "gitrag.actions.answer.Answer",
    "tuple[gitrag.search.engine.Hit, ...]",
    "tuple[int, int]",
    "bool",
    "float",
    "tuple[gitrag.search.similar_chunks.SimilarChunk, ...]",
    "str",
    "int | None",
    "int",
    "datetime.datetime | None",
]
MISTAKES = [
    ("return-value", "return hit.score  # wrong"),
    ("arg-type", 'gitrag.open("x").search(3)'),
    ("arg-type", 'gitrag.open("x").graph("f", direction="up")'),
    ("attr-defined", "gitrag.unknown"),
]


@pytest.mark.sweep(keep=0)
def test_a_client_is_type_checked_against_it(installed: Path, tmp_path: Path):
    """Outside the repository: nothing is known but what is in the wheel."""
    (tmp_path / "client.py").write_text(CLIENT)
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "mypy", "--strict", "--show-error-codes", "--no-pretty"),
            *("--config-file", os.devnull, "--cache-dir", tmp_path / "cache"),
            *("--python-executable", installed / "bin" / "python", "client.py"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    lines = CLIENT.split("\n")
    types = re.findall(r'note: Revealed type is "(.*)"', done.stdout)
    errors = re.findall(r"^client\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert [name.replace("builtins.", "") for name in types] == KNOWN_TYPES, done.stdout + done.stderr
    assert [(code, lines[int(number) - 1].strip()) for number, code in errors] == MISTAKES, done.stdout
    assert done.stdout.count("error:") == len(MISTAKES), done.stdout


@pytest.mark.sweep(keep=0)
def test_what_is_installed_from_it_works_alone(installed: Path, tmp_path: Path, model_dir: Path):
    place = installed
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

    assert "written .agents/skills/gitrag-search/SKILL.md" in gitrag("agents", "install", "all")[0]
    assert "Hooks: post-commit" in gitrag("init", "--skip-embed")[0]
    assert f"{place}" in (git.path / ".git" / "hooks" / "post-commit").read_text()
    found, said = gitrag("search", "post", "--lang", "go", "--limit", "1", "--output", "json")
    [hit] = json.loads(found)["code_snippets"]
    assert (hit["name"], hit["kind"]) == ("post", "function")
    assert "on draft vectors" in said
    assert "Send" in gitrag("graph", "post")[0]
