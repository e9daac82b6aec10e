"""Find the source of an installed dependency: of Python or npm, without importing or running any of it."""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.errors import UsageError
from gitrag.machine.files import read_regular
from gitrag.words.spelling import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_MOST_FILES = 20_000
_MOST_FILE_BYTES = 1 << 20
_MOST_BYTES = 256 << 20
"""How much of a dependency is looked at: the largest of PyPI's and npm's most used have less."""

_MOST_SEEN = 200_000
_DEEPEST = 64
"""How many files and directories of one are walked through, and how deep."""

_MANIFEST_BYTES = 1 << 20
_MOST_ABOUT_BYTES = 16 << 20
_ABOUT = ("METADATA", "PKG-INFO", "RECORD", "SOURCES.txt", "installed-files.txt", "top_level.txt")
"""Files of a distribution that `importlib.metadata` reads."""

_COMPILED = frozenset({".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".node", ".wasm", ".map"})
_VENVS = (".venv", "venv")
_NPM_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*")


class Dependency(Struct, frozen=True):
    """An installed dependency.

    Attributes:
        version: Its version; empty if it says none.
        paths: Its files, sorted.
        left_out: How many more text files were seen: too large, or too many.
    """

    name: str
    version: str
    root: Path
    paths: tuple[str, ...]
    left_out: int


def find(name: str, start: Path, environ: Mapping[str, str]) -> Dependency:
    """Find a dependency of the project around a directory.

    Args:
        name: The name of a Python distribution or of what it is imported as, or of an npm package;
            ``python:NAME`` or ``npm:NAME`` where both have one.
        environ: The environment; VIRTUAL_ENV names the one of Python's.
    """
    kind, _, rest = name.partition(":")
    wanted = rest if kind in {"python", "npm"} else name
    places, modules = _site_packages(start, environ), _node_modules(start)
    found: list[tuple[str, Dependency]] = []
    if kind != "npm":
        found += [("python", each) for each in _python(wanted, places)]
    if kind != "python" and _NPM_NAME.fullmatch(wanted):
        found += [("npm", each) for each in _npm(wanted, modules, _top(start, modules))]
    if len(found) > 1:
        both = " or ".join(f"{kind}:{wanted}" for kind, _ in found)
        raise UsageError(f'Both Python and npm have "{wanted}" installed here.', f"Say which: {both}.")
    if not found:
        known = [*_python_names(places), *_npm_names(modules)]
        looked = [str(each) for each in (*places, *modules)]
        where = (
            f"Looked in {', '.join(looked)}." if looked else "There is no .venv, VIRTUAL_ENV or node_modules."
        )
        raise UsageError(
            f'No dependency "{wanted[:60]}" is installed here.{did_you_mean(wanted, known)}', where
        )
    if not found[0][1].paths:
        raise UsageError(f'The dependency "{wanted}" has no source files here.', str(found[0][1].root))
    return found[0][1]


def _python(wanted: str, places: list[Path]) -> Iterator[Dependency]:
    """Yield the distribution of a name, else that which brings the package of that name; one at most."""
    every = list(_distributions(places))
    own = [each for each in every if _normal(_name(each)) == _normal(wanted)]
    for each in own or [each for each in every if wanted in _tops(each)]:
        root = Path(str(each.locate_file(""))).resolve()
        inside = (
            path for path in _files(each) if not path.split("/")[0].endswith((".dist-info", ".egg-info"))
        )
        yield Dependency(_name(each), each.version or "", root, *_usable(root, inside))
        return


def _distributions(places: list[Path]) -> Iterator[Distribution]:
    """Yield the distributions that say what they are in plain files: others may be endless, or elsewhere."""
    from importlib.metadata import Distribution

    for place in places:
        for info in sorted((*place.glob("*.dist-info"), *place.glob("*.egg-info"))):
            if not info.is_symlink() and all(_is_plain(info / name) for name in _ABOUT) and _is_plain(info):
                yield Distribution.at(info)


def _is_plain(path: Path) -> bool:
    """Tell whether what is read at a path ends: a small file, a directory, or nothing."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) or (
        stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_ABOUT_BYTES
    )


def _name(distribution: Distribution) -> str:
    with suppress(OSError, ValueError):
        return distribution.name or ""
    return ""


def _files(distribution: Distribution) -> list[str]:
    with suppress(OSError, ValueError, csv.Error):
        return [str(path) for path in distribution.files or ()]
    return []


def _tops(distribution: Distribution) -> set[str]:
    return {path.split("/")[0].removesuffix(".py") for path in _files(distribution)}


def _python_names(places: list[Path]) -> list[str]:
    return [name for each in _distributions(places) if (name := _name(each))]


def _site_packages(start: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the directories of packages of the project's environment: the active one, else the nearest."""
    given = environ.get("VIRTUAL_ENV", "")
    roots = [Path(given)] if given.startswith("/") else []
    roots += [above / name for above in (start, *start.parents) for name in _VENVS]
    for root in roots:
        if (root / "pyvenv.cfg").is_file():
            own = root.resolve()
            found = {each.resolve(): each for each in sorted(root.glob("lib*/python*/site-packages"))}
            return [
                each  # lib64 may be the same
                for real, each in found.items()
                if real.is_dir() and real.is_relative_to(own)
            ]
    return []


def _npm(wanted: str, modules: list[Path], top: Path | None) -> Iterator[Dependency]:
    """Yield the package of a name; one at most. A link may lead to another place in the project only."""
    for place in modules:
        root = place / wanted
        try:
            real = root.resolve()
        except (OSError, RuntimeError):  # the latter of a loop, before Python 3.13
            continue
        within = top if top is not None and place.is_relative_to(top) else place
        if within.resolve() not in real.parents:
            continue
        manifest = _manifest(root)
        if manifest is not None:
            version = manifest.get("version")
            yield Dependency(
                wanted, version if isinstance(version, str) else "", real, *_usable(real, _walk(real))
            )
            return


def _npm_names(modules: list[Path]) -> list[str]:
    found = []
    for place in modules:
        for each in place.glob("*"):
            found += (
                [f"{each.name}/{inner.name}" for inner in each.glob("*")]
                if each.name[0] == "@"
                else [each.name]
            )
    return found


def _node_modules(start: Path) -> list[Path]:
    return [above / "node_modules" for above in (start, *start.parents) if (above / "node_modules").is_dir()]


def _top(start: Path, modules: list[Path]) -> Path | None:
    """Return the top of the project around: of its working tree, else of what has packages."""
    tree = next((above for above in (start, *start.parents) if (above / ".git").exists()), None)
    return tree or (modules[-1].parent if modules else None)


def _manifest(root: Path) -> dict[str, object] | None:
    try:
        held = json.loads(read_regular(root / "package.json", _MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _walk(root: Path) -> Iterator[str]:
    seen = 0
    for folder, directories, names in os.walk(root):
        is_deep = len(Path(folder).parts) - len(root.parts) >= _DEEPEST
        directories[:] = sorted(
            each for each in directories if not is_deep and each not in {"node_modules", ".git"}
        )
        seen += 1 + len(names)
        if seen > _MOST_SEEN:
            return
        for name in sorted(names):
            yield Path(folder, name).relative_to(root).as_posix()


def _usable(root: Path, paths: Iterator[str]) -> tuple[tuple[str, ...], int]:
    """Return those of a dependency's files that may be read, and how many more the limits leave out.

    They are plain files inside of it; links, and paths that lead outside, are none.
    """
    found: list[str] = []
    total = left_out = 0
    for path in paths:
        place = root / path
        if "\n" in path or place.suffix in _COMPILED or ".." in Path(path).parts or Path(path).is_absolute():
            continue
        try:
            status = place.lstat()
            inside = place.resolve().is_relative_to(root)
        except OSError:
            continue
        if not inside or place.is_symlink() or not place.is_file():
            continue
        total += status.st_size
        if status.st_size > _MOST_FILE_BYTES or total > _MOST_BYTES or len(found) >= _MOST_FILES:
            left_out += 1
        else:
            found.append(path)
    return tuple(sorted(found)), left_out


def _normal(name: str) -> str:
    """Return a distribution's name as packaging tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
