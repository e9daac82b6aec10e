"""Names that files hand on: defined elsewhere, offered as their own. To a reader that is where they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.store.candidates import DefinitionSite, SearchScope
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

LANGUAGES = frozenset({"javascript", "python", "rust", "tsx", "typescript"})
"""Languages that hand names on by a statement."""

_STATEMENT = re.compile(
    r"""
      \bpub\s+use\s[^;]*                          # Rust
    | \bexport\s+(?:type\s+)?\{[^}]*\}\s*from\b   # JavaScript and TypeScript
    | \b(\w+)\s+as\s+\1\b                         # Python: from .app import Flask as Flask
    | ^__all__\b[^=]*=\s*[\[(][^\])]*
    """,
    re.MULTILINE | re.VERBOSE,
)
_BEGINS = r"\bpub\s+use\s|\bexport\s+(type\s+)?\{|\w\s+as\s+\w|__all__"
"""What a text with a statement has, to the database."""

_NAME = re.compile(r"\b\w+\b(?!\s*::)")  # but not what leads to it


def handed_on(text: str) -> set[str]:
    """List the names that statements of a text hand on, and what else is in them."""
    return {name for found in _STATEMENT.finditer(text) for name in _NAME.findall(found.group())}


def reexports(
    db: Connection, scope: SearchScope, names: Sequence[str], memo: Memo | None = None
) -> list[DefinitionSite]:
    """Find the scope's chunks that hand on one of some names, as they are written.

    Args:
        db: An open connection; reading is enough.
        scope: What it may find.
        names: Names; those with dots are nobody's to hand on.
        memo: Where what the next question needs too is kept.
    """
    wanted = [name for name in names if "." not in name]
    if not wanted or LANGUAGES.isdisjoint(scope.files.language.tolist()):
        return []
    every = (memo or Memo()).get("reexports", lambda: _read(db))
    chunks = {chunk for name in wanted for chunk in every.get(name, ())}
    return [DefinitionSite(chunk, file, exact=True) for file, chunk in scope.places_of(chunks)]


def _read(db: Connection) -> dict[str, list[int]]:
    """Read which chunks hand on each name: 30 ms of an index of 29,000 chunks."""
    rows = db.execute(
        "SELECT chunk_id, text FROM chunks WHERE kind = 'module' AND regexp_matches(text, ?)", [_BEGINS]
    ).fetchall()
    found: dict[str, list[int]] = {}
    for chunk_id, text in rows:
        for name in handed_on(text):
            found.setdefault(name, []).append(chunk_id)
    return found
