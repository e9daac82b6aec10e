"""Python's scopes as facts: packed one by one, so that a question unpacks only those that it needs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.json import Decoder

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.python.mentions import names_in
from gitrag.callgraph.python.records import Scope, bare_name, unsubscripted

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
