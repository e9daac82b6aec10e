"""A hub on the oldest PostgreSQL that it promises to work with, without pgvector; and HNSW where that is."""

import shutil
from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.errors import NotSetUpError
from gitrag.hub.hub import initialise
from gitrag.indexing.recipe import recipe
from tests.support.hubs import SAMPLE, opened, pushed
from tests.support.postgres import Server, make_server, system


def first(address: str, workspace) -> list[str]:
    found = hub_search.search(address, "retry with backoff", workspace.config, encoder=workspace.encoder)
    return [each.path for each in found.hits]


def test_postgresql_15_without_pgvector_answers(make_repository, model_dir: Path):
    programs = system()
    if programs is None:
        pytest.skip("no PostgreSQL 15 of the system's")
    server = make_server(programs)
    server.start()
    try:
        address = server.address()
        with pytest.raises(NotSetUpError, match="has no pgvector"):
            initialise(address, recipe(), hnsw=True)
        assert initialise(address, recipe())
        git = make_repository(SAMPLE, indexed=True)
        assert pushed(git, address, model_dir).contents == len(SAMPLE)
        assert "src/client.py" in first(address, opened(git, address, model_dir))
    finally:
        server.stop()
        shutil.rmtree(server.sockets, ignore_errors=True)


def test_an_hnsw_index_gives_the_nearest_by_sign_bits(postgres: Server, make_repository, model_dir: Path):
    with psycopg.connect(postgres.address(), autocommit=True) as db:
        db.execute("DROP DATABASE IF EXISTS with_hnsw")
        db.execute("CREATE DATABASE with_hnsw")
    address = postgres.address(database="with_hnsw")
    assert initialise(address, recipe(), hnsw=True, partitions=1)
    pushed(make_repository(SAMPLE, indexed=True), address, model_dir)
    with psycopg.connect(address) as db:
        assert "hnsw" in str(
            db.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'cuts_0'").fetchall()
        )
        asked = "ARRAY(SELECT view_id FROM gitrag.branches()), repeat('01', 192)::bit(384)"
        every = db.execute(f"SELECT differing FROM gitrag.distances_of({asked}) ORDER BY 1").fetchall()
        db.execute("SET enable_seqscan = off")
        assert db.execute(f"SELECT differing FROM gitrag.nearest_of({asked}, 5)").fetchall() == every[:5]
