"""Classes of Python files: what they inherit, who inherits from them, where a member of theirs is defined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gitrag.callgraph.python.values import NOTHING, Values, ordered
from gitrag.callgraph.python.world import Id, linearise

if TYPE_CHECKING:
    from gitrag.callgraph.python.frame import Frame
    from gitrag.callgraph.python.scopes import Scopes

PROPERTIES = frozenset({"property", "cached_property", "abstractproperty"})
_ACCESSORS = frozenset({"setter", "deleter", "getter"})
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
_TRANSPARENT = frozenset(
    "staticmethod classmethod overload abstractmethod override final wraps lru_cache cache singledispatch"
    " total_ordering runtime_checkable dataclass fixture".split()
)
_KNOWN = PROPERTIES | _ACCESSORS | _MANAGERS | _TRANSPARENT
_MOST_HEIRS = 100
"""Of a class with more direct heirs (``TestCase``, ``Model``), none is likely enough to be looked at."""
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def decorator_name(decorator: Any) -> str:
    """Give the last part of a decorator's name."""
    if decorator and decorator[0] == "C":
        decorator = decorator[1]
    return str(decorator[-1]) if decorator and decorator[0] in "NA" else ""


class Classes:
    """What is known of classes.

    Args:
        inference: What evaluates their bases and bodies.
        subclasses_of: Names the classes that may have a base of this name.
    """

    def __init__(self, inference: Scopes, subclasses_of: Callable[[str], Iterable[Id]]) -> None:
        self._inference = inference
        self._subclasses_of = subclasses_of
        self._parents: dict[Id, tuple[int, list[Id]]] = {}
        self._orders: dict[Id, tuple[int, list[Id]]] = {}
        self._lines: dict[Id, list[list[Id]]] = {}
        self._overriding: dict[tuple[Id, str], tuple[list[Id], list[Id]]] = {}
        self._heirs: dict[Id, tuple[int, list[Id]]] = {}
        self._kinds: dict[Id, frozenset[str]] = {}
        self._lacking: set[tuple[Id, str, int]] = set()

    # functions as members

    def kinds(self, own: Id) -> frozenset[str]:
        """Give the last parts of the names of a function's decorators."""
        found = self._kinds.get(own)
        if found is None:
            found = frozenset(decorator_name(each) for each in self._inference.row(own)[5])
            self._kinds[own] = found
        return found

    def is_known_decorator(self, decorator: Any) -> bool:
        """Tell whether a decorator is one of Python's own, which need not be followed."""
        return decorator_name(decorator) in _KNOWN

    def is_accessor(self, own: Id) -> bool:
        """Tell whether a function sets or deletes a property."""
        return bool(self.kinds(own) & _ACCESSORS)

    def is_property(self, own: Id) -> bool:
        """Tell whether reading the attribute calls the function."""
        return bool(self.kinds(own) & PROPERTIES)

    def is_manager(self, own: Id) -> bool:
        """Tell whether a generator is made a context manager."""
        return bool(self.kinds(own) & _MANAGERS)

    def is_abstract(self, own: Id) -> bool:
        """Tell whether a method does nothing but raise ``NotImplementedError``."""
        body = self._inference.row(own)[8]
        if len(body) != 1 or body[0][0] != "g" or not body[0][2]:
            return False
        raised = body[0][2][1] if body[0][2][0] == "C" else body[0][2]
        return bool(raised) and raised[-1] == "NotImplementedError"

    def is_protocol(self, cls: Id) -> bool:
        """Tell whether a class only says what others look like, which need not inherit from it."""
        return any(
            decorator_name(base[1] if base[0] == "I" else base) == "Protocol"
            for base in self._inference.row(cls)[6]
            if base
        )

    def owner(self, own: Id) -> Id | None:
        """Find the class that a function is a method of."""
        parent = self._inference.row(own)[4]
        if parent < 0:
            return None
        above = (own[0], parent)
        return above if self._inference.row(above)[0] == "class" else None

    def is_of_class(self, own: Id) -> bool:
        """Tell whether a method gets its class, not an instance."""
        name = self._inference.row(own)[1].rpartition(".")[2]
        return "classmethod" in self.kinds(own) or name in _OF_CLASS

    def is_static(self, own: Id) -> bool:
        """Tell whether a method gets neither."""
        return "staticmethod" in self.kinds(own)

    def first_parameter(self, own: Id) -> Values | None:
        """Give what a method's first parameter is; None for what is no method."""
        cls = self.owner(own)
        if cls is None or self.is_static(own):
            return None
        return frozenset([("c", cls) if self.is_of_class(own) else ("i", cls, False)])

    def own_instances(self, frame: Frame) -> Values:
        """Give instances of the class that a body lies in."""
        own = frame.own
        while own[1] > 0:
            row = self._inference.row(own)
            if row[0] == "class":
                return frozenset([("i", own, False)])
            own = (own[0], row[4])
        return NOTHING

    def accessor(self, cls: Id, name: str, kind: str) -> Id | None:
        """Find the function that sets or deletes a property of a class."""
        for each in self.order(cls):
            module = self._inference.modules[each[0]]
            for statement in module.bindings(each[1]).get(name, ()):
                if statement[0] == "d" and kind in self.kinds((each[0], statement[2])):
                    return (each[0], statement[2])
        return None

    # inheritance

    def parents(self, cls: Id) -> list[Id]:
        """Give the base classes that are of the view."""
        turn = self._inference.turn
        known = self._parents.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._parents[cls] = (turn, known[1] if known else [])
        row = self._inference.row(cls)
        frame = self._inference.frame((cls[0], row[4]))
        found: list[Id] = []
        for base in row[6]:
            if base and base[0] != "=":
                bare = base[1] if base[0] == "I" else base  # Generic[T]
                values = self._inference.value(bare, frame, row[2])
                found += [each[1] for each in ordered(values) if each[0] == "c"]
        found = [each for each in dict.fromkeys(found) if each != cls]
        self._parents[cls] = (turn, found)
        return found

    def order(self, cls: Id) -> list[Id]:
        """Give the method resolution order."""
        turn = self._inference.turn
        known = self._orders.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._orders[cls] = (turn, known[1] if known else [cls])  # for what inherits from itself
        parents = self.parents(cls)
        lines = [*map(self.order, parents), parents]
        order = known[1] if known and self._lines.get(cls) == lines else linearise(cls, lines)
        self._lines[cls] = lines
        self._orders[cls] = (turn, order)
        return order

    def heirs(self, cls: Id) -> list[Id]:
        """Give all classes that inherit from a class."""
        turn = self._inference.turn
        known = self._heirs.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._heirs[cls] = (turn, [])
        found: list[Id] = []
        name = self._inference.row(cls)[1].rpartition(".")[2]
        direct = list(self._subclasses_of(name))
        if len(direct) > _MOST_HEIRS:
            return []
        for each in direct:
            if each != cls and cls in self.parents(each):
                found += [each, *self.heirs(each)]
        found = list(dict.fromkeys(found))
        self._heirs[cls] = (turn, found)
        return found

    def metaclass(self, cls: Id) -> Id | None:
        """Find the metaclass, if it is of the view."""
        for each in self.order(cls):
            row = self._inference.row(each)
            for base in row[6]:
                if base and base[0] == "=" and base[1] == "metaclass":
                    frame = self._inference.frame((each[0], row[4]))
                    for value in ordered(self._inference.value(base[2], frame, row[2])):
                        if value[0] == "c":
                            return (value[1][0], value[1][1])
        return None

    # members

    def find(self, cls: Id, name: str, *, after: Id | None = None) -> tuple[Id, Values] | None:
        """Find a member by the method resolution order: the class that has it, and what it may be.

        Args:
            cls: The class.
            name: The member.
            after: Look only behind this class, as ``super`` does.
        """
        key = (cls, name, self._inference.turn)
        if after is None and key in self._lacking:
            return None
        order = self.order(cls)
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        frames = self._inference.frames
        for each in order:
            frame = frames.get(each) or self._inference.frame(each)
            if name in frame.bindings or name in frame.names or "*" in frame.bindings:
                values = self._inference.member(each, name)
                if values is not None:
                    return each, values
        if after is None:
            self._lacking.add(key)
        return None

    def overriding(self, cls: Id, name: str) -> list[Id]:
        """Give the functions by which heirs of a class override a method."""
        heirs = self.heirs(cls)
        known = self._overriding.get((cls, name))
        if known is not None and known[0] is heirs:
            return known[1]
        found: list[Id] = []
        for heir in heirs:
            module = self._inference.modules[heir[0]]
            for statement in module.bindings(heir[1]).get(name, ()):
                if statement[0] == "d":
                    own = (heir[0], statement[2])
                    if self._inference.row(own)[0] != "class" and not self.is_accessor(own):
                        found.append(own)
        self._overriding[cls, name] = (heirs, found)
        return found
