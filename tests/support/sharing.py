"""People who share vectors: clones of one repository, each with an index of its own."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gitrag.actions.sharing import pull, push
from gitrag.actions.sharing.shared import Shared
from gitrag.embedding.version import ENCODER_VERSION
from gitrag.sharing import packs
from gitrag.store import shared
from gitrag.workspace import Workspace
from tests.support.command import user_environment
from tests.support.repository import Content, GitRepository, create_repository


def sources(first: int, count: int) -> dict[str | bytes, Content]:
    """Files of one function each, no two alike."""
    return {
        f"m{n}.py": f'def weigh_{n}(parcel_{n}):\n    """Weigh the {n}th parcel."""\n    return {n}\n'
        for n in range(first, first + count)
    }


@dataclass(frozen=True, slots=True)
class Person:
    """A clone, and the setting ``share`` in it."""

    git: GitRepository
    address: str

    def open(self) -> Workspace:
        """Open the clone anew."""
        environment = self.git.environment | {"GITRAG_SHARE": self.address}
        return Workspace.open(self.git.path, environ=environment)

    def team(self) -> Shared:
        """Open the place anew."""
        return Shared.open(self.open())

    def index(self) -> None:
        """Index what is checked out, without vectors."""
        self.open().update()

    def embed(self) -> int:
        """Index and embed; return how many texts had to be."""
        self.index()
        workspace = self.open()
        return workspace.embed(entries=workspace.uncommitted_entries())

    def push(self) -> push.Pushed:
        team = self.team()
        return push.push(team, team.workspace.repo.head().tree)

    def pull(self) -> pull.Pulled:
        return pull.pull(self.team())

    def waiting(self) -> int:
        """How many texts have no vector."""
        return self.open().count_unembedded()

    def merge(self, other: Person) -> None:
        """Merge another's branch, and index."""
        self.git.git("pull", "--quiet", "--no-edit", "--no-rebase", str(other.git.path), "main")
        self.index()

    def packs(self) -> set[str]:
        """The names of the packs at the place."""
        return {name.rpartition(".")[0] for name in self.team().place.list()}

    def put(self, *some: packs.Pack) -> None:
        """Add packs to the place, whatever is in them."""
        for pack in some:
            self.team().place.change(pack.files, [])

    def vectors(self) -> dict[bytes, bytes]:
        """The vectors of all texts here, by key; drafts are left out."""
        with self.open().store.read() as db:
            return dict(db.execute("SELECT key, vector FROM texts JOIN vectors USING (text_id)").fetchall())


@dataclass(frozen=True, slots=True)
class Team:
    """A repository that others clone, and where they share."""

    home: Path
    origin: GitRepository
    address: str
    environment: Mapping[str, str]
    template: Path

    def clone(self, name: str) -> Person:
        """Return a new clone, indexed: a copy of one that was made so."""
        made, place = self.template / "clone", self.home / name
        shutil.copytree(made, place)
        config = place / ".git" / "config"
        origin = (self.template / "origin.git").as_uri(), self.origin.path.as_uri()
        config.write_text(config.read_text().replace(*origin))
        return Person(GitRepository(place, dict(self.environment), self.origin.ticks), self.address)


@functools.cache
def _template(model_dir: Path, count: int) -> Path:
    """Make a repository of some files and a clone of it, indexed."""
    home = Path(tempfile.mkdtemp(prefix="gitrag-team-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    environment = user_environment(home / "home", model_dir)
    origin = create_repository(home / "origin.git", environment, bare=True)
    work = create_repository(home / "first", environment, sources(0, count))
    work.git("push", "--quiet", str(origin.path), "main")
    Person(origin.clone(home / "clone"), "off").index()
    return home


def make_team(home: Path, model_dir: Path, address: str, count: int = 20) -> Team:
    """Make a repository of some files, and say where its vectors are shared."""
    environment = user_environment(home / "home", model_dir)
    template = _template(model_dir, count)
    shutil.copytree(template / "origin.git", home / "origin.git")
    return Team(home, GitRepository(home / "origin.git", environment), address, environment, template)


def push_at_once(team: Team, rounds: int) -> tuple[Person, Person]:
    """Let two people commit, embed and push a file at a time, at the same time."""
    people = team.clone("one"), team.clone("two")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(rounds):
                people[number].git.commit(sources(1000 * (number + 1) + turn, 1))
                people[number].embed()
                people[number].push()
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread of the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return people


def poisoned(person: Person, share: float, seed: int = 0) -> packs.Pack:
    """Return a pack of a clone's texts, some of them with vectors of something else."""
    random = np.random.default_rng(seed)
    with person.open().store.read() as db:
        ids, keys = shared.known(db)
        rows = shared.read(db, ids).copy()
    wrong = random.permutation(len(rows))[: max(1, int(share * len(rows)))]
    rows[wrong] = random.permutation(rows[wrong], axis=1)
    return packs.make(keys, rows, ENCODER_VERSION)
