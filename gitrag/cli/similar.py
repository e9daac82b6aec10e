"""``gitrag similar``."""

from __future__ import annotations

import click

from gitrag.actions.requests import SearchRequest
from gitrag.cli.findings import form_of, hits_output_option, json_alias, options
from gitrag.cli.frame import Example, NumberRange, command
from gitrag.cli.page import directory_of, globs_from, open_best, print_long
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK


@command(
    "similar",
    examples=[
        Example("gitrag similar src/app.py:120", "what is like the code on this line"),
        Example("gitrag similar app.py:100-140", "like these lines; the end of a path is enough"),
        Example("gitrag similar Session.send", "like this definition"),
        Example("gitrag similar app.py:120 --threshold 0.7", "only what does nearly the same"),
        Example("vim -q <(gitrag similar app.py:120 -o vimgrep)", "all of them in vim's list"),
    ],
)
@click.argument("place", metavar="FILE:LINE|NAME")
@hits_output_option
@json_alias
@click.option("-n", "--limit", type=click.IntRange(1, 1000), metavar="N", help="Chunks at most.")
@click.option("--threshold", type=NumberRange(-1, 1), metavar="COSINE", help="Minimum cosine.")
@options(SearchRequest, only=("paths", "languages", "kinds", "committed_only"))
@click.option("--open", "in_editor", is_flag=True, help="Open the nearest in $VISUAL or $EDITOR.")
@click.option("--no-pager", is_flag=True, help="Print a long answer without a pager.")
@pass_session
def similar(
    session: Session,
    *,
    place: str,
    output: str | None,
    limit: int | None,
    threshold: float | None,
    asked: SearchRequest,
    in_editor: bool,
    no_pager: bool,
) -> int:
    """List the code nearest in meaning to a line, a range of lines, a file or a definition.

    Vectors are compared, not words. The number of each hit is the cosine; two definitions of one repository
    seldom have 0.7 or more. Exact copies are named apart.
    """
    from gitrag.actions import hit_lines
    from gitrag.actions.search import SearchOptions
    from gitrag.actions.similar import similar as compare
    from gitrag.embedding.draft import has_table
    from gitrag.indexing.notices import drafts_line
    from gitrag.report import markdown as written
    from gitrag.report.places import as_paths, as_vimgrep, relative_to
    from gitrag.report.text import as_text

    terminal = session.terminal
    workspace = session.index_first(session.workspace())
    form = form_of(output, workspace.config.output, terminal)
    directory = directory_of(session, workspace)
    paths = globs_from(asked.paths, directory)
    limits = SearchOptions.of(asked, limit=limit, paths=paths, directory=directory)
    found = compare(workspace, place, limits, at_least=-1.0 if threshold is None else threshold)
    if in_editor and found.answer.hits:
        return open_best(session, found.answer, workspace.repo.root)
    shown = relative_to(found.answer, directory)
    status = OK if found.answer.hits or found.copies else NOTHING
    if form == "json":
        terminal.print_document(found)
        return status
    if form == "markdown":
        terminal.print(written.similar_markdown(found))
        return status
    terminal.note(f"Similar to {written.place_text(found.place)}")
    on_screen = terminal.is_interactive
    if not found.answer.hits:
        terminal.note(written.NONE)
    elif form == "text":
        shown = shown if on_screen else hit_lines.with_passages(shown)
        columns = terminal.width if on_screen else None
        text = as_text(shown, terminal.role, columns=columns)
        print_long(session, workspace, text, paged=not no_pager)
    else:
        text = as_vimgrep(shown) if form == "vimgrep" else as_paths(shown)
        print_long(session, workspace, text, paged=not no_pager)
    if copies := written.copies_line(found):
        terminal.note(copies)
    if found.drafts:
        terminal.note(drafts_line(found.drafts, drafted=has_table(workspace.model)))
    return status
