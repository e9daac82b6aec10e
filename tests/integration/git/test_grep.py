"""Which files of a commit contain a word, whatever they are called and however git is set up."""

from __future__ import annotations

import pytest

from gitrag.git import Repository
from gitrag.git.grep import files_with, grep
from tests.support.repository import GitRepository


def found(repository: GitRepository, commit: str) -> tuple[list[str], bool]:
    return files_with(Repository.discover(repository.path), commit, "foo_bar", timeout_s=60)


@pytest.mark.parametrize("name", ["\n\nlead.py", "a:b.py", "\x01", " ", "\\n.py", "caf\udce9.py", "-e"])
def test_any_name_is_read(make_repository, name):
    repository = make_repository({name: "x = foo_bar()\n", "b.py": "foo_bars Foo_bar\n"})
    commit = repository.git("rev-parse", "HEAD")
    repository.git("config", "color.ui", "always")
    repository.git("config", "grep.fullName", "true")
    repository.commit({name: "1\n"})
    assert found(repository, commit) == ([name], True)
    assert found(repository, "HEAD") == ([], True)


def test_a_file_that_cannot_be_read_is_not_taken_for_one_without_the_word(make_repository):
    repository = make_repository({"a.py": "foo_bar\n", "b.py": "foo_bar = 2\n"})
    blob = repository.git("rev-parse", "HEAD:b.py")
    (repository.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert found(repository, "HEAD") == (["a.py"], False)


def test_a_name_with_a_line_end_is_one_name(make_repository):
    repository = make_repository({"a\nforged line.py": "x = 1\nfoo = 2\n", "b.py": "foo = 3\n"})
    lines, _ = grep(Repository.discover(repository.path), ["foo"])
    assert [(line.path, line.number) for line in lines] == [("a\nforged line.py", 2), ("b.py", 1)]
