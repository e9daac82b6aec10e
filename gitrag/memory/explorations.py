"""Save explorations and find them again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.chunking import chunk
from gitrag.corpus.documents import Document
from gitrag.embedding.text import chunk_text, path_text
from gitrag.errors import GitragError, ModelError, StoreError, UsageError
from gitrag.late import np
from gitrag.machine import files
from gitrag.memory import exploration
from gitrag.memory.exploration import SECTIONS
from gitrag.memory.observations import Identity, Observation, Observations
from gitrag.memory.projects import Project, home_directory, project_called
from gitrag.model import Chunk
from gitrag.search.bearing import DocumentPart, Documents
from gitrag.search.question import Question
from gitrag.store.nearby import PATH_WEIGHT
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder

LIMIT = 5
MIN_SCORE = 0.3


def nothing_recalled(looked_at: int, *, asked: bool = True) -> str:
    """Return that nothing was found among so many memories; asked: by a question, not listed."""
    if not looked_at or not asked:
        return "Nothing of this kind and project is remembered."
    return f"Of {count(looked_at, 'remembered topic')} none scores {MIN_SCORE:.2f} or more."


_ENCODED_AT_ONCE = 48
"""Texts embedded before a search answers (half a second on two cores); further ones use draft vectors."""

_FILE_MODE = 0o600
_MOST_FILE_BYTES = 64 * 1024 * 1024


class Saved(Struct, frozen=True):
    """The result of a save.

    Attributes:
        observation: The whole observation as stored now.
        namesake: One of the same title that is kept under the project's name alone, where this is new.
    """

    observation: Observation
    created: bool
    namesake: Observation | None = None

    def __str__(self) -> str:
        text = exploration.saved_text(self.observation, created=self.created)
        return text if self.namesake is None else f"{text}\n\n{exploration.namesake_text(self.namesake)}"


class Imported(Struct, frozen=True):
    """The result of an import: numbers of observations created, updated, and unchanged."""

    created: int
    updated: int
    same: int


def open_explorations(
    environ: Mapping[str, str], model_dir: Path | None = None, model: str = ""
) -> Explorations:
    from gitrag.embedding import local_model

    directory = local_model.model_directory(model_dir)

    @cache
    def encoder() -> Encoder | None:
        from gitrag.embedding.brought import load_encoder

        try:
            return load_encoder(directory, model)
        except ModelError:  # not fetched yet: draft vectors are used
            return None

    return Explorations(home_directory(environ), encoder)


class Explorations:
    """The explorations of a user."""

    def __init__(
        self,
        home: Path,
        encoder: Callable[[], Encoder | None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = Observations(home)
        self._encoder = encoder
        self._clock = clock

    def save(
        self,
        title: str,
        sections: Mapping[str, str | None],
        *,
        project: str | Project,
        scope: str = exploration.DEFAULT_SCOPE,
        session_id: str = exploration.DEFAULT_SESSION,
    ) -> Saved:
        """Save an exploration, or add to the one with the same title.

        Args:
            sections: Texts by name (``exploration.SECTIONS``); missing or blank ones keep the stored text.
            project: The project, or a key; empty for none.
            scope: Distinguishes topics with the same title and project.
        """
        found = exploration.given_sections(title, sections)
        now = self._now()
        project = _project(project)
        stored = self.store.projects()
        key = project.key(stored)
        if former := [each for each in project.own(stored) if each != key]:
            self.store.claim(former, key)
        identity = Identity(exploration.topic_key(title), key, scope.strip() or exploration.DEFAULT_SCOPE)
        saved, created = self.store.save(
            Observation(
                observation_id=0,
                kind=exploration.KIND,
                identity=identity,
                title=title.strip(),
                session_id=session_id.strip() or exploration.DEFAULT_SESSION,
                revision=1,
                created=now,
                updated=now,
                sections=found,
            )
        )
        by_name = replace(identity, project=project.name)
        return Saved(saved, created, self.store.find(by_name) if created and project.place else None)

    def called(self, given: str | None, here: Project) -> Project:
        """Return the project that a name or a key means: see `project_called`."""
        return project_called(given, here, self.store.projects())

    def all(self, *, kind: str | None = None, project: str | Project | None = None) -> list[Observation]:
        """Return all observations, the last changed first; only of a kind and a project if given."""
        if not exploration.is_exploration(kind):
            return []
        keys = None if project is None else _project(project).readable(self.store.projects())
        return self.store.read(kind=exploration.KIND if kind is not None else None, projects=keys)

    def get(self, wanted: str, project: str | Project) -> Observation:
        """Return an observation by its number, its topic key or its title."""
        if wanted.isascii() and wanted.isdigit() and (found := self.store.get(int(wanted[:18]))):
            return found
        key = wanted if wanted.startswith(f"{exploration.KIND}/") else exploration.topic_key(wanted)
        same = [each for each in self.store.read() if each.identity.topic_key == key]
        order = _project(project).readable(self.store.projects())
        own = sorted(
            (each for each in same if each.identity.project in order),
            key=lambda each: order.index(each.identity.project),
        )
        if not same:
            raise UsageError(
                f'Nothing is remembered as "{wanted[:60]}".', "`gitrag explore list` names what is."
            )
        return (own or same)[0]

    def search(
        self,
        query: str,
        *,
        kind: str | None = None,
        project: str | Project | None = None,
        limit: int = LIMIT,
        min_score: float = MIN_SCORE,
    ) -> list[Recalled]:
        """Search observations; return them best first.

        Raises:
            UsageError: The query has no words.
        """
        from gitrag.embedding.draft import drafter
        from gitrag.memory.explorations import pieces, recall, texts
        from gitrag.search.question import read

        question = read(query, may_be_report=False)
        if not question.words:
            raise UsageError(f"There is no word to search for in {query[:60]!r}.", "Ask in words.")
        observations = self.all(kind=kind, project=project)
        cut = pieces(observations)
        if not cut:
            return []
        encoder = self._encoder()
        wanted = texts(observations, cut)
        vectors = self._vectors(wanted, encoder, whole=project is None)
        vector = (
            drafter().draft([question.text])[0] if encoder is None else encoder.encode_query(question.text)
        )
        return recall(question, vector, observations, cut, vectors, limit=limit, min_score=min_score)

    def adopt(self, number: int, project: Project) -> Observation:
        """Count an observation to a project; one with the same title there takes up what it does not say."""
        done = self.store.adopt(number, project.key(self.store.projects()))
        if done is None:
            raise _nothing_under(number)
        found, differ = done
        if differ:
            raise UsageError(
                f"Number {found.observation_id}, of the same title, says something else in"
                f" {' and '.join(sorted(differ))}: nothing was changed.",
                f"gitrag explore show {number}; save what is to stay, then gitrag explore delete {number}",
            )
        return found

    def delete(self, number: int) -> None:
        """Delete an observation."""
        if not self.store.delete(number):
            raise _nothing_under(number)

    def export(self, directory: Path, *, project: str | Project | None = None) -> int:
        """Write a Markdown file for each observation; return how many."""
        found = self.all(project=project)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for each in found:
                path = directory / exploration.file_name(each)
                files.replace(path, exploration.to_markdown(each).encode(), _FILE_MODE)
        except OSError as error:
            raise StoreError(
                f"Cannot write {error.filename or directory}: {error.strerror}.", "Choose another directory."
            ) from error
        return len(found)

    def import_(self, place: Path) -> Imported:
        """Import what `export` wrote: a file, or all ``.md`` files of a directory.

        All are read before any is saved. An existing observation of the same identity is updated if it
        differs.
        """
        read = [exploration.from_markdown(text, name) for name, text in _exports(place)]
        created = updated = same = 0
        for each in read:
            sections = exploration.given_sections(each.title, each.sections)
            there = self.store.find(each.identity)
            if there is not None and all(there.sections.get(name) == sections[name] for name in sections):
                same += 1
                continue
            now = self._now()
            updated_at = now if there is not None else each.updated or now
            _saved, is_new = self.store.save(
                replace(each, sections=sections, created=each.created or now, updated=updated_at)
            )
            created, updated = created + is_new, updated + (not is_new)
        return Imported(created, updated, same)

    def _vectors(self, wanted: Sequence[str], encoder: Encoder | None, *, whole: bool) -> NDArray[np.float32]:
        """Return the vectors of texts: the model's if stored or if there is time to embed, else drafts.

        Args:
            whole: Whether these are all stored texts, so that other vectors can be deleted.
        """
        from gitrag.embedding.draft import drafter
        from gitrag.embedding.text import text_key
        from gitrag.model import DIMENSIONS

        model = "" if encoder is None else encoder.model
        keys = [text_key(text, model) for text in wanted]
        kept = {} if encoder is None else self.store.vectors(dict.fromkeys(keys))
        missing = [place for place, key in enumerate(keys) if key not in kept]
        vectors = np.empty((len(wanted), DIMENSIONS), np.float32)
        for place, key in enumerate(keys):
            if key in kept:
                vectors[place] = np.frombuffer(kept[key], "<f4")
        exact = missing[:_ENCODED_AT_ONCE] if encoder is not None else []
        drafts = missing[len(exact) :]
        if drafts:
            vectors[drafts] = drafter(model).draft([wanted[place] for place in drafts])
        if exact and encoder is not None:
            vectors[exact] = encoder.encode([wanted[place] for place in exact])
            new = {keys[place]: vectors[place].astype("<f4").tobytes() for place in exact}
            self._keep(new, keys if whole else None)
        return vectors

    def _keep(self, new: Mapping[str, bytes], alive: Sequence[str] | None) -> None:
        try:
            self.store.keep_vectors(new, alive)
        except GitragError:  # the memory cannot be written: search without storing the vectors
            return

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")


def _project(project: str | Project) -> Project:
    return Project(project, project) if isinstance(project, str) else project


def _nothing_under(number: int) -> UsageError:
    return UsageError(f"Nothing is remembered under number {number}.", "`gitrag explore list` names what is.")


def _exports(place: Path) -> Iterator[tuple[str, str]]:
    is_directory = os.path.isdir(place)  # noqa: PTH112  # returns False where the path is too long
    paths = sorted(place.glob("*.md")) if is_directory else [place]
    for path in paths:
        try:
            if path.stat().st_size > _MOST_FILE_BYTES:
                raise UsageError(f"{path} is larger than 64 MiB.", "It is no export of `gitrag explore`.")
            yield str(path), path.read_bytes().decode("utf-8")
        except OSError as error:
            raise UsageError(f"Cannot read {path}: {error.strerror}.", "Give a file or directory.") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is no UTF-8 text.", "Import what `export` has written.") from error


class Recalled(Struct, frozen=True):
    """An observation that answers a query.

    Attributes:
        score: Relevance in [0, 1].
        text: The most relevant piece of it.
    """

    observation: Observation
    score: float
    section: str
    text: str


Piece = tuple[int, str, "Chunk"]
"""A piece of a section, as it is searched: whose, the section's name, and its text."""


def pieces(observations: Sequence[Observation]) -> list[Piece]:
    """Split observations into pieces, each small enough to be embedded."""
    found = []
    for owner, observation in enumerate(observations):
        for name in SECTIONS:
            text = observation.sections.get(name, "")
            cut = chunk(text.encode("utf-8", "replace"), "markdown") if text else []
            found += [(owner, name, each) for each in cut]
    return found


def texts(observations: Sequence[Observation], cut: Sequence[Piece]) -> list[str]:
    """Return the texts to embed: each observation's title, then each piece."""
    return [path_text(each.title) for each in observations] + [chunk_text(each) for *_, each in cut]


def recall(
    question: Question,
    vector: NDArray[np.float32],
    observations: Sequence[Observation],
    cut: Sequence[Piece],
    vectors: NDArray[np.float32],
    *,
    limit: int,
    min_score: float,
) -> list[Recalled]:
    """Return the observations that answer a query, best first.

    Args:
        vector: Its embedding, float32 (384,), L2-normalised.
        cut: Their ``pieces``.
        vectors: Of their ``texts``, float32 (n + p, 384), L2-normalised.
    """
    if not cut or not question.words:
        return []
    documents = Documents(
        kinds=(),
        documents=tuple(Document(str(each.observation_id), "", each.title) for each in observations),
        texts=tuple("\n\n".join(each.sections.values()) for each in observations),
        parts=tuple(
            DocumentPart(owner, replace(each, qualified_name=observations[owner].title), place)
            for place, (owner, _, each) in enumerate(cut)
        ),
        vectors=_with_titles(vectors[len(observations) :], vectors[: len(observations)], cut),
    )
    found = documents.on_text(question.text, vector)
    ties = [(each.updated, each.observation_id) for each in observations]
    order = sorted(found, key=lambda each: (round(each.score, 6), ties[each.document]), reverse=True)
    return [
        Recalled(observations[each.document], each.score, cut[each.part][1], cut[each.part][2].text)
        for each in order
        if each.score >= min_score and each.part >= 0
    ][:limit]


def _with_titles(
    own: NDArray[np.float32], titles: NDArray[np.float32], cut: Sequence[Piece]
) -> NDArray[np.float32]:
    """Mix the vector of each piece with that of its observation's title, as a chunk's with its path's."""
    joint = own + np.float32(PATH_WEIGHT) * titles[[owner for owner, *_ in cut]]
    mixed: NDArray[np.float32] = joint / np.maximum(np.linalg.norm(joint, axis=1, keepdims=True), 1e-9)
    return mixed
