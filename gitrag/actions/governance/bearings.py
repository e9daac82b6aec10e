"""Which decisions and specifications bear on some files and sentences; what is near where none does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.actions.current_view import CurrentView
from gitrag.chunking import chunk, language_of
from gitrag.corpus.documents import Document
from gitrag.corpus.governing import named
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.text import chunk_text, path_text
from gitrag.errors import DiskError, RepositoryError
from gitrag.indexing.known import recorded
from gitrag.late import np
from gitrag.model import Chunk
from gitrag.search.bearing import Documents, ScoredDocument, Target
from gitrag.search.passages import relevance
from gitrag.store.source import IndexFile
from gitrag.words import terms
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.actions.search import SearchOptions
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.bearing import Facts
    from gitrag.search.engine import Hit
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

KINDS = (CollectionKind.ADRS, CollectionKind.SPECS)

NEAR = 0.4
"""Minimum cosine for a part to be called near in meaning."""

_MOST_MESSAGES = 8
_MESSAGE_CHARACTERS = 600
_LOG_S = 2.0
"""Time limit for the log of a file: git walks the whole history to find the commits of a file."""

_MOST_CHUNKS = 400
_DRAFTED_FIRST = 12
"""A file's definitions that get the model's vector: those nearest to a document by draft."""

_REFINED = 40
"""Parts of documents that get the model's vector, for each target, the nearest first, while there is time."""

NEAREST = 3
"""Documents named where none reaches the least score."""

_NOUNS = {CollectionKind.ADRS: "ADR", CollectionKind.SPECS: "spec", CollectionKind.ISSUES: "issue"}

ASK = "Should this PR reference {own}?"


class Bearing(Struct, frozen=True):
    """A document that bears on a file, a text or a change.

    Attributes:
        kind: The kind of its collection.
        document: Its path, id, title and status.
        score: How likely it does, in [0, 1]; 1 where its id is named.
        section: The section found, or that a change touches: headings joined by `` > ``.
        note: A sentence or two quoted from it; for a session's topic all of it.
        why: Why it was found, in one line.
        line: The line of the file that names it first; None where none does.
        governs: Whether a governing comment names it.
        relation: What a new document may refer to it by: ``supersedes``, ``extends`` or ``related`` to a
            decision, ``requires`` or ``extends`` to a specification, ``extends`` for code that exists,
            ``related`` to an issue.
        touched_by: The changed file it was found for; empty when it was found for the commit messages.
    """

    kind: CollectionKind
    document: Document
    score: float
    section: str = ""
    note: str = ""
    why: str = ""
    line: int | None = None
    governs: bool = False
    relation: str = ""
    touched_by: str = ""

    @property
    def collection(self) -> str:
        """``adrs``, ``specs`` or ``issues``; for a plan or work also ``code``."""
        return self.kind.value

    @property
    def id(self) -> str:
        """Its id; of code its path."""
        return self.document.id

    @property
    def title(self) -> str:
        """Its title."""
        return self.document.title

    @property
    def path(self) -> str:
        """Its file."""
        return self.document.path

    @property
    def status(self) -> str:
        """``accepted``, for example; empty where it says none."""
        return self.document.status

    @property
    def name(self) -> str:
        """Its id as people write it."""
        is_number = self.kind is CollectionKind.ISSUES and self.document.id.isdecimal()
        return f"#{self.document.id}" if is_number else self.document.id

    @property
    def asks(self) -> str:
        """The sentence for the reviewer."""
        return ASK.format(own=self.name)


def best_first(found: Iterable[Bearing]) -> list[Bearing]:
    """Return documents by score, those of equal score by path. Pure."""
    return sorted(found, key=lambda each: (-each.score, each.document.path))


def likeliest(found: Iterable[Bearing]) -> dict[str, Bearing]:
    """Return of each document, by its path, what was found with the highest score. Pure."""
    best: dict[str, Bearing] = {}
    for each in found:
        known = best.get(each.document.path)
        if known is None or known.score < each.score:
            best[each.document.path] = each
    return best


FileTarget = tuple[str, tuple[tuple[str, str], ...]]
"""The path of a file, or a directory, and path and text of each file of it."""


def bearings(workspace: Workspace, targets: Sequence[FileTarget | str]) -> list[list[Bearing]]:
    """Return how likely each decision and specification bears on some files and sentences.

    Returns:
        For each target all documents, best first, those of equal score by path.
    """
    documents, asked = ask(workspace, targets)
    return [list(each.answer(documents)) for each in asked]


def searched(workspace: Workspace, text: str, options: SearchOptions) -> list[tuple[Bearing, Hit]]:
    """Return what a search finds, in its order; nothing where there is none of its collections.

    Raises:
        UsageError: The text has no words.
    """
    from gitrag.actions.search import NoCollectionError, search

    try:
        answer = search(workspace, text, options)
    except NoCollectionError:
        return []
    return [
        (
            Bearing(
                section.kind,
                hit.document or Document(hit.path, hit.path, hit.path),
                hit.score,
                hit.chunk.qualified_name,
                hit.note,
            ),
            hit,
        )
        for section in answer.sections
        for hit in section.hits
    ]


def ask(workspace: Workspace, targets: Sequence[FileTarget | str]) -> tuple[Documents, list[Asked]]:
    """Read the documents and embed what is asked about; see ``bearings``."""
    from gitrag.search.similar_chunks import read_with_parts

    def read(db: Connection, view_id: int, overlay: ViewOverlay) -> Documents:
        return read_with_parts(db, view_id, overlay, KINDS)

    workspace.require_index()
    view = CurrentView(workspace)
    encoder = workspace.encoder_if_ready()
    result = view.read(read)
    if not result.found.documents:
        return result.found, [Asked("") for _ in targets]
    asked = [Asked.of(workspace, target) for target in targets]
    for each in asked:
        each.embed(encoder, result.found, workspace.model)
    near = dict.fromkeys(chunk_id for each in asked for chunk_id in each.nearest(result.found))
    result = view.refine(read, result, list(near), encoder, workspace.config.refine_s * len(asked))
    return result.found, asked


class Asked:
    """A file or a sentence with its vectors."""

    def __init__(self, target: Target | str, chunks: Sequence[Chunk] = ()) -> None:
        self.target = target
        self.chunks = chunks
        self.vectors: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, workspace: Workspace, target: FileTarget | str) -> Asked:
        if isinstance(target, str):
            return cls(target)
        own, texts = target
        chunks: list[Chunk] = []
        for path, text in texts:
            if len(chunks) < _MOST_CHUNKS:
                chunks += chunk(text.encode("utf-8", "surrogateescape"), language_of(path, text))
        chunks = chunks[:_MOST_CHUNKS]
        return cls(
            Target(
                own,
                "\n".join(text for _, text in texts),
                tuple(dict.fromkeys(each.name for each in chunks if each.name)),
                tuple(dict.fromkeys(each.docstring for each in chunks if each.docstring)),
                tuple(_messages(workspace, own)),
            ),
            chunks,
        )

    def embed(self, encoder: Encoder | None, documents: Documents, model: str) -> None:
        """Embed it; of a file's definitions those nearest to a document by their drafts."""
        from gitrag.embedding.draft import drafter, has_table

        if encoder is None and not has_table(model):
            return
        if isinstance(self.target, str):
            self.vectors = _encode([self.target], encoder, model)
            return
        texts = [chunk_text(each) for each in self.chunks]
        if len(texts) > _DRAFTED_FIRST and encoder is not None and has_table(model):
            near = documents.cosines(drafter(model).draft(texts)).max(axis=1, initial=-1.0)
            texts = [texts[place] for place in np.argsort(-near, kind="stable")[:_DRAFTED_FIRST]]
        self.vectors = _encode([path_text(self.target.path), *texts], encoder, model)

    def nearest(self, documents: Documents) -> list[int]:
        """Return the chunks of the documents' parts that are nearest, best first."""
        if self.vectors is None or not documents.parts:
            return []
        near = documents.cosines(self.vectors).max(axis=0)
        return [documents.parts[place].chunk_id for place in np.argsort(-near, kind="stable")[:_REFINED]]

    def facts(self, documents: Documents) -> Facts:
        """Return the facts that the weights are fitted on."""
        if isinstance(self.target, str):
            return documents.text_facts(self.target, None if self.vectors is None else self.vectors[0])
        return documents.file_facts(self.target, self.vectors)

    def answer(self, documents: Documents) -> Iterator[Bearing]:
        """Yield all documents, best first."""
        if isinstance(self.target, str):
            text, given = self.target, set(named(self.target))
            vector = None if self.vectors is None else self.vectors[0]
            every = documents.on_text(text, vector)
        else:
            text, given = f"{self.target.path} {self.target.text}", set()
            every = documents.on_file(self.target, self.vectors)
        words = frozenset(terms.query_terms(text))
        sure = [documents.documents[each.document].id in given for each in every]
        order = sorted(
            every,
            key=lambda each: (
                not sure[each.document],
                -each.score,
                documents.documents[each.document].path,
            ),
        )
        for each in order:
            part = documents.parts[each.part].chunk if each.part >= 0 else None
            yield Bearing(
                kind=documents.kinds[each.document],
                document=documents.documents[each.document],
                score=1.0 if sure[each.document] else each.score,
                section=part.qualified_name if part else "",
                note=relevance(part.text if part else "", words, documents.texts[each.document]),
                why=_why(each, is_near=each.cosine >= NEAR),
            )


def _why(each: ScoredDocument, *, is_near: bool) -> str:
    said = [
        "mentions the file" if each.is_mentioned else "",
        f"names {', '.join(each.names)}" if each.names else "",
        f"shares {', '.join(each.words)}" if each.words else "",
        "is near in meaning" if is_near else "",
    ]
    told = [part for part in said if part]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told) or "is the least unlike"


def _encode(texts: Sequence[str], encoder: Encoder | None, model: str) -> NDArray[np.float32]:
    from gitrag.embedding.draft import drafter

    return drafter(model).draft(texts) if encoder is None else encoder.encode(texts)


def _messages(workspace: Workspace, path: str) -> list[str]:
    """Return the messages of the last commits that touch a path, newest first; none where git is too slow."""
    try:
        done = workspace.repo.git(
            "log",
            "-z",
            f"--max-count={_MOST_MESSAGES}",
            "--format=%B",
            "--",
            f":(literal){path}",
            timeout_s=_LOG_S,
        )
    except RepositoryError:
        return []
    told = done.stdout.decode("utf-8", "replace").split("\0")
    return [_TRAILER.sub("", each).strip()[:_MESSAGE_CHARACTERS] for each in told if each.strip()]


_TRAILER = re.compile(r"^[A-Z][\w-]*-[Bb]y: .*$", re.MULTILINE)
"""``Signed-off-by: …``: says who, not what."""


class Unreached(Struct, frozen=True):
    """That no document reaches the least score.

    Attributes:
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
        scored: What was found, whatever its score.
        without: Paths that do not count, such as those of a change.
    """
    indexed = list(indexed_documents(workspace, kinds))
    numbers = Counter(kind for kind, each, _text in indexed if each.path not in without)
    counting = (each for each in scored if each.document.path not in without)
    nearest = best_first(likeliest(counting).values())[:NEAREST]
    looked_at = tuple((kind, numbers[kind]) for kind in kinds)
    return Unreached(least, looked_at, tuple(nearest), left_out=numbers.total() < len(indexed))


class Preset(Struct, frozen=True):
    """What is searched for a purpose."""

    kinds: tuple[CollectionKind, ...]
    limit: int
    min_score: float

    def options(self) -> SearchOptions:
        from gitrag.actions.search import SearchOptions
        from gitrag.search.sections import Wanted

        return SearchOptions(
            wanted=Wanted(self.kinds), limit=self.limit, min_score=self.min_score, as_it_is=True
        )


_ADRS, _SPECS, _CODE, _ISSUES = CollectionKind

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


def indexed_documents(
    workspace: Workspace, kinds: Sequence[CollectionKind]
) -> list[tuple[CollectionKind, Document, str]]:
    """Return the indexed documents of some kinds of collection, of all modules, sorted by kind and path.

    What is indexed is first made so by these settings, if others did it last.

    Returns:
        Kind, document and text of each.
    """
    from gitrag.search.sections import read_documents
    from gitrag.store import views

    now = workspace.snapshot()
    for again in (True, False):
        with workspace.store.read() as db:
            view = views.current(db, workspace.repo.worktree)
            if view is None:
                break
            if view.rules == now.rules_key or not again:
                return read_documents(IndexFile(db), view.view_id, recorded(db, now, view), kinds)
        with suppress(DiskError):  # then as it is
            workspace.update()  # a session of other settings was the last to index
    return []
