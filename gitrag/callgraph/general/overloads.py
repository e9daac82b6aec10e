"""Overloaded functions: which of them fits best what a call gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gitrag.callgraph.general.records import Signature

_VARIABLE = re.compile(r"[A-Z]\d?")
"""The name of a type that stands for any."""
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
        if each == MISFIT and taken.variadic and not spread and argument.endswith("[]"):
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
