"""Which argument of a call is given to which parameter of a Python function. Pure."""

from __future__ import annotations

from gitrag.callgraph.python.evaluation import Arguments
from gitrag.callgraph.python.records import Scope
from gitrag.callgraph.python.values import NOTHING, Argument, Id, Value, Values


def matched(  # noqa: C901 - the rules of Python's calls
    own: Id, scope: Scope, bound: Value | None, arguments: Arguments
) -> dict[Argument, Values]:
    """Match arguments with parameters.

    Args:
        own: The function.
        scope: Its record.
        bound: What it is bound to, which comes first; None for nothing.
        arguments: What it is given.
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
