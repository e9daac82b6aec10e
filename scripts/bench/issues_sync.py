"""What does a sync of a tracker's issues cost, next to what the server takes?

    .venv/bin/python scripts/bench/issues_sync.py [--issues 10000] [--latency MS] [--tracker NAME]...

A server on this machine gives the issues in pages, each after a pause (a real one takes hundreds of
milliseconds a page). Prints for each tracker that speaks HTTP: a full sync by `gitrag issues sync`, a new
process, and the same requests sent again by the bare HTTP client, which does nothing with the answers; an
incremental sync with ten issues changed, and the files it touched; a full one with nothing changed; processor
time and peak memory of each, and the peak memory of one with a tenth of the issues.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support import tracker_fakes

BODY = "The session cookie is signed twice when `SESSION_REFRESH` is set.\n\nSee ADR-0003, SPEC-0012.\n" * 12
CHANGED = 10


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--issues", type=int, default=10_000)
    parser.add_argument("--latency", type=float, default=300.0, metavar="MS", help="of each page")
    kinds = {kind.__name__.removesuffix("Fake").lower(): kind for kind in tracker_fakes.FAKES}
    parser.add_argument("--tracker", choices=kinds, action="append", help="may be given again; all")
    arguments = parser.parse_args()
    latency_s = arguments.latency / 1000
    print(f"{arguments.issues:,} issues of {len(BODY):,} characters, {arguments.latency:.0f} ms a page")
    for name in arguments.tracker or kinds:
        print(f"\n{name}")
        with tempfile.TemporaryDirectory() as folder:
            small = run(kinds[name], arguments.issues // 10, latency_s, Path(folder) / "small", quiet=True)
            run(kinds[name], arguments.issues, latency_s, Path(folder) / "large")
        print(f"full sync of a tenth of them{small.memory_mb:23.0f} MB")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a sync took.

    Attributes:
        wall_s: Seconds by the clock.
        processor_s: Seconds of processor time.
        memory_mb: Peak memory.
    """

    wall_s: float
    processor_s: float
    memory_mb: float

    def __str__(self) -> str:
        return f"{self.wall_s:6.1f} s {self.processor_s:6.1f} s CPU {self.memory_mb:5.0f} MB"


def run(
    kind: type[tracker_fakes.Fake], count: int, latency_s: float, folder: Path, *, quiet: bool = False
) -> Spent:
    """Measure with a number of issues; return what a full sync took."""
    fake = slow(kind(), latency_s)
    by_path = "/" in fake.project
    for number in range(1, count + 1):
        name = str(number) if by_path else f"{fake.project}-{number}"
        fake.tickets.append(
            tracker_fakes.Ticket(
                name, f"Issue {number}: sessions", BODY, number % 3 == 0, ("bug", "auth"), minute=number / 6
            )
        )
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    for key, value in (("tracker", fake.name), ("trackerUrl", fake.url), ("trackerProject", fake.project)):
        subprocess.run(["git", "-C", folder, "config", f"gitrag.{key}", value], check=True)

    full = sync(folder)
    if quiet:
        fake.close()
        return full
    bare = replay(fake)
    print(f"the same requests, bare      {bare:6.1f} s")
    print(f"full sync                    {full}  {100 * (full.wall_s / bare - 1):+.0f} %")
    before = stamps(folder)
    last = max(ticket.minute for ticket in fake.tickets)
    for place in range(CHANGED):
        old = fake.tickets[place * 7]
        fake.tickets[place * 7] = replace(old, title=old.title + " again", minute=last + 1 + place)
    spent = sync(folder)
    touched = sum(before.get(name) != stamp for name, stamp in stamps(folder).items())
    print(f"incremental, {CHANGED} changed      {spent}  {touched} files touched")
    print(f"full, nothing changed        {sync(folder, '--full')}")
    fake.close()
    return full


def slow(fake: tracker_fakes.Fake, latency_s: float) -> tracker_fakes.Fake:
    """Let a server pause before each answer, and give pages of the usual size."""
    fake.page_size = 100
    handle = fake.handle

    def pausing(request: BaseHTTPRequestHandler) -> None:
        time.sleep(latency_s)
        handle(request)

    fake.handle = pausing  # type: ignore[method-assign]
    return fake


def replay(fake: tracker_fakes.Fake) -> float:
    """Send the requests of a sync again, and do nothing with the answers; return seconds."""
    asked = list(fake.asked)
    begin = time.perf_counter()
    with httpx2.Client(timeout=60) as client:
        for each in asked:
            if each.body is None:
                client.get(fake.url + each.path, params=dict(each.query)).raise_for_status()
            else:
                client.post(fake.url + each.path, json=each.body).raise_for_status()
    return time.perf_counter() - begin


def sync(folder: Path, *options: str) -> Spent:
    """Sync as a new process."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "gitrag", "-C", folder, "issues", "sync", *options],
        env={**os.environ, **{kind.variable: "t" for kind in tracker_fakes.FAKES}},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"gitrag issues sync ended with status {status}")
    return Spent(
        time.perf_counter() - begin,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10),
    )


def stamps(folder: Path) -> dict[str, int]:
    """Give every file's time of change."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / ".sdd" / "issues").glob("*.md")}


if __name__ == "__main__":
    main()
