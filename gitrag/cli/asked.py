"""What `gitrag ui` asks: the repository around, or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from gitrag import report
from gitrag.actions.repositories.chosen import Chosen
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.search import Answer, SearchOptions, search
from gitrag.errors import NotSetUpError
from gitrag.search.engine import Hit
from gitrag.workspace import Workspace

_LIMIT = 50
_OPTIONS = SearchOptions(limit=_LIMIT, grouped=True, refine_s=0.0)


class Asked(Protocol):
    """Answers questions as they are typed, and knows where what it found is."""

    def ask(self, query: str) -> tuple[Answer, list[str]]:
        """Return the answer, and what the user should know of it, a line each.

        Raises:
            GitragError: There is none.
        """
        ...

    def workspace_of(self, hit: Hit) -> Workspace:
        """Return the repository that a hit is from.

        Raises:
            NotSetUpError: It is open no more.
        """
        ...


class AskedOne:
    """The repository around.

    Args:
        start: The directory that the command was started in.
        environ: The environment.
    """

    def __init__(self, start: Path, environ: Mapping[str, str]) -> None:
        self._heard: list[str] = []
        self._workspace = Workspace.open(start, environ=environ, say=self._heard.append, resident=True)

    def ask(self, query: str) -> tuple[Answer, list[str]]:
        """See ``Asked``."""
        self._heard.clear()
        answer = search(self._workspace, query, _OPTIONS)
        return answer, [*report.notes_of(answer), *dict.fromkeys(self._heard)]

    def workspace_of(self, hit: Hit) -> Workspace:
        """See ``Asked``."""
        del hit
        return self._workspace


class AskedSeveral:
    """Several repositories, as they were when the command began.

    Args:
        chosen: The repositories.
        environ: The environment.
    """

    def __init__(self, chosen: Sequence[Chosen], environ: Mapping[str, str]) -> None:
        self._heard: list[str] = []
        self._chosen = chosen
        self._kept = KeptRepositories(environ, self._heard.append)

    def ask(self, query: str) -> tuple[Answer, list[str]]:
        """See ``Asked``."""
        self._heard.clear()
        answer = self._kept.ask(self._chosen, query, _OPTIONS)
        return answer, [*answer.lacking, *report.notes_of(answer), *dict.fromkeys(self._heard)]

    def workspace_of(self, hit: Hit) -> Workspace:
        """See ``Asked``."""
        found = self._kept.find(hit.repository)
        if found is None:
            raise NotSetUpError(f"{hit.repository} is open no more.", "Ask again.")
        return found
