"""Choose among functions of one name by what a call gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.names import CERTAIN, Found
from gitrag.callgraph.general.records import ELEMENT, Signature, WrittenCall
from gitrag.callgraph.general.resolving import Resolver
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import C_FAMILY, CHOOSING

_VARIABLE = re.compile(r"[A-Z]\d?")
"""The name of a type that stands for any."""
_RESOURCE = re.compile(r"(?:android\.)?R\.(?!styleable\.)\w+\.\w+")
"""The number of a resource of Android, of a class that its build makes."""
_WIDENING = ("byte", "short", "char", "int", "long", "float", "double")
_BOXED = {
    "Byte": "byte",
    "Short": "short",
    "Character": "char",
    "Integer": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Boolean": "boolean",
    "bool": "boolean",
    "string": "String",
}
_PRIMITIVE = frozenset({*_WIDENING, "boolean"})
_ANYTHING = frozenset({"Object", "object", "auto"})
_OF_TEXT = frozenset({"CharSequence", "Comparable", "Serializable"})
_OF_ARRAYS = frozenset({"Serializable"})
_OF_NUMBERS = frozenset({"Number", "Comparable", "Serializable"})

MISFIT = -100
"""Score of an argument that cannot be given."""


def fit(given: Sequence[str], taken: Signature, is_a: Callable[[str, str], bool | None]) -> int | None:
    """Say how well a function's parameters fit what a call gives; None if their number does not.

    Args:
        given: The arguments' types; empty if not known.
        taken: What the function takes.
        is_a: Tells whether a type is, or inherits from, another; None if it cannot tell.
    """
    types = taken.types
    if len(given) < taken.least or (len(given) > len(types) and not taken.variadic):
        return None
    spread = taken.variadic and len(given) != len(types)
    wanted = [*types[: len(given)], *[types[-1] if types else ""] * (len(given) - len(types))]
    score = -1 if taken.variadic else 0
    for argument, parameter in zip(given, wanted, strict=True):
        each = _relation(argument, parameter, is_a)
        if (
            each == MISFIT
            and taken.variadic
            and not spread
            and (argument[-2:] == "[]" or argument[:2] == ELEMENT)
        ):
            each = 0  # the array itself
        if each == MISFIT:
            return MISFIT
        score += each
    return score


def _relation(  # noqa: C901 - one rule after another
    argument: str, parameter: str, is_a: Callable[[str, str], bool | None]
) -> int:
    if parameter == "char*":  # C's text; what is declared as ``char *c`` is known as a char
        return {"String": 4, "char": 3, "null": 1, "": 0}.get(argument, MISFIT)
    argument = _BOXED.get(argument, argument)
    if not argument or not parameter or _VARIABLE.fullmatch(argument):
        return 0
    if argument == parameter:
        return 4
    if parameter in _ANYTHING or _VARIABLE.fullmatch(parameter):
        return 1
    unboxed = _BOXED.get(parameter, parameter)
    if argument == "null":
        return MISFIT if parameter in _PRIMITIVE else 1
    if argument == "->":
        return MISFIT if unboxed in {*_PRIMITIVE, "String", "char[]"} else 0
    if argument.startswith(ELEMENT):  # an array or a list
        return MISFIT if unboxed in {*_PRIMITIVE, "String", *_OF_TEXT, *_OF_NUMBERS} - _OF_ARRAYS else 0
    if argument == unboxed:
        return 3
    if argument in _WIDENING:
        if parameter in _WIDENING:
            return 2 if _WIDENING.index(argument) < _WIDENING.index(parameter) else MISFIT
        number = parameter in _OF_NUMBERS or parameter[0].islower()  # size_t, and what else C calls numbers
        return 1 if number and parameter != "boolean" else MISFIT
    if argument in {"boolean", "String"}:
        return 2 if argument == "String" and parameter in _OF_TEXT else MISFIT
    if unboxed in _PRIMITIVE | {"String"} or argument.endswith("[]") != parameter.endswith("[]"):
        return MISFIT
    known = is_a(argument, parameter)
    return 0 if known is None else 2 if known else MISFIT


_COUNTED = frozenset({"java", "csharp", "kotlin"})
"""Languages whose functions take as many arguments as their parameters say."""
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
        """Return the functions that take the arguments given, those that are only likely left out."""
        choosing = self._tables.language(caller[0]) in CHOOSING
        if call.given is not None:
            found = [each for each in found if each[1] == CERTAIN or self._takes(each[0], call, caller)]
            found = list(dict.fromkeys((self._made_by(own, call, caller), sure) for own, sure in found))
        if not found or not choosing:
            return found
        if call.given is None:
            alone = sum(confidence == CERTAIN for _, confidence in found) == 1
            return found if alone else [(own, min(each, OVERLOADED)) for own, each in found]
        given = [self._type_of(each, caller) for each in call.given]
        scores: dict[Id, int] = {}
        for own, _ in found:
            taken = self._tables.body(own[0]).signatures.get(own[1])
            score = 0 if taken is None or self._takes(own, call, caller) else None
            if taken is not None and self._tables.language(own[0]) in CHOOSING:  # of Kotlin names are known
                score = self._fit(given, taken, own, call.parts)
            if score is not None:
                scores[own] = score
        sure = {own: scores[own] for own, confidence in found if confidence == CERTAIN and own in scores}
        if not sure:  # what takes so many is not in the view, or is made by a macro
            return [(own, min(each, OVERLOADED)) for own, each in found]
        best = max(sure.values())
        chosen = [own for own in sure if sure[own] == best]
        alone = len(sure) == 1 and len(scores) == len(found)
        confidence = CERTAIN if len(chosen) == 1 and (alone or best > MISFIT) else OVERLOADED
        least = MISFIT if best == MISFIT else MISFIT + 1  # of what is sure none fits: types say nothing
        others = [each for each in found if each[1] < CERTAIN and scores.get(each[0], MISFIT - 1) >= least]
        return [*((own, confidence) for own in chosen), *others]

    def _made_by(self, own: Id, call: WrittenCall, caller: Id) -> Id:
        """Return the class, for its primary constructor, where one of Kotlin cannot take the arguments."""
        if self._tables.language(own[0]) != "kotlin" or self._tables.last_name(own) != "constructor":
            return own
        given = call.given or ()
        names = given if self._tables.language(caller[0]) == "kotlin" else [":_"] * len(given)
        parent = self._tables.body(own[0]).parents[own[1]]
        return own if parent < 0 or self._resolver.takes(own, names) else (own[0], parent)

    def _takes(self, own: Id, call: WrittenCall, caller: Id) -> bool:
        """Tell whether a function can take as many arguments, and in Kotlin those that are named."""
        given, taken = call.given or (), self._tables.body(own[0]).signatures.get(own[1])
        language = self._tables.language(own[0])
        if taken is None or language not in _COUNTED or self._tables.last_name(own) == "constructor":
            return True  # what a class of Kotlin is made by may be its primary constructor
        if language == "kotlin":
            names = given if self._tables.language(caller[0]) == "kotlin" else [":_"] * len(given)
            return self._resolver.takes(own, names, is_alone=True)
        return self._fit([""] * len(given), taken, own, call.parts) is not None

    def _fit(self, given: Sequence[str], taken: Signature, own: Id, parts: Sequence[str]) -> int | None:
        extends = self._tables.language(own[0]) == "csharp" and own[1] in self._tables.body(own[0]).statics
        cls = self._tables.definition(own).name.split(".")[-2:-1]
        is_method = len(parts) > 1 and [parts[-2]] != cls
        if extends and (is_method or len(given) < taken.least):  # the first is what it is called on
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
        if _RESOURCE.fullmatch(given) and "R" not in self._tables.classes:
            return "int"
        return self._resolver.type_of(given.split("."), caller)
