"""`gitrag prime`, and what readers of the index say of its age."""

from __future__ import annotations

import json

import pytest

from gitrag.actions.catch_up import refresh_after_write
from gitrag.actions.core_context import project_of
from gitrag.actions.governance.bearings import indexed_documents
from gitrag.actions.governance.related import related
from gitrag.actions.prime import prime
from gitrag.actions.search import SearchOptions, search
from gitrag.actions.status import read_status
from gitrag.cli.root import root
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.draft import drafter
from gitrag.errors import NotSetUpError
from gitrag.memory.core_files import CoreFiles
from gitrag.report import governance
from gitrag.report.prime import as_markdown
from gitrag.report.told import json_text, plain_data
from gitrag.workspace import Workspace
from tests.support.golden_project import decided_project
from tests.support.repository import GitRepository


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def own(make_repository) -> GitRepository:
    return make_repository(decided_project(), name="parcelwatch")


@pytest.fixture
def workspace(own, git_environment, model_dir, clock, heard) -> Workspace:
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    opened = Workspace.open(own.path, environ=environment, say=heard.append, clock=clock)
    opened.update()
    return opened


def stale(heard: list[str]) -> list[str]:
    return [line for line in heard if "stale" in line]


# prime


def test_a_session_hears_of_changes_once(workspace, own, clock):
    """An update, silent but for what it did."""
    own.commit(
        {
            "docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n",
            "docs/adrs/ADR-0001-event-history.md": "# ADR-0001: Changed\n",
            "docs/adrs/ADR-0005-poll-for-updates.md": None,
        }
    )
    clock.ahead_s = 61
    line = "Refreshed index (1 added, 1 updated, 1 removed across this repo's collections)"
    assert prime(workspace).notes[0] == line
    clock.ahead_s = 122
    assert not any("Refreshed" in note for note in prime(workspace).notes)


def test_uncommitted_documents_count_once(workspace, own, clock):
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n", "service/app.py": "A = 1\n"})
    clock.ahead_s = 61
    assert prime(workspace).notes[0].startswith("Refreshed index (1 added, 1 updated, 0 removed")
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: Newer\n"})
    clock.ahead_s = 122
    assert prime(workspace).notes[0].startswith("Refreshed index (1 added, 0 updated, 0 removed")


def test_a_session_right_after_another_skips_the_update(workspace, own, clock):
    """Touched under 60 s ago, and no output of it."""
    own.commit({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    clock.ahead_s = 50
    primed = prime(workspace)
    assert not any("Refreshed" in note for note in primed.notes)
    assert "ADR-0009" not in {entry.document.id for entry in primed.entries}
    clock.ahead_s = 61
    assert "ADR-0009" in {entry.document.id for entry in prime(workspace).entries}


def test_a_clock_that_was_ahead_holds_no_update_back(workspace, own, clock):
    own.commit({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    clock.ahead_s = -86_400
    assert "ADR-0009" in {entry.document.id for entry in prime(workspace).entries}


def test_a_session_hears_of_chunks_without_vectors(workspace):
    """With the time it would take, so that the reader can decide to embed them."""
    note = prime(workspace).notes[-1]
    standing = read_status(workspace)
    assert standing.unembedded > standing.view.chunks  # words of paths are no chunks
    assert note.startswith(f"{standing.view.chunks} chunks unembedded — run `gitrag index embed` (≈")
    assert note.endswith("s on this machine)")
    assert prime(workspace, for_agent=True).notes == ()
    workspace.embed()
    assert prime(workspace).notes == ()


def test_an_agent_is_not_asked_whose_marks_are(workspace, tmp_path):
    """That is the user's to say."""
    core = CoreFiles(tmp_path / "memory")
    for path in (next(iter(decided_project())), "gone.py"):
        core.mark("parcelwatch", path, "x")
    assert any("gitrag core adopt" in note for note in prime(workspace, core=core).notes)
    assert prime(workspace, core=core, for_agent=True).notes == ()


def test_without_a_topic_every_decision_and_specification_has_a_line(workspace):
    """An overview: which documents exist, and their status."""
    text = as_markdown(prime(workspace))
    assert "## ADRs (8)" in text
    assert "## Specs (6)" in text
    assert "| ADR-0005 | The web client polls | superseded by ADR-0007 | docs/adrs/ADR-0005-" in text
    design = "docs/specs/parcel-state/design.md"  # has no id of its own
    assert f"| SPEC-0001 | Parcel state |  | {design} |" in text
    assert "| SPEC-0003 | Notifications | draft | docs/specs/notifications/spec.md |" in text


def test_with_a_topic_its_documents_are_given_in_full(workspace, own):
    """The top ones only."""
    primed = prime(workspace, "signing keys")
    assert {entry.document.id for entry in primed.entries} == {"ADR-0003", "SPEC-0002"}
    whole = own.file("docs/adrs/ADR-0003-signed-tokens.md").read_text()
    assert whole.strip() in as_markdown(primed)


def test_a_topic_of_nothing_is_said_so(workspace):
    told = as_markdown(prime(workspace, "video transcoding"))
    assert "Nothing scores 0.30 or more among 8 ADRs and 6 specs. The nearest:\n- " in told


def test_a_repository_of_code_alone_has_nothing_on_any_topic(make_repository, git_environment):
    """Nothing is missing there, and no index to be made."""
    repository = make_repository({"a.py": "A = 1\n"}, name="bare")
    workspace = Workspace.open(repository.path, environ=git_environment)
    workspace.update()
    said = "No ADR and no spec is indexed here, so there was nothing to compare with."
    assert said in as_markdown(prime(workspace, "signing keys"))


def test_where_there_is_no_document_code_and_commits_answer(make_repository, git_environment, model_dir):
    """Most repositories keep neither decisions nor specifications."""
    code = 'def sign_session(key):\n    """Sign a session with the signing key."""\n    return key\n'
    repository = make_repository({"sessions.py": code, "readme.md": "# Shop\n"}, name="bare")
    repository.commit({"readme.md": "# A shop\n"}, "Rotate the signing keys every month")
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    workspace = Workspace.open(repository.path, environ=environment)
    workspace.update()
    primed, found = prime(workspace, "signing keys"), related(workspace, "signing keys", ["spec"])
    for told in (as_markdown(primed), governance.related_markdown(found)):
        assert "sessions.py:1-3 sign_session (" in told
        assert "Rotate the signing keys every month" in told
        assert "drafting from scratch" not in told
    for data in map(json_text, (primed, found)):
        instead = json.loads(data)["instead"]
        assert [each["path"] for each in instead["files"]] == ["sessions.py"]
        assert [each["subject"] for each in instead["commits"]] == ["Rotate the signing keys every month"]


PROGRAM = {
    "Cargo.toml": '[[bin]]\nname = "serve"\npath = "src/main.rs"\n',
    "Makefile": "test:\n\tcargo test\n",
    "src/main.rs": "mod shop;\nfn main() {\n    shop::open()\n}\n",
    "src/shop.rs": "pub fn open() {}\n\n#[test]\nfn opens() {\n    open()\n}\n",
    "tests/test_whole.rs": "#[test]\nfn all() {}\n",
    "README.md": "# A shop\n",
}


@pytest.fixture
def program(make_repository) -> GitRepository:
    return make_repository(PROGRAM, name="shop")


def test_a_repository_without_decisions_is_told_by_what_it_consists_of(program, git_environment):
    """Only what was looked at: languages, where it begins, commits, tests and how they are run."""
    program.commit({"src/shop.rs": PROGRAM["src/shop.rs"] + "\npub fn close() {}\n"}, "Close the shop")
    workspace = Workspace.open(program.path, environ=git_environment)
    workspace.update()
    program.write({"src/late.rs": "pub fn late() {}\n"})
    workspace.update()
    text = as_markdown(prime(workspace))
    assert "No ADR and no spec is indexed here.\n\n## Overview of 7 files\n" in text
    assert "- Languages: rust 100 % (4 files, 15 lines)" in text  # the uncommitted file counts
    assert "- Entry points: serve: src/main.rs (Cargo.toml)" in text
    assert "- Likely core: src/shop.rs (called from 1 file, changed 2 times)" in text
    assert "Close the shop" in text
    assert "- Changed most in the last 2 commits: src/shop.rs (2)" in text
    assert "- Tests: `make test` (Makefile); 2 Rust files with tests inside; 1 test_*.rs in tests/" in text
    assert len(text) <= 1500


def test_an_overview_is_short_and_plain_whatever_a_repository_says(make_repository, git_environment):
    """Names, messages and commands are cut, and control characters escaped."""
    long = "a" * 120
    scripts = ", ".join(f'"test:{long}{number}": "x"' for number in range(30))
    files = {f"src/{long}{number}/{long}.go": "package a\nfunc main() {}\n" for number in range(20)}
    repository = make_repository(files | {"package.json": f'{{"scripts": {{{scripts}}}}}'}, name="bare")
    for number in range(4):
        changed = {path: text + f"// {number}\n" for path, text in list(files.items())[:9]}
        repository.commit(changed, f"\x1b[31m{number} {'m' * 5_000}")
    workspace = Workspace.open(repository.path, environ=git_environment)
    workspace.update()
    primed = prime(workspace)
    text = as_markdown(primed)
    assert len(text) <= 1500
    assert "\x1b" not in text
    assert "\\x1b[31m3 mmm" in text
    assert all(label in text for label in ("Languages", "Entry points", "core", "Latest", "Changed", "Tests"))
    assert len(plain_data(primed)["overview"]["entry_points"]) == 20


def test_an_overview_stands_below_the_decisions(workspace):
    text = as_markdown(prime(workspace))
    assert text.index("## ADRs (8)") < text.index("## Specs (6)") < text.index("## Overview of ")
    assert "## Overview" not in as_markdown(prime(workspace, "signing keys"))


def test_where_files_are_marked_as_core_none_is_suggested(program, git_environment, tmp_path):
    workspace = Workspace.open(program.path, environ=git_environment)
    workspace.update()
    core = CoreFiles(tmp_path)
    core.mark(project_of(workspace).key(()), "src/main.rs", "Begins here")
    text = as_markdown(prime(workspace, core=core))
    assert "Likely core" not in text
    assert "Begins here" in text


def test_priming_needs_an_index(make_repository):
    repository = make_repository({"a.py": "A = 1\n"}, name="bare")
    with pytest.raises(NotSetUpError, match="No gitrag collections found for bare"):
        prime(Workspace.open(repository.path, environ=repository.environment))


def test_prime_is_a_command():
    assert "prime" in root.list_commands(None)


# readers


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(119, []), (121, ["Index was 2h1m stale — refreshed before running."])],
)
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "dirty file"])
def test_a_reader_says_that_it_refreshed_an_old_index(workspace, own, clock, heard, minutes, said, committed):
    """HEAD's tree or a dirty file not indexed means refresh; older than 120 minutes, a line."""
    change = {"service/app.py": "def open_window():\n    return 1\n"}
    own.write(change)
    if committed:
        own.commit()
    clock.ahead_s = 60 * minutes + 30
    search(workspace, "window")
    assert stale(heard) == said
    clock.ahead_s = 0  # the index has the time of the machine
    search(workspace, "window")
    assert stale(heard) == said


def test_a_reader_of_an_old_index_says_so_once_where_nothing_has_changed(workspace, clock, heard):
    """It was looked at again, which is all that a refresh would do; from then on it is fresh."""
    clock.ahead_s = 10 * 24 * 3600 + 30
    search(workspace, "window")
    clock.ahead_s = 0  # the index has the time of the machine
    search(workspace, "window")
    assert stale(heard) == ["Index was 10d stale — refreshed before running."]


@pytest.mark.parametrize(("minutes", "said"), [(119, 0), (121, 1)])
def test_a_session_hears_that_the_index_was_old(workspace, minutes, said):
    """Whether or not anything has changed, and once."""
    with workspace.store.write("test") as db:
        db.execute("UPDATE views SET updated = now() - to_minutes(?)", [minutes])
    line = f"Index was {'2h1m' if said else '1h59m'} stale — refreshed before running."
    assert [line in prime(workspace, for_agent=True).notes for _ in range(2)] == [bool(said), False]


@pytest.mark.parametrize(("minutes", "lines"), [(30, 0), (32, 1)])
def test_the_threshold_is_configured(own, git_environment, model_dir, clock, heard, minutes, lines):
    """`staleness_threshold`."""
    own.commit({".gitrag.yaml": "staleness_threshold: 30m\n"})
    environment = git_environment | {"GITRAG_MODEL_DIR": str(model_dir)}
    workspace = Workspace.open(own.path, environ=environment, say=heard.append, clock=clock)
    workspace.update()
    own.commit({"new.py": "A = 1\n"})
    clock.ahead_s = 60 * minutes - 30
    search(workspace, "window")
    assert len(stale(heard)) == lines


# writers


def test_after_a_write_the_collection_is_refreshed_silently(workspace, own, heard):
    """Success is expected; only a failure needs a line."""
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: Frobnication\n"})
    assert refresh_after_write(workspace, CollectionKind.ADRS)
    assert heard == []
    assert "ADR-0009" in {
        document.id for _kind, document, _text in indexed_documents(workspace, [CollectionKind.ADRS])
    }


def test_a_refresh_that_fails_is_one_line(workspace, own, heard):
    """And the write still counts."""
    own.write({"docs/adrs/ADR-0009-new.md": "# ADR-0009: New\n"})
    own.file(".git/index").write_bytes(b"damaged")
    assert not refresh_after_write(workspace, CollectionKind.ADRS)
    assert heard == ["Index refresh failed for parcelwatch-adrs — run `gitrag index update` manually"]


def test_what_is_on_drafts_is_counted(workspace):
    """Hybrid from the start, and the answer says how many are drafts."""
    assert drafter() is not None
    answer = search(workspace, "signing keys", SearchOptions())
    assert answer.drafts > 0
    assert all(hit.cosine > -1 for hit in answer.hits)
