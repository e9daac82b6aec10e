"""Models behind an address: what is sent, what is made of what comes back, what is said where none does."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gitrag.embedding.brought import Served, load_encoder
from gitrag.embedding.draft import drafter, has_table
from gitrag.errors import ModelError
from gitrag.indexing.embed_texts import encode_texts
from tests.support.embedding_server import EmbeddingServer, vector_of
from tests.support.models import static_model

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


def test_a_text_that_is_too_long_for_it_keeps_no_other_from_being_embedded(serve):
    server = serve()
    encoder = Served(server.model)
    server.longest = 3
    texts = [(1, "mail.py"), (2, "a/very/long/path.py"), (3, "call.py")]
    done, vectors, failures = encode_texts(encoder, texts)
    assert (done, vectors.shape, list(failures)) == ([1, 3], (2, 384), [2])
    server.faults += [(404, b"no such model")]
    with pytest.raises(ModelError, match="answered 404"):
        encode_texts(encoder, texts)


def test_a_redirect_takes_neither_texts_nor_key_elsewhere(serve, monkeypatch):
    monkeypatch.setenv("GITRAG_MODEL_KEY", "secret")
    server = serve(key="secret")
    server.faults += [(307, b"")]
    with pytest.raises(ModelError, match="answered 307"):
        Served(server.model)
    assert [path for path, _body, _key in server.asked] == ["/v1/embeddings"]


def test_what_is_meant_for_this_machine_goes_through_no_proxy(serve, monkeypatch):
    monkeypatch.setenv("GITRAG_MODEL_KEY", "secret")
    proxy, server = serve(), serve()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert Served(server.model).encode(["a"]).shape == (1, 384)
    assert proxy.asked == []


@pytest.mark.parametrize(("name", "value"), [("HTTPS_PROXY", "foo://u:p@x"), ("SSL_CERT_FILE", "/nowhere")])
def test_an_environment_that_cannot_be_used_is_said(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match="does not answer"):
        Served("https://127.0.0.1:1/v1#m")


def test_a_key_that_a_server_repeats_is_not_said(serve, monkeypatch):
    monkeypatch.setenv("GITRAG_MODEL_KEY", "secret")
    server = serve()
    for before in (b"", b"x" * 195):  # it may be cut in the middle
        server.faults += [(400, before + b"secret is no key")]
        with pytest.raises(ModelError, match="answered 400") as raised:
            Served(server.model)
        assert "sec" not in str(raised.value)


@pytest.fixture
def stuck():
    """Return the model of a server that takes requests and says nothing, and its connections."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def take():
            try:
                while True:
                    taken.append(listening.accept()[0])
            except OSError:
                return

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}#m", taken
        listening.shutdown(socket.SHUT_RDWR)
    for each in taken:
        each.close()


def test_a_server_that_says_nothing_is_asked_once(stuck, monkeypatch):
    monkeypatch.setattr("gitrag.embedding.brought._READ_TIMEOUT_S", 0.2)
    model, taken = stuck
    with pytest.raises(ModelError, match=r"does not answer: said nothing for 0\.2 s"):
        Served(model)
    assert len(taken) == 1


def test_who_waits_for_a_server_keeps_nobody_else_waiting(stuck, serve, tmp_path, monkeypatch):
    monkeypatch.setattr("gitrag.embedding.brought._READ_TIMEOUT_S", 3.0)
    asked, other = Served(serve().model), str(static_model(tmp_path / "m", 8))
    asked._url = f"{stuck[0].partition('#')[0]}/v1/embeddings"  # it answers no more
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(load_encoder, tmp_path, stuck[0]), pool.submit(asked.encode_query, "mail")]
        while len(stuck[1]) < 2:
            time.sleep(0.01)
        load_encoder(tmp_path, other).encode_query("mail")
        assert not any(each.done() for each in waiting)
        assert all(isinstance(each.exception(), ModelError) for each in waiting)


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
        {"data": [row([1e38] * 64)]},
        {"data": [row([1e39] * 64)]},
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
