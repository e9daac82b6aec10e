"""What an agent's session should know at its start: the index's state, decisions, what there is besides."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.core_context import MarkedFiles, core_context, marked_files, project_of, suggest
from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.bearings import Bearing, Unreached, find_unreached
from gitrag.actions.governance.presets import PRESETS
from gitrag.actions.instead import NOTHING, Instead, find_instead
from gitrag.actions.kept import TEXTS, digest, files_key, read, sign, write
from gitrag.actions.overview import Overview, overview
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.git.commits import Commit, read_commits
from gitrag.git.environment import GitTimeoutError
from gitrag.indexing.embed_texts import texts_per_s
from gitrag.indexing.known import recorded
from gitrag.indexing.notices import prime_updates, refreshed_line, stale_line, unembedded_line
from gitrag.indexing.recipe import recipe
from gitrag.memory.core_files import CoreFiles
from gitrag.store.connection import StoreMissingError
from gitrag.store.file_state import NAME, state_of
from gitrag.store.memo import Memo
from gitrag.words import commit_message
from gitrag.words.control_characters import Text, joined
from gitrag.workspace import Workspace

MOST_COMMITS = 2_000
"""The newest commits that are read: some tenths of a second."""

WITHOUT_OWN = "7d"
"""How long ago it begins for somebody who has no commit here."""

_OWN_S = 3.0
"""Time limit for finding the user's own last commit: git may walk the whole history."""

_SWEEPING = 50
_SUBJECTS = 4
_FILES = 5
_AUTHORS = 4
_ISSUES = 8


class PassedCommit(Struct, frozen=True):
    """A commit.

    Attributes:
        commit: Its id.
        date: When it was committed, Unix seconds.
        author: Its author's name.
        subject: What it says in its first line.
    """

    commit: str
    date: int
    author: str
    subject: str


class Passed(Struct, frozen=True):
    """What happened since then.

    Attributes:
        begin: Since when, for people: ``2026-11-01``, ``v1.2``, ``your last commit (2026-11-01)``.
        commits: How many commits, without merges; at most 2,000.
        is_cut: Whether there are more.
        authors: Who made the most of them, with their number; at most four.
        newest: The newest ones that change at most 50 files; at most four.
        files: The files that most of them changed, with their number; at most five.
        changed: How many files they changed.
        documents: Decisions and specifications among these.
        issues: Issues that they name, the newest first; at most eight.
    """

    begin: str
    commits: int
    is_cut: bool
    authors: tuple[tuple[str, int], ...]
    newest: tuple[PassedCommit, ...]
    files: tuple[tuple[str, int], ...]
    changed: int
    documents: tuple[str, ...]
    issues: tuple[str, ...]


def passed(workspace: Workspace, given: str, documents: Sequence[tuple[CollectionKind, str]]) -> Passed:
    """Return what happened in HEAD's history since then.

    Args:
        given: A date, a time, how long ago, or a revision; empty for the user's own last commit, or a week.
        documents: Kind and path of the indexed decisions and specifications.

    Raises:
        UsageError: It is neither a point in time nor a revision.
    """
    begin, limit = _begin(workspace, given)
    commits = _commits(workspace, limit)
    kept = commits[:MOST_COMMITS]
    small = [each for each in kept if each.changed <= _SWEEPING]
    counted = Counter(change.path for each in small for change in each.changes)
    every = {change.path for each in kept for change in each.changes}
    own = {path for _, path in documents}
    home = workspace.issues_home()
    issues = dict.fromkeys(own for each in kept for own in commit_message.issues_in(each.message, home))
    return Passed(
        begin,
        len(kept),
        len(commits) > MOST_COMMITS,
        tuple(Counter(each.author for each in kept).most_common(_AUTHORS)),
        tuple(
            PassedCommit(each.id, each.committed, each.author, commit_message.read(each.message).subject)
            for each in small[:_SUBJECTS]
        ),
        tuple(sorted(counted.items(), key=lambda row: (-row[1], row[0]))[:_FILES]),
        len(every),
        tuple(sorted(own & every)),
        tuple(issues)[:_ISSUES],
    )


def _begin(workspace: Workspace, given: str) -> tuple[str, str]:
    """Return since when, for people, and what limits `git rev-list` to it."""
    if not given:
        if own := _own_last(workspace):
            day = datetime.fromtimestamp(own[1], UTC).date().isoformat()
            return f"your last commit ({own[0][:10]}, {day})", f"^{own[0]}"
        return f"{WITHOUT_OWN[:-1]} days ago (no commit here is yours)", _after(WITHOUT_OWN)
    with suppress(UsageError):
        return given, _after(given)
    try:
        commit = workspace.repo.resolve(given).commit
    except UsageError:
        commit = None
    if commit is None:
        raise UsageError(
            f'"{given[:60]}" is neither a point in time nor a commit.',
            "Give 2026-01-31, 30d, or a revision such as v1.2.",
        )
    return given, f"^{commit}"


def _after(given: str) -> str:
    from gitrag.actions.issues import parse_since

    return f"--since=@{int(parse_since(given, datetime.now(UTC)).timestamp())}"


def _own_last(workspace: Workspace) -> tuple[str, int] | None:
    """Return the newest commit of HEAD's history that the user made, and when; None if there is none."""
    email = workspace.repo.git("config", "--get", "user.email").stdout.decode("utf-8", "replace").strip()
    if not email:
        return None
    asked = ("--max-count=1", "--fixed-strings", f"--author=<{email}>", "--format=%H %ct", "HEAD", "--")
    with suppress(GitTimeoutError):
        done = workspace.repo.git("rev-list", *asked, timeout_s=_OWN_S)
        commit, _, time = done.stdout.decode("ascii", "replace").strip().rpartition("\n")[2].partition(" ")
        if not done.returncode and time.isdecimal():
            return commit, int(time)
    return None


def _commits(workspace: Workspace, limit: str) -> list[Commit]:
    """Return the newest commits within a limit, one more than is told of."""
    repo = workspace.repo
    done = repo.git("rev-list", "--no-merges", f"--max-count={MOST_COMMITS + 1}", "HEAD", limit, "--")
    ids = done.stdout.decode("ascii").split() if not done.returncode else []
    return [each for batch in read_commits(repo, ids) for each in batch]


TOP = 5
"""Decisions shown for a topic, and as many specifications."""

KINDS = (CollectionKind.ADRS, CollectionKind.SPECS)


class SessionStart(Struct, frozen=True):
    """The context for a session.

    Attributes:
        name: The repository's slug.
        topic: What it is about; empty for everything.
        notes: Lines on the state of the index; empty when there is nothing to report.
        entries: Decisions, then specifications: all by path, or a topic's best first.
        core: The section on the core files; empty when none is marked.
        unreached: What comes nearest to a topic on which there is nothing; None where there is something.
        instead: What code and commits say on a topic where no document is indexed.
        overview: What the repository consists of; None for a topic.
        passed: What happened since one was here; None if not asked for.
    """

    name: str
    topic: str
    notes: tuple[str, ...]
    entries: tuple[Bearing, ...]
    core: str = ""
    unreached: Unreached | None = None
    instead: Instead = NOTHING
    overview: Overview | None = None
    passed: Passed | None = None


def prime(
    workspace: Workspace,
    topic: str = "",
    core: CoreFiles | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    since: str | None = None,
    *,
    for_agent: bool = False,
) -> SessionStart:
    """Bring the index up to date, unless it was touched a moment ago, and gather what to show.

    Args:
        topic: What it is about; empty for everything.
        advance: Called with how many files are indexed, of how many.
        since: Say what happened since then: a time, a revision; empty for the user's own last commit.
            None not to.
        for_agent: Leave out what is the user's to run.

    Raises:
        NotSetUpError: There is no index.
        UsageError: ``since`` is neither a point in time nor a revision.
    """
    workspace.require_index()
    notes = []
    if prime_updates(age := workspace.age()):
        refreshed = workspace.update(advance=advance).refreshed
        notes.append(workspace.stale_note(age, refreshed))
        done = refreshed.documents
        notes.append(refreshed_line(done.added, done.updated, done.removed))
    least = workspace.config.min_score
    least = PRESETS["discover"].min_score if least is None else least
    found = _about(workspace, topic) if topic else _all(workspace)
    entries = tuple(each for each in found if each.score >= least)
    if not for_agent:
        notes.append(_unembedded_note(workspace, *_standing(workspace)[1:]))
    marked = None if core is None else marked_files(core, project_of(workspace))
    if marked is not None and not for_agent:
        notes.append(marked.doubt)
    unreached = None
    if topic and not entries:
        unreached = find_unreached(workspace, found, KINDS, least)
    return SessionStart(
        workspace.name,
        topic,
        tuple(note for note in notes if note),
        entries,
        "" if marked is None else core_context(workspace, marked),
        unreached,
        find_instead(workspace, topic) if topic and not found else NOTHING,
        None if topic else overview(workspace, () if marked is None else marked.files),
        None if since is None else passed(workspace, since, _places(workspace)),
    )


def _standing(workspace: Workspace) -> tuple[float, int, int]:
    """Return when the index was brought up to date, its texts without a vector, and how many are chunks."""
    from gitrag.store import vectors, views

    now = workspace.snapshot()
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is not None:
            entries = recorded(db, now, view).entries
            texts, chunks = vectors.pending_counts(db, entries, view.view_id, Memo(lasting=True))
            return workspace.moved_at(db) or 0.0, texts, chunks
    return 0.0, 0, 0


def _unembedded_note(workspace: Workspace, texts: int, chunks: int) -> str | None:
    return unembedded_line(chunks, texts / texts_per_s(workspace.store.directory)) if chunks else None


def _places(workspace: Workspace) -> list[tuple[CollectionKind, str]]:
    return [(kind, document.path) for kind, document, _ in indexed_documents(workspace, KINDS)]


def _all(workspace: Workspace) -> list[Bearing]:
    return [Bearing(kind, each, 1.0) for kind, each, _text in indexed_documents(workspace, KINDS)]


def _about(workspace: Workspace, topic: str) -> list[Bearing]:
    """Return the documents nearest to a topic, best first in each kind, with all their text as notes."""
    from gitrag.actions.governance.bearings import searched
    from gitrag.actions.search import SearchOptions
    from gitrag.search.sections import Wanted

    found = searched(workspace, topic, SearchOptions(wanted=Wanted(KINDS), limit=TOP, min_score=0.0))
    texts = {document.path: text for _kind, document, text in indexed_documents(workspace, KINDS)}
    return [replace(each, note=texts.get(hit.path, hit.chunk.text)) for each, hit in found]


_WORKTREES = 16

_TEXTS = dict[bytes, tuple[bytes, bytes, tuple[bytes, ...], bytes, float, int, int]]
"""By worktree: the hash of what a session's text was made of, the text, the paths in it that must still be
files; the state of the index that the rest is of: when it was brought up to date, its texts without a vector,
and how many of them are chunks."""

_COUNTING_S = 60.0
"""For the background worker to count callers in: ten times as long as 2,000 files take."""


def known_text(workspace: Workspace, core: CoreFiles) -> Text | None:
    """Return what a session in this worktree is told, if nothing that it is made of has changed since.

    The index is opened only where it has changed. How old it was is said once.
    """
    path, own, root = workspace.store.directory / TEXTS, _worktree(workspace), workspace.repo.root
    held = read(path, _TEXTS) or {}
    state = _index_state(workspace)
    if own not in held or root is None or not state:
        return None
    of, text, shown, seen, moved, texts, chunks = held[own]
    marked = marked_files(core, project_of(workspace))
    if of != _text_key(workspace, marked) or not all((root / os.fsdecode(each)).is_file() for each in shown):
        return None
    if seen != state:
        moved, texts, chunks = _standing(workspace)
    age = workspace.since(moved)
    stale = stale_line(age, workspace.config.staleness_threshold)
    if stale or seen != state:
        said = moved + age.total_seconds() if stale else moved
        write(path, held | {own: (of, text, shown, state, said, texts, chunks)})
    notes = (stale, _unembedded_note(workspace, texts, chunks), marked.doubt)
    lines = [note for note in notes if note]
    whole = text.decode("utf-8", "surrogateescape")
    return Text(f"{joined(lines)}\n\n{whole}" if lines else whole)


def want_text(workspace: Workspace) -> None:
    """Have the background worker keep what a session in this worktree is told, now and after each commit."""
    from gitrag.actions.catch_up import start_worker

    path, own = workspace.store.directory / TEXTS, _worktree(workspace)
    held = read(path, _TEXTS) or {}
    if own not in held:
        others = list(held.items())[: _WORKTREES - 1]
        write(path, {own: (b"", b"", (), b"", 0.0, 0, 0), **dict(others)})
    if path.exists():
        start_worker(workspace)


def keep_text(workspace: Workspace, core: CoreFiles, make: Callable[[], tuple[str, SessionStart]]) -> None:
    """Keep what a session in this worktree is told, where that is wanted.

    Args:
        make: Returns it as Markdown, without notes, and what that was made of.
    """
    path, own = workspace.store.directory / TEXTS, _worktree(workspace)
    held = read(path, _TEXTS) or {}
    if own not in held:
        return
    marked = marked_files(core, project_of(workspace))
    before = _text_key(workspace, marked)
    if before == held[own][0]:
        return
    workspace.update()
    if not marked.files:
        suggest(workspace, (), graph_s=_COUNTING_S)
    text, made = make()
    shown = [os.fsencode(each.path) for each in made.overview.core] if made.overview else []
    new = (before, text.encode("utf-8", "surrogateescape"), shown, _index_state(workspace))
    standing = _standing(workspace)
    if _text_key(workspace, marked) == before:  # the files have been the same from first to last
        write(path, {**(read(path, _TEXTS) or {}), own: (*new, *standing)})


def _worktree(workspace: Workspace) -> bytes:
    return os.fsencode(workspace.repo.worktree)


def _index_state(workspace: Workspace) -> bytes:
    """Return a hash of the index file and the rate at which texts are embedded; empty where there is none."""
    directory = workspace.store.directory
    state = state_of(directory / NAME)
    return digest(state, texts_per_s(directory)) if state is not None else b""


def _text_key(workspace: Workspace, marked: MarkedFiles) -> bytes:
    """Return a hash of all that a session is told of the files, whatever the index has."""
    repo, now = workspace.repo, workspace.snapshot()
    return digest(
        recipe(workspace.model),
        files_key(workspace, now),
        now.key,
        workspace.config,
        workspace.name,
        [(entry.key, entry.value) for entry in repo.configuration.entries()],
        [sign(repo.common_dir / name) for name in ("shallow", "info/grafts")],
        marked.files,
        marked.doubt,
    )
