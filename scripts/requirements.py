#!/usr/bin/env python3
"""Print which tests hold each requirement, as `tests/requirements.toml` lists them, and which are not there.

Exits 1 where a listed test is missing, or nothing holds a requirement or a scenario (`tests/scenarios.toml`).
``--tree`` looks for the tests in another checkout, ``--write`` puts the short table, a row a requirement, in
CONTRIBUTING.md, and that of `tests/situations.toml` into docs/situations.md.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- scripts/requirements.py --write -->\n", "<!-- end -->"

Listed = Mapping[str, Mapping[str, Sequence[str]]]
"""Tests by promise by requirement."""


def read_listed() -> Listed:
    return tomllib.loads((ROOT / "tests/requirements.toml").read_text("utf-8"))


def read_scenarios() -> Listed:
    """Return the tests of the source documents' acceptance scenarios, by requirement."""
    return tomllib.loads((ROOT / "tests/scenarios.toml").read_text("utf-8"))


def read_situations() -> Listed:
    """Return what is answered, and the test that holds it, by what people have, by group."""
    return tomllib.loads((ROOT / "tests/situations.toml").read_text("utf-8"))


def situations_table(situations: Listed) -> str:
    """Return a row for what people have: what they get, and its test."""
    rows = []
    for group, each in situations.items():
        rows += ["", f"## {group}", "", "| you have | gitrag | test, in `tests/` |", "|---|---|---|"]
        for what, (answer, test) in each.items():
            rows.append(f"| {what} | {answer} | `{test.removeprefix('tests/').replace('::', '` `')}` |")
    return "\n".join(rows[1:]) + "\n"


@cache
def tests_of(tree: Path) -> frozenset[str]:
    """Return the tests of a tree that a day has, as pytest names them without their parameters."""
    return frozenset(
        f"{path.relative_to(tree).as_posix()}::{node.name}"
        for path in (tree / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not any("sweep(keep=0)" in ast.unparse(each) for each in node.decorator_list)
    )


def faults(listed: Listed, there: Collection[str]) -> Iterator[str]:
    for requirement, promises in listed.items():
        tests = [test for held in promises.values() for test in held]
        if not tests:
            yield f"{requirement}: no test"
        yield from (f"{requirement}: there is no {test}" for test in tests if test not in there)


def table(listed: Listed, there: Collection[str]) -> str:
    """Return a row a promise: how many of its tests are there, and which are not."""
    rows = ["| requirement | what | tests | missing |", "|---|---|---|---|"]
    for requirement, promises in listed.items():
        for promise, tests in promises.items():
            missing = ", ".join(f"`{test}`" for test in tests if test not in there)
            rows.append(f"| {requirement} | {promise} | {sum(test in there for test in tests)} | {missing} |")
    return "\n".join(rows) + "\n"


def short_table(listed: Listed) -> str:
    """Return a row a requirement: the files of its tests, with how many where that is more than one."""
    rows = ["| requirement | tests, in `tests/` |", "|---|---|"]
    for requirement, promises in listed.items():
        tests = {test for held in promises.values() for test in held}
        files = Counter(test.partition("::")[0].removeprefix("tests/") for test in sorted(tests))
        cells = [f"`{file}`" + f" ({count})" * (count > 1) for file, count in files.items()]
        cells += [f"no test yet: {promise}" for promise, held in promises.items() if not held]
        rows.append(f"| {requirement} | {', '.join(cells)} |")
    return "\n".join(rows) + "\n"


def with_table(document: str, rows: str) -> str:
    """Return a document with these rows between the marks."""
    before, _, rest = document.partition(START)
    return f"{before}{START}\n{rows}\n{END}{rest.partition(END)[2]}"


def written(listed: Listed) -> Iterator[tuple[str, str]]:
    """Return the documents that have a table, and the table."""
    yield "CONTRIBUTING.md", short_table(listed)
    yield "docs/situations.md", situations_table(read_situations())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout to look for the tests in")
    parser.add_argument("--write", action="store_true", help="replace the table in CONTRIBUTING.md")
    options = parser.parse_args()
    listed, there = read_listed(), tests_of(options.tree)
    if options.write:
        for name, rows in written(listed):
            document = ROOT / name
            document.write_text(with_table(document.read_text("utf-8"), rows), "utf-8")
    else:
        print(table(listed, there), end="")
    held = {
        f"situations, {group}": {what: [row[1]] for what, row in each.items()}
        for group, each in read_situations().items()
    }
    found = list(faults({**listed, **read_scenarios(), **held}, there))
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
