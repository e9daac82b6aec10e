"""The model on this machine: where it lies, whether it is whole, and how it gets there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitrag.embedding.manifest import check, is_there
from gitrag.embedding.published import TOKENIZER, WEIGHTS
from gitrag.embedding.version import GRAPH_VERSION
from gitrag.errors import ModelError

DOWNLOAD_BYTES = WEIGHTS.size_bytes + TOKENIZER.size_bytes
"""What a fetch downloads, about: for the messages that announce it."""


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
class FetchStep:
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
    steps: tuple[FetchStep, ...]


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
        if not is_there(directory) and is_there(directory, WEIGHTS.name):
            problem = f"The weights in {directory} are not converted yet."
        return ModelStatus(ready=False, path=directory, size_bytes=0, problem=problem)
    size = sum(file.size_bytes for file in manifest.files)
    return ModelStatus(ready=True, path=directory, size_bytes=size, problem="")
