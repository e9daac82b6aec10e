"""What a team's cache of vectors saves: a second clone, 200 commits later, two who push, a poisoned pack.

    .venv/bin/python scripts/bench/share.py GITDIR [--commits 200] [--seconds 60]

GITDIR is any repository with that many commits. A bare remote that filters gets it as it was before the
last commits; one clone embeds everything and pushes the vectors there (`gitrag.share git`). Then, each with
the installed command and process starts: a second clone pulls; the last commits arrive in ten pushes, and
it pulls again; two clones commit, embed and push at the same time; somebody has put a pack of wrong vectors
there. The model must be there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from projects import GITRAG

PUSHES = 10


@dataclass(frozen=True)
class Clone:
    """A clone, and what runs in it."""

    path: Path
    environment: dict[str, str]

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def gitrag(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [GITRAG, *args], cwd=self.path, env=self.environment, check=False, capture_output=True, text=True
        )
        if done.returncode not in ok:
            raise SystemExit(f"gitrag {' '.join(args)}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def index(self) -> None:
        self.gitrag("index", "update", "--no-embed")

    def embed(self) -> None:
        self.gitrag("index", "embed", "--foreground")

    def share(self, verb: str, *, ok: tuple[int, ...] = (0,)) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.gitrag("share", verb, "--json", ok=ok))
        return found


def timed(act: Callable[[], object]) -> tuple[float, object]:
    """Return how many seconds something takes, and what it returns."""
    begin = time.perf_counter()
    found = act()
    return time.perf_counter() - begin, found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path, help="a git directory")
    parser.add_argument("--commits", type=int, default=200, help="how many come later")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long two push")
    arguments = parser.parse_args()
    print(
        f"python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        Bench(Path(folder), arguments.repository.absolute(), arguments.commits).run(arguments.seconds)


class Bench:
    """The remote and its clones."""

    def __init__(self, home: Path, source: Path, later: int) -> None:
        self._home = home
        self._environment = {
            **os.environ,
            "GITRAG_SHARE": "git",
            "GIT_AUTHOR_NAME": "bench",
            "GIT_AUTHOR_EMAIL": "bench@localhost",
            "GIT_COMMITTER_NAME": "bench",
            "GIT_COMMITTER_EMAIL": "bench@localhost",
        }
        self._origin = Clone(home / "origin.git", self._environment)
        last = ("--bare", f"--depth={later + 2}", source.as_uri())
        subprocess.run(["git", "clone", "-q", *last, self._origin.path], check=True)
        history = self._origin.git("rev-list", "--first-parent", f"--max-count={later + 1}", "HEAD").split()
        self._steps = history[::-1]
        for ref in self._origin.git("for-each-ref", "--format=%(refname)").split():
            self._origin.git("update-ref", "-d", ref)
        self._origin.git("symbolic-ref", "HEAD", "refs/heads/main")
        self._origin.git("update-ref", "refs/heads/main", self._steps[0])
        self._origin.git("config", "uploadpack.allowFilter", "true")

    def clone(self, name: str) -> Clone:
        found = Clone(self._home / name, self._environment)
        subprocess.run(["git", "clone", "-q", self._origin.path.as_uri(), found.path], check=True)
        found.index()
        return found

    def run(self, seconds: float) -> None:
        ann = self.clone("ann")
        took, _ = timed(ann.embed)
        pushing, pushed = timed(lambda: ann.share("push"))
        print(f"embedding {pushed['texts']} texts: {took:.1f} s", flush=True)
        print(f"pushing {pushed['size_bytes']} bytes: {pushing:.1f} s", flush=True)
        bob = self.clone("bob")
        self._pull(bob, "a second clone")
        for number in range(PUSHES):
            step = self._steps[(number + 1) * (len(self._steps) - 1) // PUSHES]
            self._origin.git("update-ref", "refs/heads/main", step)
            ann.git("pull", "-q", "--ff-only")
            ann.index()
            ann.embed()
            ann.share("push")
        bob.git("pull", "-q", "--ff-only")
        bob.index()
        self._pull(bob, f"{len(self._steps) - 1} commits later")
        status = ann.share("status")
        print(
            f"then {status['packs']} packs of {status['texts']} vectors, {status['size_bytes']} bytes",
            flush=True,
        )
        self._push_at_once((ann, bob), seconds)
        self._poison(ann)

    def _pull(self, clone: Clone, what: str) -> None:
        took, found = timed(lambda: clone.share("pull"))
        print(
            f"{what}: {found['texts']} vectors pulled in {took:.1f} s, {found['received']} bytes received,"
            f" {found['computed']} texts computed to check {found['packs']} packs,"
            f" {found['left']} left to embed",
            flush=True,
        )

    def _push_at_once(self, people: tuple[Clone, Clone], seconds: float) -> None:
        end = time.monotonic() + seconds
        pushes = [0, 0]

        def work(number: int) -> None:
            clone = people[number]
            while time.monotonic() < end:
                name = f"bench_{number}_{pushes[number]}"
                (clone.path / f"{name}.py").write_text(f"def {name}():\n    return {name!r}\n")
                clone.git("add", "--all")
                clone.git("commit", "-q", "--no-verify", "-m", name)
                clone.index()
                clone.embed()
                clone.share("push")
                pushes[number] += 1

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        eve = self.clone("eve")
        for clone in people:
            eve.git("pull", "-q", "--no-edit", "--no-rebase", str(clone.path), "main")
        eve.index()
        found = eve.share("pull")
        status = eve.share("status")
        print(
            f"two push for {seconds:.0f} s: {pushes[0]} and {pushes[1]} pushes, then {status['packs']} packs;"
            f" a third clone of both: {found['texts']} vectors pulled, {found['left']} left to embed",
            flush=True,
        )

    def _poison(self, ann: Clone) -> None:
        """Put a pack there of which every hundredth vector is another text's."""
        script = """
from pathlib import Path
import os
import numpy as np
from gitrag.actions.sharing.shared import Shared
from gitrag.embedding.version import ENCODER_VERSION
from gitrag.sharing import packs
from gitrag.workspace import Workspace
team = Shared.open(Workspace.open(Path.cwd(), environ=os.environ))
_, names = team.usable()
pack = team.catalogue.whole(next(iter(team.keys(names).values())))
rows = pack.rows.copy()
rows[::100] = np.roll(rows[::100], 1, axis=0)
poisoned = packs.make(pack.index.keys, rows, ENCODER_VERSION)
team.place.change(poisoned.files, [name + end for name in names for end in (".keys", ".rows")])
print(len(rows), len(rows[::100]))
"""
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ann.path,
            env=ann.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        eve = self.clone("mallory")
        took, found = timed(lambda: eve.share("pull", ok=(0, 1)))
        print(
            f"a pack with {' texts, wrong vectors of '.join(done.stdout.split())}: {found['refused']},"
            f" {found['texts']} vectors taken, {found['computed']} texts computed, {took:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
