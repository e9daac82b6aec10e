"""Base classes of all commands: lazy loading, and examples in the help."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from gitrag.errors import USAGE
from gitrag.machine.refusals import require_memory

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_WHOLE = 1000
_LINE_COLUMNS = 50
"""Columns, of 80, for an example's command line: a longer one has its explanation below, not beside."""

_EXIT_STATUS = (
    "Exit status: 0 done, 1 nothing found or a check failed, 2 usage, 75 try again, 78 not set up;"
    " gitrag --help has all."
)


class NumberRange(click.FloatRange):
    """A click type for a number in a range; rejects ``nan``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


COMPLETION_VARIABLE = "_GITRAG_COMPLETE"
"""The variable that a shell's completion script sets; see click's documentation on shell completion."""


def _print_json(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given:
        context.obj = context.obj.for_json()


json_option = click.option(
    "--json", is_flag=True, expose_value=False, callback=_print_json, help="Print JSON."
)
"""For commands that can print with `Terminal.answered` instead."""


class LazyCommand(NamedTuple):
    """A command that is not loaded yet.

    Attributes:
        place: ``module:attribute``.
        help: Its short help; the same as the first line of the command's own help.
    """

    place: str
    help: str = ""
    hidden: bool = False

    def load(self) -> click.Command:
        """Import the command."""
        if not self.hidden:
            require_memory()
        module, _, attribute = self.place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


class Example(NamedTuple):
    """A command line to show, and what it does."""

    line: str
    does: str = ""


class _WithExamples(click.Command):
    """A command whose help ends with examples."""

    def __init__(self, *args: Any, examples: Sequence[Example] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.BadOptionUsage as error:  # click does not say whose option it is
            error.ctx = error.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if not isinstance(self, click.Group):
            formatter.write_paragraph()
            formatter.write_text(_EXIT_STATUS)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl([(each.line, each.does) for each in self.examples], col_max=_LINE_COLUMNS)


class ExampleCommand(_WithExamples):
    """A command with examples."""


class ExampleGroup(_WithExamples, click.Group):
    """A group of commands with examples."""

    command_class = ExampleCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("no_args_is_help", False)  # click's own behaviour differs between versions
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which the commands were added."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands, each with its whole first sentence."""
        rows = [
            (name, self.commands[name].get_short_help_str(_WHOLE))
            for name in self.list_commands(ctx)
            if not self.commands[name].hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from difflib import get_close_matches

            close = get_close_matches(name, self.list_commands(ctx), n=1)
            meant = f' Did you mean "{close[0]}"?' if close else ""
            raise click.UsageError(f'There is no command "{name}".{meant}', ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(ExampleGroup):
    """A group that imports a command only to run it or to show its own help."""

    def __init__(self, *args: Any, entries: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names shown in the help, in the order of the table."""
        del ctx
        return [name for name, entry in self.entries.items() if not entry.hidden]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is none of that name."""
        del ctx
        entry = self.entries.get(cmd_name)
        return entry.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.entries[name].help) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without importing any."""
        names = [
            CompletionItem(name, help=self.entries[name].help)
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def command(
    name: str, *, examples: Sequence[Example] = (), **settings: Any
) -> Callable[[Callable[..., Any]], ExampleCommand]:
    """Make a function a command.

    The function returns its exit status, or None for 0, and raises a GitragError on failure.
    """
    settings.setdefault("cls", ExampleCommand)
    return click.command(name, examples=examples, **settings)


def group(
    name: str, *, examples: Sequence[Example] = (), **settings: Any
) -> Callable[[Callable[..., Any]], ExampleGroup]:
    """Make a function a group of commands; see `command`."""
    return click.group(name, cls=ExampleGroup, examples=examples, **settings)
