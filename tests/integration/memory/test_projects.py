"""What a project is called."""

from __future__ import annotations

import pytest

from gitrag.git import Repository
from gitrag.memory.home import project_name


@pytest.mark.parametrize(
    ("given", "remote", "name"),
    [
        ("Shop", "git@example.com:team/till.git", "Shop"),
        (" ", "git@example.com:team/till.git", "till"),
        (None, "https://user:secret@example.com/team/Till.git/", "Till"),
        (None, "../elsewhere/till", "till"),
        (None, "", "market"),
    ],
)
def test_a_project_is_called_as_said_as_its_remote_or_as_its_directory(
    make_repository, git_environment, given, remote, name
):
    """In this order, so that clones of a repository share their memory."""
    own = make_repository({"a.py": "A = 1\n"}, name="market")
    if remote:
        own.git("remote", "add", "origin", remote)
    repo = Repository.discover(own.path, git_environment)
    assert project_name(given, repo, own.path) == name


def test_outside_a_repository_the_directory_names_it(tmp_path):
    """Explorations need no repository."""
    (tmp_path / "stall").mkdir()
    assert project_name(None, None, tmp_path / "stall") == "stall"
