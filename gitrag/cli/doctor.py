"""``gitrag doctor``."""

from __future__ import annotations

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.errors import NOTHING, OK

_COLORS = {"ok": "green", "warn": "magenta", "fail": "red"}


@command(
    "doctor",
    examples=[
        Example("gitrag doctor", "one line for each check"),
        Example("gitrag doctor --json", "for programs"),
    ],
)
@json_option
@pass_session
def doctor(session: Session) -> int:
    """Check everything gitrag depends on, and say how to fix what is wrong.

    Exit status 1 if a check fails; warnings do not count.
    """
    from gitrag.actions.doctor import examine
    from gitrag.machine.prerequisites import CheckState

    checks = examine(session.start, session.environ)
    if not session.terminal.answered(checks):
        for check in checks:
            state = session.terminal.style(f"{check.state.value:<4}", _COLORS[check.state.value])
            session.terminal.print(f"{state}  {check.name:<13} {check.message}")
            if check.fix:
                session.terminal.print(f"      {'':<13} → {check.fix}")
    return NOTHING if any(check.state is CheckState.FAIL for check in checks) else OK
