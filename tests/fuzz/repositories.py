"""Files of a repository, read by whole commands: sources, settings, rules, documents."""

from __future__ import annotations

from pathlib import Path
from random import Random

from gitrag.chunking.languages import BY_NAME
from tests.fuzz import sources, texts
from tests.fuzz.places import CANARY, Mine
from tests.fuzz.target import Input

_READERS: tuple[tuple[str, ...], ...] = (
    ("search", "canary at dawn", "--output", "json"),
    ("search", "a b c", "--output", "markdown", "--min-score", "0"),
    ("search", "a", "--output", "text", "--unfiltered"),
    ("status",),
    ("index", "update", "--no-embed"),
    ("config",),
    ("prime",),
    ("prime", "canary"),
    ("check", CANARY),
    ("related", "a canary that sings"),
    ("related", "a canary that sings", "--duplicates"),
    ("related", "--diff", "HEAD"),
    ("graph", "sing_at_dawn"),
    ("graph", "--filter", "canary"),
    ("core", "suggest"),
    ("issues", "list"),
    ("issues", "status"),
    ("issues", "sync", "--tracker", "tasks-md"),
    ("issues", "sync", "--tracker", "beads"),
    ("gc", "--apply"),
    ("hooks", "status"),
    ("agents", "install", "all"),
    ("init", "--agents", "all", "--remove"),
)
_EXECUTED = 0.02
"""So many inputs are read by a process of their own."""


_EXAMINED = 0.05
"""So many are looked at by `gitrag doctor`, which takes long."""


class Repositories:
    """Files of one kind in a repository.

    Args:
        space: An empty directory.
        readers: Commands that read them.
        may_hide: Whether they may rightly keep the canary from being found.
    """

    may_hide = False
    readers = _READERS

    def __init__(self, space: Path) -> None:
        self._mine = Mine(space)

    def make(self, dice: Random) -> Input:
        files = {}
        for _ in range(dice.choice((1, 1, 3, 10))):
            language = dice.choice(sources.NAMES)
            files[texts.name(dice, BY_NAME[language])] = sources.content(dice, language)
        return files

    def check(self, made: Input, dice: Random) -> str:
        mine = self._mine
        mine.write(made)
        try:
            if dice.random() < 0.2:
                mine.git.git("add", "--all", check=False)  # git itself refuses some
                mine.git.git("commit", "--quiet", "--allow-empty", "--message", "Change", check=False)
            commands = dice.sample(self.readers, 2)
            if dice.random() < _EXAMINED:
                commands.append(("doctor",))
            for command in commands:
                run = mine.commands.exec if dice.random() < _EXECUTED else mine.commands
                if wrong := run(*command).wrong(" ".join(command)):
                    return wrong
            if not self.may_hide and (wrong := mine.silent()):
                return wrong
        finally:
            mine.clean()
        return mine.harm() or (mine.silent() if self.may_hide else "")

    def close(self) -> None:
        self._mine.close()


class Settings(Repositories):
    """``.gitrag.yaml``, and the manifests that name a workspace's modules."""

    may_hide = True

    def make(self, dice: Random) -> Input:
        return dict([texts.settings(dice) if dice.random() < 0.7 else texts.manifest(dice)])


class Rules(Repositories):
    """Ignore and attribute files."""

    may_hide = True

    def make(self, dice: Random) -> Input:
        return dict(texts.rules(dice) for _ in range(dice.choice((1, 1, 2, 3))))


class Documents(Repositories):
    """Decisions, specifications, issues, tasks: their front matter and what follows."""

    def make(self, dice: Random) -> Input:
        return dict(texts.document(dice) for _ in range(dice.choice((1, 1, 2, 5))))
