#!/usr/bin/env python3
"""Count what gitrag's package is made of; exits 1 where more is there than `scripts/house.toml` allows.

``--write`` lowers what it allows to what is there; who must raise a number does it by hand, and says why.
"""

from __future__ import annotations

import argparse
import ast
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = ROOT / "scripts/house.toml"
LONG_FUNCTION, MANY_PARAMETERS, LONG_FILE, MAPPED_FIELDS = 60, 8, 500, 3
LINES_AT_ONCE = 250
"""``lines`` is allowed in such steps: a small change need not touch the file."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameters_of(function: Function) -> int:
    """Return how many parameters a function has, less ``self`` and ``cls``."""
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


@cache
def is_mapping(node: ast.AST) -> bool:
    """Return whether a call, tuple, list or dict takes three or more fields of one object."""
    if isinstance(node, ast.Call):
        parts = [*node.args, *(each.value for each in node.keywords)]
    elif isinstance(node, ast.Tuple | ast.List):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.values
    else:
        return False
    inside = [each for part in parts for each in ast.walk(part)]
    taken = {
        (each.value.id, each.attr)
        for each in inside
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
        if each.value.id not in ("self", "cls")
    }
    most = max(Counter(whose for whose, _ in taken).values(), default=0)
    return most >= MAPPED_FIELDS and not any(map(is_mapping, inside))


def is_type(node: ast.ClassDef, types: set[str]) -> bool:
    """Return whether a class only holds data: a dataclass, a Struct, a named tuple, or made from one."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    decorated = any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    return decorated or not bases.isdisjoint(types)


def counts(package: Path) -> dict[str, int]:
    """Count lines, files, types and so on of the Python files in a directory."""
    texts = [path.read_text("utf-8") for path in sorted(package.rglob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [node for node in nodes if isinstance(node, Function)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    types = {"Struct", "NamedTuple", "TypedDict"}
    while more := {node.name for node in classes if is_type(node, types)} - types:
        types |= more
    return {
        "lines": sum(text.count("\n") for text in texts),
        "files": len(texts),
        "types": sum(is_type(node, types) for node in classes),
        "mapping_sites": sum(map(is_mapping, nodes)),
        "long_functions": sum((each.end_lineno or 0) - each.lineno >= LONG_FUNCTION for each in functions),
        "functions_of_many_parameters": sum(parameters_of(each) > MANY_PARAMETERS for each in functions),
        "long_files": sum(text.count("\n") > LONG_FILE for text in texts),
    }


def read_allowed() -> dict[str, int]:
    return tomllib.loads(ALLOWED.read_text("utf-8"))


def risen(there: Mapping[str, int], allowed: Mapping[str, int]) -> Iterator[str]:
    """Say which counts are higher than is allowed."""
    return (
        f"{name}: {there[name]}, allowed are {most}" for name, most in allowed.items() if there[name] > most
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="lower what is allowed to what is there")
    options = parser.parse_args()
    there, allowed = counts(ROOT / "gitrag"), read_allowed()
    if options.write:
        stepped = there | {"lines": -(-there["lines"] // LINES_AT_ONCE) * LINES_AT_ONCE}
        allowed = {name: min(most, stepped[name]) for name, most in allowed.items()}
        ALLOWED.write_text("".join(f"{name} = {most}\n" for name, most in allowed.items()), "utf-8")
    for name, most in allowed.items():
        print(f"{name:30} {there[name]:>7,} of {most:>7,}")
    found = list(risen(there, allowed))
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # where `head` has read enough
    sys.exit(main())
