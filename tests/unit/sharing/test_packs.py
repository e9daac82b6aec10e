"""Packs: what is written is read back, and anything else is refused whole, with one reason."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.sharing import packs
from gitrag.sharing.packs import BLOCK_ROWS, KEYS, MOST_ROWS, ROWS, Pack, PackError

ENCODER = "a-model/1"


def pack_of(count: int, seed: int = 0, encoder: str = ENCODER) -> Pack:
    random = np.random.default_rng(seed)
    keys = np.frombuffer(random.bytes(16 * count), dtype="S16")
    rows = random.integers(-126, 127, (count, 384), dtype=np.int8)
    rows[:, 7] = 127
    return packs.make(keys, rows, encoder)


def named(data: bytes) -> str:
    """The name that is right for what somebody made up."""
    return f"v1-{packs.encoder_id(ENCODER)}-{hashlib.sha256(data).hexdigest()}"


def refused(data: bytes, name: str | None = None, encoder: str = ENCODER) -> str:
    with pytest.raises(PackError) as error:
        packs.read_keys(name or named(data), data, encoder)
    return str(error.value)


@pytest.mark.parametrize("count", [1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 1000])
def test_a_pack_is_read_back(count):
    made = pack_of(count)
    files = made.files
    index = packs.read_keys(made.index.name, files[made.index.name + KEYS], ENCODER)
    assert [*files] == [made.index.name + ROWS, made.index.name + KEYS]
    assert packs.is_usable(made.index.name, ENCODER)
    assert not packs.is_usable(made.index.name, "another")
    assert index.keys.tolist() == sorted(made.index.keys.tolist())
    assert np.array_equal(packs.read_rows(index, files[made.index.name + ROWS]), made.rows)
    assert index.rows_bytes == made.rows.nbytes


def test_keys_that_end_in_zeros_keep_their_places():
    keys = np.array([b"\0" * 16, b"a" + b"\0" * 15, b"a" + b"\0" * 14 + b"b", b"\xff" * 16], dtype="S16")
    rows = np.full((4, 384), 127, dtype=np.int8)
    made = packs.make(keys, rows, ENCODER)
    index = packs.read_keys(made.index.name, made.index.data, ENCODER)
    assert index.keys.tolist() == keys.tolist()
    assert index.find(keys[1:2]).tolist() == [1]


def test_parts_of_a_pack_are_checked_by_themselves():
    made = pack_of(5 * BLOCK_ROWS + 3)
    data = made.rows.tobytes()
    size = BLOCK_ROWS * 384
    assert np.array_equal(packs.read_rows(made.index, data[size : 3 * size], 1), made.rows[64:192])
    assert np.array_equal(packs.read_rows(made.index, data[5 * size :], 5), made.rows[320:])
    for part, first in ((data[size : 2 * size], 2), (data[:-1], 0), (data[: size - 384], 0), (b"", 0)):
        with pytest.raises(PackError):
            packs.read_rows(made.index, part, first)
    with pytest.raises(PackError, match="cut short"):
        packs.read_rows(made.index, data + bytes(384))


def test_keys_that_are_not_what_they_say_are_refused():
    data = pack_of(100).index.data
    header = list(struct.unpack_from("<8sIHHII64s8x", data))

    def changed(place: int, value: object) -> bytes:
        fields = [*header[:place], value, *header[place + 1 :]]
        return struct.pack("<8sIHHII64s8x", *fields) + data[96:]

    name = pack_of(100).index.name
    assert "cut short" in refused(data[:50])
    assert "damaged" in refused(data[:-1], name)
    assert "damaged" in refused(changed(4, 99), name)
    assert "no pack" in refused(changed(0, b"something"[:8]))
    assert "format 2, this gitrag reads 1" in refused(changed(1, 2))
    assert "vectors of 768 bytes" in refused(changed(2, 768))
    assert "keys of 8" in refused(changed(3, 8))
    assert "says that it has 99 vectors" in refused(changed(4, 99))
    assert "says that it has 0 vectors" in refused(changed(4, 0))
    assert f"1 to {MOST_ROWS}" in refused(changed(4, 2**32 - 1))
    assert "blocks of 1" in refused(changed(5, 1))
    assert "another model" in refused(changed(6, b"other"))
    assert "another model" in refused(data, encoder="a-model/2")
    assert "do not fit" in refused(data + bytes(32))


def test_keys_out_of_order_or_twice_are_refused():
    data = pack_of(100).index.data
    swapped = data[:96] + data[112:128] + data[96:112] + data[128:]
    twice = data[:96] + data[96:112] * 2 + data[128:]
    assert "out of order or twice" in refused(swapped)
    assert "out of order or twice" in refused(twice)


def test_vectors_that_are_not_scaled_are_refused():
    for value in (0, 100, -128):
        rows = np.full((70, 384), 127, dtype=np.int8)
        rows[66] = value
        made = packs.make(pack_of(70).index.keys, rows, ENCODER)
        with pytest.raises(PackError, match="not scaled"):
            packs.read_rows(made.index, rows.tobytes())
    rows = np.full((70, 384), -127, dtype=np.int8)
    made = packs.make(pack_of(70).index.keys, rows, ENCODER)
    assert len(packs.read_rows(made.index, rows.tobytes())) == 70


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_and_nothing_else_happens(data):
    refused(data)


@given(st.integers(0, 4800), st.integers(1, 255))
def test_any_changed_byte_is_found(place, change):
    made = pack_of(10)
    data = bytearray(made.index.data + made.rows.tobytes())
    data[place % len(data)] ^= change
    end = len(made.index.data)
    with pytest.raises(PackError):
        packs.read_rows(packs.read_keys(made.index.name, bytes(data[:end]), ENCODER), bytes(data[end:]))


def test_merging_keeps_every_key_and_does_not_depend_on_the_order():
    some = [pack_of(count, seed) for seed, count in enumerate((30, 100, 1))]
    again = packs.make(some[0].index.keys[:10], some[1].rows[:10], ENCODER)
    merged = packs.merge([*some, again], ENCODER)
    assert merged.index.keys.tolist() == sorted({key for each in some for key in each.index.keys.tolist()})
    assert merged.files == packs.merge([again, *some[::-1]], ENCODER).files
    for each in some[1:]:
        assert np.array_equal(merged.rows[merged.index.find(each.index.keys)], each.rows)


def test_merging_ends_with_few_packs_however_many_come():
    sizes: dict[str, int] = {}
    written = 0
    random = np.random.default_rng(3)
    for number in range(2000):
        sizes[f"p{number}"] = int(random.integers(1, 300))
        while groups := packs.to_merge(sizes):
            for group in groups:
                whole = sum(sizes.pop(name) for name in group)
                assert whole <= MOST_ROWS
                assert len(group) > 1
                sizes[f"m{number}-{group[0]}"] = whole
                written += whole
    total = sum(sizes.values())
    assert total > 2 * MOST_ROWS
    assert len(sizes) <= 5 * 3 + total // (MOST_ROWS // 2) + 1
    assert written < 8 * total, "a vector is not written again and again"


def test_blocks_are_fetched_in_runs():
    rows = np.array([0, 63, 64, 700, 5000])
    assert packs.runs_of(rows, 0) == [(0, 2), (10, 11), (78, 79)]
    assert packs.runs_of(rows, 10) == [(0, 11), (78, 79)]
    assert packs.runs_of(rows[:0], 0) == []
