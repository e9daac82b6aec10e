"""Evidence from what a bug report names outright: frames of tracebacks, messages, names, paths.

`gitrag/search/report_reading.py` says what a report has; here it is looked up in the scope. `evidence.gather`
adds the columns to those of every question, and ranks the chunks to show by the sites.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.embedding.draft import drafter
from gitrag.late import late_re, np
from gitrag.search.outside import traits_of
from gitrag.search.question import Question
from gitrag.search.report_names import Name, Place
from gitrag.search.report_reading import Reading
from gitrag.search.templates import filled
from gitrag.search.tracebacks import Frame
from gitrag.store import scopes
from gitrag.store.candidates import NamedSite, Postings
from gitrag.store.memo import Memo
from gitrag.store.nearby import Near
from gitrag.store.scopes import SearchScope
from gitrag.words import terms
from gitrag.words.bulk_files import Bulk, bulk
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

    Column = NDArray[np.floating[Any]]

_BY_PLACE = {Place.OUTPUT: 0.2, Place.CODE: 0.5, Place.PROSE: 1.0, Place.MARKED: 1.3, Place.TITLE: 2.0}
"""How much a name counts by where it stands."""

_MENTIONED = 0.4
"""Share that remains of a name in code that is neither called nor imported: an argument, a key."""

_RAISED = 0.3
"""Share that remains of an exception's name: the file that defines it is seldom the one at fault."""

_EXCEPTION = late_re(r"(?:Error|Exception|Warning|Failure)$")

_OTHER_OWNER = 0.5
"""Share that remains where only the last part of a dotted name is defined: ``send`` of ``response.send``."""

_PACKAGE = 0.3
"""Share of a module that the file of a package has: it exports what other files define."""

_DEEPER = 0.75
"""What a frame is worth of the one that it has called."""

_COMMON = 12
"""Files that may have what is named; what more have says nothing about any of them."""

_MOST_NAMES = 96
_MOST_MESSAGES = 12
_MESSAGE_CHUNKS = 24
"""Chunks to read for each message, those with most of its words."""

_FEWEST_WORDS = 3
"""Least length of a run of a message's words: what a template has between two values."""

_NEARLY_BEST = 0.8

_SITE = 2.0
"""Worth of a chunk that a report names, where the one with the best BM25 has 2."""

_FRAME_SITE = 4.0
_RAISED_SITE = 5.0
_VOTE = 1.0

_VOTERS = 10
"""Sentences that vote, the first ones, and the title."""

_BEST_VOTES = 3
_NEAR = 500
"""Chunks that are voted on: those nearest to the title, to the whole report, and those that it names."""

_INDEX = ("__init__", "index", "mod", "lib", "main")
"""Stems of files that stand for their directory."""

_SOURCE_ROOT = late_re(r"^(?:src|lib|python|packages/[^/]+(?:/src)?)/")
_PLACEHOLDER = late_re(r"%(?:\(\w+\))?[-+#0 ]?\d*(?:\.\d+)?[a-zA-Z]|\$?\{[^{}\n]*\}")
"""Where a template has a value: ``%s``, ``%(name)d``, ``{}``, ``{name!r}``, ``${name}``."""

FEATURES = ("frame", "frames", "mentions", "modules", "symbols", "title_symbols", "quoted")


_Site = tuple[int, int, float]
"""A chunk of a file that a report leads to, by their ids, and what that adds to its worth. It is looked at as
a definition of no part of a name, without other evidence."""


class ReportEvidence(Struct, frozen=True):
    """What a scope has of what a report names.

    Attributes:
        columns: Columns float32 (f,) by feature, each what is named shared by the files that may be meant:

            - ``frame``: whether the deepest of the product's own frames is in the file, or what an exception
              says, which is deeper; ``frames``: 0.75 to the power of the number of own frames that are deeper
            - ``mentions``: whether its path stands in the report
            - ``modules``: how much a dotted name leads to it; ``symbols`` and ``title_symbols``: how many
              names of the report and of its title it defines (log), each counting by its place
            - ``quoted``: the share of a message that it has word for word, in runs of three words and more
            - ``title_cosine``: that of its chunk nearest to the title; ``votes``: the mean over the sentences
              of those of the chunks nearest to each
        sites: The chunks that they are in.
    """

    columns: dict[str, Column]
    sites: tuple[_Site, ...] = ()

    def worth(self, chunk_id: NDArray[np.int32], file: NDArray[np.int32]) -> Column:
        """Return what the sites add to the worth of chunks of files."""
        rows = np.array([(of, chunk) for chunk, of, _ in self.sites], dtype=np.int64).reshape(-1, 2)
        keys, place = np.unique(rows[:, 0] << 32 | rows[:, 1], return_inverse=True)
        if not len(keys):
            return np.zeros(len(chunk_id), dtype=np.float32)
        sums = np.bincount(place, [worth for *_, worth in self.sites])
        wanted = file.astype(np.int64) << 32 | chunk_id
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, sums[at], 0.0).astype(np.float32)


def look_up(
    source: Source,
    scope: SearchScope,
    question: Question,
    reading: Reading,
    postings: Postings,
    near: Near,
    memo: Memo | None = None,
) -> ReportEvidence:
    """Find what a report names among the files that it may find."""
    columns: dict[str, Column] = {name: np.zeros(len(scope.files), dtype=np.float32) for name in FEATURES}
    paths = _Paths(source, scope, reading)
    frames = paths.own_frames(reading.frames)
    names = [(name, weight) for name in reading.names[:_MOST_NAMES] if (weight := _weight(name))]
    wanted = {name.text.rpartition(".")[2] for name, _weight in names} | {
        frame.name for frame, _files in frames
    }
    definitions = _Definitions(source, scope, wanted - {""}, memo)
    raised = scope.places_of(filled(source, scope, question, reading.raised, postings, memo))
    raising = sorted({file for file, _chunk_id in raised})
    columns["quoted"][raising] = 1.0
    if raising and (not frames or set(raising).isdisjoint(frames[0][1])):
        frames = [(Frame(""), raising), *frames]  # called by the deepest one that is traced
    sites = [
        *((chunk_id, file, _RAISED_SITE) for file, chunk_id in raised),
        *_from_frames(columns, source, frames, definitions),
        *_from_names(columns, names, definitions, paths),
        *_from_messages(columns, source, scope, reading.messages, question.words, postings),
    ]
    for path in reading.paths:
        _share_out(columns["mentions"], paths.ending(path), 1.0)
    sites += _from_votes(columns, source, scope, reading, near, sites, memo)
    return ReportEvidence(columns, tuple(sites))


def _share_out(column: Column, files: Sequence[int], worth: float) -> None:
    """Give each of the files that may be meant its share, unless it has more."""
    for file in files:
        column[file] = max(float(column[file]), worth / len(files))


class _Paths:
    """The files of the scope that a report's frames, paths and dotted names may mean."""

    def __init__(self, source: Source, scope: SearchScope, reading: Reading) -> None:
        self._own = (traits_of(scope.files) & OUTSIDE_THE_PRODUCT) == 0
        written = (*reading.paths, *(frame.path for frame in reading.frames))
        stems = {_stem(path.rpartition("/")[2]) for path in written}
        stems |= {part for name in reading.names if "." in name.text for part in name.text.split(".")}
        self._files: dict[int, str] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_module: dict[str, list[int]] = defaultdict(list)
        if stems := {stem for stem in stems if stem}:
            either = "|".join(map(scopes.path_pattern, sorted(stems)))
            pattern = rf"(?i)(^|/)({either})(/({'|'.join(_INDEX)}))?\.[^/]*$"
            self._files = {file: path.lower() for file, path in source.files_matching(scope, pattern)}
        for file, path in self._files.items():
            if bulk(path) is Bulk.VENDORED:
                self._own[file] = False
            folder, _, name = path.rpartition("/")
            self._by_name[name].append(file)
            self._by_module[folder.rpartition("/")[2] if _stem(name) in _INDEX else _stem(name)].append(file)

    def ending(self, path: str) -> list[int]:
        """List the files whose paths have the longest end in common with another path."""
        parts = [part for part in path.lower().split("/") if part not in {"", ".", "..", "~"}]
        common = (
            {
                file: _common_end(parts, self._files[file].split("/"))
                for file in self._by_name.get(parts[-1], ())
            }
            if parts
            else {}
        )
        best = max(common.values(), default=0)
        return [file for file, many in common.items() if many == best]

    def own_frames(self, frames: Sequence[Frame]) -> list[tuple[Frame, list[int]]]:
        """List the frames in the product's own files, with the files that each may mean.

        The installed path of a file ends with its path in the repository, without its source folder.
        """
        found = []
        for frame in frames:
            end = "/" + frame.path.lower().lstrip("/")
            files = [file for file in self.ending(frame.path) if self._own[file] and self._may_be(file, end)]
            if 0 < len(files) <= _BEST_VOTES:
                found.append((frame, files))
        return found

    def _may_be(self, file: int, end: str) -> bool:
        path = self._files[file]
        return end.endswith((f"/{path}", f"/{_SOURCE_ROOT.sub('', path)}")) or f"/{path}".endswith(end)

    def modules(self, name: str) -> list[tuple[int, float]]:
        """List the files that the longest beginning of a dotted name stands for, and what each is worth."""
        parts = name.lower().split(".")
        for count in range(len(parts), 1, -1):
            end = "/" + "/".join(parts[:count])
            files = [file for file in self._by_module.get(parts[count - 1], ()) if self._own[file]]
            found = [(file, share) for file in files if (share := self._as_module(file, end))]
            if found:
                return [(file, share / len(found)) for file, share in found] if len(found) <= _COMMON else []
        return []

    def _as_module(self, file: int, end: str) -> float:
        folder, _, name = f"/{self._files[file]}".rpartition("/")
        if f"{folder}/{_stem(name)}".endswith(end):
            return 1.0
        return _PACKAGE if _stem(name) in _INDEX and folder.endswith(end) else 0.0

    def is_own(self, file: int) -> bool:
        """Tell whether a file is part of the product."""
        return bool(self._own[file])


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _common_end(parts: Sequence[str], others: Sequence[str]) -> int:
    """Count the last parts that two paths or names have in common."""
    most = min(len(parts), len(others))
    return next((count for count in range(most) if parts[-1 - count] != others[-1 - count]), most)


class _Definitions:
    """The definitions of some names, with the paths of those that are not too common."""

    def __init__(self, source: Source, scope: SearchScope, names: set[str], memo: Memo | None) -> None:
        self._sites: dict[str, list[NamedSite]] = defaultdict(list)
        for site in source.named(scope, sorted(names)) if names else ():
            self._sites[site.name].append(site)
        rare = (sites for sites in self._sites.values() if len(sites) <= _COMMON * _COMMON)
        path_ids = {site.file: int(scope.files.path_id[site.file]) for sites in rare for site in sites}
        paths = source.read_paths(sorted(set(path_ids.values())), memo)
        self._paths = {file: paths[path_id].lower() for file, path_id in path_ids.items()}

    def in_file(self, name: str, file: int) -> list[NamedSite]:
        return [site for site in self._sites.get(name, ()) if site.file == file]

    def of(self, name: str, paths: _Paths) -> list[tuple[NamedSite, float]]:
        """List the product's definitions that most of a dotted name fits, and what each is worth."""
        parts = name.split(".")
        sites = self._sites.get(parts[-1], ())
        sites = [
            site
            for site in sites
            if site.file in self._paths
            and paths.is_own(site.file)
            and bulk(self._paths[site.file]) is not Bulk.VENDORED
        ]
        fits = [self._fit(parts, site) for site in sites]
        best = max(fits, default=0)
        sites = [site for site, fit in zip(sites, fits, strict=True) if fit == best]
        files = len({site.file for site in sites})
        if not 0 < files <= _COMMON:
            return []
        share = (1.0 if best or len(parts) == 1 else _OTHER_OWNER) / files
        return [(site, share) for site in sites]

    def _fit(self, parts: Sequence[str], site: NamedSite) -> int:
        """Count how many parts before the last its qualified name has, or all if its path has the others."""
        common = _common_end(parts, site.qualified_name.split("."))
        folder = "/".join(parts[: len(parts) - common]).lower()
        return len(parts) - 1 if folder and f"/{folder}" in f"/{self._paths[site.file]}" else common - 1


def _weight(name: Name) -> float:
    """Return how much a name counts; 0 for a constructor's, which every class has."""
    if name.text.rpartition(".")[2].startswith("__init"):
        return 0.0
    mentioned = name.place is Place.CODE and not name.used
    raised = _EXCEPTION.search(name.text)
    return _BY_PLACE[name.place] * (_MENTIONED if mentioned else 1.0) * (_RAISED if raised else 1.0)


def _from_frames(
    columns: Mapping[str, Column],
    source: Source,
    frames: Sequence[tuple[Frame, list[int]]],
    definitions: _Definitions,
) -> Iterator[_Site]:
    """Fill the columns of frames; yield their functions, of several with a name the nearest to the line."""
    wanted: list[tuple[int, Frame, list[NamedSite]]] = []
    for depth, (frame, files) in enumerate(frames):
        _share_out(columns["frames"], files, _DEEPER**depth)
        if not depth:
            _share_out(columns["frame"], files, 1.0)
        wanted += [
            (depth, frame, sites) for file in files if (sites := definitions.in_file(frame.name, file))
        ]
    places = source.read_places({site.chunk_id for _, _, sites in wanted for site in sites})
    for depth, frame, sites in wanted:
        begins = {site: places[site.chunk_id][0] for site in sites}
        best = min(sites, key=lambda site: (begins[site] > frame.line > 0, abs(begins[site] - frame.line)))
        yield best.chunk_id, best.file, _FRAME_SITE * _DEEPER**depth


def _from_names(
    columns: Mapping[str, Column],
    names: Sequence[tuple[Name, float]],
    definitions: _Definitions,
    paths: _Paths,
) -> Iterator[_Site]:
    """Fill the columns of names; yield what they name."""
    for name, weight in names:
        for file, share in paths.modules(name.text):
            columns["modules"][file] = max(float(columns["modules"][file]), weight * share)
        for site, share in definitions.of(name.text, paths):
            columns["title_symbols" if name.place is Place.TITLE else "symbols"][site.file] += weight * share
            yield site.chunk_id, site.file, _SITE * weight * share
    for feature in ("symbols", "title_symbols"):
        np.log1p(columns[feature], out=columns[feature])


def _from_messages(
    columns: Mapping[str, Column],
    source: Source,
    scope: SearchScope,
    messages: Sequence[str],
    words: Sequence[str],
    postings: Postings,
) -> Iterator[_Site]:
    """Fill the column of messages; yield the chunks with a message or its template.

    What stands between two values of a filled template is in the code word for word; so runs of words count.
    """
    asked = [found for said in messages[:_MOST_MESSAGES] if len(found := _words(said)) >= _FEWEST_WORDS]
    likely = _likeliest(asked, words, postings)
    every = np.unique(np.concatenate([np.empty(0, np.int32), *likely]))
    if not len(every):
        return
    texts = source.texts_of(every)
    said = {pair for message in asked for pair in pairwise(message)}
    pairs = {
        chunk_id: said.intersection(pairwise(_words(_PLACEHOLDER.sub(" ", text))))
        for chunk_id, text in texts.items()
    }
    for message, chunk_ids in zip(asked, likely, strict=True):
        shares = {chunk_id: _share(message, pairs[chunk_id]) for chunk_id in chunk_ids.tolist()}
        best = max(shares.values(), default=0.0)
        having = [chunk_id for chunk_id, share in shares.items() if share and share >= _NEARLY_BEST * best]
        places = scope.places_of(having)
        rare = 1.0 / max(len({file for file, _ in places}), 1) ** 0.5
        for file, chunk_id in places:
            worth = shares[chunk_id] * rare
            columns["quoted"][file] = max(float(columns["quoted"][file]), worth)
            yield chunk_id, file, _SITE * worth


def _likeliest(
    messages: Sequence[Sequence[str]], words: Sequence[str], postings: Postings
) -> list[NDArray[np.int32]]:
    """List for each message the chunks that have most of the information of its words."""
    number = {word: place for place, word in enumerate(words)}
    keys, place = np.unique(postings.chunk_id, return_inverse=True)
    rarity = np.log1p(len(keys) / np.maximum(np.bincount(postings.term, minlength=len(words)), 1))
    found = []
    for message in messages:
        own = {number[term] for word in message for term in terms.split(word) if term in number}
        among = np.isin(postings.term, list(own))
        sums = np.bincount(place[among], rarity[postings.term[among]], len(keys))
        least = np.partition(sums, -_MESSAGE_CHUNKS)[-_MESSAGE_CHUNKS] if len(sums) > _MESSAGE_CHUNKS else 0.0
        having = np.flatnonzero((sums >= least) & (sums > 0))
        found.append(keys[having[np.argsort(-sums[having], kind="stable")[:_MESSAGE_CHUNKS]]])
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]\w*", text.lower())


def _share(message: Sequence[str], pairs: set[tuple[str, str]]) -> float:
    """Return the share of a message's words in runs of three and more, given a text's pairs of words."""
    matched, length = 0, 1
    for there in (*(pair in pairs for pair in pairwise(message)), False):
        if there:
            length += 1
            continue
        matched += length if length >= _FEWEST_WORDS else 0
        length = 1
    return matched / len(message)


def _from_votes(
    columns: dict[str, Column],
    source: Source,
    scope: SearchScope,
    reading: Reading,
    near: Near,
    sites: Sequence[_Site],
    memo: Memo | None,
) -> list[_Site]:
    """Let the title and each sentence vote for the chunks nearest to them.

    Their vectors are drafts, since they are many; those of chunks may be the model's.
    """
    columns["title_cosine"] = columns["votes"] = np.zeros(len(scope.files), dtype=np.float32)
    if not len(near.cosine):
        return []
    vectors = drafter(source.model).draft([reading.title, *(reading.sentences[:_VOTERS] or [reading.title])])
    titled = source.nearest(scope, vectors[0], _NEAR, memo)
    named = np.array([each for each, *_ in sites], dtype=np.int32)
    chosen = np.unique(np.concatenate([near.chunk_id[:_NEAR], titled.chunk_id, named]))
    chunk_id, file, cosine = source.similarities(scope, chosen, vectors, memo)
    if not len(chunk_id):
        return []
    best = np.broadcast_to(cosine.min(axis=0), (len(scope.files), len(vectors))).copy()
    np.maximum.at(best, file, cosine)
    columns["title_cosine"], columns["votes"] = best[:, 0], best[:, 1:].mean(axis=1)
    own = cosine[:, 0] + np.sort(cosine[:, 1:], axis=1)[:, -_BEST_VOTES:].mean(axis=1)
    worth = _VOTE * (own - own.min()) / max(float(own.max() - own.min()), 1e-6)
    return list(zip(chunk_id.tolist(), file.tolist(), worth.tolist(), strict=True))
