"""The settings of a repository, gathered from git and from the team's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from gitrag.config.keys import KEYS, Config
from gitrag.config.loading import load
from gitrag.config.team_file import read_team
from gitrag.git import Repository


def settings_of(
    repo: Repository, environ: Mapping[str, str], flags: Mapping[str, object] = MappingProxyType({})
) -> Config:
    """Read a repository's settings.

    Raises:
        ConfigError: A setting is wrong.
    """
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
