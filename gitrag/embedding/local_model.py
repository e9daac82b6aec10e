"""The model on this machine: where it is, whether it is complete, and how it is installed."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from gitrag.embedding.manifest import TOKENIZER, WEIGHTS, check, is_there
from gitrag.embedding.version import GRAPH_VERSION, is_address
from gitrag.errors import GitragError, ModelError

DOWNLOAD_BYTES = WEIGHTS.size_bytes + TOKENIZER.size_bytes
"""Approximate size of a fetch's download, for the messages that announce it."""


class ModelStatus(Struct, frozen=True):
    """Whether the model can be used.

    Attributes:
        ready: Whether it can be used.
        path: Its directory, or its address.
        size_bytes: Size of its files; 0 when it is not ready.
        problem: One sentence; empty when it is ready.
        own: Whether it is the user's own, named by ``gitrag.model``.
    """

    ready: bool
    path: str
    size_bytes: int
    problem: str
    own: bool = False

    @property
    def said(self) -> str:
        """The same in words."""
        yours = f"yours, {self.path}" if self.own else ""
        return ", ".join(filter(None, [yours, "ready" if self.ready else self.problem]))

    @property
    def fix(self) -> str:
        """The command that gets it; empty where that is none of ours."""
        return "" if self.ready or self.own else "gitrag model fetch"


class FetchStep(Struct, frozen=True):
    """A step of a fetch.

    Attributes:
        name: What was done.
        seconds: How long it took.
    """

    name: str
    seconds: float


class ModelFetch(Struct, frozen=True):
    """How the model was installed.

    Attributes:
        source: Where it came from; ``already there`` when there was nothing to do.
        path: Its directory, or its address.
        size_bytes: Size of its files; 0 of the user's own.
        steps: What was done, in order.
    """

    source: str
    path: str
    size_bytes: int
    steps: tuple[FetchStep, ...]


def model_directory(override: Path | None = None) -> Path:
    """Return the model's directory: ``override``, or one in the user's cache, shared by all repositories."""
    if override is not None:
        return override
    import platformdirs

    # Another version of the graph has its own directory, so that two versions of gitrag can coexist.
    return Path(platformdirs.user_cache_dir("gitrag")) / f"all-MiniLM-L6-v2-{GRAPH_VERSION}"


def status(directory: Path, model: str = "", *, thorough: bool = True) -> ModelStatus:
    """Check whether the model in a directory is complete.

    Args:
        model: The user's own in place of it, which is tried.
        thorough: Hash every file, 40 ms, not only those whose modification time changed.
    """
    if model:
        return _brought(model)
    try:
        manifest = check(directory, thorough=thorough)
    except ModelError as error:
        problem = str(error)
        if not is_there(directory) and is_there(directory, WEIGHTS.name):
            problem = f"The weights in {directory} are not converted yet."
        return ModelStatus(ready=False, path=str(directory), size_bytes=0, problem=problem)
    size = sum(file.size_bytes for file in manifest.files)
    return ModelStatus(ready=True, path=str(directory), size_bytes=size, problem="")


def _brought(model: str) -> ModelStatus:
    from gitrag.embedding.brought import load_own

    try:
        load_own(model, 1).encode(["a"])
        size = (
            0
            if is_address(model)
            else sum(each.stat().st_size for each in Path(model).rglob("*") if each.is_file())
        )
    except (GitragError, OSError) as error:
        return ModelStatus(ready=False, path=model, size_bytes=0, problem=str(error), own=True)
    return ModelStatus(ready=True, path=model, size_bytes=size, problem="", own=True)
