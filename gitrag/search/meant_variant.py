"""Group the files of a page that are nearly the same, first of each group the one that is meant.

That is the one that the question names, else the one that the package's entry point offers, else the one that
most work goes into. Which files are nearly the same is in `gitrag/search/variants.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from posixpath import commonpath
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.search import variants
from gitrag.search.question import Question
from gitrag.search.variants import Outline
from gitrag.store import candidates
from gitrag.store.candidates import SearchScope
from gitrag.store.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gitrag.store.source import Source

LOOKED_AT = 20
"""Files of a page that are compared with one another."""

_FAR = 3.0
"""Difference of two sums at which what the repository uses no longer decides: the question says enough."""

_LONGEST = 20_000
"""Length, in weighted terms, of a file whose lines are not compared."""

_ENTRY = r"(?:__init__|index|mod|lib|main)\.[^/]+"
_MOST_ENTRIES = 4
_MOST_KEPT = 2_000
"""Outlines, and uses of groups, kept for the next question."""


class _Use(Struct, frozen=True):
    """What a repository uses of some variants.

    Attributes:
        offered: The path that the package's entry point offers; None where it offers none alone.
        activity: By path, how much work has gone into each.
    """

    offered: str | None
    activity: Mapping[str, float]


class Page(Struct, frozen=True):
    """A page of files.

    Attributes:
        files: Best first; of those with the same content one.
        sums: How much speaks for each candidate.
    """

    files: Sequence[int]
    sums: Mapping[int, float]
    paths: Mapping[int, str]


def arrange(
    source: Source,
    question: Question,
    scope: SearchScope,
    page: Page,
    commit: str | None,
    *,
    state: Hashable,
    memo: Memo,
) -> list[list[int]]:
    """Group a page.

    Args:
        commit: The commit that is asked; None where history does not matter.
        memo: Cache for the next question: a page with a group costs 5 to 15 ms, then half of one.
    """
    head, rest = page.files[:LOOKED_AT], page.files[LOOKED_AT:]
    known: dict[int, Outline] = memo.get("outlines", dict)
    uses: dict[tuple[str, ...], _Use] = memo.get(("uses of variants", state, commit), dict)
    found = variants.groups(head, page.paths, lambda files: _outlines(source, scope, files, known))
    twins = _twins(scope, page)
    for group in found:
        group += [twin for file in tuple(group) for twin in twins.get(file, ())]
        if len(group) > 1:
            own = [page.paths[file] for file in group]
            meant = variants.named(own, question.words)
            if meant is None:
                near = tuple(file for file in group if page.sums[group[0]] - page.sums[file] < _FAR)
                meant = group.index(_used(source, scope, page, near, commit, uses))
            group.insert(0, group.pop(meant))
    return [*found, *([file] for file in rest)]


def _twins(scope: SearchScope, page: Page) -> dict[int, list[int]]:
    """Return the other candidates with the same content as each file of a page."""
    shown = {int(scope.files.content_id[file]): file for file in page.files}
    found: dict[int, list[int]] = defaultdict(list)
    for file in sorted(page.sums, key=lambda file: (-page.sums[file], page.paths[file])):
        first = shown.get(int(scope.files.content_id[file]), file)
        if first != file:
            found[first].append(file)
    return found


def _outlines(
    source: Source, scope: SearchScope, files: Sequence[int], known: dict[int, Outline]
) -> dict[int, Outline]:
    """Return the outlines of files, reading those of contents that are not known yet."""
    length = {int(scope.files.content_id[file]): int(scope.files.length[file]) for file in files}
    if len(known) > _MOST_KEPT:
        known.clear()
    if new := length.keys() - known.keys():
        names = source.read_names(new)
        few = {each for each in new if len(names.get(each, ())) < variants.FEWEST_NAMES}
        few = {each for each in few if length[each] <= _LONGEST}
        texts = source.read_chunk_texts(few) if few else {}
        for each in new:
            own = frozenset(name.casefold() for name in names.get(each, ()))
            known[each] = Outline(own, variants.lines_of(texts.get(each, ())))
    return {file: known[int(scope.files.content_id[file])] for file in files}


def _used(
    source: Source,
    scope: SearchScope,
    page: Page,
    group: Sequence[int],
    commit: str | None,
    known: dict[tuple[str, ...], _Use],
) -> int:
    """Return which of a group, likeliest first, the repository itself uses; the first if that is unclear."""
    if len(group) == 1:
        return group[0]
    by_path = {page.paths[file]: file for file in group}
    key = tuple(sorted(by_path))
    if len(known) > _MOST_KEPT:
        known.clear()
    if key not in known:
        activity = [0.0] * len(group)
        if commit is not None:
            activity = source.activity(scope, commit, group)
        known[key] = _Use(_offered(source, scope, key), dict(zip(by_path, activity, strict=True)))
    use = known[key]
    if use.offered is not None:
        return by_path[use.offered]
    worked_on = variants.most_worked_on([use.activity[path] for path in by_path])
    return group[worked_on or 0]


def _offered(source: Source, scope: SearchScope, paths: Sequence[str]) -> str | None:
    """Return which of some paths the nearest entry point that offers one alone offers."""
    around = [commonpath([path.rpartition("/")[0] for path in paths])]
    while around[-1]:
        around.append(around[-1].rpartition("/")[0])
    either = "|".join(map(candidates.path_pattern, filter(None, around)))
    there = defaultdict(list)
    for file, path in source.files_matching(scope, rf"^(?:(?:{either})/)?{_ENTRY}$"):
        if path not in paths:
            there[path.rpartition("/")[0]].append(file)
    files = [file for folder in around for file in there.get(folder, ())][:_MOST_ENTRIES]
    if not files:
        return None
    contents = [int(scope.files.content_id[file]) for file in files]
    texts = source.read_chunk_texts(set(contents))
    offered = (variants.exported(paths, "\n".join(texts.get(each, ()))) for each in contents)
    first = next((number for number in offered if number is not None), None)
    return None if first is None else paths[first]
