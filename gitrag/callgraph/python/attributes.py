"""Attributes of Python values: what reading, setting, iterating or an operator comes down to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.callgraph.python.values import CERTAIN, NOTHING, Value, Values, elements, limited, ordered
from gitrag.callgraph.python.world import Id

if TYPE_CHECKING:
    from gitrag.callgraph.python.frame import Frame
    from gitrag.callgraph.python.scopes import Scopes

Keywords = Sequence[tuple[str | None, Values]]

OVERRIDDEN = 0.6
"""A method of a heir, where the class is known but not whether it is an heir."""
ABSTRACT = 0.4
"""A method that only raises NotImplementedError: who calls it calls what overrides it."""
HANDED_ON = 0.5
"""A function handed by name to something outside the view, which most often calls it."""

ONE_OF_MANY = 0.3
"""One of more callees than an expression is likely to have."""
PICKED = 0.6
"""A method that is looked up by the beginning of its name: ``getattr(self, f"visit_{name}")``."""

MAX_OVERRIDES = 40
MANY = 4
MANY_OVERRIDES = 14


class Attributes:
    """What attributes and operators come down to.

    Args:
        inference: What evaluates the rest.

    Attributes:
        ceiling: How sure the calls that are noted may be at most.
    """

    def __init__(self, inference: Scopes) -> None:
        self._inference = inference
        self.ceiling = CERTAIN

    def call(
        self,
        called: Values,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        *,
        starred: Values = NOTHING,
    ) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, give the results."""
        raise NotImplementedError

    def _function(
        self,
        value: Value,
        arguments: Sequence[Values],
        keywords: Keywords,
        frame: Frame,
        line: int,
        starred: Values,
    ) -> Values:
        raise NotImplementedError

    def _given(
        self,
        own: Id,
        bound: Value | None,
        arguments: Sequence[Values],
        keywords: Keywords,
        starred: Values,
    ) -> dict[tuple[Id, str], Values]:
        raise NotImplementedError

    def attribute(  # noqa: C901 - a branch a kind of value
        self, values: Values, name: str, frame: Frame, line: int, *, special: bool = False
    ) -> Values:
        """Read an attribute; properties are called."""
        found: set[Value] = set()
        inference = self._inference
        before = self.ceiling
        if len({value[1] for value in values if value[0] == "i"}) > MANY:
            self.ceiling = ONE_OF_MANY
        for value in ordered(values):
            kind = value[0]
            if kind == "i":
                found |= self._of_instance(value, name, frame, line, special=special)
            elif kind == "c":
                found |= self._of_class(value, name, frame, line)
            elif kind == "S":
                own = value[2][1]
                member = inference.classes.find(own, name, after=value[1])
                if member is not None:
                    bound = ("i", value[2][1], True) if value[2][0] == "i" else value[2]
                    found |= self._bind(member[1], bound, frame, line)
            elif kind == "m":
                found |= inference.in_module(value[1], name)
            elif kind == "x":
                found.add(("x", f"{value[1]}.{name}"))
            elif kind in "LTD":
                found.add(("X", f"{name}.container", frozenset([value])))
            elif kind == "q" and name in {"lower", "casefold", "strip", "replace", "format"}:
                found.add(("R", frozenset([value])))
            elif kind == "f" and name == "__get__":
                found.add(value)
        self.ceiling = before
        return limited(found)

    def _of_instance(  # noqa: C901 - the places an attribute may be found in, in order
        self, value: Value, name: str, frame: Frame, line: int, *, special: bool
    ) -> Values:
        inference = self._inference
        cls = value[1]
        if name == "__class__":
            return frozenset([("c", cls)])
        found: set[Value] = set()
        member = inference.classes.find(cls, name)
        if member is not None:
            found |= self._bind(member[1], value, frame, line)
            if not value[2] and not any(each[0] == "f" for each in member[1]):
                for own in inference.classes.overriding(cls, name)[:MAX_OVERRIDES]:
                    if inference.classes.is_property(own):
                        inference.edge(frame, own, line, OVERRIDDEN)
        if not special:
            for each in inference.classes.order(cls):
                found |= self._assigned(each, name)
            if not value[2] and member is None and not found:
                for heir in inference.classes.heirs(cls):
                    found |= self._assigned(heir, name)
                    theirs = inference.classes.find(heir, name)  # of what they inherit, too: this is a mixin
                    if theirs is not None:
                        found |= self._bind(theirs[1], ("i", heir, False), frame, line)
            if member is None and not found and not self._has(cls, name):
                fallback = inference.classes.find(cls, "__getattr__")
                if fallback is not None:
                    found |= self.call(self._bind(fallback[1], value, frame, line), [], [], frame, line)
        return limited(found)

    def _has(self, cls: Id, name: str) -> bool:
        """Tell whether methods of a class assign to an attribute, whatever it is."""
        inference = self._inference
        return any(name in inference.row(each)[9] for each in inference.classes.order(cls))

    def _assigned(self, cls: Id, name: str) -> Values:
        """Give what methods of a class assign to an attribute of its instances."""
        inference = self._inference
        for index in inference.row(cls)[9].get(name, ()):
            inference.evaluate((cls[0], index))
        return inference.attributes.get((cls, name), NOTHING)

    def _of_class(self, value: Value, name: str, frame: Frame, line: int) -> Values:
        inference = self._inference
        member = inference.classes.find(value[1], name)
        if member is not None:
            found: set[Value] = set()
            for each in member[1]:
                if each[0] == "f" and each[2] is None and inference.classes.is_of_class(each[1]):
                    found.add(("f", each[1], value))
                else:
                    found.add(each)
            return frozenset(found)
        metaclass = inference.classes.metaclass(value[1])
        if metaclass is not None:
            member = inference.classes.find(metaclass, name)
            if member is not None:
                return self._bind(member[1], ("i", metaclass, True), frame, line)
        return NOTHING

    def _bind(self, members: Values, bound: Value, frame: Frame, line: int) -> Values:
        """Bind what a class holds to what it is read from; properties and descriptors are called."""
        inference = self._inference
        classes = inference.classes
        found: set[Value] = set()
        for member in ordered(members):
            if member[0] == "f" and member[2] is None:
                own = member[1]
                if classes.is_property(own):
                    found |= self._function(("f", own, bound), [], [], frame, line, NOTHING)
                elif classes.is_static(own):
                    found.add(member)
                elif classes.is_of_class(own):
                    found.add(("f", own, ("c", bound[1]) if bound[0] in "ic" else bound))
                else:
                    found.add(("f", own, bound))
            elif member[0] == "i" and (getter := classes.find(member[1], "__get__")) is not None:
                for each in ordered(getter[1]):
                    if each[0] == "f":
                        arguments = [frozenset([bound])]
                        found |= self._function(("f", each[1], member), arguments, [], frame, line, NOTHING)
            else:
                found.add(member)
        return frozenset(found)

    def set_attribute(self, values: Values, name: str, given: Values, frame: Frame, line: int) -> None:
        """Assign to an attribute; a property's setter is called."""
        inference = self._inference
        for value in ordered(values):
            if value[0] != "i":
                continue
            setter = inference.classes.accessor(value[1], name, "setter")
            if setter is not None:
                self._function(("f", setter, value), [given], [], frame, line, NOTHING)
                continue
            override = inference.classes.find(value[1], "__setattr__")
            if override is not None:
                self.call(self._bind(override[1], value, frame, line), [NOTHING, given], [], frame, line)
            useful = frozenset(each for each in given if each[0] not in "xbq")
            if useful:
                known = inference.attributes.get((value[1], name), NOTHING)
                inference.attributes[value[1], name] = limited(known | useful)

    # protocols

    def operator(
        self,
        values: Values,
        methods: Sequence[str],
        arguments: Sequence[Values],
        frame: Frame,
        line: int,
    ) -> Values:
        """Call the first of the special methods that an instance's class has."""
        found: set[Value] = set()
        before = self.ceiling
        if len({value[1] for value in values if value[0] == "i"}) > MANY:
            self.ceiling = ONE_OF_MANY
        for value in ordered(values):
            if value[0] != "i":
                continue
            for name in methods:
                method = self.attribute(frozenset([value]), name, frame, line, special=True)
                if method:
                    found |= self.call(method, arguments, [], frame, line)
                    break
        self.ceiling = before
        return limited(found)

    def iterate(self, values: Values, frame: Frame, line: int) -> Values:
        """Give what iterating gives; ``__iter__`` and ``__next__`` are called."""
        found: set[Value] = set(elements(values))
        instances = frozenset(value for value in values if value[0] == "i")
        if instances:
            iterators = self.operator(instances, ("__iter__", "__aiter__", "__getitem__"), [], frame, line)
            found |= elements(iterators)
            made = frozenset(value for value in iterators if value[0] == "i")
            found |= self.operator(made, ("__next__", "__anext__"), [], frame, line)
        return limited(found)

    def entered(self, values: Values, frame: Frame, line: int) -> Values:
        """Enter and leave context managers; give what they give."""
        found: set[Value] = set()
        for value in ordered(values):
            if value[0] == "W":
                found |= frozenset(v for v in value[2] if v != ("b", "yielded"))
            elif value[0] == "i":
                one = frozenset([value])
                found |= self.operator(one, ("__enter__", "__aenter__"), [], frame, line)
                self.operator(one, ("__exit__", "__aexit__"), [], frame, line)
            elif value[0] == "x":
                found |= NOTHING
        return limited(found)
