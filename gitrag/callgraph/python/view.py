"""The calls of a view's Python files, resolved as far as they are asked for."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from io import BytesIO, TextIOWrapper

from gitrag.callgraph.edges import Edges, Id, Limits
from gitrag.callgraph.facts import Facts
from gitrag.callgraph.python import values
from gitrag.callgraph.python.confidence import AS_VALUE, MAX_NAMESAKES, ONE_OF_MANY
from gitrag.callgraph.python.evaluator import Evaluator
from gitrag.callgraph.python.mentions import names_in
from gitrag.callgraph.python.models import METHOD_OF_FIELD
from gitrag.callgraph.python.modules import PythonModule
from gitrag.callgraph.python.records import decorator_name
from gitrag.machine.isolation import reason_of

TURNS = 3
"""Passes over the bodies. The third takes markdown's recall from 0.90 to 0.96, whose registries are filled in
files that come later, and voluptuous's from 0.87 to 0.90; a fourth and fifth cost certain edges in WebOb."""

TURNS_OF_A_PART = 2
"""The same where only a part of the view is read: in django a third takes a third more time."""

NEAR = 400
"""Definitions that are read at least, the nearest beside those in question: what others give to a parameter
says what it may be. Of sqlparse's functions, asked about one by one, callees' recall goes from 0.44 to 0.87,
callers' from 0.64 to 0.91; 700 find no more there, and take longer in django."""

_ENTRY_METHODS = frozenset({"__init__", "__new__", "__post_init__", "__call__"})


_BUILT_IN = (
    frozenset(
        name
        for each in (
            str,
            bytes,
            bytearray,
            list,
            dict,
            set,
            tuple,
            int,
            float,
            type,
            deque,
            TextIOWrapper,
            BytesIO,
        )
        for name in dir(each)
    )
    | frozenset(dir(re.compile("")))
    | frozenset(dir(re.match("", "")))
)
"""Attributes of what is most often used without being of the view."""


class _Modules(dict[str, PythonModule]):
    """Files by path, unpacked when asked for."""

    def __init__(self, facts: Mapping[str, Facts]) -> None:
        super().__init__()
        self._facts = facts

    def __contains__(self, path: object) -> bool:
        return path in self._facts

    def __missing__(self, path: str) -> PythonModule:
        found = self[path] = PythonModule(path, self._facts[path])
        return found


class PythonView:
    """The Python files of a view.

    Args:
        facts: What each says, by path.
        check: Called before each body that is read; stops by raising.

    Attributes:
        failed: Why a body of a file could not be resolved, by path.
    """

    def __init__(self, facts: Mapping[str, Facts], check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        self._facts = {path: each for path, each in facts.items() if each.definitions}
        self._modules = _Modules(self._facts)
        self._read: set[Id] = set()
        self._subclasses: dict[str, list[Id]] = {}
        self._classes: dict[str, list[Id]] = {}
        for path in sorted(self._facts):
            for index, definition in enumerate(self._facts[path].definitions):
                if definition.kind == "class":
                    name = definition.name.rpartition(".")[2]
                    self._classes.setdefault(name, []).append((path, index))
                for base in definition.bases:
                    self._subclasses.setdefault(base, []).append((path, index))
        self.failed: dict[str, str] = {}
        self._evaluator = Evaluator(
            self._modules,
            facts,
            lambda name: self._subclasses.get(name, ()),
            self._methods_named,
            lambda name: self._classes.get(name, ()),
            lambda path: facts[path].mentions,
        )
        self._methods: dict[str, list[Id]] | None = None

    @property
    def limits(self) -> Limits:
        """What was not looked at so far."""
        return self._evaluator.limits

    def forget(self) -> None:
        """Drop what was unpacked and inferred, which holds itself: the collector need not walk it."""
        self._modules.clear()
        self._evaluator.forget()
        values.forget()

    def everything(self) -> Edges:
        """Resolve all files: confidence and lines of each call, by caller and callee."""
        own = [(path, i) for path, each in self._facts.items() for i in range(len(each.definitions))]
        return self._told(self._resolve(own), lambda _key: True)

    def callees(self, own: Collection[Id]) -> Edges:
        """Resolve what some definitions call."""
        wanted = {each for each in own if each[0] in self._facts}
        edges = self._resolve(sorted(wanted))
        return self._told(edges, lambda key: key[0] in wanted)

    def callers(self, own: Collection[Id]) -> Edges:
        """Resolve who calls some definitions."""
        wanted = {each for each in own if each[0] in self._facts}
        edges = self._resolve(sorted(self._mentioning(wanted) | wanted))
        return self._told(edges, lambda key: key[1] in wanted)

    def _resolve(self, own: Iterable[Id]) -> Edges:
        unread = [each for each in own if each not in self._read]
        near = self._near(unread) if unread else []
        reads_all = len(unread) + len(near) == sum(len(each.definitions) for each in self._facts.values())
        turns = TURNS if reads_all else TURNS_OF_A_PART
        passes = [sorted([*unread, *near])] * turns + ([unread] if near else [])
        for place, bodies in enumerate(passes, 1):
            self._evaluator.begin_pass(is_last=place == len(passes), reads_all=reads_all)
            for each in bodies:
                self._check()
                try:
                    self._evaluator.evaluate(each)
                except RecursionError as error:  # a body that leads too deep costs itself only
                    self._evaluator.recover()
                    self.failed[each[0]] = reason_of(error)
            self._evaluator.end_pass()
        self._read.update(unread, near)
        return self._evaluator.edges

    def _methods_named(self, name: str) -> tuple[Id, ...] | None:
        """Return the methods of a name; None if they are many, or a built-in type has one of it."""
        if self._methods is None:
            self._methods = {}
            for path in sorted(self._facts):
                classes = {each.name for each in self._facts[path].definitions if each.kind == "class"}
                for index, each in enumerate(self._facts[path].definitions):
                    owner, _, own = each.name.rpartition(".")
                    if each.kind == "function" and owner in classes:
                        self._methods.setdefault(own, []).append((path, index))
        found = self._methods.get(name, ())
        return tuple(found) if len(found) <= MAX_NAMESAKES and name not in _BUILT_IN else None

    def _near(self, own: Collection[Id]) -> list[Id]:
        """Return unread definitions of the same files, then of the same directories and those above."""
        room = NEAR - len(self._read) - len(own)
        if room <= 0:
            return []
        paths = {path for path, _ in own}
        above = {folder for path in paths for folder in _folders(path)}
        shared = {path: next(f.count("/") for f in _folders(path) if f in above) for path in self._facts}
        taken = self._read | set(own)
        found: list[Id] = []
        for path in sorted(self._facts, key=lambda path: (path not in paths, -shared[path], path)):
            if len(found) >= room:
                break
            places = ((path, index) for index in range(len(self._facts[path].definitions)))
            found += [each for each in places if each not in taken]
        return found

    def _mentioning(self, wanted: Iterable[Id]) -> set[Id]:
        """Find the definitions that mention a name by which others may be called.

        What is read of ``super()`` counts only in files that name the class or what inherits from it: nearly
        every class calls the ``__init__`` above, half of django's files would be read for any. What a
        decorator hands back is called by the names of what is decorated.
        """
        names: set[str] = set()
        decorators: set[str] = set()
        owners: set[str] = set()
        makers: set[str] = set()
        found: set[Id] = set()
        for path, index in wanted:
            owner, _, name = self._facts[path].definitions[index].name.rpartition(".")
            cls = owner.rpartition(".")[2]
            names.add(name)
            owners.add(cls)
            if name in _ENTRY_METHODS or name.startswith("__"):
                makers.add(cls)  # they are called by who makes an instance
            module = self._modules[path]
            parent = module.scope(index).parent
            if name == "__init__" and module.scope(parent).kind == "class":
                found.update(self._making_any((path, parent)))
            if owner and module.scope(parent).kind == "function":
                decorators.update(owner.split("."))
            elif owner and parent in module.mentioning((name, *METHOD_OF_FIELD)):
                found.add((path, parent))  # its body says the name in a string, or calls it by a convention
        names = (names | self._family(makers) | set(self._decorated(decorators))) - {""}
        family = self._family(owners)
        for path, facts in self._facts.items():
            mentioned = names & facts.mentions
            if mentioned:
                inherited = not family.isdisjoint(facts.mentions)
                module = self._modules[path]
                for index in module.mentioning(mentioned):
                    if not mentioned.isdisjoint(names_in(module.scope(index), inherited=inherited)):
                        found.add((path, index))
        return found

    def _making_any(self, cls: Id) -> Iterator[Id]:
        """Yield the methods of a class's bases that may make one: by ``cls(...)``."""
        for path, base in self._evaluator.order(cls)[1:]:
            module = self._modules[path]
            for index in module.mentioning(["cls"]):
                if module.scope(index).parent == base:
                    yield path, index

    def _decorated(self, decorators: Collection[str]) -> Iterator[str]:
        """Yield the names of what is decorated by one of some names."""
        wanted = frozenset(decorators)
        for path, facts in self._facts.items():
            if not wanted.isdisjoint(facts.mentions):
                module = self._modules[path]
                for index in module.mentioning(wanted):
                    if not wanted.isdisjoint(map(decorator_name, module.scope(index).decorators)):
                        yield facts.definitions[index].name.rpartition(".")[2]

    def _told(self, edges: Edges, is_wanted: Callable[[tuple[Id, Id, str]], bool]) -> Edges:
        """Return the calls that are wanted; of what is called, not where it is only named as a value."""
        named = {key[1] for key, (sure, _lines) in edges.items() if key[2] and sure == AS_VALUE}
        called = {
            callee
            for (caller, callee, rule), (sure, _lines) in edges.items()
            if callee in named and not rule and sure >= ONE_OF_MANY and not self._is_wrapper(caller, callee)
        }
        return {
            key: edge
            for key, edge in edges.items()
            if is_wanted(key) and not (key[2] and edge[0] == AS_VALUE and key[1] in called)
        }

    def _is_wrapper(self, caller: Id, callee: Id) -> bool:
        """Tell whether a decorator of what is called calls it."""
        decorators = map(decorator_name, self._modules[callee[0]].scope(callee[1]).decorators)
        return not set(self._facts[caller[0]].definitions[caller[1]].name.split(".")).isdisjoint(decorators)

    def _family(self, classes: Iterable[str]) -> set[str]:
        """Return the names of classes and of their subclasses."""
        found: set[str] = set()
        waiting = list(classes)
        while waiting:
            each = waiting.pop()
            if each and each not in found:
                found.add(each)
                subclasses = self._subclasses.get(each, ())
                waiting += [self._facts[p].definitions[i].name.rpartition(".")[2] for p, i in subclasses]
        return found


def _folders(path: str) -> Iterator[str]:
    """Return the directories that a path lies in, the nearest first, each with its slash; at last the top."""
    while path:
        path = path.rstrip("/").rpartition("/")[0]
        path = f"{path}/" if path else ""
        yield path
