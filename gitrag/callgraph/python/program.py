"""A view's Python files while they are evaluated: what is known of each scope so far."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from gitrag.callgraph.edges import Edges, Id, Limits, note
from gitrag.callgraph.python.frames import Frame
from gitrag.callgraph.python.mentions import GIVING, given_to_templates
from gitrag.callgraph.python.modules import PythonModule
from gitrag.callgraph.python.records import Expression, Lambda, Scope, Statement, written_name
from gitrag.callgraph.python.values import (
    CERTAIN,
    MOST,
    NOTHING,
    UNTRACED,
    Argument,
    Instance,
    Text,
    Values,
    limited,
    ordered,
)
from gitrag.callgraph.templates import LIBRARIES
from gitrag.chunking.languages import language_of
from gitrag.words.path_traits import Trait, traits

_SOURCE_ROOTS = frozenset({"src", "lib", "python"})
"""Directories that hold packages without being one."""


class Packages:
    """Which file a module's dotted name means, by the layout of the paths.

    A package's root is the topmost directory of an unbroken chain with ``__init__.py``; a directory without
    one may be a package too (PEP 420), unless Python itself has a package of that name.

    Args:
        paths: The view's Python files.
        has_content: Tells whether a file has any: mostly an ``__init__`` has not.
    """

    def __init__(self, paths: list[str], has_content: Callable[[str], bool]) -> None:
        self._initialised = {
            path.rpartition("/")[0] for path in paths if path.rpartition("/")[2].startswith("__init__.")
        }
        self._by_name: dict[str, list[str]] = {}
        self._by_place: dict[str, str] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._namespaces: set[str] = set()
        for path in sorted(filter(has_content, paths)):
            place = path.rpartition(".")[0].removesuffix("/__init__")
            known = self._by_place.get(place)
            if known is None or known.endswith(".pyi") or place in self._initialised:  # a package comes first
                self._by_place[place] = path
            for name in self._dotted(place):
                self._by_name.setdefault(name, []).append(path)
                self._namespaces.add(name.partition(".")[0])

    def _dotted(self, place: str) -> Iterator[str]:
        parts = place.split("/")
        if LIBRARIES in parts[:-1]:  # a template names its file alone
            yield f"{LIBRARIES}.{parts[-1]}"
        folder = parts[:-1] if place not in self._initialised else parts
        start = len(folder)
        while start > 0 and "/".join(folder[:start]) in self._initialised:
            start -= 1
        regular = min(start, len(parts) - 1)
        for first in range(regular + 1):
            after_root = first == 0 or parts[first - 1] in _SOURCE_ROOTS
            if first == regular or after_root or parts[first] not in sys.stdlib_module_names:
                yield ".".join(parts[first:])

    def is_namespace(self, name: str) -> bool:
        """Tell whether the names of modules begin with a name."""
        return name in self._namespaces

    def find(self, dotted: str, importer: str) -> str | None:
        """Find the file of a module that another file imports, by absolute or relative name."""
        key = (dotted, importer)
        if key not in self._found:
            self._found[key] = self._find(dotted, importer)
        return self._found[key]

    def _find(self, dotted: str, importer: str) -> str | None:
        level = len(dotted) - len(dotted.lstrip("."))
        if level:
            folder = importer.split("/")[:-1]
            folder = folder[: len(folder) - level + 1] if level > 1 else folder
            rest = dotted[level:].split(".") if dotted[level:] else []
            return self._by_place.get("/".join([*folder, *rest]))
        is_pythons = dotted.partition(".")[0] in sys.stdlib_module_names
        found = self._by_name.get(dotted)
        if found:
            beside = self._from_root(dotted, importer)
            if beside is not None and (beside in self._by_place or beside in self._initialised):
                return self._by_place.get(beside)
            best = max(found, key=lambda path: (_shared(path, importer), not path.endswith(".pyi")))
            return best if not is_pythons or self._comes_first(best, dotted, importer) else None
        here = importer.rpartition("/")[0]
        if is_pythons and here in self._initialised:
            return None
        return self._by_place.get(f"{here}/{dotted.replace('.', '/')}".lstrip("/"))

    def _comes_first(self, path: str, dotted: str, importer: str) -> bool:
        """Tell whether a file comes before Python's own module of its name: at the top, beside a script."""
        place = path.rpartition(".")[0].removesuffix("/__init__")
        root = f"/{place}".removesuffix(f"/{dotted.replace('.', '/')}").lstrip("/")
        return not root or root.rpartition("/")[2] in _SOURCE_ROOTS or root == importer.rpartition("/")[0]

    def _from_root(self, dotted: str, importer: str) -> str | None:
        """Return where a module is, if it is beside the topmost package that its importer is in."""
        folder = importer.split("/")[:-1]
        for place in range(1, len(folder) + 1):
            if "/".join(folder[:place]) in self._initialised:
                return "/".join([*folder[: place - 1], *dotted.split(".")])
        return None

    def root(self, path: str) -> str:
        """Return the directory that the topmost package around a file is in; the top, for no package."""
        folder = path.split("/")[:-1]
        every = range(1, len(folder) + 1)
        places = (place for place in every if "/".join(folder[:place]) in self._initialised)
        return "/".join(folder[: next(places, 1) - 1])

    def inside(self, package: str, name: str) -> str | None:
        """Find the file of a package's submodule."""
        return self._by_place.get(f"{package.rpartition('/')[0]}/{name}".lstrip("/"))


def _is_below(one: str, other: str) -> bool:
    """Tell whether one of two directories is the other, or lies in it."""
    return f"{one}/".startswith(f"{other}/".lstrip("/")) or f"{other}/".startswith(f"{one}/".lstrip("/"))


def _shared(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


_MAX_BODIES = 3
"""Bodies read for one another's sake; what lies deeper is left for the next pass. Where a part of a view is
resolved, each further one costs much: 6 take thrice the time in django."""
_MAX_BODIES_OF_ALL = 6
"""The same where all bodies are read anyway: takes lark's recall from 0.79 to 0.81; 10 adds nothing."""

_FEW_FILES = 5
"""Files that may mention a name of one word for its only method to be likely: of netbox's 300 that call
``all``, one means the only class that has it."""

_UNCARRIED = UNTRACED | {Argument}

_MAX_DECORATORS = 4
"""Decorators applied for one another's sake that may read bodies as if nothing else were being read."""


class Program:
    """The files, and what was found out about them. Values only ever gather.

    Args:
        modules: The files, by path; asked only for those that are needed.
        paths: All paths.
        methods_named: Finds the methods of a name; None if too many classes have one, or a built-in type.
        classes_named: Finds the classes of a name.
        mentioned: Returns the names that a file mentions.

    Attributes:
        turn: The number of the pass over the bodies, from 1.
        flows: What parameters are given.
        assigned: What methods assign to the attributes of instances, by name and class.
        edges: Highest confidence and lines of each call, by caller and callee.
        ceiling: How sure the calls that are noted may be at most.
        taker: What is being called, behind ``@`` as a decorator: what it is handed may be called by it.
        limits: What was not looked at so far.
        lambda_flows: What parameters of lambdas are given.
        naming: The parameters that name an attribute to be read.
        put: What attributes of what is outside are assigned, by dotted name and source root.
        handed_out: The functions that a decorator from outside was given.
        templates: The files that are templates.
        libraries: The files that Django's templates may have tags and filters of.
        is_last_pass: Whether what is not known by now will not be.
    """

    def __init__(
        self,
        modules: Mapping[str, PythonModule],
        paths: Iterable[str],
        methods_named: Callable[[str], tuple[Id, ...] | None],
        classes_named: Callable[[str], Sequence[Id]],
        mentioned: Callable[[str], Collection[str]],
    ) -> None:
        self.modules = modules
        python = [path for path in paths if language_of(path) != "html"]
        self.packages = Packages(python, lambda path: path in modules)
        self.templates = frozenset(paths).difference(python)
        self.libraries = [path for path in sorted(python) if path in modules and LIBRARIES in path.split("/")]
        self.turn = 1
        self.frames: dict[Id, Frame] = {}
        self.flows: dict[Argument, Values] = {}
        self.assigned: dict[str, dict[Id, Values]] = {}
        self.naming: set[Argument] = set()
        self.put: dict[str, dict[str, Values]] = {}
        self.handed_out: set[Id] = set()
        self.edges: Edges = {}
        self.ceiling = CERTAIN
        self.taker: tuple[str, Expression | None] = "", None
        self.limits = Limits()
        self.is_last_pass = False
        self._namesakes = methods_named
        self.classes_named = classes_named
        self.mentioned = mentioned
        self._paths = tuple(paths)
        self._naming: Counter[str] | None = None
        self._given: dict[str, list[tuple[Id, str]]] | None = None
        self._holders: dict[str, list[Id]] | None = None
        self._assigned_names: set[str] | None = None
        self.lambda_flows: dict[tuple[int, str], Values] = {}
        self._lambdas: list[tuple[Lambda, Frame]] = []
        self._lambda_places: dict[tuple[int, Id], int] = {}

    def begin_pass(self, *, is_last: bool) -> None:
        """Say whether bodies will be read again."""
        self.is_last_pass = is_last
        self._holders = None
        self._assigned_names = None

    def namesakes(self, name: str) -> tuple[Id, ...] | None:
        """Return the methods of a name; None if they are many."""
        return self._namesakes(name)

    def is_rare(self, name: str) -> bool:
        """Tell whether only a few files mention a name."""
        if self._naming is None:
            self._naming = Counter(each for path in self._paths for each in self.mentioned(path))
        return self._naming[name] <= _FEW_FILES

    def given(self, name: str) -> Sequence[tuple[Id, str]]:
        """Return what templates of Jinja are given under a name: by which names of which scopes."""
        if self._given is None:
            self._given = {}
            for path in self._paths:
                if path in self.modules and not GIVING.isdisjoint(self.mentioned(path)):
                    module = self.modules[path]
                    for index in module.mentioning(GIVING):
                        for key, value in given_to_templates(module.scope(index)):
                            self._given.setdefault(key, []).append(((path, index), value))
        return self._given.get(name, ())

    def holders(self, name: str) -> Sequence[Id]:
        """Return the classes that were seen to have something under a name in their bodies or instances."""
        if self._holders is None:
            seen = {name: set(classes) for name, classes in self.assigned.items()}
            for own, frame in self.frames.items():
                for each in frame.names if frame.scope.kind == "class" else ():
                    seen.setdefault(each, set()).add(own)
            self._holders = {name: sorted(classes) for name, classes in seen.items()}
        return self._holders.get(name, ())

    def is_assigned(self, name: str) -> bool:
        """Tell whether methods of a class that was seen assign to an attribute of this name.

        Tests assign to those of imitations.
        """
        if self._assigned_names is None:
            classes = (frame for frame in self.frames.values() if frame.scope.kind == "class")
            ours = (frame.scope for frame in classes if not traits(frame.own[0], Trait.TEST))
            self._assigned_names = {each for scope in ours for each in scope.assigners}
        return name in self._assigned_names

    def held(self, cls: Id, name: str) -> Values:
        """Return what a class was seen to have under a name in its body or instances."""
        return self.frames[cls].names.get(name, NOTHING) | self.assigned_to(cls, name)

    def frame(self, own: Id) -> Frame:
        """Return what is known of a scope so far."""
        found = self.frames.get(own)
        if found is None:
            path, index = own
            module = self.modules[path]
            missing = [index]
            while (parent := module.scope(missing[-1]).parent) >= 0 and (path, parent) not in self.frames:
                missing.append(parent)
            above = self.frames.get((path, parent))
            for each in reversed(missing):
                scope = module.scope(each)
                bindings = {} if scope.kind == "function" else module.bindings(each)
                above = self.frames[path, each] = Frame((path, each), scope, above, bindings)
            found = self.frames[own]
        return found

    def scope(self, own: Id) -> Scope:
        found = self.frames.get(own)
        return self.frame(own).scope if found is None else found.scope

    def around(self, own: Id) -> Frame:
        """Return the frame of what a scope lies in."""
        return self.frame((own[0], self.scope(own).parent))

    def bindings(self, own: Id) -> Mapping[str, Sequence[Statement]]:
        """Return the statements that bind a name in a scope, of a function too."""
        return self.modules[own[0]].bindings(own[1])

    def flow(self, argument: Argument, values: Values) -> None:
        """Note what a parameter is given; of too much the first that comes, since nothing is taken back."""
        useful = frozenset(each for each in values if type(each) not in _UNCARRIED)
        if any(type(each) is Text for each in values) and argument in self.naming:
            useful |= {each for each in values if type(each) is Text}
        known = self.flows.get(argument, NOTHING) if useful else NOTHING
        room = MOST - len(known)
        if room and not useful <= known:
            new = useful - known
            self.flows[argument] = known | (new if len(new) <= room else frozenset([*ordered(new)][:room]))

    def assign(self, cls: Id, name: str, values: Values) -> None:
        """Note what an attribute of a class's instances may be."""
        useful = frozenset(each for each in values if type(each) not in UNTRACED)
        if useful:
            of_name = self.assigned.setdefault(name, {})
            of_name[cls] = limited(of_name.get(cls, NOTHING) | useful)

    def assigned_to(self, cls: Id, name: str) -> Values:
        """Return what methods assign to an attribute of a class's instances."""
        return self.assigned[name].get(cls, NOTHING) if name in self.assigned else NOTHING

    def put_outside(self, name: str, path: str, values: Values) -> None:
        """Note what a file lets an attribute of something outside be: ``threading.local().database``."""
        useful = frozenset(each for each in values if type(each) is Instance)
        if useful:
            by_root, root = self.put.setdefault(name, {}), self.packages.root(path)
            by_root[root] = limited(by_root.get(root, NOTHING) | useful)

    def held_outside(self, name: str, path: str) -> Values:
        """Return what such an attribute may be in a file: another source root has another of its name."""
        root = self.packages.root(path)
        return NOTHING.union(*(put for other, put in self.put[name].items() if _is_below(other, root)))

    @property
    def rule(self) -> str:
        """What is being called, as it is written."""
        mark, called = self.taker
        name = written_name(called)
        return f"{mark}{name}" if name else ""

    def edge(self, frame: Frame, callee: Id, line: int, confidence: float = CERTAIN, rule: str = "") -> None:
        """Note a call, made by the function that a frame lies in, or by what it hands the function to."""
        while frame.scope.kind == "class" and frame.parent is not None:
            frame = frame.parent
        caller = frame.own
        note(self.edges, caller, callee, min(confidence, self.ceiling), line, rule)

    def lambda_place(self, expression: Lambda, frame: Frame) -> int:
        key = (id(expression), frame.own)
        if key not in self._lambda_places:
            self._lambda_places[key] = len(self._lambdas)
            self._lambdas.append((expression, frame))
        return self._lambda_places[key]

    def lambda_at(self, place: int) -> tuple[Lambda, Frame]:
        """Return a lambda by its number, and the frame that it was met in."""
        return self._lambdas[place]


class Nesting:
    """What is being read: nothing else bounds how deep it goes, as programs run in circles.

    Attributes:
        bodies: Bodies that are being read, since the last decorator that counts.
        reads_all: Whether all bodies of the view are read.
    """

    def __init__(self) -> None:
        self.bodies = 0
        self.reads_all = False
        self._outer: list[int] = []

    def reset(self) -> None:
        """Forget what was being read: it was left in the middle."""
        self.bodies = 0
        self._outer.clear()

    def is_full(self) -> bool:
        """Tell whether no further body may be read."""
        return self.bodies >= (_MAX_BODIES_OF_ALL if self.reads_all else _MAX_BODIES)

    def enter_decorators(self) -> None:
        """Begin to apply decorators."""
        self._outer.append(self.bodies)
        if len(self._outer) <= _MAX_DECORATORS:
            self.bodies = 0

    def leave_decorators(self) -> None:
        """End what was begun last."""
        self.bodies = self._outer.pop()
