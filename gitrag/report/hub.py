"""What a hub answers, and what it holds, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gitrag.actions.hub.search import HubAnswer, away
from gitrag.hub.hub import FRONT
from gitrag.hub.sending import Pushed
from gitrag.hub.upkeep import Dropped, HubStatus
from gitrag.report.parts import Style, plain, shown
from gitrag.search.engine import Hit
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count, size

_SHORT = 12
_MOST_NAMED = 5


class HubMade(Struct, frozen=True):
    """What `gitrag hub init` did.

    Attributes:
        address: Where the hub is.
        made: Whether its tables were made; false where they were there.
    """

    address: str
    made: bool


class HubTried(Struct, frozen=True):
    """What `gitrag hub try` leaves: where the server is, and whether it runs.

    Attributes:
        address: What to set hub to.
        running: Whether the server runs.
    """

    address: str
    running: bool


def as_text(answer: HubAnswer, style: Style = plain) -> Text:
    """Return an answer for a terminal or an agent: a paragraph for each hit, best first."""
    lines = [line for each in answer.hits for line in (*_paragraph(each, style), "")]
    if not answer.hits:
        lines = [f'Nothing found for "{answer.query}".', ""]
    said = [_searched(answer), *away(answer.absent)]
    return joined([*lines, *(style(each, "dim") for each in said)])


def as_markdown(answer: HubAnswer) -> Text:
    return joined([f"## Hub: {answer.query}", "", *as_text(answer).split("\n")])


def _paragraph(hit: Hit, style: Style) -> Iterator[str]:
    chunk = hit.chunk
    place = f"{hit.repository}: {shown(hit.path)}:{chunk.line_start}-{chunk.line_end}"
    title = hit.document.title if hit.document is not None else chunk.qualified_name
    yield f"{style(place, 'path')}  {style(title, 'name')}  {style(f'{hit.score:.2f}', 'score')}".rstrip()
    for line in hit.snippet:
        yield f"  {line.number:>5}  {line.text.rstrip()}"


def _searched(answer: HubAnswer) -> str:
    names = [f"{each.name} at {(each.commit or 'no commit')[:_SHORT]}" for each in answer.searched]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    of = f"{count(answer.files, 'file')} of {len(names):,} repositor{'y' if len(names) == 1 else 'ies'}"
    draft = "" if answer.model else "; the question was read by the draft of the model, which is not here"
    return f"Searched {of} in the hub: {', '.join(names[:_MOST_NAMED])}{more}{draft}."


def status_as_text(found: HubStatus, style: Style = plain) -> Text:
    """Return what a hub holds for a terminal."""
    lines = [f"{style('hub', 'title')}     {found.address}, PostgreSQL {found.server}"]
    by = "by HNSW over sign bits" if found.hnsw else "by a scan of sign bits"
    lines.append(f"{style('nearest', 'title')} {by}")
    if found.size_bytes is not None:
        lines.append(f"{style('size', 'title')}    {size(found.size_bytes)}, all tables")
    for each in found.branches:
        when = "never" if each.pushed_at is None else f"{each.pushed_at:%Y-%m-%d %H:%M}"
        note = "" if each.searched else ", not searched"
        lines.append(
            f"  {style(each.repository, 'name')} {each.branch} at {(each.commit or 'no commit')[:_SHORT]}:"
            f" {count(each.files, 'file')}, {count(each.chunks, 'chunk')},"
            f" pushed {when} by {each.pushed_by}{note}{'' if each.server == FRONT else f', on {each.server}'}"
        )
    lines += [f"  {each.repository} is on {each.server}, which does not answer" for each in found.absent]
    if not found.branches and not found.absent:
        lines.append("  no repository that this role may read")
    return joined(lines)


def pushed_as_text(done: Pushed, *, named: bool) -> Text:
    """Say what was sent of a branch, by its name where it is one of several."""
    of = f"{done.branch}: " if named else ""
    lines = [
        (
            f"{of}Pushed {count(done.files, 'file')}: {count(done.contents, 'content')} of"
            f" {count(done.chunks, 'chunk')} sent, the others were there"
        )
    ]
    if not done.is_compared:
        was = (done.replaced or "")[:_SHORT]
        lines.append(f"The branch had {was}: whether that is later, this clone cannot tell.")
    if done.searched != done.branch:
        lines.append(f"Searched is the branch {done.searched}, not {done.branch}.")
    return joined(lines)


def dropped_as_text(found: Dropped, *, really: bool) -> str:
    """Say what no branch has, and whether it is gone."""
    if not found:
        return "Nothing to drop."
    unfinished = f", {count(found.unfinished, 'row')} of pushes that did not end" if found.unfinished else ""
    done = "Dropped" if really else "To drop"
    return f"{done}: {count(found.contents, 'content')}, {count(found.paths, 'path')}{unfinished}"
