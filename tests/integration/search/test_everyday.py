"""Asked in words that the answer does not have."""

from __future__ import annotations

import pytest

from gitrag.actions import search as asking
from gitrag.actions.search import SearchOptions, search
from gitrag.embedding.draft import drafter
from gitrag.errors import ModelError
from gitrag.report.text import as_text
from gitrag.search.collecting import collect
from gitrag.search.everyday import rows
from gitrag.search.question import MOST_TERMS
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


def test_an_answer_to_a_foreign_question_has_what_was_added_too(shown, monkeypatch):
    monkeypatch.setattr("gitrag.search.rewording._translated", lambda word, _: [ENGLISH.get(word, "")])
    answer = search(shown(), "zeige ein Bild auf dem Terminal an", SearchOptions(min_score=0.0))
    assert (answer.wording.foreign, answer.wording.added) == (True, ("image",))


ENGLISH = {"zeige": "show", "Bild": "picture", "Terminal": "terminal"}


def test_a_word_that_code_spells_as_asked_stands_alone_however_others_spell_it(tmp_path):
    said = {f"src/at{n}.py": f"def favourite{n}(favourite):\n    return favourite.at\n" for n in range(12)}
    other = {f"src/b{n}.py": f"def bookmark{n}(bookmark):\n    return bookmark.at\n" for n in range(2)}
    answer = search(of_texts(tmp_path, said | other), "all my favourite things", SearchOptions(min_score=0.0))
    assert answer.wording.added == ()


def test_an_added_word_takes_nothing_from_a_footnote_with_the_one_word_asked(shown):
    notes = {f"docs/n{n}.md": f"# Notes {n}\n\nAbout the picture of it {n}.\n" for n in range(4)}
    code = {f"src/o{n}.py": f"def o{n}(x):\n    return x.go()\n" for n in range(9)}
    answer = search(shown(notes | code), "what picture")
    assert answer.wording.added == ("image",)
    assert any(hit.path.startswith("docs/n") for hit in answer.hits)


def test_an_abbreviation_that_is_added_is_one_word_of_a_file_s_name(tmp_path):
    code = {f"src/{name}.py": f"def {name}(admin):\n    return admin\n" for name in ("admin_page", "b", "c")}
    answer = search(of_texts(tmp_path, code | FILES), "what administrator sees", SearchOptions(min_score=0.0))
    assert answer.wording.added == ("admin",)
    (reasons,) = (dict(hit.reasons) for hit in answer.hits if hit.path == "src/admin_page.py")
    assert "file_name_share" not in reasons


def test_a_question_of_many_words_stays_as_long_as_one_may_be(tmp_path, monkeypatch):
    said = [line.split("\t") for line in sorted({line for begin in rows().values() for line in begin})]
    single = [(word, code.split()) for word, code in said if word.isalpha()][::20][:MOST_TERMS]
    code = {
        f"src/f{n}_{k}.py": "".join(f"def {word}(): ...\n" for word in own if word.isidentifier())
        for n, (_word, own) in enumerate(single)
        for k in range(3)
    }
    asked = []
    monkeypatch.setattr(
        "gitrag.search.engine.collect", lambda *given: asked.append(given[1]) or collect(*given)
    )
    search(of_texts(tmp_path, code), " ".join(word for word, _own in single))
    assert asked
    assert all(len(question.words) <= MOST_TERMS for question in asked)


def test_a_model_that_fails_for_what_is_added_answers_by_the_question_as_asked(shown, monkeypatch):
    class Model:
        def encode_query(self, text):
            if text.endswith("image"):
                raise ModelError("The server does not answer.")
            return self.encode([text])[0]

        def encode(self, texts):
            return drafter().draft(texts)

    workspace = shown()
    monkeypatch.setattr(type(workspace), "encoder_if_ready", lambda *_: Model())
    answer = search(workspace, "show a picture in the terminal", SearchOptions(min_score=0.0, refine_s=0.0))
    assert ({hit.path for hit in answer.code} >= {*SHOWN}, answer.wording.added) == (True, ("image",))


def test_documents_are_asked_what_the_writer_of_a_report_says(shown, monkeypatch):
    embedded = []
    vector_of = asking.vector_of
    monkeypatch.setattr(
        asking,
        "vector_of",
        lambda encoder, text, *more: embedded.append(text) or vector_of(encoder, text, *more),
    )
    trace = (
        'Traceback (most recent call last):\n  File "src/show.py", line 2, in show\nAttributeError: no show\n'
    )
    search(shown(), f"Showing a picture crashes\n\nWhen I open it the terminal hangs.\n\n{trace}")
    assert embedded
    assert not any("Traceback" in text for text in embedded)
