"""Which decisions, specifications and issues bear on a file, why, and whether it names them."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.governance.bearings import (
    NEAR,
    PRESETS,
    Bearing,
    FileTarget,
    bearings,
    best_first,
    none_indexed,
    searched,
)
from gitrag.actions.impact import Called, Impact, callers_from_outside
from gitrag.chunking import chunk, decode, language_of
from gitrag.corpus.governing import exported, governing, named
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


class Checked(Struct, frozen=True):
    """What bears on a file or directory.

    Attributes:
        target: Its path.
        query: The target as a line: ids, path, names, sentences; issues are searched for it.
        documents: At most eight decisions and specifications, best first, those that the target names before
            all others; whatever their score, so that nobody takes the lack of a sure one for the lack of any.
        least: Least score of those that are likely to bear on it.
        issues: Issues about the same subject, best first.
        missing: Ids that the target names but that no document has.
        lacking: What is said where there is nothing to compare it with; empty where there is a candidate.
        impact: Who calls what it defines from outside of it; None where it defines nothing that is called.
        notes: What the command says on stderr, a line each, and whose callers were not looked for.
    """

    target: str
    query: str
    documents: tuple[Bearing, ...]
    issues: tuple[Bearing, ...] = ()
    missing: tuple[str, ...] = ()
    least: float = PRESETS["check"].min_score
    lacking: str = ""
    impact: Impact | None = None
    notes: tuple[str, ...] = ()

    @property
    def called(self) -> tuple[Called, ...]:
        """What is called of it from outside of it, with the most callers first."""
        return self.impact.called if self.impact is not None else ()

    @property
    def likely(self) -> tuple[Bearing, ...]:
        """The candidates that are likely to bear on it."""
        return tuple(each for each in self.documents if each.score >= self.least)

    @property
    def nearest(self) -> tuple[Bearing, ...]:
        """The other candidates."""
        return self.documents[len(self.likely) :]


def check(workspace: Workspace, target: Path, *, with_impact: bool = True) -> Checked:
    """Find what bears on a file or directory of the working tree.

    Args:
        with_impact: Whether to find out who calls what it defines, which takes the most time.
    """
    workspace.require_index()
    path, texts = read_target = _read_target(workspace, target)
    query = query_of(path, texts)
    mentions = _mentions(texts)
    words = _words(query)

    preset = PRESETS["check"]
    (found,) = bearings(workspace, [read_target])
    candidates = _candidates(found, read_target, mentions)
    there = {each.document.id for each in found}
    missing = tuple(sorted(own for own in mentions if own not in there))
    issues = _issues(workspace, query, words, mentions)
    lacking = "" if candidates else none_indexed(preset.kinds, other=bool(found))
    paths = [own for own, _ in texts]
    return Checked(
        path,
        query,
        tuple(candidates[: preset.limit]),
        issues,
        missing,
        preset.min_score,
        lacking,
        callers_from_outside(workspace, path, paths) if with_impact else None,
    )


def documents_on(workspace: Workspace, target: Path) -> tuple[Bearing, ...]:
    """Return the decisions and specifications that likely bear on a file, as `check` does."""
    workspace.require_index()
    read_target = _read_target(workspace, target)
    (found,) = bearings(workspace, [read_target])
    path, texts = read_target
    return Checked(path, "", tuple(_candidates(found, read_target, _mentions(texts)))).likely


def _candidates(found: Sequence[Bearing], target: FileTarget, mentions: dict[str, int]) -> list[Bearing]:
    """Return what was found as candidates, those that the target names first."""
    path, texts = target
    governs = {own for _, text in texts for each in governing(text) for own in each.ids}
    own = [
        _named(replace(each, score=1.0), mentions, governs) if each.document.id in mentions else each
        for each in found
        if each.document.path != path
    ]
    return sorted(best_first(own), key=lambda each: each.line is None)


def _named(found: Bearing, mentions: Mapping[str, int], governs: Container[str] = ()) -> Bearing:
    """Return a document with the line of the target that names it."""
    own = found.document.id
    line, is_governing = mentions[own], own in governs
    why = f"{'governs it' if is_governing else 'is named'}, by line {line}"
    return replace(found, why=why, line=line, governs=is_governing)


def _issues(
    workspace: Workspace, query: str, words: Mapping[str, str], mentions: Mapping[str, int]
) -> tuple[Bearing, ...]:
    """Return the issues about the same subject, best first."""
    preset = PRESETS["plan issues"]
    if not words:  # a file called `~` without any text
        return ()
    found = [
        _named(each, mentions) if each.document.id in mentions else replace(each, why=_why(hit, words))
        for each, hit in searched(workspace, query, preset.options())
    ]
    return tuple(best_first(found)[: preset.limit])


def _mentions(texts: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the ids that a target's files name, with the line of each first mention."""
    found: dict[str, int] = {}
    for _path, text in texts:
        for own, line in named(text).items():
            found.setdefault(own, line)
    return found


def query_of(path: str, texts: Sequence[tuple[str, str]]) -> str:
    """Build a query from a target's governing comments, its path, and its exported names."""
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


def _why(hit: Hit, words: Mapping[str, str]) -> str:
    own = set(terms.query_terms(hit.chunk.text))
    shared = list(dict.fromkeys(word for term, word in words.items() if term in own))[:_SHARED]
    said = f"shares {', '.join(shared)}" if shared else ""
    near = "is near in meaning" if (hit.cosine or 0) >= NEAR else ""
    return " and ".join(part for part in (said, near) if part) or "is like it"


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
    return path, tuple(_texts(workspace, root, paths))


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
