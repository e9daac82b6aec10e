"""Resolve calls in languages other than Python by names, imports and declared types.

A name is searched where the language searches it: in the function, its class and base classes, the
file, the file's imports, and the package. A receiver counts if its type is written: that of a variable or
field, the declared return type of a called function, or that of an object created in place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitrag.callgraph.facts import Facts
from gitrag.callgraph.general.imports import ImportedName, Imports, read_imports
from gitrag.callgraph.general.overloads import MISFIT, fit
from gitrag.callgraph.general.parameters import OVERLOADING
from gitrag.callgraph.general.records import SCOPED, Declaration, Signature, WrittenCall, unpacked_body

Id = tuple[str, int]

CERTAIN = 1.0
OVERRIDDEN = 0.6
LIKE_NAMED = 0.5
"""Confidence in a method with this name, where few types have one: Go's interfaces say no more."""

OVERLOADED = 0.6
"""Confidence in each of several functions of one name, all of which take what the call gives."""

_FEW = 4
_DEPTH = 8
_SELF = frozenset({"this", "self", "Self", "@self", "static"})
_SUPER = {"csharp": "base", "php": "parent"}
"""What a class calls its base class; elsewhere ``super``."""
_CONSTRUCTORS = ("constructor", "__construct", "initialize", "init", "<init>", "__init__")
_IMPLICIT_SELF = frozenset({"java", "csharp", "c", "cpp", "kotlin", "swift", "scala", "ruby", "solidity"})
_BY_NAME = frozenset({"c", "cpp", "csharp", "ruby", "php", "swift", "kotlin", "scala", "solidity"})
"""Languages whose names are visible across files without an import that names the file."""
_INHERITING = frozenset({"java", "csharp"})
"""Languages in which a class has, beside its own functions of a name, the overloads of its bases."""
_CHOOSING = OVERLOADING | {"c"}
"""Languages of files in which a call's arguments choose: headers of C++ are called C."""
FAMILIES = {"tsx": "javascript", "typescript": "javascript", "cpp": "c"}
"""Languages that can call one another."""

_MOST_ANCESTORS = 200
_MOST_SUBCLASSES = 500
"""Maximum per class; more distant ones are ignored. As in Python: in a chain of 20,000, each inheriting from
the one before, every call would walk all of them."""


@dataclass(frozen=True, slots=True)
class _File:
    parents: Sequence[int]
    calls: Mapping[int, Sequence[WrittenCall]]
    variables: Mapping[tuple[int, str], Declaration]
    fields: Mapping[tuple[int, str], Declaration]
    results: Mapping[int, str]
    imports: Sequence[ImportedName]
    signatures: Mapping[int, Signature]


class GeneralView:
    """The files of one family of languages.

    Args:
        files: Language and facts of each, by path.
        check: Called now and then; raises to stop.
    """

    def __init__(
        self, files: Mapping[str, tuple[str, Facts]], check: Callable[[], None] = lambda: None
    ) -> None:
        self._files = {path: each for path, each in files.items() if each[1].definitions}
        self._check = check
        self._imports = Imports(self._files)
        self._bodies: dict[str, _File] = {}
        self._classes: dict[str, list[Id]] = {}
        self._functions: dict[str, list[Id]] = {}
        self._members: dict[tuple[str, str], list[Id]] = {}
        self._named: dict[str, list[Id]] = {}
        self._subclasses: dict[str, list[str]] = {}
        self._by_name: dict[tuple[str, str], list[int]] = {}
        self._methods_found: dict[tuple[str, str, str], list[tuple[Id, float]]] = {}
        for path in sorted(self._files):
            for index, each in enumerate(self._files[path][1].definitions):
                if each.kind != "module":
                    self._by_name.setdefault((path, each.name), []).append(index)
                owner, _, name = each.name.rpartition(".")
                owner = owner.rpartition(".")[2]
                if each.kind == "class":
                    self._classes.setdefault(name, []).append((path, index))
                    if owner:
                        self._classes.setdefault(f"{owner}.{name}", []).append((path, index))
                    for base in each.bases:
                        self._subclasses.setdefault(base.rpartition(".")[2], []).append(name)
                elif each.kind == "function":
                    (self._functions if not owner else self._named).setdefault(name, []).append((path, index))
                    if owner:
                        self._members.setdefault((owner, name), []).append((path, index))
                        outer, _, _ = each.name.rpartition(f".{owner}.")
                        if outer:
                            longer = f"{outer.rpartition('.')[2]}.{owner}"
                            self._members.setdefault((longer, name), []).append((path, index))

        self._owners = {owner for owner, _ in self._members}

    def callees(self, own: Collection[Id]) -> dict[tuple[Id, Id], tuple[float, int]]:
        """Resolve the calls of some definitions."""
        edges: dict[tuple[Id, Id], tuple[float, int]] = {}
        for caller in sorted(each for each in own if each[0] in self._files):
            self._check()
            for call in self._body(caller[0]).calls.get(caller[1], ()):
                for callee, confidence in self._fitting(self._resolve(call.parts, caller), call, caller):
                    known = edges.get((caller, callee))
                    if known is None or known[0] < confidence:
                        line = call.line if known is None else min(call.line, known[1])
                        edges[caller, callee] = (confidence, line)
        return edges

    def callers(self, own: Collection[Id]) -> dict[tuple[Id, Id], tuple[float, int]]:
        """Resolve the callers of some definitions."""
        wanted = {each for each in own if each[0] in self._files}
        names: set[str] = set()
        for path, index in wanted:
            owner, _, name = self._files[path][1].definitions[index].name.rpartition(".")
            names |= {name, owner.rpartition(".")[2]} - {""}
        candidates = [
            (path, index)
            for path, (_, facts) in self._files.items()
            if not names.isdisjoint(facts.mentions)
            for index in range(len(facts.definitions))
        ]
        return {pair: edge for pair, edge in self.callees(candidates).items() if pair[1] in wanted}

    # facts

    def _body(self, path: str) -> _File:
        found = self._bodies.get(path)
        if found is None:
            language, facts = self._files[path]
            body = unpacked_body(facts.read_rows()[0])
            by_caller: dict[int, list[WrittenCall]] = {}
            for call in body.calls:
                by_caller.setdefault(call.caller, []).append(call)
            found = self._bodies[path] = _File(
                body.parents,
                by_caller,
                {(each.owner, each.name): each for each in reversed(body.variables)},
                {(each.owner, each.name): each for each in reversed(body.fields)},
                {each.function: each.type_name for each in body.results},
                read_imports(body.imports, language),
                {each.function: each for each in body.signatures},
            )
        return found

    def _name(self, own: Id) -> str:
        return self._files[own[0]][1].definitions[own[1]].name

    def _outwards(self, own: Id) -> Iterator[Id]:
        parents = self._body(own[0]).parents
        index = own[1]
        while index >= 0:
            yield (own[0], index)
            index = parents[index]

    def _class_of(self, own: Id) -> str | None:
        """Return the name of the class that contains a definition."""
        for each in self._outwards(own):
            if self._files[each[0]][1].definitions[each[1]].kind == "class":
                return self._name(each).rpartition(".")[2]
        owner = self._name(own).rpartition(".")[0].rpartition(".")[2]
        return owner if owner in self._classes else None

    # calls

    def _fitting(
        self, found: list[tuple[Id, float]], call: WrittenCall, caller: Id
    ) -> list[tuple[Id, float]]:
        """Leave of overloaded functions those that fit what a call gives."""
        if len(found) < 2 or self._files[caller[0]][0] not in _CHOOSING:
            return found
        if call.given is None:
            alone = sum(confidence == CERTAIN for _, confidence in found) == 1
            return found if alone else [(own, min(each, OVERLOADED)) for own, each in found]
        given = [self._type_of(each, caller) for each in call.given]
        scores: dict[Id, int] = {}
        for own, _ in found:
            taken = self._body(own[0]).signatures.get(own[1])
            score = 0 if taken is None else fit(given, taken, self._is_a)
            if score is not None:
                scores[own] = score
        sure = {own: scores[own] for own, confidence in found if confidence == CERTAIN and own in scores}
        if not sure:
            return found
        best = max(sure.values())
        chosen = [own for own in sure if sure[own] == best]
        confidence = CERTAIN if len(chosen) == 1 and best > MISFIT else OVERLOADED
        others = [each for each in found if each[1] < CERTAIN and scores.get(each[0], MISFIT) > MISFIT]
        return [*((own, confidence) for own in chosen), *others]

    def _type_of(self, given: str, caller: Id) -> str:
        """Return the name of an argument's type; empty if it is not known."""
        if given.startswith(":") or not given:
            return given[1:]
        holder = self._holder(given.split("."), caller, _DEPTH)
        return holder[1] if holder is not None and holder[0] == "class" else ""

    def _is_a(self, cls: str, wanted: str) -> bool | None:
        """Tell whether a class inherits from another; None if one of the bases is not in the view."""
        if cls not in self._classes:
            return None
        seen: set[str] = set()
        waiting = [cls]
        outside = False
        while waiting and len(seen) < _MOST_ANCESTORS:
            each = waiting.pop()
            if each == wanted:
                return True
            if each not in seen:
                seen.add(each)
                outside = outside or each not in self._classes
                for where, index in self._classes.get(each, ()):
                    bases = self._files[where][1].definitions[index].bases
                    waiting += [base.rpartition(".")[2] for base in bases]
        return None if outside and wanted not in self._classes else False

    def _resolve(  # noqa: C901 - one kind of owner after another
        self, parts: Sequence[str], caller: Id, depth: int = _DEPTH
    ) -> list[tuple[Id, float]]:
        if parts[:1] == (SCOPED,):
            parts = self._unscoped(parts[1:])
        *before, name = parts or ("",)
        if not before:
            if name in {"super", "this"}:
                return [(each, CERTAIN) for each in self._delegated(name, caller)]
            return [(each, CERTAIN) for each in self._plain(name, caller)]
        holder = self._holder(before, caller, depth)
        if holder is None:
            return self._by_convention(before[-1], name, caller)
        kind, what = holder
        if kind == "module":
            return [(each, CERTAIN) for each in self._exported(what, name, depth)]
        found = self._methods(what, name, caller[0])
        if not found and name in self._classes:
            found = [(each, CERTAIN) for each in self._inner(what, name, caller[0])]
        if kind == "super":
            return [each for each in found if each[1] == CERTAIN]
        if found:
            return found
        if name in {"new", "of", "create"} and what in self._classes:
            return [(each, CERTAIN) for each in self._made(what, caller[0])]
        alike = self._named.get(name, [])
        if 0 < len(alike) <= _FEW and self._is_abstract(what):
            return [(each, LIKE_NAMED) for each in alike]
        return []

    def _unscoped(self, parts: Sequence[str]) -> Sequence[str]:
        """Leave out the names of namespaces; all of what is the standard library's."""
        if parts[0] == "std":
            return ()
        while len(parts) > 1 and not parts[0].endswith("()") and parts[0] not in self._classes:
            parts = parts[1:]
        return parts

    def _inner(self, outer: str, name: str, path: str) -> list[Id]:
        """Return the constructors of a class that stands in another: ``new Outer.Inner()``."""
        for own in self._classes[name]:
            if self._name(own).split(".")[-2:-1] == [outer]:
                return self._made(name, path, own)
        return []

    def _by_convention(self, receiver: str, name: str, caller: Id) -> list[tuple[Id, float]]:
        """Find the method in the class that the receiver is named after: Rails' ``@story`` is a Story."""
        if self._files[caller[0]][0] != "ruby":
            return []
        words = receiver.lstrip("@").rstrip("()?!").split("_")
        cls = "".join(word[:1].upper() + word[1:] for word in words)
        return [(each, LIKE_NAMED) for each, sure in self._methods(cls, name, caller[0]) if sure == CERTAIN]

    def _delegated(self, name: str, caller: Id) -> list[Id]:
        """Return the constructors that one calls as ``super(…)`` or ``this(…)``."""
        cls = self._class_of(caller)
        wanted = self._base_of(cls, caller[0]) if name == "super" else cls
        found = self._made(wanted, caller[0]) if wanted else []
        return [each for each in found if self._files[each[0]][1].definitions[each[1]].kind == "function"]

    def _plain(self, name: str, caller: Id) -> list[Id]:  # noqa: C901, PLR0912 - the places to search, in order
        """Resolve a call without a receiver."""
        path = caller[0]
        language, facts = self._files[path]
        for scope in self._outwards(caller):
            definition = facts.definitions[scope[1]]
            if definition.kind == "class" and language not in _IMPLICIT_SELF:
                continue
            if definition.kind == "class":
                found = self._overloads(definition.name.rpartition(".")[2], name, path, language)
                if found:
                    return found
            qualified = f"{definition.name}.{name}" if definition.name else name
            found = [(path, i) for i in self._by_name.get((path, qualified), ())]
            if found:
                if language in _CHOOSING and facts.definitions[found[-1][1]].kind == "function":
                    return found
                return self._constructed(found[-1], path)
        cls = self._class_of(caller)
        if cls is not None and language in _IMPLICIT_SELF:
            found = self._overloads(cls, name, path, language)
            if found:
                return found
        for each in self._body(path).imports:
            if language == "java" and each.alias in {name, "*"}:
                found = self._overloads(each.origin.rpartition(".")[2], name, path, language)
                if found:
                    return found
            if each.alias == name:
                found = [
                    own
                    for module in self._imports.files(each, path)
                    for own in self._exported(module, each.name or name, _DEPTH)
                ]
                if found:
                    return [built for own in found for built in self._constructed(own, path)]
        return self._elsewhere(name, path, language)

    def _overloads(self, cls: str, name: str, path: str, language: str) -> list[Id]:
        """Return the methods of one name that a class has; the first where arguments do not choose."""
        found = self._methods(cls, name, path)
        sure = [each for each, confidence in found if confidence == CERTAIN]
        return sure if sure and language in _CHOOSING else [each for each, _ in found[:1]]

    def _elsewhere(self, name: str, path: str, language: str) -> list[Id]:
        """Search the package, then, where names need no import, the whole view."""
        folder = path.rpartition("/")[0]
        for table in (self._functions, self._classes):
            found = table.get(name, [])
            near = [each for each in found if each[0].rpartition("/")[0] == folder]
            if language in {"c", "cpp"} and len(found) > 1 and len({where for where, _ in found}) == 1:
                return found if table is self._functions else self._constructed(found[-1], path)
            if near and language not in {"javascript", "typescript", "tsx", "rust"}:
                return self._constructed(near[-1], path)
            if len(found) == 1 and language in _BY_NAME | {"java"}:
                return self._constructed(found[0], path)
        return []

    def _constructed(self, own: Id, path: str) -> list[Id]:
        if self._files[own[0]][1].definitions[own[1]].kind != "class":
            return [own]
        return self._made(self._name(own).rpartition(".")[2], path, own)

    def _made(self, cls: str, path: str, own: Id | None = None) -> list[Id]:
        """Return a class's constructors, or the class if it has none."""
        for name in (*_CONSTRUCTORS, cls):
            found = self._members.get((cls, name), [])
            if own is not None:
                outer = self._name(own)
                found = [each for each in found if self._name(each).rpartition(".")[0] == outer] or found
                if found and self._files[path][0] in {"c", "cpp"}:
                    return found  # in headers and sources, wherever they are
                found = [each for each in found if each[0] == own[0]] or found
            if found:
                return self._nearest(found, own[0] if own else path)
        nearest = [own] if own else self._nearest(self._classes.get(cls, []), path)
        return nearest[:1]

    def _nearest(self, found: list[Id], path: str) -> list[Id]:
        """Choose those in the file, else in its directory, else anywhere; none if several files have one."""
        folder = path.rpartition("/")[0]
        here = [each for each in found if each[0] == path]
        near = [each for each in found if each[0].rpartition("/")[0] == folder]
        chosen = here or near or found
        return chosen if len({where for where, _ in chosen}) == 1 else []

    def _methods(self, cls: str, name: str, path: str) -> list[tuple[Id, float]]:
        """Find a method of a class or its bases, and its overrides; computed once for all calls."""
        key = cls, name, path
        found = self._methods_found.get(key)
        if found is None:
            found = self._methods_found[key] = self._find_methods(cls, name, path)
        return found

    def _find_methods(  # noqa: C901 - up to the definition, and down to the overrides
        self, cls: str, name: str, path: str
    ) -> list[tuple[Id, float]]:
        found: list[tuple[Id, float]] = []
        seen: set[tuple[str, str]] = set()
        waiting = deque([(cls, path)])
        further = self._files[path][0] in _INHERITING
        taken: set[tuple[str, ...] | None] = set()
        while waiting and (further or not found) and len(seen) < _MOST_ANCESTORS:
            each = waiting.popleft()
            if each in seen:
                continue
            seen.add(each)
            members = self._own_methods(each[0], name, each[1])
            types = {member: self._parameter_types(member) for member in members}
            found += [(member, CERTAIN) for member in members if types[member] not in taken]
            taken |= set(types.values())
            for where, index in self._near_classes(*each):
                bases = self._files[where][1].definitions[index].bases
                waiting += {(base.rpartition(".")[2], where): None for base in bases}
        if not found and cls not in self._classes:
            return []  # else it is declared without a body, or where we do not see it
        subclasses: set[str] = set()
        border = deque([cls])
        while border and len(subclasses) < _MOST_SUBCLASSES:
            for subclass in self._subclasses.get(border.popleft(), ()):
                if subclass not in subclasses:
                    subclasses.add(subclass)
                    border.append(subclass)
        known = {member for member, _ in found}
        for subclass in sorted(subclasses):
            for member in self._members.get((subclass, name), ()):
                if member not in known:
                    found.append((member, OVERRIDDEN))
        return found

    def _parameter_types(self, own: Id) -> tuple[str, ...] | None:
        taken = self._body(own[0]).signatures.get(own[1])
        return None if taken is None else taken.types

    def _own_methods(self, cls: str, name: str, path: str) -> list[Id]:
        """Return the methods of one name of the class that a name means in a file."""
        found = self._members.get((cls, name), [])
        if not found or (len(found) < 2 and len(self._classes.get(cls, ())) < 2):
            return found
        meant = {self._name(each) for each in self._near_classes(cls, path)}
        owned = [each for each in found if self._name(each).rpartition(".")[0] in meant]
        if len(self._classes.get(cls, ())) > 1 and meant:
            found = owned
        if owned and len(meant) == 1 and self._files[path][0] in {"c", "cpp"}:
            return owned  # in headers and sources, wherever they are
        return self._nearest(found, path)

    def _is_abstract(self, cls: str) -> bool:
        """Tell whether a type is known but has no method of its own."""
        return cls in self._classes and cls not in self._owners

    # the receiver

    def _holder(self, parts: Sequence[str], caller: Id, depth: int) -> tuple[str, str] | None:
        """Find the owner of the name: a kind (class, super, module) and its name or index."""
        head, *rest = parts
        found = self._head(head, caller, depth)
        for part in rest:
            if found is None or depth <= 0:
                return None
            found = self._step(found, part, caller, depth - 1)
        return found

    def _head(  # noqa: C901, PLR0912 - the places to search, in order
        self, head: str, caller: Id, depth: int
    ) -> tuple[str, str] | None:
        bare = head.removesuffix("()")
        cls = self._class_of(caller)
        if bare in _SELF:
            return ("class", cls) if cls else None
        if bare == _SUPER.get(self._files[caller[0]][0], "super"):
            base = self._base_of(cls, caller[0])
            return ("super", base) if base else None
        if head.endswith("()"):
            for own in self._plain(bare, caller):
                return self._given(own, depth)
            return None
        for scope in self._outwards(caller):
            declared = self._body(caller[0]).variables.get((scope[1], bare))
            made_of_itself = (
                declared is not None
                and not declared.type_name
                and declared.made is not None
                and declared.made[:1] == (bare,)
            )
            if declared is not None and not made_of_itself:  # `let app = app.layer(…)`: the earlier app
                return self._declared(declared, caller, depth)
        if cls is not None:
            field = self._field(cls, bare.lstrip("@"), caller[0], depth)
            if field is not None:
                return field
        for each in self._body(caller[0]).imports:
            if each.alias == bare:
                for file in self._imports.files(each, caller[0]):
                    if each.name is None:
                        return ("module", file)
                    for own in self._exported(file, each.name, depth):
                        if self._files[own[0]][1].definitions[own[1]].kind == "class":
                            return ("class", self._name(own).rpartition(".")[2])
        if bare in self._classes:
            return ("class", bare)
        module = self._imports.module(bare, caller[0])
        return ("module", module) if module else None

    def _base_of(self, cls: str | None, path: str) -> str | None:
        for where, index in self._near_classes(cls or "", path):
            for base in self._files[where][1].definitions[index].bases:
                return base.rpartition(".")[2]
        return None

    def _near_classes(self, cls: str, path: str) -> list[Id]:
        """Return the classes of a name in the file, else in its directory, else anywhere.

        Outside its file a class that stands in another has the other's name before its own.
        """
        found = self._classes.get(cls, [])
        if len(found) < 2:
            return found
        folder = path.rpartition("/")[0]
        here = [each for each in found if each[0] == path]
        found = [each for each in found if "." not in self._name(each)] or found
        return here or [each for each in found if each[0].rpartition("/")[0] == folder] or found

    def _step(self, holder: tuple[str, str], part: str, caller: Id, depth: int) -> tuple[str, str] | None:
        kind, what = holder
        bare = part.removesuffix("()")
        if part.endswith("()"):
            found = (
                self._exported(what, bare, depth)
                if kind == "module"
                else [each for each, _ in self._methods(what, bare, caller[0])]
            )
            return self._given(found[0], depth) if found else None
        if kind == "class":
            made = bare == "new" and what in self._classes
            if f"{what}.{bare}" in self._classes:
                return ("class", f"{what}.{bare}")
            return ("class", what) if made else self._field(what, bare, caller[0], depth)
        if any(own for own in self._exported(what, bare, depth)) and bare in self._classes:
            return ("class", bare)
        inner = self._imports.module(bare, what)
        return ("module", inner) if inner else None

    def _field(self, cls: str, name: str, path: str, depth: int) -> tuple[str, str] | None:
        """Find a member of a class or of its bases."""
        seen: set[str] = set()
        waiting = deque([(cls, path)])
        while waiting and len(seen) < _MOST_ANCESTORS:
            each, near = waiting.popleft()
            if each in seen:
                continue
            seen.add(each)
            for own in self._near_classes(each, near):
                declared = self._body(own[0]).fields.get((own[1], name))
                if declared is not None:
                    return self._declared(declared, own, depth)
                bases = self._files[own[0]][1].definitions[own[1]].bases
                waiting += [(base.rpartition(".")[2], own[0]) for base in bases]
        return None

    def _declared(self, declared: Declaration, scope: Id, depth: int) -> tuple[str, str] | None:
        if declared.type_name:
            return ("class", self._written(declared.type_name))
        if not declared.made or depth <= 0:
            return None
        for own, _ in self._resolve(declared.made, scope, depth - 1):
            return self._given(own, depth - 1)
        return None

    def _given(self, own: Id, _depth: int) -> tuple[str, str] | None:
        """Return the type of the result of calling a definition."""
        if self._files[own[0]][1].definitions[own[1]].kind == "class":
            return ("class", self._name(own).rpartition(".")[2])
        type_ = self._body(own[0]).results.get(own[1], "")
        if type_ == "Self":
            type_ = self._class_of(own) or ""
        if not type_ and self._name(own).rpartition(".")[2] in _CONSTRUCTORS:
            type_ = self._class_of(own) or ""
        return ("class", self._written(type_)) if type_ else None

    def _written(self, type_name: str) -> str:
        """Return how a type is known here: with the class that it stands in, if that is written and known."""
        longer = ".".join(type_name.split(".")[-2:])
        return longer if longer in self._classes else type_name.rpartition(".")[2]

    def _exported(
        self, module: str, name: str, depth: int, seen: set[tuple[str, str]] | None = None
    ) -> list[Id]:
        """Find what a file, or a directory's files, export under a name, following re-exports.

        Args:
            module: The file or directory.
            name: The name.
            depth: Maximum number of files to go through.
            seen: Files and names already examined: among files that re-export one another the number of
                paths is far larger than that of files.
        """
        found: list[Id] = []
        seen = set() if seen is None else seen
        for path in self._imports.within(module):
            found += [(path, i) for i in self._by_name.get((path, name), ())]
            if not found and depth > 0 and (path, name) not in seen:
                seen.add((path, name))
                for each in self._body(path).imports:
                    if each.alias in {name, "*"}:
                        for file in self._imports.files(each, path):
                            if file != module:
                                wanted = each.name if each.alias == name and each.name else name
                                found += self._exported(file, wanted, depth - 1, seen)
        return found
