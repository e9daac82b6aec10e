"""How an answer with places in files is shown: parts that several commands share."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitrag.cli.pager import pager_of, print_paged
from gitrag.cli.session import Session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK
from gitrag.machine.files import within
from gitrag.words.control_characters import Text

if TYPE_CHECKING:
    from gitrag.actions.search import Answer
    from gitrag.report import Style
    from gitrag.workspace import Workspace

_SPECIAL = re.compile(r"([\\*?\[\]])")
"""What a directory's name must not mean in a glob."""

_STYLES = {
    "title": ("bold", "underline"),
    "path": ("bold", "magenta"),
    "number": ("dim",),
    "name": ("bold",),
    "score": ("green",),
    "match": (),
    "word": ("bold", "red"),  # as grep's: readable on dark and on light
    "dim": ("dim",),
}


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


def open_best(session: Session, workspace: Workspace, answer: Answer) -> int:
    """Open the best hit in the user's editor."""
    from gitrag import report
    from gitrag.cli.editor import editor_command, open_in_editor

    root = workspace.repo.root
    if not answer.hits or root is None:
        session.terminal.note(report.as_text(answer))
        return NOTHING
    best = answer.hits[0]
    command = editor_command(session.environ, root / best.path, report.best_lines(best)[0].number)
    open_in_editor(command, session.start, session.environ)
    return OK


def say_revision(terminal: Terminal, revision: str | None, answer: Answer) -> None:
    """Say which commit another revision is."""
    if revision is not None:
        terminal.note(f"This is of {revision}: {answer.commit or 'a tree without a commit'}")


def print_long(session: Session, workspace: Workspace, text: Text, *, paged: bool) -> None:
    """Print a text, through a pager where it is longer than the terminal."""
    if session.terminal.is_interactive and paged:
        pager = pager_of(session.environ, workspace.repo.configuration.entries())
        print_paged(session.terminal, text, pager, session.environ)
    else:
        session.terminal.print(text)


def styler(terminal: Terminal) -> Style:
    """Return what applies the style of a role to a text."""
    return lambda text, role: terminal.style(text, *_STYLES[role])
