"""What comes in over standard streams: every line is a message, or answered with what is wrong with it."""

from __future__ import annotations

import json
from io import BytesIO

import anyio
import pytest
from mcp_types import INVALID_REQUEST

from gitrag.mcp_server.server import _InputLines

GOOD = b'{"jsonrpc":"2.0","id":"a","method":"ping"}\n'


def read(data: bytes) -> tuple[list[str], list[tuple[object, str]]]:
    """Read lines; return those that are messages, and id and text of each answer to another."""

    async def run() -> tuple[list[str], list[tuple[object, str]]]:
        send, receive = anyio.create_memory_object_stream(9)
        lines = _InputLines(BytesIO(data))
        lines.answers = send
        good = [line async for line in lines]
        send.close()
        async with receive:
            answers = [each.message async for each in receive]
        assert {each.error.code for each in answers} <= {INVALID_REQUEST}
        return good, [(each.id, each.error.message) for each in answers]

    return anyio.run(run)


@pytest.mark.parametrize(
    ("line", "number", "said"),
    [
        (rb'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\ud83d"}}', 7, "Half of a character"),
        (rb'{"jsonrpc":"2.0","method":"x","params":{"a":"\ude00!"},"id":"b"}', "b", "Half of a character"),
        (b'{"jsonrpc":"2.0","id":7,"method":"x"', 7, "Invalid JSON: EOF"),
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":' + b"[" * 999 + b"]" * 999 + b"}", 7, "recursion"),
        (b'{"id":7,"method":"x"}', 7, "Field required"),
    ],
)
def test_what_is_no_message_is_answered_with_what_is_wrong(line, number, said):
    good, [(answered, text)] = read(line + b"\n" + GOOD)
    assert ([json.loads(each)["id"] for each in good], answered) == (["a"], number)
    assert text.startswith("The message is not JSON-RPC 2.0: ")
    assert said in text


def test_nothing_is_said_to_what_has_no_id():
    assert read(b"\n\xff\nhello\n" + GOOD) == ([GOOD.decode()], [])
