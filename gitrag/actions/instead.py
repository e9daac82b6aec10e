"""What answers where a repository keeps neither decisions nor specifications: code, texts and commits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.corpus.layout import CollectionKind
from gitrag.errors import NotSetUpError, UsageError
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.actions.history import CommitMatch
    from gitrag.search.engine import Hit

_FILES = 6
_COMMITS = 3


class Instead(Struct, frozen=True):
    """What answers in place of decisions and specifications.

    Attributes:
        files: Code, tests and other texts, best first.
        commits: Commits whose messages bear on it, best first.
    """

    files: tuple[Hit, ...] = ()
    commits: tuple[CommitMatch, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.commits)


NOTHING = Instead()


def find_instead(workspace: Workspace, text: str) -> Instead:
    """Ask the code and the commits about a text."""
    from gitrag.actions.history import history
    from gitrag.actions.requests import HistoryOptions
    from gitrag.actions.search import SearchOptions, search
    from gitrag.search.sections import Wanted

    options = SearchOptions(wanted=Wanted((CollectionKind.CODE,)), limit=_FILES, as_it_is=True)
    answer = search(workspace, text, options)
    commits: tuple[CommitMatch, ...] = ()
    with suppress(NotSetUpError, UsageError):  # no commit yet
        commits = history(workspace, text, HistoryOptions(limit=_COMMITS)).matches
    return Instead(answer.hits, commits)
