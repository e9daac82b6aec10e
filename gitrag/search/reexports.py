"""Re-exports: names that a file imports from elsewhere and offers as its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.store.candidates import DefinitionSite, SearchScope
from gitrag.store.memo import Memo
from gitrag.words.reexport_statements import LANGUAGES

if TYPE_CHECKING:
    from gitrag.store.source import Source


def reexports(
    source: Source, scope: SearchScope, names: Sequence[str], memo: Memo | None = None
) -> list[DefinitionSite]:
    """Find the scope's chunks that re-export one of some names, matching case.

    Args:
        source: What the index has.
        scope: What the question may find.
        names: Names; those with dots cannot be re-exported.
        memo: Cache for the next question.
    """
    wanted = [name for name in names if "." not in name]
    if not wanted or not scope.files.among(LANGUAGES.__contains__).any():
        return []
    chunks = set(source.reexporting(wanted, memo))
    return [DefinitionSite(chunk, file, exact=True) for file, chunk in scope.places_of(chunks)]
