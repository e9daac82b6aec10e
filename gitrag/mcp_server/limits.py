"""Limits on what a client may send, so that no request keeps the server from answering others."""

from __future__ import annotations

from collections.abc import Mapping

MOST_MESSAGE_BYTES = 4 * 1024 * 1024
"""The SDK's own limit over HTTP; parsing takes 10 ms per MiB, in the thread that also answers pings."""

MOST_TEXT_CHARS = 100_000
"""Longest argument: a chapter of a book, pasted. Splitting a query of 6,000,000 characters took 20 s."""

MOST_VALUES = 50_000
"""Most values in all arguments together, such as the names of changed files."""


def too_much(tool: str, arguments: Mapping[str, object]) -> str:
    """Return which of a tool's arguments exceeds a limit; empty if none does."""
    values = 0
    for name, argument in arguments.items():
        waiting: list[object] = [argument]
        while waiting:
            value = waiting.pop()
            values += 1
            if isinstance(value, str) and len(value) > MOST_TEXT_CHARS:
                return (
                    f"{tool}: {name[:60]!r} has a text of {len(value):,} characters;"
                    f" {MOST_TEXT_CHARS:,} are allowed. Send what matters of it."
                )
            if isinstance(value, dict):
                waiting += [*value, *value.values()]
            elif isinstance(value, list):
                waiting += value
            if values + len(waiting) > MOST_VALUES:
                return (
                    f"{tool}: {name[:60]!r} has more than {MOST_VALUES:,} values, which is the most."
                    " Send fewer at a time."
                )
    return ""
