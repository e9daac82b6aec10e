"""Find the modules that a repository's workspace manifest names: a table of detectors. Pure.

Only manifests at the top level are read; a member only needs to have one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from posixpath import normpath

from gitrag.corpus.layout import Module, named
from gitrag.errors import ConfigError
from gitrag.late import late_re
from gitrag.words import bounded_toml
from gitrag.words.bounded_yaml import parse_mapping

MANIFEST_BYTES = 256 * 1024
"""Larger manifests are not read; the largest known one of a workspace has 40 KB."""

MOST_PATTERNS = 500
MOST_MODULES = 500


_Members = tuple[tuple[str, ...], tuple[str, ...]]
"""A workspace's members according to its manifest: patterns of directories, and of excluded ones."""


def detect(
    paths: Iterable[str], read: Callable[[str], bytes | None]
) -> tuple[tuple[Module, ...], tuple[str, ...]]:
    """Find the modules of a tree, and notes.

    Args:
        paths: Every path of the tree that ``is_manifest``; others are ignored.
        read: Returns a top-level manifest's text; None if it cannot be read.
    """
    manifests = [path for path in paths if is_manifest(path)]
    top = {path for path in manifests if "/" not in path}
    directories: dict[str, set[str]] = {}
    for path in manifests:
        directory, _, name = path.rpartition("/")
        if directory:
            directories.setdefault(name, set()).add(directory)
    found: set[str] = set()
    notes = []
    for manifest, (member, parse) in _DETECTORS.items():
        if manifest not in top:
            continue
        members = _members(parse, read(manifest))
        if isinstance(members, str):
            notes.append(f"{manifest} names no modules: {members}")
        else:
            found |= _matching(*members, directories.get(member, set()))
    ordered = sorted(found)
    if len(ordered) > MOST_MODULES:
        notes.append(f"{len(ordered)} modules: only the first {MOST_MODULES} have collections of their own")
    return named(ordered[:MOST_MODULES]), tuple(notes)


def is_of_workspace(name: str) -> bool:
    """Return whether a file at the top of a tree may name modules; without one, no manifest below counts."""
    return name in _DETECTORS


def is_manifest(path: str) -> bool:
    """Return whether a path may be a manifest, of a workspace or of a member."""
    return path.rpartition("/")[2] in _MANIFESTS


def _members(parse: Callable[[bytes], _Members], data: bytes | None) -> _Members | str:
    """Read a manifest, or return why it is ignored."""
    if data is None or len(data) > MANIFEST_BYTES:
        return "it cannot be read" if data is None else "it is too large"
    try:
        return parse(data)
    except (ValueError, RecursionError, ConfigError) as error:
        return _first_line(error)


def _matching(members: Sequence[str], excluded: Sequence[str], directories: Iterable[str]) -> set[str]:
    wanted = [_parts(pattern) for pattern in members[:MOST_PATTERNS]]
    unwanted = [_parts(pattern) for pattern in excluded[:MOST_PATTERNS]]

    def matches(directory: str, patterns: Sequence[tuple[str, ...]]) -> bool:
        parts = tuple(directory.split("/"))
        return any(_match(parts, pattern) for pattern in patterns if pattern)

    return {each for each in directories if matches(each, wanted) and not matches(each, unwanted)}


def _parts(pattern: str) -> tuple[str, ...]:
    clean = normpath(pattern.strip().replace("\\", "/")).strip("/")
    return () if clean in ("", ".") or clean.startswith("..") else tuple(clean.split("/"))


def _match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Match a path against a pattern, part by part; ``**`` matches any number of parts."""
    reached = {0}
    for item in pattern:
        if item == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            test = _compiled(item)
            reached = {at + 1 for at in reached if at < len(parts) and test.fullmatch(parts[at])}
        if not reached:
            return False
    return len(parts) in reached


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["it is malformed"])[0][:160]


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("its members are no list of patterns")
    return tuple(value)


def _table(value: object, *names: str) -> Mapping[str, object]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _toml(data: bytes, *names: str) -> _Members:
    try:
        table = _table(bounded_toml.parse(data.decode()), *names)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from error
    return _texts(table.get("members")), _texts(table.get("exclude"))


def _pyproject(data: bytes) -> _Members:
    uv = _toml(data, "tool", "uv", "workspace")
    rye = _toml(data, "tool", "rye", "workspace")
    return uv[0] + rye[0], uv[1] + rye[1]


def _signed(patterns: Iterable[str]) -> _Members:
    """Split patterns in npm's and pnpm's form: ``!`` marks an exclusion."""
    given = [each for pattern in patterns for each in _expanded(pattern)]
    return (
        tuple(each for each in given if not each.startswith("!")),
        tuple(each[1:] for each in given if each.startswith("!")),
    )


_BRACES = late_re(r"\{([^{}]*,[^{}]*)\}")


def _expanded(pattern: str) -> list[str]:
    """Expand ``{a,b}``, innermost first; leave what would give too many patterns as it is."""
    found = [pattern]
    while (braces := next(filter(None, map(_BRACES.search, found)), None)) and len(found) <= MOST_PATTERNS:
        before, after = braces.string[: braces.start()], braces.string[braces.end() :]
        found.remove(braces.string)
        found += [before + choice + after for choice in braces[1].split(",")]
    return found if len(found) <= MOST_PATTERNS else [pattern]


def _npm(data: bytes) -> _Members:
    given = _table(json.loads(data)).get("workspaces")
    return _signed(_texts(given.get("packages") if isinstance(given, dict) else given))


def _pnpm(data: bytes) -> _Members:
    return _signed(_texts(parse_mapping(data, "pnpm-workspace.yaml", MANIFEST_BYTES).get("packages")))


_GO_USE = late_re(r"^\s*use\s+(?:\(([^)]*)\)|(\S+))", re.MULTILINE)


def _go(data: bytes) -> _Members:
    text = re.sub(r"//[^\n]*", "", data.decode())
    listed = (block or single for block, single in _GO_USE.findall(text))
    return tuple(item.strip('"`') for part in listed for item in part.split()), ()


_MODULES = late_re(r"<modules>(.*?)</modules>", re.DOTALL)
_MODULE = late_re(r"<module>\s*([^<>]{1,300}?)\s*</module>")


def _maven(data: bytes) -> _Members:
    text = re.sub(r"<!--.*?-->", "", data.decode(), flags=re.DOTALL)
    names = [name for block in _MODULES.findall(text) for name in _MODULE.findall(block)]
    return tuple(name.removesuffix("/pom.xml") for name in names), ()


_DETECTORS: Mapping[str, tuple[str, Callable[[bytes], _Members]]] = {
    "pyproject.toml": ("pyproject.toml", _pyproject),
    "package.json": ("package.json", _npm),
    "pnpm-workspace.yaml": ("package.json", _pnpm),
    "Cargo.toml": ("Cargo.toml", lambda data: _toml(data, "workspace")),
    "go.work": ("go.mod", _go),
    "pom.xml": ("pom.xml", _maven),
}
"""Of each file at the top level that names members, the file that a member has, and what parses the first; it
raises ValueError where that is malformed."""

_MANIFESTS = _DETECTORS.keys() | {member for member, _ in _DETECTORS.values()}
