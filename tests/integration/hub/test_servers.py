"""One hub on two servers, joined by postgres_fdw: the system's PostgreSQL 15, the embedded one has none."""

import os
import shutil
import signal
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.errors import NetworkError, NotSetUpError, UsageError
from gitrag.hub import servers, upkeep
from gitrag.hub.hub import IDS, OWN_IDS, initialise
from gitrag.hub.hub import opened as opened_hub
from gitrag.hub.upkeep import searchable, status
from gitrag.indexing.recipe import recipe
from gitrag.report.hub import as_text, status_as_text
from tests.integration.hub.test_rights import FUNCTIONS
from tests.support.hubs import SAMPLE, as_role, make_role, opened, pushed, rows
from tests.support.postgres import LOCKED, Server, make_server, system
from tests.support.repository import create_repository, isolated_environment

RATES = {
    "rates.py": 'def rounding(amount):\n    """Round an amount of money."""\n    return round(amount, 2)\n',
    "src/rounds.py": "def spin():\n    return 'one round'\n",
    "docs/adr/0001-cents.md": "# 1. Count in cents\n\n## Status\n\nAccepted\n\n## Decision\n\nIn cents.\n",
}
PASSWORD = "a password of both"  # noqa: S105
QUESTIONS = (
    "rounding of amounts", "Client.send", "why cents", "clinet", "send a request retrying with backoff",
)  # fmt: skip
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Two:
    """A front and another server; ``superuser`` may do all there, ``owner`` owns the hub on both."""

    front: Server
    other: Server

    @property
    def superuser(self) -> str:
        return self.front.address()

    @property
    def owner(self) -> str:
        return self.front.address(LOCKED)


def make_owner(server: Server) -> None:
    with psycopg.connect(server.address(), autocommit=True) as db:
        db.execute(f"CREATE ROLE {LOCKED} LOGIN PASSWORD '{PASSWORD}'")
        db.execute(f"GRANT CREATE ON DATABASE postgres TO {LOCKED}")


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    """Two servers with an owner who is no superuser and has a password; no hub yet."""
    programs = system()
    if programs is None:
        pytest.skip("no PostgreSQL 15 of the system's, which has postgres_fdw")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    found = Two(make_server(programs), make_server(programs))
    for server in (found.front, found.other):
        server.start()
        make_owner(server)
    try:
        yield found
    finally:
        for server in (found.front, found.other):
            server.stop()
            shutil.rmtree(server.sockets, ignore_errors=True)


def joined(two: Two, *repositories: str) -> Two:
    """Make the hub, with the other server as ``db2``, and place repositories there."""
    initialise(two.owner, recipe(), partitions=2)
    with psycopg.connect(two.superuser, autocommit=True) as db:
        db.execute("CREATE EXTENSION postgres_fdw")
        db.execute(f"GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO {LOCKED}")
    with opened_hub(two.owner, recipe()) as hub:
        servers.add_server(hub, "db2", two.other.address(LOCKED))
        for name in repositories:
            servers.place(hub, name, "db2")
    return two


def make(place: Path, name: str, files=SAMPLE):
    (place / f"home-{name}").mkdir()
    return create_repository(place / name, isolated_environment(place / f"home-{name}"), files)


def page(address: str, question: str, workspace, **options) -> list[tuple[object, ...]]:
    found = hub_search.search(address, question, workspace.config, encoder=workspace.encoder, **options)
    return [
        (each.repository, each.path, each.collection, each.chunk, round(each.score, 5)) for each in found.hits
    ]


def test_two_servers_answer_as_one_does(two: Two, hub_address: str, tmp_path: Path, model_dir: Path):
    joined(two, "billing", "copy")
    repositories = [make(tmp_path, "shop"), make(tmp_path, "billing", RATES), make(tmp_path, "copy", RATES)]
    for git in repositories:
        sent = [pushed(git, address, model_dir).contents for address in (hub_address, two.owner)]
        assert sent[0] == sent[1]
    assert rows(two.superuser, "SELECT count(*) FROM gitrag.entries") == [(len(SAMPLE),)]
    there = two.other.address()
    assert rows(there, "SELECT count(*), count(DISTINCT content_id) FROM gitrag.entries") == [(6, 3)]
    assert rows(
        there, "SELECT min(chunk_id) >= %s, max(chunk_id) < %s FROM gitrag.cuts", OWN_IDS, OWN_IDS + IDS
    ) == [(True, True)]
    workspace = opened(repositories[0], two.owner, model_dir)
    for question in QUESTIONS:
        expected = page(hub_address, question, workspace)
        assert expected
        tracemalloc.start()
        found = page(two.owner, question, workspace)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert sorted(found, key=str) == sorted(expected, key=str), question
        assert most < 256 * MIB, question  # nothing is as long as the other server's ids are high
    only = {each[0] for each in page(two.owner, "rounding of amounts", workspace, repositories=["billing"])}
    assert only == {"billing"}
    with opened_hub(two.owner, recipe()) as hub:
        assert "  billing main at" in status_as_text(status(hub, is_owner=True))
        assert {(each.repository, each.server) for each in status(hub, is_owner=True).branches} == {
            ("shop", "front"), ("billing", "db2"), ("copy", "db2"),
        }  # fmt: skip


def plans(address: str, sql: str, *parameters: object) -> str:
    """Run a statement as a superuser; return how the server ran what its functions ask."""
    said: list[str] = []
    with psycopg.connect(address, autocommit=True) as db:
        db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        db.execute("LOAD 'auto_explain'")
        for name, value in (
            ("log_min_duration", "0"),
            ("log_nested_statements", "on"),
            ("log_verbose", "on"),
        ):
            db.execute(f"SET auto_explain.{name} = {value}")
        db.execute("SET client_min_messages = log")
        db.execute(sql, parameters)
    return "\n".join(said)


def test_a_question_is_asked_of_both_at_once_with_order_and_limit(two: Two, tmp_path: Path, model_dir: Path):
    joined(two, "billing")
    pushed(make(tmp_path, "shop"), two.owner, model_dir)
    pushed(make(tmp_path, "billing", RATES), two.owner, model_dir)
    asked = "ARRAY(SELECT view_id FROM gitrag.branches())"
    found = plans(two.superuser, f"SELECT * FROM gitrag.nearest_of({asked}, repeat('10', 192)::bit(384), 3)")
    assert "Append" in found
    assert "Async Foreign Scan on gitrag_1.view_cuts" in found
    remote = next(line for line in found.splitlines() if "Remote SQL" in line and "bit_count" in line)
    assert "ORDER BY bit_count" in remote
    assert remote.rstrip().endswith("LIMIT 3::bigint")
    found = plans(two.superuser, f"SELECT * FROM gitrag.postings_of({asked}, ARRAY[1, 2]::bigint[])")
    assert "Async Foreign Scan on gitrag_1.view_postings" in found
    assert "term = ANY" in next(
        line for line in found.splitlines() if "Remote SQL" in line and "found" in line
    )
    here = "ARRAY(SELECT view_id FROM gitrag.branches() WHERE server = 'front')"
    found = plans(two.superuser, f"SELECT * FROM gitrag.postings_of({here}, ARRAY[1, 2]::bigint[])")
    assert "view_postings" not in found  # the other server is not asked for what it does not have


def test_rights_hold_on_both_servers(two: Two, tmp_path: Path, model_dir: Path):
    joined(two, "billing", "vault")
    pushed(make(tmp_path, "shop"), two.owner, model_dir)
    pushed(make(tmp_path, "billing", RATES), two.owner, model_dir)
    pushed(
        make(tmp_path, "vault", {"secret.py": "def launch_code():\n    return 4711\n"}), two.owner, model_dir
    )
    role = make_role(two.superuser)
    with psycopg.connect(two.other.address(), autocommit=True) as db:
        db.execute(f"CREATE ROLE {role} LOGIN")
    with opened_hub(two.owner, recipe()) as hub:
        servers.grant(hub, role, "billing", pushes=False)
    at_front, at_other = as_role(two.superuser, role), as_role(two.other.address(), role)
    every = f"ARRAY(SELECT generate_series(1, 20) UNION SELECT generate_series({OWN_IDS}, {OWN_IDS + 20}))"
    ids = f"ARRAY(SELECT generate_series({OWN_IDS}, {OWN_IDS + 200}))"
    terms = [1, 2]
    for name, call in FUNCTIONS.items():
        wide = call.replace("ARRAY(SELECT generate_series(1, 50))", every).replace(
            "ARRAY(SELECT generate_series(1, 200))", ids
        )
        found = rows(
            at_front,
            f"SELECT t.*::text FROM {wide.replace('%(terms)s', '%s')} t",
            *([terms] * ("%(terms)s" in wide)),
        )
        assert "launch_code" not in str(found), name
        assert "parse_config" not in str(found), name
        assert found or name in {"named", "path_words", "postings", "reexports", "view_words"}, name
        there = wide.replace("SELECT generate_series(1, 20) UNION ", "")
        assert (
            rows(
                at_other,
                f"SELECT t.*::text FROM {there.replace('%(terms)s', '%s')} t",
                *([terms] * ("%(terms)s" in wide)),
            )
            == []
        ), name
    assert {name for (name,) in rows(at_front, "SELECT name FROM gitrag.branches()")} == {"billing"}
    for address, relation in (
        (at_front, "gitrag_1.view_chunks"), (at_front, "gitrag.servers"), (at_front, "gitrag.view_chunks"),
        (at_other, "gitrag.view_chunks"), (at_other, "gitrag.chunks"),
    ):  # fmt: skip
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows(address, f"SELECT * FROM {relation}")
    assert PASSWORD not in str(rows(at_front, "SELECT * FROM pg_user_mappings"))
    workspace = opened(make(tmp_path, "elsewhere"), at_front, model_dir)
    assert {each[0] for each in page(at_front, "launch code", workspace)} <= {"billing"}
    with pytest.raises(NotSetUpError, match="no repository in the hub"):
        page(at_other, "launch code", workspace)


def test_who_may_push_pushes_through_the_front_to_where_the_repository_is(
    two: Two, tmp_path: Path, model_dir: Path
):
    joined(two, "billing")
    ci = make_role(two.superuser)
    with opened_hub(two.owner, recipe()) as hub, pytest.raises(NotSetUpError, match=f'has no role "{ci}"'):
        servers.grant(hub, ci, "billing", pushes=True)
    with psycopg.connect(two.other.address(), autocommit=True) as db:
        db.execute(f"CREATE ROLE {ci} LOGIN")
    with opened_hub(two.owner, recipe()) as hub:
        servers.grant(hub, ci, "billing", pushes=True)
    git = make(tmp_path, "billing", RATES)
    address = as_role(two.superuser, ci)
    assert pushed(git, address, model_dir).contents == 3
    git.commit({"rates.py": None})
    assert pushed(git, address, model_dir, branch="next").contents == 0
    with opened_hub(address, recipe()) as hub, servers.holding(hub, "billing") as there:
        upkeep.choose(there, "billing", "next")
    with opened_hub(two.owner, recipe()) as hub:
        found, absent = searchable(hub)
        assert [(each.name, each.branch, each.files) for each in found] == [("billing", "next", 2)]
        assert absent == []
        with servers.holding(hub, "billing") as there:
            upkeep.discard(there, "billing", "main")
        assert servers.tidy(hub, really=True).contents == 1
        assert servers.revoke(hub, ci, "billing")
        assert not servers.revoke(hub, ci, "billing")
    with pytest.raises(NotSetUpError, match="no repository"):
        pushed(git, address, model_dir)
    for direct in (two.other.address(ci), address):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows(direct, "INSERT INTO gitrag.sent_words (term, found) VALUES (1, '')")
    with opened_hub(two.owner, recipe()) as hub:
        servers.discard_repository(hub, "billing")
        assert servers.tidy(hub, really=True).contents == 2
        assert searchable(hub) == ([], [])
    assert rows(two.other.address(), "SELECT count(*) FROM gitrag.chunks") == [(0,)]


def test_the_others_answer_when_a_server_is_away(
    two: Two, tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    joined(two, "billing")
    git = make(tmp_path, "shop")
    pushed(git, two.owner, model_dir)
    pushed(make(tmp_path, "billing", RATES), two.owner, model_dir)
    workspace = opened(git, two.owner, model_dir)

    def search(**options):
        return hub_search.search(
            two.owner, "retry with backoff", workspace.config, encoder=workspace.encoder, **options
        )

    def is_told(found) -> bool:
        told = "The hub's server db2 does not answer; not searched: billing."
        return {each.repository for each in found.hits} == {"shop"} and told in as_text(found)

    whole = search()
    assert {each.name for each in whole.searched} == {"shop", "billing"}
    assert "does not answer" not in as_text(whole)

    chosen, stopped = hub_search._chosen, []

    def then_it_stops(*arguments):
        found = chosen(*arguments)
        if not stopped:
            stopped.append(True)
            two.other.stop()
        return found

    with monkeypatch.context() as patched:  # when it was asked what it has, and not yet what it finds
        patched.setattr(hub_search, "_chosen", then_it_stops)
        assert is_told(search())
    assert stopped
    assert is_told(search())
    assert "does not answer" not in as_text(search(repositories=["shop"]))
    with pytest.raises(NetworkError, match="server db2 does not answer; not searched: billing"):
        search(repositories=["billing"])
    with opened_hub(two.owner, recipe()) as hub:
        assert "billing is on db2, which does not answer" in status_as_text(status(hub, is_owner=True))
    with pytest.raises(NetworkError):
        pushed(make(tmp_path / "home-shop", "billing", RATES), two.owner, model_dir)
    two.other.start()
    assert {each.name for each in search().searched} == {"shop", "billing"}
    own = int((two.other.data / "postmaster.pid").read_text().split()[0])
    os.kill(own, signal.SIGSTOP)  # it takes connections, and says nothing
    try:
        assert is_told(search())
    finally:
        os.kill(own, signal.SIGCONT)


def test_a_server_that_cannot_be_added_is_not_added(two: Two, monkeypatch: pytest.MonkeyPatch):
    there = two.other.address(LOCKED)
    initialise(two.owner, recipe(), partitions=1)
    with (
        opened_hub(two.owner, recipe()) as hub,
        pytest.raises(NotSetUpError, match="may not use postgres_fdw"),
    ):
        servers.add_server(hub, "db2", there)
    joined(two, "billing")
    with opened_hub(two.owner, recipe()) as hub:
        for name, address, error, said in (
            ("db2", there, UsageError, "has a server"),
            ("a b", there, UsageError, "cannot be the name"),
            ("front", there, UsageError, "has a server"),
            ("db3", two.owner, NotSetUpError, "starts empty"),
            ("db3", there, NotSetUpError, "starts empty"),
            ("db3", "postgresql://nobody@127.0.0.1:1/postgres", NetworkError, "Cannot reach"),
        ):
            with pytest.raises(error, match=said):
                servers.add_server(hub, name, address)
        with pytest.raises(UsageError, match='no server "db3"'):
            servers.place(hub, "shop", "db3")
        with pytest.raises(UsageError, match="is on the server db2"):
            servers.place(hub, "billing", "front")
        assert servers.place(hub, "billing", "db2").server == "db2"
        assert servers.place(hub, "shop", "front").server == "front"
        assert hub.db.execute("SELECT count(*) FROM gitrag.servers").fetchone() == (2,)
    with (
        opened_hub(there, recipe()) as hub,
        pytest.raises(UsageError, match="itself a server of another hub"),
    ):
        servers.add_server(hub, "db4", two.owner)
    role = make_role(two.superuser)
    with opened_hub(as_role(two.superuser, role), recipe()) as hub:
        for refused in (
            lambda: servers.add_server(hub, "db4", there),
            lambda: servers.place(hub, "a", "front"),
        ):
            with pytest.raises(NotSetUpError, match="Only the role that made the hub"):
                refused()


def test_a_server_without_a_password_is_for_superusers(two: Two):
    """Who is none could else have the front log in as whom it runs as."""
    joined(two)
    with psycopg.connect(two.other.address(), autocommit=True) as db:
        db.execute("CREATE ROLE open SUPERUSER LOGIN")
        db.execute("CREATE DATABASE another")
    with opened_hub(two.owner, recipe()) as hub, pytest.raises(NetworkError, match=r"cannot read .*password"):
        servers.add_server(hub, "db3", two.other.address("open", "another"))
    with opened_hub(two.superuser, recipe()) as hub:
        assert hub.db.execute("SELECT count(*) FROM gitrag.servers").fetchone() == (2,)
