"""Which of several variables of one name a use means: by blocks, and by what is assigned in between."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from gitrag.callgraph.general.records import ANY_OF, NUMBERED, UNSURE, Declaration
from gitrag.callgraph.general.traits import SCRIPTS

if TYPE_CHECKING:
    import tree_sitter

_BLOCK = re.compile(
    r"block|body|statements|compound|_literal$|_case$|_entry$|_arm$|_section$|enhanced_for"
    r"|^(?:for|foreach|while|if|unless|until|else|elsif|elseif|when|case|catch|rescue|try|with|using|do|loop|match"
    r"|switch|lambda|closure|arrow|anonymous_function|function_expression|then|begin|conditional|ternary)(?:_|$)"
)
_BODY = re.compile(r"block|body|statements|compound")
_SCALA_BLOCK = ("scala", "lambda_expression")
"""Of ``{ x => a; b }`` only ``a`` stands in it."""
_LOOP = re.compile(r"^(?:for|foreach|while|until|do|loop|repeat)(?:_|$)|enhanced_for|^(?:do_)?block$")
_HEAD = re.compile(
    r"(?:parameters?|pattern|pattern_body|function_type|declarator|when_subject|switch_label)$|^(?:for|range|with)_clause$"
)
"""What only looks like a block by its name."""
_DECLARING = re.compile(
    r"(?:declarator|(?:^|let_|variable_|property_|short_var_)declaration|let_condition|var_spec|range_clause)$"
)
_THEN_ONLY = frozenset({"swift", "rust", "java", "kotlin", "php", "javascript", "typescript", "tsx"})
"""Languages in which what a condition binds or tests is known where it holds, not after ``else``."""
_TYPED = frozenset({"typescript", "tsx"})
_ANY = frozenset({"", "any", "unknown", "object"})
"""Types of TypeScript that say nothing."""
_NEGATED = frozenset({"unary_expression", "unary_op_expression", "!is"})
"""What says of a condition that it holds where the test in it does not."""

_MOST_MEANT = 30
"""Variables of one name that a use may mean; of more it is not known which."""

_MOST_CLOSING = 40
"""Bytes between the ends of a definition's outermost block and of itself: blanks and brackets."""

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
        bound: Whether nothing is known of it but that its name means it, and nothing around.
    """

    declared: Declaration
    node: tree_sitter.Node
    since: int
    assigned: bool
    bound: bool = False


class Scopes:
    """The variables of a file that have more than one declaration in a definition.

    Args:
        variables: All variables; of those with one name node the first counts.
        parents: Index of the definition that each definition lies in.
        spans: First byte and end of each definition.
        names: Last part of the name of each definition.
        language: The language: in most a variable is known in its block only.
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        parents: Sequence[int],
        spans: Sequence[Span],
        names: Sequence[str],
        *,
        language: str,
    ) -> None:
        self._parents, self._spans, self._names = parents, spans, names
        self._defined = set(zip(parents, names, strict=True))
        found: dict[int, Variable] = {}
        for each in variables:
            known = found.get(each.node.start_byte)
            if known is None or not _says_something(known):
                found[each.node.start_byte] = each
        self._every: dict[tuple[int, str], list[Variable]] = {}
        for each in found.values():
            self._every.setdefault((each.declared.owner, each.declared.name), []).append(each)
        if language == "kotlin":  # what is given keeps the declared type, not the tested one
            kept = {
                key: [each for each in every if not each.assigned or any(_is_tested(it.node) for it in every)]
                for key, every in self._every.items()
            }
            self._every = {key: every for key, every in kept.items() if every}  # else a property's
        self._ordered: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self._blocks: dict[int, Span] = {}
        self._covered: dict[tuple[str, tuple[int, str]], list[Span]] = {}
        self._bodies: set[int] = set()
        self._tested: set[int] = set()  # known in a branch only, also where variables know no blocks
        # What a negated condition decides on: its binding is not known there.
        self._holes: dict[int, Span] = {}
        self._language = language
        self._has_blocks = language not in {"php", "ruby"}
        self._several = {
            key for key, every in self._every.items() if _differ(every) or self._is_of_a_block(every)
        }

    def declarations(self) -> list[Declaration]:
        """Return what is known of variables; of several with one name each with its number."""
        found = []
        for key, every in self._every.items():
            if not any(map(_says_something, every)):
                continue
            if key not in self._several:
                found.append(self._unconcealed(every[0]))
                continue
            for number, each in enumerate(every):
                declared = self._unconcealed(each)
                name = f"{each.declared.name}{NUMBERED}{key[0]}_{number}"
                made = declared.made and tuple(self.named(declared.made, declared.owner, each.node)[0])
                found.append(Declaration(declared.owner, name, declared.type_name, made))
        return found

    def _unconcealed(self, variable: Variable) -> Declaration:
        """Return what a variable is, in JavaScript unsure where one of which nothing is known makes it."""
        known = variable.declared
        if self._language not in SCRIPTS:
            return known
        head = known.made[0] if known.made else known.type_name * (self._language == "javascript")
        called = f"{head.removesuffix('()')}()" if len(known.made or ()) < 2 else head
        is_made = bool(head) and self.conceal(called, known.owner, variable.node)
        type_ = f"{UNSURE}{known.type_name}" * bool(known.type_name)
        return Declaration(known.owner, known.name, type_, None) if is_made else known

    def named(self, parts: Sequence[str], place: int, node: tree_sitter.Node) -> tuple[Sequence[str], bool]:
        """Number the variable that an expression begins with, where several have its name.

        Args:
            place: The definition that it stands in.

        Returns:
            The expression, and whether it is bound to something that is not known: then it may mean that,
            although what is so called around is often of its type.
        """
        is_bound = False
        scope = place
        while scope >= 0:
            key = scope, parts[0]
            if key in self._several:
                numbers = self._meant(key, node, inner=scope != place)
                if numbers is not None:
                    meant = ANY_OF.join(f"{scope}_{number}" for number in numbers)
                    return (f"{parts[0]}{NUMBERED}{meant}", *parts[1:]), is_bound
            elif key in self._every:
                if _says_something(self._every[key][0]):
                    return parts, is_bound
                is_bound = is_bound or self._is_in_scope(key, node, inner=scope != place)
            scope = self._parents[scope]
        return parts, is_bound

    def hide(self, name: str, place: int, node: tree_sitter.Node) -> bool:
        """Tell whether a name alone means a variable, not the function so called around it."""
        scope = place
        while scope >= 0:
            if (scope, name) in self._defined or self._names[scope] == name:
                return False
            if (scope, name) in self._every and self._is_in_scope((scope, name), node, inner=scope != place):
                return True
            scope = self._parents[scope]
        return False

    def conceal(self, made: str, place: int, node: tree_sitter.Node) -> bool:
        """Tell whether it is a variable of which nothing is known that is called or made: ``make()``."""
        name = made.removesuffix("()")
        return name != made and self.hide(name, place, node) and self.named((name,), place, node)[1]

    def only(self, name: str, place: int) -> Variable | None:
        """Return the variable that a name means in a definition, if it is the only one of those nearest."""
        while place >= 0 and (place, name) not in self._every and (place, name) not in self._defined:
            place = self._parents[place]
        every = self._every.get((place, name), ())
        return every[0] if len(every) == 1 and (place, name) not in self._defined else None

    def _is_in_scope(self, key: tuple[int, str], node: tree_sitter.Node, *, inner: bool) -> bool:
        def hides(variable: Variable) -> bool:
            # What a file declares outside of blocks may be a definition of it.
            return not variable.assigned and (key[0] > 0 or self._block(variable) != self._spans[0])

        return self._covers(f"hidden, {inner}", key, node.start_byte, hides, since=not inner)

    def _covers(
        self, what: str, key: tuple[int, str], at: int, counts: Callable[[Variable], bool], *, since: bool
    ) -> bool:
        """Tell whether a byte lies in the block of any variable that counts; the blocks are joined once."""
        spans = self._covered.get((what, key))
        if spans is None:
            spans = self._covered[what, key] = []
            for start, end in sorted(
                (max(self._block(each)[0], self._since(each) if since else 0), self._block(each)[1])
                for each in self._every[key]
                if counts(each)
            ):
                if spans and start <= spans[-1][1]:
                    spans[-1] = spans[-1][0], max(end, spans[-1][1])
                else:
                    spans.append((start, end))
        place = bisect_right(spans, at, key=itemgetter(0)) - 1
        return place >= 0 and at < spans[place][1]

    def _by_place(self, key: tuple[int, str]) -> list[tuple[int, int]]:
        found = self._ordered.get(key)
        if found is None:
            found = self._ordered[key] = sorted(
                (self._since(each), number) for number, each in enumerate(self._every[key])
            )
        return found

    def _since(self, variable: Variable) -> int:
        """Return the byte from which on a variable holds: what is declared is not known in its own value."""
        if variable.bound:
            for each in above(variable.node, *self._spans[variable.declared.owner]):
                if _DECLARING.search(each.type):
                    return max(variable.since, each.end_byte)
                if not _HEAD.search(each.type):
                    break
        return variable.since

    def _meant(self, key: tuple[int, str], node: tree_sitter.Node, *, inner: bool) -> list[int] | None:
        """Return which variables a use may mean: the nearest before it, and what is assigned since.

        An empty list where there are too many; None where it stands in the block of none.
        """
        every, by_place = self._every[key], self._by_place(key)
        at = node.start_byte
        before = bisect_right(by_place, (at, len(every)))
        bound: list[int] = []  # nothing is known of these, and what they hide is often of their type
        known = self._covers(
            f"meant, {inner}", key, at, lambda each: not (inner and each.assigned), since=True
        )
        for place in range(before - 1, max(before - 1 - _MOST_LOOKED_AT, -1), -1) if known else ():
            since, nearest = by_place[place]
            hole = self._holes.get(every[nearest].node.start_byte, (0, 0))
            is_known = self._within(at, self._block(every[nearest])) and not self._within(at, hole)
            if is_known and not (inner and every[nearest].assigned):
                if not every[nearest].bound:
                    break
                bound.append(nearest)
        else:
            is_whole = before <= _MOST_LOOKED_AT and not any(each.assigned for each in every)
            if self._has_blocks and is_whole and not bound:
                return None
            if len(every) > _MOST_MEANT:
                return []
            return [at for at, each in enumerate(every) if each.node.start_byte not in self._tested]
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
        if self._is_declared(every[nearest]):  # whatever it is given is of that type
            known_type = every[nearest].declared.type_name
            others = [at for at in others if every[at].declared.type_name not in {"", known_type}]
        meant = [*bound, nearest, *others]
        return meant if len(meant) <= _MOST_MEANT else []

    def _is_declared(self, variable: Variable) -> bool:
        """Tell whether the type of a variable of TypeScript is written where it is declared."""
        is_tested = variable.assigned or variable.node.start_byte in self._tested
        return self._language in _TYPED and not is_tested and variable.declared.type_name not in _ANY

    def _is_of_a_block(self, every: Sequence[Variable]) -> bool:
        """Tell whether a variable that is the only one of its name is known in a part of its definition."""
        if not self._has_blocks or not _says_something(every[0]) or every[0].assigned:
            return False
        rest = self._spans[every[0].declared.owner][1] - self._block(every[0])[1]
        if every[0].node.start_byte in self._holes:
            return True
        return rest > (_MOST_CLOSING if every[0].node.start_byte in self._bodies else 1)

    def _block(self, variable: Variable) -> Span:
        """Return the bytes in which a variable can be used."""
        found = self._blocks.get(variable.node.start_byte)
        if found is None:
            start, end = self._spans[variable.declared.owner]
            for each in above(variable.node, start, end):
                if _BLOCK.search(each.type) and not _HEAD.search(each.type):
                    around = each.parent if (self._language, each.type) == _SCALA_BLOCK else None
                    if around is not None and around.type == "block":
                        continue
                    is_condition = each.type.startswith("if_")
                    if is_condition and self._is_known_after(each, variable.node):
                        continue
                    start, end = each.start_byte, each.end_byte
                    if is_condition and self._language in _THEN_ONLY and not variable.assigned:
                        self._tested.add(variable.node.start_byte)
                        parts = each.children
                        end = next((it.start_byte for it in parts if it.type.startswith("else")), end)
                    elif each.type == "type_case":
                        self._tested.add(variable.node.start_byte)
                    if _BODY.search(each.type):
                        self._bodies.add(variable.node.start_byte)
                    break
            else:
                self._bodies.add(variable.node.start_byte)
            found = self._blocks[variable.node.start_byte] = start, end
        return found

    def _is_known_after(self, condition: tree_sitter.Node, node: tree_sitter.Node) -> bool:
        """Tell whether what is bound in a condition is known after it: ``if (!(o is A a)) return;``."""
        if condition.parent is None or not _BODY.search(condition.parent.type):
            return False
        within = above(node, condition.start_byte + 1, condition.end_byte)
        is_negated = any(
            each.type in _NEGATED or any(it.type in _NEGATED and not it.is_named for it in each.children)
            for each in within
        )
        consequence = condition.child_by_field_name("consequence")
        if is_negated and consequence is not None:
            self._holes[node.start_byte] = consequence.byte_range
        return (is_negated and self._language in _THEN_ONLY) or self._language == "csharp"

    def _loop_end(self, node: tree_sitter.Node, start: int) -> int:
        """Return the end of the outermost loop around a use that begins after a byte; -1 if there is none."""
        loops = [each.end_byte for each in above(node, start, 1 << 62) if _LOOP.search(each.type)]
        return loops[-1] if loops else -1

    @staticmethod
    def _within(at: int, span: Span) -> bool:
        return span[0] <= at < span[1]


def _is_tested(node: tree_sitter.Node) -> bool:
    return node.type == "when_condition" or (
        node.parent is not None and node.parent.type == "check_expression"
    )


def _differ(every: Sequence[Variable]) -> bool:
    return len({(each.declared.type_name, each.declared.made) for each in every}) > 1


def _says_something(variable: Variable) -> bool:
    return (
        not (variable.assigned or variable.bound)
        or bool(variable.declared.type_name)
        or variable.declared.made is not None
    )


def above(node: tree_sitter.Node, start: int, end: int) -> Iterable[tree_sitter.Node]:
    """Yield the nodes around a node, the nearest first, as far as they lie in a span."""
    around = node.parent
    while around is not None and start <= around.start_byte and around.end_byte <= end:
        yield around
        around = around.parent
