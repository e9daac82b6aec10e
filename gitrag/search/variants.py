"""Files that are nearly the same: versions, platforms, copies, generated mirrors, translations.

Of ``src/v3/parse.ts`` and ``src/mini/parse.ts``, or ``unix/tty.c`` and ``win/tty.c``, mostly one is meant.
The first of a group is the one that the question names, else the one that the package's entry point offers,
else the one that most work goes into.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from posixpath import commonpath
from typing import TYPE_CHECKING

from gitrag.late import late_re
from gitrag.search.question import Question
from gitrag.store import scopes
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope
from gitrag.words import terms
from gitrag.words.bulk_files import untranslated
from gitrag.words.stems import stem

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gitrag.store.source import Source

_MARK = late_re(
    r"""
      v?\d+(?:[._-]\d+)*
    | unix | posix | linux | darwin | mac(?:os)? | osx | ios | apple | android | native | jvm | js
    | wasm\d* | wasi
    | win(?:dows)? | win(?:32|64) | (?:free|net|open|dragonfly)?bsd | solaris | sunos | aix | unsupported
    | x86(?:_64)? | x64 | amd64 | i386 | arm(?:64|v\d)? | aarch64 | ppc(?:64)? | riscv(?:64)? | s390x? | neon
    | sse\d* | avx\d*
    | old | legacy | deprecated | compat | new | next | copy | orig | backup | mini?
    | slim | lite | full | classic
    | bundled? | umd | esm | cjs | es\d+ | modern | prod(?:uction)? | dev(?:elopment)? | generated | gen
    | async | sync | aio
    """,
    re.VERBOSE,
)
"""Words of a path that tell a version, a platform or a build, not a subject."""

_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(map(stem, words.split()))
    for words in (
        "darwin mac macos osx apple",
        "win windows win32 win64",
        "unix posix",
        "js javascript",
        "arm arm64 aarch64 neon",
        "async asyncio asynchronous aio",
        "sync synchronous",
        "legacy deprecated old",
    )
)
"""Words for the same variant."""

_PIECE = late_re(r"[^_.-]+")

_SAME_KIND: Mapping[str, str] = {
    **dict.fromkeys((".d.ts", ".ts", ".tsx", ".mts", ".cts", ".jsx", ".mjs", ".cjs"), ".js"),
    ".pyi": ".py",
}
"""Endings of files that are made from one another."""

FEWEST_NAMES = 3
_NAMES_OF_BOTH = 0.3
_NAMES_OF_SMALLER = 0.6
"""Least share of the names that either file defines, and of the fewer names of the two, that both define; the
larger share of all where one file's name only goes on where the other's ends."""

_MANY_NAMES = 8
"""How many both define at least where the files have different names, in folders of different variants."""

_FEWEST_LINES = 8
_LINES_OF_BOTH = 0.4
"""The same for lines, where both define too few names to tell."""

_SHORTEST_LINE = 8
_COMMENT = ("*", "//", "/*", "--", ";;")
"""Beginnings of lines that do not count: files that have but a licence in common are not the same."""

_MUCH_MORE = 3.0
"""How many times as much a variant has been worked on than the likeliest, to be meant instead. Of 18 groups
with a changed file, on pages of changes to 35 repositories, it was first in 13; in 14 by what the
question names, in 15 by this too; with any difference at all in 14."""


Outline = tuple[frozenset[str], frozenset[str]]
"""What tells whether two files are nearly the same: the names that one defines, case-folded, and its lines
without indentation, comments and short ones left out; these only where it has few names (`FEWEST_NAMES`)."""


def lines_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the lines of a file's chunks that count."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= _SHORTEST_LINE and not line.startswith(_COMMENT))


def groups(
    page: Sequence[int],
    paths: Mapping[int, str] | Sequence[str],
    outlines: Callable[[Sequence[int]], Mapping[int, Outline]],
) -> list[list[int]]:
    """Put each file of a page to the first one that it is nearly the same as.

    Args:
        page: Files, best first.
        outlines: Reads the outlines of some files; asked only where paths alone leave a doubt.
    """
    pairs = _like_named(page, paths)
    translated = {pair for pair in pairs if _is_translation(paths, *pair)}
    doubtful = sorted({file for pair in pairs - translated for file in pair})
    known = outlines(doubtful) if doubtful else {}
    found: list[list[int]] = []
    for file in page:
        for group in found:
            pair = (group[0], file)
            if pair in translated or (
                pair in pairs and _alike(paths[group[0]], known[group[0]], paths[file], known[file])
            ):
                group.append(file)
                break
        else:
            found.append([file])
    return found


def in_place(page: Sequence[int], found: Iterable[Sequence[int]]) -> list[int]:
    """Return a page on which each group has the places that its files had, in the group's order.

    Where a group has further files, its last ones are left out.
    """
    place = {file: number for number, file in enumerate(page)}
    moved = list(page)
    for group in found:
        for number, file in zip(sorted(place[file] for file in group if file in place), group, strict=False):
            moved[number] = file
    return moved


def _is_translation(paths: Mapping[int, str] | Sequence[str], one: int, other: int) -> bool:
    text = untranslated(paths[one])
    return text != paths[one] and text == untranslated(paths[other])


def _like_named(page: Sequence[int], paths: Mapping[int, str] | Sequence[str]) -> set[tuple[int, int]]:
    """Return the pairs of files, in the page's order, that have the names of variants.

    Their names are the same without what tells the variant, they are translations of one another, they lie in
    folders of different variants, ``v3/types.ts`` and ``v4/schemas.ts``, or in one folder and one's name goes
    on where the other's ends, ``simple.zig`` and ``simple-ex.zig``.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    folders: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for file in page:
        path = paths[file]
        alike[_bare(path)[0]].append(file)
        if (text := untranslated(path)) != path:
            alike[text].append(file)
        folder, _, name = path.rpartition("/")
        folders[folder].append((file, name))
    pairs = {pair for files in alike.values() for pair in combinations(files, 2)}
    marked = {file: marks for file in page if (marks := _folder_marks(paths[file]))}
    pairs |= {(one, other) for one, other in combinations(marked, 2) if marked[one] != marked[other]}
    for files in folders.values():
        for (one, name), (other, further) in combinations(files, 2):
            if _goes_on(name, further) or _goes_on(further, name):
                pairs.add((one, other))
    return pairs


def _folder_marks(path: str) -> frozenset[str]:
    return frozenset(filter(_MARK.fullmatch, path.casefold().split("/")[:-1]))


def _goes_on(name: str, longer: str) -> bool:
    begin, _, ending = name.rpartition(".")
    return (
        bool(begin)
        and longer.startswith(tuple(begin + mark for mark in "_-."))
        and longer.endswith(f".{ending}")
    )


@lru_cache(maxsize=20_000)
def _bare(path: str) -> tuple[str, frozenset[str]]:
    """Return a file's name without the words that tell which variant it is, and those words."""
    folder, _, name = path.casefold().rpartition("/")
    begin, ending = _ending(name)
    left, marks = begin, set()
    for mark in filter(_MARK.fullmatch, folder.split("/")):  # darwin/DarwinProcess.c
        if mark in left:
            left = left.replace(mark, "", 1)
            marks.add(mark)
    pieces = _PIECE.findall(left)
    told = {piece for piece in pieces if _MARK.fullmatch(piece)}
    kept = "_".join(piece for piece in pieces if piece not in told)
    return (kept + ending, frozenset(marks | told)) if kept else (begin + ending, frozenset())


def _ending(name: str) -> tuple[str, str]:
    for ending, other in _SAME_KIND.items():
        if name.endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)], other
    begin, dot, ending = name.rpartition(".")
    return (begin, dot + ending) if begin else (name, "")


def _alike(path: str, outline: Outline, other: str, further: Outline) -> bool:
    """Tell whether two files with such names are nearly the same."""
    (bare, marks), (other_bare, other_marks) = _bare(path), _bare(other)
    names, others = _unmarked(outline[0], marks), _unmarked(further[0], other_marks)
    if max(len(names), len(others)) < FEWEST_NAMES:
        both = len(outline[1] & further[1])
        return both >= max(_FEWEST_LINES, _LINES_OF_BOTH * len(outline[1] | further[1]))
    fewest, least = FEWEST_NAMES, _NAMES_OF_BOTH
    if bare != other_bare:
        apart = _folder_marks(path) != _folder_marks(other)
        fewest, least = (_MANY_NAMES, _NAMES_OF_BOTH) if apart else (FEWEST_NAMES, _NAMES_OF_SMALLER)
    both = len(names & others)
    return both >= max(fewest, least * len(names | others), _NAMES_OF_SMALLER * min(len(names), len(others)))


def _unmarked(names: frozenset[str], marks: frozenset[str]) -> frozenset[str]:
    """Return names without the words that tell the variant: ``darwinprocess_new`` of ``DarwinProcess.c``."""
    if not marks:
        return names
    either = re.compile("|".join(map(re.escape, sorted(marks, key=len, reverse=True))))
    return frozenset(either.sub("", name) for name in names)


def _own_words(paths: Sequence[str]) -> list[frozenset[str]]:
    """Return the stems in each path of a group that are not in all of them, and others for the same."""
    every = [set(terms.parts_of(path)) for path in paths]
    common = set.intersection(*every)
    return [frozenset().union(*map(_same, words - common)) for words in every]


def _same(word: str) -> frozenset[str]:
    return next((words for words in _SAME if word in words), frozenset({word}))


def named(paths: Sequence[str], words: Iterable[str]) -> int | None:
    """Return which of a group's paths has most of a question's words, the first of several; None for none.

    Only words in which the paths differ count.

    Args:
        paths: Likeliest first.
    """
    asked = set(words)
    counts = [len(own & asked) for own in _own_words(paths)]
    best = max(counts)
    return counts.index(best) if best else None


_IMPORT = late_re(r"^.*\b(?:import|export|from|require|include|use|mod)\b.*$", re.MULTILINE)


def exported(paths: Sequence[str], text: str) -> int | None:
    """Return which of a group's paths alone an entry point's imports and exports name; None for none.

    Args:
        text: The text of the file that stands for a folder around them all.
    """
    said = set(terms.parts_of(" ".join(_IMPORT.findall(text))))
    every = [set(terms.parts_of(path.rpartition("/")[0])) for path in paths]
    common = set.intersection(*every)
    counts = [len((words - common) & said) for words in every]
    best = max(counts)
    return counts.index(best) if best and counts.count(best) == 1 else None


def most_worked_on(activity: Sequence[float]) -> int | None:
    """Return which of a group has been worked on much more than the first; None for none."""
    best = max(range(len(activity)), key=lambda place: activity[place])
    return best if activity[best] >= _MUCH_MORE * max(activity[0], 1.0 / _MUCH_MORE) else None


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


_Use = tuple[str | None, Mapping[str, float]]
"""Of some variants the path that the package's entry point offers, None where it offers none alone; and
the work that has gone into each, by path."""


def arrange(
    source: Source,
    question: Question,
    scope: SearchScope,
    page: Sequence[int],
    sums: Mapping[int, float],
    paths: Mapping[int, str],
    state: tuple[Hashable, str | None],
    memo: Memo,
) -> list[list[int]]:
    """Group a page.

    Args:
        page: Files, best first; of those with the same content one.
        sums: How much speaks for each candidate.
        state: What the view holds, and the commit that is asked; None where history does not matter.
        memo: Cache for the next question: a page with a group costs 5 to 15 ms, then half of one.
    """
    head, rest = page[:LOOKED_AT], page[LOOKED_AT:]
    known: dict[int, Outline] = memo.get("outlines", dict)
    uses: dict[tuple[str, ...], _Use] = memo.get(("uses of variants", *state), dict)
    found = groups(head, paths, lambda files: _outlines(source, scope, files, known))
    twins = _twins(scope, page, sums, paths)
    for group in found:
        group += [twin for file in tuple(group) for twin in twins.get(file, ())]
        if len(group) > 1:
            own = [paths[file] for file in group]
            meant = named(own, question.words)
            if meant is None:
                near = tuple(file for file in group if sums[group[0]] - sums[file] < _FAR)
                meant = group.index(_used(source, scope, paths, near, state[1], uses))
            group.insert(0, group.pop(meant))
    return [*found, *([file] for file in rest)]


def _twins(
    scope: SearchScope, page: Sequence[int], sums: Mapping[int, float], paths: Mapping[int, str]
) -> dict[int, list[int]]:
    """Return the other candidates with the same content as each file of a page."""
    shown = {int(scope.files.content_id[file]): file for file in page}
    found: dict[int, list[int]] = defaultdict(list)
    for file in sorted(sums, key=lambda file: (-sums[file], paths[file])):
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
        few = {each for each in new if len(names.get(each, ())) < FEWEST_NAMES}
        few = {each for each in few if length[each] <= _LONGEST}
        texts = source.read_chunk_texts(few) if few else {}
        for each in new:
            own = frozenset(name.casefold() for name in names.get(each, ()))
            known[each] = own, lines_of(texts.get(each, ()))
    return {file: known[int(scope.files.content_id[file])] for file in files}


def _used(
    source: Source,
    scope: SearchScope,
    paths: Mapping[int, str],
    group: Sequence[int],
    commit: str | None,
    known: dict[tuple[str, ...], _Use],
) -> int:
    """Return which of a group, likeliest first, the repository itself uses; the first if that is unclear."""
    if len(group) == 1:
        return group[0]
    by_path = {paths[file]: file for file in group}
    key = tuple(sorted(by_path))
    if len(known) > _MOST_KEPT:
        known.clear()
    if key not in known:
        activity = [0.0] * len(group)
        if commit is not None:
            activity = source.activity(scope, commit, group)
        known[key] = _offered(source, scope, key), dict(zip(by_path, activity, strict=True))
    offered, worked = known[key]
    if offered is not None:
        return by_path[offered]
    worked_on = most_worked_on([worked[path] for path in by_path])
    return group[worked_on or 0]


def _offered(source: Source, scope: SearchScope, paths: Sequence[str]) -> str | None:
    """Return which of some paths the nearest entry point that offers one alone offers."""
    around = [commonpath([path.rpartition("/")[0] for path in paths])]
    while around[-1]:
        around.append(around[-1].rpartition("/")[0])
    either = "|".join(map(scopes.path_pattern, filter(None, around)))
    there = defaultdict(list)
    for file, path in source.files_matching(scope, rf"^(?:(?:{either})/)?{_ENTRY}$"):
        if path not in paths:
            there[path.rpartition("/")[0]].append(file)
    files = [file for folder in around for file in there.get(folder, ())][:_MOST_ENTRIES]
    if not files:
        return None
    contents = [int(scope.files.content_id[file]) for file in files]
    texts = source.read_chunk_texts(set(contents))
    offered = (exported(paths, "\n".join(texts.get(each, ()))) for each in contents)
    first = next((number for number in offered if number is not None), None)
    return None if first is None else paths[first]
