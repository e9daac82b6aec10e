"""The context for a session's start (``gitrag prime``), as text, Markdown or JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitrag.actions.governance.bearings import KINDS, Bearing
from gitrag.actions.overview import LATELY, Overview
from gitrag.actions.prime import Passed, SessionStart
from gitrag.corpus.layout import CollectionKind
from gitrag.report.commits import SHORT, instead_lines
from gitrag.report.governance import unreached_lines
from gitrag.report.parts import Style, cut, day, plain, shown, standing
from gitrag.words.control_characters import Text, joined, sanitise_line
from gitrag.words.numbers import count

_TITLES = {CollectionKind.ADRS: "ADRs", CollectionKind.SPECS: "Specs"}


def as_markdown(primed: SessionStart) -> Text:
    """Return it as Markdown: a table of all and an overview, or a topic's documents in full; core files."""
    return Text(joined(_documents(primed)) + primed.core.rstrip("\n"))


def as_text(primed: SessionStart, style: Style) -> Text:
    """Return it for a terminal: all documents and an overview, or a topic's in full; core files."""
    lines = [*(style(note, "dim") for note in primed.notes)]
    if primed.passed is not None:
        title, *others = passed_lines(primed.passed)
        lines += [style(title, "title"), *(f"  {line}" for line in others), ""]
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
                lines += ["", *entry.note.strip("\n").split("\n"), ""]
    if not primed.entries:
        lines += _none_about(primed, style) if primed.topic else [NONE_INDEXED]
    if primed.overview is not None:
        lines += ["", style(f"Overview of {count(primed.overview.files, 'file')}", "title")]
        for label, items in overview_lines(primed.overview):
            lines += [style(label, "name"), *(f"  {item}" for item in items)]
    return Text(joined(lines) + primed.core.rstrip("\n"))


def passed_lines(found: Passed) -> list[str]:
    """Return what happened since one was here, in ten lines at most; the first is a title."""
    commits = f"the newest {found.commits:,} commits" if found.is_cut else count(found.commits, "commit")
    lines = [f"Since {_one_line(found.begin)}: {commits}, {count(found.changed, 'file')} changed"]
    if found.authors:
        lines.append("By " + ", ".join(f"{_one_line(name)} ({own:,})" for name, own in found.authors))
    lines += [
        f"{day(each.date)} {cut(_one_line(each.subject), _LONGEST_SUBJECT)} ({each.commit[:SHORT]})"
        for each in found.newest
    ]
    for label, items in (
        ("Changed most", [f"{path} ({own:,})" for path, own in found.files]),
        ("Decisions and specifications changed", list(found.documents)),
        ("Issues named", [f"#{each}" if each.isdecimal() else each for each in found.issues]),
    ):
        if items:
            lines.append(f"{label}: {', '.join(_fitted(map(_one_line, items), _ROOM['Changed most']))}")
    return lines


NONE_INDEXED = "No ADR and no spec is indexed here."

_ROOM = {
    "Languages": 150,
    "Entry points": 200,
    "Likely core": 380,
    "Latest commits": 240,
    "Changed most": 230,
    "Tests": 260,
}
"""Characters for each line of the overview: with what stands around them, 1,500 in all at most."""


def overview_lines(found: Overview) -> Iterator[tuple[str, list[str]]]:
    """Yield what an overview says as labels and items, cut to their room; none about what is not there."""
    lines = sum(each.lines for each in found.languages)
    said: dict[str, list[str]] = {
        "Languages": [
            f"{each.name} {100 * each.lines / max(lines, 1):.0f} % ({count(each.files, 'file')},"
            f" {count(each.lines, 'line')})"
            for each in found.languages
            if each.lines >= lines * _LEAST_SHARE
        ],
        "Entry points": [
            each.target + (f" ({each.source})" if each.source else "") for each in found.entry_points
        ],
        "Likely core": [f"{each.path} ({_short_reason(each.reason)})" for each in found.core],
        "Latest commits": [f"{each.day} {cut(each.subject, _LONGEST_SUBJECT)}" for each in found.latest],
        "Changed most": [f"{each.path} ({each.commits})" for each in found.changed],
        "Tests": list(_tests(found)),
    }
    ends = {"Changed most": f" in the last {count(min(found.commits, LATELY), 'commit')}"}
    for label, items in said.items():
        if items:
            yield label + ends.get(label, ""), _fitted(map(_one_line, items), _ROOM[label])


_LEAST_SHARE = 0.005
"""Of the lines of code, below which a language is not told."""

_LONGEST_SUBJECT = 72
_LONGEST_COMMAND = 80


def _tests(found: Overview) -> Iterator[str]:
    for run in found.runs[:3]:
        yield f"`{cut(run.command, _LONGEST_COMMAND)}` ({run.source.rpartition('/')[2]})"
    if found.inline_tests:
        yield f"{count(found.inline_tests, 'Rust file')} with tests inside"
    for each in found.tests:
        yield f"{each.files:,} {each.pattern}" + (f" in {each.directory}/" if each.directory else "")
    if not found.runs and (found.tests or found.inline_tests):
        yield "no file looked at says how they are run"


def _short_reason(reason: str) -> str:
    return reason.partition(" in the last")[0]


def _fitted(items: Iterable[str], room: int) -> list[str]:
    """Return as many items as there is room for, and how many more there are."""
    chosen: list[str] = []
    left_out = 0
    for item in items:
        text = cut(item, room)
        if left_out or (chosen and sum(len(each) + 2 for each in chosen) + len(text) > room):
            left_out += 1
        else:
            chosen.append(text)
    return [*chosen, *([f"{left_out} more"] if left_out else [])]


def _one_line(text: str) -> str:
    return sanitise_line(shown(text))


def _none_about(primed: SessionStart, style: Style = plain) -> list[str]:
    near = unreached_lines(primed.unreached, style) if primed.unreached is not None else []
    return [*near, *instead_lines(primed.instead, style)]


def _documents(primed: SessionStart) -> list[str]:
    lines = [*primed.notes, ""] if primed.notes else []
    if primed.passed is not None:
        title, *others = passed_lines(primed.passed)
        lines += [f"## {title}", "", *(f"- {line}" for line in others), ""]
    if not primed.topic:
        if primed.entries:
            lines.append(f"# {primed.name}: decisions and specifications")
        else:
            lines += [f"# {primed.name}", "", NONE_INDEXED]
        for kind in KINDS if primed.entries else ():
            lines += ["", *_table(kind, [entry for entry in primed.entries if entry.kind is kind])]
        if primed.overview is not None:
            lines += ["", f"## Overview of {count(primed.overview.files, 'file')}", ""]
            lines += [f"- {label}: {'; '.join(said)}" for label, said in overview_lines(primed.overview)]
        return lines
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
            *entry.note.strip("\n").split("\n"),
        ]
    return lines


def _table(kind: CollectionKind, entries: Sequence[Bearing]) -> Iterator[str]:
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
