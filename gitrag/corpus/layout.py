"""Which collection a path belongs to. Pure.

A collection's name is ``{kind}``, or ``{module}-{kind}`` below a module's directory; users see it with the
repository's slug before it: ``{repo}-adrs``, ``{repo}-api-code``. A kind has no ``-``, so that the last one
divides. A path is in one collection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gitrag.corpus import LAYOUT_VERSION, adrs, code, issues, specs
from gitrag.corpus.documents import Document
from gitrag.git import matcher


class CollectionKind(StrEnum):
    """What a collection's documents are."""

    ADRS = "adrs"
    SPECS = "specs"
    CODE = "code"
    ISSUES = "issues"


READERS: Mapping[CollectionKind, Callable[[str, str], Document]] = {
    CollectionKind.ADRS: adrs.read,
    CollectionKind.SPECS: specs.read,
    CollectionKind.CODE: code.read,
    CollectionKind.ISSUES: issues.read,
}
"""How a document is read, given its path and text."""


@dataclass(frozen=True, slots=True)
class Module:
    """A part of a repository with collections of its own.

    Attributes:
        name: Lower-case, all but ``[a-z0-9-]`` as ``-``.
        directory: Its directory, without a slash at either end.
    """

    name: str
    directory: str


@dataclass(frozen=True, slots=True)
class Places:
    """What a configuration says of where documents are; none means the usual places.

    Attributes:
        adrs: Globs of decisions, as in .gitignore.
        specs: Globs of specifications.
        modules: Directories, or ``name=directory``; none means those that the workspace's manifest names.
    """

    adrs: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def signature(self) -> str:
        """Sign all that decides on a path's collection beside the modules that a tree names."""
        return repr((LAYOUT_VERSION, self.adrs or adrs.GLOBS, self.specs or specs.GLOBS, self.modules))


USUAL_PLACES = Places()


@dataclass(slots=True)
class Layout:
    """Tells each path's collection. Remembers directories, so not to be shared between threads.

    Args:
        places: Where documents are.
        modules: The modules, none below another's documents.
    """

    places: Places
    modules: tuple[Module, ...] = ()
    _known: dict[str, Module | None] = field(init=False)
    _means: tuple[tuple[CollectionKind, Callable[[str], bool]], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the matchers."""
        self._known = {module.directory: module for module in self.modules} | {"": None}
        self._means = (
            (CollectionKind.ISSUES, matcher(issues.GLOBS)),
            (CollectionKind.ADRS, matcher(self.places.adrs or adrs.GLOBS)),
            (CollectionKind.SPECS, matcher(self.places.specs or specs.GLOBS)),
        )

    def collection(self, path: str) -> str:
        """Give the name of a path's collection, without the repository's slug."""
        module = self._module(path.rpartition("/")[0])
        if module is None:
            return self._kind(path).value
        kind = self._kind(path)
        if kind is CollectionKind.CODE:
            kind = self._kind(path[len(module.directory) + 1 :])
        return f"{module.name}-{kind.value}"

    def _module(self, directory: str) -> Module | None:
        missing = []
        while directory not in self._known:
            missing.append(directory)
            directory = directory.rpartition("/")[0]
        module = self._known[directory]
        self._known |= dict.fromkeys(missing, module)
        return module

    def _kind(self, path: str) -> CollectionKind:
        for kind, means in self._means:
            if means(path):
                return kind
        return CollectionKind.CODE


def kind_of(collection: str) -> CollectionKind:
    """Give the kind of a collection by its name."""
    return CollectionKind(collection.rpartition("-")[2])


def module_of(collection: str) -> str:
    """Give the name of a collection's module; empty for the repository's own."""
    return collection.rpartition("-")[0]


def slug(text: str) -> str:
    """Write a name as collections have it: lower-case, all but ``[a-z0-9-]`` as ``-``."""
    return re.sub(r"[^a-z0-9-]", "-", text.lower())


def named(directories: Sequence[str]) -> tuple[Module, ...]:
    """Name modules by their directories' last parts; those of the same name by their whole paths."""
    last = [slug(directory.rpartition("/")[2]) for directory in directories]
    return tuple(
        Module(name if last.count(name) == 1 else slug(directory), directory)
        for name, directory in zip(last, directories, strict=True)
    )


def configured(entries: Sequence[str]) -> tuple[Module, ...]:
    """Read modules as a configuration gives them: ``services/api``, or ``web=frontend``."""
    given = [entry.rpartition("=") for entry in entries]
    plain = [directory.strip().strip("/").removeprefix("./") for name, _, directory in given if not name]
    modules = {module.directory: module for module in named(list(dict.fromkeys(plain)))}
    for name, _, directory in given:
        clean = directory.strip().strip("/").removeprefix("./")
        if name and clean:
            modules[clean] = Module(slug(name.strip()), clean)
    return tuple(module for module in modules.values() if module.directory)
