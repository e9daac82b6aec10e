"""Answers by what commits say: only by those that lead to the commit that is asked, in any order."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrag.actions import catch_up, gc
from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.indexing import history
from gitrag.search.features import WEIGHTS
from gitrag.store import histories, schema, views
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository

QUESTION = "allow exponential patience of parcels"
"""No file has the first words; both have the last."""

TOO_MANY = "too many wrong logins in a row"

MOST = round(WEIGHTS["history"] + WEIGHTS["like"], 4)
"""What commits add to the file that they say most of."""


@pytest.fixture
def repository(make_repository, tmp_path) -> GitRepository:
    """Two files alike; a commit says of the second what no file says."""
    made = make_repository({"near.py": _file("near", 0), "far.py": _file("far", 0)})
    made.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    made.commit({"far.py": _file("far", 1)}, "Give couriers exponential patience")
    made.commit({"near.py": _file("near", 1)}, "Go on")
    return made


def _file(name: str, number: int) -> str:
    return f"def {name}_parcels():\n    return {number}\n"


def asked(workspace: Workspace, **options: object) -> Answer:
    return search(workspace, QUESTION, SearchOptions(min_score=0.0, **options))


def told_of(answer: Answer) -> dict[str, float]:
    """What earlier changes added to the rank of each file; nothing is left out."""
    reasons = {hit.path: dict(hit.reasons) for hit in answer.hits}
    return {path: round(own["history"] + own["like"], 4) for path, own in reasons.items() if "history" in own}


def files(answer: Answer) -> list[tuple[str, float, tuple[tuple[str, float], ...]]]:
    return [(hit.path, hit.score, hit.reasons) for hit in answer.hits]


def updated(repository: GitRepository, directory: Path | None = None) -> Workspace:
    workspace = open_app(repository, directory)
    workspace.update()
    return workspace


def test_a_file_is_found_by_what_a_commit_says_of_it(repository):
    answer = asked(updated(repository))

    assert answer.hits[0].path == "far.py"
    assert told_of(answer) == {"far.py": MOST}


def test_a_file_is_found_by_what_a_commit_means(make_repository, tmp_path):
    made = make_repository({f"{name}.py": _file(name, 0) for name in ("one", "two", "three", "four")})
    made.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    said = ("Resize pictures", "Translate the menu", "Limit password attempts", "Send invoices by mail")
    for number, (name, subject) in enumerate(zip(("one", "two", "three", "four"), said, strict=True), 1):
        made.commit({f"{name}.py": _file(name, number)}, subject)
    workspace = updated(made)

    def nearest(question: str) -> str:
        """The file that commits said something most like the question about, all others being alike."""
        hits = search(workspace, question, SearchOptions(min_score=0.0)).hits
        return max(hits, key=lambda hit: dict(hit.reasons)["meant"]).path

    assert nearest("shrink images before they are stored") == "one.py"
    assert nearest(TOO_MANY) == "three.py"
    assert nearest("bills are posted to customers") == "four.py"


def test_what_a_commit_means_counts_from_it_on(make_repository, tmp_path):
    made = make_repository({"near.py": _file("near", 0), "far.py": _file("far", 0)})
    made.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "no-model")
    made.commit({"near.py": _file("near", 1)}, "Translate the menu")
    made.commit({"far.py": _file("far", 1)}, "Limit password attempts")
    workspace = updated(made)

    def meant(revision: str | None) -> dict[str, float]:
        hits = search(workspace, TOO_MANY, SearchOptions(min_score=0.0, ref=revision)).hits
        return {hit.path: dict(hit.reasons).get("meant", 0.0) for hit in hits}

    assert meant(None) == meant("HEAD")
    assert meant(None)["far.py"] > meant(None)["near.py"]
    assert meant("HEAD~2")["far.py"] == meant("HEAD~2")["near.py"], "both by the first commit alone"


def test_a_commit_after_the_one_that_is_asked_says_nothing(repository):
    workspace = updated(repository)

    assert told_of(asked(workspace, ref="HEAD~2")) == {}
    assert told_of(asked(workspace, ref="HEAD~1")) == {"far.py": MOST}
    assert told_of(asked(workspace)) == {"far.py": MOST}


def test_a_commit_of_another_branch_says_nothing(repository, tmp_path):
    repository.git("branch", "other", "HEAD~2")
    other = repository.worktree(tmp_path / "other", "other")
    workspace, beside = updated(repository), updated(other)

    assert told_of(asked(workspace)) == {"far.py": MOST}
    assert told_of(asked(beside)) == {}
    other.commit({"near.py": _file("near", 2)}, "Exponential patience here")
    assert told_of(asked(beside)) == {"near.py": MOST}
    assert told_of(asked(workspace)) == {"far.py": MOST}


def test_what_a_merge_brings_counts(repository):
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~2")
    repository.commit({"near.py": _file("near", 3)}, "Try")
    repository.git("checkout", "--quiet", "main")
    workspace = updated(repository)
    repository.git("merge", "--quiet", "--no-ff", "-s", "ours", "-m", "Merge", "side")
    assert told_of(asked(workspace)) == {"far.py": MOST}

    repository.git("checkout", "--quiet", "-b", "third", "side")
    assert told_of(asked(workspace)) == {}
    repository.git("merge", "--quiet", "--no-ff", "-X", "theirs", "-m", "Bring exponential patience", "main")
    told = told_of(asked(workspace))
    assert told["far.py"] > 0
    assert "near.py" in told  # the merge changes it with regard to its first parent


def test_an_amended_message_of_the_same_tree_counts_at_once(repository):
    workspace = updated(repository)
    repository.git("commit", "--quiet", "--amend", "--no-edit", "-m", "Exponential patience near by")
    assert told_of(asked(workspace)).keys() == {"near.py", "far.py"}

    with workspace.store.read() as db:
        view = views.current(db, "")
    assert view is not None
    assert view.commit == repository.git("rev-parse", "HEAD")
    assert told_of(asked(open_app(repository))) == told_of(asked(workspace))


def test_two_worktrees_of_one_tree_have_each_their_own_history(repository, tmp_path):
    alone = repository.git("commit-tree", repository.tree(), "-m", "Exponential patience of all")
    repository.git("branch", "alone", alone)
    other = repository.worktree(tmp_path / "other", "alone")
    workspace, beside = updated(repository), updated(other)

    for _ in range(2):
        assert told_of(asked(workspace)) == {"far.py": MOST}
        assert told_of(asked(beside)).keys() == {"far.py", "near.py"}
        workspace, beside = open_app(repository), open_app(other)


def test_a_moved_file_keeps_its_history(repository):
    workspace = updated(repository)
    repository.commit({"far.py": None, "lib/far.py": _file("far", 1)}, "Move")
    assert told_of(asked(workspace)) == {"lib/far.py": MOST}
    repository.commit({"lib/far.py": None, "lib/away.py": _file("far", 1)}, "Move again")
    assert told_of(asked(workspace)) == {"lib/away.py": MOST}
    repository.commit({"far.py": _file("far", 9)}, "Start anew")
    assert told_of(asked(workspace)) == {"far.py": MOST}  # the path's own, as it is there


def test_a_commit_of_very_many_files_says_nothing_of_any(make_repository):
    repository = make_repository({f"f{i}.py": _file(f"f{i}", 0) for i in range(60)})
    repository.commit({f"f{i}.py": _file(f"f{i}", 1) for i in range(60)}, "Exponential patience everywhere")

    assert told_of(asked(updated(repository))) == {}


def test_without_any_commit_files_are_found(make_repository):
    repository = make_repository()
    repository.write({"far.py": _file("far", 1)})

    answer = asked(updated(repository))

    assert [hit.path for hit in answer.hits] == ["far.py"]
    assert told_of(answer) == {}


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("revisions", [["HEAD~2", "HEAD~1", "HEAD"], ["HEAD", "HEAD~1", "HEAD~2"], []])
def test_answers_do_not_depend_on_the_order_of_reading(repository, tmp_path, revisions):
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repository.commit({"near.py": _file("near", 5)}, "Exponential patience on the side")
    repository.git("checkout", "--quiet", "main")
    fresh = files(asked(updated(repository, tmp_path / "fresh")))

    workspace = updated(repository, tmp_path / "own")
    for revision in [*revisions, "side"]:
        asked(workspace, ref=revision)
    assert files(asked(workspace)) == fresh


def test_a_commit_is_read_once(repository, monkeypatch):
    read: list[str] = []

    def noting(repo, ids):
        read.extend(ids)
        return own(repo, ids)

    own = history.read_commits
    monkeypatch.setattr(history, "read_commits", noting)
    workspace = updated(repository)
    assert len(read) == 3
    head = repository.commit({"near.py": _file("near", 2)}, "Another")
    asked(workspace)
    asked(workspace, ref="HEAD~2")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    asked(workspace)
    assert read[3:] == [head]


def test_rewritten_history_says_nothing_and_is_let_go(repository):
    workspace = updated(repository)
    repository.git("reset", "--quiet", "--hard", "HEAD~2")
    repository.commit({"near.py": _file("near", 4)}, "Instead")
    assert told_of(asked(workspace)) == {}
    assert _stored(workspace) == 4

    repository.environment["GITRAG_GC_KEEP"] = "0s"
    workspace = open_app(repository)
    assert gc.preview(workspace).commits == 2
    gc.collect(workspace)
    assert _stored(workspace) == 2
    assert told_of(asked(workspace)) == {}
    assert not gc.preview(workspace)


def test_paths_of_the_past_are_kept_with_their_commits(repository):
    """A path that no view has is not the index's to drop while a commit has it."""
    repository.commit({"gone.py": _file("gone", 0)}, "Add what goes again")
    repository.commit({"gone.py": None}, "Drop it")
    repository.environment["GITRAG_GC_KEEP"] = "0s"
    workspace = updated(repository)
    before = files(asked(workspace))
    repository.commit({"left.py": _file("left", 0)}, "Try it")
    workspace.update()
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    workspace.update()
    assert gc.preview(workspace)
    gc.collect(workspace)
    assert files(asked(workspace)) == before
    with workspace.store.read() as db:
        known = {number for (number,) in db.execute("SELECT changed_path FROM changed_paths").fetchall()}
        named = {number for (number,) in db.execute("SELECT changed_path FROM commit_paths").fetchall()}
    assert known == named


def test_commits_that_are_dropped_while_a_history_is_read_leave_it_unread(repository, monkeypatch):
    monkeypatch.setattr("gitrag.git.commits._FIRST_BATCH", 1)
    monkeypatch.setattr("gitrag.git.commits._BATCH", 1)
    workspace = open_app(repository)
    monkeypatch.setattr("gitrag.workspace.read_few", lambda *_: None)
    workspace.update()
    real, commit = history.records, repository.git("rev-parse", "HEAD")

    def dropped(batch):
        with workspace.store.write("dropping", make=False) as db:
            histories.drop_unneeded(db, 2**40)
        return real(batch)

    monkeypatch.setattr(history, "records", dropped)
    assert not history.read_history(workspace.store, workspace.repo, commit)
    monkeypatch.setattr(history, "records", real)
    assert history.read_history(workspace.store, workspace.repo, commit)
    assert told_of(asked(workspace)) == {"far.py": MOST}


def _stored(workspace: Workspace) -> int:
    with workspace.store.read() as db:
        every = {
            db.execute("SELECT count(DISTINCT commit_number) FROM commits").fetchone(),
            db.execute("SELECT count(DISTINCT commit_number) FROM commit_paths").fetchone(),
            db.execute("SELECT count(DISTINCT commit_number) FROM message_postings").fetchone(),
        }
    ((number,),) = every
    return number


def test_a_long_history_is_left_for_the_worker(repository, monkeypatch):
    monkeypatch.setattr(history, "FEW_COMMITS", 2)
    started: list[Workspace] = []
    monkeypatch.setattr(catch_up, "start_worker", started.append)
    workspace = updated(repository)
    assert told_of(asked(workspace)) == {}
    assert started == [workspace]

    catch_up.catch_up(open_app(repository), lambda: False)

    assert told_of(asked(workspace)) == {"far.py": MOST}
    assert started == [workspace]


def test_an_interrupted_reading_goes_on(repository, monkeypatch):
    monkeypatch.setattr("gitrag.git.commits._FIRST_BATCH", 1)
    monkeypatch.setattr("gitrag.git.commits._BATCH", 1)
    workspace = open_app(repository)
    history_of = repository.git("rev-parse", "HEAD")
    monkeypatch.setattr("gitrag.workspace.read_few", lambda *_: None)
    workspace.update()
    stops = iter([True])
    assert not history.read_history(workspace.store, workspace.repo, history_of, stop=lambda: next(stops))
    with workspace.store.read() as db:
        assert not histories.has_history(db, history_of)
    assert _stored(workspace) == 1
    assert history.read_history(workspace.store, workspace.repo, history_of)
    assert told_of(asked(workspace)) == {"far.py": MOST}


def test_a_shallow_clone_answers_by_what_it_has(repository, tmp_path):
    repository.commit({"near.py": _file("near", 7)}, "Last")
    clone = repository.clone(tmp_path / "shallow", "--depth", "3")
    workspace = updated(clone)
    assert told_of(asked(workspace)) == {}  # the commit is at the boundary
    clone.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--unshallow")
    workspace.update()
    assert told_of(asked(workspace)) == {"far.py": MOST}
    clone.commit({"near.py": _file("near", 8)}, "After that")
    assert told_of(asked(workspace)) == {"far.py": MOST}


def test_an_index_without_commits_is_migrated(repository):
    workspace = updated(repository)
    with workspace.store.write("going back to the first schema") as db:
        own = ("commits", "message_postings", "commit_paths", "changed_paths", "histories", "commit_drafts")
        for table in (*own, "taken"):
            db.execute(f"DROP TABLE {table}")
        schema.put(db, "schema", "1")
    lines: list[str] = []
    again = open_app(repository, say=lines.append)

    again.update()

    assert told_of(asked(again)) == {"far.py": MOST}
    assert lines == []


def test_a_damaged_history_counts_as_none(repository, monkeypatch):
    started: list[Workspace] = []
    monkeypatch.setattr(catch_up, "start_worker", started.append)
    lost = repository.git("rev-parse", "HEAD~1")
    (repository.path / ".git/objects" / lost[:2] / lost[2:]).unlink()

    workspace = updated(repository)
    catch_up.catch_up(open_app(repository), lambda: False)
    answer = asked(workspace)

    assert {hit.path for hit in answer.hits} == {"near.py", "far.py"}
    assert told_of(answer) == {}
    assert started == []
