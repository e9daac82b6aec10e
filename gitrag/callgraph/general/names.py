"""What a name means in a file: a definition of the file, of what it imports, or of its package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from gitrag.callgraph import edges
from gitrag.callgraph.edges import Id, Limits
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.general.imports import DEFAULT, ImportedName, Imports
from gitrag.callgraph.general.places import PassedOn, Places
from gitrag.callgraph.general.records import Declaration
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import BY_IMPORT, CHOOSING, NESTING, SCRIPTS, WHOLE

Found = list[tuple[Id, float]]
CERTAIN = 1.0
OVERRIDDEN = 0.6
LIKE_NAMED = 0.5
"""Confidence in a method with this name, where few types have one: Go's interfaces say no more."""
DEPTH = 8
_MOST_PASSED_ON, _MOST_INSIDE = 50, 4
"""Files that pass a name on, and modules of Rust in one another: else it might be sought without end."""
_MOST_EXPORTS = 2_000
"""Files that one name is looked for in by way of re-exports."""


class Owner(NamedTuple):
    """What a method or function is looked for in.

    Attributes:
        kind: ``class``; ``super`` for a class whose overrides do not count; ``type`` for a class of Ruby as
            an object of its own; ``module``.
        name: The class's name; empty for a module.
        home: The file that the class is known by, or the module's file or directory.
        full: In Ruby its name with those of the modules around it.
    """

    kind: Literal["class", "super", "type", "module"]
    name: str
    home: str
    full: str = ""


class Naming:
    """Finds definitions by the names that files have for them.

    Args:
        tables: The definitions.
        imports: Where imports lead.
        check: Called now and then; raises to stop.

    Attributes:
        limits: What was not looked at so far.
    """

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        self.limits = Limits()
        self._tables, self._imports, self._check = tables, imports, check
        self._classes_found: dict[tuple[str, str, str], Owner | None] = {}
        self._exports_found: dict[tuple[str, str, tuple[str, ...]], list[Id]] = {}
        self._following = 0
        self._passed_found: dict[str, PassedOn] = {}
        self._imported_found: dict[tuple[str, str], tuple[list[Id], bool]] = {}
        self._named_in_full: dict[str, dict[str, list[Id]]] = {}
        self._places: dict[tuple[str, str], Places] = {}
        self._owners_of: dict[Id, Owner | None] = {}
        self._known: dict[Id, Owner] = {}
        self._others_found: dict[Owner, list[list[Id]]] = {}
        self._chosen: set[tuple[str, str, str]] = set()
        self._sure = CERTAIN  # of the receiver's type, in the call that is being resolved

    def _is_inner(self, cls: Owner, outer: Owner) -> bool:
        return any(
            self._tables.definition(own).name.split(".")[-2:] == [outer.name, cls.name]
            for own in self._tables.classes.get(cls.name, ())
            if own[0] == cls.home
        )

    def _nearest(self, found: list[Id], path: str) -> list[Id]:
        """Choose those in the file, else in its directory, else the nearest; none if several are as near."""
        if len(found) < 2:
            return found
        here = [each for each in found if each[0] == path]
        if here:
            return here
        folder = path.rpartition("/")[0]
        chosen = [each for each in found if each[0].rpartition("/")[0] == folder]
        if not chosen:
            most = max(shared(each[0], path) for each in found)
            chosen = [each for each in found if shared(each[0], path) == most]
        return chosen if len({where for where, _ in chosen}) == 1 else []

    def _class(self, written: str, path: str, around: str = "") -> Owner | None:
        """Return the class that a name means in a file; None if it is none of the view.

        Args:
            around: The definition where it is written: in Ruby its modules are searched first.
        """
        ruby = self._tables.language(path) == "ruby"
        key = written, path, around if ruby else ""
        if key not in self._classes_found:
            self._classes_found[key] = None  # while it is looked for: an alias may lead in a circle
            found = self._constant(*key) if ruby else self._find_class(written, path)
            self._classes_found[key] = found
        if key in self._chosen:  # one of several of its name, by its place
            self._sure = min(self._sure, OVERRIDDEN)
        return self._classes_found[key]

    def _constant(self, written: str, path: str, around: str) -> Owner | None:
        """Return Ruby's class of a name: of the innermost module around that has one, else of any."""
        last = written.rpartition(".")[2]
        known = self._full_names(last)
        if written.startswith("."):  # `::Foo`
            if written[1:] not in known:
                return None
            around, written = "", written[1:]
        outer = around.split(".") if around else []
        for depth in range(len(outer), -1, -1):
            full = ".".join([*outer[:depth], written])
            if full in known:
                break
        else:
            names = [each for each in known if f".{each}".endswith(f".{written}")]
            if len(names) > 1:
                self._chosen.add((written, path, around))
                every = [
                    own for own in self._tables.classes[last] if self._tables.definition(own).name in names
                ]
                near = self._nearest(every, path)
                return self._known_as(near[0]) if near else None
            if not names:
                return None
            full = names[0]
        places = self._placed(last, full)
        chosen = places.nearest(path) or places.every
        return self._known_as(chosen[0]) if chosen else None

    def _full_names(self, name: str) -> dict[str, list[Id]]:
        """Return the definitions of Ruby's classes with a last name, by their whole names."""
        found = self._named_in_full.get(name)
        if found is None:
            found = self._named_in_full[name] = {}
            for own in self._tables.classes.get(name, ()):
                found.setdefault(self._tables.definition(own).name, []).append(own)
        return found

    def _placed(self, name: str, full: str) -> Places:
        """Return the definitions of classes of a name; in Ruby of a whole name."""
        key = name, full
        if key not in self._places:
            every = self._tables.classes.get(name, []) if not full else self._full_names(name).get(full, [])
            self._places[key] = Places(every)
        return self._places[key]

    def _known_as(self, own: Id) -> Owner:
        """Return a class by its definition."""
        found = self._known.get(own)
        if found is None:
            name = self._tables.definition(own).name
            full = name if self._tables.language(own[0]) == "ruby" else ""
            found = self._known[own] = Owner("class", name.rpartition(".")[2], own[0], full)
        return found

    def _find_class(  # noqa: C901, PLR0912 - the places to search, in order
        self, written: str, path: str
    ) -> Owner | None:
        *before, name = written.split(".")
        language = self._tables.language(path)
        if before and language != "php":
            found = self._qualified(before, name, path)
            if found is not None:
                return self._as_class(found)
            inner = self._inner_class(before[-1], name, path)
            if inner is not None:
                return inner
            if language == "java" and before[0].islower():  # a package, by its directory
                folder = f"/{'/'.join(before)}"
                held = (where for where, _ in self._tables.classes.get(name, ()))
                places = [where for where in held if f"/{where.rpartition('/')[0]}".endswith(folder)]
                return Owner("class", name, places[0]) if places else None
            if language in {"go", "rust"} or self._tables.body(path).imports.get(before[0]):
                return None
        every = self._tables.classes.get(name, [])
        is_elsewhere = before and language == "php"
        here = [own for own in every if own[0] == path]
        if language in SCRIPTS and self._tables.body(path).imports.get(name):  # in a namespace it is another
            here = [own for own in here if self._tables.definition(own).name == name]
        if not is_elsewhere and here:
            return Owner("class", name, path)
        found, is_imported = ([], False) if is_elsewhere else self._imported(name, path)
        if found or is_imported:
            return self._as_class(found)
        is_object = language in SCRIPTS and not name[:1].isupper()  # of another file
        if not every or language == "zig" or is_object:
            return None
        if language in CHOOSING:  # elsewhere a class that stands in another has the other's name before it
            every = [own for own in every if "." not in self._tables.definition(own).name] or every
        elif language == "php":
            meant = self._tables.in_namespace(every, before, path)
            if before and not meant:
                return None
            self._chosen |= set() if meant else {(written, path, "")}  # comments name what is not imported
            every = meant or every
        elif language == "swift":
            every, is_ours = self._tables.outermost(every)  # within another it has that one's name before it
            self._chosen |= set() if is_ours else {(written, path, "")}
        if language not in BY_IMPORT:
            folder = path.rpartition("/")[0]
            near = {where for where, _ in every if where.rpartition("/")[0] == folder}
            if near:
                if len(near) > 1 and self._are_several(every, language):
                    self._chosen.add((written, path, ""))
                return Owner("class", name, min(near))
            if language == "go":
                return None
        places = sorted({where for where, _ in every})
        if len(places) == 1:
            return Owner("class", name, places[0])
        if self._are_several(every, language):
            self._chosen.add((written, path, ""))
        nearest = self._nearest(every, path)
        return Owner("class", name, nearest[0][0] if nearest else path)

    def _are_several(self, every: Iterable[Id], language: str) -> bool:
        """Tell whether definitions are of several classes, not parts of one."""
        return language in WHOLE or len({self._tables.definition(own).name for own in every}) > 1

    def _inner_class(self, outer: str, name: str, path: str) -> Owner | None:
        """Find a class that stands in another, in languages without modules in between."""
        if self._tables.language(path) not in NESTING:
            return None
        every = self._tables.classes.get(name, [])
        found = [own for own in every if self._tables.definition(own).name.split(".")[-2:] == [outer, name]]
        nearest = self._nearest(found, path)
        return Owner("class", name, nearest[0][0]) if nearest else None

    def _qualified(self, before: Sequence[str], name: str, path: str) -> list[Id] | None:
        """Find what ``module.Name`` means; None if the first part is no module of the view."""
        if self._tables.language(path) == "rust":
            places = self._imports.crates.named(before, path)
            for file, inside in places:
                found = self._in_file(file, name, inside) or ([] if inside else self._exported(file, name))
                if found:
                    return found
            return None
        module = self._module(before[0], path)
        for part in before[1:]:
            module = self._module(part, module) if module is not None else None
        return None if module is None else self._exported(module, name)

    def _as_class(self, found: Iterable[Id]) -> Owner | None:
        for own in found:
            if self._is_class(own):
                return Owner("class", self._tables.last_name(own), own[0])
        return None

    def _is_class(self, own: Id) -> bool:
        if self._tables.definition(own).kind == "class":
            return True
        return self._tables.language(own[0]) in SCRIPTS and own in self._tables.classes.get(
            self._tables.last_name(own), ()
        )

    def _class_of(self, own: Id) -> Owner | None:
        if own not in self._owners_of:
            self._owners_of[own] = self._find_class_of(own)
        return self._owners_of[own]

    def _find_class_of(self, own: Id) -> Owner | None:
        for each in self._tables.outwards(own):
            definition = self._tables.definition(each)
            if definition.kind == "class":
                return self._known_as(each)
        name = self._tables.definition(own).name
        if self._tables.language(own[0]) in SCRIPTS:
            outermost = name.partition(".")[0]
            known = self._tables.classes.get(outermost, ())
            return Owner("class", outermost, own[0]) if any(own[0] == path for path, _ in known) else None
        owner = name.rpartition(".")[0]
        if self._tables.language(own[0]) != "ruby":
            owner = owner.rpartition(".")[2]
        return self._class(owner, own[0]) if owner else None

    def _definitions_of(self, owner: Owner) -> list[Id]:
        """Return a class's definitions, those in its own file first: Rust's impls may be elsewhere."""
        places = self._placed(owner.name, owner.full)
        return places.here(owner.home) + places.elsewhere(owner.home)

    def _fields_of(self, owner: Owner, name: str) -> Iterator[tuple[Id, Declaration]]:
        """Yield what a class's definitions declare a member to be, those in its own file first."""
        places = self._placed(owner.name, owner.full)
        for every in (places.here(owner.home), *self._elsewhere_of(owner, places)):
            path = every[0][0] if every else ""
            for index in self._tables.body(path).field_owners.get(name, ()) if every else ():
                if (path, index) in places.those:
                    yield (path, index), self._tables.body(path).fields[index, name]

    def _elsewhere_of(self, owner: Owner, places: Places) -> list[list[Id]]:
        """Return a class's definitions in other files: the nearest, and what Swift's extensions extend."""
        found = self._others_found.get(owner)
        if found is None:
            found = self._others_found[owner] = [places.elsewhere(owner.home)]
            if owner.home.endswith(".swift"):
                names = {self._tables.definition(own).name for own in places.here(owner.home)}
                found += [
                    [own]
                    for own in places.every
                    if own[0] != owner.home
                    and self._tables.definition(own).name in names
                    and not self._tables.is_extension(own)
                ]
        return found

    def _root(self, name: str, path: str) -> Owner | None:
        """Find a crate of Rust by its name, and by JavaScript's what a file exports."""
        if self._tables.language(path) != "rust":
            is_script = name == "exports" and self._tables.language(path) in SCRIPTS
            return Owner("module", "", path) if is_script else None
        for file, inside in self._imports.crates.named([name], path):
            if not inside:
                return Owner("module", "", file)
        return None

    def _module(  # noqa: C901, PLR0912 - a branch per kind of import
        self, name: str, path: str, depth: int = DEPTH
    ) -> str | None:
        if path not in self._tables.files or depth <= 0:
            return None
        for each in self._tables.body(path).imports.get(name, ()):
            if each.name is None:
                for file, _ in self._imports.files(each, path):
                    return file
            elif each.kind == "file" and each.name == DEFAULT:  # of CommonJS, or an object
                for file, _ in self._imports.files(each, path):
                    if not self._exported(file, DEFAULT) and not self._exported(file, "exports"):
                        return file
            elif each.kind == "file":  # `export * as name from` there
                for file, _ in self._imports.files(each, path):
                    found = self._module(each.name, file, depth - 1)
                    if found is not None:
                        return found
            elif each.kind == "use":
                before = [part for part in each.origin.split(".") if part]
                places = self._imports.crates.named([*before, each.name], path)
                for file, inside in places:
                    if not inside:
                        return file
        if path.endswith(".rs"):
            return self._imports.crates.child(path, name)
        return None

    def _imported(self, name: str, path: str) -> tuple[list[Id], bool]:
        """Find what a file imports under a name; tell also whether it imports one, from wherever."""
        key = name, path
        found = self._imported_found.get(key)
        if found is None:
            self._imported_found[key] = [], False
            found = self._imported_found[key] = self._find_imported(name, path)
        return found

    def _find_imported(self, name: str, path: str) -> tuple[list[Id], bool]:
        imports = self._tables.body(path).imports
        named = [each for each in imports.get(name, ()) if each.kind != "local"]
        if self._tables.language(path) == "php":
            every = [
                (each.origin.lower(), own)
                for each in named
                for own in self._tables.classes.get(each.name or "", ())
            ]
            return [own for origin, own in every if origin in self._tables.namespaces(own[0])], bool(named)
        for each in named:
            found = self._through(each, name, path)
            if found:
                return found, True
        if not named:
            for each in imports.get("*", ()):
                found = self._through(each, name, path)
                if found:
                    return found, True
        return [], bool(named)

    def _through(self, imported: ImportedName, name: str, path: str) -> list[Id]:
        """Find what one import gives under a name."""
        wanted = imported.name or (name if imported.alias == "*" else DEFAULT)
        for module, inside in self._imports.files(imported, path):
            if module == path and imported.kind != "use":
                continue
            found = self._exported(module, wanted, inside)
            if not found and wanted == DEFAULT:
                found = self._exported(module, "exports") or self._exported(module, name)
            if found:
                return found
        return []

    def _in_file(self, path: str, name: str, inside: Sequence[str] = ()) -> list[Id]:
        """Find a name in a file, or in what lies inside of it."""
        outer = [part for part in inside if part not in self._tables.body(path).inner]
        found = self._tables.named(path, ".".join([*outer, name]))
        if path.endswith(".kt"):
            return found or self._tables.top_level(path, name)
        return found or self._tables.named(path, f"exports.{name}")  # JavaScript's `module.exports = {…}`

    def _exported(self, module: str, name: str, inside: tuple[str, ...] = ()) -> list[Id]:
        """Find what a file, or a directory's files, export under a name; computed once for all imports."""
        key = module, name, inside
        found = self._exports_found.get(key)
        if found is None and self._following < _MOST_PASSED_ON and len(inside) <= _MOST_INSIDE:
            self._exports_found[key] = []  # while it is looked for: files may re-export one another
            self._following += 1
            found = self._find_exported(module, name, inside) or self._by_modules(module, name, inside)
            self._following -= 1
            self._exports_found[key] = found
        return found or []

    def _find_exported(self, module: str, name: str, inside: tuple[str, ...]) -> list[Id]:
        paths = self._imports.within(module)
        found = [own for path in paths for own in self._in_file(path, name, inside)]
        if found:
            return found
        paths = [path for path in paths if self._re_exports(path)]
        for path in paths:
            for each in self._tables.body(path).imports.get(name, ()):
                found = self._named_by(each, path)
                if found:
                    return found
        for path in paths if name != DEFAULT else ():
            files, names = self._passed_on(path)
            near = [(files[file], file) for file in self._tables.places(name) if file in files]
            if near:
                return self._tables.named(min(near)[1], name)
            for file, each in names.get(name, ()):
                found = self._named_by(each, file)
                if found:
                    return found
        return []

    def _by_modules(self, path: str, name: str, inside: tuple[str, ...]) -> list[Id]:
        """Find a name in a module that a file of Rust passes on: ``pub use a::*`` of a module ``a::b``."""
        imports = self._tables.body(path).imports if inside and path.endswith(".rs") else {}
        for each in (*imports.get(inside[0], ()), *imports.get("*", ())) if imports else ():
            origin = [part for part in each.origin.split(".") if part]
            rest = (each.name, *inside[1:]) if each.name else inside
            for file, within in self._imports.crates.named([*origin, *rest], path):
                if found := self._exported(file, name, within):
                    return found
        return []

    def _named_by(self, imported: ImportedName, path: str) -> list[Id]:
        """Find what an import of one name leads to."""
        name = imported.name or ""
        for place, inside in self._imports.files(imported, path) if name else ():
            head, _, last = name.partition(".")  # `{ f: there.f }`
            there = self._module(head, place) if last else None
            found = self._exported(there or place, last if there else name, inside)
            if found:
                return found
        return []

    def _re_exports(self, path: str) -> bool:
        return path.endswith((".rs", ".dart")) or self._tables.language(path) in SCRIPTS

    def _passed_on(self, path: str) -> PassedOn:
        """Return the files all names of which a file passes on, whatever number of steps away.

        What a Rust file imports for itself only the modules inside of it see: only the first step counts it.
        """
        found = self._passed_found.get(path)
        if found is None:
            found = self._passed_found[path] = {}, {}
            border = [path]
            while border and len(found[0]) < _MOST_EXPORTS:
                self._check()
                border = [file for each in border for file in self._further(each, path, found)]
            if border:
                self.limits.reached(edges.EXPORTS, _MOST_EXPORTS, path)
        return found

    def _further(self, path: str, start: str, found: PassedOn) -> list[str]:
        """Add the files that one file passes on to those found; return them."""
        files, names, further = *found, list[str]()
        for each in self._tables.body(path).imports.get("*", ()):
            if not each.public and (path != start or path.endswith(".dart")):
                continue
            for place, _ in self._imports.files(each, path):
                for file in self._imports.within(place):
                    if file == start or file in files or not self._re_exports(file):
                        continue
                    files[file] = len(files)
                    further.append(file)
                    for alias, every in self._tables.body(file).imports.items():
                        for imported in every if alias != "*" else ():
                            if imported.public:
                                names.setdefault(alias, []).append((file, imported))
        return further


def certain(found: Iterable[Id]) -> Found:
    return [(each, CERTAIN) for each in found]
