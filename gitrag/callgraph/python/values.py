"""What a Python expression may be, as far as calls depend on it. Pure.

A value is one possibility; an expression has a set of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

from gitrag.callgraph.edges import Id


class _Value(Struct, frozen=True, gc=False):
    """A value. ``mark`` is what its kind is sorted by."""

    mark: ClassVar[str]


class ClassObject(_Value, frozen=True):
    """A class of the view, itself.

    Attributes:
        exact: Whether it was named; else, as ``cls``, it may be a subclass.
    """

    mark: ClassVar[str] = "c"
    cls: Id
    exact: bool = True


class Instance(_Value, frozen=True):
    """An instance of a class of the view.

    Attributes:
        exact: Whether it was seen to be made; else it may be a subclass's.
    """

    mark: ClassVar[str] = "i"
    cls: Id
    exact: bool


class Function(_Value, frozen=True):
    """A function of the view; bound to a value, or to None."""

    mark: ClassVar[str] = "f"
    function: Id
    bound: Value | None


class LambdaFunction(_Value, frozen=True):
    """A lambda, by its place among those that were met."""

    mark: ClassVar[str] = "F"
    place: int


class ModuleObject(_Value, frozen=True):
    """A module of the view."""

    mark: ClassVar[str] = "m"
    path: str


class Outside(_Value, frozen=True):
    """Something outside the view, by its dotted name."""

    mark: ClassVar[str] = "x"
    name: str


@lru_cache(maxsize=4096)
def outside(name: str) -> Values:
    """Return something outside the view."""
    return frozenset([Outside(name)])


class OutsideWith(_Value, frozen=True):
    """Something outside the view, and what it was given."""

    mark: ClassVar[str] = "X"
    name: str
    held: Values


HANDED = "handed"
"""The name of what a call outside the view returns that was handed classes: it may be of one of them."""

WRAPPED = "functools.wraps.wrapped"
"""The name of what stands beside a function that ``wraps`` another: the other."""


def is_wrapped(value: Value) -> bool:
    """Tell whether a value is what a function wraps."""
    return type(value) is OutsideWith and value.name == WRAPPED


class BuiltinInstance(_Value, frozen=True):
    """An instance of a built-in type."""

    mark: ClassVar[str] = "b"
    type_name: str


class Text(_Value, frozen=True):
    """A string that is, or begins like, a name."""

    mark: ClassVar[str] = "q"
    text: str
    whole: bool


@lru_cache(maxsize=4096)
def constant(type_name: str, text: str = "") -> Values:
    """Return an instance of a built-in type, and the text that it is known to have."""
    made: Values = frozenset([BuiltinInstance(type_name)])
    return made | {Text(text, whole=True)} if text else made


class ListOf(_Value, frozen=True):
    """An iterable of values."""

    mark: ClassVar[str] = "L"
    held: Values


class TupleOf(_Value, frozen=True):
    """A tuple."""

    mark: ClassVar[str] = "T"
    parts: tuple[Values, ...]


class DictOf(_Value, frozen=True):
    """A dictionary with such values."""

    mark: ClassVar[str] = "D"
    held: Values


class Returning(_Value, frozen=True):
    """Something callable that returns such values."""

    mark: ClassVar[str] = "R"
    held: Values


class Annotation(_Value, frozen=True):
    """A type of ``typing``: what it describes."""

    mark: ClassVar[str] = "A"
    held: Values


class Super(_Value, frozen=True):
    """``super()``: what comes after a class, bound to a value."""

    mark: ClassVar[str] = "S"
    cls: Id
    bound: Value


class ContextManager(_Value, frozen=True):
    """A context manager made of a generator, and what it yields."""

    mark: ClassVar[str] = "W"
    function: Id
    held: Values


class PickedByPrefix(_Value, frozen=True):
    """Functions among which running chooses: by the start of a name, or by what a mixin stands before."""

    mark: ClassVar[str] = "G"
    held: Values


class Namesake(_Value, frozen=True):
    """A method of an unknown object; only a few classes have a method so called."""

    mark: ClassVar[str] = "n"
    functions: tuple[Id, ...]


class PickedOfMany(_Value, frozen=True):
    """One of the many classes of a dictionary."""

    mark: ClassVar[str] = "M"
    held: Values


class Property(_Value, frozen=True):
    """What ``property(get, set, delete)`` makes."""

    mark: ClassVar[str] = "P"
    getter: Values
    setter: Values
    deleter: Values


class Argument(_Value, frozen=True):
    """What the caller gives to a parameter of a function."""

    mark: ClassVar[str] = "p"
    function: Id
    parameter: str


Value: TypeAlias = (
    ClassObject
    | Instance
    | Function
    | LambdaFunction
    | ModuleObject
    | Outside
    | OutsideWith
    | BuiltinInstance
    | Text
    | ListOf
    | TupleOf
    | DictOf
    | Returning
    | Annotation
    | Super
    | ContextManager
    | PickedByPrefix
    | Namesake
    | PickedOfMany
    | Property
    | Argument
)
Values: TypeAlias = frozenset[Value]

NOTHING: Values = frozenset()

YIELDED = BuiltinInstance("yielded")
"""Among what a function yields: that it is a generator, whatever it yields."""

UNTRACED = frozenset({Outside, BuiltinInstance, Text})
"""Kinds of value that need not be handed on: nothing of the view is called through them."""

CERTAIN = 1.0
"""How sure a call is that its name says."""

MOST = 64
"""Values that an expression may have; more say nothing. jinja2 has visitors, sqlparse a list of steps, with
more than 24."""

MOST_PICKED = 4
"""Classes of a dictionary, of which any may be picked; of more each is unlikely."""

MAX_DEPTH = 3
"""Containers within containers."""

_MOST_KEPT = 32_768
"""Sets of which order and depth are remembered."""


def limited(values: Iterable[Value]) -> Values:
    """Return values, or the first of them in a fixed order where they are too many.

    An `Argument` is never left out: it stands for what each caller gives.
    """
    found = frozenset(values)
    return found if len(found) <= MOST else frozenset(sorted(_sorted(found), key=_is_no_argument)[:MOST])


def _is_no_argument(value: Value) -> bool:
    return type(value) is not Argument


def ordered(values: Values) -> Collection[Value]:
    """Return values in a fixed order: a set's changes from run to run, and with it what is read first."""
    return _sorted(values) if len(values) > 1 else values


@lru_cache(maxsize=_MOST_KEPT)
def _sorted(values: Values) -> tuple[Value, ...]:
    return tuple(sorted(values, key=_shown))


@lru_cache(maxsize=_MOST_KEPT)  # most sets that are sorted differ by one value from one that was
def _shown(value: Value) -> str:
    """Return what a value is sorted by: its fields as text, sets among them in order."""
    return f"('{value.mark}', {', '.join(map(_shown_field, astuple(value)))})"


def _shown_field(field: object) -> str:
    if isinstance(field, frozenset):
        return f"frozenset({{{', '.join(sorted(map(_shown, field)))}}})" if field else "frozenset()"
    if isinstance(field, _Value):
        return _shown(field)
    if isinstance(field, tuple) and not (field and isinstance(field[0], str)):
        return f"({', '.join(map(_shown_field, field))}{',' if len(field) == 1 else ''})"
    return repr(field)


def forget() -> None:
    """Drop what is known of sets."""
    depth.cache_clear()
    _is_settled.cache_clear()
    _sorted.cache_clear()
    _shown.cache_clear()
    outside.cache_clear()
    constant.cache_clear()


@lru_cache(maxsize=_MOST_KEPT)
def depth(values: Values) -> int:
    """Measure how deep containers lie in containers."""
    deepest = 0
    for value in values:
        if type(value) in _NESTING:
            deepest = max(deepest, 1 + depth(value.held))  # type: ignore[union-attr]
        elif type(value) is TupleOf:
            deepest = max([deepest, *(1 + depth(part) for part in value.parts)])
    return deepest


_NESTING = frozenset({ListOf, DictOf, Returning, Annotation, OutsideWith, PickedOfMany})
_NESTED = _NESTING | {TupleOf}


def list_of(values: Iterable[Value]) -> Values:
    """Wrap values in an iterable; too deep a one holds nothing."""
    return frozenset([ListOf(_held(values))])


def dict_of(values: Iterable[Value]) -> Values:
    """Wrap values in a dictionary; too deep a one holds nothing."""
    return frozenset([DictOf(_held(values))])


def _held(values: Iterable[Value]) -> Values:
    return _shallow(limited(values))


def _shallow(values: Values) -> Values:
    is_flat = _NESTED.isdisjoint(map(type, values))
    return values if is_flat or depth(values) < MAX_DEPTH else NOTHING


def elements(values: Iterable[Value]) -> Values:
    """Return what iterating over built-in containers yields."""
    found: set[Value] = set()
    for value in values:
        if type(value) is ListOf:
            found |= value.held
        elif type(value) is TupleOf:
            for part in value.parts:
                found |= part
        elif type(value) is Argument:
            found.add(value)
    return frozenset(found)


def items(values: Iterable[Value]) -> Values:
    """Return what subscribing built-in containers may be."""
    found: set[Value] = set(elements(value for value in values if type(value) is not Argument))
    for value in values:
        if type(value) is DictOf:
            classes = frozenset(held for held in value.held if type(held) is ClassObject)
            if len(classes) > MOST_PICKED:
                found |= (value.held - classes) | {PickedOfMany(classes)}
            else:
                found |= value.held
    return frozenset(found)


def bound_to(members: Values, to: Value) -> Values:
    """Bind the functions among values."""
    return frozenset(
        Function(each.function, to) if type(each) is Function and each.bound is None else each
        for each in members
    )


_INSTANCE = frozenset({Instance})


def instances_in(values: Values) -> Values:
    """Return the instances of classes of the view among values."""
    if _INSTANCE.isdisjoint(map(type, values)):
        return NOTHING
    return frozenset(value for value in values if type(value) is Instance)


def substituted(values: Values, given: Mapping[Argument, Values]) -> Values:
    """Put what a caller gives in the place of parameters; containers get no deeper by it than they may be."""
    if not given or _OPEN.isdisjoint(map(type, values)):
        return values
    if _is_settled(values):
        return limited(values)
    found: set[Value] = set()
    for value in values:
        if type(value) is Argument:
            found |= given.get(value, frozenset([value]))
        elif type(value) is OutsideWith:
            found.add(OutsideWith(value.name, _shallow(substituted(value.held, given))))
        elif type(value) is ContextManager:
            found.add(ContextManager(value.function, _shallow(substituted(value.held, given))))
        elif type(value) is TupleOf:
            found.add(TupleOf(tuple(_shallow(substituted(part, given)) for part in value.parts)))
        elif isinstance(value, _HOLDING):
            found.add(type(value)(_shallow(substituted(value.held, given))))
        elif type(value) is Property:
            functions = value.getter, value.setter, value.deleter
            found.add(Property(*(_shallow(substituted(each, given)) for each in functions)))
        else:
            found.add(value)
    return limited(found)


_HOLDING = ListOf, DictOf, Returning, PickedByPrefix, PickedOfMany
"""Kinds that have nothing but values, which arguments may be among."""

_OPEN = frozenset({*_HOLDING, Argument, OutsideWith, ContextManager, TupleOf, Property, Function})
"""Kinds that arguments may be in; and functions: of too many in one set, only the first are handed on."""


@lru_cache(maxsize=8192)
def _is_settled(values: Values) -> bool:
    """Tell whether nothing in values is an argument, too deep or too many."""
    for value in values:
        parts: tuple[Values, ...] = ()
        if type(value) is Argument:
            return False
        if type(value) is TupleOf:
            parts = value.parts
        elif type(value) is Property:
            parts = astuple(value)
        elif type(value) in _OPEN and type(value) is not Function:
            parts = (value.held,)  # type: ignore[union-attr]
        for part in parts:
            if len(part) > MOST or _shallow(part) is not part or not _is_settled(part):
                return False
    return True


class Arguments(Struct, frozen=True, gc=False):
    """What a call is given.

    Attributes:
        positional: By position.
        keywords: By name; None for ``**``.
        starred: What iterating over ``*`` arguments yields.
        is_open: Whether there are such, of whatever number.
    """

    positional: Sequence[Values] = ()
    keywords: Sequence[tuple[str | None, Values]] = ()
    starred: Values = NOTHING
    is_open: bool = False


NO_ARGUMENTS = Arguments()
