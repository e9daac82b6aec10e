"""One comment on a pull request, kept up to date, at an API on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gitrag.actions.forge_comment import MARK, post
from gitrag.errors import NetworkError, NotSetUpError
from tests.support.forges import STRANGER, Forge, forge

Runner = Callable[[Forge, Path], Mapping[str, str]]
RUNNERS = pytest.mark.parametrize("runner", [Forge.github, Forge.gitlab], ids=["github", "gitlab"])


@pytest.fixture
def at() -> Iterator[Forge]:
    with forge() as kept:
        yield kept


@RUNNERS
def test_it_is_posted_once_and_then_changed_and_no_stranger_s_is(at: Forge, runner: Runner, tmp_path: Path):
    at.comments = [{"id": 0, "body": f"{MARK}\nforged", **STRANGER}]
    assert post(runner(at, tmp_path), "first")
    assert post(runner(at, tmp_path), "second")
    assert [each["body"] for each in at.comments] == [f"{MARK}\nforged", f"{MARK}\nsecond"]


@RUNNERS
@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_may_not_comment_is_said(at: Forge, runner: Runner, tmp_path: Path, status: int):
    at.status = status
    assert not post(runner(at, tmp_path), "text")


@RUNNERS
@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_goes_wrong_is_one_error_and_no_redirect_gets_the_token(
    at: Forge, runner: Runner, tmp_path: Path, status: int
):
    at.status = status
    with pytest.raises(NetworkError, match=f"HTTP {status}"):
        post(runner(at, tmp_path), "text")
    assert len(at.requests) == 1


@RUNNERS
def test_without_a_request_or_a_token_nothing_is_asked(at: Forge, runner: Runner, tmp_path: Path):
    whole = dict(runner(at, tmp_path))
    for gone in whole.keys() - {"GITHUB_ACTIONS", "GITLAB_CI"}:
        with pytest.raises(NotSetUpError, match="no pull request"):
            post({key: value for key, value in whole.items() if key != gone}, "text")
    (tmp_path / "event.json").write_text("[]")
    with pytest.raises(NotSetUpError):
        post({**Forge.github(at, tmp_path), "GITHUB_EVENT_PATH": "/dev/null"}, "text")
    assert at.requests == []
