"""Identify a vector's computation in one string: model, precision, tokens read; likewise a draft's."""

from __future__ import annotations

import os
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from gitrag.errors import ConfigError
from gitrag.late import late_re

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

BROUGHT_VERSION: Final = 2
"""Raise when what is made of another model's vectors changes."""

VARIABLE: Final = "GITRAG_CHOSEN_MODEL"
"""Tells processes that are started here the directory of the user's own model: one for all of a process."""

_SAMPLES = 16
_SAMPLE_BYTES = 1 << 16
_OF_MODELS = late_re(r"\.(?:safetensors|onnx|json|bin|data|pb|onnx_data\w*)")
"""How files of models end; those of weights beside a graph are called as who exported them liked."""


_fixed: list[str] = []
"""The model of a process that has one for good; empty where another may be chosen."""


def choose(directory: Path | None) -> None:
    """Have a model of the user's in place of ours from now on; None for ours.

    Raises:
        ConfigError: This process has another one for good.
    """
    if _fixed and str(directory or "") not in _fixed:
        raise other_models()
    if directory is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = str(directory)


def fix() -> None:
    """Have the model that was chosen for good: threads at work may be using it."""
    _fixed[:] = [chosen()]


def other_models() -> ConfigError:
    """Return the error that repositories have different models."""
    return ConfigError(
        "Repositories with other models (gitrag.model) cannot be asked together.",
        "Set one for all of them: git config --global gitrag.model DIRECTORY",
    )


def chosen() -> str:
    """Return the directory of the user's own model; empty where it is ours."""
    return os.environ.get(VARIABLE, "")


def encoder_version() -> str:
    """Return what identifies the vectors of the model that was chosen."""
    return _version_of(chosen()) if chosen() else ENCODER_VERSION


@cache
def _version_of(directory: str) -> str:
    """Identify the model of a directory by its files: their sizes, and 16 samples of each."""
    digest = blake2b(digest_size=8)
    place = Path(directory)
    for path in sorted([*place.glob("*"), *place.glob("*/*")]):
        if not _OF_MODELS.fullmatch(path.suffix) or not path.is_file():
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(place)}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            for sample in range(_SAMPLES):
                file.seek(size * sample // _SAMPLES)
                digest.update(file.read(_SAMPLE_BYTES))
    return f"brought/{digest.hexdigest()}/{BROUGHT_VERSION}/{MAX_TOKENS}"
