"""The stored facts of a file in a language other than Python, as JSON."""

from __future__ import annotations

from msgspec import Struct
from msgspec.json import Decoder

SCOPED = "::"
"""First part of what is called by way of a namespace or a class of C++."""


ELEMENT = "[]"
"""Last part of an expression: an element of it. Before a type's name: many of the type."""

OBJECT = "{}"
"""Before the name of what has the members of an object: a variable, or the function that gives it."""

UNSURE = "~"
"""Before a type's name: it is one that a variable may have, of others that are not known."""

EXPORTED = "~~"
"""Name of what a function has in whose place its file may export another: of what is spread after it."""

SAME = "="
"""Last part of an expression that a variable is given the value of: no call."""

INSTANCE = "<"
"""Before the last part of what a variable of Go is given: the type that a generic function is called with.
Before the name of a type parameter."""

BY_KEY, MADE_BY_KEY = "[…]", "new […]"
"""The rules by which what a computed key gives is called, or made: ``table[key]()``, ``new table[key]()``."""

SPREAD = '"**"'
"""In place of a key: an object, all that it has is had. In quotes, as no key is: it may be ``"**"``, too."""

GOT = "get()"
"""Before an element: it is what a map gives, not a module's."""

MOST_MEMBERS = 1_000
"""Of an object or a list, as many may each be what a computed key gives; of more none is likely."""

NUMBERED = "#"
"""Between a variable's name and its number, where several in a definition have the name."""

MORE = "+"
"""After the name of a member of JavaScript, once for each thing before that it may hold instead."""
MOST_MORE = 3
"""Things that a member is known to hold, beside the first."""

PROVIDED = "provided"
"""What a component of JavaScript is given by those around it, in place of the part of a store."""

GIVEN_TO = "("
"""First part of a member of an object of JavaScript that a function is given, or that a call is given there.
Name of what a function in such an object has: the call that is given it."""

ANY_OF = "|"
"""Between the numbers of the variables that a use may mean."""

LISTED = f"{ELEMENT}{ANY_OF}"
"""How the type of what something was put into begins, if no more is known of it: of its elements each."""


class WrittenCall(Struct, array_like=True, frozen=True, gc=False):
    """A call.

    Attributes:
        caller: Index of the definition that contains the call.
        parts: What is called, split at its dots; parts that are called themselves end in ``()``.
        line: Its line.
        given: Its arguments, where functions can be overloaded: a type after a colon, or an expression's
            parts, joined by dots; empty if not known. In Kotlin with its name and ``=`` before it, if it has
            one, and `BLOCK` for a block; in Swift the labels alone.
        handed: Whether it is no call: a function is handed on by its name.
        unsure: Whether something else may be meant: what a name is bound to.
        read: Whether it is no call: what is meant is called only if it is a property.
        blocks: Kotlin's functions in whose blocks it stands, which may give them a ``this``.
        rule: What is handed the function: another, or a member of an object; empty if that is not known. Of a
            call that it is by a computed key.
    """

    caller: int
    parts: tuple[str, ...]
    line: int
    handed: bool = False
    given: tuple[str, ...] | None = None
    unsure: bool = False
    blocks: tuple[str, ...] = ()
    read: bool = False
    rule: str = ""


class Declaration(Struct, array_like=True, frozen=True, gc=False):
    """A variable, or a member of a class.

    Attributes:
        owner: Index of the definition that it belongs to.
        name: Its name.
        type_name: Its declared type; empty if it is not written.
        made: The call whose result it is, split into parts; with `SAME` at its end, what it is.
    """

    owner: int
    name: str
    type_name: str
    made: tuple[str, ...] | None


class Result(Struct, array_like=True, frozen=True, gc=False):
    """The type that a function is declared to return."""

    function: int
    type_name: str


class Signature(Struct, array_like=True, frozen=True, gc=False):
    """What a function takes, where functions can be overloaded.

    Attributes:
        function: Its index.
        types: Its parameters' types; empty if not known. In Swift their labels.
        least: Number of parameters without a default.
        variadic: Whether the last one takes any number of arguments.
        names: In Kotlin its parameters' names, with ``=`` where one may be left out.
    """

    function: int
    types: tuple[str, ...]
    least: int
    variadic: bool
    names: tuple[str, ...] = ()


class ImportRow(Struct, frozen=True, gc=False, omit_defaults=True, rename={"origin": "from"}):
    """The captures of an import; see ``@import.…`` of `general.syntax`."""

    origin: str | None = None
    package: str | None = None
    path: str | None = None
    use: str | None = None
    name: str | None = None
    alias: str | None = None
    default: str | None = None
    module: str | None = None
    all: str | None = None
    local: str | None = None
    public: str | None = None
    spread: str | None = None
    inner: str | None = None


class Body(Struct, array_like=True, frozen=True, gc=False):
    """The whole file. Of definitions, the index of each one's parent; -1 for the file itself.

    ``needs`` are the methods that an interface lists, with their result's type; ``statics`` the functions of
    Ruby's classes themselves, not of their instances, C#'s extension methods, Swift's extensions, Kotlin's
    functions that give a block a ``this``; ``properties`` those that run where their name is read; ``hidden``
    Kotlin's private functions; ``held`` what an object or a list of JavaScript has, by the names of both
    (``t.key``): in place of a type the number of the function that it is, or in which the expression stands;
    ``exports`` the names that a module of JavaScript exports one by one.
    """

    parents: tuple[int, ...]
    calls: tuple[WrittenCall, ...]
    variables: tuple[Declaration, ...]
    fields: tuple[Declaration, ...]
    results: tuple[Result, ...]
    imports: tuple[ImportRow, ...]
    needs: tuple[Declaration, ...] = ()
    signatures: tuple[Signature, ...] = ()
    statics: tuple[int, ...] = ()
    properties: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    held: tuple[Declaration, ...] = ()
    exports: tuple[str, ...] = ()


unpacked_body = Decoder(Body).decode
"""Unpack the only row of `Facts.read_rows`."""
