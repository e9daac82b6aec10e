"""Work counted in steps of Python: seconds are the machine's."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal


@contextmanager
def counted(step: Literal["call", "line"]) -> Iterator[Counter[str]]:
    """Count the calls of Python's functions, generators' steps included, or the lines that they run."""
    taken: Counter[str] = Counter()

    def trace(_frame: FrameType, event: str, _of: Any) -> Any:
        taken[event] += 1
        return trace

    known, use = (sys.getprofile, sys.setprofile) if step == "call" else (sys.gettrace, sys.settrace)
    before = known()
    use(trace)
    try:
        yield taken
    finally:
        use(before)
