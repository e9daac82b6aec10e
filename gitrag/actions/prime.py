"""What an agent's session should know at its start: the index's state, decisions, what there is besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.core_context import core_context, marked_files, project_of
from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.bearings import KINDS, PRESETS, Bearing, Unreached, find_unreached, searched
from gitrag.actions.instead import NOTHING, Instead, find_instead
from gitrag.actions.issues import parse_since
from gitrag.actions.overview import Overview, overview
from gitrag.actions.search import SearchOptions
from gitrag.actions.status import read_status
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import UsageError
from gitrag.git.commits import Commit, read_commits
from gitrag.git.environment import GitTimeoutError
from gitrag.indexing.notices import prime_updates, refreshed_line, unembedded_line
from gitrag.memory.core_files import CoreFiles
from gitrag.words import commit_message
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
    from gitrag.indexing.embed_texts import texts_per_s

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
        standing = read_status(workspace)
        seconds = standing.unembedded / texts_per_s(workspace.store.directory)
        notes.append(unembedded_line(standing.unembedded_chunks, seconds))
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


def _places(workspace: Workspace) -> list[tuple[CollectionKind, str]]:
    return [(kind, document.path) for kind, document, _ in indexed_documents(workspace, KINDS)]


def _all(workspace: Workspace) -> list[Bearing]:
    return [Bearing(kind, each, 1.0) for kind, each, _text in indexed_documents(workspace, KINDS)]


def _about(workspace: Workspace, topic: str) -> list[Bearing]:
    """Return the documents nearest to a topic, best first in each kind, with all their text as notes."""
    from gitrag.search.sections import Wanted

    found = searched(workspace, topic, SearchOptions(wanted=Wanted(KINDS), limit=TOP, min_score=0.0))
    texts = {document.path: text for _kind, document, text in indexed_documents(workspace, KINDS)}
    return [replace(each, note=texts.get(hit.path, hit.chunk.text)) for each, hit in found]
