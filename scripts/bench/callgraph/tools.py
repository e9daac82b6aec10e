"""Run languages' own tools over a project, each for the rows of a table (`truth.py`).

None is a dependency of gitrag: `missing` says what a language needs that is not here.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
CLANG_PYTHON = os.environ.get("CLANG_PYTHON", "/usr/bin/python3")
"""The Python that has libclang's bindings (Debian: python3-clang)."""
GO_LIBRARIES = "/usr/share/gocode"
"""Where Debian installs the sources of Go packages."""

_EDGE = (
    "{{.Dynamic}}\t{{.Caller.Prog.Fset.Position .Caller.Pos}}\t"
    "{{.Filename}}:{{.Line}}\t{{.Callee.Prog.Fset.Position .Callee.Pos}}"
)
_POSITION = re.compile(r"(.+?):(\d+)(?::\d+)?$")


def missing(language: str, typescript: Path | None = None) -> str:
    """Say what a language's tool needs that is not here; empty if nothing."""
    if language == "typescript":
        if not shutil.which("node"):
            return "node"
        return "" if typescript and (typescript / "package.json").exists() else "the npm package typescript"
    if language == "java":
        return "" if shutil.which("javac") else "a JDK"
    if language == "go":
        return next((each for each in ("go", "callgraph") if not shutil.which(each)), "")
    if language == "c":
        command = [CLANG_PYTHON, "-c", "import clang.cindex; clang.cindex.Index.create()"]
        found = (
            Path(CLANG_PYTHON).exists()
            and not subprocess.run(command, capture_output=True, check=False).returncode
        )
        return "" if found else "libclang's Python bindings"
    return ""


def install(package: str, place: Path) -> Path:
    """Install an npm package, `name@version`, where it is missing; return the directory of the packages."""
    found = place / "node_modules"
    if not (found / package.rpartition("@")[0]).exists():
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", place]
        subprocess.run([*npm, package], check=True)
    return found


def _ask(command: Sequence[object], files: Sequence[str], **more: object) -> list[str]:
    done = subprocess.run(
        [str(each) for each in command],
        input="\n".join(files),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        **more,
    )
    return done.stdout.splitlines()


def typescript_rows(source: Path, files: Sequence[str], typescript: Path) -> list[str]:
    """Ask TypeScript's compiler; `typescript` is the directory of its npm package."""
    return _ask(
        ["node", "--max-old-space-size=4096", HERE / "typescript_truth.cjs", typescript, source], files
    )


def java_rows(source: Path, files: Sequence[str]) -> list[str]:
    """Ask javac."""
    return _ask(["java", HERE / "JavaTruth.java", source], files)


def clang_rows(source: Path, units: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Ask clang about the files to compile."""
    return _ask([CLANG_PYTHON, HERE / "clang_truth.py", source, *flags], units)


def go_rows(source: Path, files: Sequence[str], path: str) -> list[str]:
    """Ask Go's `callgraph`.

    Static calls are certain; those of variable type analysis (vta, which fails on some code) may happen;
    those of class hierarchy analysis (cha) are not called wrong.
    """
    rows = _ask(
        ["go", "run", HERE / "go_functions.go", source], files, env={**os.environ, "GO111MODULE": "off"}
    )
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for row in rows:
        if row.startswith("F"):
            _, file, line, name, last, _ = row.split("\t")
            spans.setdefault(file, []).append((int(line), int(last), name))
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder, "src", path)
        here.parent.mkdir(parents=True)
        here.symlink_to(source.resolve())
        environ = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{folder}:{GO_LIBRARIES}", "PWD": str(here)}
        for algorithm, kinds in (("vta", ("call", "dispatch")), ("cha", ("call", "override"))):
            command = ["callgraph", "-algo", algorithm, "-format", _EDGE, "./..."]
            try:
                edges = _ask(command, (), env=environ, cwd=here)
            except subprocess.CalledProcessError as error:
                print(f"callgraph -algo {algorithm} failed ({error.returncode}): left out", file=sys.stderr)
                continue
            for edge in edges:
                dynamic, caller, site, callee = edge.split("\t")
                ends = [_go_place(each, here, spans) for each in (caller, callee)]
                if all(ends):
                    line = site.rpartition(":")[2]
                    rows.append("\t".join(["E", kinds[dynamic == "dynamic"], ends[0], line, ends[1]]))
    return rows


def _go_place(position: str, root: Path, spans: dict[str, list[tuple[int, int, str]]]) -> str:
    """Find the function that a position is in: a closure is part of the one around it."""
    found = _POSITION.match(position)
    if not found or not found[1].startswith(f"{root}/"):
        return ""
    file, line = found[1].removeprefix(f"{root}/"), int(found[2])
    for first, last, name in spans.get(file, ()):
        if first <= line <= last:
            return f"{file}\t{first}\t{name}"
    return f"{file}\t0\t" if file in spans else ""


def python_rows(
    source: Path, package: str, needs: Sequence[str], tests: Sequence[str], work: Path
) -> list[str]:
    """Run a project's tests under a tracer, and print what pytest says at its end."""
    out = work / "calls.json"
    python = work / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
        install = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*install, "coverage", *needs], check=True)
        subprocess.run([*install, "--no-deps", "-e", str(source)], check=True)
    environ = {
        **os.environ,
        "TRACE_PACKAGE": str(source / package),
        "TRACE_OUT": str(out),
        "PYTHONPATH": str(HERE),
        "COVERAGE_FILE": str(work / "lines.coverage"),
    }
    run = ["-m", "coverage", "run", "--source", str(source / package), "-m"]
    options = ["pytest", "-q", "-p", "trace_calls", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        [str(python), *run, *options], cwd=source, env=environ, check=False, capture_output=True, text=True
    )
    print(f"{source.name}: {done.stdout.strip().splitlines()[-1]}", file=sys.stderr)
    lines = work / "lines.json"
    subprocess.run(
        [str(python), "-m", "coverage", "json", "-q", "-o", str(lines)], cwd=source, env=environ, check=True
    )
    return traced_rows(source, package, json.loads(out.read_text()), json.loads(lines.read_text()))


def traced_rows(
    source: Path,
    package: str,
    calls: list[list[object]],
    coverage: dict[str, dict[str, dict[str, list[int]]]],
) -> list[str]:
    """Turn what `trace_calls.py` and coverage.py have written into rows."""
    rows: list[str] = []
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for path in sorted((source / package).rglob("*.py")):
        name = path.relative_to(source).as_posix()
        rows.append(f"P\t{name}")
        spans[name] = sorted(_python_functions(path))
        rows += [f"F\t{name}\t{first}\t{own}\t{last}\tfunction" for first, last, own in spans[name]]
    later, named = _started_later(source, list(spans))
    rows += [f"U\t{path}\t{first}\t{own}\t{name}" for path, first, own, name in named]

    def place(file: object, line: object, kind: object) -> str:
        path = f"{package}/{file}"
        if kind == "module":
            return f"{path}\t0\t"
        inside = [each for each in spans.get(path, ()) if each[0] <= int(str(line)) <= each[1]]
        exact = [each for each in inside if each[0] == line] if kind == "function" else inside
        return f"{path}\t{exact[-1][0]}\t{exact[-1][2]}" if exact else f"{path}\t0\t"

    seen = {(path, str(first), own, name) for path, first, own, name in named}
    for caller_file, caller_line, caller_kind, file, line, kind in calls:
        caller, callee = place(caller_file, caller_line, caller_kind), place(file, line, kind)
        # a comprehension is called by the function around it, which may call itself in one
        if kind not in {"class", "module"} and not (caller == callee and kind == "inner"):
            name = callee.rpartition("\t")[2]
            asked = callee in later and not name.startswith("__") and (*caller.split("\t"), name) not in seen
            rows.append(f"E\t{'implicit' if asked else 'call'}\t{caller}\t0\t{callee}")
    for file, found in coverage["files"].items():
        name = (source / file).resolve().relative_to(source.resolve()).as_posix()
        rows += [f"L\t{name}\t{line}" for line in found["executed_lines"]]
    return rows


def _started_later(source: Path, paths: Sequence[str]) -> tuple[set[str], list[tuple[str, int, str, str]]]:
    """Find the generator functions and coroutines, and who calls something by the name of one.

    The tracer sees who asks them for their first value, not who has called the function: whether the latter
    is right it cannot say, and the former, where it does not name the function, is no caller.

    Returns:
        Their places, and callers by path, first line and name, each with a name that it calls.
    """
    called: list[tuple[str, int, str, str]] = []
    places: set[str] = set()
    names: set[str] = set()
    for path in paths:
        for node, first in _python_definitions(source / path):
            starts_later = isinstance(node, ast.AsyncFunctionDef)
            waiting: list[ast.AST] = list(node.body)
            while waiting:
                each = waiting.pop()
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    waiting += each.decorator_list
                    continue
                starts_later |= isinstance(each, ast.Yield | ast.YieldFrom)
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Name | ast.Attribute):
                    name = each.func.id if isinstance(each.func, ast.Name) else each.func.attr
                    called.append((path, first, node.name, name))
                waiting += ast.iter_child_nodes(each)
            if starts_later:
                places.add(f"{path}\t{first}\t{node.name}")
                names.add(node.name)
    return places, [each for each in dict.fromkeys(called) if each[3] in names]


def _python_functions(path: Path) -> list[tuple[int, int, str]]:
    """Return first line (of the first decorator), last line and name of each function of a file."""
    return [(first, node.end_lineno or first, node.name) for node, first in _python_definitions(path)]


def _python_definitions(path: Path) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Return each function of a file, and its first line (of the first decorator)."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return []
    return [
        (node, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
