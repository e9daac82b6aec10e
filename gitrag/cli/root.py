"""``gitrag``: the options that every command has, and the table of commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from gitrag import __version__
from gitrag.cli.frame import CONTEXT, Example, LazyCommand, LazyGroup
from gitrag.cli.session import Session
from gitrag.cli.terminal import ColorMode, Terminal
from gitrag.errors import NotSetUpError, UsageError

COMMANDS: Mapping[str, LazyCommand] = {
    "init": LazyCommand("gitrag.cli.init:init", "Set a repository up: hooks, .gitignore, first index."),
    "search": LazyCommand(
        "gitrag.cli.search:search",
        "Search code, decisions, specifications and issues as they are now, uncommitted changes included.",
    ),
    "prime": LazyCommand("gitrag.cli.prime:prime", "Say what a session should know at its start."),
    "graph": LazyCommand("gitrag.cli.graph:graph", "Show who calls whom, in the files as they are now."),
    "web": LazyCommand(
        "gitrag.cli.web:web",
        "Open a page of this repository in the browser: search it as you type, and look around.",
    ),
    "ui": LazyCommand(
        "gitrag.cli.ui:ui",
        "Search as you type, in the whole terminal: see what is found, and open it in $VISUAL or $EDITOR.",
    ),
    "similar": LazyCommand(
        "gitrag.cli.similar:similar",
        "List the code nearest in meaning to a line, a range of lines, a file or a definition.",
    ),
    "status": LazyCommand(
        "gitrag.cli.status:status", "Say what is indexed, how fresh, how large, and who is working."
    ),
    "index": LazyCommand(
        "gitrag.cli.index:index", "Bring the index up to date, embed, look at it, remove it."
    ),
    "repos": LazyCommand(
        "gitrag.cli.repos:repos",
        "List the repositories that gitrag knows on this machine, for searches of several.",
    ),
    "gc": LazyCommand("gitrag.cli.gc:gc", "Drop what no branch or worktree needs any more from the index."),
    "share": LazyCommand(
        "gitrag.cli.share:share", "Share vectors with a team, so that each text is embedded once."
    ),
    "hub": LazyCommand("gitrag.cli.hub:hub", "Search an organisation's repositories, kept in PostgreSQL."),
    "issues": LazyCommand(
        "gitrag.cli.issues:issues", "Keep local copies of the tracker's issues, and read them."
    ),
    "mcp": LazyCommand(
        "gitrag.cli.mcp:mcp", "Serve agents: a Model Context Protocol server for this repository."
    ),
    "lsp": LazyCommand(
        "gitrag.cli.lsp:lsp", "Serve an editor: a language server for the repositories that it has open."
    ),
    "agents": LazyCommand(
        "gitrag.cli.agents:agents",
        "Set agents up: Claude Code, Codex, Cursor, VS Code, Gemini, OpenCode and six more.",
    ),
    "explore": LazyCommand(
        "gitrag.cli.explore:explore",
        "Remember what was explored before a change: goals, constraints, decisions.",
    ),
    "core": LazyCommand("gitrag.cli.core:core", "Mark the files that every session should know of."),
    "uninstall": LazyCommand(
        "gitrag.cli.init:uninstall",
        "Take gitrag out of this repository: hooks, files for agents, the line in .gitignore, the index.",
    ),
    "check": LazyCommand(
        "gitrag.cli.check:check",
        "Show which decisions and specifications bear on a file, or check that a push is indexed.",
    ),
    "history": LazyCommand(
        "gitrag.cli.history:history", "Search what commits say: which were made for what QUERY asks."
    ),
    "why": LazyCommand(
        "gitrag.cli.history:why",
        "Say why lines are as they are: which commits made them so, and for what reason.",
    ),
    "measure": LazyCommand(
        "gitrag.cli.history:measure",
        "Measure how well files are found in this repository, by its own history.",
    ),
    "impact": LazyCommand("gitrag.cli.impact:impact", "Say what a change may break, and what it forgets."),
    "related": LazyCommand(
        "gitrag.cli.check:related",
        "Find what already exists: related to a text, a duplicate of it, or similar to what a change adds.",
    ),
    "model": LazyCommand("gitrag.cli.model:model", "Fetch the embedding model, or show its state."),
    "doctor": LazyCommand(
        "gitrag.cli.doctor:doctor", "Check everything gitrag depends on, and say how to fix what is wrong."
    ),
    "hooks": LazyCommand("gitrag.cli.hooks:hooks", "Install, remove or inspect the git hooks."),
    "config": LazyCommand("gitrag.cli.config:config", "List every setting, its value and its origin."),
    "schema": LazyCommand(
        "gitrag.cli.schema:schema", "Print the JSON Schema of what a command prints with --json."
    ),
    "completion": LazyCommand("gitrag.cli.completion:completion", "Print the completion script of a shell."),
    "hook": LazyCommand("gitrag.cli.hook:hook", hidden=True),
}
"""Every command, in the order help shows them. Nothing is imported before it is asked for."""

EXIT_CODES = """\b
Exit status:
  0   done
  1   nothing found, or a check failed
  2   the command line or a setting is wrong
  3   a push is stopped (check --push, setting pre_push block)
  70  a bug in gitrag
  75  busy, or no network: try again
  78  not set up: no repository, no index, a prerequisite is missing
  130 interrupted
"""
"""What scripts may rely on; as in `gitrag.errors`."""


@click.group(
    "gitrag",
    cls=LazyGroup,
    entries=COMMANDS,
    context_settings=CONTEXT,
    epilog=EXIT_CODES,
    examples=[
        Example("gitrag init", "set this repository up"),
        Example('gitrag search "where are retries with backoff"', "ask a question"),
        Example("gitrag -C ../other config", "the settings of another repository"),
        Example("gitrag COMMAND --help", "what a command takes, with examples"),
    ],
)
@click.option("-C", "place", metavar="PATH", help="Run as if started in PATH.")
@click.option(
    "--color",
    type=click.Choice([mode.value for mode in ColorMode]),
    default=ColorMode.AUTO.value,
    show_default=True,
    help="Colour: auto colours terminals, and minds NO_COLOR and FORCE_COLOR.",
)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="gitrag")
@click.pass_context
def root(ctx: click.Context, place: str | None, color: str) -> None:
    """A search index that lives in a git repository and is always right about it."""
    environ: Mapping[str, str] = ctx.obj
    try:
        start = Path.cwd() / (place or "")
    except OSError as error:
        raise NotSetUpError("The current directory is no longer there.", "Go into another one.") from error
    if not os.path.isdir(start):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
        raise UsageError(f"-C {place}: there is no such directory.", "Give an existing directory.")
    ctx.obj = Session(start, environ, Terminal.standard(ColorMode(color), environ))
