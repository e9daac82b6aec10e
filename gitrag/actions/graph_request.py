"""What can be asked of the graph of calls, on the command line and by agents."""

from typing import TYPE_CHECKING, Annotated, Self

from msgspec import Struct

from gitrag.actions.requests import Option, Scope
from gitrag.errors import UsageError

if TYPE_CHECKING:
    from gitrag.callgraph.answering import GraphQuestion


class GraphCommand(Struct, frozen=True):
    """Which calls are asked for, and how the command line shows them.

    Attributes:
        paths: Only paths like these, as in .gitignore.
        to: Only the shortest chains of calls from the target to this one.
        whole: Whether text lists all, however long that is.
        scope: The other repositories whose calls are listed.
    """

    direction: Annotated[
        str,
        Option(
            "",
            "",
            switches={"callers": "Only who calls TARGET.", "callees": "Only whom TARGET calls."},
            all_switches="both",
            tools={"call_graph": ""},
        ),
    ] = "both"
    depth: Annotated[
        int,
        Option(
            "--depth",
            "How many calls away.",
            metavar="N",
            least=1,
            most=20,
            tools={"call_graph": "Calls away."},
        ),
    ] = 1
    filter: Annotated[
        str | None,
        Option(
            "--filter",
            "Only paths and names that a regular expression is found in.",
            metavar="RE",
            tools={"call_graph": "Instead: regex on paths and names."},
        ),
    ] = None
    paths: Annotated[
        tuple[str, ...], Option("--path", "Only paths like this, as in .gitignore.", metavar="GLOB")
    ] = ()
    to: Annotated[
        str | None,
        Option(
            "--to",
            "Only the shortest chains of calls from TARGET to this one.",
            metavar="TARGET",
            tools={"call_graph": "Only chains to it."},
        ),
    ] = None
    references: Annotated[
        bool,
        Option(
            "--references",
            "List where TARGET is named besides calls too, in text and json.",
            tools={"call_graph": "Names too."},
        ),
    ] = False
    tests: Annotated[bool, Option("--tests", "List calls from tests too; text and html only count them.")] = (
        False
    )
    whole: Annotated[bool, Option("--all", "List all in text, which else is about a screen of a target.")] = (
        False
    )
    scope: Scope = Scope()

    def question(self, target: str | None) -> "GraphQuestion":
        """Return what is asked about a target."""
        from gitrag.callgraph.answering import Direction, GraphQuestion

        return GraphQuestion(target, self.filter, Direction(self.direction), self.depth)

    def checked(self, target: str | None) -> Self:
        """Return it; refuse what does not go together."""
        one_way = self.direction != "both"
        if self.scope and (target is None or self.to is not None or self.filter):
            raise UsageError(
                "Of other repositories the calls of one TARGET are listed, without --filter and --to.",
                "Name it: gitrag graph Session.send --everywhere",
            )
        if one_way and target is None and self.filter is None:
            raise UsageError(
                "--callers and --callees are about something.", "Name it: gitrag graph Session.send --callers"
            )
        if self.to is not None and (target is None or self.filter is not None or one_way):
            raise UsageError(
                "--to is for chains of calls between two targets.",
                "Name both: gitrag graph main --to Session.send",
            )
        return self
