"""git: repositories, trees, the working tree's uncommitted state, and which paths are left out."""

from gitrag.git.content_rules import content_skip
from gitrag.git.conversion import files_beside, read_file
from gitrag.git.environment import scrubbed_environment
from gitrag.git.meant import ambiguous, ending, meant_path, seen_from
from gitrag.git.overlay import DEFAULT_MAX_BYTES, DirtyPath, Overlay, WorkingState, overlay, working_state
from gitrag.git.path_rules import RULES_VERSION, Rules, is_rule_file, matcher
from gitrag.git.repository import EMPTY_TREE, BlobError, Change, Repository
from gitrag.git.untracked import Untracked

__all__ = [
    "DEFAULT_MAX_BYTES",
    "EMPTY_TREE",
    "RULES_VERSION",
    "BlobError",
    "Change",
    "DirtyPath",
    "Overlay",
    "Repository",
    "Rules",
    "Untracked",
    "WorkingState",
    "ambiguous",
    "content_skip",
    "ending",
    "files_beside",
    "is_rule_file",
    "matcher",
    "meant_path",
    "overlay",
    "read_file",
    "scrubbed_environment",
    "seen_from",
    "working_state",
]
