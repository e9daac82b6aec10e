"""Classes of Python files: bases, members, overriding methods, and methods known by their name alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import chain

from gitrag.callgraph import edges
from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.confidence import (
    COMMON,
    MANY,
    MAX_NAMED_FAMILIES,
    MAX_NAMESAKES,
    MAX_OVERRIDES,
    NAMESAKE,
)
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.mentions import names_in
from gitrag.callgraph.python.names import Names
from gitrag.callgraph.python.records import AnnotatedAssign, Assign, Define, bare_name, unsubscripted
from gitrag.callgraph.python.values import (
    HANDED,
    NOTHING,
    Argument,
    BuiltinInstance,
    ClassObject,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    Namesake,
    OutsideWith,
    PickedByPrefix,
    Text,
    TupleOf,
    Value,
    Values,
    ordered,
)
from gitrag.words.path_traits import Trait, traits

_MOST_DIRECT = 500
"""Of a class with more direct subclasses (``TestCase``, ``Model``), none is likely enough to be looked at.
In an application all views have one base; with 100, django takes a twentieth less time."""
_MOST_ANCESTORS = 100
"""Classes of a method resolution order that are looked at. Django's longest is 34; of a chain of 20,000
generated classes, all orders in full would be 200 million entries."""
_MOST_DESCENDANTS = 500
"""Subclasses, direct or not, that are looked at, for the same reason. Django has classes with 363."""

_LEAST_ALIKE = 3
"""Letters of a name by which an object may be called like its class."""

_DYNAMIC = frozenset({"__getattr__", "__getattribute__"})

_CALLABLE = frozenset({ClassObject, Function, Instance, LambdaFunction})

_Walk = Generator[Id, list[Id], list[Id]]
"""Computes something of a class: yields the classes that it must know it of, returns it."""

_UNKNOWN = frozenset(
    {Argument, BuiltinInstance, Text, ListOf, TupleOf, DictOf, Namesake, OutsideWith, Instance}
)
"""Kinds of value that say nothing about attributes that built-in types do not have."""


class Classes(Names):
    """What is known of classes."""

    # inheritance

    def parents(self, cls: Id) -> list[Id]:
        """Return the base classes that are of the view."""
        turn = self._program.turn
        known = self._parents.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._parents[cls] = (turn, known[1] if known else [])
        scope, frame = self._program.scope(cls), self._program.around(cls)
        found: list[Id] = []
        for base in scope.bases:
            values = self.value(unsubscripted(base), frame, scope.line_start)
            found += [each.cls for each in ordered(values) if type(each) is ClassObject]
        found = [each for each in dict.fromkeys(found) if each != cls]
        self._parents[cls] = (turn, found)
        return found

    def order(self, cls: Id) -> list[Id]:
        """Return the method resolution order."""
        known = self._orders.get(cls)
        if known is not None and known[0] >= self._program.turn:
            return known[1]
        return _settled(cls, self._ordering)

    def _ordering(self, cls: Id) -> _Walk:
        turn = self._program.turn
        known = self._orders.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._orders[cls] = (turn, known[1] if known else [cls])  # for what inherits from itself
        parents = self.parents(cls)
        lines: list[list[Id]] = []
        for parent in parents:
            line = yield parent
            lines.append(line)
        lines.append(parents)
        order = known[1] if known and self._lines.get(cls) == lines else linearised(cls, lines)
        if len(order) >= _MOST_ANCESTORS and len({own for line in lines for own in line}) >= _MOST_ANCESTORS:
            self._program.limits.reached(edges.ANCESTORS, _MOST_ANCESTORS, self._program.scope(cls).own_name)
        self._lines[cls] = lines
        self._orders[cls] = (turn, order)
        return order

    def subclasses(self, cls: Id) -> list[Id]:
        """Return all classes that inherit from a class, directly or not."""
        known = self._subclasses.get(cls)
        if known is not None and known[0] >= self._program.turn:
            return known[1]
        return _settled(cls, self._descending)

    def _descending(self, cls: Id) -> _Walk:
        turn = self._program.turn
        known = self._subclasses.get(cls)
        if known is not None and known[0] >= turn:
            return known[1]
        self._subclasses[cls] = (turn, [])
        found: dict[Id, None] = {}
        direct = list(self._subclasses_of(self._program.scope(cls).own_name))
        if len(direct) > _MOST_DIRECT:
            self._program.limits.reached(edges.DIRECT, _MOST_DIRECT, self._program.scope(cls).own_name)
            return []
        for each in direct:
            if each != cls and cls in self.parents(each):
                found[each] = None
                found.update(dict.fromkeys((yield each)))
        kept = list(found)[:_MOST_DESCENDANTS]
        if len(found) > len(kept):
            self._program.limits.reached(
                edges.SUBCLASSES, _MOST_DESCENDANTS, self._program.scope(cls).own_name
            )
        self._subclasses[cls] = (turn, kept)
        return kept

    def metaclass(self, cls: Id) -> Id | None:
        """Find the metaclass, if it is of the view."""
        for each in self.order(cls):
            scope = self._program.scope(each)
            for keyword in scope.keywords:
                if keyword.name == "metaclass":
                    frame = self._program.around(each)
                    for value in ordered(self.value(keyword.value, frame, scope.line_start)):
                        if type(value) is ClassObject:
                            return value.cls
        return None

    def is_all_known(self, cls: Id) -> bool:
        """Tell whether a class inherits from classes of the view alone, and none has ``__getattr__``."""
        known = self._all_known.get((cls, self._program.turn))
        if known is None:
            known = all(
                len(self.parents(each))
                == sum(bare_name(base) != "object" for base in self._program.scope(each).bases)
                and not self._program.scope(each).keywords
                and not _DYNAMIC & self._program.bindings(each).keys()
                for each in self.order(cls)
            )
            self._all_known[cls, self._program.turn] = known
        return known

    def base_names(self, cls: Id) -> frozenset[str]:
        """Return the last names of what a class and its ancestors inherit from, of the view or not."""
        key = (cls, self._program.turn)
        if key not in self._base_names:
            bases = (base for each in self.order(cls) for base in self._program.scope(each).bases)
            self._base_names[key] = frozenset(bare_name(unsubscripted(base)) for base in bases)
        return self._base_names[key]

    def modelled(self, cls: Id) -> Values:
        """Return instances of the model that a class's ``Meta`` names."""
        found: Values = NOTHING
        meta = self.find(cls, "Meta")
        for each in meta[1] if meta is not None else ():
            if type(each) is ClassObject and (model := self.find(each.cls, "model")) is not None:
                found |= self.instances(model[1])
        return found

    def is_dataclass(self, cls: Id) -> bool:
        """Tell whether a class, or one that it inherits from, is made a dataclass."""
        return any("dataclass" in self.decorators(each) for each in self.order(cls))

    def makes_its_own(self, cls: Id) -> bool:
        """Tell whether a class's own body has a constructor, to which the calls of the class go."""
        bindings = self._program.frame(cls).bindings
        return "__init__" in bindings or "__new__" in bindings

    def families(self, classes: Iterable[Id]) -> int:
        """Count families: classes of which each has an ancestor, or itself, in common with another."""
        families: list[set[Id]] = []
        for cls in classes:
            line = set(self.order(cls))
            families, joined = (
                [each for each in families if each.isdisjoint(line)],
                [each for each in families if not each.isdisjoint(line)],
            )
            families.append(line.union(*joined))
        return len(families)

    def _along(self, classes: list[Id]) -> tuple[list[Id], list[Frame], frozenset[str]]:
        """Remember of an order, or of subclasses: what is known of each, and to what their methods assign."""
        frames = [self._program.frame(each) for each in classes]
        names = frozenset[str]().union(*(frame.scope.assigners for frame in frames))
        found = self._frames_of[id(classes)] = classes, frames, names  # which keeps the number its own
        return found

    # members

    def find(self, cls: Id, name: str, *, after: Id | None = None) -> tuple[Id, Values] | None:
        """Find a member by the method resolution order: the class that has it, and what it may be.

        Args:
            after: Look only behind this class, as ``super`` does.
        """
        turn = self._program.turn
        key = (cls, name, turn)
        if after is None and key in self._lacking:
            return None
        order = self.order(cls)
        _, frames, _ = self._frames_of.get(id(order)) or self._along(order)
        if after is not None and after in order:
            frames = frames[order.index(after) + 1 :]
        for frame in frames:
            if frame.settled.get(name) == turn:
                return frame.own, frame.names.get(name, NOTHING)
            if name in frame.bindings or name in frame.names or "*" in frame.bindings:
                values = self.member_of(frame, name)
                if values is not None:
                    return frame.own, values
        if after is None:
            self._lacking.add(key)
        return None

    def has_assigned(self, cls: Id, name: str) -> bool:
        """Tell whether methods of a class or what it inherits assign to an attribute, whatever it is."""
        order = self.order(cls)
        return name in (self._frames_of.get(id(order)) or self._along(order))[2]

    def is_only_declared(self, cls: Id, name: str) -> bool:
        """Tell whether a class's own body gives an attribute a type, but no value."""
        bound = self._program.bindings(cls).get(name, ())
        declared = all(type(each) is AnnotatedAssign and each.value is None for each in bound)
        return bool(bound) and declared and not self.is_dataclass(cls)

    def defined(self, cls: Id, name: str) -> Iterable[Id]:
        """Yield the definitions of a name in a class's own body."""
        for statement in self._program.bindings(cls).get(name, ()):
            if type(statement) is Define:
                yield (cls[0], statement.scope)

    def setter(self, cls: Id, name: str) -> Id | None:
        """Find the function that sets a property of a class."""
        for each in self.order(cls):
            for own in self.defined(each, name):
                if "setter" in self.decorators(own):
                    return own
        return None

    def deleters(self, cls: Id, name: str) -> Iterable[Id]:
        """Yield the function that deletes a property of a class, if it has one."""
        for each in self.order(cls):
            for own in self.defined(each, name):
                if "deleter" in self.decorators(own):
                    yield own
                    return

    def overriding(self, cls: Id, name: str) -> list[Id]:
        """Return the functions by which subclasses override a method."""
        subclasses = self.subclasses(cls)
        known = self._overriding.get((cls, name))
        if known is not None and known[0] is subclasses:
            return known[1]
        holders = dict.fromkeys(subclasses)
        for each in subclasses:  # what stands beside the class may come before it
            member = self.find(each, name) if len(self._program.scope(each).bases) > 1 else None
            if member is not None and member[0] not in self.order(cls):
                holders[member[0]] = None
        found = [
            own
            for each in holders
            for own in self.defined(each, name)
            if self._program.scope(own).kind == "function" and not self.is_accessor(own)
        ]
        self._overriding[cls, name] = (subclasses, found)
        return found

    def overrides(self, cls: Id, name: str) -> list[Id]:
        """Return the functions by which subclasses override a method, as many as are looked at."""
        found = self.overriding(cls, name)
        if len(found) > MAX_OVERRIDES:
            named = f"{self._program.scope(cls).own_name}.{name}"
            self._program.limits.reached(edges.OVERRIDES, MAX_OVERRIDES, named)
        return found[:MAX_OVERRIDES]

    def may_run(self, method: Id, other: Id) -> bool:
        """Tell whether a method may run of an instance of the class of another: unless it is overridden."""
        cls, own, name = self.owner(other), self.owner(method), self._program.scope(method).own_name
        if cls is None or own not in self.order(cls):  # it stands beside the class, in one of both
            return True
        key = (method, cls, self._program.turn)
        if key not in self._running:
            member = self.find(cls, name)
            run = list(self.defined(member[0], name)) if member is not None else []  # whatever decorates it
            self._running[key] = (
                not run or method in run or any(name in names_in(self._program.scope(each)) for each in run)
            )
        return self._running[key]

    def put_in_place(self, cls: Id, name: str) -> Sequence[tuple[Id, Values]]:
        """Return what subclasses put in the place of a member by an assignment, by subclass."""
        key = (cls, name, self._program.turn)
        if key not in self._in_place:
            found: list[tuple[Id, Values]] = []
            for each in self.subclasses(cls)[:MAX_OVERRIDES]:
                statements = self._program.bindings(each).get(name, ())
                if any(type(statement) is Assign for statement in statements):
                    values = self.member(each, name) or ()
                    found.append((each, frozenset(value for value in values if type(value) in _CALLABLE)))
            self._in_place[key] = found
        return self._in_place[key]

    def only_below(self, cls: Id, name: str) -> Iterable[Id]:
        """Return the functions that subclasses have under a name that the class has nothing of."""
        key = (cls, name, self._program.turn)
        if key not in self._below:
            found: dict[Id, None] = {}
            for each in self.subclasses(cls)[:MAX_OVERRIDES] if self.find(cls, name) is None else ():
                theirs = self.find(each, name)
                for value in ordered(theirs[1]) if theirs is not None else ():
                    if type(value) is Function:
                        found[value.function] = None
            self._below[key] = tuple(found)
        return self._below[key]

    def beside(self, cls: Id, name: str, after: Id) -> Values:
        """Return the methods that ``super()`` of a mixin may mean: what a subclass has behind it."""
        found: dict[Id, Value] = {}
        for each in self.subclasses(cls)[:MAX_OVERRIDES] if self._program.is_last_pass else ():
            member = self.find(each, name, after=after) if len(self._program.scope(each).bases) > 1 else None
            if member is not None and member[0] not in self.order(cls):
                methods = (value.function for value in member[1] if type(value) is Function)
                found |= {own: Function(own, Instance(each, exact=False)) for own in methods}
        return frozenset([PickedByPrefix(frozenset(found.values()))]) if found else NOTHING

    def beginning(self, cls: Id, prefix: str) -> Iterable[Id]:
        """Yield the members of a class, what it inherits and its subclasses whose names begin like this."""
        for each in [*self.order(cls), *self.subclasses(cls)]:
            for name, statements in self._program.bindings(each).items():
                last = statements[-1]
                if name.startswith(prefix) and type(last) is Define:
                    yield (each[0], last.scope)

    # methods known by their name alone

    def read_namesakes(self, values: Values, name: str, frame: Frame, line: int, on: str = "") -> Values:
        """Return what calls an attribute that was not found of some values; a property is called.

        Of what has a name only a few families of classes may have one; that all is known by now is taken for
        granted.
        """
        handed = self._of_handed(values, name) if self._program.is_last_pass else ()
        named = handed or self._program.namesakes(name)
        if named is None or not (handed or self._may_be_another(values)):
            return NOTHING
        if not named:
            found = self._held_as(name)
        elif not handed and not (
            self._are_of_few(name, named) and self._is_backed(name, named, frame.own[0], on)
        ):
            return NOTHING
        else:
            found = [own for own in named if not self.is_property(own) and not self.is_accessor(own)]
            word = on.replace("_", "").lower()
            for own in named if len(found) < len(named) else ():
                owner = self.owner(own)
                is_of = owner is not None and self._program.scope(owner).own_name.lower() == word
                is_of = is_of and owner != self.owner(frame.own)  # else it wraps another of its name
                if self.is_property(own) and (is_of or not self._program.is_assigned(name)):
                    self._program.edge(frame, own, line, NAMESAKE)
            found = found if handed else self._likeliest(found, frame, on)
        return frozenset([Namesake(tuple(found))]) if found else NOTHING

    def _likeliest(self, methods: Sequence[Id], frame: Frame, on: str) -> Sequence[Id]:
        """Return the methods of a name: those of a class, or its family, called like the object; else all.

        Of many a test calls no likely one: it has one object, whichever it is; other code may go through
        objects of all classes. A method that calls one of its name on what it holds calls another; on a local
        variable, which may be a node below, itself.
        """
        if frame.own in methods:
            local = {*self._program.bindings(frame.own), *(each.name for each in frame.scope.parameters)}
            methods = [own for own in methods if own != frame.own or on in local]
        word = on.replace("_", "").lower()
        alike = [own for own in methods if word and word in self._called(own)]
        if alike or len(methods) <= MANY:
            return alike or methods
        return [] if traits(frame.own[0], Trait.TEST) else methods

    def _called(self, own: Id) -> set[str]:
        """Return what a method's class, its ancestors and its subclasses are called, in small letters."""
        if own not in self._called_so:
            cls = self.owner(own)
            family = (*self.order(cls), *self.subclasses(cls)) if cls is not None else ()
            self._called_so[own] = {self._program.scope(each).own_name.lower() for each in family}
        return self._called_so[own]

    def _of_handed(self, values: Values, name: str) -> list[Id]:
        """Return the methods of a name that the classes have by which something outside made some values."""
        given = [value.held for value in values if type(value) is OutsideWith and value.name == HANDED]
        found: dict[Id, None] = {}
        for cls in ordered(NOTHING.union(*given)) if given else ():
            if type(cls) is ClassObject and (member := self.find(cls.cls, name)) is not None:
                own = [each.function for each in ordered(member[1]) if type(each) is Function]
                found |= dict.fromkeys([*own, *self.overrides(cls.cls, name)])
        return list(found)

    def _may_be_another(self, values: Values) -> bool:
        """Tell whether what has an attribute may be none of some values, which do not have it.

        An instance says nothing if all is known of its class, or it is one of several classes': what a
        parameter is given is much of other branches'.
        """
        classes = {value.cls for value in values if type(value) is Instance}
        is_told = len(classes) == 1 and not all(map(self.is_all_known, classes))
        return set(map(type, values)) <= _UNKNOWN and not is_told

    def _are_of_few(self, name: str, methods: Iterable[Id]) -> bool:
        known = self._few.get(name)
        if known is None:
            owners = (self.owner(own) for own in methods)
            families = self.families(owner for owner in owners if owner is not None)
            known = self._few[name] = families <= MAX_NAMED_FAMILIES
        return known

    def _is_backed(self, name: str, methods: Sequence[Id], path: str, on: str) -> bool:
        """Tell whether more than a name that others' methods have, too, says that one of some is meant.

        It may be written in a file of theirs, in one that names their class or one that inherits from it, or
        on something that is called like the class; a name of several words needs none of these.

        Args:
            on: The name of what it is read of; empty for none.
        """
        if "_" in name.strip("_") and name not in COMMON:
            return True
        known = self._owners_named.get(name)
        if known is None:
            owners = {owner for own in methods if (owner := self.owner(own)) is not None}
            family = owners.union(*map(self.subclasses, owners))
            names = frozenset(self._program.scope(each).own_name for each in family)
            known = self._owners_named[name] = names, frozenset(each for each, _ in owners)
        classes, files = known
        if path in files or not classes.isdisjoint(self._program.mentioned(path)):
            return True
        word = on.replace("_", "").lower().rstrip("s")
        if len(word) >= _LEAST_ALIKE and any(
            word in each.lower() or each.lower() in word for each in classes
        ):
            return True
        return name not in COMMON and self._program.is_rare(name)

    def _held_as(self, name: str) -> Sequence[Id]:
        """Return what calling an attribute runs, where only a few families of classes have it."""
        holders = self._program.holders(name)
        if len(holders) > MAX_OVERRIDES or self.families(holders) > MAX_NAMED_FAMILIES:
            return ()
        found: dict[Id, None] = {}
        for cls in holders:
            for value in ordered(self._program.held(cls, name)):
                if type(value) is Function:
                    found[value.function] = None
                elif type(value) is ClassObject or type(value) is Instance:
                    entry = "__call__" if type(value) is Instance else "__init__"
                    member = self.find(value.cls, entry)
                    entries = ordered(member[1]) if member is not None else ()
                    found |= {each.function: None for each in entries if type(each) is Function}
        return tuple(found) if len(found) <= MAX_NAMESAKES else ()


def _settled(cls: Id, walk: Callable[[Id], _Walk]) -> list[Id]:
    """Run a walk and those that it asks for, without recursion however long the chain of classes is."""
    running = [walk(cls)]
    found: list[Id] | None = None
    while running:
        try:
            wanted = running[-1].send(found) if found is not None else next(running[-1])
        except StopIteration as end:
            running.pop()
            found = end.value
        else:
            running.append(walk(wanted))
            found = None
    return found or []


def linearised(own: Id, lines: list[list[Id]]) -> list[Id]:
    """Return a class's method resolution order by those of its bases (C3); where there is none, a near one.

    Args:
        lines: Its bases' orders, and the bases themselves in order.
    """
    if (len(lines) == 2 and lines[0][:1] == lines[1]) or any(own in line for line in lines):
        # One base; or it inherits from itself, which no class that runs does.
        return [*dict.fromkeys(chain([own], *lines))][:_MOST_ANCESTORS]
    lines = [line for line in lines if line]
    order = [own]
    behind = Counter(each for line in lines for each in line[1:])  # in how many lines it is not the head
    heads = {place: line[0] for place, line in enumerate(lines)}
    of_head: dict[Id, list[int]] = {}
    for place, head in heads.items():
        of_head.setdefault(head, []).append(place)
    rest = [iter(line[1:]) for line in lines]
    placed = {own}
    while heads and len(order) < _MOST_ANCESTORS:
        head = next((each for each in heads.values() if not behind[each]), next(iter(heads.values())))
        order.append(head)
        placed.add(head)
        for place in of_head.pop(head):
            for each in rest[place]:
                behind[each] -= 1
                if each not in placed:
                    heads[place] = each
                    of_head.setdefault(each, []).append(place)
                    break
            else:
                del heads[place]
    return order
