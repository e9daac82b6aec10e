"""What the parts of the evaluation ask of the whole.

To know what a name is, statements are executed, which have expressions, which have calls, which read names:
the parts need one another. Each takes those below it, and this for what lies above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.program import Frame
from gitrag.callgraph.python.records import Expression, Statement
from gitrag.callgraph.python.values import NOTHING, Values


class Arguments(Struct, frozen=True, gc=False):
    """What a call is given.

    Attributes:
        positional: By position.
        keywords: By name; None for ``**``.
        starred: What iterating over ``*`` arguments yields.
        is_open: Whether there are such, of whatever number.
    """

    positional: Sequence[Values] = ()
    keywords: Sequence[tuple[str | None, Values]] = ()
    starred: Values = NOTHING
    is_open: bool = False


NO_ARGUMENTS = Arguments()


class Evaluation(Protocol):
    """The whole, as its parts see it."""

    def value(self, expression: Expression | None, frame: Frame, line: int) -> Values:
        """Return what an expression may be, noting the calls that it makes."""

    def call(self, called: Values, arguments: Arguments, frame: Frame, line: int) -> Values:
        """Call values: note the calls, let the arguments flow into the parameters, return the results."""

    def execute(self, statement: Statement, frame: Frame, *, visible: bool) -> None:
        """Do what a statement does; an invisible one only for the names that it binds."""

    def evaluate(self, own: Id) -> Frame:
        """Read a body, once a pass."""
