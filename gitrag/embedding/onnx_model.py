"""The model as an ONNX graph, built from its published weights.

BERT with 6 layers, 12 heads and 384 dimensions (Devlin et al. 2018, arXiv:1810.04805), mean pooling and L2
norm inside. Inputs ``input_ids`` and ``attention_mask``, int64 (batch, tokens); output ``embedding``,
float32 (batch, 384).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.embedding.safetensors import read_tensors
from gitrag.errors import ModelError
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LAYERS = 6
_HEADS = 12
_HEAD_DIMENSIONS = DIMENSIONS // _HEADS

_OPSET = 20  # the first with Gelu
_IR_VERSION = 10  # what onnxruntime 1.20 reads; onnx's default is its newest version

_MASKED = -10_000.0
"""Added to the attention score of padding; its softmax is zero in float32."""

_WEIGHT_LEVELS = 63
"""Weights use 7 of their 8 bits. CPUs without VNNI add pairs of byte products in 16 bits that saturate:
2 · 255 · 63 fits, 2 · 255 · 127 does not. It costs 0.001 of cosine and gives the same result on all CPUs."""

_ROW_LEVELS = 127

_EXTERNAL_FROM_BYTES = 4096
"""Larger constants go to a separate file, which onnxruntime maps instead of parsing: a session opens in
30 ms instead of 57."""


def build_fp32(weights: Path, out: Path) -> None:
    """Write the model in float32, one file of 90 MB.

    Raises:
        ModelError: A tensor is missing from the weights.
    """
    import onnx

    try:
        model = _Builder(read_tensors(weights)).model()
    except KeyError as error:
        raise ModelError(f"{weights} has no tensor {error}.") from error
    onnx.save(model, out)


def quantise(fp32: Path, out: Path) -> None:
    """Write the model in int8: ``out``, and its constants in a file with the suffix ``.bin``; 23 MB together.

    Products with constant weights become integer products: the weights are quantised per column, once; the
    activations per tensor, at run time. The word table is stored as bytes, with one scale per row.
    """
    import onnx

    model = onnx.load(fp32)
    _Quantiser(model.graph).run()
    onnx.save(
        model,
        out,
        save_as_external_data=True,
        location=data_file(out).name,
        size_threshold=_EXTERNAL_FROM_BYTES,
    )


def data_file(model: Path) -> Path:
    """Return the file of a quantised model's constants."""
    return model.with_suffix(".bin")


class _Builder:
    """Nodes and constants of a graph, added one expression at a time."""

    def __init__(self, tensors: dict[str, NDArray[np.float32]]) -> None:
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def model(self) -> Any:
        """Build the whole model, an ``onnx.ModelProto``."""
        from onnx import TensorProto, helper

        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        states = self._embed()
        # (batch, 1, 1, tokens): 0 where a token counts, very negative where it pads
        padding = self._node("Sub", self._floats(1.0), self._node("Unsqueeze", mask, self._integers(1, 2)))
        bias = self._node("Mul", padding, self._floats(_MASKED))
        for layer in range(_LAYERS):
            states = self._layer(f"encoder.layer.{layer}.", states, bias)
        self._pool(states, mask)
        graph = helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
                for name in ("input_ids", "attention_mask")
            ],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", DIMENSIONS])],
            self._constants,
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )

    def _embed(self) -> str:
        words = self._node("Gather", self._tensor("embeddings.word_embeddings.weight"), "input_ids")
        # Every token has type 0: that row is added to the positions. A Slice takes the first rows:
        # onnxruntime 1.31 turns Gather(table, Range(0, n)) into an invalid Slice.
        table = self._tensors["embeddings.position_embeddings.weight"]
        types = self._tensors["embeddings.token_type_embeddings.weight"]
        count = self._node("Shape", "input_ids", start=1, end=2)
        positions = self._node(
            "Slice", self._constant(table + types[0]), self._integers(0), count, self._integers(0)
        )
        return self._normalise("embeddings.LayerNorm", self._node("Add", words, positions))

    def _layer(self, name: str, states: str, bias: str) -> str:
        context = self._attend(name + "attention.self.", states, bias)
        attended = self._normalise(
            name + "attention.output.LayerNorm",
            self._node("Add", self._linear(name + "attention.output.dense", context), states),
        )
        wide = self._node("Gelu", self._linear(name + "intermediate.dense", attended))
        return self._normalise(
            name + "output.LayerNorm",
            self._node("Add", self._linear(name + "output.dense", wide), attended),
        )

    def _attend(self, name: str, states: str, bias: str) -> str:
        # 1/√d of the attention scores is folded into the queries' weights.
        query = self._heads(self._linear(name + "query", states, _HEAD_DIMENSIONS**-0.5), [0, 2, 1, 3])
        key = self._heads(self._linear(name + "key", states), [0, 2, 3, 1])
        value = self._heads(self._linear(name + "value", states), [0, 2, 1, 3])
        scores = self._node("Add", self._node("MatMul", query, key), bias)
        mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        joined = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._integers(0, 0, DIMENSIONS))

    def _heads(self, states: str, axes: list[int]) -> str:
        split = self._node("Reshape", states, self._integers(0, 0, _HEADS, _HEAD_DIMENSIONS))
        return self._node("Transpose", split, perm=axes)

    def _pool(self, states: str, mask: str) -> None:
        # The sum replaces the mean: the normalisation that follows cancels the count.
        counted = self._node("Mul", states, self._node("Unsqueeze", mask, self._integers(2)))
        total = self._node("ReduceSum", counted, self._integers(1), keepdims=0)
        norm = self._node("ReduceL2", total, self._integers(1), keepdims=1)
        self._node("Div", total, self._node("Max", norm, self._floats(1e-12)), output="embedding")

    def _linear(self, name: str, states: str, scale: float = 1.0) -> str:
        weight = self._tensors[name + ".weight"].T * scale
        bias = self._tensors[name + ".bias"] * scale
        product = self._node("MatMul", states, self._constant(weight))
        return self._node("Add", product, self._constant(bias))

    def _normalise(self, name: str, states: str) -> str:
        weight, bias = self._tensor(name + ".weight"), self._tensor(name + ".bias")
        return self._node("LayerNormalization", states, weight, bias, axis=-1, epsilon=1e-12)

    def _node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _tensor(self, name: str) -> str:
        return self._constant(self._tensors[name])

    def _floats(self, value: float) -> str:
        import numpy as np

        return self._constant(np.array(value, np.float32))

    def _integers(self, *values: int) -> str:
        import numpy as np

        return self._constant(np.array(values, np.int64))

    def _constant(self, value: NDArray[Any]) -> str:
        self._constants.append(_initializer(f"constant_{len(self._constants)}", value))
        return str(self._constants[-1].name)


class _Quantiser:
    """Rewrites a float32 graph in place."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._constants = {constant.name: constant for constant in graph.initializer}
        self._nodes: list[Any] = []
        self._activations: dict[str, tuple[str, str, str]] = {}

    def run(self) -> None:
        """Replace each product with constant weights, and each gather from a large table."""
        for node in self._graph.node:
            weight = self._constants.get(node.input[1]) if node.op_type == "MatMul" else None
            table = self._constants.get(node.input[0]) if node.op_type == "Gather" else None
            if weight is not None:
                self._multiply(node, weight)
            elif table is not None:
                self._gather(node, table)
            else:
                self._nodes.append(node)
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)
        del self._graph.initializer[:]
        self._graph.initializer.extend(self._constants.values())

    def _multiply(self, node: Any, weight: Any) -> None:
        import numpy as np

        values, scales = _to_bytes(weight, axis=0, levels=_WEIGHT_LEVELS)
        states, scale, zero = self._quantised_activation(node.input[0])
        name = node.name
        product = self._node(
            "MatMulInteger",
            [
                states,
                self._replace(weight, values),
                zero,
                self._new(f"{name}_zero", np.zeros(len(scales), np.int8)),
            ],
            f"{name}_int32",
        )
        self._scale(
            product, self._node("Mul", [scale, self._new(f"{name}_scale", scales)], f"{name}_s"), node
        )

    def _gather(self, node: Any, table: Any) -> None:
        values, scales = _to_bytes(table, axis=1, levels=_ROW_LEVELS)
        indices, name = node.input[1], node.name
        rows = self._node("Gather", [self._replace(table, values), indices], f"{name}_int8")
        scale = self._node(
            "Gather", [self._new(f"{name}_scale", scales[:, None]), indices], f"{name}_scale_row"
        )
        self._scale(rows, scale, node)

    def _scale(self, values: str, scale: str, node: Any) -> None:
        """Scale the integer output of ``node``."""
        from onnx import TensorProto

        floats = self._node("Cast", [values], f"{node.name}_float", to=TensorProto.FLOAT)
        self._node("Mul", [floats, scale], node.output[0])

    def _quantised_activation(self, name: str) -> tuple[str, str, str]:
        # The query, key and value products share their input's.
        if name not in self._activations:
            from onnx import helper

            outputs = (f"{name}_q", f"{name}_q_scale", f"{name}_q_zero")
            self._nodes.append(
                helper.make_node("DynamicQuantizeLinear", [name], outputs, name=f"{name}_quantise")
            )
            self._activations[name] = outputs
        return self._activations[name]

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _new(self, name: str, value: NDArray[Any]) -> str:
        self._constants[name] = _initializer(name, value)
        return name

    def _replace(self, constant: Any, value: NDArray[Any]) -> str:
        self._constants[constant.name] = _initializer(constant.name, value)
        return str(constant.name)


def _initializer(name: str, value: NDArray[Any]) -> Any:
    import numpy as np
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(value), name)


def _to_bytes(tensor: Any, *, axis: int, levels: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise symmetrically, with one scale per slice along ``axis``."""
    import numpy as np
    from onnx import numpy_helper

    values = numpy_helper.to_array(tensor)
    scales = np.maximum(np.abs(values).max(axis=axis), 1e-12).astype(np.float32) / np.float32(levels)
    quantised = np.rint(values / np.expand_dims(scales, axis)).clip(-levels, levels)
    return quantised.astype(np.int8), scales
