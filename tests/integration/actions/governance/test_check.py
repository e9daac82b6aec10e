"""`gitrag check TARGET`."""

from __future__ import annotations

import shutil

import pytest

from gitrag.actions.governance.bearings import PRESETS
from gitrag.actions.governance.check import check
from gitrag.errors import NotSetUpError, UsageError
from gitrag.report import governance
from gitrag.report.told import plain_data
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.indexes import embedded_app


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, model_dir) -> Workspace:
    return embedded_app(tmp_path_factory.mktemp("home"), model_dir, decided_project())


def found(workspace: Workspace, path: str) -> list[str]:
    return [each.document.id for each in check(workspace, workspace.repo.root / path).documents]


def test_the_presets_are_as_promised():
    """Callers rely on these limits and scores."""
    table = {name: (preset.limit, preset.min_score) for name, preset in PRESETS.items()}
    assert table == {
        "check": (8, 0.3),
        "adr": (6, 0.3),
        "spec": (8, 0.3),
        "discover": (5, 0.3),
        "plan issues": (10, 0.4),
        "plan code": (8, 0.3),
        "work": (6, 0.4),
        "review": (8, 0.4),
        "audit": (8, 0.3),
    }


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("service/rate_limit.py", {"ADR-0004"}),
        ("service/auth.py", {"ADR-0003", "SPEC-0002"}),
        ("service/notifications.py", {"SPEC-0003"}),
        ("agent/spool.go", {"ADR-0008"}),
    ],
)
def test_what_bears_on_a_file_comes_up(workspace, path, ids):
    """By path, exported symbols and their docstrings; no comment names them."""
    assert ids <= set(found(workspace, path)[:3])


def test_what_nothing_bears_on_has_the_nearest_all_the_same(workspace):
    """A bare "none" would be taken for a fact; a low score says how little the nearest has to do with it."""
    checked = check(workspace, workspace.repo.root / "web/src/debounce.ts")
    assert checked.likely == ()
    assert len(checked.nearest) == 8
    scores = [each.score for each in checked.nearest]
    assert scores == sorted(scores, reverse=True)
    for told in (governance.checked_markdown(checked), governance.checked_text(checked)):
        assert "Nothing above 0.3; the nearest are:" in told
        assert f"{scores[0]:.2f} {checked.nearest[0].document.id} " in told


def test_the_likely_ones_are_told_from_the_nearest(workspace):
    checked = check(workspace, workspace.repo.root / "service/rate_limit.py")
    assert len(checked.documents) == 8
    assert all(each.score >= 0.3 for each in checked.likely)
    assert all(each.score < 0.3 for each in checked.nearest)
    likely, nearest = governance.checked_markdown(checked).split("Below 0.3, the next nearest:")
    assert "ADR-0004" in likely
    assert all(each.document.id in nearest for each in checked.nearest)


def test_a_directory_is_checked_by_its_files(workspace):
    assert {"ADR-0003", "SPEC-0002"} <= set(found(workspace, "service"))


def test_a_governing_comment_comes_first_with_its_line(workspace):
    """The query has it, and the answer says that the file names it."""
    path = workspace.repo.root / "web/src/debounce.ts"
    before = path.read_text()
    path.write_text(f'// Governing: ADR-0006, SPEC-0003 REQ "Quiet hours"\n// see ADR-0099\n{before}')
    try:
        checked = check(workspace, path)
    finally:
        path.write_text(before)
    first, second = checked.documents[:2]
    assert {first.document.id, second.document.id} == {"ADR-0006", "SPEC-0003"}
    assert all((each.line, each.governs, each.score) == (1, True, 1.0) for each in (first, second))
    assert first.why == "governs it, by line 1"
    assert "Quiet hours" in checked.query
    assert checked.missing == ("ADR-0099",)
    said = governance.checked_markdown(checked)
    assert "ADR-0099 is named, but no indexed ADR or spec has that id." in said


def test_each_form_says_why_and_whether_it_is_named(workspace):
    """Text, Markdown, JSON."""
    checked = check(workspace, workspace.repo.root / "service/rate_limit.py")
    markdown = governance.checked_markdown(checked)
    assert markdown.startswith("## Check: service/rate_limit.py\n")
    assert "- **ADR-0004: Limit calls per client with a token bucket** (score: " in markdown
    assert "the file does not name it" in markdown
    assert "shares" in governance.checked_text(checked)
    (row, *_) = plain_data(checked)["candidates"]
    assert (row["id"], row["named"], row["named_line"]) == ("ADR-0004", False, None)
    assert row["path"].startswith("docs/adrs/ADR-0004")
    assert "shares " in row["why"]


@pytest.mark.parametrize("path", ["nothing.py", "..", "../outside.py", ".git", ".git/config"])
def test_what_is_not_in_the_repository_is_refused(workspace, path):
    with pytest.raises(UsageError, match="no file or directory"):
        check(workspace, workspace.repo.root / path)


def test_a_check_needs_an_index(make_repository):
    repository = make_repository({"a.py": "A = 1\n"}, name="bare")
    workspace = Workspace.open(repository.path, environ=repository.environment)
    with pytest.raises(NotSetUpError, match="No gitrag collections found"):
        check(workspace, repository.path / "a.py")


ISSUE = (
    "---\nid: 12\ntitle: Token bucket forgets clients at restart\nstatus: open\n---\n"
    "The token bucket that limits the calls of a client forgets every client at a restart.\n"
)


def test_an_issue_about_the_same_comes_up_beside(workspace):
    place = workspace.repo.root / ".sdd/issues/12.md"
    assert check(workspace, workspace.repo.root / "service/rate_limit.py").issues == ()
    place.parent.mkdir(parents=True)
    place.write_text(ISSUE)
    try:
        checked = check(workspace, workspace.repo.root / "service/rate_limit.py")
    finally:
        shutil.rmtree(workspace.repo.root / ".sdd")
    assert [each.document.id for each in checked.issues] == ["12"]
    assert checked.documents[0].document.id == "ADR-0004"
    listed = "### Issues\n\n- **#12: Token bucket forgets clients at restart** (score: "
    assert listed in governance.checked_markdown(checked)
    assert "\nIssues\n\n#12  Token bucket forgets clients at restart  " in governance.checked_text(checked)
    [row] = plain_data(checked)["issues"]
    assert (row["id"], row["kind"], row["named"]) == ("12", "issues", False)


def test_a_repository_of_code_alone_has_nothing_that_bears_on_a_file(make_repository):
    repository = make_repository({"a.py": "A = 1\n"})
    workspace = Workspace.open(repository.path, environ=repository.environment)
    workspace.update()
    checked = check(workspace, repository.path / "a.py")
    assert (checked.documents, checked.issues) == ((), ())
    said = "No ADR and no spec is indexed here, so there was nothing to compare with."
    assert governance.checked_text(checked) == said
    assert governance.checked_markdown(checked).endswith(f"\n{said}")


def test_the_only_decision_has_no_other_to_be_compared_with(make_repository):
    repository = make_repository({"docs/adr/0001-a.md": "# 1. Keep a\n\n## Status\n\nAccepted\n"})
    workspace = Workspace.open(repository.path, environ=repository.environment)
    workspace.update()
    checked = check(workspace, repository.path / "docs/adr/0001-a.md")
    said = "No other ADR and no other spec is indexed here, so there was nothing to compare with."
    assert governance.checked_text(checked) == said
