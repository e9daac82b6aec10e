"""Vectors shared by a directory or a git remote: pushed once, pulled and checked, merged, refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gitrag.actions.sharing import push, upkeep
from gitrag.embedding.version import ENCODER_VERSION
from gitrag.sharing import packs
from gitrag.store import shared
from tests.support.sharing import Team, make_team, poisoned, push_at_once, sources


@pytest.fixture(params=["directory", "git"])
def team(request, tmp_path, model_dir) -> Team:
    (tmp_path / "packs").mkdir()
    address = "git" if request.param == "git" else (tmp_path / "packs").as_uri()
    return make_team(tmp_path, model_dir, address)


def test_a_second_clone_embeds_nothing(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    embedded = ann.embed()
    pushed = ann.push()
    assert pushed.texts == embedded == bob.waiting()
    pulled = bob.pull()
    assert (pulled.texts, pulled.packs, pulled.refused, bob.waiting()) == (embedded, 1, [], 0)
    assert 8 <= pulled.computed < embedded
    assert bob.vectors() == ann.vectors()
    assert bob.embed() == 0


def test_nothing_is_pushed_or_pulled_twice(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    first = ann.push()
    before = ann.packs()
    again = ann.push()
    assert (again.texts, again.known, ann.packs()) == (0, first.texts, before)
    bob.pull()
    assert bob.push().texts == 0, "what was pulled is not pushed"
    assert bob.pull().texts == 0


def test_only_what_is_committed_at_head_is_pushed(team):
    ann = team.clone("ann")
    ann.git.write({"secret.py": "def secret_plan():\n    '''Buy the rival.'''\n"})
    texts = ann.embed()
    assert ann.push().texts == texts - 2, "neither the function of the uncommitted file nor its path"
    ann.git.commit(message="Secret")
    ann.index()
    assert ann.push().texts == 2


def test_texts_that_come_later_are_found_in_packs_that_were_there(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.git.commit(sources(50, 5))
    ann.embed()
    ann.push()
    bob.pull()
    bob.merge(ann)
    assert bob.waiting() == 10
    assert bob.pull().texts == 10


def test_small_packs_become_one_and_nothing_is_lost(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    keys = set()
    for number in range(6):
        ann.git.commit(sources(100 + number, 1))
        ann.embed()
        ann.push()
        keys |= ann.vectors().keys()
        assert len(ann.packs()) <= 3
    bob.merge(ann)
    bob.pull()
    assert bob.waiting() == 0
    assert bob.vectors() == ann.vectors()


def test_two_who_push_at_once_lose_nothing(team):
    people = push_at_once(team, rounds=3)
    eve = team.clone("eve")
    for person in people:
        eve.merge(person)
    eve.pull()
    assert eve.waiting() == 0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_poisoned_pack_is_dropped_whole_and_remembered(team, share):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, share)
    mallory.put(pack)
    before = bob.waiting()
    pulled = bob.pull()
    (refusal,) = pulled.refused
    assert refusal.pack == pack.index.name
    assert refusal.origin == bob.team().place.address
    assert "other vectors than the model gives here" in refusal.why
    assert (pulled.texts, bob.waiting(), bob.vectors()) == (0, before, {})
    again = bob.pull()
    assert (again.refused, again.computed, bob.waiting()) == ([], 0, before), "remembered, not asked again"
    # an honest pack beside it is used, and the refused one is not in the way of a push
    mallory.push()
    assert bob.pull().texts == before
    assert bob.push().texts == 0
    tidied = upkeep.tidy(bob.team(), really=True)
    assert tidied.refused == 1
    assert pack.index.name not in bob.packs()


def test_what_came_from_a_pack_that_is_found_out_later_goes(team):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 0.02)  # one text: a sample seldom meets it
    mallory.put(pack)
    while not bob.pull().texts:
        bob.team().ledger.path.unlink()
    assert bob.waiting() == 0
    checked = upkeep.verify(bob.team(), every=True)
    assert [each.pack for each in checked.refused] == [pack.index.name]
    assert bob.vectors() == {}
    assert bob.waiting() == bob.embed() > 0
    assert bob.vectors() == mallory.vectors()


def test_a_wrong_pack_is_found_out_after_it_was_merged_too(team):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 0.02)
    mallory.put(pack)
    while not bob.pull().texts:
        bob.team().ledger.path.unlink()
    other = packs.make(np.array([b"unknown text 123"], "S16"), pack.rows[:1], ENCODER_VERSION)
    one = packs.merge([pack, other], ENCODER_VERSION)
    mallory.team().place.change(one.files, pack.files)
    assert [each.pack for each in upkeep.verify(bob.team(), every=True).refused] == [one.index.name]
    assert bob.vectors() == {}
    assert bob.waiting() == 40


def test_right_vectors_stay_when_a_wrong_pack_of_the_same_texts_is_found_out(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.pull()
    ann.put(poisoned(ann, 1.0))
    assert len(upkeep.verify(bob.team()).refused) == 1
    assert bob.vectors() == ann.vectors()


def test_vectors_from_a_pack_that_is_gone_are_not_pushed_again(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.pull()
    there = bob.team().place
    there.change({}, list(there.list()))
    assert bob.packs() == set()
    assert bob.push().texts == 0


def test_packs_of_other_models_and_formats_are_left_alone(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    with ann.open().store.read() as db:
        ids, keys = shared.known(db)
        rows = shared.read(db, ids)
    other = packs.make(keys, rows, "other/1")
    pack = poisoned(ann, 0)
    newer = replace(pack, index=replace(pack.index, name=pack.index.name.replace("v1-", "v2-")))
    ann.put(other, newer)
    pulled = bob.pull()
    assert (pulled.listed, pulled.other_models, pulled.newer, pulled.texts) == (2, 1, 1, 0)
    assert ann.push().texts == len(keys)
    assert upkeep.tidy(ann.team(), really=True, other_models=True).others == 1
    assert len(ann.packs()) == 2, "a newer gitrag's packs stay"


def test_a_pack_that_nobody_here_checked_is_not_merged(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    for number in range(3):
        ann.git.commit(sources(100 + number, 1))
        ann.embed()
        ann.push()
    before = ann.packs()
    bob.git.commit(sources(500, 2))
    bob.embed()  # the texts of origin's first commit too
    bob.push()
    assert before <= bob.packs()
    assert push.groups(bob.team(), dict.fromkeys(before, 1)) == []
