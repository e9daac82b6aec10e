"""Choose among functions of one name by what a call gives."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.names import CERTAIN, Found
from gitrag.callgraph.general.overloads import MISFIT, fit
from gitrag.callgraph.general.records import Signature, WrittenCall
from gitrag.callgraph.general.resolving import Resolver
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import C_FAMILY, CHOOSING

OVERLOADED = 0.6
"""Confidence in each of several overloads, where all take the arguments given."""


class Choice:
    """Chooses the overloads that a call may mean.

    Args:
        tables: The definitions.
        resolver: Finds the types of arguments.
    """

    def __init__(self, tables: Tables, resolver: Resolver) -> None:
        self._tables = tables
        self._resolver = resolver

    def fitting(self, found: Found, call: WrittenCall, caller: Id) -> Found:
        """Return the functions that take the arguments given."""
        if not found or self._tables.language(caller[0]) not in CHOOSING:
            return found
        if call.given is None:
            alone = sum(confidence == CERTAIN for _, confidence in found) == 1
            return found if alone else [(own, min(each, OVERLOADED)) for own, each in found]
        given = [self._type_of(each, caller) for each in call.given]
        scores: dict[Id, int] = {}
        for own, _ in found:
            taken = self._tables.body(own[0]).signatures.get(own[1])
            score = 0 if taken is None else self._fit(given, taken, own)
            if score is not None:
                scores[own] = score
        sure = {own: scores[own] for own, confidence in found if confidence == CERTAIN and own in scores}
        if not sure:  # what takes so many is not in the view, or is made by a macro
            return [(own, min(each, OVERLOADED)) for own, each in found]
        best = max(sure.values())
        chosen = [own for own in sure if sure[own] == best]
        alone = len(sure) == 1 and len(scores) == len(found)
        confidence = CERTAIN if len(chosen) == 1 and (alone or best > MISFIT) else OVERLOADED
        others = [each for each in found if each[1] < CERTAIN and scores.get(each[0], MISFIT) > MISFIT]
        return [*((own, confidence) for own in chosen), *others]

    def _fit(self, given: Sequence[str], taken: Signature, own: Id) -> int | None:
        extends = self._tables.language(own[0]) == "csharp" and own[1] in self._tables.body(own[0]).statics
        if extends and len(given) < taken.least:  # the first is what it is called on
            taken = Signature(taken.function, taken.types[1:], taken.least - 1, taken.variadic)
        missing = taken.least - len(given)
        if missing <= 0 or self._tables.language(own[0]) not in C_FAMILY:
            return fit(given, taken, self._resolver.is_a)
        # A default may stand in the declaration, in a header.
        score = fit(given, Signature(taken.function, taken.types, 0, taken.variadic), self._resolver.is_a)
        return None if score is None else score - missing

    def _type_of(self, given: str, caller: Id) -> str:
        """Return the name of an argument's type; empty if it is not known."""
        if given.startswith(":") or not given:
            return given[1:]
        return self._resolver.type_of(given.split("."), caller)
