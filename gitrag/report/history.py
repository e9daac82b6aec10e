"""What a history says, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.history import CommitMatch, HistoryAnswer
from gitrag.report import Style, plain, shown
from gitrag.report.parts import cut, day
from gitrag.report.why import SHORT
from gitrag.store.commits import StoredCommit
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

_MOST_PATHS = 4
_MOST_DEFINITIONS = 5
_LONGEST_SUBJECT = 72


def changed_last_sentence(commits: int, newest: StoredCommit) -> str:
    """Return which commit changed a file last."""
    subject = cut(newest.message.partition("\n")[0], _LONGEST_SUBJECT)
    further = f"; {count(commits, 'commit')} of those read changed it" if commits > 1 else ""
    return f'Changed last by {newest.id[:SHORT]} of {day(newest.authored)}, "{subject}"{further}.'


def as_text(found: HistoryAnswer, style: Style = plain) -> Text:
    """Return it for a terminal: a paragraph for each commit, best first."""
    lines = [line for match in found.matches for line in (*_paragraph(match, style), "")]
    if not found.matches:
        looked = count(found.searched, "commit")
        near = ", and none of those whose drafts are nearest to it is near in meaning"
        read = "of each, the first 1,000 characters were looked at."
        none = f"No message of {looked} has a word of it{near if found.is_by_meaning else ''}; {read}"
        lines = [none if found.query else f"None of {looked} that may answer.", ""]
    lines += [style(note, "dim") for note in found.notes]
    return joined(lines)


def as_markdown(found: HistoryAnswer) -> Text:
    """Return it as Markdown, for agents."""
    return joined([f"## History{': ' if found.query else ''}{found.query}", "", *as_text(found).split("\n")])


def _paragraph(match: CommitMatch, style: Style) -> Iterator[str]:
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
