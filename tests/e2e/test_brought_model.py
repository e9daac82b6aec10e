"""A model of the user's own in place of ours: who may name it, what is said of it, that nothing mixes."""

import json
import os
from dataclasses import replace

import pytest

from tests.support.command import Gitrag
from tests.support.embedding_server import EmbeddingServer
from tests.support.models import bert_model, onnx_model, static_model

RETRY = 'def retry_with_backoff(call):\n    """Call again after a failure, waiting longer each time."""\n'
FILES = {
    "client.py": RETRY,
    "invoices.py": 'def send_invoice(client):\n    """Send an invoice by mail."""\n',
}


@pytest.fixture
def project(make_repository):
    return make_repository(FILES, indexed=True)


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
    assert own("model", "fetch").out == f"Your model is ready: {place}\n"
    assert own("index", "embed", "--foreground").status == 0
    assert json.loads(own("status", "--json").out)["unembedded"] == 0
    after = json.loads(ours("status", "--json").out)
    assert after["view"] == before["view"]
    assert after["fresh"] is True
    assert len(list((project.path / ".git/gitrag").glob("model-*"))) == 1
    assert own("uninstall", "--yes").status == 0
    assert not (project.path / ".git/gitrag").exists()


@pytest.mark.parametrize("make", [onnx_model, lambda place, width: bert_model(place, width, 2, 4)])
def test_a_model_in_onnx_or_of_berts_weights_finds_by_words_until_a_text_is_embedded(project, tmp_path, make):
    own = with_model(project, make(tmp_path / "small", 400))
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


def test_a_server_embeds_and_where_it_does_not_answer_words_are_searched_for(project):
    server = EmbeddingServer(500, key="secret")
    own = with_model(project, server.model)
    keyed = Gitrag(project.path, {**own.environment, "GITRAG_MODEL_KEY": "secret"}, here=False)
    assert keyed("index").status == 0
    project.commit({"client.py": RETRY + "\n\nOTHER = 1\n"}, "Wait longer after each failure of a call")
    asked = len(server.asked)
    assert "By the model in" in keyed("measure", "-n", "1").out
    assert any("retry_with_backoff" in text for _, body, _ in server.asked[asked:] for text in body["input"])
    assert (
        keyed("index", "update", "--no-embed").status == 0
    )  # of the new commit, which a worker may do later
    assert keyed("index", "embed", "--foreground").status == 0
    assert json.loads(keyed("status", "--json").out)["unembedded"] == 0
    assert f"Your model is ready: {server.model}\n" in keyed("model", "status").out
    assert json.loads(keyed("model", "fetch", "--json").out)["path"] == server.model
    assert any("retry_with_backoff" in text for _, body, _ in server.asked for text in body["input"])
    found = keyed("search", "waiting longer after a failure", "--output", "text")
    assert "client.py" in found.out
    assert server.model in found.said[-1]
    refused = replace(own, here=False)("search", "send invoice", "--output", "text")
    assert "invoices.py" in refused.out
    assert "answered 401" in "\n".join(refused.said)
    assert "GITRAG_MODEL_KEY" in "\n".join(refused.said)
    server.close()
    gone = keyed("search", "send invoice", "--output", "text")
    assert "invoices.py" in gone.out
    assert f"The model at {server.model.partition('#')[0]}/embeddings does not answer" in "\n".join(gone.said)
    assert keyed("index", "embed", "--foreground").status != 0 or "not answer" in "\n".join(gone.said)
    for each in (refused, gone):
        assert "Traceback" not in each.out + "\n".join(each.said)
        assert "secret" not in each.out + "\n".join(each.said)


def test_no_repository_names_a_server(project):
    server = EmbeddingServer(8)
    project.git("config", "gitrag.model", server.model)
    (project.path / ".gitrag.yaml").write_text(f"model: {server.model}\n")
    own = Gitrag(project.path, {**project.environment, "GITRAG_MODEL_KEY": "secret"})
    assert own("index").status == 0
    assert own("search", "send invoice").status == 0
    server.close()
    assert server.asked == []


def test_a_repository_that_is_refused_names_no_server_either(project, tmp_path):
    server = EmbeddingServer(8)
    own = Gitrag(project.path, {**project.environment, "GITRAG_MODEL_KEY": "secret"})
    assert own("explore", "save", "Invoices", "--context", "They are sent by mail.").status == 0
    os.mkfifo(tmp_path / "pipe")
    project.git("config", "core.attributesFile", str(tmp_path / "pipe"))  # gitrag refuses that
    project.git("config", "gitrag.model", server.model)
    assert server.model not in own("model", "status").out
    assert own("explore", "search", "invoices").status == 0
    server.close()
    assert server.asked == []


def test_an_address_without_a_models_name_or_without_tls_is_refused(project):
    for named in ("http://example.org/v1#m", "https://example.org/v1", "https://u:p@example.org/v1#m"):
        said = "\n".join(with_model(project, named)("status").said)
        assert "it must be an absolute path" in said
