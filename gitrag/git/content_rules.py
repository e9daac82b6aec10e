"""Which files are left out because of their content. Pure; a change here needs a new `RULES_VERSION`."""

from __future__ import annotations

import re

from gitrag.late import late_re
from gitrag.model import Skip
from gitrag.words.encodings import is_binary, wide_text

# A Git LFS pointer: its first line, and the size the format allows.
_LFS_LINE = b"version https://git-lfs.github.com/spec/v1\n"
_LFS_MAX_BYTES = 1024

# Minified scripts and style sheets: linguist's bound on the mean line length; short files are never minified.
_SCRIPT_NAMES = (".js", ".mjs", ".cjs", ".css")
MINIFIED_MEAN_LINE_BYTES = 110
MINIFIED_MIN_BYTES = 1000
_WRITTEN = 3  # short lines of code to a long one: a query or a template in a file that somebody wrote
_VALUES = late_re(rb"[^(){};]{%d,}" % MINIFIED_MEAN_LINE_BYTES)  # a table, an image: code has these within

# Generators sign in the first comment. Markers count only in comment lines, so that code that searches for
# markers is not itself taken for generated.
MARKER_LINES = 20
_MARKER_PREFIX_BYTES = 4000
_COMMENT_LINE = late_re(rb"[ \t]*(?://|/\*|\*|#|--|;|%|<!--|\(\*|\{-|'|rem\b|dnl\b)", re.IGNORECASE)
_MARKER = late_re(
    rb"@generated\b"  # Meta's convention, also Cargo.lock's and many generators'
    rb"|<auto-?generated"  # .NET
    rb"|generated\b.{0,200}?\b(?:do not|don't|never) (?:edit|modify|change)"  # Go's rule, protobuf, Thrift, …
    rb"|\b(?:do not|don't|never) (?:edit|modify|change)\b.{0,200}?generated",
    re.IGNORECASE | re.DOTALL,
)


def content_skip(data: bytes, path: str, max_bytes: int | None) -> Skip | None:
    """Return why a file's content excludes it from the index, or None.

    Args:
        path: Its path; the suffix decides which tests apply.
        max_bytes: Larger content is left out; None where the attribute `gitrag` asks for all that is text.
    """
    if max_bytes is not None and len(data) > max_bytes:
        return Skip.TOO_LARGE
    if data.startswith(_LFS_LINE) and len(data) <= _LFS_MAX_BYTES:
        return Skip.LFS
    if is_binary(data):
        return Skip.BINARY
    if max_bytes is None:
        return None
    if (wide := wide_text(data)) is not None:
        data = wide.encode()
    if path.endswith(_SCRIPT_NAMES) and len(data) >= MINIFIED_MIN_BYTES:
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if len(data) > MINIFIED_MEAN_LINE_BYTES * lines and not _has_lines_of_code(data):
            return Skip.MINIFIED
    if _is_signed_by_generator(data):
        return Skip.GENERATED
    return None


def _has_lines_of_code(data: bytes) -> bool:
    """Tell whether a file has lines as people write them, beside long ones that are data."""
    first, *comments = data.split(b"/*")
    code = first + b"".join(each.partition(b"*/")[2] for each in comments)
    lines = [line for line in code.split(b"\n") if line.strip()]
    short = sum(len(line) <= MINIFIED_MEAN_LINE_BYTES and not _COMMENT_LINE.match(line) for line in lines)
    values = sum(len(_VALUES.sub(b"", line)) <= MINIFIED_MEAN_LINE_BYTES < len(line) for line in lines)
    return short >= max(_WRITTEN * (len(lines) - short - values), 1)


def _is_signed_by_generator(data: bytes) -> bool:
    head = data[:_MARKER_PREFIX_BYTES]
    if b"enerated" not in head and b"ENERATED" not in head:
        return False
    lines = head.split(b"\n", MARKER_LINES)[:MARKER_LINES]
    comments = b"\n".join(line for line in lines if _COMMENT_LINE.match(line))
    return _MARKER.search(comments) is not None
