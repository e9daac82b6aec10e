"""Questions that a newcomer asks of gitrag's own source, and the file each should lead to.

They are asked as in the first minute: of drafts, since the model would take one for so many chunks. What it
adds is held by the other tests here, on less.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gitrag
from gitrag.actions.search import SearchOptions, search
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often
from tests.support.repository import create_repository, isolated_environment

SOURCE = Path(gitrag.__file__).parent

QUESTIONS = {
    "how is a file cut into chunks": "chunking/",
    "which languages are parsed by tree-sitter": "chunking/languages.py",
    "markdown by headings": "chunking/prose.py",
    "turn a linear table of word pieces into draft vectors": "embedding/draft.py",
    "download the model from the hub and check its hash": "embedding/",
    "build the onnx graph from the weights": "embedding/onnx_model.py",
    "int8 quantisation per channel": "embedding/onnx_model.py",
    "which environment variables are scrubbed before git runs": "git/environment.py",
    "uncommitted changes on top of HEAD": "git/overlay.py",
    "generated, vendored and ignored files are left out": "git/path_rules.py",
    "compare two trees": "git/repository.py",
    "is a file minified": "git/content_rules.py",
    "install the git hooks as marked blocks": "hooking/",
    "what does the pre-push hook check": "actions/push_check.py",
    "only one background worker at a time": "indexing/worker.py",
    "what changed between the view and HEAD": "indexing/",
    "lock that readers share and a writer has alone": "machine/locks.py",
    "a damaged index is moved aside": "store/connection.py",
    "schema of the tables and migrations": "store/schema.py",
    "vectors stored as signed bytes and sign bits": "store/vectors.py",
    "BM25 of a file's chunks": "search/evidence.py",
    "weights of the linear ranker": "search/ranking.py",
    "stop words of a question": "search/question.py",
    "lines of a chunk to show": "search/snippet.py",
    "stem of an English word": "words/stems.py",
    "settings and where their values come from": "config/loading.py",
    "nearest known name of a mistyped setting": "words/spelling.py",
    "yaml file of the team with limits": "config/loading.py",
    "exit codes of errors": "errors.py",
    "progress bar on a terminal": "cli/progress.py",
    "one error boundary that prints the log's path": "cli/boundary.py",
    "shell completion": "cli/completion.py",
    "StoreMissingError": "store/connection.py",
    "Drafter": "embedding/draft.py",
    "open_scope": "store/scopes.py",
    "run_worker": "actions/catch_up.py",
}
PAGE = 10
FIRST, ON_PAGE = 22, 35
"""How many of the questions lead to their file first, and on the first page: one less than when this was set
first, and as many on the page. The model's vectors bring 25 first, and all on the page."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Workspace:
    """Those rooms of gitrag's that a question leads to, indexed: three fifths of it."""
    home = tmp_path_factory.mktemp("home")
    environment = isolated_environment(home) | {"GITRAG_MODEL_DIR": str(home / "none")}
    rooms = {wanted.partition("/")[0] for wanted in QUESTIONS.values()}
    files = {
        f"gitrag/{path.relative_to(SOURCE).as_posix()}": path.read_text("utf-8")
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".scm") and path.relative_to(SOURCE).parts[0] in rooms
    }
    repository = create_repository(tmp_path_factory.mktemp("own") / "gitrag", environment, files)
    return asked_often(repository)


@pytest.fixture(scope="module")
def places(workspace) -> dict[str, int]:
    """The place, from 1, of each question's file; PAGE + 1 where it is on no page."""
    found = {}
    for question, wanted in QUESTIONS.items():
        hits = search(workspace, question, SearchOptions(limit=PAGE, min_score=0.0)).hits
        at = [place for place, hit in enumerate(hits, 1) if hit.path.startswith(f"gitrag/{wanted}")]
        found[question] = at[0] if at else PAGE + 1
    return found


def test_questions_lead_to_their_files(places):
    assert sum(place == 1 for place in places.values()) >= FIRST, places
    assert sum(place <= PAGE for place in places.values()) >= ON_PAGE, places


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("FileLock.try_acquire", "machine/locks.py"),
        ("Store.read", "store/connection.py"),
        ("Rules.build", "git/path_rules.py"),
    ],
)
def test_a_qualified_name_shows_its_own_definition_and_not_the_class(workspace, name, path):
    first = search(workspace, name).hits[0]
    assert (first.path, first.chunk.qualified_name) == (f"gitrag/{path}", name)
