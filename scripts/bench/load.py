"""Search from many processes while others commit, with hooks, and check every answer.

    .venv/bin/python scripts/bench/load.py [--seconds 60] [--searchers 8] [--committers 4]

Prints how long answers took, and whether each was about the commit that it says it is for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support import load
from tests.support.repository import create_repository, isolated_environment

WITHOUT_MODEL = {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}
"""So that the background worker does not fetch it, which is a load of another kind."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--searchers", type=int, default=8)
    parser.add_argument("--committers", type=int, default=4)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        space = Path(directory)
        environment = (
            isolated_environment(space / "home") | WITHOUT_MODEL | {"GITRAG_MODEL_DIR": str(space / "none")}
        )
        repo = create_repository(space / "project", environment, {"readme.md": "# Loaded\n"})
        found = load.run(
            repo,
            space,
            seconds=args.seconds,
            searchers=args.searchers,
            committers=args.committers,
        )
    print(f"{len(found.waits_s)} answers beside {found.commits} commits in {args.seconds:.0f} s")
    for what, seconds in (("answered in", found.waits_s), ("waited for the index", found.locked_s)):
        spread = f"median {load.at(0.5, seconds):.3f} s, p95 {load.at(0.95, seconds):.3f} s"
        print(f"{what}: {spread}, longest {max(seconds):.3f} s")
    print(f"without contents that there was no time for: {found.late}; wrong or failed: {len(found.wrong)}")
    for problem in found.wrong[:5]:
        print(problem)
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
