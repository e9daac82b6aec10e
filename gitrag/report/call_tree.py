"""Calls as a tree for a terminal: callers above what was asked for, callees below it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.graph_answer import NoCall, common_places, not_looked_at
from gitrag.callgraph.answering import Direction, GraphQuestion
from gitrag.callgraph.general.crates import shared
from gitrag.callgraph.graph import Edge, Graph, Node, reason
from gitrag.callgraph.paths import Paths
from gitrag.callgraph.subjects import Subject, subjects
from gitrag.report.parts import Style, plain
from gitrag.words.numbers import count

SCREEN = 40
"""Lines that fit into a terminal, or nearly."""

_BESIDE_ROWS = 10
"""Lines of an answer that are not its rows."""

LEGEND = "~ likely: the source alone does not say which of several definitions runs"

_MOST_PARTS = 3
"""Methods of a class that are named beside a caller."""

_MOST_LINES = 5
"""Lines of calls that are listed beside a caller."""

_NOT_LOOKED = {True: "its callers were not looked for", False: "its calls were not followed"}
_INDENT = 3
_NAME_SHARE = 0.6
"""Share of a terminal's columns that names may take before paths stop being aligned."""


class Glyphs(Struct, frozen=True):
    """What branches are drawn with."""

    tee: str = "├─"
    first: str = "┌─"
    last: str = "└─"
    bar: str = "│ "
    ellipsis: str = "…"
    arrow: str = "→"


ASCII = Glyphs("|-", ".-", "`-", "| ", "...", "->")
"""For streams that cannot encode the others."""


class _Row(Struct, frozen=True):
    """A line of a tree, before it is fitted to the terminal."""

    branch: str
    mark: str
    name: str
    path: str
    line: str
    beside: str = ""


class _Branch(Struct, frozen=True):
    """A caller, or a callee, with every call between it and what it hangs from.

    Attributes:
        node: The definition; of several overloads the first.
        lines: Where it calls, or is defined; one for each overload.
        is_likely: Whether none of the calls is certain.
        parts: What of a class or a file is called, or calls.
    """

    node: Node
    lines: tuple[int, ...]
    calls: tuple[int, ...]
    is_likely: bool
    parts: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """By what it is called, and where, if more than once: ``by app.get  3 calls: 12, 40, 77``."""
        more = ", …" if len(self.calls) > _MOST_LINES else ""
        lines = f"{count(len(self.calls), 'call')}: {', '.join(map(str, self.calls[:_MOST_LINES]))}{more}"
        rules = f"by {', '.join(self.rules[:_MOST_PARTS])}{', …' if len(self.rules) > _MOST_PARTS else ''}"
        return "  ".join([rules] * bool(self.rules) + [lines] * (len(self.calls) > 1))

    @property
    def place(self) -> str:
        """The lines, as they follow a path."""
        return ",".join(map(str, self.lines))


class CallTree:
    """Draws the calls around what was asked for.

    Args:
        columns: The terminal's width; None to align and shorten nothing.
    """

    def __init__(
        self,
        graph: Graph,
        none: Sequence[NoCall] = (),
        tests: Collection[Node] = frozenset(),
        question: GraphQuestion = GraphQuestion(),
        style: Style = plain,
        *,
        columns: int | None = None,
        with_tests: bool = False,
        glyphs: Glyphs = Glyphs(),
    ) -> None:
        self._graph = graph
        self._none = {(each.subject.members, each.is_caller): each for each in none}
        self._common = common_places(none)[1]
        self._most_rows: int | None = None
        self._not_looked_at = tuple(not_looked_at(none))
        self._said: set[str] = set()
        self._tests = tests
        self._direction = question.direction
        self._style = style
        self._columns = columns
        self._with_tests = with_tests
        self._depth = question.depth
        self._glyphs = glyphs
        self._is_likely = False
        self._calls: dict[bool, dict[Node, list[Edge]]] = {True: {}, False: {}}
        for edge in graph.edges:
            self._calls[True].setdefault(edge.callee, []).append(edge)
            self._calls[False].setdefault(edge.caller, []).append(edge)

    def lines(self, target: str | None, most: int | None = None) -> Iterator[str]:
        """Yield the lines: a tree for each thing asked for, and what ``~`` means if it occurs.

        Args:
            most: Of more only some callers and callees are listed, of several definitions only how many these
                are; None to list all.
        """
        found = subjects(self._graph.matches, target)
        if target is None and not self._with_tests:
            own = [each for each in found if each.own not in self._tests]
            if own and len(own) < len(found):
                tests = len(found) - len(own)
                yield self._dim(f"{count(tests, 'test')} not listed; --tests shows them")
                yield ""
            found = own or found
        trees = [line for subject in found for line in ("", *self._tree(subject))][1:]
        if most is not None and len(trees) > most:
            self._is_likely, self._most_rows = False, most - _BESIDE_ROWS
            self._said.clear()
            trees = list(self._tree(found[0]) if len(found) == 1 else self._overview(found))
        yield from trees
        for said in self._not_looked_at:
            yield ""
            yield self._dim(said)
        if self._is_likely:
            yield ""
            yield from self._legend()

    def path_lines(self, paths: Paths) -> Iterator[str]:
        """Yield chains of calls, a line for each definition and the place where it makes the next call."""
        if not paths.shown:
            return
        rows: list[_Row | None] = []
        for number, path in enumerate(paths.shown):
            if number:
                rows.append(None)
            for step, edge in enumerate(path):
                before = path[step - 1] if step else None
                arrow = f"{self._glyphs.arrow} " if before else ""
                name, place = edge.caller.name, edge.caller.path
                rows.append(_Row(arrow, self._mark(before), name, place, f"{edge.line}", reason(before)))
            end, arrow, said = path[-1].callee, f"{self._glyphs.arrow} ", reason(path[-1])
            rows.append(_Row(arrow, self._mark(path[-1]), end.name, end.path, f"{end.line_start}", said))
        yield from self._fitted(rows)
        yield ""
        length = count(len(paths.shown[0]), "call")
        more = (
            f"; {count(paths.left_out, 'more chain')} of the same length not listed" if paths.left_out else ""
        )
        yield self._dim(f"{count(len(paths.shown), 'shortest chain')} of {length}{more}")
        yield from self._legend()

    def listing(self) -> Iterator[str]:
        """Yield every call by the caller's file: a line for each caller, with what it calls."""
        path = None
        for caller in sorted(self._calls[False], key=lambda node: (node.path, node.line_start, node.name)):
            if caller.path != path:
                if path is not None:
                    yield ""
                path = caller.path
                yield self._style(path, "path")
            named = dict.fromkeys(
                self._mark(edge) + edge.callee.name
                for edge in sorted(self._calls[False][caller], key=lambda edge: edge.line)
            )
            head = f"  {caller.line_start}  {caller.name}"
            calls = [f" {self._glyphs.arrow} {', '.join(named)}"]
            number = self._style(str(caller.line_start), "number")
            if self._columns is not None:
                calls = _wrapped(calls[0], self._columns, len(head))
            yield f"  {number}  {self._style(caller.name, 'name')}{calls[0]}"
            yield from calls[1:]
        yield ""
        said = (
            f"{count(len(self._graph.edges), 'call')} between {count(len(self._graph.nodes), 'definition')}"
        )
        yield self._dim(said)
        yield from self._legend()

    def _legend(self) -> Iterator[str]:
        if self._is_likely:
            yield self._dim(LEGEND)

    def _mark(self, edge: Edge | None) -> str:
        is_likely = edge is not None and not edge.is_sure
        self._is_likely |= is_likely
        return "~" if is_likely else ""

    def _tree(self, subject: Subject) -> Iterator[str]:
        folds = not self._with_tests and not all(node in self._tests for node in subject.members)
        if self._direction is not Direction.CALLEES:
            yield from self._side(subject, folds=folds, upwards=True)
        yield self._title(subject)
        if self._direction is not Direction.CALLERS:
            yield from self._side(subject, folds=folds, upwards=False)
        within = self._within(subject)
        if within:
            calls, parts = count(within, "call"), count(len(subject.members), "definition")
            yield self._dim(f"{calls} among its own {parts} not listed")

    def _overview(self, found: Sequence[Subject]) -> Iterator[str]:
        """Yield a line for each of many definitions, the most called first, and what may call several."""
        sides = {Direction.CALLERS: (True,), Direction.CALLEES: (False,)}.get(self._direction, (True, False))
        rows: list[tuple[list[int], _Row]] = []
        for each in found:
            said: list[str] = []
            order: list[int] = []
            for upwards in sides:
                branches = self._branches(each.members, each, upwards=upwards)
                own = [branch for branch in branches if branch.node not in self._tests]
                tests = len(branches) - len(own)
                order += -len(own), -tests
                mark = "~" if own and all(branch.is_likely for branch in own) else ""
                self._is_likely |= bool(mark)
                one = f"{'by' if upwards else 'calls'} {mark}{own[0].node.name}" if len(own) == 1 else ""
                many = count(len(own), "caller") if upwards else f"calls {len(own):,}"
                said += [one or mark + many] if own else []
                said += [count(tests, "test") if upwards else f"calls {tests:,} in tests"] if tests else []
                said += [self._verdict(each)] if upwards and not branches else []
            beside = "; ".join((*said, *self._near(each)))
            rows.append((order, _Row("", "", each.name, each.own.path, f"{each.own.line_start}", beside)))
        rows.sort(key=lambda row: row[0])
        yield from self._fitted([row for _, row in rows[: self._most_rows]])
        left = len(rows) - (self._most_rows or 0)
        more = f", {left:,} not listed" if left > 0 else ""
        yield self._dim(f"{count(len(rows), 'definition')}{more}: name one for its calls; --all lists all")
        if self._common:
            yield self._dim(self._common)

    def _verdict(self, subject: Subject) -> str:
        """Return in few words what else is known of who calls a definition."""
        none = self._none.get((subject.members, True))
        if none is None or none.known is None:
            return _NOT_LOOKED[True]
        if none.known.registered:
            return f"registered by {none.known.registered[0]}"
        return f"{none.known.base_outside} may call it" if none.known.base_outside else none.known.verdict

    def _near(self, subject: Subject) -> Iterator[str]:
        """Yield the lines of a definition's own file that may call it."""
        none = self._none.get((subject.members, True))
        places = none.known.unresolved if none is not None and none.known is not None else ()
        found = (place.rpartition(":") for place in places)
        lines = [line for path, _, line in found if path == subject.own.path]
        if lines:
            more = ", …" if len(lines) > _MOST_LINES else ""
            yield f"unresolved here: {', '.join(lines[:_MOST_LINES])}{more}"

    def _side(self, subject: Subject, *, folds: bool, upwards: bool) -> Iterator[str]:
        """Yield callers, from the outermost to the nearest, or callees; tests apart from the others."""
        branches = self._branches(subject.members, subject, upwards=upwards)
        own = [each for each in branches if each.node not in self._tests]
        tests = [each for each in branches if each.node in self._tests]
        if not folds and not own:
            own, tests = tests, []
        seen = set(subject.members)
        shown = self._nearest(own, subject)
        lines = list(self._fitted(self._rows(shown, seen, folds=folds, upwards=upwards)))
        if own:
            verb = "called by" if upwards else "calls"
            more = f", {len(own) - len(shown):,} of them not listed: --all" if len(shown) < len(own) else ""
            lines.append(self._dim(f"{verb} {count(len(own), 'function')}{more}"))
        if not branches or (subject.members, upwards) in self._none:
            lines.append(self._dim(self._nothing(subject, upwards=upwards)))
        if tests and not folds:
            lines += self._fitted(self._rows(tests, seen, folds=folds, upwards=upwards))
        if tests:
            one, many = ("test calls it", "tests call it") if upwards else ("in a test", "in tests")
            hint = f"; --tests shows {'it' if len(tests) == 1 else 'them'}" if folds else ""
            lines.append(self._dim(f"{len(tests):,} {one if len(tests) == 1 else many}{hint}"))
        yield from reversed(lines) if upwards else lines

    def _nearest(self, branches: Sequence[_Branch], subject: Subject) -> Sequence[_Branch]:
        """Return as many as are shown, in their order: the certain ones, then the nearest."""
        if self._most_rows is None or len(branches) <= self._most_rows:
            return branches
        own = subject.own.path
        nearest = sorted(branches, key=lambda each: (each.is_likely, -shared(each.node.path, own)))
        kept = set(nearest[: self._most_rows])
        return [each for each in branches if each in kept]

    def _nothing(self, subject: Subject, *, upwards: bool) -> str:
        """Return that there are no callers, or callees; the whole sentence only once."""
        none = self._none.get((subject.members, upwards))
        said = none.sentence if none is not None else _NOT_LOOKED[upwards]
        if said in self._said:
            return "no caller, as above" if said.startswith("no caller") else "the same as above"
        self._said.add(said)
        return said

    def _title(self, subject: Subject) -> str:
        own = subject.own
        if subject.kind in {"file", "directory"}:
            place, what = self._style(subject.name, "path"), "definition"
            return f"{place}  {self._dim(count(len(subject.members), what))}"
        name, path, lines = subject.name, own.path, f"{own.line_start}-{own.line_end}"
        inside = len(subject.members) - 1
        more = f"  {count(inside, 'definition')} in it" if subject.is_compound and inside else ""
        if self._columns is not None:
            room = self._columns - len(f"{subject.kind} {name}  :{lines}")
            more = more if len(path) + len(more) <= room else ""
            path = _shortened(path, room, self._glyphs.ellipsis)
        return f"{subject.kind} {self._style(name, 'name')}  {self._place(path, lines)}{self._dim(more)}"

    def _within(self, subject: Subject) -> int:
        members = set(subject.members)
        return (
            sum(edge.caller in members and edge.callee in members for edge in self._graph.edges)
            if subject.is_compound
            else 0
        )

    def _branches(self, ends: Collection[Node], subject: Subject | None, *, upwards: bool) -> list[_Branch]:
        """Return who calls some definitions, or whom they call, each once, by path and line."""
        found: dict[Node, list[Edge]] = {}
        own = set(ends) if subject is not None and subject.is_compound else ()
        for end in ends:
            for edge in self._calls[upwards].get(end, ()):
                other = edge.caller if upwards else edge.callee
                if other not in own:
                    found.setdefault(other, []).append(edge)
        branches = []
        for other, edges in found.items():
            parts: dict[str, None] = {}
            if subject is not None and subject.is_compound:
                inner = (
                    edge.callee if upwards else edge.caller for edge in sorted(edges, key=lambda e: e.line)
                )
                parts = dict.fromkeys(subject.part(node) for node in inner if node != subject.own)
            line = min(edge.line for edge in edges) if upwards else other.line_start
            likely = not any(edge.is_sure for edge in edges)
            calls = tuple(sorted({line for edge in edges for line in edge.lines}))
            ruled = all(edge.rule for edge in edges)
            rules = tuple(dict.fromkeys(edge.rule for edge in edges)) if ruled else ()
            branches.append(_Branch(other, (line,), calls, likely, tuple(parts), rules))
        branches.sort(key=lambda each: (each.node.path, each.lines, each.node.name))
        return branches if self._depth > 1 else _without_overloads(branches)

    def _rows(
        self, branches: Sequence[_Branch], seen: set[Node], *, folds: bool, upwards: bool, before: str = ""
    ) -> list[_Row]:
        """Return the rows of a tree that grows downwards; one of callers is turned over as a whole."""
        glyphs = self._glyphs
        rows = []
        branches = branches[::-1] if upwards else branches
        for each in branches:
            is_last = each is branches[-1]
            self._is_likely |= each.is_likely
            end = glyphs.first if upwards else glyphs.last
            named = ", ".join(each.parts[:_MOST_PARTS])
            more = f" +{len(each.parts) - _MOST_PARTS}" if len(each.parts) > _MOST_PARTS else ""
            rows.append(
                _Row(
                    before + (end if is_last else glyphs.tee) + " ",
                    "~" if each.is_likely else "",
                    each.node.name,
                    each.node.path,
                    each.place,
                    "  ".join(
                        filter(
                            None,
                            (
                                f"{glyphs.arrow if upwards else 'in'} {named}{more}" if named else "",
                                each.said,
                            ),
                        )
                    ),
                )
            )
            if each.node not in seen and len(before) < (self._depth - 1) * _INDENT:
                seen.add(each.node)
                further = self._branches([each.node], None, upwards=upwards)
                if folds:
                    further = [one for one in further if one.node not in self._tests]
                inner = before + (" " if is_last else glyphs.bar[0]).ljust(_INDENT)
                rows += self._rows(further, seen, folds=folds, upwards=upwards, before=inner)
        return rows

    def _fitted(self, rows: Sequence[_Row | None]) -> Iterator[str]:
        """Yield rows with their paths aligned, and shortened from the left where they would not fit."""
        columns = self._columns
        used = [len(row.branch) + len(row.mark) + len(row.name) if row is not None else 0 for row in rows]
        aligned = 0
        if columns is not None:
            aligned = max((each for each in used if each <= columns * _NAME_SHARE), default=0)
        for row, width in zip(rows, used, strict=True):
            if row is None:
                yield ""
                continue
            gap = max(aligned - width, 0)
            path, beside = row.path, row.beside
            beside = f"  {beside}" if beside else ""
            if columns is not None:
                room = columns - width - gap - 2 - len(f":{row.line}")
                path = _shortened(path, room, self._glyphs.ellipsis)
                beside = _cut(beside, room - len(path), self._glyphs.ellipsis)
            branch, mark = self._style(row.branch, "dim"), self._style(row.mark, "likely")
            name = self._style(row.name, "name")
            yield f"{branch}{mark}{name}{' ' * (gap + 2)}{self._place(path, row.line)}{self._dim(beside)}"

    def _place(self, path: str, line: int | str) -> str:
        return self._style(path, "path") + self._style(f":{line}", "number")

    def _dim(self, text: str) -> str:
        return self._style(text, "dim") if text else ""


def _without_overloads(branches: Sequence[_Branch]) -> list[_Branch]:
    """Join what has the same name in the same file."""
    found: dict[tuple[str, str, bool, tuple[str, ...]], _Branch] = {}
    for each in branches:
        key = each.node.path, each.node.name, each.is_likely, each.rules
        known = found.setdefault(key, each)
        lines = tuple(sorted({*known.lines, *each.lines}))
        calls = tuple(sorted({*known.calls, *each.calls}))
        parts = tuple(dict.fromkeys(known.parts + each.parts))
        found[key] = replace(known, lines=lines, calls=calls, parts=parts)
    return list(found.values())


def _shortened(path: str, room: int, ellipsis: str) -> str:
    """Return a path without some of its first directories, to fit; at least the file's name."""
    if len(path) <= room:
        return path
    parts = path.split("/")
    for start in range(1, len(parts)):
        short = "/".join((ellipsis, *parts[start:]))
        if len(short) <= room:
            return short
    return parts[-1]


def _cut(text: str, room: int, ellipsis: str) -> str:
    if len(text) <= room:
        return text
    return text[: room - len(ellipsis)] + ellipsis if room > len(ellipsis) + 3 else ""


def _wrapped(text: str, columns: int, indent: int) -> list[str]:
    """Break a list at its commas; the lines after the first are indented."""
    lines, used = [""], indent
    for word in text.split(" ")[1:]:
        if used + 1 + len(word) > columns and lines[-1]:
            lines.append("      ")
            used = 6 - 1
        lines[-1] += f" {word}" if lines[-1].strip() or len(lines) == 1 else word
        used += 1 + len(word)
    return lines
