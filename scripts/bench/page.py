"""Time what the page answers while somebody types: one request a letter, as its script asks them.

    .venv/bin/python scripts/bench/page.py ~/src/django

The repository needs an index. On a machine that is busy with other things, look at the processor's time.
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

QUESTIONS = (
    "where are migrations applied",
    "session cookie",
    "QuerySet.filter",
    "how is a csrf token checked",
)
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--finished", action="store_true", help="ask as after a pause")
    asked = parser.parse_args()
    command = [str(Path(sys.executable).with_name("gitrag")), "web", "--no-browser"]
    with subprocess.Popen(command, cwd=asked.repository, stdout=subprocess.PIPE, text=True) as process:
        address = urlsplit(next(iter(process.stdout or ())).strip())
        cookie = {"Cookie": f"gitrag-{address.port}={address.query.partition('=')[2]}"}
        connection = http.client.HTTPConnection("127.0.0.1", address.port or 0)

        def ask(question: str) -> int:
            headers = cookie if asked.finished else {**cookie, "X-Gitrag-Unfinished": "1"}
            connection.request("GET", f"/search?q={quote_plus(question)}", headers=headers)
            return len(connection.getresponse().read())

        for question in QUESTIONS:
            ask(question)  # what is loaded once is loaded now
        before, took = _processor_s(process.pid), []
        for question in QUESTIONS:
            for end in range(1, len(question) + 1):
                begin = time.perf_counter()
                ask(question[:end])
                took.append(time.perf_counter() - begin)
        spent = _processor_s(process.pid) - before
        process.send_signal(signal.SIGINT)
    took.sort()
    print(f"{len(took)} requests")
    print(f"p50 {statistics.median(took) * 1000:.0f} ms, p95 {took[int(len(took) * 0.95)] * 1000:.0f} ms")
    print(f"processor's time a request, all its processes included: {spent / len(took) * 1000:.0f} ms")


def _processor_s(pid: int) -> float:
    """Return the processor's time of a process and of all that it has started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    running = [
        int(each)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for each in (thread / "children").read_text().split()
    ]
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(_processor_s, running))


main()
