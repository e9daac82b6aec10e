"""The decisions, specifications and issues that a change touches, and those of them that it does not name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from gitrag.actions.governance.bearings import (
    KINDS,
    NEAREST,
    PRESETS,
    Bearing,
    Preset,
    Unreached,
    bearings,
    best_first,
    find_unreached,
    indexed_documents,
    searched,
)
from gitrag.actions.touched import Touched
from gitrag.chunking import decode, language_of
from gitrag.corpus.governing import named
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.text import split_words
from gitrag.errors import UsageError
from gitrag.git.difference import ChangedFile
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

MOST_QUERIES = 12
"""Files of a change that are asked about one by one, those with the most added definitions first."""

_MOST_TOUCHED = 50
"""Changed files that a search leaves room for."""

_MESSAGE_CHARACTERS = 600
"""How much of the commit messages is used: the model reads some 600 characters."""


def unnamed(
    workspace: Workspace,
    files: Sequence[ChangedFile],
    said: Sequence[str],
    queries: Mapping[str, str],
    sought: Mapping[str, str],
    kinds: Collection[CollectionKind],
    advance: Callable[[int], None],
) -> tuple[tuple[Bearing, ...], tuple[str, ...], Unreached | None]:
    """Find the decisions, specifications and issues that a change touches, and those that it does not name.

    Args:
        queries: What is asked about it, as `queries_of` returns.
        sought: For which of them issues are searched.

    Returns:
        Those that it does not name, best first; ids of those that it names; what comes nearest where there is
        neither.
    """
    touched = {file.path for file in files}
    order = [kind for kind in CollectionKind if kind in kinds]
    least = _searched_preset().min_score
    if not any(True for _ in indexed_documents(workspace, order)):  # half a second on django
        return (), (), find_unreached(workspace, (), order, least, touched)
    asked = list(_governing(workspace, files, queries, kinds))
    further: list[Bearing] = []
    for done, (path, query) in enumerate(sought.items(), start=1):
        advance(done)
        found = [replace(each, touched_by=path) for each in _searched(workspace, query, len(touched))]
        likely = [each for each in found if each.score >= least]
        asked += likely[: _searched_preset().limit]
        further += found
    questions, named_ones = _questions(files, said, asked)
    unreached = None
    if not questions and not named_ones:
        unreached = find_unreached(workspace, (*asked, *further), order, least, touched)
    return tuple(questions), tuple(named_ones), unreached


def _questions(
    files: Sequence[ChangedFile], said: Sequence[str], asked: Iterable[Bearing]
) -> tuple[list[Bearing], list[str]]:
    """Return what was found for the paths and is not named by the change itself, and ids it names. Pure."""
    preset = PRESETS["review"]
    mentioned = "\n".join(
        [*said, *(decode(file.after, language_of(file.path)) for file in files if file.after is not None)]
    )
    ids, touched = named(mentioned).keys(), {file.path for file in files}
    best: dict[str, Bearing] = {}
    named_ones: dict[str, None] = {}
    for each in asked:
        document = each.document
        if each.score < preset.min_score or document.path in touched:
            continue
        is_issue = each.kind is CollectionKind.ISSUES
        if document.id in ids or (is_issue and _names_issue(mentioned, document.id)):
            named_ones[each.name] = None
            continue
        known = best.get(document.path)
        if known is None or known.score < each.score:
            where = each.touched_by or (known.touched_by if known else "")
            best[document.path] = replace(each, touched_by=where)
    return best_first(best.values())[: preset.limit], list(named_ones)


def _governing(
    workspace: Workspace,
    files: Sequence[ChangedFile],
    queries: Mapping[str, str],
    kinds: Collection[CollectionKind],
) -> Iterator[Bearing]:
    """Yield the decisions that may bear on the changed files, as `check` finds them, and on the messages."""
    sides = {file.path: file.before if file.after is None else file.after for file in files}
    targets = {
        path: (path, ((path, decode(sides[path] or b"", language_of(path))),)) if path else query
        for path, query in queries.items()
    }
    for path, found in zip(targets, bearings(workspace, list(targets.values())), strict=True):
        for each in found:
            if each.kind in kinds:
                yield replace(each, touched_by=path)


def _searched(workspace: Workspace, query: str, touched: int) -> list[Bearing]:
    """Return the issues that a search finds, whatever their scores: the nearest are named if none is likely.

    Files of the change, of which there are ``touched``, are none of them, and may take their places.
    """
    preset = _searched_preset()
    most = max(preset.limit, NEAREST + min(touched, _MOST_TOUCHED))
    try:
        found = searched(workspace, query, replace(preset.options(), min_score=0.0, limit=most))
    except UsageError:  # no words in the query
        return []
    return [each for each, _ in found]


def _searched_preset() -> Preset:
    """Return what is searched: the documents that `bearings` does not score."""
    preset = PRESETS["review"]
    return replace(preset, kinds=tuple(kind for kind in preset.kinds if kind not in KINDS))


def queries_of(
    files: Sequence[ChangedFile], said: Sequence[str], added: Sequence[Touched]
) -> Mapping[str, str]:
    """Return the queries for a change, by path: its messages (no path), and what each file adds."""
    queries: dict[str, str] = {}
    own = {file.path: [each.chunk for each in added if each.path == file.path] for file in files}
    code = [path for path in own if language_of(path) and not traits(path) & Trait.TEST]
    for path in sorted(code, key=lambda path: -len(own[path]))[:MOST_QUERIES]:
        new = own[path]
        names = " ".join(split_words(each.name) for each in new)
        sentences = " ".join(each.docstring.partition("\n\n")[0].partition(". ")[0] for each in new)
        stem = path.rpartition(".")[0] or path
        queries[path] = f"{split_words(stem)} {names} {sentences}".strip()
    if said:
        queries[""] = " ".join(" ".join(said).split())[:_MESSAGE_CHARACTERS]
    return queries


def _names_issue(text: str, own: str) -> bool:
    mark = "#" if own.isdecimal() else ""
    return bool(re.search(rf"(?<![\w-]){mark}{re.escape(own)}(?![\w-])", text))
