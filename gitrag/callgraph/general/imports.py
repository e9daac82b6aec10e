"""Find the file that an import names, in languages other than Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from posixpath import join, normpath

from gitrag.callgraph.general.records import ImportRow

_WORKSPACES = frozenset({"packages", "apps", "libs", "modules", "plugins", "services"})
"""Directories that contain packages by convention; the documentation of npm, pnpm and Nx uses these names."""

_SOURCES = ("src", "", "lib")
"""Where a package's source is."""

_SCRIPTS = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", "/index.ts", "/index.tsx", "/index.js")


@dataclass(frozen=True, slots=True)
class ImportedName:
    """An imported name.

    Attributes:
        alias: The name in the file; ``*`` for all names.
        origin: The imported module, as written.
        name: The name in that module; None where the alias stands for the whole module.
        kind: How the module is written: ``file``, ``package`` or ``path``.
    """

    alias: str
    origin: str
    name: str | None
    kind: str


def read_imports(  # noqa: C901 - one branch per kind of import
    rows: Iterable[ImportRow], language: str
) -> list[ImportedName]:
    """Turn a query's captures into imported names."""
    found: list[ImportedName] = []
    for row in rows:
        if row.origin is not None:
            origin = row.origin
            if row.module is not None:
                found.append(ImportedName(row.module, origin, None, "file"))
            elif row.default is not None:
                found.append(ImportedName(row.default, origin, row.default, "file"))
            elif row.name is not None:
                found.append(
                    ImportedName(row.name if row.alias is None else row.alias, origin, row.name, "file")
                )
        elif row.all is not None:
            found.append(ImportedName("*", row.all, None, "file"))
        elif row.package is not None:
            origin = row.package
            last = origin.rpartition("/")[2]
            if last[:1] == "v" and last[1:].isdigit():
                last = origin.rpartition("/")[0].rpartition("/")[2]
            found.append(ImportedName(last if row.alias is None else row.alias, origin, None, "package"))
        elif row.use is not None:
            found += _used("", row.use)
        elif row.path is not None and language == "java":
            owner, _, name = row.path.rpartition(".")
            found.append(ImportedName(name, owner, name, "path"))
            if row.name == "*":  # the static members of a class
                found[-1] = ImportedName("*", row.path, None, "path")
    return found


def _used(before: str, text: str) -> list[ImportedName]:
    """Split a Rust ``use`` into its names: ``a::{b, c as d}``."""
    text = text.strip()
    head, opens, rest = text.partition("{")
    if opens:
        return [each for part in _split(rest.rpartition("}")[0]) for each in _used(before + head, part)]
    path, _, alias = text.partition(" as ")
    whole = before + path.strip()
    owner, _, name = whole.rpartition("::")
    if name == "self":
        owner, _, name = owner.rpartition("::")
    return [
        ImportedName(alias.strip() or name, owner.replace("::", "."), None if name == "*" else name, "path")
    ]


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


class Imports:
    """Resolves imports to files of the view.

    Args:
        files: The view's files, by path.
    """

    def __init__(self, files: Mapping[str, object]) -> None:
        self._files = files
        self._folders: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        for path in sorted(files):
            folder, _, file = path.rpartition("/")
            self._folders.setdefault(folder, []).append(path)
            stem = file.partition(".")[0]
            if stem in {"mod", "lib", "main", "index"} and folder:
                stem = folder.rpartition("/")[2]
            self._stems.setdefault(stem, []).append(path)
        self._ends: dict[str, list[str]] = {}
        for path in files:
            self._ends.setdefault(_stem(path).rpartition("/")[2], []).append(path)
        self._packages: dict[str, set[str]] = {}
        for folder in self._folders:
            parts = folder.split("/")
            source = next((place for place, part in enumerate(parts) if part in _SOURCES), None)
            for package in filter(None, {folder, "/".join(parts[:source])}):
                self._packages.setdefault(package.rpartition("/")[2], set()).add(package)

    def within(self, module: str) -> list[str]:
        """Return the files of a path, which may be a directory."""
        return [module] if module in self._files else self._folders.get(module, [])

    def files(self, imported: ImportedName, importer: str) -> list[str]:
        """Return the file or directory that an import names; empty if it is not in the view."""
        if imported.kind == "file":
            found = self._script(imported.origin, importer)
            return [found] if found else []
        if imported.kind == "package":
            fitting = [
                folder for folder in self._folders if folder and f"/{imported.origin}".endswith(f"/{folder}")
            ]
            return [max(fitting, key=len)] if fitting else []
        parts = [part for part in imported.origin.split(".") if part not in {"crate", "self", "super", ""}]
        name = imported.name or ""
        exact = [
            path for path in self._stems.get(name, []) if path.rpartition("/")[0].endswith("/".join(parts))
        ]
        if exact and importer.endswith(".java"):
            return exact[:1]
        if parts:
            held = self._stems.get(parts[-1], [])
            return held or exact[:1]
        return exact[:1]

    def module(self, name: str, importer: str) -> str | None:
        """Return the file of a module declared without an import (Rust's ``mod``)."""
        if not importer.endswith(".rs"):
            return None
        if name in {"crate", "self", "super"}:
            return importer
        found = self._stems.get(name, [])
        return found[0] if len(found) == 1 else None

    def _script(self, origin: str, importer: str) -> str | None:
        if not origin.startswith("."):
            return self._of_package(origin) or self._aliased(origin)
        return self._script_at(normpath(join(importer.rpartition("/")[0], origin)))

    def _aliased(self, origin: str) -> str | None:
        """Return the file, if there is only one, whose path ends with an import without dots."""
        if "/" not in origin:
            return None
        end = f"/{origin.lstrip('@~/')}"
        fitting = [path for path in self._ends.get(end.rpartition("/")[2], []) if _stem(path).endswith(end)]
        return fitting[0] if len(fitting) == 1 else None

    def _of_package(self, origin: str) -> str | None:
        """Return the source of a package of the same repository: ``@scope/name/inner``, ``name``.

        Manifests are not read: by convention a package is in a directory of its name. Without a scope it must
        be in a usual place for packages, since any directory might share a third-party package's name.
        """
        parts = origin.split("/")
        scoped = len(parts[0]) > 1 and origin.startswith("@") and len(parts) > 1  # not `@/inner`
        name, inner = (parts[1], parts[2:]) if scoped else (parts[0], parts[1:])
        there = sorted(self._packages.get(name, ()))
        usual = [folder for folder in there if folder.rpartition("/")[0].rpartition("/")[2] in _WORKSPACES]
        found = {
            place
            for folder in usual or (there if scoped else [])
            if (place := self._in_package(folder, "/".join(inner))) is not None
        }
        return found.pop() if len(found) == 1 else None

    def _in_package(self, folder: str, inner: str) -> str | None:
        for source in _SOURCES:
            found = self._script_at("/".join(part for part in (folder, source, inner or "index") if part))
            if found is not None:
                return found
        return None

    def _script_at(self, place: str) -> str | None:
        bare = place.removesuffix(".js").removesuffix(".mjs")
        for stem in (place, bare):
            for suffix in _SCRIPTS:
                if stem + suffix in self._files:
                    return stem + suffix
        return None


def _stem(path: str) -> str:
    return "/" + path.rpartition(".")[0].removesuffix("/index")
