"""Where the names of Python files lead: from a body outwards, into modules, through imports."""

from __future__ import annotations

from collections.abc import Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.evaluation import Evaluation
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.program import Frame, Program
from gitrag.callgraph.python.records import Define, Import, ImportFrom, Statement
from gitrag.callgraph.python.values import (
    CERTAIN,
    NOTHING,
    ModuleObject,
    Outside,
    Values,
)

_MAX_LOOKUPS = 30
"""Names looked up for one another's sake: imports of imports."""


class Names:
    """What names may be.

    Args:
        program: The files.
        methods: What kinds of functions there are.
        whole: What executes the statements that bind names.
    """

    def __init__(self, program: Program, methods: Methods, whole: Evaluation) -> None:
        self._program = program
        self._methods = methods
        self._whole = whole
        self._bound: dict[tuple[Id, int], int] = {}
        self._lookups = 0

    def lookup(self, name: str, frame: Frame) -> Values:
        """Find what a name may be, from a body outwards."""
        scope: Frame | None = frame
        while scope is not None:
            if scope.is_function:
                found = scope.names.get(name)
                if found is None and scope is not frame and name in self._program.bindings(scope.own):
                    found = self._whole.evaluate(scope.own).names.get(name)
                if found is not None:
                    return found
            elif scope.parent is None or scope is frame:
                found = self.member(scope.own, name)
                if found is not None:
                    return found
            scope = scope.parent
        return frozenset([Outside(f"builtins.{name}")])

    def member(self, own: Id, name: str) -> Values | None:
        """Find what a name of a module's or class's body may be; None where it has none of that name."""
        frame = self._program.frames.get(own) or self._program.frame(own)
        if frame.settled.get(name) == self._program.turn:
            return frame.names.get(name, NOTHING)
        statements = frame.bindings.get(name)
        if statements is None:
            found = frame.names.get(name)
            return found or (self._starred(own, name) if "*" in frame.bindings else None)
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
                self._whole.execute(statement, frame, visible=False)
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
        return self._program.scope(inner).kind == "function" and not self._methods.is_accessor(inner)

    def _is_branch(self, own: Id, statement: Statement) -> bool:
        """Tell whether a function is one of several versions: another platform's, or for what is missing."""
        return (
            type(statement) is Define
            and statement.branches > 0
            and "overload" not in self._methods.decorators((own[0], statement.scope))
        )

    def _starred(self, own: Id, name: str) -> Values | None:
        """Find a name in the modules that a body imports all names of, and those that they do, each once."""
        if name.startswith("_"):
            return None
        program = self._program
        seen = {own}
        waiting = [own]
        while waiting:
            each = waiting.pop()
            frame = program.frame(each)
            if name in frame.bindings or frame.names.get(name):
                return self.member(each, name)
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
        return None

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

    def outside(self, dotted: str, path: str) -> ModuleObject | Outside:
        """Return what a dotted name means that begins outside: of a namespace package, its module."""
        packages = self._program.packages
        found = packages.find(dotted, path) if packages.is_namespace(dotted.partition(".")[0]) else None
        return ModuleObject(found) if found else Outside(dotted)

    def execute_import(self, statement: Import, frame: Frame) -> None:
        """Bind what ``import`` imports."""
        wanted = statement.module if statement.alias else statement.module.partition(".")[0]
        found = self._program.packages.find(wanted, frame.own[0])
        bound = ModuleObject(found) if found else Outside(wanted)
        frame.bind(statement.alias or wanted, frozenset([bound]))

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
            frame.bind(alias, frozenset([bound]))
        elif found == path:  # `from . import name` in a package's own __init__
            inside = packages.inside(found, name)
            if inside is not None:
                frame.bind(alias, frozenset([ModuleObject(inside)]))
        else:
            frame.bind(alias, self.in_module(found, name))
