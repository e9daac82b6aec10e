"""Which decisions, specifications and issues bear on a file, why, and whether it names them."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.actions.governance.bearings import NEAR, FileTarget, Found, bearings
from gitrag.actions.governance.presets import PRESETS
from gitrag.actions.governance.unreached import none_indexed
from gitrag.actions.impact import Impact, callers_from_outside
from gitrag.actions.search import NoCollectionError, search
from gitrag.chunking import chunk, decode, language_of
from gitrag.corpus.documents import Document
from gitrag.corpus.governing import exported, governing, named
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.git import BlobError, read_file
from gitrag.git.conversion import as_stored
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


class Candidate(Struct, frozen=True):
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


class Checked(Struct, frozen=True):
    """What bears on a file or directory.

    Attributes:
        target: Its path.
        query: The target as a line: ids, path, names, sentences; issues are searched for it.
        candidates: At most eight decisions and specifications, best first, those that the target names before
            all others; whatever their score, so that nobody takes the lack of a sure one for the lack of any.
        least: Least score of those that are likely to bear on it.
        issues: Issues about the same subject, best first.
        missing: Ids that the target names but that no document has.
        lacking: What is said where there is nothing to compare it with; empty where there is a candidate.
        impact: Who calls what it defines from outside of it; None where it defines nothing that is called.
    """

    target: str
    query: str
    candidates: tuple[Candidate, ...]
    issues: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    least: float = PRESETS["check"].min_score
    lacking: str = ""
    impact: Impact | None = None

    @property
    def likely(self) -> tuple[Candidate, ...]:
        """The candidates that are likely to bear on it."""
        return tuple(each for each in self.candidates if each.score >= self.least)

    @property
    def nearest(self) -> tuple[Candidate, ...]:
        """The other candidates."""
        return self.candidates[len(self.likely) :]


def check(workspace: Workspace, target: Path, *, with_impact: bool = True) -> Checked:
    """Find what bears on a file or directory of the working tree.

    Args:
        target: The file or directory.
        with_impact: Whether to find out who calls what it defines, which takes the most time.

    Raises:
        NotSetUpError: There is no index, or no working tree.
        UsageError: The repository has no such file.
    """
    workspace.require_index()
    read_target = _read_target(workspace, target)
    query = query_of(read_target.path, read_target.texts)
    mentions = _mentions(read_target)
    words = _words(query)

    preset = PRESETS["check"]
    (found,) = bearings(workspace, [read_target])
    candidates = _candidates(found, read_target, mentions)
    there = {each.document.id for each in found}
    missing = tuple(sorted(own for own in mentions if own not in there))
    issues = _issues(workspace, query, words, mentions)
    lacking = "" if candidates else none_indexed(preset.kinds, other=bool(found))
    paths = [path for path, _ in read_target.texts]
    return Checked(
        read_target.path,
        query,
        tuple(candidates[: preset.limit]),
        issues,
        missing,
        preset.min_score,
        lacking,
        callers_from_outside(workspace, read_target.path, paths) if with_impact else None,
    )


def documents_on(workspace: Workspace, target: Path) -> tuple[Candidate, ...]:
    """Return the decisions and specifications that likely bear on a file, as `check` does, and nothing else.

    Raises:
        NotSetUpError: There is no index, or no working tree.
        UsageError: The repository has no such file.
    """
    workspace.require_index()
    read_target = _read_target(workspace, target)
    (found,) = bearings(workspace, [read_target])
    return Checked(
        read_target.path, "", tuple(_candidates(found, read_target, _mentions(read_target)))
    ).likely


def _candidates(found: Sequence[Found], target: FileTarget, mentions: dict[str, int]) -> list[Candidate]:
    """Return what was found as candidates, those that the target names first."""
    governs = {own for _, text in target.texts for each in governing(text) for own in each.ids}
    own = [_governing(each, mentions, governs) for each in found if each.document.path != target.path]
    return sorted(own, key=lambda each: (each.line is None, -each.score, each.document.path))


def _issues(
    workspace: Workspace, query: str, words: dict[str, str], mentions: dict[str, int]
) -> tuple[Candidate, ...]:
    """Return the issues about the same subject, best first."""
    preset = PRESETS["plan issues"]
    if not words:  # a file called `~` without any text
        return ()
    try:
        answer = search(workspace, query, preset.options())
    except NoCollectionError:  # no issues
        return ()
    found = [
        _candidate(section.kind, hit, hit.document, mentions, frozenset(), words)
        for section in answer.sections
        for hit in section.hits
        if hit.document is not None
    ]
    return tuple(sorted(found, key=lambda each: (-each.score, each.document.path))[: preset.limit])


def _governing(found: Found, mentions: dict[str, int], governs: Container[str]) -> Candidate:
    """Return a decision or specification as a candidate; one that the target names has the score 1."""
    own = found.document.id
    line = mentions.get(own)
    return Candidate(
        kind=found.kind,
        document=found.document,
        score=found.score if line is None else 1.0,
        section=found.section,
        why=found.why if line is None else _named(line, is_governing=own in governs),
        note=found.note,
        line=line,
        governs=own in governs,
    )


def _mentions(target: FileTarget) -> dict[str, int]:
    """Return the ids that the target's files name, with the line of each first mention."""
    found: dict[str, int] = {}
    for _path, text in target.texts:
        for own, line in named(text).items():
            found.setdefault(own, line)
    return found


def name_of(kind: CollectionKind, document: Document) -> str:
    """Return the id of a document as people write it."""
    is_number = kind is CollectionKind.ISSUES and document.id.isdecimal()
    return f"#{document.id}" if is_number else document.id


def query_of(path: str, texts: Sequence[tuple[str, str]]) -> str:
    """Build a query from a target's governing comments, its path, and its exported names.

    Args:
        texts: Path and text of its files.
    """
    comments = [each for _, text in texts for each in governing(text)]
    parts = [own for each in comments for own in each.ids]
    parts += [name for each in comments for name in each.requirements]
    parts.append(" ".join(_path_words(path)))
    names: list[str] = []
    sentences: list[str] = []
    for own, text in texts:
        language = language_of(own, text)
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
    governs: Container[str],
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
        return _named(line, is_governing=is_governing)
    own = set(terms.query_terms(hit.chunk.text))
    shared = list(dict.fromkeys(word for term, word in words.items() if term in own))[:_SHARED]
    said = f"shares {', '.join(shared)}" if shared else ""
    near = "is near in meaning" if hit.cosine >= NEAR else ""
    return " and ".join(part for part in (said, near) if part) or "is like it"


def _named(line: int, *, is_governing: bool) -> str:
    return f"{'governs it' if is_governing else 'is named'}, by line {line}"


def _words(query: str) -> dict[str, str]:
    """Map the terms of the query's significant words to the words."""
    counting = set(read(query, may_be_report=False).words)
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


def _read_target(workspace: Workspace, target: Path) -> FileTarget:
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
    return FileTarget(path, tuple(_texts(workspace, root, paths)))


def _files_below(workspace: Workspace, path: str) -> list[str]:
    done = workspace.repo.git(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){path}"
    )
    listed = sorted(set(os.fsdecode(done.stdout).split("\0")[:-1]))
    return [each for each in listed if language_of(each)][:MOST_FILES]


def _texts(workspace: Workspace, root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        with suppress(BlobError):
            data = as_stored(workspace.repo, path, read_file(root, path, MOST_BYTES))
            yield path, decode(data, language_of(path))
