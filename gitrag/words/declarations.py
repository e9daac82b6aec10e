"""Files that only declare what another file implements: C headers, type stubs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gitrag.late import late_re

LANGUAGES = frozenset({"javascript", "python", "rust", "tsx", "typescript"})
"""Languages with a re-export statement."""

_STATEMENT = late_re(
    r"""
      \bpub\s+use\s[^;]*                          # Rust
    | \bexport\s+(?:type\s+)?\{[^}]*\}\s*from\b   # JavaScript and TypeScript
    | \b(\w+)\s+as\s+\1\b                         # Python: from .app import Flask as Flask
    | ^__all__\b[^=]*=\s*[\[(][^\])]*
    """,
    re.MULTILINE | re.VERBOSE,
)
BEGINS = r"\bpub\s+use\s|\bexport\s+(type\s+)?\{|\w\s+as\s+\w|__all__"
"""Pre-filter (RE2) for a database: every re-export statement contains a match."""

_NAME = late_re(r"\b\w+\b(?!\s*::)")  # but not the path that leads to it


def handed_on(text: str) -> set[str]:
    """List the names that re-export statements of a text name, and the other words in them."""
    return {name for found in _STATEMENT.finditer(text) for name in _NAME.findall(found.group())}


_IMPLEMENTED_BY: Mapping[str, tuple[str, ...]] = {
    ".h": (".c", ".cc", ".cpp", ".cxx", ".m", ".mm", "-inl.h", "_inl.h"),
    ".hh": (".cc", ".cpp"),
    ".hpp": (".cpp", ".cc", ".cxx", "-inl.hpp", "_inl.hpp"),
    ".hxx": (".cxx", ".cpp"),
    ".pyi": (".py",),
    ".d.ts": (".ts", ".tsx", ".js", ".mjs"),
    ".mli": (".ml",),
    ".rbi": (".rb",),
}
"""How the names of files that declare end, and of those that implement the same."""

_INLINE = late_re(r"[-_]inl\.\w+$")


def implementations(path: str) -> Sequence[str]:
    """Return the names, without directories, of files that may implement what a file declares.

    None for a file that is an implementation itself. Headers and sources are often in separate trees.
    """
    name = path.rpartition("/")[2]
    if _INLINE.search(name):
        return ()
    for ending in sorted(_IMPLEMENTED_BY, key=len, reverse=True):
        if name.endswith(ending) and len(name) > len(ending):
            return [name[: -len(ending)] + other for other in _IMPLEMENTED_BY[ending]]
    return ()
