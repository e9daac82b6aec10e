"""An index that came with an archive: whatever views and macros it brings, DuckDB keeps to its directory."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import create_repository

SWORDFISH = "swordfish-1746"


@pytest.fixture
def project(tmp_path: Path, model_dir: Path) -> Project:
    environment = user_environment(tmp_path / "home", model_dir)
    files = {"client.py": "def retry():\n    '''Retry with backoff.'''\n    return 1\n"}
    git = create_repository(tmp_path / "clone", environment, files)
    made = Project(git, Gitrag(git.path, environment, here=False))  # the tests' DuckDB may reach more
    assert made.gitrag("init").status == 0
    return made


@pytest.mark.parametrize("how", ["view", "macro"])
def test_it_reads_no_other_file_into_an_answer(project: Project, tmp_path: Path, how):
    (tmp_path / "secret").write_text(SWORDFISH)
    secret = f"(SELECT content FROM read_text('{tmp_path}/secret'))"  # noqa: S608
    with duckdb.connect(str(project.store / "index.duckdb")) as db:
        if how == "view":
            columns = db.execute("SELECT * FROM chunks LIMIT 0").description or []
            chosen = [f"{secret} AS text" if name == "text" else name for name, *_ in columns]
            db.execute("ALTER TABLE chunks RENAME TO real_chunks")
            db.execute(f"CREATE VIEW chunks AS SELECT {', '.join(chosen)} FROM real_chunks")  # noqa: S608
        else:
            for name in ("lower", "len", "coalesce", "any_value", "list", "count", "sum"):
                db.execute(f'CREATE MACRO "{name}"(x) AS {secret}')

    for command in (("search", "retry"), ("search", "retry", "--json"), ("status",), ("search", "backoff")):
        done = project.gitrag(*command)
        assert SWORDFISH not in done.out + done.err
        assert "Traceback" not in done.err


def test_no_other_index_is_attached(project: Project, tmp_path: Path):
    """DuckDB may reach only the store's directory."""
    from gitrag.store.engine import start

    (tmp_path / "secret").write_text(SWORDFISH)
    for statement in (f"FROM read_text('{tmp_path}/secret')", f"ATTACH '{tmp_path}/other.duckdb'"):
        with start(project.store) as db, pytest.raises(duckdb.Error, match="disabled by configuration"):
            db.execute(statement)


def test_an_engine_that_several_stores_use_reaches_only_theirs(project: Project, tmp_path: Path):
    from gitrag.store.engine import Engine, SharedEngines

    (tmp_path / "secret").write_text(SWORDFISH)
    (tmp_path / "other").mkdir()
    engines = SharedEngines([project.store, tmp_path / "other"])
    engine = Engine(project.store, engines.directories)
    db = engine.attach(project.store / "index.duckdb", read_only=True)
    with pytest.raises(duckdb.Error, match="disabled by configuration"):
        db.execute(f"FROM read_text('{tmp_path}/secret')")
    engine.stop()
