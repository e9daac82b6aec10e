"""What is loaded or made when it is first used: a command that does not need it starts without it."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    late_re = re.compile
else:

    class _Numpy:
        def __getattr__(self, name: str) -> object:
            value = getattr(import_module("numpy"), name)
            setattr(self, name, value)  # is found without us from now on
            return value

    np = _Numpy()

    class late_re:  # noqa: N801 - stands for ``re.compile``
        """A pattern that is compiled when it is first used, which takes 0.2 to 5 ms."""

        def __init__(self, *given: object) -> None:
            self._given = given

        def __getattr__(self, name: str) -> object:
            value = getattr(re.compile(*self._given), name)
            setattr(self, name, value)
            return value


__all__ = ["late_re", "np"]
