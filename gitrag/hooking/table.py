"""The hooks that gitrag installs, and the shell script of each."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from msgspec import Struct


class Hook(Struct, frozen=True):
    """A git hook.

    Attributes:
        background: Whether it starts a background job and returns at once; only pre-push waits, and may
            refuse.
    """

    name: str
    does: str
    background: bool = True


HOOKS: tuple[Hook, ...] = (
    Hook("post-commit", "indexes what a commit changed"),
    Hook("post-merge", "indexes what a merge or a pull brought"),
    Hook("post-checkout", "indexes the branch switched to"),
    Hook("post-rewrite", "indexes the outcome of a rebase"),
    Hook("pre-push", "says whether the pushed commits are indexed", background=False),
)

_OF_A_CHECKOUT = Path(__file__).parents[2] / "hooks"


def script(name: str) -> str:
    """Return the script of a hook: from the installed package, or from the checkout gitrag runs from."""
    packaged = files("gitrag.hooking") / "scripts" / name
    found = packaged if packaged.is_file() else _OF_A_CHECKOUT / name
    return found.read_text(encoding="ascii")
