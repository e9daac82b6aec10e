"""What a background hook runs: detached from git, silent, never failing; errors go to the log."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.errors import GitragError

if TYPE_CHECKING:
    from gitrag.git import Repository
    from gitrag.workspace import Workspace

WORKER = "worker"
"""Not a hook: the process that a command starts to do its remaining work in the background."""
_STARTING = "GITRAG_START"
"""The variable with the file descriptor through which the hook keeps ``worker.start`` locked; this process
closes it once it holds the worker's own lock."""

_NAMING = ("GIT_DIR", "GIT_WORK_TREE")
"""What of git's variables decides which repository is found."""

_WANDERINGS = {"rebase", "bisect"}  # HEAD moves many times, and each intermediate tree is soon replaced
_FILE_CHECKOUT = "0"  # the third argument of post-checkout: paths were checked out, HEAD stayed


def run(
    name: str,
    args: Sequence[str],
    *,
    start: Path,
    environ: Mapping[str, str],
    keep: Callable[[Workspace], None] = lambda _workspace: None,
) -> None:
    """Bring the index up to date after a hook; never raises, never prints.

    Args:
        name: The hook, or `WORKER`.
        keep: Called on each worktree once its text and calls are up to date.
        environ: Its environment. GIT_DIR in it tells which repository this is (a linked worktree, a bare
            repository of dotfiles); the other variables that git sets for hooks are removed where git is run.
    """
    if name != WORKER and (environ.get("GITRAG") == "0" or not _moves_head(name, args)):
        return
    value = environ.get(_STARTING, "")
    environ = {key: value for key, value in environ.items() if key != _STARTING}
    starting = int(value) if value.isdecimal() else None
    detach(keep=starting)
    from gitrag.git import Repository

    try:
        repository = Repository.discover(start, environ)
        wandering = repository.operation_in_progress() in _WANDERINGS
        if wandering and name not in {WORKER, "post-rewrite"}:  # post-rewrite runs before the rebase is over
            return
        store = repository.store_directory  # asks git for a setting
    except GitragError:
        return  # without a repository there is no log either
    place = repository.root or repository.git_dir
    own = _without_leaks(repository, place, environ)
    same = repository if all(own.get(name) == environ.get(name) for name in _NAMING) else None

    def opened(say: Callable[[str], None]) -> Workspace:
        from gitrag.config.loading import settings_of
        from gitrag.machine.refusals import require_memory
        from gitrag.workspace import Workspace

        require_memory()
        found = same or Repository.discover(place, own)
        return Workspace(found, settings_of(found, own, {}), own, say)

    _run_logged(name, store, opened, starting, keep)


def detach(keep: int | None = None) -> None:
    """Leave the caller's session and close every inherited descriptor but the three standard ones.

    A terminal's Ctrl-C or hang-up then does not reach this process, and a lock or pipe that the caller of git
    holds open (``flock 9``, a make job server) is not held for as long as indexing takes.

    Args:
        keep: A descriptor that the hook opened for us; our own children do not inherit it.
    """
    if not hasattr(os, "setsid"):  # Windows has no sessions, and its programs inherit nothing else
        return
    with contextlib.suppress(PermissionError):  # already a session leader
        os.setsid()
    for entry in list(Path("/dev/fd").iterdir()):
        descriptor = int(entry.name)
        # Python opens its own as not inheritable (PEP 446); an inheritable one came from the caller.
        with contextlib.suppress(OSError):
            if descriptor == keep:
                os.set_inheritable(descriptor, False)
            elif descriptor > 2 and os.get_inheritable(descriptor):
                os.close(descriptor)


def _moves_head(name: str, args: Sequence[str]) -> bool:
    if name == "post-checkout":
        return list(args[2:3]) != [_FILE_CHECKOUT]
    if name == "post-rewrite":
        return list(args[:1]) != ["amend"]  # post-commit has run
    return True


def _without_leaks(repository: Repository, place: Path, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment without GIT_DIR, unless the repository cannot be found without it.

    The worker serves the other worktrees too, and GIT_DIR would lead it back to this one.
    """
    from gitrag.git import Repository
    from gitrag.git.environment import LEAKING

    if any(name in environ for name in _NAMING):
        try:
            if Repository.discover(place).git_dir != repository.git_dir:
                return environ
        except GitragError:
            return environ
    return {name: value for name, value in environ.items() if name not in LEAKING}


def _run_logged(
    name: str,
    store: Path,
    opened: Callable[[Callable[[str], None]], Workspace],
    starting: int | None,
    keep: Callable[[Workspace], None],
) -> None:
    from gitrag.machine.log import close_log, open_log
    from gitrag.machine.refusals import refusal

    try:
        log = open_log(store)
    except OSError:
        return  # nothing can be written there: neither a log nor an index

    def settled() -> None:
        nonlocal starting
        if starting is not None:
            with contextlib.suppress(OSError):
                os.close(starting)
            starting = None

    try:
        from gitrag.actions.catch_up import run_worker
        from gitrag.actions.gc import collect_rarely
        from gitrag.actions.push_check import note_heads

        workspace = opened(log.info)
        if run_worker(workspace, settled, keep):
            collect_rarely(workspace)
            note_heads(workspace)
            log.info("%s: done", name)
    except Exception as error:
        if told := refusal(error):
            log.warning("%s: %s %s", name, told, told.hint)
        else:
            log.exception("%s: a bug", name)
    finally:
        close_log()
