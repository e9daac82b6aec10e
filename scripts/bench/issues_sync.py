"""What does a sync of a tracker's issues cost, next to what the server takes?

    .venv/bin/python scripts/bench/issues_sync.py [--issues 10000] [--latency MS] [--tracker github]

A server on this machine gives the issues in pages, each after a pause (a real one takes hundreds of
milliseconds a page). Prints: a full sync by `gitrag issues sync`, a new process, and the same requests sent
again by the bare HTTP client, which does nothing with the answers; an incremental sync with ten issues
changed, and the files it touched; a full one with nothing changed; the peak memory of each, and of one with a
tenth of the issues.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.e2e.trackers import fakes

BODY = "The session cookie is signed twice when `SESSION_REFRESH` is set.\n\nSee ADR-0003, SPEC-0012.\n" * 12
CHANGED = 10


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--issues", type=int, default=10_000)
    parser.add_argument("--latency", type=float, default=300.0, metavar="MS", help="of each page")
    kinds = {kind.name: kind for kind in fakes.FAKES}
    parser.add_argument("--tracker", choices=kinds, default="github")
    arguments = parser.parse_args()
    kind = kinds[arguments.tracker]
    with tempfile.TemporaryDirectory() as folder:
        small = run(
            kind, arguments.issues // 10, arguments.latency / 1000, Path(folder) / "small", quiet=True
        )
        large = run(kind, arguments.issues, arguments.latency / 1000, Path(folder) / "large")
    print(f"peak memory of a full sync: {small:.0f} MB for a tenth of the issues, {large:.0f} MB for all")


def run(kind: type[fakes.Fake], count: int, latency_s: float, folder: Path, *, quiet: bool = False) -> float:
    """Measure with a number of issues; return a full sync's peak memory in MB."""
    fake = slow(kind(), latency_s)
    by_path = "/" in fake.project
    for number in range(1, count + 1):
        name = str(number) if by_path else f"{fake.project}-{number}"
        fake.tickets.append(
            fakes.Ticket(
                name, f"Issue {number}: sessions", BODY, number % 3 == 0, ("bug", "auth"), minute=number / 6
            )
        )
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    for key, value in (("tracker", fake.name), ("trackerUrl", fake.url), ("trackerProject", fake.project)):
        subprocess.run(["git", "-C", folder, "config", f"gitrag.{key}", value], check=True)

    full, peak = sync(folder)
    if quiet:
        fake.close()
        return peak
    bare = replay(fake)
    print(f"{count:,} issues of {len(BODY):,} characters from {fake.name}, {1000 * latency_s:.0f} ms a page")
    print(f"the same requests, bare             {bare:6.1f} s")
    print(
        f"full sync                           {full:6.1f} s  {100 * (full / bare - 1):+.0f} %  {peak:.0f} MB"
    )
    before = stamps(folder)
    last = max(ticket.minute for ticket in fake.tickets)
    for place in range(CHANGED):
        old = fake.tickets[place * 7]
        fake.tickets[place * 7] = replace(old, title=old.title + " again", minute=last + 1 + place)
    spent, memory = sync(folder)
    touched = sum(before.get(name) != stamp for name, stamp in stamps(folder).items())
    print(
        f"incremental, {CHANGED} changed             {spent:6.1f} s  {touched} files touched  {memory:.0f} MB"
    )
    spent, memory = sync(folder, "--full")
    print(f"full, nothing changed               {spent:6.1f} s  {memory:.0f} MB")
    fake.close()
    return peak


def slow(fake: fakes.Fake, latency_s: float) -> fakes.Fake:
    """Let a server pause before each answer, and give pages of the usual size."""
    fake.page_size = 100
    handle = fake.handle

    def pausing(request: BaseHTTPRequestHandler) -> None:
        time.sleep(latency_s)
        handle(request)

    fake.handle = pausing  # type: ignore[method-assign]
    return fake


def replay(fake: fakes.Fake) -> float:
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


def sync(folder: Path, *options: str) -> tuple[float, float]:
    """Sync as a new process; return seconds and peak memory in MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "gitrag", "-C", folder, "issues", "sync", *options],
        env={**os.environ, "GITHUB_TOKEN": "t", "GITLAB_TOKEN": "t", "LINEAR_API_KEY": "t"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"gitrag issues sync ended with status {status}")
    return time.perf_counter() - begin, usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def stamps(folder: Path) -> dict[str, int]:
    """Give every file's time of change."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / ".sdd" / "issues").glob("*.md")}


if __name__ == "__main__":
    main()
