"""A repository whose tracker is a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import Done, Gitrag, Project
from tests.e2e.trackers.fakes import FAKES, TOKEN, Fake, Ticket
from tests.repository import create_repository, isolated_environment


@dataclass(frozen=True, slots=True)
class Tracked:
    """A repository, gitrag in it, and its tracker."""

    project: Project
    fake: Fake

    @property
    def folder(self) -> Path:
        return self.project.path / ".sdd" / "issues"

    @property
    def meta(self) -> dict[str, object]:
        return json.loads((self.folder / "_meta.json").read_text())

    def sync(self, *args: str, **options: object) -> Done:
        """Sync, with success."""
        done = self.project.gitrag("issues", "sync", *args, **options)  # type: ignore[arg-type]
        assert done.status == 0, done.err
        return done

    def id(self, number: int) -> str:
        """The tracker's id of the issue with a number."""
        key = self.fake.project
        return str(number) if "/" in key else f"{key}-{number}"

    def ids(self) -> list[str]:
        """The ids that have a file."""
        return sorted((path.stem for path in self.folder.glob("*.md")), key=lambda each: (len(each), each))

    def fill(self, count: int, **options: object) -> None:
        """Put issues on the server, numbered from 1, each updated a minute after the one before."""
        for number in range(1, count + 1):
            self.fake.put(Ticket(self.id(number), f"Issue {number}", "Body", minute=number, **options))  # type: ignore[arg-type]

    def head(self, number: int) -> dict[str, object]:
        """The front matter of an issue's file, by a YAML reader that is not gitrag's."""
        text = self.file(number).read_text()
        return yaml.safe_load(text.split("\n---\n")[0])

    def body(self, number: int) -> str:
        """What follows the front matter, byte for byte."""
        return self.file(number).read_bytes().decode().partition("\n---\n")[2].removeprefix("\n")

    def file(self, number: int) -> Path:
        return self.folder / f"{self.id(number)}.md"

    def stamps(self) -> dict[str, tuple[bytes, int, int]]:
        """Every issue's bytes, time of change and inode."""
        return {
            path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
            for path in sorted(self.folder.glob("*.md"))
        }


@pytest.fixture
def plain_environment(tmp_path: Path) -> dict[str, str]:
    """A user without a model, without tokens, without the trackers' programs."""
    home = tmp_path / "home"
    home.mkdir()
    kept = isolated_environment(home)
    return {
        key: value for key, value in kept.items() if "TOKEN" not in key and "_proxy" not in key.lower()
    } | {
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "GITRAG_MODEL_DIR": str(home / "no-model"),
    }


@pytest.fixture
def make_tracked(
    tmp_path: Path, plain_environment: dict[str, str]
) -> Iterator[Callable[[type[Fake]], Tracked]]:
    """A factory: a repository whose settings name a tracker on this machine, and its token."""
    fakes: list[Fake] = []

    def make(kind: type[Fake], *, token: bool = True) -> Tracked:
        fake = kind()
        fakes.append(fake)
        environment = {**plain_environment, **({kind.variable: TOKEN} if token else {})}
        environment["GIT_CONFIG_GLOBAL"] = str(tmp_path / f"gitconfig{len(fakes)}")
        git = create_repository(tmp_path / f"project{len(fakes)}", environment, {".gitignore": ".sdd/\n"})
        git.git("config", "--global", "gitrag.tracker", fake.name)
        git.git("config", "--global", "gitrag.trackerUrl", fake.url)
        git.git("config", "--global", "gitrag.trackerProject", fake.project)
        return Tracked(Project(git, Gitrag(git.path, environment)), fake)

    yield make
    for fake in fakes:
        fake.close()


@pytest.fixture(params=FAKES, ids=lambda kind: kind.__name__.removesuffix("Fake"))
def tracked(request: pytest.FixtureRequest, make_tracked: Callable[[type[Fake]], Tracked]) -> Tracked:
    """Each of the trackers that speak HTTP."""
    return make_tracked(request.param)
