"""Which decisions, specifications and issues bear on a file, why, and whether it names them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gitrag.actions.documents import indexed_documents
from gitrag.actions.governance.presets import PRESETS, Preset
from gitrag.actions.governance.unreached import Unreached, find_unreached
from gitrag.actions.search import NoCollectionError, search
from gitrag.chunking import chunk, decode, language_of
from gitrag.corpus.documents import Document
from gitrag.corpus.governing import exported, governing, named
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.git import BlobError, read_file
from gitrag.machine.files import existing
from gitrag.model import Kind
from gitrag.search.engine import Hit
from gitrag.search.question import read
from gitrag.words import terms
from gitrag.workspace import Workspace

MOST_BYTES = 1024 * 1024
MOST_FILES = 200
"""Files of a directory that are read; further ones add nothing about what governs it."""

_SYMBOLS = 24
"""Names put into a query: the search reads 64 words in all, the model 128 word pieces."""

_SHARED = 6
_NEAR = 0.4
"""Minimum cosine for a section to be called near in meaning."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A decision or specification that may govern the target, or an issue about it.

    Attributes:
        kind: The kind of its collection.
        document: Its path, id, title and status.
        score: Relevance in [0, 1]; 1 where the target names it.
        section: The section found: headings joined by `` > ``.
        why: Why it was found, in one line.
        note: A sentence or two quoted from it.
        line: The line of the target that names it first; None where it does not.
        governs: Whether a governing comment names it.
    """

    kind: CollectionKind
    document: Document
    score: float
    section: str
    why: str
    note: str
    line: int | None
    governs: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What bears on a file or directory.

    Attributes:
        target: Its path.
        query: What was searched for.
        candidates: Best first; those that the target names before all others.
        issues: Issues about the same subject, best first.
        missing: Ids that the target names but that no document has.
        unreached: What comes nearest where there is no candidate; None where there is one.
    """

    target: str
    query: str
    candidates: tuple[Candidate, ...]
    issues: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    unreached: Unreached | None = None


@dataclass(frozen=True, slots=True)
class _Target:
    path: str
    texts: tuple[tuple[str, str], ...]  # path and text of its files

    def mentions(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for _path, text in self.texts:
            for own, line in named(text).items():
                found.setdefault(own, line)
        return found


def check(workspace: Workspace, target: Path) -> Checked:
    """Find what bears on a file or directory of the working tree.

    Raises:
        NotSetUpError: There is no index, or no working tree.
        UsageError: The repository has no such file.
    """
    workspace.require_index()
    read_target = _read_target(workspace, target)
    query = query_of(read_target.path, read_target.texts)
    mentions = read_target.mentions()
    governs = {own for _, text in read_target.texts for each in governing(text) for own in each.ids}
    words = _words(query)

    def best(preset: Preset) -> tuple[Candidate, ...]:
        if not words:  # a file called `~` without any text
            return ()
        try:
            answer = search(workspace, query, preset.options())
        except NoCollectionError:  # no documents of these kinds
            return ()
        found = [
            _candidate(section.kind, hit, hit.document, mentions, governs, words)
            for section in answer.sections
            for hit in section.hits
            if hit.document is not None and hit.path != read_target.path
        ]
        found.sort(key=lambda each: (each.line is None, -each.score, each.document.path))
        return tuple(found[: preset.limit])

    preset = PRESETS["check"]
    there = {document.id for _, document, _ in indexed_documents(workspace, preset.kinds)}
    missing = tuple(sorted(own for own in mentions if own not in there))
    candidates = best(preset)
    unreached = None
    if not candidates:
        unreached = find_unreached(workspace, [query] if words else [], [preset], {read_target.path})
    return Checked(read_target.path, query, candidates, best(PRESETS["plan issues"]), missing, unreached)


def name_of(kind: CollectionKind, document: Document) -> str:
    """Return the id of a document as people write it."""
    is_number = kind is CollectionKind.ISSUES and document.id.isdecimal()
    return f"#{document.id}" if is_number else document.id


def query_of(path: str, texts: Sequence[tuple[str, str]]) -> str:
    """Build a query from a target's governing comments, its path, and its exported names.

    Args:
        path: The target.
        texts: Path and text of its files.
    """
    comments = [each for _, text in texts for each in governing(text)]
    parts = [own for each in comments for own in each.ids]
    parts += [name for each in comments for name in each.requirements]
    parts.append(" ".join(_path_words(path)))
    names: list[str] = []
    sentences: list[str] = []
    for own, text in texts:
        language = language_of(own)
        chunks = chunk(text.encode("utf-8", "surrogateescape"), language)
        sentences += [each.docstring for each in chunks[:1] if each.kind is Kind.MODULE]
        for each in exported(chunks, language):
            names.append(" ".join(_path_words(each.name)))
            sentences.append(each.docstring)
    parts += dict.fromkeys(names[:_SYMBOLS])
    parts += dict.fromkeys(_first_sentence(each) for each in sentences[:_SYMBOLS] if each)
    return " ".join(" ".join(parts).split())


def _candidate(
    kind: CollectionKind,
    hit: Hit,
    document: Document,
    mentions: dict[str, int],
    governs: set[str],
    words: dict[str, str],
) -> Candidate:
    line = mentions.get(document.id)
    section = hit.chunk.qualified_name
    return Candidate(
        kind=kind,
        document=document,
        score=hit.score,
        section=section,
        why=_why(hit, line, words, is_governing=document.id in governs),
        note=hit.note,
        line=line,
        governs=document.id in governs,
    )


def _why(hit: Hit, line: int | None, words: dict[str, str], *, is_governing: bool) -> str:
    if line is not None:
        return f"{'governs it' if is_governing else 'is named'}, by line {line}"
    own = set(terms.query_terms(hit.chunk.text))
    shared = list(dict.fromkeys(word for term, word in words.items() if term in own))[:_SHARED]
    said = f"shares {', '.join(shared)}" if shared else ""
    near = "is near in meaning" if hit.cosine >= _NEAR else ""
    return " and ".join(part for part in (said, near) if part) or "is like it"


def _words(query: str) -> dict[str, str]:
    """Map the terms of the query's significant words to the words."""
    counting = set(read(query).words)
    found: dict[str, str] = {}
    for word in query.split():
        for term in terms.query_terms(word):
            if term in counting:
                found.setdefault(term, word.strip(".,;:()\"'`"))
    return found


def _path_words(path: str) -> list[str]:
    from gitrag.embedding.text import path_text

    return path_text(path).split()


def _first_sentence(docstring: str) -> str:
    return docstring.partition("\n\n")[0].partition(". ")[0]


def _read_target(workspace: Workspace, target: Path) -> _Target:
    if workspace.repo.root is None:
        raise NotSetUpError("A bare repository has no working tree to check.", "Run this in a worktree.")
    root = workspace.repo.root.resolve()
    place = Path(os.path.normpath(target))
    real = existing(place)
    if real is None or not real.is_relative_to(root) or ".git" in real.relative_to(root).parts:
        told = place.relative_to(workspace.repo.root) if place.is_relative_to(workspace.repo.root) else target
        raise UsageError(
            f"{told} is no file or directory of the repository.", "Give the path of one that is there."
        )
    path = real.relative_to(root).as_posix()
    if real.is_dir():
        paths: Iterable[str] = _files_below(workspace, path)
    else:
        paths = [path]
    return _Target(path, tuple(_texts(root, paths)))


def _files_below(workspace: Workspace, path: str) -> list[str]:
    done = workspace.repo.git(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){path}"
    )
    listed = sorted(set(os.fsdecode(done.stdout).split("\0")[:-1]))
    return [each for each in listed if language_of(each)][:MOST_FILES]


def _texts(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        with suppress(BlobError):
            yield path, decode(read_file(root, path, MOST_BYTES))
