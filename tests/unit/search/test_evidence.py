"""Rows turned into features, on columns small enough to work out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, log1p

import numpy as np
import pytest

from gitrag.search.evidence import Evidence
from gitrag.search.means import _best_first
from gitrag.search.question import read
from gitrag.store.candidates import DefinitionSite
from gitrag.words import terms
from tests.unit.search.columns import evidence_of, make_files

TWO = make_files(("src/door.py", 2, 30), ("src/window.py", 1, 30))
MORE = make_files(("src/door.py", 3, 30), ("src/window.py", 1, 30), ("src/wall.py", 4, 30))


def feature(evidence: Evidence, name: str) -> list[float]:
    return evidence.features[name].tolist()


# words


def test_bm25_is_okapis():
    """Three chunks, of 20 terms in the mean; two of them have the first term."""
    found = evidence_of(TWO, postings=[(0, 11, 0, 2, False, 10), (0, 13, 1, 1, False, 30)])
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 10 / 20))
    second = idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 30 / 20))
    assert (found.chunk_id.tolist(), found.file.tolist()) == ([11, 13], [0, 1])
    assert found.bm25.tolist() == pytest.approx([first, second])
    assert feature(found, "bm25") == pytest.approx([1, second / first])


def test_a_chunks_terms_add_up():
    rows = [(0, 11, 0, 2, False, 10), (1, 11, 0, 1, False, 10), (1, 12, 0, 1, False, 10)]
    apart = [evidence_of(TWO, postings=[row for row in rows if row[0] == term]) for term in (0, 1)]
    both = evidence_of(TWO, postings=rows)
    assert both.chunk_id.tolist() == [11, 12]
    assert both.bm25[0] == pytest.approx(apart[0].bm25[0] + apart[1].bm25[0])
    assert both.bm25[1] == pytest.approx(apart[1].bm25[1])


def test_a_file_has_the_mean_of_its_five_best_chunks():
    rows = [
        (0, chunk, 0, often, False, 10) for chunk, often in ((1, 6), (2, 5), (3, 4), (4, 3), (5, 2), (6, 1))
    ]
    found = evidence_of(
        make_files(("a.py", 6, 60), ("b.py", 1, 10)), postings=[*rows, (0, 7, 1, 6, False, 10)]
    )
    of_a, of_b = feature(found, "bm25")
    assert of_b == 1
    assert of_a == pytest.approx(found.bm25[:5].mean() / found.bm25[6])


def test_the_best_of_each_file_come_first():
    """As by sorting two columns, whatever the signs of the values."""
    random = np.random.default_rng(1)
    values = (random.random(500) - 0.5).astype(np.float32)
    values[:6] = [0.0, -0.0, -1.0, 1.0, 1e-30, -1e-30]
    file = random.integers(0, 40, 500).astype(np.int32)
    order = np.lexsort((-values, file))
    of_file, best_first = _best_first(values, file)
    assert of_file.tolist() == file[order].tolist()
    assert best_first.tolist() == values[order].tolist()


def test_a_file_is_also_one_document():
    found = evidence_of(
        TWO, postings=[(0, 11, 0, 1, False, 10), (0, 12, 0, 1, False, 20), (0, 13, 1, 1, False, 30)]
    )
    assert feature(found, "bm25_file") == pytest.approx([1, (1 * 2.2 / 2.2) / (2 * 2.2 / 3.2)])


def test_coverage_is_the_share_of_the_questions_information():
    """A term that is nowhere counts as found once, so that it is missed."""
    found = evidence_of(TWO, postings=[(0, 11, 0, 2, False, 10), (0, 13, 1, 1, False, 30)])
    common, unknown = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5)
    assert found.coverage.tolist() == pytest.approx([common / (common + unknown)] * 2)
    whole = evidence_of(TWO, postings=[(0, 11, 0, 1, False, 10), (1, 12, 0, 1, False, 10)])
    assert whole.coverage.tolist() == pytest.approx([1, 0])


# meaning


@pytest.mark.parametrize(
    ("question", "paths", "has", "expected"),
    [
        ("where is payNow used", ["page.html", "a.py", "b.py"], [0], [0]),
        ("where is payNow used", ["a.py", "b.py", "c.py", "d.py"], [0, 1, 2], [0, 1, 2]),
        ("where is payNow used", ["a.py", "b.py", "c.py", "d.py"], [0, 1, 2, 3], []),
        ("sign in with GitHub", ["a.py", "README.md", "tests/test_a.py"], [1, 2], []),
        ("payNow", ["a.py", "README.md", "b.py"], [1], [1]),
    ],
    ids=["one has it", "three", "more", "a product's name", "asked alone"],
)
def test_a_name_that_hardly_another_file_has(question, paths, has, expected):
    """A README names products that the code has nothing of: only where it is all that is asked it counts."""
    term = read(question).is_part.index(False)
    found = evidence_of(
        make_files(
            *((path, 1, 10) for path in paths),
            languages=[
                {"md": "markdown", "html": "html"}.get(path.rpartition(".")[2], "python") for path in paths
            ],
        ),
        question,
        postings=[(term, 10 + file, file, 1, False, 10) for file in has],
    )
    assert np.flatnonzero(found.features["rare_name"]).tolist() == expected


def test_chunks_that_are_not_near_count_as_the_least():
    """The first file has three chunks, of which one was near; the last has four, of which none was."""
    found = evidence_of(MORE, near=[(11, 0, 0.8), (14, 1, 0.2)])
    assert feature(found, "cosine") == pytest.approx([(0.8 + 0.2 + 0.2) / 3, 0.2, 0.2])
    expected = [log(1 + 2 * exp(-12)) / 20, log(exp(-12)) / 20, log(4 * exp(-12)) / 20]
    assert feature(found, "cosine_sum") == pytest.approx(expected, abs=1e-4)
    assert feature(found, "cosine_best") == pytest.approx([log1p(1), log1p(1), 0])
    assert found.cosine.tolist() == pytest.approx([0.8, 0.2])


def test_a_chunk_that_only_has_words_counts_as_the_least_near_too():
    near = [(11, 0, 0.8), (14, 1, 0.2)]
    alone = evidence_of(MORE, near=near)
    found = evidence_of(MORE, near=near, postings=[(0, 12, 0, 1, False, 10)])
    assert found.cosine.tolist() == pytest.approx([0.8, -1, 0.2])
    for name in ("cosine", "cosine_sum", "cosine_best"):
        assert feature(found, name) == pytest.approx(feature(alone, name))


def test_a_file_has_the_mean_of_its_five_nearest_chunks():
    near = [(i, 0, 0.9 - i / 10) for i in range(7)]
    found = evidence_of(make_files(("a.py", 7, 70)), near=near)
    assert feature(found, "cosine") == pytest.approx([0.7])


def test_fifty_chunks_are_the_best():
    near = [(i, i % 2, 0.9 - i / 1000) for i in range(40)] + [(100 + i, 2, 0.5 - i / 1000) for i in range(40)]
    found = evidence_of(MORE, near=near)
    assert feature(found, "cosine_best") == pytest.approx([log1p(20), log1p(20), log1p(10)])


# names


def test_the_words_of_a_files_name():
    """A name is asked for when the question has all of its words; `longer` has three."""
    files = make_files(("door.py", 1, 10), ("longer.py", 1, 10), ("c.py", 1, 10))
    files = replace(files, name_terms=np.array([1, 3, 1], np.uint8))
    found = evidence_of(files, name_words=[(0, 0), (0, 1), (1, 1)])
    assert feature(found, "file_name") == [1, 0, 0]
    assert feature(found, "file_name_share") == pytest.approx([0.5, 0, 0])
    assert feature(found, "file_name_part") == [0, 1, 0]
    whole = evidence_of(files, "door", name_words=[(0, 0)])
    assert feature(whole, "file_name_share") == pytest.approx([1, 0, 0])


def test_a_short_form_in_a_files_name_stands_for_its_words():
    """`od` are the initials of both words, and one word of the name."""
    [place] = [2 + i for i, (short, _) in enumerate(read("open door").shorts) if short == terms.hashed("od")]
    found = evidence_of(TWO, name_words=[(place, 0), (0, 1)])
    assert feature(found, "file_name") == [1, 1]
    assert feature(found, "file_name_share") == pytest.approx([1, 0.5])


def test_words_of_definitions_names():
    found = evidence_of(TWO, postings=[(0, 11, 0, 4, True, 10), (1, 13, 1, 4, False, 10)])
    assert feature(found, "in_names") == pytest.approx([0.5, 0])


def test_a_whole_identifier_is_not_a_part():
    """The words of `open_door` are `open_door`, `open` and `door`; a path has the last two at most."""
    found = evidence_of(TWO, "open_door", name_words=[(1, 0), (2, 0)])
    assert feature(found, "file_name_share") == pytest.approx([1, 0])


def test_a_definition_is_worth_most_as_it_is_written():
    definitions = [
        DefinitionSite(11, 0, exact=True),
        DefinitionSite(12, 0, exact=False),
        DefinitionSite(13, 1, exact=False),
    ]
    found = evidence_of(TWO, "open_door", definitions=definitions)
    assert feature(found, "defines") == pytest.approx([1, 0.5])
    assert feature(found, "defines_it") == pytest.approx([1, 0.5])
    assert found.defines.tolist() == pytest.approx([1, 0.5, 0.5])
    assert found.worth[0] > found.worth[1], "of a file's chunks too"
    asked_for = evidence_of(TWO, "where is open_door used", definitions=definitions)
    assert feature(asked_for, "defines") == pytest.approx([1, 0.5])
    assert feature(asked_for, "defines_it") == [0, 0]


# nature


def test_what_a_file_is_counts_unless_it_is_asked_for():
    paths = ("tests/door.py", "docs/door.md", "examples/door.py", "src/door.py", ".ci/door.py")
    languages = ["python", "markdown", "python", "python", "python"]
    files = make_files(*((path, 1, 10) for path in paths), languages=languages)
    plain = evidence_of(files)
    assert feature(plain, "test_or_doc") == [1, 1, 1, 0, 0]
    assert feature(plain, "support") == [0, 0, 0, 0, 1]
    assert feature(plain, "code") == [1, 0, 1, 1, 1]
    assert feature(plain, "prose") == [0, 1, 0, 0, 0]
    assert feature(evidence_of(files, "tests of the door"), "test_or_doc") == [0, 1, 1, 0, 0]
    guide = evidence_of(files, "how to open the door")
    assert feature(guide, "test_or_doc") == [1, 0, 1, 0, 0]
    assert [feature(guide, name) for name in ("code", "prose")] == [[0] * 5] * 2


def test_a_directory_counts_by_the_repositorys_own_code():
    """A tenth of the most is enough; tests, examples and documents are none."""
    files = make_files(
        ("src/a.py", 1, 600), ("lib/b.go", 1, 30), ("examples/c.py", 1, 99), ("test/d.py", 1, 9), ("x", 1, 5),
        languages=["python", "go", "python", "python", ""],
    )  # fmt: skip
    found = evidence_of(files)
    assert feature(found, "top_share") == pytest.approx([1, 0.5, 0, 0, 0])
    assert feature(found, "size") == pytest.approx([log(2)] * 5)


def test_what_is_as_large_as_a_library_is_product_code_beside_whatever_is_larger():
    files = make_files(
        ("drivers/a.py", 1, 90_000_000), ("mm/b.py", 1, 100_000), ("c/c.py", 1, 50_000), ("d/d.py", 1, 200)
    )
    assert feature(evidence_of(files), "top_share") == pytest.approx([1, 1, 0.5, 0.002])


# nothing

NOTHING = make_files()
NAMES = set(evidence_of(TWO).features)


@pytest.mark.parametrize(
    ("files", "question"),
    [(NOTHING, "open door"), (NOTHING, ""), (TWO, ""), (TWO, "open door"), (TWO, "?")],
    ids=["no files", "nothing at all", "no words", "nothing found", "no terms"],
)
def test_nothing_has_features_too(files, question):
    found = evidence_of(files, question)
    assert set(found.features) == NAMES
    for column in found.features.values():
        assert column.shape == (len(files),)
        assert np.isfinite(column).all()
    assert found.coverage.shape == (len(files),)
    columns = (found.chunk_id, found.file, found.bm25, found.cosine, found.defines, found.worth)
    assert [len(column) for column in columns] == [0] * 6


def test_without_words_meaning_alone_speaks():
    found = evidence_of(TWO, "", near=[(11, 0, 0.8), (13, 1, 0.2)])
    assert [feature(found, name) for name in ("bm25", "bm25_file")] == [[0, 0]] * 2
    assert feature(found, "cosine")[0] > feature(found, "cosine")[1]
    assert found.bm25.tolist() == [0, 0]


def test_without_vectors_words_alone_speak():
    found = evidence_of(TWO, postings=[(0, 11, 0, 1, False, 10)])
    assert feature(found, "cosine") == [0, 0]
    assert feature(found, "cosine_best") == [0, 0]
    assert found.cosine.tolist() == [-1]
    assert feature(found, "bm25") == pytest.approx([1, 0])


# chunks


def test_the_chunk_to_show_first_is_the_definition_then_what_has_most_of_both():
    found = evidence_of(
        make_files(("a.py", 4, 40)),
        postings=[
            (0, 1, 0, 3, False, 10),
            (0, 2, 0, 1, False, 10),
            (0, 3, 0, 1, False, 10),
            (1, 4, 0, 1, True, 9),
        ],
        near=[(1, 0, 0.5), (2, 0, 0.5), (3, 0, 0.4)],
        definitions=[DefinitionSite(4, 0, exact=True)],
    )
    worth = dict(zip(found.chunk_id.tolist(), found.worth.tolist(), strict=True))
    assert sorted(worth, key=lambda chunk: -worth[chunk]) == [4, 1, 2, 3]


def test_the_whole_of_a_qualified_name_goes_before_its_parts():
    definitions = [
        DefinitionSite(11, 0, exact=True),
        DefinitionSite(12, 0, exact=True, parts=2),
        DefinitionSite(13, 1, exact=True),
    ]
    found = evidence_of(TWO, "Door.open", postings=[(0, 11, 0, 9, True, 1)], definitions=definitions)
    assert feature(found, "defines_it") == pytest.approx([1, 0.5])
    assert found.chunk_id[found.worth.argmax()] == 12
    alone = evidence_of(TWO, "Door.open", definitions=definitions[2:])
    assert feature(alone, "defines_it") == pytest.approx([0, 1]), "there is no better one"


def test_a_chunk_of_two_files_speaks_for_both():
    found = evidence_of(TWO, postings=[(0, 11, 0, 1, False, 10), (0, 11, 1, 1, False, 10)])
    assert (found.chunk_id.tolist(), found.file.tolist()) == ([11, 11], [0, 1])
    assert found.bm25[0] == found.bm25[1]
