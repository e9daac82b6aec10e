"""``gitrag gc``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import OK
from gitrag.words.numbers import age, count, size

if TYPE_CHECKING:
    from gitrag.store.garbage import Garbage


@command(
    "gc",
    examples=[
        Example("gitrag gc", "what could be dropped"),
        Example("gitrag gc --apply", "drop it"),
        Example("GITRAG_GC_KEEP=0s gitrag gc --apply", "keep only what is needed now"),
    ],
)
@click.option("--apply", "really", is_flag=True, help="Drop it, not only say what.")
@json_option
@pass_session
def gc(session: Session, *, really: bool) -> int:
    """Drop what no branch or worktree needs any more from the index.

    What was needed within gc_keep stays, up to twice what is needed now. The room of what is dropped is used
    again; the disk gets it back once it is a fifth of the index. The background worker does this once a week
    where the index is large.
    """
    from gitrag.actions import gc

    workspace, terminal = session.workspace(), session.terminal
    before = workspace.store.size_bytes() + workspace.older.size_bytes()
    freed = 0
    if really:
        garbage, freed = gc.collect(workspace)
    else:
        garbage = gc.preview(workspace)
    if session.terminal.is_json:
        from gitrag.report.documents import GarbageDocument

        terminal.print_document(GarbageDocument(garbage, really, freed, before - freed))
        return OK
    if not garbage:
        kept = age(workspace.config.gc_keep.total_seconds())
        terminal.print(f"Nothing to drop: all is needed, or was in the last {kept}.")
    elif really:
        terminal.print(f"Dropped {_named(garbage)}.")
    else:
        share = garbage.chunks / max(garbage.all_chunks, 1)
        terminal.print(f"To drop: {_named(garbage)}, {share:.0%} of the chunks in {size(before)}.")
        terminal.hint("gitrag gc --apply")
    if freed:
        terminal.print(f"Index {size(before - freed)} (freed {size(freed)})")
    elif really and garbage:
        terminal.print("The index is as large as before: it uses that room for what comes next.")
    return OK


def _named(garbage: Garbage) -> str:
    views = f"{count(garbage.views, 'view')}, " if garbage.views else ""
    commits = f", {count(garbage.commits, 'commit')}" if garbage.commits else ""
    return f"{views}{count(garbage.contents, 'file content')} of {count(garbage.chunks, 'chunk')}{commits}"
