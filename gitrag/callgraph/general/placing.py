"""The definitions of a file in their order, each with the one around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.reader import Captures, DefinitionKind, Reader
from gitrag.callgraph.general.traits import SCRIPTS
from gitrag.late import late_re
from gitrag.model import Kind

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.outline import Definition

_OF_FILE = late_re(r"^(?:this\.|module\.(?=exports$)|(?:module\.)?exports\.)")
"""What stands before the name of what a file of JavaScript exports."""
_SUITE = late_re(rb"(?:\w+\.)?(?:describe|context|suite|feature)\b")
"""How a block of tests begins, in JavaScript and Ruby."""
_Row = tuple[int, int, DefinitionKind, str, int, int]


class PlacingReader(Reader):
    """Finds the definitions of a file, and their places."""

    def _outlined(self) -> list[Definition]:
        from gitrag.chunking.outline import outline

        lines = self._source.decode("utf-8", "replace").split("\n")
        return outline(self._source, lines, self._language) or []

    def _place(
        self,
        tree: tree_sitter.Tree,
        found: Sequence[Definition],
        values: Sequence[dict[str, list[tree_sitter.Node]]],
    ) -> None:
        """Order the definitions, each with its parent; also variables that are called like functions."""
        rows: list[_Row] = []
        prototypes = set[tuple[int, int]]()
        values, renamed, made = self._of_values(values)
        for each in found:
            is_prototype = each.minor and each.kind is Kind.FUNCTION
            if is_prototype and self._language.name == "kotlin":
                prototypes.add((each.start, each.end))  # of an interface, it is called
            elif each.minor and (is_prototype or _SUITE.match(self._source, each.start)):
                continue  # a prototype, or tests under a heading, which nobody calls
            name = renamed.get((each.start, each.end)) or ".".join([*each.owners, each.name])
            kind: DefinitionKind = "class" if each.kind is Kind.CLASS else "function"
            rows.append((each.start, each.end, kind, name, each.row + 1, each.last + 1))
        if self._language.name == "dart":  # a constructor with a name is outlined without it, too
            rows = list({row[:2]: row for row in rows}.values())
        rows += self._rows_of(values, rows, made)
        is_script = self._language.name in SCRIPTS
        self._values = {each["value.name"][0].start_byte for each in values if "static" not in each}
        self._rows = [("module", "", 1, tree.root_node.end_point[0] + 1, -1)]
        self._spans = [(0, len(self._source) + 1)]
        around: list[_Row] = []  # what is given to a prototype belongs to its function
        for row in sorted(rows, key=lambda row: (row[0], -row[1])):
            start, end, kind, name, first, last = row
            while around and around[-1][1] < end:
                around.pop()
            parent = self._innermost(start, end)
            if is_script and kind == "class" and name.endswith("prototype"):
                around.append(row)
                continue
            if (start, end) in prototypes and self._rows[parent][0] != "class":
                continue
            outer = self._rows[parent][1]
            if around and around[-1][0] >= self._spans[parent][0]:
                outer = ".".join(filter(None, (outer, around[-1][3].rpartition(".")[0])))
            self._rows.append((kind, f"{outer}.{name}" if outer else name, first, last, parent))
            self._spans.append((start, end))

    def _rows_of(
        self, values: Sequence[Captures], rows: Sequence[_Row], made: Collection[int]
    ) -> Iterator[_Row]:
        """Yield the values that no definition is yet, each with its place."""
        taken = {(start, end) for start, end, *_ in rows}
        defaults = sorted(row[:2] for row in rows if row[2:4] == ("class", DEFAULT))
        nameless = 0
        is_script = self._language.name in SCRIPTS
        for captures in values:
            node, name = captures["value"][0], self._text(captures["value.name"][0])
            # Several objects of Kotlin, or classes, without a name are several.
            if self._language.name == "kotlin" or (is_script and node.type == "class"):
                nameless += 1
                name += str(nameless) * (nameless > 1)
            at = bisect_right(defaults, node.byte_range) - 1 if name == DEFAULT else -1
            is_known = at >= 0 and node.start_byte < defaults[at][1]
            if node.byte_range not in taken and not is_known:
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                is_class = "static" in captures or node.type in {"object", "class"}
                is_class = is_class or captures["value.name"][0].start_byte in made
                name = _OF_FILE.sub("", name) if is_script else name.lstrip(":").replace("::", ".")  # of Ruby
                yield *node.byte_range, "class" if is_class else "function", name, first, last
                taken.add(node.byte_range)

    def _of_values(
        self, values: Sequence[Captures]
    ) -> tuple[list[Captures], dict[tuple[int, int], str], set[int]]:
        """Return the values that are definitions; what has another name, and which are made of an object."""
        renamed = {
            each["value"][0].byte_range: self._text(each["value.name"][0])
            for each in values
            if "_computed" in each
        }
        whole = [each for each in values if "_computed" not in each]
        objects = {each["value.name"][0].start_byte for each in whole if each["value"][0].type == "object"}
        made = objects & {
            each["value.name"][0].start_byte for each in whole if each["value"][0].type != "object"
        }
        left = [
            each
            for each in whole
            if each["value"][0].type != "object" or each["value.name"][0].start_byte not in made
        ]
        return left, renamed, made
