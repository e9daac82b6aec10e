"""What a change costs, counted: contents cut, texts embedded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection

from gitrag.actions.graph import call_graph
from gitrag.actions.search import SearchOptions, search
from gitrag.callgraph.answering import GraphQuestion
from gitrag.embedding.draft import Drafter
from gitrag.indexing.refresh import refresh
from gitrag.model import Chunk
from gitrag.store import inspection, vectors
from gitrag.store.engine import Engine, _ParsingOnce
from gitrag.store.views import ViewOverlay, current
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.repository import GitRepository, made_once
from tests.support.statements import noted_statements

FILES = {
    f"src/{name}.py": f'"""About {name}s."""\n\n\ndef open_{name}(path):\n    return {name!r}\n\n\n'
    f"def close_{name}(path):\n    del path\n"
    for name in ("door", "window", "lid", "valve", "gate", "hatch")
}


@dataclass(frozen=True, slots=True)
class Work:
    """What a catch-up did.

    Attributes:
        cut: Contents that were read and cut.
        embedded: What got a vector: names of chunks, and the paths whose words did.
    """

    cut: int
    embedded: list[str]


NOTHING = Work(0, [])


@pytest.fixture
def project(make_repository, git_environment, tmp_path, model_dir) -> GitRepository:
    """A repository whose index is complete, vectors included."""
    git_environment["GITRAG_MODEL_DIR"] = str(model_dir)

    def make() -> GitRepository:
        repo = make_repository(FILES)
        catch_up(repo)
        return repo

    return made_once("complete", tmp_path / "project", git_environment, make)


def catch_up(repo: GitRepository) -> Work:
    """Do what the background worker does."""
    workspace = open_app(repo)
    refreshed = workspace.update().refreshed
    waiting = _waiting(workspace, refreshed.overlay)
    before = _vectors(workspace)
    done = workspace.embed(entries=refreshed.overlay.entries)
    assert done == len(waiting) == _vectors(workspace) - before
    return Work(refreshed.cut, waiting)


def _waiting(workspace: Workspace, overlay: ViewOverlay) -> list[str]:
    with workspace.store.read() as db:
        sources = [text[1] for text in vectors.pending(db, 1000, overlay.entries)]
    return sorted(source.name if isinstance(source, Chunk) else source for source in sources)


def _vectors(workspace: Workspace) -> int:
    with workspace.store.read() as db:
        return inspection.count_store(db).vectors


def edited(name: str) -> str:
    return FILES[f"src/{name}.py"].replace("return", "return path or")


def test_a_commit_costs_the_chunks_it_changes(project):
    project.commit({f"src/{name}.py": edited(name) for name in ("door", "lid", "hatch")})
    assert catch_up(project) == Work(3, ["open_door", "open_hatch", "open_lid"])


def test_a_large_change_drafts_the_texts_it_changes(project, monkeypatch):
    monkeypatch.setattr("gitrag.indexing.refresh._FEW_BYTES", 0)
    drafted: list[str] = []
    draft = Drafter.draft
    monkeypatch.setattr(Drafter, "draft", lambda self, texts: drafted.extend(texts) or draft(self, texts))
    project.commit({f"src/{name}.py": edited(name) for name in ("door", "lid")})
    (project.path / "src/gate.py").write_text(edited("gate"))
    assert catch_up(project) == Work(3, ["open_door", "open_gate", "open_lid"])
    of_chunks = sorted(
        text.partition(":")[0] for text in drafted if ":" in text
    )  # a commit's subject has none
    assert of_chunks == ["open door", "open gate", "open lid"]


def test_a_second_look_costs_nothing_and_writes_nothing(project):
    workspace = open_app(project)
    before = workspace.store.path.read_bytes()
    assert catch_up(project) == NOTHING
    assert workspace.store.path.read_bytes() == before


def test_a_revert_costs_nothing(project):
    project.commit({"src/door.py": edited("door")})
    catch_up(project)
    project.git("revert", "--no-edit", "HEAD")
    assert catch_up(project) == NOTHING


def test_a_branch_switched_away_from_and_back_to_costs_nothing(project):
    project.git("switch", "--quiet", "--create", "topic")
    project.commit({"src/door.py": edited("door"), "src/lid.py": None})
    assert catch_up(project) == Work(1, ["open_door"])
    project.git("switch", "--quiet", "main")
    assert catch_up(project) == NOTHING
    project.git("switch", "--quiet", "topic")
    assert catch_up(project) == NOTHING


def test_a_merge_costs_what_neither_side_had(project):
    project.git("switch", "--quiet", "--create", "topic")
    project.commit({"src/door.py": edited("door")})
    catch_up(project)
    project.git("switch", "--quiet", "main")
    project.commit({"src/lid.py": edited("lid")})
    catch_up(project)
    project.git("merge", "--quiet", "--no-edit", "topic")
    assert catch_up(project) == NOTHING


def test_a_rename_costs_the_words_of_the_new_path(project):
    project.git("mv", "src/door.py", "src/portal.py")
    project.commit()
    assert catch_up(project) == Work(0, ["src/portal.py"])


def test_a_rename_to_the_same_words_costs_nothing(project):
    project.commit({"src/back_door.py": FILES["src/door.py"], "src/door.py": None})
    catch_up(project)
    project.git("mv", "src/back_door.py", "src/back-door.py")
    project.commit()
    assert catch_up(project) == NOTHING


def test_a_copy_costs_the_words_of_its_path(project):
    project.commit({"lib/copy.py": FILES["src/door.py"]})
    assert catch_up(project) == Work(0, ["lib/copy.py"])


def test_a_function_moved_to_another_file_is_not_embedded_again(project):
    rest, _, moved = FILES["src/lid.py"].partition("\n\n\ndef close_lid")
    project.commit(
        {"src/lid.py": f"{rest}\n", "src/door.py": f"{FILES['src/door.py']}\n\ndef close_lid{moved}"}
    )
    assert catch_up(project) == Work(2, [])


def test_committing_what_was_searched_while_dirty_costs_nothing(project):
    project.write({"src/door.py": edited("door"), "src/fresh.py": "def fresh_air():\n    return 1\n"})
    workspace = open_app(project)
    assert search(workspace, "fresh air").hits[0].path == "src/fresh.py"
    project.commit()
    assert catch_up(project) == NOTHING


def test_new_settings_cost_nothing_for_what_stays(project):
    project.git("config", "gitrag.exclude", "src/lid.py")
    assert catch_up(project) == NOTHING
    project.git("config", "--unset", "gitrag.exclude")
    assert catch_up(project) == NOTHING


def test_worktrees_at_the_same_commit_share_one_view(project, tmp_path: Path):
    trees = [project.worktree(tmp_path / f"tree{number}", "--detach") for number in range(12)]
    assert [catch_up(tree) for tree in trees] == [NOTHING] * 12
    workspace = open_app(project)
    with workspace.store.read() as db:
        counts = inspection.count_store(db)
        entries = db.execute("SELECT count(*) FROM entries").fetchone()
    assert (counts.views, counts.worktrees, entries) == (1, 13, (len(FILES),))
    trees[4].commit({"src/door.py": edited("door")})
    assert catch_up(trees[4]) == Work(1, ["open_door"])
    with workspace.store.read() as db:
        assert inspection.count_store(db).views == 2
        assert current(db, "") == current(db, "tree3") != current(db, "tree4")


def test_two_that_embed_at_once_begin_at_opposite_ends(project):
    project.commit({f"src/extra{i}.py": f"def extra_{i}():\n    return {i}\n" for i in range(6)})
    workspace = open_app(project)
    workspace.update()
    with workspace.store.read() as db:
        newest = [text_id for text_id, _ in vectors.pending(db, 4)]
        oldest = [text_id for text_id, _ in vectors.pending(db, 4, oldest_first=True)]
        every = [text_id for text_id, _ in vectors.pending(db, 100)]
    assert newest == every[:4]
    assert oldest == every[::-1][:4]
    assert workspace.embed(oldest_first=True) == len(every)


def test_tests_are_embedded_after_the_product_and_the_words_of_paths(project):
    same = "def shared():\n    return 1\n"
    project.commit({"src/extra.py": same, "src/more.py": "def more():\n    return 2\n"})
    project.commit({"tests/test_a.py": "def test_a():\n    assert 1\n", "tests/copy.py": same})
    workspace = open_app(project)
    workspace.update()
    with workspace.store.read() as db:
        every = vectors.pending(db, 100)
        last = {text_id for text_id, _ in every} - {
            text_id for text_id, _ in vectors.pending(db, len(every) - 1)
        }
    assert [source.name for text_id, source in every if text_id in last] == ["test_a"]


def nothing(_repo: GitRepository) -> None:
    pass


def edit(repo: GitRepository) -> None:
    repo.write({"src/door.py": edited("door"), "src/copy.py": edited("door"), "src/lid.py": None})


def commit(repo: GitRepository) -> None:
    repo.commit({"src/gate.py": edited("gate"), "src/valve.py": None})


def commit_rules(repo: GitRepository) -> None:
    repo.commit({"src/gate.py": edited("gate"), ".gitragignore": b"lid.py\n"})


def commit_and_edit(repo: GitRepository) -> None:
    commit(repo)
    edit(repo)


def switch(repo: GitRepository) -> None:
    repo.git("checkout", "--quiet", "--force", "--detach", "HEAD~1")


@pytest.mark.parametrize("change", [nothing, edit, commit, commit_rules, commit_and_edit, switch])
def test_the_index_is_asked_for_nothing_twice(project, monkeypatch, change):
    """By a refresh of a worktree, whatever has changed; only the next free id changes meanwhile."""
    project.commit({".gitignore": b"*.o\n", "src/hatch.py": None})
    open_app(project).update()
    change(project)
    workspace = open_app(project)
    now = workspace.snapshot()
    with noted_statements(monkeypatch) as noted:
        refresh(workspace.store, now)
    asked = [each for each in noted if each[0].startswith("SELECT") and "SELECT coalesce(max(" not in each[0]]
    assert asked
    assert [statement for statement, times in Counter(asked).items() if times > 1] == []


def test_what_another_process_writes_meanwhile_is_asked_for_again(project, monkeypatch):
    """It moves the view between the look at the index and the lock."""
    edit(project)
    workspace = open_app(project)
    now = workspace.snapshot()
    real = workspace.store.write

    def write(purpose, **how):
        monkeypatch.undo()
        open_app(project).update()
        return real(purpose, **how)

    monkeypatch.setattr(workspace.store, "write", write)
    refreshed = refresh(workspace.store, now)
    assert (refreshed.recorded, refreshed.waiting) == (False, 0)
    with workspace.store.read() as db:
        assert inspection.count_store(db).contents == len(FILES) + 1


def noted_openings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that gets, for each opening of an index from now on, whether it is for reading only."""
    opened: list[bool] = []
    attach = Engine.attach

    def counted(engine: Engine, path: Path, *, read_only: bool = False) -> DuckDBPyConnection:
        opened.append(read_only)
        return attach(engine, path, read_only=read_only)

    monkeypatch.setattr(Engine, "attach", counted)
    return opened


def test_an_edit_is_found_by_two_looks_two_writes_and_a_last_look(project, monkeypatch):
    """And by one look more where git is slow: at what it will most likely say."""
    catch_up(project)
    edit(project)
    opened = noted_openings(monkeypatch)
    assert search(open_app(project), "open the door", SearchOptions(refine_s=0.0)).hits
    assert opened[-5:] == [True, True, False, False, True]
    assert opened[:-5] in ([], [True])


def test_an_update_opens_the_index_to_look_to_write_and_to_count(make_repository, monkeypatch):
    repo = make_repository(FILES)
    workspace = open_app(repo)
    workspace.update()
    repo.write({"loose.py": "def loose():\n    return 1\n"})
    opened = noted_openings(monkeypatch)
    indexed = workspace.update()
    assert opened == [True, False, True]
    assert indexed.unembedded == workspace.count_unembedded(indexed.refreshed.overlay.entries) > 0


def test_nothing_asked_of_a_small_index_pairs_all_rows_of_tables(project, monkeypatch):
    """Its statements are hardly optimised."""
    plans: dict[str, str] = {}
    execute = _ParsingOnce.execute

    def explained(db: _ParsingOnce, sql: str, parameters: object = None) -> DuckDBPyConnection:
        if sql.lstrip().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
            plans[sql] = str(db._db.execute(f"EXPLAIN {sql}", parameters).fetchall())
        return execute(db, sql, parameters)

    monkeypatch.setattr(_ParsingOnce, "execute", explained)
    project.commit(
        {
            "src/lid.py": "def lift():\n    pass\n",
            "src/new/knob.py": "from src.lid import lift\n\n\ndef turn():\n    lift()\n",
        }
    )
    catch_up(project)
    workspace = open_app(project)
    assert search(workspace, "lift the lid").hits
    assert call_graph(workspace, GraphQuestion("lift")).graph.edges
    assert len(plans) > 90
    assert not [sql for sql, plan in plans.items() if "Cross Product" in plan or "Nested Loop" in plan]
