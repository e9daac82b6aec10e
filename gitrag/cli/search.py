"""``gitrag search``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from gitrag.actions.requests import HISTORY, SearchCommand
from gitrag.cli.findings import form_of, hits_output_option, json_alias, options
from gitrag.cli.frame import Example, ExampleCommand, command
from gitrag.cli.page import directory_of, globs_from, open_best, print_long, say_revision, show
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, USAGE, UsageError

if TYPE_CHECKING:
    from gitrag.actions.search import SearchOptions
    from gitrag.workspace import Workspace

_STDIN = "-"
_MOST_READ = 100_000
"""Bytes read from stdin: a long bug report."""

_ABOUT_USES = re.compile(
    r"(?:who|what|where)\s+(?:uses|calls|imports|references)\s+`?(?P<name>[\w.:$#/-]+?)`?(?:\(\))?\s*\??",
    re.IGNORECASE,
)
"""A question that is answered by reading all of the code, not by likeness."""


class _Search(ExampleCommand):
    """A command whose option ``--explain`` may have a value, ``all``, but not the next word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        args = ["--explain-all" if each == "--explain=all" else each for each in args[:end]] + args[end:]
        return super().parse_args(ctx, args)


@command(
    "search",
    cls=_Search,
    examples=[
        Example('gitrag search "where are retries with backoff"', "a question in words"),
        Example("gitrag search Session.send", "a definition by its name"),
        Example("gitrag search - < report.md", "a bug report"),
        Example('gitrag search --index "retries"', "in a repository without an index: makes one first"),
        Example('gitrag search --module api "token validation"', "one module of a workspace"),
        Example('gitrag search -c adrs "why postgres"', "one collection"),
        Example('gitrag search -c history "why was python 2 dropped"', "commits: gitrag history"),
        Example("gitrag search --word retry_count", "every line with this word, exactly"),
        Example("gitrag search --regex 'TODO|FIXME' -o vimgrep", "every line that matches, for vim"),
        Example('gitrag search --budget 1000 "retry a request"', "what an agent can read: 1,000 tokens"),
        Example('gitrag search --path "src/**" --lang python routes', "only some of the files"),
        Example('gitrag search --ref v1.2 "retry"', "a tag, a branch, HEAD~3: nothing is checked out"),
        Example('gitrag search --everywhere "rate limiting"', "all repositories of this machine"),
        Example('gitrag search --repo shop --repo "api-*" "stock"', "some of them, by name"),
        Example('gitrag search --dep click "parse an option"', "the source of an installed dependency"),
        Example('gitrag search --open "parse the config"', "the best hit in your editor"),
        Example('vim -q <(gitrag search -o vimgrep "parse the config")', "all hits in vim's list"),
        Example('gitrag search --output text "parse the config" | cat', "compact, for agents"),
        Example('gitrag search --output json "parse the config"', "for programs"),
    ],
)
@click.argument("query", nargs=-1)
@hits_output_option
@json_alias
@options(SearchCommand)
@click.pass_context
@pass_session
def search(
    session: Session,
    context: click.Context,
    *,
    query: tuple[str, ...],
    output: str | None,
    asked: SearchCommand,
) -> int:
    """Search code, decisions, specifications and issues as they are now, uncommitted changes included.

    QUERY is everything that is not an option: a question in words, a name, a bug report; - reads it from
    stdin. Each kind is asked on its own.
    Hits are files, best first, each with its best piece and the lines that say most.

    With --word or --regex it is no question: every line that matches is found, by path and line, in the same
    text. Case matters; (?i) before an expression ignores it. Blank lines never match.

    With --everywhere, --repo, --group or --submodules, several repositories are asked, each its own index, at
    the same time; before each path stands its repository. Those that have not answered are named.
    """
    if not query:
        click.echo(context.get_help(), err=True)
        return USAGE
    asked.checked()
    text = _pasted() if query == (_STDIN,) else " ".join(query)
    if asked.in_hub:
        from gitrag.cli.hub import search_hub

        if output in {"vimgrep", "paths"}:
            raise UsageError(
                f"--output {output} is not for --hub: its files are not here.", "Take text or json."
            )
        return search_hub(session, text, output, asked, asked.scope.names)
    if HISTORY in asked.collections:
        from gitrag.cli.history import search_history

        return search_history(session, text, output, asked)
    if asked.scope:
        from gitrag.cli.several import search_several

        return search_several(session, text, output, asked)
    return _search_here(session, text, output, asked)


def _search_here(session: Session, text: str, output: str | None, asked: SearchCommand) -> int:
    """Ask the repository around."""
    from gitrag.actions import hit_lines, search
    from gitrag.report.parts import notes_of

    terminal = session.terminal
    workspace = session.index_first(session.workspace(auto_index="on" if asked.make_index else None))
    form = form_of(output, workspace.config.output, terminal)
    directory = directory_of(session, workspace)
    with_graph = form in {"markdown", "json"} if asked.with_graph is None else asked.with_graph
    with_graph = with_graph or asked.unfiltered
    limit = hit_lines.PACKED_HITS if asked.budget and not asked.limit else asked.limit
    limits = search.SearchOptions.of(
        asked,
        paths=globs_from(asked.paths, directory),
        directory=directory,
        with_issues=form != "json",
        grouped=form != "json",
        limit=limit,
        soon=terminal.is_interactive and form == "text" and not with_graph,  # which needs all files
    )
    if asked.collections and limits.wanted and limits.wanted.issues:  # asked for by name
        from gitrag.cli.issues import sync_first

        sync_first(session, workspace, text)
    if asked.exact:
        return _exactly(session, workspace, text.rstrip("\r\n"), form, asked, limits)
    answer = hit_lines.within_budget(search.search(workspace, text, limits), asked.budget)
    if asked.in_editor:
        return open_best(session, answer, workspace.repo.root)
    if with_graph:
        from gitrag.actions.graph import graph_of

        drawn = graph_of(
            workspace, answer, limits, unfiltered=asked.unfiltered, asked_for=bool(asked.with_graph)
        )
        answer = replace(answer, graph=drawn)
    show(session, workspace, answer, form, asked)
    say_revision(terminal, asked.ref, answer)
    for note in notes_of(answer):
        terminal.note(note)
    if named := _ABOUT_USES.fullmatch(answer.query.strip()):
        terminal.hint(f"gitrag graph {named['name']} --references lists its callers, and where it is named.")
    return OK if answer.hits else NOTHING


def _exactly(
    session: Session,
    workspace: Workspace,
    text: str,
    form: str,
    asked: SearchCommand,
    limits: SearchOptions,
) -> int:
    """Find lines exactly, and print them, or open the first one."""
    from gitrag.actions import hit_lines
    from gitrag.actions.exact_search import search_exactly
    from gitrag.report import exact
    from gitrag.report.places import as_paths, relative_to
    from gitrag.search.exact import Pattern

    terminal = session.terminal
    found = search_exactly(workspace, Pattern(text, asked.exact == "regex"), limits)
    if asked.in_editor and found.answer.hits:
        return open_best(session, found.answer, workspace.repo.root)
    shown = found.answer
    if asked.full:
        shown = found.marked(hit_lines.with_definitions(workspace, shown))
    elif asked.context_lines is not None:
        shown = found.marked(hit_lines.with_context(workspace, shown, asked.context_lines))
    if form == "json":
        terminal.print_document(found)
    elif not shown.hits:
        terminal.note(exact.nothing_line(found))
    elif form == "markdown":
        terminal.print(exact.exact_markdown(found, shown))
    else:
        places = relative_to(shown, limits.directory)
        if form == "vimgrep":
            lines = exact.exact_vimgrep(found, places)
        elif form == "paths":
            lines = as_paths(places)
        else:
            columns = terminal.width if terminal.is_interactive else None
            gaps = asked.context_lines is not None
            lines = exact.exact_text(found, places, terminal.role, columns=columns, gaps=gaps)
        print_long(session, workspace, lines, paged=not asked.no_pager)
    say_revision(terminal, asked.ref, found.answer)
    for note in exact.exact_notes(found):
        terminal.note(note)
    return OK if shown.hits else NOTHING


def _pasted() -> str:
    """Read a text from stdin, whatever its encoding."""
    return sys.stdin.buffer.read(_MOST_READ).decode("utf-8", "replace") if sys.stdin else ""
