"""A safe environment for processes: no program and no module is looked up relative to the current directory.

The current directory is usually a repository, whose files others wrote. Imports nothing but ``os``
and ``sys``: it runs before anything else may be imported, ``__future__`` included.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SEARCH_PATHS = ("PATH", "PYTHONPATH")
"""Lists of directories; an empty entry means the current one."""

PLACES = ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX")
"""Single directories that Python loads code from."""


def safe_environment(environ: "Mapping[str, str]") -> dict[str, str]:
    """Return an environment without relative entries in the search paths for programs and modules.

    Args:
        environ: The environment to start from.

    Returns:
        A copy. Without any absolute entry, PATH is the system's default and PYTHONPATH is not set.
    """
    safe = dict(environ)
    for name in SEARCH_PATHS:
        if name in safe:
            safe[name] = os.pathsep.join(filter(os.path.isabs, safe[name].split(os.pathsep)))
            if not safe[name]:
                del safe[name]
    for name in PLACES:
        if not os.path.isabs(safe.get(name, os.sep)):
            del safe[name]
    safe.setdefault("PATH", os.defpath)
    return safe


def forget_relative_paths() -> None:
    """Make this process's environment safe, and remove from ``sys.path`` what its relative entries added.

    Python makes ``sys.path`` absolute before any of our code runs. What it imports until then (encodings,
    the launcher's few modules) cannot be protected.
    """
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    try:
        relative = {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}
    except OSError:  # the current directory was deleted: there is nothing in it
        relative = set()
    relative -= set(entries)
    sys.path[:] = [entry for entry in sys.path if os.path.isabs(entry) and entry not in relative]
    safe = safe_environment(os.environ)
    for name in (*SEARCH_PATHS, *PLACES):
        if name not in safe:
            os.environ.pop(name, None)
        elif os.environ.get(name) != safe[name]:
            os.environ[name] = safe[name]
