"""What a hub answers, and what it holds, as text, Markdown or JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gitrag.actions.hub.search import HubAnswer, HubHit, away
from gitrag.hub.hub import FRONT
from gitrag.hub.upkeep import Absent, HubStatus
from gitrag.report import Style, plain, shown
from gitrag.report.documents import json_text
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


class HubMatch(Struct, frozen=True):
    """A file of a repository in the hub that answers, by its best chunk.

    Attributes:
        repository: The repository's name in the hub.
        path: The file, in that repository.
        collection: What it is: code, adrs, specs or issues.
        score: How likely it answers, in [0, 1].
        name: Of the best chunk; empty for none.
        kind: Its kind.
        line_start: Its first line.
        line_end: Its last line.
        snippet: Its text.
    """

    repository: str
    path: str
    collection: str
    score: float
    name: str
    kind: str
    line_start: int
    line_end: int
    snippet: str


class HubSearched(Struct, frozen=True):
    """A branch that was searched, and the commit that was pushed."""

    repository: str
    branch: str
    commit: str | None


class HubSearchDocument(Struct, frozen=True):
    """What `gitrag hub search` prints.

    Attributes:
        query: The question.
        matches: The files, best first.
        searched: The branches that were searched.
        files: How many files they have.
        absent: The repositories that were not searched, because their servers do not answer.
    """

    query: str
    matches: tuple[HubMatch, ...]
    searched: tuple[HubSearched, ...]
    files: int
    absent: tuple[Absent, ...]


def document_of(answer: HubAnswer) -> HubSearchDocument:
    """Return an answer as a document; scores rounded to four places."""
    return HubSearchDocument(
        answer.query,
        tuple(
            HubMatch(
                repository=each.repository,
                path=shown(each.hit.path),
                collection=each.kind.value,
                score=round(each.hit.score, 4),
                name=each.hit.chunk.qualified_name,
                kind=each.hit.chunk.kind.value,
                line_start=each.hit.chunk.line_start,
                line_end=each.hit.chunk.line_end,
                snippet=each.hit.chunk.text,
            )
            for each in answer.hits
        ),
        tuple(HubSearched(each.name, each.branch, each.commit) for each in answer.asked),
        answer.files,
        answer.absent,
    )


def as_json(answer: HubAnswer) -> str:
    """Return an answer as JSON."""
    return json_text(document_of(answer))


def as_text(answer: HubAnswer, style: Style = plain) -> Text:
    """Return an answer for a terminal or an agent: a paragraph for each hit, best first."""
    lines = [line for each in answer.hits for line in (*_paragraph(each, style), "")]
    if not answer.hits:
        lines = [f'Nothing found for "{answer.query}".', ""]
    said = [_searched(answer), *away(answer.absent)]
    return joined([*lines, *(style(each, "dim") for each in said)])


def as_markdown(answer: HubAnswer) -> Text:
    """Return an answer as Markdown."""
    return joined([f"## Hub: {answer.query}", "", *as_text(answer).split("\n")])


def _paragraph(each: HubHit, style: Style) -> Iterator[str]:
    hit, chunk = each.hit, each.hit.chunk
    place = f"{each.repository}: {shown(hit.path)}:{chunk.line_start}-{chunk.line_end}"
    title = hit.document.title if hit.document is not None else chunk.qualified_name
    yield f"{style(place, 'path')}  {style(title, 'name')}  {style(f'{hit.score:.2f}', 'score')}".rstrip()
    for line in hit.lines:
        yield f"  {line.number:>5}  {line.text.rstrip()}"


def _searched(answer: HubAnswer) -> str:
    names = [f"{each.name} at {(each.commit or 'no commit')[:_SHORT]}" for each in answer.asked]
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
