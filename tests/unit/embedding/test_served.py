"""Models behind an address: what is sent, what is made of what comes back, what is said where none does."""

import json

import numpy as np
import pytest

from gitrag.embedding.brought import load_encoder
from gitrag.embedding.draft import drafter, has_table
from gitrag.embedding.served import Served
from gitrag.errors import ModelError
from tests.support.embedding_server import EmbeddingServer, vector_of

TEXTS = ["send the invoice", "retry a call", ""]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda _seconds: None)
    monkeypatch.delenv("GITRAG_MODEL_KEY", raising=False)


@pytest.fixture
def serve():
    servers = []

    def start(dimensions=64, key=""):
        servers.append(EmbeddingServer(dimensions, key))
        return servers[-1]

    yield start
    for each in servers:
        each.close()


def expected(texts, dimensions):
    raw = np.stack([vector_of(text or "-", dimensions) for text in texts])
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    return raw @ raw.T


@pytest.mark.parametrize("dimensions", [3, 64, 384])
def test_of_few_dimensions_each_cosine_is_kept(serve, tmp_path, dimensions):
    encoder = load_encoder(tmp_path, serve(dimensions).model)
    found = encoder.encode(TEXTS)
    np.testing.assert_allclose(found @ found.T, expected(TEXTS, dimensions), atol=1e-5)
    np.testing.assert_allclose(encoder.encode_query(TEXTS[0]), found[0], atol=1e-6)


def test_of_many_dimensions_words_say_which_are_kept_and_only_once(serve):
    server = serve(500)
    found = Served(server.model).encode(TEXTS)
    np.testing.assert_allclose(found @ found.T, expected(TEXTS, 500), atol=0.15)
    asked = sum(len(body["input"]) for _path, body, _key in server.asked)
    Served(server.model).encode(TEXTS)
    assert sum(len(body["input"]) for _path, body, _key in server.asked) == asked + 1 + len(TEXTS)


def test_texts_are_sent_in_batches_with_the_models_name(serve):
    server = serve()
    Served(server.model).encode([f"text {number}" for number in range(130)])
    assert [len(body["input"]) for _path, body, _key in server.asked] == [1, 64, 64, 2]
    assert {(path, body["model"], key) for path, body, key in server.asked} == {
        ("/v1/embeddings", "small", "")
    }
    Served(server.model.replace("/v1", ""))
    assert server.asked[-1][0] == "/v1/embeddings"


def test_the_key_is_the_environments(serve, monkeypatch):
    server = serve(key="secret")
    with pytest.raises(ModelError, match=r"answered 401: .*Incorrect API key") as raised:
        Served(server.model)
    assert "GITRAG_MODEL_KEY" in raised.value.hint
    assert "\x1b" not in str(raised.value)
    monkeypatch.setenv("GITRAG_MODEL_KEY", "secret")
    assert Served(server.model).encode(["a"]).shape == (1, 384)
    monkeypatch.setenv("GITRAG_MODEL_KEY", "sec\nret")
    with pytest.raises(ModelError) as raised:
        Served(server.model)
    assert "ret" not in str(raised.value).replace("character", "")


def test_what_may_pass_is_asked_again_and_nothing_else(serve):
    server = serve()
    encoder = Served(server.model)
    server.faults += [(429, b"slow down"), (503, b"")]
    assert encoder.encode(["a"]).shape == (1, 384)
    server.faults += [(500, b"out of\norder")] * 3
    with pytest.raises(ModelError, match="answered 500: out of order"):
        encoder.encode(["a"])
    asked = len(server.asked)
    server.faults += [(404, b'no such "model"')]
    with pytest.raises(ModelError, match="answered 404"):
        encoder.encode(["a"])
    assert len(server.asked) == asked + 1


def test_a_redirect_takes_neither_texts_nor_key_elsewhere(serve, monkeypatch):
    monkeypatch.setenv("GITRAG_MODEL_KEY", "secret")
    server = serve(key="secret")
    server.faults += [(307, b"")]
    with pytest.raises(ModelError, match="answered 307"):
        Served(server.model)
    assert [path for path, _body, _key in server.asked] == ["/v1/embeddings"]


def row(vector, index=0):
    return {"index": index, "embedding": vector}


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[" * 100_000,
        b"[]",
        {"data": "none"},
        {"data": []},
        {"data": [row([])]},
        {"data": [row(["x"] * 64)]},
        {"data": [row([1.0] * 63)]},
        {"data": [row([1.0] * 64), row([1.0] * 64, 1)]},
        {"data": [row([1e999] * 64)]},
        {"data": [row([[1.0] * 64])]},
        {"data": [{"index": "first", "embedding": [1.0] * 64}]},
        {"data": [row("AAAA")]},
        {"data": [row([10**400] * 64)]},
    ],
)
def test_what_is_no_vectors_is_said_in_a_line(serve, answer):
    server = serve()
    encoder = Served(server.model)
    server.faults += [(200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())]
    with pytest.raises(ModelError, match="something else than vectors") as raised:
        encoder.encode(["a"])
    assert "\n" not in str(raised.value).partition("\nhint")[0]


def test_a_server_that_is_not_there_is_said(serve, tmp_path):
    server = serve()
    server.close()
    with pytest.raises(ModelError, match="does not answer"):
        load_encoder(tmp_path, server.model)


def test_there_are_no_drafts(serve):
    model = serve().model
    assert not has_table(model)
    assert not drafter(model).draft(TEXTS).any()
