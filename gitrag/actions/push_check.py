"""What of the commits that are being pushed cannot be searched at all.

Draft vectors make a text searchable, and so do its words alone: a missing vector is nothing to tell a push.

Commits found fresh are noted beside the index, together with the state of its file. A push of a noted commit
need not open the unchanged index, which is the slowest part (import DuckDB and NumPy, read a view).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.errors import RepositoryError, UsageError
from gitrag.indexing.worker import running
from gitrag.machine.files import private_mode, replace
from gitrag.store.file_state import NAME, FileState, state_of

if TYPE_CHECKING:
    from gitrag.config.keys import Config
    from gitrag.git import Repository
    from gitrag.workspace import Workspace

_NOTE = "fresh.json"
_NOTED = 64
"""Most commits in a note: enough for the worktrees' and a large push."""

_JUST_MADE_S = 60
"""A commit this young is in the hands of the post-commit hook, which has just started or will any moment."""


Pushed = tuple[str, str]
"""The name of a ref that is being pushed, and its commit."""


class Behind(Struct, frozen=True):
    """What the index lacks of a revision.

    Attributes:
        name: The name of the ref.
        files: Paths whose content is not indexed.
    """

    name: str
    files: int

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is missing."""
        return not self.files

    def __str__(self) -> str:
        if not self.files:
            return f"{self.name}: indexed"
        return f"{self.name}: {self.files} file{'s' * (self.files != 1)} not indexed"


def parse_pushed(lines: Iterable[str]) -> list[Pushed]:
    """Read what git tells a pre-push hook: local ref, local id, remote ref, remote id; skip deletions."""
    pushed = []
    for line in lines:
        fields = line.split(" ")
        if len(fields) == 4 and fields[1].strip("0"):
            pushed.append((fields[0].removeprefix("refs/heads/").removeprefix("refs/tags/"), fields[1]))
    return list({commit: (name, commit) for name, commit in pushed}.values())


def noted(directory: Path, config: Config, pushed: Sequence[Pushed]) -> bool:
    """Return whether everything pushed is noted as fresh, and the index file is unchanged since."""
    state = state_of(directory / NAME)
    return state is not None and {commit for _, commit in pushed} <= _read(directory, _key(config, state))


def in_hand(repo: Repository, pushed: Sequence[Pushed], now: float) -> bool:
    """Return whether the background is at work on the index, or about to be: all that is pushed is young."""
    if running(repo.store_directory) is not None:
        return True
    try:
        ids = [f"{commit}^{{commit}}" for _, commit in pushed]
        times = repo.git("show", "--no-patch", "--format=%ct", *ids).stdout.split()
    except RepositoryError:  # among them a tag of something else
        return False
    return bool(times) and all(0 <= now - int(each) < _JUST_MADE_S for each in times)


def behind(workspace: Workspace, pushed: Iterable[Pushed]) -> list[Behind]:
    """Return for each pushed ref what the index lacks of its tip; skip refs to neither commit nor tree."""
    from gitrag.indexing.known import lacking
    from gitrag.indexing.snapshot import look_at
    from gitrag.store.connection import StoreMissingError

    tips = []
    for item in pushed:
        with suppress(UsageError):  # a tag of a blob
            tips.append((item, look_at(workspace.repo, workspace.options, item[1])))
    found = []
    try:
        with workspace.store.read() as db:
            for item, tip in tips:
                _entries, missing = lacking(db, tip)
                found.append(Behind(item[0], missing))
            state = workspace.store.state
    except StoreMissingError:
        return [Behind(item[0], sum(1 for _ in workspace.repo.entries(tip.head.tree))) for item, tip in tips]
    fresh = [item[1] for (item, _tip), of_it in zip(tips, found, strict=True) if of_it.is_fresh]
    if state is not None and fresh:
        _note(workspace.store.directory, _key(workspace.config, state), fresh)
    return found


def note_heads(workspace: Workspace) -> None:
    """Note which commits checked out in the worktrees are fresh; the last step of the background worker."""
    from gitrag.indexing.snapshot import rules_key
    from gitrag.store import views
    from gitrag.store.connection import StoreMissingError

    rules = rules_key(workspace.repo, workspace.options)
    try:
        with workspace.store.read() as db:
            found = [views.current(db, worktree) for worktree in workspace.repo.worktrees()]
    except StoreMissingError:  # removed since
        return
    commits = {view.commit for view in found if view is not None and view.commit and view.rules == rules}
    behind(workspace, [("", commit) for commit in sorted(commits)])


def _key(config: Config, state: FileState) -> str:
    """Return a key of everything but the commit that decides whether it is fresh."""
    from gitrag.indexing.recipe import recipe  # 30 ms, which a push right after a commit need not wait for

    wanted = (config.max_file_bytes, config.exclude, config.adrs, config.specs, config.modules)
    return blake2b(repr((recipe(config.model or ""), wanted, state)).encode(), digest_size=16).hexdigest()


def _read(directory: Path, key: str) -> set[str]:
    try:
        note = json.loads((directory / _NOTE).read_bytes())
        return set(note["commits"]) if note["of"] == key else set()
    except (OSError, ValueError, TypeError, KeyError):
        return set()


def _note(directory: Path, key: str, commits: Sequence[str]) -> None:
    every = list(dict.fromkeys([*commits, *sorted(_read(directory, key))]))[:_NOTED]
    with suppress(OSError):  # a read-only store or a full disk: the next push checks again
        note = json.dumps({"of": key, "commits": every}).encode()
        replace(directory / _NOTE, note, private_mode(directory), durable=False)
