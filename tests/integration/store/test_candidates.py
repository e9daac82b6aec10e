"""What a store gives a search: the files of a scope, and the rows that speak for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from gitrag.model import Chunk
from gitrag.store import candidates, content, nearby, scopes, vectors, views
from gitrag.store.memo import Memo
from gitrag.store.scopes import Filters, SearchScope
from gitrag.store.views import EntryRecord
from gitrag.words.path_traits import Trait
from tests.integration.store.filling import (
    BLOB,
    OTHER,
    draft,
    fill,
    names_of,
    open_scope,
    open_store,
    paths_of,
    record,
    unit,
)

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

# what a scope holds


def test_a_scope_says_what_its_files_are(tmp_path: Path):
    store = open_store(tmp_path)
    fill(
        store,
        {"tests/door.py": BLOB, "lib/wall.py": OTHER, "lib/wall2.py": OTHER, "empty.py": "c" * 40},
        {BLOB: [("send", "one", [1, 2]), ("recv", "two", [2, 3])], OTHER: [("close", "three", [4])]},
    )
    with store.read() as db:
        scope = open_scope(db)
        files = scope.files
        assert paths_of(db, scope) == ["tests/door.py", "lib/wall.py", "lib/wall2.py"]
        assert len(files) == 3
        assert files.content_id[1] == files.content_id[2] != files.content_id[0]
        assert files.language.tolist() == ["python"] * 3
        assert files.traits.tolist() == [Trait.TEST, 0, 0]
        assert files.top.tolist() == [5, 3, 3]
        assert files.name_terms.tolist() == [4, 4, 5]
        assert files.chunks.tolist() == [2, 1, 1]
        assert files.length.tolist() == [4, 1, 1]


def test_words_meaning_and_names_find_their_chunks(tmp_path: Path):
    store = open_store(tmp_path)
    fill(
        store,
        {"a.py": BLOB, "b.py": OTHER},
        {BLOB: [("send", "one", [1, 2]), ("recv", "two", [2, 3])], OTHER: [("close", "three", [4])]},
    )
    encoded = unit(3, 7)
    with store.write("test") as db:
        texts = [text for text in vectors.pending(db, 10) if isinstance(text[1], Chunk)]
        vectors.write(db, [text_id for text_id, _ in texts], encoded)
    with store.read() as db:
        scope = open_scope(db)
        assert scope.files.chunks.sum() == 3
        stored = content.read_chunks(db, range(1, 4))
        words = candidates.postings(db, scope, [2, 9, 1])
        rows = zip(
            *(words.term.tolist(), names_of(db, words.chunk_id), words.file.tolist()),
            *(words.frequency.tolist(), words.in_name.tolist(), words.length.tolist()),
            strict=True,
        )
        assert sorted(rows) == [
            (0, "recv", 0, 1, True, 2),
            (0, "send", 0, 1, False, 2),
            (2, "send", 0, 1, True, 2),
        ]
        near = nearby.nearest(db, scope, encoded[1], 10)
        assert stored[int(near.chunk_id[0])] == texts[1][1]
        named = candidates.definitions(db, scope, ["CLOSE", "send"])
        assert [(stored[row.chunk_id].name, row.file, row.exact) for row in named] == [
            ("send", 0, True),
            ("close", 1, False),
        ]
        functions, classes = (
            open_scope(db, filters=Filters(kinds=(kind,))) for kind in ("function", "class")
        )
        assert candidates.definitions(db, functions, ["CLOSE", "send"]) == named
        assert candidates.definitions(db, classes, ["CLOSE", "send"]) == []
        assert len(candidates.postings(db, classes, [1, 2]).term) == 0
        assert len(nearby.nearest(db, classes, encoded[1], 10).chunk_id) == 0


def test_words_of_names_are_found_in_the_scope_alone(tmp_path: Path):
    """Each letter is a word here."""
    store = open_store(tmp_path)
    fill(
        store,
        {"a/b.py": BLOB, "b/a.py": BLOB, "b/b.py": OTHER},
        {BLOB: [("send", "one", [1])], OTHER: [("close", "three", [4])]},
    )

    def found(db: Connection, scope: SearchScope, letters: str) -> list[tuple[str, str]]:
        words = candidates.name_words(db, scope, [ord(letter) for letter in letters])
        paths = paths_of(db, scope)
        rows = zip(words.term.tolist(), words.file.tolist(), strict=True)
        return sorted((letters[term], paths[file]) for term, file in rows)

    with store.read() as db:
        assert found(db, open_scope(db), "xa") == [("a", "b/a.py")]
        every = dict(scopes.all_paths(db))
        some = [path_id for path_id, path in every.items() if path.startswith("b/")]
        assert found(db, open_scope(db, paths=some), "ab") == [("a", "b/a.py"), ("b", "b/b.py")]


def test_a_definition_is_found_by_any_of_its_names(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("send", "one", [1]), ("sender", "two", [1])]})
    with store.write("test") as db:
        db.execute("UPDATE chunks SET qualified_name = 'Net.Session.send' WHERE name = 'send'")
    with store.read() as db:
        scope = open_scope(db)
        for name, exact in [
            ("send", True),
            ("Session.send", True),
            ("Net.Session.send", True),
            ("Send", False),
            ("session.SEND", False),
        ]:
            assert [row.exact for row in candidates.definitions(db, scope, [name])] == [exact], name
        for name in ("Other.send", "ession.send", "sen", "Session", "", "."):
            assert candidates.definitions(db, scope, [name]) == [], name


def test_names_of_a_large_index_are_prepared_where_they_are_asked_for_often(tmp_path: Path):
    """One question looks names up a few times, for which their hashes would take longer to read and sort."""
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("send", "one", [1]), ("recv", "two", [2])]})
    with store.read() as db:
        memo = Memo(lasting=True, vectors=store.vector_cache)
        scope = open_scope(db, memo=memo)
        alone = candidates.definitions(db, open_scope(db), ["send"])
        prepared = []
        for _ in range(12):
            assert candidates.definitions(db, scope, ["send"]) == alone != []
            assert candidates.definitions(db, scope, ["other"]) == []
            prepared.append(memo.known("names") is not None)
        assert prepared == sorted(prepared)
        assert (prepared[1], prepared[-1]) == (False, True)


def test_a_term_asked_for_twice_is_kept_once_and_found_twice(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("send", "one", [1, 2]), ("recv", "two", [2, 3])]})
    with store.read() as db:
        memo = Memo(lasting=True, vectors=store.vector_cache)
        for terms in ([2, 1, 2], [2, 3, 2, 9], [2, 1, 2]):
            few = candidates.with_terms(db, "postings", terms, memo)
            plain = candidates.with_terms(db, "postings", terms, Memo())
            rows = [
                sorted(zip(*(each[name].tolist() for name in sorted(plain)), strict=True))
                for each in (few, plain)
            ]
            assert rows[0] == rows[1]
            assert set(few) == set(plain)


# vectors and drafts


@pytest.mark.parametrize("others", [2, 40])
def test_a_path_without_a_vector_leaves_the_cosines_right(tmp_path: Path, others: int):
    """A file that was made a moment ago, and the best hit of all."""
    store = open_store(tmp_path)
    names = [f"f{i}" for i in range(others)]
    fill(
        store,
        {"old.py": OTHER, "new.py": BLOB},
        {OTHER: [(name, name, [1]) for name in names], BLOB: [("best", "best", [1])]},
    )
    encoded = unit(others + 2, 5)
    with store.write("test") as db:
        texts = [text for text in vectors.pending(db, 200) if text[1] != "new.py"]
        vectors.write(db, [text_id for text_id, _ in texts], encoded)
        db.execute("DELETE FROM drafts")
    of = {
        text[1] if isinstance(text[1], str) else text[1].name: vector
        for text, vector in zip(texts, encoded, strict=True)
    }
    with store.read() as db:
        near = nearby.nearest(db, open_scope(db), of["best"], 50)
        found = dict(zip(names_of(db, near.chunk_id), near.cosine.tolist(), strict=True))
    placed = {name: of[name] + 0.5 * of["old.py"] for name in names}
    expected = {name: float(v @ of["best"] / np.linalg.norm(v)) for name, v in placed.items()} | {"best": 1.0}
    assert found == pytest.approx(expected, abs=0.01)
    assert list(found) == sorted(found, key=lambda name: -found[name])


def as_units(db: Connection, text_ids: list[int]) -> tuple[list[int], np.ndarray]:
    """Texts that have a vector or a draft, and those as unit vectors."""
    found = vectors.read(db, np.array(text_ids, dtype=np.int32), Memo())
    return found.text_ids.tolist(), found.small * found.scale[:, None]


def texts_in(db: Connection, table: str) -> list[int]:
    return sorted(row[0] for row in db.table(table).fetchall())


def nearest_to(db: Connection, vector: np.ndarray) -> tuple[str, float]:
    near = nearby.nearest(db, open_scope(db), vector, 10)
    return names_of(db, near.chunk_id)[0], float(near.cosine[0])


def test_drafts_answer_until_vectors_take_their_place(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "one", [1]), ("g", "two", [2])]})

    def placed(vector: np.ndarray, path: np.ndarray) -> np.ndarray:
        both = vector + nearby.PATH_WEIGHT * path
        return both / np.linalg.norm(both)

    with store.read() as db:
        assert texts_in(db, "vectors") == []
        assert len(texts_in(db, "drafts")) == 3
        for name, text in (("f", "one"), ("g", "two")):
            assert nearest_to(db, placed(draft(text), draft("pa.py"))) == (name, pytest.approx(1, abs=0.01))
    with store.write("test") as db:
        pending = vectors.pending(db, 10)
        encoded = unit(3, 1)
        vectors.write(db, [text[0] for text in pending[:1]], encoded[:1])
        assert texts_in(db, "vectors") == [pending[0][0]]
        assert set(texts_in(db, "drafts")) == {text[0] for text in pending[1:]}
        assert vectors.pending(db, 10) == pending[1:]
        of_chunks = sum(not isinstance(text[1], str) for text in pending[1:])
        assert [vectors.count_pending(db), *vectors.pending_counts(db)] == [2, 2, of_chunks]
        vectors.write(db, [text[0] for text in pending[1:]], encoded[1:])
    of = {
        text[1] if isinstance(text[1], str) else text[1].name: vector
        for text, vector in zip(pending, encoded, strict=True)
    }
    with store.read() as db:
        assert texts_in(db, "drafts") == []
        assert texts_in(db, "vectors") == sorted(text[0] for text in pending)
        assert vectors.count_pending(db) == 0
        assert vectors.pending(db, 10) == []
        for name in "fg":
            assert nearest_to(db, placed(of[name], of["a.py"])) == (name, pytest.approx(1, abs=0.01))


def test_drafts_of_known_texts_are_not_written(tmp_path: Path):
    """Neither over a vector nor over another draft, however often a text comes."""
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "one", [1]), ("g", "two", [2])]})
    with store.write("test") as db:
        [first, *rest] = texts_in(db, "drafts")
        vectors.write(db, [first], unit(1, 2))
        before = [db.execute(f"FROM {table} ORDER BY text_id").fetchall() for table in ("vectors", "drafts")]
        vectors.write_drafts(db, [first, *rest, *rest, first], vectors.shrink(unit(6, 3)))
        vectors.write_drafts(db, [], vectors.shrink(unit(0, 3)))
        assert before == [
            db.execute(f"FROM {table} ORDER BY text_id").fetchall() for table in ("vectors", "drafts")
        ]
        vectors.write_drafts(db, [99, 99], vectors.shrink(unit(2, 4)))
        assert texts_in(db, "drafts") == [*rest, 99]
        np.testing.assert_allclose(as_units(db, [99])[1], unit(2, 4)[:1], atol=0.005)


def test_a_vector_that_is_there_stays(tmp_path: Path):
    """Another process was first; and no vector is kept of a text that is none."""
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("f", "one", [1])]})
    with store.write("test") as db:
        texts = texts_in(db, "drafts")
        vectors.write(db, texts, unit(2, 2))
        before = db.execute("FROM vectors ORDER BY text_id").fetchall()
        vectors.write(db, [*texts, 99], unit(3, 3))
        assert db.execute("FROM vectors ORDER BY text_id").fetchall() == before


def test_vectors_are_read_in_the_order_of_their_texts(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [(f"f{i}", f"t{i}", [1]) for i in range(20)]})
    with store.write("test") as db:
        ids = texts_in(db, "drafts")
        encoded = unit(len(ids), 9)
        vectors.write(db, ids[::-2], encoded[::-2])  # the others keep their drafts
        known, found = as_units(db, [*ids[::-1], 999])
        assert known == ids
        np.testing.assert_allclose(found[::-2], encoded[::-2], atol=0.005)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
        signed, signs = vectors.read_signs(db, Memo())
        order = np.argsort(signed)
        assert signed[order].tolist() == ids
        assert (signs.T[order][::-2] == vectors.signs(vectors.shrink(encoded))[::-2]).all()
        nothing = vectors.read(db, np.array([999], dtype=np.int32), Memo())
        assert [column.shape for column in (nothing.text_ids, nothing.small)] == [(0,), (0, 384)]
        assert not nothing.find(np.array([1], dtype=np.int32))[0].any()


def test_packed_vectors_keep_their_cosines(tmp_path: Path):
    encoded = unit(200, 3)
    small, bits = vectors.shrink(encoded), vectors.signs(encoded)
    back = small.astype(np.float32)
    back /= np.linalg.norm(back, axis=1, keepdims=True)
    assert np.abs(back @ back.T - encoded @ encoded.T).max() < 0.004
    assert bits.shape == (200, 6)
    assert ((bits[0, 0] >> np.uint64(5)) & np.uint64(1)) == (encoded[0, 5] > 0)


def test_signs_and_a_vector_tell_more_of_the_cosine_than_signs_alone():
    rng = np.random.default_rng(7)
    question = unit(1, 1)[0]
    others = 0.7 * question + 0.7 * rng.standard_normal((2000, 1)) * unit(2000, 2) + 0.02 * unit(2000, 3)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    bits = np.ascontiguousarray(vectors.signs(others.astype(np.float32)).T)
    estimated = vectors.estimated(bits, vectors.sign_sums(question))
    expected = np.where(others > 0, 1, -1) @ question * np.sqrt(np.pi / 2 / 384)
    np.testing.assert_allclose(estimated, expected, atol=1e-5)
    exact = others @ question
    own = np.repeat(vectors.signs(question[None]).T, 2000, axis=1)
    counted = np.cos(np.pi / 384 * vectors.count_differing(bits, own))
    assert np.corrcoef(estimated, exact)[0, 1] > np.corrcoef(counted, exact)[0, 1]
    assert (vectors.count_differing(bits, own) == vectors.differing(bits, own[:, 0])).all()


def test_two_stages_find_what_the_exact_scan_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = open_store(tmp_path)
    rng = np.random.default_rng(11)
    centres = rng.standard_normal((40, 384))
    encoded = (centres[rng.integers(0, 40, 3000)] + 0.8 * rng.standard_normal((3000, 384))).astype(np.float32)
    encoded /= np.linalg.norm(encoded, axis=1, keepdims=True)
    fill(store, {"a.py": BLOB}, {BLOB: [(f"f{i}", f"t{i}", [i]) for i in range(3000)]})
    with store.write("test") as db:
        ids = [row[0] for row in db.execute("SELECT text_id FROM chunks ORDER BY chunk_id").fetchall()]
        vectors.write(db, ids, encoded)
    same = 0
    with store.read() as db:
        scope = open_scope(db)
        for i in range(20):
            monkeypatch.setattr(nearby, "SURPLUS", 30)
            exact = nearby.nearest(db, scope, encoded[i], 100)
            monkeypatch.setattr(nearby, "SURPLUS", 1)
            staged = nearby.nearest(db, scope, encoded[i], 100)
            assert len(exact.chunk_id) == len(staged.chunk_id) == 100
            same += len({*exact.chunk_id[:10].tolist()} & {*staged.chunk_id[:10].tolist()})
    assert same >= 0.98 * 200


def test_filters_act_before_the_cut(tmp_path: Path):
    store = open_store(tmp_path)
    fill(
        store,
        {f"{i}.py": f"{i:040x}" for i in range(50)},
        {f"{i:040x}": [(f"f{i}", f"t{i}", [1])] for i in range(50)},
    )
    with store.read() as db:
        wanted = [path_id for path_id, path in scopes.all_paths(db) if path in {"7.py", "31.py"}]
        scope = open_scope(db, paths=wanted)
        assert paths_of(db, scope) == ["7.py", "31.py"]
        words = candidates.postings(db, scope, [1])
        assert sorted(names_of(db, words.chunk_id)) == ["f31", "f7"]
        near = nearby.nearest(db, scope, draft("t0"), 2)
        assert sorted(names_of(db, near.chunk_id)) == ["f31", "f7"]
        assert candidates.definitions(db, scope, ["f8"]) == []
        assert len(open_scope(db, paths=[]).files) == 0
        assert len(open_scope(db, filters=Filters(languages=("go",))).files) == 0
        assert len(open_scope(db, filters=Filters(languages=("go", "python"))).files) == 50
        classes = open_scope(db, filters=Filters(kinds=("class",)))
        assert len(candidates.postings(db, classes, [1]).term) == 0
        assert len(nearby.nearest(db, classes, draft("t0"), 2).chunk_id) == 0


def test_an_overlay_hides_what_it_replaces(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("old", "old", [1])]})
    with store.write("test") as db:
        new = content.add(db, [(OTHER, "python")])[OTHER, "python"]
        content.write(db, [record(new, ("new", "new", [1]))])
        added = [EntryRecord("a.py", OTHER, "python")]
        overlay = views.overlay(views.ids_of(db, [], added), [], added)
        removal = views.overlay(views.ids_of(db, ["a.py"], []), ["a.py"], [])
    with store.read() as db:
        scope = open_scope(db, overlay)
        assert paths_of(db, scope) == ["a.py"]
        assert names_of(db, candidates.postings(db, scope, [1]).chunk_id) == ["new"]
        assert names_of(db, nearby.nearest(db, scope, draft("old"), 9).chunk_id) == ["new"]
        assert len(open_scope(db, removal).files) == 0


def test_drafts_are_listed_in_the_order_of_the_chunks_asked_for(tmp_path: Path):
    """What a search shows first is refined first, when the time does not do for all."""
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [(f"f{i}", f"t{i % 4}", [i]) for i in range(6)]})
    with store.read() as db:
        rows = dict(db.execute("SELECT chunk_id, text_id FROM chunks").fetchall())
        first, second, third, *_ = sorted(rows)
        asked = [third, first, second, third]
        listed = [text_id for text_id, _ in content.drafts_among(db, asked)]
    assert listed == [rows[third], rows[first], rows[second]]


def test_a_content_that_shares_a_text_which_was_dropped_meanwhile_stays_pending(tmp_path: Path):
    store = open_store(tmp_path)
    fill(store, {"a.py": BLOB}, {BLOB: [("old", "old", [1])]})
    with store.write("test") as db:
        ids = content.add(db, [(OTHER, "python"), ("c" * 40, "python")])
        whole = [
            record(number, (text, text, [1]))
            for number, text in zip(ids.values(), ("old", "gone"), strict=True)
        ]
        assert content.write(db, [replace(each, drafts=each.drafts[:0], drafted=()) for each in whole]) == 1
        assert [each.blob for each in content.pending(db, ids.values(), None)] == ["c" * 40]
        both = record(ids["c" * 40, "python"], ("gone", "gone", [1]), ("lost", "lost", [1]))
        other = content.add(db, [("d" * 40, "python")])["d" * 40, "python"]
        one, known = replace(both, drafts=both.drafts[:1], drafted=both.drafted[:1]), whole[1]
        known = replace(known, content_id=other, drafts=known.drafts[:0], drafted=())
        assert content.write(db, [one, known]) == 2  # "lost" is lost, and so is the draft of "gone" with it
        assert content.write(db, whole) == 0
        assert content.pending(db, ids.values(), None) == []
        lone = "SELECT count(*) FROM texts ANTI JOIN drafts USING (text_id)"
        assert db.execute(lone).fetchone() == (0,)
