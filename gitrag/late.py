"""What is loaded or made when it is first used: a command that does not need it starts without it."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING


class Late:
    """A module that is loaded when something of it is first used.

    Args:
        name: Its name.
        instead: The name of another that has the same, where the first is not there.
    """

    def __init__(self, name: str, instead: str = "") -> None:
        self._names = name, instead

    def __getattr__(self, name: str) -> object:
        own, instead = self._names
        try:
            module = import_module(own)
        except ImportError:
            if not instead:
                raise
            module = import_module(instead)
        value = getattr(module, name)
        setattr(self, name, value)  # is found without us from now on
        return value


if TYPE_CHECKING:
    import numpy as np

    late_re = re.compile
else:
    np = Late("numpy")

    class late_re:  # noqa: N801 - stands for ``re.compile``
        """A pattern that is compiled when it is first used, which takes 0.2 to 5 ms."""

        def __init__(self, *given: object) -> None:
            self._given = given

        def __getattr__(self, name: str) -> object:
            value = getattr(re.compile(*self._given), name)
            setattr(self, name, value)
            return value


__all__ = ["Late", "late_re", "np"]
