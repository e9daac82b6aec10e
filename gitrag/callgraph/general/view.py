"""The calls of one family of languages other than Python, resolved as far as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from gitrag.callgraph.edges import Edges, Id, Limits, note
from gitrag.callgraph.facts import Facts
from gitrag.callgraph.general.choice import Choice
from gitrag.callgraph.general.imports import DEFAULT, Imports
from gitrag.callgraph.general.manifests import Manifests
from gitrag.callgraph.general.members import CONSTRUCTORS
from gitrag.callgraph.general.names import LIKE_NAMED
from gitrag.callgraph.general.records import ELEMENT, MADE_BY_KEY, MORE, SAME
from gitrag.callgraph.general.registering import read_as, template_names
from gitrag.callgraph.general.resolving import Resolver
from gitrag.callgraph.general.tables import Tables, is_main, loaded_as, reached_from
from gitrag.callgraph.general.traits import SCRIPTS

HANDED_ON = 0.5
"""Confidence in a call of a function that is handed on by its name; as in Python."""

MAKERS = frozenset({"new", "of", "create", "super", "base", "parent", "this"})
"""Names by which constructors are called, besides their class's."""


class GeneralView:
    """The files of one family of languages.

    Args:
        files: Language and facts of each, by path.
        check: Called now and then; raises to stop.
        manifests: The view's manifests, by path.
    """

    def __init__(
        self,
        files: Mapping[str, tuple[str, Facts]],
        check: Callable[[], None] = lambda: None,
        manifests: Mapping[str, bytes] | None = None,
    ) -> None:
        self._check = check
        self._tables = Tables(files)
        self._resolver = Resolver(
            self._tables, Imports(self._tables.files, Manifests(manifests or {})), check
        )
        self._choice = Choice(self._tables, self._resolver)
        self._unknown_makers: list[str] | None = None
        self._given: dict[str, frozenset[str]] = {}

    @property
    def limits(self) -> Limits:
        """What was not looked at so far."""
        return self._resolver.limits

    def callees(self, own: Collection[Id]) -> Edges:
        """Resolve the calls of some definitions."""
        edges: Edges = {}
        for caller in sorted(each for each in own if each[0] in self._tables.files):
            self._check()
            self._resolve(caller, None, edges)
        return edges

    def callers(self, own: Collection[Id]) -> Edges:
        """Resolve the callers of some definitions: only calls by a name that may mean one of them."""
        wanted = {each for each in own if each[0] in self._tables.files}
        names = self._names_for(wanted)
        types = self._types_for(wanted)
        edges: Edges = {}
        for path, (language, facts) in self._tables.files.items():
            if names.isdisjoint(facts.mentions):
                continue
            self._check()
            for index in self._tables.body(path).calls:
                self._resolve((path, index), names, edges, types if language == "rust" else None)
        return {key: edge for key, edge in edges.items() if key[1] in wanted}

    def unknown_makers(self) -> list[str]:
        """Return the places, ``path:line``, where a computed key gives a class and it is not known which."""
        if self._unknown_makers is None:
            self._unknown_makers = [
                f"{path}:{call.line}"
                for path, (_, facts) in self._tables.files.items()
                if ELEMENT in facts.mentions
                for own, calls in self._tables.body(path).calls.items()
                for call in calls
                if call.rule == MADE_BY_KEY and not self._resolver.resolve(call, (path, own))
            ]
        return self._unknown_makers

    def is_exported(self, own: Id) -> bool:
        """Tell whether a file of JavaScript exports a definition, or what it is in."""
        if own[0] not in self._tables.files or self._tables.language(own[0]) not in SCRIPTS:
            return False
        if own[0] not in self._given:
            body = self._tables.body(own[0])
            local = (each for every in body.imports.values() for each in every if each.kind == "local")
            self._given[own[0]] = frozenset(body.exports) | {each.name for each in local if each.name}
        name = self._tables.definition(own).name
        return is_main(name) or name.partition(".")[0] in self._given[own[0]]

    def _resolve(
        self,
        caller: Id,
        names: Collection[str] | None,
        edges: Edges,
        types: Collection[str] | None = None,
    ) -> None:
        """Add what a definition calls.

        Args:
            names: Only calls by these names; None for all.
            edges: What the calls are added to.
            types: Of calls of a type's own functions, `Type::new`, only those of these types; None for all.
        """
        for call in self._tables.body(caller[0]).calls.get(caller[1], ()):
            if names is not None and call.parts[-1] not in names:
                continue
            if types is not None and len(call.parts) == 2:
                head = call.parts[0]
                if head[:1].isupper() and not head.endswith("()") and head not in types:
                    continue
            found = self._resolver.resolve(call, caller)
            if call.read:
                found = [
                    (own, sure)
                    for own, sure in found
                    if own[1] in self._tables.body(own[0]).properties
                    and (sure > LIKE_NAMED or call.parts[0] == "?" or self._resolver.may_be_read(own))
                ]
            else:  # what a property holds may be called; a case of an enumeration may have its name
                found = [
                    (own, min(sure, HANDED_ON) if own[1] in self._tables.body(own[0]).properties else sure)
                    for own, sure in found
                ]
            is_guess = call.handed or call.unsure or not all(map(self._tables.gives_no_this, call.blocks))
            for callee, sure in self._choice.fitting(found, call, caller):
                note(edges, caller, callee, min(sure, HANDED_ON) if is_guess else sure, call.line, call.rule)

    def _names_for(self, wanted: Iterable[Id]) -> set[str]:
        """Return the names by which definitions may be called, those that imports give them included."""
        names: set[str] = set()
        makers: set[str] = set()
        generic: frozenset[str] = frozenset()
        for own in wanted:
            definition = self._tables.definition(own)
            owner, _, name = definition.name.rpartition(".")
            owner = owner.rpartition(".")[2]
            names |= {name, DEFAULT} if name == "exports" else {name, name.lstrip("$")}
            if self._tables.language(own[0]) in SCRIPTS and is_main(definition.name):
                names |= {loaded_as(own[0]), "with"}
            if self._tables.language(own[0]) == "php":  # its templates have other names for it
                names |= read_as(name) if name else {*template_names(own[0])}
            if definition.kind == "class":
                makers.add(name)
            elif owner and (name in CONSTRUCTORS or name == owner):
                makers.add(owner)
            if makers:
                generic = MAKERS if self._tables.language(own[0]) != "rust" else frozenset({"Self"})
        names |= self._family(makers)
        names.discard("")
        renamed = names
        while renamed:
            renamed = self._renamed(renamed) - names
            names |= renamed
        is_script = any(self._tables.language(own[0]) in SCRIPTS for own in wanted)
        return names | generic | ({ELEMENT} if is_script else set())

    def _types_for(self, wanted: Iterable[Id]) -> set[str]:
        """Return the names of types by which functions of theirs may be called: of its traits, too."""
        owners = {self._tables.definition(own).name.rpartition(".")[0].rpartition(".")[2] for own in wanted}
        found = self._family(owners - {""})
        for owner in list(found):
            for own in self._tables.classes.get(owner, ()):
                found |= {base.rpartition(".")[2] for base in self._tables.definition(own).bases}
        renamed = found
        while renamed:
            renamed = self._renamed(renamed) - found
            found |= renamed
        return found | {"Self"}

    def _family(self, classes: Iterable[str]) -> set[str]:
        """Return the names of classes and of their subclasses."""
        below = self._tables.subclasses
        return reached_from(classes, lambda each: map(self._tables.last_name, below.get(each, ())))

    def _renamed(self, names: set[str]) -> set[str]:
        """Return the other names under which files import or export some names."""
        found: set[str] = set()
        for path, (_, facts) in self._tables.files.items():
            if not names.isdisjoint(facts.mentions):
                for alias, every in self._tables.body(path).imports.items():
                    if any((each.name or DEFAULT).rpartition(".")[2] in names for each in every):
                        found.add(alias)
                if self._tables.language(path) in SCRIPTS:  # `this.go = this.run`
                    for (_, name), each in self._tables.body(path).fields.items():
                        *_, held, kind = ("", "", *(each.made or ()))
                        if kind == SAME and held in names:
                            found.add(name.rstrip(MORE))
                    tables = self._tables.body(path).held.values()
                    for key, each in (it for by_owner in tables for of in by_owner.values() for it in of):
                        if each.made and each.made[-1] in names:  # `t[key].go()` of `{ a: { go: run } }`
                            found.add(key)
        return found
