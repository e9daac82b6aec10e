"""What attributes, operators and targets of assignments in Python files come down to."""

from __future__ import annotations

from collections.abc import Sequence
from sys import stdlib_module_names

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python import models
from gitrag.callgraph.python.classes import Classes
from gitrag.callgraph.python.confidence import (
    FALLBACK,
    MANY,
    ONE_OF_MANY,
    ONE_OF_SEVERAL,
    OVERRIDDEN,
    UNNEEDED,
)
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.names import PROPERTIES, is_known_decorator
from gitrag.callgraph.python.records import (
    Attribute,
    Expression,
    ListDisplay,
    Name,
    Starred,
    Subscript,
    TupleDisplay,
)
from gitrag.callgraph.python.values import (
    CERTAIN,
    NO_ARGUMENTS,
    NOTHING,
    WRAPPED,
    YIELDED,
    Arguments,
    ClassObject,
    ContextManager,
    DictOf,
    Function,
    Instance,
    ListOf,
    ModuleObject,
    Outside,
    OutsideWith,
    Property,
    Returning,
    Super,
    Text,
    TupleOf,
    Value,
    Values,
    bound_to,
    dict_of,
    elements,
    instances_in,
    is_wrapped,
    limited,
    list_of,
    ordered,
)

_MADE_OUTSIDE = frozenset({OutsideWith})
_SENDING = frozenset({"delay", "apply_async", "send", "enqueue", "defer", "defer_async", "kiq", "remote"})
"""What runs a task of Celery, Dramatiq, Huey, RQ, Procrastinate, TaskIQ or Ray."""
_TEXT_METHODS = frozenset({"lower", "casefold", "strip", "replace", "format"})
"""Methods of strings that leave a name a name."""


class Attributes(Classes):
    """What attributes and operators come down to."""

    def read_attribute(  # noqa: C901, PLR0912 - a branch a kind of value
        self, values: Values, name: str, frame: Frame, line: int, *, special: bool = False, on: str = ""
    ) -> Values:
        """Read an attribute; properties are called.

        Args:
            special: Whether Python itself reads it, of the class: what is assigned to the instance does not
                count.
            on: The name of what it is read of; empty for none.
        """
        found = NOTHING
        before = self._program.ceiling
        if len(values) > 1:
            self._program.ceiling = min(before, self._likely(values, (name,)))
        for value in ordered(values):
            if type(value) is Instance:
                got = self._of_instance(value, name, frame, line, special=special)
            elif type(value) is ClassObject:
                got = self._of_class(value, name, frame, line) | self._of_model(value, name)
            elif type(value) is ModuleObject:
                got = self.in_module(value.path, name)
            elif type(value) is Outside:
                got = self.outside(f"{value.name}.{name}", frame.own[0])
            elif type(value) is Super:
                got = self._of_super(value, name, frame, line)
            elif type(value) is ListOf or type(value) is TupleOf or type(value) is DictOf:
                got = frozenset([OutsideWith(f"{name}.container", frozenset([value]))])
            elif type(value) is Text and name in _TEXT_METHODS:
                got = frozenset([Returning(frozenset([value]))])
            elif type(value) is Function and name in {"__get__", "__call__"}:
                got = frozenset([value])
            elif name in _SENDING and (type(value) is Function or type(value) is OutsideWith):
                got = self._sent(value)
            elif type(value) is Property and name in {"fget", "fset", "fdel"}:
                got = {"fget": value.getter, "fset": value.setter, "fdel": value.deleter}[name]
            else:
                continue
            found = found | got if found else got
        self._program.ceiling = before
        if not special and self._program.is_last_pass and _MADE_OUTSIDE.issuperset(map(type, found)):
            found |= self.read_namesakes(values, name, frame, line, on)
        return limited(found)

    def _likely(self, values: Values, names: Sequence[str]) -> float:
        """Return how sure what the first of some members calls may be at most, of one of these values."""
        if len(values) < 2:
            return CERTAIN
        classes = {value.cls for value in values if type(value) is Instance}
        if len(values) > MANY and len(classes) > MANY:
            return ONE_OF_MANY
        if len(classes) < 2:
            return CERTAIN
        found = (next((each for name in names if (each := self.find(cls, name))), None) for cls in classes)
        return CERTAIN if len({each[0] for each in found if each}) < 2 else ONE_OF_SEVERAL

    def _of_instance(  # noqa: C901 - the places an attribute may be found in, in order
        self, value: Instance, name: str, frame: Frame, line: int, *, special: bool
    ) -> Values:
        cls = value.cls
        if name == "__class__":
            return frozenset([ClassObject(cls, value.exact)])
        found = NOTHING
        member = self.find(cls, name)
        if member is not None:
            found = self.bound(member[1], value, frame, line)
            if not value.exact and not any(type(each) is Function for each in member[1]):
                for own in self.overrides(cls, name):
                    if self.is_property(own):
                        self._program.edge(frame, own, line, OVERRIDDEN)
        if not special:
            if not value.exact:
                for subclass, theirs in self.put_in_place(cls, name):
                    found |= self.bound(theirs, Instance(subclass, exact=False), frame, line)
            found = self._assigned_along(cls, name, found)
            if not value.exact and member is None and not found:
                found |= self._of_mixed_in(cls, name, frame, line)
            if not found and name in models.NARROWING and self._is_query(cls):
                found = frozenset([Returning(frozenset([value]))])
            unset = not found if member is None else self.is_only_declared(member[0], name)
            if unset and not self.has_assigned(cls, name):
                found |= self._fallen_back(value, frame, line)
        return limited(found)

    def _is_query(self, cls: Id) -> bool:
        return any(each.endswith(models.MANAGERS) for each in self.base_names(cls))

    def _fallen_back(self, value: Instance, frame: Frame, line: int) -> Values:
        """Read an attribute by ``__getattr__``."""
        fallback = self.find(value.cls, "__getattr__")
        if fallback is None:
            return NOTHING
        method = self.bound(fallback[1], value, frame, line)
        before = self._program.ceiling
        self._program.ceiling = min(before, FALLBACK)
        found = self.call(method, NO_ARGUMENTS, frame, line)
        self._program.ceiling = before
        return found

    def read_unnamed(self, values: Values, frame: Frame, line: int) -> None:
        """Read an attribute whose name only running tells."""
        for value in ordered(values):
            if type(value) is Instance:
                self._fallen_back(value, frame, line)

    def _of_mixed_in(self, cls: Id, name: str, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        having: dict[Id, Value] = {}
        subclasses = self.subclasses(cls)
        is_assigned = name in (self._frames_of.get(id(subclasses)) or self._along(subclasses))[2]
        for subclass in subclasses:
            if is_assigned or name in self._program.assigned:
                found |= self._assigned(subclass, name)
            theirs = self.find(subclass, name)  # of what they inherit, too: this is a mixin
            if theirs is not None:
                having[theirs[0]] = having.get(theirs[0]) or Instance(subclass, exact=False)
        before = self._program.ceiling
        self._program.ceiling = min(before, CERTAIN if len(having) == 1 else ONE_OF_SEVERAL)
        for each, value in having.items():
            found |= self.bound(self.member(each, name) or NOTHING, value, frame, line)
        self._program.ceiling = before
        return frozenset(found)

    def _assigned_along(self, cls: Id, name: str, found: Values) -> Values:
        """Add what methods of a class, and of those it inherits from, assign to an attribute."""
        order = self.order(cls)
        if self.has_assigned(cls, name):
            return found.union(*(self._assigned(each, name) for each in order))
        known = self._program.assigned.get(name)
        return found.union(*(known[each] for each in order if each in known)) if known else found

    def _assigned(self, cls: Id, name: str) -> Values:
        """Return what methods of a class assign to an attribute of its instances."""
        for index in self._program.scope(cls).assigners.get(name, ()):
            self.evaluate((cls[0], index))
        return self._program.assigned_to(cls, name)

    def _of_class(self, value: ClassObject, name: str, frame: Frame, line: int) -> Values:
        member = self.find(value.cls, name)
        if member is not None:
            found: set[Value] = set()
            for each in member[1]:
                if type(each) is Function and each.bound is None and self.is_of_class(each.function):
                    found.add(Function(each.function, value))
                else:
                    found.add(each)
            if not value.exact:
                found = found.union(*(theirs for _, theirs in self.put_in_place(value.cls, name)))
            return limited(found)
        metaclass = self.metaclass(value.cls)
        if metaclass is not None:
            member = self.find(metaclass, name)
            if member is not None:
                return self.bound(member[1], Instance(metaclass, exact=True), frame, line)
        return NOTHING

    def _sent(self, value: Function | OutsideWith) -> Values:
        """Return what is run later by an attribute that a decorator gave it: ``task.delay(1)``.

        What a decorator of the view gave may do anything.
        """
        if type(value) is not Function:
            return frozenset([value] if is_wrapped(value) else ())
        if value.function in self._program.handed_out:
            return frozenset([value])
        is_decorated = not all(map(is_known_decorator, self._program.scope(value.function).decorators))
        return frozenset([OutsideWith(WRAPPED, frozenset([value]))] if is_decorated else ())

    def _of_model(self, value: ClassObject, name: str) -> Values:
        """Read of a class what a mapper gives it: a query of its instances, a manager of its queries."""
        if name in models.QUERIES and not self.is_all_known(value.cls) and not self._is_own(value.cls, name):
            return models.queried(frozenset([value]))
        if name == "as_manager" and self._is_query(value.cls):
            return frozenset([Returning(frozenset([Instance(value.cls, exact=False)]))])
        return NOTHING

    def _is_own(self, cls: Id, name: str) -> bool:
        """Tell whether a class has under a name an object of which all is known."""
        member = self.find(cls, name)
        own = member[1] if member is not None else NOTHING
        return bool(own) and all(type(each) is Instance and self.is_all_known(each.cls) for each in own)

    def _of_super(self, value: Super, name: str, frame: Frame, line: int) -> Values:
        bound, found = value.bound, NOTHING
        if type(bound) is Instance:
            found = NOTHING if bound.exact else self.beside(bound.cls, name, value.cls)
            bound = Instance(bound.cls, exact=True)
        if type(bound) is Instance or type(bound) is ClassObject:
            member = self.find(bound.cls, name, after=value.cls)
            if member is not None:
                return self.bound(member[1], bound, frame, line) | found
        return found

    def bound(self, members: Values, to: Value, frame: Frame, line: int) -> Values:
        """Bind what a class holds to what it is read from; properties and descriptors are called."""
        found: set[Value] = set()
        for member in ordered(models.opened(members)):
            if type(member) is Function and member.bound is None:
                own, decorators = member.function, self.decorators(member.function)
                if not PROPERTIES.isdisjoint(decorators):
                    found |= self._of_property(own, to, frame, line)
                elif "staticmethod" in decorators:
                    found.add(member)
                elif self.is_of_class(own):
                    found.add(Function(own, ClassObject(to.cls, to.exact) if type(to) is Instance else to))
                else:
                    found.add(Function(own, to))
            elif type(member) is Instance and (getter := self.find(member.cls, "__get__")) is not None:
                given = Arguments([frozenset([to])])
                for each in ordered(getter[1]):
                    if type(each) is Function:
                        method = frozenset([Function(each.function, member)])
                        found |= self.call(method, given, frame, line)
            elif type(member) is Property:
                found |= self.call(bound_to(member.getter, to), NO_ARGUMENTS, frame, line)
            else:
                found.add(member)
        return frozenset(found)

    def _of_property(self, own: Id, to: Value, frame: Frame, line: int) -> Values:
        before = self._program.ceiling
        if self.is_kept(own):
            self._program.ceiling = min(before, UNNEEDED)
        found = self.call(frozenset([Function(own, to)]), NO_ARGUMENTS, frame, line)
        self._program.ceiling = before
        return found

    def set_attribute(self, values: Values, name: str, given: Values, frame: Frame, line: int) -> None:
        """Assign to an attribute; a property's setter is called."""
        for value in ordered(values):
            if type(value) is ClassObject:
                self._program.frame(value.cls).bind(name, given)
            elif type(value) is ModuleObject:
                self._program.frame((value.path, 0)).bind(name, given)
            elif type(value) is Instance:
                self._set_of(value, name, given, frame, line)
            elif type(value) is Outside and value.name not in stdlib_module_names:
                self._program.put_outside(f"{value.name}.{name}", frame.own[0], given)

    def _set_of(self, value: Instance, name: str, given: Values, frame: Frame, line: int) -> None:
        override = self.find(value.cls, "__setattr__")
        if override is not None:
            method = self.bound(override[1], value, frame, line)
            self.call(method, Arguments([NOTHING, given]), frame, line)
        setters = self._setters(value, name, given)
        if not setters:
            self._program.assign(value.cls, name, given)
        if override is None:  # else that calls them, if anything
            before = self._program.ceiling
            if self._of_subclasses(value, "__setattr__", frame, line):
                self._program.ceiling = min(before, ONE_OF_SEVERAL)
            for setter, arguments in setters:
                self.call(setter, arguments, frame, line)
            self._program.ceiling = before

    def _of_subclasses(self, value: Instance, name: str, frame: Frame, line: int) -> bool:
        """Note that a special method may be called that only subclasses have; tell whether one has."""
        found = () if value.exact else self.only_below(value.cls, name)
        for own in found:
            self._program.edge(frame, own, line, OVERRIDDEN)
        return bool(found)

    def _setters(self, value: Instance, name: str, given: Values) -> list[tuple[Values, Arguments]]:
        """Return what assigning to an attribute of an instance calls, and with what."""
        setter = self.setter(value.cls, name)
        if setter is not None:
            return [(frozenset([Function(setter, value)]), Arguments([given]))]
        member = self.find(value.cls, name)
        found: list[tuple[Values, Arguments]] = []
        for each in ordered(member[1]) if member is not None else ():
            if type(each) is Property:
                found.append((bound_to(each.setter, value), Arguments([given])))
            elif type(each) is Instance and (method := self.find(each.cls, "__set__")) is not None:
                found.append((bound_to(method[1], each), Arguments([frozenset([value]), given])))
        return found

    def delete_attribute(self, values: Values, name: str, frame: Frame, line: int) -> None:
        """Delete an attribute; a property's deleter is called."""
        for value in ordered(values):
            if type(value) is not Instance:
                continue
            override = self.find(value.cls, "__delattr__")
            if override is not None:
                method = self.bound(override[1], value, frame, line)
                self.call(method, NO_ARGUMENTS, frame, line)
                continue
            before = self._program.ceiling
            if self._of_subclasses(value, "__delattr__", frame, line):
                self._program.ceiling = min(before, ONE_OF_SEVERAL)
            member = self.find(value.cls, name)
            for each in ordered(member[1]) if member is not None else ():
                if type(each) is Property:
                    self.call(bound_to(each.deleter, value), NO_ARGUMENTS, frame, line)
            for own in self.deleters(value.cls, name):
                self.call(frozenset([Function(own, value)]), NO_ARGUMENTS, frame, line)
            self._program.ceiling = before

    # protocols

    def operator(
        self, values: Values, methods: Sequence[str], arguments: Sequence[Values], frame: Frame, line: int
    ) -> Values:
        """Call the first of the special methods that an instance's class has."""
        instances = instances_in(values)
        if not instances:
            return NOTHING
        found: set[Value] = set()
        before = self._program.ceiling
        other = len(instances) < len(values)  # which may have operators of its own
        self._program.ceiling = min(
            before, self._likely(instances, methods), ONE_OF_SEVERAL if other else CERTAIN
        )
        for value in ordered(instances):
            for name in methods:
                method = self.read_attribute(frozenset([value]), name, frame, line, special=True)
                if method:
                    found |= self.call(method, Arguments(arguments), frame, line)
                    break
        self._program.ceiling = before
        return limited(found)

    def hashed(self, containers: Values, keys: Values, frame: Frame, line: int) -> None:
        """Look keys up in the dictionaries among containers."""
        if any(type(each) is DictOf for each in containers):
            self.held_as_keys(keys, frame, line)

    def held_as_keys(self, keys: Values, frame: Frame, line: int) -> None:
        """Put keys into a dictionary or a set, or look them up there; a tuple's hash is its parts'."""
        parts = keys | elements(key for key in keys if type(key) is TupleOf)
        self.operator(parts, ("__hash__",), [], frame, line)
        self.compared(parts, parts, frame, line)

    def compared(self, values: Values, others: Values, frame: Frame, line: int) -> None:
        """Compare values where they need not be: what is the same object is equal."""
        before = self._program.ceiling
        self._program.ceiling = min(before, UNNEEDED)
        self.operator(values, ("__eq__",), [others], frame, line)
        self._program.ceiling = before

    def formatted(self, values: Values, frame: Frame, line: int) -> None:
        """Put values into a text by what need not be their own way: ``%s`` or ``%r``."""
        before = self._program.ceiling
        self._program.ceiling = min(before, ONE_OF_SEVERAL)
        self.operator(values, ("__str__", "__repr__"), [], frame, line)
        self._program.ceiling = before

    def iterated(self, values: Values, frame: Frame, line: int) -> Values:
        """Return what iterating yields; ``__iter__`` and ``__next__`` are called."""
        found: set[Value] = set(elements(values))
        if instances_in(values):
            iterators = self.operator(values, ("__iter__", "__aiter__", "__getitem__"), [], frame, line)
            found |= elements(iterators)
            found |= self.operator(iterators, ("__next__", "__anext__"), [], frame, line)
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

    # targets of assignments, and what parameters of a lambda are

    def in_lambda(self, place: int, expression: Expression | None, line: int) -> Values:
        """Evaluate an expression of a lambda, whose parameters hide names of the scope around."""
        made, frame = self._program.lambda_at(place)
        hidden = {each.name: frame.hidden(each.name) for each in made.parameters}
        for name in hidden:
            frame.show(name, (self._program.lambda_flows.get((place, name), NOTHING), None))
        found = self.value(expression, frame, line)
        for name, known in hidden.items():
            frame.show(name, known)
        return found

    def assign(self, target: Expression | None, values: Values, frame: Frame, line: int) -> None:
        """Let a target be one of these."""
        if type(target) is Name:
            frame.rebind(target.name, values)
        elif type(target) is Attribute:
            base = self.value(target.base, frame, line)
            self.set_attribute(base, target.name, values, frame, line)
        elif type(target) is TupleDisplay or type(target) is ListDisplay:
            for place, each in enumerate(target.parts):
                self.assign(each, self.part(values, place, frame, line), frame, line)
        elif type(target) is Starred:
            self.assign(target.value, list_of(values), frame, line)
        elif type(target) is Subscript:
            base = self.value(target.base, frame, line)
            index = self.value(target.index, frame, line)
            self.operator(base, ("__setitem__",), [index, values], frame, line)
            self.hashed(base, index, frame, line)
            if target.base is None:
                return
            if any(type(value) is DictOf for value in base):
                self.store(target.base, dict_of(values), frame, line)
            elif any(type(value) is ListOf for value in base):
                self.store(target.base, list_of(values), frame, line)

    def part(self, values: Values, place: int, frame: Frame, line: int) -> Values:
        """Return what unpacking gives to one of several targets."""
        parts: set[Value] = set(elements(value for value in values if type(value) is not TupleOf))
        for value in ordered(values):
            if type(value) is TupleOf and place < len(value.parts):
                parts |= value.parts[place]
            elif type(value) is Instance:
                parts |= self.iterated(frozenset([value]), frame, line)
        return frozenset(parts)

    def store(self, target: Expression | None, values: Values, frame: Frame, line: int) -> None:
        """Let a container that a name or attribute holds hold these, too."""
        if type(target) is Attribute:
            self.assign(target, values, frame, line)
        elif type(target) is Name and target.name in frame.names:
            frame.bind(target.name, values)
        elif type(target) is Subscript:  # a container in one
            self.store(target.base, dict_of(values), frame, line)
