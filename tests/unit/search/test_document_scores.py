from __future__ import annotations

import pytest

from gitrag.search import document_scores
from gitrag.search.evidence import Evidence
from gitrag.search.features import DOCUMENT, DOCUMENT_BY_WORDS
from gitrag.search.ranking import Ranked
from gitrag.store.scopes import Files
from tests.unit.search.columns import evidence_of, make_files

PATHS = ("0001-a.md", "0002-b.md", "0003-c.md", "0004-d.md")
FILES = make_files(*((path, 2, 20) for path in PATHS))
BOTH_WORDS = [(term, 1, 0, 1, False, 10) for term in (0, 1)]


def rank(evidence: Evidence, files: Files = FILES, limit: int = 10) -> list[Ranked]:
    scores = document_scores.candidates(evidence, files, limit)
    return document_scores.rank(evidence, files, scores, dict(enumerate(PATHS)), limit)


def score(evidence: Evidence, file: int = 0) -> float:
    return next(each.score for each in rank(evidence) if each.file == file)


def test_the_likeliest_document_comes_first():
    ranked = rank(evidence_of(FILES, near=[(1, 0, 0.2), (2, 1, 0.6), (3, 2, 0.4)]))
    assert [each.file for each in ranked] == [1, 2, 0]
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)


def test_a_document_is_likelier_the_nearer_and_the_more_it_says():
    near = [(1, 0, 0.4), (2, 1, 0.2)]
    poor = score(evidence_of(FILES, near=near))
    assert score(evidence_of(FILES, near=[(1, 0, 0.6), (2, 1, 0.2)])) > poor
    assert score(evidence_of(FILES, near=near, postings=BOTH_WORDS)) > poor
    assert score(evidence_of(FILES, near=near, verbatim=[1])) > poor


def test_a_document_that_is_as_near_as_all_others_is_unlikely():
    """What every decision of a repository is about tells none of them apart."""
    alike = evidence_of(FILES, near=[(i, i // 2, 0.5) for i in range(8)])
    alone = evidence_of(FILES, near=[(i, i // 2, 0.5 if i < 2 else 0.1) for i in range(8)])
    assert score(alike) < 0.5 < score(alone)


def test_a_copy_takes_nothing_from_the_lead_of_a_document():
    """Two paths with one content, as in a release's folder, are one answer."""
    rows = [(1, 0, 0.6), (3, 2, 0.2)]
    one = evidence_of(FILES, near=rows)
    files = make_files(*((path, 2, 20) for path in PATHS), contents=(1, 1, 3, 4))
    two = evidence_of(files, near=[*rows, (1, 1, 0.6)])
    assert document_scores.facts(two, files)["lead"][0] == document_scores.facts(one, FILES)["lead"][0]
    assert [each.file for each in rank(two, files)] == [0, 2]


def test_without_vectors_the_words_decide():
    evidence = evidence_of(FILES, postings=BOTH_WORDS)
    assert "cosine" not in document_scores.facts(evidence, FILES)
    assert score(evidence) > 0.5
    half = evidence_of(FILES, postings=BOTH_WORDS[:1])
    assert score(half) < score(evidence)


def test_what_no_document_says_is_unlikely_without_vectors():
    only_one = [(0, 1, 0, 1, False, 10), (0, 2, 1, 1, False, 10)]
    elsewhere = [*only_one, (1, 3, 2, 1, False, 10)]
    assert score(evidence_of(FILES, postings=only_one)) < score(evidence_of(FILES, postings=elsewhere))


@pytest.mark.parametrize("near", [[(1, 0, 0.5), (2, 1, 0.2)], []])
def test_reasons_add_up_to_the_score(near):
    evidence = evidence_of(FILES, near=near, postings=BOTH_WORDS)
    weights = DOCUMENT if near else DOCUMENT_BY_WORDS
    facts = document_scores.facts(evidence, FILES)
    assert set(facts) == set(weights)
    first = rank(evidence)[0]
    assert dict(first.reasons) == pytest.approx(
        {
            name: weights[name] * values[0]
            for name, values in facts.items()
            if name != "bias" and abs(weights[name] * values[0]) > 0.005
        }
    )
