"""Small models with random weights, and a real tokenizer: what a user may bring."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from gitrag.embedding.safetensors import write_tensors

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
