"""How right the call graph is, against what languages' own tools say about real projects.

    .venv/bin/python scripts/bench/callgraph/compare.py [PROJECT …] [--language NAME] [--show missed|wrong]

Python: what a project's tests call, traced. Go: `callgraph`. Java: javac. C and C++: clang. TypeScript and
JavaScript: TypeScript's compiler, which is installed below --work. Each tool writes a table, once (`truth.py`
says what is in it).

calls: pairs of functions of the project of which one surely calls the other; how many the graph has, certain
ones and all. dispatch: pairs behind a declaration without a body; how many the graph has. certain, likely:
the graph's edges that the tool can judge, and how many are right. In Python only calls in lines that ran are
judged, and one that did not happen counts as wrong. Projects with a star were not looked at while the graph
was built.
"""

from __future__ import annotations

import argparse
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

from projects import PROJECTS, Project, files_of, manifests_of, sources_of
from tools import clang_rows, go_rows, install, java_rows, missing, python_rows, typescript_rows
from truth import Compared, compare, read_table

from gitrag.callgraph.extraction import extract
from gitrag.chunking.languages import language_of

TYPESCRIPT = "typescript@5.9.3"
"""The last major version with an interface for programs."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--language", choices=sorted({each.language for each in PROJECTS.values()}))
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache/gitrag-bench/callgraph")
    parser.add_argument(
        "--clones", type=Path, help="a directory of clones named owner+name, instead of GitHub"
    )
    parser.add_argument("--show", choices=["missed", "wrong", "likely"])
    arguments = parser.parse_args()
    chosen = arguments.projects or [
        name for name, each in PROJECTS.items() if arguments.language in {None, each.language}
    ]
    head = f"{'calls':>6} {'certain':>8} {'all':>6} {'dispatch':>9} {'all':>6} {'certain':>8} {'right':>6}"
    print(f"{'':13} {'':10} {head} {'likely':>7} {'right':>6} {'s':>5}")
    for name in chosen:
        project = PROJECTS[name]
        source = sources_of(project, name, arguments.work, arguments.clones)
        lines = table_of(name, project, source, arguments.work)
        if lines is None:
            continue
        began = time.perf_counter()
        files = {
            path: (language, extract((source / path).read_bytes(), language))
            for path in files_of(project, source)
            if project.language != "python" or path.startswith(project.path)
            if (language := language_of(path))
        }
        compared = compare(files, read_table(lines), manifests_of(source))
        print_row(name, project, compared, time.perf_counter() - began)
        show(compared, arguments.show)


def table_of(name: str, project: Project, source: Path, work: Path) -> list[str] | None:
    """Return the table of a project, made where it is missing; None where the tool is."""
    kept = work / name / "table.tsv"
    if not kept.exists():
        typescript = work / "typescript/node_modules/typescript"
        if project.language == "typescript":
            install(TYPESCRIPT, work / "typescript")
        if lacking := missing(project.language, typescript):
            print(f"{name}: left out, {lacking} is not here", file=sys.stderr)
            return None
        files = files_of(project, source)
        match project.language:
            case "typescript":
                rows = typescript_rows(source, files, typescript)
            case "java":
                rows = java_rows(source, files)
            case "go":
                rows = go_rows(source, files, project.path)
            case "c":
                units = [path for path in files if any(fnmatch(path, each) for each in project.units)]
                rows = clang_rows(source, units, project.flags)
            case _:
                rows = python_rows(source, project.path, project.needs, project.tests, work / name)
        kept.write_text("\n".join(sorted(set(rows))) + "\n")
    return kept.read_text().splitlines()


def print_row(name: str, project: Project, compared: Compared, taken: float) -> None:
    """Print a project's figures."""
    edges = set(compared.edges)
    calls, dispatched = compared.calls, compared.dispatched
    certain = compared.sure(compared.judged)
    likely = compared.judged - certain

    def share(part: set[object] | frozenset[object], whole: set[object] | frozenset[object]) -> str:
        return f"{len(part) / len(whole):.3f}" if whole else "-"

    print(
        f"{name + ('' if project.looked_at else ' *'):13} {project.language:10}"
        f" {len(calls):6} {share(compared.sure(calls), calls):>8} {share(calls & edges, calls):>6}"
        f" {len(dispatched):9} {share(dispatched & edges, dispatched):>6}"
        f" {len(certain):8} {share(certain & compared.right, certain):>6}"
        f" {len(likely):7} {share(likely & compared.right, likely):>6} {taken:5.0f}",
        flush=True,
    )


def show(compared: Compared, what: str | None) -> None:
    """Print the pairs behind a figure."""
    certain = compared.sure(compared.judged)
    pairs = {
        "missed": compared.calls - set(compared.edges),
        "wrong": certain - compared.right,
        "likely": compared.judged - certain - compared.right,
    }.get(what or "", set())
    for caller, callee in sorted(pairs):
        line = compared.edges[caller, callee].line if (caller, callee) in compared.edges else ""
        print(f"    {caller} -> {callee}{f' in line {line}' if line else ''}")


if __name__ == "__main__":
    main()
