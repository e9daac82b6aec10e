"""A question that a text has word for word, and a name that is part of longer ones."""

from __future__ import annotations

import pytest

from gitrag.actions.search import search
from gitrag.search.question import read
from gitrag.search.verbatim import verbatim
from gitrag.store import candidates
from gitrag.store.source import IndexFile
from tests.support.indexes import of_texts, scoped

FILES = {
    "doors/opening.py": """
        def open_door(door):
            if door.latch is None:
                raise ValueError("the latch of this door has no spring")
            raise OSError("nobody is allowed to open "
                          "this door at night: %s" % door)
            raise OSError("Öl für die Tür im Café")
        """,
    "doors/long.py": "NUMBERS = [" + ", ".join(f"door_{i}" for i in range(500)) + "]\n",
    "doors/spring.py": """
        # A spring of a latch of a door has tension; this says how much: no door has a latch without.
        def spring_of_latch(door, latch):
            return latch.spring or door.spring
        """,
    "doors/closing.py": """
        def close_door_and_lock_it(door):
            pass


        def closeDoorQuietly(door):
            pass
        """,
    "tests/test_opening.py": """
        def test_no_spring():
            assert "the latch of this door has no spring" in str(error)
        """,
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("verbatim"), FILES)


def quoting(workspace, text: str) -> list[str]:
    question = read(text)
    with scoped(workspace) as (db, scope, paths):
        found = verbatim(
            IndexFile(db), text, candidates.postings(db, scope, question.hashes), len(question.words)
        )
        return sorted(paths[file] for file, _chunk in scope.places_of(found))


@pytest.mark.parametrize(
    "text",
    [
        "the latch of this door has no spring",
        "'The latch of this door, has no spring.'",
        "of this  door\nhas no",
    ],
)
def test_a_message_is_found_where_it_is_written(workspace, text):
    assert quoting(workspace, text) == ["doors/opening.py", "tests/test_opening.py"]


@pytest.mark.parametrize("added", ["", " when running", " in a test"])
def test_who_adds_words_to_an_exceptions_message_gets_its_line_first_too(workspace, added):
    found = search(workspace, f"ValueError: the latch of this door has no spring{added}").hits
    assert dict(found[0].reasons).get("verbatim", 0) > 0
    assert found[0].path == "doors/opening.py"


def test_letters_beyond_ascii_are_letters(workspace):
    assert (
        quoting(workspace, "Öl für die Tür im Café")
        == quoting(workspace, "öl für die")
        == ["doors/opening.py"]
    )
    assert quoting(workspace, "l für die Tür im Caf") == []


def test_a_file_may_be_pasted(workspace):
    assert quoting(workspace, FILES["doors/long.py"] * 20) == ["doors/long.py"]


def test_a_message_may_be_broken_into_lines(workspace):
    assert quoting(workspace, "nobody is allowed to open this door at night") == ["doors/opening.py"]


@pytest.mark.parametrize(
    "text",
    [
        "this door",
        "door",
        "the latch of this door has a spring",
        "spring no has door this",
        "this doo",
        "?",
        "",
    ],
)
def test_other_words_and_a_word_or_two_quote_nothing(workspace, text):
    assert quoting(workspace, text) == []


def test_who_pastes_a_message_gets_its_line_first(workspace):
    first = search(workspace, "the latch of this door has no spring").hits[0]
    assert first.path == "doors/opening.py"
    assert any("has no spring" in line.text for line in first.snippet)
    assert dict(first.reasons)["verbatim"] > 0


@pytest.mark.parametrize("name", ["close_door", "closeDoor", "DoorQuiet"])
def test_a_part_of_a_name_finds_the_whole(workspace, name):
    assert search(workspace, name).hits[0].path == "doors/closing.py"


def longer(workspace, name: str) -> int:
    with scoped(workspace) as (db, scope, _paths):
        return len(candidates.longer_names(db, scope, name))


def test_a_part_of_very_many_names_is_a_word(workspace, tmp_path):
    assert [longer(workspace, name) for name in ("Door", "door_and", "window")] == [3, 1, 0]
    many = {"a.py": "".join(f"def getDoor{i}():\n    return {i}\n\n\n" for i in range(21))}
    other = of_texts(tmp_path, many)
    assert [longer(other, name) for name in ("getDoor", "getDoor1")] == [0, 11]


def test_pasted_code_is_found_where_it_is(workspace):
    pasted = 'if door.latch is None:\n    raise ValueError("the latch of this door has no spring")\n'
    pasted += 'raise OSError("nobody is allowed to open "\n              "this door at night: %s" % door)'
    assert read(pasted).report is not None
    [first, *_] = search(workspace, pasted).hits
    assert first.path == "doors/opening.py"
    assert dict(first.reasons)["verbatim"] > 0
