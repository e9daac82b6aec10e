"""``gitrag doctor``."""

from __future__ import annotations

import dataclasses

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK
from gitrag.words.control_characters import sanitise_line

_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command(
    "doctor",
    examples=[Example("gitrag doctor", "one line a check"), Example("gitrag doctor --json", "for programs")],
)
@json_option
@pass_session
def doctor(session: Session, *, as_json: bool) -> int:
    """Check everything gitrag rests on, and say what mends it.

    Exit status 1 when a check fails; a warning is none.
    """
    from gitrag.actions.doctor import examine
    from gitrag.machine.prerequisites import CheckState

    checks = examine(session.start, session.environ)
    if as_json:
        session.terminal.print_json([dataclasses.asdict(check) for check in checks])
    else:
        for check in checks:
            state = session.terminal.style(f"{check.state.value:<4}", _COLORS[check.state.value])
            session.terminal.print(f"{state}  {check.name:<13} {sanitise_line(check.message)}")
            if check.mend:
                session.terminal.print(f"      {'':<13} → {sanitise_line(check.mend)}")
    return NOTHING if any(check.state is CheckState.FAIL for check in checks) else OK
