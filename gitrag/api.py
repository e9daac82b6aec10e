"""The public API: what ``import gitrag`` offers, typed, and nothing else that anyone may rely on.

Neither the drafting of vectors nor the reading of a call graph may be done by two threads of a process at the
same time, so one call works and the others wait for it. Nothing is printed: what the command says on stderr
is in an answer's ``notes``, and given to ``say``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from msgspec.structs import replace

from gitrag import workspace as composition
from gitrag.actions import issues as issues_action
from gitrag.actions import lines as lines_action
from gitrag.actions import search as search_action
from gitrag.actions.catch_up import start_worker
from gitrag.actions.exact_search import search_exactly
from gitrag.actions.governance import check as check_action
from gitrag.actions.governance import related as related_action
from gitrag.actions.governance.bearings import USES, Bearing, Unreached
from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.left_out import of_path
from gitrag.actions.model import fetch_failure, forget_fetch_failure
from gitrag.actions.prime import prime as prime_action
from gitrag.actions.references import graph_or_references, target_file
from gitrag.actions.requests import MOST_HITS
from gitrag.actions.sharing.background import pull_before
from gitrag.actions.status import read_status
from gitrag.api_types import (
    Answer,
    CallAnswer,
    CheckAnswer,
    DuplicatesAnswer,
    Embedded,
    FileLines,
    IndexStatus,
    Primed,
    RelatedAnswer,
    ReviewAnswer,
    SearchOptions,
    SimilarChunk,
    Updated,
)
from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.config.loading import settings_of
from gitrag.errors import GitragError, NotSetUpError, UsageError
from gitrag.git import Repository
from gitrag.git.environment import LEAKING
from gitrag.indexing.worker import running
from gitrag.machine.prerequisites import check_writable, require
from gitrag.machine.refusals import refusal, require_memory
from gitrag.memory.core_files import CoreFiles
from gitrag.memory.projects import home_directory
from gitrag.model import Kind
from gitrag.report.exact import exact_notes
from gitrag.report.parts import notes_of
from gitrag.report.prime import as_markdown as primed_text
from gitrag.search.exact import Pattern

_MOST_LINES = 1_000_000
_PAUSE_S = 0.005
"""Between two rounds of embedding: a thread that waits for its turn gets it."""


class _Turns:
    """One call of the process at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for the turn of this thread, and hold it.

        Raises:
            UsageError: The thread has it already: a ``progress`` of the caller's has called back.
        """
        if self._thread == threading.get_ident():
            raise UsageError(
                "gitrag was called from a progress callback.", "Call it after the call that reports progress."
            )
        with self._lock:
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = None


_TURNS = _Turns()


def _no_progress(_done: int, _total: int) -> None:
    """Report nothing."""


def open(  # noqa: A001 - the public name
    path: str | os.PathLike[str] | None = None, *, say: Callable[[str], None] | None = None
) -> Workspace:
    """Open gitrag on the worktree that a path lies in; nothing is indexed yet.

    Args:
        path: A directory or file of the worktree. Without it the current directory, where the environment's
            GIT_DIR and GIT_WORK_TREE count as they do for git.
        say: Called with each line that the command would say on stderr, beside the notes of answers. It is
            called in the thread that made the call, after its work.

    Returns:
        It, to be closed: ``with gitrag.open(...) as repo:``.

    Raises:
        RepositoryError: There is no repository, or it cannot be read.
        UsageError: A setting is wrong.
        GitragError: The system refuses memory.
    """
    if sys.getfilesystemencoding() != "utf-8":
        raise NotSetUpError(
            f"Python takes file names for {sys.getfilesystemencoding()}; git's are UTF-8.",
            "Start it in UTF-8 mode: python -X utf8, or PYTHONUTF8=1.",
        )
    environ = {key: value for key, value in os.environ.items() if path is None or key not in LEAKING}
    heard: list[str] = []
    with _TURNS.take(), _told_as_ours():
        require_memory()
        found = Repository.discover(Path.cwd() if path is None else Path(path).expanduser(), environ)
        config = settings_of(found, environ, {})
        inner = composition.Workspace(found, config, environ, heard.append, resident=True)
    return Workspace(inner, heard, say)


class Workspace:
    """gitrag on a worktree; made by `gitrag.open`.

    Its methods may be called from any thread; one works at a time in a process. They raise `GitragError`.
    """

    def __init__(
        self, inner: composition.Workspace, heard: list[str], say: Callable[[str], None] | None
    ) -> None:
        self._inner = inner
        self._heard = heard
        self._say = say
        self._closed = False
        self._root = inner.place
        for warning in inner.config.warnings:
            self._tell(warning)

    def __repr__(self) -> str:
        return f"<gitrag.Workspace {self._root}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def root(self) -> Path:
        """The worktree's top, which paths are relative to; of a bare repository, its directory."""
        return self._root

    def close(self) -> None:
        """Give back the memory that the index takes. A call under way is waited for."""
        with _TURNS.take():
            self._closed = True
            self._inner.store.close()

    def search(self, query: str, options: SearchOptions | None = None) -> Answer:
        """Search decisions, specifications, code and issues as they are now, as ``gitrag search`` does.

        Args:
            query: A question in words, or a name.
            options: What to limit it to.

        Raises:
            UsageError: The question has no words, or an option is wrong.
            NotSetUpError: There is no index, or none of the collections asked for: call `update`.
        """
        options = options or SearchOptions()
        with self._turn() as inner:
            inner_options = _inner_options(options)
            if options.collections and inner_options.wanted and inner_options.wanted.issues:
                issues_action.sync_before_reading(inner, self._listener(), query)
            if options.exact:
                lines = search_exactly(inner, Pattern(query, options.exact == "regex"), inner_options)
                found, notes = replace(lines.answer, outlined=lines.not_indexed), exact_notes(lines)
            else:
                found = search_action.search(inner, query, inner_options)
                notes = notes_of(found)
            heard = self._notes()
        rounded = found.changed(lambda hit: replace(hit, score=round(hit.score, 4)))
        return replace(rounded, notes=self._told(heard, notes))

    def graph(
        self,
        target: str | None = None,
        *,
        filter: str | None = None,  # noqa: A002 - the command's name
        direction: Literal["both", "callers", "callees"] = "both",
        depth: int = 1,
        to: str | None = None,
        references: bool = False,
        paths: Sequence[str] = (),
        module: str = "",
    ) -> CallAnswer:
        """Say who calls whom in the files as they are now, as ``gitrag graph`` does.

        Args:
            target: A name, a qualified name such as ``Session.send``, a path, ``path:line``; None for all.
            filter: A regular expression on paths and names.
            direction: Which calls.
            depth: How many calls away from the target, 1 to 20.
            to: Only the shortest chains of calls from the target to this one.
            references: Whether to list where the target is named besides calls, too. What neither calls nor
                is called, such as a constant or a type, always has them.
            paths: Only paths like these, as in .gitignore.
            module: The only module of the workspace; empty for all.

        Raises:
            NotSetUpError: There is no index: call `update`.
            GitragError: The target is no definition, or the filter no regular expression.
            UsageError: ``to`` without a target, or with a filter or a direction.
        """
        _require_range("depth", depth, 1, 20)
        if direction not in list(Direction):
            raise UsageError(f'There is no direction "{direction}".', f"Give {_or_list(Direction)}.")
        if to is not None and (target is None or filter is not None or direction != "both"):
            raise UsageError("to is for chains of calls between two targets.", "Give both, and no more.")
        with self._turn() as inner:
            found = graph_or_references(
                inner,
                GraphQuestion(target, filter, Direction(direction), depth),
                to=to,
                with_references=references,
                globs=_texts(paths),
                module=module,
                about=target_file(inner, target),
            )
            heard = self._notes()
        more = [*found.remarks, *found.negatives, *([found.error] if found.error else [])]
        return replace(found, notes=self._told(heard, more))

    def related(
        self,
        text: str,
        *,
        use: Literal["adr", "spec", "discover", "plan", "work", "audit"] | None = None,
    ) -> RelatedAnswer:
        """Propose what a document that is about to be written may refer to, as ``gitrag related`` does.

        Args:
            text: What it is to be about.
            use: What is written, or needed: a decision, a specification, both of them that exist (discover,
                audit), code and issues (plan), code (work); None where it is not known.

        Raises:
            UsageError: The text has no words.
            NotSetUpError: There is no index: call `update`.
        """
        if use is not None and use not in USES:
            raise UsageError(f'A text does not become a "{use}".', f"Give one of {', '.join(USES)}.")
        with self._turn() as inner:
            uses = (use,) if use else ("adr", "spec")
            found = related_action.related(inner, text, uses)
            heard = self._notes()
        return replace(
            found,
            documents=_rounded(found.documents),
            nearest=_rounded(found.nearest),
            notes=self._told(heard, _line(found.lacking)),
        )

    def duplicates(self, text: str, *, threshold: float = related_action.THRESHOLD) -> DuplicatesAnswer:
        """List what covers a text already, as ``gitrag related --duplicates`` does.

        Args:
            text: A description, or a piece of code.
            threshold: Least cosine for something to cover it, -1 to 1.

        Raises:
            UsageError: The text is empty.
            NotSetUpError: There is no index: call `update`.
        """
        _require_range("threshold", threshold, -1, 1)
        with self._turn() as inner:
            issues_action.sync_before_reading(inner, self._listener(), text)
            found = related_action.duplicates(inner, text, threshold)
            heard = self._notes()
        chunks, nearest = _like(found.chunks), _like(found.nearest)
        return replace(found, chunks=chunks, nearest=nearest, notes=self._told(heard))

    def review(
        self,
        span: str,
        *,
        threshold: float = related_action.THRESHOLD,
        progress: Callable[[int, int], None] = _no_progress,
    ) -> ReviewAnswer:
        """Say what a change should name, and what it adds again, as ``gitrag related --diff`` does.

        Args:
            span: A range as git reads it, such as ``main...HEAD``, or a commit to compare the worktree with.
            threshold: Least cosine for two definitions to be alike, -1 to 1.
            progress: Called with questions answered, of how many.

        Raises:
            UsageError: Git knows no such range.
            NotSetUpError: There is no index: call `update`.
        """
        _require_range("threshold", threshold, -1, 1)
        with self._turn() as inner:
            issues_action.sync_before_reading(inner, self._listener())
            found = change_impact(inner, reviewing(span, threshold), progress)
            heard = self._notes()
        left_out = found.impact.left_out if found.impact is not None else ()
        return replace(
            found,
            documents=_rounded(found.documents),
            definitions=tuple(replace(each, existing=_like(each.existing)) for each in found.definitions),
            notes=self._told(heard, [*_unreached(found.unreached), *left_out]),
        )

    def prime(self, topic: str = "") -> Primed:
        """Say what a session should know at its start, as ``gitrag prime`` does.

        Args:
            topic: What it is about; empty for an overview: decisions and specifications, languages, entry
                points, core files, what changed lately, tests.

        Raises:
            NotSetUpError: There is no index: call `update`.
        """
        with self._turn() as inner:
            found = prime_action(inner, topic, CoreFiles(home_directory(inner.environ)))
            heard = self._notes()
        return Primed(topic, primed_text(replace(found, notes=())), self._told(heard, found.notes))

    def check(self, path: str | os.PathLike[str]) -> CheckAnswer:
        """Say which decisions, specifications and issues bear on a file, as ``gitrag check`` does.

        Args:
            path: A file or directory, absolute or relative to `root`.

        Raises:
            UsageError: There is no such file in the repository.
            NotSetUpError: There is no index, or no working tree.
        """
        with self._turn() as inner:
            issues_action.sync_before_reading(inner, self._listener(), Path(path).stem)
            found = check_action.check(inner, self._root / path)
            heard = self._notes()
        left_out = found.impact.left_out if found.impact is not None else ()
        return replace(
            found,
            documents=_rounded(found.documents),
            issues=_rounded(found.issues),
            notes=self._told(heard, [*_line(found.lacking), *left_out]),
        )

    def get(self, what: str) -> FileLines:
        """Read lines of a file as it is now, 400 at most.

        Args:
            what: ``path``, ``path:line``, ``path:first-last``, or a hit's id.

        Raises:
            UsageError: There is no such file in the working tree, or no such line.
        """
        with self._turn() as inner:
            found = lines_action.read_range(inner, what)
            return replace(found, not_indexed=of_path(inner, found.path))

    def update(self, *, embed: bool = True, progress: Callable[[int, int], None] = _no_progress) -> Updated:
        """Index HEAD and the uncommitted changes now, as ``gitrag index`` does; the first time, everything.

        Searches do it themselves where little has changed.

        Args:
            embed: Compute vectors in the background, by a process of gitrag's own that outlives this one.
            progress: Called with files done, of how many.

        Raises:
            NotSetUpError: The git directory cannot be written.
        """
        with self._turn() as inner:
            require([check_writable(inner.store.directory)])
            self._sync_issues(inner)
            done = inner.update(advance=progress)
            if done.unembedded and embed:
                forget_fetch_failure(inner)
                start_worker(inner)
            heard = self._notes()
        return replace(done, notes=self._told(heard))

    def embed(
        self, *, seconds: float | None = None, progress: Callable[[int, int], None] = _no_progress
    ) -> Embedded:
        """Compute the vectors that are missing, here, as ``gitrag index embed --foreground`` does.

        The model is downloaded first where it is not there. Where vectors are shared, those that others have
        computed are taken first. Calls of other threads come in between.

        Args:
            seconds: Stop after so many; the rest follows in the background. None to do all.
            progress: Called with texts done, of how many.

        Raises:
            NotSetUpError: There is no index: call `update`.
            NetworkError: The model cannot be downloaded.
        """
        begin = time.monotonic()
        with self._turn() as inner:
            inner.require_index()
            require([check_writable(inner.store.directory)])
            entries = inner.uncommitted_entries()
            waiting = inner.count_unembedded(entries)
            if waiting and not inner.model_is_there():
                from gitrag.embedding import fetching

                fetching.fetch(inner.model_dir, model=inner.model)
            if waiting:
                pull_before(
                    inner, entries, lambda: seconds is not None and time.monotonic() - begin > seconds
                )
        done = 0
        while waiting and (seconds is None or time.monotonic() - begin < seconds):
            with self._turn() as inner:
                rounds: list[int] = []
                inner.embed(
                    entries=entries,
                    # The worker begins with the newest.
                    oldest_first=running(inner.store.directory) is not None,
                    advance=rounds.append,
                    stop=partial(bool, rounds),
                )
            if not rounds:
                break
            done += sum(rounds)
            progress(done, max(done, waiting))
            time.sleep(_PAUSE_S)
        with self._turn() as inner:
            left = inner.count_unembedded(entries)
            if left:
                start_worker(inner)
            heard = self._notes()
        return Embedded(done, time.monotonic() - begin, left, self._told(heard))

    def status(self) -> IndexStatus:
        """Say where the index stands, as ``gitrag status`` does, without changing it."""
        with self._turn() as inner:
            found = read_status(inner)
            failures = [found.failure, fetch_failure(inner)]
            heard = self._notes()
        notes = [*self._inner.config.warnings, *found.notes, *filter(None, failures)]
        view, updated = found.view, found.updated
        return IndexStatus(
            found.name,
            found.commit,
            found.branch,
            indexed=view is not None,
            fresh=found.fresh,
            dirty=found.dirty,
            updated=None if updated is None else datetime.fromtimestamp(updated, UTC),
            files=view.files if view else 0,
            chunks=view.chunks if view else 0,
            texts=view.texts if view else 0,
            embedded=view.embedded if view else 0,
            collections=tuple(each.name for each in found.collections),
            size_bytes=found.size_bytes,
            model_ready=found.model.ready,
            working=found.worker is not None,
            notes=self._told(heard, notes),
        )

    @contextmanager
    def _turn(self) -> Iterator[composition.Workspace]:
        """Hold the turn for one call.

        Raises:
            UsageError: It was closed.
            RepositoryError: The repository is not there any more.
        """
        with _TURNS.take(), _told_as_ours():
            if self._closed:
                raise UsageError(f"gitrag was closed on {self._root}.", "Open it again: gitrag.open(path).")
            self._inner.require_repository()
            yield self._inner

    def _listener(self) -> issues_action.SyncListener:
        return issues_action.SyncListener(note=self._heard.append)

    def _sync_issues(self, inner: composition.Workspace) -> None:
        """Sync issues as part of an update; a failure is noted, and no more."""
        if not inner.store.exists() and issues_action.may_sync(inner):
            return  # a first index does not fetch a tracker that nobody asked for
        try:
            issues_action.sync_in_passing(inner, self._listener())
        except GitragError as error:
            self._heard.append(f"{error} {error.hint}".strip())

    def _notes(self) -> list[str]:
        """Take what was said during the call; the turn must be held."""
        heard = list(dict.fromkeys(self._heard))
        self._heard.clear()
        return heard

    def _told(self, heard: Sequence[str], more: Sequence[str] = ()) -> tuple[str, ...]:
        """Give each note to whoever listens; return them."""
        notes = tuple(dict.fromkeys([*heard, *more]))
        for note in notes:
            self._tell(note)
        return notes

    def _tell(self, note: str) -> None:
        if self._say is not None:
            self._say(note)


@contextmanager
def _told_as_ours() -> Iterator[None]:
    """Raise what the system refuses as the command tells it."""
    try:
        yield
    except GitragError:
        raise
    except Exception as error:
        if refused := refusal(error):
            raise refused from error
        raise


def _inner_options(options: SearchOptions) -> search_action.SearchOptions:
    """Check options as the command line does."""
    if options.limit is not None:
        _require_range("limit", options.limit, 1, _MOST_LINES if options.exact else MOST_HITS)
    if options.min_score is not None:
        _require_range("min_score", options.min_score, 0, 1)
    texts = {name: _texts(getattr(options, name)) for name in ("collections", "paths", "languages", "kinds")}
    for kind in texts["kinds"]:
        if kind not in list(Kind):
            raise UsageError(f'There is no kind "{kind}".', f"Give {_or_list(Kind)}.")
    return search_action.SearchOptions.of(options, **texts, with_issues=True)


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    """Return texts; a single one was meant as itself, not as its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def _require_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:  # nor is nan in any range
        raise UsageError(f"{name} is {value}.", f"Give a number from {least} to {most}.")


def _or_list(values: type[Kind | Direction]) -> str:
    *first, last = [each.value for each in values]
    return f"{', '.join(first)} or {last}"


def _rounded(found: Sequence[Bearing]) -> tuple[Bearing, ...]:
    return tuple(replace(each, score=round(each.score, 4)) for each in found)


def _like(found: Sequence[SimilarChunk]) -> tuple[SimilarChunk, ...]:
    return tuple(replace(each, cosine=round(each.cosine, 4)) for each in found)


def _line(sentence: str) -> list[str]:
    return [sentence] if sentence else []


def _unreached(found: Unreached | None) -> list[str]:
    """Return what comes nearest where no document scores enough, as one line."""
    if found is None:
        return []
    near = ", ".join(f"{each.document.id} ({each.score:.2f})" for each in found.nearest)
    return [f"{found.sentence} The nearest: {near}." if near else found.sentence]
