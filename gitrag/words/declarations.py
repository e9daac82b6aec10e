"""Files that only declare what another file implements: C headers, type stubs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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

_INLINE = re.compile(r"[-_]inl\.\w+$")


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
