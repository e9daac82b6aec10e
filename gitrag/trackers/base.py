"""What a tracker is: something that gives its issues page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Protocol

from gitrag.errors import NOT_SET_UP, TRY_AGAIN, GitragError
from gitrag.trackers.issue import Issue


class TrackerError(GitragError):
    """A tracker did not answer, or not with issues."""

    exit_code = TRY_AGAIN


class TrackerAuthError(TrackerError):
    """A tracker wants another token, or one at all."""

    exit_code = NOT_SET_UP


class TrackerSetupError(TrackerError):
    """A tracker lacks something the user must say or mend: a project, an address."""

    exit_code = NOT_SET_UP


class Order(Enum):
    """In which order a tracker gives its issues, which says how far its cursor may move."""

    ASCENDING = "by time of update"
    """All that was updated before the last one of a page has been given."""

    ANY = "none"
    """Only the end of the listing says that all has been given."""

    WHOLE = "everything"
    """Every listing holds every issue: what it lacks is gone."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a tracker's issues.

    Attributes:
        issues: In the tracker's order; one may come twice.
        cursor: Where the next page begins; None when this is the last.
        others: Ids of the entries of the page that are no issues.
        total: How many entries the listing has; None when the tracker does not say.
        merged: Ids of issues that a merged change says it closes.
        gone: Ids of issues that were there and are deleted.
        at: The tracker's clock when it began to answer; None when it does not say.
        odd: Lines about what could not be read.
    """

    issues: tuple[Issue, ...]
    cursor: str | None = None
    others: tuple[str, ...] = ()
    total: int | None = None
    merged: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    at: datetime | None = None
    odd: tuple[str, ...] = ()


class Tracker(Protocol):
    """A tracker's issues."""

    @property
    def order(self) -> Order:
        """In which order they come."""

    def fetch(self, since: datetime | None, cursor: str | None) -> Page:
        """Give a page of the issues updated at or after a time.

        Args:
            since: None for all there are.
            cursor: What the page before said; None for the first.

        Raises:
            TrackerError: The tracker does not answer, or not with issues.
            NetworkError: There is no way to it.
        """

    def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A token; it shows nowhere by accident.

    Attributes:
        value: What it is.
        origin: Where it comes from, for the user: ``GITHUB_TOKEN``.
    """

    value: str
    origin: str

    def __repr__(self) -> str:
        return f"Secret(from {self.origin})"


@dataclass(frozen=True, slots=True)
class TrackerPlace:
    """Where a tracker's issues are.

    Attributes:
        tracker: Its name in the registry.
        base: ``https://host``, and a path where the server lies under one; empty in the repository.
        project: ``owner/name``, or the key of a Jira project or a Linear team; empty in the repository.
        trusted: Whether the user named the host: tokens go nowhere else but to the vendor's own.
    """

    tracker: str
    base: str = ""
    project: str = ""
    trusted: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (self.tracker, self.base, self.project) if part)


@dataclass(frozen=True, slots=True)
class TrackerSetting:
    """What a tracker is opened with.

    Attributes:
        place: Where its issues are.
        root: The working tree's top level.
        environ: The environment, for programs that are started.
        secret: The token; None to ask without one.
        note: Called with what is being waited for.
    """

    place: TrackerPlace
    root: Path
    environ: Mapping[str, str]
    secret: Secret | None
    note: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Registration:
    """A tracker that gitrag knows.

    Attributes:
        name: As in front matter and settings.
        hosts: The vendor's own hosts, to which a token may always go; the first one is its address.
        aliases: Other names of the first host, for git over ssh or for people.
        labels: A host whose leading label is one of these runs such a server.
        project: What names the issues' home there, with an example; empty where nothing does.
        variables: Environment variables that may hold a token, first come first served.
        other_variables: Those that are meant for other hosts than the vendor's, and go before there.
        server_variables: Those by which the user names a server of such tokens.
        cli: The vendor's program that knows the token of a ``{host}``, or of an ``{address}``, which has the
            port too; empty for none.
        cli_input: What the program reads from standard input.
        probe: Where such a server, and no other, answers: path and a field or header it has; None for none.
        check: The command that shows what is wrong with a token.
        open: Make the tracker.
    """

    name: str
    open: Callable[[TrackerSetting], Tracker]
    hosts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    project: str = ""
    variables: tuple[str, ...] = ()
    other_variables: tuple[str, ...] = ()
    server_variables: tuple[str, ...] = ()
    cli: tuple[str, ...] = ()
    cli_input: str = ""
    probe: tuple[str, str] | None = None
    check: str = "gitrag issues status"
