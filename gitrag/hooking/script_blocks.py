"""Gitrag's part of a hook script, between two marks: pure edits of the script's bytes.

The block is right after the ``#!`` line, so that an ``exit`` or ``exec`` in the rest cannot skip it.
Every other byte of the script is preserved, and removing the block restores what was there before.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

START = b"# >>> gitrag >>>"
END = b"# <<< gitrag <<<"
SHEBANG = b"#!/bin/sh\n"

CREATED = b"# This file was made by gitrag and goes with this block when nothing else is in it.\n"
"""A line in the block of a file that gitrag created; without it, the file is the user's."""

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "busybox"})
"""Shells that the block is written for; it is tested with those that are installed."""

_MARK = re.compile(rb"^(?:" + re.escape(START) + b"|" + re.escape(END) + rb")[ \t\r]*$", re.MULTILINE)
_NO_LAUNCHER = "gitrag=\n"
# `exec tclsh "$0"`, `'''exec' python "$0"` and the like: another interpreter reads the file again, with
# our block; `tail -n +20 "$0"` counts its lines. `exec "$(dirname "$0")/other"`, `exec "$0.local"` do not.
_READS_ITSELF = re.compile(
    rb"""\b(?:exec|tail|head)\b['"]*[ \t][^\n]*(?<=[ \t"'])\$(?:0|\{0\})(?=["'\s;)]|$)"""
)
_NAMES_ITSELF = re.compile(rb"""(?:dirname|basename|realpath|readlink)(?:[ \t]+-\S+)*[ \t]+"?\$(?:0|\{0\})""")


class DamagedBlockError(ValueError):
    """There is not exactly one start mark followed by one end mark, so the block's extent is unknown."""


def render(script: str, launcher: str | None, *, created: bool = False) -> bytes:
    """Return the block of a shipped script.

    Args:
        script: The script, including the block's marks.
        launcher: Absolute path of the gitrag to run; None to find it by PATH.
    """
    text = script[script.index(START.decode()) :]
    if launcher is not None:
        text = text.replace(_NO_LAUNCHER, f"gitrag={shlex.quote(launcher)}\n")
    block = text.encode("utf-8", "surrogateescape")
    first, rest = block.split(b"\n", 1)
    return first + b"\n" + (CREATED if created else b"") + rest


def find(text: bytes) -> slice[int, int] | None:
    """Return the place of the block, including its last line end, or None if there is none.

    Raises:
        DamagedBlockError: A mark is missing, doubled or out of order.
    """
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    if [mark.group().rstrip() for mark in marks] != [START, END]:
        raise DamagedBlockError
    end = marks[1].end()
    return slice(marks[0].start(), end + 1 if text[end : end + 1] == b"\n" else end)


def obstacle(text: bytes) -> str:
    """Return why a block cannot be added to this script, as the end of "it …"; empty if it can."""
    first = text.split(b"\n", 1)[0]
    if b"\0" in text:
        return "is a program, not a shell script"
    if first.startswith(b"#!"):
        if first.endswith(b"\r"):
            return "has a first line that ends in CR LF, so that its interpreter is not found"
        interpreter = _interpreter(first[2:])
        if interpreter not in SHELLS:
            return f"is a {interpreter or 'nameless'} script, not a shell script"
    if _READS_ITSELF.search(_NAMES_ITSELF.sub(b"", text)):
        return "reads itself ($0) again, which a block of lines in it would disturb"
    return ""


def insert(text: bytes, block: bytes) -> bytes:
    """Add the block, or replace the existing one."""
    span = find(text)
    if span:
        tail = block if text[span.stop - 1 : span.stop] == b"\n" else block[:-1]
        return text[: span.start] + tail + text[span.stop :]
    if not text.startswith(b"#!"):
        return block + text
    shebang, newline, rest = text.partition(b"\n")
    # A single `#!` line without a line end: the block gets none either, by which `remove` knows.
    return shebang + b"\n" + (block + rest if newline else block[:-1])


def remove(text: bytes) -> bytes | None:
    """Remove the block; return None if the file was created for it and contains nothing else."""
    span = find(text)
    if not span:
        return text
    before, after = text[: span.start], text[span.stop :]
    if not text[: span.stop].endswith(b"\n"):
        before = before.removesuffix(b"\n")
    if is_created(text) and (before + after).strip() in {SHEBANG.strip(), b""}:
        return None
    return before + after


def is_created(text: bytes) -> bool:
    span = find(text)
    return span is not None and CREATED in text[span]


def launcher_of(text: bytes) -> str | None:
    """Return the path of gitrag in the block; None if it is found by PATH."""
    span = find(text)
    block = text[span].decode("utf-8", "surrogateescape") if span else ""
    found = re.search(r"^[ \t]*(gitrag=.*?)(?=\n[ \t]*\[ -x )", block, re.MULTILINE | re.DOTALL)
    try:
        words = shlex.split(found[1].removeprefix("gitrag=")) if found else []
    except ValueError:
        return None
    return words[0] if words else None


def _interpreter(command: bytes) -> str:
    words = [word for word in re.split(r"[ \t]+", command.decode("utf-8", "replace")) if word]
    name = PurePosixPath(words[0]).name if words else ""
    if name == "env":
        operands = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        name = PurePosixPath(operands[0]).name if operands else ""
    return name
