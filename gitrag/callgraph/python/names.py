"""Where the names of Python files lead, and what annotations and decorators say.

`Evaluator` is one object in six modules, each a class that adds to the one before: `Names`, `Classes`,
`Attributes`, `CallEvaluator`, `Expressions`. The first, `Evaluation`, has what all know, and what those below
ask of those above: to know what a name is, statements are executed, which have expressions, which have calls,
which read names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.modules import PythonModule
from gitrag.callgraph.python.program import Nesting, Program
from gitrag.callgraph.python.records import (
    Alternatives,
    Attribute,
    Call,
    Constant,
    Define,
    Expression,
    Import,
    ImportFrom,
    Name,
    Raise,
    Statement,
    Subscript,
    TupleDisplay,
    bare_name,
    decorator_name,
    unsubscripted,
)
from gitrag.callgraph.python.values import (
    CERTAIN,
    MOST,
    NOTHING,
    WRAPPED,
    Annotation,
    Arguments,
    BuiltinInstance,
    ClassObject,
    Function,
    Instance,
    ModuleObject,
    Outside,
    OutsideWith,
    Returning,
    TupleOf,
    Value,
    Values,
    dict_of,
    limited,
    list_of,
    outside,
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


_MAX_LOOKUPS = 30
"""Names looked up for one another's sake: imports of imports."""

_SEEN_THROUGH = frozenset("Optional Union Annotated Final ClassVar Awaitable Required InitVar".split())
_BUILTINS = "builtins."
_STANDING = frozenset({"current_user", "g"})
"""What a library exports that stands for an object of its user's."""

_MOST_STARRED = 1_000
"""Files with all names of which others are imported, kept to be looked through for each name."""


class Evaluation:
    """What all of the evaluation know, and what the lower parts ask of the higher ones.

    Args:
        modules: The files, by path; asked only for those that are needed.
        paths: All paths.
        subclasses_of: Names the classes that may have a base of this name.
        methods_named: Finds the methods of a name; None if too many classes have one, or a built-in type.
        classes_named: Finds the classes of a name.
        mentioned: Returns the names that a file mentions.
    """

    def __init__(
        self,
        modules: Mapping[str, PythonModule],
        paths: Iterable[str],
        subclasses_of: Callable[[str], Iterable[Id]],
        methods_named: Callable[[str], tuple[Id, ...] | None],
        classes_named: Callable[[str], Sequence[Id]],
        mentioned: Callable[[str], Collection[str]],
    ) -> None:
        self._program = Program(modules, paths, methods_named, classes_named, mentioned)
        self._tags: dict[str, list[str]] | None = None
        self._base_names: dict[tuple[Id, int], frozenset[str]] = {}
        self._owners_named: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._subclasses_of = subclasses_of
        self._nesting = Nesting()
        self._depth = 0
        self._calling = 0
        self._lookups = 0
        self._decorators: dict[Id, frozenset[str]] = {}
        self._bound: dict[tuple[Id, int], int] = {}
        self._defined: dict[Id, tuple[int, Values]] = {}
        self._parents: dict[Id, tuple[int, list[Id]]] = {}
        self._orders: dict[Id, tuple[int, list[Id]]] = {}
        self._lines: dict[Id, list[list[Id]]] = {}
        self._subclasses: dict[Id, tuple[int, list[Id]]] = {}
        self._overriding: dict[tuple[Id, str], tuple[list[Id], list[Id]]] = {}
        self._all_known: dict[tuple[Id, int], bool] = {}
        self._below: dict[tuple[Id, str, int], tuple[Id, ...]] = {}
        self._in_place: dict[tuple[Id, str, int], Sequence[tuple[Id, Values]]] = {}
        self._running: dict[tuple[Id, Id, int], bool] = {}
        self._frames_of: dict[int, tuple[list[Id], list[Frame], frozenset[str]]] = {}
        self._lacking: set[tuple[Id, str, int]] = set()
        self._few: dict[str, bool] = {}
        self._called_so: dict[Id, set[str]] = {}
        self._stars: dict[Id, list[Frame]] = {}

    def value(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        """Return what an expression may be, noting the calls that it makes."""
        raise NotImplementedError

    def call(self, called: Values, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, return the results."""
        raise NotImplementedError

    def execute(self, statement: Statement, frame: Frame, *, visible: bool) -> None:
        """Do what a statement does; an invisible one only for the names that it binds."""
        raise NotImplementedError

    def evaluate(self, own: Id) -> Frame:
        """Read a body, once a pass."""
        raise NotImplementedError


class Names(Evaluation):
    """Where names lead, and what functions and classes are by what is written of them alone."""

    # kinds of functions and classes

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
        above = (self._program.frames.get(own) or self._program.frame(own)).parent
        return above.own if above is not None and above.scope.kind == "class" else None

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

    # names

    def lookup(self, name: str, frame: Frame) -> Values:
        """Find what a name may be, from a body outwards."""
        found = frame.now.get(name)
        if found is not None:
            return found
        scope: Frame | None = frame
        while scope is not None:
            if scope.is_function:
                found = scope.names.get(name)
                if found is None and scope is not frame and name in self._program.bindings(scope.own):
                    found = self.evaluate(scope.own).names.get(name)
                if found is not None:
                    return found
            elif scope.parent is None or scope is frame:
                found = self.member_of(scope, name)
                if found is not None:
                    return found
            scope = scope.parent
        if frame.own[0] in self._program.templates and (found := self._of_library(name)):
            return found
        return outside(f"builtins.{name}")

    def _of_library(self, name: str) -> Values:
        """Find what only one library of tags has under a name: its templates need not load it."""
        if self._tags is None:
            self._tags = {}
            for path in self._program.libraries:
                for each, statements in self._program.bindings((path, 0)).items():
                    if any(type(statement) is Define for statement in statements):
                        self._tags.setdefault(each, []).append(path)
        having = self._tags.get(name, ())
        found = (self.member((having[0], 0), name) or NOTHING) if len(having) == 1 else NOTHING
        return found or self._given_to_templates(name)

    def _given_to_templates(self, name: str) -> Values:
        """Find the functions that templates of Jinja are given under a name: ``filters["name"] = …``."""
        if not (given := self._program.given(name)):
            return NOTHING
        every = (self.lookup(each, self._program.frame(own)) for own, each in given[:MOST])
        functions = frozenset(value for values in every for value in values if type(value) is Function)
        return frozenset([OutsideWith(WRAPPED, functions)]) if functions else NOTHING

    def member(self, own: Id, name: str) -> Values | None:
        """Find what a name of a module's or class's body may be; None where it has none of that name."""
        return self.member_of(self._program.frames.get(own) or self._program.frame(own), name)

    def member_of(self, frame: Frame, name: str) -> Values | None:
        """Find what a name of a module's or class's body may be, of which this is known so far."""
        if frame.settled.get(name) == self._program.turn:
            return frame.names.get(name, NOTHING)
        statements = frame.bindings.get(name)
        if statements is None:
            found = frame.names.get(name)  # nothing: a parameter of a lambda
            return self._starred(frame.own, name) if not found and "*" in frame.bindings else found
        if self._bind(frame, statements):
            frame.settled[name] = self._program.turn
        return frame.names.get(name, NOTHING)

    def _bind(self, frame: Frame, statements: Sequence[Statement]) -> bool:
        """Execute the statements that bind a name; tell whether all were."""
        program, own = self._program, frame.own
        last = self._last_function(own, statements) if len(statements) > 1 else 0
        settled = True
        for place, statement in enumerate(statements):
            key = (own, id(statement))
            if self._bound.get(key, 0) >= program.turn:
                continue
            if self._lookups > _MAX_LOOKUPS:
                settled = False
            else:
                self._bound[key] = program.turn
                if place < last and self._is_function(own, statement) and not self._is_branch(own, statement):
                    continue  # an overload
                self._lookups += 1
                ceiling, program.ceiling = program.ceiling, CERTAIN
                self.execute(statement, frame, visible=False)
                program.ceiling = ceiling
                self._lookups -= 1
        return settled

    def _last_function(self, own: Id, statements: Sequence[Statement]) -> int:
        places = (place for place, statement in enumerate(statements) if self._is_function(own, statement))
        return max(places, default=-1)

    def _is_function(self, own: Id, statement: Statement) -> bool:
        if type(statement) is not Define:
            return False
        inner = (own[0], statement.scope)
        return self._program.scope(inner).kind == "function" and not self.is_accessor(inner)

    def _is_branch(self, own: Id, statement: Statement) -> bool:
        """Tell whether a function is one of several versions: another platform's, or for what is missing."""
        return (
            type(statement) is Define
            and statement.branches > 0
            and "overload" not in self.decorators((own[0], statement.scope))
        )

    def _starred(self, own: Id, name: str) -> Values | None:
        """Find a name in the modules that a body imports all names of, and those that they do, each once."""
        if name.startswith("_"):
            return None
        frames = self._stars.get(own)
        if frames is None:
            frames = list(self._starred_by(own))
            if len(frames) < _MOST_STARRED:  # of 9,000 files in a row the lists have 40,000,000
                self._stars[own] = frames
        for frame in frames:
            if name in frame.bindings or frame.names.get(name):
                return self.member_of(frame, name)
        return None

    def _starred_by(self, own: Id) -> Iterator[Frame]:
        """Yield a body and those that all names come from, in the order in which one is looked for."""
        program = self._program
        seen = {own}
        waiting = [own]
        while waiting:
            each = waiting.pop()
            frame = program.frame(each)
            yield frame
            origins: list[Id] = []
            for statement in frame.bindings.get("*", ()):
                path = (
                    program.packages.find(statement.module, each[0])
                    if type(statement) is ImportFrom
                    else None
                )
                if path is not None and (path, 0) not in seen:
                    seen.add((path, 0))
                    origins.append((path, 0))
            waiting.extend(reversed(origins))

    def in_module(self, path: str, name: str) -> Values:
        """Find what ``module.name`` may be."""
        found = self.member((path, 0), name)
        if found:
            return found
        if self._program.modules[path].is_package:
            inside = self._program.packages.inside(path, name)
            if inside is not None:
                return frozenset([ModuleObject(inside)])
        return found or NOTHING

    def outside(self, dotted: str, path: str) -> Values:
        """Return what a dotted name means that begins outside: of a namespace package, its module."""
        packages = self._program.packages
        found = packages.find(dotted, path) if packages.is_namespace(dotted.partition(".")[0]) else None
        own = frozenset([ModuleObject(found)]) if found else outside(dotted)
        return own | self._program.held_outside(dotted, path) if dotted in self._program.put else own

    def execute_import(self, statement: Import, frame: Frame) -> None:
        """Bind what ``import`` imports."""
        wanted = statement.module if statement.alias else statement.module.partition(".")[0]
        found = self._program.packages.find(wanted, frame.own[0])
        bound = ModuleObject(found) if found else Outside(wanted)
        frame.rebind(statement.alias or wanted, frozenset([bound]))

    def execute_import_from(self, statement: ImportFrom, frame: Frame) -> None:
        """Bind what ``from … import`` imports; ``*`` is looked into when a name is not found."""
        path, packages = frame.own[0], self._program.packages
        origin, name, alias = statement.module, statement.imported, statement.name
        if name == "*":
            return
        found = packages.find(origin, path)
        if found is None:
            dotted = f"{origin.rstrip('.')}.{name}" if origin.strip(".") else f"{origin}{name}"
            submodule = packages.find(dotted, path)
            bound = ModuleObject(submodule) if submodule else Outside(f"{origin}.{name}")
            frame.rebind(alias, NOTHING if name in _STANDING and not submodule else frozenset([bound]))
        elif found == path:  # `from . import name` in a package's own __init__
            inside = packages.inside(found, name)
            if inside is not None:
                frame.rebind(alias, frozenset([ModuleObject(inside)]))
        else:
            frame.rebind(alias, self.in_module(found, name))

    # annotations

    def described(self, annotation: Expression | None, frame: Frame) -> Values:
        if type(annotation) is Alternatives:
            return limited(value for each in annotation.parts for value in self.described(each, frame))
        if type(annotation) is Subscript:
            return self._generic(annotation, frame)
        if type(annotation) is Name or type(annotation) is Attribute:
            values = self.value(annotation, frame, 0)
            if type(annotation) is Attribute and annotation.name == "Self":
                return self.own_instances(frame)
            return self.instances(values, frame)
        return NOTHING

    def _generic(  # noqa: C901 - a branch a generic type
        self, annotation: Subscript, frame: Frame
    ) -> Values:
        base, inner = annotation.base, annotation.index
        name = bare_name(base)
        parts = inner.parts if type(inner) is TupleDisplay else (inner,)
        first, last = (parts[0], parts[-1]) if parts else (None, None)
        if name in _SEEN_THROUGH:
            chosen = parts[:1] if name == "Annotated" else parts
            return limited(value for each in chosen for value in self.described(each, frame))
        if name in {"Type", "type"}:
            values = self.described(inner, frame)
            return frozenset(
                ClassObject(value.cls, exact=False) for value in values if type(value) is Instance
            )
        if name == "Callable":
            return frozenset([Returning(self.described(last, frame))])
        if name in {"Tuple", "tuple"}:
            if len(parts) == 2 and type(parts[1]) is Constant:
                return list_of(self.described(first, frame))
            return frozenset([TupleOf(tuple(self.described(each, frame) for each in parts))])
        if name == "Coroutine":
            return self.described(last, frame)
        if name in {"AsyncGenerator", "Generator"}:
            return list_of(self.described(first, frame))
        if name.endswith(("Dict", "dict", "Mapping")):
            return dict_of(self.described(last, frame))
        own = self.described(base, frame)
        if any(type(value) is Instance for value in own):
            return own
        if name == "Literal":
            return NOTHING
        return list_of(self.described(first, frame))

    def instances(self, values: Values, frame: Frame | None = None) -> Values:
        """Return instances of classes.

        Args:
            values: The classes, or types of ``typing``.
            frame: What they are written in, for ``Self``.
        """
        found: set[Value] = set()
        for value in values:
            if type(value) is ClassObject:
                found.add(Instance(value.cls, exact=False))
            elif type(value) is Annotation:
                found |= value.held
            elif type(value) is TupleOf:
                found |= {each for part in value.parts for each in self.instances(part)}
            elif type(value) is Outside and value.name.endswith(".Self") and frame is not None:
                found |= self.own_instances(frame)
            elif type(value) is Outside and value.name.startswith(_BUILTINS):
                found.add(BuiltinInstance(value.name.removeprefix(_BUILTINS)))
        return frozenset(found)
