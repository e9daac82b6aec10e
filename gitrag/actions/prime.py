"""What an agent's session should know at its start: the index's state, decisions, what there is besides."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.core_context import MarkedFiles, core_context, marked_files, project_of, suggest
from gitrag.actions.current_view import CurrentView
from gitrag.actions.governance.bearings import (
    KINDS,
    PRESETS,
    Bearing,
    Unreached,
    find_unreached,
    indexed_documents,
    searched,
)
from gitrag.actions.instead import NOTHING, Instead, find_instead
from gitrag.actions.kept import TEXTS, digest, made_here, read, sign, write
from gitrag.actions.overview import Overview, overview
from gitrag.chunking.languages import is_code, language_of
from gitrag.corpus.layout import CollectionKind
from gitrag.corpus.manifests import is_manifest
from gitrag.errors import DiskError, UsageError
from gitrag.git.commits import Commit, read_commits
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.environment import GitTimeoutError
from gitrag.indexing.embed_texts import texts_per_s
from gitrag.indexing.known import recorded
from gitrag.indexing.notices import prime_updates, refreshed_line, stale_line, unembedded_line
from gitrag.indexing.recipe import recipe
from gitrag.indexing.snapshot import Snapshot
from gitrag.memory.core_files import CoreFiles
from gitrag.store.connection import StoreMissingError
from gitrag.store.file_state import NAME, state_of
from gitrag.store.memo import Memo
from gitrag.words import commit_message
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count
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
    """
    begin, limit = _begin(workspace, given)
    commits = _commits(workspace, limit)
    kept = commits[:MOST_COMMITS]
    small = [each for each in kept if each.changed <= _SWEEPING]
    counted = Counter(path for each in small for path, *_ in each.changes)
    every = {path for each in kept for path, *_ in each.changes}
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
        since: Say what happened since then: a time, a revision; empty for the user's own last commit.
            None not to.
        for_agent: Leave out what is the user's to run.
    """
    workspace.require_index()
    notes = []
    if prime_updates(age := workspace.age()):
        try:
            refreshed = workspace.update(advance=advance).refreshed
            notes.append(workspace.stale_note(age, refreshed))
            notes.append(refreshed_line(*refreshed.documents))
        except DiskError:  # what is new is held in memory, which is said
            CurrentView(workspace, says_staleness=False).read(lambda *_view: None)
    least = workspace.config.min_score
    least = PRESETS["discover"].min_score if least is None else least
    found = _about(workspace, topic) if topic else _all(workspace)
    entries = tuple(each for each in found if each.score >= least)
    if not for_agent:
        notes.append(_unembedded_note(workspace, *_standing(workspace)[1:]))
    marked = None if core is None else marked_files(core, project_of(workspace))
    if marked is not None and not for_agent:
        notes.append(marked.doubt)
    is_empty = topic and not entries
    return SessionStart(
        workspace.name,
        topic,
        tuple(note for note in notes if note),
        entries,
        "" if marked is None else core_context(workspace, marked),
        find_unreached(workspace, found, KINDS, least) if is_empty else None,
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
    from gitrag.actions.search import SearchOptions
    from gitrag.search.sections import Wanted

    found = searched(workspace, topic, SearchOptions(wanted=Wanted(KINDS), limit=TOP, min_score=0.0))
    texts = {document.path: text for _kind, document, text in indexed_documents(workspace, KINDS)}
    return [replace(each, note=texts.get(hit.path, hit.chunk.text)) for each, hit in found]


_SLOTS = 16

_OBJECT_ID = re.compile(r"[0-9a-f]{40,64}")

_COUNTING_S = 60.0
"""For the background worker to count callers in: ten times as long as 2,000 files take."""

_MOST_CHANGED = 200
"""Files that may have changed since for a session to be told the overview of before them, which is said."""


class _Kept(Struct, frozen=True, array_like=True):
    """What a session in a worktree is told.

    Attributes:
        of: The hash of what it was made of, files and commits apart; empty where it is only wanted.
        files: HEAD's commit and tree, and content and mode of each path that differs from it.
        text: Markdown, without notes.
        shown: The paths in it that must still be files.
        index: The state of the index that the rest is of.
        moved: When the worktree's view was brought up to date, Unix seconds.
        texts: Its texts without a vector.
        chunks: How many of them are chunks.
        asked: Whether a session was told, or is only expected.
    """

    of: bytes = b""
    files: tuple[str, str, dict[bytes, tuple[str, int]]] = ("", "", {})
    text: bytes = b""
    shown: tuple[bytes, ...] = ()
    index: bytes = b""
    moved: float = 0.0
    texts: int = 0
    chunks: int = 0
    asked: bool = True


_Texts = dict[bytes, _Kept]
"""By worktree and settings."""


def known_text(workspace: Workspace, core: CoreFiles) -> tuple[Text, bool] | None:
    """Return what a session in this worktree is told, and whether all of it is of now; None to make it anew.

    Where nothing but some code has changed since, decisions, specifications and core files are as they were,
    and the overview says of which commit it is. The index is opened only where it has changed. How old it was
    is said once.
    """
    path, own, root = workspace.store.directory / TEXTS, _slot(workspace), workspace.repo.root
    held = read(path, _Texts) or {}
    index, kept = _index_state(workspace), held.get(own)
    if kept is None or root is None or not index:
        return None
    marked, now = marked_files(core, project_of(workspace)), workspace.snapshot()
    if kept.of != _key(workspace, now, marked):
        return None
    if not all((root / os.fsdecode(each)).is_file() for each in kept.shown):
        return None
    text = kept.text.decode("utf-8", "surrogateescape")
    is_whole = kept.files == _files(now)
    if not is_whole:
        changed = _changed(workspace, kept, now)
        before, heading, after = text.partition("\n## Overview of ")
        if changed is None or not heading or changed & {each.path for each in marked.files}:
            return None
        title, _, rest = after.partition("\n")
        since = f"{count(len(changed), 'file')} {'has' if len(changed) == 1 else 'have'} changed since."
        commit, _, edits = kept.files
        text = f"{before}{heading}{title} at {commit[:7]}{' and edits' if edits else ''}; {since}\n{rest}"
    new = kept if kept.asked else replace(kept, asked=True)
    if kept.index != index:
        moved, texts, chunks = _standing(workspace)
        if not moved:  # it has nothing of this worktree
            return None
        new = replace(new, index=index, moved=moved, texts=texts, chunks=chunks)
    age = workspace.since(new.moved)
    stale = stale_line(age, workspace.config.staleness_threshold) if is_whole else None
    if stale:
        new = replace(new, moved=new.moved + age.total_seconds())
    if new is not kept:
        write(path, held | {own: new})
    lines = list(filter(None, (stale, _unembedded_note(workspace, new.texts, new.chunks), marked.doubt)))
    return Text(f"{joined(lines)}\n\n{text}" if lines else text), is_whole


def want_text(workspace: Workspace) -> None:
    """Have the background worker keep what a session in this worktree is told, now and after each commit."""
    from gitrag.actions.catch_up import start_worker

    expect_text(workspace, asked=True)
    if (workspace.store.directory / TEXTS).exists():
        start_worker(workspace)


def expect_text(workspace: Workspace, *, asked: bool = False) -> None:
    """Have the worker keep what a session here is told, once; where one was told, after each commit."""
    path, own = workspace.store.directory / TEXTS, _slot(workspace)
    held = read(path, _Texts) or {}
    if own not in held or (asked and not held[own].asked):
        others = [each for each in held.items() if each[0] != own][: _SLOTS - 1]
        write(path, {own: replace(held.get(own, _Kept()), asked=asked), **dict(others)})


def keep_text(workspace: Workspace, core: CoreFiles, make: Callable[[], tuple[str, SessionStart]]) -> None:
    """Keep what a session in this worktree is told, where that is wanted.

    Args:
        make: Returns it as Markdown, without notes, and what that was made of.
    """
    path, own = workspace.store.directory / TEXTS, _slot(workspace)
    held = (read(path, _Texts) or {}).get(own)
    marked, now = marked_files(core, project_of(workspace)), workspace.snapshot()
    if held is None or now.head.commit is None or (held.of and not held.asked):
        return
    of, files = _key(workspace, now, marked), _files(now)
    if (held.of, held.files) == (of, files):
        return
    workspace.update()
    if not marked.files:
        suggest(workspace, (), graph_s=_COUNTING_S)
    text, made = make()
    core_paths = made.overview.core if made.overview else ()
    new = _Kept(
        of,
        files,
        text.encode("utf-8", "surrogateescape"),
        tuple(os.fsencode(each.path) for each in core_paths),
        _index_state(workspace),
        *_standing(workspace),
        held.asked,
    )
    if workspace.snapshot().key == now.key:  # the files have been the same from first to last
        write(path, {**(read(path, _Texts) or {}), own: new})


def _slot(workspace: Workspace) -> bytes:
    """Return what a text is kept under: its worktree, and the settings that say what is indexed."""
    return os.fsencode(f"{workspace.repo.worktree}\0{replace(workspace.options, processes=1)}")


def _files(now: Snapshot) -> tuple[str, str, dict[bytes, tuple[str, int]]]:
    """Return HEAD's commit and tree, and content and mode of each path that differs, none of a deleted."""
    changes = {
        os.fsencode(each.path): (each.entry.blob, each.entry.mode) if each.entry else ("", 0)
        for each in now.changes
    }
    return now.head.commit or "", now.head.tree, changes


def _changed(workspace: Workspace, kept: _Kept, now: Snapshot) -> set[str] | None:
    """Return the paths that have another content than when a text was kept; None if not all are code alone.

    Where globs of the user's own say what a document is, code may be one.
    """
    (_, old_tree, old_changes), (_, tree, changes) = kept.files, _files(now)
    if not _OBJECT_ID.fullmatch(old_tree):
        return None
    options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", *RUN_NOTHING)
    done = workspace.repo.git("diff-tree", *options, old_tree, tree, "--")
    fields = done.stdout.split(b"\0")[:-1]
    if done.returncode or workspace.config.adrs or workspace.config.specs or len(fields) > 2 * _MOST_CHANGED:
        return None
    trees = {}
    for said, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, mode, old, blob, _ = said.decode().removeprefix(":").split(" ")
        trees[path] = (old.strip("0") and old, int(old_mode, 8)), (blob.strip("0") and blob, int(mode, 8))
    found = set()
    for path in {*trees, *old_changes, *changes}:
        before, after = trees.get(path, (None, None))
        if old_changes.get(path, before) != changes.get(path, after):
            found.add(os.fsdecode(path))
    is_code_alone = all(is_code(language_of(path) or "") and not is_manifest(path) for path in found)
    return found if is_code_alone and len(found) <= _MOST_CHANGED else None


def _index_state(workspace: Workspace) -> bytes:
    """Return a hash of the index file and the rate at which texts are embedded; empty where there is none."""
    directory = workspace.store.directory
    state = state_of(directory / NAME)
    return digest(state, texts_per_s(directory)) if state is not None else b""


def _key(workspace: Workspace, now: Snapshot, marked: MarkedFiles) -> bytes:
    """Return a hash of what a session is told of but files and commits; of settings, what is indexed."""
    repo = workspace.repo
    return digest(
        recipe(workspace.config.model or ""),
        made_here(workspace),
        now.rules_key,
        workspace.name,
        [(entry.key, entry.value) for entry in repo.configuration.entries()],
        [sign(repo.common_dir / name) for name in ("shallow", "info/grafts")],
        marked.files,
        marked.doubt,
    )
