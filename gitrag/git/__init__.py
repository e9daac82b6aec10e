"""git: repositories, trees, the working tree's uncommitted state, and what is left out."""

from gitrag.git.environment import scrubbed_environment
from gitrag.git.repository import EMPTY_TREE, BlobError, Change, Repository

__all__ = ["EMPTY_TREE", "BlobError", "Change", "Repository", "scrubbed_environment"]
