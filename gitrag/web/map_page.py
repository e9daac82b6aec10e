"""The map of the repository: files as areas of their lines, coloured by what is asked."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitrag.actions.overview import map_files
from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.layout import CollectionKind
from gitrag.report.parts import cut, shown
from gitrag.report.pictures.treemap import HEIGHT, WIDTH, Area, treemap
from gitrag.search.sections import Wanted
from gitrag.store.inspection import MappedFile
from gitrag.web.addresses import Addresses
from gitrag.web.desk import Desk
from gitrag.web.search_page import LONGEST_QUERY
from gitrag.words.numbers import age, count

COLOURS = {
    "language": "Languages",
    "age": "Age",
    "churn": "Commits",
    "vectors": "Vectors",
    "matches": "Matches",
}
"""What a map can be coloured by, as in an address and as shown."""

_LANGUAGES = 9
_STEPS = 6
_DAY_S = 86_400
_AGES_DAYS = (7, 30, 180, 365, 3 * 365)
_COMMITS = (1, 3, 10, 30, 100)
_SCORES = (0.01, 0.1, 0.2, 0.5, 0.8)
_MOST_MATCHES = 200
_CHARACTER = 6.4
"""Width of a character of a label, in pixels."""


Colouring = tuple[Callable[[MappedFile], tuple[str, str]], tuple[tuple[str, str], ...], str]
"""What gives a file its colour's class and words, the legend, and a sentence on both."""


def map_page(desk: Desk, by: str, folder: str, query: str) -> dict[str, Any]:
    """Return what the template is filled with: a map of a folder, of the top where it is empty."""
    by = by if by in COLOURS else "language"
    folder = folder.strip("/")
    query = query[:LONGEST_QUERY].strip()
    with desk.slow_turn() as workspace:
        every = map_files(workspace)
    own = [each for each in every if not folder or each.path.startswith(f"{folder}/")]
    scores: Mapping[str, float] = {}
    if by == "matches" and query:
        with desk.turn() as workspace:
            options = SearchOptions(
                wanted=Wanted(tuple(CollectionKind)), limit=_MOST_MATCHES, min_score=0.0, refine_s=0.0
            )
            scores = {hit.path: hit.score for hit in search(workspace, query, options).hits}
    colour, legend, note = _colouring(by, own, scores, query)
    cut_off = len(folder) + 1 if folder else 0
    files = {each.path[cut_off:]: each for each in own}
    areas = treemap({path: each.lines for path, each in files.items()})
    tiles = [_tile(desk.address, area, files.get(area.path), folder, by, query, colour) for area in areas]
    parts = folder.split("/") if folder else []
    return {
        "by": by,
        "query": query,
        "folder": folder,
        "above": [(part, "/".join(parts[: place + 1])) for place, part in enumerate(parts)],
        "tiles": tiles,
        "legend": legend,
        "files": len(own),
        "drawn": sum(not area.is_folder for area in areas),
        "lines": sum(each.lines for each in own),
        "note": note,
        "width": int(WIDTH),
        "height": int(HEIGHT),
    }


def _tile(
    address: Addresses,
    area: Area,
    file: MappedFile | None,
    folder: str,
    by: str,
    query: str,
    colour: Callable[[MappedFile], tuple[str, str]],
) -> tuple[Area, str, str, str, str]:
    """Return a file or a folder of the map: where it is, its label, title and address, its colour's class."""
    name = shown(area.path.rpartition("/")[2])
    whole = f"{folder}/{area.path}" if folder else area.path
    has_room = area.height >= 13 and area.width >= 42 and (area.is_titled or not area.is_folder)
    label = cut(name, int((area.width - 8) / _CHARACTER)) if has_room else ""
    size = f"{shown(whole)}: {count(area.size, 'line')}"
    if file is None or area.is_folder:
        return area, label, size, address.map_of(by, whole, query), "folder"
    kind, said = colour(file)
    return area, label, f"{size}, {said}", address.file(whole), kind


def _colouring(by: str, files: Sequence[MappedFile], scores: Mapping[str, float], query: str) -> Colouring:
    if by == "age":
        return _by_age()
    if by == "churn":
        return _by_commits()
    if by == "vectors":
        return _by_vectors()
    return _by_matches(scores, query) if by == "matches" else _by_language(files)


def _by_age() -> Colouring:
    now = time.time()
    words = ("a week", "a month", "half a year", "a year", "three years")

    def colour(file: MappedFile) -> tuple[str, str]:
        if file.changed is None:
            return "none", "in no commit that was read"
        since = max(now - file.changed, 0)
        step = _STEPS - 1 - bisect_right(_AGES_DAYS, since / _DAY_S)
        return f"step{step}", f"last changed {age(since)} ago"

    legend = _steps([*(f"under {each}" for each in words), "older"], reverse=True)
    return colour, legend, "When the newest commit that changes a file, of those read, was written."


def _by_commits() -> Colouring:
    def colour(file: MappedFile) -> tuple[str, str]:
        return f"step{bisect_right(_COMMITS, file.commits)}", count(file.commits, "commit")

    legend = _steps(["none", *(f"{bound:,} or more" for bound in _COMMITS)])
    return colour, legend, "How many of the commits that were read change a file under its name."


def _by_vectors() -> Colouring:
    def colour(file: MappedFile) -> tuple[str, str]:
        if not file.texts:
            return "none", "no vectors"
        kind = "step5" if not file.drafts else "step1" if file.drafts == file.texts else "step3"
        return kind, f"{file.texts - file.drafts:,} of {count(file.texts, 'text')} refined"

    legend = (("refined", "step5"), ("some drafts", "step3"), ("drafts", "step1"), ("no vectors", "none"))
    return colour, legend, "Which files have the model's vectors, and which drafts as yet."


def _by_matches(scores: Mapping[str, float], query: str) -> Colouring:
    def colour(file: MappedFile) -> tuple[str, str]:
        score = scores.get(file.path, 0.0)
        return f"step{bisect_right(_SCORES, score)}", f"score {score:.2f}"

    legend = _steps(["nothing", "least", *(f"{bound:.1f} or more" for bound in _SCORES[1:])])
    asked = "Ask a question: files that answer it are coloured by their score."
    return colour, legend, "Which files answer the question, by their score." if query else asked


def _by_language(files: Sequence[MappedFile]) -> Colouring:
    most = Counter(each.language for each in files if each.language).most_common(_LANGUAGES)
    classes = {name: f"kind{place}" for place, (name, _) in enumerate(most)}

    def colour(file: MappedFile) -> tuple[str, str]:
        return classes.get(file.language, "none"), file.language or "language unknown"

    return colour, (*classes.items(), ("others", "none")), "The languages of most files."


def _steps(words: Sequence[str], *, reverse: bool = False) -> tuple[tuple[str, str], ...]:
    last = len(words) - 1
    return tuple((each, f"step{last - place if reverse else place}") for place, each in enumerate(words))
