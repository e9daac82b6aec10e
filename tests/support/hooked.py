"""A stand-in for the gitrag command that records how hooks call it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from gitrag.git import Repository
from gitrag.hooking.config_hooks import SINCE
from gitrag.hooking.install import install, uninstall
from gitrag.hooking.status import HookReport, status
from tests.support.gitversion import needs_git
from tests.support.repository import GitRepository

runs_configured = needs_git(*SINCE, "runs hooks named in its configuration")

STAND_IN = """#!{python} -IS
import json, os, sys, time

def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True

here = os.path.dirname(os.path.abspath(__file__))
event = dict(
    args=sys.argv[1:],
    stdin=sys.stdin.buffer.read().decode(),
    cwd=os.getcwd(),
    own_session=os.getsid(0) == os.getpid(),
    nice=os.nice(0),
    descriptor_9=is_open(9),
)

def record(event):
    with open(os.path.join(here, "events"), "ab") as file:
        file.write(json.dumps(event).encode() + b"\\n")

record(event)
while os.path.exists(os.path.join(here, "wait")):
    time.sleep(0.02)
record(dict(args=["done"]))
status = os.path.join(here, "status")
sys.exit(int(open(status).read()) if os.path.exists(status) else 0)
"""


@dataclass(frozen=True, slots=True)
class StandIn:
    """The recorder and what it recorded."""

    path: Path

    def events(self) -> list[dict]:
        """Return what was recorded so far, starts only."""
        return [event for event in self.all_events() if event["args"] != ["done"]]

    def all_events(self) -> list[dict]:
        events = self.path.with_name("events")
        return [json.loads(line) for line in events.read_bytes().splitlines()] if events.exists() else []

    def calls(self) -> list[str]:
        return [" ".join(event["args"]) for event in self.events()]

    def wait_for_calls(self, calls: list[str]) -> None:
        """Return once all of these have begun."""
        end = time.monotonic() + 60
        while not set(calls) <= set(self.calls()):
            assert time.monotonic() < end, f"{calls} expected, recorded: {self.calls()}"
            time.sleep(0.02)

    def wait_for(self, count: int) -> list[dict]:
        """Return the recorded calls once this many have ended."""
        end = time.monotonic() + 60
        while sum(event["args"] == ["done"] for event in self.all_events()) < count:
            assert time.monotonic() < end, f"{count} calls expected, recorded: {self.all_events()}"
            time.sleep(0.02)
        return self.events()

    def forget(self) -> None:
        self.path.with_name("events").unlink(missing_ok=True)

    def exit_with(self, code: int) -> None:
        self.path.with_name("status").write_text(str(code))

    def hold(self) -> None:
        self.path.with_name("wait").touch()

    def let_go(self) -> None:
        self.path.with_name("wait").unlink()


@dataclass(frozen=True, slots=True)
class Hooked:
    """A repository and its hooks."""

    git: GitRepository
    stand_in: StandIn

    @property
    def repository(self) -> Repository:
        return Repository.discover(self.git.path)

    @property
    def hooks(self) -> Path:
        return self.git.path / ".git" / "hooks"

    def install(self) -> dict[str, HookReport]:
        return by_name(install(self.repository, str(self.stand_in.path)))

    def uninstall(self) -> dict[str, HookReport]:
        return by_name(uninstall(self.repository))

    def status(self) -> dict[str, HookReport]:
        return by_name(status(self.repository))

    def commit_in_linked_worktree(self, place: Path) -> GitRepository:
        """Make a linked worktree, commit there, and see the hook run once, and there."""
        worktree = self.git.worktree(place, "-b", "linked")
        self.stand_in.wait_for(1)
        self.stand_in.forget()
        worktree.commit({"a.py": "a = 3\n"})
        [event] = self.stand_in.wait_for(1)
        assert event["cwd"] == str(worktree.path)
        return worktree

    def write_hook(self, name: str, text: str | bytes, mode: int = 0o755) -> Path:
        self.hooks.mkdir(exist_ok=True)
        path = self.hooks / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path


def by_name(reports: list[HookReport]) -> dict[str, HookReport]:
    return {report.name: report for report in reports}
