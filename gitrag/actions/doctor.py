"""Check everything gitrag depends on: one line for each check, with the fix if it fails."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gitrag.actions.model import fetch_failure
from gitrag.actions.status import WorkspaceStatus, read_status
from gitrag.agents.clients import TrialError, ask_server
from gitrag.agents.setup import commands_set_up
from gitrag.embedding import local_model
from gitrag.errors import BusyError, GitragError, RepositoryError
from gitrag.git.configuration import run_by_the_repository
from gitrag.hooking.status import HookState
from gitrag.hooking.status import status as hooks_status
from gitrag.indexing.difference import manifest_modules_of
from gitrag.indexing.notices import absent_line
from gitrag.indexing.worker import last_failure, running
from gitrag.machine import prerequisites
from gitrag.machine.locks import is_held, read_holder
from gitrag.machine.log import last_trouble
from gitrag.machine.prerequisites import Check, CheckState
from gitrag.machine.refusals import refusal
from gitrag.model import Skip
from gitrag.store.connection import StoreMissingError
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

_MOST_NAMED = 20
"""Unreadable files that are listed; `gitrag status --json` lists all."""

_LONG_HELD_S = 60
"""A batch of the index's work takes seconds."""


def examine(start: Path, environ: Mapping[str, str]) -> list[Check]:
    """Run every check; outside a repository, only those that need none."""
    checks = [prerequisites.check_git(environ), prerequisites.check_packages()]
    if any(check.state is CheckState.FAIL for check in checks):
        return checks  # nothing else can be checked
    checks += [_grammars(), prerequisites.check_manual(environ)]
    said: list[str] = []
    try:
        workspace = Workspace.open(start, environ=environ, say=said.append)
    except RepositoryError as error:
        return [*checks, Check("repository", CheckState.FAIL, str(error), error.hint)]
    except GitragError as error:
        return [*checks, Check("settings", CheckState.FAIL, str(error), error.hint)]
    checks.append(Check("repository", CheckState.OK, str(workspace.repo.root or workspace.repo.git_dir)))
    checks += [
        Check("settings", CheckState.WARN, warning, "gitrag config") for warning in workspace.config.warnings
    ]
    checks += [
        Check("modules", CheckState.WARN, note, "gitrag config") for note in _workspace_notes(workspace)
    ]
    checks += [*_not_run(workspace), _hooks(workspace), _writable(workspace)]
    stored = _tried("store", lambda: _store(workspace, said))
    checks.append(stored)
    if stored.state is CheckState.OK:
        checks += _view(workspace)
    return [
        *checks,
        _tried("lock", lambda: _lock(workspace)),
        _tried("worker", lambda: _worker(workspace)),
        _tried("model", lambda: _model(workspace)),
        _agents(workspace),
        prerequisites.check_space(workspace.store.directory),
    ]


def _tried(name: str, check: Callable[[], Check]) -> Check:
    """Return a check's line, also where the disk does not let it look."""
    try:
        return check()
    except (GitragError, OSError) as error:
        told = refusal(error)
        if told is None:
            raise
        return Check(name, CheckState.FAIL, str(told), told.hint)


def _workspace_notes(workspace: Workspace) -> tuple[str, ...]:
    """Return what is wrong with the manifests that name the workspace's modules."""
    try:
        return manifest_modules_of(workspace.snapshot())[1]
    except RepositoryError:  # the check of freshness reports it
        return ()


def _not_run(workspace: Workspace) -> list[Check]:
    """List programs of the repository's git configuration that git would run but gitrag does not."""
    found = run_by_the_repository(workspace.repo.configuration.entries())
    if not found:
        return []
    names = ", ".join(dict.fromkeys(entry.key for entry in found))
    return [
        Check(
            "configuration",
            CheckState.WARN,
            f"not run, as the repository's own configuration says it: {names}",
            f"If you trust it: git config --global {found[0].key} {shlex.quote(found[0].value)}",
        )
    ]


def _grammars() -> Check:
    from gitrag.chunking.languages import LANGUAGES
    from gitrag.chunking.parsing import definition_query

    broken = []
    for language in LANGUAGES:
        if language.grammar:
            try:
                definition_query(language)
            except Exception as error:  # noqa: BLE001 - whatever goes wrong, the line names the grammar
                broken.append(f"{language.name} ({error})")
    if broken:
        return Check(
            "grammars", CheckState.FAIL, f"cannot be loaded: {', '.join(broken)}", prerequisites.REINSTALL
        )
    return Check(
        "grammars", CheckState.OK, f"{sum(bool(language.grammar) for language in LANGUAGES)} languages parsed"
    )


def _hooks(workspace: Workspace) -> Check:
    reports = hooks_status(workspace.repo)
    bad: dict[str, list[str]] = {}
    for report in reports:
        if report.state is not HookState.INSTALLED:
            bad.setdefault(report.state.value, []).append(report.name)
    if bad:
        fixes = [report.advice for report in reports if report.advice] or ["gitrag hooks status"]
        what = "; ".join(f"{state}: {', '.join(names)}" for state, names in bad.items())
        return Check("hooks", CheckState.WARN, what, fixes[0])
    beside = sum(bool(report.configured) for report in reports)
    where = f", {beside} of them in git's configuration" if beside else f" in {workspace.repo.hooks_dir()}"
    return Check("hooks", CheckState.OK, f"{len(reports)} installed{where}")


def _writable(workspace: Workspace) -> Check:
    return prerequisites.check_writable(workspace.store.directory)


def _store(workspace: Workspace, said: list[str]) -> Check:
    if not workspace.store.exists():
        return Check("store", CheckState.WARN, "no index yet", "gitrag index")
    try:
        with workspace.store.read() as db:
            db.execute("SELECT count(*) FROM chunks").fetchone()
    except StoreMissingError as error:  # of another version, or damaged and moved aside
        return Check("store", CheckState.WARN, " ".join(said) or str(error), "gitrag index")
    except BusyError as error:
        return Check(
            "store", CheckState.WARN, str(error), "Wait for it; the check of the lock tells of whom."
        )
    except GitragError as error:
        return Check("store", CheckState.FAIL, str(error), error.hint or "gitrag index")
    return Check(
        "store", CheckState.OK, f"{workspace.store.path}, {workspace.store.size_bytes() / 1e6:.1f} MB"
    )


def _view(workspace: Workspace) -> list[Check]:
    """Compare the index with the worktree, if git can report its state."""
    try:
        found = read_status(workspace)
    except RepositoryError as error:
        return [Check("freshness", CheckState.FAIL, str(error), error.hint)]
    return [_freshness(found), _files(found)]


def _files(found: WorkspaceStatus) -> Check:
    left_out = dict(found.view.skipped) if found.view else {}
    if absent := left_out.get(Skip.ABSENT):
        said, fetch = absent_line(absent).split(": ")
        return Check("files", CheckState.WARN, said, fetch)
    if damaged := left_out.get(Skip.UNREADABLE):
        said = f"git cannot read the content of {count(damaged, 'file')}: missing, or damaged"
        return Check("files", CheckState.WARN, said, "git fsck")
    if not found.unread:
        if not found.whole:
            done = "no failure so far; not all files are indexed yet, or not as they are now"
            return Check("files", CheckState.OK, done)
        return Check("files", CheckState.OK, "no file that is not left out has failed to be read in full")
    named = [f"{each.path} ({each.stage}: {each.reason})" for each in found.unread[:_MOST_NAMED]]
    more = [f"{len(found.unread) - _MOST_NAMED} more"] if len(found.unread) > _MOST_NAMED else []
    fix = "leave them out with .gitragignore, or report them; a file is read again once it changes"
    return Check("files", CheckState.WARN, f"could not be read in full: {', '.join([*named, *more])}", fix)


def _freshness(found: WorkspaceStatus) -> Check:
    if found.view is None:
        return Check("freshness", CheckState.WARN, "this worktree is not indexed yet", "gitrag index")
    if not found.fresh:
        lag = f"behind {found.behind}" if found.behind else "not complete yet"
        return Check("freshness", CheckState.WARN, f"{lag}; the next search catches up", "gitrag index")
    left = found.unembedded
    if left:
        fix = "gitrag index embed --foreground"
        return Check("freshness", CheckState.WARN, f"{count(left, 'text')} on draft vectors", fix)
    return Check("freshness", CheckState.OK, "HEAD is indexed and embedded")


def _lock(workspace: Workspace) -> Check:
    if not is_held(workspace.store.directory / "lock"):
        return Check("lock", CheckState.OK, "free")
    holder = read_holder(workspace.store.directory / "lock.holder")
    if holder is None or time.time() - holder.since < _LONG_HELD_S:
        by = holder or "another process"
        return Check("lock", CheckState.OK, f"held by {by} at this moment; others wait for it")
    fix = f"kill {holder.pid}   (only if it hangs: nothing but its transaction is lost)"
    held = f"held by {holder} for {count(int(time.time() - holder.since), 'second')}"
    return Check("lock", CheckState.WARN, held, fix)


def _worker(workspace: Workspace) -> Check:
    holder = running(workspace.store.directory)
    if holder:
        return Check("worker", CheckState.OK, f"running: {holder}")
    trouble = last_failure(workspace.store.directory) or last_trouble(workspace.store.directory)
    if trouble:
        return Check("worker", CheckState.WARN, f"the last one failed: {trouble}", "gitrag index")
    return Check("worker", CheckState.OK, "nobody is working in the background")


def _agents(workspace: Workspace) -> Check:
    """Start the servers that clients are configured to start, and ask each for the status of the index.

    Only commands that gitrag itself would write are run, and no program that lies in the repository.
    """
    home = Path(workspace.environ.get("HOME") or Path.home())
    try:
        found = commands_set_up(workspace.repo.root, home)
    except OSError as error:
        return Check("agents", CheckState.WARN, f"cannot read a client's file: {error.strerror}")
    clients: dict[tuple[str, ...], list[str]] = {}
    for name, command in found:
        clients.setdefault(command, []).append(name)
    if not clients:
        return Check("agents", CheckState.OK, "none is set up; gitrag agents install")
    for command, names in clients.items():
        program = Path(command[0])
        fix = f"gitrag agents install{' --user' if names[0].endswith('(user)') else ''}"
        who = f"{', '.join(names)}: {shlex.join(command)}"
        if program.is_absolute() and program.resolve().is_relative_to(workspace.place.resolve()):
            return Check("agents", CheckState.WARN, f"{who} lies in the repository and was not started", fix)
        try:
            ask_server(command, workspace.place, workspace.environ)
        except TrialError as error:
            return Check("agents", CheckState.FAIL, f"{who} was started: {error}", fix)
    every = ", ".join(name for names in clients.values() for name in names)
    return Check("agents", CheckState.OK, f"the server starts and answers, for {every}")


def _model(workspace: Workspace) -> Check:
    found = local_model.status(workspace.model_dir, workspace.model)
    if not found.ready:
        problem = f"{found.problem} {fetch_failure(workspace)}".strip()
        return Check("model", CheckState.WARN, problem, found.fix)
    size = f", {found.size_bytes / 1e6:.0f} MB" if found.size_bytes else ""
    return Check("model", CheckState.OK, f"{found.path}{size}")
