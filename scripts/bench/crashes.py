"""Kill commands at random moments, and compare what is left with an index built from nothing.

    .venv/bin/python scripts/bench/crashes.py --kills 200 --seed 1

Prints how many of each command were killed at work. Fails at the first index that does not work.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.crashes import Crashes
from tests.support.repository import create_repository, isolated_environment


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        space = Path(directory)
        environment = isolated_environment(space / "home") | {
            "GITRAG_MODEL_DIR": str(space / "none"),
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "PIP_NO_INDEX": "1",
        }
        repo = create_repository(space / "project", environment, {"readme.md": "# Killed\n\nOften.\n"})
        crashes = Crashes(repo, random.Random(args.seed), space)
        rounds = 0
        while sum(crashes.killed.values()) < args.kills:
            crashes.crash()
            rounds += 1
            if rounds % 50 == 0:
                print(
                    f"{rounds} rounds, {dict(crashes.killed)}, {time.monotonic() - begin:.0f} s", flush=True
                )
    kills = sum(crashes.killed.values())
    print(f"{kills} kills in {rounds} rounds, {dict(crashes.killed)}: each index was right")


if __name__ == "__main__":
    main()
