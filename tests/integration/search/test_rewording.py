"""Misspelt words, abbreviations, and questions in a language that the model does not read."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.report.parts import notes_of
from gitrag.search.rewording import foreign_language, translated
from gitrag.store.source import IndexFile
from gitrag.workspace import Workspace
from tests.support.indexes import of_texts

FILES = {
    "src/patterns.py": """
        def compile_regex_pattern(text):
            \"\"\"Compile a regular expression.\"\"\"
            return text


        class AuthenticationMiddleware:
            def verify(self, request):
                return request
        """,
    "src/database.py": "class Database:\n    def connect(self):\n        return 'a socket'\n",
    "src/conf.py": "def load_conf(path):\n    return path  # falls back\n",
    "src/wire.py": """
        def json_of(connection, gin, context):
            return json


        def webhook_of(connection):
            return connection
        """,
    "src/web.py": "def serve(page):\n    return page\n",
    "src/behavior.py": "def set_behavior(catalogue):\n    return 'it synchronizes what is cancelled'\n",
    "src/machine.py": "def emit(stack):\n    return 'prologue'\n",
    "src/client.py": "class ClientSession:\n    def follow(self):\n        return 'redirected twice'\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("rewording"), FILES)


def test_an_index_kept_in_memory_answers_the_same(workspace):
    """There the postings are no table."""
    queries = [
        "connect a socet",
        "regx pattern",
        "connect to the db",
        "src/gone.py",
        "pelican penguin census",
    ]
    expected = [ask(workspace, query) for query in queries]
    resident = Workspace.open(workspace.place, environ=workspace.environ, resident=True)
    for query in [*queries, *queries]:  # from the second question on it is in memory
        assert ask(resident, query) == expected[queries.index(query)]
    resident.store.close()


def ask(workspace, query: str) -> Answer:
    return search(workspace, query, SearchOptions(min_score=0.0))


def test_a_pasted_word_of_thousands_of_letters_takes_no_memory(workspace):
    """All that it could be with one letter wrong are n² letters: 24 GB for a word of 20,000."""
    ask(workspace, "regex")
    tracemalloc.start()
    try:
        answer = ask(workspace, "a" * 3_000)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.wording.searched_for == ""
    assert peak < 100_000_000


@pytest.mark.parametrize(
    ("query", "searched_for", "path"),
    [
        ("regx pattern", "regex pattern", "src/patterns.py"),
        ("authetication middlware", "authentication middleware", "src/patterns.py"),
        ("Conect to the database", "connect to the database", "src/database.py"),
        ("connect a socet", "connect a socket", "src/database.py"),  # in a text only
        ("ClientSesion", "ClientSession", "src/client.py"),  # an identifier, by its parts
        ("AuthenticationMidlewre.verify", "AuthenticationMiddleware.verify", "src/patterns.py"),
        ("jsn of the conection", "json of the connection", "src/wire.py"),  # of few letters one is left out
        ("josn", "json", "src/wire.py"),  # or two are exchanged
        ("jsno", "json", "src/wire.py"),
        ("ginn contxt", "gin context", "src/wire.py"),  # or one is doubled
        ("webhok of the conection", "webhook of the connection", "src/wire.py"),  # "web" is no form of it
        (
            "behaviour when it synchronises",
            "behavior when it synchronizes",
            "src/behavior.py",
        ),  # in American English
        (
            "catalog of what is cancelled",
            "catalogue of what is cancelled",
            "src/behavior.py",
        ),  # and in British
    ],
)
def test_a_misspelt_word_is_corrected_to_one_that_is_there_and_the_answer_says_so(
    workspace, query, searched_for, path
):
    answer = ask(workspace, query)
    assert answer.wording.searched_for == searched_for
    assert notes_of(answer)[0] == f'searched for "{searched_for}"'
    assert answer.query == query
    assert answer.hits[0].path == path


@pytest.mark.parametrize(
    "query",
    [
        "regex patterns",  # another form
        "prolog rules",  # a language, no prologue
        "how is the pattern compiled",
        "bcrypt pattern",  # a product that is not here
        "the battern of a drum",  # the first letter
        "patron of the arts",  # an English word
        "the backend of a pattern",  # two words in one; "backed" would occur, as "back"
        "patrn2",  # an identifier
        "pttrns",  # more than one letter of a short word
        "ClientSesionPool",  # none is called so
        "jsb",  # another letter
        "JSN",  # an abbreviation
    ],
)
def test_no_other_word_is_corrected(workspace, query):
    assert ask(workspace, query).wording.searched_for == ""


@pytest.mark.parametrize(
    ("query", "path"),
    [("connect to the db", "src/database.py"), ("load the configuration", "src/conf.py")],
)
def test_abbreviations_are_read_both_ways(workspace, query, path):
    answer = ask(workspace, query)
    assert answer.hits[0].path == path
    assert not {"db", "configuration"} & set(answer.wording.missing)


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("wie wird eine Umleitung in der ClientSession behandelt", "redirect ClientSession"),
        ("comment la ClientSession suit une redirection", "ClientSession follow redirection redirect"),
        ("ClientSession 如何处理重定向", "ClientSession redirect"),
        ("ClientSession のリダイレクトはどこで処理されますか", "ClientSession redirect"),
        ("где обрабатывается перенаправление", ""),
    ],
)
def test_a_question_in_another_language_is_read_word_by_word(workspace, query, kept):
    answer = ask(workspace, query)
    assert answer.wording.foreign
    assert answer.wording.read_of == kept
    note = f'only "{kept}" was searched for' if kept else "ask in English, or for a name"
    assert [line for line in notes_of(answer) if "English" in line] == [f"The model reads English: {note}."]
    if kept:
        assert answer.hits[0].path == "src/client.py"
        assert answer.hits[0].score <= 0.5  # one word of several
    assert answer.wording.searched_for == ""


@pytest.mark.parametrize(
    "question",
    [
        "die on a fatal error in the worker",
        "de facto standard of en passant moves",
        "le la les",
        "con el in data",
        "un une des",
        "select via que or se",
        "la fonction main",
        "naïve café résumé parsing",
        "how does the user log in via oauth",
    ],
)
def test_english_questions_and_identifiers_are_no_other_language(question):
    assert not foreign_language(question, question.split())


def test_words_of_a_language_do_not_hide_it_where_they_occur():
    question = "wo werden die Passwörter der Benutzer gespeichert"
    assert foreign_language(question, question.split()) == "German"


def test_no_text_of_the_golden_projects_is_taken_for_another_language():
    """Even where none of its words occurred."""
    lines = [
        line
        for path in (Path(__file__).parents[2] / "golden").glob("*.txt")
        for line in path.read_text("utf-8").splitlines()
        if len(line.split()) > 1
    ]
    assert len(lines) > 200
    assert not [line for line in lines if foreign_language(line, [])]


@pytest.mark.parametrize(
    ("word", "language", "english"),
    [
        ("Passwortrücksetzung", "German", ["password"]),
        ("Benutzerkonten", "German", ["user", "account"]),
        ("gespeichert", "German", ["save store"]),
        ("restablecimiento", "Spanish", ["reset"]),
        ("notificações", "Portuguese", ["notification notify"]),
        ("téléchargé", "French", ["download"]),
        ("重置密码并发送邮件", "Chinese", ["reset", "password", "send", "email mail"]),
        ("パスワードをリセット", "Japanese", ["password", "reset"]),
        ("mesmerisch", "Spanish", []),
        ("пароль", "another", []),
        ("Benutzer" * 1000, "German", []),
        ("Geldwäsche" * 10_000, "Spanish", []),
        ("重置" * 2000, "Chinese", ["reset"] * 2000),
    ],
)
def test_words_are_translated_by_how_they_begin(word, language, english):
    assert translated(word, language) == english


def test_the_words_of_a_long_foreign_question_are_looked_up_together(workspace, monkeypatch):
    """Each look-up joins the postings, of which a large index has many millions."""
    asked = []
    real = IndexFile.contents_by_term
    monkeypatch.setattr(IndexFile, "contents_by_term", lambda *of: asked.append(of[1]) or real(*of))
    answer = ask(workspace, "wo wird das mit der Ampel, Laterne, Gondel, Flasche und dem Kessel socket")
    assert answer.wording.foreign
    assert len(asked) < 4


def test_a_foreign_text_of_several_lines_is_told(workspace):
    lines = "Wie wird hier das Passwort geprüft?\nDie Anmeldung schlägt nach dem Neustart fehl.\n"
    lines += "Es gibt dann keine Meldung, und der Benutzer sieht nur eine leere Seite."
    answer = ask(workspace, lines)
    assert any("reads English" in note for note in notes_of(answer)), notes_of(answer)
