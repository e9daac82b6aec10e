"""A model of the user's own in place of ours: who may name it, what is said of it, that nothing mixes."""

import json

import pytest

from tests.support.command import Gitrag
from tests.support.indexes import open_app
from tests.support.models import onnx_model, static_model

RETRY = 'def retry_with_backoff(call):\n    """Call again after a failure, waiting longer each time."""\n'
FILES = {
    "client.py": RETRY,
    "invoices.py": 'def send_invoice(client):\n    """Send an invoice by mail."""\n',
}


@pytest.fixture
def project(make_repository):
    repository = make_repository(FILES)
    open_app(repository).update()
    return repository


def with_model(project, place):
    return Gitrag(project.path, {**project.environment, "GITRAG_MODEL": str(place)})


def test_a_static_model_answers_at_once_and_nothing_mixes_with_ours(project, tmp_path):
    place = static_model(tmp_path / "small", 24)
    ours = Gitrag(project.path, project.environment)
    before = json.loads(ours("status", "--json").out)
    own = with_model(project, place)
    assert own("index").status == 0
    found = own("search", "waiting longer after a failure", "--output", "text")
    assert "client.py" in found.out
    assert "% likely" not in found.out
    assert f"Scores are not calibrated for the model in {place}: none is a probability." in found.said
    assert f"yours, {place}, ready" in own("status").out
    assert f"Your model is ready: {place}" in own("model", "status").out
    assert own("index", "embed", "--foreground").status == 0
    assert json.loads(own("status", "--json").out)["unembedded"] == 0
    after = json.loads(ours("status", "--json").out)
    assert after["view"] == before["view"]
    assert after["fresh"] is True
    assert len(list((project.path / ".git/gitrag").glob("model-*"))) == 1
    assert own("uninstall", "--yes").status == 0
    assert not (project.path / ".git/gitrag").exists()


def test_a_model_in_onnx_finds_by_words_until_a_text_is_embedded(project, tmp_path):
    own = with_model(project, onnx_model(tmp_path / "small", 400))
    assert own("index").status == 0
    found = own("search", "send invoice", "--output", "text")
    assert "invoices.py" in found.out
    assert own("index", "embed", "--foreground").status == 0
    again = own("search", "send invoice", "--output", "text")
    assert "invoices.py" in again.out
    assert "found by words alone" not in "\n".join(again.said)


def test_a_repository_names_no_model(project, tmp_path):
    place = static_model(tmp_path / "evil", 8)
    project.git("config", "gitrag.model", str(place))
    (project.path / ".gitrag.yaml").write_text(f"model: {place}\n")
    own = Gitrag(project.path, project.environment)
    status = own("status")
    assert str(place) not in status.out
    assert "gitrag.model of the repository's own git configuration is ignored" in "\n".join(status.said)
    assert not list((project.path / ".git/gitrag").glob("model-*"))


def test_a_model_that_cannot_be_run_is_said_and_words_are_searched_for(project, tmp_path):
    own = with_model(project, tmp_path / "nowhere")
    done = own("index")
    found = own("search", "send invoice", "--output", "text")
    said = "\n".join([*done.said, *found.said])
    assert "no model that gitrag can run" in said
    assert "Traceback" not in said + done.out + found.out
    assert "invoices.py" in found.out
    assert own("model", "status").status == 1
