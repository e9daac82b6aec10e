"""What commits say, why lines are as they are, and how searches fare by them, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gitrag.report.parts import Style, cut, day, place_of, plain, range_of, shown, standing
from gitrag.store.commits import StoredCommit
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from gitrag.actions.history import CommitMatch, HistoryAnswer
    from gitrag.actions.instead import Instead
    from gitrag.actions.measure import Measured
    from gitrag.actions.why import NamedIssue, Reason, Why

SHORT = 10
"""Characters of a commit's id that are shown."""


def why_text(found: Why, style: Style = plain) -> Text:
    """Return it for a terminal: where, then a paragraph for each commit, newest first."""
    lines = [_why_heading(found, style), ""]
    if not found.lines:
        lines += ["The file is empty.", ""]
    if found.uncommitted:
        lines += [f"{count(found.uncommitted, 'line')} in no commit yet", ""]
    for reason in found.reasons:
        lines += [*_reason(reason, style, count(reason.lines, "line")), ""]
    lines += _rest(found)
    if found.before is not None:
        of = f"{found.within} changed" if found.within else "they changed"
        lines += [f"Before that {of} in:", *_reason(found.before, style), ""]
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


def why_markdown(found: Why) -> Text:
    """Return it as Markdown, for agents."""
    return Text(f"## Why: {why_text(found)}")


def _why_heading(found: Why, style: Style) -> str:
    whole = (found.line_start, found.line_end) == (1, max(found.lines, 1))
    last = "" if found.line_start == found.line_end else f"-{found.line_end}"
    place = shown(found.path) + ("" if whole else f":{found.line_start}{last}")
    within = f"  {style(found.within, 'name')}" if found.within else ""
    return f"{style(place, 'path')}{within}"


def _reason(reason: Reason, style: Style, lines: str = "") -> Iterator[str]:
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


_MOST_PATHS = 4
_MOST_DEFINITIONS = 5
_LONGEST_SUBJECT = 72


def changed_last_sentence(commits: int, newest: StoredCommit) -> str:
    subject = cut(newest.message.partition("\n")[0], _LONGEST_SUBJECT)
    further = f"; {count(commits, 'commit')} of those read changed it" if commits > 1 else ""
    return f'Changed last by {newest.id[:SHORT]} of {day(newest.authored)}, "{subject}"{further}.'


def history_text(found: HistoryAnswer, style: Style = plain) -> Text:
    """Return it for a terminal: a paragraph for each commit, best first."""
    lines = [line for match in found.matches for line in (*_match(match, style), "")]
    if not found.matches:
        looked = count(found.searched, "commit")
        near = ", and none of those whose drafts are nearest to it is near in meaning"
        read = "of each, the first 1,000 characters were looked at."
        none = f"No message of {looked} has a word of it{near if found.is_by_meaning else ''}; {read}"
        lines = [none if found.query else f"None of {looked} that may answer.", ""]
    lines += [style(note, "dim") for note in found.notes]
    return joined(lines)


def history_markdown(found: HistoryAnswer) -> Text:
    """Return it as Markdown, for agents."""
    return joined(
        [f"## History{': ' if found.query else ''}{found.query}", "", *history_text(found).split("\n")]
    )


def _match(match: CommitMatch, style: Style) -> Iterator[str]:
    commit = match.commit
    how = "" if match.has_word else "  no word of the question: found by meaning"
    yield style(f"{commit.id[:SHORT]}  {day(commit.authored)}  {commit.author}{how}", "dim")
    yield f"  {style(match.said.subject, 'title')}"
    if match.said.reason:
        yield style(f"  {match.said.reason}", "")
    if commit.paths:
        more = commit.changed - min(len(commit.paths), _MOST_PATHS)
        named = ", ".join(shown(path) for path in commit.paths[:_MOST_PATHS])
        yield f"  {style(named, 'path')}{f' and {more:,} more' if more > 0 else ''}"
    if match.definitions:
        more = len(match.definitions) - _MOST_DEFINITIONS
        named = ", ".join(match.definitions[:_MOST_DEFINITIONS])
        yield f"  touches {style(named, 'name')}{f' and {more:,} more' if more > 0 else ''}"


def instead_lines(found: Instead, style: Style = plain) -> Iterator[str]:
    """Yield a line for each file and commit; none where there is neither."""
    if found:
        yield "Code and commits on it:"
    for hit in found.files:
        place = f"{place_of(hit)}:{range_of(hit.chunk.line_start, hit.chunk.line_end)}"
        name = f" {hit.chunk.qualified_name}" if hit.chunk.qualified_name else ""
        nearest = ", nearest" if hit.is_nearest else ""
        yield f"- {style(place, 'path')}{name} ({hit.score:.2f}{nearest})"
    for match in found.commits:
        commit = match.commit
        yield f"- {style(commit.id[:SHORT], 'name')} {day(commit.authored)} {match.said.subject}"


_COLUMNS = ("first", "among three", "among ten", "NDCG@10")
_LONGEST_QUESTION = 60


def measured_text(found: Measured, style: Style = plain) -> Text:
    """Return it for a terminal: a table, what was left out, and the questions where they are listed."""
    from gitrag.actions.measure import FIGURES, ISSUES, SUBJECTS

    asked = {SUBJECTS: "Subjects of commits", ISSUES: "Titles of issues that commits name"}
    lines = [_row("", _COLUMNS)] if found.found else []
    for row in found.found:
        if row.by == "gitrag":
            lines.append(style(f"{asked[row.asked]}, {row.questions:,}", "title"))
        sign = "+" if row.by == "difference" else ""
        lines.append(_row(row.by, (_cell(*row.figures[name], sign) for name in FIGURES)))
    return joined([*lines, "", *(style(line, "dim") for line in _notes(found)), *_listed(found)])


def measured_markdown(found: Measured) -> Text:
    """Return it as Markdown, for agents."""
    fenced = ["```", *measured_text(found).split("\n"), "```"]
    return joined(["## Past commits, asked of the state before them", "", *fenced])


def _row(name: str, cells: Iterable[str]) -> str:
    return f"  {name:11}{''.join(f'{each:17}' for each in cells)}".rstrip()


def _cell(mean: float, low: float, high: float, sign: str) -> str:
    middle, first, last = (f"{each:{sign}.2f}".replace("0.", ".", 1) for each in (mean, low, high))
    return f"{middle} ({first}…{last})"  # 16 columns: four of them fit a terminal of 80


def _notes(found: Measured) -> Iterator[str]:
    looked_at = found.commits + sum(found.left_out.values())
    yield f"{count(found.commits, 'commit')} asked, of {looked_at:,} looked at."
    if found.left_out:
        yield f"Left out: {', '.join(f'{many:,} {reason}' for reason, many in found.left_out.items())}."
    if found.found:
        yield "In parentheses: where 95 % of means lie that are drawn anew from these questions."
    if found.own_model:
        yield f"By the model in {found.own_model}."
    if not (found.model or found.own_model):
        yield "The model is not ready: questions were drafted. `gitrag model fetch` gets it."
    yield from found.notes


def _listed(found: Measured) -> Iterator[str]:
    from gitrag.actions.measure import SUBJECTS

    for each in found.replayed:
        gitrag, grep = (min(places, default="-") for places in (each.gitrag, each.grep))
        question = cut(each.question, _LONGEST_QUESTION)
        kind = "" if each.asked == SUBJECTS else " (issue)"
        yield f"{each.commit[:SHORT]}  gitrag {gitrag:>2}  git grep {grep:>2}  {question}{kind}"
