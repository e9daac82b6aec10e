"""Order decisions, specifications and issues by how likely each answers a question. Pure.

Documents are few, and most of them are about something else than the question: of files of code the order
counts, and how likely the first answers; of a document, whether it stands out from the others. So each is
scored by how near its parts are, how much of the question one of them says, and by how far it leads, all of
it within its own collection: what is asked beside it makes no difference.

`scripts/training/fit_document_scores.py` fits the weights on labelled questions, and prints them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from gitrag.late import np
from gitrag.search.evidence import Evidence, mean_of_best
from gitrag.search.ranking import Ranked, chunks_of, total, without_twins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.candidates import Files

    Facts: TypeAlias = dict[str, NDArray[np.float64]]

WEIGHTS: Mapping[str, float] = {
    "cosine": 5.71,
    "above": 8.51,
    "words": 1.03,
    "lead": 2.75,
    "verbatim": 4.0,
    "bias": -5.42,
}
"""Log-odds by unit of each fact, ``facts``.

Fitted on 108 sentences and questions to four repositories, 36 of them about what no document there decides;
``verbatim`` is set, since next to none of them quotes a text. On each of these repositories left out in turn,
0.977 have a document that decides the matter among the first three, 0.865 with a score of 0.3 or more; of
those without one, 0.925 have nothing above 0.5; the expected calibration error is 0.013.
"""

WEIGHTS_BY_WORDS: Mapping[str, float] = {
    "words": 1.87,
    "lead": 4.69,
    "missing": -2.09,
    "verbatim": 4.0,
    "bias": -2.53,
}
"""The same where no vector is known: 0.914, 0.657, 0.857 and 0.020."""

_BEST_PARTS = 3
"""Parts of a document whose mean cosine tells whether it is about the question as a whole."""

_FEW = 8
"""Fewest documents whose median cosine is a background; missing ones count as unrelated."""

_UNRELATED = 0.15
"""Median cosine of a sentence with a document, over the labelled repositories."""


def candidates(evidence: Evidence, files: Files, limit: int) -> dict[int, float]:
    """Return the documents that may be among the ``limit`` best, each with its probability, in [0, 1]."""
    found = facts(evidence, files)
    weights = _weights(found)
    odds = np.sum([weights[name] * values for name, values in found.items()], axis=0)
    # Rounded, since the last bits depend on how many documents there are.
    scores = np.round(1 / (1 + np.exp(-odds)), 4)
    speaking = np.unique(evidence.file)
    best = speaking[np.argsort(-scores[speaking], kind="stable")[: 4 * limit + 50]]
    return {int(file): float(scores[file]) for file in best}


def rank(
    evidence: Evidence, files: Files, scores: Mapping[int, float], ties: Mapping[int, str], limit: int
) -> list[Ranked]:
    """Return the best documents, best first; of those with the same content only the best.

    Args:
        evidence: The evidence for the documents.
        scores: ``candidates`` of at least ``limit`` documents.
        ties: For each candidate its path, which decides between equals.
        limit: Maximum number of documents.
    """
    found = facts(evidence, files)
    sums = np.round(total(evidence), 6)
    order = sorted(scores, key=lambda file: (-scores[file], -sums[file], ties[file]))
    return [
        Ranked(file, scores[file], chunks_of(evidence, file), _reasons(found, file))
        for file in without_twins(order, files.content_id)[:limit]
    ]


def facts(evidence: Evidence, files: Files) -> Facts:
    """Return the facts that tell whether each document answers the question, float64 (files,) each.

    - ``cosine``: the highest of a part, and ``above``: the mean of the best three, less the median over the
      documents; left out where no vector is known
    - ``words``: the highest BM25 of a part, as a share of the question's idf
    - ``lead``: ``words`` and ``cosine`` together, less the same of the best other document
    - ``missing``, without vectors only: the share of the question that no document has
    - ``verbatim``: whether it contains the question word for word
    - ``bias``: 1
    """
    f = len(files)
    words = np.zeros(f)
    np.maximum.at(words, evidence.file, evidence.bm25 / max(evidence.information, 1e-9))
    found = {"bias": np.ones(f), "words": words, "verbatim": evidence.features["verbatim"].astype(np.float64)}
    listed = evidence.cosine[evidence.cosine > -1]
    if not len(listed):
        missing = float(evidence.idf[~evidence.in_source].sum()) / max(float(evidence.idf.sum()), 1e-9)
        return found | {"missing": np.full(f, missing), "lead": _lead(words, 0.0, files)}
    least = float(listed.min())
    known = np.maximum(evidence.cosine, least)
    best = np.full(f, least)
    np.maximum.at(best, evidence.file, known)
    mean = mean_of_best(known, evidence.file, f, _BEST_PARTS, files.chunks, least)
    fill = np.full(max(0, _FEW - f), _UNRELATED)
    found["cosine"] = best
    found["above"] = mean - float(np.median(np.concatenate([mean, fill])))
    return found | {"lead": _lead(words + best, _UNRELATED, files)}


def _lead(values: NDArray[np.float64], unrelated: float, files: Files) -> NDArray[np.float64]:
    """Return by how much each document's value exceeds the best of those with another content."""
    _, one_each = np.unique(files.content_id, return_index=True)
    first, second = np.sort([*values[one_each], unrelated, unrelated])[::-1][:2]
    behind: NDArray[np.float64] = values - np.where(values >= first, second, first)
    return behind


def _weights(found: Facts) -> Mapping[str, float]:
    return WEIGHTS if "cosine" in found else WEIGHTS_BY_WORDS


def _reasons(found: Facts, file: int) -> tuple[tuple[str, float], ...]:
    weights = _weights(found)
    parts = [(name, weights[name] * float(values[file])) for name, values in found.items() if name != "bias"]
    told = [(name, part) for name, part in parts if abs(part) > 0.005]
    return tuple(sorted(told, key=lambda item: -abs(item[1])))
