"""The published model, and the manifest of what is built of it: its files, their sizes and digests."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, to_builtins

from gitrag.embedding.version import GRAPH_VERSION, TOKENIZER_SHA256, WEIGHTS_SHA256
from gitrag.errors import ModelError

Progress = Callable[[str, int, "int | None"], None]
"""Called with the current step, the bytes done, and the total bytes if known."""


class ModelFile(Struct, frozen=True):
    """A file of the model: as it is published, or when it was built.

    Attributes:
        size_bytes: Its size; a longer file is not read to its end.
        modified_ns: The modification time of a built one. If it differs, the file is hashed before use; for a
            copied model this takes 12 ms at each start.
    """

    name: str
    size_bytes: int
    modified_ns: int
    sha256: str


WEIGHTS = ModelFile("model.safetensors", 90_868_376, 0, WEIGHTS_SHA256)
TOKENIZER = ModelFile("tokenizer.json", 466_247, 0, TOKENIZER_SHA256)
PUBLISHED = (TOKENIZER, WEIGHTS)  # the small one first: it shows whether the source can be reached at all

HUB = "https://huggingface.co"


def verify(path: Path, file: ModelFile) -> None:
    """Check that a file has the published bytes.

    Raises:
        OSError: It cannot be read.
    """
    size = path.stat().st_size
    if size != file.size_bytes:
        raise ModelError(f"{file.name} has {size:,} bytes instead of {file.size_bytes:,}")
    digest = sha256(path)
    if digest != file.sha256:
        raise ModelError(f"{file.name} has SHA-256 {digest[:12]}… instead of {file.sha256[:12]}…")


def sha256(path: Path) -> str:
    """Hash a file: 12 ms for the 23 MB of the converted model."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


MANIFEST = "manifest.json"

_MANIFEST_BYTES_CAP = 64 * 1024
_FETCH = "Run `gitrag model fetch`."


class Manifest(Struct, frozen=True):
    """What was built, from which inputs, with which versions."""

    graph: str
    weights_sha256: str
    tokenizer_sha256: str
    built_with: str
    files: tuple[ModelFile, ...]


def describe(path: Path) -> ModelFile:
    """Describe a file's current state."""
    stat = path.stat()
    return ModelFile(path.name, stat.st_size, stat.st_mtime_ns, sha256(path))


def write_manifest(path: Path, files: tuple[ModelFile, ...], built_with: str) -> None:
    """Write the manifest of a model just built."""
    manifest = Manifest(GRAPH_VERSION, WEIGHTS_SHA256, TOKENIZER_SHA256, built_with, files)
    path.write_text(json.dumps(to_builtins(manifest), indent=1) + "\n", "utf-8")


def check(directory: Path, *, thorough: bool = False) -> Manifest:
    """Check that a directory contains a complete model that this version of gitrag can use.

    Args:
        thorough: Hash every file, not only those whose modification time changed.

    Raises:
        ModelError: It does not: the model is missing, of another version, truncated or altered.
    """
    manifest = _read(directory)
    if (manifest.graph, manifest.weights_sha256) != (GRAPH_VERSION, WEIGHTS_SHA256):
        raise ModelError(f"The model in {directory} was built by another version of gitrag.", _FETCH)
    for file in manifest.files:
        path = directory / file.name
        try:
            stat = path.stat()
            whole = stat.st_size == file.size_bytes
            if whole and (thorough or stat.st_mtime_ns != file.modified_ns):
                whole = sha256(path) == file.sha256
        except FileNotFoundError as error:
            raise ModelError(f"The model's file {path} is missing.", _FETCH) from error
        except OSError as error:
            raise ModelError(f"Cannot read the model's file {path}: {error.strerror}.", _FETCH) from error
        if not whole:
            raise ModelError(f"The model's file {path} is damaged.", _FETCH)
    return manifest


def is_there(directory: Path, name: str = MANIFEST) -> bool:
    """Tell whether a directory contains a file; False if it may not be read."""
    return os.path.exists(directory / name)  # noqa: PTH110  # Path.exists raises then


def _read(directory: Path) -> Manifest:
    path = directory / MANIFEST
    try:
        with path.open("rb") as file:
            fields = json.loads(file.read(_MANIFEST_BYTES_CAP))
        files = tuple(
            ModelFile(_plain(file["name"]), int(file["size_bytes"]), int(file["modified_ns"]), file["sha256"])
            for file in fields.pop("files")
        )
        return Manifest(**fields, files=files)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(
            f"The model is not on this machine yet; it belongs in {directory}.", _FETCH
        ) from error
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror}.", "Check its permissions.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is damaged.", _FETCH) from error


def _plain(name: str) -> str:
    if Path(name).name != name:
        raise ValueError(name)
    return name
