from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gitrag.embedding.encoder import Encoder


@pytest.fixture(scope="module")
def encoder(model_dir: Path):
    with Encoder.load(model_dir, threads=2) as encoder:
        yield encoder


def test_the_card_s_example_is_ordered_as_published(encoder):
    happy, dog, sunny = encoder.encode(
        ["That is a happy person", "That is a happy dog", "Today is a sunny day"]
    )
    query = encoder.encode_query("That is a very happy person")
    assert query @ happy > query @ dog > query @ sunny


def test_vectors_have_unit_length(encoder):
    vectors = encoder.encode(["one", "two words"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
