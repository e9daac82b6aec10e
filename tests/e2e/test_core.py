"""`gitrag core`, and what `gitrag prime` tells of it."""

from __future__ import annotations

import json

import pytest

from tests.support.command import Project
from tests.support.repository import Link

MORE = '''"""The app."""


class App:
    """It."""

    def run(self, port: int) -> None:
        """Serve."""


def _private():
    return 1


def main(argv):
    """Begin."""
'''


def test_a_session_hears_of_core_files(project: Project):
    project.git.commit({"src/app.py": MORE})
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert project.gitrag("index", "embed", "--foreground").status == 0  # else what prime starts does
    before = project.gitrag("prime").out
    assert "Core Codebase Context" not in before
    assert project.gitrag("core", "mark", "src/app.py", "-s", "Puts the parts together.").status == 0
    [guessed] = [line for line in before.splitlines(keepends=True) if line.startswith("- Likely core: ")]
    assert project.gitrag("prime").out == (
        before.replace(guessed, "").removesuffix("\n")
        + "\n\n## Core Codebase Context\n\n### src/app.py\nPuts the parts together.\n"
        + "- `class App`\n- `def run(self, port: int) -> None`\n- `def _private()`\n- `def main(argv)`\n"
    )
    assert project.gitrag("core", "unmark", "src/app.py").status == 0
    assert project.gitrag("prime").out == before


def test_a_session_is_told_in_three_forms(project: Project):
    project.git.commit({"docs/adrs/ADR-0001-retries.md": "# ADR-0001: Retry\n\n## Status\n\nAccepted\n"})
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert project.gitrag("index", "embed", "--foreground").status == 0
    project.gitrag("core", "mark", "client.py", "--summary", "Calls others.")
    told = json.loads(project.gitrag("prime", "-o", "json").out)
    row = {"kind": "adrs", "id": "ADR-0001", "title": "Retry", "status": "accepted"}
    assert told["documents"] == [{**row, "path": "docs/adrs/ADR-0001-retries.md"}]
    assert told["core"].startswith("## Core Codebase Context\n\n### client.py\nCalls others.\n")
    text = project.gitrag("prime", "-o", "text").out
    assert text.startswith("ADRs\nADR-0001  Retry  accepted docs/adrs/ADR-0001-retries.md\n\nOverview of ")
    assert "\n\n## Core Codebase Context\n\n### client.py\nCalls others.\n" in text
    assert "# ADR-0001: Retry\n" in project.gitrag("prime", "-o", "text", "retry").out
    [full] = json.loads(project.gitrag("prime", "retry", "-o", "json").out)["documents"]
    assert full["text"].startswith("# ADR-0001: Retry\n")


def test_paths_are_of_the_repository(project: Project, tmp_path):
    (tmp_path / "outside.py").write_text("x = 1\n")
    project.git.write({"sub/x.py": "x = 1\n", "link.py": Link("../outside.py"), "sub/inner.py": Link("x.py")})
    assert project.gitrag("-C", "sub", "core", "mark", "x.py").out == "Marked sub/x.py as core of project\n"
    assert project.gitrag("-C", "sub", "core", "mark", "../client.py").out.startswith("Marked client.py ")
    assert project.gitrag("core", "mark", "sub/inner.py").status == 0
    for path in ("link.py", "../outside.py", "/etc/passwd", "none.py", "sub", "."):
        done = project.gitrag("core", "mark", path)
        assert (done.status, "There is no file" in done.err) == (2, True), path
    rows = json.loads(project.gitrag("core", "list", "--json").out)
    assert [row["path"] for row in rows] == ["sub/x.py", "client.py", "sub/inner.py"]


def test_a_mark_can_be_taken_from_a_file_that_is_gone(project: Project):
    project.gitrag("core", "mark", "client.py")
    project.git.write({"client.py": None})
    assert project.gitrag("core", "unmark", "client.py").status == 0
    assert project.gitrag("core", "unmark", "client.py").status == 1


def test_suggestions_come_with_a_reason_and_mark_nothing(project: Project):
    project.git.commit({"rare.py": "x = 1\n", "tests/test_client.py": "y = 1\n"})
    for turn in range(4):
        project.git.commit(
            {"client.py": f"x = {turn}\n", "tests/test_client.py": f"y = {turn}\n", "README.md": f"{turn}"}
        )
    project.git.commit({f"use_{i}.py": "from rare import f\n\n\ndef g():\n    f()\n" for i in range(3)})
    project.git.commit({"rare.py": "def f():\n    return 1\n"})
    project.git.commit({f"many/{i}.py": "x" for i in range(60)})
    by_changes = project.gitrag("core", "suggest").out.splitlines()
    assert by_changes[:2] == [
        "client.py  changed 5 times in the last 9 commits",
        "rare.py  changed 2 times in the last 9 commits",
    ]
    assert project.gitrag("index", "update", "--no-embed").status == 0
    by_both = project.gitrag("core", "suggest").out.splitlines()
    assert by_both[:2] == [
        "rare.py  called from 3 files, changed 2 times in the last 9 commits",
        "client.py  changed 5 times in the last 9 commits",
    ]
    assert not any(line.startswith("tests/") for line in by_both)
    assert json.loads(project.gitrag("core", "list", "--json").out) == []
    project.git.commit({"src/_internal/rare.py": "def h():\n    return 1\n"})
    uses = {
        f"src/_internal/use_{i}.py": "from src._internal.rare import h\n\n\ndef k():\n    h()\n"
        for i in range(5)
    }
    project.git.commit(uses)
    own = project.gitrag("core", "suggest").out.splitlines()
    assert own[0] == "src/_internal/rare.py  called from 5 files, changed once in the last 11 commits"
    many = "".join(f"def a{i}():\n    return {i}\n\n\n" for i in range(300))
    project.git.commit({"aaa.py": many})  # more definitions than a drawing resolves
    assert project.gitrag("core", "suggest").out.startswith("src/_internal/rare.py  called from 5 files, ")
    project.gitrag("core", "mark", "client.py")
    assert "client.py" not in project.gitrag("core", "suggest").out


def test_what_was_not_looked_at_for_calls_is_not_called_uncalled(project: Project):
    """There is no index: nobody has looked who calls whom."""
    project.git.commit(dict.fromkeys(project.git.git("ls-files").split()) | {"notes.txt": "x\n"})
    assert project.gitrag("index", "remove").status == 0
    done = project.gitrag("core", "suggest")
    assert done.out == ""
    nothing, calls = done.said
    assert nothing.startswith("Of the code not marked yet, nothing was changed in the ")
    assert nothing.endswith("looked at.")
    assert calls == "Not all of it was looked at for who calls whom."
    assert project.gitrag("index").status == 0
    (nothing,) = project.gitrag("core", "suggest").said
    assert nothing.endswith("looked at or is called from another file.")


def test_a_path_that_no_system_opens_is_no_fault(project: Project):
    far = "/".join(["deep" * 40] * 40)
    for text in (b"def far():\n    return 1\n", b"def far():\n    return 2\n"):
        blob = project.git.git("hash-object", "-w", "--stdin", stdin=text)
        project.git.git("update-index", "--index-info", stdin=f"100644 {blob}\t{far}/far.py\n".encode())
        project.git.git("commit", "--quiet", "--message", "Far")
    done = project.gitrag("core", "suggest")
    assert (done.status, done.out) == (0, "client.py  changed once in the last 3 commits\n")
    assert project.gitrag("core", "mark", "x" * 300).status == 2
    assert project.gitrag("explore", "import", "x" * 300).status == 2


@pytest.fixture
def namesakes(make_project) -> tuple[Project, Project]:
    """Two repositories of the name ``api``, of two owners, with a file of the same path."""
    made = tuple(make_project({"main.py": MORE, f"{owner}.py": "X = 1\n"}, name=owner) for owner in "ab")
    for each, owner in zip(made, ("orgA", "orgB"), strict=True):
        each.git.git("remote", "add", "origin", f"git@github.com:{owner}/api.git")
    return made


def test_repositories_of_one_name_keep_their_memory_apart(namesakes: tuple[Project, Project]):
    one, other = namesakes
    assert one.gitrag("core", "mark", "main.py", "-s", "of A").out == "Marked main.py as core of api\n"
    assert one.gitrag("index", "update", "--no-embed").status == 0
    assert other.gitrag("index", "update", "--no-embed").status == 0
    assert other.gitrag("core", "list").out == ""
    assert "of A" not in other.gitrag("prime").out
    one.gitrag("explore", "save", "User auth", "--goals", "of A")
    assert "**Action:** Created" in other.gitrag("explore", "save", "User auth", "--goals", "of B").out
    assert "**Project:** api " in one.gitrag("explore", "show", "User auth").out
    assert "## Goals\nof A" in one.gitrag("explore", "show", "User auth").out
    assert "## Goals\nof B" in other.gitrag("explore", "show", "User auth").out
    assert other.gitrag("core", "mark", "main.py", "-s", "of B").status == 0
    rows = json.loads(one.gitrag("core", "list", "--all", "--json").out)
    assert rows == [
        {"project": "api", "path": "main.py", "summary": "of A", "repository": "github.com/orgA/api"},
        {"project": "api", "path": "main.py", "summary": "of B", "repository": "github.com/orgB/api"},
    ]
    assert one.gitrag("core", "list", "--all").out.startswith("github.com/orgA/api: main.py  of A\n")
    said = one.gitrag("explore", "list").out
    assert "github.com/orgA/api" in said
    assert "github.com/orgB/api" in said


def test_a_mark_on_a_file_that_is_not_here_is_not_offered(project: Project):
    project.gitrag("core", "mark", "client.py")
    project.git.write({"client.py": None})
    listed = project.gitrag("core", "list")
    assert listed.out == ""
    assert listed.said[0].startswith("Not shown: client.py, ")
    assert json.loads(project.gitrag("core", "list", "--json").out) == []
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert "Core Codebase Context" not in project.gitrag("prime").out
    assert project.gitrag("core", "unmark", "client.py").status == 0
