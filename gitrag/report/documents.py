"""The answers that are put together for programs: what commands print where nothing that was found is it.

Keys may be added; one that changes its meaning or goes raises `gitrag.report.schema.VERSION`. A key whose
type is `UnsetType` too is left out where it has no value. Paths start at the repository's top, lines are
1-based and inclusive. `gitrag.report.told` says what is told of everything else.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gitrag.actions.embed import EmbeddedHere, EmbeddingInBackground
from gitrag.actions.push_check import Behind
from gitrag.actions.uninstall import InstalledPiece, Left
from gitrag.agents.setup import FileStep
from gitrag.store.garbage import Garbage
from gitrag.workspace import Indexed


class PushDocument(Struct, frozen=True):
    """What `gitrag check --push` prints.

    Attributes:
        policy: The setting ``pre_push``.
        behind: The refs that are not indexed.
        stopped: Whether the push is to be stopped.
    """

    policy: str
    behind: tuple[Behind, ...]
    stopped: bool


class VectorsDocument(Struct, frozen=True):
    """What was done for the vectors.

    Attributes:
        embedded: How many texts got the model's vector now.
        waiting: How many have only draft vectors as yet.
        in_background: Whether the background worker was started for them.
        seconds: How long embedding took.
    """

    embedded: int
    waiting: int
    in_background: bool
    seconds: float


class UpdateDocument(Struct, frozen=True):
    """What `gitrag index` and `gitrag index update` print.

    Attributes:
        indexed: The text.
        vectors: The vectors; null where nothing was to be done, or was not asked for.
    """

    indexed: Indexed
    vectors: VectorsDocument | None


class InitDocument(Struct, frozen=True):
    """What `gitrag init` prints.

    Attributes:
        hooks: The git hooks that are installed.
        foreign_hooks: How many hooks are not gitrag's to change.
        gitignore_added: Whether `.sdd/` was added to .gitignore.
        indexed: The text of the index.
        vectors: The vectors; null where nothing was to be done, or was not asked for.
        agents: What was written for agents; null without --agents.
    """

    hooks: tuple[str, ...]
    foreign_hooks: int
    gitignore_added: bool
    indexed: Indexed | None
    vectors: VectorsDocument | None
    agents: AgentsDocument | None


class UninstallDocument(Struct, frozen=True):
    """What `gitrag uninstall` prints.

    Attributes:
        applied: Whether it was removed, or only looked at.
        removed: What goes.
        left: What stays.
    """

    applied: bool
    removed: tuple[InstalledPiece, ...]
    left: tuple[Left, ...]


class RemovedDocument(Struct, frozen=True):
    """What `gitrag index remove` prints: how many bytes it freed; 0 where there was no index."""

    freed_bytes: int


class GarbageDocument(Struct, frozen=True):
    """What `gitrag gc` prints.

    Attributes:
        applied: Whether it was dropped.
        freed_bytes: How much that freed.
        size_bytes: The index's size now.
    """

    garbage: Garbage
    applied: bool
    freed_bytes: int
    size_bytes: int


class AgentsDocument(Struct, frozen=True):
    """What `gitrag agents` and `gitrag init --agents --remove` print, and part of `gitrag init --agents`.

    Attributes:
        clients: The agents.
        applied: Whether the files were written, or only looked at.
        files: The files.
    """

    clients: tuple[str, ...]
    applied: bool
    files: tuple[FileStep, ...]


class ExportDocument(Struct, frozen=True):
    """What `gitrag explore export` prints: how many topics it wrote, and where."""

    exported: int
    directory: str


class DeletedDocument(Struct, frozen=True):
    """What `gitrag explore delete` prints: the numbers of the topics that are forgotten."""

    deleted: tuple[int, ...]


class UnmarkedDocument(Struct, frozen=True):
    """What `gitrag core unmark` prints: the path, and whether it was marked."""

    path: str
    unmarked: bool


class CommandRow(Struct, frozen=True):
    """A command whose JSON has a schema: `gitrag schema` lists them."""

    command: str
    id: str


def vectors_document(steps: Iterable[object], waiting: int = 0) -> VectorsDocument:
    """Return what was done for the vectors; ``waiting``: how many had only drafts where nothing was done."""
    document = VectorsDocument(0, waiting, in_background=False, seconds=0.0)
    for step in steps:
        match step:
            case EmbeddedHere(texts, seconds, left):
                document = VectorsDocument(texts, left, in_background=left > 0, seconds=round(seconds, 3))
            case EmbeddingInBackground(texts):
                document = VectorsDocument(0, texts, in_background=True, seconds=0.0)
            case _:
                pass
    return document
