"""Walks of git's and its users' steps, and commands that are killed, each checked against a new index."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

from gitrag.git import untracked
from tests.fuzz.target import Input
from tests.support.acts import FILES
from tests.support.crashes import Crashes
from tests.support.repository import GitRepository, create_repository, isolated_environment
from tests.support.walk import NO_MODEL, Walk

_STEPS = {"none": 40, "kept": 10, "killed": 10}
"""Of a walk, by what becomes of the workers that hooks start; "none" is without hooks."""

_KILLS = 4


class Sweep:
    """An input is a seed, of which the rest follows."""

    def __init__(self, space: Path) -> None:
        self._space = space / "sweep"

    def make(self, dice: Random) -> Input:
        return {"seed": str(dice.randrange(1 << 30)).encode()}

    def _swept(self, files: dict[str | bytes, str], sweep: Callable[[GitRepository], None]) -> str:
        try:
            environment = isolated_environment(self._space / "home") | NO_MODEL
            environment["GITRAG_MODEL_DIR"] = str(self._space / "none")
            sweep(create_repository(self._space / "project", environment, files))
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            return traceback.format_exc()
        finally:
            shutil.rmtree(self._space, ignore_errors=True)
        return ""

    def close(self) -> None:
        """Nothing is left running."""


class Walks(Sweep):
    """A process that has been there from the beginning answers as one that has just begun; see ``Walk``."""

    def __init__(self, space: Path) -> None:
        super().__init__(space)
        # What is trusted after two seconds is trusted after a tick here, or nothing would ever be remembered.
        untracked._SETTLED_NS, untracked._PAUSE_NS = 12_000_000, 0

    def check(self, made: Input, dice: Random) -> str:
        del dice
        chance = Random(int(made["seed"]))
        hooks = chance.choice(["none", "none", "kept", "killed"])

        def sweep(repo: GitRepository) -> None:
            walk = Walk(repo, chance, self._space)
            if hooks != "none":
                walk.hook_up(killed=hooks == "killed")
            walk.go(_STEPS[hooks], compare_every=10)
            assert hooks != "none" or any(walk.kept), "what is kept in memory was not put to the test"

        return self._swept(FILES, sweep)


class Kills(Sweep):
    """Whatever is killed, and whenever: the next command works, and nothing is lost or doubled."""

    def check(self, made: Input, dice: Random) -> str:
        del dice

        def sweep(repo: GitRepository) -> None:
            crashes = Crashes(repo, Random(int(made["seed"])), self._space)
            while sum(crashes.killed.values()) < _KILLS:  # the others had ended before they were killed
                crashes.crash()

        return self._swept({"readme.md": "# Killed\n\nOften.\n"}, sweep)
