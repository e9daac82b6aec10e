"""``gitrag history``, ``why`` and ``measure``: what commits say, and what they tell of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from gitrag.actions.requests import HistoryOptions, SearchCommand
from gitrag.cli.findings import FINDING_FORMS, json_alias, options, output_option, print_finding
from gitrag.cli.frame import Example, command
from gitrag.cli.page import directory_of
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, UsageError

if TYPE_CHECKING:
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
@options(HistoryOptions)
@output_option
@json_alias
@click.argument("query", nargs=-1)
@pass_session
def history(session: Session, *, query: tuple[str, ...], asked: HistoryOptions, output: str | None) -> int:
    """Search what commits say: which were made for what QUERY asks.

    Found are commits whose message shares a word with QUERY or is near it in meaning, of the newest 250,000
    that lead to HEAD, or to what --ref or --all says; words and meaning order them. Of a history that has not
    been read, the newest 20,000 are read first; the background reads the others, and until then the answer
    says so. With --touches, git follows the lines of the definition through the history; QUERY may then be
    left out.
    """
    workspace = session.index_first(session.workspace())
    return _answer(session, workspace, " ".join(query), asked, output)


def search_history(session: Session, query: str, output: str | None, asked: SearchCommand) -> int:
    """Answer ``gitrag search -c history``, with those of its options that histories have too."""
    if output not in (None, *FINDING_FORMS):
        raise UsageError(f"--output {output} does not go with -c history.", f"Give one of {_FORMS}.")
    if len(asked.paths) > 1:
        raise UsageError("-c history takes one --path.", "Give one, or a glob such as 'src/**'.")
    workspace = session.index_first(session.workspace(auto_index="on" if asked.make_index else None))
    limit = asked.limit or HistoryOptions().limit
    own = HistoryOptions(limit=limit, path="".join(asked.paths), revision=asked.ref)
    return _answer(session, workspace, query, own, output)


def _answer(
    session: Session, workspace: Workspace, query: str, asked: HistoryOptions, output: str | None
) -> int:
    from gitrag.actions.history import history as find

    found = find(workspace, query, replace(asked, here=directory_of(session, workspace)))
    print_finding(session.terminal, output, workspace.config.output, found)
    return OK if found.matches else NOTHING


@command(
    "why",
    examples=[
        Example("gitrag why src/auth.py:42", "why this line is as it is"),
        Example("gitrag why src/auth.py:42-60", "the same for lines 42 to 60"),
        Example("gitrag why src/auth.py", "the commits that most of the file is from"),
        Example("gitrag why src/auth.py:42 --json", "for a script"),
    ],
)
@output_option
@json_alias
@click.argument("target", metavar="PATH[:LINE[-LINE]]")
@pass_session
def why(session: Session, *, target: str, output: str | None) -> int:
    """Say why lines are as they are: which commits made them so, and for what reason.

    Lines that were moved are followed, white space does not count, and commits that
    .git-blame-ignore-revs or git's blame.ignoreRevsFile lists are passed over. Shown of each commit are
    its subject, the sentence of its message that gives a reason, and the issues, pull requests and
    decisions that it names; then the commit that changed the lines or their function before, and the
    decisions and specifications that likely bear on the file.

    Asks git, so it needs no index; without one, decisions are not looked up.
    """
    from gitrag.actions.why import why as find

    workspace = session.workspace()
    found = find(workspace, session.start, target)
    print_finding(session.terminal, output, workspace.config.output, found)
    return OK if found.reasons or found.uncommitted else NOTHING


@command(
    "measure",
    examples=[
        Example("gitrag measure", "the newest 50 commits that can be asked"),
        Example("gitrag measure -n 200 --seed 1", "200, from places of the history drawn by chance"),
        Example("gitrag measure --list", "also each question, and where its file was"),
        Example("GITRAG_REFINE_S=0 gitrag measure", "how much a setting matters"),
    ],
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 5000),
    default=50,
    show_default=True,
    metavar="N",
    help="Commits to ask at most.",
)
@click.option(
    "--seed", type=click.IntRange(0), metavar="N", help="Draw them from the whole history, by this seed."
)
@click.option("--list", "is_listed", is_flag=True, help="List the questions, and where their files were.")
@output_option
@json_alias
@pass_session
def measure(session: Session, *, limit: int, seed: int | None, is_listed: bool, output: str | None) -> int:
    """Measure how well files are found in this repository, by its own history.

    The subjects of N past commits, and the titles of issues that they name if there are copies of these, are
    asked of the files and the history before the commit; to be found are the source files that it changed.
    Beside it `git grep -i -F -e WORD -e ...`, of the same words without those such as "the": the files with
    the most distinct words first, of these the ones with the most matches.

    Left out are merges, commits of bots, of more than 12 files, of documents, tests, generated and lock
    files alone, with a subject of fewer than 3 words that count, and those of whose files none was indexed
    before them.

    Commits of ten first parents share one state before them, which is indexed as for gitrag search --ref.
    In a repository of 1,300 files a commit takes .7 s of processor time; gitrag gc drops the states.
    """
    from gitrag.actions.measure import measure as replay

    workspace = session.index_first(session.workspace())
    with session.terminal.progress("Asking past commits", limit) as shown:
        found = replay(workspace, shown, limit, seed)
    answer = found if is_listed else replace(found, replayed=())
    print_finding(session.terminal, output, workspace.config.output, answer)
    return OK if found.commits else NOTHING
