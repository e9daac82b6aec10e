"""Group the files of a page that are nearly the same, first of each group the one that is meant.

That is the one that the question names, else the one that the package's entry point offers, else the one that
most work goes into. Which files are nearly the same is in `gitrag/search/variants.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from posixpath import commonpath
from typing import TYPE_CHECKING

from gitrag.search import variants
from gitrag.search.question import Question
from gitrag.search.variants import Outline
from gitrag.store import candidates, commits, content
from gitrag.store.candidates import SearchScope
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

LOOKED_AT = 20
"""Files of a page that are compared with one another."""

_FAR = 3.0
"""Difference of two sums at which what the repository uses no longer decides: the question says enough."""

_LONGEST = 20_000
"""Length, in weighted terms, of a file that is not compared line by line."""

_ENTRY = r"(?:__init__|index|mod|lib|main)\.[^/]+"
_MOST_ENTRIES = 4


def arrange(
    db: Connection,
    question: Question,
    scope: SearchScope,
    page: Sequence[int],
    sums: Mapping[int, float],
    paths: Mapping[int, str],
    commit: str | None,
    memo: Memo,
) -> list[list[int]]:
    """Group a page, first in each group the file that is meant.

    Args:
        db: An open connection; reading is enough.
        question: The question.
        scope: What it may find.
        page: The files, best first, of those with the same content one.
        sums: How much speaks for each candidate.
        paths: Their paths.
        commit: The commit that is asked; None where history does not matter.
        memo: Cache for the next question.
    """

    def outlines(files: Sequence[int]) -> dict[int, Outline]:
        return _outlines(db, scope, files)

    head, rest = page[:LOOKED_AT], page[LOOKED_AT:]
    found = variants.groups(head, paths, outlines)
    twins = _twins(scope, page, sums, paths)
    for group in found:
        group += [twin for file in tuple(group) for twin in twins.get(file, ())]
    for group in found:
        if len(group) > 1:
            meant = _meant(db, question, scope, group, sums, paths, commit, memo)
            group.insert(0, group.pop(meant))
    return [*found, *([file] for file in rest)]


def _twins(
    scope: SearchScope, page: Sequence[int], sums: Mapping[int, float], paths: Mapping[int, str]
) -> dict[int, list[int]]:
    """Return the other candidates with the same content as each file of a page, which has but one of them."""
    shown = {int(scope.files.content_id[file]): file for file in page}
    found: dict[int, list[int]] = defaultdict(list)
    for file in sorted(sums, key=lambda file: (-sums[file], paths[file])):
        first = shown.get(int(scope.files.content_id[file]), file)
        if first != file:
            found[first].append(file)
    return found


def _outlines(db: Connection, scope: SearchScope, files: Sequence[int]) -> dict[int, Outline]:
    contents = {file: int(scope.files.content_id[file]) for file in files}
    short = {contents[file] for file in files if scope.files.length[file] <= _LONGEST}
    names = content.read_names(db, set(contents.values()))
    texts = content.read_chunk_texts(db, short)
    return {
        file: Outline(
            frozenset(name.casefold() for name in names.get(content_id, ())),
            variants.lines_of(texts.get(content_id, ())),
        )
        for file, content_id in contents.items()
    }


def _meant(
    db: Connection,
    question: Question,
    scope: SearchScope,
    group: Sequence[int],
    sums: Mapping[int, float],
    paths: Mapping[int, str],
    commit: str | None,
    memo: Memo,
) -> int:
    """Return the index in a group, likeliest first, of the file that is meant."""
    if (named := variants.named([paths[file] for file in group], question.words)) is not None:
        return named
    near = [file for file in group if sums[group[0]] - sums[file] < _FAR]
    if len(near) < 2:
        return 0
    own = [paths[file] for file in near]
    for text in _entries(db, scope, own):
        if (offered := variants.exported(own, text)) is not None:
            return group.index(near[offered])
    if commit is not None:
        worked_on = variants.most_worked_on(commits.activity(db, scope, commit, near, memo))
        if worked_on is not None:
            return group.index(near[worked_on])
    return 0


def _entries(db: Connection, scope: SearchScope, paths: Sequence[str]) -> list[str]:
    """Return the texts of the files that stand for the folders around some paths, the nearest first."""
    around = [commonpath([path.rpartition("/")[0] for path in paths])]
    while around[-1]:
        around.append(around[-1].rpartition("/")[0])
    either = "|".join(map(candidates.path_pattern, filter(None, around)))
    there = defaultdict(list)
    for file, path in candidates.files_matching(db, scope, rf"^(?:(?:{either})/)?{_ENTRY}$"):
        if path not in paths:
            there[path.rpartition("/")[0]].append(file)
    files = [file for each in around for file in there.get(each, ())][:_MOST_ENTRIES]
    contents = [int(scope.files.content_id[file]) for file in files]
    texts = content.read_chunk_texts(db, set(contents))
    return ["\n".join(texts.get(content_id, ())) for content_id in contents]
