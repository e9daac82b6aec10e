"""What is kept of a Python file: its scopes, their statements and expressions, as arrays of JSON.

A record's first item on the wire is its tag, the rest are its fields in order. ``None`` stands for an
expression that no value flows through.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict


class Record(Struct, array_like=True, frozen=True, gc=False):
    """An array of JSON. Records hold no circles, so Python's cycle collector need not look at them."""


# Expressions


class Name(Record, frozen=True, tag="N"):
    """A name."""

    name: str


class Attribute(Record, frozen=True, tag="A"):
    """``base.name``, and the line that the name is on."""

    base: Expression | None
    name: str
    line: int


class Keyword(Record, frozen=True):
    """``name=value`` in a call or among a class's bases; without a name, ``**value``."""

    name: str | None
    value: Expression | None


class Call(Record, frozen=True, tag="C"):
    """A call, and the line that it begins on."""

    function: Expression | None
    positional: tuple[Expression | None, ...]
    keywords: tuple[Keyword, ...]
    line: int


class Subscript(Record, frozen=True, tag="I"):
    """``base[index]``."""

    base: Expression | None
    index: Expression | None


class Alternatives(Record, frozen=True, tag="U"):
    """One of several expressions: ``a or b``, ``a if c else b``, ``A | B`` in an annotation."""

    parts: tuple[Expression | None, ...]


class ListDisplay(Record, frozen=True, tag="L"):
    """A list or set."""

    parts: tuple[Expression | None, ...]


class TupleDisplay(Record, frozen=True, tag="T"):
    """A tuple."""

    parts: tuple[Expression | None, ...]


class DictDisplay(Record, frozen=True, tag="D"):
    """A dictionary; of its keys those that are no constants."""

    values: tuple[Expression | None, ...]
    keys: tuple[Expression | None, ...]


class Constant(Record, frozen=True, tag="K"):
    """A constant: the name of its type and, of a short string that could be a name, its text."""

    type_name: str
    text: str


class BinaryOperation(Record, frozen=True, tag="B"):
    """An operator, as the special method that it calls."""

    method: str
    left: Expression | None
    right: Expression | None


class Untyped(Record, frozen=True, tag="V"):
    """Expressions that are read, in something whose own value calls nothing."""

    parts: tuple[Expression | None, ...]


class FormattedText(Record, frozen=True, tag="S"):
    """Expressions that are put into a string."""

    parts: tuple[Expression | None, ...]


class FormattedName(Record, frozen=True, tag="P"):
    """The same, where the string begins like a name: ``f"visit_{kind}"``."""

    prefix: str
    parts: tuple[Expression | None, ...]


class Parameter(Record, frozen=True):
    """A parameter.

    Attributes:
        written: Its name as in the source, with ``*`` or ``**`` in front; a lone ``*`` or ``/`` is one too.
    """

    written: str
    annotation: Expression | None = None
    default: Expression | None = None

    @property
    def name(self) -> str:
        """The name without asterisks; empty for a lone one."""
        return self.written.lstrip("*")


class Lambda(Record, frozen=True, tag="F"):
    """A lambda."""

    parameters: tuple[Parameter, ...]
    body: Expression | None


class Clause(Record, frozen=True):
    """``for target in iterable if condition …`` of a comprehension."""

    target: Expression | None
    iterable: Expression | None
    conditions: tuple[Expression | None, ...]


class Comprehension(Record, frozen=True, tag="G"):
    """A comprehension; the element of a dictionary's is a display of one item."""

    is_dict: bool
    element: Expression | None
    clauses: tuple[Clause, ...]


class NamedExpression(Record, frozen=True, tag="="):
    """``(name := value)``."""

    name: str
    value: Expression | None


class Proven(Record, frozen=True, tag="!"):
    """An expression that is only read where a name holds an instance of a class, or of one of several.

    Without the expression: what follows in the branch is.
    """

    name: str
    classes: Expression | None
    value: Expression | None


class Yield(Record, frozen=True, tag="Y"):
    """``yield value``."""

    value: Expression | None


class YieldFrom(Record, frozen=True, tag="YF"):
    """``yield from value``."""

    value: Expression | None


class Starred(Record, frozen=True, tag="*"):
    """``*value``, or ``**value`` in a dictionary."""

    value: Expression | None


Expression: TypeAlias = (
    Name
    | Attribute
    | Call
    | Subscript
    | Alternatives
    | ListDisplay
    | TupleDisplay
    | DictDisplay
    | Constant
    | BinaryOperation
    | Untyped
    | FormattedText
    | FormattedName
    | Lambda
    | Comprehension
    | NamedExpression
    | Proven
    | Yield
    | YieldFrom
    | Starred
)

# Statements. Each has its line first.


class Assign(Record, frozen=True, tag="="):
    """``target = value``."""

    line: int
    target: Expression | None
    value: Expression | None


class AnnotatedAssign(Record, frozen=True, tag=":"):
    """``target: annotation = value``."""

    line: int
    target: Expression | None
    annotation: Expression | None
    value: Expression | None


class AugmentedAssign(Record, frozen=True, tag="+"):
    """``target += value``; the operator as the name of its special method, without underscores."""

    line: int
    target: Expression | None
    value: Expression | None
    operator: str


class Return(Record, frozen=True, tag="r"):
    """``return value``."""

    line: int
    value: Expression


class Evaluate(Record, frozen=True, tag="x"):
    """An expression that stands alone."""

    line: int
    value: Expression | None


class Test(Record, frozen=True, tag="b"):
    """An expression whose truth is tested."""

    line: int
    value: Expression


class For(Record, frozen=True, tag="f"):
    """``for target in iterable``."""

    line: int
    target: Expression | None
    iterable: Expression | None


class With(Record, frozen=True, tag="w"):
    """``with context as target``."""

    line: int
    context: Expression | None
    target: Expression | None


class Except(Record, frozen=True, tag="e"):
    """``except caught as target``."""

    line: int
    target: Expression | None
    caught: Expression | None


class Raise(Record, frozen=True, tag="g"):
    """``raise value``."""

    line: int
    value: Expression | None


class Define(Record, frozen=True, tag="d"):
    """A definition: its place among the file's scopes, and how many branches it stands in."""

    line: int
    scope: int
    branches: int


class Delete(Record, frozen=True, tag="D"):
    """``del`` of an attribute or item."""

    line: int
    value: Expression


class Import(Record, frozen=True, tag="i"):
    """``import module as alias``."""

    line: int
    module: str
    alias: str | None


class ImportFrom(Record, frozen=True, tag="m"):
    """``from module import imported as name``; ``*`` is imported as ``*``."""

    line: int
    module: str
    imported: str
    name: str


BRANCH, OTHER, JOIN = 0, 1, 2
"""Among a function's statements: of several branches the first begins, the next; behind them."""
HANDLER, TRY = 3, 10
"""A branch begins that the one before leads to from anywhere, ``except``; and begins that one."""
LOOP, AGAIN, FOREVER = 4, 5, 6
"""What is repeated begins; ends, if it may end by itself; or by ``break`` alone."""
RETURN, BREAK, CONTINUE = 7, 8, 9
"""What follows is not reached from here, by the statement of this name; by ``raise`` as by ``return``."""

Statement: TypeAlias = (
    Assign
    | AnnotatedAssign
    | AugmentedAssign
    | Return
    | Evaluate
    | Test
    | For
    | With
    | Except
    | Raise
    | Define
    | Delete
    | Import
    | ImportFrom
    | int
)


class Scope(Record, frozen=True):
    """A module, class or function.

    Attributes:
        kind: Which of these.
        name: Qualified name, its parts joined by ``.``; empty for the module.
        parent: The place of the scope around it among the file's; -1 for the module.
        decorators: From the top.
        parameters: Of a function.
        bases: Of a class.
        keywords: Of a class: ``metaclass=…``.
        returns: A function's return annotation.
        body: Its statements, those within branches and loops among them.
        assigners: Of a class, by attribute: the places of the methods that assign to it.
        decorated: The lines of its decorators.
        outer: Of a function: the names that it binds in a scope around, by ``global`` or ``nonlocal``.
        shared: Of a function: the names that those in it bind by ``nonlocal``, if they are its own.
    """

    kind: Literal["module", "class", "function"]
    name: str
    line_start: int
    line_end: int
    parent: int
    decorators: tuple[Expression | None, ...]
    parameters: tuple[Parameter, ...]
    bases: tuple[Expression | None, ...]
    keywords: tuple[Keyword, ...]
    returns: Expression | None
    body: tuple[Statement, ...]
    assigners: dict[str, tuple[int, ...]]
    decorated: tuple[int, ...]
    outer: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def own_name(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


class Draft(Struct):
    """A scope that is being read."""

    kind: Literal["module", "class", "function"]
    name: str
    line_start: int
    line_end: int
    parent: int
    decorators: tuple[Expression | None, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    bases: tuple[Expression | None, ...] = ()
    keywords: tuple[Keyword, ...] = ()
    returns: Expression | None = None
    body: list[Statement] = field(default_factory=list)
    assigners: dict[str, list[int]] = field(default_factory=dict)
    decorated: tuple[int, ...] = ()
    outer: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    def scope(self) -> Scope:
        assigners = {name: tuple(places) for name, places in self.assigners.items()}
        return Scope(**asdict(self) | {"body": tuple(self.body), "assigners": assigners})


def bare_name(expression: Expression | None) -> str:
    """Return the last part of a dotted name; empty for anything else."""
    if type(expression) is Name or type(expression) is Attribute:
        return expression.name
    return ""


def unsubscripted(expression: Expression | None) -> Expression | None:
    """Return what is subscripted: ``Generic`` of ``Generic[T]``."""
    return expression.base if type(expression) is Subscript else expression


def decorator_name(decorator: Expression | None) -> str:
    """Return the last part of a decorator's name, whether it is called or not."""
    return bare_name(decorator.function if type(decorator) is Call else decorator)


def written_name(called: Expression | None) -> str:
    """Return what is called, or a decorator, as it is written: ``app.route``; empty if it is no name."""
    if type(called) is Name:
        return called.name
    if type(called) is Attribute and type(called.base) is Name:
        return f"{called.base.name}.{called.name}"
    parts: list[str] = []
    while isinstance(called, (Call, Attribute)):
        if isinstance(called, Call):
            called = called.function
        else:
            parts.insert(0, called.name)
            called = called.base
    return ".".join([called.name, *parts] if type(called) is Name else parts)
