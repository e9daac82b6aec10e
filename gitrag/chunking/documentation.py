"""The text of comments and docstrings, without their delimiters."""

from __future__ import annotations

import inspect
import re

# Only a summary is shown and embedded; the whole comment is in the chunk's text.
DOCSTRING_CHARS = 1_000

_OPENING = re.compile(
    r"""\s*(?:
        /\*\*?!?|//[/!]?<?|\#'|\#\[\[|\#+!?|--\[=*\[|---?\s?\|?|--|;+|%+|\(\*\*?|\{-\|?|"{3}|<\#|'{3}
        |@(?:doc|typedoc|moduledoc)\s*(?:~[sS])?"{0,3}
    )[ \t]?""",
    re.VERBOSE,
)
_CONTINUING = re.compile(r"\s*(?:\*(?![*/])|//[/!]?<?|\#'|\#+|---?|;+|%+)?[ \t]?")
_CLOSING = re.compile(r"""(?:(?<!\*)\*+[/)]|-\}|\]=*\]|\#>|"{3})$""")
_RULE = re.compile(r"[-=*#/_~+]{4,}")
_XML_TAG = re.compile(
    r"</?(?:summary|remarks|para|param|returns|see|c|code|value|exception|typeparam)\b[^<>]*>"
)
_PREFIXED_QUOTES = re.compile(r"""[A-Za-z]{0,2}("{3}|'{3}|"|')""")


def comment_text(comment: str) -> str:
    """Return the prose of one comment, or of several line comments joined by line ends."""
    lines = comment.split("\n")
    last = lines[-1].rstrip()
    if closing := _CLOSING.search(last):
        lines[-1] = last[: closing.start()].rstrip()
    kept = []
    inside = False
    for line in lines:
        mark = None if inside else _OPENING.match(line)
        if mark:
            kept.append(line[mark.end() :])
            inside = line.lstrip().startswith(("/*", "(*", "{-", "<#", "--[", '"""', "@"))
        else:
            kept.append(_CONTINUING.sub("", line, count=1))
        inside = inside and not _CLOSING.search(line.rstrip())
    text = _shorten(inspect.cleandoc(_XML_TAG.sub("", _RULE.sub("", "\n".join(kept)))))
    return "" if text == "false" else text  # Elixir's @doc false: no documentation


def docstring_text(literal: str) -> str:
    """Return the prose of a docstring: a string literal of any kind, or a documentation attribute."""
    found = _PREFIXED_QUOTES.match(literal)
    if not found:
        return comment_text(literal)
    quotes = found[1]
    body = literal[found.end() :]
    return _shorten(inspect.cleandoc(body.removesuffix(quotes)))


def _shorten(text: str) -> str:
    return text.strip()[:DOCSTRING_CHARS].rstrip()
