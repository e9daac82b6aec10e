"""Plant defects in gitrag, one at a time, and tell which of them the tests catch.

    .venv/bin/python scripts/bench/mutations.py --revision main --out before.json
    .venv/bin/python scripts/bench/mutations.py --compare before.json after.json

`mutations.toml` beside this script has the defects, each with the tests in which somebody would look. They
are planted in a clone of the revision, and its own tests are run until one fails. A defect is caught if that
test passes without it. Prints a table in Markdown, and writes the same as JSON, of which two can be compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CAUGHT = "caught"
_COMMAND = "#!{0}\nimport sys\nfrom gitrag.cli import main\nsys.exit(main())\n"
_FAILED = {1, 2}
"""Exit status of pytest where tests fail, and where it stops at the first one that does."""


class Copy:
    """A clone of a revision, and what its tests need: a virtual environment with the packages of this one."""

    def __init__(self, place: Path, revision: str, processes: int) -> None:
        self._place = place
        self._processes = processes
        self.tree = place / "tree"
        _git("clone", "--quiet", "--no-checkout", ROOT, self.tree)
        _git("-C", self.tree, "checkout", "--quiet", "--detach", revision)
        folder = place / "venv"
        venv.create(folder, symlinks=True)
        self._python = folder / "bin" / "python"
        packages = [each for each in sys.path if each.endswith("-packages")]
        own = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
        (own / "tree.pth").write_text("\n".join([str(self.tree), *packages]) + "\n")
        for name in ("gitrag", "git-gitrag"):
            (folder / "bin" / name).write_text(_COMMAND.format(self._python))
            (folder / "bin" / name).chmod(0o755)

    def judge(self, defect: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Plant a defect, run its tests, and revert it; return the outcome."""
        path = self.tree / defect["file"]
        tests = [each for each in defect["tests"] if (self.tree / each).exists()]
        right = path.read_text() if path.exists() else ""
        if right.count(defect["old"]) != 1 or not tests:
            what = "its tests are gone" if not tests else "its text is not there once"
            return {"outcome": f"cannot be planted: {what}", "seconds": 0.0, "failed": []}
        found = {"outcome": "not caught", "seconds": 0.0, "failed": []}
        begin = time.monotonic()
        _write(path, right.replace(defect["old"], defect["new"]))
        try:
            for each in tests:  # the first are the cheapest
                status = self._run(["-x", "--cache-clear", each], limit_s)
                if status != 0:
                    break
        finally:
            _write(path, right)
        found["seconds"] = round(time.monotonic() - begin, 1)
        if status is None:
            return found | {"outcome": f"no answer within {limit_s:g} s"}
        if status not in _FAILED:
            return found | ({"outcome": f"pytest ended with {status}"} if status else {})
        failed = self._failed()
        self._run(["--last-failed", "--last-failed-no-failures=none", each], limit_s)
        caught = sorted(failed - self._failed())
        return found | {
            "outcome": CAUGHT if caught else "fails without it too",
            "failed": caught or sorted(failed),
        }

    def _failed(self) -> set[str]:
        last = self.tree / ".pytest_cache" / "v" / "cache" / "lastfailed"
        return set(json.loads(last.read_text())) if last.exists() else set()

    def _run(self, arguments: list[str], limit_s: float) -> int | None:
        """Run pytest; return its exit status, None if it takes too long."""
        command = [self._python, "-P", "-m", "pytest", "-q", "-n", str(self._processes)]
        command += ["--dist", "worksteal", f"--basetemp={self._place / 'tests'}", *arguments]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        with (self._place / "output").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.tree,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                return process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def _git(*arguments: str | Path) -> str:
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _write(path: Path, text: str) -> None:
    """Write a file, and forget what was compiled of it: within a second its time may stay the same."""
    path.write_text(text)
    if path.suffix == ".py":
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _row(*cells: object) -> None:
    print("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |", flush=True)


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print the outcomes of two revisions side by side; return how many defects only the first has caught."""
    lost = 0
    _row("defect", "room", before["revision"][:10], after["revision"][:10], "a test that fails now")
    _row(*["---"] * 5)
    for name, old in before["defects"].items():
        new = after["defects"].get(name, {"outcome": "not planted", "failed": []})
        lost += old["outcome"] == CAUGHT != new["outcome"]
        _row(name, old["room"], old["outcome"], new["outcome"], *(new["failed"][:1] or [""]))
    counts = [sum(each["outcome"] == CAUGHT for each in run["defects"].values()) for run in (before, after)]
    print(f"\nCaught before: {counts[0]}, after: {counts[1]}; caught before only: {lost}")
    return lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--revision", default="HEAD", help="the commit that is tested")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this defect; may be repeated")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit-s", type=float, default=300.0, help="for a file or folder of tests")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the outcomes to FILE; what was caught by it is not done again",
    )
    parser.add_argument("--compare", type=Path, nargs=2, metavar="FILE", help="compare two such files")
    args = parser.parse_args()
    if args.compare:
        sys.exit(compare(*(json.loads(path.read_text()) for path in args.compare)) > 0)
    defects = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["defect"]
    revision = _git("-C", ROOT, "rev-parse", "--verify", f"{args.revision}^{{commit}}")
    run: dict[str, Any] = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    if run.get("revision") != revision:
        run = {"revision": revision, "defects": {}}
    with tempfile.TemporaryDirectory(prefix="mutations-", ignore_cleanup_errors=True) as place:
        copy = Copy(Path(place), revision, args.processes)
        _row("defect", "room", "outcome", "seconds", "a test that fails")
        _row(*["---"] * 5)
        for defect in defects:
            if args.only and defect["name"] not in args.only:
                continue
            found = run["defects"].get(defect["name"], {})
            if found.get("outcome") != CAUGHT:
                found = {"room": defect["room"], **copy.judge(defect, args.limit_s)}
                run["defects"][defect["name"]] = found
            _row(defect["name"], *[*found.values()][:-1], *(found["failed"][:1] or [""]))
            if args.out:
                args.out.write_text(json.dumps(run, indent=1) + "\n")
    caught = sum(each["outcome"] == CAUGHT for each in run["defects"].values())
    print(f"\n{caught} of {len(run['defects'])} defects caught at {revision[:10]}")


if __name__ == "__main__":
    main()
