"""``gitrag status``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from gitrag.actions.model import fetch_failure
from gitrag.actions.status import WorkspaceStatus, read_status
from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import OK
from gitrag.indexing.notices import absent_line
from gitrag.indexing.worker import WAITING
from gitrag.model import Skip
from gitrag.words.numbers import age, count, size

_MOST_REASONS = 5


@command(
    "status",
    examples=[
        Example("gitrag status", "how the index stands"),
        Example("gitrag status --json", "the same, for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """Say what is indexed, how fresh, how large, and who is working."""
    workspace = session.workspace()
    found = read_status(workspace)
    if session.terminal.answered(found):
        return OK
    _show(found, fetch_failure(workspace), session.terminal)
    return OK


def _show(found: WorkspaceStatus, fetch_failure: str, terminal: Terminal) -> None:
    def line(label: str, text: str) -> None:
        terminal.print(f"{terminal.style(f'{label:<11}', 'bold')} {text}")

    where = found.branch or "detached HEAD"
    at = f" at {found.commit[:10]}" if found.commit else ", no commit yet"
    line("repository", f"{found.name}, {where}{at}")
    if found.view is None or found.store is None:
        _show_none(found, line, terminal)
        return
    view = found.view
    state = terminal.style(found.state, "green" if found.fresh else "magenta")
    since = f", updated {age(time.time() - found.updated)} ago" if found.updated else ""
    line("index", f"{state}{since}" + _uncommitted(found))
    languages = ", ".join(f"{name} {number}" for name, number in view.languages[:6])
    more = ", …" if len(view.languages) > 6 else ""
    line("files", f"{view.files:,}" + (f" ({languages}{more})" if languages else ""))
    held = (f"{each.name} {each.documents:,}" for each in found.collections)
    line("collections", ", ".join(held) or "none")
    if view.waiting:
        line("waiting", count(view.waiting, "file"))
    if view.skipped:
        line("left out", ", ".join(f"{number} {reason}" for reason, number in view.skipped))
    if found.unread:
        line("not read", _count_unread(found))
    line("chunks", f"{view.chunks:,}")
    share = view.embedded / view.texts if view.texts else 1.0
    drafts = ", the others are drafts" if view.embedded < view.texts else ""
    beside = found.unembedded - (view.texts - view.embedded)
    more = f"; drafts for {count(beside, 'text')} of uncommitted changes and issues" if beside > 0 else ""
    # 99.9 % are not all
    line(
        "vectors",
        f"{view.embedded:,} of {count(view.texts, 'text')} refined ({int(share * 100)} %){drafts}{more}",
    )
    line(
        "store",
        f"{size(found.size_bytes)}, {count(found.store.worktrees, 'worktree')},"
        f" {count(found.store.chunks, 'chunk')} in all",
    )
    line("working", found.work)
    if found.failure:
        line("failed", f"the last background worker: {found.failure}")
    line("model", found.model.said)
    _hints(found, fetch_failure, terminal)


def _uncommitted(found: WorkspaceStatus) -> str:
    if not found.dirty:
        return ""
    indexed = "" if found.whole or not found.fresh else ", not all indexed yet"
    return f", {count(found.dirty, 'uncommitted change')}{indexed}"


def _count_unread(found: WorkspaceStatus) -> str:
    """Return how many files failed at each stage, and why."""
    counts = Counter((each.stage.value, each.reason) for each in found.unread)
    return "; ".join(
        f"{stage}: {count(number, 'file')} ({reason})"
        for (stage, reason), number in counts.most_common(_MOST_REASONS)
    ) + ("; …" if len(counts) > _MOST_REASONS else "")


def _hints(found: WorkspaceStatus, fetch_failure: str, terminal: Terminal) -> None:
    for note in found.notes:
        terminal.note(note)
    if found.view and (absent := dict(found.view.skipped).get(Skip.ABSENT)):
        terminal.hint(absent_line(absent))
    if found.unread:
        terminal.hint("`gitrag doctor` names the files that could not be read")
    if not found.fresh:
        terminal.hint("the next search catches up; `gitrag index` does it now")
    if not found.model.ready:
        if fetch_failure:
            terminal.warn(fetch_failure)
        terminal.hint(found.model.fix or "gitrag config model")
    elif found.unembedded and not found.worker:
        terminal.hint("gitrag index embed")
    elif found.worker and found.worker.purpose.startswith(WAITING):
        terminal.hint("`gitrag index embed --foreground` does not wait")
    elif found.failure:
        terminal.hint("gitrag index")


def _show_none(found: WorkspaceStatus, line: Callable[[str, str], None], terminal: Terminal) -> None:
    if found.store is not None:
        line("index", "not of this worktree yet")
        terminal.hint("the next search catches up; `gitrag index` does it now")
    elif found.size_bytes:
        line("index", "made by another version of gitrag")
        terminal.hint("the next search brings it up to date; `gitrag index` does it now")
    else:
        line("index", "none")
        terminal.hint("gitrag init")
