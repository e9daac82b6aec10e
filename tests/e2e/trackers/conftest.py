"""A repository whose tracker is a server on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.command import Gitrag, Project
from tests.support.repository import create_repository, isolated_environment
from tests.support.tracked import Tracked
from tests.support.tracker_fakes import FAKES, TOKEN, Fake


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

    def make(kind: type[Fake], *, token: bool = True, here: bool = True) -> Tracked:
        fake = kind()
        fakes.append(fake)
        environment = {**plain_environment, **({kind.variable: TOKEN} if token else {})}
        environment["GIT_CONFIG_GLOBAL"] = str(tmp_path / f"gitconfig{len(fakes)}")
        git = create_repository(tmp_path / f"project{len(fakes)}", environment, {".gitignore": ".sdd/\n"})
        git.git("config", "--global", "gitrag.tracker", fake.name)
        git.git("config", "--global", "gitrag.trackerUrl", fake.url)
        git.git("config", "--global", "gitrag.trackerProject", fake.project)
        return Tracked(Project(git, Gitrag(git.path, environment, here=here)), fake)

    yield make
    for fake in fakes:
        fake.close()


@pytest.fixture(params=FAKES, ids=lambda kind: kind.__name__.removesuffix("Fake"))
def tracked(request: pytest.FixtureRequest, make_tracked: Callable[[type[Fake]], Tracked]) -> Tracked:
    """Each of the trackers that speak HTTP."""
    return make_tracked(request.param)
