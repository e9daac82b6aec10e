"""Vectors shared by a directory or a git remote: pushed once, pulled and checked, merged, refused."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from gitrag.actions.sharing import pull, push, upkeep
from gitrag.actions.sharing import shared as shared_action
from gitrag.embedding.version import ENCODER_VERSION
from gitrag.sharing import packs
from gitrag.store import shared
from tests.support.sharing import Team, make_team, poisoned, push_at_once, sources


@pytest.fixture
def careless(monkeypatch) -> None:
    """A sample of one, which a single wrong vector among many passes."""
    monkeypatch.setattr(pull, "SAMPLE_LEAST", 1)


@pytest.fixture
def team(request, tmp_path, model_dir) -> Team:
    """Who share by a directory: what a place is matters where `anywhere` says so, and in its own tests."""
    (tmp_path / "packs").mkdir()
    place = getattr(request, "param", "directory")
    return make_team(tmp_path, model_dir, (tmp_path / "packs").as_uri() if place == "directory" else place)


anywhere = pytest.mark.parametrize("team", ["directory", "git"], indirect=True)


@anywhere
def test_a_second_clone_embeds_nothing(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    embedded = ann.embed()
    pushed = ann.push()
    assert pushed.texts == embedded == bob.waiting()
    pulled = bob.pull()
    assert (pulled.texts, pulled.packs, pulled.refused, bob.waiting()) == (embedded, 1, [], 0)
    assert pulled.computed == 29 < embedded
    assert bob.vectors() == ann.vectors()
    assert bob.embed() == 0


@anywhere
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


@pytest.mark.sweep(keep=1)
@anywhere
def test_small_packs_become_one_and_nothing_is_lost(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    keys = set()
    for number in range(4):
        ann.git.commit(sources(100 + number, 1))
        ann.embed()
        ann.push()
        keys |= ann.vectors().keys()
        assert len(ann.packs()) <= 3
    bob.merge(ann)
    bob.pull()
    assert bob.waiting() == 0
    assert bob.vectors() == ann.vectors()


@pytest.mark.sweep(keep=1)
@anywhere
def test_two_who_push_at_once_lose_nothing(team):
    people = push_at_once(team, rounds=3)
    eve = team.clone("eve")
    for person in people:
        eve.merge(person)
    eve.pull()
    assert eve.waiting() == 0


def test_a_poisoned_pack_is_dropped_whole_and_remembered(team):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 0.5)
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


@pytest.mark.usefixtures("careless")
def test_what_came_from_a_pack_that_is_found_out_later_goes(team):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 0.02)  # one text
    mallory.put(pack)
    while not bob.pull().texts:
        bob.team().ledger.path.unlink()
    assert bob.waiting() == 0
    checked = upkeep.verify(bob.team(), every=True)
    assert [each.pack for each in checked.refused] == [pack.index.name]
    assert bob.vectors() == {}
    assert bob.waiting() == bob.embed() > 0
    assert bob.vectors() == mallory.vectors()


@pytest.mark.usefixtures("careless")
def test_what_came_from_a_wrong_pack_goes_though_it_is_no_longer_there(team):
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 0.02)
    mallory.put(pack)
    while not bob.pull().texts:
        bob.team().ledger.path.unlink()
    mallory.team().place.change({}, list(pack.files))
    checked = upkeep.verify(bob.team(), every=True)
    assert [each.pack for each in checked.refused] == [pack.index.name]
    assert (checked.packs, checked.gone, checked.gone_texts, bob.vectors()) == (0, 1, 40, {})
    mallory.put(pack)
    assert bob.pull().texts == 0, "known, should it come again"


@pytest.mark.usefixtures("careless")
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


def test_right_vectors_of_a_pack_that_is_gone_stay(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.pull()
    there = bob.team().place
    there.change({}, list(there.list()))
    checked = upkeep.verify(bob.team())
    assert (checked.refused, checked.gone, checked.computed) == ([], 1, 29)
    assert bob.vectors() == ann.vectors()


def test_what_another_process_took_from_a_refused_pack_goes(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.pull()
    (name,) = bob.packs()
    late = bob.team()
    late.ledger.refuse(name, "somewhere", "has other vectors")
    late.save()
    bob.pull()
    assert bob.vectors() == {}


def test_a_text_that_no_chunk_has_any_more_loses_a_refused_packs_vector_too(team):
    ann, bob = team.clone("ann"), team.clone("bob")
    ann.embed()
    ann.push()
    bob.pull()
    with bob.open().store.write("leaving a text alone", make=False) as db:
        db.execute("DELETE FROM chunks WHERE text_id = (SELECT min(text_id) FROM chunks WHERE text_id <> 0)")
    (name,) = bob.packs()
    bob.team().refuse(name, "has other vectors")
    with bob.open().store.read() as db:
        left = db.execute("SELECT (SELECT count(*) FROM taken), (SELECT count(*) FROM vectors)").fetchone()
    assert left == (0, 0)


def test_of_too_many_keys_some_are_left_out_and_counted(team, monkeypatch):
    ann, bob = team.clone("ann"), team.clone("bob")
    for number in range(3):
        ann.git.commit(sources(100 + number, 1))
        ann.embed()
        ann.push()
    assert len(ann.packs()) == 3
    monkeypatch.setattr(shared_action, "MOST_KEYS_TOTAL_BYTES", packs.MOST_KEYS_BYTES + 10)
    bob.merge(ann)
    pulled = bob.pull()
    assert (pulled.left_out, pulled.packs) == (2, 1)
    assert bob.waiting() == 46 - pulled.texts > 0
    assert upkeep.status(bob.team()).left_out == 2


def test_one_right_text_does_not_make_a_pack_checked(team):
    """Nor does it keep right vectors of the others from being pushed."""
    mallory, bob = team.clone("mallory"), team.clone("bob")
    mallory.embed()
    pack = poisoned(mallory, 1.0)
    right = mallory.vectors()
    bob.git.commit({f"m{n}.py": None for n in range(1, 20)})
    bob.open().store.remove()
    bob.index()
    with bob.open().store.read() as db:
        here = {key for (key,) in db.execute("SELECT key FROM texts").fetchall()}
    rows = [
        right[key] if key in here else row.tobytes()
        for key, row in zip(pack.index.keys.tolist(), pack.rows, strict=True)
    ]
    mixed = packs.make(
        pack.index.keys, np.frombuffer(b"".join(rows), np.int8).reshape(-1, 384), ENCODER_VERSION
    )
    mallory.put(mixed)
    pulled = bob.pull()
    assert (pulled.texts, pulled.refused) == (2, [])
    assert mixed.index.name not in bob.team().ledger.checked
    found = upkeep.verify(bob.team())
    assert (found.partly, found.partly_computed, found.partly_texts) == (1, 2, 40)
    assert mixed.index.name not in bob.team().ledger.checked
    bob.git.git("reset", "--quiet", "--hard", "HEAD~1")
    bob.embed()
    assert bob.push().texts == 38
    assert mixed.index.name in bob.team().ledger.refused
