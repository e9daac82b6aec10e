"""How code reaches a definition without a call by its name: a name put together, a string, its file. Pure."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from itertools import islice

from gitrag.callgraph.general.traits import SCRIPTS
from gitrag.late import late_re

_PART = late_re(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_BEFORE, _INTO = r"['\"`]", r"(?:#\{|\{|\$\{?|%|\\\()"
_STRING = late_re(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")
_IMPORTING = late_re(r"\b(?:import|require|from|export)\b")
_BOUND = late_re(
    r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:await\s+)?(?:require|import)\b|\bimport\s+(?:\*\s*as\s+)?([\w$]+)"
)
_EXPORTS = late_re(r"\s*(?:export\b|(?:module\.)?exports\b)")
_ENDING = late_re(r"(?:/(?:index|__init__))?(?:\.d)?\.\w+$")
_MIXING = r"\.\s*(?:send[ (]\s*:)?(?:include|prepend|extend)\b[ (,]"


_LONGEST, _MOST_PARTS = 100, 8
"""Of a name: characters and parts at most, for a stranger's may have thousands."""

LOADING = (
    "import_module",
    "__import__",
    "iter_modules",
    "walk_packages",
    "spec_from_file_location",
    "load_module",
)
"""What imports a module of Python whose name the source does not say."""


@cache
def put_together(name: str) -> tuple[tuple[str, ...], re.Pattern[str]] | None:
    """Return texts one of which a line has that puts a name together, and what tells such a line.

    ``hook_data`` is by ``'hook_' + x``, ``x.startswith("hook_")``, ``/^hook_(.*)/`` or ``f"{x}_data"``;
    ``onData`` by what adds to one of its words. None of a name of one word.
    """
    own = name.strip("#?!=")[:_LONGEST]
    texts: list[str] = []
    ways: list[str] = []
    for part in islice(_PART.finditer(own), _MOST_PARTS):
        start, end = own[: part.end()], own[part.start() :]
        if len(start.strip("_")) < 2 or not end.strip("_"):
            continue
        first, last = re.escape(start), re.escape(end)
        if part[0]:
            texts += [*(f"{each}{start}" for each in "'\"`^"), *(f"{end}{each}" for each in "'\"`")]
            ways += [rf"(?:{_BEFORE}|\^){first}(?:{_BEFORE}|{_INTO}|[(\[\\])"]
            ways += [rf"(?:{_BEFORE}|\}}|%s|\)[+*]?){last}(?:{_BEFORE}|\$/)"]
        else:
            texts += [
                f"'{start}'",
                f'"{start}"',
                *(f"{each}{start}" for each in "`"),
                f'"{start}',
                f"'{start}{{",
            ]
            texts += [f"'{end}'", f'"{end}"', f"}}{end}"]
            ways += [rf"['\"]{first}['\"]\s*(?:\+|\.\s*[\w$])|{_BEFORE}{first}{_INTO}"]
            ways += [rf"(?:\+|[\w)\]]\s*\.)\s*['\"]{last}['\"]|\}}{last}{_BEFORE}"]
    return (tuple(dict.fromkeys(texts)), re.compile("|".join(ways))) if ways else None


def stem_of(path: str) -> str:
    """Return the word by which other files import one: its name, or its directory's."""
    return _ENDING.sub("", f"/{path}").rpartition("/")[2]


def imports(text: str, place: str, path: str, language: str) -> bool:
    """Tell whether a line may import a file.

    Args:
        text: The line, which has the file's ``stem_of``.
        place: The file that it is in.
        path: The file that may be imported.
        language: Its language.
    """
    own = _ENDING.sub("", f"/{path}")
    stem = re.escape(own.rpartition("/")[2])
    if language not in SCRIPTS:
        return bool(
            re.search(rf"\bimport\b.*\b{stem}\b|\b{stem}\b.*\bimport\b|^\s*{stem},?\s*$|\.{stem}\b", text)
        )
    named = _STRING.findall(text) if _IMPORTING.search(text) else []
    for each in (*named, *(_ENDING.sub("", each) for each in named)):
        if each.startswith("."):
            whole = posixpath.normpath(posixpath.join("/", posixpath.dirname(place), each))
            if whole.removesuffix("/index") == own:
                return True
        elif own.endswith("/" + each.partition("/")[2].removesuffix("/index").rpartition("src/")[2]):
            return True
    return False


def loads_modules(text: str) -> bool:
    """Tell whether a line of Python imports modules by names that it does not say."""
    return bool(re.search(rf"\b(?:{'|'.join(LOADING)})\(\s*+(?![\"'][\w.]+[\"'])", text))


def bound_by(text: str) -> str:
    """Return the name to which a line of an import binds a whole module; empty if to none."""
    found = _BOUND.search(text)
    return (found[1] or found[2]) if found else ""


def takes_any_of(text: str, name: str) -> bool:
    """Tell whether a line takes a member of something by a name that the source does not say."""
    own = re.escape(name)
    return bool(
        re.search(rf"(?<![\w.]){own}\[(?![\d'\"])|\bgetattr\(\s*{own}\s*,\s*+(?!['\"]\w+['\"])", text)
    )


def is_exported(line: str, name: str, others: list[str]) -> bool:
    """Tell whether a file of JavaScript lets others have a definition.

    Args:
        line: Its first line.
        name: The name at the file's top level that it is, or is in.
        others: The file's lines.
    """
    word = re.compile(
        rf"\s*(?:export\s*(?:default\b|\{{)|[\w.]*exports\b).*(?<![\w.]){re.escape(name)}(?!\w)"
    )
    return any(map(word.match, others)) or _EXPORTS.match(line) is not None


def overrides(lines: list[str], name: str, language: str) -> bool:
    """Tell whether a method calls what it overrides, as its lines are."""
    own = rf"\b(?:super(?:\([^()]*\))?\s*\.|parent::){re.escape(name)}\b"
    way = re.compile(r"^[^#\"']*\bsuper\b" if language == "ruby" else own)
    return any(way.search(line) for line in lines)


def mixes_in(text: str, name: str) -> bool:
    """Tell whether a line of Ruby mixes a module into a class that it names."""
    return re.search(rf"{_MIXING}.*\b{re.escape(name)}\b", text) is not None
