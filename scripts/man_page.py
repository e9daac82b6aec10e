"""The man page, made from the commands' help: ``python scripts/man_page.py > docs/gitrag.1``.

The wheel has it as ``share/man/man1/gitrag.1``: git asks man for ``gitrag``, not for ``git-gitrag``, where a
command's name begins with ``git``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc

import click

from gitrag.cli.frame import ExampleCommand, ExampleGroup
from gitrag.cli.root import COMMANDS, EXIT_CODES, root

_OPENING = """\
A search index that lives in a git repository and is always right about it. "git gitrag" and "gitrag" are the
same command. "git gitrag -h" prints a short help, "gitrag COMMAND --help" that of a command."""


def man_page() -> str:
    """Return the page, as roff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.\\" Made by scripts/man_page.py from the help of the commands.'
    yield '.TH GITRAG 1 "" "gitrag" "gitrag"'  # without a version, which would have to be kept up to date
    yield from (".nh", ".ad l")
    yield ".SH NAME"
    yield f"gitrag, git\\-gitrag \\- {_escaped(_first_line(root).lower().rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield ".B gitrag"
    yield "[OPTIONS] COMMAND [ARGS]..."
    yield from (".SH DESCRIPTION", *_paragraphs(_OPENING))
    yield from (".SH OPTIONS", *_options(root, click.Context(root, info_name="gitrag")))
    yield ".SH COMMANDS"
    for name, entry in COMMANDS.items():
        if not entry.hidden:
            yield from _command(f"gitrag {name}", entry.load())
    yield ".SH EXIT STATUS"
    for code, meaning in re.findall(r"(?m)^  (\d+) +(.+)$", EXIT_CODES):
        yield from (".TP", f".B {code}", _escaped(meaning))
    yield from (".SH SEE ALSO", ".BR git (1)")


def _command(path: str, command: click.Command) -> Iterator[str]:
    """Yield the section of a command, and those of its own commands."""
    context = click.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {_escaped(path)} {_escaped(usage)}".rstrip()
    yield from _paragraphs(cleandoc(command.help or ""))
    yield from _options(command, context)
    if isinstance(command, ExampleCommand | ExampleGroup) and command.examples:
        yield from (".PP", "Examples:")
        for example in command.examples:
            yield from (".TP", f".B {_escaped(example.line)}", _escaped(example.does) or "\\&")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            if subcommand is not None and not subcommand.hidden:
                yield from _command(f"{path} {name}", subcommand)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record is not None and "--help" not in option.opts:
            yield from (".TP", f".B {_escaped(record[0])}", _escaped(record[1]) or "\\&")


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        yield from (".PP", _escaped(" ".join(paragraph.split())))


def _first_line(command: click.Command) -> str:
    return cleandoc(command.help or "").split("\n", maxsplit=1)[0]


def _escaped(text: str) -> str:
    """Return text as roff prints it: hyphens that can be copied, nothing taken for a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    plain = plain.replace('"', "\\(dq")  # a macro would take it for a quote of its own
    plain = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in plain)
    return f"\\&{plain}" if plain.startswith(".") else plain


if __name__ == "__main__":
    sys.stdout.write(man_page())
