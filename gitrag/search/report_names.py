"""The names in code that a bug report has, with the best place of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import chain

from msgspec import Struct

from gitrag.chunking.languages import language_of
from gitrag.late import late_re


class Place(IntEnum):
    """Where a report names something; what its writer says counts more than what is pasted."""

    OUTPUT = 0
    CODE = 1
    PROSE = 2
    MARKED = 3
    TITLE = 4


class Name(Struct, frozen=True):
    """A name in code.

    Attributes:
        text: Parts joined by dots; what is imported, and what an alias stands for, in full.
        used: Whether it is called, imported, or marked as code, not only mentioned.
    """

    text: str
    place: Place
    used: bool = False


_IMPORT_FROM = late_re(
    r"^[^\w\n]*from\s+(?P<module>\.*[\w.]+)\s+import\s+(?P<names>\(?[\w*, .]+(?:\s+as\s+\w+)?[^\n#;]*)",
    re.MULTILINE,
)


_IMPORT = late_re(
    r"^[^\w\n]*import[ \t]+(?P<names>[\w.]+(?: +as +\w+)?(?: *, *[\w.]+(?: +as +\w+)?)*)(?: *+;)? *+"
    r"(?:#.*)?$",
    re.MULTILINE,
)


_IN_PARENTHESES = late_re(r"\(([\w,\s]{1,500})\)")


_DEFINED = late_re(r"\b(?:def|class|function|func|fn|struct|interface|trait|enum|const|let|var|val)\s+(\w+)")


_ASSIGNED = late_re(r"^[^\w\n]*(\w+)(?: ?, ?(\w+))* ?(?::[\w\[\], .|]{1,80})?=(?!=)", re.MULTILINE)


_BOUND = late_re(r"\bfor\s+(\w+)\s+in\b|\bas\s+(\w+)\s*:")


_DOTTED = late_re(
    r"(?<![\w/.\\@-])(?P<name>[A-Za-z_]\w*+(?:(?:\.|::|#|->)[A-Za-z_]\w*+)*+)(?P<call>\()?(?![\w/\\]*/)"
)


_MARKED = late_re(r"``?([^`\n]{1,120})``?")


_IDENTIFIER = late_re(r"[a-z0-9][A-Z]|\w_\w|\w\.\w|::|^_|[A-Za-z]\d[A-Za-z_]")


_LITERAL = late_re(r"\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")


_SEPARATOR = late_re(r"::|#|->")


_ONESELF = frozenset({"self", "cls", "this"})


_SHORTEST_NAME = 3


_KEYWORDS = frozenset(
    """
    and as assert async await break case catch class const continue def default del do elif else except
    export extends false finally fn for foreach from func function global if impl import in interface is
    lambda let match mut new nil none nonlocal not null or package pass print private protected public pub
    raise return self static struct super switch this throw throws trait true try type typeof use using val
    var void while with yield i.e e.g etc int str float bool list dict tuple set len range object array
    isinstance open repr string number boolean
    """.split()
)
"""Words of languages and builtins, which nobody reports a bug in."""


def names_in(code: Sequence[str], output: Sequence[str], prose: str, title: str) -> list[Name]:
    """List the names in code of a report, those in the best places first."""
    found = _Names("\n".join(code), output, prose, title).found
    return sorted((Name(text, *rest) for text, rest in found.items()), key=lambda name: -name.place)


class _Names:
    """The names in code of a report, with the best place of each."""

    def __init__(self, code: str, output: Iterable[str], prose: str, title: str) -> None:
        self.found: dict[str, tuple[Place, bool]] = {}
        self._aliases, imported = _imports(f"{code}\n{prose}")
        self._own = _own_names(code) - set(self._aliases)
        for name in imported:
            self._add(name, Place.CODE, used=True)
        self._take_prose(title, Place.TITLE)
        self._take_prose(prose, Place.PROSE)
        for found in _DOTTED.finditer(_LITERAL.sub(" ", code)):
            self._add(found["name"], Place.CODE, used=bool(found["call"]))
        for found in chain.from_iterable(map(_DOTTED.finditer, output)):
            if _IDENTIFIER.search(found["name"]):
                self._add(found["name"], Place.OUTPUT, used=False)

    def _take_prose(self, text: str, place: Place) -> None:
        for marked in _MARKED.findall(text):
            for found in _DOTTED.finditer(marked):
                self._add(found["name"], max(place, Place.MARKED), used=True)
        for found in _DOTTED.finditer(_MARKED.sub(" ", text)):
            if found["call"] or _IDENTIFIER.search(found["name"]):
                self._add(found["name"], place, used=bool(found["call"]))

    def _add(self, written: str, place: Place, *, used: bool) -> None:
        text = self._in_full(_SEPARATOR.sub(".", written), place)
        if len(text) < _SHORTEST_NAME or text.casefold() in _KEYWORDS or _is_file(text):
            return
        known, was_used = self.found.get(text, (Place.OUTPUT, False))
        self.found[text] = max(place, known), used or was_used

    def _in_full(self, text: str, place: Place) -> str:
        """Replace an alias by what it stands for; of an object of the report's own leave the member."""
        first, _, rest = text.partition(".")
        if first in self._aliases:
            return ".".join(filter(None, [self._aliases[first], rest]))
        if first in _ONESELF or (first in self._own and place < Place.MARKED):
            return rest
        return text


def _is_file(text: str) -> bool:
    """Tell a file's name, ``test.py``, from a member's, ``re.compile``."""
    _, dot, suffix = text.rpartition(".")
    return bool(dot) and suffix.islower() and len(suffix) > 1 and language_of(f"a.{suffix}") is not None


def _own_names(code: str) -> set[str]:
    """List what a report's own code defines."""
    pairs: Collection[tuple[str, str]] = (*_ASSIGNED.findall(code), *_BOUND.findall(code))
    return {*_DEFINED.findall(code), *filter(None, chain.from_iterable(pairs))}


def _imports(code: str) -> tuple[Mapping[str, str], list[str]]:
    """Return what imported names stand for, and all that is imported."""
    aliases: dict[str, str] = {}
    imported: list[str] = []
    code = _IN_PARENTHESES.sub(lambda found: " ".join(found[1].split()), code)
    for found in _IMPORT_FROM.finditer(code):
        module = found["module"].lstrip(".")
        for each in found["names"].strip("( )").split(","):
            name, _, alias = each.strip().partition(" as ")
            if re.fullmatch(r"\w+", name):
                aliases[alias.strip() or name] = f"{module}.{name}"
                imported.append(f"{module}.{name}")
            elif name == "*":
                imported.append(module)
    for found in _IMPORT.finditer(code):
        for each in found["names"].split(","):
            name, _, alias = each.strip().partition(" as ")
            imported.append(name)
            if alias:
                aliases[alias.strip()] = name
    return aliases, imported
