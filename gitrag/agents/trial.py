"""Start a client's server as the client would, and ask it a question."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from gitrag.machine.environment import safe_environment

_LIMIT_S = 60.0
"""For a start on a loaded machine; `uvx` may have to install first."""

_MOST_BYTES = 1 << 20

_INITIALISE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "gitrag doctor", "version": "1"},
}


class TrialError(Exception):
    """The server does not start, or gives no answer; the text says why."""


def ask_server(command: Sequence[str], place: Path, environ: Mapping[str, str]) -> str:
    """Start a server on standard streams, ask it for the status of the index, and end it.

    Returns:
        The first line of its answer.

    Raises:
        TrialError: There is none.
    """
    try:
        running = subprocess.Popen(
            list(command),
            cwd=place,
            env=safe_environment(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise TrialError(f"{command[0]} does not start: {error.strerror}") from error
    late = threading.Timer(_LIMIT_S, running.kill)
    late.daemon = True
    late.start()
    try:
        with running:
            return _asked(running)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise TrialError(f"{' '.join(command)} gives no answer") from error
    finally:
        late.cancel()
        running.kill()


def _asked(running: subprocess.Popen[bytes]) -> str:
    assert running.stdin is not None  # noqa: S101 - a pipe, as opened
    assert running.stdout is not None  # noqa: S101 - likewise
    _send(running.stdin, {"id": 1, "method": "initialize", "params": _INITIALISE})
    _answer(running.stdout, 1)
    _send(running.stdin, {"method": "notifications/initialized"})
    _send(running.stdin, {"id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}})
    text = _answer(running.stdout, 2)["content"][0]["text"]
    running.stdin.close()
    return str(text).partition("\n")[0]


def _send(pipe: IO[bytes], message: Mapping[str, object]) -> None:
    pipe.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    pipe.flush()


def _answer(pipe: IO[bytes], number: int) -> dict[str, list[dict[str, str]]]:
    while line := pipe.readline(_MOST_BYTES):
        message = json.loads(line)
        if message.get("id") == number:
            result: dict[str, list[dict[str, str]]] = message["result"]
            return result
    raise OSError(os.strerror(32))  # it has ended
