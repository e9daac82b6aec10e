"""Architecture decision records, in the usual dialects: MADR 2 to 4, Nygard, adr-tools, log4brains.

They differ in where they keep the same few facts: the number in the file's name or the heading, the status in
front matter, in a list (``* Status: accepted``) or under a heading, the links in any of these. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitrag.corpus.documents import (
    Document,
    DocumentHead,
    DocumentLink,
    distinct,
    field_edges,
    numbered,
    plain,
    read_head,
    targets,
)
from gitrag.late import late_re

_ROOTS = ("/docs", "/doc", "/[Dd]ocumentation")
_FOLDERS = (
    "[Aa][Dd][Rr]",
    "[Aa][Dd][Rr]s",
    "decisions",
    "architecture/decisions",
    "architecture/adr",
    "architecture/adrs",
    "architecture-decisions",
    "architectural-decisions",
)
GLOBS: tuple[str, ...] = (
    *(f"{root}/{folder}/**/*.md" for root in _ROOTS for folder in _FOLDERS),
    "/adr/**/*.md",
    "/adrs/**/*.md",
    "/architecture/decisions/**/*.md",
    "/.adr/**/*.md",
    "![Rr][Ee][Aa][Dd][Mm][Ee].*",
    "![Ii]ndex.*",
    "!*[Tt]emplate*",
    "!CONTRIBUTING.*",
)
"""Default places, and files there that are not decisions, as patterns of .gitignore."""

_NAMED = late_re(r"(?:adr[-_ ]?)?(\d{1,6})(?:[-_. ]|$)", re.IGNORECASE)
_DATED = late_re(r"(?:19|20)\d{2}([-_.])\d{2}\1\d{2}(?:[-_. ]+|$)")
"""A date before the rest of a name, which is no number of the decision: ``2021-06-05_001-record.md``."""

_WHOLE_FOLDER = frozenset({"readme", "index", "adr", "decision"})
"""Names of files whose folder tells the decision: ``2022-12-05-http-client/README.md``."""

_PREFIX = late_re(
    r"^\W*(?:ADR[-_ #]*(\d{1,6})\W*[:.\u2013\u2014-]?|(\d{1,6})\s*[.:)\u2013\u2014-])\s+(?=\S)", re.IGNORECASE
)
_STATUS_LINE = late_re(r"[ \t]*(?:[-*+][ \t]+)?\W{0,3}status\W{0,3}:\W{0,4}(.+)", re.IGNORECASE)
_STATUS_HEADING = late_re(r" {0,3}#{1,6}[ \t]+\W*status\W*$", re.IGNORECASE)
_WORD = late_re(r"(?:(?:in|on|under|not|to be)\s+)?[A-Za-z][A-Za-z-]*", re.IGNORECASE)
"""A status: ``accepted``, but also ``on hold``, ``under review``."""

_FIELDS = {
    "supersedes": "supersedes",
    "replaces": "supersedes",
    "superseded-by": "superseded-by",
    "replaced-by": "superseded-by",
    "extends": "extends",
    "amends": "extends",
    "related": "related",
    "relates-to": "related",
    "related-to": "related",
    "requires": "requires",
    "implements": "implements",
}
_SAYS = late_re(
    r"\b(?:(?P<superseded>(?:superseded|superceded|replaced|deprecated) by)"
    r"|(?P<supersedes>supersedes|supercedes|replaces)"
    r"|(?P<extended>(?:amended|extended|refined|clarified) by)"
    r"|(?P<extends>amends|extends|refines|clarifies|builds on)"
    r"|(?P<related>relates to|related to|related|see also))\b",
    re.IGNORECASE,
)
_RELATIONS = {
    "superseded": "superseded-by",
    "supersedes": "supersedes",
    "extended": "extended-by",
    "extends": "extends",
    "related": "related",
}


def read(path: str, text: str) -> Document:
    """Read a decision: its id is from front matter, else ``ADR-NNNN`` from the file's name or the heading.

    A date is no number. A decision without a number has the name of its file as its id, or of its folder
    where the file's says nothing: ``README.md``.
    """
    head = read_head(text)
    title = head.text("title") or head.title
    prefix = _PREFIX.match(title)
    own = _id(path, head, title)
    status = _status(head)
    edges = [*field_edges(head, _FIELDS, "ADR"), *_edges_of(status), *_said(head)]
    word = _WORD.search(plain(status))
    return Document(
        path=path,
        id=own,
        title=(title[prefix.end() :] if prefix else title) or _named_title(path),
        status=word[0].lower() if word else "",
        edges=distinct(edges, own),
    )


def _id(path: str, head: DocumentHead, title: str) -> str:
    given = head.text("id", "adr")
    if given:
        named = _NAMED.fullmatch(given) or re.fullmatch(r"ADR[-_ ]?(\d{1,6})", given, re.IGNORECASE)
        return numbered("ADR", named[1]) if named else given
    stem = _stem(path)
    dated = _DATED.match(stem)
    found = _NAMED.match(stem, dated.end() if dated else 0)
    if found:
        return numbered("ADR", found[1])
    prefix = _PREFIX.match(title)
    if prefix:
        return numbered("ADR", prefix[1] or prefix[2])
    given = head.text("slug", "number")
    return (
        numbered("ADR", given) if given.isdecimal() and len(given) <= 6 else stem
    )  # log4brains: 20200101-use


def _stem(path: str) -> str:
    """Return the part of a path that names the decision."""
    folder, _, file = path.rpartition("/")
    stem = file.rpartition(".")[0] or file
    return folder.rpartition("/")[2] if stem.lower() in _WHOLE_FOLDER and "/" in folder else stem


def _named_title(path: str) -> str:
    stem = _stem(path)
    dated = _DATED.match(stem)
    bare = stem[dated.end() :] if dated else stem
    return re.sub(r"[-_ ]+", " ", _NAMED.sub("", bare, count=1)).strip() or stem


def _status(head: DocumentHead) -> str:
    """Find the status of a decision, as written."""
    given = head.text("status")
    if given:
        return given
    under = below = False
    for line in head.lines:
        found = None if below else _STATUS_LINE.fullmatch(line.rstrip())
        if found:
            return found[1]
        if under and line.strip():
            return "" if line.lstrip().startswith("#") else line.strip()
        under = under or bool(_STATUS_HEADING.fullmatch(line.rstrip()))
        below = below or line.startswith("##")  # further down, an item "Status" may be part of any list
    return ""


def _said(head: DocumentHead) -> Iterator[DocumentLink]:
    """Find links in prose: lines that begin with a relation and name a decision."""
    for line in head.lines:
        opening = line.lstrip(" \t-*+>_[(|").lstrip()
        if _SAYS.match(opening) and len(opening) < 400:
            yield from _edges_of(opening)


def _edges_of(line: str) -> Iterator[DocumentLink]:
    """Yield the links of a line: a relation applies to the decisions named after it, up to the next one."""
    marks = list(_SAYS.finditer(line))
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        rest = line[mark.end() : following.start() if following else len(line)]
        for target in targets(rest, "ADR"):
            yield DocumentLink(_RELATIONS[mark.lastgroup or "related"], target)
