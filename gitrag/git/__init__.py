"""git: repositories, trees, the working tree's uncommitted state, and what is left out."""

from gitrag.git.environment import scrubbed_environment
from gitrag.git.overlay import DEFAULT_MAX_BYTES, Overlay, WorkingState, overlay, working_state
from gitrag.git.repository import EMPTY_TREE, BlobError, Change, Repository

__all__ = [
    "DEFAULT_MAX_BYTES",
    "EMPTY_TREE",
    "BlobError",
    "Change",
    "Overlay",
    "Repository",
    "WorkingState",
    "overlay",
    "scrubbed_environment",
    "working_state",
]
