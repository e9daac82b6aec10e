"""Which commits change how often a text occurs in a file, whatever the files are called."""

from __future__ import annotations

import pytest

from gitrag.git import Repository
from gitrag.git.commits import CommitError
from gitrag.git.grep import changing_count
from tests.support.repository import GitRepository


def found(repository: GitRepository, *ids: str) -> list[tuple[str, tuple[str, ...]]]:
    return changing_count(Repository.discover(repository.path), ids, "foo_bar", timeout_s=60)


@pytest.mark.parametrize("name", ["\n\nlead.py", "a\x01HEAD", "\x01", ":100644 a", "0" * 40, " ", "\\n.py"])
def test_any_name_is_read(make_repository, name):
    repository = make_repository({name: "foo_bar\n", "b.py": "foo_bar\n"})
    first = repository.git("rev-parse", "HEAD")
    empty = repository.commit()
    other = repository.commit({"b.py": "foo_bar\nother\n"})
    last = repository.commit({name: "1\n", "b.py": "2\n"})
    both = tuple(sorted((name, "b.py")))
    assert found(repository, last, other, empty, first) == [(last, both), (first, both)]


def test_commits_that_cannot_be_compared_are_not_taken_for_unchanged(make_repository):
    repository = make_repository({"b.py": "foo_bar\n"})
    repository.commit({"b.py": "other\n"})
    ids = repository.git("rev-list", "HEAD").split()
    blob = repository.git("rev-parse", "HEAD~1:b.py")
    (repository.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(CommitError):
        found(repository, *ids)
