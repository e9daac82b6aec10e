"""An index that cannot be written or read: what is there is answered, and the rest told in a line."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import platformdirs
import pytest

from gitrag.actions.governance.bearings import KINDS, indexed_documents
from gitrag.actions.prime import prime
from gitrag.actions.search import SearchOptions, search
from gitrag.store import connection
from gitrag.workspace import Workspace
from tests.support.command import Gitrag, Project, as_plain_user
from tests.support.refusing import refusing
from tests.support.repository import GitRepository

ERRNOS = ["EACCES", "EROFS", "ENOSPC", "EDQUOT", "EIO"]
FILES = {"door.py": "def open_door(): pass\n", "gone.py": "def burn_bridge(): pass\n"}


def opened(repo: GitRepository, said: list[str]) -> Workspace:
    environment = repo.environment | {"GITRAG_MODEL_DIR": str(repo.path / "no-model")}
    return Workspace.open(repo.path, environ=environment, say=said.append)


@pytest.fixture
def behind(make_repository) -> GitRepository:
    """A repository with an index one commit behind, and with an uncommitted file."""
    repo: GitRepository = make_repository(FILES, indexed=True)
    repo.commit({"window.py": "def close_window(): pass\n", "gone.py": None})
    repo.write({"loose.py": "def tie_rope(): pass\n"})
    return repo


def unwritable(repo: GitRepository, name: str):
    """Make everything in the index's directory fail to be written."""
    store = repo.path / ".git" / "gitrag"
    return refusing(lambda path, writes: getattr(errno, name) if writes and store in path.parents else None)


def paths(workspace: Workspace, question: str, **options) -> list[str]:
    return [hit.path for hit in search(workspace, question, SearchOptions(**options)).hits]


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("name", ERRNOS)
def test_what_cannot_be_written_is_held_in_memory(behind, name):
    said: list[str] = []
    first = behind.git("rev-parse", "--short=7", "HEAD~1").strip()
    with unwritable(behind, name):
        workspace = opened(behind, said)
        for question, path in {
            "open_door": "door.py",
            "close_window": "window.py",
            "tie_rope": "loose.py",
        }.items():
            assert paths(workspace, question) == [path]
        assert paths(workspace, "burn_bridge") == []
        assert paths(workspace, "burn_bridge", ref="HEAD~1") == ["gone.py"]
    [line] = set(said)
    assert line.endswith(f"The index is of commit {first}; what is newer was read for this answer alone.")
    said.clear()
    assert paths(opened(behind, said), "close_window") == ["window.py"]
    assert said == []


def test_an_index_too_large_to_be_held_is_answered_as_far_as_it_is_there(behind, monkeypatch):
    monkeypatch.setattr(connection, "MAX_BYTES", 0)
    said: list[str] = []
    with unwritable(behind, "EROFS"):
        workspace = opened(behind, said)
        assert paths(workspace, "open_door") == ["door.py"]
        assert paths(workspace, "close_window") == []
        assert paths(workspace, "burn_bridge") == []
        assert paths(workspace, "burn_bridge", ref="HEAD~1") == ["gone.py"]
    assert said[0].endswith("; 2 files are missing from it.")


def test_a_renamed_file_of_an_index_too_large_to_be_held_counts_as_missing(behind, monkeypatch):
    behind.git("mv", "door.py", "gate.py")
    monkeypatch.setattr(connection, "MAX_BYTES", 0)
    said: list[str] = []
    with unwritable(behind, "EROFS"):
        assert paths(opened(behind, said), "open_door") == []
    assert said[0].endswith("; 3 files are missing from it.")


def test_what_is_gone_is_not_answered_though_the_rules_have_changed_as_well(behind, monkeypatch):
    behind.commit({".gitattributes": "*.min.js -gitrag\n"})
    monkeypatch.setattr(connection, "MAX_BYTES", 0)
    with unwritable(behind, "EROFS"):
        workspace = opened(behind, [])
        assert paths(workspace, "open_door") == ["door.py"]
        assert paths(workspace, "burn_bridge") == []


def test_documents_are_listed_as_indexed_by_other_settings(make_repository):
    repo = make_repository({"docs/adrs/ADR-0001-x.md": "# ADR-0001: Keep\n"}, indexed=True)
    environment = repo.environment | {"GITRAG_ADRS": "none/*.md"}
    with unwritable(repo, "EROFS"):
        [(_, document, _)] = indexed_documents(Workspace.open(repo.path, environ=environment), KINDS)
    assert document.path == "docs/adrs/ADR-0001-x.md"
    assert indexed_documents(Workspace.open(repo.path, environ=environment), KINDS) == []


@pytest.mark.parametrize(("most", "known"), [(None, 2), (0, 1)])
def test_a_session_starts_with_what_is_new_held_in_memory(make_repository, monkeypatch, most, known):
    repo = make_repository({"docs/adrs/ADR-0001-x.md": "# ADR-0001: Keep\n"}, indexed=True)
    repo.commit({"docs/adrs/ADR-0002-y.md": "# ADR-0002: Drop\n"})
    if most is not None:
        monkeypatch.setattr(connection, "MAX_BYTES", most)
    said: list[str] = []
    later = {"environ": repo.environment, "say": said.append, "clock": lambda: time.time() + 61}
    with unwritable(repo, "EROFS"):
        primed = prime(Workspace.open(repo.path, **later))
    assert len(primed.entries) == known
    [line] = set(said)
    assert line.startswith(f"Cannot write {repo.path}")


def test_a_long_lived_process_returns_to_the_file_once_it_can_be_written(behind):
    said: list[str] = []
    workspace = opened(behind, said)
    with unwritable(behind, "ENOSPC"):
        assert paths(workspace, "close_window") == ["window.py"]
    behind.write({"more.py": "def light_lamp(): pass\n"})
    assert paths(workspace, "light_lamp") == ["more.py"]
    assert len(said) == 1
    assert not workspace.store.is_held


def test_a_long_lived_process_that_cannot_write_goes_on_where_its_time_ended(make_repository, monkeypatch):
    monkeypatch.setattr("gitrag.indexing.refresh._BATCH_BYTES", 1)
    monkeypatch.setattr("gitrag.indexing.refresh._FEW_BYTES", 0)
    repo = make_repository({"door.py": "def open_door(): pass\n"})
    opened(repo, []).update()
    repo.commit({f"part{n}.py": f"def part_{n}(): pass\n" for n in range(3)})
    options = SearchOptions(catch_up_s=0.0)
    with unwritable(repo, "EROFS"):
        workspace = opened(repo, [])
        waiting = [search(workspace, "part", options, finish=lambda _: None).waiting for _ in range(3)]
    assert waiting == [2, 1, 0]


# in the user's cache


def in_cache(workspace: Workspace) -> bool:
    return workspace.store.path.is_relative_to(platformdirs.user_cache_path("gitrag"))


@pytest.fixture
def mounted(behind, tmp_path) -> Iterator[GitRepository]:
    """The repository one commit behind, on a read-only mount."""
    place = tmp_path / "mounted"
    place.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-o", "bind", behind.path, place], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        yield GitRepository(place, behind.environment, behind.ticks)
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_an_index_on_a_read_only_mount_goes_on_in_the_cache(mounted):
    said: list[str] = []
    workspace = opened(mounted, said)
    assert paths(workspace, "burn_bridge", ref="HEAD~1") == ["gone.py"]
    assert paths(opened(mounted, said), "close_window") == ["window.py"]
    assert (in_cache(opened(mounted, said)), said) == (True, [])


OTHER_VERSIONS = {
    "of another version": "UPDATE meta SET value = 'old' WHERE key = 'recipe'",
    "of a newer version": "UPDATE meta SET value = '99999' WHERE key = 'schema'",
}


@pytest.mark.parametrize("harm", ["damaged", *OTHER_VERSIONS])
def test_an_index_on_a_mount_that_cannot_be_used_is_replaced_in_the_cache(mounted, behind, harm):
    index = behind.path / ".git" / "gitrag" / "index.duckdb"
    if harm == "damaged":
        index.write_bytes(b"not a database\n")
    else:
        with duckdb.connect(index) as db:
            db.execute(OTHER_VERSIONS[harm])
    workspace = opened(mounted, [])
    assert paths(workspace, "close_window") == ["window.py"]
    assert in_cache(workspace)


@pytest.mark.parametrize("harm", OTHER_VERSIONS)
def test_an_index_in_the_cache_is_not_given_up_for_one_that_cannot_be_used(mounted, behind, harm):
    said: list[str] = []
    opened(mounted, said).update()
    own = opened(mounted, said).store.path
    before = own.stat().st_ino
    with duckdb.connect(behind.path / ".git" / "gitrag" / "index.duckdb") as db:
        db.execute(OTHER_VERSIONS[harm])
    behind.commit({"more.py": "def light_lamp(): pass\n"})
    workspace = opened(mounted, said)
    assert workspace.store.path != own
    assert paths(workspace, "light_lamp") == ["more.py"]
    assert (workspace.store.path, own.stat().st_ino, said) == (own, before, [])


def test_an_index_that_does_not_fit_into_the_cache_leaves_nothing_of_it_there(mounted, behind, monkeypatch):
    opened(mounted, []).update()
    behind.commit({"more.py": "def light_lamp(): pass\n"})
    opened(behind, []).update()
    behind.commit({"last.py": "def shut_gate(): pass\n"})

    def full(_source: str, target: Path) -> None:
        target.write_bytes(b"a half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    workspace = opened(mounted, [])
    assert paths(workspace, "shut_gate") == ["last.py"]
    assert list(workspace.store.directory.glob("smaller*")) == []
    assert (workspace.store.directory / "index.duckdb").exists()


def test_an_index_of_another_version_that_cannot_be_written_is_made_anew_in_memory(behind):
    with duckdb.connect(behind.path / ".git" / "gitrag" / "index.duckdb") as db:
        db.execute("UPDATE meta SET value = 'old' WHERE key = 'recipe'")
    with unwritable(behind, "EROFS"):
        assert paths(opened(behind, []), "close_window") == ["window.py"]


def test_where_the_cache_cannot_be_written_either_it_is_held_in_memory(mounted, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(mounted.path / "cache"))
    said: list[str] = []
    assert paths(opened(mounted, said), "close_window") == ["window.py"]
    assert ["what is newer was read for this answer alone" in line for line in said] == [True]


def test_of_two_indexes_the_newer_is_asked(mounted, behind):
    opened(mounted, []).update()
    behind.commit({"more.py": "def light_lamp(): pass\n"})
    opened(behind, []).update()
    workspace = opened(mounted, [])
    assert (in_cache(workspace), paths(workspace, "light_lamp")) == (False, ["more.py"])


def test_a_read_only_mount_without_an_index_gets_one_in_the_cache(mounted, behind):
    shutil.rmtree(behind.path / ".git" / "gitrag")
    workspace = opened(mounted, [])
    workspace.update()
    assert (in_cache(workspace), paths(workspace, "close_window")) == (True, ["window.py"])


@pytest.mark.parametrize("is_there", [True, False], ids=["with an index", "without one"])
def test_a_repository_of_another_user_that_git_trusts_has_its_index_in_the_cache(behind, tmp_path, is_there):
    """As the superuser without what makes one: the kernel then holds us to permissions."""
    if not is_there:
        shutil.rmtree(behind.path / ".git" / "gitrag")
    chown = subprocess.run(["chown", "-R", "12345:12345", behind.path], check=False)
    if os.geteuid() or chown.returncode:
        pytest.skip("needs another user's files")
    environment = behind.environment | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    project = Project(behind, Gitrag(behind.path, environment))
    for args in (("index", "update", "--no-embed"), ("search", "--output", "paths", "close_window")):
        done = project.gitrag(*args, wrapper=as_plain_user())
        assert done.status == 0, done
    assert done.out == "window.py\n"
    assert list((tmp_path / "home").rglob("indexes/*/index.duckdb"))


def test_the_setting_puts_an_index_into_the_cache(behind):
    behind.git("config", "gitrag.indexPlace", "cache")
    workspace = opened(behind, [])
    assert paths(workspace, "close_window") == ["window.py"]
    assert in_cache(workspace)
    behind.environment["GITRAG_INDEX_PLACE"] = "repository"
    assert not in_cache(opened(behind, []))


def test_an_index_in_the_cache_is_the_users_alone_with_whomever_the_repository_is_shared(behind):
    behind.git("config", "gitrag.indexPlace", "cache")
    behind.git("config", "core.sharedRepository", "all")
    workspace = opened(behind, [])
    workspace.update()
    directory = workspace.store.directory
    assert [path for path in [directory, *directory.rglob("*")] if path.lstat().st_mode & 0o077] == []


# another user's index


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize(
    "args", [("search", "x"), ("status",), ("index",), ("graph", "x"), ("gc",), ("prime",)]
)
def test_an_index_closed_to_this_user_is_told_with_the_remedy(behind, args):
    done = closed(behind)(*args)
    store = behind.path / ".git" / "gitrag"
    assert (done.status, done.out) == (78, "")
    assert done.said[-1] == f'hint: sudo chown -R "$USER" {store}'
    assert len(done.said) == 2


def test_doctor_tells_of_an_index_closed_to_this_user(behind):
    done = closed(behind)("doctor")
    assert (done.status, done.err) == (1, "")
    assert f'→ sudo chown -R "$USER" {behind.path / ".git" / "gitrag"}' in done.out
    assert "fail  store" in done.out


def closed(repo: GitRepository):
    """Give the index to another user; return the command without the superuser's powers."""
    if (
        os.geteuid()
        or subprocess.run(["chown", "-R", "12345", repo.path / ".git/gitrag"], check=False).returncode
    ):
        pytest.skip("needs another user's files")
    project = Project(repo, Gitrag(repo.path, repo.environment))
    return lambda *args: project.gitrag(*args, wrapper=as_plain_user())
