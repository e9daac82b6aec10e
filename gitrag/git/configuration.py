"""git's configuration in a repository, and how git is kept from running and reading what that names.

git runs programs and reads files that its configuration names. Those in the user's own configuration (system,
global, the environment, ``git -c``) are the user's choice. Those in the repository's own (``.git/config``, a
worktree's, files that these include) may have come with an archive, a shared disk or, through an include,
with a pull. gitrag calls git often without being asked, so git must run none of them, and neither print, wait
for nor fail by a file that it is made to read. `tests/hostile/test_git_configuration.py` holds this table to
the keys that git knows:

==============================================  ===========================================================
what git can run                                why it does not
==============================================  ===========================================================
``core.fsmonitor`` (a program)                  the user's value, or none, for each call (`guards`);
                                                a submodule's: git does not look into submodules
``fsmonitor.*``                                 for git's own monitor
``filter.*``                                    the user's value, or none, for each call
``credential.helper``, ``credential.*.helper``  the user's only
hooks, ``core.hooksPath``, ``hook.*.command``   none runs for a call of gitrag's, whoever configured it
``gpg.*``, ``user.signingKey``                  ``log.showSignature`` is off, no signature is asked for
``diff.external``, ``diff.*.command``           ``--no-ext-diff`` wherever git compares
``diff.*textconv``                              ``--no-textconv`` wherever git compares or searches
``core.sshCommand``, ``core.gitProxy``,         no protocol is allowed, nothing is fetched: see
``core.alternateRefsCommand``, ``remote.*``,    `gitrag.git.environment`; who fetches
``core.askPass``, ``uploadpack.*``,             (`gitrag.git.copies`, `gitrag.git.remote_files`) does it
``bundle.*``, ``http.*``                        in a repository with a configuration of ours
``core.pager``, ``pager.*``, ``core.editor``,   the environment names others, and none is asked for
``sequence.editor``
``alias.*``                                     no alias can stand for a command of git's own
``merge.*.driver``, ``*tool*``, ``web.*``,      for commands that gitrag does not call
``trailer.*``, ``tar.*``, ``browser.*``,
``man.*``, ``help.*``, ``instaweb.*``,
``interactive.*``, ``submodule.*.update``,
``gc.*``, ``gitcvs.*``, ``sendemail.*``,
``imap.*``, ``receive.*``, ``gui.*``
==============================================  ===========================================================

==============================================  ===========================================================
what git can read                               how it is held
==============================================  ===========================================================
``blame.ignoreRevsFile``                        git blame runs without any configuration; gitrag reads the
                                                file itself, for ids of commits (`gitrag.git.blame`)
``diff.orderFile``                              none, for each call (`guards`)
``mailmap.file``, ``mailmap.blob``              ``log.mailmap`` is off, for each call (`guards`)
``core.attributesFile``, ``core.excludesFile``  refused unless it is a file (`Configuration`); what git says
                                                of its lines is not passed on (`message_of`)
``include.path``, ``includeIf.*.path``          as ``git config`` reads it: 30 s, and no line is printed
``core.worktree``                               refused unless it leads back (`gitrag.git.discovery`)
``core.hooksPath``                              looked into for hooks; written to outside the git directory
                                                only where the user agrees; what a repository's own names
                                                outside its worktree loses nothing (`gitrag.hooking`)
``trace2.*``                                    git takes it from the user's configuration only
``commit.template``, ``init.templateDir``,      for commands that gitrag does not call
``format.*``, ``*fsck.skipList``
==============================================  ===========================================================
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from gitrag.errors import RepositoryError
from gitrag.git.environment import message_of, run_git
from gitrag.late import late_re
from gitrag.machine.programs import Limits

NO_HOOKS = (("core.hooksPath", os.devnull), ("hook.post-index-change.enabled", "false"))
"""git 2.55 can switch off all hooks of an event; for 2.54 each configured hook is switched off."""

NO_SIGNATURES = (("log.showSignature", "false"),)

NO_NAMES = (("log.mailmap", "false"),)
"""Names are read as they were written: a `.mailmap` may be a named pipe, for which `git log` would wait."""

NO_ORDER = (("diff.orderFile", os.devnull),)
"""`git status` and whatever compares would wait for a named pipe, and fail where there is no such file."""

_READING_S = 30.0
"""For a configuration that includes a named pipe."""

REPOSITORYS_OWN = frozenset({"local", "worktree"})
"""Scopes of what a repository says itself."""

_BOOLEAN = frozenset({"true", "false", ""})  # before 2.36 git took others for programs

_RULE_FILES = frozenset({"core.attributesfile", "core.excludesfile"})
_FILTER = late_re(r"filter\.(?P<name>.*)\.(clean|smudge|process)", re.DOTALL)
_CREDENTIAL = late_re(r"credential\.(.*\.)?helper", re.DOTALL)
_HOOK = late_re(r"hook\.(?P<name>.*)\.(command|event)", re.DOTALL)
_INCLUDE = late_re(r"include(if\..*)?\.path", re.DOTALL)

Setting: TypeAlias = "tuple[str, str]"
"""A key and its value."""


class ConfigEntry(Struct, frozen=True):
    """One line of git's configuration.

    Attributes:
        scope: ``system``, ``global``, ``local``, ``worktree`` or ``command``.
        origin: The file it comes from, as git names it; empty for one from the environment.
        key: Section and variable in lower case.
        value: ``true`` where the key has no value.
    """

    scope: str
    origin: str
    key: str
    value: str

    @property
    def is_the_repositorys(self) -> bool:
        """Whether it comes from the repository's own configuration."""
        return self.scope in REPOSITORYS_OWN


class Configuration:
    """git's configuration as seen from a worktree, read again when one of its files has changed.

    Args:
        place: Directory to run git in: the top level, or a bare repository's directory.
    """

    def __init__(self, place: Path, git_dir: Path, common_dir: Path, environment: Mapping[str, str]) -> None:
        self._place = place
        self._fixed = [common_dir / "config", git_dir / "config.worktree", git_dir / "HEAD"]
        self._fixed.append(
            git_dir / "reftable" / "tables.list"
        )  # where HEAD may be stored: includeIf.onbranch
        self._environment = environment
        self._entries: Sequence[ConfigEntry] = ()
        self._signs: dict[Path, tuple[int, ...]] | None = None
        self._guarded: dict[str, str] = {}

    def entries(self) -> Sequence[ConfigEntry]:
        """Return all lines in the order in which git reads them: later ones override earlier ones."""
        self._read()
        return self._entries

    def values(self, prefix: str) -> dict[str, str]:
        """Return the values whose key is ``prefix`` or begins with ``prefix.``; the last one per key."""
        whole, start = prefix.lower(), f"{prefix.lower()}."
        return {
            entry.key: entry.value
            for entry in self.entries()
            if entry.key == whole or entry.key.startswith(start)
        }

    def guarded(self) -> dict[str, str]:
        """Return the environment in which git runs nothing that the repository's configuration names."""
        self._read()
        return self._guarded

    def guard(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which another program's git runs nothing that the repository names."""
        return with_settings(environment, guards(self.entries()))

    def _read(self) -> None:
        if self._signs is not None and all(_sign(path) == sign for path, sign in self._signs.items()):
            return
        signs = {path: _sign(path) for path in self._fixed}  # before git reads: no change is missed
        # libgit2 reads neither GIT_CONFIG_GLOBAL nor `git -c`, nor all includes. 2 to 4 ms.
        asked = ("config", "--null", "--show-scope", "--show-origin", "--list")
        done = run_git(asked, cwd=self._place, environment=self._environment, limits=Limits(_READING_S))
        if done.returncode:
            raise RepositoryError(f"git cannot read its configuration: {message_of(done)}.")
        self._entries = list(_parse(os.fsdecode(done.stdout)))
        self._refuse_endless()
        for path in self._files():
            signs.setdefault(path, _sign(path))
        self._signs = signs
        self._guarded = with_settings(self._environment, guards(self._entries))

    def _refuse_endless(self) -> None:
        """Raise if a rule file is a pipe, a socket or a device, which git would wait for or read for ever."""
        for entry in self._entries:
            if entry.key not in _RULE_FILES or not entry.value:
                continue
            path = self._place / os.path.expanduser(entry.value)  # noqa: PTH111 - any name
            with suppress(OSError, ValueError):
                kind = stat.S_IFMT(path.stat().st_mode)
                if kind not in {stat.S_IFREG, stat.S_IFDIR} and not path.samefile(os.devnull):
                    raise RepositoryError(
                        f"{entry.key} names {path}, which is not a file: git would read it for ever.",
                        f"Correct it in {entry.origin or 'the environment'}.",
                    )

    def _files(self) -> Iterable[Path]:
        """List the files that were read, and those that the repository's configuration would include."""
        for entry in self._entries:
            origin = self._place / entry.origin
            if entry.origin:
                yield origin
            if entry.is_the_repositorys and _INCLUDE.fullmatch(entry.key):
                yield origin.parent / os.path.expanduser(entry.value)  # noqa: PTH111 - any name


def _sign(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parse(listed: str) -> Iterable[ConfigEntry]:
    fields = iter(listed.split("\0")[:-1])
    for scope, origin, line in zip(fields, fields, fields, strict=True):
        key, has_value, value = line.partition("\n")
        file = origin.removeprefix("file:") if origin.startswith("file:") else ""
        yield ConfigEntry(scope, file, key, value if has_value else "true")


def guards(entries: Sequence[ConfigEntry]) -> list[Setting]:
    """Return the settings that keep git from running what the repository's own configuration names."""
    own = [entry for entry in entries if entry.is_the_repositorys]
    users = {entry.key: entry.value for entry in entries if not entry.is_the_repositorys}
    settings = [*NO_HOOKS, *NO_SIGNATURES, *NO_NAMES, *NO_ORDER]
    named = [found["name"] for entry in entries if (found := _HOOK.fullmatch(entry.key))]
    settings += [(f"hook.{name}.enabled", "false") for name in dict.fromkeys(named)]
    for entry in run_by_the_repository(own):
        if entry.key == "core.fsmonitor":
            settings.append((entry.key, users.get(entry.key, "false")))
        elif found := _FILTER.fullmatch(entry.key):
            settings.append((entry.key, users.get(entry.key, "")))
            settings.append((f"filter.{found['name']}.required", "false"))
    helpers = [entry.key for entry in own if _CREDENTIAL.fullmatch(entry.key)]
    if helpers:  # an empty value discards the earlier ones
        settings += [(key, "") for key in dict.fromkeys([*helpers, "credential.helper"])]
        settings += [
            (entry.key, entry.value)
            for entry in entries
            if not entry.is_the_repositorys and _CREDENTIAL.fullmatch(entry.key)
        ]
    return settings


def run_by_the_repository(entries: Iterable[ConfigEntry]) -> list[ConfigEntry]:
    """Return the repository's own filters and monitors, which git would run when it examines files."""
    return [
        entry
        for entry in entries
        if entry.is_the_repositorys
        and (
            (entry.key == "core.fsmonitor" and entry.value.lower() not in _BOOLEAN)
            or (entry.value and _FILTER.fullmatch(entry.key))
        )
    ]


def with_settings(environment: Mapping[str, str], settings: Iterable[Setting]) -> dict[str, str]:
    """Return an environment with settings for git that override those of any file."""
    changed = dict(environment)
    given = changed.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isascii() and given.isdecimal() else 0
    for key, value in settings:
        changed |= {f"GIT_CONFIG_KEY_{count}": key, f"GIT_CONFIG_VALUE_{count}": value}
        count += 1
    changed["GIT_CONFIG_COUNT"] = str(count)
    return changed
