"""Models that a user brings: what they say of a text is what their files say."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gitrag.embedding.brought import Brought as BroughtEncoder
from gitrag.embedding.brought import _turned, is_static, load_encoder
from gitrag.embedding.draft import drafter, has_table
from gitrag.embedding.encoder import open_tokenizer
from gitrag.embedding.safetensors import write_tensors
from gitrag.embedding.text import text_key
from gitrag.embedding.version import ENCODER_VERSION, _version_of, encoder_version
from gitrag.errors import ModelError
from gitrag.indexing.embed_texts import encode_texts
from tests.support.models import (
    WORDS,
    bert_model,
    bert_states,
    onnx_model,
    rows,
    static_model,
    write_tokenizer,
)

TEXTS = ["retry backoff", "send the invoice", "mail mail retry", "nothing whatever", ""]
EACH = [[2, 3], [6, 28, 5], [7, 7, 2], [], []]
"""Their tokens, without those that the model does not know."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def Brought(place):  # noqa: N802  # as if by a new process
    _version_of.cache_clear()
    return BroughtEncoder(str(place))


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
    (tmp_path / "json/config_sentence_transformers.json").write_text('{"prompts": "x"}')
    with pytest.raises(ModelError, match="cannot be read"):
        Brought(tmp_path / "json")
    deep = b"[" * 100_000
    (tmp_path / "bad/model.safetensors").write_bytes(len(deep).to_bytes(8, "little") + deep)
    with pytest.raises(ModelError, match="safetensors"):
        Brought(tmp_path / "bad")
    with pytest.raises(ModelError, match="9000 dimensions"):
        Brought(static_model(tmp_path / "wide", 9_000))


def test_vectors_are_keyed_by_the_models_files(tmp_path):
    ours = text_key("retry")
    assert encoder_version() == ENCODER_VERSION
    keys = {ours}
    for number, place in enumerate(
        [static_model(tmp_path / "a", 8), static_model(tmp_path / "b", 8, seed=2)]
    ):
        keys.add(text_key("retry", str(place)))
        assert len(keys) == number + 2
    assert text_key("retry") == ours


@pytest.mark.parametrize("name", ["model.onnx.data", "model.onnx_data", "model.onnx_data_1"])
def test_weights_in_a_file_beside_the_graph_are_among_the_models_files(tmp_path, name):
    weights = onnx_model(tmp_path / "m", 8) / "onnx" / name
    versions = set()
    for content in (b"some", b"more"):
        weights.write_bytes(content)
        versions.add(_version_of.__wrapped__(str(tmp_path / "m")))
    assert len(versions) == 2


@pytest.mark.parametrize(
    ("width", "layers", "heads", "pooling", "half"),
    [(48, 1, 4, "", False), (64, 3, 2, "cls_token", False), (24, 2, 1, "mean_tokens", True)],
)
def test_a_bert_in_safetensors_says_what_its_weights_say(tmp_path, width, layers, heads, pooling, half):
    place = bert_model(tmp_path / "m", width, layers, heads, pooling=pooling, half=half)
    found = Brought(place).encode(TEXTS[:4])
    states = [
        bert_states(place, [WORDS.index(word) if word in WORDS else 0 for word in text.split()])
        for text in TEXTS[:4]
    ]
    raw = np.stack([each[0] if pooling == "cls_token" else each.mean(axis=0) for each in states])
    np.testing.assert_allclose(found @ found.T, cosines(raw), atol=1e-5)
    [made] = (tmp_path / "cache/gitrag/models").glob("*.onnx")
    before = made.stat().st_mtime_ns
    np.testing.assert_array_equal(Brought(place).encode(TEXTS[:4]), found)
    assert made.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"hidden_act": "relu"}, "hidden_act in config.json is relu"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"model_type": "mpnet"}, "no model that gitrag can run"),
        ({"num_hidden_layers": 3}, r"no tensor .*encoder.layer.2"),
        ({"num_attention_heads": 5}, "cannot be read|Cannot open"),
        ({"num_attention_heads": 0}, "cannot be read"),
        ({"num_hidden_layers": "many"}, "cannot be read"),
        ({"layer_norm_eps": float("nan")}, "its vectors are no numbers"),
    ],
)
def test_a_bert_of_another_kind_is_refused(tmp_path, changed, said):
    place = bert_model(tmp_path / "m", 24, 2, 2)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, **changed}))
    with pytest.raises(ModelError, match=said):
        Brought(place)
    assert not list((tmp_path / "cache/gitrag/models").glob("tmp*"))


def test_a_layer_after_the_pooling_is_refused(tmp_path):
    place = bert_model(tmp_path / "m", 24, 2, 2)
    modules = [
        {"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Dense")
    ]
    (place / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match="a layer of kind Dense"):
        Brought(place)


def test_a_text_longer_than_the_model_has_places_is_cut(tmp_path):
    encoder = Brought(bert_model(tmp_path / "m", 24, 1, 2, places=4))
    np.testing.assert_array_equal(
        encoder.encode(["retry mail call send total"]), encoder.encode(["retry mail call send"])
    )


def test_the_version_is_of_all_bytes_and_is_told_anew_only_when_a_file_changes(tmp_path):
    place = static_model(tmp_path / "m", 64)
    weights = place / "model.safetensors"
    told = _version_of.__wrapped__(str(place))
    content = bytearray(weights.read_bytes())
    content[len(content) // 2 + 1] ^= 1
    stat = weights.stat()
    weights.write_bytes(content)
    changed = _version_of.__wrapped__(str(place))
    assert changed != told
    content[len(content) // 2 + 1] ^= 1
    weights.write_bytes(content)
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert _version_of.__wrapped__(str(place)) == told
    [kept] = (tmp_path / "cache/gitrag/models").glob("*.json")
    kept.write_text("nonsense")
    assert _version_of.__wrapped__(str(place)) == told
    kept.write_text(json.dumps([json.loads(kept.read_text())[0], "as kept"]))
    assert "as kept" in _version_of.__wrapped__(str(place))


def test_a_model_that_is_replaced_meanwhile_is_not_read_as_the_old_one(tmp_path):
    place = static_model(tmp_path / "m", 8)
    BroughtEncoder(str(place))
    static_model(place, 8, seed=2)
    with pytest.raises(ModelError, match="was replaced while gitrag was running"):
        BroughtEncoder(str(place))


def test_a_model_that_is_replaced_while_it_is_read_is_not_used(tmp_path, monkeypatch):
    place = static_model(tmp_path / "m", 8)

    def replacing(*asked):
        static_model(place, 8, seed=2)
        return open_tokenizer(*asked)

    monkeypatch.setattr("gitrag.embedding.brought.open_tokenizer", replacing)
    with pytest.raises(ModelError, match="was replaced while gitrag was running"):
        Brought(place)


def test_a_text_that_it_cannot_take_is_said_in_a_line(tmp_path):
    place = bert_model(tmp_path / "m", 24, 1, 2, places=2)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 40}))
    encoder = Brought(place)
    for ask in (encoder.encode_query, lambda text: encoder.encode([text])):
        with pytest.raises(ModelError, match="cannot be run"):
            ask("mail the invoice again")
    texts = [(1, "mail.py"), (2, "mail/the/invoice/again.py")]
    done, _vectors, failures = encode_texts(encoder, texts)
    assert (done, list(failures)) == ([1], [2])


def test_vectors_that_are_no_numbers_are_zeros(tmp_path):
    table = rows(8)
    table[WORDS.index("mail")], table[WORDS.index("retry")] = np.nan, np.inf
    found = Brought(static_model(tmp_path / "m", 8, embeddings=table)).encode(["mail", "retry", "call"])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [0, 0, 1], atol=1e-6)


def test_two_that_ask_at_once_have_one_model_and_each_its_own(tmp_path):
    one, other = str(static_model(tmp_path / "a", 8)), str(static_model(tmp_path / "b", 8, seed=2))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda model: load_encoder(tmp_path, model), [one, other] * 8))
    assert len({id(each) for each in found}) == 2
    assert {each.model for each in found} == {one, other}


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
        {"mapping": np.zeros(len(WORDS), np.float32)},
        {"weights": np.ones(5, np.float32)},
        {"weights": np.ones((len(WORDS), 2), np.float32)},
    ],
)
def test_tensors_that_do_not_fit_the_tokens_are_said_in_a_line(tmp_path, tensors):
    with pytest.raises(ModelError, match=r"cannot be read: its (weights|mapping)"):
        Brought(static_model(tmp_path / "m", 8, **tensors))


def test_a_static_model_drafts_for_itself_and_one_in_onnx_does_not(tmp_path):
    place = static_model(tmp_path / "s", 64)
    own = str(place)
    assert is_static(place)
    assert has_table(own)
    np.testing.assert_array_equal(drafter(own).draft(TEXTS), load_encoder(tmp_path, own).encode(TEXTS))
    own = str(onnx_model(tmp_path / "o", 64))
    assert not has_table(own)
    assert not drafter(own).draft(TEXTS).any()
    assert drafter().knows("mail")
    assert not drafter().knows("mial")
