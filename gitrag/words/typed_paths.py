"""Read a path as people type, paste or drop it: in quotes, a URL, another form of Unicode. Pure."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from heapq import nsmallest
from urllib.parse import unquote_to_bytes

from gitrag.late import late_re

_URL = late_re(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/\s]*)/(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_FORGE = late_re(r"(?:^|/)(?:blob|tree|raw|blame|edit|src/(?:branch|commit|tag)|src)/(?P<rest>.+)")
"""What stands before revision and path in the URLs of GitHub, GitLab, Gitea and Bitbucket."""
_ESCAPED = late_re(r"\\([^\w\s.\\]| )")
"""A character that a terminal escapes where a file is dropped on it: of words none."""
_C_ESCAPE = late_re(r"\\([0-7]{3}|[abfnrtv\"\\])")
"""An escape of git's in a path that it prints in quotes."""
_MOST_PARTS = 100
"""A URL of more parts is none of a file: every end of one is tried."""
_QUOTES = ("'", '"', "`")


def typed(text: str) -> str:
    """Return a path without what a terminal, git or a URL of this machine puts around and into it."""
    text = text.strip()
    if not _is_writable(text):
        return text
    if len(text) > 2 and text[0] == text[-1] == '"' and _C_ESCAPE.search(text):
        plain = text[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
        return os.fsdecode(_C_ESCAPE.sub(_character, plain).encode("latin-1"))
    if len(text) > 3 and text.startswith("$'") and text.endswith("'"):
        text = text[1:]
    if len(text) > 2 and text[0] == text[-1] and text[0] in _QUOTES:
        return text[1:-1].strip()
    if (url := _URL.fullmatch(text)) and url["scheme"].lower() == "file":
        return os.fsdecode(unquote_to_bytes(os.fsencode(f"/{url['rest']}")))
    return _ESCAPED.sub(r"\1", text)


def _is_writable(text: str) -> bool:
    """Tell whether a path can be called so: it has no half of a character."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _character(escape: re.Match[str]) -> str:
    said = escape[1]
    return chr(int(said, 8) & 0xFF) if said.isdigit() else f"\\{said}".encode().decode("unicode_escape")


def of_url(text: str, least: int) -> tuple[str, ...]:
    """Return the paths that a URL may mean, the longest first: a revision may have slashes.

    Args:
        least: Parts that a path has at least where the URL is of no forge that is known.
    """
    url = _URL.fullmatch(text.strip())
    if url is None or url["scheme"].lower() == "file" or not url["host"] or not _is_writable(text):
        return ()
    place = url["rest"].partition("#")[0].partition("?")[0].strip("/")
    forge = _FORGE.search(place)
    parts = os.fsdecode(unquote_to_bytes(os.fsencode(forge["rest"] if forge else place))).split("/")
    if len(parts) > _MOST_PARTS:
        return ()
    fewest = 1 if forge else least
    return tuple(end for start in range(len(parts) - fewest + 1) if (end := "/".join(parts[start:])))


def is_url(text: str) -> bool:
    """Tell whether a text is a URL of a forge, or of another host: its path starts at a repository's top."""
    return bool(of_url(text, 1))


def forms(text: str) -> tuple[str, ...]:
    """Return a text as it is, composed and decomposed: file systems and keyboards differ in that."""
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, composed(text), unicodedata.normalize("NFD", text))))


def composed(text: str) -> str:
    """Return a text with its characters composed (NFC), to be compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings(given: str) -> tuple[str, ...]:
    """Return the paths that a text may mean, the text itself first."""
    plain = typed(given)
    each = (given, plain, plain.replace("\\", "/"), *of_url(given, 1))
    return tuple(dict.fromkeys(form for text in each for form in forms(text)))


def found_by(typed: str, paths: Iterable[str], most: int) -> list[str]:
    """Return the paths that have the letters that are typed in order, in any case, the likeliest first.

    Those whose name has them as they stand, at its beginning or later, come before those that have them
    elsewhere, or with others between; shorter ones before longer ones.
    """
    letters = "".join(typed.casefold().split())

    def has(text: str) -> bool:
        at = -1
        return all((at := text.find(letter, at + 1)) >= 0 for letter in letters)

    def rank(path: str) -> tuple[int, int, str] | None:
        low = path.casefold()
        name = low[low.rfind("/") + 1 :]
        if name.startswith(letters):
            return 0, len(path), path
        if letters in name:
            return 1, len(path), path
        if letters in low:
            return 2, len(path), path
        if has(name):
            return 3, len(path), path
        return (4, len(path), path) if has(low) else None

    return [path for *_, path in nsmallest(most, filter(None, map(rank, paths)))]
