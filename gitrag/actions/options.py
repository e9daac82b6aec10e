"""An option: what a field of a request says of itself, on every face.

`gitrag.actions.requests` has the requests. Every search loads this: it imports next to nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import get_annotations
from typing import Any, NamedTuple

from msgspec import Struct

from gitrag.errors import UsageError


class Option(NamedTuple):
    """What a field of a request is to a user.

    Attributes:
        flags: Its names on the command line, separated by spaces.
        help: Its meaning in one line; empty where its name says it.
        also: The ways of asking that it is for too; a question of one repository always is.
        excludes: Fields that it does not go with, and what is said of both: why, and what to do; empty for no
            reason.
        is_hidden: Whether the help is silent about it.
        metavar: What the help calls its value.
        number: What numbers it takes: whole ones, or all.
        first: Whether the help lists it before others.
        tools: Agents' tools that have it, and its meaning there; empty where its name says it.
        label: What it is called in messages, where that is not the last of the flags.
        switches: Its values, each with its meaning: on the command line each is a switch of its own.
        all_switches: The value where all of them are given; empty where they exclude each other.
    """

    flags: str
    help: str
    also: Sequence[str] = ()
    asks: str = ""
    excludes: Mapping[str, Sequence[str]] = {}
    is_hidden: bool = False
    metavar: str | None = None
    number: type[float] = int
    least: int | None = None
    most: int | None = None
    choices: Sequence[str] = ()
    first: bool = False
    tools: Mapping[str, str] = {}
    label: str = ""
    switches: Mapping[str, str] = {}
    all_switches: str = ""

    def switch(self, value: str) -> "Option":
        return self._replace(flags=f"--{value}", help=self.switches[value], switches={})

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.label or self.flags.split()[-1].partition("/")[0]


@cache
def fields_of(request: type[Struct]) -> Mapping[str, tuple[Option | type[Struct], Any]]:
    """Return the options of a request and their defaults, by the names of its fields.

    A field may hold a request of its own; one without an option is for faces to fill.
    """
    kinds = {name: kind for each in request.__mro__[::-1] for name, kind in get_annotations(each).items()}
    found = {}
    for name, default in zip(request.__struct_fields__, request.__struct_defaults__, strict=True):
        option = getattr(kinds[name], "__metadata__", (kinds[name],))[0]
        if isinstance(option, Option) or isinstance(default, Struct):
            found[name] = option, default
    return found


def require_together(request: Struct) -> None:
    """Refuse options that exclude each other."""
    given = dict(given_of(request))
    for option in given.values():
        for other in option.excludes.keys() & given.keys():
            both = f"{option.name} and {given[other].name} exclude each other.", "Give one of them."
            raise UsageError(*(option.excludes[other] or both))


def given_of(request: Struct) -> Iterator[tuple[str, Option]]:
    """Yield the options that are given, by the names of their fields; a switch that is off is none."""
    for name, (option, default) in fields_of(type(request)).items():
        value: Any = getattr(request, name)
        if not isinstance(option, Option):
            yield from given_of(value)
        elif value is not False and value != default:
            yield name, option.switch(value) if option.switches else option
