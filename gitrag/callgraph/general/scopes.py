"""Which of several variables of one name a use means: by blocks, and by what is assigned in between."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitrag.callgraph.general.records import ANY_OF, NUMBERED, Declaration

if TYPE_CHECKING:
    import tree_sitter

_BLOCK = re.compile(
    r"block|body|statements|compound|_literal$|_case$|_entry$|_arm$|_section$|enhanced_for"
    r"|^(?:for|foreach|while|if|unless|until|else|elsif|elseif|when|case|catch|rescue|try|with|using|do|loop|match"
    r"|switch|lambda|closure|arrow|anonymous_function|function_expression|then|begin|conditional|ternary)(?:_|$)"
)
_LOOP = re.compile(r"^(?:for|foreach|while|until|do|loop|repeat)(?:_|$)|enhanced_for|^(?:do_)?block$")
_HEAD = re.compile(r"(?:parameters?|pattern|function_type)$|^(?:for|range|with)_clause$")
"""What only looks like a block by its name."""

_MOST_MEANT = 30
"""Variables of one name that a use may mean; of more it is not known which."""

_MOST_LOOKED_AT = 1_000
"""Declarations before a use among which the nearest is looked for: generated functions have thousands."""

Span = tuple[int, int]


class Variable(NamedTuple):
    """A variable as it is written.

    Attributes:
        declared: What it is.
        node: Its name.
        since: The byte from which on it holds.
        assigned: Whether it is only given another value here, and may have been declared before.
        hiding: Whether it counts only where it hides another one: a lambda's parameter without a type.
    """

    declared: Declaration
    node: tree_sitter.Node
    since: int
    assigned: bool
    hiding: bool = False


class Scopes:
    """The variables of a file that have more than one declaration in a definition.

    Args:
        variables: All variables; of those with one name node the first counts.
        parents: Index of the definition that each definition lies in.
        spans: First byte and end of each definition.
    """

    def __init__(self, variables: Iterable[Variable], parents: Sequence[int], spans: Sequence[Span]) -> None:
        self._parents, self._spans = parents, spans
        found: dict[int, Variable] = {}
        for each in variables:
            known = found.get(each.node.start_byte)
            if known is None or not _says_something(known):
                found[each.node.start_byte] = each
        self._every: dict[tuple[int, str], list[Variable]] = {}
        for each in found.values():
            self._every.setdefault((each.declared.owner, each.declared.name), []).append(each)
        self._by_place = {
            key: sorted((each.since, number) for number, each in enumerate(every))
            for key, every in self._every.items()
        }
        self._several = {key for key, every in self._every.items() if _differ(every)}
        self._blocks: dict[int, Span] = {}

    def declarations(self) -> list[Declaration]:
        """Return what is known of variables; of several with one name each with its number."""
        found = []
        for key, every in self._every.items():
            if not any(map(_says_something, every)):
                continue
            if key not in self._several:
                found.append(every[0].declared)
                continue
            for number, each in enumerate(every):
                name = f"{each.declared.name}{NUMBERED}{number}"
                made = each.declared.made and tuple(
                    self.named(each.declared.made, each.declared.owner, each.node)
                )
                found.append(Declaration(each.declared.owner, name, each.declared.type_name, made))
        return found

    def named(self, parts: Sequence[str], place: int, node: tree_sitter.Node) -> Sequence[str]:
        """Number the variable that an expression begins with, where several have its name.

        Args:
            parts: The expression.
            place: The definition that it stands in.
            node: Its node.
        """
        scope = place
        while scope >= 0:
            key = scope, parts[0]
            if key in self._every:
                if key not in self._several:
                    return parts
                numbers = self._meant(key, node, inner=scope != place)
                return (f"{parts[0]}{NUMBERED}{ANY_OF.join(map(str, numbers))}", *parts[1:])
            scope = self._parents[scope]
        return parts

    def _meant(self, key: tuple[int, str], node: tree_sitter.Node, *, inner: bool) -> list[int]:
        """Return which variables a use may mean: the nearest before it, and what is assigned since.

        None where there are too many.
        """
        every, by_place = self._every[key], self._by_place[key]
        at = node.start_byte
        before = bisect_right(by_place, (at, len(every)))
        hiding: list[int] = []  # nothing is known of these, and what they hide is often of their type
        for place in range(before - 1, max(before - 1 - _MOST_LOOKED_AT, -1), -1):
            since, nearest = by_place[place]
            if self._within(at, self._block(every[nearest])) and not (inner and every[nearest].assigned):
                if not every[nearest].hiding:
                    break
                hiding.append(nearest)
        else:
            return list(range(len(every))) if len(every) <= _MOST_MEANT else []
        start, end = self._block(every[nearest])
        until = end if inner else max(at, self._loop_end(node, start))
        after = bisect_right(by_place, (until, len(every)))
        if after - place > _MOST_LOOKED_AT:
            return []
        others = [
            number
            for later, number in by_place[place + 1 : after]
            if later > since and every[number].assigned and start <= every[number].node.start_byte < end
        ]
        meant = [*hiding, nearest, *others]
        return meant if len(meant) <= _MOST_MEANT else []

    def _block(self, variable: Variable) -> Span:
        """Return the bytes in which a variable can be used."""
        found = self._blocks.get(variable.node.start_byte)
        if found is None:
            start, end = self._spans[variable.declared.owner]
            for each in _above(variable.node, start, end):
                if _BLOCK.search(each.type) and not _HEAD.search(each.type):
                    start, end = each.start_byte, each.end_byte
                    break
            found = self._blocks[variable.node.start_byte] = start, end
        return found

    def _loop_end(self, node: tree_sitter.Node, start: int) -> int:
        """Return the end of the outermost loop around a use that begins after a byte; -1 if there is none."""
        loops = [each.end_byte for each in _above(node, start, 1 << 62) if _LOOP.search(each.type)]
        return loops[-1] if loops else -1

    @staticmethod
    def _within(at: int, span: Span) -> bool:
        return span[0] <= at < span[1]


def _differ(every: Sequence[Variable]) -> bool:
    return len({(each.declared.type_name, each.declared.made) for each in every}) > 1


def _says_something(variable: Variable) -> bool:
    return (
        not (variable.assigned or variable.hiding)
        or bool(variable.declared.type_name)
        or variable.declared.made is not None
    )


def _above(node: tree_sitter.Node, start: int, end: int) -> Iterable[tree_sitter.Node]:
    """Yield the nodes around a node, the nearest first, as far as they lie in a span."""
    above = node.parent
    while above is not None and start <= above.start_byte and above.end_byte <= end:
        yield above
        above = above.parent
