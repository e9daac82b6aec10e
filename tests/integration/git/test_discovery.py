"""Finding a repository, in every shape git has, and saying why there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitrag.errors import NOT_SET_UP, RepositoryError
from gitrag.git import Repository
from tests.support.gitversion import needs_git
from tests.support.repository import GitRepository, create_repository


def refusal(start: Path, environ: dict[str, str] | None = None) -> RepositoryError:
    with pytest.raises(RepositoryError) as caught:
        Repository.discover(start, environ)
    assert caught.value.exit_code == NOT_SET_UP
    assert caught.value.hint
    return caught.value


def test_found_from_the_top_a_subdirectory_and_a_file(make_repository):
    repository = make_repository({"a/b/c.py": "x\n"})

    for start in (repository.path, repository.file("a/b"), repository.file("a/b/c.py")):
        found = Repository.discover(start)
        assert found.root == repository.path
        assert found.git_dir == found.common_dir == repository.path / ".git"
        assert found.worktree == ""


def test_found_from_inside_the_git_directory(make_repository):
    repository = make_repository({"a": "x\n"})
    linked = repository.worktree(repository.path.parent / "linked")

    assert Repository.discover(repository.path / ".git/objects").root == repository.path
    assert Repository.discover(repository.path / ".git/worktrees/linked").root == linked.path


def test_found_through_a_symbolic_link_and_in_an_odd_directory(make_repository, tmp_path):
    odd = make_repository({"a": "x\n"}, name="caf\udce9 new\nline 'q'")
    (tmp_path / "way").symlink_to(odd.path)

    found = Repository.discover(tmp_path / "way")
    assert found.root == odd.path
    assert found.git_dir == odd.path / ".git"
    assert found.head().commit == odd.git("rev-parse", "HEAD")
    assert [entry.path for entry in found.entries(found.head().tree)] == ["a"]


def test_linked_worktree(make_repository, tmp_path):
    repository = make_repository({"a": "x\n"})
    linked = repository.worktree(tmp_path / "linked", "-b", "topic")

    found = Repository.discover(linked.path)
    assert found.root == linked.path
    assert found.git_dir == repository.path / ".git/worktrees/linked"
    assert found.common_dir == repository.path / ".git"
    assert found.worktree == "linked"
    assert found.default_directory_name == "project"
    assert found.head().branch == "topic"


def test_a_worktree_called_main_is_not_the_main_one(make_repository, tmp_path):
    repository = make_repository({"a": "x\n"})
    repository.git("checkout", "-q", "-b", "other")
    linked = repository.worktree(tmp_path / "main", "main")

    assert Repository.discover(linked.path).worktree == "main"
    assert Repository.discover(repository.path).worktree == ""


def test_worktree_of_a_bare_repository(make_repository, tmp_path):
    bare = GitRepository(tmp_path / "project/.bare", make_repository({"a": "x\n"}, name="source").environment)
    create_repository(bare.path, bare.environment, bare=True)
    bare.git("fetch", "-q", tmp_path / "source", "main:main")
    linked = bare.worktree(tmp_path / "project/main", "main")

    found = Repository.discover(linked.path)
    assert found.root == linked.path
    assert found.worktree == "main"
    assert found.default_directory_name == "project"


def test_bare_repository(make_repository):
    repository = make_repository(name="tool.git", bare=True)

    found = Repository.discover(repository.path)
    assert found.root is None
    assert found.git_dir == found.common_dir == repository.path
    assert found.worktree == ""
    assert found.default_directory_name == "tool"
    assert found.head().branch == "main"


def test_submodule(make_repository, tmp_path):
    inner = make_repository({"a": "x\n"}, name="inner")
    outer = make_repository({"b": "y\n"}, name="outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "lib/inner")
    outer.commit()

    found = Repository.discover(outer.file("lib/inner"))
    assert found.root == outer.file("lib/inner")
    assert found.git_dir == outer.path / ".git/modules/lib/inner"
    assert found.worktree == ""
    assert found.default_directory_name == "inner"
    assert found.head().commit == inner.git("rev-parse", "HEAD")


def test_shallow_clone(make_repository, tmp_path):
    repository = make_repository({"a": "1\n"})
    repository.commit({"a": "2\n"})
    clone = repository.clone(tmp_path / "clone", "--depth=1")

    found = Repository.discover(clone.path)
    assert found.head().commit == repository.git("rev-parse", "HEAD")
    assert found.remote_name() == "project"


def test_a_repository_that_git_may_not_look_for_is_not_denied(make_repository, git_environment):
    """It is above, and the user has told git not to look so far up."""
    repository = make_repository({"sub/a": "x\n"})
    environ = git_environment | {"GIT_CEILING_DIRECTORIES": str(repository.path)}
    error = refusal(repository.file("sub"), environ)
    assert str(error).endswith("/sub or above it, as far up as GIT_CEILING_DIRECTORIES lets git look.")


def test_a_repository_on_another_file_system_is_not_denied(make_repository, git_environment):
    """git stops where another file system begins."""
    repository = make_repository({"mounted/a": "x\n"})
    place = repository.file("mounted")
    if subprocess.run(["mount", "-t", "tmpfs", "none", place], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        error = refusal(place, git_environment | {"GIT_DISCOVERY_ACROSS_FILESYSTEM": "0"})
    finally:
        subprocess.run(["umount", place], check=True)
    assert str(error).endswith(f"or above it, up to {repository.path}, which is on another file system.")


def test_no_repository(tmp_path, git_environment):
    error = refusal(tmp_path)

    assert str(error) == f"There is no git repository at {tmp_path} or above it."
    assert error.hint == "Go into a repository, or make one with: git init"


def test_a_repository_of_jj_alone(tmp_path, git_environment):
    (tmp_path / "a/.jj/repo/store/git").mkdir(parents=True)
    (tmp_path / "a/src").mkdir()

    assert "jj git colocation enable" in refusal(tmp_path / "a/src").hint


def test_no_repository_at_a_path_as_long_as_can_be(tmp_path, git_environment):
    """Below it nothing can be looked at, as below a directory that may not be entered."""
    place = tmp_path
    while room := 4094 - len(str(place)):
        place /= "d" * (200 if room > 402 else room - 1 if room < 202 else room // 2)
    place.mkdir(parents=True)
    assert "git init" in refusal(place).hint


def test_no_such_directory(tmp_path, git_environment):
    assert "does not exist" in str(refusal(tmp_path / "nowhere"))


def test_no_git(make_repository, tmp_path):
    repository = make_repository()

    environment = repository.environment | {"PATH": str(tmp_path)}
    assert "git was not found" in str(refusal(repository.path, environment))


def test_owned_by_somebody_else(make_repository):
    repository = make_repository({"a": "x\n"}, name="their's")
    try:
        os.chown(repository.path, 12345, -1)
    except PermissionError:
        pytest.skip("only root can give a directory away")

    error = refusal(repository.path)
    assert "belongs to another user" in str(error)
    # the hint works as it stands
    command = error.hint.removeprefix("If you do, run: ")
    assert command.startswith("git config --global --add safe.directory ")
    assert os.system(command) == 0  # noqa: S605
    assert len(list(Repository.discover(repository.path).entries(repository.tree()))) == 1


def test_unknown_extension(make_repository):
    repository = make_repository()
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.holograms", "true")

    assert "holograms" in str(refusal(repository.path))


def test_repository_format_of_the_future(make_repository):
    repository = make_repository()
    repository.git("config", "core.repositoryFormatVersion", "9")

    assert "newer git" in str(refusal(repository.path))


@pytest.mark.parametrize(
    ("extension", "value"),
    [
        ("partialClone", "origin"),
        pytest.param("relativeWorktrees", "true", marks=needs_git(2, 48, "knows of this")),
        pytest.param("submodulePathConfig", "true", marks=needs_git(2, 54, "knows of this")),
    ],
)
def test_a_harmless_extension_is_no_obstacle(make_repository, extension, value):
    repository = make_repository({"a": "x\n"})
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", f"extensions.{extension}", value)

    found = Repository.discover(repository.path)
    assert [entry.path for entry in found.entries(found.head().tree)] == ["a"]


def test_gitfile_that_points_nowhere(make_repository, tmp_path):
    repository = make_repository({"a": "x\n"})
    linked = repository.worktree(tmp_path / "linked")
    shutil.rmtree(repository.path)

    error = refusal(linked.path)
    assert "points to a repository that is not there" in str(error)
    assert "git worktree repair" in error.hint


def test_gitfile_that_is_garbage(tmp_path, git_environment):
    (tmp_path / ".git").write_text("garbage\n")

    assert "invalid gitfile format" in str(refusal(tmp_path))


def test_broken_configuration(make_repository):
    repository = make_repository()
    (repository.path / ".git/config").write_text("[core\n")

    assert "bad config line 1" in str(refusal(repository.path))


def test_head_that_is_damaged(make_repository):
    repository = make_repository({"a": "x\n"})
    commit = repository.git("rev-parse", "HEAD")
    (repository.path / ".git/objects" / commit[:2] / commit[2:]).unlink()

    with pytest.raises(RepositoryError, match="is damaged"):
        Repository.discover(repository.path).head()


def test_head_whose_reference_is_garbage(make_repository):
    repository = make_repository({"a": "x\n"})
    (repository.path / ".git/refs/heads/main").write_text("garbage\n")

    with pytest.raises(RepositoryError, match="is damaged"):
        Repository.discover(repository.path).head()


def test_tree_that_is_missing(make_repository):
    repository = make_repository({"a": "x\n"})
    tree = repository.tree()
    (repository.path / ".git/objects" / tree[:2] / tree[2:]).unlink()

    found = Repository.discover(repository.path)
    with pytest.raises(RepositoryError, match="cannot be read"):
        list(found.entries(tree))


def test_safe_bare_repository_setting(make_repository):
    repository = make_repository(name="tool.git", bare=True)
    repository.git("config", "--global", "safe.bareRepository", "explicit")

    error = refusal(repository.path)
    assert "safe.bareRepository=explicit" in error.hint
    named = repository.environment | {"GIT_DIR": str(repository.path)}
    assert Repository.discover(repository.path, named).root is None


def test_process_environment_does_not_choose_the_repository(make_repository, monkeypatch, tmp_path):
    repository, other = make_repository({"a": "x\n"}), make_repository({"b": "y\n"}, name="other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))

    found = Repository.discover(repository.path)
    assert found.root == repository.path
    assert [entry.path for entry in found.entries(found.head().tree)] == ["a"]


def test_a_users_git_dir_is_honoured(make_repository, tmp_path):
    """A bare repository of dotfiles: GIT_DIR and GIT_WORK_TREE name what discovery cannot find."""
    dotfiles = make_repository(name="dotfiles", bare=True)
    (tmp_path / "tree/sub").mkdir(parents=True)
    environ = dotfiles.environment | {"GIT_DIR": str(dotfiles.path), "GIT_WORK_TREE": str(tmp_path / "tree")}

    found = Repository.discover(tmp_path / "tree/sub", environ)
    assert found.git_dir == dotfiles.path
    assert found.root == tmp_path / "tree"


def test_git_dir_alone_does_not_make_the_current_directory_the_top(make_repository, tmp_path):
    """A hook of a linked worktree has GIT_DIR set; a command it runs may have changed the directory."""
    repository = make_repository({"sub/a": "x\n"})
    linked = repository.worktree(tmp_path / "linked")

    for tree, git_dir in ((repository, ".git"), (linked, "../project/.git/worktrees/linked")):
        environ = repository.environment | {"GIT_DIR": str(tree.path / git_dir)}
        assert Repository.discover(tree.file("sub"), environ).root == tree.path


def test_a_wrong_git_dir_is_named(make_repository, tmp_path):
    repository = make_repository()

    error = refusal(repository.path, repository.environment | {"GIT_DIR": str(tmp_path / "none")})
    assert str(error) == f"GIT_DIR names {tmp_path / 'none'}, which is not a git repository."


REPORT = """
env | grep -E '^GIT_(DIR|INDEX_FILE|PREFIX|WORK_TREE)=' > "$REPORT.env"
cd "$SOMEWHERE"
exec "$PYTHON" -c '
import os, sys
from pathlib import Path
from gitrag.git import Repository, overlay
for environ in (None, os.environ):
    found = Repository.discover(Path(sys.argv[1]), environ)
    head = found.head()
    names = sorted(entry.path for entry in found.entries(head.tree))
    print(found.root, head.commit, *names, *(change.path for change in overlay(found).changes), sep="|")
' "$SOMEWHERE" > "$REPORT"
"""


@pytest.mark.parametrize("linked", [False, True], ids=["main worktree", "linked worktree"])
@pytest.mark.parametrize("command", ["commit -q -a -m x", "commit -q -m x -- a"])
@pytest.mark.parametrize("hook", ["pre-commit", "post-commit"])
def test_leaks_of_a_real_hook_do_not_mislead(make_repository, tmp_path, linked, command, hook):
    repository = make_repository({"a": "1\n", "b": "1\n", "sub/c": "1\n"})
    tree = repository.worktree(tmp_path / "linked") if linked else repository
    before = tree.git("rev-parse", "HEAD")
    report = tmp_path / "report"
    repository.hook(hook, REPORT)
    tree.write({"a": "2\n", "new": "n\n"})
    environment = {"REPORT": str(report), "SOMEWHERE": str(tree.file("sub")), "PYTHON": sys.executable}
    tree.git(*command.split(), env=environment)

    leaked = (tmp_path / "report.env").read_text()
    assert ("GIT_INDEX_FILE" in leaked) or hook == "post-commit"
    commit = before if hook == "pre-commit" else tree.git("rev-parse", "HEAD")
    changed = "a|new" if hook == "pre-commit" else "new"
    expected = f"{tree.path}|{commit}|a|b|sub/c|{changed}"
    assert report.read_text().splitlines() == [expected, expected]
