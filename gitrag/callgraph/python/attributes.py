"""Attributes of Python values: what reading or setting one, iterating or an operator comes down to."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.confidence import MANY, ONE_OF_MANY, OVERRIDDEN
from gitrag.callgraph.python.evaluation import NO_ARGUMENTS, Arguments, Evaluation
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.names import Names
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.values import (
    NOTHING,
    YIELDED,
    ClassObject,
    ContextManager,
    DictOf,
    Function,
    Id,
    Instance,
    ListOf,
    ModuleObject,
    Outside,
    OutsideWith,
    Returning,
    Super,
    Text,
    TupleOf,
    Value,
    Values,
    elements,
    limited,
    ordered,
)

_TEXT_METHODS = frozenset({"lower", "casefold", "strip", "replace", "format"})
"""Methods of strings that leave a name a name."""


class Attributes:
    """What attributes and operators come down to.

    Args:
        program: The files.
        methods: What kinds of methods there are.
        names: Finds the members of modules.
        classes: Finds the members of classes.
        whole: What calls properties, and reads the methods that assign to an attribute.
    """

    def __init__(
        self, program: Program, methods: Methods, names: Names, classes: Classes, whole: Evaluation
    ) -> None:
        self._program = program
        self._methods = methods
        self._names = names
        self._classes = classes
        self._whole = whole

    def read(  # noqa: C901 - a branch a kind of value
        self, values: Values, name: str, frame: Frame, line: int, *, special: bool = False
    ) -> Values:
        """Read an attribute; properties are called.

        Args:
            values: What it is read of.
            name: Its name.
            frame: Where.
            line: Where.
            special: Whether Python itself reads it, of the class: what is assigned to the instance does not
                count.
        """
        found: set[Value] = set()
        before = self._program.ceiling
        if _is_of_many(values):
            self._program.ceiling = ONE_OF_MANY
        for value in ordered(values):
            if type(value) is Instance:
                found |= self._of_instance(value, name, frame, line, special=special)
            elif type(value) is ClassObject:
                found |= self._of_class(value, name, frame, line)
            elif type(value) is ModuleObject:
                found |= self._names.in_module(value.path, name)
            elif type(value) is Outside:
                found.add(self._names.outside(f"{value.name}.{name}", frame.own[0]))
            elif type(value) is Super:
                found |= self._of_super(value, name, frame, line)
            elif type(value) is ListOf or type(value) is TupleOf or type(value) is DictOf:
                found.add(OutsideWith(f"{name}.container", frozenset([value])))
            elif type(value) is Text and name in _TEXT_METHODS:
                found.add(Returning(frozenset([value])))
            elif type(value) is Function and name == "__get__":
                found.add(value)
        self._program.ceiling = before
        return limited(found)

    def _of_instance(  # noqa: C901 - the places an attribute may be found in, in order
        self, value: Instance, name: str, frame: Frame, line: int, *, special: bool
    ) -> Values:
        classes, cls = self._classes, value.cls
        if name == "__class__":
            return frozenset([ClassObject(cls)])
        found: set[Value] = set()
        member = classes.find(cls, name)
        if member is not None:
            found |= self.bound(member[1], value, frame, line)
            if not value.exact and not any(type(each) is Function for each in member[1]):
                for own in classes.overrides(cls, name):
                    if self._methods.is_property(own):
                        self._program.edge(frame, own, line, OVERRIDDEN)
        if not special:
            for each in classes.order(cls):
                found |= self._assigned(each, name)
            if not value.exact and member is None and not found:
                for subclass in classes.subclasses(cls):
                    found |= self._assigned(subclass, name)
                    theirs = classes.find(subclass, name)  # of what they inherit, too: this is a mixin
                    if theirs is not None:
                        found |= self.bound(theirs[1], Instance(subclass, exact=False), frame, line)
            if member is None and not found and not classes.has_assigned(cls, name):
                fallback = classes.find(cls, "__getattr__")
                if fallback is not None:
                    method = self.bound(fallback[1], value, frame, line)
                    found |= self._whole.call(method, NO_ARGUMENTS, frame, line)
        return limited(found)

    def _assigned(self, cls: Id, name: str) -> Values:
        """Return what methods of a class assign to an attribute of its instances."""
        for own in self._classes.assigners(cls, name):
            self._whole.evaluate(own)
        return self._program.assigned.get((cls, name), NOTHING)

    def _of_class(self, value: ClassObject, name: str, frame: Frame, line: int) -> Values:
        member = self._classes.find(value.cls, name)
        if member is not None:
            found: set[Value] = set()
            for each in member[1]:
                if type(each) is Function and each.bound is None and self._methods.is_of_class(each.function):
                    found.add(Function(each.function, value))
                else:
                    found.add(each)
            return frozenset(found)
        metaclass = self._classes.metaclass(value.cls)
        if metaclass is not None:
            member = self._classes.find(metaclass, name)
            if member is not None:
                return self.bound(member[1], Instance(metaclass, exact=True), frame, line)
        return NOTHING

    def _of_super(self, value: Super, name: str, frame: Frame, line: int) -> Values:
        bound = value.bound
        if type(bound) is Instance:
            bound = Instance(bound.cls, exact=True)
        if type(bound) is Instance or type(bound) is ClassObject:
            member = self._classes.find(bound.cls, name, after=value.cls)
            if member is not None:
                return self.bound(member[1], bound, frame, line)
        return NOTHING

    def bound(self, members: Values, to: Value, frame: Frame, line: int) -> Values:
        """Bind what a class holds to what it is read from; properties and descriptors are called."""
        found: set[Value] = set()
        for member in ordered(members):
            if type(member) is Function and member.bound is None:
                own = member.function
                if self._methods.is_property(own):
                    found |= self._whole.call(frozenset([Function(own, to)]), NO_ARGUMENTS, frame, line)
                elif self._methods.is_static(own):
                    found.add(member)
                elif self._methods.is_of_class(own):
                    found.add(Function(own, ClassObject(to.cls) if type(to) is Instance else to))
                else:
                    found.add(Function(own, to))
            elif (
                type(member) is Instance and (getter := self._classes.find(member.cls, "__get__")) is not None
            ):
                given = Arguments([frozenset([to])])
                for each in ordered(getter[1]):
                    if type(each) is Function:
                        method = frozenset([Function(each.function, member)])
                        found |= self._whole.call(method, given, frame, line)
            else:
                found.add(member)
        return frozenset(found)

    def set(self, values: Values, name: str, given: Values, frame: Frame, line: int) -> None:
        """Assign to an attribute; a property's setter is called."""
        for value in ordered(values):
            if type(value) is not Instance:
                continue
            setter = self._classes.setter(value.cls, name)
            if setter is not None:
                self._whole.call(frozenset([Function(setter, value)]), Arguments([given]), frame, line)
                continue
            override = self._classes.find(value.cls, "__setattr__")
            if override is not None:
                method = self.bound(override[1], value, frame, line)
                self._whole.call(method, Arguments([NOTHING, given]), frame, line)
            self._program.assign(value.cls, name, given)

    # protocols

    def operator(
        self, values: Values, methods: Sequence[str], arguments: Sequence[Values], frame: Frame, line: int
    ) -> Values:
        """Call the first of the special methods that an instance's class has."""
        found: set[Value] = set()
        before = self._program.ceiling
        if _is_of_many(values):
            self._program.ceiling = ONE_OF_MANY
        for value in ordered(values):
            if type(value) is not Instance:
                continue
            for name in methods:
                method = self.read(frozenset([value]), name, frame, line, special=True)
                if method:
                    found |= self._whole.call(method, Arguments(arguments), frame, line)
                    break
        self._program.ceiling = before
        return limited(found)

    def iterated(self, values: Values, frame: Frame, line: int) -> Values:
        """Return what iterating yields; ``__iter__`` and ``__next__`` are called."""
        found: set[Value] = set(elements(values))
        instances = _instances(values)
        if instances:
            iterators = self.operator(instances, ("__iter__", "__aiter__", "__getitem__"), [], frame, line)
            found |= elements(iterators)
            found |= self.operator(_instances(iterators), ("__next__", "__anext__"), [], frame, line)
        return limited(found)

    def entered(self, values: Values, frame: Frame, line: int) -> Values:
        """Enter and leave context managers; return what entering gives."""
        found: set[Value] = set()
        for value in ordered(values):
            if type(value) is ContextManager:
                found |= value.held - {YIELDED}
            elif type(value) is Instance:
                one = frozenset([value])
                found |= self.operator(one, ("__enter__", "__aenter__"), [], frame, line)
                self.operator(one, ("__exit__", "__aexit__"), [], frame, line)
        return limited(found)

    def tested(self, values: Values, frame: Frame, line: int) -> None:
        """Test for truth."""
        self.operator(values, ("__bool__", "__len__"), [], frame, line)


def _instances(values: Values) -> Values:
    return frozenset(value for value in values if type(value) is Instance)


def _is_of_many(values: Values) -> bool:
    """Tell whether values are instances of many classes."""
    return len(values) > MANY and len({value.cls for value in values if type(value) is Instance}) > MANY
