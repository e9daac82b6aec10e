"""Answers of several repositories, put together."""

from __future__ import annotations

from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.repositories.ask import merge, share
from gitrag.corpus.layout import CollectionKind
from gitrag.model import Chunk, Kind
from gitrag.search.engine import Hit
from gitrag.search.sections import AnswerSection
from gitrag.search.wording import Wording

CHUNK = Chunk(Kind.FUNCTION, "f", "f", "def f()", "", "def f(): ...", 1, 1)


def hit(path: str, score: float) -> Hit:
    return Hit(path, CHUNK, score, (), (), 1.0, 0.5, ())


def answer(*scores: float, adrs: tuple[float, ...] = (), **fields: object) -> Answer:
    sections = (
        AnswerSection(CollectionKind.ADRS, tuple(hit(f"adr{at}.md", each) for at, each in enumerate(adrs))),
        AnswerSection(CollectionKind.CODE, tuple(hit(f"{at}.py", each) for at, each in enumerate(scores))),
    )
    made = Answer("q", sections, commit="c", dirty=1, drafts=2, waiting=0, model=True)
    return replace(made, **fields)


def places(found: Answer, kind: CollectionKind = CollectionKind.CODE) -> list[str]:
    return [
        f"{each.repository}:{each.path}"
        for section in found.sections
        if section.kind is kind
        for each in section.hits
    ]


def test_what_hardly_knows_does_not_stand_between_the_hits_of_what_does():
    found = merge("q", {"a": answer(0.9, 0.3, 0.2), "b": answer(0.4, 0.35)}, 10)
    assert places(found) == ["a:0.py", "a:1.py", "a:2.py", "b:0.py", "b:1.py"]
    scores = [each.score for each in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[:3] == [0.9, 0.3, 0.2]


def test_those_that_know_alike_are_mixed_by_their_scores():
    found = merge("q", {"a": answer(0.9, 0.3), "b": answer(0.88, 0.4)}, 3)
    assert places(found) == ["a:0.py", "b:0.py", "b:1.py"]


def test_the_likeliest_repository_keeps_its_scores_and_none_is_negative():
    shares = share({"a": answer(0.5, 0.5), "b": answer(0.5), "c": answer()})
    assert shares["a"] == 1.0
    assert 0 < shares["b"] < 1
    assert shares["c"] == 0
    assert share({"a": answer(), "b": answer()}) == {"a": 0.0, "b": 0.0}


def test_who_has_the_name_that_is_asked_for_comes_before_who_has_not():
    strange, home = answer(0.5, absent_names=("parseEx",)), answer(0.35)
    assert places(merge("how does parseEx work", {"a": strange, "b": home}, 10))[0] == "b:0.py"
    both = {"a": strange, "b": replace(home, absent_names=("parseEx",))}
    assert places(merge("how does parseEx work", both, 10))[0] == "a:0.py"


def test_of_two_that_know_alike_the_one_whose_hits_lie_together_comes_first():
    def lying(*paths: str) -> Answer:
        hits = tuple(hit(path, score) for path, score in zip(paths, (0.5, 0.4, 0.4), strict=True))
        return replace(answer(), sections=(AnswerSection(CollectionKind.CODE, hits),))

    spread, together = lying("a/x.py", "b/y.py", "c/z.py"), lying("web/a.py", "web/b.py", "c/z.py")
    assert places(merge("q", {"a": spread, "b": together}, 10))[0] == "b:web/a.py"
    surer = replace(spread, sections=(AnswerSection(CollectionKind.CODE, (hit("x.py", 0.95),)),))
    assert places(merge("q", {"a": surer, "b": together}, 10))[0] == "a:x.py"


def test_what_is_lowered_below_the_least_score_is_left_out_but_not_where_none_is_set():
    weak = {"a": answer(0.99), "b": answer(0.15, adrs=(0.4,))}
    assert places(merge("q", weak, 10)) == ["a:0.py"]
    assert places(merge("q", weak, 10), CollectionKind.ADRS) == []
    everything = {name: replace(each, least=0.0) for name, each in weak.items()}
    assert places(merge("q", everything, 10)) == ["a:0.py", "b:0.py"]


def test_each_kind_has_its_own_limit_and_states_are_added():
    found = merge("q", {"a": answer(0.9, 0.8, adrs=(0.9,)), "b": answer(0.9, 0.8, adrs=(0.8,))}, 2)
    assert len(places(found)) == 2
    assert len(places(found, CollectionKind.ADRS)) == 2
    assert (found.dirty, found.drafts, found.commit) == (2, 4, None)


def test_a_word_that_one_repository_knows_is_not_misspelt():
    corrected = answer(0.9, wording=Wording(searched_for="axis"))
    found = merge("axum", {"a": corrected, "b": answer(0.3)}, 10)
    assert places(found) == ["b:0.py"]
    assert not found.wording.searched_for
    both = merge("axum", {"a": corrected, "b": replace(corrected, wording=Wording(searched_for="axis"))}, 10)
    assert both.hits
    assert both.wording.searched_for == "axis"


def test_one_that_misses_the_misspelt_word_too_does_not_silence_the_correction():
    corrected = answer(0.9, wording=Wording(searched_for="receipt"))
    strange = answer(0.1, wording=Wording(missing=("reciept",), searched=4))
    found = merge("reciept", {"a": strange, "b": corrected}, 10)
    assert places(found)[0] == "b:0.py"
    assert (found.wording.searched_for, found.wording.missing) == ("receipt", ())


def test_a_word_is_missing_only_where_all_miss_it():
    one = answer(0.1, wording=Wording(missing=("jwt", "token"), searched=3))
    two = answer(0.1, wording=Wording(missing=("jwt",), searched=4))
    found = merge("q", {"a": one, "b": two}, 10)
    assert (found.wording.missing, found.wording.searched) == (("jwt",), 7)
    assert merge("q", {"a": one, "b": answer(0.9)}, 10).wording.missing == ()


def test_no_answer_at_all_is_an_answer_without_hits():
    found = merge("q", {}, 10)
    assert (found.query, found.hits) == ("q", ())
