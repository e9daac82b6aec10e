from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gitrag.chunking import language_of
from gitrag.search import ranking
from gitrag.search.evidence import Evidence
from gitrag.search.features import FEATURES, REPORT_WEIGHTS, WEIGHTS
from gitrag.search.other_words import Said
from gitrag.search.ranking import Ranked
from gitrag.store.candidates import DefinitionSite
from tests.unit.search.columns import evidence_of, make_files

PATHS = ("src/a.py", "src/b.py", "src/c.py", "src/d.py")
FILES = make_files(*((path, 2, 20) for path in PATHS))


def rank(
    evidence: Evidence,
    *,
    paths: tuple[str, ...] = PATHS,
    twins: list[int] | None = None,
    limit: int = 10,
    min_score: float = 0.0,
) -> list[Ranked]:
    same = np.array(twins or range(len(paths)), dtype=np.int32)
    sums = ranking.candidates(evidence, limit)
    page = ranking.page(sums, same, paths, limit)
    ranked = ranking.scored(evidence, page, sums, [Said(0.5, 1.0)] * len(page))
    return [item for item in ranked if item.score >= min_score]


def score(evidence: Evidence, file: int, said: float = 0.5) -> float:
    """The score of a file that is alone on its page."""
    sums = ranking.candidates(evidence, 10) or {file: 0.0}
    return ranking.scored(evidence, [file], sums, [Said(said, 1.0)])[0].score if file in sums else 0.0


def found(ranked: list[Ranked]) -> list[int]:
    return [item.file for item in ranked]


def near(*cosines: float) -> Evidence:
    """Evidence of one chunk a file, by its cosine."""
    return evidence_of(FILES, near=[(10 + i, i, cosine) for i, cosine in enumerate(cosines)])


# the order


def test_a_file_that_both_ways_find_comes_before_one_that_one_finds_first():
    evidence = evidence_of(
        FILES,
        postings=[(0, 1, 0, 3, False, 10), (0, 2, 1, 2, False, 10)],
        near=[(3, 2, 0.6), (2, 1, 0.55), (4, 3, 0.1)],
    )
    assert found(rank(evidence))[0] == 1


def test_the_nearer_file_comes_first():
    assert found(rank(near(0.2, 0.4, 0.6, 0.3))) == [2, 1, 3, 0]


def test_a_near_miss_counts_more_than_a_far_one():
    """What is almost as good as the best scores almost as much."""
    best, close, far = rank(near(0.7, 0.69, 0.2))
    assert best.score - close.score < close.score - far.score


def test_the_best_of_both_ways_is_not_outdone_by_several_poor_chunks():
    evidence = evidence_of(
        make_files(("src/legacy/best.py", 1, 10), ("src/poor.py", 3, 30)),
        postings=[(0, 1, 0, 9, False, 10), *((0, i, 1, 1, False, 10) for i in (2, 3, 4))],
        near=[(1, 0, 0.58), (2, 1, 0.36), (3, 1, 0.35), (4, 1, 0.34)],
    )
    assert found(rank(evidence, paths=("src/legacy/best.py", "src/poor.py"))) == [0, 1]


@pytest.mark.parametrize(
    ("path", "worth_less"),
    [
        ("src/other.py", False),
        ("src/latest/contest.py", False),
        ("tests/test_session.py", True),
        ("src/session.test.py", True),
        ("docs/session.py", True),
        ("examples/session.py", True),
        ("scripts/session.py", True),
    ],
)
def test_tests_docs_examples_and_scripts_are_worth_less_than_code(path: str, worth_less: bool):
    """Else the same; between equals the path decides, and `path` begins lower than `zzz`."""
    evidence = evidence_of(make_files((path, 1, 10), ("src/zzz.py", 1, 10)), near=[(1, 0, 0.5), (2, 1, 0.5)])
    paths = ("!" + path, "zzz")
    assert (found(rank(evidence, paths=paths)) == [1, 0]) is worth_less


def test_a_question_about_tests_wants_tests():
    paths = ("tests/test_session.py", "src/zzz.py")
    files, rows = make_files(*((path, 1, 10) for path in paths)), [(1, 0, 0.5), (2, 1, 0.5)]
    session, tests = (evidence_of(files, f"{what} the session", near=rows) for what in ("open", "tests of"))
    assert found(rank(session, paths=paths)) == [1, 0]
    weight = WEIGHTS["test_or_doc"]
    assert ranking.total(session)[0] - ranking.total(tests)[0] == pytest.approx(weight, abs=1e-4)
    assert "test_or_doc" not in dict(ranking.reasons(tests, 0))


def test_the_definition_of_what_is_asked_for_comes_first():
    evidence = evidence_of(
        FILES,
        "open_door",
        postings=[(0, 1, 0, 9, False, 10), (0, 2, 1, 1, True, 10)],
        near=[(1, 0, 0.6), (2, 1, 0.4), (3, 2, 0.5)],
        definitions=[DefinitionSite(2, 1, exact=True)],
    )
    assert found(rank(evidence))[0] == 1


def test_equals_come_in_the_order_of_their_paths():
    rows = [(10 + i, i, 0.5) for i in range(4)]
    order = found(rank(evidence_of(FILES, near=rows), paths=("d", "b", "c", "a")))
    assert order == [3, 1, 2, 0]


def test_a_file_of_which_nothing_is_known_is_not_found():
    assert found(rank(near(0.2, 0.4))) == [1, 0]
    assert rank(near()) == []


# chunks of a file


def test_a_file_is_shown_by_its_best_chunk():
    evidence = evidence_of(
        FILES, postings=[(0, 1, 0, 1, False, 10), (0, 2, 1, 3, False, 10), (0, 3, 0, 2, False, 10)]
    )
    shown = [[int(evidence.chunk_id[place]) for place in item.chunks] for item in rank(evidence)]
    assert sorted(shown) == [[2], [3, 1]]


def test_each_chunk_can_have_a_hit_of_its_own():
    evidence = evidence_of(
        FILES, postings=[(0, 1, 0, 1, False, 10), (0, 2, 1, 3, False, 10), (0, 3, 0, 2, False, 10)]
    )
    files = rank(evidence)
    each = ranking.singles(evidence, files, limit=10, min_score=0.0)
    assert sorted(int(evidence.chunk_id[place]) for item in each for place in item.chunks) == [1, 2, 3]
    assert all(len(item.chunks) == 1 for item in each)
    assert [item.score for item in each] == sorted((item.score for item in each), reverse=True)
    best = {item.file: item.score for item in reversed(each)}
    assert best == {item.file: item.score for item in files}
    assert ranking.singles(evidence, files, limit=2, min_score=0.0) == each[:2]
    least = each[1].score
    assert ranking.singles(evidence, files, limit=10, min_score=least) == each[:2]


def test_the_only_chunk_of_a_file_has_its_files_score():
    """One that nothing sets apart: it is as near as the least near."""
    evidence = near(0.5)
    files = rank(evidence)
    assert ranking.singles(evidence, files, limit=10, min_score=0.0) == files
    evidence = near(0.5, 0.2)
    files = rank(evidence)
    assert ranking.singles(evidence, files, limit=10, min_score=0.0) == files


# what is left out


def test_the_same_content_at_two_paths_is_shown_once():
    evidence = near(0.5, 0.5, 0.3, 0.3)
    assert found(rank(evidence, paths=("b", "a", "c", "d"), twins=[7, 7, 8, 9])) == [1, 2, 3]
    assert found(rank(evidence, paths=("b", "a", "c", "d"), twins=[7, 7, 8, 8])) == [1, 2]


def page_of(**sums: float) -> list[str]:
    paths = [name.replace("__", ".").replace("_in_", "/") for name in sums]
    own = dict(enumerate(sums.values()))
    return [paths[file] for file in ranking.page(own, np.arange(len(own), dtype=np.int32), paths, 3)]


def test_what_implements_comes_before_what_declares_where_it_is_close():
    assert page_of(panel__h=3.0, other__c=2.5, src_in_panel__c=2.0, more__c=1.0) == [
        "src/panel.c",
        "panel.h",
        "other.c",
    ]
    assert page_of(panel__h=3.0, other__c=2.5, panel__c=1.0) == ["panel.h", "other.c", "panel.c"]
    assert page_of(panel__h=3.0, other__c=2.5, shape__c=2.4) == ["panel.h", "other.c", "shape.c"]
    assert page_of(panel__c=3.0, panel__h=2.5) == ["panel.c", "panel.h"]


def test_twins_do_not_use_up_the_limit():
    count = 300
    files = make_files(*((f"{i}.py", 1, 10) for i in range(count)))
    evidence = evidence_of(files, near=[(i, i, 0.5 - i / 1000) for i in range(count)])
    twins = [1] * 50 + list(range(2, count - 48))
    paths = tuple(f"{i:03}" for i in range(count))
    assert found(rank(evidence, paths=paths, twins=twins, limit=4)) == [0, 50, 51, 52]


def test_the_limit_and_the_least_score_hold():
    evidence = near(0.7, 0.6, 0.4, 0.2)
    every = rank(evidence)
    assert found(every) == [0, 1, 2, 3]
    assert rank(evidence, limit=2) == every[:2]
    assert rank(evidence, min_score=every[1].score) == every[:2]
    assert rank(evidence, min_score=1.0) == []
    assert rank(evidence, limit=0) == []


# scores

COSINES = st.lists(st.floats(-1, 1, width=32), max_size=4)
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 7), st.integers(1, 30), st.booleans(), st.integers(1, 40)),
    max_size=12,
    unique_by=lambda row: row[:2],
)


@given(COSINES, ROWS, st.sets(st.integers(0, 7)), st.booleans())
def test_scores_are_shares_that_never_rise(cosines, rows, defining, is_name):
    """Chunk c is of file c // 2."""
    evidence = evidence_of(
        FILES,
        "open_door" if is_name else "open door",
        postings=[(term, chunk, chunk // 2, *rest) for term, chunk, *rest in rows],
        near=[(2 * i, i, cosine) for i, cosine in enumerate(cosines)],
        definitions=[DefinitionSite(chunk, chunk // 2, exact=chunk % 2 > 0) for chunk in defining],
    )
    ranked = rank(evidence)
    assert all(0 <= item.score <= 1 for item in ranked)
    assert all(one.score >= other.score or evidence.alone[other.file] for one, other in pairwise(ranked))
    assert set(found(ranked)) == set(evidence.file.tolist())
    singles = ranking.singles(evidence, ranked, limit=100, min_score=0.0)
    assert all(0 <= item.score <= 1 for item in singles)
    assert len(singles) == len(evidence.chunk_id)


def test_scores_never_rise_among_files_that_are_as_good_as_equal():
    """The second by path is ahead by less than what counts as a difference."""
    evidence = near(0.5, 0.5)
    size = evidence.features["size"].copy()
    size[1] -= np.float32(2e-6)  # the more, the worse
    sums = ranking.total(replace(evidence, features={"size": size}))
    assert 0 < sums[1] - sums[0] < 5e-7
    ranked = rank(replace(evidence, features=evidence.features | {"size": size}))
    assert ranked[0].score >= ranked[1].score


# reasons


@given(COSINES, ROWS)
def test_reasons_add_up(cosines, rows):
    """To the file's sum, but for what is too little to name."""
    evidence = evidence_of(
        FILES,
        postings=[(term, chunk, chunk // 2, *rest) for term, chunk, *rest in rows],
        near=[(2 * i, i, cosine) for i, cosine in enumerate(cosines)],
    )
    sums = ranking.total(evidence)
    for item in rank(evidence):
        assert item.reasons == ranking.reasons(evidence, item.file)
        parts = [part for _, part in item.reasons]
        assert sum(parts) == pytest.approx(float(sums[item.file]), abs=0.005 * len(WEIGHTS))
        assert [abs(part) for part in parts] == sorted(map(abs, parts), reverse=True)
        assert all(abs(part) > 0.005 for part in parts)


def test_every_feature_has_a_weight_and_every_weight_a_feature():
    features = set(evidence_of(FILES).features)
    assert set(WEIGHTS) == features
    assert {*WEIGHTS, *REPORT_WEIGHTS} == {each.name for each in FEATURES if each.weights}


def test_a_feature_without_a_weight_is_an_error():
    evidence = evidence_of(FILES)
    evidence.features["unheard_of"] = evidence.features["code"]
    with pytest.raises(KeyError, match="unheard_of"):
        ranking.total(evidence)


# scores of hits


def test_a_file_answers_more_likely_the_more_of_the_question_it_says():
    evidence = near(0.5, 0.2)
    assert score(evidence, 0, said=0.4) < score(evidence, 0, said=0.9)


def test_words_that_the_source_lacks_make_every_file_less_likely():
    rows = [(term, 1, 0, 1, False, 10) for term in (0, 1)]
    known = evidence_of(FILES, postings=rows, near=[(1, 0, 0.5)])
    lacking = replace(known, in_source=np.array([True, False]))
    assert score(lacking, 0) < score(known, 0)


def test_a_file_far_behind_does_not_live_off_the_first():
    first, *_, last = rank(near(0.7, 0.3, 0.2, 0.1))
    assert last.score < first.score / 4


def test_a_test_is_less_likely_the_answer_unless_it_is_asked_for():
    evidence = near(0.5, 0.5)
    outside = evidence.features | {"test_or_doc": np.array([1, 0, 0, 0], np.float32)}
    assert score(replace(evidence, features=outside), 0) < score(evidence, 0)


def among(paths: Sequence[str], asked: str = "", has: Collection[int] = ()) -> ranking.InNumbers:
    languages = {file: language_of(path) or "" for file, path in enumerate(paths)}
    return ranking.InNumbers.among(dict(enumerate(paths)), languages, frozenset(asked.split()), has)


def shown_of(*paths: str, asked: str = "", has: Collection[int] = ()) -> list[str]:
    return [paths[file] for file in ranking.one_of_a_kind(range(len(paths)), among(paths, asked, has))]


def test_of_files_that_come_in_numbers_one_of_each_kind_stands_before_the_others():
    found = ("app.py", "deps/a/a.c", "deps/b/b.c", "CHANGES.rst", "door.py")
    assert shown_of(*found) == ["app.py", "deps/a/a.c", "CHANGES.rst", "door.py", "deps/b/b.c"]
    assert shown_of(*found, asked="vendored app") == list(found)
    assert shown_of(*found[1:]) == list(found[1:])  # the question is about them
    assert shown_of() == []


@pytest.mark.parametrize(
    "path",
    [
        "po/de.po",
        "config/locales/en.yml",
        "Door/Resources.de.resx",
        "ios/de.lproj/Door.strings",
        "spec/cassettes/door.yml",
        "db/seeds/doors.json",
        "words/stopwords.txt",
    ],
)
def test_data_stand_behind_all_source_unless_they_are_asked_for_or_alone_have_it(path: str):
    assert shown_of(path, "door.py", "README.md") == ["door.py", "README.md", path]
    words = {"po/de.po": "translations", "config/locales/en.yml": "locale"}
    if path in words:
        assert shown_of(path, "door.py", asked=words[path]) == [path, "door.py"]
    assert shown_of(path, "door.py", has={0}) == [path, "door.py"]
    assert shown_of(path, "door.py", has={0, 1}) == ["door.py", path]


def test_a_file_that_alone_has_a_word_of_the_question_is_among_the_first():
    alone = np.isin(range(13), [1, 11])
    assert ranking.alone_among_the_first(range(13), alone) == [*range(7), 11, *range(7, 11), 12]


def test_copies_stand_behind_unless_they_are_asked_for():
    paths = ("requests/packages/urllib3/util.py", "requests/util.py", "dist/util.min.js", "po/de.po")
    sums = {0: 5.0, 1: 4.0, 2: 3.0, 3: 5.0}
    assert ranking.copies_behind(sums, among(paths, "retry")) == {0: 2.0, 1: 4.0, 2: 0.0, 3: 2.0}
    assert ranking.copies_behind(sums, among(paths, "urllib3")) == sums | {2: 0.0, 3: 2.0}
