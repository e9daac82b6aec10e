"""git: repositories, trees, the working tree's uncommitted state, and what is left out."""

from gitrag.git.environment import scrubbed_environment
from gitrag.git.evidence import content_skip
from gitrag.git.overlay import DEFAULT_MAX_BYTES, Overlay, WorkingState, overlay, working_state
from gitrag.git.repository import EMPTY_TREE, BlobError, Change, Repository
from gitrag.git.rules import RULES_VERSION, Rules, is_rule_file

__all__ = [
    "DEFAULT_MAX_BYTES",
    "EMPTY_TREE",
    "RULES_VERSION",
    "BlobError",
    "Change",
    "Overlay",
    "Repository",
    "Rules",
    "WorkingState",
    "content_skip",
    "is_rule_file",
    "overlay",
    "scrubbed_environment",
    "working_state",
]
