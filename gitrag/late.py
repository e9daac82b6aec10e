"""Libraries that are loaded when they are first used: `gitrag --version` and a hook start without them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        def __getattr__(self, name: str) -> object:
            value = getattr(import_module("numpy"), name)
            setattr(self, name, value)  # is found without us from now on
            return value

    np = _Numpy()

__all__ = ["np"]
