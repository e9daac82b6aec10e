"""One question, asked of several repositories at the same time.

Each is asked its own index, by a thread of its own: git, DuckDB and NumPy work outside of Python's lock.
Scores say how likely a file answers, where its repository is the one that is meant. So in the common order
each counts with the `share` of its repository.
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from gitrag.actions.answer import Answer, Asked, Outcome
from gitrag.actions.catch_up import start_worker
from gitrag.actions.left_out import SUBMODULES
from gitrag.actions.repositories.chosen import Chosen, Open, require_same
from gitrag.actions.search import EVERYTHING, NoCollectionError, SearchOptions, read_question, search
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.draft import drafter
from gitrag.errors import GitragError, ModelError, NotSetUpError, RepositoryError
from gitrag.machine.environment import UNAWAITED
from gitrag.machine.isolation import reason_of
from gitrag.machine.log import logged
from gitrag.search.engine import Hit
from gitrag.search.sections import UNSURE, AnswerSection, least_score
from gitrag.search.wording import NOTHING_TO_SAY, Wording
from gitrag.store.engine import SharedEngines
from gitrag.workspace import Workspace

BUDGET_S = 10.0
"""Seconds in which all have to answer."""

_AT_ONCE = 3
"""Repositories that are asked at the same time. More wait for Python's lock: of 20 kept in memory, 8 at once
take a seventh more processor time and a tenth more time."""

_PATIENCE_S = 0.5
"""Each time that none has answered for so long, as on a disk that is gone, one more is asked beside them."""

_CATCH_UP_SHARE = 0.5
"""Share of the budget in which a repository may catch up, so that it can still answer."""

_SURENESS = 4
"""Power of how likely a repository has an answer at all, relative to the likeliest one. 1 is too little: the
hits of many that hardly know stand between those of one that does. From 2 to 8 NDCG@10 differs by 0.003
(`scripts/bench/everywhere.py`)."""

_ABSENT = 0.01
"""Share that a repository keeps for each name of the question, written as in code, that nothing in it
contains, though all that another one lacks are fewer."""

_TOGETHER = 1.0
"""How much more a repository counts whose best hits lie in one directory, as a logarithm. Where one is meant
that has a part for what is asked, they do; by chance they lie anywhere. From 0.5 to 2 as good."""

_BEST = 5
"""Hits that are looked at for that."""


_Reply = tuple[Chosen, Workspace | None, Answer | Exception]
"""What one repository says: an answer, or an error."""


def ask(
    chosen: Sequence[Chosen],
    query: str,
    open_: Open,
    options: SearchOptions = EVERYTHING,
    *,
    limit: int | None = None,
    budget_s: float = BUDGET_S,
    keep: bool = False,
) -> Answer:
    """Ask several repositories a question, each its own index.

    Args:
        open_: Opens one; called in the thread that asks it.
        limit: Most hits of each kind in all, where the options say none: of each its settings do.
        budget_s: Seconds in which they have to answer; those that have not are named.
        keep: Whether the repositories are asked again: else what each has in memory is given back at once.
    """
    question = read_question(query)
    drafter()  # once, not in each thread
    asking = _Asking(query, open_, options, budget_s, chosen, keep=keep)
    replies = {reply[0].name: reply for reply in asking.run()}
    asking.engines.stop()
    answers = {name: said for name, (*_, said) in replies.items() if isinstance(said, Answer)}
    for workspace in asking.unfinished[:1]:  # one worker at a time: each has a model in memory
        with suppress(OSError):
            start_worker(workspace)
    for reply in replies.values():
        _log(reply)
    asked = tuple(_outcome(each, replies.get(each.name), budget_s) for each in chosen)
    most = limit if options.limit is None else options.limit
    merged = merge(query, answers, most, of_report=question.report is not None)
    narrowed = merged.wording.narrowed or len(answers) < len(chosen)
    return replace(merged, wording=replace(merged.wording, narrowed=narrowed), asked=asked)


class _Asking:
    """Threads that ask repositories; those that do not answer in time are left behind."""

    def __init__(
        self,
        query: str,
        open_: Open,
        options: SearchOptions,
        budget_s: float,
        chosen: Sequence[Chosen],
        *,
        keep: bool,
    ) -> None:
        self._query = query
        self._open = open_
        self._options = options
        self._deadline = time.monotonic() + budget_s
        self._chosen = chosen
        self._keep = keep
        self.engines = SharedEngines(each.git_dir / "gitrag" for each in chosen)
        self._opening = threading.Lock()
        self.unfinished: list[Workspace] = []

    def run(self) -> Iterable[_Reply]:
        """Yield what the repositories answer, as they do, until the time is over."""
        waiting: queue.SimpleQueue[Chosen] = queue.SimpleQueue()
        done: queue.SimpleQueue[_Reply] = queue.SimpleQueue()
        for each in self._chosen:
            waiting.put(each)

        def work() -> None:
            with suppress(queue.Empty):
                while time.monotonic() < self._deadline:
                    done.put(self._ask(waiting.get_nowait()))

        def start() -> None:
            threading.Thread(target=work, daemon=True, name=UNAWAITED).start()

        for _ in range(min(_AT_ONCE, len(self._chosen))):
            start()
        for _ in self._chosen:
            reply = None
            while reply is None:
                left_s = self._deadline - time.monotonic()
                with suppress(queue.Empty):
                    reply = done.get(timeout=max(0.0, min(left_s, _PATIENCE_S)))
                if reply is None and left_s <= 0:
                    return
                if reply is None and not waiting.empty():
                    start()
            yield reply

    def _ask(self, chosen: Chosen) -> _Reply:
        workspace = None
        try:
            workspace = self._open(chosen)
            require_same(workspace, chosen)
            if not self._keep:
                workspace.store.take_turns(self.engines)
            workspace.require_index()
            self._share_model(workspace)
            left_s = self._deadline - time.monotonic()
            config = workspace.config
            options = replace(
                self._options,
                catch_up_s=max(0.0, min(config.catch_up_s, left_s * _CATCH_UP_SHARE)),
                refine_s=config.refine_s / len(self._chosen),
            )
            answer = search(workspace, self._query, options, finish=self.unfinished.append)
        except Exception as error:  # noqa: BLE001 - a repository's error is told of it, the others answer
            return chosen, workspace, error
        finally:
            if workspace is not None and not self._keep:
                workspace.store.close()
        return chosen, workspace, answer

    def _share_model(self, workspace: Workspace) -> None:
        """Open the model once for all of them: each would take 60 ms for its own."""
        from gitrag.embedding.encoder import keep_open

        if workspace.model:
            return
        with self._opening, suppress(ModelError):  # without it, drafts answer
            keep_open(workspace.model_dir)


def _log(reply: _Reply) -> None:
    """Log an error that is nobody's but ours."""
    _, workspace, error = reply
    if isinstance(error, Answer | GitragError) or workspace is None:
        return
    with suppress(OSError), logged(workspace.store.directory) as log:
        log.error("asking it among others failed", exc_info=error)


def _outcome(chosen: Chosen, reply: _Reply | None, budget_s: float) -> Asked:
    path = chosen.files or chosen.place
    if reply is None:
        return Asked(chosen.name, path, Outcome.LATE, f"no answer within {budget_s:g} s")
    *_, said = reply
    if isinstance(said, Answer):
        waiting = said.waiting
        outcome = Outcome.BEHIND if waiting else Outcome.ANSWERED
        why = f"{waiting:,} of its files are not read yet" if waiting else ""
        return Asked(chosen.name, path, outcome, why, commit=said.commit)
    if isinstance(said, NoCollectionError):
        return Asked(chosen.name, path, Outcome.ANSWERED, str(said))
    if not os.path.isdir(chosen.place):  # noqa: PTH112 - of what cannot be read, Path.is_dir raises
        return Asked(
            chosen.name,
            path,
            Outcome.UNREACHABLE,
            _why_no_directory(chosen.place),
            "Moved: gitrag repos add PATH. Deleted: gitrag repos forget --missing",
        )
    if isinstance(said, NotSetUpError) and not isinstance(said, RepositoryError):
        return Asked(
            chosen.name,
            path,
            Outcome.NOT_INDEXED,
            "it has no index",
            f"gitrag -C {chosen.place} index",
        )
    if isinstance(said, GitragError):
        return Asked(chosen.name, path, Outcome.UNREACHABLE, str(said), said.hint)
    return Asked(
        chosen.name,
        chosen.place,
        Outcome.UNREACHABLE,
        f"gitrag hit a bug: {reason_of(said)}",
        f"gitrag -C {chosen.place} doctor",
    )


def _why_no_directory(place: Path) -> str:
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return f"there is no {place}"
    except OSError as error:
        return f"{place} cannot be read: {error.strerror}"
    return f"{place} is no directory"


def merge(query: str, answers: Mapping[str, Answer], limit: int | None, *, of_report: bool = False) -> Answer:
    """Put the answers of repositories together, best first.

    A word is misspelt only where no repository knows it: who corrected the question is left out where
    another one has all its words.
    """
    is_known = any(not each.wording.searched_for and not each.wording.missing for each in answers.values())
    heard = {name: each for name, each in answers.items() if not (is_known and each.wording.searched_for)}
    shares = share(heard)
    sections = []
    for kind in CollectionKind:
        asked = [
            (name, section.hits)
            for name, answer in heard.items()
            for section in answer.sections
            if section.kind is kind
        ]
        if asked:
            hits = [
                hit
                for name, own in asked
                for hit in (_of(name, each, shares[name]) for each in own)
                if hit.score >= least_score(kind, heard[name].least, of_report=of_report)
            ]
            order = sorted(range(len(hits)), key=lambda at: (-hits[at].score, at))
            sections.append(AnswerSection(kind, tuple(hits[at] for at in order[:limit])))
    every = list(answers.values())
    found = any(section.hits for section in sections)
    sure = any(hit.score >= UNSURE for section in sections for hit in section.hits)
    looked = [each.looked_at for each in every if each.looked_at is not None]
    return Answer(
        query=every[0].query if every else query,
        sections=tuple(sections),
        commit=None,
        dirty=sum(each.dirty for each in every),
        drafts=sum(each.drafts for each in every),
        waiting=sum(each.waiting for each in every),
        model=all(each.model for each in every),
        drafted=all(each.drafted for each in every),
        wording=_wording(list(heard.values()), sure=sure),
        looked_at=sum(looked) if looked and not found else None,
        collections=tuple(name for each in every for name in each.collections),
        least=every[0].least if every else None,
        outlined=tuple(line for each in every for line in each.outlined),
    )


def share(answers: Mapping[str, Answer]) -> dict[str, float]:
    """Return how much each repository counts: how likely it is the one that is meant, the likeliest 1.

    That is how likely any of its hits answers, hits taken as independent of each other, relative to the
    repository where that is likeliest, to the power of `_SURENESS`; more where the best of them lie together
    (`_TOGETHER`); less where it lacks a name that is asked for and another one has it (`_ABSENT`).
    """
    likely = {
        name: 1 - math.prod(1 - hit.score for section in answer.sections for hit in section.hits)
        for name, answer in answers.items()
    }
    fewest = min((len(each.absent_names) for each in answers.values()), default=0)
    worth = {
        name: own**_SURENESS
        * math.exp(_TOGETHER * _together(answers[name]))
        * _ABSENT ** (len(answers[name].absent_names) - fewest)
        for name, own in likely.items()
    }
    most = max(worth.values(), default=0.0)
    return {name: own / most if most else 0.0 for name, own in worth.items()}


def _together(answer: Answer) -> float:
    """Return how much of the scores of the best hits of code lies in one directory, from 0 to 1."""
    best = [hit for section in answer.sections if section.kind is CollectionKind.CODE for hit in section.hits]
    directories: dict[str, float] = {}
    for hit in best[:_BEST]:
        directory = hit.path.rpartition("/")[0]
        directories[directory] = directories.get(directory, 0.0) + hit.score
    total = sum(directories.values())
    return max(directories.values()) / total if total else 0.0


def _of(name: str, hit: Hit, own_share: float) -> Hit:
    return replace(hit, repository=name, score=round(hit.score * own_share, 4))


def _wording(answers: Sequence[Answer], *, sure: bool) -> Wording:
    """Return what is true of a question's words in all repositories together.

    Args:
        sure: Whether a hit is likely: only which other words were searched for is told then.
    """
    said = [each.wording for each in answers]
    if not said:
        return NOTHING_TO_SAY
    corrected = {each.searched_for for each in said if each.searched_for}
    searched_for = corrected.pop() if len(corrected) == 1 else ""
    read_of = said[0].read_of if all(each.read_of == said[0].read_of for each in said) else ""
    foreign = all(each.foreign for each in said)
    exists = tuple(
        dict.fromkeys(sentence for each in said for sentence in each.exists if SUBMODULES not in sentence)
    )
    added = tuple(dict.fromkeys(word for each in said for word in each.added))
    if sure:
        return Wording(
            searched_for=searched_for, read_of=read_of, foreign=foreign, exists=exists, added=added
        )
    missing = [word for word in said[0].missing if all(word in each.missing for each in said[1:])]
    return Wording(
        missing=tuple(missing),
        searched=sum(each.searched for each in said),
        unread=sum(each.unread for each in said),
        left_out=sum(each.left_out for each in said),
        narrowed=any(each.narrowed for each in said),
        no_such_path=said[0].no_such_path if all(each.no_such_path for each in said) else "",
        searched_for=searched_for,
        read_of=read_of,
        foreign=foreign,
        exists=exists,
        added=added,
    )
