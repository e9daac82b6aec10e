"""Code that is in no repository of the user's: of a git URL, of an installed dependency.

Of each there is a bare repository in the user's cache, with an index of its own. None is in the registry.
The oldest go where there are many.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gitrag.actions.progress import ShowProgress
from gitrag.actions.repositories.chosen import Chosen
from gitrag.errors import BusyError, NetworkError, StoreError, UsageError
from gitrag.git import copies
from gitrag.git.identity import name_of_url
from gitrag.machine.files import make_private, read_regular
from gitrag.machine.locks import FileLock, wait_for
from gitrag.words.numbers import count
from gitrag.words.spelling import did_you_mean
from gitrag.workspace import Workspace

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


MOST: Final = 32
"""Copies that are kept."""

FRESH_S: Final = 24 * 3600.0
"""How long a copy of a remote is asked before it is fetched again."""

_LOCK_TIMEOUT_S = 150.0
_LOCK_POLL_S = 0.1


class Elsewhere:
    """Copies of code from elsewhere.

    Args:
        directory: Where they are kept; in the user's cache by default.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        say: Callable[[str], None],
        progress: ShowProgress,
        directory: Path | None = None,
    ) -> None:
        if directory is None:
            import platformdirs

            directory = platformdirs.user_cache_path("gitrag") / "copies"
        self._directory = directory.parent.resolve() / directory.name  # as git says where a copy is
        self._environ = environ
        self._say = say
        self._progress = progress

    def of_url(self, url: str) -> Chosen:
        """Return a repository to ask: a shallow copy of a remote, fetched at most once a day."""
        url = copies.require_url(url)
        name = copies.name_of(url)
        place = self._place("url", url, name_of_url(url) or "remote")
        with self._writing(place):
            fetched = place / "fetched"
            try:
                is_fresh = abs(time.time() - fetched.stat().st_mtime) < FRESH_S
            except OSError:
                is_fresh = False
            if not is_fresh:
                try:
                    with self._progress(f"Fetching {name}", None):
                        copies.fetch_head(url, place, self._environ)
                except (NetworkError, copies.CopyTooLargeError) as error:
                    if not fetched.exists():
                        copies.remove(place)
                        raise
                    self._say(f"{error} The copy of {_days_ago(fetched)} is asked.")
                except BaseException:
                    if not fetched.exists():
                        copies.remove(place)
                    raise
                else:
                    fetched.touch()
            return self._indexed(name, place)

    def of_dependency(self, name: str, start: Path) -> Chosen:
        """Return a repository to ask: the files of an installed dependency, as they are now."""
        found = find(name, start, self._environ)
        state = hashlib.sha256()
        for path in found.paths:
            with suppress(OSError):
                status = (found.root / path).stat()
                state.update(
                    f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape")
                )
        place = self._place("dep", f"{found.root}\0{state.hexdigest()}", found.name.rpartition("/")[2])
        with self._writing(place):
            if not (place / "fetched").exists():
                try:
                    copies.commit_files(found.root, found.paths, place, self._environ)
                except BaseException:
                    copies.remove(place)
                    raise
                (place / "fetched").touch()
            label = f"{found.name}@{found.version}" if found.version else found.name
            if found.left_out:
                self._say(f"{label}: {count(found.left_out, 'file')} left out, too large or too many.")
            return self._indexed(label, place, found.root)

    def _indexed(self, name: str, place: Path, files: Path | None = None) -> Chosen:
        chosen = Chosen(name, place, place, is_ours=True, files=files)
        workspace = Workspace.open(place, environ=chosen.environment(self._environ), say=self._say)
        if not workspace.store.exists():
            with self._progress(f"Indexing {name}", None) as shown:
                workspace.update(advance=shown.update, register=False)
        os.utime(place)
        return chosen

    def _place(self, kind: str, key: str, name: str) -> Path:
        digest = hashlib.sha256(f"{kind}\0{key}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        plain = "".join(each if each.isalnum() or each in "-_." else "-" for each in name)[:60].strip(".")
        return self._directory / f"{plain or 'copy'}-{digest}.git"

    @contextmanager
    def _writing(self, place: Path) -> Iterator[None]:
        """Hold the lock of a copy; afterwards remove those that were asked longest ago."""
        try:
            make_private(self._directory)
            lock = FileLock(place.with_suffix(".lock"))
            if not wait_for(lock.try_acquire, time.monotonic() + _LOCK_TIMEOUT_S, poll_s=_LOCK_POLL_S):
                raise BusyError(f"Another process has been making {place} for long.", "Try again.")
        except OSError as error:
            raise StoreError(
                f"Cannot write {self._directory}: {error.strerror}.", "Make it writable."
            ) from error
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"Cannot make a copy in {place}: {error}.", "Look at free space there."
            ) from error
        finally:
            lock.release()
        self._tidy(place)

    def _tidy(self, own: Path) -> None:
        with suppress(OSError):
            there = sorted(
                (each for each in self._directory.glob("*.git") if each != own),
                key=lambda each: each.stat().st_mtime,
                reverse=True,
            )
            for each in there[MOST - 1 :]:
                copies.remove(each)
                each.with_suffix(".lock").unlink(missing_ok=True)


def _days_ago(mark: Path) -> str:
    days = int((time.time() - mark.stat().st_mtime) // 86400)
    return "today" if days < 1 else "yesterday" if days == 1 else f"{days} days ago"
