"""Order decisions, specifications and issues by how likely each answers a question. Pure.

Documents are few, and most of them are about something else than the question: of files of code the order
counts, and how likely the first answers; of a document, whether it stands out from the others. So each is
scored by how near its parts are, how much of the question one of them says, and by how far it leads, all of
it within its own collection: what is asked beside it makes no difference.

The weights are rows of `features.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from gitrag.late import np
from gitrag.search.evidence import Evidence
from gitrag.search.features import DOCUMENT, DOCUMENT_BY_WORDS
from gitrag.search.means import mean_of_best
from gitrag.search.ranking import Ranked, chunks_of, largest, total, without_twins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.scopes import Files

    Facts: TypeAlias = dict[str, NDArray[np.float64]]

_BEST_PARTS = 3
"""Parts of a document whose mean cosine tells whether it is about the question as a whole."""

_FEW = 8
"""Fewest documents whose median cosine is a background; missing ones count as unrelated."""

_UNRELATED = 0.12
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
        scores: ``candidates`` of at least ``limit`` documents.
        ties: For each candidate its path, which decides between equals.
    """
    found = facts(evidence, files)
    sums = np.round(total(evidence), 6)
    order = sorted(scores, key=lambda file: (-scores[file], -sums[file], ties[file]))
    return [
        Ranked(file, scores[file], chunks_of(evidence, file), _reasons(found, file))
        for file in without_twins(order, files.content_id)[:limit]
    ]


def facts(evidence: Evidence, files: Files) -> Facts:
    """Return the facts by which each document answers the question (`FACTS`), float64 (files,) each."""
    f = len(files)
    words = np.zeros(f)
    np.maximum.at(words, evidence.file, evidence.bm25 / max(evidence.information, 1e-9))
    found = {
        "bias": np.ones(f),
        "words": words,
        "verbatim": evidence.features["verbatim"].astype(np.float64),
        "alone": evidence.alone.astype(np.float64),
    }
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
    return DOCUMENT if "cosine" in found else DOCUMENT_BY_WORDS


def _reasons(found: Facts, file: int) -> tuple[tuple[str, float], ...]:
    weights = _weights(found)
    return largest(
        (name, weights[name] * float(values[file])) for name, values in found.items() if name != "bias"
    )
