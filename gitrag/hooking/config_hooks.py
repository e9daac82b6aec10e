"""Hooks named in git's configuration (``hook.<name>.event``): git 2.54 and later runs them beside hook files.

They let gitrag run beside a hook file that belongs to somebody else. The command runs a script kept in the
git directory and contains no path of the repository, which may be moved or copied; if the script or gitrag
itself is gone, it does nothing. An earlier git ignores these settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final, Protocol

from msgspec import Struct

from gitrag.errors import NotSetUpError, RepositoryError
from gitrag.git.environment import message_of
from gitrag.hooking.table import HOOKS, Hook
from gitrag.machine.prerequisites import version_of

SINCE: Final = (2, 54)
"""The first version of git that runs configured hooks."""

DIRECTORY = "gitrag-hooks"
"""In the git directory that all worktrees share; not in the index's directory, which users may delete."""

_OFF = {"", "false", "no", "off", "0"}
_RUNS = re.compile(r"gitrag\W+hook\W+run\b")
_CHECKS = re.compile(r"gitrag\W+check\W+--push\b")


class ConfiguredRepository(Protocol):
    """What this module needs of a repository."""

    @property
    def common_dir(self) -> Path:
        """The git directory shared by all worktrees."""

    def git(self, *args: str | bytes | Path) -> CompletedProcess[bytes]:
        """Run git in it."""


class Configured(Struct, frozen=True):
    """A configured hook that runs gitrag on one event.

    Attributes:
        command: What git passes to the shell.
        scope: The configuration that the command is from: ``local``, ``global``, ….
        off: The key that disables it; empty if it is enabled.
        ours: Whether `put_in` wrote it.
    """

    name: str
    command: str
    scope: str
    off: str
    ours: bool

    @property
    def key(self) -> str:
        """Its section, as in git's keys."""
        return f"hook.{self.name}"


def are_run(repository: ConfiguredRepository) -> bool:
    """Return whether the installed git runs configured hooks."""
    return version_of(os.fsdecode(repository.git("version").stdout)) >= SINCE


def script_of(repository: ConfiguredRepository, hook: Hook) -> Path:
    return repository.common_dir / DIRECTORY / hook.name


def command_of(hook: Hook) -> str:
    """Return the command to configure; git appends ``"$@"`` to it.

    Only in a linked worktree, whose own git directory has no scripts, is a process needed to find them.
    """
    return (
        f"d=${{GIT_DIR:-.git}}/{DIRECTORY}; "
        f'[ -d "$d" ] || d=$(git rev-parse --git-common-dir)/{DIRECTORY}; '
        f'[ ! -x "$d/{hook.name}" ] || "$d/{hook.name}"'
    )


def read(repository: ConfiguredRepository) -> dict[str, list[Configured]]:
    """Return the configured hooks that run gitrag, by event, from every configuration file."""
    commands: dict[str, tuple[str, str]] = {}
    names: dict[str, set[str]] = {hook.name: set() for hook in HOOKS}
    off: set[str] = set()
    for scope, name, variable, value in _entries(repository):
        if variable == "command":
            commands[name] = value, scope
        elif variable == "event" and value in names:
            names[value].add(name)
        elif variable == "event" and not value:  # an empty event cancels those before it
            names = {event: found - {name} for event, found in names.items()}
        elif variable == "enabled":
            off = off | {name} if value.lower() in _OFF else off - {name}
    return {
        hook.name: [
            found
            for name in sorted(names[hook.name] & commands.keys())
            if (found := _running_gitrag(hook, name, *commands[name], off))
        ]
        for hook in HOOKS
    }


def put_in(repository: ConfiguredRepository, hook: Hook) -> bool:
    """Configure a hook in the repository's own configuration; return whether anything changed."""
    # The event last: git would fail on an event without a command.
    wanted = {"command": command_of(hook), "parallel": "true", "event": hook.name}
    key = f"hook.{_name(hook)}"
    missing = [
        variable
        for variable, value in wanted.items()
        if repository.git("config", "--local", "--get-all", f"{key}.{variable}").stdout
        != f"{value}\n".encode()
    ]
    for variable in missing:
        _write(repository, "--replace-all", f"{key}.{variable}", wanted[variable])
    return bool(missing)


def take_out(repository: ConfiguredRepository, hook: Hook) -> None:
    """Remove what `put_in` wrote; every other line stays as it is."""
    # Not --remove-section, which would also remove a comment before the next section.
    for variable in ("event", "parallel", "command"):
        _write(repository, "--unset-all", f"hook.{_name(hook)}.{variable}")


def _name(hook: Hook) -> str:
    return f"gitrag-{hook.name}"  # the command is not told its event, so there is one for each


def _running_gitrag(hook: Hook, name: str, command: str, scope: str, off: set[str]) -> Configured | None:
    ours = scope == "local" and name == _name(hook) and DIRECTORY in command
    if not ours and not (_RUNS if hook.background else _CHECKS).search(command):
        return None
    switch = next((f"hook.{each}.enabled" for each in (hook.name, name) if each in off), "")
    return Configured(name, command, scope, switch, ours)


def _entries(repository: ConfiguredRepository) -> Iterator[tuple[str, str, str, str]]:
    """Yield scope, name, variable and value, in git's order."""
    done = repository.git("config", "-z", "--show-scope", "--get-regexp", r"^hook\.")
    if done.returncode > 1:  # 1: there are none
        raise RepositoryError(f"git cannot read its configuration: {message_of(done)}.")
    fields = iter(os.fsdecode(done.stdout).split("\0")[:-1])
    for scope, entry in zip(fields, fields, strict=True):
        key, _, value = entry.partition("\n")
        name, _, variable = key.removeprefix("hook.").rpartition(".")
        if name:
            yield scope, name, variable, value


def _write(repository: ConfiguredRepository, *args: str) -> None:
    done = repository.git("config", "--local", *args)
    nothing_to_unset = done.returncode == 5
    if done.returncode and not nothing_to_unset:
        raise NotSetUpError(
            f"Cannot write the configuration of {repository.common_dir}: {message_of(done)}.",
            "Check its permissions, and that no config.lock is left there.",
        )
