"""Repositories with different models in one process: each is asked by its own, whoever is asked meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from gitrag.actions.repositories.chosen import choose
from gitrag.actions.repositories.kept import KeptRepositories
from gitrag.actions.requests import Scope
from gitrag.actions.search import SearchOptions, search
from gitrag.errors import ModelError
from gitrag.memory.registry import Registry
from gitrag.report.parts import notes_of
from gitrag.web.desk import Desk
from gitrag.web.repositories import Repositories
from tests.support.command import Gitrag
from tests.support.indexes import open_app
from tests.support.models import static_model
from tests.support.repository import create_repository

QUESTION = "send an invoice by mail"
CODE = 'def send_invoice(client):\n    """Send an invoice by mail."""\n'


@pytest.fixture
def shops(tmp_path, git_environment, monkeypatch):
    """Three repositories: by our model, and by two static ones that the user's settings name by directory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = ""
    for number, name in enumerate("bc"):
        model = static_model(tmp_path / f"model-{name}", 24, seed=number)
        (tmp_path / f"of-{name}").write_text(f"[gitrag]\n\tmodel = {model}\n")
        settings += f'[includeIf "gitdir:{tmp_path}/{name}/"]\n\tpath = {tmp_path}/of-{name}\n'
    (tmp_path / "settings").write_text(settings)
    environment = {**git_environment, "GIT_CONFIG_GLOBAL": str(tmp_path / "settings")}
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", environment["GIT_CONFIG_GLOBAL"])
    made = []
    for name in "abc":
        made.append(create_repository(tmp_path / name, environment, {f"{name}.py": CODE}))
        workspace = open_app(made[-1])
        workspace.update()
    return made


def cosine_of(workspace):
    [hit] = search(workspace, QUESTION, SearchOptions(refine_s=0.0)).hits
    return hit.cosine, hit.model


def test_each_workspace_has_its_own_and_threads_that_take_turns_mix_nothing(shops):
    alone = [cosine_of(open_app(each)) for each in shops]
    assert len(set(alone)) == 3
    together = [open_app(each) for each in shops]
    assert [bool(each.model) for each in together] == [False, True, True]

    def ask(workspace):
        return [cosine_of(workspace) for _ in range(8)]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, together)) == [[each] * 8 for each in alone]


def test_the_page_and_whoever_asks_several_ask_each_by_its_own(shops):
    alone = {each.path: cosine_of(open_app(each)) for each in shops}
    with closing(Desk(shops[0].path, shops[0].environment)) as desk:
        repositories = Repositories(desk)
        desks = [repositories.desk(name) for name in repositories.known()]
        assert {each.workspace.place: cosine_of(each.workspace) for each in desks} == alone
    chosen = choose(Scope(everywhere=True), Registry(), shops[0].path, None)
    kept = KeptRepositories(shops[0].environment, lambda _line: None)
    answer = kept.ask(chosen, QUESTION, SearchOptions(refine_s=0.0))
    assert {hit.path: hit.model for hit in answer.hits} == {
        f"{path.name}.py": model for path, (_, model) in alone.items()
    }
    [line] = [line for line in notes_of(answer) if "not calibrated" in line]
    assert all(model in line for _, model in alone.values())


def test_a_change_is_indexed_by_the_repositorys_own(shops):
    opened = [open_app(each) for each in shops]
    for each in shops:
        each.commit({"more.py": CODE.replace("invoice", "receipt")})
    for each in opened:
        each.update()
    for workspace, repository in zip(opened, shops, strict=True):
        with workspace.store.read() as db, open_app(repository).store.read() as again:
            keys = "SELECT key FROM texts ORDER BY key"
            assert db.execute(keys).fetchall() == again.execute(keys).fetchall()
    with opened[1].store.read() as one, opened[2].store.read() as other:
        keys = [{row[0] for row in db.execute("SELECT key FROM texts").fetchall()} for db in (one, other)]
    assert keys[0].isdisjoint(keys[1])


def test_a_model_that_is_replaced_meanwhile_writes_nothing_into_the_index_of_the_old_one(
    tmp_path, git_environment
):
    model = static_model(tmp_path / "model", 24)
    environment = {**git_environment, "GITRAG_MODEL": str(model)}
    repository = create_repository(tmp_path / "a", environment, {"a.py": CODE})
    before, later = open_app(repository), open_app(repository)
    static_model(model, 24, seed=5)
    with pytest.raises(ModelError, match="was replaced while gitrag was running"):
        before.update()
    with pytest.raises(ModelError, match="was replaced while gitrag was running"):
        later.embed()
    other = Gitrag(repository.path, environment, forks=False)  # which knows the new one alone
    assert other("index", "update", "--no-embed").status == 0
    index = before.store.path.read_bytes()
    with pytest.raises(ModelError, match="was replaced while gitrag was running"):
        before.update()
    assert before.store.path.read_bytes() == index
    assert "a.py" in other("search", QUESTION, "--output", "text").out
