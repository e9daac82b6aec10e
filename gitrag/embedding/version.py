"""Identify a vector's computation in one string: model, precision, tokens read; likewise a draft's.

A model is named by a text: the user's own by its directory or address, ours by an empty one.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from gitrag.errors import ModelError
from gitrag.late import late_re
from gitrag.machine.files import replace

WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS: Final = 128
"""Word pieces read of a text, of the 256 the model accepts: code chunks ranked equally well with 64 to 128,
at two to three times the speed."""

GRAPH_VERSION: Final = "int8-2"
"""Raise when the graph or its quantisation changes the vectors."""

ENCODER_VERSION: Final = f"all-MiniLM-L6-v2/{WEIGHTS_SHA256[:8]}/{GRAPH_VERSION}/{MAX_TOKENS}"

DRAFT_VERSION: Final = 2
"""Raise when the table, or its use, changes the drafts."""

TABLE: Final = Path(__file__).with_name("draft.safetensors")
"""Of drafts: int8 rows with a scale each, the layers in float16, and the vocabulary: 15 MB."""

BROUGHT_VERSION: Final = 3
"""Raise when what is made of another model's vectors changes."""

_OF_MODELS = late_re(r"\.(?:safetensors|onnx|json|bin|data|pb|onnx_data\w*)")
"""How files of models end; those of weights beside a graph are called as who exported them liked."""

_states: dict[str, list[str]] = {}
"""The files of the models whose versions this process has told, as they were then."""


def is_address(model: str) -> bool:
    """Tell whether a model of the user's is asked over HTTP; else it is in a directory."""
    return "://" in model


def encoder_version(model: str = "") -> str:
    """Return what identifies a model's vectors.

    Raises:
        ModelError: A file of it cannot be read.
    """
    return _version_of(model) if model else ENCODER_VERSION


@cache
def _version_of(model: str) -> str:
    """Identify a model by all bytes of its files; behind an address, which shows none, by its name."""
    if is_address(model):
        return f"served/{_hashed(model)}/{BROUGHT_VERSION}"
    directory = Path(model)
    try:
        _states[model] = state = _state_of(directory)
        return f"brought/{_digest_of(directory, state)}/{BROUGHT_VERSION}/{MAX_TOKENS}"
    except OSError as error:
        raise ModelError(f"Cannot read the model in {directory}: {error.strerror}.") from error


def require_unchanged(model: str) -> None:
    """Make sure that a model's files, where it has some, are those that its version was told by.

    Raises:
        ModelError: They have been replaced since.
    """
    encoder_version(model)
    if model in _states and _states[model] != _state_of(Path(model)):
        raise ModelError(f"The model in {model} was replaced while gitrag was running.", "Start it again.")


def own_cache(name: str) -> Path:
    """Return where in the user's cache something is kept of models that users bring."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("gitrag")) / "models" / name


def _files_of(directory: Path) -> list[Path]:
    every = sorted([*directory.glob("*"), *directory.glob("*/*")])
    return [path for path in every if _OF_MODELS.fullmatch(path.suffix) and path.is_file()]


def _state_of(directory: Path) -> list[str]:
    """Return what changes when a file of a model does: of each its name, size, time and number."""
    stats = {path: path.stat() for path in _files_of(directory)}
    return [f"{path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}" for path, stat in stats.items()]


def _digest_of(directory: Path, state: list[str]) -> str:
    """Hash a model's files, a gigabyte a second; the result is kept until one of them changes."""
    kept = own_cache(f"{_hashed(str(directory))}.json")
    with suppress(OSError, ValueError):
        match json.loads(kept.read_bytes()):
            case [known, str(told)] if known == state:
                return told
    digest = hashlib.blake2b(digest_size=8)
    for path in _files_of(directory):
        with path.open("rb") as file:
            own = hashlib.file_digest(file, hashlib.blake2b).digest()
        digest.update(os.fsencode(path.relative_to(directory)) + b"\0" + own)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace(kept, json.dumps([state, digest.hexdigest()]).encode(), 0o600, durable=False)
    return digest.hexdigest()


def _hashed(text: str) -> str:
    return hashlib.blake2b(os.fsencode(text), digest_size=8).hexdigest()
