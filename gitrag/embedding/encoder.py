"""The encoder: texts to vectors.

Each text is encoded alone, on one thread, and as many texts at once as there are threads. Activations are
quantised with one scale per run, so texts in the same run would change each other's vectors (cosines down to
0.985 between batchings were measured); alone, a text has one vector, bit for bit, whatever else is encoded.
No padding is computed, and threads never wait for each other within a layer: two idle cores reach 0.9 to
1 of the speed of padded batches of eight on all threads (about 400 texts a second), busy ones more.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gitrag.embedding.manifest import MANIFEST, TOKENIZER, check
from gitrag.embedding.sessions import has_gpu, open_cpu, open_gpu
from gitrag.embedding.version import ENCODER_VERSION, MAX_TOKENS
from gitrag.errors import ModelError
from gitrag.late import np
from gitrag.model import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["ENCODER_VERSION", "MAX_TOKENS", "Encoder", "has_gpu"]

BATCH = 64
"""Texts per batch of ``encode_batches``: a fifth of a second on two cores, so that little is lost when the
process is killed, and many texts share one write transaction."""

_GPU_RUN = 256
"""Texts per run on a GPU; 12 attention heads of 128 by 128 scores each take 200 MB."""

_State = tuple[int, int]
_kept: dict[tuple[Path, int], tuple[_State, Any, Any]] = {}
"""Models that `keep_open` has opened: session and tokenizer, and the state of the manifest."""

_MOST_QUERIES = 8
_queries: dict[tuple[Any, str], Vectors] = {}
"""The vectors of the latest questions, by session and text."""


def keep_open(directory: Path) -> None:
    """Open a model now, for this process and those forked from it, if it is not; no thread is started.

    Raises:
        ModelError: The model is missing, incomplete, or cannot be opened.
    """
    check(directory)
    kept = _kept.get((directory, MAX_TOKENS))
    if kept is not None and kept[0] == _state(directory):
        return
    tokenizer = open_tokenizer(directory / TOKENIZER.name, MAX_TOKENS)
    _kept[directory, MAX_TOKENS] = _state(directory), open_cpu(directory), tokenizer


class Encoder:
    """all-MiniLM-L6-v2, loaded. Safe to use from several threads; ``close`` ends its own threads.

    Attributes:
        model: Which it is: of the user's; empty for ours.
    """

    model = ""
    _asking = threading.Lock()

    def __init__(self, tokenizer: Any, session: Any, threads: int, *, on_gpu: bool) -> None:
        self._tokenizer = tokenizer
        self._session = session
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder") if threads > 1 else None
        self.threads = threads
        self.on_gpu = on_gpu

    @classmethod
    def load(
        cls,
        directory: Path,
        *,
        threads: int | None = None,
        max_tokens: int = MAX_TOKENS,
        gpu: bool = False,
    ) -> Self:
        """Open the model: 60 ms, 30 of them for the tokenizer, once onnxruntime is imported.

        Args:
            directory: The model's directory, as ``fetching.fetch`` left it.
            threads: How many texts to encode at once; None for one per core.
            max_tokens: Word pieces read per text, 256 at most. With a number other than ``MAX_TOKENS`` the
                vectors are not those that ``ENCODER_VERSION`` identifies.
            gpu: Use a GPU if there is one that is correct and faster. Opening takes seconds: for a long job,
                not for a question. Its vectors are exact in float32; the CPU's int8 ones approximate them.

        Raises:
            ModelError: The model is missing, incomplete, or cannot be opened.
        """
        check(directory)
        kept = _kept.get((directory, max_tokens))
        state = _state(directory)
        if kept is None or kept[0] != state:
            kept = state, open_cpu(directory), open_tokenizer(directory / TOKENIZER.name, max_tokens)
        _, session, tokenizer = kept
        threads = threads or cores()
        gpu_session = open_gpu(directory, session, threads) if gpu else None
        if gpu_session is not None:
            return cls(tokenizer, gpu_session, 1, on_gpu=True)
        return cls(tokenizer, session, threads, on_gpu=False)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts: float32 (n, 384), L2-normalised, in their order."""
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        done = 0
        for batch in self.encode_batches(texts):
            vectors[done : done + len(batch)] = batch
            done += len(batch)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """Encode one text in the calling thread: float32 (384,), L2-normalised; 1 to 5 ms.

        The latest ones are kept for all who ask this model: several repositories are asked the same.
        """
        with self._asking:
            vector = _queries.pop((self._session, text), None)
            if vector is None:
                vector = self._encode_together([text])[0] if self.on_gpu else self._encode_one(text)
            _queries[self._session, text] = vector
            for oldest in list(_queries)[:-_MOST_QUERIES]:
                _queries.pop(oldest, None)
        return vector

    def encode_batches(self, texts: Iterable[str], *, size: int = BATCH) -> Iterator[Vectors]:
        """Encode texts one batch after another, in their order: for long jobs.

        While the caller processes a batch, the next one is being encoded.

        Args:
            texts: Any number of texts; read one batch ahead.

        Yields:
            float32 (up to ``size``, 384), L2-normalised.
        """
        if self.on_gpu:
            for batch in batches(texts, size):
                yield self._encode_together(batch)
            return
        if self._pool is None:
            for batch in batches(texts, size):
                yield np.stack([self._encode_one(text) for text in batch])
            return
        waiting: deque[list[Future[Vectors]]] = deque()
        try:
            for batch in batches(texts, size):
                waiting.append([self._pool.submit(self._encode_one, text) for text in batch])
                if len(waiting) > 1:
                    yield np.stack([future.result() for future in waiting.popleft()])
            while waiting:
                yield np.stack([future.result() for future in waiting.popleft()])
        finally:
            for futures in waiting:
                for future in futures:
                    future.cancel()

    def close(self) -> None:
        """End the threads; the current texts are finished, waiting ones dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _encode_one(self, text: str) -> Vectors:
        ids = np.array([self._tokenizer.encode(encodable(text)).ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vector: Vectors = self._session.run(None, inputs)[0][0]
        return vector

    def _encode_together(self, texts: Sequence[str]) -> Vectors:
        """Encode in large padded runs, texts of similar length together; only exact in float32."""
        tokens = [self._tokenizer.encode(encodable(text)).ids for text in texts]
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        vectors = np.empty((len(tokens), DIMENSIONS), np.float32)
        for start in range(0, len(order), _GPU_RUN):
            run = order[start : start + _GPU_RUN]
            ids = np.zeros((len(run), len(tokens[run[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for row, index in enumerate(run):
                ids[row, : len(tokens[index])] = tokens[index]
                mask[row, : len(tokens[index])] = 1
            vectors[run] = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def _state(directory: Path) -> _State:
    """Return what changes when another model is put in a directory."""
    found = (directory / MANIFEST).stat()
    return found.st_mtime_ns, found.st_ino


def open_tokenizer(path: Path, max_tokens: int) -> Any:
    """Open a tokenizer that reads so many pieces at most.

    Raises:
        ModelError: It cannot be read.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the only exception type of tokenizers
        raise ModelError(
            f"Cannot read the tokenizer {path}: {error}.", "Run `gitrag model fetch`."
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def encodable(text: str) -> str:
    """Replace lone surrogates (from paths and contents that are not UTF-8), which no tokenizer accepts."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield so many texts at a time."""
    iterator = iter(texts)
    while batch := list(islice(iterator, size)):
        yield batch


def cores() -> int:
    """Return how many processors there are for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
