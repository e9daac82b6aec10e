"""Which commits lines are put down to, with git's own blame, and lines that are in no commit."""

from __future__ import annotations

import os
import random
import tempfile

import pytest

from gitrag.errors import RepositoryError
from gitrag.git import Repository
from gitrag.git import blame as blame_module
from gitrag.git.blame import IGNORED_REVISIONS, blame, brought_by, changed_before, unchanged_lines
from gitrag.git.commits import CommitError, latest_commits
from tests.support.repository import GitRepository, Link

BODY = "".join(f"    step_{i} = compute_the_step(number={i}, of='a whole')\n" for i in range(6))


def origins(repository, path="a.py", ranges=((1, 100),)) -> list[tuple[int, str, str]]:
    repo = Repository.discover(repository.path)
    head = repo.head().commit
    last = repository.git("show", f"HEAD:{path}").count("\n") + 1
    within = [(first, min(end, last)) for first, end in ranges]
    return list(blame(repo, head, path, within).origins)


def test_without_a_temporary_directory_the_indexs_is_taken(make_repository, monkeypatch, tmp_path):
    repository = make_repository({"a.py": "x = 1\n"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(RepositoryError, match="temporary directory"):
        origins(repository)
    store = Repository.discover(repository.path).store_directory
    store.mkdir()
    assert len(origins(repository)) == 1
    assert list(store.iterdir()) == []


def test_white_space_and_moves_are_no_changes(make_repository):
    repository = make_repository({"a.py": f"def one():\n{BODY}"})
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"a.py": f"def one():\n{BODY.replace('    ', '        ')}"}, "Indent")
    moved = repository.commit({"a.py": None, "lib/b.py": f"# moved\ndef one():\n{BODY}"}, "Move")

    assert origins(repository, "lib/b.py") == [
        (1, moved, "lib/b.py"),
        *((line, first, "a.py") for line in range(2, 9)),
    ]


@pytest.mark.parametrize("listed", ["{wide}\n", "# formatting\n{wide} # all\nnonsense\n" + "0" * 40 + "\n"])
def test_commits_that_only_reformat_are_passed_over(make_repository, listed):
    repository = make_repository({"a.py": "x = {'a':1}\n"})
    first = repository.git("rev-parse", "HEAD")
    wide = repository.commit({"a.py": 'x = {"a": 1}\n'}, "Format")
    assert origins(repository) == [(1, wide, "a.py")]

    repository.commit({IGNORED_REVISIONS: listed.format(wide=wide)}, "List it")
    assert origins(repository) == [(1, first, "a.py")]


def test_commits_that_git_is_told_to_pass_over_are_named_too(make_repository, tmp_path):
    repository = make_repository({"a.py": "x = {'a':1}\n"})
    first = repository.git("rev-parse", "HEAD")
    wide = repository.commit({"a.py": 'x = {"a": 1}\n'}, "Format")
    (tmp_path / "listed").write_text(f"{wide}\n")
    repository.git("config", "blame.ignoreRevsFile", str(tmp_path / "listed"))
    assert origins(repository) == [(1, first, "a.py")]
    found = blame(Repository.discover(repository.path), wide, "a.py", [(1, 1)])
    assert found.ignored == (wide,)


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_lists_that_cannot_be_read_are_passed_over(make_repository, tmp_path, scope):
    """Whoever names them: none is needed, and no line of one is told."""
    repository = make_repository({"a.py": "x = 1\n"})
    os.mkfifo(tmp_path / "pipe")
    for each in ("/etc/passwd", "/dev/zero", tmp_path / "pipe", tmp_path / "nothing"):
        repository.git("config", scope, "--add", "blame.ignoreRevsFile", str(each))
    assert origins(repository) == [(1, repository.git("rev-parse", "HEAD"), "a.py")]


@pytest.mark.parametrize("depth", [(), ("--depth=1",)])
def test_any_clone_is_blamed(make_repository, tmp_path, depth):
    repository = make_repository({"a.py": "x = 1\n"})
    head = repository.commit({"b.py": "y = 1\n"})
    clone = repository.clone(tmp_path / "clone", *depth)
    clone.git("worktree", "add", "--quiet", tmp_path / "linked")
    first = head if depth else repository.git("rev-parse", "HEAD^")
    for each in (clone, GitRepository(tmp_path / "linked", clone.environment)):
        assert origins(each) == [(1, first, "a.py")]


def test_no_pipe_is_waited_for(make_repository):
    repository = make_repository({"a.py": "x = 1\n"})
    head = repository.git("rev-parse", "HEAD")
    os.mkfifo(repository.path / ".mailmap")
    repo = Repository.discover(repository.path)
    assert [own for _, own, _ in blame(repo, head, "a.py", [(1, 1)]).origins] == [head]
    assert latest_commits(repo, 1)[0].subject


def test_more_lines_than_git_may_print_are_refused(make_repository, monkeypatch):
    repository = make_repository({"a.py": "\n" * 5_000})
    monkeypatch.setattr(blame_module, "_MOST_PRINTED", 10_000)
    with pytest.raises(CommitError, match="too many lines"):
        origins(repository, ranges=((1, 5_000),))


@pytest.mark.parametrize(
    "listed", [Link("/dev/zero"), Link("/dev/null"), b"\xff\xfe\0", "HEAD\n--output=x\n"]
)
def test_a_strange_list_is_passed_over(make_repository, listed):
    repository = make_repository({"a.py": "x = 1\n"})
    first = repository.git("rev-parse", "HEAD")
    repository.write({IGNORED_REVISIONS: listed})
    assert origins(repository) == [(1, first, "a.py")]
    assert not (repository.path / "x").exists()


def test_what_is_listed_and_is_no_commit_is_passed_over(make_repository):
    repository = make_repository({"a.py": "x = 1\n"})
    first = repository.git("rev-parse", "HEAD")
    repository.write({IGNORED_REVISIONS: repository.git("rev-parse", "HEAD:a.py") + "\n"})
    assert origins(repository) == [(1, first, "a.py")]


@pytest.mark.parametrize("name", ["a b.py", "ü.py", 'q"uote.py', "tab\t.py", b"\xff.py", "-x.py", "a:3.py"])
def test_any_name_is_read(make_repository, name):
    repository = make_repository({name: "x = 1\n"})
    path = name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
    repo = Repository.discover(repository.path)
    head = repo.head().commit
    assert [(own, name) for _, own, name in blame(repo, head, path, [(1, 1)]).origins] == [(head, path)]
    assert changed_before(repo, head, path, (1, 1), 5) == [head]


def test_the_converter_that_attributes_name_is_not_run(make_repository, tmp_path):
    mark = tmp_path / "ran"
    repository = make_repository({"a.py": "x = 1\n", ".gitattributes": "*.py diff=evil filter=evil\n"})
    for key in ("diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"):
        repository.git("config", key, f"sh -c 'touch {mark}; cat'")
    assert len(origins(repository)) == 1
    repo = Repository.discover(repository.path)
    assert changed_before(repo, repo.head().commit, "a.py", (1, 1), 5)
    assert not mark.exists()


def test_the_merge_that_brought_a_commit_is_found(make_repository):
    repository = make_repository({"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    inner = repository.commit({"b.py": "1\n"}, "Inner")
    repository.git("checkout", "--quiet", "main")
    direct = repository.commit({"c.py": "1\n"}, "Direct")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge pull request #7 from x/side", "side")
    repository.commit({"c.py": "2\n"}, "Later")
    repo = Repository.discover(repository.path)
    head = repo.head().commit

    assert brought_by(repo, inner, head) == "Merge pull request #7 from x/side"
    assert brought_by(repo, direct, head) == ""  # its merge has it for its first parent
    assert brought_by(repo, head, head) == ""


def test_unchanged_lines_are_those_that_a_comparison_leaves():
    """Each line said to be unchanged is equal, and they are in order; those around no change are all said."""
    chance = random.Random(5)
    for _ in range(300):
        before = [chance.choice("abcde") * 3 for _ in range(chance.randrange(12))]
        after = list(before)
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(after) + 1)
            if chance.random() < 0.5:
                after.insert(place, chance.choice("xyz") * 3)
            elif after:
                after.pop(min(place, len(after) - 1))
        old, new = ("".join(f"{line}\n" for line in side).encode() for side in (before, after))
        same = unchanged_lines(old, new)
        assert all(before[was - 1] == after[now - 1] for now, was in same.items())
        assert sorted(same.values()) == [was for _, was in sorted(same.items())]
        if before == after:
            assert same == {line: line for line in range(1, len(after) + 1)}
        removed, added = len(before) - len(same), len(after) - len(same)
        assert removed >= 0 <= added


def test_line_ends_do_not_count_as_changes():
    assert unchanged_lines(b"a\nb\n", b"a\r\nb\r\nc\r\n") == {1: 1, 2: 2}
    assert unchanged_lines(b"a\nb", b"a\nb\n") == {1: 1, 2: 2}
    assert unchanged_lines(b"", b"a\n") == {}
    assert unchanged_lines(b"a\n", b"") == {}
