"""How far the index is behind what is being pushed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitrag.app import App
from gitrag.errors import UsageError
from gitrag.indexing.refresh import lacking
from gitrag.indexing.snapshot import look_at
from gitrag.store.connection import StoreMissingError

_NO_VIEW = -1
"""No view's id: only what is given counts."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """A ref that is being pushed.

    Attributes:
        name: Its local name.
        commit: What is pushed.
    """

    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class Behind:
    """What the index lacks of a revision.

    Attributes:
        name: The ref's name.
        files: Paths whose content is not indexed.
        unembedded: Texts of the indexed ones that have no vector.
    """

    name: str
    files: int
    unembedded: int

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is missing."""
        return not self.files and not self.unembedded

    def __str__(self) -> str:
        parts = []
        if self.files:
            parts.append(f"{self.files} file{'s' * (self.files != 1)} not indexed")
        if self.unembedded:
            parts.append(f"{self.unembedded} chunk{'s' * (self.unembedded != 1)} unembedded")
        return f"{self.name}: {', '.join(parts) or 'indexed and embedded'}"


def parse_pushed(lines: Iterable[str]) -> list[Pushed]:
    """Read what git tells a pre-push hook: local ref, local id, remote ref, remote id; deletions left out."""
    pushed = []
    for line in lines:
        fields = line.split(" ")
        if len(fields) == 4 and fields[1].strip("0"):
            pushed.append(Pushed(fields[0].removeprefix("refs/heads/").removeprefix("refs/tags/"), fields[1]))
    return list({item.commit: item for item in pushed}.values())


def behind(app: App, pushed: Iterable[Pushed]) -> list[Behind]:
    """Say for each pushed ref what the index lacks of its tip; what is no commit or tree is left out."""
    from gitrag.store import vectors

    found = []
    for item in pushed:
        try:
            now = look_at(app.repo, app.options, item.commit)
        except UsageError:  # a tag of a blob
            continue
        try:
            with app.store.read() as db:
                entries, missing = lacking(db, now)
                unembedded = vectors.count_pending(db, entries, _NO_VIEW)
        except StoreMissingError:
            missing, unembedded = sum(1 for _ in app.repo.entries(now.head.tree)), 0
        found.append(Behind(item.name, missing, unembedded))
    return found
