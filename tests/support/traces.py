"""A place where whatever a repository has gitrag run leaves a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gitrag.indexing.worker import running
from tests.support.command import Project, wait_until
from tests.support.mcp_client import CALLS, use

EXPECTED = {0, 1, 2, 3, 75, 78}
"""How commands may end; 70 is a bug."""

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("status",),
    ("search", "retry with backoff", "--output", "markdown"),
    ("search", "retry with backoff", "--output", "json", "--explain"),
    ("search", "retry", "--ref", "HEAD"),
    ("search", "retry", "-c", "issues"),
    ("search", "--regex", "(retry|call)+x?", "--ref", "HEAD"),
    ("search", "--word", "retry", "--json"),
    ("similar", "client.py:1"),
    ("measure", "-n", "2"),
    ("schema", "search"),
    ("graph",),
    ("graph", "retry_with_backoff", "--callers"),
    ("graph", "--filter", "(retry|call)+x?", "--format", "mermaid"),
    ("check", "client.py"),
    ("check", "--push"),
    ("related", "retry with backoff"),
    ("related", "--diff", "HEAD"),
    ("prime",),
    ("core", "suggest"),
    ("core", "mark", "client.py"),
    ("explore", "save", "Retries", "--goals", "fewer"),
    ("explore", "search", "retries"),
    ("issues", "sync"),
    ("issues", "list"),
    ("config",),
    ("hooks", "status"),
    ("init", "--agents", "--skip-embed"),
    ("model", "status"),
    ("doctor",),
    ("index", "embed", "--foreground"),
    ("share", "pull"),
    ("share", "push"),
    ("share", "status"),
    ("gc", "--apply"),
    ("completion", "bash"),
    ("hook", "run", "post-commit"),
    ("hook", "run", "worker"),
)
"""Every command that works on a repository."""

A_FEW: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("status",),
    ("search", "retry with backoff", "--output", "markdown"),
    ("search", "retry", "--ref", "HEAD"),
    ("search", "--regex", "(retry|call)+x?", "--ref", "HEAD"),
    ("related", "--diff", "HEAD"),
    ("index", "embed", "--foreground"),
)
"""Some that start each kind of process and ask git in each way, for where the others differ in nothing."""

THE_OTHERS = tuple(each for each in COMMANDS if each not in A_FEW)


@dataclass(frozen=True, slots=True)
class Traces:
    """A directory of empty files, each called after what ran."""

    directory: Path

    def script(self, name: str) -> str:
        """Return a shell command that leaves a trace, with nothing of the environment's PATH."""
        return f": >'{self.directory / name}'"

    def module(self, name: str) -> str:
        """Return Python that leaves a trace, and imports nothing."""
        return f"open({str(self.directory / name)!r}, 'a').close()\n"

    def program(self, name: str) -> str:
        """Return the path of a program that leaves a trace and copies its input."""
        programs = self.directory.with_name("programs")
        programs.mkdir(exist_ok=True)
        path = programs / name
        path.write_text(f"#!/bin/sh\n{self.script(name)}\nexec /bin/cat\n")
        path.chmod(0o755)
        return str(path)

    def found(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir())


def idle(project: Project) -> None:
    """Wait until no background worker is at a repository."""
    wait_until(lambda: running(project.path / ".git" / "gitrag") is None, "the worker ends")


def run_everything(
    project: Project,
    seen: Callable[[str], None] = lambda _what: None,
    *,
    commands: Iterable[tuple[str, ...]] = COMMANDS,
    commit: bool = True,
) -> None:
    """Run every command, every tool of the MCP server, and a commit; ``seen`` is called after each."""
    for command in commands:
        done = project.gitrag(*command)
        assert done.status in EXPECTED, (command, done)
        seen(" ".join(command))
    calls = [(name, arguments) for name, arguments in CALLS.items()]
    calls.append(("search_code", {"query": "zyzzyva quux"}))  # nothing is found: exact search follows

    async def ask(client) -> None:
        for name, arguments in calls:
            await client.call_tool(name, arguments)

    use(project, ask)
    seen("mcp")
    if not commit:
        return
    project.git.commit({"client.py": "def retry_with_backoff():\n    '''Retry, later.'''\n"})
    seen("git commit")
    project.gitrag("hook", "run", "worker")
    idle(project)
    seen("the worker, after a commit")
