"""How much of what a compiler's index says of calls the graph has by itself, and what it contradicts.

    .venv/bin/python scripts/bench/callgraph/scip.py CLONE… [--revision NAME] [--show]

`scip-typescript` or `scip-python`, installed below --work, indexes a copy of each clone, once, in which npm
has installed what package.json needs (without scripts, for 180 s at most).

calls: pairs of functions of which the index says that one calls the other; how many the graph has without it,
certain ones and all. certain: its edges whose call's line and name the index knows; of how many it says that
they lead elsewhere, in the repository or out of it. --show prints those, and the calls that are missed.

Not judged: a line that calls the name more often than the index has functions for, since a member that holds
a function is none to it; what overrides what it names; and a name that the calling file has itself, where it
names another file's: of files without imports TypeScript makes one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from projects import manifests_of
from tools import install

from gitrag.callgraph.extraction import LANGUAGES, extract
from gitrag.callgraph.facts import Facts
from gitrag.callgraph.graph import Node
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls, without_collecting
from gitrag.callgraph.scip import CompiledCalls, documents_of, occurrences_of
from gitrag.chunking.languages import language_of
from gitrag.chunking.notebooks import decode

INDEXERS = {
    "typescript": ("@sourcegraph/scip-typescript@0.4.0", "scip-typescript index"),
    "python": ("@sourcegraph/scip-python@0.6.6", "scip-python index . --project-name x --project-version 1"),
}
NPM = "npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock --legacy-peer-deps"
_SETTINGS = """{
  "compilerOptions": {"allowJs": true, "module": "preserve", "jsx": "preserve", "skipLibCheck": true},
  "exclude": ["**/node_modules"]
}"""
"""Of the compiler, where a repository has none."""
_OF_MODULE = re.compile(r"(?:import|export|from)\b")
_INSTALL_S = 180
_INDEX_S = 900


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache/gitrag-bench/callgraph")
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':20} {'files':>6} {'calls':>6} {'certain':>8} {'all':>6} {'certain':>8} {'elsewhere':>10}")
    for clone in arguments.clones:
        source = copied(clone, arguments.work / "scip" / clone.name, arguments.revision)
        if index := indexed(source, arguments.work):
            print_row(clone.name, source, index, shows=arguments.show)


def copied(clone: Path, source: Path, revision: str) -> Path:
    """Return a copy of a clone, made once, with what it needs by npm."""
    if not source.exists():
        git = ("git", "-C", source)
        subprocess.run(
            ["git", "clone", "-q", "--shared", "--no-checkout", clone.resolve(), source], check=True
        )
        subprocess.run([*git, "checkout", "-q", "--detach", revision], check=True)
        if (source / "package.json").exists():
            run(NPM, source, _INSTALL_S)
            if not (source / "tsconfig.json").exists():
                (source / "tsconfig.json").write_text(_SETTINGS)
    return source


def run(command: str, source: Path, timeout_s: float) -> None:
    """Run a program in a copy; say how it failed."""
    try:
        done = subprocess.run(
            command.split(), cwd=source, timeout=timeout_s, capture_output=True, check=False
        )
        said = f"exit status {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        said = f"not done in {timeout_s:g} s"
    if said:
        print(f"{source.name}: {command.partition(' ')[0]}: {said}", flush=True)


def indexed(source: Path, work: Path) -> dict[str, bytes] | None:
    """Return the index of a copy, made once; None where the tool made none."""
    place = source / "index.scip"
    if not place.exists():
        package, command = INDEXERS["typescript" if (source / "package.json").exists() else "python"]
        program = install(package, work / "typescript") / ".bin" / command.split()[0]
        run(
            f"node --max-old-space-size=4096 {program.resolve()} {command.partition(' ')[2]}",
            source,
            _INDEX_S,
        )
    return documents_of(place.read_bytes()) if place.exists() else None


def print_row(name: str, source: Path, index: dict[str, bytes], *, shows: bool) -> None:
    """Print a repository's figures, and the calls behind them."""
    files = {
        path: (language, extract((source / path).read_bytes(), language))
        for path in index
        if (language := language_of(path)) in LANGUAGES and (source / path).is_file()
    }
    lines = {path: decode((source / path).read_bytes(), own).split("\n") for path, (own, _) in files.items()}
    compiled = CompiledCalls(index, files, lines.__getitem__)
    with without_collecting():
        calls = ResolvedCalls(files, manifests=manifests_of(source))
        ids = {node: own for own, node in calls.nodes()}
        told = {
            (calls.node(caller), calls.node(callee)): min(where)
            for (caller, callee, _), (_, where) in compiled.callees(ids.values()).items()
            if caller[0] == callee[0]
            or not (is_joined(lines[caller[0]]) and has_itself(calls.node(callee).name, files[caller[0]][1]))
        }
        edges = [edge for edge in calls.callees(list(ids.values()), LIKELY) if not edge.rule]
    found = {(edge.caller, edge.callee) for edge in edges}
    certain = {(edge.caller, edge.callee): edge.line for edge in edges if edge.confidence >= 1}
    own = {
        described(each.symbol)
        for data in index.values()
        for each in occurrences_of(data)
        if each.is_definition
    }
    above: dict[str, set[str]] = {}
    for _, facts in files.values():
        for each in facts.definitions:
            bases = {base.rpartition(".")[2] for base in each.bases}
            above.setdefault(each.name.rpartition(".")[2], set()).update(bases)
    judged, wrong = 0, {}
    for (caller, callee), line in certain.items():
        symbols = compiled.symbols_at(caller.path, line, last(callee))
        leads = compiled.called_by(caller.path, line, last(callee))
        is_outside = all(described(each) not in own for each in symbols)
        named = len(re.findall(rf"\b{re.escape(last(callee))}\s*\(", lines[caller.path][line - 1]))
        if named > len(symbols) or any(overrides(callee, calls.node(each), above) for each in leads):
            continue
        is_own = caller.path == callee.path and "." not in callee.name
        if is_own and ids[callee] not in leads and is_joined(lines[caller.path]):
            continue
        judged += bool(symbols and (leads or is_outside))
        if symbols and ids[callee] not in leads and (leads or is_outside):
            wrong[caller, callee] = line
    print(
        f"{name:20} {len(files):6} {len(told):6} {share(told.keys() & certain, told):>8}"
        f" {share(told.keys() & found, told):>6} {judged:8} {len(wrong):10}",
        flush=True,
    )
    missed = {pair: line for pair, line in told.items() if pair not in found}
    for what, pairs in (("missed", missed), ("elsewhere", wrong)) if shows else ():
        for (caller, callee), line in sorted(pairs.items()):
            at = f"{callee.path}:{callee.line_start} {callee.name}"
            print(f"  {what} {caller.path}:{line} {caller.name} -> {at}")


def is_joined(lines: Sequence[str]) -> bool:
    """Tell whether TypeScript takes a file for one with all others that import nothing: no module."""
    return not any(_OF_MODULE.match(line) for line in lines)


def has_itself(name: str, facts: Facts) -> bool:
    """Tell whether a file has a function of its own that is so called."""
    return any(each.name == name and each.kind == "function" for each in facts.definitions)


def overrides(own: Node, other: Node, above: Mapping[str, set[str]]) -> bool:
    """Tell whether a method is of a class below that of another."""
    waiting, seen = [own.name.rpartition(".")[0].rpartition(".")[2]], set[str]()
    while waiting:
        each = waiting.pop()
        waiting += above.get(each, set()) - seen
        seen.add(each)
    return own != other and other.name.rpartition(".")[0].rpartition(".")[2] in seen - {""}


def described(symbol: str) -> str:
    """Return a symbol without package and module, which `scip-python` names now so, now otherwise."""
    return symbol.rpartition("/")[2]


def last(node: Node) -> str:
    """Return a definition's own name."""
    return node.name.rpartition(".")[2]


def share(part: Collection[object], whole: Collection[object]) -> str:
    """Return a share, as it is printed."""
    return f"{len(part) / len(whole):.3f}" if whole else "-"


if __name__ == "__main__":
    main()
