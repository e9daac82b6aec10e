from __future__ import annotations

import json

import numpy as np
import pytest

from gitrag.embedding.safetensors import read_tensors, write_tensors
from gitrag.errors import ModelError

NUMBERS = np.arange(6, dtype="<f4").reshape(2, 3)
HEADER = json.dumps(
    {
        "__metadata__": {"format": "pt"},
        "ids": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
    }
).encode()
WHOLE = len(HEADER).to_bytes(8, "little") + HEADER + bytes(8) + NUMBERS.tobytes()


def test_tensors_are_read_by_name_but_for_those_of_other_types(tmp_path):
    (tmp_path / "w").write_bytes(WHOLE)
    tensors = read_tensors(tmp_path / "w")
    assert list(tensors) == ["weight"]
    np.testing.assert_array_equal(tensors["weight"], NUMBERS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 16,
        WHOLE[:-1],
        WHOLE[: 8 + len(HEADER) + 3],
        WHOLE[:20],
        (2).to_bytes(8, "little") + b"[]" + bytes(8),
        (26).to_bytes(8, "little") + b'{"weight":{"dtype":"F32"}}' + bytes(8),
        (3).to_bytes(8, "little") + b"\xff\xfe\xfd" + bytes(8),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, data):
    (tmp_path / "w").write_bytes(data)
    with pytest.raises(ModelError, match="safetensors"):
        read_tensors(tmp_path / "w")


def test_what_is_written_is_read(tmp_path):
    written = {
        "rows": np.arange(-3, 3, dtype=np.int8).reshape(2, 3),
        "layer": np.ones((2, 2), np.float16),
        "bytes": np.frombuffer(b"abc", np.uint8),
        "last": NUMBERS,
    }
    write_tensors(tmp_path / "w", written)
    tensors = read_tensors(tmp_path / "w")
    assert list(tensors) == list(written)
    for name, array in written.items():
        assert tensors[name].dtype == array.dtype
        np.testing.assert_array_equal(tensors[name], array)
