"""The settings of a repository, gathered from git and from the team's file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gitrag.config.keys import Config, load
from gitrag.config.team_file import read_team
from gitrag.git import Repository


def settings_of(
    repo: Repository, environ: Mapping[str, str], flags: Mapping[str, object] = MappingProxyType({})
) -> Config:
    """Read a repository's settings.

    Raises:
        RepositoryError: The team's file cannot be read.
        ConfigError: A setting is wrong.
    """
    team = read_team(repo.root) if repo.root is not None else None
    return load(git=repo.config("gitrag"), team=team, env=environ, flags=flags)
