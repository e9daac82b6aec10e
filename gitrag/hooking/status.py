"""The status of a repository's hooks, and what its owner can do about it; nothing is changed here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from gitrag.errors import NotSetUpError
from gitrag.git.configuration import Configuration
from gitrag.hooking import config_hooks, script_blocks
from gitrag.hooking.config_hooks import Configured
from gitrag.hooking.managers import manager_of
from gitrag.hooking.table import HOOKS, Hook, script
from gitrag.machine.files import read_regular


class HookedRepository(config_hooks.ConfiguredRepository, Protocol):
    """What installation needs of a repository."""

    @property
    def root(self) -> Path | None:
        """The top of the working tree; None in a bare repository."""

    @property
    def configuration(self) -> Configuration:
        """Git's configuration, as the repository sees it."""

    def hooks_dir(self) -> Path:
        """The directory where git looks for hooks."""


class HookState(StrEnum):
    """The state of a hook."""

    INSTALLED = "installed"
    MISSING = "missing"
    OUTDATED = "outdated"  # block of another version, or one that calls a gitrag that no longer exists
    SHADOWED = "shadowed"  # core.hooksPath leads outside the git directory
    FOREIGN = "foreign"  # a hook that a block cannot or must not be added to
    NOT_EXECUTABLE = "not executable"  # git ignores it
    SWITCHED_OFF = "switched off"  # by git's configuration
    TWICE = "twice"  # run by a file and by the configuration, or by two sections of the latter


class HookReport(Struct, frozen=True):
    """The status of one hook, for the user.

    Attributes:
        name: Git's name of the hook.
        state: See `HookState`.
        path: The file that git runs, or would run.
        detail: The reason, in a few words; may be empty.
        advice: The command to run; empty if there is none.
        commands: What to paste into a shell where the hook is no shell script that lines can be added to: it
            is moved aside, and a shell script that runs it takes its place.
        lines: The exact lines to add to ``path``, if only its owner should; mostly empty. For a configured
            hook, the lines that an older git needs instead.
        configured: The section of git's configuration that runs it; empty if a file does.
        changed: Whether this call changed anything.
    """

    name: str
    state: HookState
    path: Path
    detail: str = ""
    advice: str = ""
    lines: str = ""
    commands: str = ""
    configured: str = ""
    changed: bool = False

    @property
    def mend(self) -> str:
        """The command to run, or what to paste into a shell; empty if none."""
        return self.advice or self.commands


HookStatus = tuple[Hook, HookReport, tuple[Configured, ...], HookReport]
"""The status of a hook: by its file alone, the enabled configured hooks, and both together."""


def status(repository: HookedRepository) -> list[HookReport]:
    """Return the status of every hook, and what to do about it; changes nothing."""
    return [report for *_, report in look(repository)]


def lines_to_add(hook: Hook) -> str:
    """Return shell lines, to add by hand, that do what the hook's block does."""
    if hook.background:
        return f'(gitrag hook run {hook.name} "$@" </dev/null >/dev/null 2>&1 &)'
    return (  # no here-document: its end must not be indented
        "if command -v gitrag >/dev/null && refs=$(mktemp); then\n"
        '    cat >"$refs" || { rm "$refs"; exit 1; } # what follows would check nothing\n'
        '    gitrag check --push "$@" <"$refs" || [ $? -ne 3 ] || { rm "$refs"; exit 1; }\n'
        '    exec <"$refs"; rm "$refs" # for what follows\n'
        "fi"
    )


def _to_add(hook: Hook, path: Path, state: HookState, detail: str) -> HookReport:
    """Report on a hook to whose file only its owner should add, if anything can be added to it."""
    text = read_hook(path) if path.is_file() else b""
    if script_blocks.obstacle(text):
        ends = (f".own{number or ''}" for number in count())
        end = next(end for end in ends if not os.path.lexists(f"{path}{end}"))
        own = shlex.quote(f"{path}{end}")
        wrapper = f"printf '%s\\n' '#!/bin/sh' 'exec \"$0{end}\" \"$@\"' >{shlex.quote(str(path))}"
        made = f"test ! -e {own} && mv {shlex.quote(str(path))} {own} && {wrapper}"  # pasted twice: once
        commands = f"{made} && chmod +x {shlex.quote(str(path))} && gitrag hooks install"
        return HookReport(hook.name, state, path, detail, commands=commands)
    if path.exists() or path.parent.name == ".husky":
        return HookReport(hook.name, state, path, detail, lines=lines_to_add(hook))
    lines = f"{script_blocks.SHEBANG.decode()}{lines_to_add(hook)}"
    return HookReport(hook.name, state, path, detail, f"chmod +x {shlex.quote(str(path))}", lines)


def look(repository: HookedRepository) -> Iterator[HookStatus]:
    """Yield the status of every hook, in the order of `HOOKS`."""
    directory = repository.hooks_dir()
    own = is_inside(directory, repository.common_dir)
    entries = config_hooks.read(repository) if config_hooks.are_run(repository) else {}
    for hook in HOOKS:
        file = _status(hook, directory / hook.name, repository.root, own=own)
        found = entries.get(hook.name, [])
        running = tuple(entry for entry in found if not entry.off)
        yield hook, file, running, _together(repository, hook, file, found)


def _together(
    repository: HookedRepository, hook: Hook, file: HookReport, entries: Sequence[Configured]
) -> HookReport:
    """Return the status of a hook, given its file and the configured hooks that run gitrag."""
    by_file = file.state in {HookState.INSTALLED, HookState.OUTDATED}
    on = [entry for entry in entries if not entry.off]
    ours = next((entry for entry in entries if entry.ours), None)
    if by_file + len(on) > 1:
        return _twice(hook, file, on, by_file=by_file)
    if by_file or not (on or ours):
        return file
    if not on and ours:
        detail, advice = f"{ours.off} is false", f"git config {ours.off} true"
        return HookReport(hook.name, HookState.SWITCHED_OFF, file.path, detail, advice)
    [entry] = on
    if not entry.ours:
        detail = f"called by {entry.key} of the {entry.scope} configuration"
        return HookReport(hook.name, HookState.INSTALLED, file.path, detail, configured=entry.key)
    script = config_hooks.script_of(repository, hook)
    found = _status_of_text(hook, script, read_hook(script)) if script.is_file() else None
    detail = f"{script} is gone" if found is None else found.detail
    if entry.command != config_hooks.command_of(hook):
        detail = "it is another version's"
    if detail:
        return HookReport(hook.name, HookState.OUTDATED, script, detail, "gitrag hooks install")
    detail = f"configured as {entry.key}" + (f"; {file.detail}" if file.detail else "")
    return replace(file, state=HookState.INSTALLED, detail=detail, advice="", configured=entry.key)


def _twice(hook: Hook, file: HookReport, on: Sequence[Configured], *, by_file: bool) -> HookReport:
    runners = [str(file.path)] * by_file + [entry.key for entry in on]
    advice = ""
    if any(entry.ours for entry in on):
        advice = "gitrag hooks install"
    elif by_file and script_blocks.START in read_hook(file.path):
        advice = "gitrag hooks uninstall"
    return HookReport(hook.name, HookState.TWICE, file.path, f"by {' and by '.join(runners)}", advice)


def _status(hook: Hook, path: Path, root: Path | None, *, own: bool) -> HookReport:
    called = _calling(hook, path, root, own=own)
    if called:
        return HookReport(hook.name, HookState.INSTALLED, path, f"called by {called}")
    if not own:
        if path.parent.exists() and not path.parent.is_dir():
            detail = f"core.hooksPath {path.parent} switches all hooks off"
            return HookReport(hook.name, HookState.SHADOWED, path, detail)
        where = "is not there" if not path.parent.is_dir() else "lies outside the git directory"
        detail = f"core.hooksPath {path.parent} {where}"
        if _is_huskys(path):
            path, detail = path.parent.parent / hook.name, "husky has the hooks"
        return _to_add(hook, path, HookState.SHADOWED, detail)
    if path.is_symlink():
        return _to_add(hook, path, HookState.FOREIGN, f"it is a link to {path.readlink()}")
    if path.exists() and not path.is_file():
        return HookReport(hook.name, HookState.FOREIGN, path, "it is not a file")
    if not path.exists():
        return HookReport(hook.name, HookState.MISSING, path, "", "gitrag hooks install")
    text = read_hook(path)
    manager = manager_of(text)
    if manager is not None and root is not None and script_blocks.START not in text:
        place = manager.configuration(root)
        return HookReport(
            hook.name, HookState.FOREIGN, place, f"{manager.name} writes it", lines=manager.lines(hook)
        )
    return _status_of_text(hook, path, text)


def _status_of_text(hook: Hook, path: Path, text: bytes) -> HookReport:
    def report(state: HookState, detail: str = "", advice: str = "") -> HookReport:
        return HookReport(hook.name, state, path, detail, advice)

    try:
        span = script_blocks.find(text)
    except script_blocks.DamagedBlockError:
        marks = f"{script_blocks.START.decode()} … {script_blocks.END.decode()}"
        return report(
            HookState.FOREIGN,
            f"its marks {marks} are not one pair",
            f"remove what is left of gitrag's part from {path}, then run `gitrag hooks install`",
        )
    reason = script_blocks.obstacle(text)
    if reason:
        if span:
            return report(HookState.FOREIGN, f"it {reason}", "gitrag hooks uninstall")
        return _to_add(hook, path, HookState.FOREIGN, f"it {reason}")
    if not os.access(path, os.X_OK):
        advice = "gitrag hooks install" if is_ours(text) else f"chmod +x {path}; gitrag hooks install"
        return report(HookState.NOT_EXECUTABLE, "git passes over hooks that are not executable", advice)
    if not span:
        return report(HookState.MISSING, "", "gitrag hooks install")
    launcher = script_blocks.launcher_of(text)
    if text[span].rstrip(b"\n") != block_of(hook, text, launcher).rstrip(b"\n"):
        return report(HookState.OUTDATED, "it is another version's", "gitrag hooks install")
    if launcher and not os.access(launcher, os.X_OK):
        return report(HookState.OUTDATED, f"it calls {launcher}, which is gone", "gitrag hooks install")
    return report(HookState.INSTALLED)


def is_ours(text: bytes) -> bool:
    """Return whether gitrag created a hook and it contains nothing but gitrag's block."""
    return script_blocks.remove(text) is None


def _calling(hook: Hook, path: Path, root: Path | None, *, own: bool) -> str:
    """Return the file in which a hook calls gitrag that is not ours alone to write; empty if none does."""
    if not os.access(path, os.X_OK) or not path.is_file():
        return ""
    candidates = [path]
    if _is_huskys(path):
        candidates.append(path.parent.parent / hook.name)  # which husky's own hook runs
    manager = manager_of(read_hook(path))
    if manager is not None:
        candidates += [root / name for name in manager.configurations] if root is not None else []
        kept = path.with_name(path.name + manager.kept)
        if (
            manager.kept
            and kept.is_file()
            and os.access(kept, os.X_OK)
            and script_blocks.START in read_hook(kept)
        ):
            return str(kept)
    subcommand = rf"hook\W+run\W+{hook.name}" if hook.background else r"check\W+--push"
    call = re.compile(
        rf"gitrag\W+{subcommand}\b|\bid:\W*gitrag{'' if hook.background else '-push'}\s*$".encode(),
        re.MULTILINE,
    )
    for candidate in candidates:
        if candidate.is_file():
            text = read_hook(candidate)
            ours = own and candidate == path and script_blocks.START in text
            if not ours and call.search(text):
                return str(candidate)
    return ""


def _is_huskys(path: Path) -> bool:
    """Return whether git runs husky's own hook: .husky/_/post-commit, which runs .husky/post-commit."""
    return path.parent.name == "_" and path.parent.parent.name == ".husky"


def is_inside(directory: Path, outer: Path) -> bool:
    """Return whether a directory is inside another, symbolic links resolved."""
    return directory.resolve().is_relative_to(outer.resolve())


def read_hook(path: Path) -> bytes:
    """Return the bytes of a hook file."""
    try:
        return read_regular(path)
    except OSError as error:
        raise NotSetUpError(
            f"Cannot read the hook {path}: {error.strerror}.", "Check its permissions."
        ) from error


def block_of(hook: Hook, text: bytes, launcher: str | None) -> bytes:
    return script_blocks.render(script(hook.name), launcher, created=script_blocks.is_created(text))
