"""The interface of a tracker: it returns its issues page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from gitrag.errors import NOT_SET_UP, TRY_AGAIN, GitragError
from gitrag.trackers.issue import Issue


class TrackerError(GitragError):
    """A tracker gave no answer, or an unexpected one."""

    exit_code = TRY_AGAIN


class TrackerAuthError(TrackerError):
    """A tracker needs a token, or refused the one it got."""

    exit_code = NOT_SET_UP


class TrackerSetupError(TrackerError):
    """A tracker lacks something that the user must set or correct: a project, an address."""

    exit_code = NOT_SET_UP


class Order(Enum):
    """The order of a tracker's issues, which determines how far its cursor may move."""

    ASCENDING = "by time of update"
    """Everything updated before the last issue of a page has been listed."""

    ANY = "none"
    """Only at the end of the listing is it certain that nothing is missing."""

    WHOLE = "everything"
    """Every listing holds all issues: a missing one has been deleted."""


class IssuePage(Struct, frozen=True):
    """Some of a tracker's issues.

    Attributes:
        issues: In the tracker's order; an issue may be listed twice.
        cursor: Where the next page begins; None if this is the last.
        total: How many entries the listing has; None if the tracker does not say.
        is_upper_bound: Whether ``total`` counts what is no issue too, or whole pages.
        merged: Ids of issues that a merged change says it closes.
        at: The tracker's clock when it began to answer; None if it does not say.
        left_out: Lines about entries that could not be read.
    """

    issues: tuple[Issue, ...]
    cursor: str | None = None
    others: tuple[str, ...] = ()
    total: int | None = None
    is_upper_bound: bool = False
    merged: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    at: datetime | None = None
    left_out: tuple[str, ...] = ()


class Tracker(Protocol):
    """A tracker's issues."""

    @property
    def order(self) -> Order:
        """The order in which they are listed."""

    def fetch(self, since: datetime | None, cursor: str | None) -> IssuePage:
        """Return a page of the issues updated at or after a time.

        Args:
            cursor: The cursor of the previous page; None for the first page.

        Raises:
            TrackerError: The tracker gives no answer, or an unexpected one.
            NetworkError: The tracker cannot be reached.
        """

    def search(self, words: Sequence[str]) -> tuple[Issue, ...] | None:
        """Return what the tracker's own search finds first, one page; None if it has no search.

        Args:
            words: Of which an issue should have some, the most telling first; letters and digits only.
        """

    def close(self) -> None:
        """Close connections."""


class Secret(Struct, frozen=True):
    """A token; its ``repr`` does not show it.

    Attributes:
        origin: Where it was found, for the user: ``GITHUB_TOKEN``.
    """

    value: str
    origin: str

    def __repr__(self) -> str:
        return f"Secret(from {self.origin})"


class TrackerPlace(Struct, frozen=True):
    """Where a tracker's issues are.

    Attributes:
        base: ``https://host``, with a path if the server is under one; empty for a tracker in the repository.
        project: ``owner/name``, or the key of a Jira project or Linear team; empty in the repository.
        trusted: Whether the user named the host: tokens are sent only there and to the vendor's own host.
    """

    tracker: str
    base: str = ""
    project: str = ""
    trusted: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (self.tracker, self.base, self.project) if part)


class TrackerSetting(Struct, frozen=True):
    """The arguments for opening a tracker."""

    place: TrackerPlace
    root: Path
    environ: Mapping[str, str]
    secret: Secret | None
    note: Callable[[str], None]


class Registration(Struct, frozen=True):
    """A tracker that gitrag knows.

    Attributes:
        name: Its name in front matter and settings.
        hosts: The vendor's own hosts, to which a token may always be sent; the first is the default server.
        aliases: Other names of the first host, for git over ssh or for people.
        labels: First labels of host names that run such a server.
        project: What a project's name looks like, with an example; empty if it has none.
        variables: Environment variables that may hold a token; the first one set is used.
        other_variables: Those for hosts other than the vendor's, where they are tried first.
        server_variables: Those with which the user names the server that such tokens are for.
        cli: The vendor's program that prints the token for a ``{host}``, or for an ``{address}``, which
            includes the port; empty if there is none.
        cli_input: What the program reads from standard input.
        probe: A path that only such a server answers, and a field or header of the answer; or None.
        check: The command that shows what is wrong with a token.
        code: What follows a project's address in that of lines of a file in a commit; empty for no forge.
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
    code: str = ""
