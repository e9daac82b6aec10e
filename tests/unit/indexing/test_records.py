from __future__ import annotations

import numpy as np
import pytest

from gitrag.embedding.draft import Drafter
from gitrag.embedding.text import chunk_text, path_text, text_key
from gitrag.indexing.records import (
    WORDS_ONLY,
    left_out_record,
    prepare_all,
    prepare_paths,
)
from gitrag.model import Skip
from gitrag.store.content import INDEXED, ContentRecord
from gitrag.store.vectors import shrink
from gitrag.words import terms
from gitrag.words.path_traits import Trait

SOURCE = b'def send(request):\n    """Send it."""\n    return request\n\n\ndef receive():\n    pass\n'
MINIFIED = b"var a=1;" * 300
LIMIT = 1 << 20


def prepare(content_id: int, data: bytes, language: str | None, max_bytes: int) -> ContentRecord:
    [record] = prepare_all([(content_id, data, language, max_bytes, b"")])
    return record


def stored(record: ContentRecord, chunk: int) -> dict[int, int]:
    """The terms of one of a record's chunks, frequencies as stored."""
    start = int(record.term_counts[:chunk].sum())
    end = start + int(record.term_counts[chunk])
    return dict(zip(record.terms[start:end].tolist(), record.frequencies[start:end].tolist(), strict=True))


def frequencies(record: ContentRecord, chunk: int) -> dict[int, int]:
    return {term: frequency & (terms.IN_NAME - 1) for term, frequency in stored(record, chunk).items()}


def in_name(record: ContentRecord, chunk: int) -> set[int]:
    return {term for term, frequency in stored(record, chunk).items() if frequency & terms.IN_NAME}


def test_each_chunk_has_its_terms_its_length_and_the_key_of_its_text():
    record = prepare(7, SOURCE, "python", LIMIT)
    assert (record.content_id, record.state) == (7, INDEXED)
    assert [chunk.name for chunk in record.chunks] == ["send", "receive"]
    assert [key.hex() for key in record.text_keys] == [text_key(chunk_text(c)) for c in record.chunks]
    assert terms.hashed("request") in frequencies(record, 0)
    assert terms.hashed("request") not in frequencies(record, 1)
    assert record.lengths.tolist() == [sum(frequencies(record, i).values()) for i in range(2)]
    assert record.term_counts.sum() == len(record.terms) == len(record.frequencies)


def test_a_name_counts_beyond_its_place_in_the_text():
    found = frequencies(prepare(1, SOURCE, "python", LIMIT), 0)
    assert found[terms.hashed("send")] == 2 + terms.NAME_WEIGHT  # the definition's line and the docstring
    assert found[terms.hashed("request")] == 2


def test_the_terms_of_a_name_are_marked():
    record = prepare(1, SOURCE.replace(b"receive", b"Receiver_of"), "python", LIMIT)
    assert in_name(record, 0) == {terms.hashed("send")}
    assert in_name(record, 1) == {terms.hashed(word) for word in ("receiver_of", "receiv", "of")}


def test_each_text_has_a_draft_of_its_vector():
    record = prepare(1, SOURCE, "python", LIMIT)
    expected = shrink(Drafter.load().draft([chunk_text(chunk) for chunk in record.chunks]))
    assert record.drafts.dtype == np.int8
    np.testing.assert_allclose(record.drafts, expected, atol=1)  # a unit may round either way


@pytest.mark.parametrize("language", sorted(WORDS_ONLY))
def test_data_is_found_by_words_and_never_embedded(language: str):
    record = prepare(1, b"alpha,beta\n1,2\n", language, LIMIT)
    assert record.text_keys == (b"",) * len(record.chunks)
    assert record.drafts.shape == (0, 384)
    assert terms.hashed("alpha") in frequencies(record, 0)


@pytest.mark.parametrize(
    ("data", "language", "why"),
    [
        (b"\x00\x01", None, Skip.BINARY),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", None, Skip.LFS),
        (b"# @generated\nx = 1\n", "python", Skip.GENERATED),
        (MINIFIED, "javascript", Skip.MINIFIED),
        (MINIFIED, "css", Skip.MINIFIED),
        (b"x" * (LIMIT + 1), None, Skip.TOO_LARGE),
    ],
    ids=lambda value: str(value) if isinstance(value, Skip) else "",
)
def test_content_that_is_left_out_has_a_reason_and_nothing_else(data: bytes, language: str, why: Skip):
    record = prepare(1, data, language, LIMIT)
    assert (record.state, record.chunks, record.text_keys) == (why.value, (), ())
    assert [len(column) for column in (record.terms, record.frequencies, record.lengths)] == [0, 0, 0]
    left_out = left_out_record(1, why)
    assert (left_out.state, left_out.terms.dtype) == (record.state, record.terms.dtype)
    assert left_out.frequencies.dtype == record.frequencies.dtype
    assert left_out.drafts.shape == record.drafts.shape == (0, 384)


def test_long_lines_are_minified_in_scripts_alone():
    assert prepare(1, MINIFIED, "python", LIMIT).state == INDEXED


def test_an_empty_content_is_indexed_and_has_no_chunks():
    record = prepare(1, b"", "python", LIMIT)
    assert (record.state, record.chunks, len(record.terms)) == (INDEXED, (), 0)


def test_preparing_together_and_alone_is_the_same():
    jobs = [
        (1, SOURCE, "python", LIMIT),
        (2, b"alpha,beta\n1,2\n", "csv", LIMIT),
        (3, b"\x00\x01", None, LIMIT),
        (4, b"# Title\n\nWords.\n", "markdown", LIMIT),
    ]
    together, alone = prepare_all([(*job, b"") for job in jobs]), [prepare(*job) for job in jobs]
    for one, other in zip(together, alone, strict=True):
        assert (one.chunks, one.text_keys) == (other.chunks, other.text_keys)
        assert one.terms.tolist() == other.terms.tolist()
        assert one.frequencies.tolist() == other.frequencies.tolist()
        np.testing.assert_allclose(one.drafts, other.drafts, atol=1)


def hashes(*words: str) -> set[int]:
    return set(map(terms.hashed, words))


def test_a_path_is_known_by_its_words():
    [record] = prepare_paths(["src/httpClient/retry_all.py"])
    assert record.path == "src/httpClient/retry_all.py"
    assert record.text_key.hex() == text_key(path_text("src/httpClient/retry_all.py"))
    assert set(record.name_terms) == hashes("retri", "all")
    assert record.top == terms.hashed("src")
    expected = shrink(Drafter.load().draft([path_text(record.path)]))[0]
    np.testing.assert_allclose(record.draft, expected, atol=1)


@pytest.mark.parametrize(
    ("path", "name", "top"),
    [
        ("Makefile", ["makefil"], ""),
        (".gitignore", ["gitignor"], ""),
        ("a.b/c.d.py", ["c", "d"], "a.b"),
        ("tests/x/tests.py", ["test"], "tests"),
        ("\udce9/\udcff.py", [], "\udce9"),
        ("-/_.py", [], "-"),
        ("lib/http_client/index.ts", ["http", "client"], "lib"),
        ("src/flask/__init__.py", ["flask"], "src"),
        ("axum/src/extract/mod.rs", ["extract"], "axum"),
        ("lua/lazy/init.lua", ["lazi"], "lua"),
        ("index.js", ["index"], ""),
        ("db/init.sql", ["init"], "db"),
    ],
)
def test_any_path_has_a_record(path: str, name: list[str], top: str):
    [record] = prepare_paths([path])
    assert set(record.name_terms) == hashes(*name)
    assert record.top == terms.hashed(top)


def test_a_path_says_what_kind_of_file_it_names():
    records = prepare_paths(["src/session.py", "tests/test_session.py", "docs/conf.py"])
    assert [record.traits for record in records] == [0, Trait.TEST, Trait.DOCUMENT]


def test_no_paths_no_records():
    assert prepare_paths([]) == []


def test_a_content_that_fails_costs_itself_only():
    broken = (2, None, "python", 1_000, b"")  # no bytes: whatever is done with them fails
    first, second, third = prepare_all(
        [
            (1, b"def one(): pass\n", "python", 1_000, b""),
            broken,
            (3, b"def three(): pass\n", "python", 1_000, b""),
        ]
    )
    assert [first.state, third.state] == ["indexed", "indexed"]
    assert second.state.startswith("unreadable: TypeError")
    assert second.chunks == ()


def test_texts_that_the_store_has_are_not_drafted_again():
    [whole] = prepare_all([(1, SOURCE, "python", LIMIT, b"")])
    [record] = prepare_all([(1, SOURCE, "python", LIMIT, whole.text_keys[0])])
    assert record.text_keys == whole.text_keys
    assert record.drafted == whole.text_keys[1:]
    np.testing.assert_allclose(record.drafts, whole.drafts[1:], atol=1)
