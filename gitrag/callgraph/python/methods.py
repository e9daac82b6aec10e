"""What kinds of functions and classes there are, by their decorators and bodies alone."""

from __future__ import annotations

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import (
    Call,
    Expression,
    Raise,
    bare_name,
    decorator_name,
    unsubscripted,
)
from gitrag.callgraph.python.values import (
    NOTHING,
    ClassObject,
    Instance,
    Values,
)

PROPERTIES = frozenset({"property", "cached_property", "abstractproperty"})
"""What makes a property of a function."""
_ACCESSORS = frozenset({"setter", "deleter", "getter"})
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
_TRANSPARENT = frozenset(
    "staticmethod classmethod overload abstractmethod override final wraps lru_cache cache singledispatch"
    " total_ordering runtime_checkable dataclass fixture".split()
)
_KNOWN = PROPERTIES | _ACCESSORS | _MANAGERS | _TRANSPARENT
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def is_known_decorator(decorator: Expression | None) -> bool:
    """Tell whether a decorator is one of Python's own, which need not be followed."""
    return decorator_name(decorator) in _KNOWN


class Methods:
    """What a function is to its class.

    Args:
        program: The files.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._decorators: dict[Id, frozenset[str]] = {}

    def decorators(self, own: Id) -> frozenset[str]:
        """Return the last parts of the names of a definition's decorators."""
        found = self._decorators.get(own)
        if found is None:
            found = frozenset(decorator_name(each) for each in self._program.scope(own).decorators)
            self._decorators[own] = found
        return found

    def is_accessor(self, own: Id) -> bool:
        """Tell whether a function sets or deletes a property."""
        return not _ACCESSORS.isdisjoint(self.decorators(own))

    def is_property(self, own: Id) -> bool:
        """Tell whether reading the attribute calls the function."""
        return not PROPERTIES.isdisjoint(self.decorators(own))

    def is_kept(self, own: Id) -> bool:
        """Tell whether only the first reading of a property calls the function."""
        return "cached_property" in self.decorators(own)

    def is_manager(self, own: Id) -> bool:
        """Tell whether a generator is made a context manager."""
        return not _MANAGERS.isdisjoint(self.decorators(own))

    def is_static(self, own: Id) -> bool:
        """Tell whether a method gets neither its class nor an instance."""
        return "staticmethod" in self.decorators(own)

    def is_of_class(self, own: Id) -> bool:
        """Tell whether a method gets its class, not an instance."""
        return "classmethod" in self.decorators(own) or self._program.scope(own).own_name in _OF_CLASS

    def is_abstract(self, own: Id) -> bool:
        """Tell whether a method does nothing but raise ``NotImplementedError``."""
        body = self._program.scope(own).body
        if len(body) != 1 or type(body[0]) is not Raise:
            return False
        raised = body[0].value
        return bare_name(raised.function if type(raised) is Call else raised) == "NotImplementedError"

    def is_protocol(self, cls: Id) -> bool:
        """Tell whether a class only says what others look like, which need not inherit from it."""
        return any(bare_name(unsubscripted(base)) == "Protocol" for base in self._program.scope(cls).bases)

    def owner(self, own: Id) -> Id | None:
        """Find the class that a function is a method of."""
        parent = self._program.scope(own).parent
        if parent < 0:
            return None
        above = (own[0], parent)
        return above if self._program.scope(above).kind == "class" else None

    def first_parameter(self, own: Id) -> Values | None:
        """Return what a method's first parameter is; None for what is no method."""
        cls = self.owner(own)
        if cls is None or self.is_static(own):
            return None
        return frozenset([(ClassObject if self.is_of_class(own) else Instance)(cls, exact=False)])

    def own_instances(self, frame: Frame) -> Values:
        """Return instances of the class that a body lies in."""
        around: Frame | None = frame
        while around is not None:
            if around.scope.kind == "class":
                return frozenset([Instance(around.own, exact=False)])
            around = around.parent
        return NOTHING
