"""The installed command in real repositories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.command import SOURCES, Gitrag, Project, indexed_project, user_environment
from tests.support.repository import Content, create_repository
from tests.support.web import end_driver


@pytest.fixture(scope="module", autouse=True)
def one_driver() -> Iterator[None]:
    """Have a module's tests share Playwright's program."""
    yield
    end_driver()


@pytest.fixture
def environment(tmp_path: Path, model_dir: Path) -> dict[str, str]:
    return user_environment(tmp_path / "home", model_dir)


@pytest.fixture
def make_project(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Project]:
    """A factory: ``make_project({"a.py": "x"}, name="project")``; without files, unborn."""

    def make(
        files: Mapping[str | bytes, Content] | None = None, *, name: str = "project", **options: object
    ) -> Project:
        git = create_repository(tmp_path / name, environment, files, **options)  # type: ignore[arg-type]
        return Project(git, Gitrag(git.path, environment))

    return make


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    """A small repository, not indexed."""
    return make_project(SOURCES)


@pytest.fixture
def ready(indexed: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    """The like of ``indexed``, to be changed."""
    return indexed.copied(tmp_path / "project", environment)


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """A small repository, indexed and embedded, for tests that leave it as it was."""
    return indexed_project(tmp_path_factory.mktemp("indexed"), model_dir)
