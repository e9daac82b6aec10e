"""What the user had gitrag remember: a SQLite file of its own, never part of an index.

SQLite and not DuckDB, because many processes write a little at a time: its writers can wait for each other
(`busy_timeout`), which DuckDB's cannot, and it opens in a tenth of a millisecond. A rollback journal and not
a write-ahead log: the memory stays one file that can be copied, and works in a home directory on a network,
where the log's shared memory does not. A save is three fsyncs, a few milliseconds, once per conversation.

The file holds the user's data. It is never moved aside, rebuilt or cleaned up; if it is damaged, an error
names it. Only the vectors in it are derived data, keyed by their texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gitrag.errors import BusyError, StoreError
from gitrag.memory.projects import is_repository, name_of

NAME = "memory.sqlite3"
"""The file's name in GITRAG_HOME."""

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for others: far longer than twenty of them need."""

_APPLICATION_ID = 0x67745247  # "gtRG": distinguishes ours from other SQLite files
_FILE_MODE = 0o600
_DIRECTORY_MODE = 0o700


class Identity(Struct, frozen=True):
    """What identifies an observation.

    Attributes:
        topic_key: ``explore/{slug}``.
        project: The project's key (`gitrag.memory.projects`); empty for none.
        scope: ``project``, or any name the caller chooses.
    """

    topic_key: str
    project: str
    scope: str

    @property
    def name(self) -> str:
        """What the project is called."""
        return name_of(self.project)

    @property
    def repository(self) -> str:
        """The project's remote, or place and first commit; empty where only a name was given."""
        return self.project if is_repository(self.project) else ""


class Observation(Struct, frozen=True):
    """Something that the user had gitrag remember.

    Attributes:
        observation_id: Its number, which never changes.
        kind: The kind of observation: ``explore``.
        identity: Its topic, project and scope.
        title: The title last given.
        session_id: The session that wrote it last.
        revision: 1 when created, incremented by each change.
        created: When it was created, ISO 8601, UTC.
        updated: When it was last changed, in the same form.
        sections: Text by section name, byte for byte as given.
    """

    observation_id: int
    kind: str
    identity: Identity
    title: str
    session_id: str
    revision: int
    created: str
    updated: str
    sections: Mapping[str, str]


def _create(db: sqlite3.Connection) -> None:
    # Each section is a row: texts may contain headings, so they could not be split again if joined.
    db.execute("""
        CREATE TABLE observations (
            observation_id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL, topic_key TEXT NOT NULL, project TEXT NOT NULL, scope TEXT NOT NULL,
            title TEXT NOT NULL, session_id TEXT NOT NULL, revision INTEGER NOT NULL,
            created TEXT NOT NULL, updated TEXT NOT NULL,
            UNIQUE (topic_key, project, scope)
        )""")
    db.execute("""
        CREATE TABLE sections (
            observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
            name TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (observation_id, name)
        )""")


def _add_vectors(db: sqlite3.Connection) -> None:
    # A vector is 384 float32, little-endian; its key is embedding.text.text_key of its text.
    db.execute("CREATE TABLE vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create, _add_vectors)
"""In order; each runs once, in one transaction with the record of it. Never edit one: add another."""


class Observations:
    """The observations of a user.

    Each call has its own connection, so that any thread may call, and sees other processes' changes at once.
    """

    def __init__(self, home: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.path = home / NAME
        self._busy_timeout_s = busy_timeout_s

    def save(self, observation: Observation) -> tuple[Observation, bool]:
        """Create an observation, or update the one with the same identity.

        A given section replaces the stored one; the others stay.

        Args:
            observation: What to write. Its number, revision and creation time are used only if it is created;
                number 0, or one that is taken, means the next free number.

        Returns:
            The observation as stored now, and whether it was created.
        """
        with self._write() as db:
            found = _find(db, observation.identity)
            if found is None:
                number = observation.observation_id
                taken = not number or bool(
                    db.execute("SELECT 1 FROM observations WHERE observation_id = ?", [number]).fetchone()
                )
                saved = _insert(db, observation, None if taken else number)
                _put_sections(db, saved, observation.sections)
                return replace(saved, sections=dict(observation.sections)), True
            db.execute(
                "UPDATE observations SET title = ?, session_id = ?, revision = revision + 1, updated = ?"
                " WHERE observation_id = ?",
                [observation.title, observation.session_id, observation.updated, found.observation_id],
            )
            _put_sections(db, found, observation.sections)
            return replace(
                found,
                title=observation.title,
                session_id=observation.session_id,
                revision=found.revision + 1,
                updated=observation.updated,
                sections={**found.sections, **observation.sections},
            ), False

    def read(self, *, kind: str | None = None, projects: Collection[str] | None = None) -> list[Observation]:
        """Return observations, the last changed first."""
        with self._read() as db:
            found = [] if db is None else _select(db, {"kind": kind})
        return [each for each in found if projects is None or each.identity.project in projects]

    def projects(self) -> list[str]:
        with self._read() as db:
            rows = [] if db is None else db.execute("SELECT DISTINCT project FROM observations ORDER BY 1")
            return [project for (project,) in rows]

    def claim(self, former: Iterable[str], project: str) -> None:
        """Give what is stored under other keys of a project its key; topics that it has there too stay."""
        with self._write() as db:
            db.executemany(
                "UPDATE OR IGNORE observations SET project = ? WHERE project = ?",
                [(project, key) for key in former],
            )

    def adopt(self, number: int, project: str) -> tuple[Observation, Collection[str]] | None:
        """Give an observation another project; one on the same topic there takes up what it does not say.

        Returns:
            It, as stored now, and the sections in which both say different things: then nothing is changed.
            None if no observation has this number.
        """
        with self._write() as db:
            found = _select(db, {"observation_id": number})
            if not found:
                return None
            own = found[0]
            there = _find(db, replace(own.identity, project=project))
            if there is None:
                db.execute("UPDATE observations SET project = ? WHERE observation_id = ?", [project, number])
                return _select(db, {"observation_id": number})[0], ()
            both = own.sections.keys() & there.sections.keys()
            differ = [name for name in both if own.sections[name] != there.sections[name]]
            if differ or there.observation_id == number:
                return there, differ
            _put_sections(db, there, own.sections)
            db.execute("DELETE FROM observations WHERE observation_id = ?", [number])
            db.execute(
                "UPDATE observations SET revision = revision + 1 WHERE observation_id = ?",
                [there.observation_id],
            )
            return _select(db, {"observation_id": there.observation_id})[0], ()

    def find(self, identity: Identity) -> Observation | None:
        """Return the observation with an identity, or None."""
        with self._read() as db:
            return None if db is None else _find(db, identity)

    def get(self, number: int) -> Observation | None:
        """Return the observation with a number, or None."""
        with self._read() as db:
            found = [] if db is None else _select(db, {"observation_id": number})
            return found[0] if found else None

    def delete(self, number: int) -> bool:
        """Delete an observation with its sections; return whether it existed."""
        if not self.path.exists():
            return False
        with self._write() as db:
            done = db.execute("DELETE FROM observations WHERE observation_id = ?", [number])
            return done.rowcount > 0

    def vectors(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored vectors among those of the keys, by key: float32 (384,), as bytes."""
        with self._read() as db:
            if db is None:
                return {}
            found = {}
            for key in keys:
                row = db.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
                if row is not None:
                    found[key] = row[0]
            return found

    def keep_vectors(self, vectors: Mapping[str, bytes], alive: Iterable[str] | None) -> None:
        """Store vectors.

        Args:
            vectors: Bytes of float32 (384,) by key.
            alive: The keys of all texts that are stored now; other vectors are deleted. None to delete none.
        """
        with self._write() as db:
            if alive is not None:
                kept = set(alive)
                dead = [row for row in db.execute("SELECT key FROM vectors").fetchall() if row[0] not in kept]
                db.executemany("DELETE FROM vectors WHERE key = ?", dead)
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(vectors.items()))

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection; None if nothing has been written yet."""
        if not self.path.exists():
            yield None
            return
        with self._opened() as db:
            yield db

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction: committed at the end of the block, rolled back on an error."""
        try:
            self.path.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            self.path.touch(mode=_FILE_MODE)
        except OSError as error:
            raise StoreError(
                f"Cannot write {self.path}: {error.strerror}.",
                "Make it writable, or set GITRAG_HOME to another directory.",
            ) from error
        with self._opened() as db, _transaction(db):
            yield db

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        db = None
        try:
            db = sqlite3.connect(self.path, timeout=self._busy_timeout_s, isolation_level=None)
            db.execute("PRAGMA foreign_keys = ON")
            self._migrate(db)
            yield db
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter of a message with a damaged name
            raise self._wrapped(error) from error
        finally:
            if db is not None:
                db.close()

    def _migrate(self, db: sqlite3.Connection) -> None:
        """Run the pending migrations; refuse the file of a newer version."""
        version = _pragma(db, "user_version")
        if version == len(MIGRATIONS):
            return
        with _transaction(db):
            version = _pragma(db, "user_version")  # another process may have migrated it meanwhile
            if version > len(MIGRATIONS):
                raise StoreError(
                    f"{self.path} was written by a newer gitrag (version {version}, this one knows"
                    f" {len(MIGRATIONS)}).",
                    "Update gitrag; nothing has been changed.",
                )
            for migrate in MIGRATIONS[version:]:
                migrate(db)
            db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _wrapped(self, error: sqlite3.Error | UnicodeDecodeError) -> StoreError | BusyError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return BusyError(
                f"Other processes have been writing to {self.path} for {self._busy_timeout_s:.0f} s.",
                "Try again.",
            )
        if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT} or isinstance(error, UnicodeDecodeError):
            return StoreError(
                f"{self.path} is damaged or no memory of gitrag's: {error}.",
                "It is left as it is. Move it away, and `gitrag explore import` what you have exported.",
            )
        return StoreError(
            f"Cannot read or write {self.path}: {error}.", "Check its permissions and the free disk space."
        )


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    # IMMEDIATE takes the write lock at once; two transactions that had read first could deadlock.
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


_COLUMNS = "observation_id, kind, topic_key, project, scope, title, session_id, revision, created, updated"


def _find(db: sqlite3.Connection, identity: Identity) -> Observation | None:
    found = _select(
        db, {"topic_key": identity.topic_key, "project": identity.project, "scope": identity.scope}
    )
    return found[0] if found else None


def _select(db: sqlite3.Connection, equal: Mapping[str, object]) -> list[Observation]:
    wanted = {name: value for name, value in equal.items() if value is not None}
    where = " AND ".join(f"{name} = ?" for name in wanted) or "TRUE"
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM observations WHERE {where} ORDER BY updated DESC, observation_id DESC",
        list(wanted.values()),
    ).fetchall()
    found = []
    for number, kind, topic_key, project, scope, title, session_id, revision, created, updated in rows:
        sections = db.execute("SELECT name, text FROM sections WHERE observation_id = ?", [number])
        found.append(
            Observation(
                observation_id=number,
                kind=kind,
                identity=Identity(topic_key, project, scope),
                title=title,
                session_id=session_id,
                revision=revision,
                created=created,
                updated=updated,
                sections=dict(sections.fetchall()),
            )
        )
    return found


def _insert(db: sqlite3.Connection, new: Observation, number: int | None) -> Observation:
    values: Sequence[object] = [
        number,
        new.kind,
        new.identity.topic_key,
        new.identity.project,
        new.identity.scope,
        new.title,
        new.session_id,
        new.revision,
        new.created,
        new.updated,
    ]
    done = db.execute(f"INSERT INTO observations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return replace(new, observation_id=done.lastrowid or 0)


def _put_sections(db: sqlite3.Connection, observation: Observation, sections: Mapping[str, str]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO sections VALUES (?, ?, ?)",
        [(observation.observation_id, name, text) for name, text in sections.items()],
    )
