"""``gitrag status``."""

from __future__ import annotations

import dataclasses
import json
import time

import click

from gitrag.app import Status
from gitrag.cli.frame import Example, command
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal, sanitise_line
from gitrag.cli.words import age, count, size
from gitrag.errors import OK


@command(
    "status",
    examples=[
        Example("gitrag status", "how the index stands"),
        Example("gitrag status --json", "the same, for programs"),
    ],
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@pass_session
def status(session: Session, *, as_json: bool) -> int:
    """Say what is indexed, how fresh, how much embedded, how large, and who is working."""
    app = session.app()
    found = app.status()
    if as_json:
        row = dataclasses.asdict(found)
        row["model"]["path"] = str(found.model.path)
        session.terminal.print(json.dumps(row, indent=2))
        return OK
    _show(found, session.terminal)
    return OK


def _show(found: Status, terminal: Terminal) -> None:
    def line(label: str, text: str) -> None:
        terminal.print(f"{terminal.style(f'{label:<11}', 'bold')} {text}")

    where = sanitise_line(found.branch) if found.branch else "detached HEAD"
    at = f" at {found.commit[:10]}" if found.commit else ", no commit yet"
    line("repository", f"{found.name}, {where}{at}")
    if found.view is None or found.store is None:
        line("index", "none")
        terminal.hint("gitrag init")
        return
    view = found.view
    state = terminal.style("up to date", "green") if found.fresh else terminal.style("behind HEAD", "yellow")
    since = f", moved {age(time.time() - found.updated)} ago" if found.updated else ""
    line(
        "index", f"{state}{since}" + (f", {count(found.dirty, 'uncommitted change')}" if found.dirty else "")
    )
    if not found.fresh:
        terminal.hint("the next search catches up; `gitrag index` does it now")
    languages = ", ".join(f"{name} {number}" for name, number in view.languages[:6])
    line("files", f"{view.files:,} ({languages}{', …' if len(view.languages) > 6 else ''})")
    if view.waiting:
        line("waiting", count(view.waiting, "file"))
    if view.skipped:
        line("left out", ", ".join(f"{number} {reason}" for reason, number in view.skipped))
    line("chunks", f"{view.chunks:,}")
    share = view.embedded / view.texts if view.texts else 1.0
    line("embedded", f"{view.embedded:,} of {count(view.texts, 'text')} ({share:.0%})")
    line(
        "store",
        f"{size(found.size_bytes)}, {count(found.store.worktrees, 'worktree')},"
        f" {found.store.chunks:,} chunks in all",
    )
    line("working", str(found.worker) if found.worker else "nobody")
    line("model", "ready" if found.model.ready else found.model.problem)
    if not found.model.ready:
        terminal.hint("gitrag model fetch")
