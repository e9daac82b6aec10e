"""Several repositories that are asked again and again, their indexes kept in memory.

Each is opened for this alone: one that answers late is still used by the thread that asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gitrag.actions.repositories.ask import AnswerOfMany, Options, Outcome, ask
from gitrag.actions.repositories.chosen import Chosen
from gitrag.errors import NotSetUpError
from gitrag.store.file_state import NAME as INDEX
from gitrag.workspace import Workspace

_MOST_BYTES = 1 << 30
"""Size of all indexes that are kept in memory: half a million chunks. Others are opened for each question."""


class KeptRepositories:
    """Repositories that a long-lived process asks.

    Args:
        environ: The environment.
        say: Called with a line that the user should see.
    """

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._environ = environ
        self._say = say
        self._kept: dict[Path, tuple[str, Workspace]] = {}

    def ask(self, chosen: Sequence[Chosen], query: str, options: Options, limit: int) -> AnswerOfMany:
        """Ask repositories a question; see `gitrag.actions.repositories.ask.ask`.

        Raises:
            UsageError: The question has no words.
            NotSetUpError: None has answered.
        """
        resident = self._resident(chosen)

        opened: dict[Path, Workspace] = {}

        def open_(each: Chosen) -> Workspace:
            _, kept = self._kept.get(each.git_dir, ("", None))
            if kept is None or kept.place != each.place:
                kept = opened[each.git_dir] = self._open(each, resident=each.git_dir in resident)
            return kept

        found = ask(chosen, query, open_, options, limit=limit, keep=True)
        for each, asked in zip(chosen, found.asked, strict=True):
            if asked.outcome in {Outcome.LATE, Outcome.UNREACHABLE}:  # a thread may be at it still
                self._kept.pop(each.git_dir, None)
            elif each.git_dir in opened:
                self._kept[each.git_dir] = each.name, opened[each.git_dir]
        if not any(each.outcome.has_answered for each in found.asked):
            first = found.asked[0]
            raise NotSetUpError(f"No repository has answered. {first.line}.", first.hint)
        return found

    def find(self, name: str) -> Workspace | None:
        """Return a repository that was asked, by its name in the answer; None if there is none."""
        return next((workspace for own, workspace in self._kept.values() if own == name), None)

    def _resident(self, chosen: Sequence[Chosen]) -> set[Path]:
        """Return the git directories of those whose indexes fit into memory together, smallest first."""
        sizes = sorted((_size(each), each.git_dir) for each in chosen)
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


def _size(chosen: Chosen) -> int:
    try:
        return (chosen.git_dir / "gitrag" / INDEX).stat().st_size
    except OSError:
        return 0
