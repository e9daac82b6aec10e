"""What a computed key gives in JavaScript: of an object, a list, a map or a module, each of what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from posixpath import dirname, join, normpath

from gitrag.callgraph import edges
from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.imports import DEFAULT, Imports
from gitrag.callgraph.general.members import CONSTRUCTORS
from gitrag.callgraph.general.names import CERTAIN, DEPTH, LIKE_NAMED, OVERRIDDEN, Found, Owner
from gitrag.callgraph.general.objects import Objects
from gitrag.callgraph.general.records import ANY_OF, ELEMENT, GOT, MOST_MEMBERS, NUMBERED, SAME, SPREAD
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import SCRIPTS

_WHOLE = frozenset({"", "exports", DEFAULT})
_MOST_ALIASES = 4

_Place = tuple[str, str, frozenset[int]]
"""A file, the name of what is asked there, and the definitions in which it has the name, any if none is said.
Without a name it is the module; with a directory in place of the file an index that is not there."""


class Keyed(Objects):
    """Finds what may be called where the key is computed: `table[key]()`, `new Classes[key]()`."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._within_methods: dict[str, set[str]] = {}  # files with functions of a name in methods
        self._keyed_found: dict[tuple[_Place, tuple[str, ...], int], list[tuple[Id, float]]] = {}
        self._exported_found: dict[tuple[str | None, str, tuple[str, ...], int], list[_Place]] = {}

    def _meant(self, parts: tuple[str, ...], caller: Id) -> Found:
        if parts[-1] == ELEMENT and self._tables.language(caller[0]) in SCRIPTS:
            return self._by_key(parts, caller, DEPTH)
        return super()._meant(parts, caller)

    def _given_as(self, owner: Owner, name: str) -> Found:
        """Find what an object has under a name, or is given in its class: `this.clear = function () {}`."""
        if name not in self._within_methods:
            every = self._tables.methods.get(name, ())
            self._within_methods[name] = {
                own[0] for own in every if self._tables.definition(own).name.count(".") > 1
            }
        files = self._within_methods[name]
        for each in self._upwards(owner) if files else ():
            for file, index in self._definitions_of(each):
                held = self._tables.body(file).held.get("this", {}) if file in files else {}
                found = [it for key, it in held.get(index, ()) if key == name]
                if found:
                    return [((file, int(it.type_name)), OVERRIDDEN) for it in found]
        return super()._given_as(owner, name)

    def _by_key(self, parts: Sequence[str], caller: Id, depth: int) -> Found:
        """Find what an expression may mean that asks something by a computed key; all likely."""
        if self._tables.language(caller[0]) not in SCRIPTS or depth <= 0:
            return []
        before, self._sure = self._sure, CERTAIN
        found: dict[Id, float] = {}
        for meant in self._each_meant(parts, caller):
            if ELEMENT not in meant or meant[0] == "?":
                continue
            at = meant.index(ELEMENT)
            of_map = meant[at - 1] == GOT
            for place in self._places_of(meant[: at - of_map], caller, depth):
                if of_map and place[1] in _WHOLE:
                    continue  # a function of a module that is called so
                for own, sure in self._under(place, tuple(meant[at:]), depth - 1):
                    found[own] = max(sure, found.get(own, 0.0))
        self._sure = before
        return list(found.items())

    def _each_meant(self, parts: Sequence[str], caller: Id) -> Iterator[tuple[str, ...]]:
        """Yield an expression without the names that only stand for another: `all = this.all`."""
        head, _, numbers = parts[0].partition(NUMBERED)
        for number in numbers.split(ANY_OF):
            meant = (f"{head}{NUMBERED}{number}" if number else head, *parts[1:])
            for _ in range(_MOST_ALIASES):
                variables = self._tables.body(caller[0]).variables
                every = (variables.get((scope[1], meant[0])) for scope in self._tables.outwards(caller))
                made = next((each.made for each in every if each is not None), None)
                if not made or made[-1] != SAME or made[0] == meant[0]:
                    break
                meant = (*made[:-1], *meant[1:])
            yield meant

    def _places_of(  # noqa: C901 - one kind of name after another
        self, names: Sequence[str], caller: Id, depth: int
    ) -> Iterator[_Place]:
        """Yield what an expression may be that is asked for what it has."""
        path, (written, *more) = caller[0], names
        head = written.partition(NUMBERED)[0]
        if depth <= 0 or path not in self._tables.files:
            return
        body = self._tables.body(path)
        if head == "this":
            owner = self._class_of(caller) if more else None
            for each in self._upwards(owner) if owner is not None else ():
                for file, index in self._definitions_of(each):
                    held = self._tables.body(file).fields.get((index, more[0]))
                    if held is not None and held.made and held.made[-1] == SAME and held.made[0] != "this":
                        yield from self._places_of([*held.made[:-1], *more[1:]], (file, index), depth - 1)
                    yield file, ".".join(["this", *more]), frozenset({index})
            return
        name = ".".join([head, *more])
        scopes = [scope[1] for scope in self._tables.outwards(caller)]
        local = next((at for at, scope in enumerate(scopes, 1) if (scope, written) in body.variables), None)
        is_local = local is not None and local < len(
            scopes
        )  # it is not what is so called around, or imported
        scopes = scopes[:local] if is_local else scopes
        if owners := {**body.held.get(name, {}), **body.within.get(name, {})}:
            nearest = next((scope for scope in scopes if scope in owners), None)
            if is_local and nearest is None:
                return
            yield path, name, frozenset({nearest} if nearest is not None else ())
            return
        for imported in () if is_local else body.imports.get(head, ()):
            files = [file for file, _ in self._imports.files(imported, path)]
            is_index = imported.origin.rpartition("/")[2].partition(".")[0] == "index"
            if is_index and not files and imported.name is None:
                yield normpath(join(dirname(path), dirname(imported.origin))), "", frozenset()
            for file in files:
                yield from self._exported_as(imported.name, file, more, depth)

    def _exported_as(self, name: str | None, file: str, more: Sequence[str], depth: int) -> list[_Place]:
        """Return what a file exports under a name, or all that it exports; once for all imports."""
        key = name, file, tuple(more), depth  # with the depth files that import one another come to an end
        found = self._exported_found.get(key)
        if found is None:
            self._check()
            every = self._find_exported_as(name, file, more, depth)
            found = self._exported_found[key] = list(dict.fromkeys(every))
        return found

    def _find_exported_as(
        self, name: str | None, file: str, more: Sequence[str], depth: int
    ) -> Iterator[_Place]:
        if name is None and not more:
            yield file, "", frozenset()
        if file not in self._tables.files:
            return
        if name is None or name == DEFAULT:
            others = self._tables.body(file).imports.get(DEFAULT, ())
            local = [each.name for each in others if each.kind == "local" and each.name]
            for whole in (*local, DEFAULT, "exports", *([] if name else more[:1])):
                rest = more[1:] if whole in more[:1] and not name else more
                yield from self._places_of([*whole.split("."), *rest], (file, 0), depth - 1)
        else:
            yield from self._places_of([name, *more], (file, 0), depth - 1)
            yield from self._places_of(["exports", name, *more], (file, 0), depth - 1)

    def _under(self, place: _Place, keys: tuple[str, ...], depth: int) -> Found:
        """Find what something has under keys, of which any may be computed; once for all calls."""
        key = place, keys, depth  # with the depth objects that are spread in one another come to an end
        found = self._keyed_found.get(key)
        if found is None:
            self._check()
            every: dict[Id, float] = {}
            for own, sure in self._in_place(place, keys, depth):
                every.setdefault(own, min(sure, OVERRIDDEN))
                if len(every) > MOST_MEMBERS:
                    self.limits.reached(edges.MEMBERS, MOST_MEMBERS, place[1] or place[0])
                    every.clear()
                    break
            found = self._keyed_found[key] = list(every.items())
        return found

    def _in_place(self, place: _Place, keys: tuple[str, ...], depth: int) -> Iterator[tuple[Id, float]]:
        path, name, owners = place
        wanted, rest = keys[0], keys[1:]
        if not name:
            yield from self._of_module(path, keys, depth)
            return
        body = self._tables.body(path)
        held, within = body.held.get(name, {}), body.within.get(name, {})
        for key, each in (it for own in owners or held for it in held.get(own, ())):
            if key == SPREAD:
                yield from self._by_key([*(each.made or ()), *keys], (path, int(each.type_name)), depth)
            elif wanted in {ELEMENT, key} and each.made:
                yield from self._resolve([*each.made, *rest], (path, int(each.type_name)), depth)
            elif wanted in {ELEMENT, key} and not rest:
                yield (path, int(each.type_name)), OVERRIDDEN
        inner = (key for own in owners or within for key in within.get(own, ()))
        for key in dict.fromkeys(inner) if rest else ():
            if wanted in {ELEMENT, key}:
                yield from self._under((path, f"{name}.{key}", owners), rest, depth)

    def _of_module(self, path: str, keys: tuple[str, ...], depth: int) -> Iterator[tuple[Id, float]]:
        """Yield what a module exports; of an index that is not there the main exports of its directory."""
        if path not in self._tables.files:
            for file in self._imports.within(path):
                if self._tables.language(file) in SCRIPTS and len(keys) == 1:
                    for own in self._exported(file, DEFAULT):
                        yield from ((each, LIKE_NAMED) for each in self._constructed(own))
            return
        files = [path, *self._passed_on(path)[0]]
        for file in files:
            for name in self._tables.body(file).exports:
                if keys[0] in {ELEMENT, name}:
                    yield from self._resolve_exported(file, name, keys[1:], depth)

    def _resolve_exported(
        self, file: str, name: str, rest: tuple[str, ...], depth: int
    ) -> Iterator[tuple[Id, float]]:
        if not rest:
            for own in self._exported(file, name):
                yield from ((each, OVERRIDDEN) for each in self._constructed(own))
        else:
            yield from self._resolve([name, *rest], (file, 0), depth)

    def _made_or_called(self, found: Found, *, is_made: bool) -> Found:
        """Choose the classes, where something is made, and else the functions."""
        return [
            each
            for each in found
            if is_made == (self._is_class(each[0]) or self._tables.last_name(each[0]) in CONSTRUCTORS)
        ]
