"""Asked in words that the answer does not have."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.report.text import as_text
from tests.support.indexes import of_texts

FILES = {
    "src/hooks.py": "def deliver(webhook, subscriber):\n    return webhook.callback(subscriber)\n",
    "src/pages.py": "def render(page, template):\n    return template.fill(page)\n",
    "src/rows.py": "def save(table, row):\n    return table.insert(row)\n",
} | {f"src/told{number}.py": "def program(tell):\n    return tell()\n" for number in range(3)}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("everyday"), FILES)


@pytest.mark.parametrize("question", ["tell other programs about it", "cookbook pictures"])
def test_a_file_with_codes_words_for_it_has_that_in_its_reasons(workspace, question):
    hits = search(workspace, question, SearchOptions(min_score=0.0)).hits
    told = {hit.path: dict(hit.reasons).get("everyday", 0.0) for hit in hits}
    assert (told.get("src/hooks.py", 0.0) > 0) == question.startswith("tell")
    assert not told.get("src/rows.py")


SHOWN = {f"src/{name}.py": f"def {name}(image):\n    return image.{name}()\n" for name in ("show", "fit")}
BESIDE = {
    "src/term.py": "class Terminal:\n    def enter(self, terminal):\n        return terminal.mode()\n",
    "docs/decisions/ADR-0001-pictures.md": "# Show a picture in the terminal\n\nStatus: accepted\n",
}


@pytest.fixture
def shown(tmp_path):
    return lambda more=(): of_texts(tmp_path, SHOWN | BESIDE | dict(more))


def test_a_word_that_hardly_any_code_has_is_asked_for_in_codes_words_too(shown):
    answer = search(shown(), "show a picture in the terminal", SearchOptions(min_score=0.0))
    assert answer.code[0].path == "src/show.py"
    assert answer.wording.added == ("image",)
    assert [hit.path for hit in answer.decisions] == ["docs/decisions/ADR-0001-pictures.md"]
    said = as_text(answer, explain="words")
    assert 'It has no word of the question, but "image", as code may say it.\n' in said


@pytest.mark.parametrize("question", ["picture", "show_picture", "turn the terminal on"])
def test_a_name_and_code_s_own_words_stand_alone(shown, question):
    assert search(shown(), question, SearchOptions(min_score=0.0)).wording.added == ()


def test_a_word_that_code_has_stands_alone(shown):
    having = {f"src/{name}.py": f"def {name}(picture):\n    return picture\n" for name in ("a", "b", "c")}
    answer = search(shown(having), "show a picture in the terminal", SearchOptions(min_score=0.0))
    assert answer.wording.added == ()


def test_what_no_file_has_is_said_of_the_question_s_own_words(tmp_path):
    answer = search(of_texts(tmp_path, SHOWN), "upload a picture")
    assert (answer.wording.added, answer.missing) == (("image",), ("upload", "picture"))
