"""Which paths are files of the repository's own, to be called core."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitrag.errors import UsageError
from gitrag.git import Repository
from gitrag.git.meant import own_file
from tests.support.repository import Link


@pytest.fixture
def root(make_repository, tmp_path: Path) -> Path:
    (tmp_path / "outside.py").write_text("secret")
    own = make_repository({"src/a.py": "A = 1\n", ".gitignore": "*.env\n", "[x]*.py": "B = 1\n", "x1.py": ""})
    own.write(
        {
            "new.py": "N = 1\n",
            "secret.env": "KEY=1\n",
            "alias.py": Link("src/a.py"),
            "out.py": Link("../outside.py"),
            "code": Link("src"),
            "hooks": Link(".git/hooks"),
            "settings": Link(".git/config"),
            "env.py": Link("secret.env"),
            "loop": Link("loop"),
        }
    )
    subprocess.run(["git", "init", "-q", "inner"], cwd=own.path, check=True)
    (own.path / "inner" / "b.py").write_text("")
    return own.path


@pytest.mark.parametrize("given", ["src/a.py", "./src/../src/a.py", "new.py", "[x]*.py"])
def test_a_file_that_git_tracks_or_would_add_is_one(root: Path, given: str):
    expected = given.rpartition("../")[2]
    assert own_file(Repository.discover(root), root, root / given, given) == expected


@pytest.mark.parametrize(("given", "expected"), [("alias.py", "alias.py"), ("code/a.py", "src/a.py")])
def test_links_to_such_a_file_mean_it(root: Path, given: str, expected: str):
    assert own_file(Repository.discover(root), root, root / given, given) == expected


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (".git/config", "is git's own"),
        (".GIT/config", "is git's own|no file"),
        ("inner/.git/config", "is git's own"),
        ("src/../.git/HEAD", "is git's own"),
        ("hooks/pre-commit.sample", "is git's own|no file|symbolic link"),
        ("../outside.py", "it is outside"),
        ("/etc/passwd", "it is outside"),
        ("out.py", "it is outside"),
        ("env.py", "is ignored by git"),
        ("settings", "is git's own"),
        ("loop", "loop"),
        ("secret.env", "is ignored by git"),
        ("inner/b.py", "inside this one"),
        ("src", "no file src"),
        ("none.py", "no file none.py"),
        ("x" * 5000, "no file"),
        ("a\0b", "no file"),
    ],
)
def test_all_else_is_refused_with_the_reason(root: Path, given: str, reason: str):
    with pytest.raises(UsageError, match=reason):
        own_file(Repository.discover(root), root, root / given, given)
