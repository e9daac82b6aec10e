"""A seeded random walk over what can happen to a repository between two questions."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from gitrag.actions import gc
from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.hooking.install import install
from gitrag.indexing.history import read_history
from gitrag.workspace import Workspace
from tests.support.acts import ACTS, Actor
from tests.support.command import program
from tests.support.indexes import logical, open_app
from tests.support.repository import GitRepository

QUESTION = "alpha beta value return"
EVERYTHING = SearchOptions(limit=1000, min_score=0.0, every_chunk=True)
ROUNDING = 0.002
NO_MODEL = {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}
"""So that a worker which finds none does not fetch one."""
TICK_S = 0.015
"""More than a tick of the file system's clock."""


@dataclass
class Walk(Actor):
    """Where a walk has come to.

    A process that has been there from the beginning must answer as one that has just begun, and the index
    must equal one built from nothing.

    Attributes:
        done: What was done, in words.
        kept: How often the long-lived process answered from memory, and how often with remembered files.
    """

    done: list[str] = field(default_factory=list)
    kept: list[int] = field(default_factory=lambda: [0, 0])
    _residents: dict[Path, Workspace] = field(default_factory=dict)

    def hook_up(self, *, killed: bool) -> None:
        """Install the hooks; with ``killed``, what they start is killed within its first second."""
        running = self.space / "running"
        running.mkdir()
        limited = "timeout -s KILL 0.$(($$ % 90 + 10))" if killed else ""
        launcher = self.space / "gitrag"
        launcher.write_text(
            f"#!/bin/sh\n: >'{running}'/$$\n{limited} '{program(self.repo.environment)}' \"$@\"\n"
            f"rm -f '{running}'/$$\n"
        )
        launcher.chmod(0o755)
        install(Workspace.open(self.repo.path, environ=self.repo.environment).repo, str(launcher))

    def wait_for_hooks(self) -> None:
        """Wait until what the hooks have started has ended; whoever runs the test ends a wait for ever."""
        quiet = 0
        while quiet < 3 and (self.space / "running").is_dir():
            time.sleep(0.05)
            quiet = 0 if any((self.space / "running").iterdir()) else quiet + 1

    def go(self, steps: int, *, compare_every: int) -> None:
        """Do some steps, each checked; not all are asked about, and some fall in one tick."""
        open_app(self.repo).update()
        for number in range(1, steps + 1):
            tree = self.step()
            if self.chance.random() < 0.5:
                self.ask(tree, self.chance.randrange(4))
            if self.chance.random() < 0.1:
                self.ask_revision(tree)
            if self.chance.random() < 0.05:
                self.collect_garbage(tree)
            if self.chance.random() < 0.5:
                time.sleep(TICK_S)
            if number % compare_every == 0:
                self.wait_for_hooks()
                for each in self.trees if number % (4 * compare_every) == 0 else [tree]:
                    self.compare(each)
        self.wait_for_hooks()

    def step(self) -> GitRepository:
        """Do something; give the worktree that it was done to, or another one where that is gone."""
        tree = self.chance.choice(self.trees)
        act = self.chance.choices(list(ACTS), list(ACTS.values()))[0]
        self.done.append(f"{tree.path.name}: {act.__name__}")
        act(self, tree)
        return tree if tree in self.trees else self.repo

    def ask(self, tree: GitRepository, times: int) -> None:
        """Ask the long-lived process some times, and a new one once; they must say the same."""
        resident = self._residents.get(tree.path)
        if resident is None:
            resident = Workspace.open(tree.path, environ=tree.environment, resident=True)
            self._residents[tree.path] = resident
        told = []
        for _ in range(times):
            known = resident._untracked is not None and resident._untracked.is_known
            told.append(said(search(resident, QUESTION, EVERYTHING)))
            self.kept[0] += resident.store.memo.lasting
            self.kept[1] += known and resident._untracked is not None and resident._untracked.is_known
        expected = said(search(open_app(tree), QUESTION, EVERYTHING))
        for answer in told:
            assert (answer[:2], places(answer[2])) == (expected[:2], places(expected[2])), self.story()
        if any(
            answer != expected for answer in told
        ):  # a hook was reading what commits say, which moves scores
            self.wait_for_hooks()
            again = [said(search(each, QUESTION, EVERYTHING)) for each in (resident, open_app(tree))]
            assert again[0] == again[1], self.story()
        for path, _first, _last, _score in expected[2]:
            assert os.path.lexists(tree.file(path)) or self._is_held(tree, path), (path, self.story())

    def ask_revision(self, tree: GitRepository) -> None:
        """Ask for a revision, of a new process and of one that has an index of its own."""
        commit = tree.git("rev-parse", "--verify", "-q", f"{self._revision()}^{{commit}}", check=False)
        if not commit:
            return
        asked = SearchOptions(limit=1000, min_score=0.0, every_chunk=True, ref=commit)
        built = open_app(tree, self.space / "of-revisions")
        built.update()
        found, expected = (said(search(workspace, QUESTION, asked)) for workspace in (open_app(tree), built))
        assert found[:2] == (commit, 0)
        assert {hit[:3] for hit in found[2]} == {hit[:3] for hit in expected[2]}, self.story()

    def collect_garbage(self, tree: GitRepository) -> None:
        """Drop what is not needed now, though it may be again."""
        self.done.append(f"{tree.path.name}: collect_garbage")
        workspace = Workspace.open(tree.path, environ=tree.environment | {"GITRAG_GC_KEEP": "0s"})
        gc.collect(workspace)

    def _is_held(self, tree: GitRepository, path: str) -> bool:
        """Whether git holds a path that is not in the working tree: sparse checkout, assumed unchanged."""
        return bool(tree.git("ls-files", "-z", "--", f":(literal){path}"))

    def compare(self, tree: GitRepository) -> None:
        """Compare the index, brought up to date, with one built from nothing."""
        fresh = self.space / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        built = open_app(tree, fresh)
        expected = logical(built)
        assert logical(open_app(tree)) == expected, self.story()
        for workspace in (open_app(tree), built):  # in the background as a rule, and what commits say counts
            read_history(workspace.store, workspace.repo, workspace.repo.head().commit or "")
        # Both answer alike, but for the last bits of drafts that were made in other batches.
        kept, new = (
            {hit[:3]: hit[3] for hit in said(search(workspace, QUESTION, EVERYTHING))[2]}
            for workspace in (open_app(tree), built)
        )
        assert kept.keys() == new.keys(), self.story()
        assert all(abs(score - new[hit]) < ROUNDING for hit, score in kept.items()), self.story()

    def story(self) -> str:
        """What was done, for a failure."""
        return f"after {len(self.done)} steps: {', '.join(self.done[-12:])}"


def places(hits: list[tuple[str, int, int, float]]) -> set[tuple[str, int, int]]:
    """Where the hits are, whatever they score."""
    return {(path, first, last) for path, first, last, _score in hits}


def said(answer: Answer) -> tuple[str | None, int, list[tuple[str, int, int, float]], int]:
    """What an answer says, without what is the same whatever is said."""
    hits = [(hit.path, hit.chunk.line_start, hit.chunk.line_end, round(hit.score, 6)) for hit in answer.hits]
    return answer.commit, answer.dirty, hits, answer.waiting
