"""The background worker pulls before it embeds, and pushes only what the user lets it."""

from __future__ import annotations

import pytest

from gitrag.actions.catch_up import run_worker
from gitrag.actions.sharing.background import public_tree
from gitrag.embedding.encoder import Encoder
from gitrag.indexing import recipe
from gitrag.sharing.ledger import Ledger
from gitrag.workspace import Workspace
from tests.support.sharing import Person, Team, make_team, sources


@pytest.fixture
def team(tmp_path, model_dir) -> Team:
    return make_team(tmp_path, model_dir, "git", count=150)


def work(person: Person, *, push: str = "off", address: str | None = None) -> list[str]:
    """Be the worker; return what it says."""
    said: list[str] = []
    settings = {"GITRAG_SHARE": address or person.address, "GITRAG_SHARE_PUSH": push}
    workspace = Workspace.open(person.git.path, environ=person.git.environment | settings, say=said.append)
    assert run_worker(workspace)
    return said


def count_encoded(monkeypatch) -> list[str]:
    texts: list[str] = []
    real = Encoder.encode

    def encode(self, given):
        texts.extend(given)
        return real(self, given)

    monkeypatch.setattr(Encoder, "encode", encode)
    return texts


def test_the_worker_pulls_and_embeds_only_the_rest(team, monkeypatch):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.git.commit(sources(900, 1))
    computed = count_encoded(monkeypatch)
    said = work(bob)
    assert f"Pulled {len(ann.vectors())} vectors from" in said[0]
    assert len(computed) == 29 + 2, "a sample, and what is new"
    assert bob.waiting() == 0


def test_the_worker_pushes_only_where_it_may_and_only_what_the_remote_has(team):
    ann = team.clone("ann")
    work(ann)
    assert ann.packs() == set()
    ann.git.commit(sources(900, 1))
    assert "Pushed 300 vectors" in work(ann, push="on")[-1]
    assert ann.push().texts == 2, "the commit that is only here had stayed here"


def test_a_tree_whose_texts_are_cut_otherwise_is_pushed_again(team, monkeypatch):
    ann = team.clone("ann")
    assert "Pushed 300 vectors" in work(ann, push="on")[-1]
    team.origin.git("update-ref", "-d", "refs/gitrag/vectors")  # they stand for what is new
    assert work(ann, push="on") == []
    monkeypatch.setattr(recipe, "CHUNKER_VERSION", recipe.CHUNKER_VERSION + 1)
    assert "Pushed 300 vectors" in work(ann, push="on")[-1]


def test_it_pushes_nothing_where_no_remote_has_a_commit(team):
    ann = team.clone("ann")
    workspace = ann.open()
    head = workspace.repo.head()
    assert public_tree(workspace) == head.tree
    ann.git.commit(sources(900, 1))
    ann.git.git("checkout", "--quiet", "--detach")
    assert public_tree(ann.open()) == head.tree
    assert public_tree(Person(ann.git, "git:origin").open()) == head.tree
    ann.git.git("checkout", "--quiet", "--orphan", "other")
    ann.git.commit(sources(0, 1))
    assert public_tree(ann.open()) is None
    ann.git.git("remote", "remove", "origin")
    assert public_tree(Person(ann.git, "file:///x").open()) is None


def test_without_a_network_the_rest_goes_on_and_status_knows(team):
    ann = team.clone("ann")
    ann.git.git("remote", "set-url", "origin", "https://127.0.0.1:9/x.git")
    said = work(ann)
    assert any("unable to access" in line for line in said)
    assert ann.waiting() == 0
    assert "unable to access" in Ledger.load(ann.open().store.directory).failure
    ann.git.commit(sources(900, 1))
    assert work(ann) == [], "not asked again so soon"
    assert ann.waiting() == 0
    ann.git.commit(sources(901, 1))
    assert work(ann, address="git:nothing") == [], "not every repository has such a remote"
