"""A hub as what a search asks (`gitrag.store.source.Source`): the views of some repositories, as one scope.

The numbers are those that an index file would answer with, from the same rows; ids are the hub's own. Where
several repositories are asked, a path begins with the repository's name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gitrag.hub import history
from gitrag.hub.copying import read_columns
from gitrag.hub.hub import Hub
from gitrag.late import np
from gitrag.model import DIMENSIONS, Chunk, Kind
from gitrag.store.candidates import DefinitionSite, NamedSite, NameWords, Postings
from gitrag.store.columns import decode_path, encode_path, runs
from gitrag.store.commit_evidence import BranchHistory, Messages
from gitrag.store.content import ChunkPlace, joined_texts
from gitrag.store.memo import Memo
from gitrag.store.nearby import PATH_WEIGHT, SURPLUS, Near
from gitrag.store.scopes import NO_FILTERS, NO_OVERLAY, Files, Filters, SearchScope
from gitrag.store.vectors import Vectors
from gitrag.store.views import ViewOverlay
from gitrag.words.spelling import distance
from gitrag.words.terms import IN_NAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LANGUAGE_BYTES: Final = 32
_SIGN_BYTES: Final = DIMENSIONS // 8

_SCANNED: Final = 100_000
"""Chunks whose distances are all fetched; of more, the server chooses the nearest by their own sign bits."""

_READ_THROUGH: Final = 50_000
"""Chunks whose texts are searched for letters; of more, every content may have them."""

_MOST_LONGER: Final = 20
"""As in `gitrag/store/candidates.py`."""


class HubView(Struct, frozen=True):
    """A branch of a repository in the hub.

    Attributes:
        name: The repository's name.
        branch: The branch.
        commit: The commit that was pushed; None for none.
        left_out: How many files no question can find.
        files: How many a question can find.
    """

    view_id: int
    repository_id: int
    name: str
    branch: str
    commit: str | None
    left_out: int
    files: int


@dataclass(frozen=True, slots=True)
class HubScope(SearchScope):
    """A scope, with what else is known of its files.

    Attributes:
        place: int32 (f,), of the file in its view.
        path_signs: uint8 (f, 48), sign bits of the path's vector.
    """

    place: NDArray[np.int32]
    path_signs: NDArray[np.uint8]
    with_path: NDArray[np.bool_]

    def rows_of(self, chunk_ids: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Join by sorting: a table up to the highest id of another server has gigabytes."""
        return _joined(chunk_ids, self.chunk_id)


class HubSource:
    """Candidates from a hub.

    Args:
        views: The views to search, at least one.
    """

    model = ""  # a hub has the vectors of ours

    def __init__(self, hub: Hub, views: Sequence[HubView]) -> None:
        self._db = hub.db
        self._views = list(views)
        self._view_ids = [each.view_id for each in views]
        self._repositories = sorted({each.repository_id for each in views})
        self._names = {each.repository_id: each.name for each in views}
        self._history: BranchHistory | None = None
        self._named_collections: list[str] | None = None
        self._files: dict[str, NDArray[Any]] | None = None
        self._chunks: NDArray[np.int32] | None = None

    def _rows(self, sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, parameters, prepare=False, binary=True).fetchall()

    def _columns(self, sql: str, parameters: Sequence[object], **columns: str) -> dict[str, NDArray[Any]]:
        return read_columns(self._db, sql, parameters, list(columns.items()))

    def count_files(self) -> int:
        """Count the files that a question without filters may find."""
        return sum(each.files for each in self._views)

    def touched(self, view_id: int | None) -> Mapping[str, float]:
        return dict.fromkeys(self._collections(), 0.0)

    def _collections(self) -> list[str]:
        if self._named_collections is None:
            sql = "SELECT DISTINCT e.collection FROM gitrag.collections_of(%s) e"
            self._named_collections = sorted(name for (name,) in self._rows(sql, [self._view_ids]))
        return self._named_collections

    def open_scope(
        self,
        view_id: int | None,
        overlay: ViewOverlay = NO_OVERLAY,
        filters: Filters = NO_FILTERS,
        *,
        path_ids: Sequence[int] | None = None,
        memo: Memo | None = None,
    ) -> HubScope:
        """See ``Source``; neither the view nor an overlay of it counts here."""
        only = None if path_ids is None else tuple(path_ids)
        return (memo or Memo()).get(("hub scope", filters, only), lambda: self._read_scope(filters, only))

    def _read_scope(self, filters: Filters, path_ids: Sequence[int] | None) -> HubScope:
        everything = self._everything()
        kept = np.ones(len(everything["path_id"]), dtype=bool)
        if path_ids is not None:
            kept &= np.isin(everything["path_id"], np.array(path_ids, dtype=np.int32))
        if filters.languages:
            kept &= np.isin(everything["language"], np.array(filters.languages, dtype=object))
        if filters.collections is not None:
            wanted = [
                place for place, name in enumerate(self._collections(), 1) if name in filters.collections
            ]
            kept &= np.isin(everything["collection"], wanted)
        files = {name: column[kept] for name, column in everything.items()}
        top = files["top"].view(np.uint64)
        if len(self._repositories) > 1:  # two repositories' "src" are two directories
            top = top ^ (files["repository_id"].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        own = Files(
            path_id=files["path_id"],
            content_id=files["content_id"],
            language=files["language"],
            traits=files["traits"].astype(np.uint8),
            top=top,
            name_terms=files["name_terms"].astype(np.uint8),
            chunks=files["chunks"],
            length=files["length"],
        )
        packed = self._packed()[np.repeat(kept, everything["chunks"])]
        file = np.repeat(np.arange(len(own), dtype=np.int32), own.chunks)
        if filters.kinds:
            sql = "SELECT k.chunk_id FROM gitrag.cuts_of(%s, %s) k"
            found = self._columns(sql, [self._view_ids, list(filters.kinds)], chunk_id="int4")
            there = np.isin(packed[:, 0], found["chunk_id"])
            packed, file = packed[there], file[there]
        order = np.argsort(packed[:, 0], kind="stable")
        chunk_id, length = packed[order, 0], packed[order, 1]
        return HubScope(
            own,
            own.path_id,
            chunk_id,
            file[order],
            np.where(length < 0, 0, chunk_id),
            np.where(length < 0, -1 - length, length),
            place=files["place"],
            path_signs=files["signs"],
            with_path=files["with_path"] > 0,
        )

    def _everything(self) -> dict[str, NDArray[Any]]:
        """Read the columns of all files, by ascending path id; a collection is its place, from 1."""
        if self._files is None:
            found = self._columns(
                "SELECT f.path_id, f.content_id, f.place, convert_to(rpad(left(f.language, 32), 32), 'UTF8'),"
                " f.traits, f.top, f.name_terms, f.chunks, f.length, f.repository_id,"
                f" coalesce(f.signs, decode(repeat('00', {_SIGN_BYTES}), 'hex')), (f.signs IS NOT NULL)::int,"
                " coalesce(array_position(%s::text[], f.collection), 0) FROM gitrag.files_of(%s) f",
                [self._collections(), self._view_ids],
                path_id="int4",
                content_id="int4",
                place="int4",
                language=f"bytes{_LANGUAGE_BYTES}",
                traits="int4",
                top="int8",
                name_terms="int4",
                chunks="int4",
                length="int4",
                repository_id="int4",
                signs=f"bytes{_SIGN_BYTES}",
                with_path="int4",
                collection="int4",
            )
            found["language"] = _texts(found["language"])
            order = np.argsort(found["path_id"], kind="stable")
            self._files = {name: column[order] for name, column in found.items()}
        return self._files

    def _packed(self) -> NDArray[np.int32]:
        """Read id and packed length of the chunks of all files, by ascending path id (`schema.sql`)."""
        if self._chunks is None:
            sql = "SELECT string_agg(c.packed, ''::bytea ORDER BY c.path_id) FROM gitrag.packed_of(%s) c"
            ((packed,),) = self._rows(sql, [self._view_ids])
            self._chunks = np.frombuffer(packed or b"", dtype=">i4").astype(np.int32).reshape(-1, 2)
        return self._chunks

    def postings(self, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None) -> Postings:
        found = self._with_terms(terms)
        row, place = _joined(found["chunk_id"], scope.chunk_id)
        frequency = found["tf"][row]
        return Postings(
            found["place"][row],
            scope.chunk_id[place],
            scope.file[place],
            frequency & (IN_NAME - 1),
            (frequency & IN_NAME) > 0,
            scope.length[place],
        )

    def _with_terms(self, terms: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Read the postings of terms, by term, with each term's index in the question: ``place``."""
        rows = self._rows(
            "SELECT p.content_id, p.term, p.found FROM gitrag.postings_of(%s, %s::bigint[]) p",
            [self._view_ids, _signed(terms)],
        )
        rows = list({row[:2]: row[1:] for row in rows}.values())  # another server says some twice
        packed = np.frombuffer(b"".join(found for _term, found in rows), dtype=">i4").astype(np.int32)
        many = [len(found) // 8 for _term, found in rows]
        term = np.repeat(np.array([term for term, _found in rows], dtype=np.int64), many)
        return _in_question({"term": term, "chunk_id": packed[::2], "tf": packed[1::2]}, terms)

    def nearest(
        self, scope: SearchScope, question: NDArray[np.float32], limit: int, memo: Memo | None = None
    ) -> Near:
        rows = np.flatnonzero(scope.text_id)
        if len(rows) > SURPLUS * limit:
            rows = rows[self._likeliest(scope, rows, question, SURPLUS * limit)]
        rows, place, known, path_place, paths, weight = self._with_vectors(scope, rows)
        distinct, own = np.unique(path_place, return_inverse=True)
        near = known.compare_with(question, place) + weight * paths.compare_with(question, distinct)[own]
        between = _between(known, place, paths, path_place)
        cosine = near / np.sqrt(1 + weight * (weight + 2 * between))
        chunk_id, file = scope.chunk_id[rows], scope.file[rows]
        order = np.lexsort((chunk_id, file, -cosine))[:limit]
        return Near(chunk_id[order], file[order], cosine[order].astype(np.float32))

    def similarities(
        self,
        scope: SearchScope,
        chunk_ids: NDArray[np.int32],
        questions: NDArray[np.float32],
        memo: Memo | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        rows = np.flatnonzero(np.isin(scope.chunk_id, chunk_ids) & (scope.text_id != 0))
        rows, place, known, path_place, paths, weight = self._with_vectors(scope, rows)
        both = known.small[place].astype(np.float32) * known.scale[place][:, None]
        distinct, own = np.unique(path_place, return_inverse=True)
        both += (
            weight[:, None] * (paths.small[distinct].astype(np.float32) * paths.scale[distinct][:, None])[own]
        )
        both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-9)
        return scope.chunk_id[rows], scope.file[rows], (both @ questions.T).astype(np.float32)

    def _likeliest(
        self, scope: SearchScope, rows: NDArray[np.intp], question: NDArray[np.float32], many: int
    ) -> NDArray[np.intp]:
        """Preselect rows by sign bits, as `gitrag/store/nearby.py` does."""
        bits = np.packbits(question > 0)
        written = "".join(f"{byte:08b}" for byte in bits.tolist())
        # Of few chunks all distances are read; of many, those of the nearest by their own sign bits.
        call = f"distances_of(%s, %s::bit({DIMENSIONS}))"
        values: list[object] = [self._view_ids, written]
        if len(rows) > _SCANNED:
            call, values = f"nearest_of(%s, %s::bit({DIMENSIONS}), %s)", [*values, many]
        found = self._columns(
            f"SELECT n.chunk_id, n.differing FROM gitrag.{call} n",
            values,
            chunk_id="int4",
            differing="int4",
        )
        angle = np.cos(np.pi / DIMENSIONS * np.arange(DIMENSIONS + 1, dtype=np.float32))
        chunk_id, first = np.unique(found["chunk_id"], return_index=True)
        place = np.minimum(np.searchsorted(chunk_id, scope.chunk_id[rows]), max(len(chunk_id) - 1, 0))
        there = chunk_id[place] == scope.chunk_id[rows]
        about = np.full(len(rows), -1.0, dtype=np.float32)
        about[there] = angle[found["differing"][first][place[there]]]
        differing = np.bitwise_count(_signs_of(scope) ^ bits).sum(axis=1, dtype=np.int16)
        of_path = np.where(_with_path(scope), angle[differing], np.float32(-1.0))
        score = about + PATH_WEIGHT * np.maximum(of_path[scope.file[rows]], 0)
        return np.argpartition(-score, many)[:many]

    def _with_vectors(
        self, scope: SearchScope, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Vectors, NDArray[np.intp], Vectors, NDArray[np.float32]]:
        """Read the vectors of rows and their paths; rows that have none are left out."""
        known = self._vectors(
            "SELECT DISTINCT ON (v.chunk_id) v.chunk_id, v.vector FROM gitrag.vectors_by(%s, %s) v",
            [self._view_ids, np.unique(scope.chunk_id[rows]).tolist()],
        )
        there, place = known.find(scope.chunk_id[rows])
        rows, place = rows[there], place[there]
        path_ids = scope.files.path_id[scope.file[rows]]
        paths = self._vectors(
            "SELECT p.path_id, p.vector FROM gitrag.paths_by(%s, %s) p WHERE p.vector IS NOT NULL",
            [self._view_ids, np.unique(path_ids).tolist()],
        )
        if not len(paths.text_ids):
            paths = Vectors(np.zeros(1, np.int32), np.zeros((1, DIMENSIONS), np.int8), np.ones(1, np.float32))
        with_path, path_place = paths.find(path_ids)
        weight = np.where(with_path, np.float32(PATH_WEIGHT), np.float32(0))
        return rows, place, known, path_place, paths, weight

    def _vectors(self, sql: str, values: Sequence[object]) -> Vectors:
        found = self._columns(sql, values, id="int4", vector=f"bytes{DIMENSIONS}")
        order = np.argsort(found["id"])
        small = found["vector"].view(np.int8)[order]
        squares = np.einsum("ij,ij->i", small, small, dtype=np.float32)
        return Vectors(found["id"][order], small, 1 / np.sqrt(np.maximum(squares, 1)))

    def _by_key(self, names: Collection[str]) -> list[tuple[int, int, str, str]]:
        """Read the definitions with some case-folded names: chunk, content, name, qualified name."""
        return self._rows(
            "SELECT k.chunk_id, k.content_id, k.name, k.qualified_name FROM gitrag.chunks_named(%s, %s) k",
            [self._view_ids, list(names)],
        )

    def definitions(self, scope: SearchScope, names: Sequence[str]) -> list[DefinitionSite]:
        if not names:
            return []
        wanted: dict[str, list[str]] = {}
        for name in names:
            wanted.setdefault(name.rpartition(".")[2].casefold(), []).append(name)
        first: dict[tuple[str, int], tuple[int, int, bool]] = {}
        for chunk_id, content_id, name, qualified in self._by_key(wanted):
            for asked in wanted[name.casefold()]:
                low = asked.casefold()
                if "." in low and not f".{qualified.lower()}".endswith(f".{low}"):
                    continue
                exact = name == asked or f".{qualified}".endswith(f".{asked}")
                parts = asked.count(".") + 1
                seen = first.get((qualified, content_id), (chunk_id, 0, False))
                first[qualified, content_id] = (
                    min(chunk_id, seen[0]),
                    max(parts, seen[1]),
                    exact or seen[2],
                )
        kept = {chunk_id: (parts, exact) for chunk_id, parts, exact in first.values()}
        return [
            DefinitionSite(chunk, file, exact=kept[chunk][1], parts=kept[chunk][0])
            for file, chunk in scope.places_of(kept)
        ]

    def named(self, scope: SearchScope, names: Collection[str]) -> list[NamedSite]:
        first: dict[tuple[str, str, int], int] = {}
        for chunk_id, content_id, name, qualified in self._by_key({name.casefold() for name in names}):
            if name in names:
                key = (name, qualified, content_id)
                first[key] = min(chunk_id, first.get(key, chunk_id))
        of_chunk = {chunk_id: key for key, chunk_id in first.items()}
        return [
            NamedSite(chunk, file, of_chunk[chunk][0], of_chunk[chunk][1])
            for file, chunk in scope.places_of(of_chunk)
        ]

    def longer_names(self, scope: SearchScope, name: str) -> list[DefinitionSite]:
        letters = name.casefold().replace("_", "")
        if not letters:
            return []
        rows = self._rows(
            "SELECT min(k.chunk_id) FROM gitrag.chunks_of(%s) k"
            " WHERE strpos(replace(k.name_key, '_', ''), %s) > 0"
            " AND k.kind NOT IN ('section', 'module') GROUP BY k.qualified_name, k.content_id",
            [self._view_ids, letters],
        )
        places = scope.places_of([chunk_id for (chunk_id,) in rows])
        if len(places) > _MOST_LONGER:
            return []
        return [DefinitionSite(chunk, file, exact=False) for file, chunk in places]

    def name_words(self, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None) -> NameWords:
        found = self._columns(
            "SELECT w.term, w.path_id FROM gitrag.path_words_of(%s, %s::bigint[]) w",
            [self._view_ids, _signed(terms)],
            term="int8",
            path_id="int4",
        )
        found = _in_question(found, terms)
        row, file = _joined(found["path_id"], scope.files.path_id)
        return NameWords(found["place"][row], file.astype("int32"))

    def contents_with(self, letters: str) -> NDArray[np.int32]:
        """See ``Source``; of many chunks none is read, and every content may have them."""
        files = self._everything()
        if files["chunks"].sum() > _READ_THROUGH:
            return np.unique(files["content_id"])
        rows = self._rows(
            "SELECT DISTINCT k.content_id FROM gitrag.chunks_of(%s) k WHERE k.text ~* %s",
            [self._view_ids, re.escape(letters)],
        )
        return np.array([content_id for (content_id,) in rows], dtype=np.int32)

    def words_like(self, word: str, content_ids: Sequence[int], most: int) -> list[tuple[str, int, int]]:
        rows = self._rows(
            "WITH names AS (SELECT DISTINCT k.name FROM gitrag.chunks_in(%s, %s) k"
            " WHERE k.name <> '' AND k.kind <> 'section'), parts AS ("
            r" SELECT regexp_split_to_table(lower(regexp_replace(regexp_replace(name,"
            r" '([a-z0-9])([A-Z])', '\1_\2', 'g'), '[^A-Za-z]+', '_', 'g')), '_') AS part FROM names)"
            " SELECT part, count(*)::int FROM parts WHERE length(part) >= 4"
            " AND abs(length(part) - length(%s)) <= %s GROUP BY part ORDER BY part",
            [self._view_ids, list(content_ids), word, most],
        )
        near = ((part, often, distance(part, word, most)) for part, often in rows)
        return [(part, often, far) for part, often, far in near if 1 <= far <= most]

    def contents_by_term(
        self, hashed: Sequence[int], content_ids: Sequence[int], memo: Memo | None = None
    ) -> dict[int, int]:
        place = {own: number for number, own in enumerate(_signed(hashed))}
        rows = self._rows(
            "SELECT p.term, count(DISTINCT p.content_id)::int FROM gitrag.postings_of(%s, %s::bigint[]) p"
            " WHERE p.content_id = ANY(%s) GROUP BY p.term",
            [self._view_ids, list(place), list(content_ids)],
        )
        return {place[term]: many for term, many in rows}

    def unsearched(
        self, view_id: int | None, overlay: ViewOverlay, collections: Sequence[str] | None
    ) -> tuple[int, int]:
        return 0, sum(each.left_out for each in self._views)

    def files_matching(self, scope: SearchScope, pattern: str) -> list[tuple[int, str]]:
        rows = self._rows(
            "SELECT p.path_id, p.repository_id, p.path FROM gitrag.paths_of(%s) p"
            " WHERE p.written ~ %s ORDER BY p.path_id",
            [self._view_ids, pattern],
        )
        if not len(scope.files) or not rows:
            return []
        wanted = np.array([path_id for path_id, *_ in rows], dtype=np.int32)
        place = np.minimum(np.searchsorted(scope.files.path_id, wanted), len(scope.files) - 1)
        there = np.flatnonzero(scope.files.path_id[place] == wanted)
        return [(int(place[at]), self._named(*rows[at][1:])) for at in there]

    def _named(self, repository_id: int, path: bytes) -> str:
        own = decode_path(path)
        return own if len(self._names) == 1 else f"{self._names[repository_id]}/{own}"

    def split(self, path: str) -> tuple[str, str]:
        """Return the repository and the path of what ``read_paths`` returned."""
        if len(self._names) == 1:
            return next(iter(self._names.values())), path
        name, _, own = path.partition("/")
        return name, own

    def read_paths(self, path_ids: Sequence[int], memo: Memo | None = None) -> dict[int, str]:
        rows = self._rows(
            "SELECT p.path_id, p.repository_id, p.path FROM gitrag.paths_by(%s, %s) p",
            [self._view_ids, [int(each) for each in path_ids]],
        )
        return {path_id: self._named(*rest) for path_id, *rest in rows}

    def all_paths(self) -> list[tuple[int, str]]:
        """See ``Source``; without the repository's name, since filters are of paths."""
        rows = self._rows("SELECT p.path_id, p.path FROM gitrag.paths_of(%s) p", [self._view_ids])
        return [(path_id, decode_path(path)) for path_id, path in rows]

    def read_chunks(self, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
        rows = self._rows(
            "SELECT k.chunk_id, k.kind, k.name, k.qualified_name, k.signature, k.docstring, k.text,"
            " k.line_start, k.line_end FROM gitrag.chunks_by(%s, %s) k",
            [self._view_ids, [int(each) for each in chunk_ids]],
        )
        return {row[0]: Chunk(Kind(row[1]), *row[2:]) for row in rows}

    def read_places(self, chunk_ids: Iterable[int]) -> dict[int, ChunkPlace]:
        rows = self._rows(
            "SELECT k.chunk_id, k.line_start, k.line_end, k.name FROM gitrag.chunks_by(%s, %s) k",
            [self._view_ids, [int(each) for each in chunk_ids]],
        )
        return {chunk_id: (first, last, name) for chunk_id, first, last, name in rows}

    def read_texts(self, content_ids: Iterable[int]) -> dict[int, str]:
        return joined_texts(
            self._rows(
                "SELECT DISTINCT ON (k.content_id, k.line_start, k.chunk_id) k.content_id, k.line_start,"
                " k.text"
                " FROM gitrag.chunks_in(%s, %s) k ORDER BY k.content_id, k.line_start, k.chunk_id",
                [self._view_ids, [int(each) for each in content_ids]],
            )
        )

    def read_names(self, content_ids: Iterable[int]) -> dict[int, list[str]]:
        rows = self._rows(
            "SELECT k.content_id, array_agg(DISTINCT k.name) FROM gitrag.chunks_in(%s, %s) k"
            " WHERE k.name <> '' AND k.kind NOT IN ('module', 'section')"
            " GROUP BY k.content_id",
            [self._view_ids, [int(each) for each in content_ids]],
        )
        return dict(rows)

    def read_chunk_texts(self, content_ids: Iterable[int]) -> dict[int, list[str]]:
        rows = self._rows(
            "SELECT k.content_id, array_agg(k.text ORDER BY k.chunk_id) FROM ("
            " SELECT DISTINCT ON (c.chunk_id) c.* FROM gitrag.chunks_in(%s, %s) c) k GROUP BY k.content_id",
            [self._view_ids, [int(each) for each in content_ids]],
        )
        return dict(rows)

    def texts_of(self, chunk_ids: NDArray[np.int32]) -> dict[int, str]:
        sql = "SELECT k.chunk_id, k.text FROM gitrag.chunks_by(%s, %s) k"
        return dict(self._rows(sql, [self._view_ids, chunk_ids.tolist()]))

    def giving_a_value(
        self, chunk_ids: NDArray[np.int32], given: str, member: str
    ) -> list[tuple[int, bool, bool]]:
        """See ``Source``; matched here, since PostgreSQL's expressions are others."""
        import re2

        rows = self._rows(
            "SELECT DISTINCT ON (k.chunk_id) k.chunk_id, k.kind, k.text FROM gitrag.chunks_by(%s, %s) k"
            " WHERE k.kind IN ('module', 'class')",
            [self._view_ids, chunk_ids.tolist()],
        )
        of_value, of_member = re2.compile(given), re2.compile(member)
        found = [
            (chunk_id, bool(of_value.search(text)), kind == "class" and bool(of_member.search(text)))
            for chunk_id, kind, text in rows
        ]
        return [row for row in found if row[1] or row[2]]

    def reexporting(self, names: Sequence[str], memo: Memo | None = None) -> list[int]:
        rows = self._rows(
            "SELECT DISTINCT r.chunk_id FROM gitrag.reexports_of(%s, %s) r", [self._view_ids, list(names)]
        )
        return [chunk_id for (chunk_id,) in rows]

    def look_up(self, view_id: int, overlay: ViewOverlay, paths: Sequence[str]) -> dict[str, int]:
        several = len(self._names) > 1
        own = {encode_path(self.split(path)[1]) for path in paths}
        rows = self._rows(
            "SELECT p.repository_id, p.path, p.content_id FROM gitrag.paths_of(%s) p WHERE p.path = ANY(%s)",
            [self._view_ids, list(own)],
        )
        found = {self._named(repository_id, path): content_id for repository_id, path, content_id in rows}
        return {path: found[path] for path in paths if path in found} if several else found

    def messages(
        self,
        scope: SearchScope,
        commit: str,
        terms: Sequence[int],
        vector: NDArray[np.float32] | None = None,
        memo: Memo | None = None,
    ) -> Messages | None:
        """See ``Source``; only of one repository."""
        known = self._read_history()
        if known is None or not isinstance(scope, HubScope):
            return None
        place_of = {own: number for number, own in enumerate(_signed(terms))}
        rows = self._rows(
            "SELECT w.term, w.found FROM gitrag.view_words_of(%s, %s::bigint[]) w",
            [self._view_ids, list(place_of)],
        )
        size = 1 + max(
            int(scope.place.max(initial=0)), int(known.place.max(initial=0)), len(known.file_length)
        )
        file_of = np.full(size, -1, dtype=np.int64)
        file_of[scope.place] = np.arange(len(scope.files))
        lengths = np.zeros(size)
        lengths[: len(known.file_length)] = known.file_length
        found = sorted((place_of[term], own) for term, own in rows)
        return history.messages(known, found, file_of, lengths, len(scope.files), vector)

    def activity(self, scope: SearchScope, commit: str, files: Sequence[int]) -> list[float]:
        """See ``Source``; 0 where several repositories are asked."""
        known = self._read_history()
        if known is None or not isinstance(scope, HubScope):
            return [0.0] * len(files)
        return history.activity(known, scope.place[list(files)])

    def _read_history(self) -> BranchHistory | None:
        if self._history is None and len(self._view_ids) == 1:
            rows = self._rows("SELECT v.history FROM gitrag.histories_of(%s) v", [self._view_ids])
            if rows and rows[0][0] is not None:
                self._history = history.unpack(rows[0][0])
        return self._history


def _joined(wanted: NDArray[Any], keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Join: return each pair of indices in ``wanted`` and in ``keys`` with equal values."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.searchsorted(ordered, wanted, "left")
    many = np.searchsorted(ordered, wanted, "right") - first
    return np.repeat(np.arange(len(wanted)), many), order[runs(first, many)]


def _signed(terms: Sequence[int]) -> list[int]:
    """Return hashes of 64 bits as PostgreSQL's bigint with the same bits."""
    return [int(term) if term < 1 << 63 else int(term) - (1 << 64) for term in terms]


def _in_question(found: dict[str, NDArray[Any]], terms: Sequence[int]) -> dict[str, NDArray[Any]]:
    """Add ``place`` to rows: the term's index in the question, a row for each where it is asked for twice."""
    row, place = _joined(found["term"], np.array(_signed(terms), dtype=np.int64))
    return {name: column[row] for name, column in found.items()} | {"place": place.astype(np.int32)}


def _texts(padded: NDArray[np.uint8]) -> NDArray[Any]:
    """Return texts that were padded with spaces, as objects."""
    packed = np.ascontiguousarray(padded).view(f"S{_LANGUAGE_BYTES}").ravel()
    distinct, place = np.unique(packed, return_inverse=True)
    names = np.empty(len(distinct), dtype=object)
    names[:] = [each.decode().rstrip(" ") for each in distinct.tolist()]
    return names[place]


def _signs_of(scope: SearchScope) -> NDArray[np.uint8]:
    return scope.path_signs if isinstance(scope, HubScope) else _not_ours()


def _with_path(scope: SearchScope) -> NDArray[np.bool_]:
    return scope.with_path if isinstance(scope, HubScope) else _not_ours()


def _not_ours() -> Any:
    raise AssertionError("a scope of another source")


def _between(
    known: Vectors, places: NDArray[np.intp], paths: Vectors, path_places: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the cosines of chunks with their paths."""
    dots = np.empty(len(places), dtype=np.float32)
    for start in range(0, len(places), 512):
        block = slice(start, start + 512)
        both = (
            known.small[places[block]].astype(np.float32),
            paths.small[path_places[block]].astype(np.float32),
        )
        dots[block] = np.einsum("ij,ij->i", *both)
    return dots * known.scale[places] * paths.scale[path_places]
