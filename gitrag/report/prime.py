"""The context for a session's start (``gitrag prime``), as text, Markdown or JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from gitrag.actions.prime import KINDS, Primed, PrimedDocument
from gitrag.corpus.layout import CollectionKind
from gitrag.report import Style, plain, shown, standing
from gitrag.report.documents import PrimedEntry, PrimeDocument, json_text
from gitrag.report.governance import near_documents, unreached_lines

_TITLES = {CollectionKind.ADRS: "ADRs", CollectionKind.SPECS: "Specs"}


def as_markdown(primed: Primed) -> str:
    """Return it as Markdown: a table of all, or a topic's documents in full, then the core files."""
    return _documents(primed) + primed.core.rstrip("\n")


def as_text(primed: Primed, style: Style) -> str:
    """Return it for a terminal: a line for each document, or a topic's in full, then the core files."""
    lines = [*(style(note, "dim") for note in primed.notes)]
    for kind in KINDS:
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
        lines += _none_about(primed, style) if primed.topic else [_NONE]
    return "\n".join(lines).rstrip("\n") + primed.core.rstrip("\n")


def as_json(primed: Primed) -> str:
    """Return it as JSON: the documents (with text if a topic was given), and the section on core files."""
    documents = (
        PrimedEntry(
            kind=entry.kind.value,
            id=entry.document.id,
            title=entry.document.title,
            status=standing(entry.document),
            path=shown(entry.document.path),
            text=entry.text if primed.topic else UNSET,
        )
        for entry in primed.entries
    )
    return json_text(
        PrimeDocument(
            topic=primed.topic,
            notes=tuple(primed.notes),
            documents=tuple(documents),
            nearest=near_documents(primed.unreached),
            core=primed.core.strip("\n"),
        )
    )


_NONE = "No ADR and no spec is indexed here."


def _none_about(primed: Primed, style: Style = plain) -> list[str]:
    return unreached_lines(primed.unreached, style) if primed.unreached is not None else []


def _documents(primed: Primed) -> str:
    lines = [*primed.notes, ""] if primed.notes else []
    if not primed.topic:
        lines.append(f"# {primed.name}: decisions and specifications")
        for kind in KINDS:
            lines += ["", *_table(kind, [entry for entry in primed.entries if entry.kind is kind])]
        return "\n".join(lines)
    lines.append(f"# {primed.name}: {primed.topic}")
    if not primed.entries:
        lines += ["", *_none_about(primed)]
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


def _table(kind: CollectionKind, entries: Sequence[PrimedDocument]) -> Iterator[str]:
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
