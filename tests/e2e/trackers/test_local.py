"""Trackers in the repository, through the real command: Beads and tasks.md."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.trackers.test_every_tracker import BODIES, HOSTILE, LABELS, TITLES
from tests.support.command import Gitrag, Project
from tests.support.repository import create_repository

# Beads


BEADS = [
    {
        "id": "bd-a1b2",
        "title": "First",
        "description": "See SPEC-0001",
        "status": "in_progress",
        "labels": ["on"],
        "assignee": "bob",
        "created_by": "ada",
        "created_at": "2026-01-02T03:04:05.123456789+01:00",
        "updated_at": "2026-01-02T03:04:05Z",
    },
    {
        "id": "bd-a1b2.1",
        "title": "Second",
        "status": "closed",
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-03T03:04:05Z",
        "closed_at": "2026-01-03T03:04:05Z",
        "dependencies": [
            {"issue_id": "bd-a1b2.1", "depends_on_id": "bd-a1b2", "type": "blocks"},
            {"issue_id": "bd-a1b2.1", "depends_on_id": "bd-a1b2", "type": "parent-child"},
        ],
    },
    {"id": "bd-gone", "title": "Deleted", "status": "tombstone"},
]


@pytest.fixture
def make_local(tmp_path, plain_environment):
    def make(files: dict[str, str], **environment: str) -> Project:
        git = create_repository(tmp_path / "local", plain_environment, {".gitignore": ".sdd/\n", **files})
        return Project(git, Gitrag(git.path, {**plain_environment, **environment}))

    return make


def fake_bd(folder: Path, script: str) -> str:
    folder.mkdir()
    (folder / "bd").write_text("#!/bin/sh\n" + script)
    (folder / "bd").chmod(0o755)
    return str(folder)


def head(project: Project, issue_id: str) -> dict[str, object]:
    shown = project.gitrag("issues", "show", issue_id, "--json", "--no-sync")
    return json.loads(shown.out)


def test_beads_come_from_its_program(make_local, tmp_path, plain_environment):
    (tmp_path / "bd.json").write_text(json.dumps(BEADS))
    script = f'[ "$*" = "list --json --all --limit 0" ] || exit 9\ncat {tmp_path}/bd.json\n'
    path = f"{fake_bd(tmp_path / 'bin', script)}:{plain_environment['PATH']}"
    project = make_local({".beads/config.yaml": ""}, PATH=path)
    assert project.gitrag("issues", "sync").out.startswith("Synced 2 issues from beads: 2 written")
    first, second = head(project, "bd-a1b2"), head(project, "bd-a1b2.1")
    assert (first["status"], first["assignees"], first["author"]) == ("open", ["bob"], "ada")
    assert first["created"] == "2026-01-02T02:04:05.123456Z"
    assert first["references"] == {
        "specs": ["SPEC-0001"],
        "adrs": [],
        "blocks": ["bd-a1b2.1"],
        "blocked_by": [],
    }
    assert (second["status"], second["references"]["blocked_by"]) == ("closed", ["bd-a1b2"])
    (tmp_path / "bd.json").write_text(json.dumps(BEADS[:1]))
    assert ", 1 removed in " in project.gitrag("issues", "sync").out  # it gives all: what it lacks is gone


def test_the_program_of_beads_gets_a_git_that_runs_nothing_of_the_repositorys(
    make_local, tmp_path, plain_environment
):
    (tmp_path / "bd.json").write_text(json.dumps(BEADS))
    script = f"git status >/dev/null\ncat {tmp_path}/bd.json\n"
    path = f"{fake_bd(tmp_path / 'bin', script)}:{plain_environment['PATH']}"
    project = make_local({".beads/config.yaml": ""}, PATH=path)
    project.git.git("config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    assert project.gitrag("issues", "sync").out.startswith("Synced 2 issues from beads")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "script", [None, "echo broken >&2; exit 3", "echo '{'"], ids=["none", "fails", "no JSON"]
)
def test_beads_come_from_the_export_where_the_program_does_not_answer(
    make_local, tmp_path, plain_environment, script
):
    path = plain_environment["PATH"]
    if script:
        path = f"{fake_bd(tmp_path / 'bin', script)}:{path}"
    lines = "\n".join(json.dumps(each) for each in BEADS)
    project = make_local({".beads/issues.jsonl": lines + "\n\n"}, PATH=path)
    done = project.gitrag("issues", "sync")
    assert done.out.startswith("Synced 2 issues from beads: 2 written"), done.err


def test_beads_may_come_in_an_envelope(make_local, tmp_path, plain_environment):
    """With BD_JSON_ENVELOPE=1, and from version 2 on without."""
    (tmp_path / "bd.json").write_text(json.dumps({"schema_version": 1, "data": BEADS}))
    path = f"{fake_bd(tmp_path / 'bin', f'cat {tmp_path}/bd.json')}:{plain_environment['PATH']}"
    project = make_local({".beads/config.yaml": ""}, PATH=path)
    done = project.gitrag("issues", "sync")
    assert done.out.startswith("Synced 2 issues from beads: 2 written"), done.err


def test_an_export_may_hold_more_than_issues(make_local):
    """`bd export --all` writes what its user asked it to remember, too."""
    records = [
        {"_type": "memory", "key": "k", "value": "v"},
        *({"_type": "issue", **each} for each in BEADS),
    ]
    project = make_local({".beads/issues.jsonl": "\n".join(map(json.dumps, records))})
    done = project.gitrag("issues", "sync")
    assert done.out.startswith("Synced 2 issues from beads: 2 written"), done.err


def test_a_damaged_export_is_told_with_its_line(make_local):
    project = make_local({".beads/issues.jsonl": json.dumps(BEADS[0]) + "\n<<<<<<< HEAD\n"})
    done = project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (75, ".beads/issues.jsonl, line 2, is no issue.")


# tasks.md


def test_tasks_md_is_what_is_left(make_local, tmp_path):
    tasks = (
        "# Tasks\n\n- [x] 1.1 Do it\n- [ ] 1.2 Then see ADR-0001\n  - [ ] smaller\n  more\n"
        "\n## Next\n- [ ] 2 Last\n"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "tasks.md").write_text("- [ ] not ours\n")
    project = make_local(
        {"docs/specs/SPEC-0007-login/tasks.md": tasks, "specs/b/tasks.md": "- [ ] a\n- [ ] b\n"}
    )
    (project.path / "specs" / "linked").symlink_to(outside)
    assert project.gitrag("issues", "sync").out.startswith("Synced 5 issues from tasks-md: 5 written")
    listed = project.gitrag("issues", "list", "--status", "all", "--no-sync").out.splitlines()
    assert [line.split()[0] for line in listed] == [
        "tasks-SPEC-0007-login-1.1",
        "tasks-SPEC-0007-login-1.2",
        "tasks-SPEC-0007-login-2",
        "tasks-b-1",
        "tasks-b-2",
    ]
    found = head(project, "tasks-SPEC-0007-login-1.2")
    assert (found["title"], found["status"], found["body"]) == (
        "Then see ADR-0001",
        "open",
        "  - [ ] smaller\n  more",
    )
    assert (found["references"]["specs"], found["references"]["adrs"]) == (["SPEC-0007"], ["ADR-0001"])
    assert found["url"] == "docs/specs/SPEC-0007-login/tasks.md"


# where it is written


def test_a_repository_cannot_make_the_folder_a_link_to_somewhere(make_local, tmp_path):
    project = make_local({"specs/b/tasks.md": "- [ ] a\n"})
    target = tmp_path / "victim"
    target.mkdir()
    (project.path / ".sdd").mkdir()
    (project.path / ".sdd" / "issues").symlink_to(target)
    done = project.gitrag("issues", "sync")
    assert done.status == 78
    assert ".sdd/issues is not a directory." in done.err
    assert not list(target.iterdir())


def test_a_link_in_an_issues_place_is_replaced_not_followed(make_local, tmp_path):
    project = make_local({"specs/b/tasks.md": "- [ ] a\n"})
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = project.path / ".sdd" / "issues"
    folder.mkdir(parents=True)
    (folder / "tasks-b-1.md").symlink_to(victim)
    (folder / "_lock").symlink_to(tmp_path / "new")
    assert project.gitrag("issues", "sync").status == 78  # the lock is opened, and no link is
    (folder / "_lock").unlink()
    assert project.gitrag("issues", "sync").status == 0
    assert victim.read_text() == "mine"
    assert stat.S_ISREG((folder / "tasks-b-1.md").lstat().st_mode)


# what holds for both


@dataclass(frozen=True, slots=True)
class Bead:
    """An issue of Beads, from its program or its export."""

    project: Project
    program: Path | None

    def put(self, issues: Sequence[Mapping[str, Any]]) -> None:
        text = json.dumps(issues) if self.program else "".join(json.dumps(each) + "\n" for each in issues)
        (self.program or self.project.path / ".beads" / "issues.jsonl").write_text(text)

    def file(self, issue_id: str) -> Path:
        return self.project.path / ".sdd" / "issues" / f"{issue_id}.md"


@pytest.fixture(params=["bd", "export"])
def beads(request, make_local, tmp_path, plain_environment):
    program, path = None, plain_environment["PATH"]
    if request.param == "bd":
        program = tmp_path / "bd.json"
        path = f"{fake_bd(tmp_path / 'bin', f'cat {program}')}:{path}"
    return Bead(make_local({".beads/config.yaml": ""}, PATH=path), program)


def bead(issue_id: str, **fields: object) -> dict[str, object]:
    times = {"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z"}
    return {"id": issue_id, "title": "T", "status": "open", **times, **fields}


def test_hostile_titles_labels_and_bodies_of_beads_survive_the_round_trip(beads):
    texts = list(enumerate(zip_longest(TITLES, BODIES, fillvalue="x"), 1))
    beads.put(
        [
            bead(f"bd-{number}", title=title, description=body, labels=LABELS)
            for number, (title, body) in texts
        ]
    )
    done = beads.project.gitrag("issues", "sync")
    assert done.status == 0, done.err
    for number, (title, body) in texts:
        front, _, rest = beads.file(f"bd-{number}").read_bytes().decode().partition("\n---\n")
        found = yaml.safe_load(front)
        assert (found["title"], tuple(found["labels"])) == (title, LABELS)
        assert rest.removeprefix("\n") == (body or "")


def test_hostile_ids_of_beads_write_no_file_and_are_told(beads):
    beads.put([bead("bd-1"), *(bead(bad) for bad in HOSTILE)])
    done = beads.project.gitrag("issues", "sync")
    assert done.status == 0
    assert [path.name for path in beads.file("bd-1").parent.glob("*.md")] == ["bd-1.md"]
    assert done.err.count("warning: left out, its id is no file name: ") == 5
    assert f"warning: {len(HOSTILE) - 5} more were left out" in done.err


def stamps(project: Project) -> dict[str, tuple[bytes, int, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
        for path in sorted((project.path / ".sdd" / "issues").glob("*.md"))
    }


def test_an_unchanged_sync_of_beads_touches_nothing_and_what_is_gone_goes(beads):
    beads.put([bead("bd-1"), bead("bd-2")])
    beads.project.gitrag("issues", "sync")
    before = stamps(beads.project)
    for option in ([], ["--full"]):
        assert ": 0 written in " in beads.project.gitrag("issues", "sync", *option).out
        assert stamps(beads.project) == before
    beads.put([bead("bd-2")])
    assert ": 0 written, 1 removed in " in beads.project.gitrag("issues", "sync", "--full").out
    assert list(stamps(beads.project)) == ["bd-2.md"]


def test_beads_that_nobody_can_give_are_told_and_the_copies_stay(make_local, tmp_path, plain_environment):
    (tmp_path / "bd.json").write_text(json.dumps(BEADS))
    path = f"{fake_bd(tmp_path / 'bin', f'cat {tmp_path}/bd.json')}:{plain_environment['PATH']}"
    project = make_local({".beads/config.yaml": ""}, PATH=path)
    project.gitrag("issues", "sync")
    before = stamps(project)
    (tmp_path / "bin" / "bd").write_text("#!/bin/sh\necho database is locked >&2; exit 1\n")
    done = project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (
        75,
        "`bd list --json --all --limit 0` failed: database is locked.",
    )
    (tmp_path / "bin" / "bd").unlink()
    done = project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (78, "There is neither the program bd nor .beads/issues.jsonl.")
    assert stamps(project) == before


def test_hostile_tasks_survive_the_round_trip(make_local):
    titles = ["a: b # c", "null", "🦆 ✓", "on", "'quoted' \"twice\" \\", "- [x] in it", "\u202eback"]
    bodies = ["  - [ ] a\r\n  b", "  ---\n  id: 2\n  ---", "  " + "x" * 500_000]
    blocks = zip_longest(titles, bodies, fillvalue="")
    text = "".join(f"- [ ] {title}\n{body}\n" for title, body in blocks)
    project = make_local({"specs/b/tasks.md": text.encode()})
    assert project.gitrag("issues", "sync").status == 0
    found = [head(project, f"tasks-b-{place}") for place in range(1, len(titles) + 1)]
    assert [each["title"] for each in found] == titles
    assert [each["body"] for each in found][: len(bodies)] == bodies


def test_a_spec_whose_name_names_no_file_is_told(make_local):
    project = make_local({f"specs/{'x' * 120}/tasks.md": "- [ ] a\n", "specs/ä b/tasks.md": "- [ ] c\n"})
    done = project.gitrag("issues", "sync")
    assert done.status == 0
    assert "warning: left out, its id is no file name: 'tasks-xxx" in done.err
    assert [path.name for path in (project.path / ".sdd" / "issues").glob("*.md")] == ["tasks--b-1.md"]


def test_an_unchanged_sync_of_tasks_touches_nothing_and_what_is_gone_goes(make_local):
    project = make_local({"specs/b/tasks.md": "- [ ] a\n- [ ] b\n"})
    project.gitrag("issues", "sync")
    before = stamps(project)
    for option in ([], ["--full"]):
        assert ": 0 written in " in project.gitrag("issues", "sync", *option).out
        assert stamps(project) == before
    (project.path / "specs" / "b" / "tasks.md").write_text("- [x] a\n")
    assert ": 1 written, 1 removed in " in project.gitrag("issues", "sync").out
    assert head(project, "tasks-b-1")["status"] == "closed"
