"""Open the model with onnxruntime, on the CPU or on a GPU."""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gitrag.embedding.version import MAX_TOKENS
from gitrag.errors import ModelError
from gitrag.late import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "model.int8.onnx"
GPU_MODEL = "model.fp32.onnx"

_CPU = "CPUExecutionProvider"
_GPUS = ("CUDAExecutionProvider", "DmlExecutionProvider", "CoreMLExecutionProvider")

_ERRORS_ONLY = 3
_PROBE_TEXTS = 32
_SAME_COSINE = 0.97
"""Minimum cosine between a text's float32 and int8 vectors; the int8 model has 0.987 at least, 0.993 on
average. A GPU below it computes something else."""


def onnxruntime() -> ModuleType:
    """Import onnxruntime with its telemetry off.

    From 1.29 on it reports each process and model to its makers and writes a device id into the user's
    cache, unless this variable disables it before it is loaded.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module("onnxruntime")


def has_gpu() -> bool:
    """Tell whether the installed onnxruntime has a GPU provider; opens none."""
    return _gpu_provider() is not None


def open_cpu(directory: Path) -> Any:
    """Open the int8 model, to be run in the calling threads."""
    return open_model(directory / MODEL)


def open_model(path: Path) -> Any:
    """Open any model, to be run in the calling threads."""
    options = _options()
    options.intra_op_num_threads = 1  # the encoder runs texts in parallel; no thread spins while idle
    return _open(path, options, [_CPU])


def open_gpu(directory: Path, cpu: Any, threads: int) -> Any | None:
    """Open the float32 model on a GPU; None unless one is correct and faster.

    A provider may be installed without its driver, and one that splits the graph into pieces can be slower
    than the CPU, so the two are compared first.

    Args:
        threads: How many texts the CPU session encodes at once.
    """
    provider = _gpu_provider()
    if provider is None or not (directory / GPU_MODEL).exists():
        return None
    options = _options()
    options.enable_mem_pattern = False  # DirectML requires it
    try:
        gpu = _open(directory / GPU_MODEL, options, [provider, _CPU])
        if gpu.get_providers()[0] != provider:
            return None
        return gpu if _is_right_and_faster(gpu, cpu, threads) else None
    except ModelError:
        return None


def _gpu_provider() -> str | None:
    available = onnxruntime().get_available_providers()
    return next((name for name in _GPUS if name in available), None)


def _options() -> Any:
    options = onnxruntime().SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    return options


def _open(path: Path, options: Any, providers: list[str]) -> Any:
    try:
        return onnxruntime().InferenceSession(path, options, providers=providers)
    except Exception as error:  # onnxruntime's exceptions have no common base class
        raise ModelError(f"Cannot open the model {path}: {error}.", "Run `gitrag model fetch`.") from error


def _is_right_and_faster(gpu: Any, cpu: Any, threads: int) -> bool:
    # Word pieces from 1996 on are words; the first of each row is [CLS].
    ids = np.arange(_PROBE_TEXTS * MAX_TOKENS, dtype=np.int64).reshape(_PROBE_TEXTS, MAX_TOKENS) + 1996
    ids[:, 0] = 101
    _timed_run(gpu, ids)  # the first run with a shape plans memory and compiles
    _timed_run(cpu, ids[:1])
    vectors, gpu_s = _timed_run(gpu, ids)
    expected, cpu_s = _timed_run(cpu, ids[:1])
    right = float(vectors[0] @ expected[0]) >= _SAME_COSINE
    return right and gpu_s / _PROBE_TEXTS < cpu_s / threads


def _timed_run(session: Any, ids: NDArray[np.int64]) -> tuple[NDArray[np.float32], float]:
    start = time.perf_counter()
    vectors = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    return vectors, time.perf_counter() - start
