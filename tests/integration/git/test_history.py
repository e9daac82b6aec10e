"""How often files have been changed, whatever they are called and whatever a commit says of its time."""

from __future__ import annotations

import re

import pytest

from gitrag.git import Repository
from gitrag.git.blame import changed_before
from gitrag.git.commits import latest_commits, recent_changes
from gitrag.git.difference import changed_files, messages
from gitrag.git.grep import changing_count
from tests.support.repository import FIRST_COMMIT_S

FIRST = FIRST_COMMIT_S + 60


def history(repository):
    return recent_changes(Repository.discover(repository.path))


@pytest.mark.parametrize("name", ["\n\nlead.py", "a\x01b.py", "\x01", "\x0160", "1", " ", "\\n.py"])
def test_any_name_is_counted(make_repository, name):
    repository = make_repository({name: "1\n", "other.py": "1\n"})
    repository.commit()  # nothing changed
    repository.commit({name: "2\n"})

    assert history(repository) == (3, {name: (2, FIRST + 120), "other.py": (1, FIRST)})


@pytest.mark.parametrize(
    ("key", "value"),
    [("i18n.logOutputEncoding", "UTF-16"), ("diff.orderFile", "/nonexistent"), ("log.showRoot", "false")],
)
def test_what_the_user_prefers_to_see_changes_nothing(make_repository, key, value):
    repository = make_repository({"a.py": "1\n"})
    head = repository.commit({"a.py": "2\n"}, "Café")
    repository.git("config", key, value)

    found = Repository.discover(repository.path)
    assert found.head().commit == head
    assert history(repository) == (2, {"a.py": (2, FIRST + 60)})
    assert messages(found, "HEAD~1") == ["Café"]
    assert [each.path for each in changed_files(found, "HEAD~1")] == ["a.py"]


@pytest.mark.parametrize("where", ["the configuration", "git -c"])
def test_an_encoding_for_the_log_reaches_no_command(make_repository, where):
    repository = make_repository({"a.py": "1\n"})
    head = repository.commit({"a.py": "2\n"}, "Café")
    environment = repository.environment
    if where == "git -c":  # as a hook has it
        environment = environment | {"GIT_CONFIG_PARAMETERS": "'i18n.logoutputencoding'='UTF-16'"}
    else:
        repository.git("config", "i18n.logOutputEncoding", "UTF-16")
    found = Repository.discover(repository.path, environment)

    assert changed_before(found, head, "a.py", (1, 1), most=1) == [head]
    assert changing_count(found, [head], "2", timeout_s=60) == [(head, ("a.py",))]
    assert [each.subject for each in latest_commits(found, 1)] == ["Café"]


@pytest.mark.parametrize(
    ("committer", "last"),
    [("A <a@b> never +0000", FIRST), ("A <a@b>", FIRST), ("nobody", FIRST), ("A <a@b> 5 +0000", FIRST)],
)
def test_a_commit_without_a_time_counts(make_repository, committer, last):
    """Other programs' conversions have left such commits behind."""
    repository = make_repository({"a.py": "1\n"})
    first = repository.git("rev-parse", "HEAD")
    repository.write({"a.py": "2\n"})
    repository.git("add", "a.py")
    lines = (f"tree {repository.git('write-tree')}", f"parent {first}", f"author {committer}")
    commit = "\n".join([*lines, f"committer {committer}", "", "Change", ""]).encode()
    made = repository.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=commit)
    repository.git("update-ref", "HEAD", made)

    assert history(repository) == (2, {"a.py": (2, last)})


def test_the_latest_commits_are_told_without_merges(make_repository):
    """By their first lines, whatever the encoding; nothing of a repository without a commit."""
    repository = make_repository({"a.txt": "a\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({"b.txt": "b\n"}, "Größe\n\nMore of it.")
    repository.git("checkout", "--quiet", "-")
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    repository.git("config", "log.showSignature", "true")
    found = latest_commits(Repository.discover(repository.path), 5)
    assert found[0].subject == "Größe"
    assert len(found) == 2
    assert repository.git("rev-parse", "side").startswith(found[0].commit)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found[0].day)
    assert [each.subject for each in latest_commits(Repository.discover(repository.path), 1)] == ["Größe"]


def test_a_repository_without_a_commit_has_no_latest_one(make_repository):
    repository = make_repository({})
    repository.git("checkout", "--quiet", "--orphan", "empty")
    assert latest_commits(Repository.discover(repository.path), 5) == ()
