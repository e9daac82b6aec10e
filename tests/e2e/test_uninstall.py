"""`gitrag uninstall`: shown first, then asked; what it takes out, and what it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.command import Project, everything_in


def own(project: Project) -> dict[str, bytes | str]:
    """Return what is in the working tree and among the hooks."""
    kept = everything_in(project.path)
    return {
        name: content
        for name, content in kept.items()
        if not name.startswith(".git/") or name.startswith(".git/hooks/")
    }


def test_a_repository_is_again_what_it_was(project: Project):
    project.git.write({"AGENTS.md": "# Rules\n", ".gitignore": "*.log\n"})
    project.git.hook("post-commit", "echo mine\n")
    before = own(project)
    assert "nothing of gitrag's" in project.gitrag("uninstall").out
    assert project.gitrag("init", "--skip-embed", "--agents", "codex").status == 0
    project.git.git("config", "gitrag.prePush", "off")
    after = own(project)

    shown = project.gitrag("uninstall")
    assert (shown.status, own(project)) == (1, after)
    assert shown.said == ["hint: Nothing was removed: --yes does it."]
    goes = [line for line in shown.out.splitlines() if line.startswith("goes  ")]
    for what in ("hooks (", "AGENTS.md", "the line .sdd/", "repositories.json", ".git/gitrag"):
        assert any(what in line for line in goes), what
    assert f"stays  settings  {project.path}/.git/config  (git config --remove-section gitrag)" in shown.out
    assert "stays  gitrag itself" in shown.out

    done = project.gitrag.on_terminal("uninstall", typed="y\n")
    assert (done.status, "Removed." in done.out) == (0, True)
    assert own(project) == before
    assert not project.store.exists()
    assert str(project.path) not in project.gitrag("repos", "list").out
    assert "nothing of gitrag's" in project.gitrag("uninstall").out


def test_private_issues_stay_ignored(project: Project):
    assert project.gitrag("init", "--skip-embed", "--no-hooks").status == 0
    project.git.write({".sdd/issues/1.md": "private\n"})
    done = project.gitrag("uninstall", "--yes")
    assert f"stays  copies of issues, and .sdd/ in .gitignore  {project.path}/.sdd  (remove both)" in done.out
    assert "issues" not in project.git.git("status", "--porcelain", "--untracked-files=all")


def test_all_of_the_machine(make_project: Callable[..., Project]):
    """Every repository that is known, and the user's own files; what is theirs is named."""
    first, second = (make_project({"a.py": "a = 1\n"}, name=name) for name in ("first", "second"))
    before = [own(first), own(second)]
    home = Path(first.gitrag.environment["HOME"])
    (home / "memory").mkdir()
    for each in (first, second):
        assert each.gitrag("init", "--skip-embed", "--no-gitignore").status == 0
    assert first.gitrag("agents", "install", "--user", "codex").status == 0

    done = first.gitrag("uninstall", "--all", "--yes", env={"GITRAG_HOME": str(home / "memory")})
    assert done.status == 0, done
    assert f"stays  explorations and core files  {home / 'memory'}" in done.out
    assert [own(first), own(second)] == before
    assert not any(each.store.exists() for each in (first, second))
    assert not (home / ".codex" / "config.toml").exists()
    for place in (".cache/gitrag", ".local/state/gitrag"):
        assert not (home / place).exists(), place
