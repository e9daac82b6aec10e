"""Several repositories that are asked again and again, their indexes kept in memory.

Each is opened for this alone: one that answers late is still used by the thread that asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from gitrag.actions.answer import Answer, Outcome
from gitrag.actions.repositories.ask import ask
from gitrag.actions.repositories.chosen import Chosen
from gitrag.actions.search import SearchOptions
from gitrag.errors import NotSetUpError, UsageError
from gitrag.store.file_state import NAME as INDEX
from gitrag.workspace import Workspace

_MOST_BYTES = 1 << 30
"""Size of all indexes that are kept in memory: half a million chunks. Others are opened for each question."""

_MOST = 64
"""Most repositories that are kept, each with its engine."""


class _Kept(Struct, frozen=True):
    """A repository that was asked, and whether its index is in memory."""

    name: str
    workspace: Workspace
    resident: bool


class KeptRepositories:
    """Repositories that a long-lived process asks."""

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._environ = environ
        self._say = say
        self._kept: dict[Path, _Kept] = {}  # those that were asked last are last

    def ask(self, chosen: Sequence[Chosen], query: str, options: SearchOptions) -> Answer:
        """Ask repositories a question; see `gitrag.actions.repositories.ask.ask`."""
        if options.exact:
            raise UsageError("An exact search is for one repository, and several are asked.", "Ask one.")
        resident = self._resident(chosen)
        opened: dict[Path, _Kept] = {}

        def open_(each: Chosen) -> Workspace:
            kept = self._kept.get(each.git_dir)
            if kept is None or kept.workspace.place != each.place:
                is_resident = each.git_dir in resident
                kept = _Kept(each.name, self._open(each, resident=is_resident), is_resident)
                opened[each.git_dir] = kept
            return kept.workspace

        found = ask(chosen, query, open_, options, keep=True)
        for each, asked in zip(chosen, found.asked, strict=True):
            kept = self._kept.pop(each.git_dir, None)
            if asked.outcome in {Outcome.LATE, Outcome.UNREACHABLE}:  # a thread may be at it still
                continue
            if each.git_dir in opened:
                if kept is not None:  # of another worktree
                    kept.workspace.store.close()
                kept = opened[each.git_dir]
            if kept is not None:
                self._kept[each.git_dir] = kept
        self._drop(resident)
        if not any(each.outcome.has_answered for each in found.asked):
            first = found.asked[0]
            raise NotSetUpError(f"No repository has answered. {first.line}.", first.hint)
        return found

    def find(self, name: str) -> Workspace | None:
        """Return a repository that was asked, by its name in the answer; None if there is none."""
        return next((each.workspace for each in self._kept.values() if each.name == name), None)

    def _drop(self, wanted: set[Path]) -> None:
        """Close and drop those that were not asked for longest, while they are too many or too large.

        Args:
            wanted: Those that are kept all the same, which fit together.
        """
        sizes = {git_dir: _size(git_dir) for git_dir, each in self._kept.items() if each.resident}
        for git_dir in list(self._kept):
            is_too_much = sum(sizes.values()) > _MOST_BYTES and git_dir in sizes
            if git_dir not in wanted and (is_too_much or len(self._kept) > _MOST):
                self._kept.pop(git_dir).workspace.store.close()
                sizes.pop(git_dir, None)

    def _resident(self, chosen: Sequence[Chosen]) -> set[Path]:
        """Return the git directories of those whose indexes fit into memory together, smallest first."""
        sizes = sorted((_size(each.git_dir), each.git_dir) for each in chosen)[:_MOST]
        total, kept = 0, set()
        for size, git_dir in sizes:
            total += size
            if total > _MOST_BYTES:
                break
            kept.add(git_dir)
        return kept

    def _open(self, chosen: Chosen, *, resident: bool) -> Workspace:
        return Workspace.open(
            chosen.place,
            environ=chosen.environment(self._environ),
            say=lambda line: self._say(f"{chosen.name}: {line}"),
            resident=resident,
        )


def _size(git_dir: Path) -> int:
    try:
        return (git_dir / "gitrag" / INDEX).stat().st_size
    except OSError:
        return 0
