"""Which file an import of JavaScript or TypeScript names: relative, by a path alias, or of a package here."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import join, normpath

from gitrag.callgraph.general.manifests import Aliases, Manifests, Package

_WORKSPACES = frozenset({"packages", "apps", "libs", "modules", "plugins", "services"})
"""Directories that contain packages by convention; the documentation of npm, pnpm and Nx uses these names."""

_SOURCES = ("src", "", "lib")
"""Where a package's source is."""

_SUFFIXES = (
    *("", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".vue", ".svelte"),
    *("/index.ts", "/index.tsx", "/index.js", "/index.jsx", "/index.mjs", "/index.mts", "/index.vue"),
)
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_RUN = (".js", ".jsx", ".mjs", ".cjs")
_BY_NODE = ("", *_RUN, *(each for each in _SUFFIXES if each and each not in _RUN))
"""In the order in which JavaScript looks for them: what it can run comes before its sources."""
_WRITTEN = (".js", ".mjs", ".cjs", ".jsx", ".d.ts")
"""Suffixes of what a compiler makes, where the source has another one."""

_ROOTS = frozenset({"@", "~", "@@", "~~"})
"""What by custom stands for where all sources are."""

_BUILT = frozenset({"dist", "build", "out", "lib", "esm", "cjs", "es", "types", "umd"})
"""Directories of what is built of ``src``."""


class Scripts:
    """The JavaScript and TypeScript files of a view.

    Args:
        paths: Their paths.
        manifests: What the view's manifests say.
    """

    def __init__(self, paths: Iterable[str], manifests: Manifests) -> None:
        self._files = frozenset(paths)
        self._manifests = manifests
        self._read = False
        self._packages: dict[str, list[Package]] = {}
        self._aliases: list[Aliases] = []
        self._found: dict[tuple[str, str, bool], str | None] = {}
        self._is_typed = False  # whether TypeScript imports, in the search that is made
        self._ends: dict[str, list[str]] = {}
        self._directories = {path.rpartition("/")[0] for path in self._files}
        self._folders: dict[str, set[str]] = {}
        for path in sorted(self._files):
            self._ends.setdefault(_stem(path).rpartition("/")[2], []).append(path)
        for folder in self._directories:
            parts = folder.split("/")
            source = next((place for place, part in enumerate(parts) if part in _SOURCES), None)
            for package in filter(None, {folder, "/".join(parts[:source])}):
                self._folders.setdefault(package.rpartition("/")[2], set()).add(package)

    def file(self, origin: str, importer: str) -> str | None:
        """Return the file of an import; None if it is not in the view."""
        self._is_typed = importer.endswith(_TYPED)
        key = origin, importer.rpartition("/")[0], self._is_typed
        if key not in self._found:
            self._found[key] = self._find(origin, key[1])
        return self._found[key]

    def _find(self, origin: str, folder: str) -> str | None:
        if origin.startswith("."):
            stem = origin.partition("${")[0]
            place = normpath(join(folder, stem))
            if stem.endswith("/") and (stem != origin or self._at(place) is None):  # any file of a directory
                return place if place in self._directories else None
            return self._at(place) or self._of_built(place)
        if not self._read:
            self._read = True
            self._packages, self._aliases = self._manifests.packages(), self._manifests.aliases()
        return (
            self._by_alias(origin, folder)
            or self._by_manifest(origin)
            or self._by_root(origin, folder)
            or self._by_folder(origin)
            or self._by_end(origin)
        )

    def _by_alias(self, origin: str, folder: str) -> str | None:
        """Follow the path aliases of the innermost TypeScript configuration that has any for the file."""
        for of, base, patterns in self._aliases:
            if of and not f"{folder}/".startswith(f"{of}/"):
                continue
            for before, after, places in patterns:
                if after is None:
                    matched = "" if origin == before else None
                elif origin.startswith(before) and origin.endswith(after):
                    matched = origin[len(before) : len(origin) - len(after)]
                else:
                    matched = None
                for place in places if matched is not None else ():
                    found = self._at(normpath(place.replace("*", matched or "", 1)))
                    if found is not None:
                        return found
            if base is not None:
                found = self._at(normpath(join(base, origin)))
                if found is not None:
                    return found
        return None

    def _by_root(self, origin: str, folder: str) -> str | None:
        """Find a file from where the sources are that an importer is among: ``@/inner``, ``comp/inner``."""
        mark, _, inner = origin.partition("/")
        if not inner or (mark[:1] == "@" and mark not in _ROOTS):
            return None
        inner = inner if mark in _ROOTS else origin
        parts = folder.split("/")
        ends = ((*parts[:at], *source, inner) for at in range(len(parts) + 1) for source in ((), ("src",)))
        found = {place for end in ends if (place := self._at("/".join(filter(None, end)))) is not None}
        return found.pop() if len(found) == 1 else None

    def _by_manifest(self, origin: str) -> str | None:
        """Find a package of the repository by the name in its manifest."""
        if not self._packages:
            return None
        parts = origin.split("/")
        for length in range(min(2, len(parts)), 0, -1):
            inner = "/".join(parts[length:])
            for package in self._packages.get("/".join(parts[:length]), ()):
                found = self._in_package(package, inner)
                if found is not None:
                    return found
        return None

    def _in_package(self, package: Package, inner: str) -> str | None:
        folder, entries, exports = package
        for entry in exports.get(f"./{inner}", ()) if inner else entries:
            found = self._source_of(folder, entry)
            if found is not None:
                return found
        return self._by_convention(folder, inner)

    def _source_of(self, folder: str, entry: str) -> str | None:
        """Return the source of what a package says is its module, which may be built: ``dist/index.js``."""
        place = normpath(join(folder, entry))
        found = self._at(place)
        if found is not None or not place.startswith(folder):
            return found
        parts = place[len(folder) :].strip("/").split("/")
        while parts and parts[0] in _BUILT:
            parts = parts[1:]
            for source in _SOURCES:
                found = self._at("/".join(part for part in (folder, source, *parts) if part))
                if found is not None:
                    return found
        return None

    def _of_built(self, place: str) -> str | None:
        """Return the source of a file in a directory of what is built, which tests import."""
        parts = place.split("/")
        at = next((at for at, part in enumerate(parts) if part in _BUILT), None)
        return None if at is None else self._at("/".join([*parts[:at], "src", *parts[at + 1 :]]))

    def _by_folder(self, origin: str) -> str | None:
        """Find a package without a manifest of that name: by convention it is in a directory of its name.

        Without a scope it must be in a usual place for packages, since any directory might share a
        third-party package's name.
        """
        parts = origin.split("/")
        scoped = len(parts[0]) > 1 and origin.startswith("@") and len(parts) > 1  # not `@/inner`
        name, inner = (parts[1], parts[2:]) if scoped else (parts[0], parts[1:])
        there = sorted(self._folders.get(name, ()))
        usual = [folder for folder in there if folder.rpartition("/")[0].rpartition("/")[2] in _WORKSPACES]
        found = {
            place
            for folder in usual or (there if scoped else [])
            if (place := self._by_convention(folder, "/".join(inner))) is not None
        }
        return found.pop() if len(found) == 1 else None

    def _by_convention(self, folder: str, inner: str) -> str | None:
        for source in _SOURCES:
            found = self._at("/".join(part for part in (folder, source, inner or "index") if part))
            if found is not None:
                return found
        return None

    def _by_end(self, origin: str) -> str | None:
        """Return the file, if there is only one, whose path ends with an import without dots."""
        if "/" not in origin:
            return None
        end = f"/{origin.lstrip('@~/')}"
        fitting = [path for path in self._ends.get(end.rpartition("/")[2], []) if _stem(path).endswith(end)]
        return fitting[0] if len(fitting) == 1 else None

    def _at(self, place: str) -> str | None:
        stems = [place, *(place.removesuffix(written) for written in _WRITTEN if place.endswith(written))]
        if self._is_typed and len(stems) > 1:
            stems.append(stems.pop(0))  # `./util.js` is `util.ts` there
        for stem in stems:
            for suffix in _SUFFIXES if self._is_typed else _BY_NODE:
                if stem + suffix in self._files:
                    return stem + suffix
        return None


def _stem(path: str) -> str:
    return "/" + path.rpartition(".")[0].removesuffix("/index")
