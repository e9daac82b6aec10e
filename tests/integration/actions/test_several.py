"""One question, asked of several repositories at once."""

from __future__ import annotations

import functools
import os
import threading
from pathlib import Path

import pytest

from gitrag.actions.answer import Outcome
from gitrag.actions.repositories import ask as asking
from gitrag.actions.repositories import kept as kept_repositories
from gitrag.actions.repositories.ask import ask
from gitrag.actions.repositories.chosen import Chosen, choose, nested
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import SearchOptions, search
from gitrag.errors import UsageError
from gitrag.git import Repository
from gitrag.machine.log import close_log
from gitrag.memory.registry import Registry
from gitrag.report.parts import wording_line
from gitrag.store import engine
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository, made_once

MANY = 6
QUESTION = "how is the parcel weighed"


def function(name: str) -> str:
    return f'def {name}(parcel):\n    """Weigh a parcel, {name}."""\n    return parcel.weight\n'


@pytest.fixture
def many(make_repository, git_environment, tmp_path) -> list[Chosen]:
    def make(number: int) -> GitRepository:
        files = {f"m{at}.py": function(f"weigh_{number}_{at}") for at in range(6)}
        repo = make_repository(files, name=f"r{number:02}")
        Workspace.open(repo.path, environ=repo.environment).update()
        return repo

    chosen = []
    for number in range(MANY):
        path = tmp_path / f"r{number:02}"
        made_once(f"one of many, {number}", path, git_environment, functools.partial(make, number))
        chosen.append(Chosen(path.name, path, path / ".git"))
    return chosen


def opened(chosen: Chosen) -> Workspace:
    return Workspace.open(chosen.place, environ=os.environ)


OPTIONS = SearchOptions(limit=500, min_score=0.0)


def test_asked_together_each_answers_as_if_it_were_alone(many):
    alone = {
        (each.name, hit.path): (hit.chunk, hit.snippet)
        for each in many
        for hit in search(opened(each), QUESTION, OPTIONS).hits
    }
    kept = KeptRepositories(os.environ, lambda _line: None)
    for turn in range(4):
        found = kept.ask(many, QUESTION, OPTIONS) if turn % 2 else ask(many, QUESTION, opened, OPTIONS)
        assert {each.outcome for each in found.asked} == {Outcome.ANSWERED}
        assert {(hit.repository, hit.path): (hit.chunk, hit.snippet) for hit in found.hits} == alone


def test_they_take_turns_with_few_engines_which_are_stopped(many, monkeypatch):
    started, stopped = [], []
    start, stop = engine.Engine.start, engine.Engine.stop

    def counted(own: engine.Engine) -> None:
        if own._engine is None:
            started.append(own)
        start(own)

    monkeypatch.setattr(engine.Engine, "start", counted)
    monkeypatch.setattr(engine.Engine, "stop", lambda own: (stopped.append(own), stop(own)))
    monkeypatch.setattr(asking, "_PATIENCE_S", 60.0)
    for _ in range(2):  # the first reads what only a first question reads
        started.clear()
        found = ask(many, QUESTION, opened, OPTIONS)
        assert {each.outcome for each in found.asked} == {Outcome.ANSWERED}
        assert len(started) < len(many)
        assert set(started) <= set(stopped)


@pytest.mark.parametrize("names", [["r03"], ["r00", "r01", "r02", "r03"]], ids=["one", "more than are asked"])
def test_those_that_hang_are_named_and_the_others_answer(many, names):
    hanging = threading.Event()

    def open_(chosen: Chosen) -> Workspace:
        if chosen.name in names:
            hanging.wait(120)
        return opened(chosen)

    try:
        found = ask(many, QUESTION, open_, OPTIONS, budget_s=20.0)
    finally:
        hanging.set()
    late = [each for each in found.asked if each.outcome is not Outcome.ANSWERED]
    assert [(each.name, each.outcome, each.why) for each in late] == [
        (name, Outcome.LATE, "no answer within 20 s") for name in names
    ]
    assert {hit.repository for hit in found.hits} == {each.name for each in many} - set(names)


def test_what_a_question_may_take_does_not_change_the_settings(many):
    seen: list[tuple[float, float]] = []

    class Watched(Workspace):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "config" and "config" in self.__dict__:
                seen.append((value.catch_up_s, value.refine_s))
            super().__setattr__(name, value)

    ask(many, QUESTION, lambda each: Watched.open(each.place, environ=os.environ), OPTIONS)
    assert seen == []  # one that answers late is used by its thread until it does


def test_what_is_kept_has_a_bound_and_the_longest_unused_goes_first(many, monkeypatch):
    one = (many[0].git_dir / "gitrag/index.duckdb").stat().st_size
    monkeypatch.setattr(kept_repositories, "_MOST_BYTES", 2 * one + one // 2)
    kept = KeptRepositories(os.environ, lambda _line: None)

    def names() -> list[str]:
        return [each.name for each in many if kept.find(each.name) is not None]

    for each in many[:3]:
        kept.ask([each], QUESTION, OPTIONS)
    assert names() == ["r01", "r02"]
    kept.ask([many[1]], QUESTION, OPTIONS)
    first = kept.find("r02")
    kept.ask([many[3]], QUESTION, OPTIONS)
    assert names() == ["r01", "r03"]
    assert first is not None
    assert first.store._copy is None
    found = kept.ask(many, QUESTION, OPTIONS)
    assert {hit.repository for hit in found.hits} == {each.name for each in many}
    in_memory = [each.name for each in many if (held := kept.find(each.name)) and held.store._copy]
    assert len(in_memory) == 2


def test_one_whose_place_cannot_be_looked_at_is_named_and_the_others_answer(many, tmp_path):
    unreadable = Path("/" + "x" * 300)  # ENAMETOOLONG, as EACCES and ESTALE, is an error to Path.is_dir
    found = ask([*many, Chosen("odd", unreadable, unreadable)], QUESTION, opened, OPTIONS)
    assert [(each.name, each.outcome, each.why) for each in found.asked if each.why] == [
        ("odd", Outcome.UNREACHABLE, f"{unreadable} cannot be read: File name too long")
    ]
    assert {hit.repository for hit in found.hits} == {each.name for each in many}
    found = ask([*many, Chosen("odd", unreadable, unreadable)], "zebraStripes", opened, OPTIONS)
    assert wording_line(found).startswith("none of the 36 files searched contains")
    with pytest.raises(UsageError, match="There is no directory"):
        choose(Scope(names=(str(unreadable),)), Registry(tmp_path / "state"), Path("/"), None)


def test_a_bug_in_one_is_logged_there_and_named(many):
    class Broken(Workspace):
        def require_index(self) -> None:
            raise ZeroDivisionError("oops")

    def open_(chosen: Chosen) -> Workspace:
        opener = Broken if chosen.name == "r01" else Workspace
        return opener.open(chosen.place, environ=os.environ)

    close_log()  # of a page or a server, which writes to its own: another test may have left it open
    found = ask(many, QUESTION, open_, OPTIONS)
    assert [(each.name, each.outcome) for each in found.asked if each.why] == [("r01", Outcome.UNREACHABLE)]
    assert "ZeroDivisionError" in (many[1].git_dir / "gitrag/log").read_text()


def test_a_question_without_words_is_refused_before_anything_is_opened(many):
    with pytest.raises(UsageError):
        ask(many, "?!", lambda _: pytest.fail("opened"))


def test_what_is_nested_is_found_and_other_worktrees_are_not(make_repository, tmp_path):
    outer = make_repository({"a.py": "a = 1\n"}, name="outer")
    make_repository({"b.py": "b = 1\n"}, name="outer/libs/inner")
    make_repository({"b.py": "b = 1\n"}, name="outer/libs/inner/deeper")
    make_repository({"c.py": "c = 1\n"}, name="outer/node_modules/none")
    outer.git("worktree", "add", "--detach", str(outer.path / "tree"))
    (outer.path / "link").symlink_to(tmp_path)
    (outer.path / "fake").mkdir()
    (outer.path / "fake/.git").write_text("gitdir: /nowhere\n")
    found = [name for name, _entry in nested(outer.path, outer.path / ".git")]
    assert found == ["libs/inner", "libs/inner/deeper"]
    here = Repository.discover(outer.path)
    chosen = choose(Scope(nested=True), Registry(tmp_path / "state"), outer.path, here)
    assert [each.name for each in chosen] == ["libs/inner", "libs/inner/deeper", "outer"]


def test_a_repository_that_is_meant_twice_is_asked_once(make_repository, tmp_path):
    repo = make_repository({"a.py": "a = 1\n"}, name="shop")
    registry = Registry(tmp_path / "state")
    scope = Scope(names=(str(repo.path), str(repo.path / "")))
    chosen = choose(scope, registry, Path("/"), None)
    assert [each.place for each in chosen] == [repo.path]
