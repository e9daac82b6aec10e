"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from gitrag.cli.exit_codes import INTERRUPTED
from gitrag.cli.frame import COMPLETION_VARIABLE
from gitrag.cli.root import root
from gitrag.cli.session import Session
from gitrag.cli.terminal import ColorMode, Terminal, discard
from gitrag.errors import BUG, OK, GitragError, NotSetUpError
from gitrag.machine.refusals import refusal
from gitrag.words.control_characters import Text

PIPE_CLOSED = 141  # 128 + SIGPIPE


def run(args: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a command line and return its exit status; report any error on stderr."""
    _fill_missing_streams()
    if COMPLETION_VARIABLE in environ:
        root.main(list(args), "gitrag", complete_var=COMPLETION_VARIABLE, obj=environ)
    for stream in (sys.stdout, sys.stderr):
        # A file name or terminal that is not UTF-8 must not cause an encoding error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    status = _run(args, environ)
    try:
        sys.stdout.flush()
    except OSError:  # reported already; flushing the rest must not fail again when the interpreter exits
        discard(sys.stdout)
    return status


def _run(args: Sequence[str], environ: Mapping[str, str]) -> int:
    context: click.Context | None = None
    try:
        context = root.make_context("gitrag", list(args), obj=environ)
        with context:
            status = root.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return _flushed(error.exit_code)
    except BrokenPipeError:
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        _terminal(context, environ).note("")
        return INTERRUPTED
    except click.ClickException as error:
        return _tell_usage(error, _terminal(context, environ))
    except GitragError as error:
        return _tell(error, _terminal(context, environ))
    except ImportError as error:
        return _tell_import(error, _terminal(context, environ), _start(context), environ)
    except Exception as error:  # noqa: BLE001  # the boundary: any other exception is a bug, and is logged
        if refused := refusal(error):
            return _tell(refused, _terminal(context, environ))
        return _tell_bug(error, _terminal(context, environ), _start(context), environ)
    return status if isinstance(status, int) else OK


def _fill_missing_streams() -> None:
    """Open the null device for each closed standard stream, else another file would take its number."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            setattr(sys, name, os.fdopen(descriptor, mode))


def _tell(error: GitragError, terminal: Terminal) -> int:
    terminal.error(str(error))
    if error.hint:
        terminal.hint(error.hint)
    return error.exit_code


def _tell_usage(error: click.ClickException, terminal: Terminal) -> int:
    terminal.error(" ".join(error.format_message().split()))
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "gitrag"
        terminal.hint(f"{path} --help")
    return error.exit_code


def _tell_import(error: ImportError, terminal: Terminal, start: Path, environ: Mapping[str, str]) -> int:
    if (error.name or "").partition(".")[0] == "gitrag":
        return _tell_bug(error, terminal, start, environ)
    if refused := refusal(error):
        return _tell(refused, terminal)
    from gitrag.machine.prerequisites import REINSTALL

    missing = NotSetUpError(f"A package that gitrag needs cannot be loaded: {error}.", REINSTALL)
    return _tell(missing, terminal)


def _tell_bug(error: Exception, terminal: Terminal, start: Path, environ: Mapping[str, str]) -> int:
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    terminal.error(f"gitrag hit a bug: {what}")
    path = _write_log(error, start, environ)
    if path:
        terminal.hint(f"the traceback is in {path}; please report it")
    else:
        import traceback

        terminal.note(Text("".join(traceback.format_exception(error)).rstrip()))
    return BUG


def _write_log(error: Exception, start: Path, environ: Mapping[str, str]) -> Path | None:
    """Write the traceback to the repository's log, or the user's; return where, or None."""
    from gitrag.machine.log import NAME, close_log, open_log

    for directory in _log_directories(start, environ):
        try:
            log = open_log(directory)
        except OSError:
            continue
        log.error("a bug in: gitrag %s", " ".join(sys.argv[1:2]), exc_info=error)
        close_log()
        return directory / NAME
    return None


def _log_directories(start: Path, environ: Mapping[str, str]) -> list[Path]:
    import platformdirs

    from gitrag.git import Repository

    directories = [platformdirs.user_state_path("gitrag")]
    with suppress(GitragError, ImportError):  # outside a repository: the user's
        directories.insert(0, Repository.discover(start, environ).store_directory)
    return directories


def _terminal(context: click.Context | None, environ: Mapping[str, str]) -> Terminal:
    if context is not None and isinstance(context.obj, Session):
        return context.obj.terminal
    return Terminal.standard(ColorMode.AUTO, environ)


def _start(context: click.Context | None) -> Path:
    if context is not None and isinstance(context.obj, Session):
        return context.obj.start
    return Path(os.devnull)  # without the start directory no repository can be found


def _flushed(status: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return PIPE_CLOSED
    return status
