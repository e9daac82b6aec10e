"""Read what an index has for a question, and make evidence of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitrag.chunking.languages import is_code
from gitrag.embedding.draft import drafter
from gitrag.git import matcher
from gitrag.late import np
from gitrag.search import compounds, report_evidence
from gitrag.search.everyday import everyday
from gitrag.search.evidence import NEAREST, Collected, Evidence, gather
from gitrag.search.question import Question, looks_like_code, other_forms
from gitrag.search.templates import filled
from gitrag.search.verbatim import reexports, verbatim
from gitrag.store import candidates
from gitrag.store.candidates import DefinitionSite, Postings
from gitrag.store.memo import Memo
from gitrag.store.nearby import Near
from gitrag.store.scopes import Filters, SearchScope
from gitrag.words import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.commit_evidence import Messages
    from gitrag.store.source import Source

_LONGEST_QUOTED = 2_000
"""Characters of pasted code that are looked up as they are."""


def _may_be_quoted(question: Question) -> bool:
    """Tell whether a file may contain all of it: a short text, which may be pasted code."""
    return question.report is None or len(question.text) <= _LONGEST_QUOTED


def collect(
    source: Source,
    question: Question,
    scope: SearchScope,
    vector: NDArray[np.float32] | None,
    memo: Memo | None = None,
    told: Messages | None = None,
) -> Evidence:
    """Read the candidates for a question and compute their evidence."""
    near = Near(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
    if vector is not None:
        near = source.nearest(scope, vector, NEAREST, memo)
    either = (*question.hashes, *(term for term, _places in question.compounds))
    postings = compounds.as_one(question, source.postings(scope, either, memo))
    names = source.name_words(scope, question.forms, memo)
    named = {*postings.term[postings.in_name].tolist(), *names.term.tolist()}
    if others := other_forms(question, named):
        also = source.postings(scope, [term for term, _place in others], memo)
        postings = candidates.joined(postings, also, [place for _term, place in others])
        question = replace(question, shorts=(*question.shorts, *((term, (place,)) for term, place in others)))
        names = source.name_words(scope, question.forms, memo)
    report = None
    if question.report is None:
        postings, names = compounds.as_two(source, scope, question, postings, names, drafter().knows, memo)
    else:
        report = report_evidence.look_up(source, scope, question, question.report, postings, near, memo)
    quoted = np.empty(0, np.int32)
    if _may_be_quoted(question):
        quoted = np.union1d(
            verbatim(source, question.text, postings, len(question.words), may_add=report is None),
            filled(source, scope, question, [question.text], postings, memo),
        )
    definitions = _definitions(source, question, scope, postings, memo)
    by_others = everyday(source, question, scope, memo)
    return gather(
        question,
        Collected(scope.files, postings, near, definitions, names, quoted, told, report, by_others),
    )


def _definitions(
    source: Source, question: Question, scope: SearchScope, postings: Postings, memo: Memo | None
) -> list[DefinitionSite]:
    """Find the definitions of the names in a question, re-exported ones included.

    If the question is a bare name that nothing defines, also return what assigns it a value, or else
    definitions whose names contain it; doing so for the names in a sentence costs 0.002.
    """
    names = question.names
    defined = source.definitions(scope, names)
    found = defined + reexports(source, scope, names, memo)
    if not (question.is_name and names and looks_like_code(names[-1])):
        return found
    parts, term = names[0].count(".") + 1, terms.whole(names[-1])
    if any(row.exact and row.parts == parts for row in defined):
        return found
    if term in question.words:
        from gitrag.search.verbatim import value_sites

        having = postings.chunk_id[postings.term == question.words.index(term)]
        found += value_sites(source, scope, names[-1], having, is_code)
    return found or source.longer_names(scope, names[-1])


def allowed_paths(source: Source, filters: Filters, memo: Memo) -> Sequence[int] | None:
    """Return the ids of the paths that the globs of filters allow; None for all."""
    return memo.get(("allowed", filters.globs), lambda: _allowed(source, filters))


def _allowed(source: Source, filters: Filters) -> Sequence[int] | None:
    if not filters.globs:
        return None
    wanted = matcher(filters.globs)
    return [path_id for path_id, path in source.all_paths() if wanted(path)]
