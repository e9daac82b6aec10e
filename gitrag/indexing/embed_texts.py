"""Compute the vectors of texts."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.embedding.text import chunk_text, path_text
from gitrag.errors import GitragError, ModelError
from gitrag.late import np
from gitrag.machine.files import write_private
from gitrag.machine.isolation import reason_of
from gitrag.model import DIMENSIONS, Chunk
from gitrag.store import vectors
from gitrag.store.connection import Store
from gitrag.store.vectors import PendingText

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.embedding.encoder import Encoder

_ROUND = 512
_ROUND_S = 5.0
"""Texts per transaction, and about how long one takes: a killed process loses no more, and one that is asked
to stop, on a busy machine too, does so after it."""

_RATE = "embed.rate"

_ANY_TEXT = ("a",)
"""A text that any working model embeds: if it fails, the fault is the model's."""

_TELLING = 64
"""Minimum number of texts for a measured rate to count; below it, start-up time dominates. The first round
has so many: those who watch soon learn how long the rest takes."""

_USUAL_PER_CORE = 35.0
"""Texts per second that one core embeds: 50 to 100 on two (`scripts/bench/encoder.py`)."""


def embed_pending(
    store: Store,
    encoder: Encoder,
    *,
    entries: Sequence[tuple[int, int]] = (),
    view_id: int | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
    advance: Callable[[int], None] = lambda _done: None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Embed the pending texts, newest first, one round per transaction.

    A text that cannot be embedded keeps its draft vector, and the reason is recorded.

    Args:
        entries: Pairs of path id and content id in addition to those of the views.
        view_id: The only view that counts; None for all.
        oldest_first: Start with the oldest, to share the work with a process that starts with the newest.
        advance: Called with the number done in each round.

    Returns:
        How many were embedded.
    """
    done, room = 0, _TELLING
    while not stop() and (limit is None or done < limit):
        begin = time.monotonic()
        most = room if limit is None else min(room, limit - done)
        with store.read() as db:
            texts = vectors.pending(db, most, entries, view_id, oldest_first=oldest_first)
        if not texts:
            break
        done += embed_listed(store, encoder, texts)
        rate = len(texts) / max(time.monotonic() - begin, 0.001)
        room = min(_ROUND, max(_TELLING, round(rate * _ROUND_S)))
        advance(len(texts))
    return done


def embed_listed(store: Store, encoder: Encoder, texts: Sequence[PendingText]) -> int:
    """Embed texts in one transaction; return how many, those that cannot be embedded included."""
    if texts:
        store.write_vectors(*encode_texts(encoder, texts))
    return len(texts)


def encode_texts(
    encoder: Encoder, texts: Sequence[PendingText]
) -> tuple[list[int], NDArray[np.float32], dict[int, str]]:
    """Encode texts; return the ids that succeeded, their vectors float32 (n, 384), and why others failed.

    Raises:
        Exception: The model fails with every text.
    """
    ids = [text_id for text_id, _ in texts]
    try:
        return ids, encoder.encode([text_of(source) for _, source in texts]), {}
    except BaseException as error:
        if not _is_of_a_text(error):
            raise
    encoder.encode(_ANY_TEXT)
    done: list[int] = []
    encoded: list[NDArray[np.float32]] = []
    failures: dict[int, str] = {}
    for text_id, source in texts:
        try:
            encoded.append(encoder.encode([text_of(source)])[0])
            done.append(text_id)
        except BaseException as error:
            if not _is_of_a_text(error):
                raise
            failures[text_id] = reason_of(error)
    return done, np.stack(encoded) if done else np.empty((0, DIMENSIONS), np.float32), failures


def _is_of_a_text(error: BaseException) -> bool:
    """Tell whether a failure may be due to one text; a panic of the tokenizer is not an ``Exception``."""
    if isinstance(error, MemoryError | GitragError):
        return isinstance(error, ModelError) and error.of_text
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def embed_within(store: Store, encoder: Encoder, texts: Sequence[PendingText], budget_s: float) -> int:
    """Embed as many texts as fit in a budget, in order, in one transaction; return how many."""
    deadline = time.monotonic() + budget_s
    ids: list[int] = []
    done: list[NDArray[np.float32]] = []
    failures: dict[int, str] = {}
    for text in texts:
        if time.monotonic() >= deadline:
            break
        encoded_ids, encoded, failed = encode_texts(encoder, [text])
        ids += encoded_ids
        done += list(encoded)
        failures |= failed
    if done or failures:
        store.write_vectors(ids, np.array(done), failures)
    return len(done)


def record_rate(directory: Path, done: int, seconds: float) -> None:
    """Record how many texts per second this machine embeds, for later estimates; ignore small samples."""
    if done >= _TELLING and seconds > 0:
        with suppress(OSError):
            write_private(directory / _RATE, f"{done / seconds:.1f}\n")


def texts_per_s(directory: Path) -> float:
    """Return how many texts per second this machine embeds: the last measurement, else a typical rate."""
    return measured_rate(directory) or _USUAL_PER_CORE * (os.cpu_count() or 1)


def measured_rate(directory: Path) -> float | None:
    """Return how many texts per second were last embedded here; None if that was never measured."""
    try:
        rate = float((directory / _RATE).read_text("ascii"))
    except (OSError, ValueError):
        return None
    return rate if 0 < rate < math.inf else None


def text_of(source: Chunk | str) -> str:
    """Return the text that is embedded for a chunk or a path."""
    return path_text(source) if isinstance(source, str) else chunk_text(source)
