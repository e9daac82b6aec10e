"""What well-known functions outside the view do with what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.callgraph.python.attributes import HANDED_ON, MANY, ONE_OF_MANY, Attributes, Keywords
from gitrag.callgraph.python.values import NOTHING, Value, Values, elements, items, limited, listed, ordered

if TYPE_CHECKING:
    from gitrag.callgraph.python.frame import Frame

_PASSED_ON = frozenset("list tuple set frozenset sorted reversed deque chain iter filter".split())
_SAME = frozenset("copy deepcopy cast update_wrapper partial partialmethod wraps contextmanager".split())
_TO_METHOD = {
    "len": ("__len__",),
    "str": ("__str__", "__repr__"),
    "repr": ("__repr__",),
    "format": ("__format__", "__str__"),
    "bool": ("__bool__", "__len__"),
    "int": ("__int__", "__index__"),
    "float": ("__float__",),
    "hash": ("__hash__",),
    "abs": ("__abs__",),
    "next": ("__next__",),
    "print": ("__str__", "__repr__"),
    "dir": ("__dir__",),
    "bytes": ("__bytes__",),
    "round": ("__round__",),
    "fspath": ("__fspath__",),
}
_ITERATING = frozenset(
    "list tuple set frozenset sorted reversed deque iter enumerate zip map filter sum min max any all dict"
    " chain join extend update".split()
)
_TAKING = frozenset("pop get popleft setdefault popitem".split())


class Library(Attributes):
    """Calls of what is outside the view."""

    def _outside(  # noqa: C901, PLR0912 - one after the other
        self, value: Value, arguments: Sequence[Values], keywords: Keywords, frame: Frame, line: int
    ) -> Values:
        """Call something outside the view."""
        inference = self._inference
        name = value[1].rpartition(".")[2]
        first = arguments[0] if arguments else NOTHING
        if value[0] == "X":
            if name == "wraps":
                return first or NOTHING
            if name == "container":
                return self._container(value, arguments, keywords, frame, line)
        if name in _TO_METHOD:
            called = self.operator(first, _TO_METHOD[name], [], frame, line)
            return called | elements(first) if name == "next" else called
        if name == "getattr" and len(arguments) > 1:
            return limited(arguments[2]) if len(arguments) > 2 else NOTHING
        if name == "type" and len(arguments) == 1:
            return frozenset(("c", v[1]) for v in first if v[0] == "i")
        if name == "cast" and len(arguments) > 1:
            named = inference.instances(first, frame)
            return named | frozenset(v for v in arguments[1] if v[0] in "cfLTD" or not named)
        if name in {"TypeVar", "NewType", "ParamSpec"}:
            return NOTHING
        if name == "wraps":
            return frozenset([("X", "functools.wraps", first)])
        iterated = NOTHING
        if name in _ITERATING:
            for each in arguments:
                iterated |= self.iterate(each, frame, line)
        self._hand_on(name, arguments, keywords, frame, line, iterated)
        if name in _SAME:
            return first
        if name in _PASSED_ON:
            return listed(iterated) if iterated else first
        if name == "enumerate":
            return listed(frozenset([("T", (NOTHING, iterated))]))
        if name == "zip":
            parts = tuple(self.iterate(each, frame, line) for each in arguments[:8])
            return listed(frozenset([("T", parts)]))
        if name in {"min", "max"}:
            return limited(iterated | frozenset().union(*arguments))
        if name == "dict":
            return listed(items(first) | frozenset().union(*(v for _, v in keywords)), "D")
        return NOTHING

    def _hand_on(
        self,
        name: str,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        iterated: Values,
    ) -> None:
        """Note the functions that are handed to something outside the view."""
        if name in _SAME or name in {"isinstance", "issubclass", "hasattr", "callable", "id"}:
            return
        for values in [*arguments, *(values for _, values in keywords)]:
            likely = HANDED_ON if sum(value[0] == "f" for value in values) <= MANY else ONE_OF_MANY
            for value in ordered(values):
                if value[0] == "f":
                    self._inference.edge(frame, value[1], line, likely)
                    given = self._given(value[1], value[2], [iterated], [], NOTHING)
                    for (_, parameter), flowing in given.items():
                        self._inference.flow(value[1], parameter, flowing)

    def _container(
        self, value: Value, arguments: Sequence[Values], keywords: Keywords, frame: Frame, line: int
    ) -> Values:
        name = value[1].split(".")[0]
        held: Values = value[2]
        self._hand_on(name, arguments, keywords, frame, line, NOTHING)
        if name in _TAKING:
            return limited(items(held) | (arguments[1] if len(arguments) > 1 else NOTHING))
        if name in {"copy", "union", "intersection", "difference"}:
            return held
        if name == "values":
            return listed(items(held))
        if name == "items":
            return listed(frozenset([("T", (NOTHING, items(held)))]))
        return NOTHING
