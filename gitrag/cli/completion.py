"""``gitrag completion``: the script a shell completes commands and options with."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from gitrag.cli.frame import COMPLETION_VARIABLE, Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.words.control_characters import Text


@command(
    "completion",
    examples=[
        Example('eval "$(gitrag completion bash)"', "in ~/.bashrc"),
        Example('eval "$(gitrag completion zsh)"', "in ~/.zshrc, after compinit"),
        Example("gitrag completion fish > ~/.config/fish/completions/gitrag.fish", "once"),
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
@pass_session
def completion(session: Session, ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"This click completes nothing for {shell}.", ctx)
    source = made(ctx.find_root().command, {}, "gitrag", COMPLETION_VARIABLE).source()
    session.terminal.print(Text(source.rstrip()))
