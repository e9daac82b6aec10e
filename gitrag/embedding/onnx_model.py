"""The model as an ONNX graph, built from its published weights and our low-rank difference to them.

BERT with 6 layers, 12 heads and 384 dimensions (Devlin et al. 2018, arXiv:1810.04805), mean pooling and L2
norm inside. Inputs ``input_ids`` and ``attention_mask``, int64 (batch, tokens); output ``embedding``,
float32 (batch, 384).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gitrag.embedding.onnx_file import FLOAT, Attribute, Graph, Node, save, save_with_data
from gitrag.embedding.safetensors import read_tensors
from gitrag.errors import ModelError
from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TUNING = Path(__file__).with_name("tuning.safetensors")
"""What `scripts/training/tune_encoder.py` found: to some weights (rows, columns), ``up`` (rows, 16) times
``down`` (16, columns) is added (LoRA, Hu et al. 2021, arXiv:2106.09685)."""

_WORDS = "embeddings.word_embeddings.weight"

_MASKED = -10_000.0
"""Added to the attention score of padding; its softmax is zero in float32."""

_WEIGHT_LEVELS = 63
"""Weights use 7 of their 8 bits. CPUs without VNNI add pairs of byte products in 16 bits that saturate:
2 · 255 · 63 fits, 2 · 255 · 127 does not. It costs 0.001 of cosine and gives the same result on all CPUs."""

_ROW_LEVELS = 127


def build_fp32(weights: Path, out: Path, *, tuned: bool = True) -> None:
    """Write the model in float32, one file of 90 MB; ``tuned`` as we use it, else as it is published."""
    save(_built(weights, tuned=tuned), out)


def build_int8(weights: Path, out: Path) -> None:
    """Write the model in int8: ``out``, and its constants in a file with the suffix ``.bin``; 23 MB together.

    Products with constant weights become integer products: the weights are quantised per column, once; the
    activations per tensor, at run time. The word table is stored as bytes, with one scale per row.
    """
    save_with_data(_Quantiser(_built(weights)).run(), out, data_file(out))


def data_file(model: Path) -> Path:
    """Return the file of a quantised model's constants."""
    return model.with_suffix(".bin")


def _built(weights: Path, *, tuned: bool = True) -> Graph:
    tensors = read_tensors(weights)
    try:
        return _Builder(_tuned(tensors) if tuned else tensors).graph()
    except KeyError as error:
        raise ModelError(f"{weights} has no tensor {error}.") from error


def _tuned(tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    parts = read_tensors(TUNING)
    for name in [name.removesuffix(".up") for name in parts if name.endswith(".up")]:
        # Summed in float64, rounded once: the same weights whatever adds them.
        up, down = (parts[f"{name}.{part}"].astype(np.float64) for part in ("up", "down"))
        tensors[name] = (tensors[name] + up @ down).astype(np.float32)
    return tensors


def build_states(weights: Path, out: Path, layers: int, heads: int, epsilon: float) -> None:
    """Write any BERT in float32, with its tokens' states as output, float32 (batch, tokens, width)."""
    tensors = {
        name.removeprefix("bert."): tensor.astype(np.float32, copy=False)
        for name, tensor in read_tensors(weights).items()
        if tensor.dtype.kind == "f"
    }
    try:
        save(_Builder(tensors, layers, heads, epsilon).states(), out)
    except KeyError as error:
        raise ModelError(f"{weights} has no tensor {error} in float32 or float16.") from error


class _Builder:
    """Nodes and constants of a graph, added one expression at a time."""

    def __init__(
        self, tensors: Mapping[str, NDArray[Any]], layers: int = 6, heads: int = 12, epsilon: float = 1e-12
    ) -> None:
        self._tensors = tensors
        self._layers = layers
        self._width = int(tensors[_WORDS].shape[1])
        self._split = heads, self._width // heads
        self._epsilon = epsilon
        self._nodes: list[Node] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def graph(self) -> Graph:
        """Build the whole model."""
        self._pool(*self._encode())
        return self._graph("embedding", "batch", self._width)

    def states(self) -> Graph:
        """Build what comes before the pooling."""
        states, _mask = self._encode()
        self._node("Identity", states, output="states")
        return self._graph("states", "batch", "tokens", self._width)

    def _encode(self) -> tuple[str, str]:
        """Return the states after the last layer, and the mask as floats."""
        mask = self._node("Cast", "attention_mask", to=FLOAT)
        states = self._embed()
        # (batch, 1, 1, tokens): 0 where a token counts, very negative where it pads
        padding = self._node("Sub", self._floats(1.0), self._node("Unsqueeze", mask, self._integers(1, 2)))
        bias = self._node("Mul", padding, self._floats(_MASKED))
        for layer in range(self._layers):
            states = self._layer(f"encoder.layer.{layer}.", states, bias)
        return states, mask

    def _graph(self, output: str, *shape: str | int) -> Graph:
        return Graph(
            "all-MiniLM-L6-v2",
            tuple(self._nodes),
            self._constants,
            inputs=dict.fromkeys(("input_ids", "attention_mask"), ("batch", "tokens")),
            outputs={output: shape},
        )

    def _embed(self) -> str:
        words = self._node("Gather", self._tensor(_WORDS), "input_ids")
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
        query = self._heads(self._linear(name + "query", states, self._split[1] ** -0.5), [0, 2, 1, 3])
        key = self._heads(self._linear(name + "key", states), [0, 2, 3, 1])
        value = self._heads(self._linear(name + "value", states), [0, 2, 1, 3])
        scores = self._node("Add", self._node("MatMul", query, key), bias)
        mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        joined = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._integers(0, 0, self._width))

    def _heads(self, states: str, axes: list[int]) -> str:
        split = self._node("Reshape", states, self._integers(0, 0, *self._split))
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
        return self._node("LayerNormalization", states, weight, bias, axis=-1, epsilon=self._epsilon)

    def _node(self, kind: str, *inputs: str, output: str = "", **attributes: Attribute) -> str:
        output = output or f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(Node(kind, inputs, (output,), attributes))
        return output

    def _tensor(self, name: str) -> str:
        return self._constant(self._tensors[name])

    def _floats(self, value: float) -> str:
        return self._constant(np.array([value], np.float32))

    def _integers(self, *values: int) -> str:
        return self._constant(np.array(values, np.int64))

    def _constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants[name] = value
        return name


class _Quantiser:
    """Replaces each product with constant weights of a float32 graph, and each gather from a large table."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._constants = dict(graph.constants)
        self._nodes: list[Node] = []
        self._activations: dict[str, tuple[str, str, str]] = {}

    def run(self) -> Graph:
        """Return the graph in int8."""
        for node in self._graph.nodes:
            if node.kind == "MatMul" and node.inputs[1] in self._constants:
                self._multiply(node)
            elif node.kind == "Gather" and node.inputs[0] in self._constants:
                self._gather(node)
            else:
                self._nodes.append(node)
        return replace(self._graph, nodes=tuple(self._nodes), constants=self._constants)

    def _multiply(self, node: Node) -> None:
        states, weight = node.inputs
        [name] = node.outputs
        scales = self._to_bytes(weight, axis=0, levels=_WEIGHT_LEVELS)
        quantised, scale, zero = self._quantised_activation(states)
        zeros = self._new(f"{name}_zero", np.zeros(len(scales), np.int8))
        product = self._node("MatMulInteger", (quantised, weight, zero, zeros), f"{name}_int32")
        self._scale(
            product, self._node("Mul", (scale, self._new(f"{name}_scale", scales)), f"{name}_s"), name
        )

    def _gather(self, node: Node) -> None:
        table, indices = node.inputs
        [name] = node.outputs
        scales = self._to_bytes(table, axis=1, levels=_ROW_LEVELS)
        rows = self._node("Gather", (table, indices), f"{name}_int8")
        scale = self._node(
            "Gather", (self._new(f"{name}_scale", scales[:, None]), indices), f"{name}_scale_row"
        )
        self._scale(rows, scale, name)

    def _scale(self, values: str, scale: str, output: str) -> None:
        """Scale the integers that an operation has in place of its output."""
        floats = self._node("Cast", (values,), f"{output}_float", to=FLOAT)
        self._node("Mul", (floats, scale), output)

    def _quantised_activation(self, name: str) -> tuple[str, str, str]:
        # The query, key and value products share their input's.
        if name not in self._activations:
            outputs = (f"{name}_q", f"{name}_q_scale", f"{name}_q_zero")
            self._nodes.append(Node("DynamicQuantizeLinear", (name,), outputs, name=f"{name}_quantise"))
            self._activations[name] = outputs
        return self._activations[name]

    def _node(self, kind: str, inputs: tuple[str, ...], output: str, **attributes: Attribute) -> str:
        self._nodes.append(Node(kind, inputs, (output,), attributes))
        return output

    def _new(self, name: str, value: NDArray[Any]) -> str:
        self._constants[name] = value
        return name

    def _to_bytes(self, name: str, *, axis: int, levels: int) -> NDArray[np.float32]:
        """Quantise a constant symmetrically; return the scale of each slice along ``axis``."""
        values = self._constants[name]
        most: NDArray[np.float32] = np.maximum(np.abs(values).max(axis=axis), 1e-12).astype(np.float32)
        scales = most / np.float32(levels)
        quantised = np.rint(values / np.expand_dims(scales, axis)).clip(-levels, levels)
        self._constants[name] = quantised.astype(np.int8)
        return scales
