"""``gitrag search --word`` and ``--regex``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitrag.cli.page import Page, open_best, print_long, say_revision, styler
from gitrag.cli.session import Session
from gitrag.errors import NOTHING, OK

if TYPE_CHECKING:
    from gitrag.actions.search import SearchOptions
    from gitrag.workspace import Workspace


def exactly(
    session: Session,
    workspace: Workspace,
    text: str,
    limits: SearchOptions,
    page: Page,
) -> int:
    """Find lines exactly, and print them, or open the first one."""
    from gitrag import report
    from gitrag.actions import hit_lines
    from gitrag.actions.exact_search import search_exactly
    from gitrag.report import exact
    from gitrag.search.exact import Pattern

    terminal = session.terminal
    asked = page.asked
    found = search_exactly(workspace, Pattern(text, asked.exact == "regex"), limits)
    if asked.in_editor and found.answer.hits:
        return open_best(session, workspace, found.answer)
    shown = found.answer
    if asked.full:
        shown = found.marked(hit_lines.with_definitions(workspace, shown))
    elif asked.context_lines is not None:
        shown = found.marked(hit_lines.with_context(workspace, shown, asked.context_lines))
    if page.form == "json":
        terminal.print_document(exact.exact_document(found))
    elif not shown.hits:
        terminal.note(exact.nothing_line(found))
    elif page.form == "markdown":
        terminal.print(exact.exact_markdown(found, shown))
    else:
        places = report.relative_to(shown, page.directory)
        if page.form == "vimgrep":
            lines = exact.exact_vimgrep(found, places)
        elif page.form == "paths":
            lines = report.as_paths(places)
        else:
            columns = terminal.width if terminal.is_interactive else None
            gaps = asked.context_lines is not None
            lines = exact.exact_text(found, places, styler(terminal), columns=columns, gaps=gaps)
        print_long(session, workspace, lines, paged=not asked.no_pager)
    say_revision(terminal, asked.ref, found.answer)
    for note in exact.exact_notes(found):
        terminal.note(note)
    return OK if shown.hits else NOTHING
