"""What calls in Python files come down to: functions, classes, and what is outside the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python import models
from gitrag.callgraph.python.attributes import Attributes
from gitrag.callgraph.python.confidence import (
    ABSTRACT,
    HANDED_ON,
    MANY,
    MAX_OVERRIDES,
    NAMESAKE,
    ONE_OF_MANY,
    ONE_OF_SEVERAL,
    OVERRIDDEN,
    PICKED,
    UNLIKELY,
    WRAPPED_ONE,
)
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.matching import is_accepted, matched
from gitrag.callgraph.python.names import PROPERTIES, is_known_decorator
from gitrag.callgraph.python.records import Call, decorator_name
from gitrag.callgraph.python.values import (
    CERTAIN,
    HANDED,
    NOTHING,
    UNTRACED,
    WRAPPED,
    Argument,
    Arguments,
    ClassObject,
    ContextManager,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    Namesake,
    Outside,
    OutsideWith,
    PickedByPrefix,
    PickedOfMany,
    Property,
    Returning,
    Text,
    TupleOf,
    Value,
    Values,
    dict_of,
    elements,
    is_wrapped,
    items,
    limited,
    list_of,
    ordered,
    substituted,
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
_UNDOING = frozenset("remove discard disconnect unregister unsubscribe remove_listener off".split())
"""What a function is handed to that is called no more."""
_COMPARING = frozenset("index remove count".split())
_MAPPINGS = frozenset("dict OrderedDict WeakKeyDictionary WeakValueDictionary MappingProxyType".split())
_HOLDING = frozenset({Function, ListOf, TupleOf, OutsideWith})
_CASTABLE = frozenset({ClassObject, Function, ListOf, TupleOf, DictOf})

_MAX_NESTING = 8
"""Calls of instances whose ``__call__`` is an instance, and so on: it may be itself."""

_CALLED = frozenset({Function, ClassObject, LambdaFunction})
"""Kinds of value that are called where a parameter is."""

_RETURNED = frozenset({Function, LambdaFunction, Argument, PickedByPrefix})
"""Kinds of value that are called when they are returned."""


class CallEvaluator(Attributes):
    """What calls come down to."""

    # what is outside

    def call_with(self, value: OutsideWith, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call a method of a container, or a decorator that was given something."""
        name, _, kind = value.name.rpartition(".")
        if value.name == HANDED:
            self.call_unknown(arguments, frame, line)
            return NOTHING
        if kind == "wraps":
            return arguments.positional[0] if arguments.positional else NOTHING
        if value.name == WRAPPED:
            for each in ordered(value.held):
                if type(each) is Function:
                    self._program.edge(frame, each.function, line, WRAPPED_ONE)
            return NOTHING
        return self._container(name, value.held, arguments, frame, line)

    def call_outside(  # noqa: C901, PLR0912 - one after the other
        self, value: Outside, arguments: Arguments, frame: Frame, line: int
    ) -> Values:
        """Call something outside the view."""
        name = value.name.rpartition(".")[2]
        given = arguments.positional
        first = given[0] if given else NOTHING
        if name == "hash":
            first |= elements(each for each in first if type(each) is TupleOf)
        if name in _TO_METHOD:
            called = self.operator(first, _TO_METHOD[name], [], frame, line)
            return called | elements(first) if name == "next" else called
        if name == "getattr" and len(given) > 1:
            return limited(given[2]) if len(given) > 2 else NOTHING
        if name == "type" and len(given) == 1:
            return frozenset(ClassObject(each.cls, each.exact) for each in first if type(each) is Instance)
        if name == "cast" and len(given) > 1:
            named = self.instances(first, frame)
            return named | frozenset(each for each in given[1] if type(each) in _CASTABLE or not named)
        if name in {"TypeVar", "NewType", "ParamSpec"}:
            return NOTHING
        if name == "wraps":
            return frozenset([OutsideWith("functools.wraps", first)])
        if name in PROPERTIES:
            return frozenset([_property(arguments)])
        if name in models.RELATIONS:
            return self.related(arguments, frame)
        if name in models.ONE_OR_404:
            return models.one_of(first)
        if name == "from_queryset":
            return first
        iterated = NOTHING
        if name in _ITERATING:
            for each in given:
                iterated |= self.iterated(each, frame, line)
        self._hand_on(name, arguments, frame, line, iterated)
        if name in _OF_KEYS:
            self.held_as_keys(iterated, frame, line)
        if name in _SAME:
            return first
        if name in _PASSED_ON:
            return list_of(iterated) if iterated or not given else first
        if name == "enumerate":
            return list_of([TupleOf((NOTHING, iterated))])
        if name == "zip":
            parts = tuple(self.iterated(each, frame, line) for each in given[:8])
            return list_of([TupleOf(parts)])
        if name in {"min", "max"}:
            return limited(iterated | NOTHING.union(*given))
        if name in _MAPPINGS:
            return dict_of(items(first) | NOTHING.union(*(each for _, each in arguments.keywords)))
        return NOTHING

    def related(self, arguments: Arguments, frame: Frame) -> Values:
        """Return what relates to a class, which may be named: ``"users.User"``, ``"self"``."""
        given = next((v for k, v in arguments.keywords if k in {"to", "argument"}), NOTHING)
        found = set(arguments.positional[0] if arguments.positional else given)
        for value in list(found):
            if type(value) is Text and value.text == "self" and frame.scope.kind == "class":
                found.add(ClassObject(frame.own, exact=False))
            elif type(value) is Text and value.whole:
                label, _, name = value.text.rpartition(".")
                named = self._program.classes_named(name) if label not in models.CONTRIBUTED else ()
                found |= {
                    ClassObject(own, exact=False)
                    for own in named
                    if len(named) == 1 and not self.is_all_known(own)
                }
        return models.related(frozenset(found))

    def call_unknown(self, arguments: Arguments, frame: Frame, line: int) -> None:
        """Call something of which nothing is known: a method of what is made outside the view."""
        self._hand_on("", arguments, frame, line, NOTHING)

    def _hand_on(self, name: str, arguments: Arguments, frame: Frame, line: int, iterated: Values) -> None:
        """Note the functions that are handed to something outside the view."""
        if name in _SAME or name in _ONLY_LOOKING or name in _UNDOING:
            return
        for values in chain(arguments.positional, (each for _, each in arguments.keywords)):
            if _HOLDING.isdisjoint(map(type, values)):
                continue
            likely = HANDED_ON if sum(type(value) is Function for value in values) <= MANY else UNLIKELY
            held = elements(values) | _wrapped(values) if likely == HANDED_ON else NOTHING
            for value in ordered(values | (held if len(held) <= MANY else NOTHING)):
                if type(value) is Function:
                    own = value.function
                    self._program.edge(frame, own, line, likely, self._program.rule)
                    given = matched(own, self._program.scope(own), value.bound, Arguments([iterated]))
                    for argument, flowing in given.items():
                        self._program.flow(argument, flowing)

    def _container(self, name: str, held: Values, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call a method of a built-in container."""
        given = arguments.positional
        self._hand_on(name, arguments, frame, line, NOTHING)
        if name in _LOOKING_UP and given:
            self.hashed(held, given[0], frame, line)
        if name in _OF_SETS and given:
            self.held_as_keys(given[0] if name in _OF_ONE else elements(given[0]), frame, line)
        if name in _COMPARING and given:
            self.compared(elements(held), given[0], frame, line)
        if (queried := models.result(name, held)) is not None and any(type(each) is ListOf for each in held):
            return queried
        if name in _TAKING:
            return limited(items(held) | (given[1] if len(given) > 1 else NOTHING))
        if name in {"copy", "union", "intersection", "difference"}:
            return held
        if name == "values":
            return list_of(items(held))
        if name == "items":
            return list_of([TupleOf((NOTHING, items(held)))])
        return NOTHING

    # calls

    def call(  # noqa: C901, PLR0912 - a branch a kind of value
        self, called: Values, arguments: Arguments, frame: Frame, line: int
    ) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, return the results."""
        found = NOTHING
        program = self._program
        before = program.ceiling
        if not called and program.is_last_pass:
            self.call_unknown(arguments, frame, line)
        if len(called) > 1:
            if len(called) > MANY and _are_of_many(called):
                program.ceiling = min(before, ONE_OF_MANY)
            elif len(frozenset(map(_entry, called)) - {None}) > 1 or any(map(self._may_differ, called)):
                program.ceiling = min(before, ONE_OF_SEVERAL)
        ceiling = program.ceiling
        for value in ordered(called):
            if type(value) is Function:
                bound = value.bound is not None
                if len(called) == 1 or self._is_accepted(value.function, arguments, bound=bound):
                    found |= self._function(value, arguments, frame, line)
            elif type(value) is Outside:
                found |= self.call_outside(value, arguments, frame, line)
            elif type(value) is ClassObject:
                found |= self._made(value, arguments, frame, line)
            elif type(value) is OutsideWith:
                found |= self.call_with(value, arguments, frame, line)
            elif type(value) is Argument:
                flowing = frozenset(v for v in program.flows.get(value, NOTHING) if type(v) in _CALLED)
                found |= self.call(flowing, _without_starred(arguments), frame, line)
            elif type(value) is Returning:
                found |= value.held
            elif type(value) is LambdaFunction:
                found |= self._lambda(value, arguments, line)
            elif type(value) is Instance:
                # Of a union, what is called is rather the function.
                if value.exact or not any(type(v) is Function or type(v) is Returning for v in called):
                    found |= self._instance(value, arguments, frame, line)
            elif type(value) is Namesake:
                for own in value.functions:
                    is_bound = self.owner(own) is not None and not self.is_static(own)
                    if self._is_accepted(own, arguments, bound=is_bound):
                        program.edge(frame, own, line, NAMESAKE)
            elif type(value) is PickedOfMany:
                program.ceiling = min(ceiling, ONE_OF_MANY)
                found |= self.call(value.held, arguments, frame, line)
                program.ceiling = ceiling
            elif type(value) is PickedByPrefix:
                program.ceiling = min(ceiling, PICKED)
                for each in ordered(value.held):
                    if type(each) is Function:
                        found |= self._function(each, arguments, frame, line)
                program.ceiling = ceiling
        program.ceiling = before
        return limited(found)

    def _may_differ(self, value: Value) -> bool:
        """Tell whether a subclass may have another method, or what is outside be called instead."""
        if type(value) is Outside:
            return not value.name.startswith("builtins.")
        bound = value.bound if type(value) is Function else None
        if type(value) is not Function or type(bound) is not Instance or bound.exact:
            return False
        return bool(self.overrides(bound.cls, self._program.scope(value.function).own_name))

    def _is_accepted(self, own: Id, arguments: Arguments, *, bound: bool) -> bool:
        """Tell whether a function takes these arguments, as far as its decorators leave that to be seen."""
        scope = self._program.scope(own)
        if not all(is_known_decorator(each) for each in scope.decorators):
            return True
        return is_accepted(scope, arguments, bound=bound)

    def _instance(self, value: Instance, arguments: Arguments, frame: Frame, line: int) -> Values:
        if self._calling >= _MAX_NESTING:
            return NOTHING
        self._calling += 1
        method = self.read_attribute(frozenset([value]), "__call__", frame, line, special=True)
        found = self.call(method, arguments, frame, line)
        self._calling -= 1
        return found

    def _function(self, value: Function, arguments: Arguments, frame: Frame, line: int) -> Values:
        own, bound = value.function, value.bound
        program = self._program
        scope = program.scope(own)
        others: Sequence[Id] = ()
        if type(bound) is Instance and not bound.exact:
            others = self.overrides(bound.cls, scope.own_name)
        likely = ONE_OF_SEVERAL if others else CERTAIN
        first = frame.scope.parameters[0].name if others and frame.scope.parameters else ""
        if first and program.rule == f"{first}.{scope.own_name}" and self.owner(frame.own):
            others = [other for other in others if self.may_run(frame.own, other)]
        if bound is not None and self.is_abstract(own):
            likely = ABSTRACT
        program.edge(frame, own, line, likely)
        given = matched(own, scope, bound, arguments)
        for argument, values in given.items():
            program.flow(argument, values)
        likely = OVERRIDDEN if len(others) < MAX_OVERRIDES else UNLIKELY
        for other in others:
            if other != own:
                program.edge(frame, other, line, likely)
                for argument, values in given.items():
                    program.flow(Argument(other, argument.parameter), values)
        return self._as_received(self.result(own, given, bound), own, bound)

    # what comes back

    def result(self, own: Id, given: Mapping[Argument, Values], bound: Value | None = None) -> Values:
        """Return what calling a function of the view returns: by its annotation, else by its body."""
        annotation = self._program.scope(own).returns
        values = NOTHING
        if annotation is not None:
            values = self.described(annotation, self._program.around(own))
            if decorator_name(annotation) == "Self":
                if type(bound) is Instance:
                    values = frozenset([bound])
                elif type(bound) is ClassObject:
                    values = frozenset([Instance(bound.cls, exact=False)])
        if self.is_manager(own):
            inner = elements(values) or self.evaluate(own).yields
            return frozenset([ContextManager(own, substituted(inner, given))])
        functions = frozenset(value for value in values if self._is_any_function(value))
        if not functions and any(map(_says_enough, values)):
            return values
        frame = self.evaluate(own)
        if functions:  # which one is more than its annotation says
            found = frozenset(each for each in frame.returns if type(each) in _RETURNED or is_wrapped(each))
            return substituted(found, given) | (values - functions) if found else values
        if frame.yields:
            return list_of(substituted(self._without_others(frame.yields, given), given))
        return substituted(self._without_others(frame.returns, given), given) | values

    def _as_received(self, values: Values, own: Id, bound: Value | None) -> Values:
        """Put what a method was called on in the place of the ``self`` and ``cls()`` that it returns."""
        if type(bound) is not Instance and type(bound) is not ClassObject:
            return values
        owner = self.owner(own)
        if owner is None or owner == bound.cls:
            return values
        own_kind = Instance(owner, exact=False)
        return values - {own_kind} | {Instance(bound.cls, bound.exact)} if own_kind in values else values

    def _is_any_function(self, value: Value) -> bool:
        """Tell whether a value is some callable, or looks like a protocol's ``__call__``."""
        return type(value) is Returning or (
            type(value) is Instance
            and self.is_protocol(value.cls)
            and self.find(value.cls, "__call__") is not None
        )

    def _without_others(self, values: Values, given: Mapping[Argument, Values]) -> Values:
        """Leave out what other callers gave to a parameter that is handed back: this caller gave its own."""
        for value in values:
            if type(value) is Argument and value in given:
                values -= self._program.flows.get(value, NOTHING)
        return values

    # classes and lambdas

    def _made(self, value: ClassObject, arguments: Arguments, frame: Frame, line: int) -> Values:
        cls = value.cls
        made = Instance(cls, value.exact)
        instance: Values = frozenset([made])
        metaclass = self.metaclass(cls)
        if metaclass is not None:
            found = self.find(metaclass, "__call__")
            if found is not None:
                bound = self.bound(found[1], Instance(metaclass, exact=True), frame, line)
                self.call(bound, arguments, frame, line)
                caller = next((v.function for v in ordered(bound) if type(v) is Function), frame.own)
                frame = self._program.frame(caller)
        is_any = not value.exact and self.find(cls, "__init__") is None  # a subclass may have one
        others = self.overrides(cls, "__init__") if is_any else ()
        if not self.makes_its_own(cls):  # else who makes instances calls that
            self._program.edge(frame, cls, line, ONE_OF_SEVERAL if others else CERTAIN)
        for other in others:
            self._program.edge(frame, other, line, OVERRIDDEN if len(others) < MAX_OVERRIDES else UNLIKELY)
        receiver: Value
        for name, receiver in (("__new__", value), ("__init__", made), ("__post_init__", made)):
            found = self.find(cls, name)
            if found is None or (name == "__post_init__" and not self.is_dataclass(cls)):
                continue
            bound = frozenset(Function(v.function, receiver) for v in found[1] if type(v) is Function)
            given = arguments
            if name == "__post_init__":
                given = Arguments([], arguments.keywords, arguments.starred)
            result = self.call(bound, given, frame, line)
            if name == "__new__":
                instance = frozenset(v for v in result if type(v) is Instance) or instance
        bases = self.base_names(cls)
        if not bases.isdisjoint(models.RELATIONS):
            return instance | self.related(arguments, frame)
        return instance if bases.isdisjoint(models.FACTORIES) else instance | self.modelled(cls)

    def _lambda(self, value: LambdaFunction, arguments: Arguments, line: int) -> Values:
        expression, _ = self._program.lambda_at(value.place)
        flows = self._program.lambda_flows
        for parameter, values in zip(expression.parameters, arguments.positional, strict=False):
            useful = frozenset(v for v in values if type(v) not in UNTRACED and type(v) is not Argument)
            if useful:
                key = value.place, parameter.name
                flows[key] = limited(flows.get(key, NOTHING) | useful)
        body = expression.body
        if type(body) is not Call:
            return NOTHING
        return limited(
            each
            for v in ordered(self.in_lambda(value.place, body.function, line))
            if type(v) is Function
            for each in self.result(v.function, {}, v.bound)
        )


def _property(arguments: Arguments) -> Property:
    """Return what ``property`` makes of functions."""
    given = dict(zip(("fget", "fset", "fdel"), arguments.positional, strict=False))
    given |= {name: values for name, values in arguments.keywords if name}
    return Property(*(given.get(name, NOTHING) for name in ("fget", "fset", "fdel")))


def _says_enough(value: Value) -> bool:
    """Tell whether an annotation that says this need not be looked behind: an empty container does not."""
    if type(value) is ListOf or type(value) is DictOf:
        return value.held != NOTHING
    return type(value) in _TOLD


_TOLD = frozenset({Instance, ClassObject, Function, TupleOf})


def _without_starred(arguments: Arguments) -> Arguments:
    given = arguments.positional, arguments.keywords
    return Arguments(*given, is_open=True) if arguments.is_open else arguments


def _wrapped(values: Values) -> Values:
    """Return what a decorator wrapped in some values: who is handed them calls it by way of them."""
    return NOTHING.union(*(each.held for each in values if type(each) is OutsideWith and is_wrapped(each)))


def _entry(value: Value) -> object:
    """Return what calling a value enters; None for what is not of the view."""
    if type(value) is Function:
        return value.function
    if type(value) is ClassObject or type(value) is Instance:
        return value.cls
    return None


def _are_of_many(values: Values) -> bool:
    """Tell whether values are many classes, or instances of many."""
    return len({v.cls for v in values if type(v) is ClassObject or type(v) is Instance}) > MANY
