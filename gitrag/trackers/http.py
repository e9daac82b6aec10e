"""HTTP for all trackers that use it: retries, rate limits, redirects, time limits, errors.

The token is sent in the header Authorization only, which is dropped when a redirect leads to another origin.
"""

from __future__ import annotations

import json
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from gitrag import __version__
from gitrag.config.rules import LOCAL_HOSTS
from gitrag.errors import NetworkError
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, TooMuchError, opened, received
from gitrag.trackers.base import IssuePage, TrackerAuthError, TrackerError, TrackerSetting, TrackerSetupError
from gitrag.trackers.fields import MalformedError, count
from gitrag.trackers.issue import Issue, read_moment, show_moment

if TYPE_CHECKING:
    import httpx2
    import tenacity

SEARCHED = 20
"""Hits that a tracker's own search is asked for."""

MOST_WORDS = 6
"""Words that it is told, of a text that may be long: one of GitHub's may have five operators."""

RETRIES = 3
WAIT_CAP_S = 60.0
"""A server that asks for a longer pause is not called again: the sync fails with the time to try again."""

_DAY_S = 86_400.0
_LONGEST_PAUSE_S = 100 * 365 * _DAY_S
"""A longer pause is treated as this long, so that its end can be computed as a date."""

_FIRST_WAIT_S = 1.0
_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
"""GitHub gives up on a request after 10 s; a page of Jira may take as long."""

_ANSWER_BYTES = 256 * 1024 * 1024
"""Largest answer: 100 issues of a megabyte, escaped; more cannot be a page of issues."""

_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
"""OpenSSL's name for an untrusted certificate: httpx2 keeps only the text of the ssl module's exception."""

_RATE_LIMITED = 429
_TOO_EARLY = frozenset({408, 425})
_SUCCESS = range(200, 300)
_SERVER_ERRORS = range(500, 600)
_BUDGETS = (
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
    ("x-ratelimit-requests-remaining", "x-ratelimit-requests-reset"),
    ("x-ratelimit-complexity-remaining", "x-ratelimit-complexity-reset"),
)
"""Headers with the calls left and when they are refilled: of GitHub and Jira, of GitLab, the two of Linear.
Most answers have them, also failures for other reasons.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://developer.atlassian.com/cloud/jira/platform/rate-limiting/
https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
https://linear.app/developers/rate-limiting
"""

_LATER_S = 10_000_000_000
"""Larger timestamps are in milliseconds: in seconds, this is the year 2286."""

UNREACHABLE = "Network unreachable — sync skipped."
AUTH_FAILED = "Tracker authentication failed — check `{command}`."

Params = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """The answer of a server.

    Attributes:
        headers: The headers, names in lower case.
    """

    data: Any
    headers: Mapping[str, str] = field(repr=False)

    @property
    def at(self) -> datetime | None:
        """The time by the server's clock."""
        return _http_date(self.headers.get("date", ""))

    def link(self, relation: str) -> Mapping[str, str] | None:
        """Return the query parameters of the Link header (RFC 8288) with this relation, or None."""
        for url, parameters in re.findall(r"<([^<>]*)>([^<]*)", self.headers.get("link", "")):
            if re.search(rf';\s*rel\s*=\s*"?[^"]*\b{relation}\b', parameters):
                return {key: values[-1] for key, values in parse_qs(urlsplit(url).query).items()}
        return None


class _Passing(Exception):  # noqa: N818  # a status that may change shortly
    def __init__(self, what: str, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.wait_s = wait_s


class Http:
    """Calls to one tracker.

    Args:
        authorization: The header's value; empty for none.
        check: The command that shows what is wrong with the token.
        base: Where its API is, if not at the address of the place.
        meaning: Returns the status that an answer really means, where the body tells and the status does not.
    """

    def __init__(
        self,
        setting: TrackerSetting,
        authorization: str,
        check: str,
        *,
        base: str = "",
        meaning: Callable[[int, bytes], int] = lambda status, _content: status,
    ) -> None:
        from http.cookiejar import DefaultCookiePolicy

        import httpx2

        self.place = replace(setting.place, base=base or setting.place.base)
        self._check = check
        self._note = setting.note
        self._meaning = meaning
        self._authorized = bool(authorization)
        headers = {"User-Agent": f"gitrag/{__version__}", "Accept": "application/json"}
        headers["Accept-Encoding"] = ASKED_ENCODING
        if authorization:
            headers["Authorization"] = authorization
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # else it logs a line for each request
        at = urlsplit(self.place.base)
        # A proxy of the environment would have the token of what is on this machine, in plain.
        is_here = at.scheme == "http" and at.hostname in LOCAL_HOSTS
        try:
            self._client = httpx2.Client(
                headers=headers,
                trust_env=not is_here,
                timeout=httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
            )
        except (ImportError, ValueError) as error:  # the environment names a proxy that httpx2 cannot use
            raise NetworkError(UNREACHABLE, f"The proxy of the environment: {error}") from error
        # Cookies are not needed, and one that is not ASCII would make the next request fail.
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))

    def get(self, path: str, params: Params) -> ServerResponse:
        """Request a page.

        Raises:
            NetworkError: The server cannot be reached.
        """
        import httpx2

        url = httpx2.URL(self.place.base + path, params={**params})
        return self._call("GET", url, None)

    def post(self, path: str, body: Any) -> ServerResponse:
        """Post JSON; errors as in `get`."""
        import httpx2

        return self._call("POST", httpx2.URL(self.place.base + path), body)

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def malformed(self, error: MalformedError) -> TrackerError:
        """Return the error for an answer of unexpected form."""
        return TrackerError(
            f"{self.place.tracker} answered with something else than issues: {error}.",
            f"Is {self.place.base} the right address? `gitrag issues status` shows it.",
        )

    def _call(self, method: str, url: httpx2.URL, body: Any) -> ServerResponse:
        import httpx2
        import tenacity

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Passing),
            stop=tenacity.stop_after_attempt(RETRIES + 1),
            wait=wait_s,
            before_sleep=self._say_waiting,
            reraise=True,
        )
        try:
            answer = retrying(self._once, method, url, body)
        except _Passing as error:
            raise TrackerError(
                f"{self.place.tracker} {error}, {RETRIES + 1} times in a row.",
                "What was written so far stays; the next sync goes on from there.",
            ) from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            if _UNTRUSTED in str(error):
                raise TrackerSetupError(
                    f"The certificate of {url.host} is not trusted.",
                    f"Where its authority is your own: SSL_CERT_FILE=/path/to/ca.pem ({_said(error)})",
                ) from error
            raise NetworkError(UNREACHABLE, f"No way to {url.host}: {_said(error)}.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise TrackerError(f"{self.place.tracker} cannot be asked: {_said(error)}.") from error
        if retrying.statistics["attempt_number"] > 1:
            self._note("")
        return answer

    def _once(self, method: str, url: httpx2.URL, body: Any) -> ServerResponse:
        import httpx2

        try:
            follow = method == "GET"  # a redirect would turn a POST into a GET
            request = self._client.build_request(method, url, json=body)
            with opened(self._client, request, follow=follow) as response:
                content = bytearray()
                for block in received(response, _ANSWER_BYTES):
                    content += block
        except (httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.PoolTimeout) as error:
            raise _Passing("did not answer in time") from error
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as error:
            raise _Passing("broke the connection off") from error
        except TooMuchError as error:
            raise TrackerError(
                f"{self.place.tracker} answered with over {_ANSWER_BYTES} bytes.",
                "That is no page of issues; what was written so far stays.",
            ) from error
        except ReceivingError as error:
            raise _Passing(str(error)) from error
        self._judge(self._meaning(response.status_code, bytes(content)), response.headers)
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:
            if "html" in response.headers.get("content-type", ""):
                raise self.malformed(MalformedError("it is a web page")) from error
            raise _Passing("sent an answer that is cut short") from error
        return ServerResponse(data, {key.lower(): value for key, value in response.headers.items()})

    def _judge(self, status: int, headers: Mapping[str, str]) -> None:
        """Raise the error that a status means, unless it is success."""
        if status in _SUCCESS:
            return
        pause = pause_s(headers, time.time())
        limited = status == _RATE_LIMITED or (
            status in {401, 403} and (headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers)
        )
        if (limited or status in _SERVER_ERRORS) and pause is not None and pause > WAIT_CAP_S:
            raise self._limited(pause)
        if limited:
            raise _Passing(f"answered {status}: too many requests", pause)
        if status in _SERVER_ERRORS or status in _TOO_EARLY:
            raise _Passing(f"answered {status}", pause)
        if status in {401, 403}:
            hint = "" if self._authorized else "No token was sent. "
            raise TrackerAuthError(
                AUTH_FAILED.format(command=self._check.format(host=urlsplit(self.place.base).hostname)),
                f"{hint}{self.place.base} answered {status}; `gitrag issues status` names the token.",
            )
        if status in {404, 410}:
            raise TrackerSetupError(
                f"{self.place.tracker} at {self.place.base} has no issues of {self.place.project}"
                f" that {'this token' if self._authorized else 'everybody'} may see.",
                "A wrong name, a private project, or issues switched off? `gitrag issues status` shows it.",
            )
        raise TrackerError(f"{self.place.tracker} answered {status}.", self.place.base)

    def _limited(self, pause: float) -> TrackerError:
        form = "%H:%M UTC" if pause < _DAY_S else "%Y-%m-%d %H:%M UTC"
        until = datetime.fromtimestamp(time.time() + min(pause, _LONGEST_PAUSE_S), tz=UTC).strftime(form)
        more = "" if self._authorized else " A token allows many more."
        return TrackerError(
            f"{self.place.tracker} allows no more requests until {until}.",
            f"Sync again then: it goes on from where it is.{more}",
        )

    def _say_waiting(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        pause = state.next_action.sleep if state.next_action else 0.0
        self._note(f"{self.place.tracker} {error}; again in {pause:.0f} s")


class HttpTracker(ABC):
    """Base class of the trackers that use HTTP; see `gitrag.trackers.base.Tracker`."""

    _http: Http

    def fetch(self, since: datetime | None, cursor: str | None) -> IssuePage:
        try:
            return self._page(since, cursor)
        except MalformedError as error:
            raise self._http.malformed(error) from error

    def search(self, words: Sequence[str]) -> tuple[Issue, ...]:
        try:
            return self._found(words)
        except MalformedError as error:
            raise self._http.malformed(error) from error

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    @abstractmethod
    def _found(self, words: Sequence[str]) -> tuple[Issue, ...]:
        """Ask the tracker's search; raise `MalformedError` if its answer has an unexpected form."""

    @abstractmethod
    def _page(self, since: datetime | None, cursor: str | None) -> IssuePage:
        """Request and parse a page; raise `MalformedError` if it has an unexpected form."""


def wait_s(state: tenacity.RetryCallState) -> float:
    """Return how long to wait before the next call: what the server asked for, else 1, 2, 4 seconds."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _Passing) and error.wait_s is not None:
        return error.wait_s
    return float(_FIRST_WAIT_S * 2 ** (state.attempt_number - 1))


def pause_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds a server asks to wait; None if it does not say.

    Retry-After (RFC 9110) holds seconds or a date. Without it, the first budget of ``_BUDGETS`` that is used
    up tells when it is refilled: in seconds since 1970 (Linear: milliseconds), or as a date (Jira).
    """
    after = headers.get("retry-after", "").strip()
    if after:
        if after.isascii() and after.isdigit():
            return float(after[:9])
        at = _http_date(after)
        return None if at is None else max(0.0, at.timestamp() - now)
    for remaining, name in _BUDGETS:
        reset = headers.get(name, "").strip()
        if headers.get(remaining, "0") != "0":
            continue
        seconds = count(reset)
        if seconds is not None:
            return max(0.0, (seconds / 1000 if seconds > _LATER_S else seconds) - now)
        try:
            return max(0.0, datetime.fromisoformat(reset).timestamp() - now)
        except (ValueError, OverflowError):
            continue
    return None


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _said(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = timedelta(seconds=1)
"""Time stamps are truncated to the second, and it is not documented whether the bound itself is included."""


class Walk(Struct, frozen=True):
    """The position in a listing.

    Attributes:
        since: Issues updated at or after this time are requested; None for all.
        after: The server's own cursor, used instead of the page number; empty if it has none.
    """

    since: datetime | None
    page: int = 1
    after: str = ""

    @classmethod
    def start(cls, since: datetime | None, cursor: str | None) -> Walk:
        """Begin, or continue from a cursor that `next` returned."""
        if cursor is None:
            return cls(since)
        bound, page, after = json.loads(cursor)
        return cls(read_moment(bound) if bound else None, page, after)

    @property
    def bound(self) -> str | None:
        """The time to send to the server: a second earlier, so that ``since`` itself is always included."""
        return show_moment((max(self.since, _EPOCH) - _STAMP).replace(microsecond=0)) if self.since else None

    def next(self, last_updated: str, after: str = "") -> str:
        """Return the cursor for what follows a page, given when its last issue was updated."""
        last = read_moment(last_updated) if last_updated else None
        moved = last is not None and (self.since is None or last - self.since > _STAMP)
        following = Walk(last) if moved else Walk(self.since, self.page + 1, after)
        bound = show_moment(following.since) if following.since else ""
        return json.dumps([bound, following.page, following.after])
