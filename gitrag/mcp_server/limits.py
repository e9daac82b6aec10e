"""How much a client may send: nothing that it sends keeps the server from answering others."""

from __future__ import annotations

from collections.abc import Mapping

MOST_MESSAGE_BYTES = 4 * 1024 * 1024
"""The SDK's own limit over HTTP; a message is parsed where pings are answered, 10 ms a MiB."""

MOST_TEXT_CHARS = 100_000
"""Of an argument: a chapter of a book, pasted. Of a question of 6,000,000 the words alone took 20 s."""

MOST_VALUES = 50_000
"""Of all arguments together, such as the names of changed files."""


def too_much(tool: str, arguments: Mapping[str, object]) -> str:
    """Say what of a tool's arguments is more than is taken; nothing where nothing is."""
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
