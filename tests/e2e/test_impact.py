"""``gitrag impact``, as a command, and the workflows that post what it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitrag.actions.forge_comment import MARK
from gitrag.actions.governance.change_impact import LEAST_CALLS_S, WHOLE_S
from gitrag.errors import NOT_SET_UP, NOTHING, OK, USAGE
from gitrag.trackers.folder import IssueFolder
from gitrag.trackers.issue import Issue, IssueLinks, IssueState
from tests.support.command import Gitrag, Project, program, user_environment
from tests.support.forges import forge
from tests.support.repository import create_repository

WORKFLOWS = Path(__file__).parents[2] / "docs" / "impact"

FILES = {
    "shop/__init__.py": "",
    "shop/tax.py": (
        "def rate(country):\n    return 1.2\n\n\ndef unused(country):\n    return 0\n\n\n"
        "def old_rate(country):\n    return 'a few more words here'\n"
    ),
    "shop/cart.py": (
        "from shop.tax import rate\n\n\ndef total(items):\n    return rate('de') * len(items)\n\n\n"
        "def other():\n    return old_rate('de')\n"
    ),
    "tests/test_tax.py": "from shop.tax import rate\n\n\ndef test_rate():\n    assert rate('de') == 1.2\n",
    "docs/tax.md": "# Tax\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """What ``own`` is copied from."""
    place = tmp_path_factory.mktemp("made")
    environment = user_environment(place / "home", model_dir)
    git = create_repository(place / "project", environment, FILES)
    project = Project(git, Gitrag(git.path, environment))
    for number in range(6):
        project.git.commit(
            {"shop/tax.py": f"{FILES['shop/tax.py']}# {number}\n", "docs/tax.md": f"# Tax {number}\n"},
            f"Change the tax {number}",
        )
    assert project.gitrag("index", "update", "--no-embed").status == OK
    return project


@pytest.fixture
def own(made: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    return made.copied(tmp_path / "project", environment)


def changed(project: Project, **replaced: str) -> None:
    """Change the tax, uncommitted."""
    text = project.git.file("shop/tax.py").read_text()
    for before, after in (replaced or {"1.2": "1.3"}).items():
        text = text.replace(before, after)
    project.git.write({"shop/tax.py": text})


def asked(project: Project, *args: str) -> dict[str, object]:
    done = project.gitrag("impact", *args, "--calls-within", "100", "--json")
    assert done.status == OK, done
    return json.loads(done.out)


def test_the_help_names_the_time_limits_that_hold(own):
    said = " ".join(own.gitrag("impact", "--help").out.split())
    assert f"[default: what is left of {WHOLE_S}, at least {LEAST_CALLS_S}]" in said


def test_uncommitted_changes_are_taken_with_callers_tests_and_what_is_forgotten(own):
    changed(own)
    said = asked(own)
    assert (said["range"], said["change"]) == ("HEAD", "uncommitted changes")
    (rate,) = said["definitions"]
    assert (rate["name"], rate["how"], rate["risk"], rate["looked_for"]) == ("rate", "changed", 1, True)
    assert [each["name"] for each in rate["callers"]] == ["total"]
    assert [each["name"] for each in rate["tests"]] == ["test_rate"]
    (test,) = said["tests"]
    assert (test["path"], test["calls"], test["named_alike"]) == ("tests/test_tax.py", 1, True)
    assert said["companions"] == [
        {"path": "docs/tax.md", "beside": "shop/tax.py", "together": 7, "of": 7, "usual": True}
    ]
    assert said["commits_looked_at"] == 7
    assert said["tests_to_run"] == [{"program": "pytest", "arguments": ["tests/test_tax.py"]}]
    assert own.gitrag("impact", "--tests=pytest").out == "tests/test_tax.py\n"
    none = own.gitrag("impact", "--tests=go")
    assert (none.status, none.out) == (NOTHING, "")

    text = own.gitrag("impact", "-o", "text").out
    assert text.startswith("uncommitted changes: 1 file, 1 definition\n")
    assert "- docs/tax.md: in 7 of the last 7 commits that changed shop/tax.py\n" in text


def test_the_tests_to_run_are_there_and_seen_from_where_one_stands(own):
    changed(own)
    assert (
        Gitrag(own.git.path / "shop", own.gitrag.environment)("impact", "--tests").out
        == "../tests/test_tax.py\n"
    )
    own.git.file("tests/test_tax.py").unlink()
    assert own.gitrag("impact", "--tests").status == NOTHING


def test_a_link_that_git_does_not_track_is_not_followed(own, tmp_path):
    """It may have come with an archive, and lead to what is nobody's business."""
    outside = tmp_path / "outside.py"
    outside.write_text("def kept_apart():\n    return 1\n")
    own.git.file("shop/link.py").symlink_to(outside)
    said = asked(own)
    assert said["files"] == ["shop/link.py"]
    assert said["definitions"] == []


def test_what_is_removed_and_still_named_comes_first(own):
    text = own.git.file("shop/tax.py").read_text()
    own.git.write({"shop/tax.py": text.replace("old_rate", "new_rate").replace("1.2", "1.3")})
    first, *others = asked(own)["definitions"]
    assert (first["name"], first["how"], first["still_named"]) == ("old_rate", "removed", ["shop/cart.py:9"])
    assert [each["name"] for each in others] == ["rate", "new_rate"]


def test_what_is_removed_and_named_nowhere_is_said_to_be(own):
    text = own.git.file("shop/tax.py").read_text()
    own.git.write({"shop/tax.py": text.replace("unused", "used")})
    out = own.gitrag("impact", "-o", "text", "--calls-within", "100").out
    assert "- No line of code outside the change found that has its name: unused (removed)\n" in out
    own.git.commit(message="Rename")
    own.git.commit({"docs/tax.md": "# More\n"})
    out = own.gitrag("impact", "HEAD~2..HEAD~1", "-o", "text").out
    assert "- Callers were not looked for: unused (removed)" in out
    assert "the range ends at another commit" in out


def test_a_name_is_called_unused_only_if_the_search_for_it_was_not_cut_off(own):
    many = "".join(f"def f{i}():\n    unused()\n\n\n" for i in range(50))
    assert own.git.commit({"shop/many.py": many})
    changed(own, **{"def unused(country):\n    return 0\n\n\n": "", "def old_rate": "def new_rate"})
    own.git.write({"shop/cart.py": FILES["shop/cart.py"].replace("old_rate('de')", "0")})
    found = asked(own)
    by_name = {each["name"]: each for each in found["definitions"]}
    assert by_name["unused"]["looked_for"]
    assert not by_name["old_rate"]["looked_for"]  # none was found, and not all was searched
    assert any("was cut off" in note for note in found["notes"])


def test_a_file_too_large_to_read_is_not_one_whose_definitions_went(own):
    text = own.git.file("shop/tax.py").read_text()
    own.git.write({"shop/tax.py": text + (" " * 127 + "\n") * (1 << 13)})
    found = asked(own)
    assert found["definitions"] == []
    assert any("1 file of code could not be compared" in note for note in found["notes"])


def test_what_a_commit_itself_brings_is_a_range(own):
    own.git.commit({"shop/tax.py": FILES["shop/tax.py"].replace("1.2", "1.4")}, "Raise the tax")
    own.git.write({"untracked.py": "def untracked():\n    return 1\n"})
    for span in ("HEAD^!", "HEAD^-"):
        found = asked(own, span)
        assert found["files"] == ["shop/tax.py"]
        assert [each["name"] for each in found["definitions"]] == ["rate"]


def test_untracked_files_are_part_of_what_is_uncommitted(own):
    own.git.write({"shop/new.py": "def fresh():\n    return 1\n"})
    said = asked(own)
    assert said["files"] == ["shop/new.py"]
    assert [(each["name"], each["how"]) for each in said["definitions"]] == [("fresh", "added")]
    assert asked(own, "HEAD~1..HEAD")["files"] == ["docs/tax.md", "shop/tax.py"]


def test_without_uncommitted_changes_the_branch_is_taken(own, tmp_path):
    done = own.gitrag("impact")
    assert (done.status, done.out) == (USAGE, "")
    assert done.said[0].endswith("Nothing is uncommitted, and main has no upstream to compare with.")

    own.git.git("checkout", "--quiet", "-b", "work", "--track", "main")
    done = own.gitrag("impact", "-o", "text")
    assert done.status == NOTHING
    assert done.out.startswith("work since it left main; nothing is uncommitted: 0 files, 0 definitions\n")
    changed(own)
    own.git.commit(message="Raise the tax\n\nFixes #12. It names ADR-0001.")
    said = asked(own)
    assert said["change"] == "work since it left main; nothing is uncommitted"
    assert said["commits_looked_at"] == 7  # not the one of the branch itself
    assert said["issues"] == [{"id": "12", "title": "", "state": "", "named": True, "score": 1.0}]


@pytest.mark.parametrize("before", [None, "*.log"])
def test_what_init_writes_is_no_change_of_the_users(own, before):
    if before is not None:
        own.git.commit({".gitignore": before})
    own.git.git("checkout", "--quiet", "-b", "work", "--track", "main")
    changed(own)
    own.git.commit(message="Raise the tax")
    assert own.gitrag("init", "--skip-embed").status == OK
    assert own.git.file(".gitignore").read_text().endswith(".sdd/\n")
    said = asked(own)
    assert (said["range"], said["files"]) == (f"{own.git.git('rev-parse', 'main')}...HEAD", ["shop/tax.py"])
    changed(own, **{"1.3": "1.4"})
    assert asked(own)["files"] == ["shop/tax.py"]
    own.git.write({".gitignore": f"{before or ''}\n.sdd/\nbuild/\n"})
    assert sorted(asked(own)["files"]) == [".gitignore", "shop/tax.py"]


def test_an_examples_own_tests_are_none_of_what_it_shows(own):
    source = FILES["tests/test_tax.py"]
    paths = ("examples/till/tests/test_tax.py", "examples/till/test_tax.py", "tests/examples/test_tax.py")
    own.git.commit(dict.fromkeys(paths, source))
    changed(own)
    said = asked(own)
    assert [each["path"] for each in said["tests"]] == ["tests/examples/test_tax.py", "tests/test_tax.py"]
    (rate,) = said["definitions"]
    tests, callers = ({each["path"] for each in rate[kind]} for kind in ("tests", "callers"))
    assert tests == {"tests/examples/test_tax.py", "tests/test_tax.py"}
    assert callers == {"shop/cart.py", *paths[:2]}


def test_decisions_and_issues_that_it_touches_are_asked_about(own):
    adr = "# ADR-0001: Tax rate of a country\n\n## Status\n\nAccepted\n\nThe rate is 1.2 in shop/tax.py.\n"
    folder = IssueFolder(own.git.path)
    folder.make()
    for number, state in (("7", IssueState.OPEN), ("8", IssueState.CLOSED)):
        title = "Raise the tax rate of Germany to 1.3"
        folder.write(Issue(number, title, state, (), (), "", "", "", "", "", "github", IssueLinks(), title))
    own.git.commit({"docs/adrs/ADR-0001-tax.md": adr})
    assert own.gitrag("index", "update", "--no-embed").status == OK
    changed(own)
    own.git.commit(message="Raise the tax rate of Germany to 1.3")
    said = asked(own, "HEAD~1..HEAD")
    assert [each["id"] for each in said["questions"]] == ["ADR-0001"]
    assert [(each["id"], each["named"]) for each in said["issues"]] == [("7", False)]


def test_each_none_says_what_was_looked_at(own):
    own.git.write({"notes.md": "# Notes\n"})
    out = own.gitrag("impact", "-o", "text").out
    for line in (
        "None: no function, method or class differs in the 1 file.",
        "None, by 7 earlier commits: all that were read but merges, and those of more than 50 files.",
        "None of the 1 file of tests calls it, is named after it, or changed together with it.",
        "No ADR and no spec and no issue is indexed here, so there was nothing to compare with.",
        "None: no commit has a message for it yet, and of 0 issues here no open one is enough like it.",
    ):
        assert line in out


HOSTILE = "tests/test_a`b @everyone <img src=x> [x](http://evil) #1 \x1b[31m.py"


def test_nothing_of_the_repository_is_read_as_markdown(own):
    own.git.write({HOSTILE: "def f(country):\n    return 1\n"})
    out = own.gitrag("impact", "-o", "markdown").out
    outside = "".join(part for line in out.split("\n") for part in line.split("`")[::2])
    assert "everyone" in out
    for mark in ("@", "<img", "](", "\x1b", "#1"):
        assert mark not in outside.replace("## Impact", "").replace("### ", "")
    assert "\x1b" not in own.gitrag("impact", "-o", "text").out


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ("nosuch...HEAD", "git cannot compare nosuch...HEAD"),
        ("--output=x", "Invalid value"),
        ("", "is no range of commits"),
    ],
)
def test_what_is_no_range_is_said(own, span, problem):
    done = own.gitrag("impact", span)
    assert (done.status, done.out) == (USAGE, "")
    assert problem in done.err


def test_before_the_first_commit_and_without_an_index_it_says_so(make_project):
    done = make_project({"a.py": "1\n"}).gitrag("impact")
    assert done.status == NOT_SET_UP
    project = make_project({}, name="unborn")
    project.git.git("update-ref", "-d", "HEAD")
    project.git.write({"a.py": "x = 1\n"})
    project.gitrag("index", "update", "--no-embed")
    done = project.gitrag("impact")
    assert (done.status, done.out) == (NOT_SET_UP, "")
    assert "There is no commit yet." in done.err


def workflow(name: str) -> dict[str, object]:
    return yaml.safe_load((WORKFLOWS / name).read_text().replace("\non:", '\n"on":'))


def test_the_workflow_that_reads_a_pull_request_has_no_right_but_to_read():
    read = workflow("gitrag-impact.yml")
    assert (read["on"], read["permissions"]) == ("pull_request", {"contents": "read"})
    (job,) = read["jobs"].values()
    assert "permissions" not in job
    assert job["steps"][0]["with"]["persist-credentials"] is False
    assert "secrets" not in (WORKFLOWS / "gitrag-impact.yml").read_text().partition("name:")[2]


def test_the_workflow_that_posts_runs_nothing_of_the_pull_request(tmp_path):
    post = workflow("gitrag-impact-comment.yml")
    assert (list(post["on"]), post["permissions"]) == (["workflow_run"], {})
    assert post["on"]["workflow_run"]["workflows"] == [workflow("gitrag-impact.yml")["name"]]
    (job,) = post["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    download, clean, send = job["steps"]
    assert download["uses"].startswith("actions/download-artifact@")
    assert "${{" not in clean["run"] + send["run"]  # what GitHub pastes into a script, an attacker may name

    text = "@team <b>x</b> ![p](https://evil/p.png) [l][r]\n[r]: https://evil\nwww.evil \u00e9\n"
    (tmp_path / "impact.md").write_bytes(text.encode() + b"\xff")
    subprocess.run(["sh", "-eu", "-c", clean["run"]], cwd=tmp_path, check=True)
    plain = (tmp_path / "plain.md").read_text()
    assert not any(mark in plain for mark in ("@", "<", "](", "][", "]:", "://", "www."))
    assert "\u00e9" in plain
    subprocess.run(["sh", "-n", "-c", send["run"]], check=True)


# the Action, its steps run here, and the component


TOP = WORKFLOWS.parents[1]

PYTHON = """#!/bin/sh
test "$1" = -I || exit 9
if [ "$3" = venv ]; then mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && ln -s {gitrag} "$4/bin/gitrag"
else echo "$@" >"$RUNNER_TEMP/installed"; fi
"""
"""Instead of Python: an environment that has gitrag already."""


def steps_of(
    action: Mapping[str, Any], given: Mapping[str, str], place: Path
) -> list[tuple[str, dict[str, str]]]:
    """What a runner makes of an action's steps: each script, and the environment that it gets."""
    values = {name: str(each["default"]) for name, each in action["inputs"].items()} | given
    context = {f"inputs.{name}": value for name, value in values.items()} | {"github.action_path": str(place)}
    steps = []
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"], "what is pasted into a script runs"
        named = step.get("env", {}).items()
        steps.append((step["run"], {name: context[value[4:-3]] for name, value in named}))
    return steps


@pytest.mark.parametrize(("fail_on", "status"), [("", 0), ("broken", 0), ("untested, companions", 1)])
def test_the_action_keeps_one_comment_and_fails_where_it_is_asked_to(
    own: Project, tmp_path: Path, fail_on: str, status: int
):
    """Names and messages of the pull request are commands; Python imports nothing of it."""
    own.git.commit(
        {
            "shop/$(touch taken).py": "x = 1\n",
            "shop/tax.py": FILES["shop/tax.py"].replace("1.2", "1.3"),
        },
        "Change; `touch taken` $(touch taken)",
    )
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(PYTHON.format(gitrag=program(own.gitrag.environment)))
    python.chmod(0o755)
    action = yaml.safe_load((TOP / "action.yml").read_text())
    given = {"token": "secret", "fail-on": fail_on, "range": "HEAD~1..HEAD"}
    with forge() as at:
        for _ in range(1 if fail_on else 2):
            (summary := tmp_path / "summary.md").write_text("")
            runner = {
                **own.gitrag.environment,
                **at.github(tmp_path),
                "GITHUB_TOKEN": "",
                "RUNNER_TEMP": str(tmp_path / "temp"),
                "GITHUB_STEP_SUMMARY": str(summary),
                "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            }
            done = []
            for script, more in steps_of(action, given, TOP):
                done.append(
                    subprocess.run(
                        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
                        cwd=own.path,
                        env=runner | more,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                )
            assert [each.returncode for each in done] == [0, 0, status], [each.stderr for each in done]
            shutil.rmtree(tmp_path / "temp" / "gitrag")
        (comment,) = at.comments
        assert {headers["Authorization"] for _, _, headers in at.requests} == {"Bearer secret"}
    assert comment["body"].removeprefix(f"{MARK}\n").strip() == summary.read_text().strip()
    assert "`rate`" in comment["body"]
    assert not list(own.path.rglob("taken"))
    assert (tmp_path / "temp" / "installed").read_text() == f"-I -m pip install --quiet {TOP}\n"


def test_the_component_asks_as_the_action_does():
    spec, jobs = yaml.safe_load_all((TOP / "templates" / "impact.yml").read_text())
    (job,) = jobs.values()
    script = "\n".join(job["script"])
    assert "$[[" not in script, "what is pasted into a script runs"
    assert set(spec["spec"]["inputs"]) == {"stage", "version", "fail-on"}
    assert all(" -I " in line for line in job["script"] if "python" in line)
    subprocess.run(["sh", "-n", "-c", script], check=True)


def test_a_fault_that_is_not_known_is_refused(own: Project):
    done = own.gitrag("impact", "--fail-on", "broken,bad")
    assert done.status == USAGE
    assert "there is no bad; there are broken, untested, companions, decisions" in done.err
