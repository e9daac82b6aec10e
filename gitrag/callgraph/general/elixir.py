"""What a call of Elixir calls: by its module, as the file's aliases, imports and modules around say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.built_in import OF_ELIXIR
from gitrag.callgraph.general.tables import Tables

_SEVERAL = 0.6
"""Confidence in one of several: clauses of a function, functions that take more or less, implementations."""

_EVERYWHERE = frozenset(
    "abs apply binary_part bit_size byte_size ceil destructure div elem exit floor get_in hd if in inspect"
    " is_atom is_binary is_function is_integer is_list is_map is_nil is_struct length make_ref map_size max"
    " min node not pop_in put_elem put_in raise rem reraise round self send spawn spawn_link struct tap then"
    " throw tl to_charlist to_string trunc tuple_size unless update_in".split()
)
"""Functions that need no import; a module may have others of their names, that take more or less."""

_DEFINING = re.compile(rb"\bdef(?:p|macrop?|guardp?|np?|delegate)?\s*\(?\s*\Z")
_DECLARING = re.compile(
    rb"@\Z|(?:\A|\n)([ \t]*)@(?:spec|callback|macrocallback|typep?|opaque)\b"
    rb"(?:[^\n]|\n(?=\1[ \t]|[ \t\r]*\n))*\Z"
)
"""An attribute, or a declaration of types."""
_ARITY = re.compile(rb"\s*/\s*(\d{1,3})")
_IN_MARKUP = re.compile(r"<((?:[A-Z][\w.]*)?\.[a-z_]\w*)|(?<![\w.@:&])((?:[A-Z][\w.]*\.)?[a-z_]\w*[?!]?)\(")
"""A component, ``<.card``, or a call in HEEx."""


def is_no_call(before: bytes, after: bytes) -> bool:
    """Tell whether a name is defined, declared, or handed on as ``&name/1``, by what stands around it."""
    return bool(_DEFINING.search(before) or _ARITY.match(after) or _DECLARING.search(before))


def arity(after: bytes) -> int | None:
    """Return the number of arguments that ``&name/1`` names, by what stands after the name."""
    found = _ARITY.match(after)
    return int(found[1]) if found else None


def in_markup(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield what HEEx may call, with its place in the text."""
    for each in _IN_MARKUP.finditer(text):
        yield each.start(), tuple((each[1] or each[2]).lstrip(".").split("."))


def called(
    parts: Sequence[str], caller: Id, tables: Tables, given: Sequence[str] | None
) -> list[tuple[Id, float]]:
    """Return what a call may call, each with its confidence.

    Args:
        parts: What is called.
        caller: The definition that it stands in.
        tables: The definitions.
        given: A text for each argument; None if their number is not known.
    """
    *before, name = parts

    def functions(module: str) -> list[Id]:
        return _functions(module, name, tables, None if given is None else len(given))

    imports = tables.body(caller[0]).imports
    around = [
        definition.name
        for definition in map(tables.definition, tables.outwards(caller))
        if definition.kind == "class"
    ]
    if not before:
        found = functions(around[0]) if around else []
        imported = [each.origin for each in imports.get("*", ())]
        found = found or [own for each in imported for own in functions(each)]
        sure = len(found) == 1 and name not in _EVERYWHERE
        return [(own, 1.0 if sure else _SEVERAL) for own in found]
    head, *rest = before
    known = {each.origin for each in imports.get(head, ())}
    if head == "__MODULE__":
        known = set(around[:1])
    elif not known:
        nested = (f"{outer}.{head}" for outer in around)
        known = {next((each for each in nested if _is_module(each, tables)), head)}
    found = [own for each in sorted(known) for own in functions(".".join([each, *rest]))]
    # What is used may have brought the alias: the only module so called.
    if not found and head not in imports and head not in OF_ELIXIR:
        last = ".".join(["", head, *rest])
        alike = tables.members.get(((rest or [head])[-1], name), ())
        names = {tables.definition(own).name for own in alike}
        modules = [each.rpartition(".")[0] for each in names if f".{each}".endswith(f"{last}.{name}")]
        return [(own, _SEVERAL) for own in functions(modules[0])] if len(modules) == 1 else []
    return [(own, 1.0 if len(found) == 1 and len(known) == 1 else _SEVERAL) for own in found]


def _functions(module: str, name: str, tables: Tables, count: int | None) -> list[Id]:
    """Return a module's functions of a name that take so many arguments."""
    every = tables.members.get((module.rpartition(".")[2], name), ())
    every = [own for own in every if tables.definition(own).name == f"{module}.{name}"]
    if count is None:
        return every
    taking = [(own, tables.body(own[0]).signatures.get(own[1])) for own in every]
    least: dict[int, int] = {}  # a head alone may say what the clauses may be called without
    for _, each in taking:
        if each is not None:
            least[len(each.types)] = min(each.least, least.get(len(each.types), each.least))
    return [
        own
        for own, each in taking
        if each is None or each.variadic or least[len(each.types)] <= count <= len(each.types)
    ]


def _is_module(name: str, tables: Tables) -> bool:
    return any(tables.definition(own).name == name for own in tables.classes.get(name.rpartition(".")[2], ()))
