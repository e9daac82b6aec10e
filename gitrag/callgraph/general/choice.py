"""Choose among functions of one name by what a call gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.names import CERTAIN, Found
from gitrag.callgraph.general.parameters import BLOCK
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
    "Int": "int",
    "Char": "char",
    "bool": "boolean",
    "string": "String",
}
_PRIMITIVE = frozenset({*_WIDENING, "boolean"})
_ANYTHING = frozenset({"Object", "object", "auto", "Any"})
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


def in_kotlin(given: Sequence[str], taken: Signature, *, is_alone: bool = False) -> list[str] | None:
    """Return the type of the parameter that each argument is for; None if a function does not take them.

    Args:
        given: As in `WrittenCall.given`.
        taken: What the function takes.
        is_alone: It is compared with no other: what overrides may have its base's names and defaults.
    """
    named = [each.rpartition("=")[0] for each in given]
    names = [each.rstrip("=") for each in taken.names]
    if is_alone and taken.least < 0:
        return [""] * len(given) if taken.variadic or len(given) <= len(names) else None
    if not {*named, ""} <= {*names, ""}:
        return None
    if taken.variadic:
        return [""] * len(given)
    places: list[int] = []
    for name, each in zip(named, given, strict=True):
        after = places[-1] + 1 if places else 0
        places.append(names.index(name) if name else len(names) - 1 if each == BLOCK else after)
    free = {place for place, each in enumerate(taken.names) if each[-1] == "="}
    is_whole = {*range(len(names))} - free <= {*places} <= {*range(len(names))}
    return [taken.types[place] for place in places] if is_whole and len({*places}) == len(places) else None


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
        language = self._tables.language(caller[0])
        if call.given is not None:
            found = [each for each in found if each[1] == CERTAIN or self._takes(each[0], call, caller)]
            found = list(dict.fromkeys((self._made_by(own, call, caller), sure) for own, sure in found))
        if language == "kotlin":
            return self._told_apart(found, call, caller)
        if not found or language not in CHOOSING:
            return found
        if call.given is None:
            alone = sum(confidence == CERTAIN for _, confidence in found) == 1
            return found if alone else [(own, min(each, OVERLOADED)) for own, each in found]
        given = [self._type_of(each, caller) for each in call.given]
        scores: dict[Id, int] = {}
        for own, _ in found:
            taken = self._tables.body(own[0]).signatures.get(own[1])
            score: int | None = 0
            if taken is not None and self._tables.language(own[0]) == "kotlin":
                score = self._fit_in_kotlin(call, own, caller)
            elif taken is not None and self._tables.language(own[0]) in CHOOSING:
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

    def _told_apart(self, found: Found, call: WrittenCall, caller: Id) -> Found:
        """Choose among functions of one name of one of Kotlin's classes, or files."""
        if len(found) < 2:
            return found
        named: dict[tuple[str, str], list[Id]] = {}
        for own, _ in found:
            named.setdefault((own[0], self._tables.definition(own).name), []).append(own)
        left: set[Id] = set()
        for every in named.values():
            is_told = len(every) > 1 and call.given is not None
            scores = {own: self._fit_in_kotlin(call, own, caller) for own in every if is_told}
            fits = {own: score for own, score in scores.items() if score is not None}
            best = max(fits.values(), default=0)
            least = best if best > 1 else MISFIT + 1  # else it may be one that nothing is known of
            left |= {own for own, score in fits.items() if score >= min(least, best)} or set(every)
        found = [each for each in found if each[0] in left]
        if sum(sure == CERTAIN for _, sure in found) < 2:
            return found
        return [(own, min(sure, OVERLOADED)) for own, sure in found]

    def _fit_in_kotlin(self, call: WrittenCall, own: Id, caller: Id, *, is_alone: bool = False) -> int | None:
        """Say how well a function of Kotlin takes what a call gives; None if it does not take as much."""
        taken, given = self._tables.body(own[0]).signatures.get(own[1]), call.given or ()
        if taken is None:
            return 0
        is_extension = (
            "." in self._tables.definition(own).name and self._tables.body(own[0]).parents[own[1]] == 0
        )
        if is_extension and self._tables.language(caller[0]) != "kotlin":  # what it extends comes first
            given = given[1:]
        types = in_kotlin(given, taken, is_alone=is_alone)
        if types is None or is_alone:
            return None if types is None else 0
        each = [self._type_of(it.rpartition("=")[2], caller) for it in given]
        every = [_relation(it, type_, self._is_a) for it, type_ in zip(each, types, strict=True)]
        return MISFIT if MISFIT in every else sum(every) - taken.variadic

    def _is_a(self, cls: str, wanted: str) -> bool | None:
        """Tell whether a class is another, unless that is another name of a type in Kotlin."""
        is_alias = any(
            index in self._tables.body(path).statics for path, index in self._tables.classes.get(wanted, ())
        )
        return None if is_alias else self._resolver.is_a(cls, wanted)

    def _made_by(self, own: Id, call: WrittenCall, caller: Id) -> Id:
        """Return the class, for its primary constructor, where one of Kotlin cannot take the arguments."""
        if self._tables.language(own[0]) != "kotlin" or self._tables.last_name(own) != "constructor":
            return own
        parent = self._tables.body(own[0]).parents[own[1]]
        return own if parent < 0 or self._fit_in_kotlin(call, own, caller) is not None else (own[0], parent)

    def _takes(self, own: Id, call: WrittenCall, caller: Id) -> bool:
        """Tell whether a function can take as many arguments, and in Kotlin those that are named."""
        given, taken = call.given or (), self._tables.body(own[0]).signatures.get(own[1])
        language = self._tables.language(own[0])
        if taken is None or language not in _COUNTED or self._tables.last_name(own) == "constructor":
            return True  # what a class of Kotlin is made by may be its primary constructor
        if language == "kotlin":
            return self._fit_in_kotlin(call, own, caller, is_alone=True) is not None
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
            return "->" if given == BLOCK else given[1:]
        if _RESOURCE.fullmatch(given) and "R" not in self._tables.classes:
            return "int"
        found = self._resolver.type_of(given.split("."), caller)
        is_made = not found and given[:1].isupper() and given.endswith("()") and "." not in given
        return given[:-2] if is_made and self._tables.language(caller[0]) == "kotlin" else found
