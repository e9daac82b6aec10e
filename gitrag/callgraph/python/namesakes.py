"""Calls on objects of unknown type: the methods that have the name called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.confidence import MAX_NAMED_FAMILIES, MAX_NAMESAKES, MAX_OVERRIDES, NAMESAKE
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.values import (
    NOTHING,
    Argument,
    BuiltinInstance,
    ClassObject,
    DictOf,
    Function,
    Instance,
    ListOf,
    Namesake,
    Text,
    TupleOf,
    Value,
    Values,
    ordered,
)

_UNKNOWN = frozenset({Argument, BuiltinInstance, Text, ListOf, TupleOf, DictOf})
"""Kinds of value that say nothing about attributes that built-in types do not have."""


class Namesakes:
    """Finds what an attribute may be by its name alone.

    Args:
        program: The files.
        methods: What kinds of methods there are.
        classes: Knows which classes are of one family.
    """

    def __init__(self, program: Program, methods: Methods, classes: Classes) -> None:
        self._program = program
        self._methods = methods
        self._classes = classes
        self._few: dict[str, bool] = {}

    def read(self, values: Values, name: str, frame: Frame, line: int) -> Values:
        """Return what calls an attribute that was not found of some values; a property is called.

        Of what has a name only a few families of classes may have one; that all is known by now is taken for
        granted.
        """
        named = self._program.namesakes(name)
        if named is None or not all(map(self._is_unknown, values)):
            return NOTHING
        if not named:
            found = self._held_as(name)
        elif not self._are_of_few(name, named):
            return NOTHING
        else:
            methods = self._methods
            found = [own for own in named if not methods.is_property(own) and not methods.is_accessor(own)]
            if len(found) < len(named) and not self._program.is_assigned(name):
                for own in named:
                    if methods.is_property(own):
                        self._program.edge(frame, own, line, NAMESAKE)
        return frozenset([Namesake(tuple(found))]) if found else NOTHING

    def _is_unknown(self, value: Value) -> bool:
        """Tell whether a value says nothing about an attribute that no built-in type has.

        An instance says nothing if all is known of its class: then it is something else that comes here.
        """
        if type(value) is Instance:
            return self._classes.is_all_known(value.cls)
        return type(value) in _UNKNOWN

    def _are_of_few(self, name: str, methods: Iterable[Id]) -> bool:
        """Tell whether the methods of a name are of few families of classes."""
        known = self._few.get(name)
        if known is None:
            owners = (self._methods.owner(own) for own in methods)
            families = self._classes.families(owner for owner in owners if owner is not None)
            known = self._few[name] = families <= MAX_NAMED_FAMILIES
        return known

    def _held_as(self, name: str) -> Sequence[Id]:
        """Return what calling an attribute runs, where only a few families of classes have it."""
        holders = self._program.holders(name)
        if len(holders) > MAX_OVERRIDES or self._classes.families(holders) > MAX_NAMED_FAMILIES:
            return ()
        found: dict[Id, None] = {}
        for cls in holders:
            for value in ordered(self._program.held(cls, name)):
                if type(value) is Function:
                    found[value.function] = None
                elif type(value) is ClassObject or type(value) is Instance:
                    entry = "__call__" if type(value) is Instance else "__init__"
                    member = self._classes.find(value.cls, entry)
                    entries = ordered(member[1]) if member is not None else ()
                    found |= {each.function: None for each in entries if type(each) is Function}
        return tuple(found) if len(found) <= MAX_NAMESAKES else ()
