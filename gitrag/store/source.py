"""What a search asks of an index, whichever engine keeps it: an index file (DuckDB), or a hub (PostgreSQL).

`gitrag/search` knows only this. Rows come as NumPy columns; what they mean is said where an index file
answers (`gitrag/store/scopes.py`, `candidates.py`, `nearby.py`, `content.py`, `commit_evidence.py`,
`views.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from msgspec import Struct

from gitrag.late import np
from gitrag.store import candidates, commit_evidence, content, nearby, scopes, views
from gitrag.store.candidates import DefinitionSite, NamedSite, NameWords, Postings
from gitrag.store.commit_evidence import Messages
from gitrag.store.content import ChunkPlace
from gitrag.store.memo import Memo
from gitrag.store.nearby import Near
from gitrag.store.scopes import NO_FILTERS, NO_OVERLAY, Filters, SearchScope
from gitrag.store.views import ViewOverlay

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from gitrag.model import Chunk


class Source(Protocol):
    """What candidates for a question are asked from."""

    @property
    def model(self) -> str:
        """Whose vectors it has: a model of the user's; empty for ours."""
        ...

    def touched(self, view_id: int | None) -> Mapping[str, float]:
        """Return the collections of a view, each with the time of its last change, Unix seconds."""
        ...

    def open_scope(
        self,
        view_id: int | None,
        overlay: ViewOverlay = NO_OVERLAY,
        filters: Filters = NO_FILTERS,
        *,
        path_ids: Sequence[int] | None = None,
        memo: Memo | None = None,
    ) -> SearchScope:
        """Read which files a question may find, and their chunks."""
        ...

    def postings(self, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None) -> Postings:
        """Find the scope's chunks that contain a question's terms, hashed, of which one may be twice."""
        ...

    def nearest(
        self, scope: SearchScope, question: NDArray[np.float32], limit: int, memo: Memo | None = None
    ) -> Near:
        """Find the scope's chunks nearest to a question, float32 (384,), L2-normalised."""
        ...

    def similarities(
        self,
        scope: SearchScope,
        chunk_ids: NDArray[np.int32],
        questions: NDArray[np.float32],
        memo: Memo | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Compare some chunks with several questions: chunks, their files, cosines (n, m)."""
        ...

    def definitions(self, scope: SearchScope, names: Sequence[str]) -> list[DefinitionSite]:
        """Find the scope's definitions by name or qualified name, ignoring case."""
        ...

    def named(self, scope: SearchScope, names: Collection[str]) -> list[NamedSite]:
        """Find the scope's definitions that are called exactly so."""
        ...

    def longer_names(self, scope: SearchScope, name: str) -> list[DefinitionSite]:
        """Find the scope's definitions whose names contain another name; none if many."""
        ...

    def name_words(self, scope: SearchScope, terms: Sequence[int], memo: Memo | None = None) -> NameWords:
        """Find the scope's files whose names contain one of some terms."""
        ...

    def contents_with(self, letters: str) -> NDArray[np.int32]:
        """Find the contents that have some letters anywhere, ignoring case, or may have them."""
        ...

    def words_like(self, word: str, content_ids: Sequence[int], most: int) -> list[tuple[str, int, int]]:
        """Find the words in definitions' names that differ from another word in few letters."""
        ...

    def contents_by_term(
        self, hashed: Sequence[int], content_ids: Sequence[int], memo: Memo | None = None
    ) -> dict[int, int]:
        """Count in how many of some contents each of some distinct hashed terms occurs, by its place."""
        ...

    def unsearched(
        self, view_id: int | None, overlay: ViewOverlay, collections: Sequence[str] | None
    ) -> tuple[int, int]:
        """Count the files that a question could not find: those not read, and those left out as text."""
        ...

    def files_matching(self, scope: SearchScope, pattern: str) -> list[tuple[int, str]]:
        """Find the scope's files whose paths match a pattern (``scopes.path_pattern``), by number."""
        ...

    def read_paths(self, path_ids: Sequence[int], memo: Memo | None = None) -> dict[int, str]:
        """Read paths by id."""
        ...

    def all_paths(self) -> list[tuple[int, str]]:
        """List every path, for filters that only Python can evaluate."""
        ...

    def read_chunks(self, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
        """Read chunks by id."""
        ...

    def read_places(self, chunk_ids: Iterable[int]) -> dict[int, ChunkPlace]:
        """Read where chunks are, by id, without their texts."""
        ...

    def read_texts(self, content_ids: Iterable[int]) -> dict[int, str]:
        """Read contents as text, joined from their chunks."""
        ...

    def read_names(self, content_ids: Iterable[int]) -> dict[int, list[str]]:
        """Read the names of the definitions of some contents."""
        ...

    def read_chunk_texts(self, content_ids: Iterable[int]) -> dict[int, list[str]]:
        """Read the texts of the chunks of some contents, in order."""
        ...

    def texts_of(self, chunk_ids: NDArray[np.int32]) -> dict[int, str]:
        """Read the texts of chunks."""
        ...

    def giving_a_value(
        self, chunk_ids: NDArray[np.int32], given: str, member: str
    ) -> list[tuple[int, bool, bool]]:
        """Find the chunks outside functions in which one of two expressions (RE2) matches, and say which."""
        ...

    def reexporting(self, names: Sequence[str], memo: Memo | None = None) -> list[int]:
        """Find the chunks that re-export one of some names (`gitrag/words/declarations.py`)."""
        ...

    def look_up(self, view_id: int, overlay: ViewOverlay, paths: Sequence[str]) -> dict[str, int]:
        """Look up the content ids of paths; paths without one are left out."""
        ...

    def messages(
        self,
        scope: SearchScope,
        commit: str,
        terms: Sequence[int],
        vector: NDArray[np.float32] | None = None,
        memo: Memo | None = None,
    ) -> Messages | None:
        """Find what the messages of a commit's history say; None where it has not been read."""
        ...

    def activity(self, scope: SearchScope, commit: str, files: Sequence[int]) -> list[float]:
        """Return how many commits changed each of some files, one a year old counting half."""
        ...


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _by(
    function: Callable[Concatenate[DuckDBPyConnection, _P], _R],
) -> Callable[Concatenate[IndexFile, _P], _R]:
    """Make what asks a connection a method of ``IndexFile``."""

    def method(index: IndexFile, /, *args: _P.args, **named: _P.kwargs) -> _R:
        return function(index.db, *args, **named)

    return functools.update_wrapper(method, function)


class IndexFile(Struct, frozen=True):
    """An index file that is open, as a source.

    Attributes:
        memo: What is kept of its index.
    """

    db: DuckDBPyConnection
    model: str = ""
    memo: Memo | None = None

    def touched(self, view_id: int | None) -> Mapping[str, float]:
        """See ``Source``."""
        return views.touched(self.db, view_id) if view_id is not None else {}

    def read_chunks(self, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
        """See ``Source``."""
        return content.read_chunks(self.db, chunk_ids, self.memo)

    def texts_of(self, chunk_ids: NDArray[np.int32]) -> dict[int, str]:
        """See ``Source``."""
        return candidates.texts_of(self.db, chunk_ids, self.memo)

    open_scope = _by(scopes.open_scope)
    postings = _by(candidates.postings)
    nearest = _by(nearby.nearest)
    similarities = _by(nearby.similarities)
    definitions = _by(candidates.definitions)
    named = _by(candidates.named)
    longer_names = _by(candidates.longer_names)
    name_words = _by(candidates.name_words)
    contents_with = _by(candidates.contents_with)
    words_like = _by(candidates.words_like)
    contents_by_term = _by(candidates.contents_by_term)
    unsearched = _by(scopes.unsearched)
    files_matching = _by(scopes.files_matching)
    read_paths = _by(scopes.read_paths)
    all_paths = _by(scopes.all_paths)
    read_places = _by(content.read_places)
    read_texts = _by(content.read_texts)
    read_names = _by(content.read_names)
    read_chunk_texts = _by(content.read_chunk_texts)
    giving_a_value = _by(candidates.giving_a_value)
    reexporting = _by(candidates.reexporting)
    look_up = _by(views.look_up)
    messages = _by(commit_evidence.messages)
    activity = _by(commit_evidence.activity)
