"""What is known of a scope of a Python file, and of the names at a place in its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gitrag.callgraph.edges import Id
from gitrag.callgraph.python.records import (
    AGAIN,
    BRANCH,
    BREAK,
    FOREVER,
    HANDLER,
    JOIN,
    LOOP,
    OTHER,
    RETURN,
    TRY,
    Scope,
    Statement,
)
from gitrag.callgraph.python.values import NOTHING, Outside, Values, limited

_State: TypeAlias = tuple[dict[str, Values], dict[str, Values]]
"""What names may be at a place in a body; and what those were of which more is proved there."""


_MOST_STATEMENTS = 2_000
"""Statements of a body that is read in order: at each branch all its names are looked at."""

_ANOTHER: Values = frozenset([Outside("nonlocal")])
"""What a name may be besides that functions within bind: whatever they let it be by then."""

Hidden: TypeAlias = tuple[Values | None, Values | None]


class Frame:
    """What is known of one scope.

    Attributes:
        own: The scope.
        scope: Its record.
        parent: What it lies in; None for a module.
        is_function: Whether it is called; else its body runs once.
        bindings: The statements that bind a name, by name; of a function none.
        settled: The pass in which each name's statements were all read last.
        names: What its names may be, somewhere in it.
        now: What they may be where it is being read; of what is no function only those of expressions.
        guessed: What names were tested to be, here or elsewhere.
        returns: What it may return.
        yields: What it may yield.
        done: The pass that read it last.
    """

    __slots__ = (
        "_before",
        "_carried",
        "_forks",
        "_is_left",
        "_is_ordered",
        "_loops",
        "_tried",
        "bindings",
        "done",
        "guessed",
        "is_function",
        "names",
        "now",
        "own",
        "parent",
        "returns",
        "scope",
        "settled",
        "yields",
    )

    def __init__(
        self, own: Id, scope: Scope, parent: Frame | None, bindings: Mapping[str, Sequence[Statement]]
    ) -> None:
        self.own = own
        self.scope = scope
        self.parent = parent
        self.is_function = scope.kind == "function"
        self.bindings = bindings
        self.settled: dict[str, int] = {}
        self.names: dict[str, Values] = {}
        self.returns: Values = NOTHING
        self.yields: Values = NOTHING
        self.done = 0
        self._carried: dict[int, _State] = {}
        self.begin()

    def begin(self) -> None:
        """Begin to read the body."""
        self.end()
        self._forks: list[tuple[_State, list[_State]]] = []
        self._loops: list[tuple[int, _State, list[_State], list[_State]]] = []
        self._tried: list[dict[str, Values]] = []
        self._is_left = False
        self._is_ordered = len(self.scope.body) <= _MOST_STATEMENTS

    def end(self) -> None:
        """End it: no name is at any place."""
        self.now: dict[str, Values] = {}
        self.guessed: dict[str, Values] = {}
        self._before: dict[str, Values] = {}

    def bind(self, name: str, values: Values) -> None:
        """Let a name be one of these, too."""
        known = self.names.get(name)
        self.names[name] = values if known is None else limited(known | values)
        for held in (self.now, self._before) if self.is_function else ():
            if held is self.now or name in held:
                held[name] = limited(held.get(name, NOTHING) | values)

    def _holding(self, name: str) -> Frame:
        """Return the function around that has a name, else the module."""
        found = self
        while found.parent is not None:
            found = found.parent
            if found.is_function and name in found.names:
                break
        return found

    def guess(self, name: str, values: Values) -> None:
        """Let a name perhaps be one of these: it was tested to be."""
        if name in self.now:
            self.guessed[name] = self.guessed.get(name, NOTHING) | values
            self.names[name] = self.names.get(name, NOTHING) | values

    def guesses(self, name: str) -> Values:
        """Return what a name may be besides, where nothing of it is proved."""
        return NOTHING if name in self._before else self.guessed.get(name, NOTHING)

    def rebind(self, name: str, values: Values) -> None:
        """Let a name be one of these from here on."""
        if not self._is_ordered:
            self.bind(name, values)
            return
        outer = self if name not in self.scope.outer else self._holding(name)
        known = outer.names.get(name)
        outer.names[name] = values if known is None else limited(known | values)
        if self.is_function:
            self._before.pop(name, None)
            self.guessed.pop(name, None)
            self.now[name] = outer.names[name] | _ANOTHER if name in self.scope.shared else values
            for tried in self._tried[-1:]:
                tried[name] = limited(tried.get(name, NOTHING) | values)

    def prove(self, name: str, values: Values) -> None:
        """Let a name be one of these where that is proved."""
        if self._is_ordered:
            self._before.setdefault(name, self.now.get(name, NOTHING))
            self.now[name] = values

    def hidden(self, name: str) -> Hidden:
        """Return what is known of a name here, to be put back by `show` when something inner ends."""
        return self.now.get(name), self._before.get(name)

    def show(self, name: str, hidden: Hidden) -> None:
        """Let a name again be what it was."""
        for held, values in zip((self.now, self._before), hidden, strict=True):
            if values is None:
                held.pop(name, None)
            else:
                held[name] = values

    def step(self, kind: int, place: int) -> None:  # noqa: C901, PLR0912 - a branch a kind
        """Follow where a body's statements lead: see `records.BRANCH` and those behind it.

        Args:
            place: Which of the body's statements it is.
        """
        here: _State = self.now, self._before
        if not self._is_ordered:
            return
        if kind in {BRANCH, TRY}:
            if kind == TRY:
                self._tried.append({})
            self._forks.append((here, []))
            self._go(here)
        elif kind in {OTHER, HANDLER}:
            before, ends = self._forks[-1]
            if not self._is_left:
                ends.append(here)
            if kind == HANDLER:
                before = _joined([before, here, self._within(before)])
                self._forks[-1] = before, ends
            self._go(before)
        elif kind == JOIN:
            fork, ends = self._forks.pop()
            if not self._is_left:
                ends.append(here)
            is_left = not ends
            self._go(_joined(ends or [here], fork[0]))
            self._is_left = is_left
        elif kind == LOOP:
            carried = self._carried.get(place)
            self._loops.append((place, here, [], []))
            self._go(_joined([here, carried]) if carried is not None else here)
        elif kind in {AGAIN, FOREVER}:
            begin, before, breaks, again = self._loops.pop()
            if not self._is_left:
                again.append(here)
            if again:
                self._carried[begin] = _joined(again)
            ends = breaks if kind == FOREVER else [before, *again, *breaks]
            self._go(_joined(ends or [here]))
            self._is_left = not ends
        else:
            if kind != RETURN and self._loops and not self._is_left:
                _, _, breaks, again = self._loops[-1]
                (breaks if kind == BREAK else again).append((self.now.copy(), self._before.copy()))
            self._is_left = True

    def _within(self, begin: _State) -> _State:
        """Return what names may be somewhere in a ``try`` that ends, which so began."""
        tried = self._tried.pop()
        for around in self._tried[-1:]:
            for name, values in tried.items():
                around[name] = limited(around.get(name, NOTHING) | values)
        kept = {name: values for name, values in begin[1].items() if name not in tried}
        return begin[0] | tried, kept

    def _go(self, state: _State) -> None:
        self.now, self._before = state[0].copy(), state[1].copy()
        self._is_left = False


def _joined(states: Sequence[_State], begin: Mapping[str, Values] | None = None) -> _State:
    """Return what names may be where several ways meet.

    What is proved is so on all of them, but those that let the name be something else since they began.

    Args:
        begin: What names were then.
    """
    if len(states) == 1:
        return states[0]
    tested: set[str] = set().union(*(before for _, before in states))
    proved = {
        name
        for name in tested
        if all(
            name in before or (begin is not None and now.get(name) is not begin.get(name))
            for now, before in states
        )
    }
    joined: tuple[dict[str, Values], dict[str, Values]] = ({}, {})
    for now, before in states:
        for name in now:
            values = before[name] if name in before and name not in proved else now[name]
            known = joined[0].get(name)
            if known is not values:
                joined[0][name] = values if known is None else limited(known | values)
        for name in proved:
            joined[1][name] = joined[1].get(name, NOTHING) | before.get(name, now.get(name, NOTHING))
    return joined
