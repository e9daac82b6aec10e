"""Evidence for each file: the store's rows turned into feature columns, one number per file.

Pure NumPy over what `gitrag/store/candidates.py` reads. `gitrag/search/features.py` says what they are.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.chunking.languages import is_code, is_prose
from gitrag.late import np
from gitrag.search import wording
from gitrag.search.bm25 import K1, saturated, scaled
from gitrag.search.bm25 import idf as _idf
from gitrag.search.history import message_features
from gitrag.search.means import by_rank, mean_of_best
from gitrag.search.outside import is_beside_the_product, is_product_code, traits_of
from gitrag.search.question import Question
from gitrag.search.wording import Occurrences
from gitrag.store.candidates import DefinitionSite, NameWords, Postings
from gitrag.store.columns import runs
from gitrag.store.nearby import Near
from gitrag.store.scopes import Files
from gitrag.words import terms as word_terms
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, Trait

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.search.report_evidence import ReportEvidence
    from gitrag.store.commit_evidence import Messages

    Column = NDArray[np.floating[Any]]

_BEST = 50
"""Size of the list of the question's best chunks; a file may have several in it."""

_SHARPNESS = 20.0
"""How fast a chunk's weight falls with its cosine in a file's sum: by a factor of e every 0.05."""

_ENOUGH = 0.1
"""Share of the largest top-level directory's code from which another one counts fully as product code."""

_A_LIBRARY = 100_000
"""Weighted terms from which a top-level directory counts fully as product code, whatever others have.

All of phoenix or fmt has about as many. A tenth of Linux's drivers is 12 million, and mm/ has one: without
this limit, questions about memory lead to drivers. It changes nothing where no directory has ten times as
much, as in the 17 projects of those that the ranker is fitted on that were looked at.
"""

_OTHER_CASE = 0.5
"""Weight of a definition whose name matches except for case."""

_FEW_FILES = 3
"""A name that so few files have is what the question is about, whatever kind of file has it."""
_A_PAGE = 8
"""The same of the one word that is asked: else nothing would be shown for what a book has in a footnote."""

_HALF = 0.5
"""Share of a question's information that a file with a rare word of it must have to be shown for that."""

_BM25_OF_A_REPORT = 2.0
"""How much more the words of a report say about which chunk to show: it has more of them."""

NEAREST = 1_000
"""Nearest chunks that count as evidence for their files; the ranker is fitted with this number."""


class Evidence(Struct, frozen=True):
    """Evidence for the files and chunks of a scope.

    Attributes:
        features: Columns float32 (f,) by name, one number a file; see ``gather``.
        chunk_id: int32 (c,), the chunks with any evidence.
        file: int32 (c,), the number of each chunk's file, ascending.
        bm25: float32 (c,).
        cosine: float32 (c,), -1 if unknown.
        defines: float32 (c,), how many parts of a requested name it defines, each counting less where the
            case differs.
        worth: float32 (c,), ranks a file's chunks for display.
        coverage: float32 (f,), the share of the question's information (idf) that each file's words cover,
            those added to it left out. It tells whether there is an answer, not which one: as a feature it
            costs 0.003.
        around: float32, the cosines of the nearest chunks, ascending.
        idf: float32 (t,), the information of each of the question's terms.
        information: The sum of the idf of the question's terms over the chunks.
        in_source: bool (t,), whether a file of the product's own code has the term; of a scope without any
            such file, whether any file has it.
        alone: bool (f,), whether it has half of the question or more, and in that a word that hardly another
            file has: it is shown, whatever kind of file it is.
        is_name: Whether the question is a single word.
        occurrences: Where the question's words occur.
        own: Which terms are the question's own.
    """

    features: dict[str, Column]
    chunk_id: NDArray[np.int32]
    file: NDArray[np.int32]
    bm25: Column
    cosine: Column
    defines: Column
    worth: Column
    coverage: Column
    around: Column
    idf: Column
    information: float
    in_source: NDArray[np.bool_]
    alone: NDArray[np.bool_]
    is_name: bool = False
    is_report: bool = False
    occurrences: Occurrences | None = None
    own: slice = slice(None)

    def rows_of(self, file: int) -> slice:
        """Return where a file's chunks are."""
        return slice(int(self.file.searchsorted(file)), int(self.file.searchsorted(file, "right")))


class Collected(Struct, frozen=True):
    """What an index has for a question.

    Attributes:
        verbatim: The ids of the chunks that contain the question word for word, or the template of the
            message that it is; None for none.
        told: What commit messages say, where the history has been read.
        everyday: What other words for the question's say of each file; None for nothing.
    """

    files: Files
    postings: Postings
    near: Near
    definitions: list[DefinitionSite]
    name_words: NameWords
    verbatim: NDArray[np.int32] | None = None
    told: Messages | None = None
    report: ReportEvidence | None = None
    everyday: Column | None = None


def gather(question: Question, read: Collected) -> Evidence:
    """Turn what was collected for a question into evidence."""
    files, postings, near, report = read.files, read.postings, read.near, read.report
    f = len(files)
    sites = () if report is None else report.sites
    every = [*read.definitions, *(DefinitionSite(*site[:2], exact=True, parts=0) for site in sites)]
    chunk_id, file, bm25, cosine, defines, information = _chunks(
        files, postings, near, every, len(question.words)
    )
    frequency, in_name = _by_file(postings, f, len(question.words))
    idf = _rarity(f, (frequency > 0).sum(axis=0))
    quotes = np.zeros(len(chunk_id)) if read.verbatim is None else np.isin(chunk_id, read.verbatim)
    features: dict[str, NDArray[Any]] = {
        **_of_words(files, file, bm25, frequency, idf, information),
        "everyday": np.zeros(f) if read.everyday is None else read.everyday,
        "verbatim": np.bincount(file, quotes, f) > 0,
    }
    nature = _nature(files, question)
    telling = question.is_name | ~(nature["test_or_doc"] | is_beside_the_product(files))
    rare = _has_a_rare_name(question, frequency, telling)
    features["rare_name"] = ~features["verbatim"] & (report is None) & rare
    features |= _of_meaning(cosine, file, files, near, features["bm25_file"])
    part = np.array(question.is_part, dtype=bool)
    share = np.where(part, idf, 0.0) / max(float(idf[part].sum()), 1e-9)
    name, named = _file_names(read.name_words, question, f)
    features |= _of_names(name, named, files, question, share)
    features["in_names"] = in_name @ share
    features["defines"] = _defined(read, file, defines)
    features["defines_it"] = features["defines"] * question.is_name
    features |= _of_messages(read.told, f, question)
    features |= nature
    coverage = _covered(question, frequency[:, question.own] > 0, idf[question.own], features["defines"])
    words = (1.0 if report is None else _BM25_OF_A_REPORT) * scaled(bm25)
    worth = words + _above(cosine) + 2.0 * defines + 2.0 * quotes
    if report is not None:
        title = np.array(question.titled, dtype=bool)
        features |= report.columns
        features |= _of_title(title, files, postings, frequency, in_name, idf, share)
        features["title_file_name"] = _title_in_file_names(title, read.name_words, question, files, share)
        worth += report.worth(chunk_id, file)
    return Evidence(
        {key: column.astype(np.float32) for key, column in features.items()},
        chunk_id,
        file,
        bm25,
        cosine,
        defines,
        worth,
        coverage.astype(np.float32),
        np.sort(near.cosine),
        idf.astype(np.float32),
        information,
        np.asarray((frequency[_is_source(files)] > 0).any(axis=0)),
        _alone(question, frequency, coverage) & (report is None),
        question.is_name,
        report is not None,
        wording.count(((frequency > 0) | name)[:, question.own], files, _written(question, frequency, read)),
        question.own,
    )


def _of_words(
    files: Files,
    file: NDArray[np.int32],
    bm25: Column,
    frequency: NDArray[Any],
    idf: NDArray[Any],
    information: float,
) -> dict[str, NDArray[Any]]:
    """Return what BM25 says of a file's best chunks, and of all of it."""
    f = len(files)
    relative_length = files.length / max(float(files.length.sum()) / max(f, 1), 1.0)
    return {
        "bm25": scaled(mean_of_best(bm25, file, f, 5)),
        "bm25_file": scaled(saturated(frequency, relative_length[:, None]) @ idf),
        "bm25_share": mean_of_best(bm25, file, f, 1) / max((K1 + 1) * information, 1e-9),
    }


def _of_messages(told: Messages | None, f: int, question: Question) -> dict[str, NDArray[Any]]:
    """Return what the messages of commits say, by words and by meaning."""
    meant = np.zeros(f) if told is None else mean_of_best(told.meaning, told.meant, f, 2)
    return message_features(told, f, question) | {"meant": by_rank(meant) * meant.any()}


def _of_names(
    name: NDArray[Any], named: NDArray[Any], files: Files, question: Question, share: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return what the words of the question say in the names of files, as ``_file_names`` has them."""
    is_name = (named > 0) & (named >= files.name_terms)
    return {
        "file_name": is_name.astype(np.float32),
        "file_name_asked": is_name * float(question.asks),
        "file_name_share": is_name * (name @ share),
        "file_name_part": ((named > 0) & ~is_name).astype(np.float32),
    }


def _defined(read: Collected, file: NDArray[np.int32], defines: Column) -> NDArray[Any]:
    """Return how much of a requested name each file defines.

    Where Session.send exists, another class's send is only half of what was asked for.
    """
    defined = np.zeros(len(read.files))
    own = np.flatnonzero(defines)
    most = max((row.parts for row in read.definitions), default=1)
    np.maximum.at(defined, file[own], defines[own] / most)
    return defined


def _covered(
    question: Question, has: NDArray[np.bool_], idf: NDArray[Any], defines: NDArray[Any]
) -> NDArray[Any]:
    """Return ``Evidence.coverage``, by which terms a file has; what a name is part of defines all of it."""
    covered = np.asarray(has @ idf / max(float(idf.sum()), 1e-9))
    if question.is_name and len(question.names) == 1:
        covered[defines > 0] = 1.0
    return covered


def _alone(question: Question, frequency: NDArray[Any], coverage: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which files have half of the question or more, and in that a word that hardly another file has."""
    most = _A_PAGE if len(question.words[question.own]) == 1 else _FEW_FILES
    return (coverage >= _HALF) & _has_a_rare_one(frequency, _of_what_is_asked(question), most)


def _written(question: Question, frequency: NDArray[Any], read: Collected) -> NDArray[np.bool_]:
    """Tell which of its own terms a text or a file's name has as they are, not shortened."""
    most = len(question.words)
    names = read.name_words.term
    in_names = np.bincount(names[names < most], minlength=most) > 0
    return np.asarray((frequency > 0).any(axis=0) | in_names)[question.own]


def _of_meaning(
    cosine: Column, file: NDArray[np.int32], files: Files, near: Near, words: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return what the cosines of a file's chunks say, also beside what its words say (``bm25_file``)."""
    f = len(files)
    floor = float(near.cosine.min()) if len(near.cosine) else 0.0
    rows = np.flatnonzero(cosine > -1)  # a few of those that have the question's words
    known, own = np.maximum(cosine[rows], floor), file[rows]
    best = float(known.max(initial=floor))
    sums = np.bincount(own, np.exp(_SHARPNESS * (known - best)), f)
    unlisted = np.maximum(files.chunks - np.bincount(own, minlength=f), 0) * np.exp(
        _SHARPNESS * (floor - best)
    )
    return {
        "cosine": mean_of_best(known, own, f, 5, files.chunks, floor),
        "cosine_sum": np.log(sums + unlisted + 1e-9) / _SHARPNESS,
        "cosine_best": np.log1p(_among_best(cosine[rows], own, f)),
        "agreed": by_rank(words) * by_rank(mean_of_best(known, own, f, 1, files.chunks, floor)),
    }


def _has_a_rare_name(
    question: Question, frequency: NDArray[Any], telling: NDArray[np.bool_] | bool
) -> NDArray[np.bool_]:
    """Tell which files have a name of the question, or a word with accents, that hardly another file has.

    In a sentence only those that are ``telling``: a README names products ("GitHub") that nothing else does.
    """
    accented = np.array(
        [not word.isascii() and len(word_terms.split(word)) > 1 for word in question.words], dtype=bool
    )
    names = ~np.array(question.is_part, dtype=bool) | accented
    names |= question.is_name and len(question.words) == 1
    return _has_a_rare_one(frequency, names) & telling


def _has_a_rare_one(
    frequency: NDArray[Any], terms: NDArray[np.bool_], few: int = _FEW_FILES
) -> NDArray[np.bool_]:
    """Tell which files have one of some terms that hardly another file has."""
    has = frequency[:, terms] > 0
    return np.asarray((has & (has.sum(axis=0) <= few)).any(axis=1))


def _of_what_is_asked(question: Question) -> NDArray[np.bool_]:
    """Tell which of the question's terms name what is asked about; the others only ask."""
    own = [wording.is_telling(word) for word in question.words[question.own]]
    return np.array([*own, *(False for _word in question.added)], dtype=bool)


def _title_in_file_names(
    title: NDArray[np.bool_], words: NameWords, question: Question, files: Files, share: NDArray[np.float64]
) -> Column:
    """Return the share of a report's title that a file's name makes up, if the title has all its words."""
    own = np.concatenate([title, np.ones(len(question.shorts), dtype=bool)])[words.term]
    name, named = _file_names(NameWords(words.term[own], words.file[own]), question, len(files))
    of_title = share * title
    is_name = (named > 0) & (named >= files.name_terms)
    return np.asarray(is_name * (name @ of_title) / max(float(of_title.sum()), 1e-9))


def _of_title(
    title: NDArray[np.bool_],
    files: Files,
    postings: Postings,
    frequency: NDArray[Any],
    in_name: NDArray[np.bool_],
    idf: NDArray[np.float64],
    share: NDArray[np.float64],
) -> dict[str, Any]:
    """Return what the words of a report's title alone say of each file."""
    f = len(files)
    if not title.any():
        return {name: np.zeros(f) for name in ("title_bm25", "title_bm25_file", "title_in_names")}
    own = title[postings.term]
    mean_length = max(float(files.length.sum()) / max(int(files.chunks.sum()), 1), 1.0)
    weighted = (
        saturated(postings.frequency[own], postings.length[own] / mean_length) * idf[postings.term[own]]
    )
    keys, place = np.unique(
        postings.file[own].astype(np.int64) << 32 | postings.chunk_id[own], return_inverse=True
    )
    best = np.zeros(f)
    np.maximum.at(best, keys >> 32, np.bincount(place, weighted, len(keys)))
    relative_length = files.length / max(float(files.length.sum()) / max(f, 1), 1.0)
    of_title = share * title
    return {
        "title_bm25": scaled(best),
        "title_bm25_file": scaled(saturated(frequency[:, title], relative_length[:, None]) @ idf[title]),
        "title_in_names": in_name @ (of_title / max(float(of_title.sum()), 1e-9)),
    }


def _chunks(
    files: Files, postings: Postings, near: Near, definitions: list[DefinitionSite], terms: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Column, Column, Column, float]:
    """Join what is known of each chunk: BM25 by its terms, its cosine, what it defines; and sum the idf."""
    defining = np.array([(row.chunk_id, row.file) for row in definitions], dtype=np.int64).reshape(-1, 2)
    chunk = np.concatenate([postings.chunk_id, near.chunk_id, defining[:, 0]]).astype(np.int64)
    file = np.concatenate([postings.file, near.file, defining[:, 1]]).astype(np.int64)
    keys, place = np.unique(file << 32 | chunk, return_inverse=True)
    words, meanings = len(postings.chunk_id), len(near.chunk_id)
    total = int(files.chunks.sum())
    mean_length = max(float(files.length.sum()) / max(total, 1), 1.0)
    idf = _rarity(total, np.bincount(postings.term, minlength=terms))
    weighted = saturated(postings.frequency, postings.length / mean_length) * idf[postings.term]
    bm25 = np.bincount(place[:words], weighted, len(keys)).astype(np.float32)
    cosine = np.full(len(keys), -1.0, dtype=np.float32)
    cosine[place[words : words + meanings]] = near.cosine
    defines = np.zeros(len(keys), dtype=np.float32)
    worth = [row.parts * (1.0 if row.exact else _OTHER_CASE) for row in definitions]
    np.maximum.at(defines, place[words + meanings :], np.array(worth, dtype=np.float32))
    chunk_id, own_file = (keys & 0xFFFFFFFF).astype(np.int32), (keys >> 32).astype(np.int32)
    return chunk_id, own_file, bm25, cosine, defines, float(idf.sum())


def _rarity(total: int, found: NDArray[Any]) -> NDArray[np.float64]:
    """Return the idf of terms; a term found nowhere counts as found once, so that its absence is noticed."""
    return _idf(total, np.maximum(found, 1))


def _by_file(postings: Postings, files: int, terms: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Sum the terms' frequencies over each file's chunks, (files, terms), and tell which occur in a name."""
    cell = postings.file.astype(np.int64) * terms + postings.term
    frequency = np.bincount(cell, postings.frequency, files * terms).reshape(files, terms)
    in_name = np.zeros(files * terms, dtype=bool)
    in_name[cell[postings.in_name]] = True
    return frequency, in_name.reshape(files, terms)


def _file_names(
    words: NameWords, question: Question, files: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Tell which of the question's words each file's name has, (files, terms), and count the name's words.

    A word of code's that is added may be an abbreviation of the question's too: it is one word of the name.
    """
    stands_for = [*((place,) for place in range(len(question.words))), *(own for _, own in question.shorts)]
    sizes = np.array(list(map(len, stands_for)), dtype=np.int64)
    size = sizes[words.term]
    meant = np.array(list(chain.from_iterable(stands_for)), dtype=np.int64)
    found = np.zeros((files, len(question.words)), dtype=bool)
    found[np.repeat(words.file, size), meant[runs((np.cumsum(sizes) - sizes)[words.term], size)]] = True
    last = {term: place for place, term in enumerate(question.forms)}
    is_part = [*question.is_part, *(True for _ in question.shorts)]
    once = [
        is_one and last[term] == place
        for place, (is_one, term) in enumerate(zip(is_part, question.forms, strict=True))
    ]
    counts = np.array(once, dtype=bool)
    return found, np.bincount(words.file[counts[words.term]], minlength=files)


def _among_best(values: Column, file: NDArray[np.int32], files: int) -> NDArray[np.int64]:
    """Count each file's chunks among the best of all."""
    if len(values) > _BEST:
        chosen = (values >= np.partition(values, -_BEST)[-_BEST]) & (values > 0)
    else:
        chosen = values > 0
    return np.bincount(file[chosen], minlength=files)


def _above(cosine: Column) -> Column:
    """Scale the known cosines to [0, 1] between minimum and maximum."""
    known = cosine[cosine > -1]
    if not len(known):
        return cosine * 0
    least, best = float(known.min()), float(known.max())
    return (cosine - least).clip(0) / max(best - least, 1e-6)


def _is_source(files: Files) -> NDArray[np.bool_]:
    """Tell which files are the product's own code; all, if none is."""
    source = is_product_code(files)
    return source if source.any() else np.ones(len(files), dtype=bool)


def _code_by_top(files: Files) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the number of each file's top-level directory, and how much of the product's code is in each."""
    _names, top = np.unique(files.top, return_inverse=True)
    return top, np.bincount(top, np.where(is_product_code(files), files.length, 0))


def _nature(files: Files, question: Question) -> dict[str, Any]:
    """Return each file's kind, and the share of the repository's own code in its directory."""
    code = files.among(is_code)
    prose = is_beside_the_product(files)
    is_written = files.among(is_prose).any() and not prose.any()
    wanted = 0.0 if is_written or question.asks_for & Trait.DOCUMENT else 1.0  # then code gets no advantage
    top, by_top = files.memo.get("code by top", lambda: _code_by_top(files))
    enough = min(_ENOUGH * by_top.max(initial=0), _A_LIBRARY)
    return {
        "test_or_doc": (traits_of(files) & OUTSIDE_THE_PRODUCT & ~question.asks_for) > 0,
        "support": (traits_of(files) & Trait.SUPPORT & ~question.asks_for) > 0,
        "code": code * wanted,
        "prose": prose & (not question.asks_for & Trait.DOCUMENT),
        "top_share": np.minimum(by_top[top] / max(enough, 1.0), 1.0) * wanted,
        "size": np.log1p(files.chunks),
    }
