"""What well-known functions outside the view do with what they are given."""

from __future__ import annotations

from gitrag.callgraph.python.annotations import Annotations
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.confidence import HANDED_ON, MANY, UNLIKELY
from gitrag.callgraph.python.evaluation import Arguments
from gitrag.callgraph.python.matching import matched
from gitrag.callgraph.python.methods import PROPERTIES
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.values import (
    NOTHING,
    ClassObject,
    DictOf,
    Function,
    Instance,
    ListOf,
    Outside,
    OutsideWith,
    Property,
    TupleOf,
    Values,
    dict_of,
    elements,
    items,
    limited,
    list_of,
    ordered,
)

_PASSED_ON = frozenset("list tuple set frozenset sorted reversed deque chain iter filter".split())
_SAME = frozenset("copy deepcopy cast update_wrapper partial partialmethod wraps contextmanager".split())
_ONLY_LOOKING = frozenset("isinstance issubclass hasattr setattr callable id".split())
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
_LOOKING_UP = frozenset("get pop setdefault".split())
_OF_KEYS = frozenset({"set", "frozenset"})
_OF_SETS = frozenset(
    "add discard difference difference_update intersection intersection_update isdisjoint issubset issuperset"
    " symmetric_difference symmetric_difference_update union".split()
)
"""Methods that sets have and lists do not."""
_OF_ONE = frozenset({"add", "discard"})
_COMPARING = frozenset("index remove count".split())
_MAPPINGS = frozenset("dict OrderedDict WeakKeyDictionary WeakValueDictionary MappingProxyType".split())
_CASTABLE = frozenset({ClassObject, Function, ListOf, TupleOf, DictOf})


class Library:
    """Calls of what is outside the view.

    Args:
        program: The files.
        attributes: Calls special methods.
        annotations: Knows what ``cast`` casts to.
    """

    def __init__(self, program: Program, attributes: Attributes, annotations: Annotations) -> None:
        self._program = program
        self._attributes = attributes
        self._annotations = annotations

    def call_with(self, value: OutsideWith, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call a method of a container, or a decorator that was given something."""
        name, _, kind = value.name.rpartition(".")
        if kind == "wraps":
            return arguments.positional[0] if arguments.positional else NOTHING
        return self._container(name, value.held, arguments, frame, line)

    def call(  # noqa: C901, PLR0912 - one after the other
        self, value: Outside, arguments: Arguments, frame: Frame, line: int
    ) -> Values:
        """Call something outside the view."""
        name = value.name.rpartition(".")[2]
        given = arguments.positional
        first = given[0] if given else NOTHING
        if name == "hash":
            first |= elements(each for each in first if type(each) is TupleOf)
        if name in _TO_METHOD:
            called = self._attributes.operator(first, _TO_METHOD[name], [], frame, line)
            return called | elements(first) if name == "next" else called
        if name == "getattr" and len(given) > 1:
            return limited(given[2]) if len(given) > 2 else NOTHING
        if name == "type" and len(given) == 1:
            return frozenset(ClassObject(each.cls, each.exact) for each in first if type(each) is Instance)
        if name == "cast" and len(given) > 1:
            named = self._annotations.instances(first, frame)
            return named | frozenset(each for each in given[1] if type(each) in _CASTABLE or not named)
        if name in {"TypeVar", "NewType", "ParamSpec"}:
            return NOTHING
        if name == "wraps":
            return frozenset([OutsideWith("functools.wraps", first)])
        if name in PROPERTIES:
            return frozenset([_property(arguments)])
        iterated = NOTHING
        if name in _ITERATING:
            for each in given:
                iterated |= self._attributes.iterated(each, frame, line)
        self._hand_on(name, arguments, frame, line, iterated)
        if name in _OF_KEYS:
            self._attributes.held_as_keys(iterated, frame, line)
        if name in _SAME:
            return first
        if name in _PASSED_ON:
            return list_of(iterated) if iterated or not given else first
        if name == "enumerate":
            return list_of([TupleOf((NOTHING, iterated))])
        if name == "zip":
            parts = tuple(self._attributes.iterated(each, frame, line) for each in given[:8])
            return list_of([TupleOf(parts)])
        if name in {"min", "max"}:
            return limited(iterated | NOTHING.union(*given))
        if name in _MAPPINGS:
            return dict_of(items(first) | NOTHING.union(*(each for _, each in arguments.keywords)))
        return NOTHING

    def call_unknown(self, arguments: Arguments, frame: Frame, line: int) -> None:
        """Call something of which nothing is known: a method of what is made outside the view."""
        self._hand_on("", arguments, frame, line, NOTHING)

    def _hand_on(self, name: str, arguments: Arguments, frame: Frame, line: int, iterated: Values) -> None:
        """Note the functions that are handed to something outside the view."""
        if name in _SAME or name in _ONLY_LOOKING:
            return
        for values in [*arguments.positional, *(each for _, each in arguments.keywords)]:
            likely = HANDED_ON if sum(type(value) is Function for value in values) <= MANY else UNLIKELY
            held = elements(values) if likely == HANDED_ON else NOTHING
            for value in ordered(values | (held if len(held) <= MANY else NOTHING)):
                if type(value) is Function:
                    own = value.function
                    self._program.edge(frame, own, line, likely, self._program.taker)
                    given = matched(own, self._program.scope(own), value.bound, Arguments([iterated]))
                    for argument, flowing in given.items():
                        self._program.flow(argument, flowing)

    def _container(self, name: str, held: Values, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call a method of a built-in container."""
        given = arguments.positional
        self._hand_on(name, arguments, frame, line, NOTHING)
        if name in _LOOKING_UP and given:
            self._attributes.hashed(held, given[0], frame, line)
        if name in _OF_SETS and given:
            self._attributes.held_as_keys(given[0] if name in _OF_ONE else elements(given[0]), frame, line)
        if name in _COMPARING and given:
            self._attributes.compared(elements(held), given[0], frame, line)
        if name in _TAKING:
            return limited(items(held) | (given[1] if len(given) > 1 else NOTHING))
        if name in {"copy", "union", "intersection", "difference"}:
            return held
        if name == "values":
            return list_of(items(held))
        if name == "items":
            return list_of([TupleOf((NOTHING, items(held)))])
        return NOTHING


def _property(arguments: Arguments) -> Property:
    """Return what ``property`` makes of functions."""
    given = dict(zip(("fget", "fset", "fdel"), arguments.positional, strict=False))
    given |= {name: values for name, values in arguments.keywords if name}
    return Property(*(given.get(name, NOTHING) for name in ("fget", "fset", "fdel")))
