"""The process that commands are forked from: it has loaded what they load, and opened nothing.

    forking.py CPU_SECONDS

Reads a line of JSON a command, and writes one when it has ended: status and memory. The watch ends what
never does.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

_LOADED = (*"boundary check config core doctor explore gc graph index issues prime search status".split(),)
_BELOW = (
    "duckdb",
    "gitrag.actions.governance.check",
    "gitrag.actions.graph",
    "gitrag.actions.issues",
    "gitrag.actions.search",
    "gitrag.trackers.detection",
    "httpx2",
    "numpy",
    "pygit2",
    "tenacity",
    "tree_sitter",
    "yaml",
)
_MOST_ADDRESSES = 8 << 30


def main() -> None:
    cpu_s = float(sys.argv[1])
    for name in _LOADED:
        importlib.import_module(f"gitrag.cli.{name}")
    for name in _BELOW:
        importlib.import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _run(asked, cpu_s)
        sys.stdout.write(json.dumps(_wait(child)) + "\n")
        sys.stdout.flush()


def _wait(child: int) -> tuple[int, int]:
    _, status, used = os.wait4(child, 0)
    peak_bytes = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return os.waitstatus_to_exitcode(status), peak_bytes


def _run(asked: dict[str, Any], cpu_s: float) -> None:
    """Be the command."""
    from gitrag.cli.boundary import run

    os.setsid()
    for descriptor, path in ((0, os.devnull), (1, asked["out"]), (2, asked["err"])):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as the interpreter makes it
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_ADDRESSES, resource.RLIM_INFINITY))
    os.chdir(asked["place"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["gitrag", *asked["args"]]
    status = 70
    try:
        status = run(asked["args"], os.environ)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    finally:
        if sys.exc_info()[0] is not None:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
