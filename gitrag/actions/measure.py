"""Measure how well files are found in this repository: past commits are asked of the state before them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.actions.current_view import CurrentView
from gitrag.actions.issues import read_issue
from gitrag.actions.progress import Progress
from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.draft import has_table
from gitrag.errors import GitragError, NotSetUpError
from gitrag.git.commits import Commit, commit_ids, is_shallow, read_commits
from gitrag.git.grep import count_words
from gitrag.indexing.history import MOST_COMMITS
from gitrag.late import np
from gitrag.search.question import STOP_WORDS
from gitrag.search.sections import Wanted, choose
from gitrag.store.scopes import Filters
from gitrag.words import commit_message
from gitrag.words.bulk_files import bulk
from gitrag.words.numbers import count
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection
    from gitrag.store.views import ViewOverlay

PAGE, SPAN, MOST_FILES, LEAST_WORDS = 10, 10, 12, 3
"""Files of an answer that are looked at; first parents whose commits are asked of one state, which has to be
indexed; files that a commit changes at most, and words of its subject at least: others tell too little."""

_MOST_OF_A_SPAN = 200
"""Commits of a span at most: in some projects a merge brings thousands."""

_GREP_S, _CATCH_UP_S, _SAMPLES = 30.0, 3600.0, 2_000

_TYPE = re.compile(
    r"(?i)^(?:build|chore|ci|docs?|feat|fix|perf|refactor|revert|style|tests?)(?:\([^)]*\))?!?:\s+"
)
"""What a subject says of the kind of change, by the convention of conventionalcommits.org."""

_NUMBER = re.compile(r"\([^()]*#\d+[^()]*\)|#\d+")
_BOT = re.compile(
    r"(?i)\[bot\]|(?<![a-z])bot(?![a-z])|dependabot|renovate|greenkeeper|github[ -]actions?|pre-commit-ci"
)
FIGURES = ("first", "three", "ten", "ndcg")
_PROSE = (".adoc", ".asciidoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".txt")
_UNMET = 20
"""Ends the search for commits: so many times as many as asked for that change nothing that was indexed."""
_ENDED = f"The search for commits ended: {_UNMET} times as many as asked for change nothing indexed before."

_SHALLOW = "The clone is shallow: commits at its end, and older ones, are not there."
_PARTIAL = "The clone is partial: of commits whose files are not there nothing is asked."
_NOT_BEFORE = "nothing indexed before"
SUBJECTS, ISSUES = "subjects", "issues"


class Found(Struct, frozen=True):
    """How well something finds the files that commits changed.

    Attributes:
        asked: ``subjects`` of commits, or the titles of ``issues`` that these name.
        by: ``gitrag``, ``git grep``, or the ``difference`` of the two.
        questions: How many were asked.
        figures: The share of questions with such a file ``first``, among ``three``, among ``ten``, and
            ``ndcg`` at ten: the mean, and the ends of its interval (95 %, bootstrap over the questions).
    """

    asked: str
    by: str
    questions: int
    figures: Mapping[str, tuple[float, float, float]]


class Replayed(Struct, frozen=True):
    """A question that was asked, and where the files are that its commit changed.

    Attributes:
        commit: The commit.
        before: The commit that was asked.
        asked: ``subjects`` or ``issues``: what the question is.
        question: As it was asked.
        files: The files to be found.
        gitrag: The places of those that were found among the first ten, 1 for the first.
        grep: Likewise of git grep.
    """

    commit: str
    before: str
    asked: str
    question: str
    files: tuple[str, ...]
    gitrag: tuple[int, ...]
    grep: tuple[int, ...]


class Measured(Struct, frozen=True):
    """How well files are found in a repository.

    Attributes:
        commits: How many commits were asked.
        left_out: How many others were looked at, by the reason why they were not asked.
        found: How well gitrag and git grep do.
        model: Whether the model embedded the questions; else a draft of their vectors was used.
        notes: What could not be looked at, a sentence each.
        replayed: The questions one by one.
        own_model: The user's own model that it was asked by; empty for ours.
    """

    commits: int
    left_out: Mapping[str, int]
    found: tuple[Found, ...]
    model: bool
    notes: tuple[str, ...]
    replayed: tuple[Replayed, ...]
    own_model: str = ""


def measure(workspace: Workspace, progress: Progress, most: int, seed: int | None = None) -> Measured:
    """Ask past commits of the state before them, and look where the files are that they changed.

    Args:
        seed: Chooses by chance where in the history; None for the newest.
    """
    workspace.require_index()
    head = workspace.repo.head().commit
    if head is None:
        raise NotSetUpError("There is no commit yet.", "Commit something first.")
    home = workspace.issues_home()
    asked, cut_short, left_out, replayed = 0, 0, Counter[str](), list[Replayed]()
    notes = [_SHALLOW] * is_shallow(workspace.repo) + [_PARTIAL] * bool(workspace.repo.promised_packs())
    for commit, before in _past(workspace, head, seed):
        if asked == most:
            break
        if why := _unfit(commit):
            left_out[why] += 1
        elif files := tuple(sorted(before.paths.intersection(_changed(commit)))):
            for kind, question in _questions(workspace, commit, home):
                ranked, is_whole = before.grep(question)
                cut_short += not is_whole
                places = (_places(each, files) for each in (before.answer(question), ranked))
                replayed.append(Replayed(commit.id, before.commit, kind, question, files, *places))
            asked += 1
            progress.update(asked)
        else:
            left_out[_NOT_BEFORE] += 1
            if left_out[_NOT_BEFORE] >= _UNMET * most:
                notes.append(_ENDED)
                break
    found = tuple(row for kind in (SUBJECTS, ISSUES) for row in _summed(kind, replayed))
    if cut_short:
        notes.append(
            f"git grep was cut short for {count(cut_short, 'question')}: its figures may be too low."
        )
    model = workspace.encoder_if_ready() is not None
    return Measured(
        asked, dict(left_out), found, model, tuple(notes), tuple(replayed), own_model=workspace.model
    )


class _Before:
    """The state at a commit; nothing that came later is evidence in it, for messages count by history."""

    def __init__(self, workspace: Workspace, commit: str) -> None:
        self.commit = commit
        self._workspace = workspace
        self._paths: frozenset[str] | None = None

    @property
    def paths(self) -> frozenset[str]:
        """Its files of code; it is indexed for them, and its history read."""
        if self._paths is None:
            own = self._workspace
            own.read_history(self.commit)
            view = CurrentView(own, revision=self.commit, with_issues=False, budget_s=_CATCH_UP_S)
            result = view.read(_paths_of_code)
            if not has_table(own.model) and own.encoder_if_ready() is not None:
                own.embed(view_id=result.refreshed.view.view_id)  # else words alone would be measured
            self._paths = result.found
        return self._paths

    def answer(self, question: str) -> list[str]:
        code = Wanted((CollectionKind.CODE,))
        options = SearchOptions(limit=PAGE, min_score=0.0, wanted=code, ref=self.commit)
        answer = search(self._workspace, question, options, finish=lambda _workspace: None)
        return [hit.path for hit in answer.hits]

    def grep(self, question: str) -> tuple[list[str], bool]:
        """Return files with the most distinct words of a question, then the most matches, first; if all."""
        found, is_whole = count_words(self._workspace.repo, self.commit, _words(question), _GREP_S)
        ours = [path for path in found if path in self.paths]
        return sorted(ours, key=lambda path: (-len(found[path]), -found[path].total(), path)), is_whole


def _paths_of_code(db: Connection, view_id: int, overlay: ViewOverlay) -> frozenset[str]:
    from gitrag.store.source import IndexFile

    source = IndexFile(db)
    present = {*source.touched(view_id), *overlay.collections}
    names = choose(Wanted((CollectionKind.CODE,)), present)[CollectionKind.CODE]
    scope = source.open_scope(view_id, overlay, Filters(collections=names))
    return frozenset(source.read_paths(scope.files.path_id.tolist()).values())


def _past(workspace: Workspace, head: str, seed: int | None) -> Iterator[tuple[Commit, _Before]]:
    """Yield commits, and a state before each, from which it cannot be reached; some share one."""
    chain = commit_ids(workspace.repo, head, MOST_COMMITS, first_parents=True)
    places = list(range(0, len(chain) - 1, SPAN))
    if seed is not None:
        np.random.default_rng(seed).shuffle(places)
    for at in places:
        before = _Before(workspace, chain[min(at + SPAN, len(chain) - 1)])
        ids = commit_ids(workspace.repo, chain[at], _MOST_OF_A_SPAN, beyond=before.commit)
        yield from ((commit, before) for batch in read_commits(workspace.repo, ids) for commit in batch)


def _unfit(commit: Commit) -> str:
    """Return why a commit is not asked; empty if it may be."""
    reasons = {
        "merges": commit.parents > 1,
        "made by bots": bool(_BOT.search(commit.author)),
        f"over {MOST_FILES} files": commit.changed > MOST_FILES,
        "no source file": not any(_is_source(path) for path, *_ in commit.changes),
        f"under {LEAST_WORDS} words": len(_words(_subject(commit))) < LEAST_WORDS,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _changed(commit: Commit) -> list[str]:
    """Return the source files that a commit changed, under the paths that they had before."""
    return [own for path, _, old in commit.changes if _is_source(own := old or path)]


def _is_source(path: str) -> bool:
    is_prose = path.lower().endswith(_PROSE)
    return not is_prose and bulk(path) is None and not traits(path, Trait.TEST | Trait.DOCUMENT)


def _subject(commit: Commit) -> str:
    subject = _NUMBER.sub("", commit_message.read(commit.message).subject)
    return " ".join(_TYPE.sub("", subject).split())


def _questions(workspace: Workspace, commit: Commit, home: str) -> Iterator[tuple[str, str]]:
    """Yield what a commit asks: its subject, and the titles of the issues that it names."""
    yield SUBJECTS, _subject(commit)
    for name in commit_message.issues_in(commit.message, home):
        with suppress(GitragError):  # there is no copy of it
            title = read_issue(workspace, name)[0].title
            if len(_words(title)) >= LEAST_WORDS:
                yield ISSUES, title


def _words(text: str) -> list[str]:
    """Return the distinct words of a question that count, in lower case."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", text.lower()))
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS and not word.isdecimal()]


def _places(ranked: Iterable[str], files: Sequence[str]) -> tuple[int, ...]:
    return tuple(at for at, path in enumerate(ranked, 1) if at <= PAGE and path in files)


def _summed(asked: str, replayed: Sequence[Replayed]) -> Iterator[Found]:
    """Sum up how well one kind of question is answered; nothing where none was asked."""
    own = [each for each in replayed if each.asked == asked]
    if not own:
        return
    gitrag = np.array([_figures(each.gitrag, len(each.files)) for each in own])
    grep = np.array([_figures(each.grep, len(each.files)) for each in own])
    sampled = np.random.default_rng(0).integers(len(own), size=(_SAMPLES, len(own)))
    for by, values in (("gitrag", gitrag), ("git grep", grep), ("difference", gitrag - grep)):
        low, high = np.percentile(values[sampled].mean(axis=1), [2.5, 97.5], axis=0)
        rows = np.stack([values.mean(axis=0), low, high], axis=1).round(4).tolist()
        yield Found(asked, by, len(own), dict(zip(FIGURES, map(tuple, rows), strict=True)))


def _figures(places: Sequence[int], files: int) -> tuple[float, ...]:
    """Return whether a file is first, among three, among ten; and NDCG@10."""
    best = min(places, default=PAGE + 1)
    gained, ideal = (
        sum(1 / math.log2(at + 1) for at in each) for each in (places, range(1, min(files, PAGE) + 1))
    )
    return (*(float(best <= most) for most in (1, 3, PAGE)), gained / ideal)
