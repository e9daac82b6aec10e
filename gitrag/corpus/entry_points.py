"""Find where a program begins: what its manifests name, files of usual names, definitions of `main`. Pure."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Collection, Iterator
from posixpath import basename

from msgspec import Struct

from gitrag.corpus.manifests import MANIFEST_BYTES
from gitrag.words import bounded_toml
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, Trait, traits

Read = Callable[[str], bytes | None]
"""Returns the text of a file of the tree; None where there is none, or it cannot be read."""

_USUAL = frozenset(
    "manage.py wsgi.py asgi.py config.ru artisan public/index.php index.php Program.cs src/lib.rs".split()
)
"""Files that are entry points by their place; ``wsgi.py`` and ``asgi.py`` are in any directory."""

_BUILD_SCRIPTS = frozenset({"build.rs", "setup.py"})


class EntryPoint(Struct, frozen=True):
    """Where a program begins.

    Attributes:
        target: A command with what it runs (``rg: crates/core/main.rs``), or a path.
        source: What says so: a manifest, ``main`` for a definition of that name; empty for a usual name.
    """

    target: str
    source: str = ""


def entry_points(paths: Collection[str], read: Read, mains: Collection[str] = ()) -> tuple[EntryPoint, ...]:
    """Return the entry points of a tree, those that a manifest names first."""
    there = frozenset(paths)
    found: list[EntryPoint] = []
    for manifest, reader in _MANIFESTS:
        data = read(manifest) if manifest in there else None
        if data is not None and len(data) <= MANIFEST_BYTES:
            found += [EntryPoint(target, manifest) for target in _named_by(reader, data)]
    told = " ".join(each.target for each in found)
    own = sorted(
        (path for path in there if not traits(path, OUTSIDE_THE_PRODUCT | Trait.SUPPORT)),
        key=lambda path: (path.count("/"), path),
    )
    found += [EntryPoint(path) for path in own if _is_usual(path) and path not in told]
    begins = frozenset(mains)
    found += [
        EntryPoint(path, "main")
        for path in own
        if path in begins and basename(path) not in _BUILD_SCRIPTS and path not in told
    ]
    if not found:
        packages = (path for path in own if path.endswith("/__init__.py"))
        found += [EntryPoint(path) for path in packages if re.fullmatch(r"(?:src/)?\w{2,}/[^/]+", path)]
    return tuple(dict.fromkeys(found))


def _is_usual(path: str) -> bool:
    name = basename(path)
    return (
        path in _USUAL or name == "__main__.py" or ("/" in path and name in _USUAL and name.endswith("gi.py"))
    )


def _named_by(reader: Callable[[bytes], Iterator[str]], data: bytes) -> list[str]:
    """Return what a manifest names; nothing where it is malformed, or of another shape: others say so."""
    try:
        return [" ".join(each.split()) for each in reader(data)]
    except (ValueError, TypeError, AttributeError, RecursionError, configparser.Error):
        return []


def _pyproject(data: bytes) -> Iterator[str]:
    tables = bounded_toml.parse(data.decode())
    for names in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        yield from _pairs(tables, *names)


def _setup_cfg(data: bytes) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(data.decode())
    listed = parser.get("options.entry_points", "console_scripts", fallback="")
    for line in filter(None, map(str.strip, listed.splitlines())):
        name, _, target = line.partition("=")
        yield f"{name.strip()}: {target.strip()}"


def _package(data: bytes) -> Iterator[str]:
    package = json.loads(data)
    if not isinstance(package, dict):
        return
    binaries = package.get("bin")
    if isinstance(binaries, str):
        yield f"{package.get('name', '')}: {binaries}".lstrip(": ")
    yield from _pairs(package, "bin")
    for key in ("main", "module"):
        if isinstance(package.get(key), str):
            yield package[key]
            break
    scripts = package.get("scripts")
    if isinstance(scripts, dict) and isinstance(scripts.get("start"), str):
        yield f"start: {scripts['start']}"


def _cargo(data: bytes) -> Iterator[str]:
    tables = bounded_toml.parse(data.decode())
    for each in tables.get("bin", []):
        if isinstance(each, dict):
            yield ": ".join(part for part in (each.get("name"), each.get("path")) if isinstance(part, str))


def _pairs(value: object, *names: str) -> Iterator[str]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    for key, target in value.items() if isinstance(value, dict) else ():
        if isinstance(target, str):
            yield f"{key}: {target}"


_MANIFESTS: tuple[tuple[str, Callable[[bytes], Iterator[str]]], ...] = (
    ("pyproject.toml", _pyproject),
    ("setup.cfg", _setup_cfg),
    ("package.json", _package),
    ("Cargo.toml", _cargo),
)
