"""Draw calls of Rust by lot, to be judged by hand, and hold the call graph against what was found.

    .venv/bin/python scripts/bench/callgraph/rust_lot.py draw SEED COUNT [PROJECT …] --work DIRECTORY
    .venv/bin/python scripts/bench/callgraph/rust_lot.py compare TABLE [--show] --work DIRECTORY

Calls are drawn of the sources, as no tool of Rust's own says who calls whom: each a function and a name that
it calls, in what macros are given too, of the names that functions of the project bear; calls by other names
are outside, but for renamed imports. What is drawn outside functions is left out. Someone reads the code and
writes down what is called, in `rust_truth_*.tsv`:

    project  path  line  name  targets

`line` is that of the first of these calls. Targets are separated by a space: ``path:line`` of a function's
name; ``dispatch=path:line`` where it is a trait's, and the type is not known there; ``outside``; ``unknown``
where reading does not say.

calls: what of the project is surely called; how many the graph has, certain ones and all. dispatch: the same
of a trait's functions; one of an implementation counts. certain, likely: the graph's edges of these functions
to something of these names, and how many are right.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from projects import RUST, Project, files_of, manifests_of, sources_of
from tree_sitter import Node
from truth import CERTAIN

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls, without_collecting
from gitrag.chunking.languages import BY_NAME
from gitrag.chunking.parsing import parse


@dataclass(frozen=True, slots=True)
class Function:
    """A function.

    Attributes:
        path: Its file.
        line: The line of its name.
        name: The name.
        first: Its first line, without attributes.
        last: Its last line.
        of: What it is a function of: the head of the ``impl`` or ``trait`` around it; empty for none.
    """

    path: str
    line: int
    name: str
    first: int
    last: int
    of: str


def main() -> None:
    """Draw calls, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache/gitrag-bench/callgraph")
    parser.add_argument("--clones", type=Path, help="a directory of clones named owner+name")
    does = parser.add_subparsers(dest="does", required=True)
    drawing = does.add_parser("draw")
    drawing.add_argument("seed", type=int)
    drawing.add_argument("count", type=int)
    drawing.add_argument("projects", nargs="*", default=list(RUST))
    comparing = does.add_parser("compare")
    comparing.add_argument("table", type=Path)
    comparing.add_argument("--show", action="store_true", help="print what is missed and what is wrong")
    arguments = parser.parse_args()
    if arguments.does == "draw":
        draw(arguments.seed, arguments.count, arguments.projects, arguments.work, arguments.clones)
    else:
        compare(arguments.table, arguments.work, arguments.clones, show=arguments.show)


def draw(seed: int, count: int, projects: list[str], work: Path, clones: Path | None) -> None:
    """Print drawn calls, each with the functions of its name."""
    drawn: list[tuple[str, Function | None, str, list[int]]] = []
    named: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for name in sorted(projects):
        source = sources_of(RUST[name], name, work, clones)
        functions, calls = read_project(RUST[name], source)
        for each in functions:
            named[name, each.name].append(each)
        drawn += [
            (name, caller, called, sorted(lines))
            for (_, caller, called), lines in calls.items()
            if (name, called) in named
        ]
    drawn.sort(key=lambda each: (each[0], each[1].path if each[1] else "", each[3], each[2]))
    for project, caller, called, lines in sorted(
        random.Random(seed).sample(drawn, count), key=lambda each: (each[0], each[1].path if each[1] else "")
    ):
        if caller is not None:
            print(f"{project}\t{caller.path}\t{lines[0]}\t{called}\t")
            print(f"    in {caller.of} {caller.name}, lines {lines}")
            print(*(f"    ? {e.path}:{e.line} {e.of}" for e in named[project, called]), sep="\n")


def read_project(
    project: Project, source: Path
) -> tuple[list[Function], dict[tuple[str, Function | None, str], list[int]]]:
    """Return the functions of a project, and the lines of its calls by path, function and name."""
    functions: list[Function] = []
    calls: dict[tuple[str, Function | None, str], list[int]] = defaultdict(list)
    for path in files_of(project, source):
        text = (source / path).read_bytes()
        own: list[Function] = []
        found: list[tuple[str, int]] = []
        for node in _walk(parse(text, BY_NAME["rust"]).root_node):
            if node.type in {"function_item", "function_signature_item"}:
                name = node.child_by_field_name("name")
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                own.append(Function(path, name.start_point[0] + 1, _text(name), first, last, _of(node)))
            elif (called := _called(node)) is not None and _text(called)[:1].islower():
                found.append((_text(called), called.start_point[0] + 1))
        functions += own
        for name, line in found:
            around = [each for each in own if each.first <= line <= each.last]
            calls[path, around[-1] if around else None, name].append(line)
    return functions, calls


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children)


def _text(node: Node) -> str:
    return node.text.decode()


def _called(node: Node) -> Node | None:
    """Return the name of what a node calls; in what a macro is given, a name before parentheses."""
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function.type == "generic_function":
            function = function.child_by_field_name("function")
        named = function.child_by_field_name("field") or function.child_by_field_name("name") or function
        return named if named.type in {"identifier", "field_identifier"} else None
    behind = node.next_sibling
    if (
        node.type == "identifier"
        and node.parent.type == "token_tree"
        and behind is not None
        and behind.type == "token_tree"
        and behind.text[:1] == b"("
    ):
        return node
    return None


def _of(node: Node) -> str:
    around = node.parent
    while around is not None and around.type not in {"impl_item", "trait_item"}:
        around = around.parent
    return _text(around).partition("{")[0].strip().replace("\n", " ") if around is not None else ""


def compare(table: Path, work: Path, clones: Path | None, *, show: bool) -> None:
    """Print how many of the judged calls the graph has, and how many of its edges are right."""
    rows = [line.split("\t") for line in table.read_text().splitlines() if line and not line.startswith("#")]
    head = f"{'calls':>6} {'certain':>8} {'all':>6} {'dispatch':>9} {'all':>6} {'certain':>8} {'right':>6}"
    print(f"{'':13} {head} {'likely':>7} {'right':>6}")
    total: dict[str, list[int]] = defaultdict(lambda: [0] * 9)
    for name in sorted({row[0] for row in rows}):
        source = sources_of(RUST[name], name, work, clones)
        functions, calls = read_project(RUST[name], source)
        at = {(each.path, each.line): each for each in functions}
        edges = _edges(RUST[name], source, functions)
        for _, path, line, called, targets in (row for row in rows if row[0] == name):
            caller = next(
                own
                for (where, own, by), lines in calls.items()
                if where == path and by == called and min(lines) == int(line)
            )
            found = {callee: sure for callee, sure in edges.get(caller, {}).items() if callee.name == called}
            counted = total[name]
            _count(counted, found, targets.split(), at, f"{path}:{line} {called}" if show else "")
    total["all"] = [sum(each) for each in zip(*total.values(), strict=True)]
    for name, (calls_, sure, every, dispatch, reached, certain, right, likely, likely_right) in total.items():
        print(
            f"{name:13} {calls_:6} {_share(sure, calls_):>8} {_share(every, calls_):>6} {dispatch:9}"
            f" {_share(reached, dispatch):>6} {certain:8} {_share(right, certain):>6} {likely:7}"
            f" {_share(likely_right, likely):>6}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _count(
    counted: list[int],
    found: dict[Function, float],
    targets: list[str],
    at: dict[tuple[str, int], Function],
    shown: str,
) -> None:
    """Count what the graph found of one drawn call."""
    if targets == ["unknown"]:
        return
    called: set[Function] = set()
    declared: set[Function] = set()
    for target in targets:
        if target != "outside":
            path, _, line = target.removeprefix("dispatch=").rpartition(":")
            (declared if target.startswith("dispatch=") else called).add(at[path, int(line)])
    for each in called:
        counted[0] += 1
        counted[1] += found.get(each, 0) >= CERTAIN
        counted[2] += each in found
        if shown and each not in found:
            print(f"    missed {shown} -> {each.path}:{each.line}")
    counted[3] += len(declared)
    counted[4] += len(declared) if found else 0
    for each, sure in found.items():
        is_right = each in called or bool(declared and (each in declared or sure < CERTAIN))
        place = 5 if sure >= CERTAIN else 7
        counted[place] += 1
        counted[place + 1] += is_right
        if shown and not is_right:
            print(f"    {'wrong' if place == 5 else 'likely, wrong'} {shown} -> {each.path}:{each.line}")


def _edges(
    project: Project, source: Path, functions: list[Function]
) -> dict[Function, dict[Function, float]]:
    """Return the graph's edges between functions, and how sure each is."""
    files = {
        path: ("rust", extract((source / path).read_bytes(), "rust")) for path in files_of(project, source)
    }
    places: dict[tuple[str, int], Function] = {}
    for path, (_, facts) in files.items():
        own = [each for each in functions if each.path == path]
        for index, definition in enumerate(facts.definitions):
            name = definition.name.rpartition(".")[2]
            fitting = [
                each
                for each in own
                if each.name == name and definition.line_start <= each.line <= definition.line_end
            ]
            if definition.kind == "function" and fitting:
                places[path, index] = fitting[0]
    found: dict[Function, dict[Function, float]] = defaultdict(dict)
    with without_collecting():
        calls = ResolvedCalls(files, manifests=manifests_of(source))
        ids = {node: own for own, node in calls.nodes()}
        for edge in calls.callees(list(ids.values()), LIKELY):
            caller, callee = places.get(ids[edge.caller]), places.get(ids[edge.callee])
            if caller is not None and callee is not None:
                found[caller][callee] = max(edge.confidence, found[caller].get(callee, 0))
    return found


if __name__ == "__main__":
    main()
