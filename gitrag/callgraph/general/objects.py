"""What objects of JavaScript have: what they are given, what a store's strings name, what markup reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.built_in import BUILT_IN
from gitrag.callgraph.general.imports import DEFAULT, Imports
from gitrag.callgraph.general.members import MANY_IMPLEMENTATIONS
from gitrag.callgraph.general.names import CERTAIN, DEPTH, LIKE_NAMED, OVERRIDDEN, Found, Owner, certain
from gitrag.callgraph.general.receivers import Receivers
from gitrag.callgraph.general.records import (
    ANY_OF,
    ELEMENT,
    EXPORTED,
    GIVEN_TO,
    LISTED,
    MORE,
    MOST_MORE,
    NUMBERED,
    PROVIDED,
    SAME,
    UNSURE,
    WrittenCall,
)
from gitrag.callgraph.general.tables import Tables, bare
from gitrag.callgraph.general.traits import SCRIPTS
from gitrag.late import late_re
from gitrag.words.path_traits import Trait, traits

WORDS = late_re(r"[A-Z]*[a-z\d]+|[A-Z]+(?![a-z])")
COMPONENTS = (".vue", ".svelte", ".astro")
SCRIPT = "$script"
"""The name under which a component imports the file that its script is in: ``<script src="./x.js">``."""
_ABOVE = (["this", "parent"], ["this", "root"])
"""What a component of Vue calls those around it."""
_ROOTS = frozenset({"createApp", "Vue"})
"""What makes an application of Vue."""
_REFS = "$refs"
"""What has those that a component's markup gives a name."""
_MAIN = frozenset({"exports", DEFAULT})
_FEW = 4
_MOST_SAME = 8
"""Members that are each what another is, in one search."""
_MOST_NAMED = 200
"""Functions of one name among which that of a store is looked for."""


class Objects(Receivers, ABC):
    """Finds what objects of JavaScript have, of which no class says it."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._caller: Id = "", -1
        self._found_here: dict[tuple[str, ...], Found] = {}
        self._asked: set[tuple[Owner, str]] = set()
        self._named_for: dict[Id, Owner | None] = {}
        self._by_words: dict[str, dict[str, list[Id]]] = {}
        self._alike_found: dict[str, list[Id]] | None = None
        self._given_found: dict[tuple[str, bool], dict[Id | Owner, list[Id]]] = {}
        self._roots: list[Owner] | None = None
        self._given_at: dict[tuple[str, str], dict[int, list[Id]]] = {}

    @abstractmethod
    def _only_one(self, head: str, name: str, caller: Id) -> Found:
        """Find the only method of a name, with its overrides, where the receiver's type is not written."""

    def _step(self, owner: Owner, part: str, caller: Id, depth: int) -> Owner | None:
        found = super()._step(owner, part, caller, depth)
        if owner.name == _REFS:
            body = self._tables.body(owner.home)
            held = [body.fields[at, part] for at in body.field_owners.get(part, ())]
            return self._declared(held[0], (owner.home, 0), depth) if held else None
        if found is None and part == "refs":
            stem = caller[0].rpartition(".")[0]
            markup = next((path for end in COMPONENTS if (path := stem + end) in self._tables.files), None)
            return Owner("class", _REFS, markup) if markup else None
        if found is None and part == "value" and self._tables.language(caller[0]) in SCRIPTS:  # of Vue's ref
            self._sure = min(self._sure, OVERRIDDEN)
            return owner
        return found

    def _exported(self, module: str, name: str, inside: tuple[str, ...] = ()) -> list[Id]:
        within = self._imports.within(module) if module not in self._tables.files else []
        if within and self._tables.language(within[0]) in SCRIPTS:  # of any file of a directory
            self._sure = min(self._sure, OVERRIDDEN)
        return super()._exported(module, name, inside)

    def _class_of(self, own: Id) -> Owner | None:
        found = super()._class_of(own)
        if found is None and self._tables.language(own[0]) in SCRIPTS:
            if own not in self._named_for:
                names = (self._tables.definition(each).name.split(".") for each in self._tables.outwards(own))
                named = (each[-2] for each in names if len(each) > 1 and each[-2][:1].isupper())
                self._named_for[own] = next(filter(None, (self._class(each, own[0]) for each in named)), None)
            if found := self._named_for[own]:  # `(Store) => { Store.prototype.save = … }`
                self._sure = min(self._sure, OVERRIDDEN)
        return found

    def _find_class_of(self, own: Id) -> Owner | None:
        for each in self._tables.outwards(own) if self._tables.language(own[0]) in SCRIPTS else ():
            definition = self._tables.definition(each)
            if definition.kind == "class":
                break
            owner = definition.name.rpartition(".")[0]  # perhaps a function with a prototype
            for cls in self._tables.named(own[0], owner) if owner else ():
                if self._is_class(cls):
                    return self._known_as(cls)
        return super()._find_class_of(own)

    def _find_methods(self, owner: Owner, name: str) -> Found:
        if ANY_OF not in owner.name:
            return super()._find_methods(owner, name)
        every = (self._class(each, owner.home) for each in owner.name.split(ANY_OF) if each)
        found = (own for cls in every if cls is not None for own, _ in self._methods(cls, name))
        return [(own, OVERRIDDEN) for own in dict.fromkeys(found)]

    def _find_class(self, written: str, path: str) -> Owner | None:
        found, head = super()._find_class(written, path), written.partition(".")[0]
        if found and head != written and self._tables.language(path) in SCRIPTS:
            every = self._tables.classes.get(found.name, ())
            full = (f".{self._tables.definition(own).name}" for own in every)
            if not self._module(head, path) and not any(each.endswith(f".{written}") for each in full):
                self._chosen.add((written, path, ""))  # `Backbone.View` is hardly a `View` of ours
        return found

    def _typed(self, type_name: str, scope: Id) -> Owner | None:
        if ANY_OF in type_name and not type_name.startswith((UNSURE, ELEMENT)):
            every = [each for each in type_name.split(ANY_OF) if each]  # of each of a list's types
            return self._typed(every[0], scope) if len(every) == 1 else Owner("class", type_name, scope[0])
        found = super()._typed(type_name, scope)
        if found is not None or not scope[0].endswith(COMPONENTS):
            return found
        name = type_name.lstrip(UNSURE)
        file = self._module(name, scope[0]) or self._component(name)
        if any(self._is_class(own) for own in self._tables.named(file, DEFAULT)):
            return Owner("class", DEFAULT, file)
        return Owner("module", "", file) if file else None  # what the script of another component has

    def _component(self, name: str) -> str:
        """Return the only component of a name, which may begin with that of its directory; empty if none."""
        words = WORDS.findall(name)
        names = ["/".join([*map(str.lower, words[:at]), "".join(words[at:])]) for at in range(len(words))]
        ends = (self._tables.ending(f"{each}{end}") for each in names for end in COMPONENTS)
        return next(filter(None, ends), "")

    def _given_as(self, owner: Owner, name: str) -> Found:
        """Find what an object of JavaScript has under a name that is another's: ``{ remove: drop }``."""
        if self._tables.language(owner.home) not in SCRIPTS or owner.home not in self._tables.files:
            return []
        found: list[Id] = []
        for each in self._tables.body(owner.home).imports.get(name, ()):
            if each.kind == "local" and each.name:
                own = self._tables.members.get((owner.name, each.name), ())
                found += self._named_by(each, owner.home) or [it for it in own if it[0] == owner.home]
        return [(own, OVERRIDDEN) for own in found] or self._same_as(owner, name)

    def _same_as(self, owner: Owner, name: str) -> Found:
        """Find what a member is that is no function itself: of a store, or what it is given."""
        if len(self._asked) == _MOST_SAME:
            return []
        key = owner, name
        is_alone = name not in self._tables.body(owner.home).field_owners
        if key in self._asked or (is_alone and next(self._bases(owner), None) is None):
            return []  # `this.a = this.b` and `this.b = this.a`; or it has no such member
        is_first = not self._asked
        self._asked.add(key)
        made = (
            (own, declared.made[:-1])
            for each in self._upwards(owner)
            for own, declared in self._fields_of(each, name)
            if declared.made and declared.made[-1] == SAME
        )
        found = next(filter(None, (self._resolve(parts, own, 2) for own, parts in made if parts)), [])
        if is_first:  # until then none is asked twice: bases of bases would be without end
            self._asked.clear()
        return [(own, min(sure, OVERRIDDEN)) for own, sure in found]

    def _meant(self, parts: tuple[str, ...], caller: Id) -> Found:
        """Return what is called by an expression, which a definition often has several times."""
        if caller != self._caller:
            self._caller, self._found_here = caller, {}
        if (found := self._found_here.get(parts)) is not None:
            return found
        head, _, numbers = parts[0].partition(NUMBERED)
        if ANY_OF in numbers:  # a variable that may hold several things
            found = [
                (own, min(sure, OVERRIDDEN))
                for each in numbers.split(ANY_OF)
                for own, sure in self._resolve([f"{head}{NUMBERED}{each}", *parts[1:]], caller, DEPTH)
            ]
        else:
            self._sure = CERTAIN
            found = [(own, min(sure, self._sure)) for own, sure in self._resolve(parts, caller, DEPTH)]
            found += self._otherwise(parts, caller)
        if found and self._tables.language(caller[0]) in SCRIPTS:
            found = [(own, min(sure, self._most_sure(own, caller[0]))) for own, sure in found]
        self._found_here[parts] = found
        return found

    def _most_sure(self, own: Id, path: str) -> float:
        """Return how sure a function may be at most: another may be in its place, or be exported there."""
        variables = self._tables.body(own[0]).variables
        is_doubted = (own[1], UNSURE) in variables or (own[0] != path and (own[1], EXPORTED) in variables)
        return OVERRIDDEN if is_doubted else CERTAIN

    def _owner_but_lists(self, before: Sequence[str], name: str, caller: Id, depth: int) -> Owner | None:
        """Find what has a member; of what only seems a list nothing is known: ``scene.add(new Mesh())``."""
        owner = self._owner(before, name, caller, depth)
        return None if owner is not None and owner.name.startswith(LISTED) else owner

    def _otherwise(self, parts: Sequence[str], caller: Id) -> Found:
        """Find what is called where a member holds another of the things that it is given."""
        if len(parts) < 3 or parts[0] != "this":
            return []
        owners = self._tables.body(caller[0]).field_owners
        others = (parts[1] + MORE * count for count in range(1, MOST_MORE + 1))
        return [
            (own, min(sure, OVERRIDDEN))
            for each in others
            if each in owners
            for own, sure in self._resolve(["this", each, *parts[2:]], caller, 3)
        ]

    def _of_component(self, name: str, path: str) -> Found:
        """Find what the object of a component has, which its markup names."""
        properties = self._tables.body(path).properties
        for owner in ("default", "setup", "default.setup"):
            if named := self._tables.named(path, f"{owner}.{name}"):
                return certain([own for own in named if own[1] in properties] or named)
        found: Found = []
        if any(self._is_class(own) for own in self._tables.named(path, DEFAULT)):
            it = Owner("class", DEFAULT, path)
            found = self._methods(it, name) or self._given_as(it, name)
        is_told = found or not path.endswith(COMPONENTS)
        scripts = () if is_told else self._tables.body(path).imports.get(SCRIPT, ())
        files = [file for each in scripts for file, _ in self._imports.files(each, path)]
        return found or [
            each for file in files if not file.endswith(COMPONENTS) for each in self._of_component(name, file)
        ]

    def _of_store(self, before: Sequence[str], name: str, path: str) -> Found:
        """Find what a store of Vuex has under a name.

        Args:
            before: ``?``, of what kind it is, and the module, if it is given.
            name: The name.
            path: Where it is asked for.
        """
        every = [*self._tables.methods.get(name, ()), *self._tables.functions.get(name, ())]
        if len(every) > _MOST_NAMED or before[1] == "state":  # which has no functions
            return []
        kind, wanted = before[1], {bare(each) for each in before[2:]}
        typed = [own for own in every if kind in self._around(own)]
        for found in (typed, every) if wanted else ():
            of_module = [own for own in found if wanted & {bare(each) for each in self._around(own)}]
            if of_module:
                return [(own, OVERRIDDEN) for own in of_module] if len(of_module) <= _FEW else []
        of_object = [
            own
            for own in every
            if "." in self._tables.definition(own).name
            and (kind == PROVIDED or not own[0].endswith(COMPONENTS))
        ]
        here = ([own for own in found if own[0] == path] for found in (typed, of_object))
        found = next(filter(None, here), typed or of_object)
        sure = OVERRIDDEN if len(found) == 1 else LIKE_NAMED
        return [(own, sure) for own in found] if len(found) <= (_FEW if typed else 1) else []

    def _around(self, own: Id) -> list[str]:
        """Return the names of what a definition stands in: objects, its file and its directory."""
        *folders, file = own[0].split("/")
        return [*self._tables.definition(own).name.split(".")[:-1], file.partition(".")[0], *folders[-1:]]

    def _by_field(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find the method of what a class has that a part of a receiver is named after: ``x.cartStore``."""
        if name not in self._tables.methods or self._tables.language(caller[0]) not in SCRIPTS:
            return []
        declared = self._tables.body(caller[0]).variables.get((caller[1], before[0]))
        if declared is not None and declared.made and declared.made[-1] == SAME:
            before = [*declared.made[:-1], *before[1:]]
        for at in range(len(before) - 1, -1, -1):
            for own in self._named_like(before[at]):
                owner = self._along(self._known_as(own), before[at + 1 :], caller, 3)
                found = self._methods(owner, name) if owner is not None and owner.kind == "class" else []
                if found:
                    return [(each, LIKE_NAMED) for each, _ in found] if len(found) <= _FEW else []
        return []

    def _named_like(self, receiver: str) -> list[Id]:
        """Return the class of JavaScript that a variable or a member is named after, if it is one."""
        if self._alike_found is None:
            self._alike_found = {}
            for name, every in self._tables.classes.items():
                for own in every if name not in _MAIN else ():
                    self._alike_found.setdefault(bare(name), []).append(own)
        found = self._alike_found.get(bare(receiver), [])
        return found if len(found) == 1 and not receiver.endswith("()") else []

    def _in_given(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find the functions in objects that are given to what calls a member: ``config.success()``."""
        path, head = caller[0], before[0].partition(NUMBERED)[0]
        if self._tables.language(path) not in SCRIPTS or self._tables.body(path).imports.get(head):
            return []
        key = name, bool(traits(path) & Trait.TEST)
        if key not in self._given_found:
            self._given_found[key] = {}  # while they are looked for
            self._given_found[key] = self._every_given(*key)
        given = self._given_found[key]
        cls = self._class_of(caller) if head == "this" and given else None
        every = [given[each] for each in (*self._tables.outwards(caller), cls) if each and each in given]
        if sum(map(len, every)) > _MOST_NAMED:
            return []
        return [(own, LIKE_NAMED) for own in dict.fromkeys(own for each in every for own in each)]

    def _given_there(self, call: WrittenCall, caller: Id) -> Found:
        """Find the function itself, of the object that a call is given."""
        key = caller[0], f"{self._tables.definition(caller).name}.{call.parts[1]}".lstrip(".")
        if key not in self._given_at:
            found = self._given_at[key] = {}
            for own in self._tables.named(*key):
                found.setdefault(self._tables.definition(own).line_start, []).append(own)
        every = self._given_at[key].get(call.line, ()) if call.given is None else ()
        return [(own, LIKE_NAMED) for own in every]

    def _every_given(self, name: str, in_tests: bool) -> dict[Id | Owner, list[Id]]:
        """Return the functions of a name in objects that calls are given, by what is called and its class.

        What only tests give says nothing of what other code calls.
        """
        before = self._sure
        called: dict[Id, list[Id]] = {}
        found: dict[Id | Owner, list[Id]] = {}
        for own in (*self._tables.methods.get(name, ()), *self._tables.functions.get(name, ())):
            body = self._tables.body(own[0])
            given = body.variables.get((own[1], GIVEN_TO))
            if given is not None and given.made and (in_tests or not traits(own[0]) & Trait.TEST):
                for to, _ in self._resolve(given.made, (own[0], body.parents[own[1]]), DEPTH):
                    called.setdefault(to, []).append(own)
        self._sure = before
        for to, given_to in called.items():
            found[to] = given_to
            cls = self._class_of(to)
            for each in self._upwards(cls) if cls is not None else ():
                found.setdefault(each, []).extend(given_to)
        return found

    def _are_beside(self, found: Sequence[Id]) -> bool:
        """Tell whether functions of one name are in files of one kind: ``plugins/*.js``, ``*/plugin.js``."""
        if len(found) > MANY_IMPLEMENTATIONS or any(own[0].endswith(COMPONENTS) for own in found):
            return False
        paths = [own[0].split("/") for own in found]
        is_as_deep = len({len(path) for path in paths}) == 1
        return is_as_deep and sum(len(set(each)) > 1 for each in zip(*paths, strict=True)) <= 1

    def _of_all(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find what an object of JavaScript has of what all have: ``Vue.prototype.$x``, or a plug-in."""
        if before != ["this"] or self._tables.language(caller[0]) not in SCRIPTS:
            return []
        if found := self._tables.members.get(("Vue", name), ()):
            return [(own, LIKE_NAMED) for own in found]
        return self._only_one("this", name, caller) if len(WORDS.findall(name)) > 1 else []

    def _of_parent(self, before: Sequence[str], name: str, path: str) -> Found:
        """Find what components have that use this one, which calls them by ``$parent``, or their root has."""
        is_root = before == ["this", "root"] or (before == ["root"] and path.endswith(COMPONENTS))
        found = (
            [own for cls in self._mixed_into_root() for own, _ in self._methods(cls, name)] if is_root else []
        )
        if found or before not in _ABOVE:
            return [(own, OVERRIDDEN) for own in dict.fromkeys(found)]
        every = self._tables.methods.get(name, ())
        found = [own for own in every if own[0] != path and path in self._imported_files(own[0])]
        return [(own, LIKE_NAMED) for own in found] if len(found) <= _FEW else []

    def _mixed_into_root(self) -> list[Owner]:
        """Return what is mixed into an application of Vue, all components of which have it by ``$root``."""
        if self._roots is None:
            self._roots = [
                cls
                for path, (language, facts) in self._tables.files.items()
                if language in SCRIPTS and not path.endswith(COMPONENTS) and _ROOTS & facts.mentions
                for each in facts.definitions
                for base in each.bases
                if (cls := self._class(base, path)) is not None
            ]
        return self._roots

    def _at_path(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find the function of a file of JavaScript that something loads by its path.

        ``app.helpers.boards.getOne()``, and Sails' ``….getOne.with()``, is of ``helpers/boards/get-one.js``.
        """
        parts = [bare(each) for each in ((*before, name) if name != "with" else before)]
        is_script = self._tables.language(caller[0]) in SCRIPTS
        found = self._tables.loaded("/".join(parts[-3:])) if is_script else []
        return [(own, LIKE_NAMED) for own in found] if len(found) == 1 else []

    def _of_object(self, before: Sequence[str], name: str, caller: Id) -> Found:
        """Find a member that is given to an object of JavaScript: ``node.f = …``, ``RED.view = …``."""
        path = caller[0]
        if self._tables.language(path) not in SCRIPTS or any(each.endswith("()") for each in before):
            return []
        head = before[0].partition(NUMBERED)[0]
        if len(before) == 1:
            variables = self._tables.body(path).variables
            for scope in self._tables.outwards(caller) if self._tables.names(path, name) else ():
                around = f"{self._tables.definition(scope).name}.".lstrip(".")
                declared = variables.get((scope[1], before[0]))
                is_this = head in {"this", "self"} or (declared and declared.made == ("this", SAME))
                found = self._tables.named(path, f"{around}{head}.{name}")
                found += self._tables.named(path, f"{around}{name}") if is_this else []
                if found:
                    return [(each, OVERRIDDEN) for each in found if each != caller]
            return []
        full = ".".join((head, *before[1:]))
        every = self._tables.members.get((before[-1], name), ())
        found = [each for each in every if _ends(full, self._tables.definition(each).name.rpartition(".")[0])]
        for each in self._tables.classes.get(before[-1], ()) if not found else ():
            if _ends(full, self._tables.definition(each).name):
                found += [it for it, _ in self._given_as(Owner("class", before[-1], each[0]), name)]
        return [(each, OVERRIDDEN) for each in found] if len(found) <= 2 else []

    def _by_convention(self, receiver: str, name: str, caller: Id) -> Found:
        """Find the method in the class that the receiver is named after: Rails' ``@story`` is a Story.

        In JavaScript also after the file that exports it: ``models.users`` is of ``users.js``.
        """
        language = self._tables.language(caller[0])
        if language in SCRIPTS and name not in BUILT_IN:
            if name not in self._by_words:
                self._by_words[name] = {}
                for own in (*self._tables.methods.get(name, ()), *self._tables.functions.get(name, ())):
                    for word in self._words_for(own):
                        self._by_words[name].setdefault(word, []).append(own)
            every = self._by_words[name].get(bare(receiver), ())
            return [(own, LIKE_NAMED) for own in every] if len(every) == 1 else []
        cls = self._named_after(receiver, caller[0]) if language == "ruby" else None
        if cls is None:
            return []
        found = self._methods(cls, name)
        sure = [each for each in found if each[1] == CERTAIN] or found
        return [(each, LIKE_NAMED) for each, _ in sure] if len(sure) <= _FEW else []

    def _words_for(self, own: Id) -> set[str]:
        """Return the names of a method's class and of its file, in lower case."""
        owner = self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2]
        *folders, file = own[0].split("/")
        stem = file.partition(".")[0]
        stem = folders[-1] if folders and stem == "index" else stem
        return {bare(owner), bare(stem)} - _MAIN


def _ends(full: str, name: str) -> bool:
    """Tell whether a name of several parts is another's end, or all of it."""
    return "." in name and f".{full}".endswith(f".{name}")
