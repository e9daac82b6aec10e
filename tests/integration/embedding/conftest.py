"""Here the model itself is tested: each vector is computed."""

from __future__ import annotations

import inspect

import pytest

from gitrag.embedding.encoder import Encoder


@pytest.fixture(autouse=True)
def computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoder, "_encode_one", inspect.unwrap(Encoder._encode_one))
