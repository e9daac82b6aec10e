"""Sum up what the tests cost, by cause, by folder and by test.

    .venv/bin/pytest --costs=FILE tests/unit      any run; scripts/test writes .venv/test-costs.jsonl
    .venv/bin/python scripts/bench/test_costs.py FILE [--top 15] [--against OLDER]

Seconds are a worker's; several workers run at once. What a cause took overlaps with other causes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PHASES = ("setup", "call", "teardown")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--top", type=int, default=15, help="files and causes that are listed; 15")
    parser.add_argument("--against", type=Path, help="an older file: its figures stand beside")
    args = parser.parse_args()
    tests = read(args.file)
    older = read(args.against) if args.against else {}
    for title, sums in (
        ("Folder", by_folder),
        ("File", by_file),
        ("Cause", by_cause),
    ):
        print_table(title, sums(tests.values()), sums(older.values()) if older else None, args.top)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the tests of a file, by name."""
    return {test["test"]: test for test in map(json.loads, path.read_text().splitlines())}


Sums = dict[str, Counter[str]]


def by_folder(tests: Iterable[Mapping[str, Any]]) -> Sums:
    sums = _by(tests, lambda test: "/".join(test["test"].split("/")[:2]))
    sums["all"] = sum(sums.values(), Counter())
    return sums


def by_file(tests: Iterable[Mapping[str, Any]]) -> Sums:
    return _by(tests, lambda test: test["test"].partition("::")[0])


def by_cause(tests: Iterable[Mapping[str, Any]]) -> Sums:
    """Return times and seconds of each cause; commands of git and gitrag also all together."""
    sums: Sums = defaultdict(Counter)
    for test in tests:
        for phase in PHASES:
            for cause, (times, wall_s, processor_s) in test.get(phase, {}).get("causes", {}).items():
                program = cause.partition(" ")[0]
                for name in {cause, f"{program}, all" if program in {"git", "gitrag"} else cause}:
                    sums[name].update({"times": times, "wall_s": wall_s, "processor_s": processor_s})
    return sums


def _by(tests: Iterable[Mapping[str, Any]], name: Any) -> Sums:
    sums: Sums = defaultdict(Counter)
    for test in tests:
        counted = sums[name(test)]
        counted["times"] += 1
        for phase in PHASES:
            found = test.get(phase, {})
            counted["wall_s"] += found.get("wall_s", 0.0)
            counted["processor_s"] += found.get("processor_s", 0.0)
            counted[f"{phase}_s"] += found.get("wall_s", 0.0)
    return sums


def print_table(title: str, sums: Sums, older: Sums | None, top: int) -> None:
    figures = [
        name for name in ("times", "wall_s", "processor_s", "setup_s") if any(map(_has(name), sums.values()))
    ]
    print(f"\n| {title} | " + " | ".join(name.replace("_s", ", s") for name in figures) + " |")
    print("|---|" + "--:|" * len(figures))
    for name, counted in sorted(sums.items(), key=lambda each: -each[1]["wall_s"])[:top]:
        cells = []
        for figure in figures:
            now = f"{counted[figure]:,.0f}"
            cells.append(now if older is None else f"{older.get(name, Counter())[figure]:,.0f} → {now}")
        print(f"| {name} | " + " | ".join(cells) + " |")


def _has(figure: str) -> Any:
    return lambda counted: figure in counted


if __name__ == "__main__":
    main()
