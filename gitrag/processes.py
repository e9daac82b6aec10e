"""Processes that share work on many contents."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


@contextmanager
def pool_of(processes: int) -> Iterator[ProcessPoolExecutor | None]:
    """Start a pool of processes; None for less than two."""
    if processes < 2:
        yield None
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not forked: the parent's DuckDB and onnxruntime threads would leave their locks behind.
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=spawn, initializer=_begin_in_pool)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while processes are started.

    The new processes inherit it and are deaf to Ctrl-C from the start. Here, an exception in the middle of a
    start would leave a process that the pool does not know: nobody tells it to end, and the interpreter waits
    for it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_in_pool() -> None:
    """Begin as a process of a pool, and end when its parent is gone: one that was killed cannot tell it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # a broken pool ends its processes with it
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is there: the pool has a process a core
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=[parent.sentinel], daemon=True).start()


def _outlive(parent: int) -> None:
    from multiprocessing.connection import wait

    wait([parent])
    os._exit(1)
