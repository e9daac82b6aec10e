"""What an agent's session should know at its start: the index's state, decisions, what there is besides."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.core_context import core_context, marked_files, project_of
from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.bearings import Bearing, Unreached, find_unreached, searched
from gitrag.actions.governance.presets import PRESETS
from gitrag.actions.instead import NOTHING, Instead, find_instead
from gitrag.actions.overview import Overview, overview
from gitrag.actions.search import SearchOptions
from gitrag.actions.since import Passed, passed
from gitrag.actions.status import read_status
from gitrag.corpus.layout import CollectionKind
from gitrag.indexing.notices import prime_updates, refreshed_line, unembedded_line
from gitrag.memory.core_files import CoreFiles
from gitrag.workspace import Workspace

TOP = 5
"""Decisions shown for a topic, and as many specifications."""

KINDS = (CollectionKind.ADRS, CollectionKind.SPECS)


class Primed(Struct, frozen=True):
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
) -> Primed:
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
    return Primed(
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
