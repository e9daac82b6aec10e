"""``gitrag hub``: init, add-server, place, push, search, status, grant, branch, drop, gc, try."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from gitrag.actions.requests import SearchRequest
from gitrag.cli.findings import json_alias, options, output_option, print_finding
from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, UsageError
from gitrag.words.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from gitrag.actions.hub.push import Pushes
    from gitrag.cli.terminal import Terminal
    from gitrag.config.keys import Config
    from gitrag.hub.hub import Hub
    from gitrag.hub.sending import Pushed
    from gitrag.workspace import Workspace

_MOST_PARTITIONS = 256
_MAY = {True: "reads and pushes", False: "reads"}


@group(
    "hub",
    examples=[
        Example(
            "git config --global gitrag.hub 'postgresql://me@db.example.com/code?sslmode=verify-full'",
            "where it is",
        ),
        Example("gitrag hub init", "once, by who runs it: makes the tables"),
        Example("gitrag hub push", "give it what HEAD has"),
        Example(
            'gitrag hub search "where are retries with backoff"', "in all repositories that you may read"
        ),
        Example("gitrag hub grant --push ci payments", "let a role read and push a repository"),
    ],
)
def hub() -> None:
    """Search an organisation's repositories, kept in PostgreSQL.

    The setting hub says where; only you can set it, not a repository. The password is libpq's matter:
    ~/.pgpass, PGPASSFILE, PGPASSWORD or a service file. sslmode=verify-full makes sure that it is that
    server, over TLS. A role finds only what is in repositories that it was granted.
    """


@command(
    "init",
    examples=[
        Example("gitrag hub init", "as the role that shall own the tables"),
        Example("gitrag hub init --hnsw", "with pgvector's index, for many millions of chunks"),
    ],
)
@click.option(
    "--partitions",
    type=click.IntRange(1, _MOST_PARTITIONS),
    default=8,
    show_default=True,
    help="Into how many parts each large table is divided.",
)
@click.option("--hnsw", is_flag=True, help="Index the sign bits by pgvector's HNSW: pushes take longer.")
@json_option
@pass_session
def init(session: Session, *, partitions: int, hnsw: bool) -> int:
    """Make the hub's tables in the schema gitrag, in one transaction.

    The role that does it owns them: it sees everything, and decides who else may.
    """
    from gitrag.hub.connection import place_of
    from gitrag.hub.hub import initialise
    from gitrag.indexing.recipe import recipe
    from gitrag.report.hub import HubMade

    address = _address(session.config_anywhere())
    made = initialise(address, recipe(), partitions=partitions, hnsw=hnsw)
    place = place_of(address)
    if session.terminal.answered(HubMade(place, made)):
        return OK
    session.terminal.print(f"Made a hub at {place}." if made else f"There is a hub at {place} already.")
    session.terminal.hint("gitrag hub push")
    return OK


@command(
    "add-server",
    examples=[
        Example(
            "gitrag hub add-server db2 postgresql://hubowner@db2.example.com/code", "an empty database there"
        ),
        Example("gitrag hub place payments db2", "then: payments will be there"),
    ],
)
@click.argument("name")
@click.argument("address")
@json_option
@pass_session
def add_server(session: Session, *, name: str, address: str) -> int:
    """Give the hub another PostgreSQL server, ADDRESS, and call it NAME; only who runs the hub may.

    The hub's own server, the front, keeps names and grants, and asks all servers at once by postgres_fdw. The
    password that libpq finds here for ADDRESS is kept in the front's user mapping.
    """
    from gitrag.config.rules import HUB, without_password
    from gitrag.hub import servers

    try:
        at = HUB.parse(address)
    except ValueError as error:
        raise UsageError(
            f'"{without_password(address)}" is no address of a server.',
            "postgresql://role@host/database, without a password (that goes into ~/.pgpass)",
        ) from error
    with _open(session) as there:
        done = servers.add_server(there, name, at)
    if session.terminal.answered(done):
        return OK
    session.terminal.print(f"{done.name} at {done.address} is a server of the hub now.")
    session.terminal.hint(f"gitrag hub place REPOSITORY {done.name}")
    return OK


@command(
    "place",
    examples=[
        Example("gitrag hub place payments db2", "payments will be on the server db2"),
        Example("gitrag hub status", "what is where, and what does not answer"),
    ],
)
@click.argument("repository")
@click.argument("server")
@json_option
@pass_session
def place(session: Session, *, repository: str, server: str) -> int:
    """Keep REPOSITORY, which is new to the hub, on SERVER; only who runs the hub may.

    Without it a repository is on the front. What is pushed to the hub goes there by itself.
    """
    from gitrag.actions.hub.push import require_name
    from gitrag.hub import servers

    require_name(repository)
    with _open(session) as there:
        done = servers.place(there, repository, server)
    if not session.terminal.answered(done):
        session.terminal.print(f"{done.repository} is on the server {done.server}.")
    return OK


@command(
    "push",
    examples=[
        Example("gitrag hub push", "HEAD, under the branch that is checked out"),
        Example("gitrag hub push --branch main --repository payments", "in CI, where HEAD is detached"),
        Example("GITRAG_HUB_BRANCHES='main,release/*' gitrag hub push", "these, as far as they are here"),
    ],
)
@click.option("--branch", metavar="NAME", help="The branch's name there; else the one that is checked out.")
@click.option("--repository", metavar="NAME", help="The repository's name there; else its remote's.")
@click.option("--force", is_flag=True, help="Push also where the branch has a later commit there.")
@click.option("--moved", is_flag=True, help="It is the repository of that name there, under a new remote.")
@json_option
@pass_session
def push(session: Session, *, branch: str | None, repository: str | None, force: bool, moved: bool) -> int:
    """Give the hub what HEAD has, or the branches that hub_branches names: never uncommitted changes.

    Sent are the contents that the repository does not have there. A branch is one transaction: others see
    it as it was, or as it is now. Where another repository has the name, by its remote or first commit, it
    is refused. The first branch that is pushed is the one that is searched, until
    `gitrag hub branch` names another. Where a branch has a commit there that descends from the one here, it
    is not pushed, so that a slow job does not put it back. --branch pushes HEAD, whatever hub_branches says.
    """
    from gitrag.actions.hub.push import Pushes

    workspace = session.workspace(auto_index="on")
    _address(workspace.config)
    workspace = session.index_first(workspace)
    asked = {"repository": repository, "force": force, "moved": moved}
    if branch is not None or not workspace.config.hub_branches:
        done = Pushes((_push(session, workspace, branch=branch, **asked),))
        if not session.terminal.is_json:
            _say_pushed(session.terminal, done.branches[0])
    else:
        done = _push_configured(session, workspace, **asked)
    session.terminal.answered(done)
    return OK


@command(
    "search",
    examples=[
        Example('gitrag hub search "where are retries with backoff"', "all repositories that you may read"),
        Example('gitrag hub search -r payments -r billing "rounding of amounts"', "only these"),
        Example('gitrag hub search --lang go --json "graceful shutdown"', "for programs"),
    ],
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-r", "--repository", "repositories", multiple=True, metavar="NAME", help="Only this repository."
)
@click.option("-n", "--limit", type=click.IntRange(1, 1000), metavar="N", help="Hits of each kind at most.")
@options(SearchRequest, only=("min_score", "paths", "languages"))
@output_option
@json_alias
@pass_session
def search(
    session: Session,
    *,
    query: tuple[str, ...],
    repositories: tuple[str, ...],
    limit: int | None,
    output: str | None,
    asked: SearchRequest,
) -> int:
    """Search the repositories of the hub that you may read, as they were pushed last.

    Every hit names its repository. Of one repository the answer is that of `gitrag search --committed` at
    the commit that was pushed. This needs no repository here.
    """
    return search_hub(session, " ".join(query), output, replace(asked, limit=limit), repositories)


def search_hub(
    session: Session, query: str, output: str | None, asked: SearchRequest, repositories: Sequence[str]
) -> int:
    """Search the hub and print the answer; the arguments are those of the command."""
    from gitrag.actions.hub import search as hub_search
    from gitrag.actions.search import SearchOptions

    config = session.config_anywhere()
    limits = SearchOptions.of(asked)
    answer = hub_search.search(_address(config), query, config, repositories=repositories, options=limits)
    print_finding(session.terminal, output, config.output, answer)
    return OK if answer.hits else NOTHING


@command(
    "status",
    examples=[
        Example("gitrag hub status", "what you may search there"),
        Example("gitrag hub status --json", "for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """Show the branches in the hub that you may search; to who runs it, also its size."""
    from gitrag.hub import rights, upkeep
    from gitrag.report.hub import status_as_text

    with _open(session) as there:
        found = upkeep.status(there, is_owner=rights.owns(there))
    if not session.terminal.answered(found):
        session.terminal.print(status_as_text(found))
    return OK


@command(
    "grant",
    examples=[
        Example("gitrag hub grant", "who may do what, as far as you may know"),
        Example("gitrag hub grant developers payments", "a role, or a group of roles, may read it"),
        Example("gitrag hub grant --push ci payments", "and push to it"),
        Example("gitrag hub grant --revoke jane payments", "no longer"),
    ],
)
@click.argument("role", required=False)
@click.argument("repository", required=False)
@click.option("--push", "pushes", is_flag=True, help="It may push to the repository, too.")
@click.option("--revoke", is_flag=True, help="Take its rights on the repository away.")
@json_option
@pass_session
def grant(session: Session, *, role: str | None, repository: str | None, pushes: bool, revoke: bool) -> int:
    """Let ROLE, which the server has, read REPOSITORY in the hub; without both, list who may.

    Only who runs the hub may. What members of a role may, they may.
    """
    from gitrag.actions.hub.push import require_name
    from gitrag.hub import rights, servers

    terminal = session.terminal
    if role is not None and repository is None:
        raise UsageError("A role and a repository are needed.", "gitrag hub grant ROLE REPOSITORY")
    if pushes and revoke:
        raise UsageError("--push and --revoke exclude each other.", "Give one of them.")
    with _open(session) as there:
        if role is None or repository is None:
            found = rights.listed(there)
            for each in () if terminal.answered(found) else found:
                may = _MAY[each.pushes]
                terminal.print(f"{each.role} {may} {each.repository}")
            return OK
        require_name(repository)
        rights.require_owner(there, "decides who may read what")
        if revoke:
            had = servers.revoke(there, role, repository)
        else:
            servers.grant(there, role, repository, pushes=pushes)
        found = rights.listed(there)
    if not terminal.answered(found):
        said = f"{_MAY[pushes]} {repository}"
        if revoke:
            said = f"has no rights on {repository} any more" if had else f"had no rights on {repository}"
        terminal.print(f"{role} {said}")
    return OK


@command(
    "gc",
    examples=[
        Example("gitrag hub gc", "what could go"),
        Example("gitrag hub gc --apply", "drop it; pushes wait meanwhile"),
    ],
)
@click.option("--apply", "really", is_flag=True, help="Do it, not only say what.")
@json_option
@pass_session
def gc(session: Session, *, really: bool) -> int:
    """Drop the contents and paths that no branch in the hub has any more; only who runs it may."""
    from gitrag.hub import rights, servers
    from gitrag.report.hub import dropped_as_text

    terminal = session.terminal
    with _open(session) as there:
        rights.require_owner(there, "may tidy it up")
        found = servers.tidy(there, really=really)
    if terminal.answered(found):
        return OK
    terminal.print(dropped_as_text(found, really=really))
    if found and not really:
        terminal.hint("gitrag hub gc --apply")
    return OK


@command(
    "branch",
    examples=[
        Example("gitrag hub branch payments main", "questions about payments ask main from now on"),
        Example("gitrag hub status", "which branches there are, and which are searched"),
    ],
)
@click.argument("repository")
@click.argument("branch")
@json_option
@pass_session
def branch(session: Session, *, repository: str, branch: str) -> int:
    """Search BRANCH of REPOSITORY from now on; whoever may push to the repository may.

    Without it the branch that was pushed first is searched.
    """
    from gitrag.hub import servers, upkeep

    with _open(session) as front, servers.holding(front, repository) as there:
        done = upkeep.choose(there, repository, branch)
    if not session.terminal.answered(done):
        session.terminal.print(f"Searched of {repository} is now {branch}.")
    return OK


@command(
    "drop",
    examples=[
        Example("gitrag hub drop payments feature", "a branch, by whoever may push to the repository"),
        Example("gitrag hub drop payments", "the repository, and all rights on it, by who runs the hub"),
    ],
)
@click.argument("repository")
@click.argument("branch", required=False)
@json_option
@pass_session
def drop(session: Session, *, repository: str, branch: str | None) -> int:
    """Drop BRANCH of REPOSITORY from the hub, or all of the repository; nothing here changes.

    The branch that is searched can be dropped only where it is the last. `gitrag hub gc` frees the space.
    """
    from gitrag.hub import rights, servers, upkeep

    with _open(session) as there:
        if branch is not None:
            with servers.holding(there, repository) as holder:
                done = upkeep.discard(holder, repository, branch)
        else:
            rights.require_owner(there, "may drop a repository")
            done = servers.discard_repository(there, repository)
    if session.terminal.answered(done):
        return OK
    what = f"{repository} and all rights on it" if branch is None else f"{branch} of {repository}"
    session.terminal.print(f"Dropped {what}.")
    session.terminal.hint("Who runs the hub frees the space: gitrag hub gc --apply")
    return OK


@command(
    "try",
    examples=[
        Example("gitrag hub try", "in a repository: a server of your own, with this repository in it"),
        Example("gitrag hub try --stop", "end it; what it holds stays"),
    ],
)
@click.option("--stop", is_flag=True, help="End the server; what it holds stays for the next time.")
@json_option
@pass_session
def try_(session: Session, *, stop: bool) -> int:
    """Start a PostgreSQL of your own in the background, and push this repository to it.

    For a first look: it needs the extra gitrag[hub-try], listens on a Unix socket that only you can open, and
    lies in your data directory. It prints what to set hub to, and sets nothing itself.
    """
    from gitrag.hub.hub import initialise
    from gitrag.hub.trial_server import TrialServer
    from gitrag.indexing.recipe import recipe
    from gitrag.report.hub import HubTried

    terminal = session.terminal
    server = TrialServer.here()
    if stop:
        ran = server.stop()
        if not terminal.answered(HubTried(server.address, running=False)):
            terminal.print(f"Stopped the server in {server.directory}." if ran else "No server runs.")
        return OK
    workspace = session.index_first(session.workspace(auto_index="on", hub=server.address))
    server.start()
    initialise(server.address, recipe())
    done = _push(session, workspace, repository=None, branch=None)
    if terminal.answered(HubTried(server.address, running=True)):
        return OK
    terminal.print(f"Pushed {count(done.files, 'file')} to the server in {server.directory}.")
    terminal.print(f"git config --global gitrag.hub {shlex.quote(server.address)}")
    terminal.hint("gitrag hub try --stop ends it.")
    return OK


def _push_configured(session: Session, workspace: Workspace, **asked: Any) -> Pushes:
    """Push the branches of hub_branches, and say of each what was sent once it is there."""
    from gitrag.actions.hub.push import Pushes, push_configured

    terminal = session.terminal
    _require_model(session, workspace)
    pushed: list[Pushed] = []
    missing: list[str] = []
    with terminal.progress("Pushing") as progress:
        for each in push_configured(workspace, **asked, advance=progress.update):
            if isinstance(each, str):
                missing.append(each)
                continue
            pushed.append(each)
            if not session.terminal.is_json:
                _say_pushed(terminal, each, named=True)
    for name in missing:
        terminal.warn(f'hub_branches names "{name}", and this clone has no such branch.')
    return Pushes(tuple(pushed), tuple(missing))


def _say_pushed(terminal: Terminal, done: Pushed, *, named: bool = False) -> None:
    from gitrag.report.hub import pushed_as_text

    terminal.print(pushed_as_text(done, named=named))
    if done.searched != done.branch and not named:
        terminal.hint("gitrag hub branch chooses another.")


def _push(session: Session, workspace: Workspace, **asked: Any) -> Pushed:
    from gitrag.actions.hub.push import push_head

    _require_model(session, workspace)
    with session.terminal.progress("Pushing") as progress:
        return push_head(workspace, **asked, advance=progress.update)


def _require_model(session: Session, workspace: Workspace) -> None:
    from gitrag.actions.model import fetch_model

    if not workspace.model_is_there():
        fetch_model(workspace.model_dir, session.terminal.progress, workspace.model)


def _address(config: Config) -> str:
    from gitrag.actions.hub.push import address_of

    return address_of(config.hub)


def _open(session: Session) -> AbstractContextManager[Hub]:
    from gitrag.hub.hub import opened
    from gitrag.indexing.recipe import recipe

    return opened(_address(session.config_anywhere()), recipe())


for each in (init, add_server, place, push, search, status, grant, branch, drop, gc, try_):
    hub.add_command(each)
