"""Read the index as git reports the files now, whatever other processes do to it meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gitrag.errors import BusyError, DiskError, StoreError
from gitrag.indexing.history import is_read, read_few
from gitrag.indexing.known import Refreshed, Start, known, lagging, start_of
from gitrag.indexing.notices import absent_line, unwritten_line
from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import REVISION, Snapshot, look_at
from gitrag.model import Skip
from gitrag.store.connection import StoreMissingError
from gitrag.store.views import ViewOverlay
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.embedding.encoder import Encoder
    from gitrag.store.connection import Connection
    from gitrag.store.file_state import FileState
    from gitrag.store.memo import Memo
    from gitrag.store.vectors import PendingText

T = TypeVar("T")

Read: TypeAlias = "Callable[[Connection, int, ViewOverlay], T]"
"""Reads a view, given its id and the changes on top of it; may be called several times for one question."""

_Standing: TypeAlias = tuple[Refreshed | None, int, bool, float | None]
"""The view's state, None if something has to be written first; how many of its texts have no vector; whether
HEAD has moved (``_has_moved``); when the view was last brought up to date."""

_Left: TypeAlias = "tuple[int, list[PendingText], bool]"
"""How many texts of a view have no vector, those to be embedded at once, and whether its history is read."""

INLINE_TEXTS = 24
"""Up to so many texts (an edited file's; a third of a second) are embedded before a question is answered."""

_ATTEMPTS = 5
"""Attempts to catch up and read; one is enough unless other processes remove the index at that time."""


class ReadResult(Struct, Generic[T], frozen=True):
    """What was read, and the state that it was read in.

    Attributes:
        unembedded: How many texts of the view have no vector of the model's.
    """

    found: T
    now: Snapshot
    refreshed: Refreshed
    unembedded: int


_Guess = tuple[T, "FileState | None", "tuple[int, ViewOverlay]"]
"""What was read of the view that git would most likely report, of which state of the index, of which view."""


class CurrentView:
    """The view of the files as they are now, for one question.

    Git is asked in a thread from the beginning on, so that the caller can prepare the question meanwhile.

    Args:
        revision: The commit, branch or tag to read instead of the worktree.
        says_staleness: Tell the user when an old index had to be brought up to date.
        budget_s: Seconds to bring it up to date in; None as the setting says.
        words: Those of a question that does not wait for all that has changed where that is much.
        seen_s: For how many seconds git's last answer about the files holds; before anything is written, it
            is asked anew.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        revision: str | None = None,
        committed_only: bool = False,
        with_issues: bool = True,
        says_staleness: bool = True,
        budget_s: float | None = None,
        words: Sequence[str] = (),
        seen_s: float = 0.0,
    ) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._budget_s = workspace.config.catch_up_s if budget_s is None else budget_s
        self._words = words
        self._revision = revision
        self._seen_s = seen_s
        self._committed_only = committed_only
        self._with_issues = with_issues
        self._says_staleness = says_staleness
        self._moved: float | None = None
        self._looking = _Looking(self._look)

    def read(self, read: Read[T], encoder: Encoder | None = None) -> ReadResult[T]:
        """Read the view, brought up to date first where it lags behind what git reports.

        Args:
            encoder: The model, to embed new texts first if they are few; None to leave them.

        Raises:
            BusyError: Other processes removed the index again and again.
        """
        result = self._read(read, encoder)
        moved, self._moved = self._moved, None
        if self._says_staleness and moved is not None:
            line = self._workspace.stale_note(self._workspace.since(moved), result.refreshed)
            if line:
                self._workspace.say(line)
        return result

    def _read(self, read: Read[T], encoder: Encoder | None) -> ReadResult[T]:
        start: Start | None = None
        with suppress(StoreMissingError):
            guess = None if self._looking.is_done else self._guess(read)
            self._looking.wait()  # with the index closed, so that no writer has to wait for git
            if guess is not None and (result := self._confirmed(guess, encoder)):
                return result
            with self._store.read() as db:
                now = self._looking.result()
                refreshed, unembedded, moved_on, self._moved = self._store.memo.get(
                    ("standing", now.key), lambda: self._known(db, now)
                )
                ready = refreshed and not refreshed.waiting and not _are_few(unembedded, encoder)
                if refreshed and ready and not moved_on:
                    if guess is not None and guess[1:] == (self._store.state, _state_of(refreshed)):
                        return self._result(guess[0], now, refreshed, unembedded)
                    return self._result(read(db, *_state_of(refreshed)), now, refreshed, unembedded)
                start = start_of(db, now, self._workspace.store.state)
        if self._seen_s:  # that may be older than the index: read with, but never written from
            self._seen_s = 0.0
            self._looking = _Looking(self._look)
            return self._read(read, encoder)
        if self._store.is_held:
            start = None
            if self._store.can_be_written():  # what has changed may be written by now
                self._store.let_go()
        now = self._looking.result()
        try:
            with suppress(StoreMissingError):
                result = self._catch_up(read, now, encoder, start)
                if result is not None:
                    return result
            return self._read_alone(read)
        except DiskError as error:
            return self._read_unwritten(read, now, encoder, error)

    def _read_unwritten(
        self, read: Read[T], now: Snapshot, encoder: Encoder | None, error: DiskError
    ) -> ReadResult[T]:
        """Answer from an index that cannot be written: with what is new held in memory, else as it is."""
        from gitrag.store import views

        commit = None
        with suppress(StoreMissingError), self._store.read() as db:
            view = views.current(db, self._workspace.repo.worktree)  # also where a revision is asked
            commit = view.commit if view is not None else None
        held = self._store.hold()
        result = self._catch_up(read, now, encoder, None) if held else self._read_lagging(read, now)
        if result is None:
            raise error
        self._workspace.say(unwritten_line(str(error), commit, result.refreshed.waiting, held=held))
        return result

    def _read_lagging(self, read: Read[T], now: Snapshot) -> ReadResult[T] | None:
        with self._store.read() as db:
            refreshed = lagging(db, now)
            if refreshed is None:
                return None
            found = read(db, *_state_of(refreshed))
            return ReadResult(found, now, refreshed, _count_unembedded(db, refreshed))

    def _confirmed(self, guess: _Guess[T], encoder: Encoder | None) -> ReadResult[T] | None:
        """Return what was guessed if the index need not be opened to know that it is right."""
        now = self._looking.result()
        found, file, state = guess
        standing = self._store.known(file, ("standing", now.key))
        if standing is None:
            return None
        refreshed, unembedded, moved_on, self._moved = standing
        if refreshed is None or refreshed.waiting or moved_on or _are_few(unembedded, encoder):
            return None
        if state != _state_of(refreshed):
            return None
        return self._result(found, now, refreshed, unembedded)

    def refine(
        self,
        read: Read[T],
        result: ReadResult[T],
        chunk_ids: Sequence[int],
        encoder: Encoder | None,
        budget_s: float,
    ) -> ReadResult[T]:
        """Replace draft vectors of the chunks found by the model's, and read again if there were any.

        Args:
            result: What it has read before, and returns again if another process has moved the view.
            chunk_ids: The chunks, the most important one first.
        """
        from gitrag.indexing.embed_texts import embed_within
        from gitrag.store import content

        if encoder is None or not result.unembedded or budget_s <= 0:
            return result
        try:
            with self._store.read() as db:
                texts = content.drafts_among(db, chunk_ids, self._store.memo)
            refined = embed_within(self._store, encoder, texts, budget_s)
        except (StoreError, BusyError) as error:  # the store cannot be written: the drafts are used
            self._workspace.say(str(error))
            return result
        if not refined:
            return result
        result = replace(result, unembedded=result.unembedded - refined)
        with suppress(StoreMissingError), self._store.read() as db:
            return self._read_if_current(db, read, result.now, result.refreshed, result.unembedded) or result
        return result

    def _look(self) -> Snapshot:
        if self._revision is not None:
            return look_at(self._workspace.repo, self._workspace.options, self._revision)
        return self._workspace.snapshot(
            committed_only=self._committed_only, with_issues=self._with_issues, seen_s=self._seen_s
        )

    def _guess(self, read: Read[T]) -> _Guess[T] | None:
        """Read the view git will most likely report, while `git status` still runs."""
        from gitrag.store import views

        slot = self._workspace.repo.worktree if self._revision is None else REVISION
        with self._store.read() as db:
            view = self._store.memo.get(("view", slot), lambda: views.current(db, slot))
            if view is None:
                return None
            overlay = self._workspace.last_seen.changes_on(slot, view.view_id)
            state = view.view_id, overlay if overlay.commit else replace(overlay, commit=view.commit)
            return read(db, *state), self._store.state, state

    def _known(self, db: Connection, now: Snapshot) -> _Standing:
        """Return what the index has of the files, and when it was brought up to date; None for a revision."""
        moved = self._workspace.moved_at(db) if self._revision is None else None
        refreshed, memo = known(db, now), self._store.memo
        if refreshed is None:
            return None, 0, False, moved
        return refreshed, _count_unembedded(db, refreshed, memo), _has_moved(db, refreshed), moved

    def _catch_up(
        self,
        read: Read[T],
        now: Snapshot,
        encoder: Encoder | None,
        start: Start | None,
    ) -> ReadResult[T] | None:
        """Index what has changed, within the time budget, and embed it if there are few texts; then read.

        Returns:
            None where another process has moved the view since.
        """
        from gitrag.indexing.embed_texts import embed_listed
        from gitrag.store import vectors

        repo, left = self._workspace.repo, list[_Left]()

        def look(db: Connection, refreshed: Refreshed) -> None:
            unembedded, texts = _count_unembedded(db, refreshed), list[vectors.PendingText]()
            if _are_few(unembedded, encoder):
                texts = vectors.pending(db, unembedded, refreshed.overlay.entries, refreshed.view.view_id)
            left.append((unembedded, texts, is_read(db, repo, refreshed.head.commit)))

        refreshed = refresh(
            self._store, now, budget_s=self._budget_s, start=start, words=self._words, look=look
        )
        written = bool(left)
        if not written:
            self._name_commit(refreshed, now.slot)
            with self._store.read(may_copy=False) as db:
                look(db, refreshed)
                if not left[0][1] and left[0][2]:
                    return self._read_if_current(db, read, now, refreshed, left[0][0])
        unembedded, texts, history_is_read = left[0]
        try:  # before it is opened again: in an index built anew meanwhile, ids mean other texts
            if encoder is not None:
                unembedded -= embed_listed(self._store, encoder, texts)
        except (StoreError, BusyError) as error:  # the store cannot be written: it is read as it is
            self._workspace.say(str(error))
        if written:
            self._name_commit(refreshed, now.slot)
        if not history_is_read:
            read_few(self._store, repo, refreshed.head.commit, self._workspace.older)
        with self._store.read() as db:
            return self._read_if_current(db, read, now, refreshed, unembedded)

    def _name_commit(self, refreshed: Refreshed, slot: str) -> None:
        """Note at which commit the view is, for the next guess; if other processes are at work, leave it."""
        from gitrag.store import views

        head = refreshed.head
        if head.commit in (None, refreshed.view.commit):
            return
        with suppress(StoreError, BusyError):
            with self._store.read() as db:
                if not _is_ours(db, refreshed):
                    return
            with self._store.write("naming the commit of a view", make=False, patience_s=0.0) as db:
                views.name_commit(db, slot, head.tree, head.commit or "")

    def _read_if_current(
        self, db: Connection, read: Read[T], now: Snapshot, refreshed: Refreshed, unembedded: int
    ) -> ReadResult[T] | None:
        """Read the view if it is still where the refresh left it; return None if another process moved it."""
        there = known(db, now)
        if there is None or _state_of(there) != _state_of(refreshed):
            return None
        return self._result(read(db, *_state_of(refreshed)), now, refreshed, unembedded)

    def _read_alone(self, read: Read[T]) -> ReadResult[T]:
        """Ask git again, catch up, and read under the lock, where no other process can move the view.

        The process that has moved the view may have seen a later commit; if this one moved it back to an
        earlier one, it would only be moved again.
        """
        for _ in range(_ATTEMPTS):
            now = self._look()
            with suppress(StoreMissingError):
                return self._read_locked(read, now)
        raise BusyError("Other processes removed the index again and again meanwhile.", "Try again.")

    def _read_locked(self, read: Read[T], now: Snapshot) -> ReadResult[T]:
        results: list[ReadResult[T]] = []

        def at_once(db: Connection, refreshed: Refreshed) -> None:
            unembedded = _count_unembedded(db, refreshed)
            results.append(self._result(read(db, *_state_of(refreshed)), now, refreshed, unembedded))

        refresh(self._store, now, budget_s=self._budget_s, at_once=at_once)
        return results[0]

    def _result(self, found: T, now: Snapshot, refreshed: Refreshed, unembedded: int) -> ReadResult[T]:
        """Return what was read, and remember of which state it was, for the next guess."""
        self._workspace.last_seen.remember(now.slot, *_state_of(refreshed))
        return ReadResult(found, now, refreshed, unembedded)


class _Looking:
    """A snapshot being taken in a thread."""

    def __init__(self, look: Callable[[], Snapshot]) -> None:
        self._snapshot: Snapshot | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=[look], daemon=True)
        self._thread.start()

    def _run(self, look: Callable[[], Snapshot]) -> None:
        try:
            self._snapshot = look()
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            self._error = error

    @property
    def is_done(self) -> bool:
        """Whether nobody has to wait for it."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is taken."""
        self._thread.join()

    def result(self) -> Snapshot:
        """Wait for the snapshot, or raise why it could not be taken."""
        self.wait()
        if self._error is not None:
            raise self._error
        if self._snapshot is None:
            raise AssertionError("a thread has ended with neither a result nor an error")
        return self._snapshot


def _state_of(refreshed: Refreshed) -> tuple[int, ViewOverlay]:
    """Return the view, and the changes on top of it, as seen from a commit."""
    return refreshed.view.view_id, replace(refreshed.overlay, commit=refreshed.head.commit)


def _has_moved(db: Connection, refreshed: Refreshed) -> bool:
    """Tell whether HEAD has moved to a commit of the same tree, such as an amended one; it is to be noted."""
    from gitrag.store import histories

    commit = refreshed.head.commit
    if commit is None or commit == refreshed.view.commit:
        return False
    return not histories.has_history(db, commit) or _is_ours(db, refreshed)


def _is_ours(db: Connection, refreshed: Refreshed) -> bool:
    """Tell whether no other worktree has the view; it may be at another commit."""
    from gitrag.store import views

    return views.count_worktrees(db, refreshed.view.view_id) == 1


def _count_unembedded(db: Connection, refreshed: Refreshed, memo: Memo | None = None) -> int:
    from gitrag.store import vectors

    return vectors.count_pending(db, refreshed.overlay.entries, refreshed.view.view_id, memo)


def _are_few(unembedded: int, encoder: Encoder | None) -> bool:
    """Tell whether there are texts to embed, and the model, and time enough to do it at once."""
    return encoder is not None and 0 < unembedded <= INLINE_TEXTS


def tell_absent(workspace: Workspace, revision: str | None = None) -> None:
    """Say how many files this clone lacks of the worktree's commit, or of a revision that was just asked."""
    if not workspace.repo.promised_packs():
        return
    from gitrag.store import inspection, views

    with suppress(StoreError, BusyError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree if revision is None else REVISION)
        files = inspection.count_left_out(db, view.view_id, Skip.ABSENT) if view is not None else 0
        if files:
            workspace.say(absent_line(files))
