"""Resolve the calls among a view's files: all languages together, as one graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from gitrag.callgraph.edges import Edges, Id, Limits
from gitrag.callgraph.facts import Facts
from gitrag.callgraph.general.traits import family_of
from gitrag.callgraph.general.view import GeneralView
from gitrag.callgraph.graph import MODULE, Edge, Node, Provenance
from gitrag.callgraph.python.view import PythonView
from gitrag.callgraph.scip import CompiledCalls

LIKELY = 0.5
"""Minimum confidence of a call to show. On click 8.1.8 this gives recall 0.94; only calls that are certain
0.74, of which 0.98 are right (`scripts/bench/callgraph/compare.py`)."""

_Resolve = Callable[[Collection[Id]], Edges]


class ResolvedCalls:
    """The calls among a view's files, resolved on demand.

    Args:
        manifests: The manifests among the files, by path; see `general.manifests`.
        compiled: The calls that a compiler's index has; None if there is none.
    """

    def __init__(
        self,
        files: Mapping[str, tuple[str, Facts]],
        check: Callable[[], None] = lambda: None,
        manifests: Mapping[str, bytes] | None = None,
        compiled: CompiledCalls | None = None,
    ) -> None:
        self._files = files
        self._compiled = compiled
        self._doubtful: set[tuple[Id, Id]] = set()
        self.check = check
        python = {path: facts for path, (name, facts) in files.items() if name == "python"}
        families: dict[str, dict[str, tuple[str, Facts]]] = {}
        for path, (name, facts) in files.items():
            if name != "python":
                families.setdefault(family_of(name), {})[path] = (name, facts)
        self._views: list[PythonView | GeneralView] = [PythonView(python, check)]
        self._views += [GeneralView(families[name], check, manifests) for name in sorted(families)]

    def forget(self) -> None:
        """Drop all inferred data; no more questions are possible."""
        for view in self._views:
            if isinstance(view, PythonView):
                view.forget()

    @property
    def failed(self) -> dict[str, str]:
        """Why bodies of files could not be resolved so far, by path."""
        return {
            path: why
            for view in self._views
            if isinstance(view, PythonView)
            for path, why in view.failed.items()
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked at in the resolution so far, a sentence each."""
        told = self._compiled.notes if self._compiled is not None else ()
        return (*Limits.notes(view.limits for view in self._views), *told)

    def doubtful(self, own: Collection[Node], allowed: Callable[[str], bool]) -> int:
        """Count the calls of and to some definitions that were found so far but are too doubtful to show."""
        wanted = set(own)
        return sum(
            (caller in wanted or callee in wanted) and allowed(caller.path) and allowed(callee.path)
            for caller, callee in ((self.node(a), self.node(b)) for a, b in self._doubtful)
        )

    def nodes(self) -> Iterator[tuple[Id, Node]]:
        """Yield every definition, by path and source order."""
        for path in sorted(self._files):
            for index in range(len(self._files[path][1].definitions)):
                yield (path, index), self.node((path, index))

    def node(self, own: Id) -> Node:
        """Return a definition's node."""
        path, index = own
        each = self._files[path][1].definitions[index]
        return Node(path, each.name or MODULE, each.line_start, each.line_end, each.kind)

    def callees(self, own: Collection[Id], least: float = LIKELY) -> list[Edge]:
        """Return what some definitions call."""
        found = [edge for view in self._views for edge in self._edges(view.callees, own, least)]
        return (
            found
            if self._compiled is None
            else found + self._made(self._compiled.callees(own).items(), "compiler")
        )

    def callers(self, own: Collection[Id], least: float = LIKELY) -> list[Edge]:
        """Return the callers of some definitions."""
        found = [edge for view in self._views for edge in self._edges(view.callers, own, least)]
        return (
            found
            if self._compiled is None
            else found + self._made(self._compiled.callers(own).items(), "compiler")
        )

    def may_make(self, own: Id) -> list[str]:
        """Return the places, ``path:line``, that make one of a class that is not known: perhaps of this one.

        Args:
            own: The class, or its constructor; of what a file keeps for itself none is made elsewhere.
        """
        name = self._files[own[0]][1].definitions[own[1]].name
        is_class = self.node(own).kind == "class" or name.rpartition(".")[2] == "constructor"
        return [
            place
            for view in (self._views if is_class else ())
            if isinstance(view, GeneralView) and view.is_exported(own)
            for place in view.unknown_makers()
        ]

    def _edges(self, resolve: _Resolve, own: Collection[Id], least: float) -> list[Edge]:
        found = self._untold(resolve(own))
        self._doubtful.update(key[:2] for key, (confidence, _) in found.items() if confidence < least)
        return self._made((key, edge) for key, edge in found.items() if edge[0] >= least)

    def _made(
        self,
        found: Iterable[tuple[tuple[Id, Id, str], tuple[float, frozenset[int]]]],
        known: Provenance = "resolved",
    ) -> list[Edge]:
        return sorted(
            Edge(
                self.node(caller),
                self.node(callee),
                min(lines),
                confidence,
                tuple(sorted(lines)[1:]),
                rule,
                "rule" if rule else known,
            )
            for (caller, callee, rule), (confidence, lines) in found
        )

    def _untold(self, found: Edges) -> Edges:
        """Leave out the calls that a compiler tells of, but those of overrides that may run instead."""
        told = self._compiled
        if told is None:
            return found
        kept: Edges = {}
        for key, (sure, every) in found.items():
            caller, callee, rule = key
            name = self._files[callee[0]][1].definitions[callee[1]].name.rpartition(".")[2]
            may_override = LIKELY < sure < 1
            lines = every
            for line in () if rule else every:
                known = told.called_by(caller[0], line, name)
                if callee in known or (known and not may_override):
                    lines -= {line}
            if lines:
                kept[key] = sure, lines
        return kept


@contextmanager
def without_collecting() -> Iterator[None]:
    """Disable Python's cycle collector around millions of new lists: it takes three quarters of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
