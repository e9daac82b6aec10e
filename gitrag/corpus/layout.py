"""Which collection a path belongs to. Pure.

A collection's name is ``{kind}``, or ``{module}-{kind}`` below a module's directory; users see it with the
repository's slug in front: ``{repo}-adrs``, ``{repo}-api-code``. A kind contains no ``-``, so a name can be
split at the last one. Each path is in exactly one collection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from gitrag.corpus import LAYOUT_VERSION, adrs, issues, specs
from gitrag.corpus.documents import Document
from gitrag.git import matcher


class CollectionKind(StrEnum):
    """The kind of a collection's documents."""

    ADRS = "adrs"
    SPECS = "specs"
    CODE = "code"
    ISSUES = "issues"


DOCUMENTS = tuple(kind for kind in CollectionKind if kind is not CollectionKind.CODE)

READERS: Mapping[CollectionKind, Callable[[str, str], Document]] = {
    CollectionKind.ADRS: adrs.read,
    CollectionKind.SPECS: specs.read,
    CollectionKind.CODE: lambda path, _text: Document(path, path, path),  # it has no metadata
    CollectionKind.ISSUES: issues.read,
}
"""Reads a document of each kind, given its path and text."""


class Module(Struct, frozen=True):
    """A part of a repository with its own collections.

    Attributes:
        name: In lower case, all but ``[a-z0-9-]`` replaced by ``-``.
        directory: Its directory, without leading or trailing slash.
    """

    name: str
    directory: str


class Places(Struct, frozen=True):
    """Where the configuration places documents; an empty field means the usual places.

    Attributes:
        modules: Directories, or ``name=directory``; none means those that the workspace's manifest names.
    """

    adrs: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def signature(self) -> str:
        """Return a key of everything but the tree's own modules that decides on a path's collection."""
        return repr((LAYOUT_VERSION, self.adrs or adrs.GLOBS, self.specs or specs.GLOBS, self.modules))


USUAL_PLACES = Places()


@dataclass(slots=True)
class Layout:
    """Assigns paths to collections. It caches directories, so it must not be shared between threads.

    Args:
        modules: The modules; none lies in another's documents.
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
        """Return the name of a path's collection, without the repository's slug."""
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
    """Return the kind of a collection, given its name."""
    return CollectionKind(collection.rpartition("-")[2])


def module_of(collection: str) -> str:
    """Return the name of a collection's module; empty if it belongs to the repository as a whole."""
    return collection.rpartition("-")[0]


def slug(text: str) -> str:
    """Return a name in lower case, with all but ``[a-z0-9-]`` replaced by ``-``."""
    return re.sub(r"[^a-z0-9-]", "-", text.lower())


def named(directories: Sequence[str]) -> tuple[Module, ...]:
    """Name modules after the last part of their directories, or after the whole path if that is ambiguous."""
    last = [slug(directory.rpartition("/")[2]) for directory in directories]
    return tuple(
        Module(name if last.count(name) == 1 else slug(directory), directory)
        for name, directory in zip(last, directories, strict=True)
    )


def configured(entries: Sequence[str]) -> tuple[Module, ...]:
    """Parse the configured modules: ``services/api``, or ``web=frontend``."""
    given = [entry.rpartition("=") for entry in entries]
    plain = [directory.strip().strip("/").removeprefix("./") for name, _, directory in given if not name]
    modules = {module.directory: module for module in named(list(dict.fromkeys(plain)))}
    for name, _, directory in given:
        clean = directory.strip().strip("/").removeprefix("./")
        if name and clean:
            modules[clean] = Module(slug(name.strip()), clean)
    return tuple(module for module in modules.values() if module.directory)
