"""What a class has: its constructors and methods, those of its bases, and what overrides them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from gitrag.callgraph import edges
from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.imports import Imports
from gitrag.callgraph.general.names import CERTAIN, LIKE_NAMED, OVERRIDDEN, Found, Naming, Owner, certain
from gitrag.callgraph.general.records import ANY_OF, LISTED, NUMBERED, UNSURE, Declaration
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import C_FAMILY, CHOOSING, INHERITING, SPARING, WHOLE

ONE_OF_MANY = 0.3
"""Confidence in one of more methods than a call is likely to mean; such edges are not shown."""
CONSTRUCTORS = ("constructor", "__construct", "initialize", "init", "<init>", "__init__")
_IMPLEMENTING = frozenset({"php", "typescript", "tsx"})
"""Languages in which a base may have what an interface beside it lists."""
MANY_IMPLEMENTATIONS = 14
"""Methods of which more make each unlikely."""
_MOST_ANCESTORS = 200
_MOST_SUBCLASSES = 500
"""Maximum per class; more distant ones are ignored. As in Python: in a chain of 20,000, each inheriting from
the one before, every call would walk all of them."""


class ClassMembers(Naming):
    """Finds the members of classes, and the classes above and below them."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._files_imported: dict[str, frozenset[str]] = {}
        self._methods_found: dict[tuple[Owner, str], Found] = {}
        self._bases_found: dict[Owner, tuple[list[Owner], float]] = {}
        self._homes_found: dict[str, frozenset[str]] = {}
        self._mixed_in: dict[Owner, list[Id]] = {}

    def is_a(self, cls: str, wanted: str) -> bool | None:
        """Tell whether a class inherits from another; None if one of the bases is not in the view."""
        if cls not in self._tables.classes:
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
                outside = outside or each not in self._tables.classes
                for own in self._tables.classes.get(each, ()):
                    waiting += [base.rpartition(".")[2] for base in self._tables.definition(own).bases]
        if any(each not in seen for each in waiting):
            self.limits.reached(edges.ANCESTORS, _MOST_ANCESTORS, cls)
        return None if outside and wanted not in self._tables.classes else False

    def _self(self, caller: Id, cls: Owner) -> Owner:
        """Return what a definition in a class calls itself: in Ruby the class, or one of its instances."""
        if self._tables.language(caller[0]) != "ruby":
            return cls
        own = (
            self._tables.definition(caller).kind == "class"
            or caller[1] in self._tables.body(caller[0]).statics
        )
        return cls._replace(kind="type") if own else cls

    def _built(self, found: list[Id], path: str) -> list[Id]:
        """Return the functions of a Go package that are built together with a file."""
        if path.endswith("_test.go"):
            return [each for each in found if each[0] == path] or found
        return [each for each in found if not each[0].endswith("_test.go")] or found

    def _constructed(self, own: Id) -> list[Id]:
        if self._tables.definition(own).kind != "class":
            return [own]
        return self._made(self._known_as(own), own)

    def _made(self, owner: Owner, own: Id | None = None, *, only_constructors: bool = False) -> list[Id]:
        """Return a class's constructors, inherited ones where there are such; the class if it has none.

        Of a class of others, which Swift only extends here, the constructors are a guess.
        """
        if own is not None and self._tables.is_extension(own):
            every = self._placed(owner.name, owner.full).every
            own = next((each for each in every if not self._tables.is_extension(each)), None)
            if own is None:
                self._sure = min(self._sure, OVERRIDDEN)
                return self._own_methods(owner, self._constructor(owner))
        if owner.name in self._tables.owners or own is None or self._tables.definition(own).bases:
            inherited = self._tables.files.get(owner.home, ("",))[0] not in CHOOSING
            for each in self._upwards(owner._replace(kind="class")) if inherited else (owner,):
                found = self._own_methods(each, self._constructor(each))
                if found:
                    return found
        if only_constructors:
            return []
        return [own] if own else self._placed(owner.name, owner.full).nearest(owner.home)[:1]

    def _made_as(self, name: str, found: Found, given: Owner | None, path: str) -> Owner | None:
        """Return what a call of a name gives: one of the class, where a base has its constructor."""
        if given is None or given.name == name or self._tables.last_name(found[0][0]) not in CONSTRUCTORS:
            return given
        return self._class(name, path) or given

    def _constructor(self, cls: Owner) -> str:
        named = self._tables.traits(cls.home).constructor if cls.home in self._tables.files else None
        return cls.name if named is None else named

    def _bases(self, owner: Owner) -> Iterator[Owner]:
        """Yield the classes that a class inherits from, as far as they are in the view."""
        if owner.full:
            yield from self._bases_of_ruby(owner._replace(home=""))
            return
        places = self._placed(owner.name, "")
        for own in places.here(owner.home) or places.every:
            definition = self._tables.definition(own)
            for base in definition.bases:
                found = self._class(base, own[0], definition.name)
                if found is not None:
                    yield found

    def _bases_of_ruby(self, owner: Owner) -> list[Owner]:
        """Return what all the definitions of a class inherit from and mix in, each once."""
        if owner not in self._bases_found:
            before, self._sure = self._sure, CERTAIN
            found: dict[Owner, None] = {}
            self._bases_found[owner] = [], CERTAIN
            for own in self._placed(owner.name, owner.full).every:
                definition = self._tables.definition(own)
                for base in definition.bases:
                    cls = self._class(base.removeprefix(UNSURE), own[0], definition.name)
                    if cls is not None:
                        self._sure = min(self._sure, OVERRIDDEN if base.startswith(UNSURE) else CERTAIN)
                        found[cls._replace(kind="type") if owner.kind == "type" else cls] = None
            self._bases_found[owner] = list(found), self._sure
            self._sure = before
        bases, sure = self._bases_found[owner]
        self._sure = min(self._sure, sure)
        return bases

    def _upwards(self, owner: Owner) -> Iterator[Owner]:
        """Yield a class and those that it inherits from, the nearest first, each once."""
        seen: set[tuple[str, str, str]] = set()
        waiting = deque([owner])
        while waiting and len(seen) < _MOST_ANCESTORS:
            each = waiting.popleft()
            if each[1:] not in seen:
                seen.add(each[1:])
                yield each
                waiting.extend(self._bases(each))
        if any(each[1:] not in seen for each in waiting):
            self.limits.reached(edges.ANCESTORS, _MOST_ANCESTORS, owner.name)

    def _held_above(self, owner: Owner, name: str) -> Iterator[tuple[Owner, Id, Declaration]]:
        """Yield what a class and those that it inherits from have by a name; last what only seems a list."""
        listed = []
        for each in self._upwards(owner):
            for own, declared in self._fields_of(each, name):
                if declared.type_name.lstrip(UNSURE).startswith(LISTED):
                    listed.append((each, own, declared))
                else:
                    yield each, own, declared
        yield from listed

    def _methods(self, owner: Owner, name: str) -> Found:
        """Find a method of a class or its bases, and its overrides; computed once for all calls."""
        key = owner, name
        found = self._methods_found.get(key)
        if found is None:
            before, self._sure = self._sure, CERTAIN
            found = [(each, min(sure, self._sure)) for each, sure in self._find_methods(owner, name)]
            self._sure = before
            fitting = [each for each in found if self._fits(each[0], owner)]
            # Rails calls an instance's method as its class's, but none of a class's scopes as an instance's.
            found = fitting or [
                (each, LIKE_NAMED)
                for each, _ in found
                if owner.kind == "type" or not (owner.full and self._gives_itself(each))
            ]
            self._methods_found[key] = found
        return found

    def _gives_itself(self, own: Id) -> bool:
        type_ = self._tables.body(own[0]).results.get(own[1])
        return type_ == "this" or (type_ == "self" and self._tables.language(own[0]) == "ruby")

    def _find_methods(self, owner: Owner, name: str) -> Found:
        if name not in self._tables.methods:
            return []
        found: Found = []
        language = self._tables.language(owner.home) if owner.home in self._tables.files else ""
        further = language in INHERITING
        taken: set[tuple[str, ...] | None] = set()
        for each in self._upwards(owner):
            if (each.name, name) not in self._tables.members:
                continue
            own = self._own_methods(each, name)
            types = {member: self._parameter_types(member) for member in own}
            found += [(member, CERTAIN) for member in own if types[member] not in taken]
            taken |= set(types.values()) if further else set()
            if found and not further and any(self._fits(member, owner) for member in own):
                break
        if (
            not found
            and language in SPARING
            and not self._is_abstract(owner)
            and name not in self._needs(owner)
        ):
            return []  # elsewhere it is declared without a body, or where we do not see it
        if not found and language == "kotlin":
            found = certain(self._of_companion(owner, name))
        known = {member for member, _ in found}
        if language == "java" and any(own[1] in self._tables.body(own[0]).statics for own in known):
            return found  # nothing overrides what is private or static
        found += [(member, OVERRIDDEN) for member in self._overriding(owner, name) if member not in known]
        if not found:
            found = self._implementations(owner, name)
        return found

    def _extended(self, own: Id) -> Owner | None:
        """Return the class that a function of Kotlin extends: ``fun Zip.flush()``, in another one too."""
        definition, parent = self._tables.definition(own), self._tables.body(own[0]).parents[own[1]]
        around = f"{self._tables.definition((own[0], parent)).name}." if parent >= 0 else ""
        written = definition.name.removeprefix(around).rpartition(".")[0]
        return self._class(written, own[0]) if definition.kind == "function" and written else None

    def _overriding(self, owner: Owner, name: str) -> dict[Id, None]:
        """Return what may run in place of a class's method of a name, each once."""
        found: dict[Id, None] = {}
        implements = self._tables.files.get(owner.home, ("",))[0] in _IMPLEMENTING
        for subclass in self._subclasses(owner):
            members = [member for member in self._owned(subclass, name) if member[0] == subclass.home]
            if not members and implements:
                members = self._of_other_base(subclass, name)
            found.update(dict.fromkeys(members))
        return found

    def _of_other_base(self, cls: Owner, name: str) -> list[Id]:
        """Return what a class inherits that has several bases: ``extends Store implements Finds``."""
        return self._inherited(cls, name) if len(list(self._bases(cls))) > 1 else []

    def _inherited(self, cls: Owner, name: str) -> list[Id]:
        """Return the methods of a name of a class itself, or of the nearest base that has some."""
        return next(filter(None, (self._own_methods(each, name) for each in self._upwards(cls))), [])

    def _of_companion(self, owner: Owner, name: str) -> list[Id]:
        """Find a function of the companion of one of Kotlin's classes, or of a base of it."""
        for each in self._upwards(owner):
            for path, index in self._definitions_of(each):
                full = self._tables.definition((path, index)).name
                found = self._tables.named(path, f"{full}.Companion.{name}")
                if found:
                    return found
        return []

    def _parameter_types(self, own: Id) -> tuple[str, ...] | None:
        signature = self._tables.body(own[0]).signatures.get(own[1])
        return None if signature is None else signature.types

    def _own_methods(self, cls: Owner, name: str) -> list[Id]:
        """Return the methods of one name that a class has itself; in C++ in headers and sources alike."""
        found = self._owned(cls, name)
        language = self._tables.language(cls.home) if cls.home in self._tables.files else ""
        if found and language == "go":
            folder = cls.home.rpartition("/")[0]
            found = [each for each in found if each[0].rpartition("/")[0] == folder]
            return self._nearest(found, cls.home) or self._built(found, cls.home)
        if not found or language not in C_FAMILY:
            if language in WHOLE:
                homes = self._homes(cls.name)
                found = [each for each in found if each[0] == cls.home or each[0] not in homes]
            return self._nearest(found, cls.home)
        every = self._tables.classes.get(cls.name, ())
        here = [own for own in every if own[0] == cls.home] or every
        meant = {self._tables.definition(own).name for own in here}
        if len(meant) > 1:  # the one that stands in no other
            meant = {each for each in meant if "." not in each} or meant
        others = {where for where, _ in every} - {where for where, _ in here}
        owned = [
            own
            for own in found
            if self._tables.definition(own).name.rpartition(".")[0] in meant and own[0] not in others
        ]
        return owned or ([] if len(every) > 1 else self._nearest(found, cls.home))

    def _owned(self, cls: Owner, name: str) -> list[Id]:
        found = self._tables.members.get((cls.name, name), [])
        if not cls.full:
            return found
        return [each for each in found if self._tables.definition(each).name == f"{cls.full}.{name}"]

    def _fits(self, own: Id, owner: Owner) -> bool:
        """Tell whether a method is an instance's, or in Ruby the class's own, as is meant."""
        return not owner.full or (own[1] in self._tables.body(own[0]).statics) == (owner.kind == "type")

    def _subclasses(self, owner: Owner) -> list[Owner]:
        """Return the classes that inherit from a class, by name and place."""
        known: set[Owner] = set()
        border = deque([owner])
        while border and len(known) < _MOST_SUBCLASSES:
            each = border.popleft()
            below = self._tables.subclasses.get(each.name, ()) or self._mixing_in(each)
            names = self._full_names(each.name) if each.full else self._homes(each.name)
            alone = len(names) < 2
            for own in below:
                subclass = self._known_as(own)
                if subclass in known:
                    continue
                if not alone and not any(_is_same(each, base) for base in self._bases(subclass)):
                    continue
                known.add(subclass)
                border.append(subclass)
        if border:
            self.limits.reached(edges.SUBCLASSES, _MOST_SUBCLASSES, owner.name)
        return sorted(known)

    def _homes(self, name: str) -> frozenset[str]:
        """Return the files with classes of a name, which in JavaScript each component may have."""
        if name not in self._homes_found:
            self._homes_found[name] = frozenset([where for where, _ in self._tables.classes.get(name, ())])
        return self._homes_found[name]

    def _mixing_in(self, owner: Owner) -> list[Id]:
        """Return what inherits from an object of JavaScript that has no name where it is exported."""
        if owner.name not in {"default", "exports"}:
            return []
        if not self._mixed_in:
            self._mixed_in[owner] = []  # while they are looked for
            for name, every in self._tables.subclasses.items():
                for own in every if name not in self._tables.classes else ():
                    for base in self._bases(self._known_as(own)):
                        self._mixed_in.setdefault(base, []).append(own)
        return self._mixed_in.get(owner, [])

    def _is_abstract(self, owner: Owner) -> bool:
        """Tell whether a type is known but has no method of its own."""
        every = self._tables.classes.get(owner.name)
        if every is None or all(path != owner.home for path, _ in every):
            return False  # one of several, and it is not known which
        others = {path for path, _ in every if path != owner.home}
        if owner.home.endswith(".go"):  # a package's files
            folder = owner.home.rpartition("/")[0]
            others = {
                path for path in self._tables.owners.get(owner.name, ()) if path.rpartition("/")[0] != folder
            }
        return self._tables.owners.get(owner.name, set()) <= others

    def _declares_field(self, owner: Owner, name: str) -> bool:
        return any(True for each in self._upwards(owner) for _ in self._fields_of(each, name))

    def _needs(self, owner: Owner) -> dict[str, tuple[Declaration, str]]:
        """Return the methods that an interface lists, and those of what it embeds, each with its file."""
        found: dict[str, tuple[Declaration, str]] = {}
        for each in self._upwards(owner):
            for where, index in self._definitions_of(each):
                if where == each.home:
                    for name, declared in self._tables.body(where).needs.get(index, {}).items():
                        found.setdefault(name, (declared, where))
        return found

    def _listed(self, owner: Owner, name: str) -> list[Id]:
        """Find the method of a name that an interface of Go, or what it embeds, lists."""
        for each in self._upwards(owner) if owner.home.endswith(".go") else ():
            for where, index in self._definitions_of(each):
                full = f"{self._tables.definition((where, index)).name}.{name}"
                found = [own for own in self._tables.named(where, full) if own in self._tables.listed]
                if found and where == each.home:
                    return found
        return []

    def _facade(self, name: str, path: str, package: str = "") -> Owner | None:
        """Find the file of Kotlin whose functions Java has in a class: of an imported package, or its own."""
        every = self._tables.facades(name)
        packages = (
            [package] if package else [each.origin for each in self._tables.body(path).imports.get(name, ())]
        )
        ends = tuple(f"/{each}".replace(".", "/") for each in packages) or (f"/{path.rpartition('/')[0]}",)
        near = [each for each in every if f"/{each}".rpartition("/")[0].endswith(ends)]
        if every and not near and not packages:
            self._sure, near = min(self._sure, OVERRIDDEN), every
        return Owner("module", "", near[0]) if len(near) == 1 else None

    def _imported_files(self, path: str) -> frozenset[str]:
        """Return the files that a file imports something from."""
        if path not in self._files_imported:
            every = (each for names in self._tables.body(path).imports.values() for each in names)
            found = (file for each in every for file, _ in self._imports.files(each, path))
            self._files_imported[path] = frozenset(found)
        return self._files_imported[path]

    def _implementations(self, owner: Owner, name: str) -> Found:
        """Find a method in the types that have all methods that an interface lists."""
        if owner.full:
            made = (own for cls in self._made_by_new(owner) for own in self._inherited(cls, name))
            return [(own, OVERRIDDEN) for own in dict.fromkeys(made)]
        if not owner.home.endswith(".go"):
            return []
        needs = self._needs(owner)
        if name not in needs:
            return []
        having = {each: self._having(each) for each in needs}
        found: set[Id] = set()
        for key, own in {key: own[0] for every in having.values() for key, own in every.items()}.items():
            lacks = [each for each in needs if key not in having[each]]
            above = self._embedded(own) if lacks else []
            if all(any(each in having[other] for each in above) for other in lacks):
                found.update(next(having[name][each] for each in (key, *above) if each in having[name]))
        sure = OVERRIDDEN if len(found) <= MANY_IMPLEMENTATIONS else ONE_OF_MANY
        return [(member, sure) for member in sorted(found)]

    def _embedded(self, method: Id) -> list[tuple[str, str]]:
        """Return the directories and names of the types whose methods a method's type has, too."""
        owner = self._class_of(method)
        above = islice(self._upwards(owner), 1, None) if owner is not None else ()
        return [(each.home.rpartition("/")[0], each.name) for each in above]

    def _made_by_new(self, owner: Owner) -> list[Owner]:
        """Return the classes of which a ``self.new`` of Ruby makes one: ``Rich.new`` an HTML, or a Text."""
        made = [
            self._class(type_, own[0], self._tables.definition(own).name)
            for own in self._owned(owner, "new")
            for type_ in self._tables.body(own[0]).results.get(own[1], "").split(ANY_OF)
            if type_
        ]
        return [cls for cls in made if cls is not None and cls.full != owner.full]

    def _named_after(self, receiver: str, path: str) -> Owner | None:
        """Return the class of Ruby that a receiver is named after, or what makes one of it and others."""
        words = receiver.partition(NUMBERED)[0].lstrip("@").rstrip("()?!").split("_")
        cls = self._class("".join(word[:1].upper() + word[1:] for word in words), path)
        outer = self._class(cls.full.rpartition(".")[0], path) if cls and "." in cls.full else None
        return outer if outer is not None and cls in self._made_by_new(outer) else cls

    def _having(self, name: str) -> dict[tuple[str, str], list[Id]]:
        """Return the methods of a name, by the type's directory and name."""
        found: dict[tuple[str, str], list[Id]] = {}
        for own in self._tables.methods.get(name, ()):
            cls = self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2]
            found.setdefault((own[0].rpartition("/")[0], cls), []).append(own)
        return found


def _is_same(one: Owner, other: Owner) -> bool:
    return (one.name, one.full or one.home) == (other.name, other.full or other.home)
