"""Who may read what in a hub, tried by roles that should not."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest

from gitrag.actions.hub import search as hub_search
from gitrag.actions.hub.push import push_head
from gitrag.errors import BusyError, NotSetUpError
from gitrag.hub import history, rights, servers
from gitrag.hub.hub import OWN_IDS
from gitrag.hub.hub import opened as opened_hub
from gitrag.hub.upkeep import tidy
from gitrag.indexing.recipe import recipe
from gitrag.words.terms import hashed
from tests.support.command import wait_until
from tests.support.hubs import SAMPLE, as_role, make_role, opened, pushed, rows
from tests.support.postgres import Server
from tests.support.repository import create_repository, isolated_environment

TABLES = (
    *("repositories", "grants", "views", "view_words", "paths", "path_words", "entries", "contents"),
    *("chunks", "cuts", "vectors", "postings", "reexports"),
)
SECRET = {"secret.py": 'def launch_code():\n    """Return the launch code."""\n    return 4711\n'}


def make(place: Path, files=SAMPLE, name: str = "project"):
    (place / f"home-{name}").mkdir(parents=True)
    return create_repository(place / name, isolated_environment(place / f"home-{name}"), files)


def grant(address: str, role: str, repository: str, *, pushes: bool = False) -> None:
    with opened_hub(address, recipe()) as hub:
        rights.grant(hub, role, repository, pushes=pushes)


@pytest.fixture(scope="module")
def made(tmp_path_factory, postgres: Server, empty_hub: str, model_dir: Path) -> tuple[str, str, str]:
    """The address of what ``two`` is copied from, and its roles."""
    address, place = postgres.new_database(empty_hub), tmp_path_factory.mktemp("two")
    pushed(make(place), address, model_dir)
    pushed(make(place, SECRET | {"src/parse.py": SAMPLE["src/parse.py"]}, "vault"), address, model_dir)
    reader, keeper = make_role(address), make_role(address)
    grant(address, reader, "project")
    grant(address, keeper, "vault")
    return address, reader, keeper


@pytest.fixture
def two(postgres: Server, made: tuple[str, str, str]) -> tuple[str, str, str]:
    """A hub with the repositories ``project`` and ``vault``, and two roles, each of which may read one."""
    copied, reader, keeper = made
    address = postgres.new_database(copied)
    return address, as_role(address, reader), as_role(address, keeper)


ALL = "ARRAY(SELECT generate_series(1, 50))"
"""Views to ask for: every id that there may be."""

FUNCTIONS = {
    "branches": "gitrag.branches()",
    "granted": "gitrag.granted()",
    "files": f"gitrag.files_of({ALL})",
    "packed": f"gitrag.packed_of({ALL})",
    "collections": f"gitrag.collections_of({ALL})",
    "paths": f"gitrag.paths_of({ALL})",
    "paths_by": f"gitrag.paths_by({ALL}, ARRAY(SELECT generate_series(1, 200)))",
    "path_words": f"gitrag.path_words_of({ALL}, %(terms)s::bigint[])",
    "cuts": f"gitrag.cuts_of({ALL}, ARRAY['function', 'method', 'class', 'module'])",
    "distances": f"gitrag.distances_of({ALL}, repeat('1', 384)::bit(384))",
    "nearest": f"gitrag.nearest_of({ALL}, repeat('1', 384)::bit(384), 1000)",
    "chunks": f"gitrag.chunks_of({ALL})",
    "named": f"gitrag.chunks_named({ALL}, ARRAY['launch_code', 'parse_config', 'send'])",
    "chunks_by": f"gitrag.chunks_by({ALL}, ARRAY(SELECT generate_series(1, 200)))",
    "chunks_in": f"gitrag.chunks_in({ALL}, ARRAY(SELECT generate_series(1, 200)))",
    "vectors": f"gitrag.vectors_by({ALL}, ARRAY(SELECT generate_series(1, 200)))",
    "postings": f"gitrag.postings_of({ALL}, %(terms)s::bigint[])",
    "reexports": f"gitrag.reexports_of({ALL}, ARRAY['Client', 'Router'])",
    "view_words": f"gitrag.view_words_of({ALL}, %(terms)s::bigint[])",
    "histories": f"gitrag.histories_of({ALL})",
}
"""Every way to read, asked for all that there is."""


def read(address: str, name: str) -> set[object]:
    """Read all that a role can by a function."""
    terms = [hashed(word) - (1 << 64) * (hashed(word) >> 63) for word in WORDS]
    with psycopg.connect(address, autocommit=True) as db:
        return set(db.execute(f"SELECT t.*::text FROM {FUNCTIONS[name]} t", {"terms": terms}).fetchall())


def send(address: str, table: str, row: dict[str, object]) -> None:
    """Send a row, as a push would, in a transaction of its own."""
    marks = ", ".join(["%s"] * len(row))
    rows(address, f"INSERT INTO gitrag.{table} ({', '.join(row)}) VALUES ({marks})", *row.values())


WORDS = ("launch", "code", "client", "request", "pars", "config", "return", "change", "secret", "first")


def test_each_role_reads_its_repository_and_nothing_of_the_other(two: tuple[str, str, str]):
    address, reader, keeper = two
    for name in FUNCTIONS:
        every, own, other = (read(each, name) for each in (address, reader, keeper))
        assert own | other == every, name
        assert own, name
        assert other or name == "reexports", name  # the vault re-exports nothing
        if name in {"branches", "granted", "files", "paths", "path_words", "histories"}:
            assert not own & other, name
    assert rows(address, "SELECT count(*) FROM gitrag.contents") == [
        (len(SAMPLE) + 1,)
    ]  # what both have once
    assert "launch_code" not in str(read(reader, "chunks"))
    assert "parse_config" in str(read(reader, "chunks"))
    assert "Client" not in str(read(keeper, "chunks"))


def test_no_table_can_be_read_so_that_no_plan_tells_what_is_left_out(two: tuple[str, str, str]):
    """EXPLAIN ANALYZE counts the rows that a policy removes: whether another repository has a blob."""
    _address, reader, _keeper = two
    for table in TABLES:
        for name in (table, f"{table}_0"):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable)):
                rows(reader, f"EXPLAIN ANALYZE SELECT * FROM gitrag.{name}")
    plan = str(rows(reader, f"EXPLAIN ANALYZE SELECT * FROM gitrag.paths_of({ALL}) WHERE path = 'secret.py'"))
    assert "Function Scan" in plan
    assert f"Rows Removed by Filter: {len(SAMPLE)}" in plan  # its own contents, and no other
    for secret in ("over(ARRAY[1], '', '', '', '', '')", "readable()"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows(reader, f"SELECT gitrag.{secret}")


def test_who_is_let_read_the_tables_themselves_sees_by_policy_what_he_may(two: tuple[str, str, str]):
    address, reader, keeper = two
    for each in (reader, keeper):
        role = each.partition("//")[2].partition("@")[0]
        rows(address, f"GRANT SELECT ON ALL TABLES IN SCHEMA gitrag TO {role}")
    for table in TABLES:
        every = set(rows(address, f"SELECT t.*::text FROM gitrag.{table} t"))
        own, other = (set(rows(each, f"SELECT t.*::text FROM gitrag.{table} t")) for each in (reader, keeper))
        assert own | other == every, table
        assert own < every or table == "reexports", table


def test_a_search_finds_what_one_may_read_and_names_no_other_repository(two, tmp_path, model_dir):
    address, reader, keeper = two
    workspace = opened(make(tmp_path, name="elsewhere"), address, model_dir)

    def search(at: str, question: str, **options):
        return hub_search.search(at, question, workspace.config, encoder=workspace.encoder, **options)

    assert {each.path for each in search(keeper, "launch code").hits} >= {"secret.py"}
    assert {each.repository for each in search(reader, "launch code").hits} <= {"project"}
    assert "secret.py" not in {each.path for each in search(reader, "launch_code").hits}
    with pytest.raises(NotSetUpError) as refused:
        search(reader, "launch code", repositories=["vault"])
    with pytest.raises(NotSetUpError) as missing:
        search(reader, "launch code", repositories=["nowhere"])
    assert str(refused.value).replace("vault", "X") == str(missing.value).replace("nowhere", "X")
    assert {each.repository for each in search(address, "launch code").hits} >= {"vault"}
    with pytest.raises(NotSetUpError, match="no repository in the hub"):
        search(as_role(address, make_role(address)), "launch code")


def test_no_role_writes_what_is_searched(two: tuple[str, str, str]):
    address, reader, _keeper = two
    before = rows(address, "SELECT t.*::text FROM gitrag.grants t ORDER BY 1")
    role = reader.partition("//")[2].partition("@")[0]
    for sql in (
        f"INSERT INTO gitrag.grants SELECT '{role}', repository_id, true FROM gitrag.repositories",
        f"UPDATE gitrag.grants SET role = '{role}'",
        "DELETE FROM gitrag.chunks",
        "UPDATE gitrag.chunks SET text = ''",
        "INSERT INTO gitrag.entries SELECT * FROM gitrag.entries",
        "TRUNCATE gitrag.views",
        "ALTER TABLE gitrag.chunks DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE gitrag.mine (a int)",
        "SELECT gitrag.pushable('project')",
        "INSERT INTO gitrag.sent_words (term, found) VALUES (1, '')",
        "SELECT * FROM gitrag.sent_chunks",
        "SELECT nextval('gitrag.chunk_ids')",
        "SET ROLE owner",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows(reader, sql)
    for asked in ("project", "vault", "nowhere"):
        for sql in (
            f"SELECT * FROM gitrag.known('{asked}')",
            f"SELECT gitrag.push('{asked}', 'main', '', '', 0, '')",
        ):
            with pytest.raises(psycopg.Error, match=r"^no repository to push to"):
                rows(reader, sql)
    assert rows(address, "SELECT t.*::text FROM gitrag.grants t ORDER BY 1") == before


def test_whoever_pushes_learns_nothing_of_contents_that_others_have(two, tmp_path: Path, model_dir: Path):
    """Everything that its own repository lacks is asked for, whether the hub has it or not."""
    address, _reader, _keeper = two
    spy = make_role(address)
    grant(address, spy, "own", pushes=True)
    git = make(tmp_path, SECRET | {"new.py": "def unknown():\n    return 1\n"}, "own")
    sent = pushed(git, as_role(address, spy), model_dir)
    assert (sent.files, sent.contents) == (2, 2)
    again = pushed(git, as_role(address, spy), model_dir)
    assert (again.files, again.contents, again.chunks) == (2, 0, 0)
    with psycopg.connect(address) as db:
        known = db.execute("SELECT count(*) FROM gitrag.contents").fetchone()
    assert known == (len(SAMPLE) + 2,)
    seen = read(as_role(address, spy), "packed")
    assert len(seen) == 2
    with pytest.raises(psycopg.errors.InsufficientPrivilege):  # not even what it has sent itself
        rows(as_role(address, spy), "SELECT * FROM gitrag.sent_chunks")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):  # nor in another's name
        rows(
            as_role(address, spy), "INSERT INTO gitrag.sent_words (sender, term, found) VALUES ('99', 1, '')"
        )


def test_wrong_pieces_of_a_blob_stay_with_who_sent_them(two, tmp_path: Path, model_dir: Path):
    """Whoever knows a blob's id cannot have others find his text for it."""
    address, _reader, keeper = two
    forger = make_role(address)
    grant(address, forger, "forgery", pushes=True)
    git = make(tmp_path, SECRET, "forgery")
    workspace = opened(git, as_role(address, forger), model_dir)
    workspace.update()
    workspace.embed()
    with workspace.store.write("forging") as db:
        db.execute("UPDATE chunks SET text = 'def launch_code(): return 666'")
    assert push_head(workspace).contents == 1
    texts = {text for (text,) in rows(keeper, f"SELECT text FROM gitrag.chunks_of({ALL})")}
    assert any("4711" in text for text in texts)
    assert not any("666" in text for text in texts)
    other = rows(as_role(address, forger), f"SELECT text FROM gitrag.chunks_of({ALL})")
    assert [text for (text,) in other] == ["def launch_code(): return 666"]


def test_rights_end_at_once_and_a_role_that_is_gone_hurts_nobody(two: tuple[str, str, str]):
    address, reader, _keeper = two
    role = reader.partition("//")[2].partition("@")[0]
    gone = make_role(address)
    grant(address, gone, "project")
    rows(address, f"DROP ROLE {gone}")
    assert rows(reader, "SELECT name FROM gitrag.branches()") == [("project",)]
    with opened_hub(address, recipe()) as hub:
        assert rights.revoke(hub, role, "project")
        assert not rights.revoke(hub, role, "project")
    assert rows(reader, f"SELECT count(*) FROM gitrag.chunks_of({ALL})") == [(0,)]


def test_a_member_of_a_group_has_the_groups_rights(two: tuple[str, str, str]):
    address, _reader, _keeper = two
    group, member = make_role(address), make_role(address)
    grant(address, group, "vault")
    assert rows(as_role(address, member), "SELECT name FROM gitrag.branches()") == []
    rows(address, f"GRANT {group} TO {member}")
    assert rows(as_role(address, member), "SELECT name FROM gitrag.branches()") == [("vault",)]


def test_gc_drops_only_what_no_branch_has(two: tuple[str, str, str], tmp_path: Path, model_dir: Path):
    address, _reader, _keeper = two
    git = make(tmp_path / "home-vault", SECRET, "vault")  # the same name: another state of it
    pushed(git, address, model_dir, moved=True)
    with opened_hub(address, recipe()) as hub:
        counted = tidy(hub, really=False)
        assert (counted.contents, counted.paths, counted.unfinished) == (0, 1, 0)  # project has that content
        assert tidy(hub, really=True) == counted
        assert not tidy(hub, really=True)
    assert rows(
        address,
        "SELECT convert_from(path, 'UTF8') FROM gitrag.paths"
        " JOIN gitrag.repositories USING (repository_id) WHERE name = 'vault'",
    ) == [("secret.py",)]
    git.commit({"secret.py": "def other():\n    return 1\n"})
    pushed(git, address, model_dir)
    with opened_hub(address, recipe()) as hub:
        assert tidy(hub, really=True).contents == 1
    assert "launch_code" not in str(rows(address, "SELECT text FROM gitrag.chunks"))
    assert rows(
        address,
        "SELECT count(*) FROM gitrag.postings p LEFT JOIN gitrag.contents c USING (content_id)"
        " WHERE c.content_id IS NULL",
    ) == [(0,)]


def test_two_who_push_the_same_contents_at_once_both_succeed(
    hub_address: str, tmp_path: Path, model_dir: Path
):
    workspaces = []
    for name in ("one", "two", "three"):
        git = make(tmp_path, SAMPLE, name)
        workspace = opened(git, hub_address, model_dir)
        workspace.update()
        workspace.embed()
        workspaces.append(workspace)
    failed: list[BaseException] = []

    def run(workspace) -> None:
        try:
            push_head(workspace)
        except Exception as error:  # noqa: BLE001 - any is told below
            failed.append(error)

    threads = [threading.Thread(target=run, args=[each]) for each in workspaces]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    assert failed == []
    assert rows(hub_address, "SELECT count(*) FROM gitrag.contents") == [(len(SAMPLE),)]
    assert rows(hub_address, "SELECT count(*) FROM gitrag.entries") == [(3 * len(SAMPLE),)]
    assert rows(
        hub_address,
        "SELECT count(*) FROM gitrag.chunks k LEFT JOIN gitrag.contents c USING (content_id)"
        " WHERE c.content_id IS NULL",
    ) == [(0,)]


def test_what_no_index_has_is_refused_at_the_door_and_a_false_history_is_none(two: tuple[str, str, str]):
    """Whoever may push may send anything; who reads it must not fall over it."""
    address, _reader, _keeper = two
    sender = make_role(address)
    grant(address, sender, "own", pushes=True)
    good = {
        "blob": b"b" * 20,
        "language": "python",
        "kind": "module",
        "name": "",
        "name_key": "",
        "qualified_name": "",
        "signature": "",
        "docstring": "",
        "text": "x = 1",
        "line_start": 1,
        "line_end": 1,
        "length": 1,
        "terms": [1],
        "frequencies": [1],
        "reexports": [],
    }
    wrong = {
        "blob": b"short",
        "language": "Klingon \u1e9e",
        "kind": "weapon",
        "line_start": 0,
        "line_end": 2_000_000_000,
        "length": -1,
        "frequencies": [-1],
        "terms": [1, 2],
    }
    huge = dict.fromkeys(
        ("name", "name_key", "qualified_name", "signature", "docstring", "text"), "x" * 10_000
    )
    more = [("line_end", 0), ("frequencies", [70_000]), ("reexports", ["x" * 10_000]), *huge.items()]
    for name, value in [*wrong.items(), *more]:
        with pytest.raises(psycopg.errors.CheckViolation):
            send(as_role(address, sender), "sent_chunks", good | {name: value})
    send(as_role(address, sender), "sent_chunks", good)
    entry = {
        "place": 0,
        "path": b"src/...a/.gitignore\n\xff\\",
        "written": "",
        "traits": 0,
        "top": 0,
        "name_terms": 0,
        "words": [],
        "blob": b"b" * 20,
        "language": "",
        "collection": "code",
    }
    send(as_role(address, sender), "sent_entries", entry)
    for path in (b"/etc/passwd", b"../../x", b"a/../b", b"a//b", b"a/", b"./a", b"a/.git/config", b".GIT/x"):
        with pytest.raises(psycopg.errors.CheckViolation):
            send(as_role(address, sender), "sent_entries", entry | {"path": path})
    for name, value in (("written", "x" * 30_000), ("words", [1] * 5_000)):
        with pytest.raises(psycopg.errors.CheckViolation):
            send(as_role(address, sender), "sent_entries", entry | {name: value})
    with pytest.raises(psycopg.errors.CheckViolation):
        send(as_role(address, sender), "sent_words", {"term": 1, "found": bytes(2 << 20)})
    push = "SELECT gitrag.push('own', %s, %s, %s, %s, %s)"
    good_push = ("main", "0" * 40, "", 0, b"")
    for place, wrong_value in (
        (0, ""),
        (1, "no commit"),
        (2, "\x1b[2J"),
        (3, -1),
        (4, bytes((64 << 20) + 1)),
    ):
        asked = [wrong_value if at == place else value for at, value in enumerate(good_push)]
        with pytest.raises(psycopg.errors.CheckViolation):
            rows(as_role(address, sender), push, *asked)
    rows(as_role(address, sender), push, *good_push)
    with pytest.raises(psycopg.errors.CheckViolation):  # one content at many paths costs a reader each time
        rows(address, "UPDATE gitrag.views SET chunks = 20000000")
    whole = rows(address, "SELECT history FROM gitrag.views WHERE history IS NOT NULL LIMIT 1")[0][0]
    assert history.unpack(whole) is not None
    for false in (
        b"",
        whole[:-1],
        whole + b"x",
        b"\xff" * len(whole),
        b"\x7f" * 48,
        whole[:48] + b"\xff" * (len(whole) - 48),
    ):
        assert history.unpack(false) is None


def test_whoever_may_push_nothing_any_more_cannot_write_at_all(two: tuple[str, str, str]):
    address, _reader, _keeper = two
    role = make_role(address)

    def may_write() -> bool:
        try:
            rows(as_role(address, role), "INSERT INTO gitrag.sent_words (term, found) VALUES (1, '')")
        except psycopg.errors.InsufficientPrivilege:
            return False
        return True

    with opened_hub(address, recipe()) as hub:
        rights.grant(hub, role, "project", pushes=True)
        rights.grant(hub, role, "vault", pushes=True)
        assert may_write()
        rights.grant(hub, role, "vault", pushes=False)
        assert may_write()  # to the other
        rights.revoke(hub, role, "project")
        assert not may_write()
        rights.grant(hub, role, "vault", pushes=True)
        assert may_write()
        rights.grant(hub, role, "vault", pushes=False)
        assert not may_write()
        rights.revoke(hub, role, "vault")
    rows(address, f"DROP ROLE {role}")  # nothing of it is left


def test_a_new_role_of_an_old_name_has_none_of_its_rights(two: tuple[str, str, str]):
    address, _reader, _keeper = two
    role = make_role(address)
    grant(address, role, "vault")
    rows(address, f"ALTER ROLE {role} RENAME TO {role}x")
    assert rows(as_role(address, f"{role}x"), "SELECT name FROM gitrag.branches()") == [("vault",)]
    rows(address, f"ALTER ROLE {role}x RENAME TO {role}")
    rows(address, f"DROP ROLE {role}")
    rows(address, f"CREATE ROLE {role} LOGIN")
    assert rows(as_role(address, role), "SELECT name FROM gitrag.branches()") == []
    assert rows(as_role(address, role), "SELECT * FROM gitrag.granted()") == []
    with opened_hub(address, recipe()) as hub:
        assert role not in {each.role for each in rights.listed(hub)}
        rights.grant(hub, role, "project", pushes=False)
    assert rows(as_role(address, role), "SELECT name FROM gitrag.branches()") == [("project",)]
    assert rows(
        address, "SELECT count(*) FROM gitrag.grants WHERE role NOT IN (SELECT oid FROM pg_roles)"
    ) == [(0,)]


def impatient(address: str) -> None:
    """Let a push wait for another one's contents for a moment only."""
    ((push,),) = rows(address, "SELECT pg_get_functiondef('gitrag.push'::regproc)")
    assert "'20s'" in push
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(push.replace("'20s'", "'50ms'").encode())


def test_a_reader_locks_out_no_push_and_who_pushes_uses_no_sequence(two, tmp_path: Path, model_dir: Path):
    address, reader, _keeper = two
    sender = make_role(address)
    grant(address, sender, "own", pushes=True)
    for sequence in ("chunk_ids", "content_ids", "path_ids"):
        for function in ("nextval", "currval"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                rows(as_role(address, sender), f"SELECT {function}('gitrag.{sequence}')")
    held = "SELECT count(gitrag.held('own', 'main')) FROM generate_series(1, 20)"
    rows(as_role(address, sender), held)
    ((taken,),) = rows(address, "SELECT last_value FROM gitrag.view_ids")
    rows(as_role(address, sender), held)
    assert rows(address, "SELECT last_value FROM gitrag.view_ids") == [(taken,)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(as_role(address, sender), "SELECT gitrag.next_chunk()")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(
            as_role(address, sender),
            "CREATE TEMP TABLE t (chunk_id integer); CREATE TRIGGER t BEFORE INSERT ON t"
            " FOR EACH ROW EXECUTE FUNCTION gitrag.numbered()",
        )
    with psycopg.connect(reader) as db:
        db.execute("SELECT count(pg_advisory_xact_lock(key)) FROM unnest(ARRAY[0, 113697044914535]) key")
        keys = rows(address, "SELECT prosrc FROM pg_proc WHERE pronamespace = 'gitrag'::regnamespace")
        assert "advisory" not in str(keys)
        for mode in ("ACCESS SHARE", "ROW SHARE", "SHARE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), db.transaction():
                db.execute(f"LOCK TABLE gitrag.turns IN {mode} MODE")
        assert pushed(make(tmp_path, name="own"), as_role(address, sender), model_dir).contents == len(SAMPLE)


def test_ids_that_are_used_up_by_pushes_that_are_taken_back_come_round(two, tmp_path: Path, model_dir: Path):
    address, _reader, _keeper = two
    kinds = {"chunk": "chunks", "content": "contents", "path": "paths", "view": "views"}
    before = {}
    for kind, table in kinds.items():
        rows(address, f"SELECT setval('gitrag.{kind}_ids', {OWN_IDS - 2})")
        ((before[kind],),) = rows(address, f"SELECT array_agg({kind}_id) FROM gitrag.{table}")
    sent = pushed(make(tmp_path, {"a.py": "a = 1\n", "b.py": "b = 2\n"}, "late"), address, model_dir)
    assert (sent.files, sent.contents, sent.chunks) == (2, 2, 2)
    for kind, table in kinds.items():
        ((after,),) = rows(address, f"SELECT array_agg({kind}_id) FROM gitrag.{table}")
        new = 1 if kind == "view" else 2
        assert len(set(after)) == len(after) == len(before[kind]) + new, kind
        assert max(after) <= max(before[kind]) + new, kind
    assert (
        len(rows(address, f"SELECT text FROM gitrag.chunks_of({ALL}) WHERE text IN ('a = 1', 'b = 2')")) == 2
    )


def test_who_leaves_a_push_open_keeps_nobody_from_pushing_the_same_contents(
    two, made, tmp_path: Path, model_dir: Path, monkeypatch
):
    address, _reader, _keeper = two
    copied, _reader, _keeper = made
    impatient(address)
    monkeypatch.setattr("gitrag.hub.upkeep._PATIENCE_MS", 50)
    sender, other = make_role(address), make_role(address)
    grant(address, sender, "own", pushes=True)
    grant(address, other, "theirs", pushes=True)
    new, apart = {"new.py": "a = 1\n"}, {"apart.py": "b = 2\n"}
    git, theirs = make(tmp_path, SECRET | new, "own"), make(tmp_path, SECRET | new | apart, "theirs")
    waiting = opened(git, as_role(address, sender), model_dir)
    waiting.update()
    waiting.embed()
    with (
        opened_hub(as_role(address, sender), recipe()) as held,
        held.db.transaction(force_rollback=True),
        opened_hub(address, recipe()) as hub,
    ):
        with monkeypatch.context() as patched:
            patched.setattr("gitrag.actions.hub.push.opened", lambda *_given: nullcontext(held))
            assert push_head(waiting).contents == 2
        sent = pushed(theirs, as_role(address, other), model_dir)
        assert (sent.files, sent.contents) == (3, 3)
        with psycopg.connect(copied) as elsewhere:  # a table of the same number, in another database
            elsewhere.execute("LOCK TABLE gitrag.turns IN ROW SHARE MODE")
            with pytest.raises(BusyError, match=rf"does not end: {sender} \(process \d+\)\."):
                tidy(hub, really=True)
        with pytest.raises(BusyError, match=sender):
            servers.place(hub, "new", "front")
    assert "4711" in str(rows(as_role(address, other), f"SELECT text FROM gitrag.chunks_of({ALL})"))
    again = pushed(theirs, as_role(address, other), model_dir)
    assert (again.files, again.contents) == (3, 0)
    pushed(make(tmp_path, apart, "third"), address, model_dir)
    shared = (
        "SELECT count(DISTINCT c.content_id) FROM gitrag.contents c JOIN gitrag.chunks USING (content_id)"
    )
    assert rows(address, f"{shared} WHERE text = 'b = 2'") == [(1,)]  # nobody else had it open


def test_who_sends_contents_in_another_order_makes_no_other_push_fail(two: tuple[str, str, str]):
    """Two that wait for each other: the server ends whichever notices first."""
    address, _reader, _keeper = two
    sender, other = make_role(address), make_role(address)
    grant(address, sender, "own", pushes=True)
    grant(address, other, "theirs", pushes=True)
    rows(address, f"ALTER ROLE {sender} SET deadlock_timeout = '1min'")
    rows(address, f"ALTER ROLE {other} SET deadlock_timeout = '10ms'")

    def push(db: psycopg.Connection, repository: str, blob: bytes) -> None:
        db.execute(
            "INSERT INTO gitrag.sent_chunks (blob, language, kind, name, name_key, qualified_name, signature,"
            " docstring, text, line_start, line_end, length, terms, frequencies, reexports)"
            " VALUES (%s, 'c', 'module', '', '', '', '', '', 'a', 1, 1, 1, '{}', '{}', '{}')",
            [blob * 20],
        )
        db.execute("SELECT gitrag.push(%s, 'main', %s, '', 0, NULL)", [repository, "0" * 40])

    with (
        psycopg.connect(as_role(address, sender)) as first,
        psycopg.connect(as_role(address, other)) as second,
        ThreadPoolExecutor() as pool,
    ):
        push(first, "own", b"b")
        push(second, "theirs", b"a")
        crossed = pool.submit(push, first, "own", b"a")
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = %s"
        wait_until(lambda: bool(rows(address, waiting, sender)), "one waits for the other")
        push(second, "theirs", b"b")
        second.commit()
        crossed.result()
