"""Load settings from five sources, of which a later one wins.

Defaults < ``git config gitrag.prePush`` < ``.gitrag.yaml`` (committed) < ``GITRAG_PRE_PUSH`` < flags. Values
of every source are parsed as text by the key's rule, so that ``off`` is ``off`` in YAML too. Nothing here
reads the environment or runs git: the caller passes what each source holds. ``.gitrag.yaml`` is read within
limits, since a stranger may have written it. `gitrag.config.keys` says what each key may hold.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from gitrag.config.keys import BY_NAME, DEFAULT, KEYS, OTHER_VARIABLES, Config, Key, shown
from gitrag.config.rules import (
    ADDRESS,
    FOLDER,
    HUB,
    MODEL,
    SHARED,
    Rule,
    as_list,
    show_duration,
    without_password,
)
from gitrag.errors import ConfigError
from gitrag.git import Repository
from gitrag.machine.files import NO_LINK, NO_WAIT, OURS
from gitrag.machine.refusals import disk_error
from gitrag.words.bounded_yaml import YamlValue, parse_mapping
from gitrag.words.spelling import did_you_mean

TEAM_FILE = ".gitrag.yaml"
TEAM_FILE_BYTES = 64 * 1024
"""Hundreds of globs fit; the slowest file to parse takes well under a second."""


def read_team(root: Path) -> bytes | None:
    """Return what ``.gitrag.yaml`` at a worktree's top holds, or None where there is none."""
    path = root / TEAM_FILE
    try:
        # Non-blocking, or a FIFO of that name would block every command.
        descriptor = os.open(path, os.O_RDONLY | NO_LINK | NO_WAIT | OURS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_error(error, path) or ConfigError(
            f"{TEAM_FILE} cannot be read: {error.strerror}.", "It must be a regular file."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{TEAM_FILE} is not a regular file.", "Put the settings in a file of that name.")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(TEAM_FILE_BYTES + 1)


def parse_team(content: bytes) -> dict[str, YamlValue]:
    """Read the mapping that ``.gitrag.yaml`` holds; an empty file is an empty mapping.

    Raises:
        ConfigError: It is not YAML that gitrag reads (``parse_mapping``).
    """
    return parse_mapping(content, TEAM_FILE, TEAM_FILE_BYTES)


FLAG = "flag"
"""Origin of a value from the command line."""

NO_TOOL = "search_strategy is hybrid but names no rag.mcp_tool: grep is used."

_NESTED = "search_strategy"
"""A key of ``.gitrag.yaml`` that holds nested mappings, whose keys are joined by ``_``."""

_SUGGESTED_CHARACTERS = 200

_UNKNOWN_NAMED = 5
"""Unknown keys that are listed, so that a file with thousands does not flood the terminal."""


def load(
    *,
    git: Mapping[str, str],
    team: bytes | None,
    env: Mapping[str, str],
    flags: Mapping[str, object] = MappingProxyType({}),
) -> Config:
    """Merge the five sources into one configuration.

    Args:
        git: ``git config`` entries of the section gitrag; names in any case, with or without the section.
        team: The content of ``.gitrag.yaml``, or None if there is none.
        flags: Values from the command line, by key; None means not given.
    """
    merge = _Merge(home=env.get("HOME", ""))
    merge.add_git(git)
    merge.add_team(team)
    merge.add_environment(env)
    for name, value in flags.items():
        if value is not None:
            merge.put(BY_NAME[name], value, FLAG, "Run the command with --help for what it takes.")
    merge.settle_strategy()
    merge.tell_suggestions()
    return Config(
        **merge.values,  # type: ignore[arg-type]  # each rule returns its field's type
        origins=MappingProxyType(merge.origins),
        warnings=tuple(merge.warnings),
    )


class _Merge:
    """The values set so far; those of later sources replace those of earlier ones."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.values: dict[str, object] = {}
        self.origins: dict[str, str] = {key.name: DEFAULT for key in KEYS}
        self.warnings: list[str] = []
        self.suggested: dict[Key, object] = {}

    def add_git(self, entries: Mapping[str, str]) -> None:
        known = {key.git_name.lower(): key for key in KEYS}
        for given, text in entries.items():
            name = given if given.lower().startswith("gitrag.") else f"gitrag.{given}"
            key = known.get(name.lower())
            if key:
                hint = f"`git config --unset {key.git_name}` removes it."
                self.put(key, text, f"git config {key.git_name}", hint)
            else:
                self._unknown(f"git config {shown(name)}", name, [key.git_name for key in KEYS])

    def add_environment(self, env: Mapping[str, str]) -> None:
        known = {key.variable: key for key in KEYS}
        for variable, text in env.items():
            if not variable.startswith("GITRAG_") or not text or variable in OTHER_VARIABLES:
                continue
            if variable in known:
                self.put(known[variable], text, variable, f"`unset {variable}` removes it.")
            else:
                self._unknown(shown(variable), variable, [*known, *OTHER_VARIABLES])

    def add_team(self, content: bytes | None) -> None:
        unknown = 0
        for name, value in _flat(parse_team(content or b"")):
            key = BY_NAME.get(name)
            if key is None:
                unknown += 1
                if unknown <= _UNKNOWN_NAMED:
                    self._unknown(f"{TEAM_FILE}: {shown(name)}", name, list(BY_NAME))
            elif key.suggested and value is not None:
                self.suggested[key] = value
            elif key.team is None:
                where = "git config --global" if key.not_in_repository else "git config"
                self.warnings.append(
                    f"{TEAM_FILE} sets {name}, which only you may set: ignored. "
                    f"To set it, `{where} {key.git_name} …`."
                )
            elif value is not None:
                self.put(key, value, TEAM_FILE, f"Edit {TEAM_FILE}.", rule=key.team)
        if unknown > _UNKNOWN_NAMED:
            self.warnings.append(f"{TEAM_FILE}: {unknown - _UNKNOWN_NAMED} more unknown settings ignored.")

    def tell_suggestions(self) -> None:
        """Warn of what the team's file suggests where the user has decided nothing."""
        for key, value in self.suggested.items():
            setting, default = f"git config --global {key.git_name}", getattr(Config(), key.name)
            try:
                text = str(self._parse(key.rule, value))
            except (ValueError, OverflowError):
                text = ""
            if not text or len(text) > _SUGGESTED_CHARACTERS:
                self.warnings.append(f"{TEAM_FILE} suggests a value of {key.name} that is none: ignored.")
            elif self.origins[key.name] == DEFAULT:
                self.warnings.append(
                    f"{TEAM_FILE} suggests {key.name} {text}: not done. To do it, `{setting}"
                    f" {shlex.quote(text)}`; to hear no more of it, `{setting} {default}`."
                )

    def settle_strategy(self) -> None:
        """Fall back to grep, with a warning, if the mode is hybrid but no search tool is set."""
        tool = self.values.get("search_strategy_rag_mcp_tool")
        if self.values.get("search_strategy_mode") == "hybrid" and not tool:
            self.values["search_strategy_mode"] = "grep"
            self.warnings.append(NO_TOOL)

    def put(self, key: Key, value: object, origin: str, hint: str, rule: Rule[object] | None = None) -> None:
        rule = rule or key.rule
        try:
            self.values[key.name] = self._parse(rule, value)
        except (ValueError, OverflowError) as error:
            said = without_password(str(value)) if rule in (ADDRESS, HUB, MODEL, SHARED) else value
            raise ConfigError(
                f'{key.name} is "{shown(said)}" ({origin}): it must be {rule.allowed}.', hint
            ) from error
        self.origins[key.name] = origin

    def _parse(self, rule: Rule[object], value: object) -> object:
        if isinstance(value, list | tuple):
            if not rule.is_list:
                raise ValueError(
                    "a list"
                )  # the caller catches ValueError for every value that is not allowed
            if not all(isinstance(item, str) for item in value):
                raise ValueError("not texts")
            return as_list(value)
        if value is None or isinstance(value, Mapping):
            raise ValueError("not a value")
        text = show_duration(value) if isinstance(value, timedelta) else str(value)
        if rule in (FOLDER, MODEL) and self.home and (text == "~" or text.startswith("~/")):
            text = self.home + text[1:]
        return rule.parse(text)

    def _unknown(self, where: str, name: str, known: Sequence[str]) -> None:
        self.warnings.append(f"{where} is no setting of gitrag: ignored.{did_you_mean(name, known)}")


def _flat(settings: Mapping[str, YamlValue]) -> Iterator[tuple[str, YamlValue]]:
    """Yield the settings of a team file by key; the parts of a nested key are joined by ``_``."""
    pending = list(settings.items())[::-1]
    while pending:
        name, value = pending.pop()
        if isinstance(value, Mapping) and name.startswith(_NESTED):
            pending += [(f"{name}_{key}", each) for key, each in list(value.items())[::-1]]
        elif value is not None or name not in (_NESTED, f"{_NESTED}_rag"):
            yield name, value


def settings_of(
    repo: Repository, environ: Mapping[str, str], flags: Mapping[str, object] = MappingProxyType({})
) -> Config:
    """Read a repository's settings."""
    team = read_team(repo.root) if repo.root is not None else None
    git, ignored = repo.config("gitrag"), []
    for name in {key.git_name.lower() for key in KEYS if key.not_in_repository} & git.keys():
        entries = [entry for entry in repo.configuration.entries() if entry.key == name]
        if entries[-1].is_the_repositorys:
            users = [entry.value for entry in entries if not entry.is_the_repositorys]
            git.pop(name)
            git |= {name: users[-1]} if users else {}
            ignored.append(
                f"{name} of the repository's own git configuration is ignored: use git config --global."
            )
    config = load(git=git, team=team, env=environ, flags=flags)
    return replace(config, warnings=(*config.warnings, *sorted(ignored)))
