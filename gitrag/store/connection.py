"""The store: where its file lies, how it is opened, and what happens when it cannot be."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.errors import BusyError, DiskFullError, GitragError, StoreError
from gitrag.machine.files import PRIVATE, make_private, settle
from gitrag.machine.locks import FileLock, StoreLock
from gitrag.store import schema
from gitrag.store.engine import Engine, start
from gitrag.store.file_state import NAME, FileState, state_of
from gitrag.store.memo import Memo
from gitrag.store.memory_copy import MAX_BYTES, Copy, write_copy
from gitrag.store.schema import ForeignDatabaseError

if TYPE_CHECKING:
    from typing import TypeAlias

    from duckdb import DuckDBPyConnection, Error

    Connection: TypeAlias = DuckDBPyConnection  # what rooms above may call it without importing duckdb

_ASIDE = "damaged-*.duckdb*"
_NEW = "smaller.duckdb"
_BUILD = "Run `gitrag index` to build it."
_BUILD_OWN = "or run `gitrag index remove` and `gitrag index`."

_NOT_DAMAGE: tuple[tuple[tuple[str, ...], type[GitragError], str, str], ...] = (
    (
        ("No space left", "not enough disk space"),
        DiskFullError,
        "No space left on the disk that holds {path}.",
        "Free some space and try again; nothing was lost.",
    ),
    (
        ("Permission denied", "Read-only file system"),
        StoreError,
        "Cannot open {path}: {text}",
        "Make it writable.",
    ),
    (
        ("Input/output error", "fsync failed"),
        StoreError,
        "The disk fails with {path}: {text}",
        "Look at the disk's health; the index can be built again, and nothing else is in it.",
    ),
    (
        ("Could not set lock", "Conflicting lock"),
        BusyError,
        "Another program has {path} open.",
        "Close it (a DuckDB shell?) and try again.",
    ),
    (
        ("version number",),
        StoreError,
        "{path} was written by a newer DuckDB.",
        "Upgrade gitrag, or run `gitrag index remove` and `gitrag index`.",
    ),
)
"""What DuckDB says when the file is not at fault: signs in its message, our error, message and hint."""

_DAMAGE = {
    "not a valid DuckDB database": "no DuckDB database",
    "is an existing extension": "no DuckDB database",  # a file of SQLite's, say
    "Is a directory": "a directory",
    "Could not read enough bytes": "cut short",
    "checksum": "its checksums do not match",
    "Corrupt database": "corrupt",
    "orrupted": "corrupt",  # Corrupted RLE segment; Database file appears to be corrupted
    "Cannot read database file": "corrupt",
    "Serialization Error": "corrupt",
    "Failed to deserialize": "corrupt",
    "INTERNAL Error": "corrupt",
    "FATAL Error": "corrupt",
    "WAL": "its log is corrupt",
}
"""What it says of a file cut short, overwritten, or of something else, and how we put it."""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C during a statement be what it is elsewhere; DuckDB makes another error of it."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


class StoreMissingError(StoreError):
    """There is no index yet, or it was of another version, or it was damaged and has been moved aside."""


class Store:
    """One index file, opened for each operation and closed after it.

    Args:
        directory: ``<git common dir>/gitrag``.
        recipe: What the content was made with (versions of chunker, terms, encoder); an index made with
            another one is as good as none.
        lock_timeout_s: How long to wait for other processes.
        say: Called with one line when something happened that the user should know of.
        resident: Keep it in memory while nothing changes: for a process that answers many questions.
        file_mode: Says what permissions the files have; asked when something is first written.
    """

    def __init__(
        self,
        directory: Path,
        *,
        recipe: str,
        lock_timeout_s: float = 10.0,
        say: Callable[[str], None] = lambda _line: None,
        resident: bool = False,
        file_mode: Callable[[], int] = lambda: PRIVATE,
    ) -> None:
        self.memo = Memo()
        self.state: FileState | None = None
        self._resident = resident
        self._seen: FileState | None = None
        self._copy: Copy | None = None
        self._identity_seen: str | None = None
        self.directory = directory
        self.path = directory / NAME
        self._recipe = recipe
        self._say = say
        self._lock = StoreLock(directory, lock_timeout_s)
        self._idle: list[Engine] = []
        self._file_mode = file_mode
        self._mode: int | None = None

    def while_locked(self, entered: Callable[[], AbstractContextManager[None]]) -> None:
        """Say what is to be entered for as long as others may have to wait for this process."""
        self._lock.while_held = entered

    def exists(self) -> bool:
        """Tell whether there is an index, or something in its place."""
        return self.path.exists()

    def size_bytes(self) -> int:
        """Measure the index on disk, its log included."""
        total = 0
        for path in (self.path, self.path.with_name(self.path.name + ".wal")):
            with suppress(OSError):
                total += path.stat().st_size
        return total

    @contextmanager
    def read(self) -> Iterator[DuckDBPyConnection]:
        """Open the index for reading, beside other readers.

        ``memo`` is then of what is read, and ``state`` tells it from what is read another time.

        Raises:
            StoreMissingError: There is none to read; build one.
            StoreError: It cannot be opened.
            BusyError: A writer held it for too long.
        """
        import duckdb

        self._require()
        read = None
        try:
            copy = self._current_copy() if self._resident else None
            if copy is not None:
                with _interruptible():
                    self.memo, self.state = copy.memo, copy.state
                    yield copy.db
                return
            with _interruptible(), self._engine() as engine, self._lock.shared(), engine.let_go():
                self._require()  # while others held the lock, it may have been removed
                read = self._identity()
                db = engine.attach(self.path, read_only=True)
                self._check(db)
                self.memo, self.state = Memo(), state_of(self.path)
                yield db
        except (duckdb.Error, ForeignDatabaseError) as error:
            problem = self._diagnose(error)
            with self._lock.exclusive("moving a damaged index aside"):
                if self._identity() == read:  # or another process has, and built a new one
                    self._move(problem)
            raise StoreMissingError("The index was damaged and has been moved aside.", _BUILD) from error

    def _current_copy(self) -> Copy | None:
        """Give the copy in memory, made when the file is found unchanged for the first time."""
        import duckdb

        state = state_of(self.path, MAX_BYTES)
        if self._copy is not None and not self._copy.is_of(state):
            self._copy.close()
            self._copy = None
        if self._copy is None and state is not None and state == self._seen:
            with self._lock.shared():
                if state_of(self.path) == state:
                    try:
                        self._copy = Copy(self.path, state, start(self.directory))
                        self._check(self._copy.db)
                    except (duckdb.Error, StoreError):  # what is wrong shows when the file is opened
                        self._copy = None
                        state = None
        self._seen = state
        return self._copy

    @contextmanager
    def write(self, purpose: str, *, make: bool = True) -> Iterator[DuckDBPyConnection]:
        """Open the index for one transaction, alone.

        The transaction is committed when the block ends and rolled back when it raises.

        Args:
            purpose: What for, in a few words; shown to those who wait.
            make: Make it if it is not there. What is written must not rest on what it held before. Otherwise
                it must be the index that was opened last: the ids of another one are of other things.

        Raises:
            StoreMissingError: It is not there, or another one is, and it is not to be made.
            StoreError: It cannot be opened or written.
            BusyError: Others held it for too long.
        """
        import duckdb

        self._make_directory()
        with (
            _interruptible(),
            self._engine() as engine,
            self._lock.exclusive(purpose),
            self._settled(),
        ):
            if not make:
                self._require()
            before = self._identity_seen
            try:
                with engine.let_go():
                    db = self._open_or_make(engine)
                    if not make and before is not None and self._identity_seen != before:
                        problem = "The index has been built anew by another process."
                        raise StoreMissingError(problem, "Try again.")
                    self.memo = Memo()
                    db.execute("BEGIN")
                    yield db
                    db.execute("COMMIT")
            except duckdb.Error as error:
                self._move(self._diagnose(error))
                raise StoreMissingError(
                    "The index was damaged and has been moved aside.", "Run `gitrag index` to build it again."
                ) from error

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """Give a running DuckDB that no other thread uses."""
        try:
            engine = self._idle.pop()
        except IndexError:
            engine = Engine(self.directory)
        engine.start()
        try:
            yield engine
        finally:
            self._idle.append(engine)

    def close(self) -> None:
        """Give back the memory of the copy and of idle DuckDB engines; the next operation starts anew."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None
        while self._idle:
            self._idle.pop().stop()

    def compact(self) -> int:
        """Write the index anew without the room that deleted rows left, beside readers.

        Returns:
            The bytes given back to the disk; 0 when another process has written, or was at it, meanwhile.

        Raises:
            StoreMissingError: There is none.
            StoreError: It cannot be written.
            BusyError: Others held it for too long.
        """
        import duckdb

        before = self.size_bytes()
        new = self.path.with_name(_NEW)
        alone = FileLock(self.directory / "compact.lock")
        if not alone.try_acquire():
            return 0
        try:
            with _interruptible(), self._lock.shared():
                self._require()
                self._delete(f"{_NEW}*")  # of a process that was killed
                state = state_of(self.path)
                with start(self.directory) as db:
                    write_copy(db, self.path, new)
            with self._lock.exclusive("putting the smaller index in its place"):
                if state is None or state_of(self.path) != state or state[-1]:
                    return 0
                with self._settled():
                    new.replace(self.path)
        except duckdb.Error as error:
            self._diagnose(error)  # raised as what it is; damage shows again when the index is next read
            return 0
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            with suppress(StoreError):
                self._delete(f"{_NEW}*")
            alone.release()
        return before - self.size_bytes()

    def remove(self) -> int:
        """Delete the index, and what was moved aside: derived data, nothing of the user's.

        Returns:
            The bytes freed.

        Raises:
            StoreError: It cannot be deleted.
            BusyError: Others held it for too long.
        """
        paths = [
            path for pattern in (f"{NAME}*", _ASIDE, f"{_NEW}*") for path in self.directory.glob(pattern)
        ]
        if not paths:
            return 0
        freed = sum(path.stat().st_size for path in paths)
        with self._lock.exclusive("removing the index"):
            self._delete(f"{NAME}*", _ASIDE, f"{_NEW}*")
        return freed

    def _require(self) -> None:
        if not self.exists():
            raise StoreMissingError("There is no index here.", _BUILD)

    def _identity(self) -> tuple[int, int] | None:
        """Tell one index file from the next at the same path."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_dev

    def _delete(self, *patterns: str) -> None:
        for path in [path for pattern in patterns for path in self.directory.glob(pattern)]:
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise self._unwritable(error) from error

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """See to it that the files are open to nobody else: before, those of earlier versions too, and after.

        In between, what DuckDB makes has what the umask leaves, in a directory that is closed.
        """
        if self._mode is None:
            self._mode = self._file_mode()
        settle(self.directory, self._mode)
        try:
            yield
        finally:
            settle(self.directory, self._mode)

    def _make_directory(self) -> None:
        try:
            make_private(self.directory)
        except FileExistsError as error:
            problem = f"Cannot write the index to {self.directory}: it is not a directory."
            raise StoreError(problem, "Move it out of the way.") from error
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"Cannot write the index to {self.directory}: {error.strerror}.",
            "The index lives in the git directory; make it writable, or free some disk space.",
        )

    def _open_or_make(self, engine: Engine) -> DuckDBPyConnection:
        """Open the file for writing, made, migrated or built anew as need be; the lock is held."""
        import duckdb

        try:
            db = self._open_writable(engine)
            if db is not None:
                return db
            self._delete(f"{NAME}*")
            self._say("The index was made by another version of gitrag; building it again.")
        except (duckdb.Error, ForeignDatabaseError) as error:
            self._move(self._diagnose(error))
        try:
            db = self._open_writable(engine)
        except (duckdb.Error, ForeignDatabaseError) as error:
            raise StoreError(f"Cannot make the index: {self._diagnose(error)}") from error
        if db is None:
            raise StoreError(f"Cannot make the index {self.path}.")
        return db

    def _open_writable(self, engine: Engine) -> DuckDBPyConnection | None:
        """Open and migrate; None, closed, when the content was made with another recipe."""
        usable = False
        try:
            db = engine.attach(self.path)
            usable = self._upgrade(db)
        finally:
            if not usable:
                engine.stop()
        return db if usable else None

    def _upgrade(self, db: DuckDBPyConnection) -> bool:
        """Migrate; False when the content was made with another recipe."""
        meta = schema.read_meta(db)
        found = schema.version(meta)
        self._refuse_newer(found, meta)
        if found < schema.SCHEMA_VERSION:
            schema.migrate(db, found)
        if "recipe" not in meta:
            schema.put(db, "recipe", self._recipe)
            meta["identity"] = secrets.token_hex(8)
            schema.put(db, "identity", meta["identity"])
        self._identity_seen = meta.get("identity")
        return meta.get("recipe", self._recipe) == self._recipe

    def _check(self, db: DuckDBPyConnection) -> None:
        """Raise when an opened index cannot be read as it stands."""
        meta = schema.read_meta(db)
        found = schema.version(meta)
        self._refuse_newer(found, meta)
        if found < schema.SCHEMA_VERSION or meta.get("recipe") != self._recipe:
            raise StoreMissingError("The index was made by another version of gitrag.", _BUILD)
        self._identity_seen = meta.get("identity")

    def _refuse_newer(self, found: int, meta: Mapping[str, str]) -> None:
        """Leave a newer gitrag's index alone: two that are in use would build it again in turn for ever."""
        if found > schema.SCHEMA_VERSION:
            raise StoreError(
                f"The index is of schema {found}; this gitrag knows up to {schema.SCHEMA_VERSION}.",
                f"Upgrade gitrag, {_BUILD_OWN}",
            )
        if schema.is_newer(meta.get("recipe", self._recipe), self._recipe):
            raise StoreError(
                "The index was made by a newer gitrag than this one.",
                f"Upgrade or restart this one (hooks: `gitrag hooks install`), {_BUILD_OWN}",
            )

    def _diagnose(self, error: Error | ForeignDatabaseError) -> str:
        """Say how the file is damaged; raise what is not damage as what it is."""
        whole = str(error).strip()
        text = whole.splitlines()[0]
        for signs, kind, message, hint in _NOT_DAMAGE:
            if any(sign in whole for sign in signs):
                raise kind(message.format(path=self.path, text=text), hint) from error
        if isinstance(error, ForeignDatabaseError):
            return text
        for sign, words in _DAMAGE.items():
            if sign in whole:
                return words
        raise error  # a statement of ours is wrong: a bug

    def _move(self, problem: str) -> None:
        target = self.path.with_name(f"damaged-{time.strftime('%Y%m%d-%H%M%S')}.duckdb")
        self._delete(_ASIDE)  # one is enough to look into
        try:
            with suppress(FileNotFoundError):
                self.path.replace(target)
            with suppress(FileNotFoundError):
                Path(f"{self.path}.wal").replace(f"{target}.wal")
        except OSError as error:
            raise self._unwritable(error) from error
        self._say(f"The index was damaged ({problem}); it has been moved aside to {target.name}.")
