"""Ask the commits of a history: which of them say what a question asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import join, normpath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.issues import parse_since
from gitrag.actions.requests import HistoryOptions, require_together
from gitrag.actions.search import question_vector, read_question
from gitrag.actions.touched import commits_touching, touched_by_commits
from gitrag.errors import BusyError, NotSetUpError, StoreError
from gitrag.git.commits import Tips, all_tips, is_shallow
from gitrag.git.meant import ending
from gitrag.indexing.history import text_of as embedded_text
from gitrag.late import np
from gitrag.machine.files import within
from gitrag.store.connection import StoreMissingError
from gitrag.words import commit_message
from gitrag.words.commit_message import Said
from gitrag.words.numbers import count
from gitrag.words.typed_paths import is_url, spellings
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder
    from gitrag.git.repository import Repository
    from gitrag.indexing.older_commits import Base
    from gitrag.search.history import Candidates
    from gitrag.search.question import Question
    from gitrag.store.commits import StoredCommit
    from gitrag.store.connection import Connection
    from gitrag.store.histories import Reachable

_UNLISTED = "commits were not looked at: git could not list them when the background tried"


class KnownCommits(Struct, frozen=True):
    """The commits that a history has, as far as they have been read.

    Attributes:
        reached: They, and which of them have the terms of a question; older ones have `store.histories.OLDER`
            added to their numbers.
    """

    workspace: Workspace
    reached: Reachable
    has_older: bool
    notes: tuple[str, ...]

    @contextmanager
    def _indexes(self) -> Iterator[list[tuple[Connection, int]]]:
        """Open the indexes that they are in, each with what is added to its numbers."""
        from gitrag.store.histories import OLDER

        with self.workspace.store.read() as db:
            if not self.has_older:
                yield [(db, 0)]
                return
            with self.workspace.older.read() as beside:
                yield [(db, 0), (beside, OLDER)]

    def numbers_of(self, ids: Sequence[str]) -> list[int]:
        from gitrag.store import commits

        with self._indexes() as indexes:
            return [own + added for db, added in indexes for own in commits.numbers_of(db, ids).values()]

    def by_author(self, part: str) -> NDArray[np.int32]:
        """Return the numbers of the commits whose author's name has a part, in any case."""
        from gitrag.store import commits

        with self._indexes() as indexes:
            return np.concatenate([commits.by_author(db, part) + np.int32(added) for db, added in indexes])

    def changing(self, meant: Callable[[Sequence[str]], Sequence[str]]) -> NDArray[np.int32]:
        """Return the numbers of the commits that change a path that is meant, given all that any changes."""
        from gitrag.store import commits

        with self._indexes() as indexes:
            paths = meant(list(dict.fromkeys(path for db, _ in indexes for path in commits.all_paths(db))))
            return np.concatenate([commits.changing(db, paths) + np.int32(added) for db, added in indexes])

    def nearest(
        self, numbers: NDArray[np.int32], asked: NDArray[np.float32], most: int
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the commits nearest in meaning to a question, and how many have no draft.

        Args:
            numbers: int32 (n,), ascending: the commits that may be found.
            asked: float32 (384,), the question's vector.
        """
        from gitrag.store import commit_evidence

        with self._indexes() as indexes:
            return commit_evidence.nearest(
                [commit_evidence.read(db, added) for db, added in indexes], numbers, np.asarray(asked), most
            )

    def stored(self, numbers: Sequence[int]) -> list[StoredCommit]:
        from gitrag.store import commits

        found: dict[int, StoredCommit] = {}
        with self._indexes() as indexes:
            for db, added in reversed(indexes):
                own = [each - added for each in numbers if each >= added and each not in found]
                found |= {each + added: commit for each, commit in commits.read_stored(db, own).items()}
        return [found[each] for each in numbers]


def known_commits(workspace: Workspace, tips: Tips, terms: Sequence[int]) -> KnownCommits | None:
    """Return the commits of a history; None where the newest have not been read.

    A few missing drafts are made first. Where older commits have not all been read, the background goes on.
    """
    from gitrag.actions.catch_up import start_worker
    from gitrag.indexing.history import FEW_UNDRAFTED, MOST_COMMITS, draft
    from gitrag.indexing.older_commits import MOST_KNOWN, base_of
    from gitrag.store import histories

    base = base_of(workspace.older, workspace.store, workspace.repo, tips)
    is_drafted = True
    for index in (workspace.store, workspace.older):
        try:
            is_drafted &= draft(index, most=FEW_UNDRAFTED)
        except (StoreError, BusyError):  # it can be read, and the answer says how many have none
            is_drafted = False
    with workspace.store.read() as db:
        ancestor = base.commit if base is not None else None
        newest = histories.reachable(db, workspace.store.memo, tips.name, terms, ancestor)
        is_long = histories.size_of_history(db, tips.name) >= MOST_COMMITS
        is_unlisted = histories.unlisted(db) == tips.name
    if newest is None:
        return None
    older = None
    if base is not None:
        try:
            with workspace.older.read() as db:
                older = histories.reachable(db, workspace.older.memo, base.commit, terms)
        except StoreMissingError:
            base = None
    reached = newest if older is None else histories.joined(newest, older)
    notes = list(_gaps(base, is_long))
    if notes and is_unlisted:
        notes = [f"{'Older' if base is None else 'Some older'} {_UNLISTED}; look at: git fsck."]
    elif notes:
        notes = _wanted(workspace, tips, notes)
    if notes or not is_drafted:
        start_worker(workspace)
    if len(reached.number) >= MOST_KNOWN:
        notes.append(f"Only the newest {MOST_KNOWN:,} commits were looked at.")
    return KnownCommits(workspace, reached, older is not None, tuple(notes))


def _wanted(workspace: Workspace, tips: Tips, notes: list[str]) -> list[str]:
    """Have the background read the older commits of a history that is not HEAD's; return what to say."""
    from gitrag.indexing.older_commits import ALL_REFS, want

    if tips.name != workspace.repo.head().commit:
        try:
            want(workspace.older, tips.name if tips.name in tips.commits else ALL_REFS)
        except (StoreError, BusyError) as error:
            return [f"Older commits have not all been read: {error}"]
    return notes


def _gaps(base: Base | None, is_long: bool) -> Iterator[str]:
    """Say which older commits have not been read yet."""
    from gitrag.indexing.history import MOST_COMMITS

    if base is None:
        if is_long:
            yield "Older commits have not been read yet: the background does it."
    elif base.known < base.listed:
        known = f"{base.known:,} of {count(base.listed, 'older commit')}"
        yield f"{known} have been read yet; the background goes on."
    elif not base.is_complete:
        newest = f"the newest {MOST_COMMITS:,}"
        yield f"Commits older than {newest} may be missing until the background has read them."


MEANING = 0.3
"""Weight of the cosine of a subject beside the share of BM25 (`scripts/bench/changelogs.py`)."""

NEAR = 0.5
"""Cosine of question and subject from which on a commit is found by meaning alone. For 150 entries of the
changelogs of other projects six found one so, one of them among the first ten."""

_DEFINITIONS_S = 1.0
"""Time limit for reading which definitions the commits that answer touch."""

_TOLD_CHARACTERS = 1_000
_EXAMPLE = 'gitrag history "why was python 2 dropped"'


class CommitMatch(Struct, frozen=True):
    """A commit that answers.

    Attributes:
        commit: It, as it is stored; of very many paths not all.
        bm25: BM25 of its message, as a share of what a message could have at most.
        cosine: Of its subject and the question, by the model or a draft of it.
        has_word: Whether its message has a word of the question; else it was found by meaning alone.
        definitions: Qualified names of the definitions that it touches, those of tests last; None where that
            was not looked at.
        rank: 1 for the best. There is no score to tell: how likely a commit answers has not been measured.
    """

    commit: StoredCommit
    said: Said
    bm25: float
    cosine: float
    score: float
    has_word: bool
    definitions: tuple[str, ...] | None
    rank: int

    @property
    def found_by(self) -> str:
        """``words``, or ``meaning`` where its message has no word of the question."""
        return "words" if self.has_word else "meaning"


class HistoryAnswer(Struct, frozen=True):
    """What a history says.

    Attributes:
        query: The question.
        matches: The commits, best first.
        searched: How many commits were looked at.
        notes: What was not looked at, a sentence each.
    """

    query: str
    matches: tuple[CommitMatch, ...]
    searched: int
    notes: tuple[str, ...] = ()
    is_by_meaning: bool = False


_ALL = HistoryOptions()


def _ranked(
    question: Question | None, best: Candidates, own: Sequence[StoredCommit], cosines: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[int]]:
    """Return the commits' scores, and which of them answer, best first."""
    scores = best.words + MEANING * cosines
    if question is not None:
        scores += [_agreement(question, best, each.message) for each in own]
    found = (question is None) | (best.words > 0) | (cosines >= NEAR)
    return scores, sorted(np.flatnonzero(found).tolist(), key=lambda place: (-scores[place], place))


def _not_looked_at(repo: Repository) -> list[str]:
    if is_shallow(repo):
        return ["The clone is shallow: older commits, and those at its end, were not looked at."]
    if repo.promised_packs():
        return ["The clone is partial: commits whose files it lacks were not looked at."]
    return []


def history(workspace: Workspace, query: str, options: HistoryOptions = _ALL) -> HistoryAnswer:
    """Find the commits whose messages say what a question asks for, best first; without one the newest.

    Of those that share words with the question, and those nearest in meaning, both count. What has not been
    read of the newest commits is read first; older ones are read in the background.

    Raises:
        UsageError: The question has no word, or there is none and no definition is named; there is no such
            revision or definition; options do not go together.
        CommitError: git cannot read the refs.
        NotSetUpError: There is no index, or no commit.
    """
    from gitrag.search.history import newest

    require_together(options)
    now = datetime.now(UTC)
    begin, end = _seconds(options.since, parse_since, now), _seconds(options.until, end_of, now)
    question = None
    if query or not options.touches:
        question = read_question(query, may_be_report=False, example=_EXAMPLE)
    workspace.require_index()
    options = _from_top(workspace.repo.root, options)
    tips = _tips(workspace, options)
    workspace.read_history(tips)
    notes: list[str] = []
    touching = commits_touching(workspace, tips.name, options.touches, notes) if options.touches else None
    known = known_commits(workspace, tips, question.hashes if question else ())
    if known is None:  # another process has let go of it meanwhile
        raise NotSetUpError("The history could not be read.", "Look at .git/gitrag/log, and try again.")
    allowed = _allowed(known, options, begin, end, touching)
    encoder, asked = (None, None) if question is None else question_vector(workspace, question.text)
    if question is None:
        best = newest(known.reached, allowed, options.limit)
    else:
        best = _candidates(known, question, asked, allowed, options.limit, notes)
    own = known.stored(best.number.tolist())
    said = [commit_message.read(each.message) for each in own]
    cosines = np.zeros(len(said)) if asked is None else _cosines(workspace, encoder, asked, own)
    scores, ranked = _ranked(question, best, own, cosines)
    shown = ranked[: options.limit]
    changes = [(own[place].id, own[place].changed) for place in shown]
    touched = touched_by_commits(workspace.repo, changes, _DEFINITIONS_S)
    matches = tuple(
        CommitMatch(
            own[place],
            said[place],
            float(best.words[place]),
            float(cosines[place]),
            float(scores[place]),
            has_word=question is None or bool(best.words[place] > 0),
            definitions=definitions,
            rank=rank,
        )
        for rank, (place, definitions) in enumerate(zip(shown, touched, strict=True), 1)
    )
    notes += [*known.notes, *_not_looked_at(workspace.repo)]
    searched = len(known.reached.number) if allowed is None else int(allowed.sum())
    text = question.text if question else ""
    return HistoryAnswer(text, matches, searched, tuple(notes), is_by_meaning=asked is not None)


def _tips(workspace: Workspace, options: HistoryOptions) -> Tips:
    """Return where the history begins that is asked."""
    if options.all_refs:
        tips = all_tips(workspace.repo)
    else:
        head = workspace.repo.resolve(options.revision) if options.revision else workspace.repo.head()
        tips = None if head.commit is None else Tips.of(head.commit)
    if tips is None:
        raise NotSetUpError("There is no commit yet.", "Commit something first.")
    return tips


def _candidates(
    known: KnownCommits,
    question: Question,
    asked: NDArray[np.float32] | None,
    allowed: NDArray[np.bool_] | None,
    limit: int,
    notes: list[str],
) -> Candidates:
    """Return the commits that may answer a question: by their words, and by their drafts."""
    from gitrag.search.history import MOST_CANDIDATES, MOST_NEAREST, candidates

    nearest = None
    if asked is not None:
        numbers = known.reached.number if allowed is None else known.reached.number[allowed]
        nearest, undrafted = known.nearest(numbers, asked, MOST_NEAREST)
        if undrafted:
            told = "by their words only: the background has not made their drafts yet"
            notes.append(f"{count(undrafted, 'commit')} were looked at {told}.")
    return candidates(known.reached, len(question.words), allowed, max(MOST_CANDIDATES, limit), nearest)


def changed_last(
    workspace: Workspace, commit: str | None, paths: Sequence[str]
) -> dict[str, tuple[int, StoredCommit]]:
    """Return for each path how many commits of a history, as far as read, changed it, and the newest."""
    from gitrag.store import histories

    if commit is None or not paths:
        return {}
    with workspace.store.read() as db:
        return histories.latest_changing(db, commit, paths)


def end_of(text: str, now: datetime) -> datetime:
    """Parse a point in time until which something counts: a date counts to its end."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return parse_since(text, now)
    return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)


def _seconds(
    given: str | float | None, parse: Callable[[str, datetime], datetime], now: datetime
) -> float | None:
    return parse(given, now).timestamp() if isinstance(given, str) else given


def _allowed(
    known: KnownCommits,
    options: HistoryOptions,
    begin: float | None,
    end: float | None,
    touching: Sequence[str] | None,
) -> NDArray[np.bool_] | None:
    """Return for each commit whether it may answer; None where all may."""
    if begin is None and end is None and not (options.author or options.path) and touching is None:
        return None
    reached = known.reached
    allowed = np.ones(len(reached.number), dtype=bool)
    if touching is not None:
        allowed &= np.isin(reached.number, known.numbers_of(touching))
    if begin is not None:
        allowed &= reached.committed >= begin
    if end is not None:
        allowed &= reached.committed <= end
    if options.author:
        allowed &= np.isin(reached.number, known.by_author(options.author))
    if options.path:
        allowed &= np.isin(reached.number, known.changing(lambda paths: _meant(paths, options)))
    return allowed


def _from_top(root: Path | None, options: HistoryOptions) -> HistoryOptions:
    """Return options whose path, where it is one of this machine's, is from the top: ``/src`` is already."""
    whole = [Path(each) for each in spellings(options.path) if each.startswith("/")]
    own = next(filter(None, (within(root, each) for each in whole)), "") if root is not None else ""
    return replace(options, path=f"/{own}") if own else options


def _meant(paths: Sequence[str], options: HistoryOptions) -> list[str]:
    """Return the paths that are meant: seen from a directory, else from the top, else by their end."""
    given = spellings(options.path)
    is_whole = is_url(options.path)
    for each in given:
        is_of_top = is_whole or each.startswith("/")
        plain = normpath(each.lstrip("/")) if is_of_top else normpath(join(options.here, each))
        for wanted in dict.fromkeys((plain, normpath(each.lstrip("/")))):
            if found := [path for path in paths if wanted == "." or _matches(path, wanted)]:
                return found
    ends = () if is_whole else given
    return next(filter(None, (ending(normpath(each.strip("/")), paths) for each in ends)), [])


def _matches(path: str, wanted: str) -> bool:
    return path == wanted or path.startswith(f"{wanted}/") or fnmatchcase(path, wanted)


def _agreement(question: Question, best: Candidates, message: str) -> float:
    """Return how well a message is worded like a question."""
    from gitrag.search.history import agreement

    subject = commit_message.without_numbers(commit_message.read(message).subject)
    return agreement(question.text, question.words, best.rarity, subject, message[:_TOLD_CHARACTERS])


def _cosines(
    workspace: Workspace, encoder: Encoder | None, asked: NDArray[np.float32], own: Sequence[StoredCommit]
) -> NDArray[np.float64]:
    """Return the cosine of each subject and the question, by the model, else by drafts."""
    from gitrag.embedding.draft import drafter

    if not own:
        return np.zeros(0)
    texts = [embedded_text(each.message) for each in own]
    vectors = drafter(workspace.model).draft(texts) if encoder is None else encoder.encode(texts)
    return np.asarray(vectors @ np.asarray(asked).reshape(-1), dtype=np.float64)
