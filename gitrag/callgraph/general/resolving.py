"""What a written call calls, and how sure that is: in languages other than Python.

A name is searched where the language searches it: in the function, its class and base classes, the
file, the file's imports, and the package; with a receiver, in its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general import elixir, lua, shell
from gitrag.callgraph.general.built_in import BUILT_IN, OF_RUBY, OF_TYPES
from gitrag.callgraph.general.imports import Imports
from gitrag.callgraph.general.members import MANY_IMPLEMENTATIONS, ONE_OF_MANY
from gitrag.callgraph.general.names import CERTAIN, LIKE_NAMED, OVERRIDDEN, Found, Owner, certain
from gitrag.callgraph.general.objects import COMPONENTS, WORDS
from gitrag.callgraph.general.parameters import BLOCK
from gitrag.callgraph.general.records import ELEMENT, GIVEN_TO, MADE_BY_KEY, SCOPED, WrittenCall
from gitrag.callgraph.general.registering import MARKS
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.templating import Templates
from gitrag.callgraph.general.traits import (
    BY_IMPORT,
    BY_NAME,
    C_FAMILY,
    CHOOSING,
    IMPLICIT_SELF,
    INFERRING,
    SCRIPTS,
    SPARING,
)

ONE_OF_SEVERAL = 0.6
"""Confidence in one of several functions of a name, where nothing says which: overloads, builds."""
_NOBODYS = frozenset(
    "Math JSON Object Array Promise Date Number String Reflect Intl Symbol console process window document $"
    f" jQuery _ string int long double float decimal bool char byte object {GIVEN_TO}".split()
)
"""Objects of JavaScript and types of C# that are of no repository, and what is given: none is guessed."""
_FEW = 4
_USUAL = frozenset("get set is on to has with as of new create can from".split())
"""How names of libraries' methods begin: of these a third word is asked for, where it decides alone."""
_OF_ANDROID = frozenset(
    "add remove find start stop show hide make next read write do parse update put init open close clear load"
    " save send run check".split()
)
"""And those of Android's."""
_PRIMITIVE = ("str", "char", "bool", "i32", "u8", "u32", "u64", "usize", "f64")
"""What a literal of Rust may be."""


class Resolver(Templates):
    """Resolves written calls."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._by_file: dict[str, dict[str, list[Id]]] = {}
        self._imported_of: dict[tuple[str, str], list[Id]] = {}

    def resolve(self, call: WrittenCall, caller: Id) -> Found:
        """Return what a call may call, each with its confidence.

        Args:
            call: The call; of a name of a function that is handed on no class is meant, nor a guess.
            caller: The definition that it stands in.
        """
        parts = call.parts
        if self._tables.language(caller[0]) == "elixir":
            return elixir.called(parts, caller, self._tables, call.given)
        if parts[0] == GIVEN_TO and call.handed:
            return self._given_there(call, caller)
        found = self._meant(parts, caller)
        if parts[-1] == ELEMENT:
            found = self._made_or_called(found, is_made=call.rule == MADE_BY_KEY)
        if call.given is not None and self._tables.language(caller[0]) == "swift":
            found = [(own, sure) for own, sure in found if self._has_labels(own, call.given)]
        found = [each for each in found if self._tables.can_call(caller, each[0])]
        if len(found) > 1:
            found = self._told_apart(found, call, caller)
        found = list(dict.fromkeys(found))  # a class may be a namespace, too
        if call.read and len(found) > 1 and self._tables.language(caller[0]) in SCRIPTS:
            found = [each for each in found if each[0][1] in self._tables.body(each[0][0]).properties]
        several = len(found) > 1 and self._tables.language(caller[0]) not in CHOOSING | {"kotlin"}
        if several and (sum(sure == CERTAIN for _, sure in found) > 1 or caller[0].endswith(".go")):
            listed = self._tables.listed
            found = [(own, sure if own in listed else min(sure, ONE_OF_SEVERAL)) for own, sure in found]
        if call.handed and self._tables.language(caller[0]) in SCRIPTS:  # of a property its value
            values = [each for each in found if each[0][1] in self._tables.body(each[0][0]).properties]
            found = ([] if call.given is not None else values) if values else found
        if not call.handed:
            return found
        is_told = parts[0] == "?" or self._tables.language(caller[0]) == "ruby"
        is_given = len(parts) > 1 and call.rule.rpartition(".")[2] != parts[-1]  # not another's option
        is_told = is_told or (is_given and len(WORDS.findall(parts[-1])) > 2)
        least = 0.0 if is_told else LIKE_NAMED  # of what is only so called
        functions = [
            (own, sure)
            for own, sure in found
            if sure > least
            and self._tables.definition(own).kind != "class"
            and not (own[1] in self._tables.body(own[0]).properties and own[0].endswith((".cs", ".dart")))
        ]
        return functions if len(functions) <= _FEW else []

    def _has_labels(self, own: Id, given: Sequence[str]) -> bool:
        """Tell whether a function of Swift takes arguments of these labels, in this order."""
        taken = self._tables.body(own[0]).signatures.get(own[1])
        if taken is None:
            return True
        labels = [each.rstrip("=") for each in taken.types]
        named = [each for each in given if each != BLOCK]
        missing = [each for each in taken.types if each[-1] != "=" and each not in named]
        if taken.variadic:
            return set(named) <= set(labels)
        rest = iter(labels)
        return len(missing) <= len(given) - len(named) <= len(labels) - len(named) and all(
            label in rest for label in named
        )

    def _told_apart(self, found: Found, call: WrittenCall, caller: Id) -> Found:
        """Choose among functions of one of Swift's classes by whose they are."""
        if self._tables.language(caller[0]) != "swift":
            return found
        head = call.parts[-2] if len(call.parts) > 1 else "self"
        own_type = head[:1].isupper() and not head.endswith("()")
        if head == "self":
            scopes = self._tables.outwards(caller)
            own_type = any(scope[1] in self._tables.body(scope[0]).statics for scope in scopes)
        fits = {own for own, _ in found if (own[1] in self._tables.body(own[0]).statics) == own_type}
        named: dict[tuple[str, str], list[Id]] = {}
        for own, _ in found:
            named.setdefault((own[0], self._tables.definition(own).name), []).append(own)
        left = {
            own
            for every in named.values()
            for own in ([own for own in every if own in fits] if len(every) > 1 else every) or every
        }
        return [each for each in found if each[0] in left]

    def may_be_read(self, own: Id) -> bool:
        """Tell whether a property may be meant by its name alone: of several words, of what Swift extends."""
        parent = self._tables.body(own[0]).parents[own[1]]
        return self._tables.is_extension((own[0], parent)) and not self._tables.last_name(own).islower()

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
        if self._tables.language(caller[0]) == "bash":
            return shell.called(".".join(parts), caller, self._tables)
        if self._tables.language(caller[0]) == "lua":
            return lua.called(parts, caller, self._tables, self._imports)
        if parts[0] == SCOPED:
            parts = self._unscoped(parts[1:])
        *before, name = parts
        if name[:1] in MARKS:
            return self._marked(before, name, caller, depth)
        if not before:
            return self._plain(name, caller)
        owner = self._owner_but_lists(before, name, caller, depth)
        language = self._tables.language(caller[0])
        if owner and language in SCRIPTS and before[0] in _NOBODYS and owner.home != caller[0]:
            return []  # a type of the repository has the name, too
        if owner is None and language == "php":
            return self._in_php(before, name, caller)
        if owner is None and before == ["self"]:
            if self._tables.is_template(caller[0]):
                return self._plain(name, caller)
            if language == "ruby":
                return certain(self._tables.named(caller[0], name))
        if owner is None:
            if before[0] == "?" and len(before) > 1 and language in SCRIPTS:
                return self._of_store(before, name, caller[0])
            given = self._by_key(parts, caller, depth) or self._in_given(before, name, caller)
            if given or (len(before) == 1 and before[0].removesuffix("()") in _NOBODYS):
                return given
            guessed = (
                self._extensions(None, name, caller, before)
                or self._of_object(before, name, caller)
                or self._of_parent(before, name, caller[0])
                or self._by_field(before, name, caller)
                or self._by_convention(before[-1], name, caller)
                or self._at_path(before, name, caller)
                or self._only_one(before[0], name, caller)
            )
            is_of_others = guessed and language in SCRIPTS and self._is_of_others(before, caller)
            return [] if is_of_others else guessed
        if owner.kind == "module":
            found = self._exported(owner.home, name)
            return certain(built for own in found for built in self._constructed(own))
        methods = self._methods(owner, name)
        if listed := self._listed(owner, name):
            return [*certain(listed), *(methods or self._alike(owner, name))]
        if owner.kind == "super":
            return [each for each in methods if each[1] == CERTAIN]
        if methods := methods or self._extensions(owner, name, caller) or self._given_as(owner, name):
            return methods
        if self._tables.language(caller[0]) == "rust":
            return []
        inner = self._class(f"{owner.name}.{name}", owner.home) if name in self._tables.classes else None
        if inner is not None and self._is_inner(inner, owner):
            return certain(self._made(inner))
        if name in {"new", "of", "create"} and owner.name in self._tables.classes:
            return [(each, CERTAIN if name == "new" else OVERRIDDEN) for each in self._made(owner)]
        return self._alike(owner, name) or self._of_all(before, name, caller)

    def _in_php(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find what PHP calls on a receiver of which nothing is known, or makes: ``new Cart()``."""
        cls = self._class(".".join([*before, name]), caller[0])
        if cls is not None or before[0][:1].isupper() or not before[0]:
            return [] if cls is None else certain(self._made(cls))
        own = self._class_of(caller)  # what is private only its class calls
        if before == ["this"]:  # in a template
            return [] if own is not None else self._telling("", name, "php")
        return [
            each
            for each in self._telling("", name, "php")
            if each[0][1] not in self._tables.body(each[0][0]).statics or self._class_of(each[0]) == own
        ]

    def _alike(self, owner: Owner, name: str) -> Found:
        """Find the few methods of a name, where the receiver's type says no more than that it has one."""
        if owner.full or self._declares_field(owner, name):
            return []
        needs = self._needs(owner)
        vague = not needs and self._is_abstract(owner) and self._tables.language(owner.home) not in SPARING
        if name not in needs and not vague:
            return []
        alike = self._tables.methods.get(name, [])
        sure = OVERRIDDEN if name in needs and len(alike) == 1 else LIKE_NAMED
        return [(each, sure) for each in alike] if 0 < len(alike) <= _FEW else []

    def _extensions(self, owner: Owner | None, name: str, caller: Id, before: Sequence[str] = ()) -> Found:
        """Find C#'s methods that extend a type; certain if it is the receiver's or a base of it."""
        language = self._tables.language(caller[0])
        if language == "rust" and before == ["?"]:
            members = self._tables.members
            found = [own for each in _PRIMITIVE for own in members.get((each, name), ())]
            if len(found) == 1:
                return [(own, LIKE_NAMED) for own in found]
        if language == "rust":
            return self._of_trait(name, caller[0]) if owner is None else []
        if language in {"kotlin", "swift", "dart"}:
            if owner is not None:
                return []
            return self._foreign(name, self._type_named(before, caller) if before else "?", caller)
        if language != "csharp":
            return []
        every = [
            own for own in self._tables.methods.get(name, ()) if own[1] in self._tables.body(own[0]).statics
        ]
        above = {each.name for each in self._upwards(owner)} if owner is not None else set()
        known = [own for own in every if (self._parameter_types(own) or ("",))[0] in above]
        if known:
            return certain(known)
        return [(own, LIKE_NAMED) for own in every] if len(every) <= _FEW else []

    def _of_trait(self, name: str, path: str) -> Found:
        """Find the only method of a name, where a file of Rust sees the trait that has it."""
        found = self._tables.methods.get(name, [])
        seen = {each for own in found for each in self._traits_of(own) if self._sees(each, path)}
        return [(own, OVERRIDDEN) for own in found] if len(found) == 1 and seen else []

    def _traits_of(self, own: Id) -> Sequence[str]:
        """Return the trait that a method of Rust is of: of an implementation, or its own default."""
        parent = self._tables.definition((own[0], self._tables.body(own[0]).parents[own[1]]))
        return parent.bases or (parent.name.rpartition(".")[2],)

    def _sees(self, trait: str, path: str) -> bool:
        last = trait.rpartition(".")[2]
        own = self._class(last, path)
        body = self._tables.body(path)
        return own is not None and (own.home == path or last in body.imports or "*" in body.imports)

    def _foreign(self, name: str, on: str, caller: Id) -> Found:
        """Find a function that extends a class of others, where no class here has one of its name.

        Args:
            name: Its name.
            on: The type that it is called on; ``?`` if not known, empty where nothing stands before it.
            caller: Who calls it.
        """
        every = [own for own in self._tables.methods.get(name, ()) if self._tables.can_call(caller, own)]
        owners = [self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2] for own in every]
        ours = {
            each
            for each in set(owners)
            if any(not self._tables.is_extension(own) for own in self._tables.classes.get(each, ()))
        }
        others = [own for own, each in zip(every, owners, strict=True) if each not in ours]
        meant = [own for own, each in zip(every, owners, strict=True) if each == on and each not in ours]
        if not meant and (name in OF_TYPES or (ours and on)):
            return []
        others = meant or others
        return [] if len(others) > 2 else [(own, LIKE_NAMED) for own in others]

    def _only_one(self, head: str, name: str, caller: Id) -> Found:
        """Find the only method of a name, with its overrides, where the receiver's type is not written.

        In JavaScript and, of a name of several words, Ruby, whose variables have no types, and languages
        that infer them, in which those of one hierarchy count as one; in Swift after a dot alone, or where it
        stands in no class, since the grammar did not read its class whole.
        """
        path, is_telling = caller[0], False
        language = self._tables.language(path)
        found = self._tables.methods.get(name, [])
        if language == "swift":
            found = found if head == "?" else [] if found else self._tables.functions.get(name, [])
        elif language in INFERRING:
            return self._telling(head, name, language)
        elif language == "ruby":
            found = found if "_" in name.strip("_") and name not in OF_RUBY else []
        elif language not in SCRIPTS or name in BUILT_IN:
            return []
        elif is_telling := len(WORDS.findall(name)) > 1:
            is_of_file = not found and head[:1].islower()  # of an object in it
            found = self._tables.functions.get(name, []) if is_of_file else found
        elif not self._is_from_here(head, path):  # of others, mostly
            found = self._imported_methods(name, path)
        if len(found) > MANY_IMPLEMENTATIONS + 1:
            return []
        found = [own for own in found if own != caller]  # what wraps another calls that one's
        is_telling = is_telling and len(WORDS.findall(name)) > 1 + (WORDS.findall(name)[0] in _USUAL)
        if len(found) > 1 and not (self._are_one_family(found) or (is_telling and self._are_beside(found))):
            return []
        return [(own, LIKE_NAMED) for own in found]

    def _imported_methods(self, name: str, path: str) -> list[Id]:
        """Return the methods of a name in a file, and in those that it imports; found once for all calls."""
        if name not in self._by_file:
            self._by_file[name] = {}
            for own in self._tables.methods.get(name, ()):
                self._by_file[name].setdefault(own[0], []).append(own)
        key = name, path
        if key not in self._imported_of:
            places = self._by_file[name]
            files = {path, *self._imported_files(path)} & places.keys() if places else set()
            self._imported_of[key] = [own for file in sorted(files) for own in places[file]]
        return self._imported_of[key]

    def _is_from_here(self, name: str, path: str) -> bool:
        """Tell whether a file imports a name from a file of the view."""
        imported = self._tables.body(path).imports.get(name.removesuffix("()"), ())
        return any(True for each in imported for _ in self._imports.files(each, path))

    def _are_one_family(self, found: Sequence[Id]) -> bool:
        """Tell whether methods of one name are a base's and its overrides."""
        if len(found) > MANY_IMPLEMENTATIONS:
            return False
        owners = [self._class_of(own) for own in found]
        above = [{each[1:]: each for each in self._upwards(owner)} for owner in owners if owner is not None]
        if len(above) != len(found):
            return False
        shared = {key: each for key, each in above[0].items() if all(key in others for others in above)}
        name, own = self._tables.last_name(found[0]), {owner[1:] for owner in owners if owner}
        is_script = self._tables.language(found[0][0]) in SCRIPTS  # of others the base's own is among them
        return any(key in own or (is_script and name in self._needs(each)) for key, each in shared.items())

    def _is_of_others(self, before: Sequence[str], caller: Id) -> bool:
        """Tell whether a file of JavaScript imports an object, or its written type, from another project."""
        path, held = caller[0], before[1:] if before[0] == "this" and len(before) > 1 else before
        for name in (before[0].removesuffix("()"), self._type_written(held, caller)):
            imported = self._tables.body(path).imports.get(name, ())
            if imported and not any(True for each in imported for _ in self._imports.files(each, path)):
                return True
        return False

    def _telling(self, head: str, name: str, language: str) -> Found:
        """Find the methods of a telling name: of one class, or of one and those that inherit from it."""
        words = WORDS.findall(name)
        every = [
            *self._tables.methods.get(name, ()),
            *(self._tables.functions.get(name, ()) if language == "zig" else ()),
        ]
        first = words[0].lower() if words else ""
        is_usual = first in _USUAL or (language == "kotlin" and first in _OF_ANDROID)
        if len(words) < 2 + is_usual or not every or head in {"super", "this"}:
            return []
        if len(every) > 1 and not self._are_one_family(every):
            return []
        return [(own, LIKE_NAMED) for own in every]

    def _plain(  # noqa: C901, PLR0912 - the places to search, in order
        self, name: str, caller: Id
    ) -> Found:
        """Resolve a call without a receiver."""
        path, language = caller[0], self._tables.language(caller[0])
        may_be_around = self._tables.names(path, name) or language in IMPLICIT_SELF
        for scope in self._tables.outwards(caller) if may_be_around else ():
            definition = self._tables.definition(scope)
            extended = self._extended(scope) if language == "kotlin" else None
            if extended is not None and (found := self._own_or_any(extended, name)):
                return found
            is_namespace = language in SCRIPTS and scope[1] in self._tables.body(path).statics
            if definition.kind == "class" and not is_namespace:
                if language not in IMPLICIT_SELF:
                    continue
                owner = self._self(caller, self._known_as(scope))
                found = self._own_or_any(owner, name)
                if found or (language == "scala" and self._declares_field(owner, name)):
                    return found
                inner = self._inner_class(self._tables.last_name(scope), name, path)
                if inner is not None and language == "swift":
                    return certain(self._made(inner))
            qualified = f"{definition.name}.{name}" if definition.name else name
            named = self._tables.named(path, qualified)
            if named:
                if language not in SCRIPTS and self._tables.definition(named[-1]).kind == "function":
                    return certain(named)
                return certain(self._constructed(named[0 if language == "scala" else -1]))  # no companion
        outermost = self._class_of(caller)
        if outermost is not None:
            owner = self._self(caller, outermost)
            if name == self._tables.traits(path).above:
                made = [
                    each for base in self._bases(owner) for each in self._made(base, only_constructors=True)
                ]
                return certain(made if language in CHOOSING else made[:1])
            if name == "Self" or (name == "this" and language in CHOOSING):
                return certain(self._made(owner))
            if name == "new" and owner.kind == "type":
                return certain(self._made(owner))
            if language in IMPLICIT_SELF:
                found = self._own_or_any(owner, name)
                if found:
                    return found
        if language == "java" and (found := self._static(name, path)):
            return found
        named, is_imported = self._imported(name, path)
        if named:
            return certain([built for own in named for built in self._constructed(own)])
        if is_imported:
            return self._foreign(name, "", caller) if language == "kotlin" else []
        if path.endswith(COMPONENTS):
            return self._of_component(name, path)
        found = certain(self._elsewhere(name, path, language))
        if not found and language == "kotlin":
            return self._foreign(name, "", caller)
        return found or (self._telling("", name, language) if language == "scala" else [])  # `import Ops._`

    def _own_or_any(self, owner: Owner, name: str) -> Found:
        """Return the method of one name that a class has; if it only declares one, any override too.

        Where arguments choose, all methods of the name are returned.
        """
        found = self._methods(owner, name)
        sure = [each for each in found if each[1] == CERTAIN]
        if not sure or name in self._needs(owner):
            return found or (self._alike(owner, name) if name in self._needs(owner) else [])
        overrides = [each for each in found if each[1] < CERTAIN]  # it may be called on one of a subclass
        if len(overrides) > MANY_IMPLEMENTATIONS:
            overrides = [(own, ONE_OF_MANY) for own, _ in overrides]
        return sure + overrides

    def _static(self, name: str, path: str) -> Found:
        """Find what a file of Java imports of a class under a name."""
        imports = self._tables.body(path).imports
        for each in (*imports.get(name, ()), *imports.get("*", ())):
            package, _, last = each.origin.rpartition(".")
            cls = self._class(last, path)
            found = [] if cls is None else [own for own in self._methods(cls, name) if own[1] == CERTAIN]
            if cls is None and (held := self._facade(last, path, package)):
                found = certain(self._exported(held.home, name))
            if found:
                return found
        return []

    def _elsewhere(self, name: str, path: str, language: str) -> list[Id]:
        """Search the package, then, where names need no import, the whole view."""
        if self._tables.is_template(path):
            every = self._tables.methods.get(name, [])
            helpers = [own for own in every if self._tables.definition(own).name.endswith(f"Helper.{name}")]
            return self._nearest(helpers, path)
        folder = path.rpartition("/")[0]
        tables = (self._tables.functions, self._tables.classes)
        for table in tables[language == "java" :]:  # Java calls none of Kotlin's functions by its name alone
            found = table.get(name, [])
            if language == "swift":  # a type in another has that one's name before it
                found = [own for own in found if "." not in self._tables.definition(own).name]
            near = [each for each in found if each[0].rpartition("/")[0] == folder]
            if language in C_FAMILY and len(found) > 1 and len({where for where, _ in found}) == 1:
                return found if table is self._tables.functions else self._constructed(found[-1])
            if language == "go" and table is self._tables.functions and len(near) > 1:
                return self._built(near, path)
            if near and language not in BY_IMPORT:
                return self._constructed(near[-1])
            if len(found) == 1 and language in BY_NAME | {"java"}:
                return self._constructed(found[0])
        return []
