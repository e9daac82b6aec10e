"""Walk at random over what git and its users do, and check each step.

    .venv/bin/python scripts/bench/walk.py --steps 10000 --seed 1 [--compare-every 4] [--hooks killed]

After each step a process that has been there from the beginning answers as one that has just begun; every few
steps the index is compared with one built from nothing. A failure prints the seed and the last steps.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from gitrag.git import untracked
from tests.support.acts import FILES
from tests.support.repository import create_repository, isolated_environment
from tests.support.walk import NO_MODEL, Walk

_ENOUGH = 5
"""Failures, to look into before there are more."""

_LEG = 250
"""Steps with one repository, before another one is begun: so that none grows without end."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare-every", type=int, default=4)
    parser.add_argument("--hooks", choices=["none", "kept", "killed"], default="none")
    args = parser.parse_args()
    # What is trusted after two seconds is trusted after a tick here, or nothing would ever be remembered.
    untracked._SETTLED_NS, untracked._PAUSE_NS = 12_000_000, 0  # noqa: SLF001
    begin, done, failures = time.monotonic(), 0, 0
    acts: Counter[str] = Counter()
    kept = [0, 0]
    leg = 0
    while done < args.steps and failures < _ENOUGH:
        seed = args.seed * 1000 + leg
        leg += 1
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            space = Path(directory)
            environment = isolated_environment(space / "home") | NO_MODEL
            environment["GITRAG_MODEL_DIR"] = str(space / "none")
            repo = create_repository(space / "project", environment, FILES)
            walk = Walk(repo, random.Random(seed), space)
            if args.hooks != "none":
                walk.hook_up(killed=args.hooks == "killed")
            try:
                walk.go(min(_LEG, args.steps - done), compare_every=args.compare_every)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                failures += 1
                said = "" if isinstance(error, AssertionError) else traceback.format_exc()
                print(f"seed {seed}: {walk.story()}\n{str(error)[:3000]}\n{said}", flush=True)
            done += len(walk.done)
            acts.update(step.rpartition(": ")[2] for step in walk.done)
            kept = [a + b for a, b in zip(kept, walk.kept, strict=True)]
        print(f"{done} steps, {time.monotonic() - begin:.0f} s, {failures} failures", flush=True)
    print(f"answers from memory: {kept[0]}, with untracked files remembered: {kept[1]}")
    print(", ".join(f"{name} {number}" for name, number in acts.most_common()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
