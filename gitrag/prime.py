"""What a session should know at its start: how the index stands, decisions, specifications (§3.6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitrag.app import App
from gitrag.continuity import continuity
from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError
from gitrag.memory.core_files import CoreFiles
from gitrag.report import Style, shown, standing
from gitrag.searching import SearchOptions, search
from gitrag.staleness import prime_updates, refreshed_line, unembedded_line

TOP = 5
"""Decisions, and as many specifications, that a topic brings up."""

_KINDS = (CollectionKind.ADRS, CollectionKind.SPECS)
_TITLES = {CollectionKind.ADRS: "ADRs", CollectionKind.SPECS: "Specs"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A document that is shown.

    Attributes:
        kind: Its collection's.
        document: What it is.
        text: All of it.
    """

    kind: CollectionKind
    document: Document
    text: str


@dataclass(frozen=True, slots=True)
class Primed:
    """What a session is told.

    Attributes:
        name: The repository's slug.
        topic: What it is about; empty for everything.
        notes: How the index stands, a line each; none when nothing is worth a word.
        entries: Decisions, then specifications: all by path, or a topic's best first.
        core: What is told of the core files; empty when none is marked.
    """

    name: str
    topic: str
    notes: tuple[str, ...]
    entries: tuple[Entry, ...]
    core: str = ""


def prime(
    app: App,
    topic: str = "",
    core: CoreFiles | None = None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> Primed:
    """Bring the index up to date, unless it was touched a moment ago, and gather what there is.

    Args:
        app: The repository.
        topic: What it is about; empty for everything.
        core: The user's core files.
        advance: Called with how many files are indexed, of how many.

    Raises:
        NotSetUpError: There is no index.
    """
    app.require_index()
    notes = []
    if prime_updates(app.age()):
        done = app.update(advance=advance).refreshed.documents
        notes.append(refreshed_line(done.added, done.updated, done.removed))
    entries = tuple(_about(app, topic) if topic else _all(app))
    unembedded = sum(each.unembedded for each in app.status().collections)
    notes.append(unembedded_line(unembedded, app.texts_per_s()))
    told = continuity(app, core) if core is not None else ""
    return Primed(app.name, topic, tuple(note for note in notes if note), entries, told)


def as_markdown(primed: Primed) -> str:
    """Give it as Markdown: a table of all, or a topic's documents in full, then the core files."""
    return _documents(primed) + primed.core.rstrip("\n")


def as_text(primed: Primed, style: Style) -> str:
    """Give it for a terminal: a line each, or a topic's documents in full, then the core files."""
    lines = [*(style(note, "dim") for note in primed.notes)]
    for kind in _KINDS:
        own = [entry for entry in primed.entries if entry.kind is kind]
        if own and not primed.topic:
            lines += [style(_TITLES[kind], "title")]
        width = max((len(entry.document.id) for entry in own), default=0)
        for entry in own:
            document = entry.document
            said = " ".join(part for part in (standing(document), shown(document.path)) if part)
            lines.append(
                f"{style(document.id.ljust(width), 'name')}  {document.title}  {style(said, 'path')}"
            )
            if primed.topic:
                lines += ["", entry.text.strip("\n"), ""]
    if not primed.entries:
        lines.append("No ADRs or specs." if not primed.topic else _none_about(primed.topic))
    return "\n".join(lines).rstrip("\n") + primed.core.rstrip("\n")


def as_json(primed: Primed) -> str:
    """Give it as JSON: documents, with their text where a topic was given, and what is told of core files."""
    documents = [
        {
            "kind": entry.kind.value,
            "id": entry.document.id,
            "title": entry.document.title,
            "status": standing(entry.document),
            "path": shown(entry.document.path),
            **({"text": entry.text} if primed.topic else {}),
        }
        for entry in primed.entries
    ]
    data = {
        "topic": primed.topic,
        "notes": list(primed.notes),
        "documents": documents,
        "core": primed.core.strip("\n"),
    }
    return json.dumps(data, ensure_ascii=False, indent=2)


def _none_about(topic: str) -> str:
    return f"No relevant ADRs or specs found for '{topic}'."


def _documents(primed: Primed) -> str:
    lines = [*primed.notes, ""] if primed.notes else []
    if not primed.topic:
        lines.append(f"# {primed.name}: decisions and specifications")
        for kind in _KINDS:
            lines += ["", *_table(kind, [entry for entry in primed.entries if entry.kind is kind])]
        return "\n".join(lines)
    lines.append(f"# {primed.name}: {primed.topic}")
    if not primed.entries:
        lines += ["", _none_about(primed.topic)]
    for entry in primed.entries:
        document = entry.document
        said = standing(document)
        status = f" ({said})" if said else ""
        lines += [
            "",
            f"## {document.id}: {document.title}{status}",
            f"`{shown(document.path)}`",
            "",
            entry.text.strip("\n"),
        ]
    return "\n".join(lines)


def _table(kind: CollectionKind, entries: Sequence[Entry]) -> Iterator[str]:
    yield f"## {_TITLES[kind]} ({len(entries)})"
    if not entries:
        return
    yield ""
    yield "| ID | Title | Status | Path |"
    yield "| --- | --- | --- | --- |"
    for entry in entries:
        document = entry.document
        title = document.title.replace("|", "\\|")
        yield f"| {document.id} | {title} | {standing(document)} | {shown(document.path)} |"


def _all(app: App) -> Iterator[Entry]:
    for kind, document, text in app.documents(_KINDS):
        yield Entry(kind, document, text)


def _about(app: App, topic: str) -> Iterator[Entry]:
    from gitrag.search.sections import Wanted

    try:
        answer = search(app, topic, SearchOptions(wanted=Wanted(_KINDS), limit=TOP))
    except NotSetUpError:
        if not app.collections():
            raise
        return  # a repository of code alone
    texts = {document.path: text for _kind, document, text in app.documents(_KINDS)}
    for section in answer.sections:
        for hit in section.hits:
            if hit.document is not None:
                yield Entry(section.kind, hit.document, texts.get(hit.path, hit.chunk.text))
