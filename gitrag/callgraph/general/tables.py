"""The definitions of one family of languages, by name, and the files' facts, unpacked when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import dirname, join, normpath, relpath

from msgspec import Struct
from msgspec.structs import replace

from gitrag.callgraph.edges import Id
from gitrag.callgraph.facts import DefinitionFacts, Facts
from gitrag.callgraph.general.imports import ImportedName, read_imports
from gitrag.callgraph.general.records import (
    INSTANCE,
    NUMBERED,
    UNSURE,
    Declaration,
    Signature,
    WrittenCall,
    unpacked_body,
)
from gitrag.callgraph.general.traits import MOST, SCRIPTS, TRAITS, Traits


class File(Struct, frozen=True):
    """What is read of a file beyond its definitions.

    Attributes:
        parents: Index of the definition that each definition lies in.
        calls: By the index of the definition that they stand in.
        variables: By definition and name.
        variable_names: The names of all variables.
        fields: By class and name.
        field_owners: The classes that declare a field, in their order, by its name.
        results: Declared types of functions' results.
        needs: Methods that an interface lists, by class and name.
        imports: By the name in the file; ``*`` for those of all names.
        inner: Names of modules inside the file.
        signatures: What functions take, where arguments choose among functions of one name.
        properties: Those that run where their name is read.
        library: The file that a part of Dart is of, as written there.
        hidden: Kotlin's private functions.
        held: What an object or a list of JavaScript has, with its key, by its name and by where it is.
        within: The keys of the objects in it.
        exports: The names that a module of JavaScript exports one by one.
        statics: The functions of Ruby's classes themselves, and those of C# that extend a type.
    """

    parents: Sequence[int]
    calls: Mapping[int, Sequence[WrittenCall]]
    variables: Mapping[tuple[int, str], Declaration]
    variable_names: frozenset[str]
    fields: Mapping[tuple[int, str], Declaration]
    field_owners: Mapping[str, Sequence[int]]
    results: Mapping[int, str]
    needs: Mapping[int, Mapping[str, Declaration]]
    imports: Mapping[str, Sequence[ImportedName]]
    inner: frozenset[str]
    signatures: Mapping[int, Signature]
    statics: frozenset[int]
    properties: frozenset[int]
    hidden: frozenset[int]
    library: str
    held: Mapping[str, Mapping[int, Sequence[tuple[str, Declaration]]]]
    within: Mapping[str, Mapping[int, Collection[str]]]
    exports: Sequence[str]


@lru_cache(maxsize=16_384)  # each call of a name asks for it again
def bare(name: str) -> str:
    """Return a name as variables, classes and files may all have it: ``get-one``, ``getOne``."""
    return name.partition(NUMBERED)[0].removesuffix("()").replace("_", "").replace("-", "").lower()


def reached_from(names: Iterable[str], beside: Callable[[str], Iterable[str]]) -> set[str]:
    """Return names, and all that are reached from them, by what is beside each."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += beside(each)
    return found


def is_main(name: str) -> bool:
    """Tell whether a definition of JavaScript is all that a file exports, or a member of that."""
    owner, _, last = name.rpartition(".")
    return (owner or last) in {"exports", "default"}


def loaded_as(path: str) -> str:
    """Return the name by which what a file of JavaScript exports is called, if it is loaded by its path."""
    return re.sub(r"[-_](\w)", lambda part: part[1].upper(), path.rpartition("/")[2].partition(".")[0])


class Tables:
    """The definitions of a family's files.

    Args:
        files: Language and facts of each, by path.

    Attributes:
        classes: Classes by the last part of their name.
        functions: Functions outside classes, by name.
        members: Functions by the names of their class and their own.
        methods: Functions of classes, by name.
        listed: Methods that Go's interfaces list, which are none of these.
        subclasses: Classes by the last part of a base's name.
        read_by: The scripts that a shell script reads, as far as they were asked for.
        by_name: Indices by path and qualified name.
        owners: Names of classes with methods, and the files of these.
    """

    def __init__(self, files: Mapping[str, tuple[str, Facts]]) -> None:
        self.files = {path: each for path, each in files.items() if each[1].definitions}
        self._bodies: dict[str, File] = {}
        self._lent: dict[tuple[str, str], Mapping[str, Sequence[ImportedName]]] = {}
        self.read_by: dict[str, list[str]] = {}
        self._by_last: dict[str, list[str]] = {}
        self._ending: dict[str, str] = {}
        self.classes: dict[str, list[Id]] = {}
        self.functions: dict[str, list[Id]] = {}
        self.members: dict[tuple[str, str], list[Id]] = {}
        self.methods: dict[str, list[Id]] = {}
        self.subclasses: dict[str, list[Id]] = {}
        self.by_name: dict[tuple[str, str], list[int]] = {}
        self._own_names: set[tuple[str, str]] = set()
        self.listed: set[Id] = set()
        for path in sorted(self.files):
            cls: DefinitionFacts | None = None
            for index, each in enumerate(self.files[path][1].definitions):
                if each.kind == "module":
                    continue
                self.by_name.setdefault((path, each.name), []).append(index)
                owner, _, name = each.name.rpartition(".")
                name = name.lstrip("$") or name  # which no call of JavaScript has
                self._own_names.add((path, name))
                own = path, index
                if each.kind == "class":
                    cls = each
                    self.classes.setdefault(name, []).append(own)
                    for base in each.bases:
                        last = base.removeprefix(UNSURE).rpartition(".")[2]
                        self.subclasses.setdefault(last, []).append(own)
                elif cls and owner == cls.name and each.line_start <= cls.line_end and path.endswith(".go"):
                    self.listed.add(own)
                elif owner:
                    self.methods.setdefault(name, []).append(own)
                    self.members.setdefault((owner.rpartition(".")[2], name), []).append(own)
                else:
                    self.functions.setdefault(name, []).append(own)
        self._add_prototypes()
        self._facades: dict[str, list[str]] | None = None
        self._loaded: dict[str, list[Id]] | None = None
        self._places: dict[str, list[str]] = {}
        for path, name in self.by_name:
            self._places.setdefault(name, []).append(path)
        self.owners: dict[str, set[str]] = {}
        for (owner, _), every in self.members.items():
            self.owners.setdefault(owner, set()).update(path for path, _ in every)

    def _add_prototypes(self) -> None:
        """Count as classes JavaScript's functions that are given methods: ``Store.prototype.save = …``."""
        given: dict[tuple[str, str], int] = {}  # the last line at which each is given one
        for (path, name), indices in self.by_name.items():
            owner, _, _ = name.rpartition(".")
            if not owner or self.files[path][0] not in SCRIPTS:
                continue
            if "." in owner and not owner.rpartition(".")[2][:1].isupper():
                continue  # a function that is given others, in an object
            line = self.files[path][1].definitions[indices[-1]].line_start
            given[path, owner] = max(given.get((path, owner), 0), line)
        for (path, owner), line in given.items():
            for own in self.named(path, owner):
                outer = self.definition(own)
                if line > outer.line_end and outer.kind != "class":
                    self.classes.setdefault(owner.rpartition(".")[2], []).append(own)

    def loaded(self, place: str) -> list[Id]:
        """Return what files of JavaScript export whose path ends so: ``helpers/boards/getone``."""
        if self._loaded is None:
            self._loaded = {}
            for (path, name), found in self.by_name.items():
                if not is_main(name) or self.files[path][0] not in SCRIPTS:
                    continue
                *around, last = path.split("/")
                parts = *around[-2:], last.partition(".")[0]
                own = self._loaded.setdefault("/".join(map(bare, parts)), [])
                own += [(path, index) for index in found if self.definition((path, index)).kind == "function"]
        return self._loaded.get(place, [])

    def language(self, path: str) -> str:
        """Return the language of a file; of a template that of its code."""
        return "ruby" if self.files[path][0] == "erb" else self.files[path][0]

    def is_template(self, path: str) -> bool:
        """Tell whether a file is a template of Rails, whose code calls helpers."""
        return self.files[path][0] == "erb" or path.endswith((".builder", ".jbuilder", ".rabl", ".arb"))

    def traits(self, path: str) -> Traits:
        """Return what the language of a file does otherwise than most."""
        return TRAITS.get(self.language(path), MOST)

    def definition(self, own: Id) -> DefinitionFacts:
        return self.files[own[0]][1].definitions[own[1]]

    def gives_no_this(self, name: str) -> bool:
        """Tell whether Kotlin's functions of a name are known to give no block a ``this``."""
        every = [*self.functions.get(name, ()), *self.methods.get(name, ())]
        return bool(every) and not any(index in self.body(path).statics for path, index in every)

    def can_call(self, caller: Id, own: Id) -> bool:
        """Tell whether a definition is not private to another class or file of Kotlin."""
        if own[1] not in self.body(own[0]).hidden:
            return True
        outermost, around = ([*self.outwards(each)][-2:-1] for each in (own, caller))
        of_class = bool(outermost) and self.definition(outermost[0]).kind == "class"
        return own[0] == caller[0] and not (of_class and around and outermost != around)

    def last_name(self, own: Id) -> str:
        """Return the last part of a definition's name."""
        return self.definition(own).name.rpartition(".")[2]

    def facades(self, name: str) -> list[str]:
        """Return the files of Kotlin whose functions Java finds in a class of a name."""
        if self._facades is None:
            self._facades = {}
            for path, (language, facts) in self.files.items():
                if language != "kotlin":
                    continue
                stem = path.rpartition("/")[2].partition(".")[0]
                given = next((each for each in facts.mentions if each.startswith("JvmName(")), "")
                known = given[9:-2] or f"{stem[:1].upper()}{stem[1:]}Kt"
                self._facades.setdefault(known, []).append(path)
        return self._facades.get(name, [])

    def top_level(self, path: str, name: str) -> list[Id]:
        """Return the functions outside of classes of a last name in a file: what extends a type, too."""
        parents = self.body(path).parents
        return [
            (path, at)
            for at, each in enumerate(self.files[path][1].definitions)
            if each.kind == "function" and parents[at] == 0 and each.name.rpartition(".")[2] == name
        ]

    def gives_parameter(self, own: Id) -> bool:
        """Tell whether a function gives what one of its type parameters is."""
        body = self.body(own[0])
        return (own[1], f"{INSTANCE}{body.results.get(own[1], '')}") in body.variables

    def is_extension(self, own: Id) -> bool:
        """Tell whether a definition of Swift or Dart only extends a type."""
        return own[0].endswith((".swift", ".dart")) and own[1] in self.body(own[0]).statics

    def outermost(self, every: list[Id]) -> tuple[list[Id], bool]:
        """Choose among definitions of Swift's types those that are no extension and stand in no other type.

        Returns:
            Those, or what there is; and whether they stand in no other.
        """
        every = [own for own in every if not self.is_extension(own)] or every
        found = [own for own in every if "." not in self.definition(own).name]
        return found or every, bool(found)

    def places(self, name: str) -> list[str]:
        """Return the files that define a qualified name."""
        return self._places.get(name, [])

    def ending(self, end: str) -> str:
        """Return the only file whose path ends so; empty if there is none, or several."""
        if end not in self._ending:
            if not self._by_last:
                for path in self.files:
                    self._by_last.setdefault(path.rpartition("/")[2], []).append(path)
            every = [
                each
                for each in self._by_last.get(end.rpartition("/")[2], ())
                if f"/{each}".endswith(f"/{end}")
            ]
            self._ending[end] = every[0] if len(every) == 1 else ""
        return self._ending[end]

    def named(self, path: str, name: str) -> list[Id]:
        """Return the definitions of a qualified name in a file."""
        return [(path, index) for index in self.by_name.get((path, name), ())]

    def names(self, path: str, name: str) -> bool:
        """Tell whether a file has a definition whose last name is this."""
        return (path, name) in self._own_names

    def body(self, path: str) -> File:
        found = self._bodies.get(path)
        if found is None:
            found = self._bodies[path] = _unpacked(*self.files[path])
            library = normpath(join(dirname(path), found.library)) if found.library else path
            if library != path and self.files.get(library, ("",))[0] == "dart":
                found = self._bodies[path] = replace(
                    found, imports=_joined(found.imports, self._imports_of(library, dirname(path)))
                )
        return found

    def _imports_of(self, library: str, folder: str) -> Mapping[str, Sequence[ImportedName]]:
        """Return what a library of Dart imports, as its parts in a folder would write it."""
        found = self._lent.get((library, folder))
        if found is None:
            base = dirname(library)
            whole = self._bodies.get(library) or _unpacked(*self.files[library])  # itself perhaps a part
            found = self._lent[library, folder] = {
                alias: [
                    each
                    if ":" in each.origin
                    else replace(each, origin=relpath(join(base, each.origin) or ".", folder or "."))
                    for each in every
                ]
                for alias, every in whole.imports.items()
            }
        return found

    def namespaces(self, path: str) -> set[str]:
        """Return the namespaces of a file of PHP, in lower case and with dots; an empty one if none."""
        return {each.replace("\\", ".").lower() for each in self.body(path).inner} or {""}

    def in_namespace(self, every: Sequence[Id], before: Sequence[str], path: str) -> list[Id]:
        """Return the classes of PHP that a name means that is not imported.

        Args:
            every: Classes with its last part.
            before: The parts before.
        """
        own, within = self.namespaces(path), ".".join(before).lower()
        aliased = self.body(path).imports.get(before[0], ()) if before else ()
        if aliased:
            parts = ([each.origin, each.name or "", *before[1:]] for each in aliased)
            wanted = {".".join(each).strip(".").lower() for each in parts}
        else:
            wanted = {within, *(f"{each}.{within}".strip(".") for each in own)}
        return [each for each in every if not wanted.isdisjoint(self.namespaces(each[0]))]

    def outwards(self, own: Id) -> Iterator[Id]:
        """Yield a definition and those that it lies in."""
        parents = self.body(own[0]).parents
        index = own[1]
        while index >= 0:
            yield (own[0], index)
            index = parents[index]


def _unpacked(language: str, facts: Facts) -> File:
    body = unpacked_body(facts.read_rows()[0])
    calls: dict[int, list[WrittenCall]] = {}
    for call in body.calls:
        calls.setdefault(call.caller, []).append(call)
    needs: dict[int, dict[str, Declaration]] = {}
    for each in body.needs:
        needs.setdefault(each.owner, {})[each.name] = each
    imports: dict[str, list[ImportedName]] = {}
    for imported in read_imports(body.imports, language):
        imports.setdefault(imported.alias, []).append(imported)
    fields = {(each.owner, each.name): each for each in reversed(body.fields)}
    owners: dict[str, list[int]] = {}
    for owner, name in sorted(fields):
        owners.setdefault(name, []).append(owner)
    held: dict[str, dict[int, list[tuple[str, Declaration]]]] = {}
    for each in body.held:
        of, _, key = each.name.rpartition(".")
        held.setdefault(of, {}).setdefault(each.owner, []).append((key, each))
    within: dict[str, dict[int, dict[str, None]]] = {}
    for of, by_owner in held.items():
        outer, _, key = of.rpartition(".")
        while outer:
            for own in by_owner:
                within.setdefault(outer, {}).setdefault(own, {})[key] = None
            outer, _, key = outer.rpartition(".")
    return File(
        body.parents,
        calls,
        {(each.owner, each.name): each for each in reversed(body.variables)},
        frozenset(each.name for each in body.variables),
        fields,
        owners,
        {each.function: each.type_name for each in body.results},
        needs,
        imports,
        frozenset(each.inner for each in body.imports if each.inner is not None),
        {each.function: each for each in body.signatures},
        frozenset(body.statics),
        frozenset(body.properties),
        frozenset(body.hidden),
        next((each.path for each in body.imports if each.path and language == "dart"), ""),
        held,
        within,
        body.exports,
    )


def _joined(
    own: Mapping[str, Sequence[ImportedName]], more: Mapping[str, Sequence[ImportedName]]
) -> dict[str, Sequence[ImportedName]]:
    return dict(own) | {alias: [*own.get(alias, ()), *every] for alias, every in more.items()}
