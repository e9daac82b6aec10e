"""A process that keeps the index answers as one that opens it for each question, whatever happens between."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection

from gitrag.actions.graph import call_graph
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import collection_names, read_status
from gitrag.callgraph.answering import GraphQuestion
from gitrag.git import untracked
from gitrag.report.told import json_text as as_json
from gitrag.store.engine import Engine
from gitrag.store.scopes import Filters
from gitrag.workspace import Workspace
from tests.support.golden_project import project
from tests.support.repository import create_repository, isolated_environment

ASKED = [
    ("how are passwords stored", SearchOptions()),
    ("retry with backoff", SearchOptions(limit=50, min_score=0.0)),
    ("Pool", SearchOptions(filters=Filters(languages=("python",)))),
    ("Pool", SearchOptions(filters=Filters(globs=("src/**",)))),
    ("glass pane", SearchOptions(min_score=0.0, every_chunk=True)),
    ("glass pane", SearchOptions(min_score=0.0, committed_only=True)),
]
GLASS = "def smash_pane(hammer):\n    '''Break a glass pane.'''\n    return hammer\n"


def make_large(resident: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat its index as one too large to be copied into memory."""
    monkeypatch.setattr(resident.store, "is_large", lambda: True)
    monkeypatch.setattr(resident.store, "_current_copy", lambda: None)


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("is_large", [False, True], ids=["copied", "large"])
def test_answers_are_those_of_a_process_that_has_just_begun(
    tmp_path: Path,
    model_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_large: bool,
):
    """Asked thrice after each step: of the file, of the file again, and of what is kept in memory.

    Of the six questions one is asked after a step, the next after the next, and of a large index others than
    of one that is copied.
    """
    monkeypatch.setattr(untracked, "_SETTLED_NS", 0)
    monkeypatch.setattr(untracked, "_PAUSE_NS", 0)
    environment = isolated_environment(tmp_path / "home") | {"GITRAG_MODEL_DIR": str(model_dir)}
    repository = create_repository(tmp_path / "p", environment, project())

    def open_app(**options: bool) -> Workspace:
        return Workspace.open(repository.path, environ=environment, **options)

    first = open_app()
    first.update()
    first.embed()
    resident = open_app(resident=True)
    if is_large:
        make_large(resident, monkeypatch)
    file = next(path for path in repository.path.rglob("*.py"))
    loose = repository.path / "loose.py"
    steps = [
        lambda: None,
        lambda: loose.write_text(GLASS),
        lambda: loose.write_text(GLASS.replace("hammer", "brick")),
        lambda: file.write_text(GLASS + file.read_text()),
        lambda: repository.git("add", "-A"),
        lambda: repository.git("commit", "-qm", "glass"),
        lambda: (repository.path / ".gitignore").write_text("*.py\n"),
        lambda: repository.git("rm", "-q", "--cached", "loose.py"),
        lambda: repository.git("reset", "-q", "--hard", "HEAD~1"),
        lambda: (repository.path / ".gitignore").unlink(missing_ok=True),
        lambda: repository.git("clean", "-fdq"),
    ]
    kept = 0
    for number, step in enumerate(steps):
        question = ASKED[(number + 3 * is_large) % len(ASKED)]
        step()
        time.sleep(0.02)  # a tick of the file system's clock
        expected = as_json(search(open_app(), *question))
        assert [as_json(search(resident, *question)) for _ in range(3)] == [expected] * 3
        kept += resident.store.memo.lasting
    assert kept == len(steps)


def test_a_large_index_is_opened_once_for_a_question(
    tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where git reports what was guessed, and nothing has written since, not a second time to say so.

    A word that no file has is looked for in what is left out, which opens it again.
    """
    environment = isolated_environment(tmp_path / "home") | {"GITRAG_MODEL_DIR": str(model_dir)}
    repository = create_repository(tmp_path / "p", environment, project())
    resident = Workspace.open(repository.path, environ=environment, resident=True)
    resident.update()
    resident.embed()
    make_large(resident, monkeypatch)
    opened: list[Path] = []
    attach = Engine.attach

    def counted(engine: Engine, path: Path, *, read_only: bool = False) -> DuckDBPyConnection:
        opened.append(path)
        return attach(engine, path, read_only=read_only)

    monkeypatch.setattr(Engine, "attach", counted)
    answers = []
    for _ in range(4):
        opened.clear()
        answers.append(as_json(search(resident, "connection pool")))
    assert len(opened) == 1
    assert answers == answers[:1] * 4
    (repository.path / "loose.py").write_text(GLASS)
    assert "loose.py" in as_json(search(resident, "break a glass pane"))


def test_what_else_is_read_is_read_of_the_copy_too(tmp_path: Path, model_dir: Path):
    """The copy lacks the tables that a search has as columns."""
    environment = isolated_environment(tmp_path / "home") | {"GITRAG_MODEL_DIR": str(model_dir)}
    repository = create_repository(tmp_path / "p", environment, project())
    resident = Workspace.open(repository.path, environ=environment, resident=True)
    resident.update()
    resident.embed()
    for _ in range(3):
        search(resident, "retry with backoff")
    assert resident.store.memo.lasting
    fresh = Workspace.open(repository.path, environ=environment)
    assert read_status(resident) == read_status(fresh)
    assert resident.count_unembedded() == 0
    assert collection_names(resident) == collection_names(fresh)
    assert resident.update().refreshed.cut == 0
    graphs = [call_graph(workspace, GraphQuestion(filter="pool")) for workspace in (fresh, resident)]
    assert graphs[0].graph is not None
    assert graphs[0].graph == graphs[1].graph
