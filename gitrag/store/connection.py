"""The store: where its file is, how it is opened, and what happens when it cannot be."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.errors import BusyError, DiskError, DiskFullError, GitragError, StoreError
from gitrag.machine.files import PRIVATE, make_private, settle
from gitrag.machine.locks import FileLock, StoreLock
from gitrag.machine.refusals import disk_error
from gitrag.store import schema
from gitrag.store.carried import carry
from gitrag.store.chunk_cache import ChunkCache
from gitrag.store.engine import Engine, SharedEngines, duckdb, quoted, share_work, start
from gitrag.store.file_state import NAME, FileState, state_of
from gitrag.store.memo import Memo
from gitrag.store.memory_copy import MAX_BYTES, Copy, Held, put_on_disk, share_to_win, write_copy
from gitrag.store.schema import ForeignDatabaseError
from gitrag.store.vector_cache import VectorCache

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from duckdb import DuckDBPyConnection, Error
    from numpy.typing import NDArray

    Connection: TypeAlias = DuckDBPyConnection  # for importers that do not load duckdb

_ASIDE = "damaged-*.duckdb*"
_NEW = "smaller.duckdb"
_RENEWED = "renewed.duckdb"
_HEADERS_BYTES = 3 * 4096
"""What DuckDB writes first: a main header and two of the database, in three writes, before anything else."""
_BUILD = "Run `gitrag index` to build it."
_RENEW = "The next search, or `gitrag index`, brings it up to date."
_BUILT_ANEW = "The index has been built anew by another process."
_BUILD_OWN = "or run `gitrag index remove` and `gitrag index`."

_NOT_DAMAGE: tuple[tuple[tuple[str, ...], type[GitragError], str, str], ...] = (
    (
        ("No space left", "not enough disk space", "Disk quota exceeded"),
        DiskFullError,
        "No space left on the disk that holds {path}.",
        "Free some space and try again; nothing was lost.",
    ),
    (
        ("Permission denied", "Read-only file system"),
        DiskError,
        "Cannot open {path}: {text}",
        "Make it writable.",
    ),
    (
        ("Input/output error", "fsync failed"),
        DiskError,
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
"""DuckDB errors that do not mean damage: signs in its message, our error, message and hint."""

_CUT_SHORT, _UNTRUE = "cut short", "its checksums do not match"
"""Damage beside which the rest of the file is known to be right: its vectors are taken over."""

_DAMAGE = {
    "not a valid DuckDB database": "no DuckDB database",
    "is an existing extension": "no DuckDB database",  # e.g. an SQLite file
    "Is a directory": "a directory",
    "Could not read enough bytes": _CUT_SHORT,
    "checksum": _UNTRUE,
    "Corrupt database": "corrupt",
    "orrupted": "corrupt",  # Corrupted RLE segment; Database file appears to be corrupted
    "Cannot read database file": "corrupt",
    "Serialization Error": "corrupt",
    "Failed to deserialize": "corrupt",
    "INTERNAL Error": "corrupt",
    "FATAL Error": "corrupt",
    "WAL": "its log is corrupt",
}
"""DuckDB messages about a file that is truncated, overwritten or foreign, and our wording."""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C during a statement; DuckDB turns it into another error."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


def _is_newer(path: Path, than: Path) -> bool:
    """Tell whether a file is there, readable, and newer than another or alone."""
    try:
        found = path.stat()
    except OSError:
        return False
    if not stat.S_ISREG(found.st_mode) or not os.access(path, os.R_OK):
        return False
    try:
        return found.st_mtime_ns > than.stat().st_mtime_ns
    except OSError:
        return True


class StoreMissingError(StoreError):
    """There is no index yet, or it has another version, or it was damaged and has been moved aside."""


class Store:
    """One index file, opened and closed for each operation.

    Args:
        directory: ``<git common dir>/gitrag``, or one in the user's cache.
        seed: Where an index is that this user cannot write. Where it is newer than the one in ``directory``,
            or the only one, it is read, and copied before anything is written.
        recipe: Versions of the steps that make the content (chunker, terms, encoder); an index made with
            another recipe is unusable.
        model: Whose vectors it has: a model of the user's; empty for ours.
        lock_timeout_s: How long to wait for other processes.
        resident: Keep the index in memory while it does not change: for processes that answer many questions.
        file_mode: Returns the permissions of the files; called when something is first written.
    """

    def __init__(
        self,
        directory: Path,
        *,
        recipe: str,
        model: str = "",
        seed: Path | None = None,
        lock_timeout_s: float = 10.0,
        say: Callable[[str], None] = lambda _line: None,
        resident: bool = False,
        file_mode: Callable[[], int] = lambda: PRIVATE,
    ) -> None:
        self.model = model
        self.memo = Memo()
        self.state: FileState | None = None
        self._checked: FileState | None = None
        self._resident = resident
        self._seen: FileState | None = None
        self._copy: Copy | None = None
        self._held: Held | None = None
        self._large: tuple[FileState | None, Memo] | None = None
        self._renewed: tuple[Memo | None, Copy | None] = None, None
        self._identity_seen: str | None = None
        self.directory = directory
        self._seed = seed
        self._beside = () if seed is None else (seed,)
        self._outdated: Path | None = None
        self._seed_lock = StoreLock(seed or directory, lock_timeout_s)
        self.vector_cache = VectorCache(directory / f"{NAME}.vectors")
        self.chunk_cache = ChunkCache(directory / f"{NAME}.chunks")
        self._recipe = recipe
        self._say = say
        self._lock = StoreLock(directory, lock_timeout_s)
        self._idle: list[Engine] = []
        self._engines: SharedEngines | None = None
        self._file_mode = file_mode
        self._mode: int | None = None

    @property
    def path(self) -> Path:
        own = self.directory / NAME
        return self._seed / NAME if self._seed is not None and _is_newer(self._seed / NAME, own) else own

    @property
    def _reads_seed(self) -> bool:
        return self.path.parent != self.directory

    def _shared(self, *, patience_s: float | None = None) -> AbstractContextManager[None]:
        """Hold the lock of the index file together with other readers."""
        lock = self._seed_lock if self._reads_seed else self._lock
        return lock.shared(patience_s=patience_s)

    def _take_seed(self) -> None:
        """Copy an index that is only read; from now on the copy is asked. The lock is held."""
        try:
            if self._reads_seed:
                self._delete(f"{_NEW}*")
                ends = (".wal", "")  # the index last: it is what counts as there
                with self._seed_lock.shared():
                    for end in ends:
                        with suppress(FileNotFoundError):
                            shutil.copyfile(f"{self.path}{end}", self.directory / f"{_NEW}{end}")
                self._delete(f"{NAME}*")  # a log of an older copy would be taken for the new one's
                for end in ends:
                    with suppress(FileNotFoundError):
                        (self.directory / f"{_NEW}{end}").replace(self.directory / f"{NAME}{end}")
        except OSError as error:
            with suppress(StoreError):
                self._delete(f"{_NEW}*")  # a half of it would fill a full disk
            raise self._unwritable(error) from error
        self._seed = None

    def while_locked(self, entered: Callable[[], AbstractContextManager[None]]) -> None:
        """Set the context to enter while this process holds the lock and others may have to wait."""
        self._lock.while_held = entered

    def exists(self) -> bool:
        """Tell whether there is an index file, valid or not, whose making was not cut off."""
        try:
            size = self.path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._unwritable(error) from error
        return size >= _HEADERS_BYTES or not self._is_unmade()

    def _is_unmade(self) -> bool:
        """Tell whether a process was ended just when it made the file: without DuckDB's three headers."""
        try:
            if self.path.stat().st_size >= _HEADERS_BYTES:
                return False
            head = self.path.read_bytes()
        except OSError:
            return False
        return not head or (len(head) < _HEADERS_BYTES and head[8:12] == b"DUCK")

    def size_bytes(self) -> int:
        """Return the size of the index on disk, with its write-ahead log and the caches beside it."""
        total = 0
        ends = (".wal", ".vectors", ".chunks")
        for path in (self.path, *(self.path.with_name(self.path.name + end) for end in ends)):
            with suppress(OSError):
                total += path.stat().st_size
        return total

    @contextmanager
    def read(self, *, patience_s: float | None = None, may_copy: bool = True) -> Iterator[DuckDBPyConnection]:
        """Open the index for reading, concurrently with other readers.

        Inside the block ``memo`` caches results for this state of the index, and ``state`` identifies it.

        Args:
            patience_s: How long to wait for a writer, if less than usual: for what can be left out.
            may_copy: Whether it may be copied into memory: not where it is about to be written.

        Raises:
            StoreMissingError: There is no readable index; build one.
            StoreError: It cannot be opened.
            BusyError: A writer held it for too long.
        """
        if self._held is not None:
            with _interruptible():
                self.memo, self.state = self._held.memo, self._held.state
                yield self._held.db
            return
        self._require()
        read = None
        try:
            copy = self._current_copy() if self._resident and may_copy else None
            if copy is not None:
                with _interruptible():
                    self.memo, self.state = copy.memo, copy.state
                    yield copy.db
                return
            with (
                _interruptible(),
                self._engine() as engine,
                self._shared(patience_s=patience_s),
                engine.detaching(),
            ):
                self._require()  # it may have been removed while waiting for the lock
                read = self._identity()
                db = engine.attach(self.path, read_only=True)
                self.state = state_of(self.path)
                try:
                    if self.state is None or self.state != self._checked:
                        self._check(db)
                except StoreError as error:
                    if not self._reads_seed:
                        raise
                    self._outdated, self._seed = self.path, None  # not ours to replace: one is built
                    raise StoreMissingError(str(error), _RENEW) from error
                self._checked, self.memo = self.state, self._memo_of(self.state)
                yield db
        except (duckdb.Error, ForeignDatabaseError) as error:
            problem = self._diagnose(error)
            if self._reads_seed:  # not ours to move: one of our own is built
                self._seed = None
                raise StoreMissingError(
                    f"The index in the repository was damaged: {problem}.", _BUILD
                ) from error
            with self._lock.exclusive("moving a damaged index aside"):
                if self._identity() == read:  # or another process has, and has built a new one
                    self._move(problem)
            raise StoreMissingError("The index was damaged and has been moved aside.", _BUILD) from error

    def known(self, state: FileState | None, key: Hashable) -> Any | None:
        """Return what ``memo`` has for a key if the index is still in the state that was last read.

        The index is not opened, nor its lock taken: a writer that has not finished has changed nothing.
        """
        now = state_of(self.path) if self._held is None else self._held.state
        return self.memo.known(key) if state is not None and state == self.state == now else None

    def hold(self) -> bool:
        """Go on in memory, with a copy of the index, because the file cannot be written.

        What is written from now on is this process's alone, until `let_go`.

        Returns:
            Whether that is so; an index that is too large is not held.
        """
        if self.is_large():
            return False
        db = start(self.directory, self._beside)
        try:
            there = self.exists()
            share_work(db, self.path)
            with self._shared() if there else nullcontext():
                self._held = Held(self.path if there else None, db)
            if not self._upgrade(db):  # made by another version of gitrag: only its vectors can be used
                db.close()
                self._held = Held(None, start(self.directory, self._beside))
                self._upgrade(self._held.db)
                with suppress(duckdb.Error), self._shared():
                    carry(self._held.db, self.path)
        except (duckdb.Error, ForeignDatabaseError):  # damaged, or too little memory
            self.let_go()
        except BaseException:
            self.let_go()
            raise
        return self._held is not None

    @property
    def is_held(self) -> bool:
        """Whether it is held in memory, because the file cannot be written."""
        return self._held is not None

    def can_be_written(self) -> bool:
        """Tell whether the lock can be taken, which a writer needs, or is another's."""
        try:
            self._make_directory()
            with self._lock.exclusive("trying to write again", patience_s=0.0):
                return True
        except BusyError:
            return True
        except DiskError:
            return False

    def let_go(self) -> None:
        """Return to the file; what was written in memory is lost."""
        if self._held is not None:
            self._held.db.close()
            self._held = None

    def _memo_of(self, state: FileState | None) -> Memo:
        """Return the cache for a state of the file: of a file too large to be copied, one that is kept."""
        if state is None or not self.is_large():
            self._large = None
            return Memo()
        if self._large is None or self._large[0] != state:
            self._large = state, Memo(lasting=True, vectors=self.vector_cache, chunks=self.chunk_cache)
        return self._large[1]

    def cache_vectors(self) -> None:
        """Write the vectors of a large index that are new into their cache, so that no question has to."""
        from gitrag.store import vectors

        if self.is_large():
            with self.read() as db:
                vectors.fill(db, self.vector_cache, self.vector_cache.end())

    def cache_chunks(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Write the chunks of a large index that are new into their cache, by parts: no writer waits long.

        Args:
            stop: Asked between parts whether to leave the rest to the next time.
        """
        from gitrag.store import content

        place: tuple[str, int] | None = None
        more = self.is_large()
        while more:
            with self.read() as db:
                place = content.fill_cache(db, self.chunk_cache, place)
            more = place is not None and not stop()

    def forget_vectors(self) -> None:
        """Drop the cache of vectors: after vectors that are not to be believed have been dropped."""
        self._delete(f"{NAME}.vectors")

    def forget_chunks(self) -> None:
        """Drop the cache of chunks, which only grows: after chunks have been dropped. The lock is held."""
        self._delete(f"{NAME}.chunks")

    def is_large(self) -> bool:
        """Tell whether the index is too large to be held in memory."""
        try:
            return self.path.stat().st_size > MAX_BYTES
        except OSError:
            return False

    def _current_copy(self) -> Copy | None:
        """Return the copy in memory, made when the file is first found unchanged."""
        state = state_of(self.path, MAX_BYTES)
        if self._copy is not None and not self._copy.is_of(state):
            self._copy.close()
            self._copy = None
        if self._copy is None and state is not None and state == self._seen:
            with self._shared():
                if state_of(self.path) == state:
                    try:
                        self._copy = Copy(self.path, state, start(self.directory, self._beside))
                        self._check(self._copy.db)
                    except (duckdb.Error, StoreError):  # opening the file will show what is wrong
                        self._copy = None
                        state = None
        self._seen = state
        return self._copy

    @contextmanager
    def write(
        self, purpose: str, *, make: bool = True, patience_s: float | None = None
    ) -> Iterator[DuckDBPyConnection]:
        """Open the index exclusively, for one transaction.

        The transaction is committed when the block ends and rolled back when it raises. Inside the block
        ``state`` identifies what was there before it: if it is that of an earlier read, so is the content.

        Args:
            purpose: What for, in a few words; shown to waiting processes.
            make: Create the index if it is missing. What is written must not depend on earlier content.
                Otherwise it must be the index that was opened last: in another one, ids mean other things.
            patience_s: How long to wait for other processes, if less than usual: for what can be done later.

        Raises:
            StoreMissingError: It is missing, or another one is there, and ``make`` is false.
            StoreError: It cannot be opened or written.
            BusyError: Other processes held it for too long.
        """
        if self._held is not None:
            self.state = self._held.state
            with _interruptible(), self._held.transaction() as db:
                yield db
            return
        self._make_directory()
        with (
            _interruptible(),
            self._engine() as engine,
            self._lock.exclusive(purpose, patience_s=patience_s),
            self._settled(),
        ):
            self._take_seed()
            if not make:
                self._require()
            before = self._identity_seen
            self.state = state_of(self.path)
            self._renewed = None, None
            try:
                with engine.detaching():
                    db = self._open_or_make(engine)
                    if not make and before not in (None, self._identity_seen):
                        raise StoreMissingError(_BUILT_ANEW, "Try again.")
                    self.memo = Memo()
                    db.execute("BEGIN")
                    yield db
                    db.execute("COMMIT")
            except duckdb.Error as error:
                self._move(self._diagnose(error))
                raise StoreMissingError("The index was damaged and has been moved aside.", _BUILD) from error
            self._keep_renewed(state_of(self.path))

    def _keep_renewed(self, state: FileState | None) -> None:
        """Go on with what was kept, which is of this state now: nobody else has written."""
        (memo, copy), self._renewed = self._renewed, (None, None)
        if memo is not None:
            self._large = state, memo
        if copy is not None and state is not None:
            copy.state = state
            self._copy, self._seen = copy, state

    def write_vectors(
        self, text_ids: Sequence[int], encoded: NDArray[np.float32], failures: Mapping[int, str]
    ) -> None:
        """Write vectors of texts, float32 (n, 384), and why others have none; raises as ``write`` does.

        What this process keeps of the index stays, but for vectors: a question that refines what it has
        found would read all of it again, and so would the next one.
        """
        from gitrag.store import vectors

        def change(db: DuckDBPyConnection) -> None:
            if len(text_ids):
                vectors.write(db, text_ids, encoded)
            if failures:
                vectors.settle_for_drafts(db, failures)

        written = [*text_ids, *failures]
        with self.write("writing vectors", make=False) as db:
            change(db)
            large, self._large = self._large, None
            copy, self._copy = self._copy, None
            if large is not None and large[0] == self.state:
                vectors.renew(db, written, large[1])
                self._renewed = large[1], None
            elif copy is not None and copy.is_of(self.state):
                change(copy.db)
                vectors.renew(copy.db, written, copy.memo)
                self._renewed = None, copy

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """Provide a running DuckDB that no other thread uses."""
        try:
            engine = self._idle.pop()
        except IndexError:
            beside = self._engines.directories if self._engines is not None else ()
            engine = Engine(self.directory, (*self._beside, *beside))
        engine.start()
        try:
            yield engine
        finally:
            self._idle.append(engine)

    def take_turns(self, engines: SharedEngines) -> None:
        """Use engines that other stores use too, if they can reach this one's files. They outlive `close`."""
        if self.directory in engines.directories and self._seed is None:
            self._engines, self._idle = engines, engines.idle

    def close(self) -> None:
        """Give back the memory of the copy and of idle DuckDB engines; the next operation starts anew."""
        self._large, self._renewed, self.memo = None, (None, None), Memo()
        self.let_go()
        if self._copy is not None:
            self._copy.close()
            self._copy = None
        while self._idle and self._engines is None:
            self._idle.pop().stop()

    def compact(self, least: float = 0.0) -> int:
        """Rewrite the index without the space of deleted rows, concurrently with readers.

        Args:
            least: Leave it as it is where it would become smaller by less than this share.

        Returns:
            The bytes freed; 0 when another process wrote to it or compacted it meanwhile, or it was left.
        """
        if self._reads_seed:
            return 0
        before = self.size_bytes()
        new = self.path.with_name(_NEW)
        alone = FileLock(self.directory / "compact.lock")
        if not alone.try_acquire():
            return 0
        try:
            with _interruptible(), self._shared():
                self._require()
                self._delete(f"{_NEW}*")  # left by a killed process
                state = state_of(self.path)
                with start(self.directory, self._beside) as db:
                    share_work(db, self.path)
                    if least and share_to_win(db, self.path) < least:
                        return 0
                    write_copy(db, self.path, new)
            with self._lock.exclusive("putting the smaller index in its place"):
                if state is None or state_of(self.path) != state or state[-1]:
                    return 0
                with self._settled():
                    new.replace(self.path)
        except duckdb.Error as error:
            self._diagnose(error)  # damage is detected and handled when the index is next read
            return 0
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            with suppress(StoreError):
                self._delete(f"{_NEW}*")
            alone.release()
        return before - self.size_bytes()

    def remove(self) -> int:
        """Delete the index, and any damaged one moved aside: derived data, nothing of the user's.

        Returns:
            The bytes freed.
        """
        patterns = (f"{NAME}*", _ASIDE, f"{_NEW}*", f"{_RENEWED}*")
        paths = [path for pattern in patterns for path in self.directory.glob(pattern)]
        if not paths:
            return 0
        freed = sum(path.stat().st_size for path in paths)
        with self._lock.exclusive("removing the index"):
            self._delete(*patterns)
        return freed

    def _require(self) -> None:
        if not self.exists():
            raise StoreMissingError("There is no index here.", _BUILD)

    def _identity(self) -> tuple[int, int] | None:
        """Return what distinguishes one index file from another at the same path."""
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
        """Set the configured permissions on files, before (also those of older versions) and after a write.

        In between, DuckDB's new files have the umask's permissions, in a directory closed to others.
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
        told = disk_error(error, self.directory)
        return told or DiskError(f"Cannot write the index to {self.directory}: {error.strerror}.")

    def _open_or_make(self, engine: Engine) -> DuckDBPyConnection:
        """Open the file for writing, created, migrated or rebuilt as needed; the caller holds the lock."""
        if self._is_unmade():
            self._delete(f"{NAME}*")
        if self._outdated is not None and not self.path.exists():
            with self._seed_lock.shared():
                self._renew(self._outdated)
        try:
            db = self._open_writable(engine)
            if db is not None:
                return db
            kept = "; its vectors are kept" if self._renew(self.path) else ""
            self._say(f"The index was made by another version of gitrag; building it again{kept}.")
        except (duckdb.Error, ForeignDatabaseError) as error:
            self._move(self._diagnose(error))
        try:
            db = self._open_writable(engine)
        except (duckdb.Error, ForeignDatabaseError) as error:
            raise StoreError(f"Cannot make the index: {self._diagnose(error)}") from error
        if db is None:
            raise StoreError(f"Cannot make the index {self.path}.")
        return db

    def _renew(self, old: Path) -> bool:
        """Put an index that has only the vectors of an older one in its place, or nothing; the lock is held.

        Killed at any point, it leaves the older one or the new one.

        Returns:
            Whether vectors were carried over: not where the older one is damaged or the disk is full.
        """
        new = self.directory / _RENEWED
        count = 0
        try:
            self._delete(f"{_RENEWED}*")  # left by a killed process
            with suppress(duckdb.Error), start(self.directory, self._beside) as db:
                share_work(db, old)
                db.execute(f"ATTACH {quoted(new)} AS renewed")
                db.execute("USE renewed")
                self._upgrade(db)
                found = carry(db, old)
                db.execute("USE memory")
                put_on_disk(db, "renewed", new)
                count = found
            self._delete(f"{NAME}.wal" if count else f"{NAME}*")  # a log would be taken for the new one's
            if count:
                new.replace(self.path)
                self._delete(f"{NAME}.*")
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            with suppress(StoreError):
                self._delete(f"{_RENEWED}*")
        return bool(count)

    def _open_writable(self, engine: Engine) -> DuckDBPyConnection | None:
        """Open and migrate; close it and return None if the content was made with another recipe."""
        usable = False
        try:
            db = engine.attach(self.path)
            usable = self._upgrade(db)
        finally:
            if not usable:
                engine.stop()
        return db if usable else None

    def _upgrade(self, db: DuckDBPyConnection) -> bool:
        """Migrate; return False if the content was made with another recipe."""
        meta = schema.read_meta(db)
        found = schema.version(meta)
        self._refuse_newer(found, meta)
        if found < schema.SCHEMA_VERSION:
            schema.migrate(db, found)
        if "recipe" not in meta:
            meta["identity"] = secrets.token_hex(8)
            schema.sign(db, self._recipe, meta["identity"])
        self._identity_seen = meta.get("identity")
        return meta.get("recipe", self._recipe) == self._recipe

    def _check(self, db: DuckDBPyConnection) -> None:
        """Raise if an opened index cannot be read in its present state."""
        meta = schema.read_meta(db)
        found = schema.version(meta)
        self._refuse_newer(found, meta)
        if found < schema.SCHEMA_VERSION or meta.get("recipe") != self._recipe:
            raise StoreMissingError("The index was made by another version of gitrag.", _RENEW)
        self._identity_seen = meta.get("identity")

    def _refuse_newer(self, found: int, meta: Mapping[str, str]) -> None:
        """Refuse an index of a newer gitrag: two versions in use would rebuild it in turn for ever."""
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
        """Describe how the file is damaged; re-raise errors that do not mean damage."""
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
        raise error  # a bug: one of our statements is wrong

    def _move(self, problem: str) -> None:
        target = self.path.with_name(f"damaged-{time.strftime('%Y%m%d-%H%M%S')}.duckdb")
        self._delete(_ASIDE)  # one is enough for diagnosis
        try:
            with suppress(FileNotFoundError):
                self.path.replace(target)
            with suppress(FileNotFoundError):
                Path(f"{self.path}.wal").replace(f"{target}.wal")
        except OSError as error:
            raise self._unwritable(error) from error
        kept = problem in (_CUT_SHORT, _UNTRUE) and self._renew(target)
        more = "; its vectors are kept" if kept else ""
        self._say(f"The index was damaged ({problem}); it has been moved aside to {target.name}{more}.")
