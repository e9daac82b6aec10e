"""Read and write safetensors files: a length, a JSON header, raw little-endian numbers.

The format: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.errors import ModelError
from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "i1", "U8": "u1", "I32": "<i4", "I64": "<i8"}
"""The types that are read; tensors of other types are skipped."""

_ALIGNMENT = 64
_HEADER_BYTES_CAP = 1 << 20
"""The model's header has 11 kB; a damaged length must not make us allocate gigabytes."""


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the tensors of a file by name; they are views of the mapped file, read on access."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= _HEADER_BYTES_CAP:
                raise ModelError(f"{path} is no safetensors file: a header of {length} bytes.")
            header: dict[str, dict[str, Any]] = json.loads(file.read(length))
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
        return {
            name: data[slice(*entry["data_offsets"])].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()
            if entry.get("dtype") in _DTYPES
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(f"{path} is no whole safetensors file: {error}.") from error


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write tensors of the types that ``read_tensors`` supports, in their order."""
    names = {np.dtype(code): name for name, code in _DTYPES.items()}
    header: dict[str, Any] = {}
    end = 0
    for name, array in tensors.items():
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    data = b"".join(array.tobytes() for array in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
