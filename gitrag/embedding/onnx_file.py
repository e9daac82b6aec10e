"""Write an ONNX model without the package ``onnx``, which takes 80 MB with what it needs, and is used once.

The format is Protocol Buffers (protobuf.dev/programming-guides/encoding); the numbers of fields and types are
those of onnx.proto (github.com/onnx/onnx, onnx/onnx.proto). Only what `gitrag.embedding.onnx_model` uses.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct, field

from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPSET = 20
"""The version of the operators; the first with Gelu."""

_IR_VERSION = 10
"""The version of the format; the one that onnxruntime 1.20 reads."""

FLOAT = 1
"""``TensorProto.FLOAT``"""

_INT64 = 7
_TYPES = {"float32": FLOAT, "int8": 3, "int64": _INT64}
_EXTERNAL = 1

_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

_EXTERNAL_FROM_BYTES = 4096
"""Larger constants go to a separate file, which onnxruntime maps instead of parsing: a session opens in
30 ms instead of 57."""

Attribute = float | int | Sequence[int]


class Node(Struct, frozen=True):
    """An operation.

    Attributes:
        inputs: Names of constants, of the graph's inputs, or of other operations' outputs.
        outputs: Names of the results; the first is the operation's own name too.
        attributes: The operator's parameters.
        name: Its own name; empty for that of its first output.
    """

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    name: str = ""


class Graph(Struct, frozen=True):
    """A model.

    Attributes:
        nodes: The operations, each after those whose outputs it takes.
        constants: float32, int8 or int64, by name.
        inputs: Shapes of the inputs, all int64, by name; a word is a dimension that is known at run time.
        outputs: Shapes of the outputs, all float32, by name.
    """

    name: str
    nodes: tuple[Node, ...]
    constants: Mapping[str, NDArray[Any]]
    inputs: Mapping[str, tuple[str | int, ...]]
    outputs: Mapping[str, tuple[str | int, ...]]


def save(graph: Graph, out: Path) -> None:
    out.write_bytes(_model(graph, [_constant(*item) for item in graph.constants.items()]))


def save_with_data(graph: Graph, out: Path, data: Path) -> None:
    """Write a model, and its large constants to a file of their own in the same folder."""
    with data.open("wb") as file:
        constants = [_placed_constant(*item, file, data.name) for item in graph.constants.items()]
    out.write_bytes(_model(graph, constants))


def _model(graph: Graph, constants: Iterable[bytes]) -> bytes:
    parts = [
        *(_message(1, _node(node)) for node in graph.nodes),
        _text(2, graph.name),
        *(_message(5, constant) for constant in constants),
        *(_message(11, _value(name, _INT64, shape)) for name, shape in graph.inputs.items()),
        *(_message(12, _value(name, FLOAT, shape)) for name, shape in graph.outputs.items()),
    ]
    operators = _text(1, "") + _number(2, OPSET)
    return _number(1, _IR_VERSION) + _message(7, b"".join(parts)) + _message(8, operators)


def _node(node: Node) -> bytes:
    return b"".join(
        [
            *(_text(1, name) for name in node.inputs),
            *(_text(2, name) for name in node.outputs),
            _text(3, node.name or node.outputs[0]),
            _text(4, node.kind),
            *(_message(5, _attribute(*item)) for item in sorted(node.attributes.items())),
        ]
    )


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _number(20, _ATTRIBUTE_FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)
    return _text(1, name) + b"".join(_number(8, each) for each in value) + _number(20, _ATTRIBUTE_INTS)


def _constant(name: str, value: NDArray[Any]) -> bytes:
    return _head(name, value) + _message(9, _raw(value))


def _placed_constant(name: str, value: NDArray[Any], file: BinaryIO, location: str) -> bytes:
    if value.nbytes < _EXTERNAL_FROM_BYTES:
        return _constant(name, value)
    offset = file.tell()
    length = file.write(_raw(value))
    place = {"location": location, "offset": str(offset), "length": str(length)}
    entries = (_message(13, _text(1, key) + _text(2, text)) for key, text in place.items())
    return _head(name, value) + b"".join(entries) + _number(14, _EXTERNAL)


def _head(name: str, value: NDArray[Any]) -> bytes:
    shape = b"".join(_number(1, size) for size in value.shape)
    return shape + _number(2, _TYPES[value.dtype.name]) + _text(8, name)


def _raw(value: NDArray[Any]) -> bytes:
    little: NDArray[np.generic] = value.astype(value.dtype.newbyteorder("<"), copy=False)
    return little.tobytes()


def _value(name: str, kind: int, shape: tuple[str | int, ...]) -> bytes:
    sizes = (_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
    dimensions = b"".join(_message(1, size) for size in sizes)
    return _text(1, name) + _message(2, _message(1, _number(1, kind) + _message(2, dimensions)))


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8"))


def _message(number: int, content: bytes) -> bytes:
    return _tag(number, 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _tag(number, 0) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)  # negative ones as 64 bits


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
