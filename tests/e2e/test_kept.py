"""What a user has put in is never in the index's way: no fault, no rebuild, no gc takes any of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.support.command import Project, everything_in


@pytest.fixture
def kept(ready) -> tuple[Project, Path]:
    """A project with an explored topic, a core file and an issue, beside its index; and GITRAG_HOME."""
    project = ready
    home = Path(project.gitrag.environment["HOME"]) / ".gitrag"
    assert project.gitrag("explore", "save", "Retries", "--goals", "Never lose an order").status == 0
    assert project.gitrag("core", "mark", "client.py", "--summary", "All calls").status == 0
    project.git.write({".sdd/issues/1.md": "---\nid: '1'\ntitle: Lost orders\n---\nThey get lost.\n"})
    return project, home


def remembered(project: Project, home: Path) -> object:
    """What is told of it, and its bytes, journals of a database aside."""
    told = [project.gitrag(*command).out for command in (("explore", "search", "order"), ("core", "list"))]
    told.append(project.gitrag("prime").out.partition("## Core Codebase Context")[2])
    with sqlite3.connect(home / "memory.sqlite3") as db:
        dump = list(db.iterdump())
    files = {name: data for name, data in everything_in(home).items() if "sqlite3" not in name}
    return told, dump, files, everything_in(project.path / ".sdd")


def noise(project: Project) -> None:
    (project.store / "index.duckdb").write_bytes(b"noise" * 10_000)


def cut_short(project: Project) -> None:
    path = project.store / "index.duckdb"
    path.write_bytes(path.read_bytes()[:5000])


def without_store(project: Project) -> None:
    while project.store.exists():  # work in the background may still write there
        shutil.rmtree(project.store, ignore_errors=True)


def older(project: Project) -> None:
    with duckdb.connect(str(project.store / "index.duckdb")) as db:
        db.execute("UPDATE meta SET value = 'another' WHERE key = 'recipe'")


def killed(project: Project) -> None:
    project.git.commit({f"m{n}.py": f"def act_{n}(): pass\n" for n in range(50)})
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitrag", "-C", str(project.path), "index", "update", "--no-embed"],
        env=project.git.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (project.store / "lock.holder").exists():
        pass
    process.kill()
    process.wait()


def removed(project: Project) -> None:
    assert project.gitrag("index", "remove").status == 0


def collected(project: Project) -> None:
    assert project.gitrag("gc", "--apply", env={"GITRAG_GC_KEEP": "0s"}).status == 0


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("happens", [noise, cut_short, without_store, older, killed, removed, collected])
def test_what_the_user_put_in_is_kept(kept, happens):
    project, home = kept
    before = remembered(project, home)
    assert "Never lose an order" in json.dumps(before[0]), before
    assert "All calls" in json.dumps(before[0]), before
    happens(project)
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert remembered(project, home) == before
