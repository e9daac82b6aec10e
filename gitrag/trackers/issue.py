"""An issue in one form, whichever tracker it is from, and as Markdown with YAML front matter. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert, to_builtins

from gitrag.words.bounded_yaml import is_readable

if TYPE_CHECKING:
    import yaml

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
"""An issue named in a ``Blocks:`` line: ``#142``, ``PROJ-123``, ``bd-a1b2.3``, or the URL of its page. Issues
of other repositories (``owner/name#1``) have no file here and are left out."""

_OWN = re.compile(r"(?<![\w/#.-])[\w-]+(?:\.[\w-]+)*")
"""What may be an issue's number or id by its tracker's own count, ``1.2``."""


class IssueState(StrEnum):
    """The state of an issue."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"
    DRAFT = "draft"


class IssueLinks(Struct, frozen=True):
    """What an issue refers to, each list sorted and without duplicates.

    Attributes:
        specs: Ids such as ``SPEC-0019``, from title and body.
        adrs: Ids such as ``ADR-0007``, from title and body.
        blocks: Ids of issues that wait for it, from ``Blocks:`` lines and the tracker's own links.
        blocked_by: Ids of issues that it waits for, from ``Blocked by:`` lines and the tracker's own links.
    """

    specs: tuple[str, ...] = ()
    adrs: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


class Issue(Struct, frozen=True):
    """An issue of any tracker.

    Attributes:
        id: Its id in the tracker: ``142``, ``PROJ-123``, ``bd-a1b2``.
        title: Its title.
        status: Its state.
        labels: In the tracker's order.
        assignees: User names.
        author: User name; empty if the account was deleted.
        created: ISO 8601 in UTC, ``2026-01-02T03:04:05Z``; empty if the tracker keeps none.
        updated: In the same form.
        closed: In the same form; empty while it is open.
        url: Its page; for a tracker in the repository, its file.
        tracker: The tracker's name, as in the registry.
        references: What it refers to.
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
    references: IssueLinks
    body: str


def find_references(
    own_id: str,
    title: str,
    body: str,
    *,
    blocks: Iterable[str] = (),
    blocked_by: Iterable[str] = (),
    id_of: Callable[[str], str] = lambda _number: "",
) -> IssueLinks:
    """Return the references in an issue's text, and the links that its tracker keeps.

    Args:
        id_of: Returns the id of what a line calls by a number of the tracker's own; empty if it is none.
    """
    text = f"{title}\n{body}"
    edges: dict[str, set[str]] = {"blocks": set(blocks), "blocked by": set(blocked_by)}
    for kind, rest in _EDGE.findall(body.replace("\r\n", "\n")):
        found = edges[kind.lower().replace("-", " ")]
        found.update(filter(None, map(id_of, _OWN.findall(rest))))
        for mention in _MENTION.finditer(_OWN.sub(lambda own: "" if id_of(own[0]) else own[0], rest)):
            name = mention["number"] or mention["key"] or mention["linked"]
            if not _SPEC.fullmatch(name) and not _ADR.fullmatch(name):
                found.add(name)
    for found in edges.values():
        found.discard(own_id)
    return IssueLinks(
        specs=tuple(sorted(set(_SPEC.findall(text)))),
        adrs=tuple(sorted(set(_ADR.findall(text)))),
        blocks=tuple(sorted(edges["blocks"], key=by_number)),
        blocked_by=tuple(sorted(edges["blocked by"], key=by_number)),
    )


def by_number(issue_id: str) -> tuple[str | int, ...]:
    """Return a sort key for ids with their numbers in order: 9 before 10, PROJ-9 before PROJ-10."""
    parts = re.split(r"(\d{1,18})", issue_id)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def moment(text: str) -> str:
    """Return a tracker's time stamp as ISO 8601 in UTC, to the second or, if it has one, with the fraction.

    Raises:
        ValueError: The text is not a time stamp with an offset.
    """
    if not text:
        return ""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return show_moment(found)


def show_moment(at: datetime) -> str:
    """Return a point in time as ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_moment(text: str) -> datetime:
    """Parse what `moment` returned; such texts sort correctly only if they have the same precision."""
    return datetime.fromisoformat(text)


_FENCE = "---\n"
_HEAD = re.compile(rb"---\n(.*?\n)---\n", re.DOTALL)
"""YAML's own dumper never puts ``---`` at the start of a line inside a document."""

_NO_WRAP = 1 << 30
_SURROGATES = re.compile("[\ud800-\udfff]")


def render(issue: Issue) -> bytes:
    """Return the content of an issue's file: front matter, an empty line, the body verbatim."""
    import yaml

    head = to_builtins(issue) | {"closed": issue.closed or None}
    del head["body"]
    front = yaml.dump(
        _whole(head),
        Dumper=_dumper(),
        sort_keys=False,
        allow_unicode=is_readable(head),
        default_flow_style=False,
        width=_NO_WRAP,
    )
    text = f"{_FENCE}{front}{_FENCE}" + (f"\n{issue.body}" if issue.body else "")
    return text.encode("utf-8", "replace")  # JSON may hold a lone surrogate, which UTF-8 cannot encode


def parse(content: bytes) -> Issue:
    """Parse what `render` returned.

    Raises:
        ValueError: The content is not that of an issue's file.
    """
    found = _HEAD.match(content)
    if not found:
        raise ValueError("no front matter")
    import yaml

    try:
        head = yaml.load(found[1], Loader=_loader())  # noqa: S506  # a subclass of the safe loader
        body = content[found.end() :].removeprefix(b"\n").decode("utf-8", "replace")
        return convert({**head, "closed": head["closed"] or "", "body": body}, Issue)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("the front matter is no issue's") from error


def _whole(value: Any) -> Any:
    """Replace lone surrogates, which the dumper cannot write."""
    if isinstance(value, str):
        return _SURROGATES.sub("?", value)
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return value


def _dumper() -> type[yaml.SafeDumper]:
    """Return the safe dumper, the C one where PyYAML has it: ten times as fast."""
    import yaml

    return getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _loader() -> type[yaml.SafeLoader]:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
