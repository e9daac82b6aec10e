"""The model's graph as gitrag writes it, read by the package ``onnx``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from gitrag.embedding.onnx_file import Graph, Node, save, save_with_data
from gitrag.embedding.onnx_model import build_fp32, build_int8, data_file

WRITTEN = {
    "model.int8.onnx": "3b337d78713841a228106f4dfbe1b8f3c2051fb142816613b5c659e4c5020041",
    "model.int8.bin": "602967365662d12bd8ef0dff58a5dbb46a17ce6142e5d3e51346b8c6ad7b5d94",
}
"""SHA-256 of the files: every vector that is stored was computed from these."""


def test_the_quantised_model_has_the_same_bytes_everywhere(published_dir: Path, tmp_path: Path):
    build_int8(published_dir / "model.safetensors", tmp_path / "model.int8.onnx")
    found = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for name in ("model.int8.onnx", data_file(Path("model.int8.onnx")).name)
    }
    assert found == WRITTEN
    onnx.checker.check_model(tmp_path / "model.int8.onnx", full_check=True)


def test_the_float32_model_is_valid(published_dir: Path, tmp_path: Path):
    build_fp32(published_dir / "model.safetensors", tmp_path / "model.onnx")
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)


CONSTANTS = {
    "small": np.array([[1.5, -2.0]], np.float32),
    "large": np.arange(-3000, 3000, dtype=np.int64),
    "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "bytes": np.array([-128, 127], np.int8),
}


@pytest.mark.parametrize("apart", [False, True])
def test_what_is_written_is_read_back(tmp_path: Path, *, apart: bool):
    nodes = (
        Node("Softmax", ("x",), ("soft",), {"axis": -1}),
        Node("LayerNormalization", ("soft", "small"), ("y", "mean"), {"epsilon": 1e-12, "axis": 300}, "norm"),
        Node("Transpose", ("y",), ("z",), {"perm": [0, 2, 1, 3]}),
    )
    graph = Graph("über", nodes, CONSTANTS, inputs={"x": ("batch", 200)}, outputs={"z": (1,)})
    path = tmp_path / "m.onnx"
    if apart:
        save_with_data(graph, path, tmp_path / "m.bin")
    else:
        save(graph, path)
    model = onnx.load(path)
    expected = onnx.helper.make_graph(
        [
            onnx.helper.make_node(
                node.kind, node.inputs, node.outputs, node.name or node.outputs[0], **node.attributes
            )
            for node in nodes
        ],
        "über",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.INT64, ["batch", 200])],
        [onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [1])],
    )
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    del model.graph.initializer[:]
    assert model.graph == expected
    assert constants.keys() == CONSTANTS.keys()
    for name, value in CONSTANTS.items():
        np.testing.assert_array_equal(constants[name], value, strict=True)
    assert (tmp_path / "m.bin").exists() == apart
    if apart:
        assert (tmp_path / "m.bin").stat().st_size == CONSTANTS["large"].nbytes
