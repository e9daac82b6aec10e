"""Choose the repositories that a question is asked of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from msgspec import Struct

from gitrag.actions.requests import Scope
from gitrag.errors import NotSetUpError, RepositoryError, UsageError
from gitrag.git import Repository
from gitrag.memory.registry import Registered, RegisteredPlace, Registry
from gitrag.workspace import Workspace

_MOST_DIRECTORIES = 20_000
"""Directories of a working tree in which nested repositories are looked for: a second or two."""

_NEVER_INSIDE = frozenset({".git", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"})
"""Directories without repositories of the user's, and with very many files."""


class Chosen(Struct, frozen=True):
    """A repository to ask.

    Attributes:
        is_ours: Whether it is a bare repository that gitrag made.
        files: Where its files are, if that is not ``place``.
    """

    name: str
    place: Path
    git_dir: Path
    is_ours: bool = False
    files: Path | None = None

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment to open it in: what names another repository is not for this one."""
        kept = {key: value for key, value in environ.items() if key not in {"GIT_DIR", "GIT_WORK_TREE"}}
        # Named, it may lie in a home that is a repository, and git may refuse bare ones that it finds.
        return kept | ({"GIT_DIR": str(self.git_dir)} if self.is_ours else {})


Open = Callable[[Chosen], Workspace]
"""Opens a repository to be asked."""


class OtherRepositoryError(RepositoryError):
    """At the place of a repository is another one."""


def require_same(workspace: Workspace, chosen: Chosen) -> None:
    """Raise where at the place of a repository is another one."""
    if workspace.repo.common_dir != chosen.git_dir:
        raise OtherRepositoryError(
            f"{chosen.place} is another repository now, or part of one.",
            f"gitrag repos forget {chosen.name}",
        )


def choose(
    scope: Scope,
    registry: Registry,
    start: Path,
    here: Repository | None,
    say: Callable[[str], None] = lambda _line: None,
) -> list[Chosen]:
    """Return the repositories that a scope means, by name.

    Args:
        here: The repository around; None outside of all.

    Raises:
        NotSetUpError: No repository is known, or there is none around.
    """
    chosen: dict[Path, Chosen] = {}
    for name, entry, is_exact in _meant(scope, registry.read(), start, here, say):
        if entry.git_dir in chosen:  # one that has two names keeps the first
            continue
        taken = {each.name for each in chosen.values()}
        place = entry.path
        if not is_exact and here is not None and here.common_dir == entry.git_dir:
            place = here.root or here.git_dir
        chosen[entry.git_dir] = Chosen(str(place) if name in taken else name, place, entry.git_dir)
    if not chosen:
        raise NotSetUpError(
            "gitrag knows no repository on this machine yet.",
            "gitrag index in one, or gitrag repos add PATH…",
        )
    return sorted(chosen.values(), key=lambda each: (each.name.casefold(), each.place))


def _meant(
    scope: Scope, held: Registered, start: Path, here: Repository | None, say: Callable[[str], None]
) -> Iterator[tuple[str, RegisteredPlace, bool]]:
    """Yield repositories with their names, and whether exactly that one is meant, not the worktree around."""
    for name in scope.names:
        entry = _at_path(name, start)
        if entry is not None:
            yield _name_of(held, entry), entry, True
        else:
            yield from ((known.name, known.entry, False) for known in held.find(name))
    for known in chain.from_iterable(map(held.in_group, scope.groups)):
        yield known.name, known.entry, False
    if scope.nested:
        yield from ((name, entry, False) for name, entry in _inside(held, here, say))
    if scope.everywhere:
        if here is not None and here.store_directory.is_dir():
            yield _name_of(held, RegisteredPlace.of(here)), RegisteredPlace.of(here), False
        yield from ((known.name, known.entry, False) for known in held.known)


def _inside(
    held: Registered, here: Repository | None, say: Callable[[str], None]
) -> Iterator[tuple[str, RegisteredPlace]]:
    """Yield the repository around, and those inside of its working tree."""
    if here is None or here.root is None:
        raise NotSetUpError(
            "--submodules asks the repository around and those inside of it, and here is no working tree.",
            "Go into one, or use -C PATH.",
        )
    yield _name_of(held, RegisteredPlace.of(here)), RegisteredPlace.of(here)
    yield from nested(here.root, here.common_dir, say)


def nested(
    root: Path, git_dir: Path, say: Callable[[str], None] = lambda _line: None
) -> Iterator[tuple[str, RegisteredPlace]]:
    """Yield the repositories inside a working tree, by their paths in it: submodules, and clones in a clone.

    Links are not followed; other worktrees of the same repository are none of them.

    Args:
        git_dir: The git directory that its worktrees share.
    """
    for seen, (folder, directories, names) in enumerate(os.walk(root)):
        if seen >= _MOST_DIRECTORIES:
            say(f"Repositories inside were looked for in the first {_MOST_DIRECTORIES:,} directories only.")
            return
        may_be = ".git" in directories or ".git" in names
        directories[:] = sorted(each for each in directories if each not in _NEVER_INSIDE)
        if may_be and folder != str(root):
            try:
                found = Repository.discover(Path(folder))
            except RepositoryError:
                continue
            if found.root == Path(folder) and found.common_dir != git_dir:
                entry = RegisteredPlace(found.root, found.common_dir)
                yield Path(folder).relative_to(root).as_posix(), entry


def _at_path(name: str, start: Path) -> RegisteredPlace | None:
    """Return the repository at a path, as the worktree there; None where a text is no path."""
    if not (name in {".", ".."} or name.startswith(("/", "./", "../", "~/"))):
        return None
    place = start / Path(name).expanduser()
    if not os.path.isdir(place):  # noqa: PTH112 - of what cannot be read, Path.is_dir raises
        if any(each in name for each in "*?["):
            return None
        raise UsageError(f"There is no directory {name}.", "gitrag repos list lists the repositories.")
    found = Repository.discover(place)
    return RegisteredPlace(found.root or found.git_dir, found.common_dir)


def _name_of(held: Registered, entry: RegisteredPlace) -> str:
    known = held.at(entry.git_dir)
    return known.name if known is not None else entry.path.name
