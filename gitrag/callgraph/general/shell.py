"""What a command of a shell script calls: a function of the script, or of one that it reads."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.names import LIKE_NAMED
from gitrag.callgraph.general.tables import Tables

_FEW = 4
_MOST_READ = 200
"""Scripts that are followed from one."""
_PROGRAMS = frozenset(
    "alias awk bg break builtin case cat cd chmod chown command continue cp curl cut date declare dirname"
    " docker echo env eval exec exit export false fg find git grep head hash help jobs kill ln local log"
    " ls make mkdir mv node npm popd printf ps pushd pwd python read readonly return rm sed set shift"
    " sleep sort source ssh stat sudo tail tar tee test time top touch tr trap true type ulimit umask"
    " unalias uniq unset wait wc which xargs".split()
)
"""What a shell has, or most systems: only a function in sight is meant in its place."""


def called(name: str, caller: Id, tables: Tables) -> list[tuple[Id, float]]:
    """Return what a command may call, each with its confidence."""
    here = tables.named(caller[0], name)
    if here:
        return [(here[-1], 1.0)]
    places = tables.places(name)
    if places and (found := next((file for file in _read_by(caller[0], tables) if file in places), None)):
        return [(tables.named(found, name)[-1], 1.0)]
    if not places or len(places) > _FEW or name in _PROGRAMS:
        return []
    return [(tables.named(path, name)[-1], LIKE_NAMED) for path in places]


def _read_by(path: str, tables: Tables) -> Sequence[str]:
    """Return the scripts that a script reads, with what these read, where only one can be meant."""
    found = tables.read_by.get(path)
    if found is not None:
        return found
    waiting, seen = [path], {path: None}
    while waiting and len(seen) < _MOST_READ:
        for each in tables.body(waiting.pop(0)).imports.get("*", ()):
            # Of "$HERE/lib/log.sh" what comes after the variable; `log.sh` alone stands anywhere.
            end = each.origin.rpartition("}")[2].rpartition(")")[2].strip("\"'")
            end = end.partition("/")[2] if end.startswith("$") else end.removeprefix("./").lstrip("/")
            file = tables.ending(end.lstrip("./"))
            if file and file not in seen:
                seen[file] = None
                waiting.append(file)
    found = tables.read_by[path] = list(seen)[1:]
    return found
