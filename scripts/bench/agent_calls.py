"""What a warm `search_code` costs an agent, and how much memory a long session takes.

    .venv/bin/python scripts/bench/agent_calls.py REPOSITORY [--calls 1000] [--drafts-count]

The repository is indexed; embed it first (`gitrag index embed --foreground`), else each question refines what
it shows. Asks questions that follow one another as an agent's do, each with words of its own, and prints the
median and the 95th percentile: in this process, through the function that the tool calls; and through the
SDK's client over standard streams, from call to answer. Then the server's memory after the first ten calls,
and its peak after all of them.

With --drafts-count the drafts of the repository's own index are made to count as vectors first, for an index
that nobody has the time to embed: what a question costs does not depend on how good its vectors are.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from gitrag.actions import search_code
from gitrag.actions.status import count_indexed
from gitrag.workspace import Workspace

GITRAG = Path(sys.executable).with_name("gitrag")
WARM_UP = 10

ASKED = (
    "where are {} handled",
    "how does {} work",
    "{} implementation",
    "what happens when {} fails",
    "tests of {}",
    "{}",
)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--drafts-count", action="store_true", help="let drafts count as vectors")
    arguments = parser.parse_args()
    workspace = Workspace.open(arguments.repository, environ=os.environ, resident=True)
    workspace.require_index()
    workspace.update()
    if arguments.drafts_count:
        promote_drafts(workspace)
    files, chunks = count_indexed(workspace)
    print(f"python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{files} files, {chunks} chunks, {workspace.count_unembedded()} unembedded")
    asked = questions(workspace, arguments.calls)
    began = time.process_time()
    took = in_process(workspace, asked)
    cpu = (time.process_time() - began) / len(asked) * 1000
    show("in process", took)
    print(f"in process: {cpu:.1f} ms of CPU a question, git's beside it not counted")
    anyio.run(through_client, arguments.repository, asked)


def promote_drafts(workspace: Workspace) -> None:
    """Make the drafts of an index vectors."""
    with workspace.store.write("a benchmark") as db:
        db.execute("INSERT INTO vectors SELECT * FROM drafts")
        db.execute("DELETE FROM drafts")


def questions(workspace: Workspace, number: int) -> list[str]:
    """Ask of things that the repository has: words of its paths, drawn with a seed."""
    words = sorted(
        {
            word
            for entry in workspace.repo.entries(workspace.repo.head().tree)
            for word in Path(entry.path).with_suffix("").parts
            if word.isascii() and len(word) > 3
        }
    )
    draw = random.Random(7)
    return [
        draw.choice(ASKED).format(" ".join(draw.sample(words, 2)).replace("_", " ")) for _ in range(number)
    ]


def in_process(workspace: Workspace, asked: list[str]) -> list[float]:
    """Time the function behind the tool, seconds a question."""
    took = []
    for question in asked:
        began = time.perf_counter()
        search_code.search_code(workspace, question)
        took.append(time.perf_counter() - began)
    return took


async def through_client(repository: Path, asked: list[str]) -> None:
    """Time the tool through a client, and read what the server takes."""
    server = StdioServerParameters(
        command=str(GITRAG), args=["-C", str(repository), "mcp"], env=dict(os.environ)
    )
    before = children()
    async with Client(server) as client:
        [process] = children() - before
        took = []
        first = loading = 0
        for number, question in enumerate(asked):
            began = time.perf_counter()
            answer = await client.call_tool("search_code", {"query": question})
            took.append(time.perf_counter() - began)
            if answer.is_error:
                raise SystemExit(f"{question}: {answer.content}")
            if number == WARM_UP:
                first, loading = memory(process, "VmRSS"), memory(process, "VmHWM")
        show("through a client", took)
        last, peak = memory(process, "VmRSS"), memory(process, "VmHWM")
        print(f"memory: {first} MiB after {WARM_UP} calls (peak {loading} MiB while loading),")
        print(f"    {last} MiB after {len(asked)} (peak {peak} MiB)")


def show(where: str, took: list[float]) -> None:
    """Print a line of milliseconds."""
    warm = sorted(seconds * 1000 for seconds in took[WARM_UP:])
    p95 = warm[int(len(warm) * 0.95)]
    first = took[0] * 1000
    median = statistics.median(warm)
    print(f"{where}: p50 {median:.1f} ms, p95 {p95:.1f} ms, first {first:.0f} ms, n {len(warm)}")


def children() -> set[int]:
    """List this process's children."""
    return {
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
    }


def memory(process: int, field: str) -> int:
    """Read a process's memory, MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1]) // 1024


if __name__ == "__main__":
    main()
