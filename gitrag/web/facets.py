"""What an answer can be narrowed to, and how many of the files found would be left. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from gitrag.corpus.layout import CollectionKind
from gitrag.model import Kind
from gitrag.search.engine import Hit
from gitrag.web.addresses import REPOSITORY

COLLECTION, LANGUAGE, KIND, PATH = "collection", "lang", "kind", "path"
"""The names of facets in an address."""

EVERYWHERE = "everywhere"
"""What asks all repositories in an address, where `REPOSITORY` asks those named."""

TITLES = {
    REPOSITORY: "Repositories",
    COLLECTION: "Collections",
    LANGUAGE: "Languages",
    KIND: "Kinds",
    PATH: "Folders",
}
COLLECTIONS = {
    CollectionKind.CODE: "Code",
    CollectionKind.ADRS: "Decisions",
    CollectionKind.SPECS: "Specifications",
    CollectionKind.ISSUES: "Issues",
}

_MOST_VALUES = 12
_ALL = (EVERYWHERE, "1")


class FacetValue(Struct, frozen=True):
    """One thing that an answer can be narrowed to.

    Attributes:
        value: As in an address.
        count: How many of the files have it; None where nobody has looked.
        choices: The facets chosen once it is clicked.
    """

    value: str
    label: str
    count: int | None
    is_chosen: bool
    choices: tuple[tuple[str, str], ...]


class Facet(Struct, frozen=True):
    """One way to narrow an answer."""

    name: str
    title: str
    values: tuple[FacetValue, ...]


class Choices(Struct, frozen=True):
    """What an answer is narrowed to: names and values of facets, in the order of the address."""

    chosen: tuple[tuple[str, str], ...] = ()

    def of(self, name: str) -> tuple[str, ...]:
        """Return the values chosen of a facet."""
        return tuple(value for each, value in self.chosen if each == name)

    @classmethod
    def read(cls, given: Iterable[tuple[str, str]]) -> Choices:
        """Return what names and values in an address choose; others are left out."""
        return cls(
            tuple(
                dict.fromkeys(
                    (name, value)
                    for name, value in given
                    if (value and name in TITLES) or (name, value) == _ALL
                )
            )
        )

    @property
    def is_everywhere(self) -> bool:
        """Whether all repositories are asked."""
        return _ALL in self.chosen

    @property
    def are_several(self) -> bool:
        """Whether repositories are asked by name, or all."""
        return self.is_everywhere or bool(self.of(REPOSITORY))

    @property
    def of_repositories(self) -> Choices:
        """Which repositories are asked before the answer is narrowed."""
        return Choices(
            tuple(
                each
                for each in self.chosen
                if each == _ALL or (each[0] == REPOSITORY and not self.is_everywhere)
            )
        )

    def toggled(self, name: str, value: str) -> tuple[tuple[str, str], ...]:
        """Return the choices with a value added, or taken away."""
        if (name, value) in self.chosen:
            return tuple(each for each in self.chosen if each != (name, value))
        return (*self.chosen, (name, value))


def facets(everything: Sequence[Hit], narrowed: Sequence[Hit], choices: Choices) -> tuple[Facet, ...]:
    """Return the facets of an answer that make a difference.

    Args:
        everything: The files found where nothing is chosen.
        narrowed: Those found with what is chosen.
    """
    found = []
    for name, read in _READERS:
        if name == REPOSITORY:
            continue
        own = choices.of(name)
        others = [each for each in everything if _fits(each, choices, but=name)]
        counts = Counter(value for each in others if (value := read(each)))
        found.append((name, _values(name, counts, own, choices, _label(name))))
    folders = choices.of(PATH)
    counts = Counter(folder for hit in narrowed if (folder := _folder(hit.path, narrowed)))
    if len(counts) < 2:
        counts.clear()
    counts.update({folder: _below(folder, narrowed) for folder in folders})
    found.append((PATH, _values(PATH, counts, folders, choices, lambda folder: f"{folder}/")))
    return tuple(
        Facet(name, TITLES[name], values)
        for name, values in found
        if len(values) > 1 or any(each.is_chosen for each in values)
    )


def _fits(each: Hit, choices: Choices, *, but: str) -> bool:
    return all(
        not own or name == but or read(each) in own for name, read in _READERS for own in (choices.of(name),)
    ) and (not (folders := choices.of(PATH)) or any(each.path.startswith(f"{folder}/") for folder in folders))


_READERS: Sequence[tuple[str, Callable[[Hit], str]]] = (
    (REPOSITORY, attrgetter("repository")),
    (COLLECTION, attrgetter("collection.value")),
    (LANGUAGE, attrgetter("language")),
    (KIND, attrgetter("chunk.kind.value")),
)


def repository_facet(everything: Sequence[Hit], choices: Choices, known: int) -> Facet | None:
    """Return the facet of repositories; None where there is no other one.

    Args:
        everything: The files found where nothing but repositories is chosen.
    """
    own = choices.of(REPOSITORY)
    if known < 2 and not choices.are_several:
        return None
    counts = Counter(each.repository for each in everything if _fits(each, choices, but=REPOSITORY))
    counts.pop("", None)
    values = _values(REPOSITORY, counts, own, choices, str) if choices.are_several else ()
    others = tuple(each for each in choices.chosen if each[0] not in {EVERYWHERE, REPOSITORY})
    every = FacetValue(
        "1",
        f"all {known:,}",
        counts.total() if choices.is_everywhere else None,
        choices.is_everywhere and not own,
        others if choices.is_everywhere and not own else (*others, _ALL),
    )
    return Facet(REPOSITORY, TITLES[REPOSITORY], (every, *values))


def _label(name: str) -> Callable[[str], str]:
    if name == COLLECTION:
        return lambda value: COLLECTIONS[CollectionKind(value)] if value in set(CollectionKind) else value
    if name == KIND:
        return lambda value: _KINDS.get(value, value)
    return str


_KINDS = {
    Kind.FUNCTION.value: "Functions",
    Kind.METHOD.value: "Methods",
    Kind.CLASS.value: "Classes",
    Kind.MODULE.value: "Other code",
    Kind.SECTION.value: "Sections",
}


def _values(
    name: str, counts: Counter[str], chosen: Iterable[str], choices: Choices, label: Callable[[str], str]
) -> tuple[FacetValue, ...]:
    own = list(chosen)
    best = [value for value, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    shown = dict.fromkeys([*own, *best[:_MOST_VALUES]])
    return tuple(
        FacetValue(value, label(value), counts[value], value in own, choices.toggled(name, value))
        for value in shown
    )


def _folder(path: str, among: Sequence[Hit]) -> str:
    """Return the part of a path that is one folder longer than what all paths found share."""
    common = _common(hit.path for hit in among)
    parts = path.split("/")[:-1]
    return "/".join(parts[: common + 1]) if len(parts) > common else ""


def _common(paths: Iterable[str]) -> int:
    """Return how many leading folders paths have in common."""
    folders = [path.split("/")[:-1] for path in paths]
    return sum(1 for _ in _same(zip(*folders, strict=False))) if folders else 0


def _same(columns: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for column in columns:
        if len(set(column)) > 1:
            return
        yield column


def _below(folder: str, among: Sequence[Hit]) -> int:
    return sum(hit.path.startswith(f"{folder}/") for hit in among)
