"""Texts that have a question word for word: a message that somebody pastes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gitrag.store.candidates import Postings
from gitrag.store.columns import run

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_FEWEST = 3
"""Words; two in a row are no quotation."""

_LONGEST = 64
"""Words; of a pasted file so many are enough."""

_MOST = 100
"""Chunks that are read."""

_BETWEEN = r"[^\pL\pN_]"
"""RE2's own classes are of ASCII alone."""

_MATCHING = """
    WITH few AS MATERIALIZED (SELECT chunk_id, text FROM chunks SEMI JOIN columns ON chunk_id = column0)
    SELECT chunk_id FROM few WHERE regexp_matches(text, ?)
"""
"""Materialized, since DuckDB would match every text of the index first."""


def verbatim(db: DuckDBPyConnection, text: str, postings: Postings, terms: int) -> NDArray[np.int32]:
    """Find the chunks that have a question's words in a row, whatever stands between; ids, ascending.

    A message that is broken into lines counts too; of very many chunks only those with most of the words.

    Args:
        db: An open connection; reading is enough.
        text: The question.
        postings: Where its terms are.
        terms: How many they are.
    """
    import numpy as np

    words = re.findall(r"\w+", text)[:_LONGEST]
    none = np.empty(0, np.int32)
    if len(words) < _FEWEST or not len(postings.chunk_id):
        return none
    _rows, first = np.unique(postings.chunk_id.astype(np.int64) * terms + postings.term, return_index=True)
    chunk, place, found = np.unique(postings.chunk_id[first], return_inverse=True, return_counts=True)
    often = np.bincount(place, postings.frequency[first] / postings.length[first])
    having = np.flatnonzero(found == terms)
    if not len(having):
        return none
    chosen = chunk[having[np.argsort(-often[having], kind="stable")[:_MOST]]]
    pattern = rf"(?i)(?:^|{_BETWEEN})" + f"{_BETWEEN}+".join(map(re.escape, words)) + f"(?:{_BETWEEN}|$)"
    return np.sort(run(db, [chosen], _MATCHING, [pattern]).fetchnumpy()["chunk_id"])
