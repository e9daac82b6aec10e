"""What a commit's message says: its subject, why it was made, and which issues it names. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

from gitrag.late import late_re

_TRAILER = late_re(
    r"(?i)(?:[a-z][a-z-]{1,40}-(?:by|on|id|for|from|to)|closes|fixes|refs|see|link|cc|bug|issue|change-id)"
    r"\s*:?\s+\S|#|git-svn-id:"
)
"""A line that is none of the text: who, which issue, or a comment such as ``# Conflicts:``."""

_MERGED = late_re(r"Merge pull request\b")
_SENTENCE_END = late_re(r"(?<=[.!?])\s+(?=[\"'(`A-Z0-9])")
_BULLET = late_re(r"^[-*•]\s+")
_GIVES_REASON = late_re(
    r"(?i)\b(because|so that|otherwise|since|in order to|to avoid|instead of|no longer|would|due to|reason|"
    r"as it|as they|which (?:broke|caused|made|is why)|this (?:fixes|avoids|prevents|lets|allows|makes))\b"
)
_ISSUE = late_re(
    r"(?<![\w/.&-])(?:#(?P<number>\d{1,9})\b"
    r"|GH-(?P<forge>\d{1,9})\b"
    r"|(?P<key>[A-Z][A-Z0-9_]{1,9}-\d{1,7})\b"
    r"|https?://(?P<home>\S{1,200}?)/(?:-/)?(?:issues|pull|merge_requests)/(?P<linked>\d{1,9})\b"
    r"|https?://\S{1,200}?/browse/(?P<browsed>[A-Z][A-Z0-9_]{1,9}-\d{1,7})\b)"
)
_NUMBER = late_re(r"\(?#\d+\)?")
_NOT_ISSUES = ("ADR-", "SPEC-", "CVE-", "UTF-", "ISO-", "RFC-", "SHA-", "PEP-", "GHSA-")
_MOST_CHARACTERS = 300
_MOST_ISSUES = 8


class Said(Struct, frozen=True):
    """What a message says.

    Attributes:
        subject: Its first line; of a merged pull request its title.
        reason: The first sentence of the body that gives a reason, else the body's first; empty without one.
        issues: The numbers and keys of issues and pull requests that it names: ``412``, ``PROJ-7``.
    """

    subject: str
    reason: str
    issues: tuple[str, ...]


def home_of(url: str) -> str:
    """Return what the addresses of a repository's issues end with, by a remote's URL: ``owner/name``."""
    parts = re.split(r"[/:]+", url.strip().rstrip("/").removesuffix(".git").lower())
    return "/".join(parts[-2:]) if len(parts) > 1 else ""


def read(message: str, home: str = "") -> Said:
    """Read a commit's message.

    Args:
        home: The repository's ``owner/name``, whose issues' addresses count; empty to count none.
    """
    subject, _, rest = message.strip().partition("\n")
    body = rest.strip("\n")
    if _MERGED.match(subject) and body:
        title, _, rest = body.partition("\n")
        body, subject = rest, title.strip() if "#" not in subject else f"{title.strip()} ({subject})"
    sentences = [sentence for paragraph in _paragraphs(body) for sentence in _SENTENCE_END.split(paragraph)]
    telling = next((each for each in sentences if _GIVES_REASON.search(each)), "")
    reason = telling or (sentences[0] if sentences else "")
    return Said(subject, _cut(reason), issues_in(message, home))


def issues_in(text: str, home: str = "") -> tuple[str, ...]:
    """Return the issues and pull requests that a text names, in order; none of another repository."""
    found = [
        match["number"] or match["forge"] or match["key"] or match["linked"] or match["browsed"]
        for match in _ISSUE.finditer(text)
        if not match["linked"] or (home and match["home"].lower().endswith(f"/{home}"))
    ]
    own = dict.fromkeys(each for each in found if not each.startswith(_NOT_ISSUES))
    return tuple(own)[:_MOST_ISSUES]


def without_numbers(text: str) -> str:
    return _NUMBER.sub("", text)


def _paragraphs(body: str) -> list[str]:
    """Join the lines of each paragraph; trailers are left out, and what is indented as code."""
    found: list[str] = []
    joined: list[str] = []
    for line in (*body.split("\n"), ""):
        text = line.strip()
        if not text or _TRAILER.match(text) or line.startswith(("    ", "\t")) or _BULLET.match(text):
            found += [" ".join(joined)] if joined else []
            joined = [_BULLET.sub("", text)] if _BULLET.match(text) else []
        else:
            joined.append(text)
    return [*found, *([" ".join(joined)] if joined else [])]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1].rstrip()}…"
