"""Reading a safetensors file: a length, a JSON header, raw little-endian numbers.

The format: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEADER_BYTES_CAP = 1 << 20
"""The model's header has 11 kB; a damaged length must not make us allocate gigabytes."""


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Map the float32 tensors of a file by name; they are views of the mapped file, read when touched.

    Raises:
        ModelError: It is no safetensors file, or is cut short.
    """
    import numpy as np

    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= _HEADER_BYTES_CAP:
                raise ModelError(f"{path} is no safetensors file: a header of {length} bytes.")
            header: dict[str, dict[str, Any]] = json.loads(file.read(length))
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
        return {
            name: data[slice(*entry["data_offsets"])].view("<f4").reshape(entry["shape"])
            for name, entry in header.items()
            if entry.get("dtype") == "F32"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is no whole safetensors file: {error}.") from error
