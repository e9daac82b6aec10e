"""How an answer with places in files is shown: parts that several commands share."""

from __future__ import annotations

import os
import posixpath
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.cli import resident
from gitrag.cli.session import Session
from gitrag.cli.terminal import Terminal, safe
from gitrag.errors import NOTHING, OK, UsageError
from gitrag.machine.files import within
from gitrag.words.control_characters import Safe, Text

if TYPE_CHECKING:
    from gitrag.actions.answer import Answer
    from gitrag.actions.requests import SearchCommand
    from gitrag.git.configuration import ConfigEntry
    from gitrag.workspace import Workspace

_USUAL = "less"
_OPTIONS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for a pager where the user does not: less shows colours, and ends at once if all fits."""

_NOT_FOUND = frozenset({126, 127})
"""A shell's exit codes for a command that cannot be run."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def pager_of(environ: Mapping[str, str], entries: Iterable[ConfigEntry]) -> str:
    """Return the pager's command line by git's order; empty for none, as on Windows, where no shell runs it.

    Args:
        environ: The user's environment: GIT_PAGER before core.pager before PAGER.
        entries: git's configuration; what the repository's own says is ignored.
    """
    configured = [each.value for each in entries if each.key == "core.pager" and not each.is_the_repositorys]
    chosen = [environ.get("GIT_PAGER"), *configured[-1:], environ.get("PAGER"), _USUAL]
    pager = next(each for each in chosen if each is not None)
    is_plain = environ.get("TERM", "dumb") == "dumb" or sys.platform == "win32"
    return "" if is_plain or pager in {"", "cat"} else pager


def print_paged(terminal: Terminal, text: Text, pager: str, environ: Mapping[str, str]) -> None:
    """Write a result, through the pager if the terminal cannot show all of it at once.

    Args:
        pager: Its command line, for the shell; empty for none.
    """
    shown = safe(text)
    if (
        not pager
        or _rows(shown, terminal.width) < terminal.height
        or not _ran(shown, pager, environ, terminal)
    ):
        terminal.write(shown)


def _rows(text: Safe, columns: int) -> int:
    return sum(max(len(_ESCAPE.sub("", line)) - 1, 0) // columns + 1 for line in text.split("\n"))


def _ran(text: Safe, pager: str, environ: Mapping[str, str], terminal: Terminal) -> bool:
    """Run the pager to its end; return whether there is such a program."""
    resident.require_terminal()
    terminal.out.flush()
    interrupts = signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is the pager's, as with git
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", pager],
            stdin=subprocess.PIPE,
            env={**_OPTIONS, **environ},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - one thread
        )
        with suppress(BrokenPipeError):  # left before the end
            process.communicate(os.fsencode(text + "\n"))
        return process.wait() not in _NOT_FOUND
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, interrupts)


_SPECIAL = re.compile(r"([\\*?\[\]])")
"""What a directory's name must not mean in a glob."""

_OTHER_LINES = 4
"""Lines of the screen for what stands below an answer: notes, the prompt."""


def globs_from(globs: Sequence[str], directory: str) -> tuple[str, ...]:
    """Return globs that hold from a directory as well as from the top: those with a slash name places.

    A leading slash is the top, a leading ./ or ../ the directory.
    """
    found: list[str] = []
    for glob in globs if directory else ():
        mark, bare = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
        if not bare.startswith("/") and "/" in bare.rstrip("/"):
            here = posixpath.normpath(posixpath.join(_SPECIAL.sub(r"\\\1", directory), bare))
            found.append(f"{mark}/{here}{'/' if bare.endswith('/') else ''}")
    return (*globs, *found)


def directory_of(session: Session, workspace: Workspace) -> str:
    """Return the directory of the command, relative to the worktree's top; empty for the top, or outside."""
    root = workspace.repo.root
    return (within(root, session.start.absolute()) or "") if root is not None else ""


def open_best(session: Session, answer: Answer, root: Path | None = None) -> int:
    """Open the best hit in the user's editor: below a directory, or of one of several repositories."""
    from gitrag.cli.editor import editor_command, open_in_editor
    from gitrag.report.parts import place_of
    from gitrag.report.places import best_lines
    from gitrag.report.text import as_text

    if not answer.hits or (root is None and not answer.asked):
        session.terminal.note(as_text(answer))
        return NOTHING
    best = answer.hits[0]
    path = (root or answer.roots[best.repository]) / best.path
    if root is None and not path.is_file():
        raise UsageError(f"{place_of(best)} is no file on this disk.", "Search without --open to read it.")
    command = editor_command(session.environ, path, best_lines(best)[0].number)
    open_in_editor(command, session.start, session.environ)
    return OK


def say_revision(terminal: Terminal, revision: str | None, answer: Answer) -> None:
    """Say which commit another revision is."""
    if revision is not None:
        terminal.note(f"This is of {revision}: {answer.commit or 'a tree without a commit'}")


def print_long(session: Session, workspace: Workspace | None, text: Text, *, paged: bool) -> None:
    """Print a text, through a pager where it is longer than the terminal."""
    if session.terminal.is_interactive and paged:
        pager = pager_of(session.environ, workspace.repo.configuration.entries() if workspace else ())
        print_paged(session.terminal, text, pager, session.environ)
    else:
        session.terminal.print(text)


def show(
    session: Session, workspace: Workspace | None, answer: Answer, form: str, asked: SearchCommand
) -> None:
    """Write an answer in the form asked for, of a repository, or where that is None of several."""
    from gitrag.actions import hit_lines
    from gitrag.report.markdown import as_markdown
    from gitrag.report.parts import nearest_line
    from gitrag.report.places import as_paths, as_vimgrep, located, relative_to

    terminal = session.terminal
    if form == "json":
        terminal.print_document(answer)
        if answer.hits and (line := nearest_line(answer)):
            terminal.note(f"{line[0].upper()}{line[1:]}; the hits are the nearest.")
        return
    if form == "markdown":
        today = datetime.now().astimezone().date().isoformat()
        text = as_markdown(answer if asked.budget else hit_lines.for_report(answer), date=today)
    elif form == "text" or not answer.hits:
        text = _text(session, workspace, answer, asked)
    elif workspace is None:
        places = located(answer, session.start.absolute())
        text = as_vimgrep(places) if form == "vimgrep" else as_paths(places)
    else:
        places = relative_to(answer, directory_of(session, workspace))
        text = as_vimgrep(places) if form == "vimgrep" else as_paths(places)
    if form in {"vimgrep", "paths"} and not answer.hits:
        terminal.note(text)  # no place: a program that reads places must not take it for one
    else:
        print_long(session, workspace, text, paged=not asked.no_pager)


def _text(session: Session, workspace: Workspace | None, answer: Answer, asked: SearchCommand) -> Text:
    """Return an answer as text: that fits the screen on a terminal, with more of the code in a pipe."""
    from gitrag.actions import hit_lines
    from gitrag.report.places import relative_to
    from gitrag.report.text import as_text

    terminal = session.terminal
    on_screen = terminal.is_interactive
    gaps = asked.context_lines is not None or asked.budget is not None
    if workspace is not None and asked.full:
        answer = hit_lines.with_definitions(workspace, answer)
    elif workspace is not None and asked.context_lines is not None:
        answer = hit_lines.with_context(workspace, answer, asked.context_lines)
    elif not asked.why and not asked.budget:
        answer = hit_lines.with_passages(answer, 0 if on_screen else hit_lines.CODE_CHARACTERS)
    is_long = asked.full or gaps or asked.why or asked.limit or answer.graph is not None
    shown = relative_to(answer, "" if workspace is None else directory_of(session, workspace))
    says_lately = workspace is not None and asked.why == "words"
    return as_text(
        shown,
        terminal.role,
        explain=asked.why,
        lately=_lately(workspace, answer, shown) if workspace is not None and says_lately else None,
        columns=terminal.width if on_screen else None,
        rows=terminal.height - _OTHER_LINES if on_screen and not is_long else None,
        gaps=gaps,
    )


def _lately(workspace: Workspace, answer: Answer, shown: Answer) -> dict[str, str]:
    """Return for each path, as it is shown, which commit changed it last."""
    from gitrag.actions.history import changed_last
    from gitrag.report.commits import changed_last_sentence

    found = changed_last(workspace, answer.commit, [hit.path for hit in answer.hits])
    return {
        each.path: changed_last_sentence(*found[hit.path])
        for hit, each in zip(answer.hits, shown.hits, strict=True)
        if hit.path in found
    }
