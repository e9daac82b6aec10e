"""What several processes do at one moment, forked from this one: a start of Python costs more than most."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable


def at_once(count: int, work: Callable[[int], object]) -> None:
    """Have so many processes work, each with its number, once all are there; none may fail."""
    waiting, start = os.pipe()
    children = []
    for number in range(count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: they hold nothing of this
            child = os.fork()
        if not child:
            try:
                os.close(start)
                os.read(waiting, 1)  # which ends as the last that could write does
                work(number)
                os._exit(0)
            except BaseException:  # noqa: BLE001 - printed, as by the interpreter
                traceback.print_exc()
                os._exit(1)
        children.append(child)
    os.close(waiting)
    os.close(start)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * count
