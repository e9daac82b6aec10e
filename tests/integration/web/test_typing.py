"""A question that is being typed costs no git; a finished one is answered of the files as they are."""

from __future__ import annotations

from contextlib import closing

import pytest

from gitrag.store.file_state import state_of
from gitrag.web.application import render
from gitrag.web.desk import Desk
from gitrag.web.facets import Choices
from gitrag.web.repositories import Repositories
from gitrag.web.search_page import USUAL, search_page
from tests.support.indexes import open_app


@pytest.fixture
def asked(make_repository):
    repository = make_repository({"tax.py": "def rate():\n    return 1.2\n"}, indexed=True)
    with closing(Desk(repository.path, repository.environment)) as desk:
        repositories = Repositories(desk)

        def paths(question: str, *, unfinished: bool) -> list[str]:
            page = search_page(repositories, question, Choices(), USUAL, unfinished=unfinished)
            return [hit.at(hit.best).partition("#")[0] for _, hits in page.sections for hit in hits]

        yield repository, paths, repositories


def test_only_a_finished_question_looks_at_the_files_again(asked, monkeypatch):
    repository, paths, _ = asked
    monkeypatch.setattr("gitrag.actions.search.SEEN_S", 600.0)
    assert paths("rate", unfinished=True) == ["/file/tax.py"]
    (repository.path / "customs.py").write_text("def customs_rate():\n    return 3\n")
    assert paths("customs rate", unfinished=True) == ["/file/tax.py"]
    assert paths("customs rate", unfinished=False)[0] == "/file/customs.py"
    assert paths("customs rate", unfinished=True)[0] == "/file/customs.py"


def test_an_unfinished_question_leaves_the_index_at_what_others_have_seen_later(asked, monkeypatch):
    repository, paths, repositories = asked
    monkeypatch.setattr("gitrag.actions.search.SEEN_S", 600.0)
    assert paths("rate", unfinished=True) == ["/file/tax.py"]
    repository.commit({"customs.py": "def customs_rate():\n    return 3\n", "tax.py": None})
    open_app(repository).update()  # as a hook does
    store = repositories.here.workspace.store
    before = state_of(store.path)
    assert paths("rate", unfinished=True) == ["/file/customs.py"]
    assert state_of(store.path) == before


def test_only_a_finished_question_is_corrected_and_says_where_nothing_was_found(asked):
    _, _, repositories = asked

    def page(question, *, unfinished):
        return search_page(repositories, question, Choices(), USUAL, unfinished=unfinished)

    assert page("raet", unfinished=True).files == 0
    assert page("raet", unfinished=False).files == 1
    looked = [page("zeppelin", unfinished=each).notes for each in (True, False)]
    assert [any("Looked at 1 file" in note for note in notes) for notes in looked] == [False, True]


def test_a_hit_that_is_only_near_is_marked_in_the_page(asked):
    _, _, repositories = asked
    seen = set()
    for question in ("rate", "tax", "1.2", "file tax", "what is the tax"):  # some of them score little
        page = search_page(repositories, question, Choices(), USUAL)
        for hit in (hit for _, hits in page.sections for hit in hits):
            near = hit.found.score < 0.3
            seen.add(near)
            shown = render(
                "search.html",
                page=page,
                repository="",
                address=repositories.here.address,
                same_repository="",
                pages=[],
            )
            assert hit.found.is_nearest == near
            assert ("likely, nearest</span>" in shown) == near
            assert ("Nothing scores 0.30 or more; these are the nearest." in shown) == near
    assert seen == {True, False}
