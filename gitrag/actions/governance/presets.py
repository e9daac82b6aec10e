"""Which collections, how many results and what least score each purpose asks for: a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.corpus.layout import CollectionKind

if TYPE_CHECKING:
    from gitrag.actions.search import SearchOptions


class Preset(Struct, frozen=True):
    """What is searched for a purpose.

    Attributes:
        min_score: Results with a lower score are left out.
    """

    kinds: tuple[CollectionKind, ...]
    limit: int
    min_score: float

    def options(self) -> SearchOptions:
        from gitrag.actions.search import SearchOptions
        from gitrag.search.sections import Wanted

        return SearchOptions(
            wanted=Wanted(self.kinds), limit=self.limit, min_score=self.min_score, as_it_is=True
        )


_ADRS, _SPECS, _CODE, _ISSUES = (
    CollectionKind.ADRS,
    CollectionKind.SPECS,
    CollectionKind.CODE,
    CollectionKind.ISSUES,
)

PRESETS: Mapping[str, Preset] = {
    "check": Preset((_ADRS, _SPECS), 8, 0.3),
    "adr": Preset((_ADRS,), 6, 0.3),
    "spec": Preset((_SPECS,), 8, 0.3),
    "discover": Preset((_ADRS, _SPECS), 5, 0.3),
    "plan issues": Preset((_ISSUES,), 10, 0.4),
    "plan code": Preset((_CODE,), 8, 0.3),
    "work": Preset((_CODE,), 6, 0.4),
    "review": Preset((_ADRS, _ISSUES), 8, 0.4),
    "audit": Preset((_ADRS, _SPECS), 8, 0.3),
}

USES: Mapping[str, tuple[str, ...]] = {
    "adr": ("adr",),
    "spec": ("spec",),
    "discover": ("discover",),
    "plan": ("plan code", "plan issues"),
    "work": ("work",),
    "audit": ("audit",),
}
"""The presets of each purpose that can be named: a decision or specification to be written, a decision that
the code seems to have taken, a plan, code to be written, a comparison of the code with what governs it."""
