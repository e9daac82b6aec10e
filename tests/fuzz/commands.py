"""Commands of gitrag, run by the hundred: forked from a process that has its modules loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.target import MOST_BYTES, MOST_CPU_S

STATUSES = frozenset({0, 1, 2, 3, 75, 78})
"""What a command may end with; 70 is a bug."""

_FORKING = Path(__file__).with_name("forking.py")
_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        status: Its exit status; negative for a signal.
        out: What it wrote to stdout.
        err: What it wrote to stderr.
        peak_bytes: The most memory it had.
    """

    status: int
    out: str
    err: str
    peak_bytes: int

    def wrong(self, command: str) -> str:
        """Say what no command may do, whatever it reads; nothing where it did none of that."""
        said = f"\ngitrag {command}\n{self.out[-_SHOWN:]}\n{self.err[-_SHOWN:]}"
        if self.status not in STATUSES:
            return f"{said}\nstatus {self.status}"
        if "Traceback" in self.out + self.err:
            return f"{said}\na traceback"
        if self.peak_bytes > MOST_BYTES:
            return f"{said}\nit took {self.peak_bytes:,} bytes of memory"
        return ""


class Commands:
    """Runs commands in a directory.

    Args:
        place: The directory.
        environment: Of the commands.
        space: A directory for what they write.
    """

    def __init__(self, place: Path, environment: Mapping[str, str], space: Path) -> None:
        self._place, self._environment, self._space = place, dict(environment), space
        self._forking = subprocess.Popen(
            [sys.executable, "-P", _FORKING, str(MOST_CPU_S)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=space,
            env=self._environment,
        )

    def __call__(self, *args: str, env: Mapping[str, str] | None = None) -> Ended:
        """Run a command to its end."""
        assert self._forking.stdin is not None
        assert self._forking.stdout is not None
        out, err = self._space / "command.out", self._space / "command.err"
        asked = {
            "args": args,
            "place": str(self._place),
            "environment": self._environment | dict(env or {}),
            "out": str(out),
            "err": str(err),
        }
        self._forking.stdin.write(json.dumps(asked).encode() + b"\n")
        self._forking.stdin.flush()
        status, peak_bytes = json.loads(self._forking.stdout.readline())
        said = err.read_bytes().decode("utf-8", "replace")
        if status == 70:
            said += self._log()
        return Ended(status, out.read_bytes().decode("utf-8", "replace"), said, peak_bytes)

    @property
    def pid(self) -> int:
        """The process that commands are forked from."""
        return self._forking.pid

    def exec(self, *args: str) -> Ended:
        """Run a command as a user does, as a process that loads its modules."""
        done = subprocess.run(
            [Path(sys.executable).with_name("gitrag"), *args],
            cwd=self._place,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return Ended(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr), 0)

    def close(self) -> None:
        assert self._forking.stdin is not None
        self._forking.stdin.close()
        self._forking.wait()

    def _log(self) -> str:
        for place in (self._place / ".git" / "gitrag", Path(self._environment["XDG_STATE_HOME"]) / "gitrag"):
            for path in sorted(place.glob("log*")):
                return "\n" + path.read_bytes()[-_SHOWN:].decode("utf-8", "replace")
        return ""
