"""What a tracker's issue is here, whatever it is there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

_SPEC = re.compile(r"\bSPEC-\d{4}\b")
_ADR = re.compile(r"\bADR-\d{4}\b")
_EDGE = re.compile(r"(?im)^[ \t>*_-]*(blocks|blocked[ -]by)[ \t*_]*:[ \t*_]*(.*)$")
_MENTION = re.compile(
    r"(?<![\w/#.-])(?:"
    r"#(?P<number>\d+)"
    r"|(?P<key>[A-Za-z][A-Za-z0-9_]*-[A-Za-z0-9]+(?:\.\d+)*)"
    r"|https?://\S*?/(?:issues|browse|issue)/(?P<linked>[A-Za-z0-9_-]+)\S*"
    r")"
)
"""An issue that a ``Blocks:`` line names: ``#142``, ``PROJ-123``, ``bd-a1b2.3``, or its page's address. One
of another repository (``owner/name#1``) has no file here and is left out."""


class IssueState(StrEnum):
    """Where an issue stands."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class References:
    """What an issue names, each sorted and once.

    Attributes:
        specs: ``SPEC-0019``, from title and body.
        adrs: ``ADR-0007``, from title and body.
        blocks: Ids of issues that wait for it, from ``Blocks:`` lines and the tracker's own links.
        blocked_by: Ids of issues that it waits for, from ``Blocked by:`` lines and the tracker's own links.
    """

    specs: tuple[str, ...] = ()
    adrs: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue of any tracker.

    Attributes:
        id: Its name in the tracker: ``142``, ``PROJ-123``, ``bd-a1b2``.
        title: Its title.
        status: Where it stands.
        labels: In the tracker's order.
        assignees: User names.
        author: User name; empty when the account is gone.
        created: ISO 8601 in UTC, ``2026-01-02T03:04:05Z``; empty where the tracker keeps none.
        updated: As created.
        closed: As created; empty while it is open.
        url: Its page; for a tracker in the repository, its file.
        tracker: The tracker's name, as in the registry.
        references: What it names.
        body: Verbatim.
    """

    id: str
    title: str
    status: IssueState
    labels: tuple[str, ...]
    assignees: tuple[str, ...]
    author: str
    created: str
    updated: str
    closed: str
    url: str
    tracker: str
    references: References
    body: str


def find_references(
    own_id: str,
    title: str,
    body: str,
    *,
    blocks: Iterable[str] = (),
    blocked_by: Iterable[str] = (),
) -> References:
    """Gather what an issue names in its text, and the links its tracker keeps."""
    text = f"{title}\n{body}"
    edges: dict[str, set[str]] = {"blocks": set(blocks), "blocked by": set(blocked_by)}
    for kind, rest in _EDGE.findall(body.replace("\r\n", "\n")):
        found = edges[kind.lower().replace("-", " ")]
        for mention in _MENTION.finditer(rest):
            name = mention["number"] or mention["key"] or mention["linked"]
            if not _SPEC.fullmatch(name) and not _ADR.fullmatch(name):
                found.add(name)
    for found in edges.values():
        found.discard(own_id)
    return References(
        specs=tuple(sorted(set(_SPEC.findall(text)))),
        adrs=tuple(sorted(set(_ADR.findall(text)))),
        blocks=tuple(sorted(edges["blocks"], key=by_number)),
        blocked_by=tuple(sorted(edges["blocked by"], key=by_number)),
    )


def by_number(issue_id: str) -> tuple[str | int, ...]:
    """Give the key by which ids sort as people count: 9 before 10, PROJ-9 before PROJ-10."""
    parts = re.split(r"(\d{1,18})", issue_id)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def moment(text: str) -> str:
    """Give a tracker's time stamp as ISO 8601 in UTC, to the second or, where it tells, the microsecond.

    Raises:
        ValueError: It is no time stamp with an offset.
    """
    if not text:
        return ""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return show_moment(found)


def show_moment(at: datetime) -> str:
    """Give a point in time as ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_moment(text: str) -> datetime:
    """Read what `moment` gave; these sort as text only where they have the same precision."""
    return datetime.fromisoformat(text)
