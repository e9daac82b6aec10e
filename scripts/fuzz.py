"""Feed gitrag what strangers may have written, and say how much of it it survived.

    .venv/bin/python scripts/fuzz.py                         five minutes, every target
    .venv/bin/python scripts/fuzz.py --minutes 60 --seed 7
    .venv/bin/python scripts/fuzz.py --only contents --only store
    .venv/bin/python scripts/fuzz.py --replay contents:7:1234
    .venv/bin/python scripts/fuzz.py --replay contents:7:1234 --input DIRECTORY

Survived: no process crashed, hung, took more than 2 GB or ended with a traceback or status 70; the files
beside it are found as before; nothing ran or was written outside. What hangs is told by processor time, and
by seconds in which nothing of it runs or waits to run: what else the machine does makes no difference. What
did not survive is saved below --keep, with what was wrong. Exits 1 if there is any.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.fuzz.targets import TARGETS
from tests.fuzz.watch import Finding, Run, fuzz

_SAVED_OF_A_KIND = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="in all; 5")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000, help="of the day by default")
    parser.add_argument(
        "--only", action="append", choices=sorted(TARGETS), help="this target; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once; all cores")
    parser.add_argument("--replay", metavar="TARGET:SEED:NUMBER", help="one input again")
    parser.add_argument("--input", type=Path, metavar="DIRECTORY", help="what to replay, as it was saved")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "gitrag-fuzz")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz", ignore_cleanup_errors=True) as space:
        if args.replay:
            sys.exit(_replay(args.replay, args.input, Path(space)))
        sys.exit(_all(args, Path(space)))


def _all(args: argparse.Namespace, space: Path) -> int:
    targets = args.only or list(TARGETS)
    kinds: Counter[str] = Counter()
    seconds = 60 * args.minutes * min(args.jobs, len(targets)) / len(targets)

    def tell(finding: Finding) -> None:
        kinds[finding.kind] += 1
        if kinds[finding.kind] > _SAVED_OF_A_KIND:
            return
        name = f"{finding.target}:{finding.seed}:{finding.number}"
        print(f"\n{name}\n{finding.wrong}", flush=True)
        place = args.keep / name.replace(":", "-")
        shutil.rmtree(place, ignore_errors=True)
        if finding.input.exists():  # it does not where the target could not even begin
            shutil.copytree(finding.input, place)
        args.keep.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".txt").write_text(finding.wrong)

    def one(target: str) -> Run:
        run = fuzz(target, args.seed, space / target, seconds=seconds, tell=tell)
        print(_line(run), flush=True)
        return run

    print(f"seed {args.seed}, {args.minutes:g} minutes", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = list(pool.map(one, targets))
    total = Run("all", sum(run.inputs for run in runs), [each for run in runs for each in run.findings])
    print("\n" + "\n".join(_line(run) for run in (*runs, total)))
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    return 1 if total.findings else 0


def _line(run: Run) -> str:
    return f"{run.target:12} {run.inputs:8,} inputs  {run.survived:8,} survived"


def _replay(name: str, given: Path | None, space: Path) -> int:
    target, seed, number = _parts(name)
    run = fuzz(target, seed, space / target, first=number, count=1, given=given)
    for finding in run.findings:
        print(finding.wrong)
    print(_line(run))
    return 1 if run.findings else 0


def _parts(name: str) -> tuple[str, int, int]:
    target, seed, number = name.split(":")
    return target, int(seed), int(number)


if __name__ == "__main__":
    main()
