"""Why lines are as they are: the commits that made them so, what those say, and what bears on the file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.governance.bearings import Bearing
from gitrag.actions.governance.check import documents_on
from gitrag.actions.issues import read_issue
from gitrag.actions.lines import file_lines
from gitrag.chunking import chunk, language_of
from gitrag.chunking.notebooks import MOST_NOTEBOOK_BYTES, NOTEBOOK
from gitrag.corpus.governing import named
from gitrag.errors import GitragError, NotSetUpError, UsageError
from gitrag.git import meant_path
from gitrag.git.blame import IGNORED_REVISIONS, Blame, blame, brought_by, changed_before, unchanged_lines
from gitrag.git.commits import Commit, is_shallow, read_commits
from gitrag.git.conversion import as_stored
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.meant import own_file, target_of
from gitrag.git.repository import Repository
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.model import DEFINITIONS
from gitrag.words import commit_message
from gitrag.words.commit_message import Said
from gitrag.workspace import Workspace

MOST_REASONS = 5
"""Commits that are told of; the others are counted."""

_MOST_BEFORE = 20
_MOST_DOCUMENTS = 3
_RANGES = 200
"""Ranges that git is asked for; where uncommitted changes leave more, it is asked for all that is between."""

_MOST_BYTES = 16 * 1024 * 1024
_MOST_LINES = 500_000

_TARGET = re.compile(r"(?P<path>.+?)(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?", re.DOTALL)


class NamedIssue(Struct, frozen=True):
    """An issue or pull request that a message names.

    Attributes:
        id: Its number or key.
        title: Its title; empty where there is no copy of it here.
        state: ``open``, ``closed``, ``merged``, ``draft``; empty likewise.
    """

    id: str
    title: str = ""
    state: str = ""


class Reason(Struct, frozen=True):
    """A commit that made some of the lines what they are.

    Attributes:
        commit: Its id.
        authored: When it was written, Unix seconds.
        author: Its author's name.
        lines: How many of the lines are from it.
        paths: Where they were then, if not in this file.
        merge: Subject of the merge that brought it, where its own message names no issue; empty otherwise.
        issues: Issues and pull requests that it, or that merge, names.
        decisions: Ids of decisions and specifications that it names.
    """

    commit: str
    authored: int
    author: str
    said: Said
    lines: int
    paths: tuple[str, ...] = ()
    merge: str = ""
    issues: tuple[NamedIssue, ...] = ()
    decisions: tuple[str, ...] = ()


class Further(Struct, frozen=True):
    """The commits that are not told of: how many, and how many of the lines are from them."""

    commits: int
    lines: int


class Why(Struct, frozen=True):
    """Why lines are as they are.

    Attributes:
        path: The file.
        line_start: First line.
        line_end: Last line.
        within: The definition that they are in; empty for the whole file, or outside any.
        reasons: The commits that made them so, newest first; at most five, those of the most lines.
        further: The other commits.
        uncommitted: How many lines are in no commit yet.
        before: The newest commit that changed the lines, or their definition, and that no line is from now.
        documents: The decisions and specifications that most likely bear on the file.
        notes: What was not looked at, a sentence each.
    """

    path: str
    line_start: int
    line_end: int
    lines: int
    within: str
    reasons: tuple[Reason, ...]
    further: Further
    uncommitted: int
    before: Reason | None
    documents: tuple[Bearing, ...]
    notes: tuple[str, ...]


def _require_lines(root: Path, path: str, lines: int, first: int, last: int) -> None:
    """Refuse a file whose lines git cannot tell apart, and lines that it has not."""
    if (
        language_of(path) == NOTEBOOK
        and lines > read_regular(root / path, MOST_NOTEBOOK_BYTES).count(b"\n") + 1
    ):
        raise UsageError(
            f"{path} has several lines of its cells on one of its own: git tells only those apart.",
            f"Try it: git log -- {path}",
        )
    if not 1 <= first <= last or last > max(lines, 1):
        raise UsageError(f"{path} has no lines {first}-{last}: it has {lines}.", "Give others.")
    if lines > _MOST_LINES:
        raise UsageError(
            f"{path} has {lines:,} lines: files of at most {_MOST_LINES:,} are looked at.",
            f"Try it: git blame -L {first},{min(last, first + 100)} -- {path}",
        )


def _not_looked_at(repo: Repository, found: Blame) -> Iterator[str]:
    if found.ignored:
        listed = len(found.ignored)
        yield (
            f"Commits that {IGNORED_REVISIONS} or blame.ignoreRevsFile lists are passed over"
            f" ({listed} listed)."
        )
    if not found.followed:
        yield "Lines that were moved were not followed: git took longer than 10 s."
    if is_shallow(repo):
        yield "The clone is shallow: what is older than its history is put down to the oldest commit."


def why(workspace: Workspace, start: Path, target: str, *, with_documents: bool = True) -> Why:
    """Find out why lines of a file are as they are, uncommitted changes included.

    Args:
        target: ``path``, ``path:line`` or ``path:first-last``.
    """
    root = workspace.repo.root
    if root is None:
        raise NotSetUpError("A bare repository has no working tree to read from.", "Run this in a worktree.")
    path, asked = _read_target(workspace, root, start, target)
    own = file_lines(workspace, path)
    first, last = asked or (1, max(len(own), 1))
    _require_lines(root, path, len(own), first, last)
    within = _definition(path, own, first, last) if asked else None
    notes: list[str] = []
    commit = workspace.snapshot().head.commit
    committed = _path_then(workspace, commit, path)
    then = _lines_then(workspace, commit, root / path, committed, notes)
    wanted = [then[line] for line in range(first, last + 1) if line in then]
    found = Blame((), followed=True, ignored=())
    if commit and wanted:
        found = blame(workspace.repo, commit, committed, _ranges(wanted))
    asked_for = set(wanted)
    origins = [(own, name) for line, own, name in found.origins if line in asked_for]
    counts = Counter(own for own, _ in origins)
    chosen = [each for each, _ in counts.most_common(MOST_REASONS)]
    around = within or (first, last, "")
    before = _before(workspace, commit, committed, then, around, counts, found, notes) if asked else None
    read = _read(workspace, [*chosen, *([before] if before else [])], commit or "")
    paths = {
        each: tuple(sorted({name for own, name in origins if own == each} - {path, committed}))
        for each in chosen
    }
    reasons = [replace(read[each], lines=counts[each], paths=paths[each]) for each in chosen if each in read]
    rest = [number for each, number in counts.items() if each not in chosen]
    notes += _not_looked_at(workspace.repo, found)
    return Why(
        path,
        first,
        last,
        len(own),
        within[2] if within else "",
        tuple(sorted(reasons, key=lambda each: (-each.authored, each.commit))),
        Further(len(rest), sum(rest)),
        last - first + 1 - len(origins) if own else 0,
        read.get(before) if before else None,
        _documents(workspace, root / path, notes) if with_documents else (),
        tuple(notes),
    )


def _read_target(
    workspace: Workspace, root: Path, start: Path, target: str
) -> tuple[str, tuple[int, int] | None]:
    """Return the file and lines that are meant; the name of a file may itself end in a colon and digits."""
    found = _TARGET.fullmatch(target)
    if found is None:
        raise UsageError(f'"{target[:80]}" names no file.', "Give a path, path:line or path:first-last.")
    if found["first"] is None or _is_file(start / target) or _is_file(root / target):
        return _own(workspace, root, start, target), None
    path = _own(workspace, root, start, found["path"])
    return path, (int(found["first"]), int(found["last"] or found["first"]))


def _own(workspace: Workspace, root: Path, start: Path, given: str) -> str:
    """Return the path of a file; of a link that of the file that it leads to."""
    return target_of(root, own_file(workspace.repo, root, meant_path(workspace.repo, start, given), given))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or with a NUL
        return False


def _definition(path: str, lines: Sequence[str], first: int, last: int) -> tuple[int, int, str] | None:
    """Return the smallest function or class around lines: first and last line, name."""
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    around = [
        (each.line_end - each.line_start, each.line_start, each.line_end, each.qualified_name)
        for each in chunk(data, language_of(path, data))
        if each.kind in DEFINITIONS and each.line_start <= first and last <= each.line_end
    ]
    return min(around)[1:] if around else None


def _path_then(workspace: Workspace, commit: str | None, path: str) -> str:
    """Return the path that a file has in the commit: another one where it was moved and that is staged."""
    if commit is None or not workspace.repo.git("cat-file", "-e", f"{commit}:{path}").returncode:
        return path
    asked = ("diff", "--cached", "-M", "--name-status", "-z", "--diff-filter=R", *RUN_NOTHING)
    fields = workspace.repo.git(*asked, commit, "--").stdout.split(b"\0")
    moved = dict(zip(fields[2::3], fields[1::3], strict=False))
    return os.fsdecode(moved.get(os.fsencode(path), os.fsencode(path)))


def _lines_then(
    workspace: Workspace, commit: str | None, file: Path, path: str, notes: list[str]
) -> dict[int, int]:
    """Return the number in the commit of each line that is in it; empty where the file is not."""
    if commit is None:
        return {}
    try:
        done = workspace.repo.git("cat-file", "blob", f"{commit}:{path}", most_bytes=_MOST_BYTES)
        now = as_stored(workspace.repo, path, read_regular(file, _MOST_BYTES))
    except (PrintedTooMuchError, OSError):
        notes.append("The committed file could not be compared: it is larger than 16 MiB, or cannot be read.")
        return {}
    return {} if done.returncode else unchanged_lines(done.stdout, now)


def _ranges(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers; one for all if they are very many."""
    runs: list[tuple[int, int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], line
        else:
            runs.append((line, line))
    return runs if len(runs) <= _RANGES else [(lines[0], lines[-1])]


def _before(
    workspace: Workspace,
    commit: str | None,
    path: str,
    then: dict[int, int],
    around: tuple[int, int, str],
    counts: Counter[str],
    found: Blame,
    notes: list[str],
) -> str | None:
    """Return the newest commit that changed a definition and that none of the lines asked for is from."""
    inside = [then[line] for line in range(around[0], around[1] + 1) if line in then]
    if commit is None or not inside:
        return None
    changed = changed_before(workspace.repo, commit, path, (min(inside), max(inside)), _MOST_BEFORE)
    if changed is None:
        notes.append(
            "When they were changed before was not found out: git took longer than 3 s, or cannot tell."
        )
        return None
    newest = [place for place, each in enumerate(changed) if each in counts]
    earlier = changed[newest[-1] + 1 :] if newest else ()  # a later one did not change these lines
    return next((each for each in earlier if each not in found.ignored), None)


def _read(workspace: Workspace, ids: Sequence[str], head: str) -> dict[str, Reason]:
    commits = [each for batch in read_commits(workspace.repo, list(dict.fromkeys(ids))) for each in batch]
    home = workspace.issues_home()
    return {each.id: _reason(workspace, each, head, home) for each in commits}


def _reason(workspace: Workspace, commit: Commit, head: str, home: str) -> Reason:
    said = commit_message.read(commit.message, home)
    merge = ""
    if not said.issues and commit.id != head:
        merge = brought_by(workspace.repo, commit.id, head)
    numbers = said.issues or commit_message.issues_in(merge, home)
    return Reason(
        commit.id,
        commit.authored,
        commit.author,
        said,
        0,
        (),
        merge if numbers else "",
        tuple(_issue(workspace, each) for each in numbers),
        tuple(sorted(named(commit.message))),
    )


def _issue(workspace: Workspace, own: str) -> NamedIssue:
    with suppress(GitragError):  # there is no copy of it
        issue, _text = read_issue(workspace, own)
        return NamedIssue(own, issue.title, issue.status.value)
    return NamedIssue(own)


def _documents(workspace: Workspace, file: Path, notes: list[str]) -> tuple[Bearing, ...]:
    try:
        return documents_on(workspace, file)[:_MOST_DOCUMENTS]
    except NotSetUpError:
        notes.append("There is no index: which decisions bear on the file was not looked up.")
    except GitragError as error:
        notes.append(f"Which decisions bear on the file was not looked up: {error}")
    return ()
