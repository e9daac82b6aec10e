"""Commits as they are read: what each says and which paths it changes, whatever the clone."""

from __future__ import annotations

import pytest

from gitrag.git import Repository, commits
from gitrag.git.commits import Commit, CommitError, commit_ids, read_commits
from tests.support.repository import FIRST_COMMIT_S, GitRepository

MOST = 1000


def opened(repository: GitRepository) -> Repository:
    return Repository.discover(repository.path, repository.environment)


def read(repository: GitRepository, commit: str = "") -> list[Commit]:
    """Read all commits that lead to one, newest first."""
    repo = opened(repository)
    ids = commit_ids(repo, commit or repo.head().commit or "", MOST)
    return [each for batch in read_commits(repo, ids) for each in batch]


def changes(commit: Commit) -> set[tuple[str, str, str]]:
    return set(commit.changes)


def test_a_commit_is_what_it_says_and_what_it_changes(make_repository):
    repository = make_repository({"kept.py": "1\n", "gone.py": "a\nb\n"})
    repository.commit(
        {"kept.py": "2\n", "gone.py": None, "new.py": "c\n"}, "Rework\n\nFor a reason.\n\nBy: me"
    )

    newest, first = read(repository)

    assert changes(newest) == {("kept.py", "M", ""), ("gone.py", "D", ""), ("new.py", "A", "")}
    assert (newest.message, newest.changed) == ("Rework\n\nFor a reason.\n\nBy: me", 3)
    assert newest.committed == FIRST_COMMIT_S + 120
    assert newest.id == repository.git("rev-parse", "HEAD")
    assert (newest.parents, first.parents) == (1, 0)
    assert changes(first) == {("kept.py", "A", ""), ("gone.py", "A", "")}


def test_moved_files_are_followed_by_content_and_by_name(make_repository):
    repository = make_repository(
        {"lib/a.py": "same\n", "lib/b.py": "one\n", "x/__init__.py": "", "y/__init__.py": ""}
    )
    repository.commit(
        {
            "lib/a.py": None,
            "src/renamed.py": "same\n",
            "lib/b.py": None,
            "src/b.py": "another\n",
            "x/__init__.py": None,
            "z/__init__.py": "",
        }
    )

    assert changes(read(repository)[0]) == {
        ("src/renamed.py", "R", "lib/a.py"),
        ("src/b.py", "R", "lib/b.py"),
        ("z/__init__.py", "R", "x/__init__.py"),
    }


def test_of_several_of_one_name_none_is_said_to_be_moved(make_repository):
    repository = make_repository({"a/main.py": "1\n", "b/main.py": "2\n"})
    repository.commit({"a/main.py": None, "b/main.py": None, "c/main.py": "3\n"})

    assert {status for _, status, _ in changes(read(repository)[0])} == {"A", "D"}


def test_a_merge_changes_what_it_brings_to_its_first_parent(make_repository):
    repository = make_repository({"main.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit({"side.py": "1\n"}, "On the side")
    repository.git("checkout", "--quiet", "main")
    repository.commit({"main.py": "2\n"}, "On main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")

    merge = next(commit for commit in read(repository) if commit.message == "Merge side")

    assert merge.parents == 2
    assert changes(merge) == {("side.py", "A", "")}


@pytest.mark.parametrize("name", ["\n\nlead.py", "a\x01b.py", ":100644 x", " ", b"\xff.py"])
def test_any_name_is_read(make_repository, name):
    repository = make_repository({"other.py": "1\n"})
    repository.commit({name: "2\n"})
    repository.commit()

    nothing, own, _ = read(repository)

    assert [path.encode("utf-8", "surrogateescape") for path, *_ in own.changes] == [
        name if isinstance(name, bytes) else name.encode()
    ]
    assert (nothing.changes, nothing.changed) == ((), 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("i18n.logOutputEncoding", "UTF-16"),
        ("diff.orderFile", "/nonexistent"),
        ("log.showRoot", "false"),
        ("log.showSignature", "true"),
        ("diff.renames", "copies"),
        ("diff.noprefix", "true"),
        ("core.abbrev", "4"),
        ("format.pretty", "oneline"),
        ("core.quotePath", "true"),
    ],
)
def test_what_the_user_prefers_to_see_changes_nothing(make_repository, key, value):
    repository = make_repository({"a.py": "same\n"})
    repository.commit({"a.py": None, "b.py": "same\n"}, "Café")
    before = read(repository)
    repository.git("config", key, value)

    assert read(repository) == before
    assert before[0].message == "Café"


def test_messages_in_any_encoding_are_text(make_repository):
    repository = make_repository({"a.py": "1\n"})
    repository.commit({"a.py": "2\n"})
    tree, parent = repository.tree(), repository.git("rev-parse", "HEAD~1")

    def written(headers: str, message: bytes) -> Commit:
        data = f"tree {tree}\nparent {parent}\n{headers}".encode() + b"\n" + message
        commit = repository.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=data)
        return read(repository, commit)[0]

    who = "author A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n"
    assert written(f"{who}encoding ISO-8859-1\n", b"Caf\xe9\n").message == "Café"
    assert written(who, b"Caf\xe9 \x01\x02\x03 \x1b[31m\n").message == "Caf\ufffd \x01\x02\x03 \x1b[31m"
    assert written(f"{who}encoding x-unknown\n", b"Caf\xc3\xa9\n").message == "Café"
    assert written(who, b"").message == ""
    far = "author A <a@b> 99999999999999999999 +0000\ncommitter A <a@b> soon +0000\n"
    assert written(far, b"Late\n").message == "Late"


def test_a_message_and_its_paths_are_bounded(make_repository, monkeypatch):
    """Wherever git's output is cut."""
    repository = make_repository({"a.py": "1\n"})
    repository.commit({f"d{i % 7}/f{i}.py": f"{i}\n" for i in range(3000)}, "Import")
    repository.commit({"a.py": "2\n"})
    repository.git("commit", "--quiet", "--amend", "-F", "-", stdin=b"Say\n\n" + b"much " * 100_000)
    repository.commit({"a.py": "3\n"}, "Go on")
    for most in (200_000, 200_020, 200_040, 200_060, 200_080):
        monkeypatch.setattr(commits, "_MOST_BYTES", most)

        last, long, wide, first = read(repository)

        assert (last.message, first.message) == ("Go on", "First")
        assert changes(last) == {("a.py", "M", "")}
        assert len(long.message) == commits.MESSAGE_CHARACTERS
        assert long.message.startswith("Say\n\nmuch")
        assert (wide.message, wide.changes) == ("Import", ())
        assert wide.changed > commits.MOST_PATHS


def test_of_a_wide_commit_some_paths_are_kept_and_all_are_counted(make_repository):
    repository = make_repository({f"f{i}.py": f"{i}\n" for i in range(400)})

    (only,) = read(repository)

    assert (len(only.changes), only.changed) == (commits.MOST_PATHS, 400)


def test_a_shallow_clone_has_what_can_be_compared(make_repository, tmp_path):
    repository = make_repository({"a.py": "1\n", "b.py": "1\n"})
    for number in range(4):
        repository.commit({"a.py": f"{number + 2}\n"}, f"Change {number}")
    clone = repository.clone(tmp_path / "shallow", "--depth", "3")

    assert [commit.message for commit in read(clone)] == ["Change 3", "Change 2"]
    clone.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--unshallow")
    assert read(clone) == read(repository)


@pytest.mark.parametrize(("kind", "messages"), [("blob:none", ["Third", "Second", "First"]), ("tree:0", [])])
def test_a_partial_clone_fetches_nothing(make_repository, tmp_path, kind, messages):
    repository = make_repository({"a/a.py": "1\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.commit({"a/a.py": "2\n"}, "Second")
    repository.commit({"a/a.py": None, "b/a.py": "2\n"}, "Third")
    clone = repository.clone(tmp_path / "partial", "--no-checkout", f"--filter={kind}")
    packs = sorted((clone.path / ".git/objects/pack").iterdir())

    assert [commit.message for commit in read(clone)] == messages
    assert sorted((clone.path / ".git/objects/pack").iterdir()) == packs


def test_grafts_and_replaced_commits_change_nothing(make_repository):
    repository = make_repository({"a.py": "1\n"})
    repository.commit({"a.py": "2\n"}, "Second")
    repository.commit({"a.py": "3\n"}, "Third")
    before = read(repository)
    third, first = repository.git("rev-parse", "HEAD"), repository.git("rev-parse", "HEAD~2")
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/info/grafts").write_text(f"{third} {first}\n")
    repository.git("replace", "--force", repository.git("rev-parse", "HEAD~1"), first)

    assert read(repository) == before


def test_a_history_that_lacks_a_commit_is_refused(make_repository):
    repository = make_repository({"a.py": "1\n"})
    repository.commit({"a.py": "2\n"})
    lost = repository.git("rev-parse", "HEAD~1")
    (repository.path / ".git/objects" / lost[:2] / lost[2:]).unlink()

    with pytest.raises(CommitError, match="git fsck"):
        read(repository)


def test_many_equal_files_are_moved_in_no_time(make_repository):
    """Of a list of equal files each is found once: 40,000 squared would be an hour."""
    repository = make_repository({f"old/{i}.txt": "" for i in range(2)})
    blob = repository.blob("old/0.txt")

    def tree(folder: str) -> str:
        lines = "".join(f"100644 blob {blob}\t{i}{folder}.txt\n" for i in range(40_000))
        inner = repository.git("mktree", stdin=lines.encode())
        return repository.git("mktree", stdin=f"040000 tree {inner}\t{folder}\n".encode())

    first = repository.git("commit-tree", tree("a"), "-m", "Some")
    second = repository.git("commit-tree", tree("b"), "-p", first, "-m", "Move")

    newest = read(repository, second)[0]

    assert {status for _, status, _ in newest.changes} == {"R"}
    assert (len(newest.changes), newest.changed) == (commits.MOST_MOVES, 40_000)
    assert len({old for *_, old in newest.changes}) == commits.MOST_MOVES
