"""Draft vectors answer at once; the model's own take their place."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.embedding import draft
from gitrag.report.parts import notes_of
from gitrag.store import inspection
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository

FILES = {
    f"src/{name}.py": f'def {name}():\n    """{words}"""\n    return "{name}"\n'
    for name, words in {
        "backoff": "Try a failed request again after a growing delay.",
        "evict": "Throw the least recently used entry out of the cache.",
        "sign": "Compute a keyed digest so that nobody can forge the message.",
        "paginate": "Cut a long listing into pages of equal length.",
        "throttle": "Limit how many calls a client can make per second.",
        "migrate": "Bring the tables of an older database to the newest layout.",
    }.items()
}
QUESTION = "retry when the server does not answer"
EVERYTHING = SearchOptions(min_score=0.0)


@pytest.fixture
def repository(make_repository, model_dir) -> GitRepository:
    """A repository of six functions, nothing indexed."""
    repository: GitRepository = make_repository(FILES)
    repository.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return repository


@pytest.fixture
def few_count_as_many(monkeypatch) -> None:
    """Let a search neither embed all the texts that wait, as it does with a few, nor start the worker."""
    monkeypatch.setattr("gitrag.actions.current_view.INLINE_TEXTS", 0)
    monkeypatch.setattr("gitrag.actions.catch_up.start_worker", lambda _workspace: None)


def test_meaning_answers_without_the_model(repository, tmp_path):
    workspace = app_of(repository, model_dir=str(tmp_path / "none"))
    workspace.update()
    answer = search(workspace, QUESTION, EVERYTHING)
    assert (answer.model, answer.drafts) == (False, workspace.count_unembedded())
    assert answer.hits[0].path == "src/backoff.py"
    assert vectors_of(workspace) == 0


def test_what_is_shown_is_refined_and_kept(repository, few_count_as_many):
    workspace = app_of(repository, limit=2)
    workspace.update()
    waiting = workspace.count_unembedded()
    options = SearchOptions(min_score=0.0, limit=2)
    answer = search(workspace, QUESTION, options)
    assert 0 < vectors_of(workspace) < waiting
    assert answer.drafts == workspace.count_unembedded() == waiting - vectors_of(workspace)
    kept = vectors_of(workspace)
    search(workspace, QUESTION, options)
    assert vectors_of(workspace) == kept


def test_no_budget_leaves_drafts(repository, few_count_as_many):
    workspace = app_of(repository, refine_s=0)
    workspace.update()
    answer = search(workspace, QUESTION, EVERYTHING)
    assert answer.hits[0].path == "src/backoff.py"
    assert vectors_of(workspace) == 0


def test_one_app_follows_edits_between_searches(repository):
    """The state that the last answer was about is only a guess."""
    workspace = app_of(repository)
    workspace.update()
    workspace.embed()
    assert found(workspace, "backoff") == {"src/backoff.py"}
    repository.write({"src/backoff.py": "def zigzag():\n    return 1\n"})
    assert found(workspace, "zigzag") == {"src/backoff.py"}
    assert found(workspace, "zigzag") == {"src/backoff.py"}
    repository.write({"src/backoff.py": "def corkscrew():\n    return 1\n"})
    assert found(workspace, "corkscrew") == {"src/backoff.py"}
    assert "src/backoff.py" not in found(workspace, "zigzag")
    repository.git("checkout", "--", "src/backoff.py")
    assert found(workspace, "backoff") == {"src/backoff.py"}
    assert "src/backoff.py" not in found(workspace, "corkscrew")


def app_of(repository: GitRepository, **settings: object) -> Workspace:
    variables = {f"GITRAG_{name.upper()}": str(value) for name, value in settings.items()}
    return Workspace.open(repository.path, environ=repository.environment | variables)


def vectors_of(workspace: Workspace) -> int:
    with workspace.store.read() as db:
        return inspection.count_store(db).vectors


def found(workspace: Workspace, name: str) -> set[str]:
    """The files that define a name."""
    answer = search(workspace, name, EVERYTHING)
    return {hit.path for hit in answer.hits if dict(hit.reasons).get("defines_it")}


def test_without_model_and_table_words_answer(repository, few_count_as_many, monkeypatch, tmp_path):
    """Without any vectors, search works by keywords and says so."""
    monkeypatch.setattr(draft, "TABLE", tmp_path / "none")
    draft.drafter.cache_clear()
    try:
        workspace = app_of(repository, model_dir=str(tmp_path / "none"))
        workspace.update()
        answer = search(workspace, "retry backoff", SearchOptions())
        assert answer.hits[0].path == "src/backoff.py"
        assert {hit.cosine for hit in answer.hits} == {None}
        assert search(workspace, "zebra croissant", SearchOptions()).hits == ()
    finally:
        draft.drafter.cache_clear()
    assert notes_of(answer) == [
        f"{answer.drafts} chunks unembedded — vector/hybrid search disabled until `gitrag index embed` runs"
    ]
