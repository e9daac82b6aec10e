"""What is said of words that occur nowhere, or only beside the source; and where it would be false."""

from __future__ import annotations

import json

import pytest

from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.report.markdown import as_markdown
from gitrag.report.parts import notes_of, wording_line
from gitrag.report.text import as_text
from gitrag.search.sections import UNSURE, Wanted
from gitrag.store.scopes import Filters
from tests.support.command import Gitrag
from tests.support.indexes import of_texts, open_app
from tests.support.repository import create_repository, isolated_environment

FILES = {
    "src/door.py": """
        def open_door(key):
            return key


        class HingeWatcher:
            def oil(self, pyoauth):
                return pyoauth
        """,
    "src/window.py": "def open_window():\n    return 'glass'\n",
    "tests/test_door.py": "def test_burglar():\n    assert 'burglar'\n",
    "docs/house.md": "# House\n\nA burglar may come. Beware of the gargoyle.\n",
    "examples/tour.py": "print('balcony')\n",
    "docs/adr/0001-brass.md": "# 1. Use brass\n\n## Status\n\nAccepted\n\nBrass does not rust.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("wording"), FILES)


def ask(workspace, query: str, **options) -> Answer:
    return search(workspace, query, SearchOptions(**options))


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("chimney sweeping penguins", ("chimney", "sweeping", "penguins")),
        ("where is the chimney", ("chimney",)),
        ("ChimneySweeper penguin", ("Chimney", "Sweeper", "penguin")),
        ("how is pelican functionality implemented", ("pelican",)),
    ],
)
def test_words_that_no_file_contains_are_named_as_asked(workspace, query, missing):
    assert ask(workspace, query).wording.missing == missing


@pytest.mark.parametrize(
    "word",
    [
        "hinge",  # part of an identifier
        "watching",  # another form of one
        "oauth",  # only letters within a longer word
        "BURGLAR",
        "window",  # a file's name
        "implemented",  # says nothing of what is asked for
        "which",
        "42",
    ],
)
def test_a_word_that_occurs_is_not_called_missing(workspace, word):
    assert word not in ask(workspace, f"pelican penguin {word}").wording.missing


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("gargoyle pelican penguin", '"gargoyle" occurs only in docs (1 file)'),
        ("balcony pelican penguin", '"balcony" occurs only in examples (1 file)'),
        ("burglar pelican penguin", '"burglar" occurs only in tests and docs (2 files)'),
    ],
)
def test_what_only_tests_examples_or_docs_contain_is_said_so(workspace, query, said):
    assert wording_line(ask(workspace, query)) == f'no file contains "pelican" or "penguin"; {said}'


def test_a_question_for_tests_is_not_told_that_only_tests_have_it(workspace):
    assert ask(workspace, "test of the burglar pelican").wording.only_beside == ()


def test_nothing_is_said_where_a_hit_is_likely(workspace):
    answer = ask(workspace, "open_door")
    assert answer.hits[0].score >= UNSURE
    assert wording_line(answer) == ""


def test_where_nothing_is_found_the_message_stays_and_the_words_are_a_note(workspace):
    answer = ask(workspace, "pelican penguin census")
    assert not answer.hits
    nothing = (
        "No relevant ADRs, specs, or code found for 'pelican penguin census'. Try a broader search term."
    )
    assert as_text(answer) == as_markdown(answer) == nothing
    assert notes_of(answer)[0] == 'No file contains "pelican", "penguin" or "census".'


def test_unlikely_hits_are_called_the_nearest(workspace):
    answer = ask(workspace, "pelican penguin flamingo census and the door", min_score=0.0)
    assert 0 < answer.hits[0].score < UNSURE
    line = 'o file contains "pelican", "penguin", "flamingo" or "census"; nearest:'
    assert as_text(answer).startswith(f"n{line}\n\n")
    assert f"\nN{line}\n" in as_markdown(answer)
    assert not any("pelican" in note for note in notes_of(answer))


def test_a_filter_is_not_taken_for_the_whole_repository(workspace):
    options = {"filters": Filters(globs=("src/**",))}
    line = wording_line(ask(workspace, "gargoyle pelican", **options))
    assert line == 'none of the 2 files searched contains "gargoyle" or "pelican"'
    line = wording_line(ask(workspace, "gargoyle pelican", wanted=Wanted(names=("adrs",))))
    assert line == 'none of the 1 file searched contains "gargoyle" or "pelican"'
    # of functions only parts of the files are searched
    assert wording_line(ask(workspace, "glass pelican", filters=Filters(kinds=("class",)))) == ""


def test_a_word_of_another_collection_is_not_missing(workspace):
    assert "rust" not in ask(workspace, "rust pelican penguin").wording.missing


def test_a_path_that_is_not_there_is_said_so(workspace):
    assert wording_line(ask(workspace, "src/gone.py")) == "no indexed file is named src/gone.py"
    assert wording_line(ask(workspace, "src/door.py")) == ""
    for path in ("src/open_door.py", "docs/doors/house.md", "src/window/open_window.ts"):
        answer = ask(workspace, path, min_score=0.0)
        assert all(hit.score <= UNSURE for hit in answer.hits)
        assert as_text(answer).startswith(f"no indexed file is named {path}; nearest:\n\n")


def test_a_text_that_no_user_asked_is_taken_as_it_is(workspace):
    for text in (
        "src/door.py",
        "pelican penguin census",
        "opne_door windwo",
        "wie wird das Fenster geöffnet",
    ):
        answer = ask(workspace, text, as_it_is=True, min_score=0.0)
        assert wording_line(answer) == answer.wording.searched_for == answer.wording.read_of == ""
        assert not any(hit.reasons[:1] == (("named", hit.score),) for hit in answer.hits)


def test_files_that_were_not_looked_at_are_not_spoken_for(tmp_path):
    """A lock file is left out: that it has the word is told, and no more is claimed of what was searched."""
    files = {"a.py": "x = 1\n", "poetry.lock": "pelican\n", "data.bin": b"\0pelican"}
    repository = create_repository(tmp_path / "p", isolated_environment(tmp_path / "home"), files)
    workspace = open_app(repository)
    workspace.update()
    said = wording_line(ask(workspace, "pelican penguin"))
    assert said.startswith('"pelican" is in poetry.lock, left out: a lock file')
    assert said.endswith('; no indexed file contains "pelican" or "penguin"')
    repository.commit({"poetry.lock": None})
    assert wording_line(ask(workspace, "pelican penguin")) == 'no file contains "pelican" or "penguin"'


def test_uncommitted_words_count(tmp_path):
    repository = create_repository(
        tmp_path / "p", isolated_environment(tmp_path / "home"), {"a.py": "x = 1\n", "b.py": "pelican = 2\n"}
    )
    workspace = open_app(repository)
    workspace.update()
    query = "a census of pelican, penguin, flamingo"
    assert ask(workspace, query).wording.missing == ("census", "penguin", "flamingo")
    repository.write({"b.py": "y = 2\n", "c.py": "penguin = 1\n"})
    assert ask(workspace, query).wording.missing == ("census", "pelican", "flamingo")


def test_the_command_says_it_beside_json(tmp_path):
    repository = create_repository(
        tmp_path / "p", isolated_environment(tmp_path / "home"), {"door.py": "def open_door(): pass\n"}
    )
    open_app(repository).update()
    command = Gitrag(repository.path, repository.environment)
    done = command("search", "--output", "json", "pelican penguin census")
    found = json.loads(done.out)
    assert set(found) == {"query", "adr_matches", "spec_matches", "code_snippets", "call_graphs"}
    assert 'No file contains "pelican", "penguin" or "census".' in done.err
