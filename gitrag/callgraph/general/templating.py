"""What templates of PHP read and call, and what frameworks know by the names that PHP registers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain, islice

from gitrag.callgraph.edges import Id
from gitrag.callgraph.general.imports import ImportedName, Imports
from gitrag.callgraph.general.keyed import Keyed
from gitrag.callgraph.general.names import CERTAIN, LIKE_NAMED, OVERRIDDEN, Found, Owner, certain
from gitrag.callgraph.general.objects import WORDS
from gitrag.callgraph.general.records import ELEMENT, NUMBERED, UNSURE, Declaration
from gitrag.callgraph.general.registering import (
    FILTER,
    GIVEN,
    GIVES,
    MARKS,
    READ,
    REGISTERS,
    VIEW,
    accessors,
    studly,
    template_names,
)
from gitrag.callgraph.general.tables import Tables
from gitrag.late import late_re

_ENDINGS = (".twig", ".blade.php")
_MOST_INCLUDING = 20
_FORM = late_re(r"[fF]orm$")
"""How Symfony's templates call a form, which has its fields under their names."""
_SAME = frozenset(
    f"{FILTER}{each}()" for each in ("default", "filter", "sort", "slice", "reverse", "merge", "e")
)
_ONE = frozenset(f"{FILTER}{each}()" for each in ("first", "last"))
"""Filters of Twig that give what they are given, and those that give an element of it."""
_FINDING = frozenset(
    "find findOrFail first firstOrFail firstOrNew firstOrCreate create make withTrashed".split()
)
_LISTING = frozenset("all get paginate simplePaginate".split())
"""What Laravel's models give one of, and many."""
_ATTRIBUTES = frozenset({"Attribute"})
"""What a method of Laravel's models gives that is read by its name."""


class Templates(Keyed):
    """Finds what templates of PHP read of what they are given, and what is known by a name."""

    def __init__(self, tables: Tables, imports: Imports, check: Callable[[], None]) -> None:
        super().__init__(tables, imports, check)
        self._registry: dict[str, dict[Id, float]] | None = None
        self._gifts: dict[tuple[str, str], list[tuple[str, Declaration]]] | None = None
        self._given_types: dict[tuple[str, str], Owner | None] = {}
        self._is_given = False  # whether it is looked for what a template is given, which is likely only
        self._naming: dict[str, list[str]] = {}  # templates by the names of those that they include or extend

    @abstractmethod
    def _telling(self, head: str, name: str, language: str) -> Found:
        """Find the methods of a telling name: of one class, or of one and those that inherit from it."""

    def _marked(self, before: Sequence[str], name: str, caller: Id, depth: int) -> Found:
        """Find what is called by a name with a mark of what it is."""
        if name[0] == READ:
            return self._read_of(before, name[1:], caller, depth)
        if name[0] == VIEW:
            file = self._imports.template(name[1:], caller[0])
            return certain([(file, 0)] if file in self._tables.files and file else [])
        for each in self._tables.body(caller[0]).imports.get(name, ()):
            if each.kind == "file":  # a macro
                return certain(self._named_by(each, caller[0]))
        return list(self._registered(name).items())

    def _registered(self, name: str) -> dict[Id, float]:
        """Return what is registered under a name, and how sure that is."""
        if self._registry is None:
            self._registry = {}
            for path, (language, facts) in self._tables.files.items():
                if language != "php" or REGISTERS not in facts.mentions:
                    continue
                for alias, every in self._tables.body(path).imports.items():
                    if alias[:1] in MARKS:
                        found = self._registry.setdefault(alias, {})
                        for each in sorted(every, key=_is_unsure):
                            if not found or not _is_unsure(each):
                                found.update(self._meant_by(each, path))
        return self._registry.get(name, {})

    def _meant_by(self, each: ImportedName, path: str) -> Found:
        """Find the function, or the method, that a file registers."""
        origin, _, name = (each.name or "").rpartition(".")
        if origin and origin != UNSURE:  # else a function without a name, inside of it
            cls = self._class(origin, path)
            return [] if cls is None else self._methods(cls, name)
        definitions = self._tables.files[path][1].definitions
        own = [
            (path, at)
            for at, it in enumerate(definitions)
            if it.kind == "function" and it.name.rpartition(".")[2] == name
        ]
        sure = OVERRIDDEN if origin else CERTAIN
        return [(each, sure) for each in own or self._tables.functions.get(name, [])]

    def _read_of(self, before: Sequence[str], name: str, caller: Id, depth: int) -> Found:
        """Find the methods that reading a name of something calls."""
        sure, self._sure = self._sure, CERTAIN
        owner = self._owner(before, name, caller, depth) if before else None
        known, self._sure = self._sure, min(sure, self._sure)
        if owner is not None and owner.kind == "module":
            return certain(self._exported(owner.home, name))
        is_twig = caller[0].endswith(".twig")
        names, is_telling = accessors(name, is_twig=is_twig), len(WORDS.findall(name)) > 1
        for each in names if owner is not None else ():
            if found := self._accessed(owner, name, each, caller[0]):  # type: ignore[arg-type]
                is_alone = is_telling or len(self._tables.methods[each]) == 1
                return found if is_alone or not is_twig or known > LIKE_NAMED else []
        if not is_telling or _FORM.search("".join(before[:1])) or (owner is not None and known == CERTAIN):
            return []
        for each in names:
            found = self._telling("", each, "php")
            is_accessor = is_twig or each.endswith("Attribute")
            if found and (is_accessor or all(self._is_attribute(own) for own, _ in found)):
                return found
        return []

    def _accessed(self, owner: Owner, name: str, method: str, path: str) -> Found:
        """Find a method that is called where a name is read; likely only, if the object may have the name."""
        is_twig = path.endswith(".twig")
        may_have = (method == name and not is_twig) or self._declares_field(owner, name)
        most = OVERRIDDEN if may_have else CERTAIN
        is_any = is_twig or method == name or method.endswith("Attribute")
        found = self._methods(owner, method)
        if is_twig:  # a private method, as `statics` has those of PHP, is called by none
            found = [each for each in found if each[0][1] not in self._tables.body(each[0][0]).statics]
        return [(own, min(sure, most)) for own, sure in found if is_any or self._is_attribute(own)]

    def _is_attribute(self, own: Id) -> bool:
        return self._tables.body(own[0]).results.get(own[1], "").rpartition(".")[2] in _ATTRIBUTES

    def _head(self, head: str, caller: Id, depth: int) -> Owner | None:
        if head[:1] in MARKS:
            return self._given_by(self._marked((), head.removesuffix("()"), caller, depth))
        found = super()._head(head, caller, depth)
        if found is not None or not caller[0].endswith(_ENDINGS) or head.endswith("()"):
            return found
        name = head.partition(NUMBERED)[0]
        found = self._given_to(name, caller[0], depth) if not caller[1] else None  # a macro is given nothing
        if found is not None:
            self._sure = min(self._sure, OVERRIDDEN)
            return found
        every = self._tables.classes.get(studly(name), ())
        if len(every) != 1:
            return None
        self._sure = min(self._sure, LIKE_NAMED)
        return self._known_as(every[0])

    def _step(self, owner: Owner, part: str, caller: Id, depth: int) -> Owner | None:
        mark = part[:1]
        if mark not in MARKS:
            return super()._step(owner, part, caller, depth)
        if part in _SAME:
            return owner
        if part in _ONE:
            return super()._step(owner, ELEMENT, caller, depth)
        if mark != READ:
            return self._given_by(self._marked((), part.removesuffix("()"), caller, depth))
        name = part[1:].removesuffix("()")
        if owner.kind == "module":
            return None
        for each in accessors(name, is_twig=caller[0].endswith(".twig")):
            methods = self._accessed(owner, name, each, caller[0])
            if methods and (given := self._given_by(methods, owner)) is not None:
                return given
        return self._field(owner, name, depth)

    def _given_to(self, name: str, path: str, depth: int) -> Owner | None:
        """Return the type of a variable that whoever renders, or includes, a template gives it."""
        own = path, name
        if own not in self._given_types and depth > 0:
            before = self._sure, self._is_given
            self._is_given = True
            self._given_types[own] = None  # while it is looked for: templates may include one another
            rendered = (self._declared(each, (where, each.owner), depth) for where, each in self._gift(own))
            included = (
                super(Templates, self)._head(name, (where, 0), depth - 1)
                or self._given_to(name, where, depth - 1)
                for each in template_names(path)
                for where in self._naming.get(each, ())
                if where != path
            )
            found = (each for each in chain(rendered, islice(included, _MOST_INCLUDING)) if each is not None)
            self._given_types[own] = next((each for each in found if each.kind == "class"), None)
            self._sure, self._is_given = before
        return self._given_types.get(own)

    def _declared(self, declared: Declaration, scope: Id, depth: int) -> Owner | None:
        found, made = super()._declared(declared, scope, depth), declared.made or ("",)
        if found is not None or not self._is_given or made[-1] not in _FINDING | _LISTING:
            return found
        cls = self._class(made[0], scope[0]) if made[0][:1].isupper() else None  # `User::find(1)`
        return cls and (cls._replace(name=ELEMENT + cls.name) if made[-1] in _LISTING else cls)

    def _gift(self, own: tuple[str, str]) -> list[tuple[str, Declaration]]:
        """Return what a template's variable is given, with the file that gives it."""
        if self._gifts is None:
            self._gifts = {}
            for where, (language, facts) in self._tables.files.items():
                if where.endswith(_ENDINGS):
                    for each in facts.mentions:
                        if each[:1] == VIEW:
                            self._naming.setdefault(each, []).append(where)
                variables = self._tables.body(where).variables if GIVES in facts.mentions else {}
                for (_, key), declared in variables.items() if language == "php" else ():
                    alias, _, variable = key.partition(GIVEN)
                    file = self._imports.template(alias[1:], where) if variable else None
                    self._gifts.setdefault((file or "", variable), []).append((where, declared))
        return self._gifts.get(own, [])


def _is_unsure(each: ImportedName) -> bool:
    return (each.name or "").startswith(UNSURE)
