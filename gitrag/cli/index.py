"""``gitrag index``: update, embed, status, remove."""

from __future__ import annotations

import time

import click
from msgspec.structs import replace

from gitrag.actions.embed import (
    EmbeddedHere,
    EmbeddingInBackground,
    EmbeddingStep,
    embed_in_background,
    embed_waiting,
)
from gitrag.actions.status import WorkspaceStatus, read_status
from gitrag.cli.frame import Example, NumberRange, command, group, json_option
from gitrag.cli.issues import sync_with_index
from gitrag.cli.model import say_fetched
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import OK, UsageError
from gitrag.indexing.notices import absent_line
from gitrag.machine.prerequisites import check_writable, require
from gitrag.model import Skip
from gitrag.store.inspection import CollectionCounts, Stage
from gitrag.words.numbers import age, count, size
from gitrag.workspace import Indexed


@group(
    "index",
    invoke_without_command=True,
    examples=[
        Example("gitrag index", "bring it up to date; vectors follow in the background"),
        Example("gitrag index embed --foreground", "compute the vectors now, with a progress bar"),
        Example("gitrag index status", "the collections, and what they hold"),
    ],
)
@json_option
@click.pass_context
def index(context: click.Context) -> int:
    """Bring the index up to date, embed, look at it, remove it.

    Without a command: update. It is seldom needed: hooks and searches keep the index up to date.
    """
    if context.invoked_subcommand is None:
        return update_index(context.obj, embed=True)
    if context.obj.terminal.is_json:
        raise UsageError("--json stands after the command.", "gitrag index status --json")
    return OK


@command(
    "update",
    examples=[
        Example("gitrag index update", "text now, vectors in the background"),
        Example("gitrag index update --no-embed", "text only"),
    ],
)
@click.option("--embed/--no-embed", default=True, help="Compute vectors in the background.  [default: embed]")
@json_option
@pass_session
def update(session: Session, *, embed: bool) -> int:
    """Bring it up to date.

    With HEAD and the uncommitted changes: the text at once, vectors in the background. The issues of a
    tracker that is set, or was synced before, or whose token is at hand, are synced first.
    """
    return update_index(session, embed=embed)


@command(
    "embed",
    examples=[
        Example("gitrag index embed", "in the background"),
        Example("gitrag index embed --foreground", "here, with a progress bar"),
        Example("gitrag index embed --foreground --for 60", "for a minute; the rest in the background"),
    ],
)
@click.option("--foreground", is_flag=True, help="Here, with a progress bar, not in the background.")
@click.option("--for", "seconds", type=NumberRange(0), metavar="SECONDS", help="With --foreground: at most.")
@click.option("--skip", is_flag=True, help="Do nothing, and say so.")
@json_option
@pass_session
def embed(session: Session, *, foreground: bool, seconds: float | None, skip: bool) -> int:
    """Compute the vectors of chunks that have none.

    On a GPU here; else in the background, at a low priority.
    """
    terminal = session.terminal.without_result() if session.terminal.is_json else session.terminal
    if skip and not session.terminal.is_json:
        terminal.print("Embed skipped per --skip flag")
        return OK
    workspace = session.workspace()
    workspace.require_index()
    entries = workspace.uncommitted_entries()
    waiting = workspace.count_unembedded(entries)
    steps: list[EmbeddingStep] = []
    if not waiting:
        _say_embedded(read_status(workspace), terminal)
    elif not skip:
        require([check_writable(workspace.store.directory)])
        for step in embed_waiting(
            workspace, waiting, terminal.progress, foreground=foreground, seconds=seconds, entries=entries
        ):
            say_embedding(step, terminal)
            steps.append(step)
    if session.terminal.is_json:
        from gitrag.report.documents import vectors_document

        session.terminal.print_document(vectors_document(steps, waiting))
    return OK


@command(
    "status",
    examples=[
        Example("gitrag index status", "a line a collection"),
        Example("gitrag index status --json", "for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """List the collections, and what they hold."""
    workspace = session.workspace()
    workspace.require_index()
    with workspace.store.read():  # raises where it is of another version
        pass
    found = read_status(workspace)
    none = CollectionCounts(CollectionKind.CODE.value, 0, 0, 0, found.updated)
    rows = [replace(each, name=f"{found.name}-{each.name}") for each in found.collections or (none,)]
    if session.terminal.answered(rows, "Collection"):
        return OK
    width = max(10, *(len(row.name) for row in rows))
    session.terminal.print(
        f"{'collection':<{width}}  {'documents':>9}  {'chunks':>8}  {'drafts':>10}  updated"
    )
    for row in rows:
        updated = age(time.time() - row.updated) + " ago" if row.updated else "uncommitted"
        session.terminal.print(
            f"{row.name:<{width}}  {row.documents:>9,}  {row.chunks:>8,}  {row.unembedded:>10,}  {updated}"
        )
    for note in found.notes:
        session.terminal.note(note)
    return OK


@command("remove", examples=[Example("gitrag index remove", "delete it; your files and the hooks stay")])
@json_option
@pass_session
def remove(session: Session) -> int:
    """Delete the index. It holds nothing that cannot be computed again."""
    from gitrag.hooking.status import HookState
    from gitrag.hooking.status import status as hooks_status

    workspace = session.workspace()
    freed = workspace.older.remove() + workspace.store.remove()
    if session.terminal.is_json:
        from gitrag.report.documents import RemovedDocument

        session.terminal.print_document(RemovedDocument(freed))
    elif freed:
        session.terminal.print(f"Removed the index ({size(freed)}).")
    else:
        session.terminal.print("There is no index to remove.")
    if not freed:
        return OK
    if any(report.state is HookState.INSTALLED for report in hooks_status(workspace.repo)):
        session.terminal.hint("`gitrag hooks uninstall` removes the hooks, which would build it again.")
    return OK


def update_index(session: Session, *, embed: bool) -> int:
    """Update with a progress bar, report what was done, and start the worker for the vectors."""
    workspace = session.workspace()
    terminal = session.terminal.without_result() if session.terminal.is_json else session.terminal
    require([check_writable(workspace.store.directory)])
    sync_with_index(session._replace(terminal=terminal), workspace)  # first, since the copies are indexed too
    with terminal.progress("Indexing") as progress:
        indexed = workspace.update(advance=progress.update)
    workspace.register()
    say_indexed(indexed, terminal)
    waiting = indexed.unembedded
    steps = [embed_in_background(workspace, waiting)] if waiting and embed else []
    for step in steps:
        say_embedding(step, terminal)
    if session.terminal.is_json:
        from gitrag.report.documents import UpdateDocument, vectors_document

        vectors = vectors_document(steps, waiting) if steps else None
        session.terminal.print_document(UpdateDocument(indexed, vectors))
    return OK


def _say_embedded(found: WorkspaceStatus, terminal: Terminal) -> None:
    """Say that no text waits for its vector, and which have none all the same."""
    failed = sum(each.stage is Stage.EMBEDDING for each in found.unread)
    if found.whole and not failed:
        terminal.print("Every chunk is embedded.")
        return
    terminal.print("No indexed chunk waits for its vector.")
    if not found.whole:
        terminal.note("Not all files are indexed yet, or not as they are now.")
        terminal.hint("gitrag index")
    if failed:
        terminal.note(f"{count(failed, 'file')} could not be embedded in full.")
        terminal.hint("`gitrag doctor` names such files")


def say_indexed(indexed: Indexed, terminal: Terminal) -> None:
    """Say what an update of the text did."""
    done, counts = indexed.refreshed, indexed.counts
    terminal.print(
        f"Indexed {count(counts.chunks, 'chunk')} from {count(counts.files, 'file')}"
        f" in {indexed.seconds:.1f} s"
    )
    if not done.cut and counts.files:
        terminal.print("  nothing was new")
    elif done.cut < counts.files and not indexed.first:
        others = count(counts.files - done.cut, "file")
        terminal.print(f"  {count(done.cut, 'file')} new, {others} known by content")
    if done.dirty:
        terminal.print(f"  {count(done.dirty, 'uncommitted change')} on top")
    if counts.skipped:
        reasons = ", ".join(f"{number} {reason}" for reason, number in counts.skipped)
        terminal.print(f"  left out: {reasons}")
    if absent := dict(counts.skipped).get(Skip.ABSENT):
        terminal.hint(absent_line(absent))


def say_embedding(step: EmbeddingStep, terminal: Terminal) -> None:
    """Say what was done for the vectors."""
    match step:
        case EmbeddedHere(texts, seconds, left):
            rate = texts / max(seconds, 1e-9)
            terminal.print(f"Embedded {count(texts, 'text')} in {seconds:.1f} s ({rate:.0f}/s)")
            if left:
                terminal.print(f"{count(left, 'text')} left: they follow in the background")
        case EmbeddingInBackground(texts, download_bytes, log, strain):
            if download_bytes:
                terminal.print(f"The model is fetched first, once ({size(download_bytes)}).")
            path = str(log)
            terminal.print(f"Embedding {count(texts, 'text')} in the background; log: {path}")
            if strain:
                terminal.note(f"It waits {strain}; `gitrag index embed --foreground` does not.")
        case _:
            say_fetched(step, terminal)


for each in (update, embed, status, remove):
    index.add_command(each)
