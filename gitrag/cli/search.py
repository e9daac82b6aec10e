"""``gitrag search``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gitrag.actions.repositories.scope import Scope
from gitrag.cli.findings import (
    form_of,
    hits_output_option,
    json_alias,
    kind_option,
    language_option,
    path_option,
    several_options,
)
from gitrag.cli.frame import Example, ExampleCommand, NumberRange, command
from gitrag.cli.page import Page, directory_of, globs_from, open_best, print_long, say_revision, styler
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, USAGE, UsageError
from gitrag.words.control_characters import Text

if TYPE_CHECKING:
    from gitrag.actions.search import Answer
    from gitrag.model import CallGraph
    from gitrag.workspace import Workspace

_STDIN = "-"
_OTHER_LINES = 4
"""Lines of the screen for what stands below an answer: notes, the prompt."""

_MOST_HITS = 1_000
_FOR_QUESTIONS = {
    "min_score": "--min-score",
    "every_chunk": "--every-chunk",
    "explain": "--explain",
    "explain_all": "--explain=all",
    "with_graph": "--graph",
    "unfiltered": "--unfiltered",
}
"""Options that an exact search has no use for."""

_OF_SEVERAL = {
    "everywhere": "--everywhere",
    "repositories": "--repo",
    "groups": "--group",
    "submodules": "--submodules",
    "git_urls": "--git-url",
    "dependencies": "--dep",
}
_OF_ONE = {
    "word": "--word",
    "regex": "--regex",
    "revision": "--ref",
    "context_lines": "--context",
    "full": "--full",
    "make_index": "--index",
    "with_graph": "--graph",
    "unfiltered": "--unfiltered",
}
"""Options that ask several repositories, and those that are for one."""

_NOT_IN_A_HUB = {
    **{name: option for name, option in _FOR_QUESTIONS.items() if name != "min_score"},
    "word": "--word",
    "regex": "--regex",
    "collections": "--collection",
    "module": "--module",
    "kinds": "--kind",
    "revision": "--ref",
    "context_lines": "--context",
    "full": "--full",
    "in_editor": "--open",
    "make_index": "--index",
    "everywhere": "--everywhere",
    "groups": "--group",
    "submodules": "--submodules",
    "git_urls": "--git-url",
    "dependencies": "--dep",
}
"""Options that a search in a hub does not take."""

_HISTORY = "history"
"""The collection of commits, which `gitrag history` searches."""

_IN_A_HISTORY = {
    "query",
    "output",
    "limit",
    "collections",
    "globs",
    "revision",
    "no_pager",
    "make_index",
}
"""Options that a search of it takes."""

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
@click.option("--word", is_flag=True, help="Every line that has QUERY as whole words; case matters.")
@click.option("--regex", is_flag=True, help="Every line that QUERY, a regular expression (RE2), matches.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Hits of each kind at most; with --word and --regex, lines (200).",
)
@click.option("--min-score", type=NumberRange(0, 1), metavar="SCORE", help="Leave out hits below this.")
@click.option(
    "-c",
    "--collection",
    "collections",
    multiple=True,
    metavar="NAME",
    help="Only this collection, or all of this kind; history: commits.",
)
@click.option("--module", metavar="NAME", help="Only the collections of this module of the workspace.")
@path_option
@language_option
@kind_option
@click.option("--every-chunk", is_flag=True, help="Every chunk on its own, not one hit a file.")
@click.option("--committed", is_flag=True, help="Leave uncommitted changes out.")
@click.option(
    "--ref", "revision", metavar="REV", help="Search this commit, branch or tag, checked out or not."
)
@click.option("--hub", "in_hub", is_flag=True, help="Search the repositories of the hub: gitrag hub search.")
@click.option(
    "--context",
    "context_lines",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="N lines around those that match.",
)
@click.option("--full", is_flag=True, help="The whole function or class of each hit.")
@click.option("--open", "in_editor", is_flag=True, help="Open the best hit in $VISUAL or $EDITOR.")
@click.option("--no-pager", is_flag=True, help="Print a long answer without a pager.")
@several_options
@click.option("--index", "make_index", is_flag=True, help="Index the repository first if it never was.")
@click.option("--explain", is_flag=True, help="Say in words why each file was found; --explain=all: numbers.")
@click.option("--explain-all", is_flag=True, hidden=True)
@click.option(
    "--graph/--no-graph",
    "with_graph",
    default=None,
    help="Draw the calls around all hits; by default around likely ones, in Markdown and JSON.",
)
@click.option("--unfiltered", is_flag=True, help="Draw all calls, not only those around what is found.")
@click.pass_context
@pass_session
def search(
    session: Session,
    context: click.Context,
    *,
    query: tuple[str, ...],
    output: str | None,
    word: bool,
    regex: bool,
    limit: int | None,
    min_score: float | None,
    collections: tuple[str, ...],
    module: str | None,
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    kinds: tuple[str, ...],
    every_chunk: bool,
    committed: bool,
    revision: str | None,
    in_hub: bool,
    context_lines: int | None,
    full: bool,
    in_editor: bool,
    no_pager: bool,
    make_index: bool,
    explain: bool,
    explain_all: bool,
    with_graph: bool | None,
    unfiltered: bool,
    everywhere: bool,
    repositories: tuple[str, ...],
    groups: tuple[str, ...],
    submodules: bool,
    git_urls: tuple[str, ...],
    dependencies: tuple[str, ...],
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
    _require_sense(context.params)
    text = _pasted() if query == (_STDIN,) else " ".join(query)
    if in_hub or _HISTORY in collections:
        return _search_hub(session, context, text) if in_hub else _search_history(session, context, text)
    scope = Scope(everywhere, repositories, groups, submodules, git_urls, dependencies)
    if scope:
        from gitrag.cli.several import Asking, search_several

        return search_several(session, scope, text, Asking.of(context.params))
    is_exact = word or regex
    from gitrag import report
    from gitrag.actions import search
    from gitrag.search.language_filter import language_named
    from gitrag.search.sections import Wanted
    from gitrag.store.candidates import Filters

    terminal = session.terminal
    workspace = session.index_first(session.workspace(auto_index="on" if make_index else None))
    form = form_of(output, workspace.config.output, terminal)
    directory = directory_of(session, workspace)
    globs = globs_from(globs, directory)
    with_issues = form != "json" and not is_exact
    wanted = Wanted.of(collections, module or "", with_issues=with_issues)
    if collections and wanted.issues:  # asked for by name
        from gitrag.cli.issues import sync_first

        sync_first(session, workspace, text)
    options = search.SearchOptions(
        filters=Filters(kinds, tuple(language_named(name) for name in languages), globs),
        wanted=wanted,
        limit=limit,
        min_score=min_score,
        every_chunk=every_chunk,
        committed_only=committed,
        revision=revision,
        directory=directory,
        grouped=form != "json" and not every_chunk,
    )
    if is_exact:
        from gitrag.cli.exact_search import exactly

        page = Page(form, directory, full, context_lines, "", long=True, paged=not no_pager)
        return exactly(session, workspace, (text.rstrip("\r\n"), regex), options, page, in_editor=in_editor)
    answer = search.search(workspace, text, options)
    if in_editor:
        return open_best(session, workspace, answer)
    graph = None
    if unfiltered or (form in {"markdown", "json"} if with_graph is None else with_graph):
        from gitrag.actions.graph import graph_of

        graph = graph_of(
            workspace,
            answer,
            globs=globs,
            module=module or "",
            unfiltered=unfiltered,
            asked_for=bool(with_graph),
        )
    why = "all" if explain_all else "words" if explain else ""
    page = Page(form, directory, full, context_lines, why, long=bool(limit), paged=not no_pager)
    _show(session, workspace, answer, graph, page)
    say_revision(terminal, revision, answer)
    for note in report.notes_of(answer):
        terminal.note(note)
    if asked := _ABOUT_USES.fullmatch(answer.query.strip()):
        terminal.hint(f"gitrag graph {asked['name']} --references lists its callers, and where it is named.")
    return OK if answer.hits else NOTHING


def _search_hub(session: Session, context: click.Context, text: str) -> int:
    """Answer ``--hub``."""
    from gitrag.cli.hub import search_hub

    asked = context.params
    _require_sense_in_a_hub(asked)
    taken = ("repositories", "limit", "min_score", "globs", "languages")
    return search_hub(session, text, asked["output"], **{name: asked[name] for name in taken})


def _search_history(session: Session, context: click.Context, text: str) -> int:
    """Answer ``-c history``."""
    from gitrag.cli.history import search_history

    asked = context.params
    _require_sense_in_a_history(context)
    taken = ("limit", "globs", "revision", "make_index")
    return search_history(session, text, asked["output"], **{name: asked[name] for name in taken})


def _require_sense_in_a_history(context: click.Context) -> None:
    """Refuse what a search of commits does not take.

    Raises:
        UsageError: It is asked with something else.
    """
    others = [each for each in context.params["collections"] if each != _HISTORY]
    if others:
        raise UsageError(
            f"-c history and -c {others[0]} cannot be searched together.",
            "Commits are answered apart: ask twice.",
        )
    for param in context.command.params:
        is_given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if is_given and param.name not in _IN_A_HISTORY:
            raise UsageError(
                f"{param.opts[-1]} does not go with -c history.",
                "`gitrag history --help` lists the options of commits.",
            )


def _require_sense(asked: Mapping[str, Any]) -> None:
    """Refuse options that exclude each other.

    Raises:
        UsageError: Some do.
    """
    _require_one(asked)
    if asked["context_lines"] is not None and asked["full"]:
        raise UsageError("--context and --full exclude each other.", "Give one of them.")
    if asked["in_editor"] and asked["revision"] is not None:
        raise UsageError(
            "--open opens files of the working tree; --ref searches others.", "Leave out one of them."
        )
    if asked["word"] and asked["regex"]:
        raise UsageError("--word and --regex exclude each other.", "Give one of them.")
    if asked["word"] or asked["regex"]:
        for name, option in _FOR_QUESTIONS.items():
            if asked[name]:
                raise UsageError(f"{option} is for questions, not for --word or --regex.", "Leave it out.")
    elif asked["limit"] is not None and asked["limit"] > _MOST_HITS:
        raise UsageError(
            f"A question has {_MOST_HITS:,} hits at most, not {asked['limit']:,}.", "Give a smaller --limit."
        )


def _require_one(asked: Mapping[str, Any]) -> None:
    """Refuse options for one repository where several are asked."""
    several = [option for name, option in _OF_SEVERAL.items() if asked[name]]
    given = [
        option for name, option in _OF_ONE.items() if asked[name] is not None and asked[name] is not False
    ]
    if several and given:
        raise UsageError(
            f"{given[0]} is for one repository, and {several[0]} asks several.", "Leave out one of them."
        )


def _require_sense_in_a_hub(asked: Mapping[str, Any]) -> None:
    """Refuse options that a search in a hub does not take.

    Raises:
        UsageError: There is one.
    """
    for name, option in _NOT_IN_A_HUB.items():
        if asked[name]:
            raise UsageError(f"{option} is not for --hub.", "Leave it out, or search here.")
    if asked["output"] in {"vimgrep", "paths"}:
        raise UsageError(
            f"--output {asked['output']} is not for --hub: its files are not here.", "Take text or json."
        )


def _show(
    session: Session, workspace: Workspace, answer: Answer, graph: CallGraph | None, page: Page
) -> None:
    """Write an answer in the form asked for."""
    from gitrag import report
    from gitrag.actions import hit_lines

    terminal = session.terminal
    shown = hit_lines.for_report(answer)
    if page.form == "json":
        terminal.print_json_text(report.as_json(answer, graph))
        if answer.hits and (line := report.nearest_line(shown)):
            terminal.note(f"{line[0].upper()}{line[1:]}; the hits are the nearest.")
        return
    if page.form == "markdown":
        today = datetime.now().astimezone().date().isoformat()
        text = report.as_markdown(shown, graph, date=today)
    elif page.form == "text" or not answer.hits:
        text = _text(terminal, workspace, answer, graph, page)
    else:
        places = report.relative_to(answer, page.directory)
        text = report.as_vimgrep(places) if page.form == "vimgrep" else report.as_paths(places)
    if page.form in {"vimgrep", "paths"} and not answer.hits:
        terminal.note(text)  # no place: a program that reads places must not take it for one
    else:
        print_long(session, workspace, text, paged=page.paged)


def _text(
    terminal: Terminal, workspace: Workspace, answer: Answer, graph: CallGraph | None, page: Page
) -> Text:
    """Return an answer as text: that fits the screen on a terminal, with more of the code in a pipe."""
    from gitrag import report
    from gitrag.actions import hit_lines

    on_screen = terminal.is_interactive
    more = page.full or page.around is not None
    if page.full:
        answer = hit_lines.with_definitions(workspace, answer)
    elif page.around is not None:
        answer = hit_lines.with_context(workspace, answer, page.around)
    elif not page.explain:
        answer = hit_lines.with_passages(answer, 0 if on_screen else hit_lines.CODE_CHARACTERS)
    fits = on_screen and not (more or page.explain or page.long or graph is not None)
    shown = report.relative_to(answer, page.directory)
    return report.as_text(
        shown,
        styler(terminal),
        explain=page.explain,
        lately=_lately(workspace, answer, shown) if page.explain == "words" else None,
        columns=terminal.width if on_screen else None,
        rows=terminal.height - _OTHER_LINES if fits else None,
        gaps=page.around is not None,
        graph=graph,
    )


def _lately(workspace: Workspace, answer: Answer, shown: Answer) -> dict[str, str]:
    """Return for each path, as it is shown, which commit changed it last."""
    from gitrag.actions.history import changed_last
    from gitrag.report.history import changed_last_sentence

    found = changed_last(workspace, answer.commit, [hit.path for hit in answer.hits])
    return {
        each.path: changed_last_sentence(*found[hit.path])
        for hit, each in zip(answer.hits, shown.hits, strict=True)
        if hit.path in found
    }


def _pasted() -> str:
    """Read a text from stdin, whatever its encoding."""
    return sys.stdin.buffer.read(_MOST_READ).decode("utf-8", "replace") if sys.stdin else ""
