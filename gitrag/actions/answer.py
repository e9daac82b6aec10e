"""What a question is answered by: hits, the state of their files, and who was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gitrag.corpus.layout import CollectionKind
from gitrag.model import CallGraph
from gitrag.search.question import read
from gitrag.search.wording import NOTHING_TO_SAY, Wording
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from gitrag.search.engine import Hit
    from gitrag.search.sections import AnswerSection


class Outcome(StrEnum):
    """What came of asking a repository."""

    ANSWERED = "answered"
    BEHIND = "not up to date"
    NOT_INDEXED = "not indexed"
    UNREACHABLE = "not reachable"
    LATE = "late"

    @property
    def has_answered(self) -> bool:
        """Whether it has said something."""
        return self in {Outcome.ANSWERED, Outcome.BEHIND}


class Asked(Struct, frozen=True):
    """A repository that was asked.

    Attributes:
        name: Its name.
        path: Its worktree's top.
        outcome: What came of it.
        why: Why it has not answered, or not of all its files; empty where it has.
        commit: The commit that it answered from; None if it has not.
    """

    name: str
    path: Path
    outcome: Outcome
    why: str = ""
    hint: str = ""
    commit: str | None = None

    @property
    def line(self) -> str:
        """Who it is, and why it has not answered in full."""
        return f"{self.name}: {self.outcome.value}: {self.why}"


class Answer(Struct, frozen=True):
    """Hits, and the state of the files that they were found in.

    Attributes:
        query: The query as given.
        sections: The hits of each kind of collection, in the order the kinds were asked for.
        commit: HEAD's commit, or the revision's; None before the first commit, and for a tree.
        dirty: Paths with uncommitted changes that the answer includes.
        drafts: How many texts of the view have a draft vector instead of the model's.
        waiting: How many files' contents there was no time to index.
        model: Whether the model embedded the query; else a draft of its vector was used.
        drafted: Whether draft vectors exist; if not, texts without a vector are found by words alone.
        wording: What is to be said of the question's words, where no hit is likely.
        looked_at: How many files were searched, where nothing was found; else None.
        collections: Names of the collections searched, with the repository's slug.
        least: The least score of a hit; None where each kind of collection has its own.
        absent_names: Names of the question, written as in code, that nothing contains that was searched.
        outlined: Of which of the files found only the outline is indexed, a sentence each.
        asked: The repositories, where several were; each hit has the name of its own.
        notes: What the command says on stderr, a line each; of the Python API's alone.
    """

    query: str
    sections: tuple[AnswerSection, ...]
    commit: str | None
    dirty: int
    drafts: int
    waiting: int
    model: bool
    drafted: bool = True
    wording: Wording = NOTHING_TO_SAY
    looked_at: int | None = None
    collections: tuple[str, ...] = ()
    least: float | None = None
    absent_names: tuple[str, ...] = ()
    outlined: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    graph: CallGraph | None = None
    notes: tuple[str, ...] = ()

    def of(self, kind: CollectionKind) -> tuple[Hit, ...]:
        """Return the hits of a kind of collection, best first."""
        return next((section.hits for section in self.sections if section.kind is kind), ())

    def has_asked(self, kind: CollectionKind) -> bool:
        return any(section.kind is kind for section in self.sections)

    @property
    def decisions(self) -> tuple[Hit, ...]:
        """Decisions, best first."""
        return self.of(CollectionKind.ADRS)

    @property
    def specifications(self) -> tuple[Hit, ...]:
        """Specifications, best first."""
        return self.of(CollectionKind.SPECS)

    @property
    def code(self) -> tuple[Hit, ...]:
        """Code and other files, best first."""
        return self.of(CollectionKind.CODE)

    @property
    def issues(self) -> tuple[Hit, ...] | UnsetType:
        """Issues, best first, if they were asked for."""
        return self.of(CollectionKind.ISSUES) if self.has_asked(CollectionKind.ISSUES) else UNSET

    @property
    def call_graphs(self) -> tuple[CallGraph, ...]:
        """One, if it was asked for."""
        return () if self.graph is None else (self.graph,)

    @property
    def missing(self) -> tuple[str, ...]:
        """Where no hit has 0.5: words of the question that no file contains that was searched."""
        return self.wording.missing

    @property
    def only_beside(self) -> tuple[str, ...]:
        """Where no hit has 0.5: words that only tests, examples or documents contain."""
        return tuple(word for word, *_ in self.wording.only_beside)

    @property
    def words(self) -> dict[str, bool]:
        """Terms of what was searched for, and whether each is of the question's own words."""
        own = read(self.wording.searched_for or self.query).words
        return dict.fromkeys(map(stem, self.wording.added), False) | dict.fromkeys(own, True)

    @property
    def searched_for(self) -> str:
        """The question corrected, or its words that occur if it is not in English; empty for as asked."""
        return self.wording.searched_for or self.wording.read_of

    @property
    def not_indexed(self) -> tuple[str, ...]:
        """What exists and is not in the index, or not all of it, a sentence each."""
        return (*self.wording.exists, *self.outlined)

    @property
    def lacking(self) -> list[str]:
        """What it lacks, a line for each repository that has not answered in full."""
        return [each.line for each in self.asked if each.why]

    @property
    def roots(self) -> Mapping[str, Path]:
        """The tops of the worktrees of several repositories, by name."""
        return {each.name: each.path for each in self.asked}

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All hits, best first; those of equal score in the order of the sections."""
        every = (hit for section in self.sections for hit in section.hits)
        return tuple(sorted(every, key=lambda hit: -hit.score))

    def changed(self, change: Callable[[Hit], Hit]) -> Self:
        sections = (replace(each, hits=tuple(map(change, each.hits))) for each in self.sections)
        return replace(self, sections=tuple(sections))
