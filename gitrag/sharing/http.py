"""Packs that a web server gives: a directory of packs, read over HTTPS without a password."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gitrag import __version__
from gitrag.config.rules import LOCAL_HOSTS
from gitrag.errors import NetworkError
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, TooMuchError, opened, received
from gitrag.sharing.directory import LISTING, is_of_a_pack
from gitrag.sharing.packs import MOST_ROWS_BYTES
from gitrag.sharing.place import MOST_FILES, GoneError, NoPlaceError, SharingError, TooLargeError

if TYPE_CHECKING:
    import httpx2

_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 10.0
_ATTEMPTS = 3

_LEAST_BYTES, _WINDOW_S = 15 * 16 * 1024, 15.0
"""Slower vectors are not worth waiting for: 16 kB/s are 43 a second, as many as one core computes."""
_LISTING_BYTES = MOST_FILES * 128

_OK, _PART = 200, 206
_GONE = frozenset({404, 410})
_NO_RIGHTS = frozenset({401, 403, 407})
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class _TransientError(Exception):
    """A failure that may pass; the text says what, as the end of the sentence "The server …"."""


class Server:
    """A `gitrag.sharing.place.Place` that can only be read.

    Args:
        address: The directory's URL, without user or password: https, or http on this machine.
    """

    has_ranges = True
    is_writable = False

    def __init__(self, address: str) -> None:
        self.address = address
        self.received = 0
        self._made: httpx2.Client | None = None

    def list(self) -> Mapping[str, int]:
        """Read the listing; see `gitrag.sharing.place.Place`."""
        try:
            data = self._get(LISTING, _LISTING_BYTES, None)
        except GoneError as error:
            raise NoPlaceError(
                f"{self.address} has no {LISTING}.", "Is it a directory that `gitrag share push` wrote to?"
            ) from error
        found: dict[str, int] = {}
        for line in data.decode("ascii", "replace").splitlines():
            name, _, size = line.partition(" ")
            if is_of_a_pack(name) and size.isascii() and size.isdigit():
                found[name] = int(size[:12])
        return found

    def prefetch(self, most_bytes: Mapping[str, int]) -> None:
        """Do nothing: one connection serves one file after the other."""

    def get(self, name: str, most_bytes: int) -> bytes:
        """Get a file; see `gitrag.sharing.place.Place`."""
        return self._get(name, most_bytes, None)

    def read(self, name: str, start: int, length: int) -> bytes:
        """Get a range of a file; see `gitrag.sharing.place.Place`."""
        return self._get(name, length, start)

    def change(self, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Raise: a web server takes no files.

        Raises:
            NoPlaceError: Always.
        """
        del add, drop
        raise NoPlaceError(f"{self.address} can only be read.", "Push to the directory that is served there.")

    def _get(self, name: str, most_bytes: int, start: int | None) -> bytes:
        import httpx2
        import tenacity

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_TransientError),
            stop=tenacity.stop_after_attempt(_ATTEMPTS),
            wait=tenacity.wait_random_exponential(multiplier=0.2, max=4),
            reraise=True,
        )
        try:
            data: bytes = retrying(self._once, name, most_bytes, start)
        except (_TransientError, httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise NetworkError(f"{self.address} cannot be reached: {error}.", "Try again later.") from error
        except TooMuchError as error:
            raise TooLargeError(f"{name} at {self.address} is larger than {most_bytes} bytes.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ReceivingError) as error:
            raise SharingError(f"{self.address} cannot be read: the server {error}.") from error
        self.received += len(data)
        return data

    def _once(self, name: str, most_bytes: int, start: int | None) -> bytes:
        import httpx2

        client = self._client()
        headers = {} if start is None else {"Range": f"bytes={start}-{start + most_bytes - 1}"}
        request = client.build_request("GET", f"{self.address}/{name}", headers=headers)
        try:
            with opened(client, request, follow=True) as response:
                self._judge(response.status_code, name)
                if start is None or response.status_code == _PART:
                    return b"".join(_blocks(response, most_bytes))
                data = bytearray()  # the server knows no ranges
                for block in _blocks(response, MOST_ROWS_BYTES):
                    data += block
                    if len(data) >= start + most_bytes:
                        break
                return bytes(data[start : start + most_bytes])
        except (
            httpx2.ReadTimeout,
            httpx2.PoolTimeout,
            httpx2.ReadError,
            httpx2.RemoteProtocolError,
        ) as error:
            raise _TransientError(str(error) or "did not answer in time") from error

    def _judge(self, status: int, name: str) -> None:
        if status in {_OK, _PART}:
            return
        if status in _GONE:
            raise GoneError(name)
        if status in _TRANSIENT:
            raise _TransientError(f"it answered {status}")
        if status in _NO_RIGHTS:
            raise NoPlaceError(
                f"{self.address} answered {status}: not everybody may read it.",
                "gitrag sends no password there; share over git, or by a directory.",
            )
        raise SharingError(f"{self.address} answered {status}.")

    def _client(self) -> httpx2.Client:
        if self._made is None:
            from http.cookiejar import DefaultCookiePolicy

            import httpx2

            logging.getLogger("httpx2").setLevel(logging.WARNING)  # else it logs a line for each request
            parts = urlsplit(self.address)
            local, same = parts.scheme == "http", parts.hostname in LOCAL_HOSTS

            def guard(request: httpx2.Request) -> None:
                """Refuse redirects from https to http, and to this machine."""
                at_home = request.url.host in LOCAL_HOSTS
                if (request.url.scheme != "https" and not (local and at_home)) or (at_home and not same):
                    raise ReceivingError(f"redirects to {request.url.scheme}://{request.url.host}")

            headers = {"User-Agent": f"gitrag/{__version__}", "Accept-Encoding": ASKED_ENCODING}
            try:
                self._made = httpx2.Client(
                    headers=headers,
                    timeout=httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
                    event_hooks={"request": [guard]},
                )
            except (ImportError, ValueError) as error:  # a proxy in the environment that httpx2 cannot use
                raise NetworkError(
                    f"{self.address} cannot be asked: {error}.", "Look at HTTPS_PROXY and NO_PROXY."
                ) from error
            self._made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
            weakref.finalize(self, self._made.close)
        return self._made


def _blocks(response: httpx2.Response, most_bytes: int) -> Iterator[bytes]:
    return received(response, most_bytes, least_bytes=_LEAST_BYTES, window_s=_WINDOW_S)
