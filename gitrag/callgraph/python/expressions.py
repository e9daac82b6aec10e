"""Expressions of Python files: what each may be, and the calls that it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python import models
from gitrag.callgraph.python.calls import CallEvaluator
from gitrag.callgraph.python.confidence import AS_VALUE, IN_CONTAINER, ONE_OF_SEVERAL
from gitrag.callgraph.python.frames import Frame, Hidden
from gitrag.callgraph.python.mentions import ADDING_TO_DICT, ADDING_TO_LIST, bound_in
from gitrag.callgraph.python.names import is_known_decorator
from gitrag.callgraph.python.records import (
    Alternatives,
    Attribute,
    BinaryOperation,
    Call,
    Comprehension,
    Constant,
    DictDisplay,
    Expression,
    FormattedName,
    FormattedText,
    Lambda,
    ListDisplay,
    Name,
    NamedExpression,
    Proven,
    Starred,
    Subscript,
    TupleDisplay,
    Untyped,
    Yield,
    YieldFrom,
    bare_name,
)
from gitrag.callgraph.python.values import (
    HANDED,
    MAX_DEPTH,
    NO_ARGUMENTS,
    NOTHING,
    WRAPPED,
    YIELDED,
    Annotation,
    Argument,
    Arguments,
    BuiltinInstance,
    ClassObject,
    DictOf,
    Function,
    Instance,
    LambdaFunction,
    ListOf,
    Outside,
    OutsideWith,
    PickedByPrefix,
    Super,
    Text,
    TupleOf,
    Value,
    Values,
    constant,
    depth,
    dict_of,
    elements,
    items,
    limited,
    list_of,
    ordered,
)

_LONGEST_TUPLE = 8
"""Of longer tuples it is not known which item is which."""

_GENERIC = ("typing", "collections.abc")
"""Modules whose names are types when they are subscripted."""

_INSTEAD = {"__contains__": ("__iter__", "__getitem__"), "__ne__": ("__eq__",)}
"""What is called where a class does not have a method."""

_REFLECTED = {
    "__eq__": ("__eq__",),
    "__ne__": ("__ne__", "__eq__"),
    "__lt__": ("__gt__",),
    "__gt__": ("__lt__",),
    "__le__": ("__ge__",),
    "__ge__": ("__le__",),
    "__contains__": ("",),
}
"""What a comparison calls of its right operand."""

_SET_OPERATORS = frozenset({"__or__", "__and__", "__sub__", "__xor__"})
"""Operators that sets have and lists do not."""

_STRING = BuiltinInstance("str")

_OPEN = frozenset({ListOf, TupleOf, DictOf})
"""Kinds of value that an instance of a class may be besides: a list, if the class inherits from it."""
_OF_THE_VIEW = frozenset({Function, ClassObject})


_MAX_DEPTH = 120
"""Expressions evaluated for one another's sake, across bodies. In django and sympy they are 30 at most."""


class Expressions(CallEvaluator):
    """Evaluates expressions."""

    def value(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        """Return what an expression may be, noting the calls that it makes."""
        if expression is None or self._depth >= _MAX_DEPTH:
            return NOTHING
        if type(expression) is Name and not frame.guessed:
            known = frame.now.get(expression.name)
            return self.lookup(expression.name, frame) if known is None else known
        self._depth += 1
        found = self._READERS[type(expression)](self, expression, frame, line)
        self._depth -= 1
        return found

    def _name(self, expression: Name, frame: Frame, _line: int) -> Values:
        found = self.lookup(expression.name, frame)
        return found | frame.guesses(expression.name) if frame.guessed else found

    def _attribute(self, expression: Attribute, frame: Frame, line: int) -> Values:
        base = self.value(expression.base, frame, line)
        called = expression.base.function if type(expression.base) is Call else expression.base
        on = called.name if type(called) is Name or type(called) is Attribute else ""
        return self.read_attribute(base, expression.name, frame, expression.line, on=on)

    def _subscript(self, expression: Subscript, frame: Frame, line: int) -> Values:
        base = self.value(expression.base, frame, line)
        if any(type(value) is Outside and value.name.startswith(_GENERIC) for value in base):
            return frozenset([Annotation(self.described(expression, frame))])
        index = self.value(expression.index, frame, line)
        got = self.operator(base, ("__getitem__", "__class_getitem__"), [index], frame, line)
        self.hashed(base, index, frame, line)
        return limited(got | items(base) | {value for value in base if type(value) is ClassObject})

    def _alternatives(self, expression: Alternatives, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.parts:
            found |= self.value(each, frame, line)
        return limited(found)

    def named_as_value(
        self, expression: Expression | None, values: Values, frame: Frame, line: int, rule: str
    ) -> None:
        """Note the functions among values that an expression names, to be called by something else."""
        name = bare_name(expression)
        for value in values if name else ():
            is_wrapping = type(value) is OutsideWith and value.name == WRAPPED
            for each in value.held if type(value) is OutsideWith and is_wrapping else (value,):
                if type(each) is Function:
                    scope = self._program.scope(each.function)
                    is_itself = is_wrapping or all(map(is_known_decorator, scope.decorators))
                    if scope.own_name == name and is_itself:
                        self._program.edge(frame, each.function, line, AS_VALUE, rule)

    def _part_of(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        found = self.value(expression, frame, line)
        if self._program.is_last_pass:
            self.named_as_value(expression, found, frame, line, IN_CONTAINER)
        return found

    def _list(self, expression: ListDisplay | TupleDisplay, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.parts:
            if type(each) is Starred:
                found |= self._iterated(each.value, frame, line)
            else:
                found |= self._part_of(each, frame, line)
        return list_of(found)

    def _tuple(self, expression: TupleDisplay, frame: Frame, line: int) -> Values:
        if len(expression.parts) > _LONGEST_TUPLE or any(type(each) is Starred for each in expression.parts):
            return self._list(expression, frame, line)
        parts = tuple([self._part_of(each, frame, line) for each in expression.parts])
        if all(depth(part) < MAX_DEPTH for part in parts):
            return frozenset([TupleOf(parts)])
        return list_of(NOTHING.union(*parts))

    def _dict(self, expression: DictDisplay, frame: Frame, line: int) -> Values:
        found: set[Value] = set()
        for each in expression.values:
            if type(each) is Starred:
                found |= items(self.value(each.value, frame, line))
            else:
                found |= self._part_of(each, frame, line)
        for key in expression.keys:
            self.held_as_keys(self.value(key, frame, line), frame, line)
        return dict_of(found)

    def _constant(self, expression: Constant, _frame: Frame, _line: int) -> Values:
        return constant(expression.type_name, expression.text)

    def _operation(self, expression: BinaryOperation, frame: Frame, line: int) -> Values:
        left = self.value(expression.left, frame, line)
        right = self.value(expression.right, frame, line)
        method = expression.method
        methods = (method, *_INSTEAD.get(method, ()))
        found = self.operator(left, methods, [right], frame, line)
        if not found and not any(type(value) is Instance for value in left):
            reflected = _REFLECTED.get(method) or ("__r" + method.removeprefix("__"),)
            found = self.operator(right, reflected, [left], frame, line)
        if method == "__contains__":
            self.hashed(left, right, frame, line)
            held = elements(value for value in left if type(value) is not Argument)
            self.compared(held, right, frame, line)
        if method in _SET_OPERATORS:
            self.held_as_keys(elements(left), frame, line)
        if method == "__mod__" and _STRING in left:
            self.formatted(right | elements(right), frame, line)
        if method == "__add__":
            kept = (ListOf, TupleOf, BuiltinInstance)
            found |= frozenset(value for value in left | right if type(value) in kept)
            found |= frozenset(Text(value.text, whole=False) for value in left if type(value) is Text)
        if method == "__mod__":
            found |= frozenset(value for value in left if type(value) is Text and not value.whole)
        return found

    def _untyped(self, expression: Untyped, frame: Frame, line: int) -> Values:
        for each in expression.parts:
            self.value(each, frame, line)
        return NOTHING

    def _text(self, expression: FormattedText | FormattedName, frame: Frame, line: int) -> Values:
        for each in expression.parts:
            value = self.value(each, frame, line)
            self.operator(value, ("__format__", "__str__", "__repr__"), [], frame, line)
        return frozenset([_STRING])

    def _formatted_name(self, expression: FormattedName, frame: Frame, line: int) -> Values:
        return self._text(expression, frame, line) | {Text(expression.prefix, whole=False)}

    def _lambda_made(self, expression: Lambda, frame: Frame, line: int) -> Values:
        place = self._program.lambda_place(expression, frame)
        self.in_lambda(place, expression.body, line)
        return frozenset([LambdaFunction(place)])

    def _proven(self, expression: Proven, frame: Frame, line: int) -> Values:
        """Read an expression where a name holds an instance of some classes; or let it from here on."""
        known = frame.now.get(expression.name)
        told = self._told(self.value(expression.classes, frame, line)) if known is not None else NOTHING
        if not told or known is None:
            return self.value(expression.value, frame, line)
        hidden = frame.hidden(expression.name)
        frame.prove(expression.name, self._narrowed(known, told))
        if expression.value is None:
            return NOTHING
        found = self.value(expression.value, frame, line)
        frame.show(expression.name, hidden)
        return found

    def _told(self, classes: Values) -> Values:
        """Return instances of the classes that something is tested to be of, if all are known: no others."""
        flat = classes | elements(classes)
        flat |= elements(flat)
        parts = [part for each in flat if type(each) is TupleOf for part in each.parts]
        told = self.instances(flat)
        is_known = all(parts) and all(map(_is_known_class, flat))
        return told if is_known and len(set(map(type, told))) == 1 else NOTHING

    def _narrowed(self, known: Values, told: Values) -> Values:
        """Return what something known to be one of some values is where it is an instance of some classes."""
        found: set[Value] = {each for each in known if type(each) in _OPEN}
        classes = {each.cls for each in told if type(each) is Instance}
        instances = [each for each in known if type(each) is Instance]
        if not classes:  # built-in ones
            return known - {each for each in instances if self.is_all_known(each.cls)}
        kept = {each for each in instances if not classes.isdisjoint(self.order(each.cls))}
        below = {
            each
            for each in told
            for other in instances
            if type(each) is Instance and not other.exact and other.cls in self.order(each.cls)
        }
        is_open = len(instances) < len(known) or not (kept or below)
        return limited(found | kept | (told if is_open else below - {Instance(e.cls, e.exact) for e in kept}))

    def _comprehension(self, expression: Comprehension, frame: Frame, line: int) -> Values:
        hidden: dict[str, Hidden] = {}
        for clause in expression.clauses:
            iterable = self._iterated(clause.iterable, frame, line)
            for name in bound_in(clause.target):
                hidden.setdefault(name, frame.hidden(name))
            self._assign_inner(clause.target, iterable, frame, line)
            for condition in clause.conditions:
                self.tested(self.value(condition, frame, line), frame, line)
        element = self.value(expression.element, frame, line)
        for name, known in hidden.items():
            frame.show(name, known)
        return dict_of(items(element)) if expression.is_dict else list_of(element)

    def _assign_inner(self, target: Expression | None, values: Values, frame: Frame, line: int) -> None:
        """Let a comprehension's target be one of these, which the scope around does not see."""
        if type(target) is Name:
            frame.now[target.name] = values
        elif type(target) is TupleDisplay or type(target) is ListDisplay:
            for place, each in enumerate(target.parts):
                self._assign_inner(each, self.part(values, place, frame, line), frame, line)
        elif type(target) is Starred:
            self._assign_inner(target.value, list_of(values), frame, line)

    def _named(self, expression: NamedExpression, frame: Frame, line: int) -> Values:
        value = self.value(expression.value, frame, line)
        frame.bind(expression.name, value)
        return value

    def _yield(self, expression: Yield, frame: Frame, line: int) -> Values:
        value = self.value(expression.value, frame, line)
        frame.yields = limited(frame.yields | value | {YIELDED})
        return NOTHING

    def _yield_from(self, expression: YieldFrom, frame: Frame, line: int) -> Values:
        value = self._iterated(expression.value, frame, line)
        frame.yields = limited(frame.yields | value | {YIELDED})
        return NOTHING

    def _inner(self, expression: Starred, frame: Frame, line: int) -> Values:
        return self.value(expression.value, frame, line)

    def _iterated(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        return self.iterated(self.value(expression, frame, line), frame, line)

    # calls

    def call_expression(self, expression: Call, frame: Frame, _line: int) -> Values:
        function, line = expression.function, expression.line
        named = function.name if type(function) is Name else ""
        if named == "super":
            return self._super(expression.positional, frame)
        called = self.value(function, frame, line)
        if named in {"getattr", "hasattr"} and len(expression.positional) > 1:
            found = self._getattr(expression.positional, frame, line)
            return found if named == "getattr" else NOTHING
        arguments = self._arguments(expression, frame, line)
        if type(function) is Attribute:
            self._change(function, called, arguments, frame, line)
        elif named == "isinstance" and expression.positional:
            self._guess(bare_name(expression.positional[0]), arguments.positional[1:], frame)
        elif named == "setattr" and len(arguments.positional) == 3:
            self._setattr(arguments.positional, frame, line)
        found = self._call_named(expression, called, arguments, frame)
        if not called and frame.scope.kind == "class" and bare_name(function) in models.RELATIONS:
            return self.related(arguments, frame)
        if found or not (arguments.positional or arguments.keywords):
            return found
        return models.queried_by(function, arguments) or models.handed(function, called, arguments)

    def _change(
        self, function: Attribute, called: Values, arguments: Arguments, frame: Frame, line: int
    ) -> None:
        """Let a container hold what its method is given; format what a string's is."""
        name, given = function.name, arguments.positional
        if name in ADDING_TO_LIST and given:
            self.store(function.base, list_of(given[-1]), frame, line)
        elif name in ADDING_TO_DICT and given:
            self.store(function.base, dict_of(given[-1]), frame, line)
        elif name == "format" and not called:
            every = NOTHING.union(*given, *(values for _, values in arguments.keywords))
            self.formatted(every, frame, line)

    def _call_named(self, expression: Call, called: Values, arguments: Arguments, frame: Frame) -> Values:
        program, function = self._program, expression.function
        before = program.ceiling, program.taker
        program.taker = "", function
        if program.is_last_pass and not _OF_THE_VIEW.isdisjoint(map(type, called)):
            rule = program.rule
            given = () if arguments.is_open else arguments.positional
            for each, values in zip(expression.positional, given, strict=False):
                self.named_as_value(each, values, frame, expression.line, rule)
            for keyword, (_, values) in zip(expression.keywords, arguments.keywords, strict=True):
                self.named_as_value(keyword.value, values, frame, expression.line, rule)
        if self._is_handed_down(function, called, frame):
            program.ceiling = min(before[0], ONE_OF_SEVERAL)
        found = self.call(called, arguments, frame, expression.line)
        program.ceiling, program.taker = before
        return found

    def _is_handed_down(self, function: Expression | None, called: Values, frame: Frame) -> bool:
        """Tell whether a method calls itself, but of another object: of what it wraps, most often.

        That has the method under the same name, and need not be an instance of the same class.
        """
        for value in called:
            if type(value) is Function and value.function == frame.own and value.bound:
                first = frame.scope.parameters[:1]
                base = function.base if type(function) is Attribute else None
                return not (type(base) is Name and first and first[0].name == base.name)
        return False

    def _setattr(self, given: Sequence[Values], frame: Frame, line: int) -> None:
        for name in ordered(given[1]):
            if type(name) is Text and name.whole:
                self.set_attribute(given[0], name.text, given[2], frame, line)

    def _arguments(self, expression: Call, frame: Frame, line: int) -> Arguments:
        value = self.value
        positional: list[Values] = []
        starred = NOTHING
        is_open = False
        for each in expression.positional:
            if type(each) is Starred:
                is_open = True
                starred |= self.iterated(value(each.value, frame, line), frame, line)
            else:
                positional.append(value(each, frame, line))
        if not (positional or is_open or expression.keywords):
            return NO_ARGUMENTS
        keywords = [(keyword.name, value(keyword.value, frame, line)) for keyword in expression.keywords]
        return Arguments(positional, keywords, starred, is_open)

    def _getattr(self, positional: Sequence[Expression | None], frame: Frame, line: int) -> Values:
        bases, names, *rest = (self.value(each, frame, line) for each in positional)
        found = rest[0] if rest else NOTHING
        for name in ordered(names):
            if type(name) is Text and name.whole:
                found |= self.read_attribute(bases, name.text, frame, line)
            elif type(name) is Text:
                found |= self._beginning(bases, name.text)
            elif type(name) is Argument:
                self._program.naming.add(name)
        if not any(type(name) is Text for name in names):
            self.read_unnamed(bases, frame, line)
        return limited(found)

    def _beginning(self, bases: Values, prefix: str) -> Values:
        """Return the methods whose names begin like this."""
        found: set[Value] = set()
        for base in bases:
            if type(base) is Instance or type(base) is ClassObject:
                found.update(Function(own, base) for own in self.beginning(base.cls, prefix))
        return frozenset([PickedByPrefix(frozenset(found))]) if found else NOTHING

    def _guess(self, name: str, tested: Sequence[Values], frame: Frame) -> None:
        """Let a name perhaps be what it is tested to be: it may, where that is not proved, too."""
        told = self.instances(NOTHING.union(*tested))
        classes = frozenset(ClassObject(each.cls) for each in told if type(each) is Instance)
        if classes:
            frame.guess(name, frozenset([OutsideWith(HANDED, classes)]))

    def _super(self, positional: Sequence[Expression | None], frame: Frame) -> Values:
        """Return ``super()``: of the method around, or of the class that it is given."""
        method: Frame | None = frame
        while method is not None and (method.parent is None or method.parent.scope.kind != "class"):
            method = method.parent
        if method is None or method.parent is None:
            return NOTHING
        cls: Id = method.parent.own
        if len(positional) == 2:
            for value in ordered(self.value(positional[0], frame, 0)):
                if type(value) is ClassObject:
                    cls = value.cls
        receivers: Values = self.first_parameter(method.own) or frozenset([ClassObject(cls)])
        return frozenset(Super(cls, receiver) for receiver in receivers)

    _READERS: ClassVar[Mapping[type[Expression], Callable[..., Values]]] = {
        Name: _name,
        Attribute: _attribute,
        Call: call_expression,
        Subscript: _subscript,
        Alternatives: _alternatives,
        ListDisplay: _list,
        TupleDisplay: _tuple,
        DictDisplay: _dict,
        Constant: _constant,
        BinaryOperation: _operation,
        Untyped: _untyped,
        FormattedText: _text,
        FormattedName: _formatted_name,
        Lambda: _lambda_made,
        Comprehension: _comprehension,
        NamedExpression: _named,
        Proven: _proven,
        Starred: _inner,
        Yield: _yield,
        YieldFrom: _yield_from,
    }
    """What evaluates an expression, by its kind."""


def _is_known_class(value: Value) -> bool:
    """Tell whether a value is a class of the view or a built-in one, or several."""
    if type(value) is Outside:
        return value.name.startswith("builtins.")
    return type(value) is ClassObject or type(value) is TupleOf or type(value) is ListOf
