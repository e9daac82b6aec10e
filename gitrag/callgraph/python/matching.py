"""Which argument of a call is given to which parameter of a Python function. Pure."""

from __future__ import annotations

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.records import Scope
from gitrag.callgraph.python.values import (
    NOTHING,
    Argument,
    Arguments,
    Value,
    Values,
)


def is_accepted(scope: Scope, arguments: Arguments, *, bound: bool) -> bool:
    """Tell whether a function may be called with so many arguments, and with those names.

    Args:
        bound: Whether its first parameter is given by what it is bound to.
    """
    parameters = [each for each in scope.parameters if each.written != "/"][bound:]
    written = [each.written for each in parameters]
    places = next((place for place, each in enumerate(written) if each.startswith("*")), len(written))
    count = len(arguments.positional)
    takes_more = places < len(written) and written[places] != "*" and not written[places].startswith("**")
    if count > places and not takes_more:
        return False
    keywords = {name for name, _ in arguments.keywords if name is not None}
    takes_any = any(each.startswith("**") for each in written)
    if not takes_any and not keywords <= set(written):
        return False
    is_open = arguments.is_open or any(name is None for name, _ in arguments.keywords)
    missing = (
        each
        for place, each in enumerate(parameters)
        if not each.written.startswith("*")
        and not (place < places and place < count)
        and each.name not in keywords
        and each.default is None
    )
    return is_open or not any(missing)


def matched(  # noqa: C901 - the rules of Python's calls
    own: Id, scope: Scope, bound: Value | None, arguments: Arguments
) -> dict[Argument, Values]:
    """Match arguments with parameters.

    Args:
        bound: What it is bound to, which comes first; None for nothing.
    """
    given: dict[Argument, Values] = {}
    positional, starred = arguments.positional, arguments.starred
    if bound is not None:
        positional = [frozenset([bound]), *positional]
    names = [parameter.written for parameter in scope.parameters if parameter.written != "/"]
    for place, name in enumerate(names):
        if name.startswith("*"):
            if not name.startswith("**") and name != "*":
                given[Argument(own, name[1:])] = NOTHING.union(*positional[place:], starred)
            break
        if place < len(positional):
            given[Argument(own, name)] = positional[place]
        elif starred:
            given[Argument(own, name)] = starred
    if arguments.keywords:
        rest = next((Argument(own, name[2:]) for name in names if name.startswith("**")), None)
        for key, values in arguments.keywords:
            if key is None:
                continue
            if key in names:
                given[Argument(own, key)] = values
            elif rest is not None:
                given[rest] = given.get(rest, NOTHING) | values
    return given
