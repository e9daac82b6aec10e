"""Why lines are as they are, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.why import NamedIssue, Reason, Why
from gitrag.report import Style, plain, shown, standing
from gitrag.report.parts import day
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

SHORT = 10
"""Characters of a commit's id that are shown."""


def as_text(found: Why, style: Style = plain) -> Text:
    """Return it for a terminal: where, then a paragraph for each commit, newest first."""
    lines = [_heading(found, style), ""]
    if not found.lines:
        lines += ["The file is empty.", ""]
    if found.uncommitted:
        lines += [f"{count(found.uncommitted, 'line')} in no commit yet", ""]
    for reason in found.reasons:
        lines += [*_paragraph(reason, style, count(reason.lines, "line")), ""]
    lines += _rest(found)
    if found.before is not None:
        of = f"{found.within} changed" if found.within else "they changed"
        lines += [f"Before that {of} in:", *_paragraph(found.before, style), ""]
    if found.documents:
        lines += [style("Decisions and specifications that bear on the file", "title")]
        for each in found.documents:
            said = standing(each.document)
            status = f" ({said})" if said else ""
            score = style(f"{each.score:.2f}", "score")
            title = style(f"{each.document.title}{status}", "")
            lines.append(f"  {style(each.document.id, 'name')}  {title}  {score}")
        lines.append("")
    lines += [style(note, "dim") for note in found.notes]
    return joined(lines)


def as_markdown(found: Why) -> Text:
    """Return it as Markdown, for agents."""
    return Text(f"## Why: {as_text(found)}")


def _heading(found: Why, style: Style) -> str:
    whole = (found.line_start, found.line_end) == (1, max(found.lines, 1))
    last = "" if found.line_start == found.line_end else f"-{found.line_end}"
    place = shown(found.path) + ("" if whole else f":{found.line_start}{last}")
    within = f"  {style(found.within, 'name')}" if found.within else ""
    return f"{style(place, 'path')}{within}"


def _paragraph(reason: Reason, style: Style, lines: str = "") -> Iterator[str]:
    head = "  ".join(filter(None, (lines, reason.commit[:SHORT], day(reason.authored), reason.author)))
    yield style(head, "dim")
    yield f"  {style(reason.said.subject, 'title')}"
    if reason.said.reason:
        yield style(f"  {reason.said.reason}", "")
    if reason.merge:
        yield style(f"  in: {reason.merge}", "")
    told = f"{reason.said.subject} {reason.said.reason} {reason.merge}"
    for issue in reason.issues:
        if issue.title or _number(issue) not in told:
            yield style(f"  {_issue(issue)}", "")
    if reason.decisions:
        yield f"  names {', '.join(reason.decisions)}"
    if reason.paths:
        yield style(f"  then in {', '.join(map(shown, reason.paths))}", "")


def _issue(issue: NamedIssue) -> str:
    own = _number(issue)
    return f"{own}: {issue.title} ({issue.state})" if issue.title else f"{own} (no copy here)"


def _number(issue: NamedIssue) -> str:
    return f"#{issue.id}" if issue.id.isdigit() else issue.id


def _rest(found: Why) -> list[str]:
    more = found.further
    lines, commits = count(more.lines, "more line"), count(more.commits, "other commit")
    return [f"{lines} from {commits}", ""] if more.commits else []
