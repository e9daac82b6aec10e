"""What every command is given: where it runs, its environment, and the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitrag.cli.terminal import Terminal

if TYPE_CHECKING:
    from gitrag.app import App
    from gitrag.git import Repository


@dataclass(frozen=True, slots=True)
class Session:
    """One run of the command line.

    Attributes:
        start: The directory it was started in, or ``-C``.
        environ: Its environment.
        terminal: Where results, notes and progress go.
    """

    start: Path
    environ: Mapping[str, str]
    terminal: Terminal

    def repository(self) -> Repository:
        """Find the repository around the start.

        Raises:
            RepositoryError: There is none, or it cannot be read.
        """
        from gitrag.git import Repository

        return Repository.discover(self.start, self.environ)

    def app(self, **flags: object) -> App:
        """Open gitrag on the repository around the start, and say what is odd about its settings.

        Args:
            flags: Settings from the command line, by key; None where not given.

        Raises:
            RepositoryError: There is no repository, or it cannot be read.
            ConfigError: A setting is wrong.
        """
        from gitrag.app import App

        app = App.open(self.start, environ=self.environ, flags=flags, say=self.terminal.note)
        for warning in app.config.warnings:
            self.terminal.warn(warning)
        return app


pass_session = click.make_pass_decorator(Session)
