"""What was looked at and what comes nearest, where no document reaches the least score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.bearings import Bearing, best_first, likeliest
from gitrag.corpus.layout import CollectionKind
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

NEAREST = 3
"""Documents named where none reaches the least score."""

_NOUNS = {CollectionKind.ADRS: "ADR", CollectionKind.SPECS: "spec", CollectionKind.ISSUES: "issue"}


class Unreached(Struct, frozen=True):
    """That no document reaches the least score.

    Attributes:
        least: The least score.
        looked_at: How many documents of each kind are indexed, in the order asked for.
        nearest: The best of them, best first.
        left_out: Whether others are indexed that do not count, such as the file asked about.
    """

    least: float
    looked_at: tuple[tuple[CollectionKind, int], ...]
    nearest: tuple[Bearing, ...] = ()
    left_out: bool = False

    @property
    def sentence(self) -> str:
        """What was looked at, and that nothing of it scores enough: never more than that."""
        held = [count(number, _NOUNS[kind]) for kind, number in self.looked_at if number]
        if not held:
            return none_indexed([kind for kind, _ in self.looked_at], other=self.left_out)
        return f"Nothing scores {self.least:.2f} or more among {' and '.join(held)}."


def none_indexed(kinds: Iterable[CollectionKind], *, other: bool = False) -> str:
    """Return the sentence that says that there is no document of some kinds. Pure.

    Args:
        kinds: Of them.
        other: Whether there are such as do not count, such as the file asked about.
    """
    nouns = [f"{'other ' if other else ''}{_NOUNS[kind]}" for kind in kinds]
    return f"No {' and no '.join(nouns)} is indexed here, so there was nothing to compare with."


def find_unreached(
    workspace: Workspace,
    scored: Iterable[Bearing],
    kinds: Sequence[CollectionKind],
    least: float,
    without: Collection[str] = (),
) -> Unreached:
    """Count what was looked at, and choose what came nearest.

    Args:
        workspace: gitrag on the repository.
        scored: What was found, whatever its score.
        kinds: The kinds of the documents that were looked at.
        least: The least score that was asked for.
        without: Paths that do not count, such as those of a change.
    """
    indexed = list(indexed_documents(workspace, kinds))
    numbers = Counter(kind for kind, each, _text in indexed if each.path not in without)
    counting = (each for each in scored if each.document.path not in without)
    nearest = best_first(likeliest(counting).values())[:NEAREST]
    looked_at = tuple((kind, numbers[kind]) for kind in kinds)
    return Unreached(least, looked_at, tuple(nearest), left_out=numbers.total() < len(indexed))
