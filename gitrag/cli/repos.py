"""``gitrag repos``: list, add, forget, group."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK, UsageError

if TYPE_CHECKING:
    from gitrag.memory.registry import Known, Registered


@group(
    "repos",
    examples=[
        Example("gitrag repos list", "which there are"),
        Example("gitrag repos add ~/src/*", "some that were indexed before, or are to be"),
        Example("gitrag repos group work shop api", "a name for two of them"),
        Example('gitrag search --group work "where is stock reserved"', "ask these"),
        Example('gitrag search --everywhere "retry with backoff"', "ask all"),
    ],
)
def repos() -> None:
    """List the repositories that gitrag knows on this machine, for searches of several.

    A repository is known once it is indexed. Kept are paths, in your state directory, and nothing else.
    """


@command("list", examples=[Example("gitrag repos list"), Example("gitrag repos list --json", "for a script")])
@json_option
@pass_session
def list_(session: Session) -> int:
    """List the repositories, where they are, and the groups that they are in."""
    from gitrag.actions.repositories.known import Standing, listed
    from gitrag.memory.registry import Registry

    terminal = session.terminal
    found = listed(Registry().read())
    if terminal.answered(found):
        return OK
    if not found:
        terminal.note("gitrag knows no repository yet.")
        terminal.hint("gitrag index in one, or gitrag repos add PATH…")
        return NOTHING
    width = max(len(each.name) for each in found)
    for each in found:
        said = [] if each.standing is Standing.INDEXED else [each.standing.value]
        said += [f"in {', '.join(each.groups)}"] if each.groups else []
        name = terminal.style(f"{each.name:{width}}", "bold")
        more = terminal.style(f"  ({'; '.join(said)})", "dim") if said else ""
        terminal.print(f"{name}  {each.path}{more}")
    if any(each.standing is Standing.GONE for each in found):
        terminal.hint("gitrag repos forget --missing drops those that are not there.")
    return OK


@command(
    "add",
    examples=[
        Example("gitrag repos add", "this one"),
        Example("gitrag repos add ~/src/shop ~/src/api", "two others"),
    ],
)
@click.argument("places", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@json_option
@pass_session
def add(session: Session, *, places: tuple[Path, ...]) -> int:
    """Add repositories: that around each PATH, or around where you stand.

    Nothing is indexed. All worktrees of a repository have one index, and are one entry.
    """
    from gitrag.actions.repositories.known import Standing, standing_of
    from gitrag.actions.repositories.known import add as add_to
    from gitrag.memory.registry import Registry

    registry = Registry()
    new, old = add_to(registry, [session.start / place for place in places] or [session.start])
    if session.terminal.is_json:
        _print_those(session, registry.read(), (*new, *old))
        return OK
    for known, verb in [(each, "Added") for each in new] + [(each, "Known already:") for each in old]:
        session.terminal.print(f"{verb} {known.name}  {known.entry.path}")
    bare = [each for each in (*new, *old) if standing_of(each.entry) is Standing.NOT_INDEXED]
    if bare:
        session.terminal.hint(
            f"Not indexed yet: {', '.join(each.name for each in bare)}. gitrag -C PATH index"
        )
    return OK


@command(
    "forget",
    examples=[
        Example("gitrag repos forget shop", "one of them"),
        Example("gitrag repos forget --missing", "all that are not there any more"),
    ],
)
@click.argument("names", metavar="[REPO]...", nargs=-1)
@click.option("--missing", is_flag=True, help="Those that are not where they were.")
@json_option
@pass_session
def forget(session: Session, *, names: tuple[str, ...], missing: bool) -> int:
    """Drop repositories from the list; they and their indexes stay as they are.

    REPO is a name, a path or a glob. gitrag index in one makes it known again.
    """
    from gitrag.actions.repositories import known as action
    from gitrag.memory.registry import Registry

    if not names and not missing:
        raise UsageError("Neither REPO nor --missing is given.", "gitrag repos list lists the names.")
    registry = Registry()
    held = registry.read()
    gone = {each.name: each for name in names for each in held.find(name)}
    gone |= {each.name: each for each in action.missing(held)} if missing else {}
    registry.forget(each.entry for each in gone.values())
    if session.terminal.is_json:
        _print_those(session, held, gone.values())
        return OK
    for each in gone.values():
        session.terminal.print(f"Forgot {each.name}  {each.entry.path}")
    if not gone:
        session.terminal.print("All are where they were.")
    return OK


@command(
    "group",
    examples=[
        Example("gitrag repos group work shop api", "put both in the group work"),
        Example("gitrag repos group work", "who is in it"),
        Example("gitrag repos group work --remove shop", "take one out"),
        Example("gitrag repos group work --remove", "drop the group"),
    ],
)
@click.argument("name", metavar="GROUP")
@click.argument("repositories", metavar="[REPO]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Take them out; without REPO, drop the group.")
@json_option
@pass_session
def group_(session: Session, *, name: str, repositories: tuple[str, ...], remove: bool) -> int:
    """Put repositories in a group, which gitrag search --group asks.

    REPO is a name, a path or a glob.
    """
    from gitrag.actions.repositories.known import regroup
    from gitrag.memory.registry import Registry

    registry = Registry()
    if repositories or remove:
        members = regroup(registry, name, repositories, remove=remove)
    else:
        members = registry.read().in_group(name)
    if session.terminal.is_json:
        _print_those(session, registry.read(), members)
        return OK
    said = ", ".join(each.name for each in members)
    session.terminal.print(f"{name}: {said}" if members else f"Dropped {name}.")
    return OK


def _print_those(session: Session, registered: Registered, those: Iterable[Known]) -> None:
    """Print as JSON what is known of some of the repositories in a list."""
    from gitrag.actions.repositories.known import listed

    names = {each.name for each in those}
    session.terminal.print_document([each for each in listed(registered) if each.name in names])


for each in (list_, add, forget, group_):
    repos.add_command(each)
