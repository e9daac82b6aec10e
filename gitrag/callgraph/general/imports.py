"""Find the file that an import names, in languages other than Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import join, normpath

from msgspec import Struct

from gitrag.callgraph.general.crates import Crates, shared
from gitrag.callgraph.general.manifests import Manifests
from gitrag.callgraph.general.records import ImportRow
from gitrag.callgraph.general.scripts import Scripts

_BY_PATH = (".lua", ".dart", ".zig")
"""Endings of files that name others by their paths."""

_FEW = 50
"""Templates of a name among which the one that is meant is looked for."""
_ROOTS = ("templates", "views", "Templates")
"""How directories end that templates of PHP are named from."""

DEFAULT = "default"
"""The name under which JavaScript exports a file's main definition."""


class ImportedName(Struct, frozen=True):
    """An imported name.

    Attributes:
        alias: The name in the file; ``*`` for all names.
        origin: The imported module, as written.
        name: The name in that module; None where the alias stands for the whole module.
        kind: How the module is written: ``file``, ``package``, ``path``, ``use``, or ``local`` for a name of
            the file itself that it exports under another.
        public: Whether others may import the name from here.
    """

    alias: str
    origin: str
    name: str | None
    kind: str
    public: bool = True


def read_imports(  # noqa: C901, PLR0912 - one branch per kind of import
    rows: Sequence[ImportRow], language: str
) -> list[ImportedName]:
    """Turn a query's captures into imported names."""
    found: list[ImportedName] = []
    spread = [row.spread for row in rows if row.spread]  # `export default { ...others }`
    for row in rows:
        if spread and row.origin is not None and (row.module or row.default) in spread:
            found.append(ImportedName("*", row.origin, None, "file"))
        if row.local is not None:
            found.append(ImportedName(row.alias or DEFAULT, "", row.local, "local"))
        elif row.origin is not None:
            origin = row.origin
            if row.module is not None:
                found.append(ImportedName(row.module, origin, None, "file"))
            elif row.default is not None:
                found.append(ImportedName(row.default, origin, DEFAULT, "file"))
            elif row.name is not None:
                found.append(
                    ImportedName(row.name if row.alias is None else row.alias, origin, row.name, "file")
                )
        elif row.all is not None:
            public = language != "dart" or row.public is not None
            found.append(ImportedName("*", row.all, None, "file", public))
        elif row.path is not None and language == "php":
            whole = f"{row.package or ''}.{row.path}".replace("\\", ".").strip(".")
            owner, _, name = whole.rpartition(".")
            if name[:1].isupper():  # else a function
                found.append(ImportedName(row.alias or name, owner, name, "path"))
        elif row.package is not None:
            origin = row.package
            last = origin.rpartition("/")[2]
            if last[:1] == "v" and last[1:].isdigit():
                last = origin.rpartition("/")[0].rpartition("/")[2]
            found.append(ImportedName(last if row.alias is None else row.alias, origin, None, "package"))
        elif row.use is not None and language == "elixir":
            found += _aliases(row.use, row.alias)
        elif row.use is not None:
            text = row.use if row.alias is None else f"{row.use} as {row.alias}"
            found += _used("", text, row.public is not None)
        elif row.path is not None and language == "java":
            owner, _, name = row.path.rpartition(".")
            found.append(ImportedName(name, owner, name, "path"))
            if row.name == "*":  # the static members of a class
                found[-1] = ImportedName("*", row.path, None, "path")
    return found


def _aliases(text: str, alias: str | None) -> Iterator[ImportedName]:
    """Yield the names that an ``alias`` of Elixir gives to modules: ``A.B``, ``A.{B, C.D}``."""
    head, opens, rest = text.partition("{")
    for each in rest.rstrip("} \n").split(",") if opens else [""]:
        whole = f"{head}{each}".replace("\n", "").replace(" ", "")
        yield ImportedName(alias or whole.rpartition(".")[2], whole, None, "use")


def _used(before: str, text: str, public: bool) -> list[ImportedName]:
    """Split a Rust ``use`` into its names: ``a::{b, c as d}``."""
    text = text.strip()
    head, opens, rest = text.partition("{")
    if opens:
        inside = _split(rest.rpartition("}")[0])
        return [each for part in inside for each in _used(before + head, part, public)]
    path, _, alias = text.partition(" as ")
    whole = (before + path.strip()).replace(" ", "").replace("\n", "").removeprefix("::")
    owner, _, name = whole.rpartition("::")
    if name == "self":
        owner, _, name = owner.rpartition("::")
    origin = owner.replace("::", ".")
    return [ImportedName(alias.strip() or name, origin, None if name == "*" else name, "use", public)]


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


Place = tuple[str, tuple[str, ...]]
"""A file or directory, and the names inside of it that lead to what is meant."""


class Imports:
    """Resolves imports to files of the view.

    Args:
        files: The view's files, by path.
        manifests: What the view's manifests say.
    """

    def __init__(self, files: Mapping[str, object], manifests: Manifests) -> None:
        self._files = files
        self._manifests = manifests
        self._folders: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        for path in sorted(files):
            folder, _, file = path.rpartition("/")
            self._folders.setdefault(folder, []).append(path)
            self._stems.setdefault(file.partition(".")[0], []).append(path)
        self._scripts: Scripts | None = None
        self._crates: Crates | None = None
        self._go_modules: dict[str, str] | None = None
        self._found: dict[tuple[str, str, str], list[Place]] = {}
        self._views: dict[str, list[str]] = {}

    def within(self, module: str) -> list[str]:
        """Return the files of a path, which may be a directory."""
        return [module] if module in self._files else self._folders.get(module, [])

    def files(self, imported: ImportedName, importer: str) -> list[Place]:
        """Return the files or directories that an import may name, the likeliest first."""
        if imported.kind == "local":
            return [(importer, ())]
        if imported.kind == "file":
            found = self._script(imported.origin, importer)
            return [(found, ())] if found else []
        last = imported.name or "" if imported.kind == "path" else ""
        key = imported.origin, last, "" if imported.kind == "package" else importer
        if key not in self._found:
            self._found[key] = self._find(imported, importer)
        return self._found[key]

    def _find(self, imported: ImportedName, importer: str) -> list[Place]:
        if imported.kind == "package":
            folder = self._go_package(imported.origin)
            return [] if folder is None else [(folder, ())]
        if imported.kind == "use":
            return self.crates.named([part for part in imported.origin.split(".") if part], importer)
        end = imported.origin.replace(".", "/")
        held = [
            path
            for path in self._stems.get(imported.name or "", [])
            if f"/{path.rpartition('/')[0]}".endswith(f"/{end}")
        ]
        if not held:  # a static import, or one of a class inside another
            owner, _, outer = imported.origin.rpartition(".")
            end = owner.replace(".", "/")
            held = [
                path
                for path in self._stems.get(outer, [])
                if f"/{path.rpartition('/')[0]}".endswith(f"/{end}")
            ]
            return [(path, (outer,)) for path in _nearest(held, importer)]
        return [(path, ()) for path in _nearest(held, importer)]

    def _go_package(self, origin: str) -> str | None:
        """Return the directory of a Go package: by its module's path, or the end of it without manifests."""
        if self._go_modules is None:
            self._go_modules = self._manifests.go_modules()
        for module in sorted(self._go_modules, key=len, reverse=True):
            if origin == module or origin.startswith(f"{module}/"):
                inner = origin[len(module) :].strip("/")
                folder = "/".join(part for part in (self._go_modules[module], inner) if part)
                return folder if folder in self._folders else None
        if self._go_modules:
            return None
        parts = origin.split("/")
        for start in range(len(parts)):
            folder = "/".join(parts[start:])
            if folder in self._folders:
                return folder
        return None

    @property
    def crates(self) -> Crates:
        """The Rust modules."""
        if self._crates is None:
            paths = (path for path in self._files if path.endswith(".rs"))
            self._crates = Crates(paths, self._manifests.crates())
        return self._crates

    def template(self, name: str, importer: str) -> str | None:
        """Return the template of PHP that a name means in a file: of its bundle, else the nearest."""
        if name == "_self":
            return importer
        bundle = name.partition("/")[0].lstrip("@!").lower() if name.startswith("@") else ""
        name = name.partition("/")[2] if bundle else name.lstrip("/!")

        def is_elsewhere(path: str) -> bool:
            return not path.removesuffix(name).rstrip("/").endswith(_ROOTS)

        if name not in self._views:
            stem = name.rpartition("/")[2].partition(".")[0]
            every = [path for path in self._stems.get(stem, ()) if f"/{path}".endswith(f"/{name}")]
            self._views[name] = sorted(every, key=lambda path: (is_elsewhere(path), len(path), path))[:_FEW]
        return min(
            self._views[name],
            key=lambda path: (
                bool(bundle) and not {bundle, f"{bundle}bundle"} & set(path.lower().split("/")),
                is_elsewhere(path),
                -shared(path, importer),
            ),
            default=None,
        )

    def _script(self, origin: str, importer: str) -> str | None:
        if importer.endswith(".twig"):
            return self.template(origin, importer)
        if importer.endswith(_BY_PATH):
            return self._at(origin, importer)
        if self._scripts is None:
            self._scripts = Scripts(self._files, self._manifests)
        return self._scripts.file(origin, importer)

    def _at(self, origin: str, importer: str) -> str | None:
        """Return the file that Dart, Zig or Lua name by its path: a whole one, or the end of it."""
        if importer.endswith(".lua"):
            end = origin.replace(".", "/")
            ends, stems = [f"{end}.lua", f"{end}/init.lua"], [end.rpartition("/")[2], "init"]
        elif origin.startswith("package:"):
            end = origin.partition("/")[2]
            ends, stems = [f"lib/{end}"], [end.rpartition("/")[2].partition(".")[0]]
        else:
            path = normpath(join(importer.rpartition("/")[0], origin))
            return path if path in self._files else None
        every = [path for stem in stems for path in self._stems.get(stem, ())]
        return next(
            iter(_nearest([path for path in every if f"/{path}".endswith(_slashed(ends))], importer)), None
        )


def _slashed(ends: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"/{end}" for end in ends)


def _nearest(paths: list[str], importer: str) -> list[str]:
    return sorted(paths, key=lambda path: (-shared(path, importer), path))[:1]
