"""Statements by which a file offers as its own what it imports from elsewhere. Pure."""

from __future__ import annotations

import re

LANGUAGES = frozenset({"javascript", "python", "rust", "tsx", "typescript"})
"""Languages with a re-export statement."""

_STATEMENT = re.compile(
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

_NAME = re.compile(r"\b\w+\b(?!\s*::)")  # but not the path that leads to it


def handed_on(text: str) -> set[str]:
    """List the names that re-export statements of a text name, and the other words in them."""
    return {name for found in _STATEMENT.finditer(text) for name in _NAME.findall(found.group())}
