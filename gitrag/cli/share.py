"""``gitrag share``: push, pull, status, verify, gc."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.words.numbers import count, size

if TYPE_CHECKING:
    from gitrag.actions.sharing.shared import Shared
    from gitrag.cli.terminal import Terminal
    from gitrag.sharing.ledger import Refusal, Skipped


@group(
    "share",
    examples=[
        Example("git config --global gitrag.share git", "share with those who have origin"),
        Example("gitrag share pull", "take the vectors that are missing here"),
        Example("gitrag share push", "give those of HEAD that others have not"),
        Example("gitrag share status", "what is there"),
    ],
)
def share() -> None:
    """Share vectors with a team, so that each text is embedded once.

    The setting share says where: at a git remote (refs/gitrag/vectors, which a plain git fetch leaves
    alone), in a directory, or at a web server that has one. A vector tells something of its text: share with
    those who may read the code.
    """


@command(
    "pull",
    examples=[Example("gitrag share pull", "a sample of each pack is computed here and compared")],
)
@json_option
@pass_session
def pull(session: Session) -> int:
    """Take the vectors that are missing here from what others have pushed.

    Of each pack a sample is computed here and compared; a pack with other vectors is refused whole. One that
    arrives damaged, however often it is fetched, is left out this time. Exit status 1 when nothing is shared
    there, or a pack was refused or left out.
    """
    from gitrag.actions.model import fetch_model
    from gitrag.actions.sharing.pull import pull as pull_texts

    terminal = session.terminal
    team = _open(session)
    workspace = team.workspace
    workspace.require_index()
    if not workspace.model_is_there():
        fetch_model(workspace.model_dir, terminal.progress, workspace.model)
    entries = workspace.uncommitted_entries()
    waiting, taken = workspace.count_unembedded(entries), 0
    with terminal.progress("Pulling", waiting or None) as progress:

        def advance(done: int) -> None:
            nonlocal taken
            taken += done
            progress.update(taken)

        found = pull_texts(team, entries=entries, advance=advance)
    found.left = waiting - found.texts
    _say_refused(found.refused, terminal)
    _say_left_out(found.skipped, found.left_out, terminal)
    if session.terminal.is_json:
        terminal.print_document(found)
    elif not found.listed:
        terminal.print(f"No vectors are shared at {team.place.address} yet.")
        terminal.hint("gitrag share push")
    else:
        terminal.print(
            f"Pulled {count(found.texts, 'vector')} from {count(found.packs, 'pack')}"
            f" ({size(found.received)} received; {count(found.computed, 'text')} computed here and compared)"
        )
        if found.left:
            terminal.print(f"  {count(found.left, 'text')} left to embed here")
        if found.newer:
            terminal.note(
                f"{count(found.newer, 'pack')} there in a newer format: upgrade gitrag to use them."
            )
        if found.other_models:
            terminal.note(f"{count(found.other_models, 'pack')} there of another model: of no use here.")
    return NOTHING if found.refused or found.skipped or not found.listed else OK


@command(
    "push",
    examples=[Example("gitrag share push", "vectors of HEAD's texts that were computed here")],
)
@json_option
@pass_session
def push(session: Session) -> int:
    """Give the vectors of HEAD's texts that were computed here to the others.

    Also those of a pack there that is damaged, which goes once all that it has is there again. Not those of
    uncommitted changes, nor of other commits, nor those that were pulled.
    """
    from gitrag.actions.sharing.push import push as push_texts

    team = _open(session)
    team.workspace.require_index()
    done = push_texts(team, team.workspace.repo.head().tree)
    if session.terminal.answered(done):
        return OK
    _say_left_out(team.skipped.values(), team.left_out, session.terminal)
    merged = f", {count(done.merged, 'pack')} merged" if done.merged else ""
    merged += f", {count(done.replaced, 'damaged pack')} replaced" if done.replaced else ""
    session.terminal.print(
        f"Pushed {count(done.texts, 'vector')} ({size(done.size_bytes)}{merged}); {done.known:,} were there"
    )
    return OK


@command(
    "status",
    examples=[
        Example("gitrag share status", "what is there, and of use here"),
        Example("gitrag share status --json", "for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """Show what is shared, how much of it is of use here, and what was refused."""
    from gitrag.actions.sharing import upkeep

    terminal = session.terminal
    team = _open(session)
    found = upkeep.status(team)
    if terminal.answered(found):
        return OK

    def line(label: str, text: str) -> None:
        terminal.print(f"{terminal.style(f'{label:<8}', 'bold')} {text}")

    line("at", found.address)
    of_bytes = f", {size(found.size_bytes)}" if found.size_bytes else ""
    line("packs", f"{found.packs:,} of {count(found.texts, 'vector')}{of_bytes}" if found.packs else "none")
    if found.packs:
        line(
            "checked",
            f"{found.checked:,} of them: made here, or half of the texts are here and a sample is right",
        )
    if found.other_models:
        line("others", f"{count(found.other_models, 'pack')} of another model")
    if found.newer:
        line("newer", f"{count(found.newer, 'pack')} in a newer format: upgrade gitrag to use them")
    line(
        "here", f"{count(found.waiting, 'text')} without a vector, {found.available:,} of them have one there"
    )
    line("pushing", "in the background" if team.workspace.config.share_push == "on" else "by hand")
    _say_refused(found.refused, terminal)
    _say_left_out(found.skipped, found.left_out, terminal)
    if found.failure:
        terminal.warn(f"in the background: {found.failure}")
    return OK


@command(
    "verify",
    examples=[
        Example("gitrag share verify", "checksums of all packs, and a sample of each"),
        Example("gitrag share verify --all", "compute every text that is here"),
    ],
)
@click.option("--all", "every", is_flag=True, help="Compute every text that is here, not a sample.")
@json_option
@pass_session
def verify(session: Session, *, every: bool) -> int:
    """Check all packs: every byte, and by the model a sample of the texts that are here.

    So are vectors here whose pack is no longer there. What came from a pack that does not check is dropped.
    Exit status 1 when there is such a pack, or a damaged one.
    """
    from gitrag.actions.model import fetch_model
    from gitrag.actions.sharing import upkeep

    terminal = session.terminal
    team = _open(session)
    if not team.workspace.model_is_there():
        fetch_model(team.workspace.model_dir, terminal.progress, team.workspace.model)
    with terminal.progress("Checking packs") as progress:
        found = upkeep.verify(team, every=every, advance=progress.update)
    _say_refused(found.refused, terminal)
    _say_left_out(found.skipped, found.left_out, terminal)
    if not terminal.answered(found):
        gone = ""
        if found.gone:
            taken = count(found.gone_texts, "vector")
            gone = f", and {taken} here of {count(found.gone, 'pack')} that is not there or not readable"
        bad = f"; {count(len(found.refused), 'pack')} refused" if found.refused else ""
        terminal.print(
            f"Checked {count(found.packs, 'pack')} of {count(found.texts, 'vector')}{gone}:"
            f" {count(found.computed, 'text')} computed here and compared{bad}"
        )
        if found.partly:
            terminal.note(
                f"Of {count(found.partly, 'pack')} {found.partly_computed:,} of"
                f" {count(found.partly_texts, 'vector')} compared:"
                " fewer than half of their texts are here, so they do not count as checked."
            )
    return NOTHING if found.refused or found.skipped else OK


@command(
    "gc",
    examples=[
        Example("gitrag share gc", "what could be merged and removed there"),
        Example("gitrag share gc --apply", "do it"),
    ],
)
@click.option("--apply", "really", is_flag=True, help="Do it, not only say what.")
@click.option("--other-models", is_flag=True, help="Remove packs of other models too.")
@click.option("--damaged", is_flag=True, help="Remove packs that are damaged, as far as is known, too.")
@json_option
@pass_session
def gc(session: Session, *, really: bool, other_models: bool, damaged: bool) -> int:
    """Merge small packs there, and remove those that were refused here.

    Only packs that were made or checked here are merged. `gitrag share push` merges too, and puts damaged
    packs right where their texts are here; `gitrag share verify` finds them.
    """
    from gitrag.actions.sharing import upkeep

    terminal = session.terminal
    team = _open(session)
    found = upkeep.tidy(team, really=really, other_models=other_models, damaged=damaged)
    _say_left_out(team.skipped.values(), team.left_out, terminal)
    if terminal.answered(found):
        return OK
    if not found:
        terminal.print("Nothing to tidy up.")
        return OK
    parts = [f"{count(found.merged, 'pack')} {'merged' if really else 'to merge'} into {found.into}"] * bool(
        found.merged
    )
    done = "removed" if really else "to remove"
    parts += [f"{count(found.refused, 'refused pack')} {done}"] * bool(found.refused)
    parts += [f"{count(found.others, 'pack')} of other models {done}"] * bool(found.others)
    parts += [f"{count(found.damaged, 'damaged pack')} {done}"] * bool(found.damaged)
    terminal.print(", ".join(parts))
    if not really:
        terminal.hint("gitrag share gc --apply")
    return OK


def _open(session: Session) -> Shared:
    from gitrag.actions.sharing.shared import Shared

    return Shared.open(session.workspace())


def _say_refused(refused: list[Refusal], terminal: Terminal) -> None:
    for each in refused:
        terminal.warn(
            f"Pack {each.pack[-12:]} from {each.origin} {each.why}: refused, nothing of it is used."
        )


def _say_left_out(skipped: Collection[Skipped], left_out: int, terminal: Terminal) -> None:
    for each in skipped:
        terminal.warn(f"Pack {each.pack[-12:]} from {each.origin} {each.why}: left out this time.")
    if any(each.damaged for each in skipped):
        terminal.hint("Who has computed its vectors can put it right: gitrag share verify, then share push")
    if left_out:
        from gitrag.sharing.packs import MOST_KEYS_TOTAL_BYTES

        terminal.warn(
            f"{count(left_out, 'pack')} left out: the keys of all would take more than"
            f" {size(MOST_KEYS_TOTAL_BYTES)}."
        )


for each in (push, pull, status, verify, gc):
    share.add_command(each)
