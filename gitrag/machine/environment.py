"""What a process may be started with: no program and no module is looked for relative to where it stands.

The current directory is mostly a repository, and its files are somebody else's. Nor do NumPy's products start
threads, which cost more than they save. Imports nothing but ``os``
and ``sys``: it runs before anything else may be imported, ``__future__`` included.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SEARCH_PATHS = (
    "PATH",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
)
"""Lists of directories; an empty entry means the current one."""

PRELOADED = ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES")
"""Lists of libraries; one that is a path may be relative."""

PLACES = ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX")
"""Single directories that Python loads code from."""

PRODUCT_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""How many threads OpenBLAS has, which multiplies NumPy's matrices: the first that is set counts."""

UNAWAITED = "unawaited"
"""Name of threads that nobody waits for when the process ends, and which may be in DuckDB then."""


def safe_environment(environ: "Mapping[str, str]") -> dict[str, str]:
    """Return an environment without relative entries in what programs, libraries and modules are found by.

    Returns:
        A copy. Without any absolute entry, PATH is the system's default and PYTHONPATH is not set.
    """
    safe = dict(environ)
    for name in SEARCH_PATHS:
        if name in safe:
            safe[name] = os.pathsep.join(filter(os.path.isabs, safe[name].split(os.pathsep)))
            if not safe[name]:
                del safe[name]
    for name in PRELOADED:
        if name in safe:
            entries = safe[name].replace(" ", os.pathsep).split(os.pathsep)
            safe[name] = os.pathsep.join(
                each for each in entries if os.path.isabs(each) or os.sep not in each
            )
    for name in PLACES:
        if name in safe and not os.path.isabs(safe[name]):
            del safe[name]
    safe.setdefault("PATH", os.defpath)
    return safe


def forget_relative_paths() -> None:
    """Make this process's environment safe, and take from ``sys.path`` what its relative entries stood for.

    Python makes ``sys.path`` absolute before it runs anything of ours. What it imports until then (encodings,
    the launcher's few modules) is out of reach.
    """
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    try:
        relative = {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}
    except OSError:  # the current directory is gone: there is nothing in it
        relative = set()
    relative -= set(entries)
    sys.path[:] = [entry for entry in sys.path if os.path.isabs(entry) and entry not in relative]
    safe = safe_environment(os.environ)
    for name in (*SEARCH_PATHS, *PRELOADED, *PLACES):
        if name not in safe:
            os.environ.pop(name, None)
        elif os.environ.get(name) != safe[name]:
            os.environ[name] = safe[name]


def multiply_in_one_thread() -> None:
    """Let NumPy multiply matrices in the thread that asks for it, unless the user has said how many it takes.

    OpenBLAS's threads wait for the next product in a loop: a question's products are small, and on two busy
    cores its processor time is 161 ms with them and 51 ms without. To be called before NumPy is loaded.
    """
    if not any(os.environ.get(name) for name in PRODUCT_THREADS):
        os.environ[PRODUCT_THREADS[0]] = "1"
