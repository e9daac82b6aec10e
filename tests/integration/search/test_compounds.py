"""Two words that names write as one, and one word that they write as two; words with accents."""

from __future__ import annotations

import unicodedata

import pytest

from gitrag.actions.answer import Answer
from gitrag.actions.search import SearchOptions, search
from gitrag.search.question import read
from gitrag.words import terms
from tests.support.indexes import of_texts

FILES = {
    "src/threadpool.py": "def start_threadpool(jobs):\n    return [job() for job in jobs]\n",
    "src/pool.py": "def swim(lanes):\n    '''Swim in a pool.'''\n",
    "src/tree_saver.go": "package trees\n\nfunc Keep(leaves int) int {\n    return leaves\n}\n",
    "src/tree.go": "package trees\n\n// Tree has work to do.\ntype Tree struct{}\n",
    "src/queues.rs": "pub fn queue_runner() {}\n",
    "src/runner.rs": "/// A race.\npub fn runner() {}\n",
    "src/door.py": "def open_door(key):\n    '''Open the door with the key; a key opens a door.'''\n",
    "src/pedidos.py": "def enviar_peticion(cliente):\n    return cliente\n",
    "src/textos.py": "AVISO = 'La contraseña de la sesión no es válida'\n",
    "src/n.py": "def n(o):\n    return n(o) + n(o)\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("compounds"), FILES)


def ask(workspace, query: str) -> Answer:
    return search(workspace, query, SearchOptions(min_score=0.0, refine_s=0.0))


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("thread pool", "src/threadpool.py"),
        ("where is the thread_pool started", "src/threadpool.py"),
        ("ThreadPool", "src/threadpool.py"),
        ("QueueRunner", "src/queues.rs"),
        ("a thread-pool for jobs", "src/threadpool.py"),
        ("how does the treesaver work", "src/tree_saver.go"),
        ("queuerunner", "src/queues.rs"),
    ],
)
def test_words_are_found_as_the_code_writes_them(workspace, query, path):
    answer = ask(workspace, query)
    assert answer.hits[0].path == path
    assert not answer.wording.missing


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("thread_pool", "src/threadpool.py"),
        ("ThreadPool", "src/threadpool.py"),
        ("QueueRunner", "src/queues.rs"),
    ],
)
def test_a_name_is_sure_in_any_style(workspace, name, path):
    hit = ask(workspace, name).hits[0]
    assert hit.path == path
    assert hit.score > 0.5


def test_words_that_no_name_has_as_one_count_as_ever(workspace):
    alone = ask(workspace, "open door").hits[0]
    assert alone.path == "src/door.py"
    assert {terms.hashed("opendoor")} < {term for term, _places in read("open door").compounds}


def test_a_word_with_accents_is_one_word():
    assert read("petición").words == ("petición",)
    assert read(unicodedata.normalize("NFD", "petición")).words == ("petición",)
    assert read("Grün ÜBER naïve").words == ("grün", "über", "naïve")


@pytest.mark.parametrize(
    ("query", "searched_for", "path"),
    [
        ("petición", "peticion", "src/pedidos.py"),
        ("peticiones", "peticion", "src/pedidos.py"),
        ("sesiones", "sesión", "src/textos.py"),
        ("contraseñas", "contraseña", "src/textos.py"),
        ("contraseña", "", "src/textos.py"),
        ("contrasena valida", "contraseña válida", "src/textos.py"),
        ("Sesion", "sesión", "src/textos.py"),
    ],
)
def test_accents_are_read_both_ways(workspace, query, searched_for, path):
    answer = ask(workspace, query)
    assert answer.hits[0].path == path
    assert answer.wording.searched_for == searched_for
    assert not answer.wording.missing


def test_of_a_foreign_question_the_words_that_occur_with_other_accents_are_read(workspace):
    answer = ask(workspace, "dónde se envían las peticiones del cliente")
    assert answer.wording.foreign
    assert answer.wording.read_of == "send peticion request cliente client"
    assert answer.hits[0].path == "src/pedidos.py"
