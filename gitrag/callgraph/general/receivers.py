"""The types of expressions: a receiver counts if its type is written.

That of a variable or field, the declared return type of a called function, or that of an object created in
place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import dropwhile, islice, takewhile

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.built_in import FINDING, OUTER_ROOTS, QUERYING
from gitrag.callgraph.general.imports import DEFAULT, Imports
from gitrag.callgraph.general.members import ClassMembers
from gitrag.callgraph.general.names import CERTAIN, DEPTH, LIKE_NAMED, OVERRIDDEN, Found, Owner, certain
from gitrag.callgraph.general.records import ELEMENT, INSTANCE, NUMBERED, OBJECT, SAME, UNSURE, Declaration
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.general.traits import BY_IMPORT, IMPLICIT_SELF, INHERITING, SCRIPTS

_ITSELF = frozenset({"Self", "this", "static", "self"})
_WRAPPED = frozenset({"Value", "Result"})
"""ClassMembers of C#'s Lazy, Nullable and Task that give what they hold; of their types no more is known."""
_PASSING = frozenset(
    "unwrap expect clone lock read write borrow borrow_mut as_ref as_mut to_owned unwrap_or_default await"
    " unwrap_or_else unwrap_or get_mut iter context".split()
)
"""Rust's methods of what holds a value that give the value, or a reference to it."""
_ELEMENTS = frozenset(
    "get first last First Last Single FirstOrDefault LastOrDefault SingleOrDefault ElementAt"
    " firstOrNull lastOrNull single singleOrNull elementAt getOrNull find findFirst findAny removeFirst"
    " removeLast getFirst getLast peek poll pop popLast Peek Pop Dequeue randomElement min max"
    " get_mut first_mut last_mut nth next pop_front pop_back front back remove".split()
)
"""Functions of lists that give an element; of a stream of Java an optional one."""
_AS_MANY = frozenset(
    "stream parallelStream filter sorted distinct limit skip toList ToList ToArray AsEnumerable Where"
    " OrderBy OrderByDescending Distinct Skip Take Reverse asSequence toMutableList toSet sortedBy"
    " sortedByDescending drop take dropFirst dropLast prefix suffix reversed filterNot filterNotNull"
    " lazy onEach orEmpty iter iter_mut into_iter values values_mut into_values rev enumerate cloned copied"
    " peekable drain step_by chain".split()
)
"""Those that give some or all elements again."""


class Receivers(ClassMembers, ABC):
    """Finds what a name is looked for in: the class, or the module, that an expression is."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._differing: dict[tuple[Owner, str], bool] = {}

    @abstractmethod
    def _resolve(self, parts: Sequence[str], caller: Id, depth: int) -> Found:
        """Return what a call may call: its result is an expression, too."""

    @abstractmethod
    def _plain(self, name: str, caller: Id) -> Found:
        """Resolve a call without a receiver."""

    def type_of(self, parts: Sequence[str], caller: Id) -> str:
        """Return the name of an expression's type; empty if it is not known."""
        own = self._type_written(parts, caller)
        if own:
            return own
        owner = self._owner(parts, "", caller, DEPTH)
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

    def _type_named(self, parts: Sequence[str], caller: Id) -> str:
        """Return an expression's declared type, or the foreign class whose function makes it; else ``?``."""
        written = self._type_written(parts, caller)
        variables = self._tables.body(caller[0]).variables
        held = (variables.get((scope[1], parts[0])) for scope in self._tables.outwards(caller))
        parts = parts if len(parts) > 1 else next((each.made for each in held if each and each.made), parts)
        is_made = len(parts) == 2 and parts[0][:1].isupper() and parts[0].isidentifier()
        is_made = is_made and parts[0] not in self._tables.classes  # `CardBinding.bind(view)`
        return written or (parts[0] if is_made else "?")

    def _owner(self, parts: Sequence[str], name: str, caller: Id, depth: int) -> Owner | None:
        if parts[0] == "?" or depth <= 0:
            return None
        if self._tables.language(caller[0]) == "rust":
            found, parts = self._path_head(parts, name, caller)
            if found is not None:
                return self._along(found, parts, caller, depth)
        if self._tables.language(caller[0]) == "ruby":
            constant = list(takewhile(lambda part: part[:1].isupper() or not part, parts))
            parts = [".".join(constant), *parts[len(constant) :]] if len(constant) > 1 else parts
        if self._tables.language(caller[0]) == "php":
            written = list(takewhile(lambda part: part[:1].isupper() and not part.endswith("()"), parts))
            cls = self._class(".".join(written), caller[0]) if len(written) > 1 else None
            if cls is not None:  # `\\Shop\\Cart::make()`
                return self._along(cls, parts[len(written) :], caller, depth)
        if self._tables.language(caller[0]) in SCRIPTS and parts[0] == "module" and len(parts) > 1:
            parts = parts[1:]
        head = self._head(parts[0], caller, depth)
        if (
            head is None and len(parts) > 1 and self._tables.language(caller[0]) == "ruby"
        ):  # `entry.body.save`
            head = self._named_after(parts[0], caller[0])
            self._sure = min(self._sure, CERTAIN if head is None else LIKE_NAMED)
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
        if head is None and language in INHERITING | {"kotlin"} and parts[0] not in OUTER_ROOTS:
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
        traits = self._tables.traits(path)
        if bare in traits.this:
            owner = self._class_of(caller)
            return owner and self._self(caller, owner)
        if bare == traits.above:
            owner = self._class_of(caller)
            base = next(self._bases(owner), None) if owner is not None else None
            return None if base is None else base._replace(kind="super")
        if head.endswith("()"):
            if bare == "new" and language == "ruby":
                return self._class_of(caller)
            return self._made_as(bare, found := self._plain(bare, caller), self._given_by(found), path)
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
        inherited = self._inherited_parameter(bare, caller) if language == "php" else None
        if inherited is not None:
            return self._declared(*inherited, depth)
        if language in IMPLICIT_SELF or language == "php":
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
        if language in BY_IMPORT and language != "rust":
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
        return cls or (self._facade(bare, path) if language == "java" else self._root(bare, path))

    def _inherited_parameter(self, name: str, caller: Id) -> tuple[Declaration, Id] | None:
        """Find what a base of PHP declares a parameter to be, where the method that overrides it does not."""
        owner = self._class_of(caller)
        method = self._tables.last_name(caller)
        for base in islice(self._upwards(owner), 1, None) if owner is not None else ():
            for own in self._own_methods(base, method):
                declared = self._tables.body(own[0]).variables.get((own[1], name))
                if declared is not None and declared.type_name:
                    return declared, own
        return None

    def _held(self, name: str, path: str, depth: int) -> Owner | None:
        """Find what a file imports under a name: a class by ``require``, or a variable."""
        imports, is_dart = self._tables.body(path).imports, path.endswith(".dart")
        for each in (*imports.get(name, ()), *(imports.get("*", ()) if is_dart else ())):
            if is_dart and each.alias == "*":
                for file, _ in self._imports.files(each, path):
                    held = self._exported_variable(file, name, depth)
                    if held is not None:
                        return held
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
            if file.endswith(".dart") and not imported.public:
                continue
            if imported.kind == "local" and imported.name != name:
                return self._exported_variable(file, imported.name or name, depth - 1)
            if imported.kind == "file" and (imported.name or imported.alias == "*"):
                for place, _ in self._imports.files(imported, file):
                    held = self._exported_variable(place, imported.name or name, depth - 1)
                    if held is not None:
                        return held
        return None

    def _step(  # noqa: C901, PLR0912 - a branch per kind of part
        self, owner: Owner, part: str, caller: Id, depth: int
    ) -> Owner | None:
        bare = part.removesuffix("()")
        if owner.kind == "module":
            return self._step_in_module(owner, part, depth)
        if part in {"await", SAME} or (part == "INSTANCE" and owner.home.endswith(".kt")):  # so Java names it
            return owner
        if part == ELEMENT:
            if owner.name.startswith(ELEMENT):
                return self._typed(owner.name.removeprefix(ELEMENT), (owner.home, 0))
            held = self._field(owner, ELEMENT, depth)
            if held is None and owner.home.endswith(".rs"):  # an option's
                self._sure = min(self._sure, OVERRIDDEN)
                return owner
            return held
        if owner.kind == "type" and bare in QUERYING | FINDING and not self._methods(owner, bare):
            self._sure = min(self._sure, OVERRIDDEN)
            return owner if bare in QUERYING else owner._replace(kind="class")
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
            return self._given_by(certain(found))
        cls = self._as_class(found)
        if cls is not None:
            return cls
        for path in self._imports.within(owner.home):
            if path.endswith(".rs") and bare in self._tables.body(path).inner:
                return Owner("module", "", path)
            inner = self._module(bare, path)
            if inner is not None:
                return Owner("module", "", inner)
            declared = self._tables.body(path).variables.get((0, bare))
            if declared is not None:
                return self._declared(declared, (path, 0), depth)
        return None

    def _field(self, owner: Owner, name: str, depth: int) -> Owner | None:
        before = self._sure
        for each, own, declared in self._held_above(owner, name):
            if declared.type_name != UNSURE:
                if own[0].endswith(".rs") and self._are_several_of(each, name):
                    return None
                if self._tables.language(own[0]) == "ruby" and self._is_given_another(owner, name):
                    self._sure = min(self._sure, OVERRIDDEN)
                return self._declared(declared, own, depth)
        self._sure = before  # a base that is only likely has no say, if it has none
        if owner.full:
            return None
        held = self._of_companion_object(owner, name, depth) if owner.home.endswith(".kt") else None
        if held is not None:
            return held
        # Go's embedded type is a field of its name.
        return next((each for each in self._bases(owner) if each.name == name), None)

    def _of_companion_object(self, owner: Owner, name: str, depth: int) -> Owner | None:
        """Find what the companion of one of Kotlin's classes holds under a name."""
        for path, index in self._definitions_of(owner):
            for own in self._tables.named(path, f"{self._tables.definition((path, index)).name}.Companion"):
                held = self._tables.body(path).fields.get((own[1], name))
                if held is not None:
                    return self._declared(held, own, depth)
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
        *before, name = declared.made
        is_instance = name.startswith(INSTANCE)
        found = self._resolve(before if is_instance else declared.made, scope, depth - 1)
        if is_instance and any(self._tables.gives_parameter(own) for own, _ in found):
            return self._typed(name[1:], scope)
        if found:
            return self._given_by(found)
        if before and self._tables.language(scope[0]) == "rust":
            if name in _PASSING | _ELEMENTS | _AS_MANY:
                return self._owner([*before, f"{name}()"], "", scope, depth - 1)
            if name == "default" or name[:1].isupper():
                return self._typed(".".join(before), scope)
        return None

    def _typed(self, type_name: str, scope: Id) -> Owner | None:
        if type_name.startswith(UNSURE):
            self._sure = min(self._sure, OVERRIDDEN)
            type_name = type_name.lstrip(UNSURE)
        if type_name.startswith(OBJECT):
            return Owner("class", type_name.removeprefix(OBJECT), scope[0])
        is_go = scope[0].endswith(".go")
        many, type_name = type_name[: 2 * type_name.startswith(ELEMENT)], type_name.removeprefix(ELEMENT)
        is_other = bool(many) or type_name in _ITSELF or scope[0].endswith(".zig")
        for own in self._tables.outwards(scope) if is_go or not is_other else ():  # a type parameter's bound
            bound = self._tables.body(own[0]).variables.get((own[1], INSTANCE * is_go + type_name))
            if bound is not None and bound.type_name and bound.type_name != type_name:
                type_name, scope = bound.type_name, (scope[0], 0)
                break
        type_name = many + type_name
        if type_name.startswith(ELEMENT) and self._tables.language(scope[0]) == "ruby":  # as its class is
            held = self._class(type_name.removeprefix(ELEMENT), scope[0], self._tables.definition(scope).name)
            return held and held._replace(kind="type")
        if type_name.startswith(ELEMENT):
            return Owner("class", type_name, scope[0])
        if scope[0].endswith(".zig"):
            return self._struct(type_name, scope)
        if type_name in _ITSELF:
            return self._class_of(scope)
        return self._class(type_name, scope[0], self._tables.definition(scope).name)

    def _struct(self, type_name: str, scope: Id) -> Owner | None:
        """Return a type of Zig: a struct, or a file, which is one."""
        path = scope[0]
        if type_name in {"Self", "@This"} or type_name in self._tables.body(path).inner:
            return self._class_of(scope) or Owner("module", "", path)
        found = self._class(type_name, path)
        module: str | None = path if found is None else None
        for part in type_name.split(".") if module else ():
            module = self._module(part, module) if module is not None else None
        return Owner("module", "", module) if module is not None else found

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

    def _given(self, own: Id) -> Owner | None:
        """Return the type of the result of calling a definition."""
        definition = self._tables.definition(own)
        if definition.kind == "class":
            return self._known_as(own)
        type_ = self._tables.body(own[0]).results.get(own[1], "")
        if type_.startswith("@"):  # what Ruby's instance variable holds
            holder = self._class_of(own)
            return None if holder is None else self._field(holder, type_[1:], DEPTH)
        if type_:
            return self._typed(type_, own)
        if self._is_class(own):
            return Owner("class", self._tables.last_name(own), own[0])
        owner, _, name = definition.name.rpartition(".")
        cls = self._class_of(own) if owner else None
        return cls if cls is not None and name == self._constructor(cls) else None
