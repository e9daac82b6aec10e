"""Take gitrag out of a repository, or off the machine: what there is, what goes, what stays."""

from __future__ import annotations

import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import platformdirs
from msgspec import Struct

from gitrag.actions.gitignore_entry import IGNORED, without_entry
from gitrag.agents.clients import CLIENTS
from gitrag.agents.setup import FileStep, apply, plan, plan_of_user
from gitrag.config.loading import TEAM_FILE
from gitrag.errors import BusyError, GitragError, StoreError
from gitrag.git import Repository
from gitrag.hooking import config_hooks
from gitrag.hooking import install as hooks
from gitrag.hooking.status import is_inside, status
from gitrag.hooking.table import HOOKS
from gitrag.indexing.worker import ask_to_end, running
from gitrag.machine import files
from gitrag.machine.locks import wait_for
from gitrag.memory.projects import home_directory
from gitrag.memory.registry import RegisteredPlace, Registry
from gitrag.workspace import Workspace

_WORKER_S = 10.0
"""How long the background may still be at work."""


class InstalledPiece(Struct, frozen=True):
    """Something that gitrag put somewhere.

    Attributes:
        what: What it is.
        place: Where it is.
        last: Whether it goes only if all before it went: without it, what is left would not be found again.
    """

    what: str
    place: str
    take_out: Callable[[], object]
    last: bool = False


class Left(Struct, frozen=True):
    """Something that stays: what it is, where, and how it goes."""

    what: str
    place: str
    how: str


def of_repository(repo: Repository, environ: Mapping[str, str]) -> Iterator[InstalledPiece | Left]:
    """Yield what gitrag put into a repository, in the order in which it is to go, and what stays."""
    blocks, configured = hooks.find_blocks(repo), config_hooks.read(repo)
    for each in status(repo):
        by = each.detail.removeprefix("called by ")
        if by != each.detail and Path(by) not in blocks:
            yield Left(f"the call from {each.name}", by, "not gitrag's to change: remove it there")
    for path in (path for path, goes in blocks.items() if not goes):
        yield Left("gitrag's lines", str(path), "damaged, or for other repositories too: remove them there")
    going = [path for path, goes in blocks.items() if goes]
    ours = {path.name for path in going} | {
        name for name, found in configured.items() if any(each.ours for each in found)
    }
    names = [hook.name for hook in HOOKS if hook.name in ours]
    if names:
        places = sorted({str(path.parent) for path in going}) or [str(repo.common_dir / "config")]
        yield InstalledPiece(f"hooks ({', '.join(names)})", ", ".join(places), lambda: hooks.uninstall(repo))
    if repo.root is not None:
        yield from _in_worktree(repo, repo.root)
    if repo.index_directory.exists():
        yield InstalledPiece("index", str(repo.index_directory), lambda: _remove_store(repo, environ))
    if any(each.git_dir == repo.common_dir for each in Registry().read().entries):
        place = Registry().path
        yield InstalledPiece(
            "its entry", str(place), lambda: Registry().forget([RegisteredPlace.of(repo)]), last=True
        )
    if any(
        each.is_the_repositorys and each.key.startswith("gitrag.") for each in repo.configuration.entries()
    ):
        place = repo.common_dir / "config"
        yield Left("settings", str(place), "git config --remove-section gitrag")


def of_machine(environ: Mapping[str, str]) -> Iterator[InstalledPiece | Left]:
    """Yield what gitrag has on this machine beside repositories, and what stays."""
    home = Path(environ.get("HOME") or Path.home())
    yield from _agents(home, plan_of_user(home, CLIENTS, remove=True), private=True)
    stays = [home_directory(environ)]
    if (model := Path(environ.get("GITRAG_MODEL_DIR", ""))).name and model.exists():
        stays.append(model)
        yield Left("model", str(model), "GITRAG_MODEL_DIR names it: remove the directory")
    if (hub := platformdirs.user_data_path("gitrag") / "hub").exists():
        stays.append(hub)
        yield Left("a hub that was tried", str(hub), "remove the directory")
    for what, place in (
        ("model and copies", platformdirs.user_cache_path("gitrag")),
        ("state", platformdirs.user_state_path("gitrag")),
    ):
        if place.is_symlink() or any(each.exists() and is_inside(each, place) for each in stays):
            yield Left(what, str(place), "a link, or what stays is in it: remove what you do not need")
        elif place.exists():
            remove = partial(shutil.rmtree, place)
            yield InstalledPiece(what, str(place), remove, last=True)


def of_user(environ: Mapping[str, str]) -> Iterator[Left]:
    """Yield what is the user's own and stays."""
    if (place := home_directory(environ)).exists():
        yield Left("explorations and core files", str(place), "yours: remove the directory")
    yield Left("gitrag itself", "this program", "pip uninstall gitrag, or uv tool uninstall gitrag")


def take_out(pieces: Iterable[InstalledPiece]) -> None:
    """Remove pieces."""
    failures: list[GitragError] = []
    for piece in pieces:
        if piece.last and failures:
            continue
        try:
            piece.take_out()
        except OSError as error:
            why = f"Cannot remove {piece.what} at {piece.place}: {error.strerror or error}."
            failures.append(StoreError(why, "Make it writable."))
        except GitragError as error:
            failures.append(error)
    if failures:
        raise (
            failures[0]
            if len(failures) == 1
            else StoreError(
                " ".join(map(str, failures)),
                " ".join(dict.fromkeys(each.hint for each in failures if each.hint)),
            )
        )


def of_repositories(own: Repository | None, environ: Mapping[str, str]) -> Iterator[InstalledPiece | Left]:
    """Yield what is in the one stood in, and in all that gitrag knows; one that cannot be read stays."""
    if own is not None:
        yield from of_repository(own, environ)
    for entry in Registry().read().entries:
        if own is not None and entry.git_dir == own.common_dir:
            continue
        try:
            repo = Repository.discover(entry.path, environ)
            if repo.common_dir == entry.git_dir:
                yield from list(of_repository(repo, environ))
            else:
                yield Left("a repository", str(entry.path), f"is now {repo.common_dir}: gitrag repos forget")
        except GitragError as error:
            yield Left("a repository", str(entry.path), f"cannot be read: {error}")


def _in_worktree(repo: Repository, root: Path) -> Iterator[InstalledPiece | Left]:
    clients = [client for client in CLIENTS if client.file]
    yield from _agents(root, plan(root, clients, remove=True))
    path, content = root / ".gitignore", b""
    with suppress(OSError):
        content = b"" if path.is_symlink() else files.read_regular(path)
    if (root / IGNORED).exists():  # without the line, git would commit private issues
        yield Left(f"copies of issues, and {IGNORED} in .gitignore", str(root / IGNORED), "remove both")
    elif content and without_entry(content) != content and _is_committed(repo):
        yield Left(f"the line {IGNORED}", str(path), "committed, for the team")
    elif content and without_entry(content) != content:
        yield InstalledPiece(f"the line {IGNORED}", str(path), lambda: _remove_line(path))
    if (root / TEAM_FILE).exists():
        yield Left("the team's settings", str(root / TEAM_FILE), "committed, for the team")
    for other in repo.worktree_roots():
        if other.resolve() != root.resolve():
            yield Left("files for agents, if any", str(other), "gitrag agents remove, there")


def _agents(
    root: Path, steps: Iterable[FileStep], *, private: bool = False
) -> Iterator[InstalledPiece | Left]:
    for step in steps:
        if step.changes:
            yield InstalledPiece(
                "what agents are told",
                str(root / step.path),
                lambda step=step: apply(root, [step], private=private),  # type: ignore[misc]
            )
        elif step.note:
            yield Left("what agents are told, if anything", str(root / step.path), step.note)


def _is_committed(repo: Repository) -> bool:
    committed = repo.git("cat-file", "blob", "HEAD:.gitignore").stdout
    return without_entry(committed) != (committed or None)


def _remove_line(path: Path) -> None:
    left = without_entry(files.read_regular(path))
    if left is None:
        path.unlink()
    else:
        files.replace(path, left, stat.S_IMODE(path.stat().st_mode))


def _remove_store(repo: Repository, environ: Mapping[str, str]) -> None:
    directory = repo.index_directory
    places = {directory, repo.store_directory}

    def is_idle() -> bool:
        return all(running(place) is None for place in places)

    for place in places:  # it may wait for hours before it embeds
        ask_to_end(place)
    if not wait_for(is_idle, time.monotonic() + _WORKER_S, poll_s=0.1):
        raise BusyError(f"The background is at work on {directory}.", "Try again in a while.")
    workspace = Workspace.open(repo.root or repo.git_dir, environ=environ)
    workspace.older.remove()
    workspace.store.remove()  # under its lock: whoever reads it is not disturbed
    shutil.rmtree(directory)
