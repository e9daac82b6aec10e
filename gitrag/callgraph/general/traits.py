"""In what languages other than Python differ, where their calls are read and resolved: a row each."""

from __future__ import annotations

from typing import NamedTuple


class Traits(NamedTuple):
    """What a language does otherwise than most.

    Attributes:
        this: What an object calls itself, or a class itself; JavaScript's ``self`` is by custom a ``this``.
        above: What a class calls its base class.
        constructor: What a constructor is called; None for its class's name, empty where there is none.
        family: The language with whose files its files can call one another.
        implicit_self: Members are called without a receiver.
        by_name: Names are visible across files without an import that names the file.
        overloading: Functions of a name differ in their parameters.
        choosing: So do those of its files: C++, whose headers are called C.
        inheriting: A class has, beside its own functions of a name, the overloads of its bases.
        whole: A class is all in one file.
        sparing: A type has no method but those that are found.
        script: One of JavaScript's.
        by_import: A file sees of others only what it imports, whatever directory they are in.
        inferring: Types are mostly inferred, by more than is read here.
    """

    this: frozenset[str] = frozenset({"this", "self"})
    above: str = "super"
    constructor: str | None = None
    family: str = ""
    implicit_self: bool = False
    by_name: bool = False
    overloading: bool = False
    choosing: bool = False
    inheriting: bool = False
    whole: bool = False
    sparing: bool = False
    script: bool = False
    by_import: bool = False
    inferring: bool = False


_SELF = frozenset({"self", "Self"})
_SCRIPT = Traits(constructor="constructor", family="javascript", whole=True, script=True, by_import=True)
_C = Traits(family="c", implicit_self=True, by_name=True, choosing=True)

TRAITS = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "java": Traits(implicit_self=True, overloading=True, choosing=True, inheriting=True, whole=True),
    "kotlin": Traits(
        constructor="constructor", family="java", implicit_self=True, by_name=True, whole=True, inferring=True
    ),
    "scala": Traits(family="java", implicit_self=True, by_name=True, inferring=True),
    "dart": Traits(implicit_self=True, whole=True, by_import=True, inferring=True),
    "zig": Traits(frozenset(), implicit_self=True, whole=True, by_import=True, inferring=True),
    "csharp": Traits(
        above="base", implicit_self=True, by_name=True, overloading=True, choosing=True, inheriting=True
    ),
    "c": _C,
    "cpp": _C._replace(overloading=True),
    "solidity": Traits(constructor="constructor", implicit_self=True, by_name=True),
    "swift": Traits(_SELF, constructor="init", implicit_self=True, by_name=True),
    "ruby": Traits(frozenset({"self"}), constructor="initialize", implicit_self=True, by_name=True),
    "erb": Traits(family="ruby"),
    "php": Traits(
        frozenset({"this", "self", "static"}), "parent", constructor="__construct", by_name=True, whole=True
    ),
    "rust": Traits(_SELF, constructor="", sparing=True, by_import=True),
    "go": Traits(frozenset(), constructor="", sparing=True),
}
MOST = Traits()
"""A language without a row."""


def having(trait: str) -> frozenset[str]:
    return frozenset(name for name, row in TRAITS.items() if getattr(row, trait))


def family_of(language: str) -> str:
    """Return the language by which a family of languages that call one another is known."""
    return TRAITS.get(language, MOST).family or language


SCRIPTS, OVERLOADING, CHOOSING = having("script"), having("overloading"), having("choosing")
IMPLICIT_SELF, BY_NAME, INHERITING = having("implicit_self"), having("by_name"), having("inheriting")
WHOLE, SPARING = having("whole"), having("sparing")
BY_IMPORT, INFERRING = having("by_import"), having("inferring")
NESTING = CHOOSING | SCRIPTS | {"kotlin", "scala", "swift"}
"""Languages in which a class may stand in another."""
C_FAMILY = frozenset(name for name, row in TRAITS.items() if row.family == "c")
