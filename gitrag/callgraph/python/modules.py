"""Python's scopes as facts, and the files of a view: packed one by one, so that a question unpacks few."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.json import Decoder

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.python.mentions import bound_in, names_in, target_of
from gitrag.callgraph.python.records import (
    Define,
    Import,
    ImportFrom,
    Scope,
    Statement,
    bare_name,
    unsubscripted,
)

_MANY_NAMES = 32
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_MOST_BINDINGS = 200
"""Statements of a body that may bind one name: where each reads the name, all of them are read for each."""

unpacked_scope = Decoder(Scope).decode
"""Unpack one of `Facts.read_rows`."""


def python_facts(scopes: Sequence[Scope]) -> Facts:
    definitions = []
    mentions: set[str] = set()
    for scope in scopes:
        bases = tuple([name for base in scope.bases if (name := bare_name(unsubscripted(base)))])
        definitions.append(DefinitionFacts(scope.kind, scope.name, scope.line_start, scope.line_end, bases))
        mentions.update(names_in(scope))
    return Facts(tuple(definitions), frozenset(mentions), packed_body(*scopes))


class PythonModule:
    """One file.

    Args:
        path: Its path.
        facts: What it says.
    """

    def __init__(self, path: str, facts: Facts) -> None:
        self.path = path
        self._outline = facts.definitions
        self._rows = facts.read_rows()
        self._scopes: dict[int, Scope] = {}
        self._bindings: dict[int, dict[str, list[Statement]]] = {}

    def scope(self, index: int) -> Scope:
        found = self._scopes.get(index)
        if found is None:
            found = self._scopes[index] = unpacked_scope(self._rows[index])
        return found

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a package."""
        return self.path.rpartition("/")[2].startswith("__init__.")

    def mentioning(self, names: Iterable[str]) -> Iterator[int]:
        """Yield the places of scopes whose text has one of the names, in whatever part."""
        wanted = {name.encode() for name in names}
        if len(wanted) > _MANY_NAMES:  # looking for each would take rows times names
            for index, row in enumerate(self._rows):
                if not wanted.isdisjoint(_STRING.findall(row)):
                    yield index
            return
        quoted = [b'"' + name + b'"' for name in wanted]
        for index, row in enumerate(self._rows):
            if any(each in row for each in quoted):
                yield index

    def bindings(self, index: int) -> dict[str, list[Statement]]:
        """Return the statements of a scope's body that bind a name, by name: of too many the last."""
        found = self._bindings.get(index)
        if found is None:
            every: dict[str, list[Statement]] = {}
            for statement in self.scope(index).body:
                for name in self._bound(statement):
                    every.setdefault(name, []).append(statement)
            found = {name: statements[-_MOST_BINDINGS:] for name, statements in every.items()}
            self._bindings[index] = found
        return found

    def _bound(self, statement: Statement) -> Iterator[str]:
        if type(statement) is Define:
            yield self._outline[statement.scope].name.rpartition(".")[2]
        elif type(statement) is Import:
            yield statement.alias or statement.module.partition(".")[0]
        elif type(statement) is ImportFrom:
            yield statement.name
        else:
            yield from bound_in(target_of(statement))
