from __future__ import annotations

import pytest

from gitrag.model import Kind
from gitrag.search import ranking
from gitrag.search.question import read


def test_a_chunk_that_both_ways_find_comes_before_one_that_one_finds_first():
    ranked = ranking.fuse({"lexical": [(1, 1, 9.0), (2, 1, 8.0)], "semantic": [(3, 1, 0.9), (2, 1, 0.8)]})
    assert ranked[0].chunk_id == 2


def test_equal_values_share_a_rank():
    ranked = ranking.fuse({"lexical": [(7, 1, 5.0), (3, 1, 5.0)]})
    assert [(item.chunk_id, item.signals["lexical"].rank) for item in ranked] == [(3, 0), (7, 0)]


@pytest.mark.parametrize(
    ("path", "worth_less"),
    [
        ("src/session.py", False),
        ("tests/test_session.py", True),
        ("src/session.test.ts", True),
        ("pkg/session_test.go", True),
        ("docs/session.md", True),
        ("examples/session.py", True),
        ("src/latest/contest.py", False),
    ],
)
def test_tests_docs_and_examples_are_worth_less_than_code(path: str, worth_less: bool):
    assert (ranking.prior(path, Kind.FUNCTION, read("open a session")) < 1.0) is worth_less


def test_a_question_about_tests_wants_tests():
    assert ranking.prior("tests/test_session.py", Kind.FUNCTION, read("tests of the session")) == 1.0


def test_a_file_is_grouped_under_its_best_chunk():
    paths = {1: "a.py", 2: "b.py"}
    kinds = {1: Kind.FUNCTION, 2: Kind.FUNCTION, 3: Kind.FUNCTION}
    ranked = ranking.fuse({"lexical": [(1, 1, 3.0), (2, 2, 2.0), (3, 1, 1.0)]})
    groups = ranking.order(ranked, paths, kinds, read("x"))
    assert [[item.chunk_id for item in group] for group in groups] == [[1, 3], [2]]


def test_evidence_is_a_probability_and_grows_with_both_signals():
    assert ranking.evidence(0.0, 0.1, named=False) == 0.0
    assert ranking.evidence(1.0, 0.0, named=False) == 1.0
    assert ranking.evidence(0.2, 0.4, named=False) < ranking.evidence(0.5, 0.4, named=False)
    assert ranking.evidence(0.2, 0.4, named=False) < ranking.evidence(0.2, 0.5, named=False)
    assert ranking.evidence(0.0, 0.0, named=True) == 1.0


def test_scores_never_rise_and_stop_at_the_least_wanted():
    ranked = ranking.fuse({"lexical": [(i, i, 10.0 - i) for i in range(1, 9)]})
    files = ranking.order(
        ranked, {i: f"{i}.py" for i in range(1, 9)}, dict.fromkeys(range(1, 9), Kind.FUNCTION), read("x")
    )
    scores = [score for score, _ in ranking.cut(files, 0.5, limit=5, min_score=0.1)]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 0.5
    assert ranking.cut(files, 0.5, limit=5, min_score=0.6) == []


def test_the_same_content_at_two_paths_is_shown_once():
    ranked = ranking.fuse({"lexical": [(1, 1, 3.0), (1, 2, 3.0)]})
    files = ranking.order(ranked, {1: "a.py", 2: "b.py"}, {1: Kind.FUNCTION}, read("x"))
    assert len(ranking.cut(files, 1.0, limit=5, min_score=0.0)) == 1


def test_a_near_miss_counts_more_than_a_far_one():
    """At the same rank, what is almost as good as the best is worth almost as much."""
    near = ranking.fuse({"lexical": [(1, 1, 10.0), (2, 2, 9.0)]})[1].fused
    far = ranking.fuse({"lexical": [(1, 1, 10.0), (2, 2, 1.0)]})[1].fused
    assert near == pytest.approx(9 * far)


def test_the_best_of_both_ways_is_not_outdone_by_several_poor_chunks():
    lists = {
        "lexical": [(1, 1, 8.6), (2, 2, 3.4), (3, 2, 3.3), (4, 2, 3.2)],
        "semantic": [(1, 1, 0.58), (2, 2, 0.36), (3, 2, 0.35), (4, 2, 0.34)],
    }
    paths, kinds = {1: "legacy/best.py", 2: "poor.py"}, dict.fromkeys(range(1, 5), Kind.FUNCTION)
    groups = ranking.order(ranking.fuse(lists), paths, kinds, read("x"))
    assert [group[0].chunk_id for group in groups] == [1, 2]


def test_a_cosine_that_anything_has_says_nothing():
    assert ranking.fuse({"semantic": [(1, 1, 0.2), (2, 1, 0.1)]}) == []
    assert [item.chunk_id for item in ranking.fuse({"semantic": [(1, 1, 0.6), (2, 1, 0.1)]})] == [1]
