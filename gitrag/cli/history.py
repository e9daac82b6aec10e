"""``gitrag history``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from gitrag.cli.findings import FINDING_FORMS, json_alias, output_option, print_finding
from gitrag.cli.frame import Example, command
from gitrag.cli.page import directory_of
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, UsageError

if TYPE_CHECKING:
    from gitrag.actions.history import HistoryOptions
    from gitrag.actions.requests import SearchCommand
    from gitrag.workspace import Workspace

_FORMS = ", ".join(FINDING_FORMS)


@command(
    "history",
    examples=[
        Example('gitrag history "why was python 2 dropped"', "the commits that say so"),
        Example('gitrag history "timeouts" --since 2025-01-01 --path src/net', "of a time, of a folder"),
        Example("gitrag history --touches Session.send", "the newest that changed this definition"),
        Example('gitrag history "async client" --all', "also what no branch has merged yet"),
        Example('gitrag history "memory leak" --author jane --json', "of an author, for a script"),
    ],
)
@click.option("--since", metavar="TIME", help="Committed since then: 2026-01-31, or 30d.")
@click.option("--until", metavar="TIME", help="Committed until then; a date counts to its end.")
@click.option("--author", default="", metavar="NAME", help="Whose author's name has this part.")
@click.option("--path", default="", metavar="PATH", help="That change this file, folder or glob.")
@click.option("--touches", default="", metavar="NAME", help="That change the definition of this name.")
@click.option("--ref", metavar="REV", help="That lead to this revision instead of HEAD.")
@click.option(
    "--all", "all_refs", is_flag=True, help="That lead to any ref or to HEAD, the stash and notes apart."
)
@click.option("-n", "--limit", type=click.IntRange(1, 100), default=10, show_default=True)
@output_option
@json_alias
@click.argument("query", nargs=-1)
@pass_session
def history(
    session: Session,
    *,
    query: tuple[str, ...],
    since: str | None,
    until: str | None,
    author: str,
    path: str,
    touches: str,
    ref: str | None,
    all_refs: bool,
    limit: int,
    output: str | None,
) -> int:
    """Search what commits say: which were made for what QUERY asks.

    Found are commits whose message shares a word with QUERY or is near it in meaning, of the newest 250,000
    that lead to HEAD, or to what --ref or --all says; words and meaning order them. Of a history that has not
    been read, the newest 20,000 are read first; the background reads the others, and until then the answer
    says so. With --touches, git follows the lines of the definition through the history; QUERY may then be
    left out.
    """
    from gitrag.actions.history import HistoryOptions, end_of
    from gitrag.actions.issues import parse_since

    now = datetime.now(UTC)
    first = None if since is None else parse_since(since, now).timestamp()
    last = None if until is None else end_of(until, now).timestamp()
    workspace = session.index_first(session.workspace())
    options = HistoryOptions(
        limit, first, last, author, path, touches, directory_of(session, workspace), ref, all_refs
    )
    return _answer(session, workspace, " ".join(query), options, output)


def search_history(session: Session, query: str, output: str | None, asked: SearchCommand) -> int:
    """Answer ``gitrag search -c history``, with those of its options that histories have too."""
    from gitrag.actions.history import HistoryOptions

    if output not in (None, *FINDING_FORMS):
        raise UsageError(f"--output {output} does not go with -c history.", f"Give one of {_FORMS}.")
    if len(asked.paths) > 1:
        raise UsageError("-c history takes one --path.", "Give one, or a glob such as 'src/**'.")
    workspace = session.index_first(session.workspace(auto_index="on" if asked.make_index else None))
    path, here = "".join(asked.paths), directory_of(session, workspace)
    limit = asked.limit or HistoryOptions().limit
    options = HistoryOptions(limit=limit, path=path, here=here, revision=asked.ref)
    return _answer(session, workspace, query, options, output)


def _answer(
    session: Session, workspace: Workspace, query: str, options: HistoryOptions, output: str | None
) -> int:
    from gitrag.actions.history import history as find
    from gitrag.report.history import as_markdown, as_text

    found = find(workspace, query, options)
    print_finding(
        session.terminal,
        output,
        workspace.config.output,
        text=lambda style: as_text(found, style),
        markdown=lambda: as_markdown(found),
        answer=found,
    )
    return OK if found.matches else NOTHING
