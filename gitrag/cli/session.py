"""The context of every command: its directory, environment and terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from gitrag.cli import resident
from gitrag.cli.terminal import Terminal
from gitrag.errors import RepositoryError

if TYPE_CHECKING:
    from gitrag.config.keys import Config
    from gitrag.git import Repository
    from gitrag.memory.core_files import CoreFiles
    from gitrag.memory.explorations import Explorations
    from gitrag.memory.projects import Project
    from gitrag.workspace import Workspace


class Session(NamedTuple):
    """One run of the command line.

    Attributes:
        start: The directory it was started in, or that of ``-C``.
    """

    start: Path
    environ: Mapping[str, str]
    terminal: Terminal

    def for_json(self) -> Session:
        """Return this run for a command that is to print JSON."""
        return self._replace(terminal=self.terminal.for_json())

    def repository(self) -> Repository:
        """Find the repository around the start.

        Raises:
            RepositoryError: There is none, or it cannot be read.
        """
        from gitrag.git import Repository

        return Repository.discover(self.start, self.environ)

    def workspace(self, **flags: object) -> Workspace:
        """Open gitrag on the repository around the start, and warn about problems with its settings.

        Args:
            flags: Settings from the command line, by key; None where not given.

        Raises:
            RepositoryError: There is no repository, or it cannot be read.
            ConfigError: A setting is wrong.
        """
        from gitrag.workspace import Workspace

        repo = self.repository()
        return Workspace(repo, self.settings(repo, **flags), self.environ, self.terminal.note)

    def index_first(self, workspace: Workspace) -> Workspace:
        """Return a workspace, indexed if it never was and the user wants that (setting ``auto_index``)."""
        from gitrag.actions.catch_up import index_first

        index_first(workspace, self.terminal.progress)
        return workspace

    def settings(self, repo: Repository, **flags: object) -> Config:
        """Read the settings of a repository, and warn about problems with them.

        Raises:
            ConfigError: A setting is wrong.
        """
        from gitrag.config.loading import settings_of

        config = settings_of(repo, self.environ, flags)
        resident.heed(config)
        for warning in config.warnings:
            self.terminal.warn(warning)
        return config

    def project(self) -> Project:
        """Return the project of the repository around the start, else of the directory."""
        from gitrag.memory.projects import project_at

        try:
            repo = self.repository()
        except RepositoryError:
            return project_at(None, self.start)
        return project_at(repo, repo.root or repo.git_dir)

    def explorations(self) -> Explorations:
        """Open the user's explorations; this needs no repository."""
        from gitrag.memory.explorations import open_explorations

        config = self.config_anywhere()
        return open_explorations(self.environ, config.model_dir, config.model or "")

    def core_files(self) -> CoreFiles:
        """Open the list of files that the user marked as core."""
        from gitrag.memory.core_files import CoreFiles
        from gitrag.memory.projects import home_directory

        return CoreFiles(home_directory(self.environ))

    def config_anywhere(self) -> Config:
        """Read the settings of the repository around the start, or those that apply outside one."""
        try:
            return self.workspace().config
        except RepositoryError:
            return self.config_outside()

    def config_outside(self) -> Config:
        """Read the settings that apply outside a repository: the user's git config, the environment."""
        from gitrag.config.loading import load
        from gitrag.git.configuration import REPOSITORYS_OWN
        from gitrag.git.environment import run_git, scrubbed_environment

        # A repository that gitrag refuses to read may be around, and it is not to name a model or a host.
        asked = ["config", "--null", "--show-scope", "--get-regexp", r"^gitrag\."]
        try:
            done = run_git(asked, cwd=self.start, environment=scrubbed_environment(self.environ))
        except RepositoryError:  # without git there is no git config
            items = []
        else:
            items = os.fsdecode(done.stdout).split("\0")[:-1]
        users = [
            item for scope, item in zip(items[::2], items[1::2], strict=True) if scope not in REPOSITORYS_OWN
        ]
        git = {name: value for name, _, value in (item.partition("\n") for item in users)}
        return load(git=git, team=None, env=self.environ)


pass_session = click.make_pass_decorator(Session)
