"""What a written call calls: in languages other than Python, by names, imports and declared types.

A name is searched where the language searches it: in the function, its class and base classes, the
file, the file's imports, and the package. A receiver counts if its type is written: that of a variable or
field, the declared return type of a called function, or that of an object created in place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import Literal, NamedTuple

from gitrag.callgraph import limits
from gitrag.callgraph.edges import Id
from gitrag.callgraph.general import elixir
from gitrag.callgraph.general.built_in import BUILT_IN, OF_RUBY, OUTER_ROOTS, is_of_php_library
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.general.imports import DEFAULT, ImportedName, Imports
from gitrag.callgraph.general.parameters import OVERLOADING
from gitrag.callgraph.general.places import Places
from gitrag.callgraph.general.records import ANY_OF, ELEMENT, NUMBERED, SAME, SCOPED, UNSURE, Declaration
from gitrag.callgraph.general.tables import SCRIPTS, Tables
from gitrag.callgraph.limits import Limits

CERTAIN = 1.0
OVERRIDDEN = 0.6
LIKE_NAMED = 0.5
"""Confidence in a method with this name, where few types have one: Go's interfaces say no more."""
ONE_OF_MANY = 0.3
"""Confidence in one of more methods than a call is likely to mean; such edges are not shown."""

ONE_OF_SEVERAL = 0.6
"""Confidence in one of several functions of a name, where nothing says which: overloads, builds."""

CONSTRUCTORS = ("constructor", "__construct", "initialize", "init", "<init>", "__init__")
_BY_KEYWORD = {
    "php": "__construct",
    "ruby": "initialize",
    "swift": "init",
    **dict.fromkeys(["javascript", "typescript", "tsx", "kotlin", "solidity"], "constructor"),
    **dict.fromkeys(["go", "rust"], ""),
}
"""What a constructor is called where it has not its class's name; empty where there is none."""
MAKERS = frozenset({"new", "of", "create", "super", "base", "parent", "this"})
"""Names by which constructors are called, besides their class's."""

_NOBODYS = frozenset(
    "Math JSON Object Array Promise Date Number String Reflect Intl Symbol console process window document $"
    " jQuery _ string int long double float decimal bool char byte object".split()
)
"""Objects of JavaScript and types of C# that are of no repository: none of its methods is meant."""

_FEW = 4
_MANY_IMPLEMENTATIONS = 14
"""Methods of which more make each unlikely."""
_DEPTH = 8
_SELF = {
    "go": frozenset[str](),
    "rust": frozenset({"self", "Self"}),
    "swift": frozenset({"self", "Self"}),
    "ruby": frozenset({"self"}),
    "php": frozenset({"this", "self", "static"}),
}
"""What an object calls itself, or a class itself."""
_THIS = frozenset({"this", "self"})
"""In all other languages; JavaScript's ``self`` is by custom a ``this``."""
_SUPER = {"csharp": "base", "php": "parent"}
"""What a class calls its base class; elsewhere ``super``."""
_IMPLICIT_SELF = frozenset({"java", "csharp", "c", "cpp", "kotlin", "swift", "scala", "ruby", "solidity"})
_BY_NAME = frozenset({"c", "cpp", "csharp", "ruby", "php", "swift", "kotlin", "scala", "solidity"})
"""Languages whose names are visible across files without an import that names the file."""
C_FAMILY = frozenset({"c", "cpp"})
"""C++, whose headers are called C."""
CHOOSING = OVERLOADING | C_FAMILY
"""Languages of files in which a call's arguments choose."""
_INHERITING = frozenset({"java", "csharp"})
"""Languages in which a class has, beside its own functions of a name, the overloads of its bases."""
_WHOLE = frozenset({"java", "kotlin", "php", *SCRIPTS})
"""Languages in which a class is all in one file."""
_SPARING = frozenset({"rust", "go"})
"""Languages in which a type has no method but those that are found."""
_WRAPPED = frozenset({"Value", "Result"})
"""Members of C#'s Lazy, Nullable and Task that give what they hold; of their types no more is known."""
_PRIMITIVE = ("str", "char", "bool", "i32", "u8", "u32", "u64", "usize", "f64")
"""What a literal of Rust may be."""
_PASSING = frozenset(
    "unwrap expect clone lock read write borrow borrow_mut as_ref as_mut to_owned unwrap_or_default await"
    " unwrap_or_else unwrap_or get_mut iter context".split()
)
"""Rust's methods of what holds a value that give the value, or a reference to it."""

_ELEMENTS = frozenset(
    "get first last First Last Single FirstOrDefault LastOrDefault SingleOrDefault ElementAt"
    " firstOrNull lastOrNull single singleOrNull elementAt getOrNull find findFirst findAny removeFirst"
    " removeLast getFirst getLast peek poll pop popLast Peek Pop Dequeue randomElement min max".split()
)
"""Functions of lists that give an element; of a stream of Java an optional one."""
_AS_MANY = frozenset(
    "stream parallelStream filter sorted distinct limit skip toList ToList ToArray AsEnumerable Where"
    " OrderBy OrderByDescending Distinct Skip Take Reverse asSequence toMutableList toSet sortedBy"
    " sortedByDescending drop take dropFirst dropLast prefix suffix reversed filterNot filterNotNull"
    " lazy onEach orEmpty".split()
)
"""Those that give some or all elements again."""

_MOST_ANCESTORS = 200
_MOST_SUBCLASSES = 500
"""Maximum per class; more distant ones are ignored. As in Python: in a chain of 20,000, each inheriting from
the one before, every call would walk all of them."""
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


class PassedOn(NamedTuple):
    """What a file passes on of others.

    Attributes:
        files: Files all names of which it passes on, the nearest first.
        names: The imports of those that pass on one name, with their file, by that name.
    """

    files: dict[str, int]
    names: dict[str, list[tuple[str, ImportedName]]]


Found = list[tuple[Id, float]]


class Resolver:
    """Resolves written calls.

    Args:
        tables: The definitions.
        imports: Where imports lead.
        check: Called now and then; raises to stop.

    Attributes:
        limits: What was not looked at so far.
    """

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        self.limits = Limits()
        self._tables = tables
        self._imports = imports
        self._check = check
        self._methods_found: dict[tuple[Owner, str], Found] = {}
        self._classes_found: dict[tuple[str, str, str], Owner | None] = {}
        self._exports_found: dict[tuple[str, str, tuple[str, ...]], list[Id]] = {}
        self._passed_found: dict[str, PassedOn] = {}
        self._imported_found: dict[tuple[str, str], tuple[list[Id], bool]] = {}
        self._named_in_full: dict[str, dict[str, list[Id]]] = {}
        self._places: dict[tuple[str, str], Places] = {}
        self._bases_found: dict[Owner, tuple[list[Owner], float]] = {}
        self._differing: dict[tuple[Owner, str], bool] = {}
        self._owners_of: dict[Id, Owner | None] = {}
        self._known: dict[Id, Owner] = {}
        self._chosen: set[tuple[str, str, str]] = set()
        self._sure = CERTAIN  # of the receiver's type, in the call that is being resolved

    # calls

    def resolve(self, parts: Sequence[str], caller: Id, *, handed: bool = False) -> Found:
        """Return what a call may call, each with its confidence.

        Args:
            parts: What is called, as `WrittenCall.parts`.
            caller: The definition that it stands in.
            handed: Whether it is the name of a function that is handed on: no class is meant, nor a guess.
        """
        head, _, numbers = parts[0].partition(NUMBERED)
        if ANY_OF in numbers:  # a variable that may hold several things
            found = [
                (own, min(sure, OVERRIDDEN))
                for each in numbers.split(ANY_OF)
                for own, sure in self._resolve([f"{head}{NUMBERED}{each}", *parts[1:]], caller, _DEPTH)
            ]
        else:
            self._sure = CERTAIN
            found = [(own, min(sure, self._sure)) for own, sure in self._resolve(parts, caller, _DEPTH)]
        several = len(found) > 1 and self._tables.language(caller[0]) not in CHOOSING
        if several and (sum(sure == CERTAIN for _, sure in found) > 1 or caller[0].endswith(".go")):
            found = [(each, min(sure, ONE_OF_SEVERAL)) for each, sure in found]
        if not handed:
            return found
        if self._tables.language(caller[0]) == "elixir":  # a function has many clauses
            return found
        least = 0.0 if self._tables.language(caller[0]) == "ruby" else LIKE_NAMED  # of what is only so called
        functions = [
            (own, sure)
            for own, sure in found
            if sure > least and self._tables.definition(own).kind == "function"
        ]
        return functions if len(functions) <= _FEW else []

    def type_of(self, parts: Sequence[str], caller: Id) -> str:
        """Return the name of an expression's type; empty if it is not known."""
        own = self._type_written(parts, caller)
        if own:
            return own
        owner = self._owner(parts, "", caller, _DEPTH)
        return owner.name if owner is not None and owner.kind == "class" else ""

    def _type_written(self, parts: Sequence[str], caller: Id) -> str:
        """Return the declared type of a variable, or a member, whether the view has it or not."""
        if len(parts) > 1 or parts[0].endswith("()"):
            return ""
        for scope in self._tables.outwards(caller):
            declared = self._tables.body(caller[0]).variables.get((scope[1], parts[0]))
            if declared is not None:
                return declared.type_name.rpartition(".")[2]
        owner = self._class_of(caller)
        for each in self._upwards(owner) if owner is not None else ():
            for _, declared in self._fields_of(each, parts[0]):
                return declared.type_name.rpartition(".")[2]
        return ""

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
            self.limits.reached(limits.ANCESTORS, _MOST_ANCESTORS, cls)
        return None if outside and wanted not in self._tables.classes else False

    def _unscoped(self, parts: Sequence[str]) -> Sequence[str]:
        """Leave out the names of namespaces; all of what is the standard library's."""
        if parts[0] == "std":
            return ("",)
        while len(parts) > 1 and not parts[0].endswith("()") and parts[0] not in self._tables.classes:
            parts = parts[1:]
        return parts

    def _resolve(  # noqa: C901, PLR0912 - one kind of owner after another
        self, parts: Sequence[str], caller: Id, depth: int
    ) -> Found:
        if self._tables.language(caller[0]) == "elixir":
            return elixir.called(parts, caller, self._tables)
        if parts[0] == SCOPED:
            parts = self._unscoped(parts[1:])
        *before, name = parts
        if not before:
            return self._plain(name, caller)
        owner = self._owner(before, name, caller, depth)
        if owner is None and before == ["self"]:
            if self._tables.files[caller[0]][0] == "erb":
                return self._plain(name, caller)
            if self._tables.language(caller[0]) == "ruby":
                return _sure(self._tables.named(caller[0], name))
        if owner is None:
            if len(before) == 1 and before[0].removesuffix("()") in _NOBODYS:
                return []
            return (
                self._extensions(None, name, caller, is_literal=before == ["?"])
                or self._by_convention(before[-1], name, caller)
                or self._only_one(before[0], name, caller)
            )
        if owner.kind == "module":
            found = self._exported(owner.home, name)
            return _sure(built for own in found for built in self._constructed(own))
        methods = self._methods(owner, name)
        if owner.kind == "super":
            return [each for each in methods if each[1] == CERTAIN]
        methods = methods or self._extensions(owner, name, caller)
        if methods:
            return methods
        if self._tables.language(caller[0]) == "rust":
            return []
        inner = self._class(f"{owner.name}.{name}", owner.home) if name in self._tables.classes else None
        if inner is not None and self._is_inner(inner, owner):
            return _sure(self._made(inner))
        if name in {"new", "of", "create"} and owner.name in self._tables.classes:
            return [(each, CERTAIN if name == "new" else OVERRIDDEN) for each in self._made(owner)]
        return self._alike(owner, name)

    def _alike(self, owner: Owner, name: str) -> Found:
        """Find the few methods of a name, where the receiver's type says no more than that it has one."""
        if owner.full or not self._is_abstract(owner) or self._declares_field(owner, name):
            return []
        needs = self._needs(owner)
        if name not in needs and (needs or self._tables.language(owner.home) in _SPARING):
            return []
        alike = self._tables.methods.get(name, [])
        return [(each, LIKE_NAMED) for each in alike] if 0 < len(alike) <= _FEW else []

    def _extensions(self, owner: Owner | None, name: str, caller: Id, *, is_literal: bool = False) -> Found:
        """Find C#'s methods that extend a type; certain if it is the receiver's or a base of it."""
        language = self._tables.language(caller[0])
        if language == "rust" and is_literal:
            members = self._tables.members
            found = [own for each in _PRIMITIVE for own in members.get((each, name), ())]
            return [(own, LIKE_NAMED) for own in found] if len(found) == 1 else []
        if language in {"kotlin", "swift"}:
            return self._foreign(name) if owner is None else []
        if language != "csharp":
            return []
        every = [
            own for own in self._tables.methods.get(name, ()) if own[1] in self._tables.body(own[0]).statics
        ]
        above = {each.name for each in self._upwards(owner)} if owner is not None else set()
        known = [own for own in every if (self._parameter_types(own) or ("",))[0] in above]
        if known:
            return _sure(known)
        return [(own, LIKE_NAMED) for own in every] if len(every) <= _FEW else []

    def _foreign(self, name: str) -> Found:
        """Find a function that extends a class of others, where no class here has one of its name."""
        every = self._tables.methods.get(name, [])
        owners = {self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2] for own in every}
        is_ours = any(
            not self._is_extension(own) for each in owners for own in self._tables.classes.get(each, ())
        )
        return [] if is_ours or len(every) > 2 else [(own, LIKE_NAMED) for own in every]

    def _by_convention(self, receiver: str, name: str, caller: Id) -> Found:
        """Find the method in the class that the receiver is named after: Rails' ``@story`` is a Story."""
        if self._tables.language(caller[0]) != "ruby":
            return []
        cls = self._named_after(receiver, caller[0])
        if cls is None:
            return []
        return [(each, LIKE_NAMED) for each, sure in self._methods(cls, name) if sure == CERTAIN]

    def _named_after(self, receiver: str, path: str) -> Owner | None:
        words = receiver.partition(NUMBERED)[0].lstrip("@").rstrip("()?!").split("_")
        return self._class("".join(word[:1].upper() + word[1:] for word in words), path)

    def _is_inner(self, cls: Owner, outer: Owner) -> bool:
        return any(
            self._tables.definition(own).name.split(".")[-2:] == [outer.name, cls.name]
            for own in self._tables.classes.get(cls.name, ())
            if own[0] == cls.home
        )

    def _only_one(self, head: str, name: str, caller: Id) -> Found:
        """Find the only method of a name, where the receiver's type is not written.

        In JavaScript and, of a name of several words, Ruby, whose variables have no types; in Swift after a
        dot alone, or where it stands in no class, since the grammar did not read its class whole.
        """
        path = caller[0]
        language = self._tables.language(path)
        found = self._tables.methods.get(name, [])
        if language == "swift":
            found = found if head == "?" else [] if found else self._tables.functions.get(name, [])
        elif language == "ruby":
            found = found if "_" in name.strip("_") and name not in OF_RUBY else []
        elif language not in SCRIPTS or name in BUILT_IN:
            return []
        if len(found) != 1:
            return []
        imported = (
            self._tables.body(path).imports.get(head.removesuffix("()"), ()) if language in SCRIPTS else ()
        )
        if imported and not any(True for each in imported for _ in self._imports.files(each, path)):
            return []  # another project's
        return [(found[0], LIKE_NAMED)]

    def _plain(  # noqa: C901, PLR0912 - the places to search, in order
        self, name: str, caller: Id
    ) -> Found:
        """Resolve a call without a receiver."""
        path = caller[0]
        language = self._tables.language(path)
        may_be_around = self._tables.names(path, name) or language in _IMPLICIT_SELF
        for scope in self._tables.outwards(caller) if may_be_around else ():
            definition = self._tables.definition(scope)
            if definition.kind == "class":
                if language not in _IMPLICIT_SELF:
                    continue
                found = self._own_or_any(self._self(caller, self._known_as(scope)), name, language)
                if found:
                    return found
            qualified = f"{definition.name}.{name}" if definition.name else name
            named = self._tables.named(path, qualified)
            if named:
                if language not in SCRIPTS and self._tables.definition(named[-1]).kind == "function":
                    return _sure(named)
                return _sure(self._constructed(named[-1]))
        owner = self._class_of(caller)
        if owner is not None:
            owner = self._self(caller, owner)
            if name == _SUPER.get(language, "super"):
                made = [
                    each for base in self._bases(owner) for each in self._made(base, only_constructors=True)
                ]
                return _sure(made if language in CHOOSING else made[:1])
            if name == "Self" or (name == "this" and language == "java"):
                return _sure(self._made(owner))
            if name == "new" and owner.kind == "type":
                return _sure(self._made(owner))
            if language in _IMPLICIT_SELF:
                found = self._own_or_any(owner, name, language)
                if found:
                    return found
        if language == "java":
            found = self._static(name, path)
            if found:
                return found
        named, is_imported = self._imported(name, path)
        if named:
            return _sure([built for own in named for built in self._constructed(own)])
        return [] if is_imported else _sure(self._elsewhere(name, path, language))

    def _own_or_any(self, owner: Owner, name: str, language: str) -> Found:
        """Return the method of one name that a class has; if it only declares one, any override too.

        Where arguments choose, all methods of the name are returned.
        """
        found = self._methods(owner, name)
        sure = [each for each in found if each[1] == CERTAIN]
        if not sure or name in self._needs(owner):
            return found
        own = sure if language in CHOOSING else sure[:1]
        overrides = [each for each in found if each[1] < CERTAIN]  # it may be called on one of a subclass
        return own + overrides if len(overrides) <= _MANY_IMPLEMENTATIONS else own

    def _self(self, caller: Id, cls: Owner) -> Owner:
        """Return what a definition in a class calls itself: in Ruby the class, or one of its instances."""
        if self._tables.language(caller[0]) != "ruby":
            return cls
        own = (
            self._tables.definition(caller).kind == "class"
            or caller[1] in self._tables.body(caller[0]).statics
        )
        return cls._replace(kind="type") if own else cls

    def _static(self, name: str, path: str) -> Found:
        """Find what a file of Java imports of a class under a name."""
        imports = self._tables.body(path).imports
        for each in (*imports.get(name, ()), *imports.get("*", ())):
            cls = self._class(each.origin.rpartition(".")[2], path)
            found = [] if cls is None else [own for own in self._methods(cls, name) if own[1] == CERTAIN]
            if found:
                return found
        return []

    def _elsewhere(self, name: str, path: str, language: str) -> list[Id]:
        """Search the package, then, where names need no import, the whole view."""
        if self._tables.files[path][0] == "erb":
            every = self._tables.methods.get(name, [])
            helpers = [own for own in every if self._tables.definition(own).name.endswith(f"Helper.{name}")]
            return self._nearest(helpers, path)
        folder = path.rpartition("/")[0]
        tables = (self._tables.functions, self._tables.classes)
        for table in tables[language == "java" :]:  # Java calls none of Kotlin's functions by its name alone
            found = table.get(name, [])
            near = [each for each in found if each[0].rpartition("/")[0] == folder]
            if language in C_FAMILY and len(found) > 1 and len({where for where, _ in found}) == 1:
                return found if table is self._tables.functions else self._constructed(found[-1])
            if language == "go" and table is self._tables.functions and len(near) > 1:
                return self._built(near, path)
            if near and language not in SCRIPTS and language != "rust":
                return self._constructed(near[-1])
            if len(found) == 1 and language in _BY_NAME | {"java"}:
                return self._constructed(found[0])
        return []

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
        if own is not None and self._is_extension(own):
            own = next(
                (each for each in self._placed(owner.name, owner.full).every if not self._is_extension(each)),
                None,
            )
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

    def _is_extension(self, own: Id) -> bool:
        return own[0].endswith(".swift") and own[1] in self._tables.body(own[0]).statics

    def _constructor(self, cls: Owner) -> str:
        """Return the name of a class's constructors."""
        language = self._tables.language(cls.home) if cls.home in self._tables.files else ""
        return _BY_KEYWORD.get(language, cls.name)

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

    # classes

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
        if before:
            found = self._qualified(before, name, path)
            if found is not None:
                return self._as_class(found)
            inner = self._inner_class(before[-1], name, path)
            if inner is not None:
                return inner
            if language in {"go", "rust"} or self._tables.body(path).imports.get(before[0]):
                return None
        every = self._tables.classes.get(name, [])
        if any(where == path for where, _ in every):
            return Owner("class", name, path)
        found, is_imported = self._imported(name, path)
        if found or is_imported:
            return self._as_class(found)
        if not every:
            return None
        if language in CHOOSING:  # elsewhere a class that stands in another has the other's name before it
            every = [own for own in every if "." not in self._tables.definition(own).name] or every
        if language not in SCRIPTS and language != "rust":
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
        return language in _WHOLE or len({self._tables.definition(own).name for own in every}) > 1

    def _inner_class(self, outer: str, name: str, path: str) -> Owner | None:
        """Find a class that stands in another, in languages without modules in between."""
        if self._tables.language(path) not in CHOOSING:
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
        """Return the class that contains a definition."""
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
        for every in (places.here(owner.home), places.elsewhere(owner.home)):
            path = every[0][0] if every else ""
            for index in self._tables.body(path).field_owners.get(name, ()) if every else ():
                if (path, index) in places.those:
                    yield (path, index), self._tables.body(path).fields[index, name]

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
                    cls = self._class(base, own[0], definition.name)
                    if cls is not None:
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
            self.limits.reached(limits.ANCESTORS, _MOST_ANCESTORS, owner.name)

    def _methods(self, owner: Owner, name: str) -> Found:
        """Find a method of a class or its bases, and its overrides; computed once for all calls."""
        key = owner, name
        found = self._methods_found.get(key)
        if found is None:
            before, self._sure = self._sure, CERTAIN
            found = [(each, min(sure, self._sure)) for each, sure in self._find_methods(owner, name)]
            self._sure = before
            fitting = [each for each in found if self._fits(each[0], owner)]
            # Rails calls an instance's method as its class's.
            found = fitting or [(each, LIKE_NAMED) for each, _ in found]
            self._methods_found[key] = found
        return found

    def _find_methods(  # noqa: C901 - one place after another
        self, owner: Owner, name: str
    ) -> Found:
        if name not in self._tables.methods:
            return []
        found: Found = []
        language = self._tables.language(owner.home) if owner.home in self._tables.files else ""
        further = language in _INHERITING
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
            and language in _SPARING
            and not self._is_abstract(owner)
            and name not in self._needs(owner)
        ):
            return []  # elsewhere it is declared without a body, or where we do not see it
        if not found and language == "kotlin":
            found = _sure(self._of_companion(owner, name))
        known = {member for member, _ in found}
        for subclass in self._subclasses(owner):
            for member in self._owned(subclass, name):
                if member not in known and member[0] == subclass.home:
                    known.add(member)
                    found.append((member, OVERRIDDEN))
        if not found:
            found = self._implementations(owner, name)
        return found

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
            if language in _WHOLE:
                others = {where for where, _ in self._tables.classes.get(cls.name, ())} - {cls.home}
                found = [each for each in found if each[0] not in others]
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
        """Return the methods so called of every class with the name of the owner."""
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
            below = self._tables.subclasses.get(each.name, ())
            every = self._tables.classes.get(each.name, ()) if below else ()
            alone = len({self._tables.definition(own).name if each.full else own[0] for own in every}) < 2
            for own in below:
                subclass = self._known_as(own)
                if subclass in known:
                    continue
                if not alone and not any(_is_same(each, base) for base in self._bases(subclass)):
                    continue
                known.add(subclass)
                border.append(subclass)
        if border:
            self.limits.reached(limits.SUBCLASSES, _MOST_SUBCLASSES, owner.name)
        return sorted(known)

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

    # Go's interfaces

    def _needs(self, owner: Owner) -> dict[str, tuple[Declaration, str]]:
        """Return the methods that an interface lists, and those of what it embeds, each with its file."""
        found: dict[str, tuple[Declaration, str]] = {}
        for each in self._upwards(owner):
            for where, index in self._definitions_of(each):
                if where == each.home:
                    for name, declared in self._tables.body(where).needs.get(index, {}).items():
                        found.setdefault(name, (declared, where))
        return found

    def _implementations(self, owner: Owner, name: str) -> Found:
        """Find a method in the types that have all methods that an interface lists."""
        if not owner.home.endswith(".go"):
            return []
        needs = self._needs(owner)
        if name not in needs:
            return []
        candidates = self._having(name)
        for other in needs:
            having = self._having(other)
            candidates = {key: members for key, members in candidates.items() if key in having}
        found = sorted(member for members in candidates.values() for member in members)
        sure = OVERRIDDEN if len(found) <= _MANY_IMPLEMENTATIONS else ONE_OF_MANY
        return [(member, sure) for member in found]

    def _having(self, name: str) -> dict[tuple[str, str], list[Id]]:
        """Return the methods of a name, by the type's directory and name."""
        found: dict[tuple[str, str], list[Id]] = {}
        for own in self._tables.methods.get(name, ()):
            cls = self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2]
            found.setdefault((own[0].rpartition("/")[0], cls), []).append(own)
        return found

    # the receiver

    def _owner(self, parts: Sequence[str], name: str, caller: Id, depth: int) -> Owner | None:
        """Find what a name is looked for in."""
        if parts[0] == "?" or depth <= 0:
            return None
        if self._tables.language(caller[0]) == "rust":
            found, parts = self._path_head(parts, name, caller)
            if found is not None:
                return self._along(found, parts, caller, depth)
        if self._tables.language(caller[0]) == "ruby":
            constant = list(takewhile(lambda part: part[:1].isupper() or not part, parts))
            parts = [".".join(constant), *parts[len(constant) :]] if len(constant) > 1 else parts
        head = self._head(parts[0], caller, depth)
        found = self._along(head, parts[1:], caller, depth)
        if found is None or head.kind == "module":  # type: ignore[union-attr]
            found = self._beside(parts, name, caller, depth, head) or found
        return found

    def _beside(
        self, parts: Sequence[str], name: str, caller: Id, depth: int, head: Owner | None
    ) -> Owner | None:
        """Find what an expression is whose first name is not what it is mostly."""
        language = self._tables.language(caller[0])
        # `Some.Space.Tool.run()`
        if head is None and language in _INHERITING | {"kotlin"} and parts[0] not in OUTER_ROOTS:
            rest = list(
                dropwhile(lambda part: part not in self._tables.classes and not part.endswith("()"), parts)
            )
            if rest and rest != list(parts) and not rest[0].endswith("()"):
                self._sure = min(self._sure, LIKE_NAMED)
                return self._owner(rest, name, caller, depth - 1)
        if head is not None and head.kind == "module" and language == "go":  # `store := store.New()`
            member = parts[1].removesuffix("()") if len(parts) > 1 else name
            for scope in self._tables.outwards(caller):
                declared = self._tables.body(caller[0]).variables.get((scope[1], parts[0]))
                if declared is not None and declared.made and not self._exported(head.home, member):
                    return self._along(self._declared(declared, caller, depth - 1), parts[1:], caller, depth)
        return None

    def _along(self, found: Owner | None, parts: Sequence[str], caller: Id, depth: int) -> Owner | None:
        for part in parts:
            if found is None or depth <= 0:
                return None
            found = self._step(found, part, caller, depth - 1)
        return found

    def _path_head(self, parts: Sequence[str], last: str, caller: Id) -> tuple[Owner | None, Sequence[str]]:
        """Follow the beginning of a Rust path as far as it names modules: ``crate::a``, ``a::b``.

        Args:
            parts: The path, without what is looked for.
            last: What is looked for: `super` is the file itself where a module inside of it says so.
            caller: The definition that it stands in.
        """
        head = parts[0]
        inner = self._tables.body(caller[0]).inner
        if head in {"crate", "super"} or (head == "self" and self._class_of(caller) is None):
            length = 1
            while length < len(parts) and (parts[length] == "super" or parts[length][:1].islower()):
                if parts[length].endswith("()"):
                    break
                length += 1
            found: tuple[Owner | None, Sequence[str]] = None, parts
            for file, inside in self._imports.crates.named(parts[:length], caller[0]):
                rest = [part for part in inside if part not in self._tables.body(file).inner]
                found = Owner("module", "", file), [*rest, *parts[length:]]
                if self._in_file(file, last if found[1] == [] else found[1][0].removesuffix("()")):
                    break
            return found
        if head in inner:
            return Owner("module", "", caller[0]), parts[1:]
        return None, parts

    def _head(  # noqa: C901, PLR0912 - the places to search, in order
        self, head: str, caller: Id, depth: int
    ) -> Owner | None:
        bare = head.removesuffix("()")
        path = caller[0]
        language = self._tables.language(path)
        if bare in _SELF.get(language, _THIS):
            owner = self._class_of(caller)
            return owner and self._self(caller, owner)
        if bare == _SUPER.get(language, "super"):
            owner = self._class_of(caller)
            base = next(self._bases(owner), None) if owner is not None else None
            return None if base is None else base._replace(kind="super")
        if head.endswith("()"):
            if bare == "new" and language == "ruby":
                return self._class_of(caller)
            return self._given_by(self._plain(bare, caller))
        is_variable = bare in self._tables.body(path).variable_names
        for scope in self._tables.outwards(caller) if is_variable else ():
            declared = self._tables.body(path).variables.get((scope[1], bare))
            made_of_itself = (
                declared is not None
                and not declared.type_name
                and declared.made is not None
                and declared.made[:1] == (bare,)
            )
            if declared is not None and not made_of_itself:  # `let app = app.layer(…)`: the earlier app
                return self._declared(declared, caller, depth)
        if language in _IMPLICIT_SELF or language == "php":
            owner = self._class_of(caller)
            around = [
                self._known_as(scope)
                for scope in self._tables.outwards(caller)
                if self._tables.definition(scope).kind == "class"
            ]
            for each in around or ([owner] if owner is not None else []):
                field = self._field(each, bare.lstrip("@"), depth)
                if field is not None:
                    return field
        if language in SCRIPTS:
            held = self._held(bare, path, depth)
            if held is not None:
                return held
        module = self._module(bare, path)
        if module is not None:
            return Owner("module", "", module)
        cls = self._class(bare, path, self._tables.definition(caller).name)
        if cls is not None and language == "ruby":
            return cls._replace(kind="type")
        if language == "ruby" and NUMBERED not in head:  # a name alone calls, too
            own = self._given_by(self._resolve(["self", bare], caller, depth - 1), self._class_of(caller))
            if own is None and bare.startswith("@") and (own := self._named_after(bare, path)):
                self._sure = min(self._sure, LIKE_NAMED)
            return own
        return cls or self._crate(bare, path)

    def _held(self, name: str, path: str, depth: int) -> Owner | None:
        """Find what a file of JavaScript imports under a name: a class by ``require``, or a variable."""
        for each in self._tables.body(path).imports.get(name, ()):
            if each.kind != "file" or each.alias == "*":
                continue
            for file, _ in self._imports.files(each, path):
                if each.name is None:  # of CommonJS; of a namespace all but its main export is asked for
                    cls = self._as_class(self._exported(file, DEFAULT))
                    if cls is not None:
                        return cls
                held = self._exported_variable(file, each.name or DEFAULT, depth)
                if held is not None:
                    return held
        return None

    def _exported_variable(self, file: str, name: str, depth: int) -> Owner | None:
        """Find what a variable holds that a file exports, or passes on."""
        if depth <= 0 or file not in self._tables.files:
            return None
        body = self._tables.body(file)
        for each in (name, "exports") if name == DEFAULT else (name,):
            declared = body.variables.get((0, each))
            if declared is not None:
                return self._declared(declared, (file, 0), depth)
        for imported in (*body.imports.get(name, ()), *body.imports.get("*", ())):
            if imported.kind == "local" and imported.name != name:
                return self._exported_variable(file, imported.name or name, depth - 1)
            if imported.kind == "file" and (imported.name or imported.alias == "*"):
                for place, _ in self._imports.files(imported, file):
                    held = self._exported_variable(place, imported.name or name, depth - 1)
                    if held is not None:
                        return held
        return None

    def _crate(self, name: str, path: str) -> Owner | None:
        if self._tables.language(path) != "rust":
            return None
        for file, inside in self._imports.crates.named([name], path):
            if not inside:
                return Owner("module", "", file)
        return None

    def _module(  # noqa: C901, PLR0912 - a branch per kind of import
        self, name: str, path: str, depth: int = _DEPTH
    ) -> str | None:
        """Return the module that a file knows by a name."""
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

    def _step(  # noqa: C901, PLR0912 - a branch per kind of part
        self, owner: Owner, part: str, caller: Id, depth: int
    ) -> Owner | None:
        bare = part.removesuffix("()")
        if owner.kind == "module":
            return self._step_in_module(owner, part, depth)
        if part in {"await", SAME}:
            return owner
        if part == ELEMENT:
            if owner.name.startswith(ELEMENT):
                return self._typed(owner.name.removeprefix(ELEMENT), (owner.home, 0))
            return self._field(owner, ELEMENT, depth)
        if owner.name.startswith(ELEMENT) and bare in _ELEMENTS | _AS_MANY:
            return owner if bare in _AS_MANY else self._step(owner, ELEMENT, caller, depth)
        if not part.endswith("()"):
            inner = self._inner_class(owner.name, bare, owner.home) if bare in self._tables.classes else None
            if inner is not None:
                return inner
            made = bare == "new" and owner.name in self._tables.classes
            if owner.full and not made and (methods := self._methods(owner, bare)):
                return self._given_by(methods, owner)
            held = owner._replace(kind="class") if made else self._field(owner, bare, depth)
            is_of_wrapper = part in _WRAPPED and self._tables.language(caller[0]) == "csharp"
            if held is None and is_of_wrapper and not self._methods(owner, bare):
                self._sure = min(self._sure, OVERRIDDEN)
                return owner
            return held
        methods = self._methods(owner, bare)
        declared, where = self._needs(owner).get(bare, (None, ""))
        if declared is not None and declared.type_name:
            return self._class(declared.type_name, where)
        if methods and not (bare == "new" and owner.kind == "type"):
            return self._given_by(methods, owner)
        if bare == "new" and owner.name in self._tables.classes:
            return owner._replace(kind="class")
        if bare == "class" and owner.full:
            return owner._replace(kind="type")
        language = self._tables.language(caller[0])
        if language == "rust" and (bare in _PASSING or bare == "default" or bare[:1].isupper()):
            return owner  # an enumeration's variant is one of it
        if language == "java" and not methods:  # of a record
            return self._field(owner, bare, depth)
        return None

    def _step_in_module(self, owner: Owner, part: str, depth: int) -> Owner | None:
        bare = part.removesuffix("()")
        found = self._exported(owner.home, bare)
        if part.endswith("()"):
            return self._given_by(_sure(found))
        cls = self._as_class(found)
        if cls is not None:
            return cls
        for path in self._imports.within(owner.home):
            inner = self._module(bare, path)
            if inner is not None:
                return Owner("module", "", inner)
            declared = self._tables.body(path).variables.get((0, bare))
            if declared is not None:
                return self._declared(declared, (path, 0), depth)
        return None

    def _field(self, owner: Owner, name: str, depth: int) -> Owner | None:
        for each in self._upwards(owner):
            for own, declared in self._fields_of(each, name):
                if declared.type_name != UNSURE:
                    if own[0].endswith(".rs") and self._are_several_of(each, name):
                        return None
                    if self._tables.language(own[0]) == "ruby" and self._is_given_another(owner, name):
                        self._sure = min(self._sure, OVERRIDDEN)
                    return self._declared(declared, own, depth)
        for each in self._bases(owner):  # Go's embedded type is a field of its name
            if each.name == name:
                return each
        return None

    def _are_several_of(self, owner: Owner, name: str) -> bool:
        """Tell whether types of one name in a file of Rust, in modules of it, have differing members."""
        every = [(own[0], declared.type_name) for own, declared in self._fields_of(owner, name)]
        return len(set(every)) > len({path for path, _ in every})

    def _is_given_another(self, owner: Owner, name: str) -> bool:
        """Tell whether Ruby's classes above and below a class give a variable different things."""
        key = owner, name
        found = self._differing.get(key)
        if found is None:
            types = {
                declared.type_name
                for each in (*self._upwards(owner), *self._subclasses(owner))
                for _, declared in self._fields_of(each, name)
            }
            found = self._differing[key] = len(types) > 1
        return found

    def _declared(self, declared: Declaration, scope: Id, depth: int) -> Owner | None:
        if declared.type_name:
            return self._typed(declared.type_name, scope)
        if not declared.made or depth <= 0:
            return None
        if declared.made[-1] in {ELEMENT, SAME}:
            return self._owner(declared.made, "", scope, depth - 1)
        found = self._resolve(declared.made, scope, depth - 1)
        if found:
            return self._given_by(found)
        *before, name = declared.made
        if before and self._tables.language(scope[0]) == "rust":
            if name in _PASSING:
                return self._owner(before, name, scope, depth - 1)
            if name == "default" or name[:1].isupper():
                return self._typed(".".join(before), scope)
        return None

    def _typed(self, type_name: str, scope: Id) -> Owner | None:
        if type_name.startswith(UNSURE):
            self._sure = min(self._sure, OVERRIDDEN)
            type_name = type_name.removeprefix(UNSURE)
        if type_name.startswith(ELEMENT):
            return Owner("class", type_name, scope[0])
        if type_name in {"Self", "this", "static", "self"}:
            return self._class_of(scope)
        for own in self._tables.outwards(scope):  # a type parameter means what bounds it
            bound = self._tables.body(own[0]).variables.get((own[1], type_name))
            if bound is not None and bound.type_name and bound.type_name != type_name:
                return self._class(bound.type_name, scope[0])
        return self._class(type_name, scope[0], self._tables.definition(scope).name)

    def _given_by(self, found: Found, on: Owner | None = None) -> Owner | None:
        """Return the type of the result of calling the first of what may be called, and how sure that is.

        Args:
            found: What may be called.
            on: What it is called on: what a method that gives itself gives.
        """
        sure = [each for each in found if each[1] == CERTAIN]
        # What overrides a method of Ruby may give anything.
        is_ruby = bool(found) and self._tables.language(found[0][0][0]) == "ruby"
        types = [
            on if on and self._gives_itself(own) else self._given(own)
            for own, _ in (found if is_ruby else sure) or found
        ]
        if found and (not sure or any(each != types[0] for each in types)):
            self._sure = min(self._sure, found[0][1], OVERRIDDEN)
        itself = [self._class_of(own) for own, _ in found if on is None and self._gives_itself(own)]
        if any(each and self._tables.subclasses.get(each.name) for each in itself):  # or one of those
            self._sure = min(self._sure, OVERRIDDEN)
        return types[0] if types else None

    def _gives_itself(self, own: Id) -> bool:
        type_ = self._tables.body(own[0]).results.get(own[1])
        return type_ == "this" or (type_ == "self" and self._tables.language(own[0]) == "ruby")

    def _given(self, own: Id) -> Owner | None:
        """Return the type of the result of calling a definition."""
        definition = self._tables.definition(own)
        if definition.kind == "class":
            return self._known_as(own)
        type_ = self._tables.body(own[0]).results.get(own[1], "")
        if type_.startswith("@"):  # what Ruby's instance variable holds
            holder = self._class_of(own)
            return None if holder is None else self._field(holder, type_[1:], _DEPTH)
        if type_:
            return self._typed(type_, own)
        if self._is_class(own):
            return Owner("class", self._tables.last_name(own), own[0])
        owner, _, name = definition.name.rpartition(".")
        cls = self._class_of(own) if owner else None
        return cls if cls is not None and name == self._constructor(cls) else None

    # what files import and export

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
        for each in named:
            found = self._through(each, name, path)
            if found:
                return found, True
        if not named:
            for each in imports.get("*", ()):
                found = self._through(each, name, path)
                if found:
                    return found, True
        if path.endswith(".php"):  # there its file may be called otherwise
            return [], any(is_of_php_library(each.origin) for each in named)
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
        inner = self._tables.body(path).inner
        outer = [part for part in inside if part not in inner]
        return self._tables.named(path, ".".join([*outer, name]))

    def _exported(self, module: str, name: str, inside: tuple[str, ...] = ()) -> list[Id]:
        """Find what a file, or a directory's files, export under a name; computed once for all imports."""
        key = module, name, inside
        found = self._exports_found.get(key)
        if found is None:
            self._exports_found[key] = []  # while it is looked for: files may re-export one another
            found = self._exports_found[key] = self._find_exported(module, name, inside)
        return found

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
            passed = self._passed_on(path)
            near = [(passed.files[file], file) for file in self._tables.places(name) if file in passed.files]
            if near:
                return self._tables.named(min(near)[1], name)
            for file, each in passed.names.get(name, ()):
                found = self._named_by(each, file)
                if found:
                    return found
        return []

    def _named_by(self, imported: ImportedName, path: str) -> list[Id]:
        """Find what an import of one name leads to."""
        if imported.name is None:
            return []
        for place, inside in self._imports.files(imported, path):
            found = self._exported(place, imported.name, inside)
            if found:
                return found
        return []

    def _re_exports(self, path: str) -> bool:
        return path.endswith(".rs") or self._tables.language(path) in SCRIPTS

    def _passed_on(self, path: str) -> PassedOn:
        """Return the files all names of which a file passes on, whatever number of steps away.

        What a Rust file imports for itself only the modules inside of it see: only the first step counts it.
        """
        found = self._passed_found.get(path)
        if found is None:
            found = self._passed_found[path] = PassedOn({}, {})
            border = [path]
            while border and len(found.files) < _MOST_EXPORTS:
                self._check()
                border = [file for each in border for file in self._further(each, path, found)]
            if border:
                self.limits.reached(limits.EXPORTS, _MOST_EXPORTS, path)
        return found

    def _further(self, path: str, start: str, found: PassedOn) -> list[str]:
        """Add the files that one file passes on to those found; return them."""
        further = []
        for each in self._tables.body(path).imports.get("*", ()):
            if path != start and not each.public:
                continue
            for place, _ in self._imports.files(each, path):
                for file in self._imports.within(place):
                    if file == start or file in found.files or not self._re_exports(file):
                        continue
                    found.files[file] = len(found.files)
                    further.append(file)
                    for alias, every in self._tables.body(file).imports.items():
                        for imported in every if alias != "*" else ():
                            if imported.public:
                                found.names.setdefault(alias, []).append((file, imported))
        return further


def _sure(found: Iterable[Id]) -> Found:
    return [(each, CERTAIN) for each in found]


def _is_same(one: Owner, other: Owner) -> bool:
    return (one.name, one.full or one.home) == (other.name, other.full or other.home)
