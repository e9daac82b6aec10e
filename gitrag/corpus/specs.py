"""Specifications: one folder each, in the layouts of OpenSpec, spec-kit, Kiro and SDD. Pure."""

from __future__ import annotations

import re

from gitrag.corpus.documents import Document, distinct, field_edges, numbered, read_head
from gitrag.late import late_re

_NAMES = ("spec", "design")
_KIRO_NAMES = ("requirements", "design", "tasks")
GLOBS: tuple[str, ...] = (
    *(f"{root}/**/{name}.md" for root in ("/docs/specs", "/openspec/specs", "/specs") for name in _NAMES),
    *(f"/.kiro/specs/**/{name}.md" for name in _KIRO_NAMES),
)
"""Default places, as patterns of .gitignore."""

_FIELDS = {
    "requires": "requires",
    "depends-on": "requires",
    "extends": "extends",
    "supersedes": "supersedes",
    "superseded-by": "superseded-by",
    "implements": "implements",
    "related": "related",
}
_NUMBER = late_re(r"\W*SPEC[-_ #]*(\d{1,6})\W*[:.\u2013\u2014-]?\s*", re.IGNORECASE)
_FOLDER_NUMBER = late_re(
    r"(?!(?:19|20)\d{2}-\d{2}-)(?:(?:spec|rfc)[-_]?)?(\d{1,6})(?:[-_.]|$)", re.IGNORECASE
)
"""A number before the rest of a name; that of a date is none: ``2021-06-05-login``."""

_WHOLE_FOLDER = frozenset({"spec", "requirements", "design", "tasks", "plan", "readme", "index"})
"""Names of files that stand for their folder; another name is the specification's own."""

_GENERIC = late_re(
    r"(?:(?:requirements|design|specification|spec)(?: document)?|implementation (?:plan|tasks)|tasks)",
    re.IGNORECASE,
)
_LABEL = late_re(
    r"(?:feature specification|specification|spec|technical design|design(?: document)?|requirements)\s*:\s*",
    re.IGNORECASE,
)
_STATUS = late_re(r"(?:[-*+][ \t]+)?\W{0,3}status\W{0,3}:\W{0,4}([A-Za-z-]+).*", re.IGNORECASE)


def read(path: str, text: str) -> Document:
    """Read a specification: id ``SPEC-NNNN`` from front matter, heading or name, else its name.

    Its name is its folder's, ``auth/spec.md``, or its file's where the folder holds several:
    ``specs/auth.md``.
    """
    head = read_head(text)
    title = head.text("title") or head.title
    folder, _, file = path.rpartition("/")
    stem = file.rpartition(".")[0] or file
    whole = stem.lower() in _WHOLE_FOLDER
    name = folder.rpartition("/")[2] if whole else stem
    number = _NUMBER.match(title)
    if number:
        title = title[number.end() :]
    own = _id(head.text("id", "spec"), number, name)
    label = _LABEL.match(title)
    if label and label.end() < len(title):
        title = title[label.end() :]
    if not title or _GENERIC.fullmatch(title):
        words = re.sub(r"[-_ ]+", " ", _FOLDER_NUMBER.sub("", name)).strip() or name
        title = f"{words} ({stem})" if whole else words
    status = head.text("status")
    if not status:
        found = next(filter(None, (_STATUS.fullmatch(line.strip()) for line in head.lines)), None)
        status = found[1] if found else ""
    edges = tuple(field_edges(head, _FIELDS, "SPEC"))
    return Document(path, own, title, status.partition(" ")[0].lower(), distinct(edges, own))


def beside(document: Document) -> str | None:
    """Return the path of the specification that a design without its own id belongs to."""
    folder, _, file = document.path.rpartition("/")
    if file == "spec.md" or document.id != folder.rpartition("/")[2]:
        return None
    return f"{folder}/spec.md"


def _id(given: str, heading: re.Match[str] | None, folder: str) -> str:
    if given:
        named = _NUMBER.fullmatch(given)
        if named or (given.isdecimal() and len(given) <= 6):
            return numbered("SPEC", named[1] if named else given)
        return given
    found = heading or _FOLDER_NUMBER.match(folder)
    return numbered("SPEC", found[1]) if found else folder
