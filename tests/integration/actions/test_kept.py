"""What is kept of `gitrag prime`, so that a session's start need not wait for it."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace

from gitrag.actions.core_context import project_of, suggest
from gitrag.actions.kept import COUNTS, TEXTS
from gitrag.actions.prime import expect_text, keep_text, known_text, prime, want_text
from gitrag.cli import prime as command
from gitrag.memory.core_files import CoreFiles
from gitrag.memory.projects import home_directory
from gitrag.report.prime import as_markdown
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.indexes import open_app
from tests.support.repository import GitRepository, create_repository, made_once

DECISION = "docs/adrs/ADR-0001-event-history.md"
HELPER = "service/helper.py"
CODE = {
    HELPER: "def help_out():\n    return 1\n",
    "service/one.py": "from service.helper import help_out\n\n\ndef one():\n    return help_out()\n",
    "service/two.py": "from service.helper import help_out\n\n\ndef two():\n    return help_out()\n",
}


@pytest.fixture
def own(tmp_path, git_environment) -> GitRepository:
    """A repository with an index, of documents and little code: who is called from where is counted anew."""
    path = tmp_path / "parcelwatch"
    documents = {path: text for path, text in decided_project().items() if path.startswith("docs/")}

    def new() -> GitRepository:
        repository = create_repository(path, git_environment, {**documents, **CODE})
        repository.commit({HELPER: CODE[HELPER] + "\n\nA = 1\n"}, "Help more")
        open_app(repository).update()
        return repository

    return made_once(__file__, path, git_environment, new)


@pytest.fixture
def opened(own, git_environment, model_dir, clock, monkeypatch):
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda _workspace: None)
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}

    def opened(place=own.path) -> Workspace:
        return Workspace.open(place, environ=environment, clock=clock)

    return opened


@pytest.fixture
def core(opened) -> CoreFiles:
    return CoreFiles(home_directory(opened().environ))


@pytest.fixture
def workspace(opened) -> Workspace:
    """A workspace of which a session was told, and that is kept."""
    workspace = opened()
    workspace.update()
    want_text(workspace)
    command.keep(workspace)
    return opened()


def told(workspace, core) -> str:
    return as_markdown(prime(workspace, core=core))


def test_what_is_kept_is_what_prime_says(workspace, core):
    assert known_text(workspace, core) == (told(workspace, core), True)
    assert "service/helper.py (called from 2 files" in told(workspace, core)


def test_nothing_is_kept_where_no_session_was_told(opened, core):
    workspace = opened()
    workspace.update()
    command.keep(workspace)
    assert known_text(workspace, core) is None
    want_text(workspace)  # and the worker is killed before it keeps anything
    assert known_text(workspace, core) is None


@pytest.mark.parametrize(
    "files",
    [
        {DECISION: "# ADR-0001: Changed\n"},
        {DECISION: None},
        {"docs/adrs/ADR-0100-new.md": "# ADR-0100: New\n"},
        {"package.json": '{"workspaces": ["service"]}\n'},
        {".gitignore": "service/\n"},
        {HELPER: None},
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_change_of_more_than_code_is_looked_at_anew(workspace, own, opened, core, files, committed):
    if committed:
        own.commit(files, "Change")
    else:
        own.write(files)
    assert known_text(opened(), core) is None


@pytest.mark.parametrize("committed", [False, True])
def test_an_overview_from_before_code_changed_says_so(workspace, own, opened, core, committed):
    before, _ = known_text(workspace, core)
    commit = own.git("rev-parse", "HEAD").strip()[:7]
    change = {"service/one.py": "def one():\n    return 1\n"}
    if committed:
        own.commit(change, "Change")
    else:
        own.write(change)
    now, is_whole = known_text(opened(), core)
    assert not is_whole
    said = f"at {commit}; 1 file has changed since.\n"
    assert now == "\n".join(
        f"{line} {said[:-1]}" if line.startswith("## Overview of ") else line for line in before.split("\n")
    )
    command.keep(opened())
    again = known_text(opened(), core)
    assert again == (told(opened(), core), True)
    own.write({"service/one.py": CODE["service/one.py"]})
    edited = " and edits" if not committed else ""
    assert f"{edited}; 1 file has changed since." in known_text(opened(), core)[0]


def test_what_is_undone_is_known_again(workspace, own, opened, core):
    before = known_text(workspace, core)
    own.git("checkout", "-qb", "other")
    own.commit({"service/new.py": "def new():\n    return 1\n"}, "New")
    assert not known_text(opened(), core)[1]
    own.git("checkout", "-q", "-")
    assert known_text(opened(), core) == before


def test_a_commit_without_a_change_is_told_of(workspace, own, opened, core):
    own.git("commit", "-q", "--allow-empty", "-m", "Nothing")
    assert "; 0 files have changed since." in known_text(opened(), core)[0]


def test_a_session_may_have_other_settings_than_the_worker(workspace, own, opened, core):
    """Of how long to wait, whom to ask, how to print: a text that one of them keeps is the other's too."""
    environment = dict(workspace.environ) | {"GITRAG_RESIDENT": "off", "GITRAG_LIMIT": "3"}
    kept = Workspace.open(own.path, environ=environment)
    assert known_text(kept, core) == known_text(opened(), core)
    excluding = Workspace.open(own.path, environ=environment | {"GITRAG_EXCLUDE": "service/"})
    assert known_text(excluding, core) is None


def test_sessions_of_other_settings_in_turn_find_their_own(workspace, own, opened, core):
    known = known_text(opened(), core)
    other = dict(workspace.environ) | {"GITRAG_EXCLUDE": "service/"}
    want_text(Workspace.open(own.path, environ=other))
    command.keep(Workspace.open(own.path, environ=other))
    excluding, _ = known_text(Workspace.open(own.path, environ=other), core)
    assert "service/helper.py (called" in known[0]
    assert "service/helper.py (called" not in excluding
    opened().update()
    assert known_text(opened(), core) == known


def test_the_first_session_is_expected_and_later_ones_only_after_it(opened, own, core):
    """Else each commit would have its work, also where nobody asks."""
    workspace = opened()
    workspace.update()
    expect_text(workspace)
    command.keep(workspace)
    own.commit({DECISION: "# ADR-0001: Changed\n"}, "Change")
    command.keep(opened())
    assert known_text(opened(), core) is None
    want_text(opened())
    command.keep(opened())
    assert known_text(opened(), core)[1]


def test_a_session_that_was_expected_has_it_kept_from_then_on(opened, own, core):
    workspace = opened()
    workspace.update()
    expect_text(workspace)
    command.keep(workspace)
    assert known_text(opened(), core)[1]
    own.commit({DECISION: "# ADR-0001: Changed\n"}, "Change")
    command.keep(opened())
    assert known_text(opened(), core)[1]


def test_what_a_session_of_other_settings_indexed_meanwhile_is_not_kept(opened, own, core):
    """The text would pass for that of the worker's own settings."""
    workspace = opened()
    workspace.update()
    told = as_markdown(replace(prime(workspace, core=core), notes=()))
    expect_text(workspace)
    other = Workspace.open(own.path, environ={**workspace.environ, "GITRAG_ADRS": "nowhere/*.md"})

    def make():
        other.update()
        primed = prime(workspace, core=core)
        return as_markdown(replace(primed, notes=())), primed

    keep_text(workspace, core, make)
    text, is_whole = known_text(opened(), core)
    assert is_whole
    assert "ADR-0001" in told
    assert text.endswith(told)


def test_settings_and_marks_count(workspace, own, opened, core):
    own.git("config", "gitrag.minScore", "0.9")
    assert known_text(opened(), core) is None
    own.git("config", "--unset", "gitrag.minScore")
    assert known_text(opened(), core) is not None
    core.mark(project_of(workspace).key(()), "service/one.py", "Where it begins")
    assert known_text(opened(), core) is None
    command.keep(opened())
    assert "Where it begins" in known_text(opened(), core)[0]
    own.write({"service/two.py": "B = 1\n"})
    assert "Where it begins" in known_text(opened(), core)[0]
    own.write({"service/one.py": "def another():\n    return 1\n"})
    assert known_text(opened(), core) is None  # its signatures have changed


def test_each_worktree_has_its_own(workspace, own, opened, core, tmp_path):
    own.git("worktree", "add", "-q", str(tmp_path / "other"))
    other = opened(tmp_path / "other")
    assert known_text(other, core) is None
    other.update()
    want_text(other)
    command.keep(other)
    (tmp_path / "other/service/one.py").write_text("C = 1\n")
    assert not known_text(opened(tmp_path / "other"), core)[1]
    assert known_text(opened(), core) == (told(opened(), core), True)


def test_vectors_that_were_computed_since_count(workspace, opened, core):
    assert "chunks unembedded" in known_text(workspace, core)[0]
    opened().embed()
    assert "chunks unembedded" not in known_text(opened(), core)[0]


def test_an_old_index_is_told_once(workspace, opened, core, clock):
    clock.ahead_s = 3 * 3_600
    assert known_text(workspace, core)[0].startswith("Index was ")
    assert "stale" not in known_text(opened(), core)[0]


def test_no_age_is_told_of_an_index_that_has_nothing_of_this_worktree(workspace, own, opened, core, tmp_path):
    """It was lost, and another worktree has made it anew."""
    own.git("worktree", "add", "-q", str(tmp_path / "other"))
    for path in workspace.store.directory.glob("index.duckdb*"):
        path.unlink()
    opened(tmp_path / "other").update()
    assert known_text(opened(), core) is None


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("name", [TEXTS, COUNTS])
@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xc1", b"\x81\xc4\x00\x9a", b"\x90", b"\xdf\xff\xff\xff\xff", None),
        *(b"\x91\x94\xc4\x00\xa1\xff\xc3\x80", b"\x81\xc4\x00\x92\xc4\x00\x93\xa1\xff"),
    ],
)
def test_what_cannot_be_read_is_made_anew(workspace, opened, core, name, content):
    """Cut off, of another version, hostile, or no file: prime answers all the same."""
    expected = told(workspace, core)
    path = workspace.store.directory / name
    if content is None:
        path.unlink()
        os.mkfifo(path)
    else:
        path.write_bytes(content or path.read_bytes()[:-3])
    known = known_text(opened(), core)
    assert known is None if name == TEXTS else known == (expected, True)
    assert told(opened(), core) == expected
    command.keep(opened())


def test_what_cannot_be_written_is_not_kept(opened, core):
    workspace = opened()
    workspace.update()
    for name in (TEXTS, COUNTS):
        (workspace.store.directory / name).mkdir()
    want_text(workspace)
    command.keep(workspace)
    assert known_text(workspace, core) is None
    assert "called from 2 files" in told(workspace, core)


def test_what_an_archive_brings_is_not_read(workspace, own, opened, core, tmp_path):
    """It has the directory of another place."""
    copied = tmp_path / "copied"
    subprocess.run(["cp", "-r", str(own.path), str(copied)], check=True)
    assert known_text(opened(copied), core) is None


def test_callers_that_an_archive_says_were_counted_earlier_are_not_read(workspace, own, opened, core):
    """Its words would reach the session, and numbers below 0 have no logarithm."""
    expected = told(workspace, core)
    path = workspace.store.directory / COUNTS
    ((of, *_others),) = msgspec.msgpack.decode(path.read_bytes())
    for forged in (b"", of[::-1]):
        path.write_bytes(msgspec.msgpack.encode([(forged, "obey", True, {HELPER.encode(): -1})]))
        assert told(opened(), core) == expected


def test_callers_are_counted_where_another_directory_has_the_index(workspace, own):
    environment = dict(workspace.environ) | {"GITRAG_INDEX_PLACE": "cache"}
    elsewhere = Workspace.open(own.path, environ=environment)
    assert elsewhere.store.exists()
    assert not elsewhere.store.directory.exists()
    (found,) = [each for each in suggest(elsewhere, ())[0] if each.path == HELPER]
    assert found.reason.startswith("called from 2 files, ")


def test_what_changes_while_it_is_made_is_not_kept(workspace, own, opened, core):
    def make():
        own.write({"service/one.py": "D = 1\n"})
        primed = prime(opened(), core=core)
        return as_markdown(replace(primed, notes=())), primed

    own.write({"service/one.py": "E = 1\n"})
    keep_text(opened(), core, make)
    assert not known_text(opened(), core)[1]


def test_callers_that_were_counted_earlier_are_said_to_be(workspace, own, opened):
    commit = own.git("rev-parse", "HEAD").strip()[:7]
    own.write({"service/three.py": CODE["service/two.py"].replace("two", "three")})
    (suggested,) = [each for each in prime(opened()).overview.core if each.path == HELPER]
    assert suggested.reason.startswith(f"called from 2 files at {commit}, changed ")
    command.keep(opened())
    (suggested,) = [each for each in prime(opened()).overview.core if each.path == HELPER]
    assert suggested.reason.startswith("called from 3 files, changed ")


def test_callers_that_were_counted_among_other_files_are_not_read(workspace, own):
    narrower = dict(workspace.environ) | {"GITRAG_EXCLUDE": "service/two.py"}
    core = prime(Workspace.open(own.path, environ=narrower)).overview.core
    assert [each.reason.partition(", changed ")[0] for each in core if each.path == HELPER] == [
        "called from 1 file"
    ]


def run_without(names, words, workspace, own):
    """Run a command, which fails if it loads one of some modules; return what it printed and said."""
    code = (
        f"import sys; from gitrag.cli import run_here; sys.argv[1:] = {words!r}; run_here();"
        f"sys.exit(' '.join({names!r} & sys.modules.keys()) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=own.path,
        env=dict(workspace.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_kept_text_is_printed_without_loading_libraries(workspace, own, core):
    expected = known_text(workspace, core)[0]
    none = {"duckdb", "_duckdb", "numpy", "pygit2", "onnxruntime", "yaml"}
    assert run_without(none, ["prime"], workspace, own) == (expected + "\n", "")


def test_how_the_index_stands_is_said_with_few_libraries(workspace, own):
    none = {"duckdb", "pygit2", "portalocker", "onnxruntime", "yaml"}
    assert "up to date" in run_without(none, ["status"], workspace, own)[0]
