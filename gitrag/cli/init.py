"""``gitrag init``."""

from __future__ import annotations

from contextlib import suppress

import click

from gitrag.cli.frame import Example, command
from gitrag.cli.index import embed_waiting, update_text
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK, StoreError
from gitrag.store.connection import StoreMissingError
from gitrag.words.numbers import count


@command(
    "init",
    examples=[
        Example("gitrag init", "all of it; vectors follow in the background"),
        Example("gitrag init --foreground", "wait for the vectors too"),
        Example("gitrag init --no-hooks", "leave git's hooks alone; searches catch up by themselves"),
        Example("gitrag init --agents", "show what would be written for the agents used here"),
        Example("gitrag init --agents claude --write", "write it"),
        Example("gitrag init --agents all --remove", "take it all out again"),
    ],
)
@click.option("--hooks/--no-hooks", default=True, help="Install the git hooks.  [default: hooks]")
@click.option("--foreground", is_flag=True, help="Compute the vectors here, with a progress bar.")
@click.option("--skip-embed", is_flag=True, help="Compute no vectors now.")
@click.option(
    "--agents",
    is_flag=False,
    flag_value="",
    multiple=True,
    metavar="[NAME]",
    help="Only set agents up: claude, codex, cursor, vscode, gemini, opencode or all; else those used here.",
)
@click.option("--http", metavar="URL", help="With --agents: the address of `gitrag mcp --http` to use.")
@click.option("--token-env", metavar="NAME", help="With --http: the environment variable with its token.")
@click.option("--write", is_flag=True, help="With --agents: write what else is only shown.")
@click.option("--remove", is_flag=True, help="With --agents: take out what was written.")
@pass_session
def init(
    session: Session,
    *,
    hooks: bool,
    foreground: bool,
    skip_embed: bool,
    agents: tuple[str, ...],
    http: str | None,
    token_env: str | None,
    write: bool,
    remove: bool,
) -> int:
    """Set a repository up: hooks, .gitignore, first index.

    Prerequisites are checked first: nothing is written when one is missing. The hooks keep the index up to
    date; .sdd/ is kept out of git. Running it again changes nothing more.

    With --agents, nothing of this is done: it is for the agents' own files, which are shown first.
    """
    if agents or write or remove or http or token_env:
        from gitrag.cli.agents import set_up

        return set_up(session, agents, write=write, remove=remove, http=http, token_env=token_env)
    from gitrag.actions.gitignore_entry import ignore_local_files
    from gitrag.hooking.install import install
    from gitrag.hooking.status import HookState
    from gitrag.machine import prerequisites

    terminal = session.terminal
    prerequisites.require([prerequisites.check_git(session.environ), prerequisites.check_packages()])
    workspace = session.workspace()
    prerequisites.require([prerequisites.check_writable(workspace.store.directory)])
    with suppress(StoreMissingError), workspace.store.read():
        pass  # raises for an index of a newer gitrag or a locked one, before anything is written

    if hooks:
        reports = install(workspace.repo)
        good = [report for report in reports if report.state is HookState.INSTALLED]
        terminal.print(f"Hooks: {', '.join(report.name for report in good) or 'none installed'}")
        if len(good) < len(reports):
            foreign = len(reports) - len(good)
            terminal.warn(
                f"{count(foreign, 'hook')} {'is' if foreign == 1 else 'are'} not gitrag's to change."
            )
            terminal.hint("`gitrag hooks status` says why, and what to add.")
    if workspace.repo.root is not None:
        try:
            done = ignore_local_files(workspace.repo.root)
        except StoreError as error:
            terminal.warn(f"{error} {error.hint}")
        else:
            terminal.print(f".gitignore: .sdd/ {'added' if done else 'is in it'}")

    workspace.repo.refresh_index()
    waiting = update_text(session, workspace)
    if waiting and skip_embed:
        terminal.print("Embed skipped per --skip-embed flag")
    elif waiting:
        embed_waiting(session, workspace, waiting, foreground=foreground)
    terminal.print()
    terminal.print('Next: gitrag search "where is …"')
    terminal.print("      gitrag status   how far the vectors are, and what was left out")
    return OK
