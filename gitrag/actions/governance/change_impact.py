"""What a change may break: what it changes, who calls that, which tests bear on it, what it forgets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions import impact as impact_action
from gitrag.actions.current_view import CurrentView
from gitrag.actions.governance.bearings import PRESETS, Bearing, Unreached, indexed_documents
from gitrag.actions.governance.likeness import MOST_COMPARED, alike, is_compared
from gitrag.actions.governance.meant_change import current_content, meant_change
from gitrag.actions.governance.related import THRESHOLD
from gitrag.actions.governance.unnamed import queries_of, unnamed
from gitrag.actions.impact import MOST_CALLS, Called, Impact, callers_of_change
from gitrag.actions.issues import read_issue
from gitrag.actions.left_out import LeftOut
from gitrag.actions.touched import Touched, cutting_once, still_named, touched_by
from gitrag.chunking import language_of
from gitrag.chunking.languages import is_code
from gitrag.corpus.layout import DOCUMENTS, CollectionKind
from gitrag.corpus.testing import cargo_arguments, go_modules, name_of_source, plain_name, subject_of_test
from gitrag.errors import GitragError
from gitrag.git.difference import (
    ChangedFile,
    changed_files,
    ends_of,
    messages,
)
from gitrag.search.cochange import Companion, companions
from gitrag.words import commit_message
from gitrag.words.path_traits import Trait, is_of_an_example, traits
from gitrag.workspace import Workspace

WHOLE_S = 2.8
"""Time limit for a whole answer; what the rest of it leaves is for reading calls."""

LEAST_CALLS_S = 1.7
"""Time limit for reading calls where the rest took long: with django's 2,800 files they take that."""

MOST_COMPANIONS = 5

_MOST_GIVEN = 50
"""Changed files whose history is looked at."""

_LOOKED_AT = 60
"""Companions of which is looked at whether they are still there."""

_LEAST_NAME = 4
"""Letters of a definition's name that a file of tests is taken to be named after."""

_FEWEST = 2
"""Commits that two files have in common at least, to be told of."""

_OPEN = "open"

_MOST_UNINDEXED = 3


class BearingTest(Struct, frozen=True):
    """A file of tests that bears on a change.

    Attributes:
        path: The file.
        calls: How many of its tests call what is changed.
        through: By how many calls, more than one, it calls what is changed; 0 if it does not.
        is_named_alike: Whether it is named after a changed file or definition.
        companion: How often it changed together with a changed file; None if never.
        is_changed: Whether the change touches it too.
        module: The directory of its module; Go only.
        targets: The arguments by which Cargo runs its tests; Rust only.
    """

    path: str
    calls: int
    through: int
    is_named_alike: bool
    companion: Companion | None
    is_changed: bool
    module: str = ""
    targets: tuple[str, ...] = ()


class Closing(Struct, frozen=True):
    """An issue that a change may close.

    Attributes:
        id: Its number or key.
        title: Its title; empty where there is no copy of it here.
        state: ``open`` or another; empty likewise.
        is_named: Whether a commit's message names it.
        score: How likely it is about the same, in [0, 1]; 1 where it is named.
    """

    id: str
    title: str
    state: str
    is_named: bool
    score: float


FAULTS = ("broken", "untested", "companions", "decisions")
"""Removed and still named; called, by no test; usually changed too, and not here; bearing, and not named."""


class ChangeRequest(Struct, frozen=True):
    """What is asked of a change.

    Attributes:
        span: A range as git reads it; None for the uncommitted changes, or else what HEAD has that its
            upstream has not.
        kinds: The documents that it may touch.
        threshold: Least cosine of an existing definition that is like an added one; None to compare none.
        by_file: Whether issues are searched for each file; else for the commits' messages alone.
        with_past: Whether what changed together, and so tests, are looked for.
        is_whole: Whether the issues that it may close, and which files are not indexed, are too.
        calls_s: Time limit for reading calls; None for what is left of `WHOLE_S`.
    """

    span: str | None = None
    kinds: tuple[CollectionKind, ...] = DOCUMENTS
    threshold: float | None = None
    by_file: bool = False
    with_past: bool = True
    is_whole: bool = True
    calls_s: float | None = None


def reviewing(span: str, threshold: float = THRESHOLD, *, with_tests: bool = False) -> ChangeRequest:
    """Return what a review asks: who calls it, what is like it, what it should name."""
    return ChangeRequest(
        span, PRESETS["review"].kinds, threshold, True, with_tests, False, impact_action.TIMEOUT_S
    )


class ChangeImpact(Struct, frozen=True, kw_only=True):
    """What a change may break, and what it forgets.

    Attributes:
        span: The range as git reads it.
        said: What it is, for people.
        files: The files that it changes.
        definitions: What it adds, changes and removes but does not move, by file; some with others like them.
        impact: Who calls it, and what was looked at for that; None where it changes no code.
        tests: The files of tests that bear on it, the likeliest first.
        test_files: How many files of tests there are.
        companions: What changed together with it before and does not here, best first; at most five, and all
            that are usual.
        searched: How many earlier commits were looked at for that.
        documents: The decisions and specifications that it should name, and issues like it, best first.
        named: Ids of documents that scored enough and that the change names.
        unreached: What comes nearest where there is neither; None where there is one.
        asked: The files that documents were asked for; empty of the commits' messages.
        closing: The issues that it may close.
        messages: How many messages of its commits were looked at for that.
        issues: How many issues were compared with.
        new: How many definitions it adds: without tests, moved and very short ones.
        threshold: Least cosine of what is called alike; None where nothing was compared.
        notes: What was not looked at, a sentence each; in Python also what the command says on stderr.
        not_indexed: Which of the files are not in the index, or only their outlines, a sentence each.
    """

    span: str
    said: str
    files: tuple[str, ...]
    definitions: tuple[Touched, ...]
    impact: Impact | None
    tests: tuple[BearingTest, ...] = ()
    test_files: int = 0
    companions: tuple[Companion, ...] = ()
    searched: int = 0
    documents: tuple[Bearing, ...]
    named: tuple[str, ...]
    unreached: Unreached | None
    asked: tuple[str, ...]
    closing: tuple[Closing, ...] = ()
    messages: int
    issues: int = 0
    new: int
    threshold: float | None
    notes: tuple[str, ...]
    not_indexed: tuple[str, ...] = ()

    @property
    def called(self) -> tuple[Called, ...]:
        """Functions and classes that it changes and that are called, those with the most callers first."""
        return self.impact.called if self.impact is not None else ()

    @property
    def by_risk(self) -> tuple[Touched, ...]:
        """What it adds, changes and removes, the riskiest first."""
        order = sorted(
            self.definitions, key=lambda each: (-each.risk, each.path, each.chunk.line_start, each.name)
        )
        return tuple(order)

    @property
    def added(self) -> tuple[Touched, ...]:
        """The definitions that it adds although some like them exist."""
        return tuple(each for each in self.definitions if each.how == "added" and each.existing)

    @property
    def twins(self) -> tuple[Touched, ...]:
        """Those that it changes, each with others nearly like it that it does not change."""
        return tuple(each for each in self.definitions if each.how == "changed" and each.existing)

    @property
    def removed(self) -> tuple[Touched, ...]:
        """The definitions that it removes, with the lines that still have their names."""
        return tuple(each for each in self.definitions if each.how == "removed")

    @property
    def faults(self) -> dict[str, int]:
        """How many there are of each of what `FAULTS` names."""
        return {
            "broken": sum(bool(each.named) for each in self.definitions),
            "untested": sum(bool(each.called and not each.called.tests) for each in self.definitions),
            "companions": sum(file.is_usual for file in self.companions),
            "decisions": len(self.questions),
        }

    @property
    def every_note(self) -> tuple[str, ...]:
        """What was not looked at, for callers too, and the first files not indexed, a sentence each."""
        named = "; ".join(self.not_indexed[:_MOST_UNINDEXED])
        more = len(self.not_indexed) - _MOST_UNINDEXED
        unindexed = [f"{named}{f' and {more:,} more' if more > 0 else ''}."] if named else []
        return (*(self.impact.left_out if self.impact else ()), *self.notes, *unindexed)

    @property
    def questions(self) -> tuple[Bearing, ...]:
        """The decisions and specifications that it should name."""
        return tuple(each for each in self.documents if each.kind is not CollectionKind.ISSUES)


def change_impact(
    workspace: Workspace,
    asked: ChangeRequest,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> ChangeImpact:
    """Find out what a change may break, and what it forgets."""
    begin = time.monotonic()
    workspace.require_index()
    notes, unread = list[str](), list[str]()
    own, meant, files = meant_change(workspace, asked.span, notes)
    paths = [file.path for file in files]
    said = messages(workspace.repo, own)
    touched = touched_by(files, cutting_once(), unread)
    new = [each for each in touched if each.how == "added" and not each.is_moved and is_compared(each)]
    queries = queries_of(files, said, new[:MOST_COMPARED])
    sought = queries if asked.by_file else dict(list(queries.items())[-1:])  # the last are the messages
    steps = len(sought) + 3
    advance(0, steps)
    found = () if asked.threshold is None else alike(workspace, touched, new, asked.threshold)
    likened = {(each.path, each.name): each for each in found}
    gone = [each for each in touched if each.how == "removed" and not each.is_moved]
    gone = still_named(workspace, gone, files, own, unread)
    together, searched = _companions(workspace, own, paths, notes) if asked.with_past else ([], 0)
    advance(1, steps)
    documents, named, unreached = unnamed(
        workspace, files, said, queries, sought, asked.kinds, lambda done: advance(done + 1, steps)
    )
    advance(steps - 1, steps)
    calls_s = asked.calls_s or max(LEAST_CALLS_S, round(WHOLE_S - (time.monotonic() - begin), 1))
    impact = callers_of_change(workspace, own, files, timeout_s=calls_s)
    if impact is not None and unread:
        impact = replace(impact, left_out=(*impact.left_out, *unread))
    kept = [likened.get((each.path, each.name), each) for each in touched if each.how != "removed"]
    advance(steps, steps)
    told = ChangeImpact(
        span=own,
        said=meant,
        files=tuple(paths),
        definitions=(*_with_callers(kept, impact), *gone),
        impact=impact,
        documents=documents,
        named=named,
        unreached=unreached,
        asked=tuple(queries),
        messages=len(said),
        new=len(new),
        threshold=asked.threshold,
        notes=tuple(notes),
    )
    if asked.with_past:
        told = _with_tests(workspace, replace(told, searched=searched), files, together)
    return _whole(workspace, told, said) if asked.is_whole else told


def _with_tests(
    workspace: Workspace, found: ChangeImpact, files: Sequence[ChangedFile], together: Sequence[Companion]
) -> ChangeImpact:
    every = _every_path(workspace)
    shown = [each for each in together if not _is_of_tests(each.path) or each.is_usual]
    return replace(
        found,
        tests=_tests(workspace, files, found.impact, together, every),
        test_files=sum(_is_test(path) for path in every),
        companions=tuple(each for at, each in enumerate(shown) if at < MOST_COMPANIONS or each.is_usual),
    )


def _whole(workspace: Workspace, found: ChangeImpact, said: Sequence[str]) -> ChangeImpact:
    """Return it with the issues that it may close, and what is not indexed."""
    return replace(
        found,
        closing=_closing(workspace, said, found.documents),
        issues=sum(1 for _ in indexed_documents(workspace, (CollectionKind.ISSUES,))),
        not_indexed=LeftOut.read(workspace, CurrentView(workspace)).among(found.files),
    )


def bearing_tests(workspace: Workspace, span: str, callers: Impact | None) -> tuple[BearingTest, ...]:
    """Return the files of tests that bear on a change, the likeliest first."""
    files = changed_files(workspace.repo, span)
    together, _ = _companions(workspace, span, [file.path for file in files], [])
    return _tests(workspace, files, callers, together, _every_path(workspace))


def _with_callers(touched: Iterable[Touched], callers: Impact | None) -> list[Touched]:
    known = {(each.node.path, each.node.name): each for each in callers.called} if callers else {}
    uncalled = (
        {(node.path, node.name): each for node, each in zip(callers.uncalled, callers.known, strict=True)}
        if callers
        else {}
    )
    looked_for = known.keys() | uncalled.keys()
    return [
        replace(
            each,
            called=known.get((each.path, each.name)),
            is_looked_for=(each.path, each.name) in looked_for,
            known=uncalled.get((each.path, each.name)),
        )
        for each in touched
    ]


def _companions(
    workspace: Workspace, span: str, paths: Sequence[str], notes: list[str]
) -> tuple[list[Companion], int]:
    """Return what changed together with some files before and is still there, and how much was read."""
    from gitrag.git.commits import is_shallow
    from gitrag.indexing.history import MOST_COMMITS
    from gitrag.store import histories

    repo = workspace.repo
    first, last = ends_of(span)
    end = repo.resolve(last or "HEAD").commit
    if end is None or not paths:
        return [], 0
    workspace.read_history(end)
    listed = repo.git("rev-list", f"--max-count={MOST_COMMITS}", f"{first}..{end}", "--")
    if listed.returncode:
        notes.append("What changed together before was not looked at: git cannot list the range's commits.")
        return [], 0
    own = listed.stdout.decode("ascii")
    with workspace.store.read() as db:
        past = histories.changes_with(db, end, paths[:_MOST_GIVEN], own.split())
    if past is None:
        notes.append("What changed together before was not looked at: the history could not be read.")
        return [], 0
    if len(paths) > _MOST_GIVEN:
        notes.append(f"What changed together was looked up for the first {_MOST_GIVEN} files.")
    if past.searched + len(own.split()) >= MOST_COMMITS:
        notes.append(f"Of the history only the newest {MOST_COMMITS:,} commits were looked at.")
    if is_shallow(repo):
        notes.append("The clone is shallow: older commits were not looked at.")
    changed = set(paths)
    found = [each for each in companions(past, paths[:_MOST_GIVEN], _LOOKED_AT) if each.path not in changed]
    held = repo.git(
        *("--literal-pathspecs", "ls-tree", "--full-tree", "-z", "--name-only", end, "--"),
        *(os.fsencode(each.path) for each in found),
    ).stdout.split(b"\0")
    there = {os.fsdecode(path) for path in held}
    return [each for each in found if each.path in there and each.together >= _FEWEST], past.searched


def _every_path(workspace: Workspace) -> list[str]:
    done = workspace.repo.git("ls-files", "-z")
    return sorted(set(os.fsdecode(done.stdout).split("\0")[:-1]))


def _is_of_tests(path: str) -> bool:
    return bool(traits(path, Trait.TEST)) and not is_of_an_example(path)


def _is_test(path: str) -> bool:
    return _is_of_tests(path) and is_code(language_of(path) or "")


def _tests(
    workspace: Workspace,
    files: Sequence[ChangedFile],
    callers: Impact | None,
    together: Sequence[Companion],
    every: Sequence[str],
) -> tuple[BearingTest, ...]:
    """Return the files of tests that bear on a change: by calls, by name, by what changed together."""
    calls: dict[str, set[str]] = {}
    for called in callers.called if callers else ():
        for edge in called.tests:
            calls.setdefault(edge.caller.path, set()).add(edge.caller.name)
    through = dict(callers.reached_by) if callers else {}
    changed = {file.path for file in files}
    subjects = {name_of_source(path) for path in changed if not _is_test(path)}
    nodes = (*(each.node for each in callers.called), *callers.uncalled) if callers else ()
    names = {node.name.rpartition(".")[2] for node in nodes}
    subjects |= {plain_name(name) for name in names if len(name) >= _LEAST_NAME}
    subjects.discard("")  # of `.eslintrc.js`
    alike = {path for path in every if _is_test(path) and subject_of_test(path) in subjects}
    beside: Mapping[str, Companion] = {each.path: each for each in together if _is_test(each.path)}
    own = {path for path in changed if _is_test(path)}
    deleted = {file.path for file in files if file.after is None and file.before is not None}
    paths = {path for path in (*calls, *through, *alike, *beside, *own) if not path.endswith("/__init__.py")}
    there = frozenset(every)
    modules = go_modules(paths, there)
    targets = cargo_arguments(paths, there, lambda path: current_content(workspace, path))
    found = [
        BearingTest(
            path,
            len(calls.get(path, ())),
            through.get(path, 0),
            path in alike,
            beside.get(path),
            path in changed,
            modules.get(path, ""),
            targets.get(path, ()),
        )
        for path in paths - deleted
    ]
    return tuple(
        sorted(
            found,
            key=lambda each: (
                -each.is_changed,
                -each.calls,
                -each.is_named_alike,
                each.through or MOST_CALLS + 1,
                -(each.companion.score if each.companion else 0.0),
                each.path,
            ),
        )
    )


def _closing(workspace: Workspace, said: Sequence[str], documents: Iterable[Bearing]) -> tuple[Closing, ...]:
    home = workspace.issues_home()
    found = {own: _named_issue(workspace, own) for own in commit_message.issues_in("\n".join(said), home)}
    for each in documents:
        own = each.document.id
        if each.kind is CollectionKind.ISSUES and own not in found and each.document.status == _OPEN:
            found[own] = Closing(own, each.document.title, each.document.status, False, each.score)
    return tuple(found.values())


def _named_issue(workspace: Workspace, own: str) -> Closing:
    try:
        issue, _ = read_issue(workspace, own)
    except GitragError:  # there is no copy of it
        return Closing(own, "", "", True, 1.0)
    return Closing(own, issue.title, issue.status.value, True, 1.0)
