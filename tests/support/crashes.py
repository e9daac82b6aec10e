"""Commands killed at random moments: what they leave must be an index that works."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from gitrag.actions.search import SearchOptions, search
from gitrag.store.connection import Store
from tests.support.command import program
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("index", "update", "--no-embed"),
    ("hook", "run", "worker"),
    ("gc", "--apply"),
    ("search", "act"),
)
AT_ONCE = {"GITRAG_GC_KEEP": "0s"}
"""So that gc has something to do."""


@dataclass
class Crashes:
    """Kills commands in a repository, and checks what is left.

    Attributes:
        repo: The repository, which is changed before each kill.
        chance: What decides.
        space: A directory of its own.
        killed: How many of each command were killed at work; the others had ended before.
    """

    repo: GitRepository
    chance: random.Random
    space: Path
    killed: Counter[str] = field(default_factory=Counter)
    _generation: int = 0
    _seconds: dict[tuple[str, ...], float] = field(default_factory=dict)

    def crash(self) -> None:
        """Change something, start a command, kill it, and compare the index with one built from nothing."""
        command = self.chance.choice(COMMANDS)
        self._change()
        begin = time.monotonic()
        process = self._start(command)
        if command in self._seconds:
            time.sleep(self.chance.uniform(0, self._seconds[command]))
        else:  # how long does it take?
            process.wait()
            self._seconds[command] = time.monotonic() - begin
        if process.poll() is None:
            self.killed[command[0]] += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._check(f"after {command}")

    def _change(self) -> None:
        self._generation += 1
        for number in self.chance.sample(range(40), 12):
            name = f"src/m{number}.py"
            words = " ".join(f"w{self.chance.randrange(500)}" for _ in range(120))
            content = f"def act_{number}_{self._generation}():\n    '''{words}'''\n"
            self.repo.write({name: None if self.chance.random() < 0.2 else content})
        if self.chance.random() < 0.7:
            self.repo.commit()
        if self.chance.random() < 0.1:  # of another version: to be built again
            workspace = open_app(self.repo)
            with Store(workspace.store.directory, recipe="another").write("being of another version"):
                pass

    def _start(self, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [program(self.repo.environment), "-C", str(self.repo.path), *command],
            env=self.repo.environment | AT_ONCE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _check(self, when: str) -> None:
        said: list[str] = []
        workspace = open_app(self.repo, say=said.append)
        workspace.update()
        answer = search(workspace, f"act_{self._generation}", SearchOptions(min_score=0.0))
        assert (answer.waiting, answer.commit) == (0, self.repo.git("rev-parse", "HEAD")), when
        assert not [line for line in said if "damaged" in line], (when, said)
        fresh = self.space / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        assert logical(open_app(self.repo)) == logical(open_app(self.repo, fresh)), when
