"""What a call of Lua calls: by the table of its functions, which a file returns and others require."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.imports import DEFAULT, Imports
from gitrag.callgraph.general.names import LIKE_NAMED
from gitrag.callgraph.general.records import ANY_OF, NUMBERED
from gitrag.callgraph.general.tables import Tables

_INHERITED = 0.6
_DEPTH = 8
_COMMON = frozenset(
    "new init get set add remove insert update draw close open read write find match gsub sub format"
    " len lines push pop next print type call clear start stop run load save reset concat sort unpack"
    " append".split()
)
"""Names of functions of Lua itself, and of tables of all kinds."""

Table = tuple[str, str]
"""A file, and the name that a table has in it."""


def called(parts: Sequence[str], caller: Id, tables: Tables, imports: Imports) -> list[tuple[Id, float]]:
    """Return what a call may call, each with its confidence."""
    *before, name = [part.partition(NUMBERED)[0] if ANY_OF not in part else "?" for part in parts]
    path = caller[0]
    if not before:
        for scope in tables.outwards(caller):
            outer = tables.definition(scope).name
            if here := tables.named(path, f"{outer}.{name}" if outer else name):
                return [(own, 1.0 if len(here) == 1 else _INHERITED) for own in here]
        for each in tables.body(path).imports.get(name, ()):
            if each.name is not None:
                return [
                    (own, 1.0)
                    for file, _ in imports.files(each, path)
                    for own in _in_table((file, _returned(file, tables)), each.name, tables)[-1:]
                ]
        every = tables.functions.get(name, ())
        return [(own, LIKE_NAMED) for own in every] if len(every) == 1 else []
    table = _table(before[0], caller, tables, imports, _DEPTH) if len(before) == 1 else None
    sure = 1.0
    for _ in range(_DEPTH):
        if table is None:
            break
        found = _in_table(table, name, tables)
        if found:
            return [(own, sure if len(found) == 1 else _INHERITED) for own in found]
        base = tables.body(table[0]).variables.get((0, table[1]))
        table = _table(base.made[0], (table[0], 0), tables, imports, _DEPTH) if base and base.made else None
        sure = _INHERITED
    every = tables.methods.get(name, ()) if name not in _COMMON else ()
    return [(own, LIKE_NAMED) for own in every] if len(every) == 1 else []


def _in_table(table: Table, name: str, tables: Tables) -> list[Id]:
    path, own = table
    return tables.named(path, f"{own}.{name}" if own else name)


def _table(head: str, caller: Id, tables: Tables, imports: Imports, depth: int) -> Table | None:
    """Return the table that a name means: a method's own, a required file's, the file's, an instance's."""
    path = caller[0]
    if head.endswith("()") or not depth:
        return None
    if head == "self":
        owners = (tables.definition(scope).name.rpartition(".")[0] for scope in tables.outwards(caller))
        own = next(filter(None, owners), "")
        return (path, own) if own else None
    for each in tables.body(path).imports.get(head, ()):
        for file, _ in imports.files(each, path):
            return file, _returned(file, tables)
        return None
    for scope in tables.outwards(caller):
        given = tables.body(path).variables.get((scope[1], head))
        if given is not None and given.made and given.made[0] != head and not tables.named(path, head):
            if scope[1] == 0 and path in tables.owners.get(head, ()):
                break
            return _table(given.made[0], caller, tables, imports, depth - 1)
    return path, head


def _returned(path: str, tables: Tables) -> str:
    """Return the name of the table that a file returns; empty if it is not a name."""
    every = tables.body(path).imports.get(DEFAULT, ())
    return next((each.name or "" for each in every if each.kind == "local"), "")
