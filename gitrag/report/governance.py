"""The findings of `check`, `related` and a review, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitrag.actions.governance.bearings import Bearing, Unreached
from gitrag.actions.governance.change_impact import ChangeImpact
from gitrag.actions.governance.check import Checked
from gitrag.actions.governance.likeness import MOST_COMPARED
from gitrag.actions.governance.related import NONE_RELATED, Duplicates, Related
from gitrag.actions.touched import Touched
from gitrag.report.commits import instead_lines
from gitrag.report.impact import impact_lines, removed_lines
from gitrag.report.parts import Style, lines_of, plain, shown, standing
from gitrag.search.similar_chunks import SimilarChunk
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

NOTHING_SURE = "Nothing above {least:g}; the nearest are:"
CALLERS_OF_FILE = "Called from outside"
CALLERS_OF_CHANGE = "Who calls what it changes"
FURTHER = "Below {least:g}, the next nearest:"


def checked_text(found: Checked, style: Style = plain) -> Text:
    """Return a check for a terminal: a paragraph for each document, a line for those that are not likely."""
    lines = [line for each in found.likely for line in _paragraph(each, style)]
    lines += [_opening(found), *(f"  {_brief(each, style)}" for each in found.nearest), ""]
    if found.issues:
        lines += [style("Issues", "title"), ""]
        lines += [line for each in found.issues for line in _paragraph(each, style)]
    if found.impact is not None:
        lines += [
            style(CALLERS_OF_FILE, "title"),
            "",
            *impact_lines(found.impact, style, from_outside=True),
            "",
        ]
    return joined([*lines, *_missing(found)])


def checked_markdown(found: Checked) -> Text:
    """Return a check as Markdown, for agents."""
    lines = [f"## Check: {shown(found.target)}", ""]
    lines += [line for each in found.likely for line in _item(each)]
    if found.likely and found.nearest:
        lines.append("")
    if opening := _opening(found):
        lines += [opening, *(f"- {_brief(each)}" for each in found.nearest)]
    if found.issues:
        lines += ["", "### Issues", "", *(line for each in found.issues for line in _item(each))]
    if found.impact is not None:
        lines += ["", f"### {CALLERS_OF_FILE}", "", *impact_lines(found.impact, from_outside=True)]
    missing = list(_missing(found))
    if missing:
        lines += ["", *missing]
    if found.likely:
        lines += ["", "Read these in full before you judge whether the code departs from them."]
    return joined(lines)


def _marked(mark: str, text: str, style: Style) -> str:
    """Return a text between Markdown's marks; in a style, for a terminal that would show them, without."""
    return f"{mark}{text}{mark}" if style is plain else text


def _heading(level: int, text: str, style: Style) -> str:
    return f"{'#' * level} {text}" if style is plain else style(text, "title")


def related_markdown(found: Related, style: Style = plain) -> Text:
    """Return proposed references, or else that there are none, as Markdown or, with a style, for a terminal.

    Args:
        found: The references; of a small collection the nearest too.
    """
    if found.instead and not found.documents:
        return joined(
            [
                _heading(2, f"Related: {found.text}", style),
                "",
                found.lacking,
                *instead_lines(found.instead, style),
            ]
        )
    if not (found.documents or found.near):
        return joined([NONE_RELATED, *([found.lacking] if found.lacking else [])])
    lines = [_heading(2, f"Related: {found.text}", style), ""]
    for each in (*found.documents, *found.near):
        document = each.document
        said = standing(document)
        edge = style(f"{each.relation}: {document.id}", "name")
        score = f"(score: {each.score:.2f}){f', {said}' if said else ''}"
        score += ", nearest" if each in found.near else ""
        path = style(shown(document.path), "path")
        lines.append(f"- {_marked('**', edge, style)} {style(document.title, 'title')} {score}")
        lines.append(f"  {_marked('`', path, style)}{f' — {each.section}' if each.section else ''}")
        if each.note:
            lines.append(f"  {style(each.note, 'dim')}")
    return joined(lines)


def nearest_lines(nearest: Sequence[Bearing]) -> list[str]:
    """Say what is nearest where little or nothing is related, in lines."""
    return [
        f"nearest: {each.document.id} {each.document.title} ({each.score:.2f}), {shown(each.document.path)}"
        for each in nearest
    ]


def duplicates_markdown(found: Duplicates, style: Style = plain) -> Text:
    """Return what covers a text, or else what is nearest, as Markdown or, with a style, for a terminal."""
    if found.chunks:
        return joined(_alike(each, style) for each in found.chunks)
    none = f"No chunk has a cosine of {found.threshold:.2f} or more to it"
    if not found.nearest:
        return joined([f"{none}: there is none to compare with."])
    less = f"{none}; the nearest, which may cover it in other words:"
    return joined([less, *(_alike(each, style) for each in found.nearest)])


def review_markdown(found: ChangeImpact, style: Style = plain) -> Text:
    """Return a review, as Markdown or, with a style, for a terminal."""
    lines = [_heading(2, f"Review: {found.span}", style)]
    called = [line for each in found.removed for line in removed_lines(each, style)]
    called += impact_lines(found.impact, style) if found.impact is not None else ()
    lines += ["", _heading(3, CALLERS_OF_CHANGE, style), "", *called] if called else []
    if found.twins:
        lines += ["", _heading(3, "Nearly like what it changes, and not changed", style), ""]
        lines += [line for each in found.twins for line in _added(each, style)]
    if found.added:
        lines += ["", _heading(3, "Like what it adds", style), ""]
        lines += [line for each in found.added for line in _added(each, style)]
    if found.documents:
        lines += ["", _heading(3, "Documents that it touches and does not name", style), ""]
        lines += [line for each in found.documents for line in _question(each, style)]
    nothing = [] if found.added else [_none_like(found)]
    nothing += [] if found.documents else _none_asked(found, style)
    return joined([*lines, "", *nothing] if nothing else lines)


def unreached_lines(found: Unreached, style: Style = plain) -> list[str]:
    """Return that nothing scores enough, and what comes nearest: never a bare no."""
    if not found.nearest:
        return [found.sentence]
    lines = [f"{found.sentence} The nearest:"]
    for each in found.nearest:
        name = style(f"{each.name}: {each.document.title}", "name")
        path = style(shown(each.document.path), "path")
        lines.append(f"- {name} (score: {each.score:.2f}) {path}")
    return lines


def _none_asked(found: ChangeImpact, style: Style) -> list[str]:
    """Return that nothing has to be named, as far as was asked."""
    if found.named:
        return [f"It names what scores enough of what it touches: {', '.join(found.named)}."]
    asked = ["the commits' messages"] if "" in found.asked else []
    if found.files:
        asked.append(f"{sum(map(bool, found.asked))} of {count(len(found.files), 'changed file')}")
    lines = [f"Asked by {' and '.join(asked)}."] if asked else ["The change has no file and no message."]
    return lines + (unreached_lines(found.unreached, style) if found.unreached is not None else [])


def _none_like(found: ChangeImpact) -> str:
    """Return that nothing is like what a change adds, as far as it was compared."""
    if not found.new:
        return "It adds no definition that is compared: tests, moved and very short ones are not."
    all_new = count(found.new, "definition") + " that it adds"
    what = all_new if found.new <= MOST_COMPARED else f"{MOST_COMPARED} of the {all_new}"
    return f"No definition outside tests has a cosine of {found.threshold or 0:.2f} or more to {what}."


def _question(each: Bearing, style: Style) -> Iterator[str]:
    touched = _marked("`", style(shown(each.touched_by), "path"), style)
    where = touched if each.touched_by else "the commits' messages"
    path = _marked("`", shown(each.document.path), style)
    asks = _marked("**", style(each.asks, "name"), style)
    yield f"- {asks} {each.document.title} (score: {each.score:.2f})"
    yield f"  {where} against {path}{f' — {each.section}' if each.section else ''}"
    if each.note:
        yield f"  {style(each.note, 'dim')}"


def _added(each: Touched, style: Style) -> Iterator[str]:
    place = f"{shown(each.path)}:{each.chunk.line_start}"
    yield f"- {_marked('`', style(each.name, 'name'), style)} ({place}) is like:"
    for other in each.existing:
        yield f"  {_alike(other, style)}"


def _alike(each: SimilarChunk, style: Style) -> str:
    called = style(each.chunk.qualified_name, "name")
    name = f" {_marked('`', called, style)}" if each.chunk.qualified_name else ""
    path = _marked("**", style(shown(each.path), "path"), style)
    return f"- {path} {lines_of(each.chunk)}{name} (cosine: {each.cosine:.2f})"


def _opening(found: Checked) -> str:
    """Return the sentence above the documents that are not likely; empty where all are."""
    if not found.documents:
        return found.lacking
    if not found.nearest:
        return ""
    return (FURTHER if found.likely else NOTHING_SURE).format(least=found.least)


def _brief(each: Bearing, style: Style = plain) -> str:
    document = each.document
    name, path = style(each.name, "name"), style(shown(document.path), "path")
    return f"{each.score:.2f} {name} {document.title}, {path}"


def _paragraph(each: Bearing, style: Style) -> Iterator[str]:
    document = each.document
    name, title = style(each.name, "name"), style(document.title, "title")
    yield "  ".join([name, title, style(f"{each.score:.2f}", "score"), standing(document)]).rstrip()
    yield f"  {style(shown(document.path), 'path')}{f'  {each.section}' if each.section else ''}"
    yield f"  {style(_why(each), 'dim')}"
    yield ""


def _item(each: Bearing) -> Iterator[str]:
    document, said = each.document, standing(each.document)
    name = f"**{each.name}: {document.title}**"
    yield f"- {name} (score: {each.score:.2f}){f', {said}' if said else ''}"
    yield f"  `{shown(document.path)}`{f' — {each.section}' if each.section else ''}"
    yield f"  Why: {_why(each)}."
    if each.note:
        yield f"  {each.note}"


def _why(each: Bearing) -> str:
    return each.why if each.line is not None else f"{each.why}; the file does not name it"


def _missing(found: Checked) -> Iterator[str]:
    for own in found.missing:
        yield f"{own} is named, but no indexed ADR or spec has that id."
