"""What an answer can be narrowed to."""

from __future__ import annotations

from msgspec.structs import replace

from gitrag.model import Chunk, Kind
from gitrag.search.engine import Hit
from gitrag.web.facets import Choices, facets, repository_facet


def hit(path, language="python", kind=Kind.FUNCTION):
    chunk = Chunk(kind, "f", "f", "", "", "f", 1, 1)
    return Hit(path, chunk, 0.9, (), (), 1.0, 0.5, (), language=language)


FOUND = [
    hit("src/shop/cart.py"),
    hit("src/shop/tax.py", kind=Kind.CLASS),
    hit("src/web/basket.js", "javascript"),
]


def shown(found, narrowed, chosen=()):
    return {
        facet.name: [(each.label, each.count, each.is_chosen) for each in facet.values]
        for facet in facets(found, narrowed, Choices(chosen))
    }


def test_only_what_makes_a_difference_is_offered():
    assert shown(FOUND, FOUND) == {
        "lang": [("python", 2, False), ("javascript", 1, False)],
        "kind": [("Functions", 2, False), ("Classes", 1, False)],
        "path": [("src/shop/", 2, False), ("src/web/", 1, False)],
    }


def test_a_facet_counts_what_the_others_leave():
    chosen = (("lang", "python"),)
    found = shown(FOUND, FOUND[:2], chosen)
    assert found["lang"] == [("python", 2, True), ("javascript", 1, False)]
    assert found["kind"] == [("Classes", 1, False), ("Functions", 1, False)]
    assert "path" not in found  # both are in the same folder


def test_what_is_chosen_can_be_taken_away_though_nothing_has_it():
    chosen = (("lang", "rust"), ("path", "none"))
    (language, folder) = (
        each for each in facets(FOUND, [], Choices(chosen)) if each.name in {"lang", "path"}
    )
    assert [each.choices for each in language.values if each.is_chosen] == [(("path", "none"),)]
    assert [(each.label, each.count) for each in folder.values] == [("none/", 0)]


def test_repositories_are_counted_where_they_are_asked():
    def shown(found, *chosen, known=3):
        facet = repository_facet(found, Choices.read(chosen), known)
        return facet and [(each.label, each.count, each.is_chosen, each.choices) for each in facet.values]

    own = [replace(each, repository=name) for each, name in zip(FOUND, "aab", strict=True)]
    everywhere, of_b, python = ("everywhere", "1"), ("repo", "b"), ("lang", "python")
    assert shown(FOUND, known=1) is None
    assert shown(FOUND, python) == [("all 3", None, False, (python, everywhere))]
    assert shown(own, everywhere) == [
        ("all 3", 3, True, ()),
        ("a", 2, False, (everywhere, ("repo", "a"))),
        ("b", 1, False, (everywhere, of_b)),
    ]
    assert shown(own, everywhere, of_b, python) == [
        ("all 3", 2, False, (python, everywhere)),
        ("b", 0, True, (everywhere, python)),
        ("a", 2, False, (everywhere, of_b, python, ("repo", "a"))),
    ]
    assert shown(own[2:], of_b) == [("all 3", None, False, (everywhere,)), ("b", 1, True, ())]
    assert Choices.read([("everywhere", "2"), ("repo", ""), ("x", "y")]) == Choices()
