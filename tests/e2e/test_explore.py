"""`gitrag explore`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command import Gitrag, Project


def test_a_topic_is_saved_found_and_forgotten(project: Project):
    project.git.git("remote", "add", "origin", "https://example.com/acme/shop.git")
    saved = project.gitrag("explore", "save", "User auth", "--goals", "sign in by mail")
    assert saved.status == 0
    assert "**Action:** Created" in saved.out
    updated = project.gitrag("explore", "save", "User auth", "--context", "-", stdin=b"from stdin\n")
    assert "**Action:** Updated (revision #2)" in updated.out
    assert "## Goals\nsign in by mail\n\n## Context\nfrom stdin" in updated.out
    [row] = json.loads(project.gitrag("explore", "list", "--json").out)
    assert row["identity"] == {"topic_key": "explore/user-auth", "project": "shop", "scope": "project"}
    found = project.gitrag("explore", "search", "how", "do", "users", "log", "in")
    assert found.status == 0
    assert "User auth" in found.out
    assert project.gitrag("explore", "show", "user auth").out.startswith("# User auth\n")
    assert project.gitrag("explore", "delete", str(row["observation_id"])).status == 0
    assert project.gitrag("explore", "search", "sign in").status == 1
    assert not (project.path / ".git" / "gitrag").exists(), "nothing in the repository"


def test_gitrag_home_says_where_it_is_kept(project: Project, tmp_path: Path):
    elsewhere = {"GITRAG_HOME": str(tmp_path / "memory")}
    project.gitrag("explore", "save", "A", "--goals", "x", env=elsewhere)
    assert [path.name for path in (tmp_path / "memory").iterdir()] == ["memory.sqlite3"]
    assert project.gitrag("explore", "list").out == ""


def test_it_works_outside_a_repository(tmp_path: Path, environment: dict[str, str]):
    place = tmp_path / "notes"
    place.mkdir()
    gitrag = Gitrag(place, environment)
    assert gitrag("explore", "save", "A", "--goals", "x").status == 0
    [row] = json.loads(gitrag("explore", "list", "--json").out)
    assert row["identity"]["project"] == "notes"
    assert gitrag("explore", "export", "out").out == "Exported 1 exploration to out\n"
    assert gitrag("explore", "import", "out").out == "Imported: 0 new, 0 updated, 1 as they were\n"


def test_what_is_missing_is_said(project: Project):
    blank = project.gitrag("explore", "save", " ", "--goals", "x")
    assert (blank.status, blank.said[0]) == (2, "title is required")
    empty = project.gitrag("explore", "save", "A")
    assert (empty.status, empty.said[0]) == (
        2,
        (
            "At least one context field (goals, constraints, preferences, unknowns, decisions, context)"
            " is required"
        ),
    )
