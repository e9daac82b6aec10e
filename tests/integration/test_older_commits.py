"""Commits beyond the newest: read in the background, asked by ``gitrag history`` alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from gitrag.actions import catch_up, gc
from gitrag.actions.current_view import CurrentView
from gitrag.actions.history import HistoryAnswer, HistoryOptions, history
from gitrag.actions.search import SearchOptions, search
from gitrag.indexing import history as newest_commits
from gitrag.indexing import older_commits
from gitrag.indexing.history import draft
from gitrag.store import commit_evidence, histories
from gitrag.store.scopes import open_scope
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository, made_once

WORDS = ("quince", "walnut", "cherry", "medlar", "damson", "almond", "apricot", "bilberry")
NEWEST = 3


@pytest.fixture
def few_newest(monkeypatch):
    """Three commits are the newest, the others older; the worker does not start by itself."""
    for module in (newest_commits, older_commits):
        monkeypatch.setattr(module, "MOST_COMMITS", NEWEST)
    monkeypatch.setattr("gitrag.git.commits._FIRST_BATCH", 1)
    monkeypatch.setattr("gitrag.git.commits._BATCH", 1)
    monkeypatch.setattr(newest_commits, "_FEW_S", 600.0)  # as long as a loaded machine takes
    monkeypatch.setattr(catch_up, "start_worker", lambda _workspace: None)


@pytest.fixture
def repository(make_repository, git_environment, tmp_path, few_newest) -> GitRepository:
    """Nine commits, indexed: the first one, and one for each word."""

    def make() -> GitRepository:
        made = make_repository({"start.py": "0\n"})
        for word in WORDS:
            made.commit({f"{word}.py": f"{word} = 1\n"}, f"Plant a {word}")
        open_app(made).update()
        return made

    return made_once("nine commits", tmp_path / "project", git_environment, make)


@pytest.fixture
def workspace(repository) -> Workspace:
    return open_app(repository)


def read_all(workspace: Workspace) -> bool:
    head = workspace.repo.head().commit
    assert head is not None
    return older_commits.read_older(workspace.older, workspace.store, workspace.repo, head)


def subjects(workspace: Workspace, query: str, **options: object) -> list[str]:
    return [match.said.subject for match in asked(workspace, query, **options).matches]


def asked(workspace: Workspace, query: str, **options: object) -> HistoryAnswer:
    return history(workspace, query, HistoryOptions(**options))


@pytest.fixture
def read(monkeypatch) -> Iterator[list[str]]:
    """The commits that git has been asked to read."""
    ids: list[str] = []
    own = newest_commits.read_commits

    def noting(repo, given):
        ids.extend(given)
        return own(repo, given)

    monkeypatch.setattr(newest_commits, "read_commits", noting)
    return ids


def test_the_background_reads_older_commits(workspace):
    found = asked(workspace, "quince")
    assert (found.matches, found.searched) == ((), NEWEST)
    assert "Older commits have not been read yet: the background does it." in found.notes

    catch_up.catch_up(workspace, lambda: False)

    found = asked(workspace, "quince")
    assert [match.said.subject for match in found.matches] == ["Plant a quince"]
    assert (found.searched, found.notes) == (9, ())
    assert found.matches[0].commit.paths == ("quince.py",)


def test_filters_hold_for_older_commits(workspace):
    assert read_all(workspace)
    assert subjects(workspace, "plant", path="quince.py") == ["Plant a quince"]
    found = subjects(workspace, "plant", path="*m*.py")
    assert set(found) == {"Plant a medlar", "Plant a damson", "Plant a almond"}
    assert subjects(workspace, "quince", author="nobody") == []
    assert len(subjects(workspace, "plant", author="")) == len(WORDS)
    begin = asked(workspace, "quince").matches[0].commit.authored
    assert subjects(workspace, "plant", until=begin) == ["Plant a quince"]


def test_a_search_of_files_is_the_same_with_older_commits_and_without(workspace):
    question = "plant where the walnut of the orchard was planted before"

    def found() -> list[tuple[str, float, tuple[tuple[str, float], ...]]]:
        hits = search(open_app_again(workspace), question, SearchOptions(min_score=0.0)).hits
        return [(hit.path, hit.score, hit.reasons) for hit in hits]

    before, state = found(), workspace.store.path.stat().st_mtime_ns
    assert before
    assert read_all(workspace)
    draft(workspace.older)
    assert found() == before
    assert workspace.store.path.stat().st_mtime_ns == state


def open_app_again(workspace: Workspace) -> Workspace:
    return Workspace.open(workspace.place, environ=workspace.environ)


def test_reading_that_is_stopped_goes_on_where_it_was(workspace, read):
    stops = iter([False, False, True])
    head = workspace.repo.head().commit or ""
    done = older_commits.read_older(
        workspace.older, workspace.store, workspace.repo, head, stop=lambda: next(stops)
    )
    assert not done
    with workspace.older.read() as db:
        assert db.execute("SELECT count(*) FROM commits").fetchone() == (3,)
    assert read_all(workspace)
    assert read_all(workspace)
    older = workspace.repo.git("rev-list", "HEAD").stdout.decode().split()[NEWEST:]
    # git is asked for all that are missing: three of six were there the second time
    assert [each for each in read if each in older] == [*older, *older[3:]]
    with workspace.older.read() as db:
        assert db.execute("SELECT count(*), count(DISTINCT id) FROM commits").fetchone() == (6, 6)


def stopped_after_two(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_commits, "_NOTED_EVERY", 1)
    stops = iter([False, True])
    head = workspace.repo.head().commit or ""
    done = older_commits.read_older(
        workspace.older, workspace.store, workspace.repo, head, stop=lambda: next(stops)
    )
    assert not done


def test_reading_that_is_stopped_is_unfinished_also_after_another_branch_is_read(
    workspace, repository, monkeypatch
):
    stopped_after_two(workspace, monkeypatch)
    repository.git("checkout", "--quiet", "--orphan", "side")
    for number in range(6):
        repository.commit({"new.py": f"{number}\n"}, f"Sow {number}")
    workspace = open_app(repository)
    workspace.update()
    assert read_all(workspace)
    assert asked(workspace, "sow").notes == ()

    repository.git("checkout", "--quiet", "--force", "main")
    workspace = open_app(repository)
    workspace.update()
    assert asked(workspace, "plant").notes == (
        "2 of 6 older commits have been read yet; the background goes on.",
    )
    assert read_all(workspace)
    found = asked(workspace, "plant", limit=20)
    assert (found.searched, len(found.matches), found.notes) == (9, len(WORDS), ())


def merge_old_commits(repository: GitRepository) -> None:
    """Merge five commits that are older than all others, of a history of their own."""
    tree, last = repository.git("rev-parse", "HEAD^{tree}"), ""
    for number in range(5):
        date = f"{1_000_000_000 + number} +0000"
        env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        parent = ("-p", last) if last else ()
        last = repository.git("commit-tree", "-m", f"Plant old {number}", *parent, tree, env=env)
    repository.git("merge", "--quiet", "--strategy=ours", "--allow-unrelated-histories", "-m", "Merge", last)


def test_older_commits_that_a_merge_brings_are_read(workspace, repository, read):
    assert read_all(workspace)
    merge_old_commits(repository)
    workspace = open_app(repository)
    workspace.update()
    found = asked(workspace, "plant", limit=20)
    told = f"Commits older than the newest {NEWEST} may be missing until the background has read them."
    assert (found.searched, found.notes) == (10, (told,))

    read.clear()
    catch_up.catch_up(workspace, lambda: False)
    found = asked(workspace, "plant", limit=20)
    assert (found.searched, len(found.matches), found.notes) == (15, len(WORDS) + 5, ())
    assert len(read) == 5

    repository.commit({"new.py": "1\n"}, "Graft once")
    workspace = open_app(repository)
    workspace.update()
    found = asked(workspace, "plant", limit=20)
    assert (found.searched, found.notes) == (16, ())


def test_the_background_reads_older_commits_of_a_revision_that_was_asked(workspace, repository):
    assert read_all(workspace)
    repository.git("branch", "before", "HEAD~3")
    repository.git("branch", "long-before", "HEAD~4")
    for revision, there in (("before", 6), ("long-before", 5)):
        found = asked(workspace, "plant", revision=revision, limit=20)
        assert (found.searched, len(found.notes)) == (NEWEST, 1)
        assert found.notes == ("Older commits have not been read yet: the background does it.",), there

    catch_up.catch_up(open_app_again(workspace), lambda: False)

    for revision, there in (("before", 6), ("long-before", 5)):
        found = asked(workspace, "plant", revision=revision, limit=20)
        assert (found.searched, len(found.matches), found.notes) == (there, there - 1, ())


def test_the_background_reads_older_commits_of_all_refs(workspace, repository):
    assert read_all(workspace)
    head = repository.git("rev-parse", "--abbrev-ref", "HEAD")
    repository.git("checkout", "--quiet", "-b", "other", "HEAD~4")
    for number in range(5):
        repository.commit({f"fig{number}.py": "1\n"}, f"Plant a fig {number}")
    repository.git("checkout", "--quiet", head)
    first = asked(workspace, "plant", all_refs=True, limit=20)
    assert first.notes != ()

    catch_up.catch_up(open_app_again(workspace), lambda: False)

    found = asked(workspace, "plant", all_refs=True, limit=20)
    assert (found.searched, len(found.matches), found.notes) == (14, 13, ())
    assert asked(workspace, "plant", limit=20).searched == 9


KILLED = """
import os, signal, sys
from pathlib import Path
from gitrag.indexing import history, older_commits
from gitrag.workspace import Workspace
import gitrag.git.commits as read

history.MOST_COMMITS = older_commits.MOST_COMMITS = int(sys.argv[2])
read._FIRST_BATCH = read._BATCH = 2
own = Workspace.open(Path(sys.argv[1]), environ=os.environ)
head = own.repo.head().commit
die = lambda: os.kill(os.getpid(), signal.SIGKILL)
older_commits.read_older(own.older, own.store, own.repo, head, stop=die)
"""


def test_reading_that_is_killed_goes_on_where_it_was(workspace):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(workspace.place), str(NEWEST)],
        env=dict(workspace.environ),
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    with workspace.older.read() as db:
        assert db.execute("SELECT count(*) FROM commits").fetchone() == (2,)
    assert read_all(workspace)
    assert asked(workspace, "quince").searched == 9
    with workspace.older.read() as db:
        assert db.execute("SELECT count(*), count(DISTINCT id) FROM commits").fetchone() == (6, 6)


def test_what_has_been_read_can_be_asked_before_all_is(workspace, monkeypatch):
    monkeypatch.setattr(older_commits, "_NOTED_EVERY", 2)
    stops = iter([False, True])
    head = workspace.repo.head().commit or ""
    older_commits.read_older(workspace.older, workspace.store, workspace.repo, head, stop=lambda: next(stops))
    found = asked(workspace, "almond")
    assert found.notes == ("2 of 6 older commits have been read yet; the background goes on.",)
    assert found.searched == NEWEST + 2
    assert subjects(workspace, "damson") == ["Plant a damson"]
    assert subjects(workspace, "quince") == []


def test_a_commit_that_leaves_the_newest_is_found_and_not_read_again(workspace, repository, read):
    assert read_all(workspace)
    read.clear()
    new = [repository.commit({"new.py": f"{number}\n"}, f"Graft {number}") for number in range(2)]
    assert len(subjects(workspace, "plant", limit=20)) == len(WORDS)
    assert asked(workspace, "plant").notes == ()

    with workspace.store.write("as if gc had let go of it") as db:
        db.execute("DELETE FROM histories WHERE id <> ?", [bytes.fromhex(new[-1])])
    assert asked(workspace, "plant").notes != ()
    assert read_all(workspace)

    assert len(subjects(workspace, "plant", limit=20)) == len(WORDS)
    assert asked(workspace, "graft").searched == 11
    assert asked(workspace, "plant").notes == ()
    assert sorted(read) == sorted(new)


def test_a_commit_that_is_among_the_newest_again_is_not_read_again(workspace, repository, read):
    assert read_all(workspace)
    read.clear()
    repository.git("reset", "--quiet", "--hard", "HEAD~4")
    found = asked(workspace, "plant", limit=20)
    assert len(found.matches) == NEWEST
    assert "Older commits have not been read yet: the background does it." in found.notes
    assert read_all(workspace)
    assert len(subjects(workspace, "plant", limit=20)) == len(WORDS) - 4
    assert read == []


def test_rewritten_history_is_let_go_by_gc(workspace, repository):
    assert read_all(workspace)
    draft(workspace.older)
    repository.git("checkout", "--quiet", "--orphan", "anew")
    for number in range(6):
        repository.commit({"new.py": f"{number}\n"}, f"Sow {number}")
    repository.git("branch", "-D", "main")
    repository.environment["GITRAG_GC_KEEP"] = "0s"
    workspace = open_app(repository)
    workspace.update()
    assert read_all(workspace)
    assert gc.preview(workspace).commits == 9

    gc.collect(workspace)

    assert not gc.preview(workspace)
    assert subjects(workspace, "plant") == []
    assert len(subjects(workspace, "sow")) == 6  # which drafts what has no draft yet
    with workspace.older.read() as db:
        own = {
            db.execute("SELECT count(DISTINCT commit_number) FROM commits").fetchone(),
            db.execute("SELECT count(DISTINCT commit_number) FROM message_postings").fetchone(),
            db.execute("SELECT count(DISTINCT commit_number) FROM commit_paths").fetchone(),
            db.execute("SELECT count(DISTINCT commit_number) FROM commit_drafts").fetchone(),
        }
    assert own == {(3,)}


def test_gc_keeps_older_commits_that_a_history_needs(workspace, repository):
    assert read_all(workspace)
    repository.commit({"new.py": "1\n"}, "Graft once")
    repository.environment["GITRAG_GC_KEEP"] = "0s"
    workspace = open_app(repository)
    workspace.update()
    gc.collect(workspace)
    workspace = open_app(repository)
    read_all(workspace)
    assert len(subjects(workspace, "plant", limit=20)) == len(WORDS)
    assert asked(workspace, "plant").notes == ()


def test_gc_reads_no_older_commits_from_git(workspace, repository, monkeypatch, read):
    stopped_after_two(workspace, monkeypatch)
    repository.commit({"new.py": "1\n"}, "Graft once")
    repository.environment["GITRAG_GC_KEEP"] = "0s"
    workspace = open_app(repository)
    workspace.update()
    read.clear()

    gc.collect(workspace)

    assert read == []
    assert asked(workspace, "plant").notes == (
        "3 of 7 older commits have been read yet; the background goes on.",
    )
    assert read_all(workspace)
    found = asked(workspace, "plant", limit=20)
    assert (found.searched, len(found.matches), found.notes) == (10, len(WORDS), ())


def test_a_damaged_index_of_older_commits_is_read_again(workspace):
    assert read_all(workspace)
    workspace.older.path.write_bytes(b"not a database" * 1000)
    found = asked(open_app_again(workspace), "quince")
    assert found.matches == ()
    assert "Older commits have not been read yet: the background does it." in found.notes
    assert read_all(workspace)
    assert subjects(workspace, "quince") == ["Plant a quince"]


def test_a_short_history_has_no_second_index(make_repository, few_newest):
    repository = make_repository({"a.py": "1\n"})
    workspace = open_app(repository)
    workspace.update()
    catch_up.catch_up(workspace, lambda: False)
    assert not workspace.older.exists()


def test_a_shallow_clone_reads_its_older_commits_again_when_it_is_deepened(repository, tmp_path):
    clone = repository.clone(tmp_path / "shallow", "--depth", "6")
    workspace = open_app(clone)
    workspace.update()
    assert read_all(workspace)
    assert subjects(workspace, "damson") == ["Plant a damson"]
    assert subjects(workspace, "quince") == []
    clone.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--unshallow")
    workspace.update()
    assert read_all(workspace)
    assert subjects(workspace, "quince") == ["Plant a quince"]
    assert asked(workspace, "quince").searched == 9


def test_commits_that_gc_drops_while_older_ones_are_read_leave_them_unread(workspace, monkeypatch):
    real = older_commits.commits.add

    def dropping(db, records):
        real(db, records)
        histories.drop_unneeded(db, 2**40)

    monkeypatch.setattr(older_commits.commits, "add", dropping)
    assert not read_all(workspace)
    monkeypatch.setattr(older_commits.commits, "add", real)
    assert read_all(workspace)
    assert subjects(workspace, "quince") == ["Plant a quince"]


def test_a_history_of_just_the_newest_has_no_gap(make_repository, few_newest):
    repository = make_repository({"a.py": "1\n"})
    repository.commit({"a.py": "2\n"}, "Plant a quince")
    repository.commit({"a.py": "3\n"}, "Plant a walnut")
    workspace = open_app(repository)
    workspace.update()
    assert read_all(workspace)
    found = asked(workspace, "quince")
    assert (found.searched, found.notes, len(found.matches)) == (3, (), 1)


def test_an_index_that_is_kept_in_memory_has_what_commits_say(workspace):
    assert read_all(workspace)
    kept = Workspace.open(workspace.place, environ=workspace.environ, resident=True)
    for _ in range(3):
        assert subjects(kept, "quince") == ["Plant a quince"]
        assert subjects(kept, "bilberry") == ["Plant a bilberry"]


def test_an_index_that_is_kept_in_memory_says_the_same_elsewhere(workspace):
    def told(own: Workspace) -> tuple[object, ...]:
        view = CurrentView(own).read(lambda db, view_id, overlay: (view_id, overlay.commit)).found
        with own.store.read() as db:
            scope = open_scope(db, view[0])
            found = commit_evidence.branch_history(
                db, own.store.memo, scope, view[1], np.arange(len(scope.files))
            )
            assert found is not None
            values = (getattr(found, name) for name in found.__slots__)
            return tuple(each.tolist() if isinstance(each, np.ndarray) else each for each in values)

    kept = Workspace.open(workspace.place, environ=workspace.environ, resident=True)
    expected = told(workspace)
    assert [told(kept) for _ in range(3)] == [expected] * 3
    assert kept.store.memo.lasting


LISTING = "Older commits were not looked at: git could not list them when the background tried"


def test_older_commits_that_cannot_be_listed_are_not_said_to_be_read(workspace, repository):
    """The newest commits are known: only where older ones are listed is the history found to be damaged."""
    first = repository.git("rev-list", "--max-parents=0", "HEAD")
    damaged = repository.path / ".git/objects" / first[:2] / first[2:]
    content = damaged.read_bytes()
    damaged.unlink()
    assert read_all(workspace)
    for _ in range(2):
        found = asked(workspace, "bilberry")
        assert (len(found.matches), found.notes) == (1, (f"{LISTING}; look at: git fsck.",))

    damaged.write_bytes(content)
    assert read_all(workspace)
    assert asked(workspace, "quince").notes == ()
    assert subjects(workspace, "quince") == ["Plant a quince"]

    new = [repository.commit({"new.py": f"{number}\n"}, f"Graft {number}") for number in range(2)]
    workspace.update()
    with workspace.store.write("as if gc had let go of it") as db:
        db.execute("DELETE FROM histories WHERE id <> ?", [bytes.fromhex(new[-1])])
    damaged.unlink()
    assert read_all(workspace)
    assert asked(workspace, "bilberry").notes == (
        f"Some {LISTING[0].lower()}{LISTING[1:]}; look at: git fsck.",
    )
