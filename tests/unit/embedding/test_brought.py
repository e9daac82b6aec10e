"""Models that a user brings: what they say of a text is what their files say."""

import json

import numpy as np
import pytest

from gitrag.embedding.brought import Brought, _turned, is_static, load_encoder
from gitrag.embedding.draft import drafter, has_table
from gitrag.embedding.safetensors import write_tensors
from gitrag.embedding.text import text_key
from gitrag.embedding.version import ENCODER_VERSION, _version_of, choose, encoder_version
from gitrag.errors import ModelError
from tests.support.models import WORDS, onnx_model, rows, static_model, write_tokenizer

TEXTS = ["retry backoff", "send the invoice", "mail mail retry", "nothing whatever", ""]
EACH = [[2, 3], [6, 28, 5], [7, 7, 2], [], []]
"""Their tokens, without those that the model does not know."""


@pytest.fixture(autouse=True)
def _ours_again():
    yield
    choose(None)


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-12)


def means(table):
    return np.stack([table[own].mean(axis=0) if own else np.zeros(table.shape[1]) for own in EACH])


def cosines(vectors):
    return unit(vectors) @ unit(vectors).T


EACH = [[WORDS.index(word) for word in text.split() if word in WORDS] for text in TEXTS]


@pytest.mark.parametrize("dimensions", [1, 64, 383, 384])
def test_a_static_model_of_few_dimensions_keeps_each_cosine(tmp_path, dimensions):
    encoder = Brought(static_model(tmp_path / "m", dimensions))
    found = encoder.encode(TEXTS)
    assert found.shape == (5, 384)
    np.testing.assert_allclose(found @ found.T, cosines(means(rows(dimensions))), atol=1e-5)
    np.testing.assert_allclose(encoder.encode_query(TEXTS[0]), found[0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 1, 1, 0, 0], atol=1e-5)


def test_weights_and_rows_that_tokens_share_count_as_model2vec_has_it(tmp_path):
    weights = np.linspace(0.1, 2, len(WORDS)).astype(np.float32)
    mapping = (np.arange(len(WORDS)) % 7).astype(np.int64)
    found = Brought(static_model(tmp_path / "m", 32, weights=weights, mapping=mapping)).encode(TEXTS)
    table = rows(32)[mapping] * weights[:, None]
    np.testing.assert_allclose(found @ found.T, cosines(means(table)), atol=1e-5)


def test_of_many_dimensions_those_are_kept_in_which_its_words_differ(tmp_path):
    for place in (static_model(tmp_path / "s", 500), onnx_model(tmp_path / "o", 500)):
        choose(place)
        found = Brought(place).encode(TEXTS[:3])
        expected = cosines(means(rows(500)))[:3, :3]
        np.testing.assert_allclose(found @ found.T, expected, atol=0.02)  # of some 30 words all are in sight


@pytest.mark.parametrize(("pooling", "first"), [("", False), ("mean_tokens", False), ("cls_token", True)])
def test_a_model_in_onnx_is_pooled_as_is_said_beside_it(tmp_path, pooling, first):
    found = Brought(onnx_model(tmp_path / "m", 48, pooling=pooling)).encode(TEXTS[:3])
    table = rows(48)
    raw = np.stack([table[own[0]] if first else table[own].mean(axis=0) for own in EACH[:3]])
    np.testing.assert_allclose(found @ found.T, cosines(raw), atol=1e-5)


def test_what_it_wants_before_a_question_and_a_text_is_put_there(tmp_path):
    place = onnx_model(tmp_path / "m", 48)
    prompts = {"prompts": {"query": "call ", "document": "total "}}
    (place / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    encoder = Brought(place)
    plain = Brought(onnx_model(tmp_path / "n", 48))
    np.testing.assert_allclose(encoder.encode_query("retry"), plain.encode(["call retry"])[0], atol=1e-6)
    np.testing.assert_allclose(encoder.encode(["retry"]), plain.encode(["total retry"]), atol=1e-6)


def test_what_cannot_be_run_is_said_in_a_line(tmp_path):
    empty = tmp_path / "empty"
    write_tokenizer(empty)
    with pytest.raises(ModelError, match="no model that gitrag can run"):
        Brought(empty)
    write_tensors(empty / "model.safetensors", {"embeddings.word_embeddings.weight": rows(8)})  # BERT's
    with pytest.raises(ModelError, match="no model that gitrag can run") as raised:
        Brought(empty)
    assert "optimum-cli" in raised.value.hint
    with pytest.raises(ModelError, match="it wants position_ids"):
        Brought(onnx_model(tmp_path / "position", 8, further="position_ids"))
    with pytest.raises(ModelError, match="neither the first token nor the mean"):
        Brought(onnx_model(tmp_path / "max", 8, pooling="max_tokens"))
    (static_model(tmp_path / "bad", 8) / "model.safetensors").write_bytes(b"\xff" * 40)
    with pytest.raises(ModelError, match="safetensors"):
        Brought(tmp_path / "bad")
    (onnx_model(tmp_path / "cut", 8) / "onnx/model.onnx").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="Cannot open the model") as raised:
        Brought(tmp_path / "cut")
    assert "model fetch" not in raised.value.hint
    (static_model(tmp_path / "t", 8) / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="Cannot read the tokenizer"):
        Brought(tmp_path / "t")
    with pytest.raises(ModelError, match="no model that gitrag can run"):
        Brought(tmp_path / "nowhere")
    (static_model(tmp_path / "json", 8) / "config_sentence_transformers.json").write_text("[")
    with pytest.raises(ModelError, match="cannot be read"):
        Brought(tmp_path / "json")


def test_vectors_are_keyed_by_the_models_files(tmp_path):
    ours = text_key("retry")
    assert encoder_version() == ENCODER_VERSION
    keys = {ours}
    for number, place in enumerate(
        [static_model(tmp_path / "a", 8), static_model(tmp_path / "b", 8, seed=2)]
    ):
        choose(place)
        keys.add(text_key("retry"))
        assert len(keys) == number + 2
    choose(None)
    assert text_key("retry") == ours


@pytest.mark.parametrize("name", ["model.onnx.data", "model.onnx_data", "model.onnx_data_1"])
def test_weights_in_a_file_beside_the_graph_are_among_the_models_files(tmp_path, name):
    weights = onnx_model(tmp_path / "m", 8) / "onnx" / name
    versions = set()
    for content in (b"some", b"more"):
        weights.write_bytes(content)
        versions.add(_version_of.__wrapped__(str(tmp_path / "m")))
    assert len(versions) == 2


def test_of_many_dimensions_vectors_do_not_depend_on_how_directions_are_found():
    drawn = np.random.default_rng(1)
    kept = np.linalg.qr(drawn.standard_normal((500, 384)))[0]
    otherwise = kept[:, drawn.permutation(384)] * np.where(drawn.random(384) < 0.5, -1, 1)
    np.testing.assert_allclose(_turned(kept), _turned(otherwise), atol=1e-6)
    np.testing.assert_allclose(_turned(kept).T @ _turned(kept), np.eye(384), atol=1e-5)


@pytest.mark.parametrize(
    "tensors",
    [
        {"mapping": np.arange(5)},
        {"mapping": np.full(len(WORDS), -99)},
        {"weights": np.ones(5, np.float32)},
        {"weights": np.ones((len(WORDS), 2), np.float32)},
    ],
)
def test_tensors_that_do_not_fit_the_tokens_are_said_in_a_line(tmp_path, tensors):
    with pytest.raises(ModelError, match=r"cannot be read: its (weights|mapping)"):
        Brought(static_model(tmp_path / "m", 8, **tensors))


def test_a_static_model_drafts_for_itself_and_one_in_onnx_does_not(tmp_path):
    place = static_model(tmp_path / "s", 64)
    choose(place)
    assert is_static(place)
    assert has_table()
    np.testing.assert_array_equal(drafter().draft(TEXTS), load_encoder(tmp_path).encode(TEXTS))
    choose(onnx_model(tmp_path / "o", 64))
    assert not has_table()
    assert not drafter().draft(TEXTS).any()
    assert drafter().knows("mail")
    assert not drafter().knows("mial")
