"""The installed command, run as a user runs it: as a process, with an environment of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import here
from tests.support.forked import ForkServer, can_fork
from tests.support.repository import (
    Content,
    GitRepository,
    create_repository,
    isolated_environment,
    without_progress,
)

GITRAG = Path(sys.executable).with_name("gitrag")
PATIENCE_S = 120.0
"""For what a loaded machine does in its own time; nothing is timed."""

SOURCES = {
    "client.py": '''"""Calls other services."""


def retry_with_backoff(call, attempts=3):
    """Call again after a failure, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            sleep(2 ** attempt)
''',
    "README.md": "# Orders\n\n## Billing\n\nInvoices are sent on the first of each month.\n",
}


def program(environment: Mapping[str, str]) -> Path:
    """Return what to start in place of ``GITRAG``, for a test that is not about the start: it is quick."""
    return ForkServer.shared().program if can_fork(environment, b"") else GITRAG


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """The lines on stderr."""
        return self.err.splitlines()


@dataclass(frozen=True, slots=True)
class Gitrag:
    """``gitrag`` at a place.

    Attributes:
        place: The directory that it runs in.
        environment: What it has for an environment.
        forks: Whether a command may be forked from a process that has its libraries loaded, which is several
            times faster; not in tests of how a process starts.
        here: Whether it may even run in this process; not one that is to know nothing of those before it.
    """

    place: Path
    environment: Mapping[str, str]
    forks: bool = True
    here: bool = True

    def __call__(
        self,
        *args: str | bytes,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        umask: int = -1,
        wrapper: Sequence[str] = (),
    ) -> Done:
        """Run it to its end; a traceback is a failure in every test.

        Args:
            args: Its arguments.
            env: More environment.
            stdin: What it can read.
            umask: Permissions that are taken from what it makes; negative: as this process has it.
            wrapper: A program and its arguments that start it.
        """
        environment = {**self.environment, **(env or {})}
        if self.forks and not wrapper and can_fork(environment, stdin):
            line = [str(GITRAG), *map(os.fsdecode, args)]
            options = {"place": self.place, "environment": environment, "stdin": stdin, "umask": umask}
            if self.here and here.can_run(line, environment):
                status, out, err = here.run(line, python=ForkServer.shared().python, **options)
            else:
                status, out, err = ForkServer.shared().run(line, **options)
        else:
            done = subprocess.run(
                [*wrapper, GITRAG, *args],
                cwd=self.place,
                env=environment,
                input=stdin,
                capture_output=True,
                check=False,
                umask=umask,
            )
            status, out, err = done.returncode, done.stdout, done.stderr
        found = Done(status, os.fsdecode(out), without_progress(os.fsdecode(err)))
        assert "Traceback" not in found.out + found.err, found.out + found.err
        return found

    def on_terminal(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        interrupt_after: str = "",
        typed: str = "",
    ) -> Done:
        """Run it on a pseudo-terminal; everything is in ``out``.

        Args:
            args: Its arguments.
            env: More environment.
            columns: The terminal's width.
            interrupt_after: Press Ctrl-C once this file is there, below the place.
            typed: What is typed, before it is asked for.
        """
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**self.environment, "TERM": "xterm", **(env or {})}
        # The first terminal that a new session opens becomes its own: ^C then reaches all its processes.
        opened = ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&0', os.ttyname(theirs)]
        written = bytearray()
        os.write(ours, typed.encode())
        # a forked one has the terminal's streams, but not ^C
        command = GITRAG if interrupt_after or not self.forks else program(environment)
        with subprocess.Popen(
            [*opened, command, *args], cwd=self.place, env=environment, start_new_session=True
        ) as process:
            ended = False
            while not ended:
                ended = process.poll() is not None
                if interrupt_after and (self.place / interrupt_after).exists():
                    os.write(ours, b"\x03")
                    interrupt_after = ""
                while select.select([ours], [], [], 0.01)[0]:
                    written += os.read(ours, 65536)
            status = process.returncode
        os.close(theirs)
        os.close(ours)
        text = os.fsdecode(bytes(written)).replace("\r\n", "\n")
        assert "Traceback" not in text, text
        return Done(status, text, "")


@dataclass(frozen=True, slots=True)
class Project:
    """A repository and gitrag in it."""

    git: GitRepository
    gitrag: Gitrag

    @property
    def path(self) -> Path:
        return self.git.path

    @property
    def store(self) -> Path:
        """Where the index lies."""
        return self.path / ".git" / "gitrag"

    def copied(self, directory: Path, environment: Mapping[str, str]) -> Project:
        """Copy the repository and its index; the copy is another user's, who has done nothing yet."""
        wait_until(lambda: not (self.store / "worker.holder").exists(), "a worker still writes")
        shutil.copytree(self.path, directory, symlinks=True)
        git = GitRepository(directory, dict(environment), list(self.git.ticks))
        return Project(git, Gitrag(directory, environment))

    def let_hooks_run(self, command: Path | str) -> None:
        """Have the hooks, which run ``GITRAG``, run another command: ``program`` is quick to start."""
        for hook in (self.path / ".git" / "hooks").iterdir():
            hook.write_text(hook.read_text().replace(str(GITRAG), str(command)))


def wait_until(holds: Callable[[], bool], what: str, every_s: float = 0.05) -> None:
    """Return once it holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(every_s)


def everything_in(directory: Path) -> dict[str, bytes | str]:
    """Return every path below a directory with its bytes, or what it is, less what goes meanwhile."""
    found: dict[str, bytes | str] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        with suppress(FileNotFoundError):
            mode = f"{path.lstat().st_mode:o}"
            found[name] = path.read_bytes() if path.is_file() and not path.is_symlink() else mode
            found[f"{name} mode"] = mode
    return found


def user_environment(home: Path, model_dir: Path) -> dict[str, str]:
    """Return the environment of a user who has the model and nothing else."""
    home.mkdir(parents=True, exist_ok=True)
    return isolated_environment(home) | {
        "GITRAG_MODEL_DIR": str(model_dir),
        "GIT_CEILING_DIRECTORIES": str(home.parent),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
    }


def indexed_project(directory: Path, model_dir: Path, *more: Mapping[str | bytes, Content]) -> Project:
    """Make a small repository with an index, embedded; ``more`` are files of further commits."""
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, SOURCES)
    for files in more:
        git.commit(files)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    assert made.gitrag("index", "embed", "--foreground").status == 0
    return made


def as_plain_user() -> list[str]:
    """Return what makes permissions hold for the superuser too."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("without setpriv permissions do not hold for the superuser")
    dropped = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}", "--"]
