"""Putting gitrag's block into a repository's hooks, taking it out, and saying how things stand.

Only files inside the git directory are written. Hooks that git takes from elsewhere (core.hooksPath: a team's
committed folder, husky's, a user's own for all repositories), links, and hooks in other languages belong to
somebody else: there the report holds the lines to add by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from gitrag import files
from gitrag.errors import NotSetUpError
from gitrag.hooking import blocks
from gitrag.hooking.managers import manager_of
from gitrag.hooking.table import HOOKS, Hook, script


class Repository(Protocol):
    """What installation needs to know of a repository."""

    @property
    def root(self) -> Path | None:
        """The top of the working tree, if there is one."""

    @property
    def common_dir(self) -> Path:
        """The git directory shared by all worktrees."""

    def hooks_dir(self) -> Path:
        """Where git looks for hooks."""


class State(StrEnum):
    """How a hook stands."""

    INSTALLED = "installed"
    MISSING = "missing"
    OUTDATED = "outdated"  # another gitrag's block, or one that calls a gitrag that is gone
    SHADOWED = "shadowed"  # core.hooksPath leads outside the git directory
    FOREIGN = "foreign"  # a hook that a block cannot or must not be put into
    NOT_EXECUTABLE = "not executable"  # git passes it over


@dataclass(frozen=True, slots=True)
class HookReport:
    """How one hook stands.

    Attributes:
        name: Git's name of the hook.
        state: See `State`.
        path: The file that git runs, or would run.
        detail: Why, in a few words; empty when there is nothing to say.
        advice: What to run; empty when there is nothing.
        lines: The exact lines to add to ``path``, where only its owner should; mostly empty.
        changed: Whether this call changed the file.
    """

    name: str
    state: State
    path: Path
    detail: str = ""
    advice: str = ""
    lines: str = ""
    changed: bool = False


def install(repository: Repository, launcher: str | None = None) -> list[HookReport]:
    """Install or renew every hook, as far as it can be done without breaking somebody else's.

    Args:
        repository: Where.
        launcher: Absolute path of the gitrag the hooks shall run; by default the one now running.

    Raises:
        NotSetUpError: The hooks' directory or a file in it cannot be written.
    """
    launcher = launcher or find_launcher()
    changed = {
        report.name
        for hook, report in zip(HOOKS, status(repository), strict=True)
        if report.state not in {State.SHADOWED, State.FOREIGN} and _install(hook, report, launcher)
    }
    return [replace(report, changed=report.name in changed) for report in status(repository)]


def uninstall(repository: Repository) -> list[HookReport]:
    """Take gitrag's block out of every hook, and remove the files that were made for it.

    Raises:
        NotSetUpError: A file cannot be written.
    """
    changed = {
        hook.name
        for directory in _own_directories(repository)
        for hook in HOOKS
        if _uninstall(directory / hook.name)
    }
    return [replace(report, changed=report.name in changed) for report in status(repository)]


def status(repository: Repository) -> list[HookReport]:
    """Return how every hook stands, and what to do about it; changes nothing."""
    directory = repository.hooks_dir()
    own = _is_inside(directory, repository.common_dir)
    return [_status(hook, directory / hook.name, repository.root, own=own) for hook in HOOKS]


def find_launcher() -> str | None:
    """Return the absolute path of the running gitrag's command; None when only PATH can tell.

    The command itself, never ``python -m gitrag``: that would put the hook's working directory, and with it
    whatever a repository calls ``click.py``, on the module path.
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


def lines_to_add(hook: Hook) -> str:
    """Return the shell lines that do by hand what the hook's block does."""
    if hook.background:
        return f'(gitrag hook run {hook.name} "$@" </dev/null >/dev/null 2>&1 &)'
    return (
        "refs=$(cat) # what follows and reads standard input gets it as <<EOF too\n"
        "if command -v gitrag >/dev/null; then\n"
        'gitrag check --push "$@" <<EOF || [ $? -ne 3 ] || exit 1\n'
        "$refs\n"
        "EOF\n"
        "fi"
    )


def _status(hook: Hook, path: Path, root: Path | None, *, own: bool) -> HookReport:
    called = _calling(hook, path, root)
    if called:
        return HookReport(hook.name, State.INSTALLED, path, f"called by {called}")
    if not own:
        where = "is not a directory" if not path.parent.is_dir() else "lies outside the git directory"
        detail = f"core.hooksPath {path.parent} {where}"
        if _is_huskys(path):
            path, detail = path.parent.parent / hook.name, "husky has the hooks"
        return HookReport(hook.name, State.SHADOWED, path, detail, lines=lines_to_add(hook))
    if path.is_symlink():
        detail = f"it is a link to {path.readlink()}"
        return HookReport(hook.name, State.FOREIGN, path, detail, lines=lines_to_add(hook))
    if path.exists() and not path.is_file():
        return HookReport(hook.name, State.FOREIGN, path, "it is not a file")
    if not path.exists():
        return HookReport(hook.name, State.MISSING, path, "", "gitrag hooks install")
    text = _read(path)
    manager = manager_of(text)
    if manager is not None and root is not None and blocks.START not in text:
        place = manager.configuration(root)
        return HookReport(
            hook.name, State.FOREIGN, place, f"{manager.name} writes it", lines=manager.lines(hook)
        )
    return _status_of_text(hook, path, text)


def _status_of_text(hook: Hook, path: Path, text: bytes) -> HookReport:
    def report(state: State, detail: str = "", advice: str = "", lines: str = "") -> HookReport:
        return HookReport(hook.name, state, path, detail, advice, lines)

    try:
        span = blocks.find(text)
    except blocks.DamagedBlockError:
        marks = f"{blocks.START.decode()} … {blocks.END.decode()}"
        return report(
            State.FOREIGN,
            f"its marks {marks} are not one pair",
            f"remove what is left of gitrag's part from {path}, then run `gitrag hooks install`",
        )
    reason = blocks.obstacle(text)
    if reason:
        if span:
            return report(State.FOREIGN, f"it {reason}", "gitrag hooks uninstall")
        return report(State.FOREIGN, f"it {reason}", lines=lines_to_add(hook))
    if not os.access(path, os.X_OK):
        advice = "gitrag hooks install" if _is_ours(text) else f"chmod +x {path}; gitrag hooks install"
        return report(State.NOT_EXECUTABLE, "git passes over hooks that are not executable", advice)
    if not span:
        return report(State.MISSING, "", "gitrag hooks install")
    launcher = blocks.launcher_of(text)
    if text[span.start : span.end].rstrip(b"\n") != _block(hook, text, launcher).rstrip(b"\n"):
        return report(State.OUTDATED, "it is another version's", "gitrag hooks install")
    if launcher and not os.access(launcher, os.X_OK):
        return report(State.OUTDATED, f"it calls {launcher}, which is gone", "gitrag hooks install")
    return report(State.INSTALLED)


def _install(hook: Hook, report: HookReport, launcher: str | None) -> bool:
    path = report.path
    if not path.exists():
        block = blocks.render(script(hook.name), launcher, created=True)
        _write(path, blocks.insert(blocks.SHEBANG, block), 0o755)
        return True
    text = _read(path)
    if report.state is State.INSTALLED and not blocks.find(text):
        return False  # it calls gitrag in its own way
    mode = old_mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.X_OK):
        if not _is_ours(text):
            return False  # its owner has switched it off; an executable bit would switch it on
        mode |= 0o755
    renewed = blocks.insert(text, _block(hook, text, launcher))
    if (renewed, mode) == (text, old_mode):
        return False
    _write(path, renewed, mode)
    return True


def _uninstall(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    text = _read(path)
    try:
        left = blocks.remove(text)
    except blocks.DamagedBlockError:
        return False  # `status` says what to do
    if left is None:
        try:
            path.unlink()
        except OSError as error:
            raise _cannot_write(path, error) from error
    elif left != text:
        _write(path, left, stat.S_IMODE(path.stat().st_mode))
    return left != text


def _block(hook: Hook, text: bytes, launcher: str | None) -> bytes:
    return blocks.render(script(hook.name), launcher, created=blocks.is_created(text))


def _is_ours(text: bytes) -> bool:
    """Return whether nothing but gitrag's block is in a hook that gitrag made."""
    return blocks.remove(text) is None


def _calling(hook: Hook, path: Path, root: Path | None) -> str:
    """Return the file in which somebody else's hook calls gitrag; empty where none does."""
    if not os.access(path, os.X_OK) or not path.is_file():
        return ""
    candidates = [path]
    if _is_huskys(path):
        candidates.append(path.parent.parent / hook.name)  # which husky's own runs
    manager = manager_of(_read(path))
    if manager is not None:
        candidates += [root / name for name in manager.configurations] if root is not None else []
        kept = path.with_name(path.name + manager.kept)
        if manager.kept and kept.is_file() and os.access(kept, os.X_OK) and blocks.START in _read(kept):
            return str(kept)
    subcommand = rf"hook\W+run\W+{hook.name}" if hook.background else r"check\W+--push"
    call = re.compile(
        rf"gitrag\W+{subcommand}\b|\bid:\W*gitrag{'' if hook.background else '-push'}\s*$".encode(),
        re.MULTILINE,
    )
    for candidate in candidates:
        if candidate.is_file():
            text = _read(candidate)
            if blocks.START not in text and call.search(text):
                return str(candidate)
    return ""


def _is_huskys(path: Path) -> bool:
    """Tell whether git runs husky's own hook, .husky/_/post-commit: it runs the team's .husky/post-commit."""
    return path.parent.name == "_" and path.parent.parent.name == ".husky"


def _own_directories(repository: Repository) -> Iterator[Path]:
    """Yield where a block of ours may be: also where hooks lay before core.hooksPath was set."""
    usual = repository.common_dir / "hooks"
    current = repository.hooks_dir()
    for directory in {usual, current}:
        if _is_inside(directory, repository.common_dir):
            yield directory


def _is_inside(directory: Path, outer: Path) -> bool:
    return directory.resolve().is_relative_to(outer.resolve())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotSetUpError(
            f"Cannot read the hook {path}: {error.strerror}.", "Check its permissions."
        ) from error


def _write(path: Path, content: bytes, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(path, content, mode)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> NotSetUpError:
    return NotSetUpError(
        f"Cannot write the hook {path}: {error.strerror}.", "Check its permissions and the disk."
    )
