"""Receive an HTTP response within limits on its size, its duration, and the number of redirects.

httpx2's own timeouts apply to single reads: a byte per second never exceeds them. It also decompresses a
block of the body in full, in as many layers as the server names, and reads a redirect's body to its end.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2
    import tenacity

ASKED_ENCODING = "gzip"
"""For the header Accept-Encoding; the only encoding that is decompressed here."""

WINDOW_S = 30.0
LEAST_BYTES = 30 * 1024
"""Minimum to receive per ``WINDOW_S``: a kilobyte per second, less than any usable connection."""

_REDIRECTS = 5
_ATTEMPTS = 3
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_GZIP = 16 + zlib.MAX_WBITS


class ReceivingError(Exception):
    """The response cannot be used; says why, as the end of the sentence "The server …"."""


class TooMuchError(ReceivingError):
    """A body is larger than allowed."""


def retrying() -> tenacity.Retrying:
    """Return what calls a function, up to three times where what failed may pass."""
    import tenacity

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(_may_pass),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=0.5, max=4),
        reraise=True,
    )


def _may_pass(error: BaseException) -> bool:
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        return error.response.status_code in _TRANSIENT
    return isinstance(error, (httpx2.ReadTimeout, httpx2.ReadError, httpx2.RemoteProtocolError))


@contextmanager
def opened(client: httpx2.Client, request: httpx2.Request, *, follow: bool) -> Iterator[httpx2.Response]:
    """Send a request; yield the response before its body is read.

    Args:
        follow: Whether to follow redirects, five at most.

    Raises:
        httpx2.HTTPError: There is no response.
        ReceivingError: There are too many redirects.
    """
    for _ in range(_REDIRECTS + 1):
        response = client.send(request, stream=True, follow_redirects=False)
        try:
            if not follow or response.next_request is None:
                yield response
                return
            request = response.next_request
        finally:
            response.close()
    raise ReceivingError(f"redirects more than {_REDIRECTS} times")


def received(response: httpx2.Response, most_bytes: int) -> Iterator[bytes]:
    """Yield a body's blocks, decompressed.

    Raises:
        httpx2.HTTPError: The connection breaks, or nothing arrives within the client's own timeout.
        TooMuchError: The decompressed body is larger than allowed.
        ReceivingError: It arrives too slowly, has another encoding, or is damaged.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", ASKED_ENCODING}:
        raise ReceivingError(f'packs its answer as "{encoding[:40]}", which was not asked for')
    unpack = zlib.decompressobj(_GZIP) if encoding == ASKED_ENCODING else None
    total = raw_bytes = 0
    for raw in _in_time(response.iter_raw()):
        raw_bytes += len(raw)
        try:
            block = raw if unpack is None else unpack.decompress(raw, most_bytes + 1 - total)
        except zlib.error as error:
            raise ReceivingError("sent a damaged answer") from error
        total += len(block)
        if total > most_bytes:
            raise TooMuchError(f"sends more than {most_bytes} bytes")
        yield block
    if unpack is not None and raw_bytes and not unpack.eof:
        raise ReceivingError("sent an answer that is cut short")


def _in_time(blocks: Iterator[bytes]) -> Iterator[bytes]:
    began, came = time.monotonic(), 0
    for block in blocks:
        yield block
        came += len(block)
        now = time.monotonic()
        if now - began >= WINDOW_S:
            if came < LEAST_BYTES:
                raise ReceivingError(f"sends less than {LEAST_BYTES // 1024} KB in {WINDOW_S:g} s")
            began, came = now, 0
