"""A git process that would never end is ended, and what it was asked for is had otherwise, or said."""

from __future__ import annotations

import pytest

from gitrag.errors import RepositoryError
from gitrag.git import Repository, conversion, overlay
from tests.support.repository import blob_id

HOSTILE = "".join(f"{'*' + 'a*' * (20 + number % 20)}b{number} text\n" for number in range(200))
NAME = "a" * 120 + ".py"

pytestmark = pytest.mark.timeout(120)  # git itself takes days


@pytest.fixture
def repo(make_repository) -> Repository:
    own = make_repository({"b.py": "B = 1\n"})
    own.write({".gitattributes": HOSTILE, NAME: "A = 1\n", "b.py": "B = 2\n"})
    return Repository.discover(own.path)


def test_attributes_that_git_cannot_match_are_left_out_and_that_is_said(repo: Repository, monkeypatch):
    monkeypatch.setattr(conversion, "_CONVERTING_S", 1.0)
    found = overlay(repo)
    assert {each.path: each.entry.blob for each in found.changes if each.entry} == {
        ".gitattributes": blob_id(HOSTILE.encode()),
        NAME: blob_id(b"A = 1\n"),
        "b.py": blob_id(b"B = 2\n"),
    }
    assert "git took too long to apply .gitattributes" in repo.unconverted
    assert "`git hash-object` in" in repo.unconverted
    again = next(each.entry for each in overlay(repo).changes if each.path == NAME)
    assert found.read(again) == b"A = 1\n"


def test_every_git_process_has_an_end_that_the_user_can_set(repo: Repository):
    repo = Repository.discover(repo.root, {**repo.environment, "GITRAG_GIT_TIMEOUT_S": "1"})
    with pytest.raises(RepositoryError, match=r"`git add` in .* took longer than 1 s and was ended") as ended:
        repo.git("add", "--all")
    assert "GITRAG_GIT_TIMEOUT_S" in ended.value.hint


@pytest.mark.parametrize("given", ["", "0", "-1", "x", "1e9", "99999999"])
def test_a_deadline_that_is_none_is_not_taken(repo: Repository, given: str):
    repo = Repository.discover(repo.root, {**repo.environment, "GITRAG_GIT_TIMEOUT_S": given})
    assert repo.head().branch
