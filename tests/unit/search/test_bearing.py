"""Which documents bear on a file or a sentence."""

from __future__ import annotations

import pytest

from gitrag.chunking import chunk
from gitrag.corpus.documents import Document
from gitrag.corpus.layout import CollectionKind
from gitrag.embedding.draft import drafter
from gitrag.embedding.text import chunk_text, path_text
from gitrag.search.bearing import DocumentPart, Documents, Target

MAIL = "# Retries of e-mail\n\nAn e-mail that cannot be delivered is sent again after 1, 5 and 30 minutes.\n"
REST = "# Use REST for the public API\n\nPartners call us over HTTP with JSON resources.\n"
CACHE = "# Load reference data in bulk\n\nThe class `BulkCache` in `lib/bulk_cache.rb` keeps it for a day.\n"
TEXTS = {"mail": MAIL, "rest": REST, "cache": CACHE}

DELIVER = Target(
    "worker/main.go", "func DeliverEmail(m Message) error { return smtp.Send(m) }", ("DeliverEmail",)
)
BULK = Target("lib/bulk_cache.rb", "class BulkCache\n  def clear\n  end\nend\n", ("BulkCache", "clear"))
COLOUR = Target("web/colour.js", "export function blend(a, b, t) { return a + (b - a) * t }", ("blend",))


def documents(names: list[str], *, with_vectors: bool) -> Documents:
    parts = [
        DocumentPart(number, each, number * 100 + place)
        for number, name in enumerate(names)
        for place, each in enumerate(chunk(TEXTS[name].encode(), "markdown"))
    ]
    return Documents(
        kinds=(CollectionKind.ADRS,) * len(names),
        documents=tuple(
            Document(f"docs/adr/{name}.md", name, TEXTS[name].partition("\n")[0][2:]) for name in names
        ),
        texts=tuple(TEXTS[name] for name in names),
        parts=tuple(parts),
        vectors=drafter().draft([chunk_text(part.chunk) for part in parts]) if with_vectors else None,
    )


def vectors_of(target: Target, *, with_vectors: bool):
    own = drafter().draft([path_text(target.path), target.text])
    return own if with_vectors else None


@pytest.mark.parametrize("with_vectors", [True, False])
@pytest.mark.parametrize(("target", "wanted"), [(DELIVER, "mail"), (BULK, "cache")])
def test_the_document_about_a_file_leads(target, wanted, with_vectors):
    names = ["rest", "mail", "cache"]
    held = documents(names, with_vectors=with_vectors)
    found = held.on_file(target, vectors_of(target, with_vectors=with_vectors))
    assert names[max(found, key=lambda each: each.score).document] == wanted


@pytest.mark.parametrize("with_vectors", [True, False])
@pytest.mark.parametrize("names", [["rest"], ["mail", "rest", "cache"]])
def test_where_nothing_bears_on_a_file_nothing_is_likely(names, with_vectors):
    """The best of few is not good for being the best."""
    held = documents(names, with_vectors=with_vectors)
    found = held.on_file(COLOUR, vectors_of(COLOUR, with_vectors=with_vectors))
    assert all(each.score < 0.3 for each in found)


def test_a_word_with_a_hyphen_is_the_one_without():
    held = documents(["rest", "mail", "cache"], with_vectors=False)
    assert "email" in held.on_file(DELIVER, None)[1].words


def test_a_document_that_names_a_definition_or_the_file_says_so():
    held = documents(["cache", "rest"], with_vectors=False)
    about, other = held.on_file(BULK, None)
    assert (about.names, about.is_mentioned) == (("BulkCache", "bulk_cache"), True)
    assert (other.names, other.is_mentioned) == ((), False)


@pytest.mark.parametrize(
    ("path", "text", "mentioned"),
    [
        ("a/cache.rb", "see cache.rb", True),
        ("a/cache.rb", "see bulk_cache.rb", False),
        ("a/cache.rb", "see cache.rbi", False),
        ("a/cache.rb", "see lib/cache.rb, too", True),
        ("service/auth", "what service/auth does", True),
        ("auth", "what auth does", False),
    ],
)
def test_a_file_is_mentioned_by_its_whole_name(path, text, mentioned):
    document = Document("docs/adr/1.md", "ADR-0001", "T")
    part = DocumentPart(0, chunk(text.encode(), "markdown")[0], 1)
    held = Documents((CollectionKind.ADRS,), (document,), (text,), (part,), None)
    assert held.on_file(Target(path, "x"), None)[0].is_mentioned is mentioned


def test_a_sentence_finds_its_document_without_vectors_too():
    for with_vectors in (True, False):
        held = documents(["mail", "rest", "cache"], with_vectors=with_vectors)
        text = "Switch the public API to gRPC"
        found = held.on_text(text, drafter().draft([text])[0] if with_vectors else None)
        assert found[1].score >= 0.3 > max(found[0].score, found[2].score)


def test_no_document_and_no_word_is_no_fault():
    assert documents([], with_vectors=False).on_text("x", None) == []
    empty = Documents((CollectionKind.ADRS,), (Document("a.md", "a", "a"),), ("",), (), None)
    assert [each.part for each in empty.on_file(COLOUR, None)] == [-1]
    assert [each.part for each in empty.on_text("?!", None)] == [-1]
