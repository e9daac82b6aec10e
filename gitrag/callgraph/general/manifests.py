"""What a repository's manifests say about where packages and modules are: npm, TypeScript, Cargo and Go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from posixpath import join, normpath
from typing import Any

from gitrag.words import bounded_toml

NAMES = ("package.json", "tsconfig.json", "jsconfig.json", "tsconfig.base.json", "Cargo.toml", "go.mod")
"""Names of the files that are read."""

MOST_BYTES = 256 * 1024
"""Larger manifests are not read; the largest known one of a workspace has 40 KB."""

_MOST_PATTERNS = 500
_MOST_PARENTS = 8
"""Maximum length of a chain of configurations that extend one another."""

_NOT_DATA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|/\*.*?(?:\*/|\Z)|//[^\n]*|,(?=\s*[}\]])', re.DOTALL)
"""Comments and trailing commas, which TypeScript's configurations may have; strings are kept.

What has no end goes to the end of the text: else all that follows would be read again from each next quote.
"""

GO_MODULE = re.compile(r"^[ \t]*module[ \t]+\"?([^\s\"/][^\s\"]*)", re.MULTILINE)
"""The line of a go.mod that names the module."""

Patterns = tuple[tuple[str, str | None, tuple[str, ...]], ...]
"""What an alias stands for, by the text before and after its ``*``, the longest first; without one the second
is None."""


Package = tuple[str, tuple[str, ...], Mapping[str, tuple[str, ...]]]
"""A package of npm: where its manifest is, what its main module may be, the most telling first, and the paths
by what is imported below the package, ``./inner``; both relative to the first."""

Aliases = tuple[str, str | None, Patterns]
"""The path aliases of a TypeScript configuration: the directory whose files they are for, the one that names
without dots are relative to, None if it is not given, and what they stand for."""


class Manifests:
    """The manifests of a view, parsed when first asked for.

    Args:
        texts: Their bytes, by path. What cannot be parsed is ignored, as the language's own tools say so.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = {path: texts[path] for path in sorted(texts) if len(texts[path]) <= MOST_BYTES}
        self._known: dict[str, tuple[str | None, Patterns]] = {}

    def packages(self) -> dict[str, list[Package]]:
        """Return the packages of npm, by name."""
        found: dict[str, list[Package]] = {}
        for folder, data in self._each("package.json", _parsed_json):
            name = data.get("name")
            if isinstance(name, str) and name:
                exports = _exports(data.get("exports"))
                main = [data.get(key) for key in ("source", "types", "typings", "module", "main")]
                entries = [*exports.pop(".", ()), *(each for each in main if isinstance(each, str))]
                found.setdefault(name, []).append((folder, tuple(dict.fromkeys(entries)), exports))
        return found

    def aliases(self) -> list[Aliases]:
        """Return the path aliases, those of the innermost directories first."""
        found: list[Aliases] = []
        for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
            for path in self._paths(name):
                folder = path.rpartition("/")[0]
                base, patterns = self._options(path, _MOST_PARENTS)
                if base is not None or patterns:
                    found.append((folder, base, patterns))
        for folder, data in self._each("package.json", _parsed_json):
            if isinstance(data.get("imports"), dict):
                places = {key: [*_paths_in(each, 4)] for key, each in data["imports"].items()}
                found.append((folder, None, _patterns(places, folder)))
        return sorted(found, key=lambda each: -len(each[0]))

    def crates(self) -> dict[str, str]:
        """Return the names of Rust's crates, as written in source, by the manifest's directory."""
        found = {}
        for folder, data in self._each("Cargo.toml", lambda text: bounded_toml.parse(text.decode())):
            package, library = data.get("package"), data.get("lib")
            for table in (library, package):
                name = table.get("name") if isinstance(table, dict) else None
                if isinstance(name, str) and name:
                    found[folder] = name.replace("-", "_")
                    break
        return found

    def go_modules(self) -> dict[str, str]:
        """Return the directories of Go's modules, by the module's path."""
        found = {}
        for path in self._paths("go.mod"):
            named = GO_MODULE.search(self._texts[path].decode("utf-8", "replace"))
            if named:
                found[named[1]] = path.rpartition("/")[0]
        return found

    def _paths(self, name: str) -> list[str]:
        return [path for path in self._texts if path == name or path.endswith("/" + name)]

    def _each(self, name: str, parse: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in self._paths(name):
            try:
                data = parse(self._texts[path])
            except (ValueError, RecursionError):
                continue
            if isinstance(data, dict):
                yield path.rpartition("/")[0], data

    def _options(self, path: str, depth: int) -> tuple[str | None, Patterns]:
        """Return a configuration's base directory and aliases, those of what it extends included."""
        if path not in self._known:
            self._known[path] = None, ()  # for one that extends itself
            self._known[path] = self._read_options(path, depth)
        return self._known[path]

    def _read_options(self, path: str, depth: int) -> tuple[str | None, Patterns]:
        try:
            data = _parsed_json(self._texts[path])
        except (KeyError, ValueError, RecursionError):
            return None, ()
        if not isinstance(data, dict):
            return None, ()
        folder = path.rpartition("/")[0]
        options = data.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base: str | None = None
        patterns: Patterns = ()
        for parent in _listed(data.get("extends")):
            if parent.startswith(".") and depth > 0:
                place = _at(folder, parent)
                place = place if place in self._texts else f"{place}.json"
                base, patterns = self._options(place, depth - 1)
        if isinstance(options.get("baseUrl"), str):
            base = _at(folder, options["baseUrl"])
        if isinstance(options.get("paths"), dict):
            patterns = _patterns(options["paths"], folder if base is None else base)
        return base, patterns


def _patterns(paths: Mapping[str, Any], base: str) -> Patterns:
    found = []
    for alias, targets in list(paths.items())[:_MOST_PATTERNS]:
        before, star, after = alias.partition("*")
        places = tuple(_at(base, each) for each in _listed(targets))
        found.append((before, after if star else None, places))
    return tuple(sorted(found, key=lambda each: (each[1] is not None, -len(each[0]))))


def _exports(value: object) -> dict[str, tuple[str, ...]]:
    """Return the paths by what is imported, ``.`` for the package itself, of npm's ``exports``."""
    if not isinstance(value, dict) or not any(key.startswith(".") for key in value):
        paths = tuple(_paths_in(value, 4))
        return {".": paths} if paths else {}
    return {key: tuple(_paths_in(each, 4)) for key, each in list(value.items())[:_MOST_PATTERNS]}


def _paths_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > 0 and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _paths_in(each, depth - 1)


def _listed(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


def _parsed_json(text: bytes) -> Any:
    source = text.decode("utf-8-sig")
    try:
        return json.loads(source)
    except ValueError:
        for _ in range(2):  # a comma may be followed by a comment
            source = _NOT_DATA.sub(lambda found: found[1] or "", source)
        return json.loads(source)


def _at(folder: str, relative: str) -> str:
    place = normpath(join(folder, relative))
    return "" if place == "." else place
