"""Compute the vectors that are missing: here, on request or on a GPU, else by the background worker."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from gitrag.actions.catch_up import awaited, start_worker
from gitrag.actions.model import fetch_model, forget_fetch_failure
from gitrag.actions.progress import ShowProgress
from gitrag.embedding.local_model import DOWNLOAD_BYTES, ModelFetch
from gitrag.indexing.worker import running
from gitrag.workspace import Workspace


class EmbeddedHere(Struct, frozen=True):
    """Texts were embedded in this process.

    Attributes:
        left: How many texts have no vector yet; the background worker has been started for them.
    """

    texts: int
    seconds: float
    left: int
    notes: tuple[str, ...] = ()


class EmbeddingInBackground(Struct, frozen=True):
    """The background worker has been started.

    Attributes:
        download_bytes: Size of what it downloads first; 0 if the model is there.
        strain: What it waits for now; empty for nothing.
    """

    texts: int
    download_bytes: int
    log: Path
    strain: str = ""


EmbeddingStep = ModelFetch | EmbeddedHere | EmbeddingInBackground


def embed_waiting(
    workspace: Workspace,
    waiting: int,
    progress: ShowProgress,
    *,
    foreground: bool,
    seconds: float | None = None,
    entries: Sequence[tuple[int, int]] = (),
) -> Iterator[EmbeddingStep]:
    """Embed in the foreground on request or on a GPU, else in the background; yield each step when done.

    Where vectors are shared, those that others have computed are taken first, as the worker does.

    Args:
        seconds: In this process: for so long at most; the rest is left to the worker.
        entries: Path and content ids of the uncommitted changes to embed too.
    """
    if not (foreground or workspace.embeds_on_gpu()):
        yield embed_in_background(workspace, waiting)
        return
    if not workspace.model_is_there():
        yield fetch_model(workspace.model_dir, progress, workspace.model)
    from gitrag.actions.sharing.background import pull_before

    begin = time.monotonic()

    def over() -> bool:
        return seconds is not None and time.monotonic() - begin > seconds

    pull_before(workspace, entries, over)
    with progress("Embedding", waiting) as shown:
        done = workspace.embed(
            # The worker may be embedding too, newest first.
            oldest_first=running(workspace.store.directory) is not None,
            entries=entries,
            advance=lambda _done: shown.update(waiting - workspace.count_unembedded(entries)),
            stop=over,
        )
    left = workspace.count_unembedded(entries)
    took = time.monotonic() - begin
    if left:
        start_worker(workspace)
    yield EmbeddedHere(done, took, left)


def embed_in_background(workspace: Workspace, waiting: int) -> EmbeddingInBackground:
    """Start the background worker for texts without a vector; it may fetch the model at once."""
    download_bytes = 0
    if not workspace.model_is_there():
        forget_fetch_failure(workspace)
        download_bytes = DOWNLOAD_BYTES
    start_worker(workspace)
    log = workspace.store.directory / "log"
    return EmbeddingInBackground(waiting, download_bytes, log, awaited(workspace, waiting))
