"""Small models with random weights, and a real tokenizer: what a user may bring."""

from __future__ import annotations

import json
from math import erf
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from gitrag.embedding.safetensors import read_tensors, write_tensors

WORDS = (
    "[UNK] [PAD] retry backoff call client invoice send mail again after a failure waiting longer each"
    " time def return with attempts for in range tax rate total cart price services other calls the of to"
).split()


def write_tokenizer(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token=WORDS[0]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    tokenizer.save(str(directory / "tokenizer.json"))


def rows(dimensions: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((len(WORDS), dimensions)).astype(np.float32)


def static_model(directory: Path, dimensions: int, seed: int = 1, **tensors: np.ndarray) -> Path:
    write_tokenizer(directory)
    write_tensors(directory / "model.safetensors", {"embeddings": rows(dimensions, seed), **tensors})
    (directory / "config.json").write_text('{"normalize": true}')
    return directory


def onnx_model(directory: Path, dimensions: int, *, pooling: str = "", further: str = "") -> Path:
    """Write a model whose states are rows of a table.

    Args:
        pooling: The mode that is asked for beside it; empty for no word of that.
        further: An input that it also wants.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    write_tokenizer(directory)
    inputs = ["input_ids", "attention_mask", "token_type_ids", *([further] if further else [])]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "small",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", dimensions]
            )
        ],
        [numpy_helper.from_array(rows(dimensions), "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (directory / "onnx").mkdir()
    onnx.save(made, directory / "onnx/model.onnx")
    if pooling:
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling/config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
    return directory


def bert_model(
    directory: Path,
    width: int,
    layers: int,
    heads: int,
    *,
    pooling: str = "",
    half: bool = False,
    places: int = 40,
) -> Path:
    """Write a BERT in the layout of sentence-transformers."""
    write_tokenizer(directory)
    drawn = np.random.default_rng(layers)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), width),
        "embeddings.position_embeddings.weight": (places, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for layer in range(layers):
        inside = f"encoder.layer.{layer}."
        for name, rows_, columns in (
            *((f"attention.self.{each}", width, width) for each in ("query", "key", "value")),
            ("attention.output.dense", width, width),
            ("intermediate.dense", 3 * width, width),
            ("output.dense", width, 3 * width),
        ):
            shapes |= {f"{inside}{name}.weight": (rows_, columns), f"{inside}{name}.bias": (rows_,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{inside}{name}.weight": (width,), f"{inside}{name}.bias": (width,)}
    kind = np.float16 if half else np.float32
    tensors = {name: (drawn.standard_normal(shape) / 2).astype(kind) for name, shape in shapes.items()}
    write_tensors(directory / "model.safetensors", {"pooler.ids": np.arange(4), **tensors})
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "layer_norm_eps": 1e-5,
        "max_position_embeddings": places,
    }
    (directory / "config.json").write_text(json.dumps(config))
    if pooling:
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling/config.json").write_text(
            json.dumps({"word_embedding_dimension": width, f"pooling_mode_{pooling}": True})
        )
    return directory


def bert_states(directory: Path, tokens: list[int]) -> np.ndarray:
    """Return a BERT's states of tokens, worked out in NumPy as Devlin et al. (2018) have it."""
    read = read_tensors(directory / "model.safetensors")
    config = json.loads((directory / "config.json").read_text())

    def of(name: str) -> np.ndarray:
        return np.asarray(read[name], np.float64)

    def linear(name: str, states: np.ndarray) -> np.ndarray:
        return states @ of(f"{name}.weight").T + of(f"{name}.bias")

    def normal(name: str, states: np.ndarray) -> np.ndarray:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + config["layer_norm_eps"])
        return centred / spread * of(f"{name}.weight") + of(f"{name}.bias")

    heads = config["num_attention_heads"]
    states = of("embeddings.word_embeddings.weight")[tokens]
    states = states + of("embeddings.position_embeddings.weight")[: len(tokens)]
    states = normal("embeddings.LayerNorm", states + of("embeddings.token_type_embeddings.weight")[0])
    for layer in range(config["num_hidden_layers"]):
        inside = f"encoder.layer.{layer}."
        query, key, value = (
            linear(f"{inside}attention.self.{name}", states).reshape(len(tokens), heads, -1).swapaxes(0, 1)
            for name in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        share = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (share / share.sum(axis=-1, keepdims=True) @ value).swapaxes(0, 1).reshape(states.shape)
        states = normal(
            f"{inside}attention.output.LayerNorm", linear(f"{inside}attention.output.dense", mixed) + states
        )
        wide = linear(f"{inside}intermediate.dense", states)
        wide = wide * (1 + np.vectorize(erf)(wide / np.sqrt(2))) / 2
        states = normal(f"{inside}output.LayerNorm", linear(f"{inside}output.dense", wide) + states)
    return states
