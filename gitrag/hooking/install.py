"""Add gitrag's block to a repository's hooks, and remove it.

Only files inside the git directory are written unasked. Hooks from elsewhere (core.hooksPath: a team's
committed folder, husky's, a user's own for all repositories), symbolic links, and hooks in other languages
belong to somebody else: a hook is configured beside them (`config_hooks`), or if git is too old for that, the
report holds the lines to add by hand.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from gitrag.errors import NotSetUpError
from gitrag.hooking import config_hooks, script_blocks
from gitrag.hooking.managers import with_lines
from gitrag.hooking.status import (
    HookedRepository,
    HookReport,
    HookState,
    HookStatus,
    block_of,
    is_inside,
    is_ours,
    look,
    read_hook,
    status,
)
from gitrag.hooking.table import HOOKS, Hook, script
from gitrag.machine import files


def install(repository: HookedRepository, launcher: str | None = None) -> list[HookReport]:
    """Install or update every hook, as far as possible without breaking somebody else's.

    Args:
        launcher: Absolute path of the gitrag that the hooks run; by default the running one.
    """
    launcher = launcher or find_launcher()
    beside = config_hooks.are_run(repository) and repository.hooks_dir().is_dir()
    changed = {
        standing[0].name
        for standing in look(repository)
        if _set_up(repository, standing, launcher, beside=beside)
    }
    return [replace(report, changed=report.name in changed) for report in status(repository)]


def can_be_added(report: HookReport) -> bool:
    """Return whether the lines of a report can be written for its owner.

    To a shell script, or a new one; to a manager's configuration, where that goes on saying what it says.
    """
    if not report.lines or report.state is HookState.INSTALLED or report.path.is_symlink():
        return False
    if not is_configuration(report.path):
        return True
    return report.path.is_file() and with_lines(read_hook(report.path), report.lines) is not None


def is_configuration(path: Path) -> bool:
    """Return whether lines are for a manager's configuration, and for no shell script."""
    return path.suffix in {".yml", ".yaml"}


def is_left(report: HookReport) -> bool:
    """Return whether a manager's configuration has to be added to by its owner, among what is there."""
    missing = bool(report.lines) and report.state is not HookState.INSTALLED
    return missing and is_configuration(report.path) and not can_be_added(report)


def add_lines(repository: HookedRepository, reports: Iterable[HookReport]) -> list[HookReport]:
    """Write the lines of reports, between our marks, where `can_be_added`: for whoever was asked."""
    changed = set()
    for report in filter(can_be_added, reports):
        if is_configuration(report.path):
            text = with_lines(read_hook(report.path), report.lines)
            if text is not None:
                _write(report.path, text, stat.S_IMODE(report.path.stat().st_mode))
                changed.add(report.name)
            continue
        path, lines = report.path, report.lines.encode().removeprefix(script_blocks.SHEBANG)
        text = read_hook(path) if path.exists() else report.lines.encode().removesuffix(lines)
        made = b"" if path.exists() else script_blocks.CREATED
        block = b"%b\n%b%b\n%b\n" % (script_blocks.START, made, lines, script_blocks.END)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o755
        _write(path, script_blocks.insert(text, block), mode)
        changed.add(report.name)
    return [replace(report, changed=report.name in changed) for report in status(repository)]


def find_blocks(repository: HookedRepository) -> dict[Path, bool]:
    """Return the hooks' files with gitrag's marks, each with whether `uninstall` takes its block out."""
    return {
        path: goes and _without_block(text) != text
        for directory, goes in _directories(repository, shared=False).items()
        for path in (directory / hook.name for hook in HOOKS)
        if not path.is_symlink() and path.is_file()
        for text in (read_hook(path),)
        if script_blocks.START in text or script_blocks.END in text
    }


def uninstall(repository: HookedRepository, *, shared: bool = False) -> list[HookReport]:
    """Remove gitrag's block from every hook, and its sections from the repository's configuration."""
    entries = config_hooks.read(repository)
    changed = {hook.name for hook in HOOKS if any(entry.ours for entry in entries[hook.name])}
    for hook in HOOKS:
        if hook.name in changed:
            config_hooks.take_out(repository, hook)
    changed |= {
        hook.name
        for directory, goes in _directories(repository, shared=shared).items()
        for hook in HOOKS
        if goes and _uninstall(directory / hook.name)
    }
    return [replace(report, changed=report.name in changed) for report in status(repository)]


def find_launcher() -> str | None:
    """Return the absolute path of the running gitrag's command; None if it can only be found by PATH.

    The command itself, never ``python -m gitrag``: that would put the hook's working directory on the module
    path, and with it any file that a repository calls ``click.py``.
    """
    called = Path(sys.argv[0])
    candidates = [Path(sys.executable).with_name("gitrag")]
    if called.is_absolute() and called.name in {"gitrag", "git-gitrag"}:
        candidates.insert(0, called.with_name("gitrag"))
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("gitrag")
    return found if found and Path(found).is_absolute() else None


def _set_up(
    repository: HookedRepository, standing: HookStatus, launcher: str | None, *, beside: bool
) -> bool:
    """Make a hook run gitrag exactly once: by its file if we may write it, else configured beside it.

    Returns:
        Whether anything changed.
    """
    hook, file, running, report = standing
    script = HookReport(hook.name, HookState.MISSING, config_hooks.script_of(repository, hook))
    others = any(not entry.ours for entry in running)
    ours = any(entry.ours for entry in running)
    needless = ours and (others or file.state in {HookState.MISSING, HookState.INSTALLED, HookState.OUTDATED})
    if needless:
        config_hooks.take_out(repository, hook)
        _uninstall(script.path)
    if others or report.state is HookState.SWITCHED_OFF:
        return needless
    if (ours and not needless) or (beside and (file.lines or file.commands)):
        renewed = _install(hook, script, launcher)
        return config_hooks.put_in(repository, hook) or renewed
    if file.state in {HookState.SHADOWED, HookState.FOREIGN}:
        return False
    return _install(hook, file, launcher) or needless


def _install(hook: Hook, report: HookReport, launcher: str | None) -> bool:
    path = report.path
    if not path.exists():
        block = script_blocks.render(script(hook.name), launcher, created=True)
        _write(path, script_blocks.insert(script_blocks.SHEBANG, block), 0o755)
        return True
    text = read_hook(path)
    if report.state is HookState.INSTALLED and not script_blocks.find(text):
        return False  # the file calls gitrag in its own way
    mode = old_mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.X_OK):
        if not is_ours(text):
            return False  # its owner has disabled it; making it executable would enable it
        mode |= 0o755
    renewed = script_blocks.insert(text, block_of(hook, text, launcher))
    if (renewed, mode) == (text, old_mode):
        return False
    _write(path, renewed, mode)
    return True


def _uninstall(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    text = read_hook(path)
    left = _without_block(text)
    if left is None:
        try:
            path.unlink()
            if path.parent.name == config_hooks.DIRECTORY and not any(path.parent.iterdir()):
                path.parent.rmdir()
        except OSError as error:
            raise _cannot_write(path, error) from error
    elif left != text:
        _write(path, left, stat.S_IMODE(path.stat().st_mode))
    return left != text


def _without_block(text: bytes) -> bytes | None:
    """Return a hook without our block; None if nothing else is in it, unchanged if its marks are damaged."""
    try:
        return script_blocks.remove(text)
    except script_blocks.DamagedBlockError:
        return text  # `status` tells the user what to do


def _directories(repository: HookedRepository, *, shared: bool) -> dict[Path, bool]:
    """Return the directories that may hold our block, each with whether it may be taken out there.

    Also the one in use before core.hooksPath was set. What lies elsewhere is other repositories' too: a
    repository's own configuration, which is data, does not lead there, and the user's only if ``shared``.
    """
    current, root = repository.hooks_dir(), repository.root
    named = [entry for entry in repository.configuration.entries() if entry.key == "core.hookspath"]
    users = shared and bool(named) and not named[-1].is_the_repositorys
    if current.name == "_" and current.parent.name == ".husky":
        current = current.parent
    own = (repository.common_dir / "hooks", repository.common_dir / config_hooks.DIRECTORY)
    return {
        directory: is_inside(directory, repository.common_dir)
        or (root is not None and is_inside(directory, root) and ".git" not in directory.resolve().parts)
        or (users and directory == current)
        for directory in (current, *own)
    }


def _write(path: Path, content: bytes, mode: int) -> None:
    try:
        path.parent.mkdir(
            mode=0o755, parents=True, exist_ok=True
        )  # whoever can write here can run any program anyway
        files.replace(path, content, mode)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> NotSetUpError:
    return NotSetUpError(
        f"Cannot write the hook {path}: {error.strerror}.", "Check its permissions and the disk."
    )
