"""The manifest of a model's directory, written when it is built: its files, their sizes and digests."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec import Struct, to_builtins

from gitrag.embedding.published import sha256
from gitrag.embedding.version import GRAPH_VERSION, TOKENIZER_SHA256, WEIGHTS_SHA256
from gitrag.errors import ModelError

MANIFEST = "manifest.json"

_MANIFEST_BYTES_CAP = 64 * 1024
_FETCH = "Run `gitrag model fetch`."


class BuiltFile(Struct, frozen=True):
    """A file when the model was built.

    Attributes:
        modified_ns: Its modification time. If it differs, the file is hashed before use; for a copied model
            this takes 12 ms at each start.
    """

    name: str
    size_bytes: int
    modified_ns: int
    sha256: str


class Manifest(Struct, frozen=True):
    """What was built, from which inputs, with which versions."""

    graph: str
    weights_sha256: str
    tokenizer_sha256: str
    built_with: str
    files: tuple[BuiltFile, ...]


def describe(path: Path) -> BuiltFile:
    """Describe a file's current state."""
    stat = path.stat()
    return BuiltFile(path.name, stat.st_size, stat.st_mtime_ns, sha256(path))


def write_manifest(path: Path, files: tuple[BuiltFile, ...], built_with: str) -> None:
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
            BuiltFile(_plain(file["name"]), int(file["size_bytes"]), int(file["modified_ns"]), file["sha256"])
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
